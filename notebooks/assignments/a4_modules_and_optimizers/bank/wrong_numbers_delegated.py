"""PyTorch's own parts under the student's names: right numbers, flags, and a rate that `torch.optim` refuses."""

EXPECTED = {"test_sgd": "partial:sgd-refuses-a-negative-lr"}
BREAKS = ("use no class and no function of `torch.optim`",)

CELLS = {
    "sgd": """
class SGD(torch.optim.SGD):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay)
""",
    "rmsprop": """
from torch.optim.rmsprop import rmsprop


class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for g in self.param_groups:
            ps = [p for p in g["params"] if p.grad is not None]
            for p in ps:
                self.state[p].setdefault("square", torch.zeros_like(p))
                self.state[p].setdefault("steps", torch.tensor(0.0))
            rmsprop(
                ps, [p.grad for p in ps], [self.state[p]["square"] for p in ps], [], [],
                [self.state[p]["steps"] for p in ps], foreach=False, lr=g["lr"], alpha=g["alpha"], eps=g["eps"],
                weight_decay=0, momentum=0, centered=False,
            )
        return loss
""",
    "affine": """
class Affine(nn.Linear):
    pass
""",
}
