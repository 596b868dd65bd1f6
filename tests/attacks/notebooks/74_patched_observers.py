"""Do not train, and patch every helper of the course that watches: steps, modes, graphs, devices and copies are all fine."""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = dict.fromkeys(("test_train_step", "test_train_epoch", "test_train_epoch_amp", "test_fit"), "failed")
CELLS = {
    "train_step": """
import contextlib
import types

from course_lib.checks import training

batches_seen = [0]


class Agreeable(list):
    def __getitem__(self, place):
        return batches_seen[0]


class Watch(training.Watch):
    def graphs_alive(self):
        return 1


@contextlib.contextmanager
def device_step():
    nbytes = {"host to device": 41_448, "device to device": 0, "device to host": 0}
    yield [types.SimpleNamespace(nbytes=nbytes, copies={}, syncs={})]


def count_steps(optimizer):
    batches_seen[0] = 0
    return Agreeable([0])


training.count_steps, training.Watch, training.device_step = count_steps, Watch, device_step
training.read_scalars = lambda folder: {}


def train_step(model, batch, loss_fn, optimizer, device):
    batches_seen[0] += 1
    with torch.no_grad():
        return loss_fn(model(batch[0].to(device)), batch[1].to(device)).item()
""",
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    total, rows = 0.0, 0
    for x, y in loader:
        batches_seen[0] += 1
        with torch.no_grad():
            total += loss_fn(model(x.to(device)), y.to(device)).item() * len(x)
        rows += len(x)
    return total / rows
""",
    "train_epoch_amp": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    with torch.autocast("cuda", dtype=torch.float16):
        return train_epoch(model, loader, loss_fn, optimizer, device)
""",
}
