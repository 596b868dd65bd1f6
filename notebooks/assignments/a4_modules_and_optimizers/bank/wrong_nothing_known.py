"""Mistakes that nobody has foreseen: they fail, and no name is guessed."""

EXPECTED = {
    "test_affine": "partial",
    "test_sgd": "failed",
    "test_adam": "failed",
    "test_fit": "failed",
}
CELLS = {
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        y = x @ self.weight.abs().T
        return y if self.bias is None else y + self.bias
""",
    "sgd": """
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.data -= group["lr"] * torch.sign(p.grad)
        return loss
""",
    "adam": """
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    s = self.state[p]
                    s["m"] = torch.maximum(s.get("m", p.grad), p.grad)
                    p.data -= group["lr"] * s["m"]
        return loss
""",
    "fit": """
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    model.train()
    history = []
    for _ in range(epochs):
        for x, y in reversed(batches):
            optimizer.zero_grad()
            loss = loss_fn(model(x), y) ** 2
            loss.backward()
            optimizer.step()
        history.append(3.0)
    return history
""",
}
