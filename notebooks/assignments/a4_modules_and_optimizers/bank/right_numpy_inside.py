"""Updates are computed in NumPy and written back."""

CELLS = {
    "sgd": """
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = torch.enable_grad()(closure)()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                w, g = p.detach().numpy(), p.grad.numpy()
                g = g + w.dtype.type(group["weight_decay"]) * w
                v = g
                if "v" in self.state[p]:
                    v = g + w.dtype.type(group["momentum"]) * self.state[p]["v"].numpy()
                self.state[p]["v"] = torch.as_tensor(v).clone()
                d = g + w.dtype.type(group["momentum"]) * v if group["nesterov"] else v
                with torch.no_grad():
                    p.copy_(torch.as_tensor(w - w.dtype.type(group["lr"]) * d))
        return loss
""",
    "rmsprop": """
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps))

    def step(self, closure=None):
        with torch.set_grad_enabled(True):
            loss = None if closure is None else closure()
        for group in self.param_groups:
            a, lr, eps = group["alpha"], group["lr"], group["eps"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad.double()
                v = self.state[p].get("v", 0 * g).double()
                v = a * v + (1 - a) * g**2
                self.state[p]["v"] = v
                with torch.no_grad():
                    p.copy_(p.double() - lr * g / (v.sqrt() + eps))
        return loss
""",
}
