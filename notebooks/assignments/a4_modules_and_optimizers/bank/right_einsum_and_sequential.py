"""Einsum, moments by hand, branches in an nn.Sequential that is never called."""

CELLS = {
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        limit = 1.0 / in_features**0.5
        weight = torch.distributions.Uniform(-limit, limit).sample((out_features, in_features))
        self.register_parameter("weight", nn.Parameter(weight))
        self.register_parameter("bias", nn.Parameter(torch.rand(out_features) * 2 * limit - limit) if bias else None)

    def forward(self, x):
        y = torch.einsum("...i,oi->...o", x, self.weight)
        if self.bias is not None:
            y += self.bias
        return y
""",
    "standardize": """
class Standardize(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum, self.eps, self.features = momentum, eps, features
        for name, value in (("running_mean", 0.0), ("running_var", 1.0)):
            self.register_buffer(name, torch.tensor([value] * features))

    def statistics(self, x):
        if not self.training:
            return self.running_mean, self.running_var
        mean = x.mean(0, keepdim=True)
        var = (x**2).mean(0, keepdim=True) - mean**2
        for running, new in ((self.running_mean, mean), (self.running_var, var)):
            running.mul_(1 - self.momentum).add_(new.detach().squeeze(0), alpha=self.momentum)
        return mean, var

    def forward(self, x):
        mean, var = self.statistics(x)
        return (x - mean).mul((var + self.eps).rsqrt())
""",
    "parallel_block": """
class ParallelBlock(nn.Module):
    def __init__(self, branches, mode="sum"):
        super().__init__()
        if mode == "sum":
            self.add = True
        elif mode == "cat":
            self.add = False
        else:
            raise ValueError("mode must be sum or cat")
        self.branches = nn.Sequential(*branches)

    def forward(self, x):
        y = None
        for branch in self.branches:
            one = branch(x)
            if y is None:
                y = one
            elif self.add:
                y = y + one
            else:
                y = torch.cat((y, one), dim=-1)
        return y
""",
}
