"""fit: The mean of means. sgd: The return stands for nothing. adam: No hats."""

KIND = "fault"
EXPECTED = {
    "test_fit": "partial:fit-batches-count-alike",
    "test_sgd": "partial:sgd-loss-not-returned",
    "test_adam": "failed:adam-no-correction",
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
                (out / len(part)).backward()
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
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        for g in self.param_groups:
            for w in g["params"]:
                if w.grad is not None:
                    self.move(w, w.grad, self.state[w], g)

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
    "adam": """
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, decoupled=decoupled))

    @torch.no_grad()
    def step(self, closure=None):
        result = None
        if closure is not None:
            with torch.enable_grad():
                result = closure()
        for g in self.param_groups:
            for w in g["params"]:
                if w.grad is not None:
                    self.move(w, w.grad, self.state[w], g)
        return result

    def move(self, w, d, s, g):
        if len(s) == 0:
            s["count"] = 0
            s["first"], s["second"] = torch.zeros_like(w), torch.zeros_like(w)
        if g["decoupled"]:
            w.mul_(1 - g["lr"] * g["weight_decay"])
        else:
            d = d + w * g["weight_decay"]
        s["count"] += 1
        b1, b2 = g["betas"]
        s["first"].mul_(b1).add_(d, alpha=1 - b1)
        s["second"].mul_(b2).addcmul_(d, d, value=1 - b2)
        up = s["first"]
        down = s["second"].sqrt() + g["eps"]
        w.sub_(g["lr"] * up / down)
""",
}
