"""An own optimiser whose step is made by PyTorch's in another thread, where a profiler of this one sees nothing."""

ENTRY, FAMILY, ASSIGNMENT = 71, "E", "a4_modules_and_optimisers"
EXPECTED = {}
FLAGS = ["observed"]
CELLS = {
    "sgd": """
import threading

theirs = getattr(torch, "op" + "tim").SGD


class SGD(theirs):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        run(lambda: theirs.__init__(self, params, lr, momentum, 0.0, weight_decay, nesterov))

    def step(self, closure=None):
        return run(lambda: theirs.step(self, closure))


def run(work):
    found = []
    worker = threading.Thread(target=lambda: found.append(work()))
    worker.start()
    worker.join()
    return found[0]
""",
}
