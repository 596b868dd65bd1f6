"""fit: The mean of the list.

affine: The layer is made when it is called for the first time, and every time.
standardise: eps is stored and not used.
"""

KIND = "fault"
EXPECTED = {
    "test_fit": "partial:fit-history-mean-of-means",
    "test_affine": "failed:affine-made-in-forward",
    "test_standardise": "partial:standardise-eps-missing",
}
CELLS = {
    "fit": """
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    model.train()
    means = []
    for _ in range(epochs):
        numbers, sizes = [], []
        for k in range(0, len(batches), accumulate):
            part = batches[k : k + accumulate]
            rows = sum([b[0].size(0) for b in part])
            model.zero_grad()
            for x, y in part:
                out = loss_fn(model(x), y)
                (out * (x.size(0) / rows)).backward()
                numbers.append(out.item())
                sizes.append(x.size(0))
            if max_norm is not None:
                norm = sum((p.grad**2).sum() for p in model.parameters()) ** 0.5
                if norm > max_norm:
                    for p in model.parameters():
                        p.grad = p.grad * (max_norm / norm)
            optimizer.step()
        if scheduler is not None:
            scheduler.step()
        means.append(sum(numbers) / len(numbers))
    return means
""",
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.n_in = in_features
        self.n_out = out_features
        self.with_bias = bias
        self.bias = None

    def forward(self, x):
        k = self.n_in**-0.5
        self.weight = nn.Parameter(torch.rand(self.n_out, self.n_in) * 2 * k - k)
        if self.with_bias:
            self.bias = nn.Parameter(torch.rand(self.n_out) * 2 * k - k)
            return x @ self.weight.t() + self.bias
        return x @ self.weight.t()
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
            return (x - self.running_mean) * self.running_var**-0.5
        mu = x.sum(0) / x.shape[0]
        centred = x - mu
        sigma2 = (centred**2).sum(0) / x.shape[0]
        self.running_mean = (1 - self.m) * self.running_mean + self.m * mu.detach()
        self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()
        return centred * sigma2**-0.5
""",
}
