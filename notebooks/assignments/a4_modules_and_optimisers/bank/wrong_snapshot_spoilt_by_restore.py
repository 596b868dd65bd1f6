"""snapshot: Copied when taken, not when brought back. fit: The last loss. affine: addmm takes matrices only."""

KIND = "fault"
EXPECTED = {
    "test_snapshot": "partial:snapshot-spoilt-by-restore",
    "test_fit": "partial:fit-history-last-batch",
    "test_affine": "partial:affine-two-axes-only",
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
        group.update(options[i])
        for j, p in enumerate(group["params"]):
            optimizer.state[p] = memory[i, j]
""",
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
            loss.mul(n).backward()
            waiting += n
            seen += n
            summed += n * float(loss.detach())
            if (i + 1) % accumulate == 0 or i + 1 == len(batches):
                for p in model.parameters():
                    if p.grad is not None:
                        p.grad /= waiting
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
                optimizer.step()
                optimizer.zero_grad()
                waiting = 0
        if scheduler:
            scheduler.step()
        losses.append(float(loss))
    return losses
""",
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        k = in_features**-0.5
        self.weight = nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * k)
        if bias:
            self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * k)
        else:
            self.register_parameter("bias", None)

    def forward(self, x):
        if self.bias is None:
            return x.mm(self.weight.t())
        return torch.addmm(self.bias, x, self.weight.t())
""",
}
