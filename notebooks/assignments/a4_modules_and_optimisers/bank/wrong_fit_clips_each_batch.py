"""fit: Clipped after each backward. rmsprop: lr is kept as an attribute. adam: The count is raised at the end."""

KIND = "fault"
EXPECTED = {
    "test_fit": "partial:fit-clips-each-batch",
    "test_rmsprop": "partial:rmsprop-rate-of-the-start",
    "test_adam": "failed:adam-counts-from-zero",
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
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                numbers.append(out.item())
                sizes.append(x.size(0))
            optimizer.step()
        if scheduler is not None:
            scheduler.step()
        means.append(sum(a * b for a, b in zip(numbers, sizes)) / sum(sizes))
    return means
""",
    "rmsprop": """
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        self.rate = lr
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps))

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
        if not s:
            s["v"] = torch.zeros_like(w)
        s["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])
        bottom = s["v"].sqrt().add_(g["eps"])
        w.addcdiv_(d, bottom, value=-self.rate)
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
        b1, b2 = g["betas"]
        s["first"].mul_(b1).add_(d, alpha=1 - b1)
        s["second"].mul_(b2).addcmul_(d, d, value=1 - b2)
        up = s["first"] / (1 - b1 ** s["count"])
        down = (s["second"] / (1 - b2 ** s["count"])).sqrt() + g["eps"]
        w.sub_(g["lr"] * up / down)
        s["count"] += 1
""",
}
