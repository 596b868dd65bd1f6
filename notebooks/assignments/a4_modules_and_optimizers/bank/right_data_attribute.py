"""The old way: everything through .data, no no_grad in sight."""

CELLS = {
    "sgd": """
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        options = {"lr": lr, "momentum": momentum, "nesterov": nesterov, "weight_decay": weight_decay}
        torch.optim.Optimizer.__init__(self, params, options)

    def step(self, closure=None):
        with torch.enable_grad():
            loss = closure() if closure else None
        for g in self.param_groups:
            lr, mu, wd = g["lr"], g["momentum"], g["weight_decay"]
            for p in g["params"]:
                if p.grad is None:
                    continue
                d = p.grad.data + wd * p.data
                v = self.state[p]["v"] if "v" in self.state[p] else torch.zeros_like(p.data)
                v = v * mu + d
                self.state[p]["v"] = v
                p.data -= lr * (d + mu * v if g["nesterov"] else v)
        return loss
""",
    "rmsprop": """
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        torch.optim.Optimizer.__init__(self, params, {"lr": lr, "alpha": alpha, "eps": eps})

    def step(self, closure=None):
        with torch.enable_grad():
            loss = closure() if closure else None
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None:
                    continue
                v = self.state[p].setdefault("v", torch.zeros_like(p.data))
                v += (1 - g["alpha"]) * (p.grad.data ** 2 - v)
                p.data = p.data - g["lr"] * p.grad.data / (v ** 0.5 + g["eps"])
        return loss
""",
    "adam": """
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
        options = {"lr": lr, "beta1": betas[0], "beta2": betas[1], "betas": betas, "eps": eps}
        torch.optim.Optimizer.__init__(self, params, {**options, "weight_decay": weight_decay, "decoupled": decoupled})

    def step(self, closure=None):
        with torch.enable_grad():
            loss = closure() if closure else None
        for g in self.param_groups:
            b1, b2 = g["betas"]
            for p in g["params"]:
                if p.grad is None:
                    continue
                s = self.state[p]
                if "t" not in s:
                    s.update(t=0, m=torch.zeros_like(p.data), v=torch.zeros_like(p.data))
                s["t"] = s["t"] + 1
                d = p.grad.data
                if g["decoupled"]:
                    p.data = p.data - g["lr"] * g["weight_decay"] * p.data
                else:
                    d = d + g["weight_decay"] * p.data
                s["m"] = b1 * s["m"] + (1 - b1) * d
                s["v"] = b2 * s["v"] + (1 - b2) * d * d
                mh, vh = s["m"] / (1 - b1 ** s["t"]), s["v"] / (1 - b2 ** s["t"])
                p.data = p.data - g["lr"] * mh / (vh.sqrt() + g["eps"])
        return loss
""",
}
