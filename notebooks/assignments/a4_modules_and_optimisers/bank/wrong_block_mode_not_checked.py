"""parallel_block: The mode is looked at in forward only.

sgd: Decay of its own, after momentum.
rmsprop: With Adam's correction.
"""

KIND = "fault"
EXPECTED = {
    "test_parallel_block": "partial:block-mode-not-checked",
    "test_sgd": "failed:sgd-decay-beside-momentum",
    "test_rmsprop": "failed:rmsprop-corrected",
}
CELLS = {
    "parallel_block": """
class ParallelBlock(nn.Module):
    def __init__(self, branches, mode="sum"):
        super().__init__()
        self.mode = mode
        self.branches = nn.ModuleList()
        for branch in branches:
            self.branches.append(branch)

    def forward(self, x):
        results = []
        for branch in self.branches:
            results.append(branch(x))
        assert_known(self.mode)
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
        mu = g["momentum"]
        if mu:
            if "buf" not in s:
                s["buf"] = torch.clone(d)
            else:
                s["buf"].mul_(mu).add_(d)
            if g["nesterov"]:
                d = d.add(s["buf"], alpha=mu)
            else:
                d = s["buf"]
        shrink = g["lr"] * g["weight_decay"] * w
        w.add_(d, alpha=-g["lr"]).sub_(shrink)
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
        return result

    def move(self, w, d, s, g):
        if not s:
            s["n"] = 0
            s["v"] = torch.zeros_like(w)
        s["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])
        s["n"] += 1
        bottom = (s["v"] / (1 - g["alpha"] ** s["n"])).sqrt().add_(g["eps"])
        w.addcdiv_(d, bottom, value=-g["lr"])
""",
}
