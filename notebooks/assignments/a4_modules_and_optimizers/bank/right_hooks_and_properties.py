"""Branches by add_module on a plain Module, a mode that is checked late in __init__, buffers replaced."""

CELLS = {
    "parallel_block": """
class ParallelBlock(nn.Module):
    def __init__(self, branches, mode="sum"):
        super().__init__()
        self.branches = nn.Module()
        self.number = 0
        for branch in branches:
            self.branches.add_module(str(self.number), branch)
            self.number += 1
        self.mode = {"sum": 0, "cat": 1}.get(mode)
        if self.mode is None:
            raise ValueError("mode")

    def forward(self, x):
        outs = tuple(child(x) for child in self.branches._modules.values())
        if self.mode == 1:
            return torch.concatenate(outs, axis=-1)
        first, *others = outs
        y = first.clone()
        for other in others:
            y += other
        return y
""",
    "standardize": """
class Standardize(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum = momentum
        self.eps = eps
        self.running_mean = nn.Buffer(torch.zeros(features))
        self.running_var = nn.Buffer(torch.ones(features))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = torch.mean(x, 0), torch.mean(x * x, 0) - torch.mean(x, 0).square()
            new = [m.detach() * self.momentum for m in (mean, var)]
            self.running_mean.data = self.running_mean.data * (1 - self.momentum) + new[0]
            self.running_var.data = self.running_var.data * (1 - self.momentum) + new[1]
        return torch.div(x - mean, torch.sqrt(torch.add(var, self.eps)))
""",
}
