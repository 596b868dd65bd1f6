"""fit: No clipping.

affine: super().__init__() is forgotten.
standardise: The update comes first, then the running statistics are used.
"""

KIND = "fault"
EXPECTED = {
    "test_fit": "partial:fit-clips-after-the-step",
    "test_affine": "failed:module-not-initialised",
    "test_standardise": "partial:standardise-running-in-training",
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
            summed += n * float(loss.detach())
            if (i + 1) % accumulate == 0 or i + 1 == len(batches):
                for p in model.parameters():
                    if p.grad is not None:
                        p.grad /= waiting
                optimizer.step()
                optimizer.zero_grad()
                waiting = 0
        if scheduler:
            scheduler.step()
        losses.append(summed / seen)
    return losses
""",
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        k = in_features**-0.5
        self.weight = nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * k)
        if bias:
            self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * k)
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
        self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()
        return (x - self.running_mean) / (self.running_var + self.eps).sqrt()
""",
}
