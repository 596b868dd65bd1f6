"""adam: AdamW only. snapshot: Parameters only. fit: What is differentiated is added up."""

KIND = "fault"
EXPECTED = {
    "test_adam": "partial:adam-decay-always-decoupled",
    "test_snapshot": "partial:snapshot-without-buffers",
    "test_fit": "partial:fit-history-of-scaled-losses",
}
CELLS = {
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
        w.mul_(1 - g["lr"] * g["weight_decay"])
        s["count"] += 1
        b1, b2 = g["betas"]
        s["first"].mul_(b1).add_(d, alpha=1 - b1)
        s["second"].mul_(b2).addcmul_(d, d, value=1 - b2)
        up = s["first"] / (1 - b1 ** s["count"])
        down = (s["second"] / (1 - b2 ** s["count"])).sqrt() + g["eps"]
        w.sub_(g["lr"] * up / down)
""",
    "snapshot": """
def snapshot(model, optimizer):
    memory = {}
    for i, group in enumerate(optimizer.param_groups):
        for j, p in enumerate(group["params"]):
            memory[i, j] = {k: v.clone() if torch.is_tensor(v) else v for k, v in optimizer.state[p].items()}
    options = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
    values = {name: t.detach().clone() for name, t in model.named_parameters()}
    return values, options, memory


def restore(model, optimizer, saved):
    values, options, memory = saved
    with torch.no_grad():
        for name, t in model.named_parameters():
            t.copy_(values[name])
    for i, group in enumerate(optimizer.param_groups):
        group.update(options[i])
        for j, p in enumerate(group["params"]):
            optimizer.state[p] = {k: v.clone() if torch.is_tensor(v) else v for k, v in memory[i, j].items()}
""",
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
                out = out * x.size(0) / rows
                out.backward()
                numbers.append(out.item())
            if max_norm is not None:
                norm = sum((p.grad**2).sum() for p in model.parameters()) ** 0.5
                if norm > max_norm:
                    for p in model.parameters():
                        p.grad = p.grad * (max_norm / norm)
            optimizer.step()
        if scheduler is not None:
            scheduler.step()
        means.append(sum(numbers))
    return means
""",
}
