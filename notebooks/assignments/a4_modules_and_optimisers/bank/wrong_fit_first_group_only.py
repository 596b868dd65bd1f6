"""fit: break. affine: The weight lies the other way round. standardise: N - 1 in both places."""

KIND = "fault"
EXPECTED = {
    "test_fit": "failed:fit-first-group-only",
    "test_affine": "failed:affine-weight-shape-swapped",
    "test_standardise": "partial:standardise-n-minus-one",
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
            break
        if scheduler is not None:
            scheduler.step()
        means.append(sum(a * b for a, b in zip(numbers, sizes)) / sum(sizes))
    return means
""",
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        k = in_features**-0.5
        self.weight = nn.Parameter((2 * torch.rand(in_features, out_features) - 1) * k)
        if bias:
            self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * k)
        else:
            self.register_parameter("bias", None)

    def forward(self, x):
        out = torch.matmul(x, self.weight)
        if self.bias is not None:
            out = out + self.bias
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
            return (x - self.running_mean) * (self.running_var + self.eps) ** -0.5
        mu = x.sum(0) / x.shape[0]
        centred = x - mu
        sigma2 = (centred**2).sum(0) / (x.shape[0] - 1)
        self.running_mean = (1 - self.m) * self.running_mean + self.m * mu.detach()
        self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()
        return centred * (sigma2 + self.eps) ** -0.5
""",
}
