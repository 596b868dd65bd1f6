"""Written after PyTorch's own sources: step counters are float32 tensors, bias corrections are factors of the step."""

CELLS = {
    "sgd": """
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        if momentum < 0:
            raise ValueError(f"invalid momentum: {momentum}")
        defaults = dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay)
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                d_p = param.grad
                if group["weight_decay"] != 0:
                    d_p = d_p.add(param, alpha=group["weight_decay"])
                if group["momentum"] != 0:
                    buf = self.state[param].get("momentum_buffer")
                    if buf is None:
                        buf = d_p.detach().clone()
                        self.state[param]["momentum_buffer"] = buf
                    else:
                        buf.mul_(group["momentum"]).add_(d_p)
                    d_p = d_p.add(buf, alpha=group["momentum"]) if group["nesterov"] else buf
                param.add_(d_p, alpha=-group["lr"])
        return loss
""",
    "rmsprop": """
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = torch.tensor(0.0)
                    state["square_avg"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                state["step"] += 1
                state["square_avg"].mul_(group["alpha"]).addcmul_(p.grad, p.grad, value=1 - group["alpha"])
                avg = state["square_avg"].sqrt().add_(group["eps"])
                p.addcdiv_(p.grad, avg, value=-group["lr"])
        return loss
""",
    "adam": """
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, decoupled=decoupled))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                state["step"] += 1
                if group["weight_decay"] != 0:
                    if group["decoupled"]:
                        p.mul_(1 - group["lr"] * group["weight_decay"])
                    else:
                        grad = grad.add(p, alpha=group["weight_decay"])
                state["exp_avg"].lerp_(grad, 1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                correction1 = 1 - beta1 ** state["step"]
                correction2 = 1 - beta2 ** state["step"]
                denom = (state["exp_avg_sq"].sqrt() / correction2.sqrt()).add_(group["eps"])
                p.add_(state["exp_avg"] / denom * (-group["lr"] / correction1))
        return loss
""",
}
