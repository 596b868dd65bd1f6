"""Switch virtual CUDA off for each epoch and on again after it, so that its log sees neither copies nor waits.

The numbers are right. The log says that fewer bytes went to the device than the batches have: that cannot be.
"""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = {"test_train_epoch": "passed|partial", "test_evaluate": "passed|partial", "test_fit": "passed|partial"}
FLAGS = ["observed"]
EXTRA = [
    (
        "evaluate",
        """
def unseen(function):
    def call(model, given, loss_fn, *others):
        if others[-1] == "cpu" or not virtual_cuda.is_enabled():
            return function(model, given, loss_fn, *others)
        depth = virtual_cuda._on.depth
        for _ in range(depth):
            virtual_cuda.disable()
        try:
            return function(model, given, loss_fn, *others[:-1], "cpu")
        finally:
            for _ in range(depth):
                virtual_cuda.enable(devices=2, quiet=True, force=True)
            model.to(others[-1])

    return call


train_epoch, evaluate = unseen(train_epoch), unseen(evaluate)
""",
    )
]
