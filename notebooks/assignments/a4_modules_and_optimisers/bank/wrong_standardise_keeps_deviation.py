"""standardise: The deviation is stored.

parallel_block: clones of all branches.
sgd: The first velocity is not a copy.
"""

KIND = "fault"
EXPECTED = {
    "test_standardise": "partial:standardise-keeps-deviation",
    "test_parallel_block": "failed:block-copies",
    "test_sgd": "partial:sgd-velocity-is-the-gradient",
}
CELLS = {
    "standardise": """
class Standardise(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.m, self.eps = momentum, eps
        self.register_buffer("running_mean", torch.full((features,), 0.0))
        self.register_buffer("running_var", torch.full((features,), 1.0))

    def forward(self, x):
        if not self.training:
            return (x - self.running_mean) * (self.running_var + self.eps) ** -0.5
        mu = x.sum(0) / x.shape[0]
        centred = x - mu
        sigma2 = (centred**2).sum(0) / x.shape[0]
        self.running_mean = (1 - self.m) * self.running_mean + self.m * mu.detach()
        self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach() ** 0.5
        return centred * (sigma2 + self.eps) ** -0.5
""",
    "parallel_block": """
class ParallelBlock(nn.Module):
    def __init__(self, branches, mode="sum"):
        super().__init__()
        assert_known(mode)
        self.mode = mode
        self.branches = nn.ModuleList()
        for branch in branches:
            self.branches.append(copy.deepcopy(branch))

    def forward(self, x):
        results = []
        for branch in self.branches:
            results.append(branch(x))
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
                s["buf"] = d
            else:
                s["buf"].mul_(mu).add_(d)
            if g["nesterov"]:
                d = d.add(s["buf"], alpha=mu)
            else:
                d = s["buf"]
        w.add_(d, alpha=-g["lr"])
""",
}
