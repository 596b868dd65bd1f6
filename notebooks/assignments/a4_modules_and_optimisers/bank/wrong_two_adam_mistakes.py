"""Two mistakes in one cell: the mean is not corrected, and eps stands under the root. And two in SGD."""

EXPECTED = {
    "test_adam": "failed:adam-m-not-corrected+adam-eps-in-the-root",
    "test_sgd": "failed:sgd-uphill",
}
KIND = "fault"
CELLS = {
    "adam": """
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, decoupled=decoupled))

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        with torch.no_grad():
            for o in self.param_groups:
                for p in o["params"]:
                    if p.grad is None:
                        continue
                    s, g = self.state[p], p.grad
                    if o["decoupled"]:
                        p *= 1 - o["lr"] * o["weight_decay"]
                    else:
                        g = g + o["weight_decay"] * p
                    s["t"] = 1 + s.get("t", 0)
                    s["m"] = o["betas"][0] * s.get("m", 0) + (1 - o["betas"][0]) * g
                    s["v"] = o["betas"][1] * s.get("v", 0) + (1 - o["betas"][1]) * g * g
                    p -= o["lr"] * s["m"] / (s["v"] / (1 - o["betas"][1] ** s["t"]) + o["eps"]) ** 0.5
        return loss
""",
    "sgd": """
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for o in self.param_groups:
            for p in o["params"]:
                if p.grad is None:
                    continue
                g = p.grad + o["weight_decay"] * p.data
                v = self.state[p].get("v", torch.zeros_like(g))
                v = o["momentum"] * v + (1 - o["momentum"]) * g
                self.state[p]["v"] = v
                p.data += o["lr"] * (g + o["momentum"] * v if o["nesterov"] else v)
        return loss
""",
}
