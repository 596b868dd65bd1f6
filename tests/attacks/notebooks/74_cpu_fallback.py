"""Bring the model back to the host whatever device is asked for, train there, and send it to the device afterwards."""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = dict.fromkeys(("test_train_step", "test_train_epoch", "test_evaluate", "test_fit"), "partial")
EXTRA = [
    (
        "evaluate",
        """
def on_the_host(function):
    def call(model, given, loss_fn, *others):
        model.cpu()
        result = function(model, given, loss_fn, *others[:-1], "cpu")
        model.to(others[-1])
        return result

    return call


train_step, train_epoch, evaluate = map(on_the_host, (train_step, train_epoch, evaluate))
""",
    )
]
