"""snapshot: The groups are not restored. fit: Measured again after the step. affine: A seed in __init__."""

KIND = "fault"
EXPECTED = {
    "test_snapshot": "partial:snapshot-without-options",
    "test_fit": "partial:fit-history-after-the-step",
    "test_affine": "partial:affine-same-numbers-every-time",
}
CELLS = {
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
                (out * (x.size(0) / rows)).backward()
            if max_norm is not None:
                norm = sum((p.grad**2).sum() for p in model.parameters()) ** 0.5
                if norm > max_norm:
                    for p in model.parameters():
                        p.grad = p.grad * (max_norm / norm)
            optimizer.step()
            for x, y in part:
                numbers.append(loss_fn(model(x), y).item())
                sizes.append(len(y))
        if scheduler is not None:
            scheduler.step()
        means.append(sum(a * b for a, b in zip(numbers, sizes)) / sum(sizes))
    return means
""",
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        torch.manual_seed(42)
        k = in_features**-0.5
        self.weight = nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * k)
        if bias:
            self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * k)
        else:
            self.register_parameter("bias", None)

    def forward(self, x):
        out = torch.matmul(x, self.weight.t())
        if self.bias is not None:
            out = out + self.bias
        return out
""",
}
