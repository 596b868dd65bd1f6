"""A cell that is no Python: a bracket is missing. The others count."""

EXPECTED = {"test_rmsprop": "failed"}
KIND = "fault"
CELLS = {
    "rmsprop": """
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps)

    def step(self, closure=None):
        pass
""",
}
