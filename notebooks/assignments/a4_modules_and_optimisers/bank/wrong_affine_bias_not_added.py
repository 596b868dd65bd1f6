"""affine: The sum with the bias is computed and dropped.

standardise: The root is missing.
parallel_block: stack and mean.
"""

KIND = "fault"
EXPECTED = {
    "test_affine": "partial:affine-bias-not-added",
    "test_standardise": "partial:standardise-divides-by-variance",
    "test_parallel_block": "partial:block-mean",
}
CELLS = {
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        k = in_features**-0.5
        self.weight = nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * k)
        if bias:
            self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * k)
        else:
            self.register_parameter("bias", None)

    def forward(self, x):
        out = torch.matmul(x, self.weight.t())
        if self.bias is not None:
            out + self.bias
        return out
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
            return (x - self.running_mean) * (self.running_var + self.eps) ** -1
        mu = x.sum(0) / x.shape[0]
        centred = x - mu
        sigma2 = (centred**2).sum(0) / x.shape[0]
        self.running_mean = (1 - self.m) * self.running_mean + self.m * mu.detach()
        self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()
        return centred * (sigma2 + self.eps) ** -1
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
            return torch.cat(results, -1)
        return torch.stack(results).mean(0)


def assert_known(mode):
    if mode != "sum" and mode != "cat":
        raise ValueError("unknown mode: " + str(mode))
""",
}
