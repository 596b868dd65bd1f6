"""A common base class in an extra cell, and whole lists of tensors at once."""

CELLS = {
    "sgd": """
class SGD(Foreach):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))

    def update(self, ps, gs, states, group):
        gs = torch._foreach_add(gs, ps, alpha=group["weight_decay"])
        for s, p in zip(states, ps):
            s.setdefault("v", torch.zeros_like(p))
        vs = [s["v"] for s in states]
        torch._foreach_mul_(vs, group["momentum"])
        torch._foreach_add_(vs, gs)
        ds = torch._foreach_add(gs, vs, alpha=group["momentum"]) if group["nesterov"] else vs
        torch._foreach_add_(ps, ds, alpha=-group["lr"])
""",
    "rmsprop": """
class RMSProp(Foreach):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps))

    def update(self, ps, gs, states, group):
        for s, p in zip(states, ps):
            s.setdefault("v", torch.zeros_like(p))
        vs = [s["v"] for s in states]
        torch._foreach_mul_(vs, group["alpha"])
        torch._foreach_addcmul_(vs, gs, gs, value=1 - group["alpha"])
        down = torch._foreach_sqrt(vs)
        torch._foreach_add_(down, group["eps"])
        torch._foreach_addcdiv_(ps, gs, down, value=-group["lr"])
""",
    "adam": """
class Adam(Foreach):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, decoupled=decoupled))

    def update(self, ps, gs, states, group):
        b1, b2 = group["betas"]
        if group["decoupled"]:
            torch._foreach_mul_(ps, 1 - group["lr"] * group["weight_decay"])
        else:
            gs = torch._foreach_add(gs, ps, alpha=group["weight_decay"])
        for p, g, s in zip(ps, gs, states):
            s["t"] = s.get("t", 0) + 1
            s["m"] = torch.lerp(s.get("m", torch.zeros_like(p)), g, 1 - b1)
            s["v"] = torch.lerp(s.get("v", torch.zeros_like(p)), g * g, 1 - b2)
            root = torch.sqrt(s["v"] / (1 - b2 ** s["t"]))
            p.addcdiv_(s["m"], root + group["eps"], value=-group["lr"] / (1 - b1 ** s["t"]))
""",
}
EXTRA = [
    (
        "about_sgd",
        """
class Foreach(torch.optim.Optimizer):
    def step(self, closure=None):
        with torch.enable_grad():
            loss = None if closure is None else closure()
        with torch.no_grad():
            for group in self.param_groups:
                ps = [p for p in group["params"] if p.grad is not None]
                if ps:
                    self.update(ps, [p.grad for p in ps], [self.state[p] for p in ps], group)
        return loss
""",
    ),
]
