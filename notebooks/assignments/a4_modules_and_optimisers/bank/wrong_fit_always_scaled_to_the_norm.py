"""fit: Normalised. sgd: The closure comes last. rmsprop: self.param_groups[0]."""

KIND = "fault"
EXPECTED = {
    "test_fit": "partial:fit-always-scaled-to-the-norm",
    "test_sgd": "partial:sgd-closure-too-late",
    "test_rmsprop": "partial:rmsprop-first-group-only",
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
                for p in model.parameters():
                    p.grad = p.grad * (max_norm / norm)
            optimizer.step()
        if scheduler is not None:
            scheduler.step()
        means.append(sum(a * b for a, b in zip(numbers, sizes)) / sum(sizes))
    return means
""",
    "sgd": """
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        result = None
        for g in self.param_groups:
            for w in g["params"]:
                if w.grad is not None:
                    self.move(w, w.grad, self.state[w], g)
        if closure is not None:
            with torch.enable_grad():
                result = closure()
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
    "rmsprop": """
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        result = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        g = self.param_groups[0]
        for w in g["params"]:
            if w.grad is not None:
                self.move(w, w.grad, self.state[w], g)
        return result

    def move(self, w, d, s, g):
        if not s:
            s["v"] = torch.zeros_like(w)
        s["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])
        bottom = s["v"].sqrt().add_(g["eps"])
        w.addcdiv_(d, bottom, value=-g["lr"])
""",
}
