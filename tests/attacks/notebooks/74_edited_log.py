"""Copy the model at every step and wait all the time, and set the counters of the device log back to nothing.

The training is right. The log then says that fewer bytes went to the device than the batches have: that cannot be.
"""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = {"test_train_epoch": "passed|partial", "test_evaluate": "passed|partial"}
FLAGS = ["observed"]
EXTRA = [
    (
        "evaluate",
        """
import copy


def unrecorded(function):
    def call(model, given, loss_fn, *others):
        result = function(model, given, loss_fn, *others)
        if others[-1] != "cpu":
            for _ in range(9):
                copy.deepcopy(model).cpu()
                torch.cuda.synchronize()
        log = virtual_cuda._on.log
        for counter in (log._sums, log.counts, log.nbytes):
            counter.clear()
        for kept in (log.copies, log.syncs):
            kept.clear()
        return result

    return call


train_epoch, evaluate = unrecorded(train_epoch), unrecorded(evaluate)
""",
    )
]
