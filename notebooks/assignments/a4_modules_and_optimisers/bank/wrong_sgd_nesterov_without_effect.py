"""sgd: Nesterov with the old velocity. rmsprop: No eps. adam: The square of the mean."""

KIND = "fault"
EXPECTED = {
    "test_sgd": "failed:sgd-nesterov-without-effect",
    "test_rmsprop": "failed:rmsprop-eps-missing",
    "test_adam": "failed:adam-square-of-m",
}
CELLS = {
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
        return result

    def move(self, w, d, s, g):
        if g["weight_decay"]:
            d = d.add(w, alpha=g["weight_decay"])
        mu = g["momentum"]
        if mu:
            old = s["buf"].clone() if "buf" in s else torch.zeros_like(w)
            if "buf" not in s:
                s["buf"] = torch.clone(d)
            else:
                s["buf"].mul_(mu).add_(d)
            if g["nesterov"]:
                d = d.add(old, alpha=mu)
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
        for g in self.param_groups:
            for w in g["params"]:
                if w.grad is not None:
                    self.move(w, w.grad, self.state[w], g)
        return result

    def move(self, w, d, s, g):
        if not s:
            s["v"] = torch.zeros_like(w)
        s["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])
        bottom = s["v"].sqrt()
        w.addcdiv_(d, bottom, value=-g["lr"])
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
        s["second"].mul_(b2).addcmul_(s["first"], s["first"], value=1 - b2)
        up = s["first"] / (1 - b1 ** s["count"])
        down = (s["second"] / (1 - b2 ** s["count"])).sqrt() + g["eps"]
        w.sub_(g["lr"] * up / down)
""",
}
