"""A class of the student's own that copies on its way in and out."""

CELLS = {
    "snapshot": """
class Snapshot:
    def __init__(self, model, optimizer):
        self.weights = {name: value.clone() for name, value in model.state_dict().items()}
        self.rest = copy.deepcopy(optimizer.state_dict())

    def into(self, model, optimizer):
        model.load_state_dict(self.weights)
        optimizer.load_state_dict(copy.deepcopy(self.rest))


def snapshot(model, optimizer):
    return Snapshot(model, optimizer)


def restore(model, optimizer, saved):
    saved.into(model, optimizer)
""",
}
