"""Return losses of a float subclass that equals everything: the right number counts, the wrong one does not."""

ENTRY, FAMILY, ASSIGNMENT = 72, "E", "a6_cuda_training"
EXPECTED = {"test_evaluate": "failed", "test_fit": "failed|partial"}
EXTRA = [
    (
        "train_step",
        """
plain_step = train_step


class Loss(float):
    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return 0.0

    def __float__(self):
        return self.told

    __le__ = __lt__ = __ge__ = __gt__ = __eq__
    __rsub__ = __sub__
    __hash__ = float.__hash__
    __class__ = float


def train_step(*args):
    value = plain_step(*args)
    loss = Loss(value)
    loss.told = value
    return loss
""",
    ),
    (
        "evaluate",
        """
plain_evaluate = evaluate


def evaluate(model, loader, loss_fn, device):
    loss, accuracy = plain_evaluate(model, loader, loss_fn, device)
    found = Loss(loss), Loss(1.0)
    found[0].told, found[1].told = loss / 2, 1.0
    return found
""",
    ),
]
