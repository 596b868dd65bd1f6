"""fit: Gradients of means are added up. adam: The return stands for nothing. standardise: Plain attributes."""

KIND = "fault"
EXPECTED = {
    "test_fit": "partial:fit-means-added",
    "test_adam": "partial:adam-loss-not-returned",
    "test_standardise": "partial:standardise-plain-tensors",
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
            loss.backward()
            waiting += n
            seen += n
            summed += n * float(loss.detach())
            if (i + 1) % accumulate == 0 or i + 1 == len(batches):
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
                optimizer.step()
                optimizer.zero_grad()
                waiting = 0
        if scheduler:
            scheduler.step()
        losses.append(summed / seen)
    return losses
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
        up = s["first"] / (1 - b1 ** s["count"])
        down = (s["second"] / (1 - b2 ** s["count"])).sqrt() + g["eps"]
        w.sub_(g["lr"] * up / down)
""",
    "standardise": """
class Standardise(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.m, self.eps = momentum, eps
        self.running_mean = torch.zeros(features)
        self.running_var = torch.ones(features)

    def forward(self, x):
        if not self.training:
            return (x - self.running_mean) * (self.running_var + self.eps) ** -0.5
        mu = x.sum(0) / x.shape[0]
        centred = x - mu
        sigma2 = (centred**2).sum(0) / x.shape[0]
        self.running_mean = (1 - self.m) * self.running_mean + self.m * mu.detach()
        self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()
        return centred * (sigma2 + self.eps) ** -0.5
""",
}
