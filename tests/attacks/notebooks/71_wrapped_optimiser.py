"""An own optimiser that is PyTorch's in another coat. The steps are right; a person is asked to look."""

ENTRY, FAMILY, ASSIGNMENT = 71, "E", "a4_modules_and_optimisers"
EXPECTED = {}
FLAGS = ["observed"]
CELLS = {
    "sgd": """
class SGD(torch.optim.SGD):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov)
""",
}
