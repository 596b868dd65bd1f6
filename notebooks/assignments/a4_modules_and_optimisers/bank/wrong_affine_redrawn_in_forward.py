"""affine: reset() is called in forward.

standardise: One mean for everything.
parallel_block: stack in place of cat.
"""

KIND = "fault"
EXPECTED = {
    "test_affine": "partial:affine-redrawn-in-forward",
    "test_standardise": "partial:standardise-all-columns-together",
    "test_parallel_block": "partial:block-stacked",
}
CELLS = {
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.bound = in_features**-0.5
        self.weight = nn.Parameter(torch.zeros(out_features, in_features))
        self.bias = nn.Parameter(torch.zeros(out_features)) if bias else None
        self.reset()

    def reset(self):
        for p in self.parameters():
            nn.init.uniform_(p, -self.bound, self.bound)

    def forward(self, x):
        self.reset()
        y = x @ self.weight.t()
        return y if self.bias is None else y + self.bias
""",
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
        mu = x.sum() / x.numel()
        centred = x - mu
        sigma2 = (centred**2).sum() / x.numel()
        self.running_mean = (1 - self.m) * self.running_mean + self.m * mu.detach()
        self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()
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
            self.branches.append(branch)

    def forward(self, x):
        results = []
        for branch in self.branches:
            results.append(branch(x))
        if self.mode == "cat":
            return torch.stack(results, len(results[0].shape))
        total = results[0]
        for result in results[1:]:
            total = total + result
        return total


def assert_known(mode):
    if mode != "sum" and mode != "cat":
        raise ValueError("unknown mode: " + str(mode))
""",
}
