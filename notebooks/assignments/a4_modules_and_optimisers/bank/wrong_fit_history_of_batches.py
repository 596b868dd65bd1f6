"""fit: All losses in one list. affine: Gaussian numbers. standardise: super().__init__() is forgotten."""

KIND = "fault"
EXPECTED = {
    "test_fit": "partial:fit-history-of-batches",
    "test_affine": "partial:affine-start-range",
    "test_standardise": "failed:module-not-initialised",
}
CELLS = {
    "fit": """
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    model.train(True)
    losses = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        seen = waiting = 0
        summed = 0.0
        for i, (inputs, targets) in enumerate(batches):
            n = inputs.shape[0]
            loss = loss_fn(model(inputs), targets)
            loss.mul(n).backward()
            waiting += n
            seen += n
            losses.append(loss.item())
            if (i + 1) % accumulate == 0 or i + 1 == len(batches):
                for p in model.parameters():
                    if p.grad is not None:
                        p.grad /= waiting
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
                optimizer.step()
                optimizer.zero_grad()
                waiting = 0
        if scheduler:
            scheduler.step()
    return losses
""",
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        k = in_features**-0.5
        self.weight = nn.Parameter(torch.randn(out_features, in_features))
        if bias:
            self.bias = nn.Parameter(torch.randn(out_features))
        else:
            self.register_parameter("bias", None)

    def forward(self, x):
        out = torch.matmul(x, self.weight.t())
        if self.bias is not None:
            out = out + self.bias
        return out
""",
    "standardise": """
class Standardise(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
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
        self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()
        return centred * (sigma2 + self.eps) ** -0.5
""",
}
