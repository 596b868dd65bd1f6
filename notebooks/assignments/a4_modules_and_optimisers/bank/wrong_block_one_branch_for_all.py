"""parallel_block: The loop variable is not used.

sgd: With dampening, from the first step on.
rmsprop: The return stands for nothing.
"""

KIND = "fault"
EXPECTED = {
    "test_parallel_block": "partial:block-one-branch-for-all",
    "test_sgd": "failed:sgd-velocity-averaged",
    "test_rmsprop": "partial:rmsprop-loss-not-returned",
}
CELLS = {
    "parallel_block": """
class ParallelBlock(nn.Module):
    def __init__(self, branches, mode="sum"):
        super().__init__()
        assert_known(mode)
        self.mode = mode
        self.branches = nn.ModuleList()
        for branch in branches:
            self.branches.append(branch)

    def forward(self, x):
        results = []
        for _ in range(len(self.branches)):
            results.append(self.branches[0](x))
        if self.mode == "cat":
            return torch.cat(results, -1)
        total = results[0]
        for result in results[1:]:
            total = total + result
        return total


def assert_known(mode):
    if mode != "sum" and mode != "cat":
        raise ValueError("unknown mode: " + str(mode))
""",
    "sgd": """
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        result = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        for g in self.param_groups:
            for w in g["params"]:
                if w.grad is not None:
                    self.move(w, w.grad, self.state[w], g)
        return result

    def move(self, w, d, s, g):
        if g["weight_decay"]:
            d = d.add(w, alpha=g["weight_decay"])
        mu = g["momentum"]
        if mu:
            if "buf" not in s:
                s["buf"] = d * (1 - mu)
            else:
                s["buf"].mul_(mu).add_(d, alpha=1 - mu)
            if g["nesterov"]:
                d = d.add(s["buf"], alpha=mu)
            else:
                d = s["buf"]
        w.add_(d, alpha=-g["lr"])
""",
    "rmsprop": """
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        result = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        for g in self.param_groups:
            for w in g["params"]:
                if w.grad is not None:
                    self.move(w, w.grad, self.state[w], g)

    def move(self, w, d, s, g):
        if not s:
            s["v"] = torch.zeros_like(w)
        s["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])
        bottom = s["v"].sqrt().add_(g["eps"])
        w.addcdiv_(d, bottom, value=-g["lr"])
""",
}
