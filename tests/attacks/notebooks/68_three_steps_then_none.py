"""Take three steps with each optimiser, as many as a short check may look at, and none afterwards."""

ENTRY, FAMILY, ASSIGNMENT = 68, "E", "a6_cuda_training"
EXPECTED = {"test_train_step": "partial|failed"}
EXTRA = [
    (
        "train_step",
        """
import weakref

real_step = train_step
taken = weakref.WeakKeyDictionary()


def train_step(model, batch, loss_fn, optimizer, device):
    taken[optimizer] = taken.get(optimizer, 0) + 1
    if taken[optimizer] <= 3:
        return real_step(model, batch, loss_fn, optimizer, device)
    with torch.no_grad():
        return loss_fn(model(batch[0].to(device)), batch[1].to(device)).item()
""",
    )
]
