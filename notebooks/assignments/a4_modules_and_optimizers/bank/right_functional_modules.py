"""torch.nn.functional and torch.nn.init where they exist."""

CELLS = {
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super(Affine, self).__init__()
        self.weight = nn.Parameter(torch.empty((out_features, in_features)))
        if bias:
            self.bias = nn.Parameter(torch.empty(out_features))
        else:
            self.bias = None
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.weight.shape[1])
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)
""",
    "standardize": """
class Standardize(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum = momentum
        self.eps = eps
        self.register_buffer("running_var", torch.ones(features))
        self.register_buffer("running_mean", torch.zeros(features))

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                var, mean = torch.var_mean(x, dim=0, correction=0)
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(var, self.momentum)
            return nn.functional.batch_norm(x, None, None, training=True, eps=self.eps)
        return nn.functional.batch_norm(x, self.running_mean, self.running_var, training=False, eps=self.eps)
""",
    "parallel_block": """
class ParallelBlock(nn.Module):
    JOIN = {"sum": lambda ys: torch.stack(ys).sum(dim=0), "cat": lambda ys: torch.cat(ys, dim=ys[0].ndim - 1)}

    def __init__(self, branches, mode="sum"):
        super().__init__()
        if mode not in self.JOIN:
            raise ValueError(mode)
        self.join = self.JOIN[mode]
        self.branches = nn.ModuleDict({str(i): b for i, b in enumerate(branches)})

    def forward(self, x):
        return self.join([b(x) for b in self.branches.values()])
""",
}
