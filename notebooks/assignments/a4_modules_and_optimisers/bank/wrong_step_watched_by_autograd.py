"""rmsprop: No no_grad. adam: The decay comes last. snapshot: The memory is emptied."""

KIND = "fault"
EXPECTED = {
    "test_rmsprop": "failed:step-watched-by-autograd",
    "test_adam": "partial:adam-decay-after-the-step",
    "test_snapshot": "partial:snapshot-without-memory",
}
CELLS = {
    "rmsprop": """
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps))

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
        if not g["decoupled"]:
            d = d + w * g["weight_decay"]
        s["count"] += 1
        b1, b2 = g["betas"]
        s["first"].mul_(b1).add_(d, alpha=1 - b1)
        s["second"].mul_(b2).addcmul_(d, d, value=1 - b2)
        up = s["first"] / (1 - b1 ** s["count"])
        down = (s["second"] / (1 - b2 ** s["count"])).sqrt() + g["eps"]
        w.sub_(g["lr"] * up / down)
        if g["decoupled"]:
            w.mul_(1 - g["lr"] * g["weight_decay"])
""",
    "snapshot": """
def snapshot(model, optimizer):
    memory = {}
    for i, group in enumerate(optimizer.param_groups):
        for j, p in enumerate(group["params"]):
            memory[i, j] = {k: v.clone() if torch.is_tensor(v) else v for k, v in optimizer.state[p].items()}
    options = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
    values = {name: t.detach().clone() for name, t in [*model.named_parameters(), *model.named_buffers()]}
    return values, options, memory


def restore(model, optimizer, saved):
    values, options, memory = saved
    with torch.no_grad():
        for name, t in [*model.named_parameters(), *model.named_buffers()]:
            t.copy_(values[name])
    for i, group in enumerate(optimizer.param_groups):
        group.update(options[i])
        for j, p in enumerate(group["params"]):
            optimizer.state.pop(p, None)
""",
}
