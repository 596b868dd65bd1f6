"""fit: clamp on every gradient. rmsprop: A new tensor, and the old one stays. adam: The other hat."""

KIND = "fault"
EXPECTED = {
    "test_fit": "partial:fit-clips-each-value",
    "test_rmsprop": "failed:rmsprop-parameter-rebound",
    "test_adam": "failed:adam-m-not-corrected",
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
                if max_norm is not None:
                    for p in model.parameters():
                        p.grad = p.grad.clamp(-max_norm, max_norm)
                optimizer.step()
                optimizer.zero_grad()
                waiting = 0
        if scheduler:
            scheduler.step()
        losses.append(summed / seen)
    return losses
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
        w = w.addcdiv(d, bottom, value=-g["lr"])
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
        up = s["first"].clone()
        down = (s["second"] / (1 - b2 ** s["count"])).sqrt() + g["eps"]
        w.sub_(g["lr"] * up / down)
""",
}
