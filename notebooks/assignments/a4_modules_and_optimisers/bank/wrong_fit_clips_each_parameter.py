"""fit: The norm of each tensor.

standardise: Only the update depends on the mode.
sgd: The decorator holds for the closure too.
"""

KIND = "fault"
EXPECTED = {
    "test_fit": "partial:fit-clips-each-parameter",
    "test_standardise": "partial:standardise-batch-in-evaluation",
    "test_sgd": "partial:closure-without-gradients",
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
                for p in model.parameters():
                    if p.grad.norm() > max_norm:
                        p.grad.mul_(max_norm / p.grad.norm())
            optimizer.step()
        if scheduler is not None:
            scheduler.step()
        means.append(sum(a * b for a, b in zip(numbers, sizes)) / sum(sizes))
    return means
""",
    "standardise": """
class Standardise(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.m, self.eps = momentum, eps
        self.register_buffer("running_mean", torch.full((features,), 0.0))
        self.register_buffer("running_var", torch.full((features,), 1.0))

    def forward(self, x):
        mu = x.sum(0) / x.shape[0]
        centred = x - mu
        sigma2 = (centred**2).sum(0) / x.shape[0]
        if self.training:
            self.running_mean = (1 - self.m) * self.running_mean + self.m * mu.detach()
            self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()
        return centred * (sigma2 + self.eps) ** -0.5
""",
    "sgd": """
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        result = None
        if closure is not None:
            result = closure()
        for g in self.param_groups:
            for w in g["params"]:
                if w.grad is not None:
                    self.move(w, w.grad, self.state[w], g)
        return result

    def move(self, w, d, s, g):
        if g["weight_decay"]:
            d = d.add(w, alpha=g["weight_decay"])
        mu = g["momentum"]
        if mu:
            if "buf" not in s:
                s["buf"] = torch.clone(d)
            else:
                s["buf"].mul_(mu).add_(d)
            if g["nesterov"]:
                d = d.add(s["buf"], alpha=mu)
            else:
                d = s["buf"]
        w.add_(d, alpha=-g["lr"])
""",
}
