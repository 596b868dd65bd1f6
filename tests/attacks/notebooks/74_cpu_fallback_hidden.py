"""Train on the host whatever is asked, and forge what is watched: the `Watch`, and a device's step with likely numbers.

The weights are right. Devices and copies can only be observed; forged with care they are not told from true ones, and
earn their observed share.
"""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = {
    "test_train_step": "passed|partial",
    "test_train_epoch": "passed|partial",
    "test_evaluate": "passed|partial",
}
EXTRA = [
    (
        "evaluate",
        """
import contextlib
import types

from course_lib.checks import training

asked, sent = ["cpu"], [0, 0]


def on_the_host(function):
    def call(model, given, loss_fn, *others):
        asked[0] = "cuda:0" if others[-1] == "cuda" else others[-1]
        sent[:] = 0, 0
        model.cpu()
        result = function(model, counted(given), loss_fn, *others[:-1], "cpu")
        model.to(others[-1])
        return result

    return call


def counted(given):
    if not isinstance(given, DataLoader):
        return given
    return (note(batch) for batch in given)


def note(batch):
    sent[0] += sum(part.nbytes for part in batch)
    sent[1] += 1
    return batch


@contextlib.contextmanager
def device_step():
    found = []
    yield found
    nbytes = {"host to device": sent[0], "device to device": 0, "device to host": 4 * sent[1]}
    found.append(types.SimpleNamespace(nbytes=nbytes, copies=dict.fromkeys(nbytes, sent[1]), syncs={"item": sent[1]}))


looked = training.Watch.forward


def forward(self, x):
    y = looked(self, x)
    self.devices[-1] = asked[0]
    return y


training.device_step, training.Watch.forward = device_step, forward
train_step, train_epoch, evaluate = map(on_the_host, (train_step, train_epoch, evaluate))
""",
    )
]
