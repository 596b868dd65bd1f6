"""Prints everywhere, and an extra cell that compares with torch.optim."""

CELLS = {
    "rmsprop": """
class RMSProp(torch.optim.Optimizer):

    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        defaults = {}
        defaults["lr"] = lr
        defaults["alpha"] = alpha
        defaults["eps"] = eps
        super().__init__(params, defaults)
        print("an optimizer with", len(self.param_groups), "groups")

    def step(self, closure=None):
        if closure is None:
            loss = None
        else:
            with torch.enable_grad():
                loss = closure()
        for i in range(len(self.param_groups)):
            group = self.param_groups[i]
            for j in range(len(group["params"])):
                p = group["params"][j]
                g = p.grad
                if g is None:
                    print("no gradient for", i, j)
                else:
                    g = g.clone().detach()
                    if "v" not in self.state[p].keys():
                        self.state[p]["v"] = (1 - group["alpha"]) * g * g
                    else:
                        self.state[p]["v"] = group["alpha"] * self.state[p]["v"] + (1 - group["alpha"]) * g * g
                    with torch.no_grad():
                        p[...] = p - group["lr"] * g / (torch.sqrt(self.state[p]["v"]) + group["eps"])
        return loss
""",
}
EXTRA = [
    (
        "test_rmsprop",
        """
ours, theirs = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
for optimizer, p in ((RMSProp, ours), (torch.optim.RMSprop, theirs)):
    o = optimizer([p], lr=0.1)
    for k in range(5):
        p.grad = torch.tensor([1.0, -2.0, 0.5]) * k
        o.step()
print("they agree:", torch.allclose(ours, theirs))
""",
    ),
]
