"""snapshot: Two dicts of other people's tensors.

fit: An SGD of its own in every epoch.
affine: The argument bias is overlooked.
"""

KIND = "fault"
EXPECTED = {
    "test_snapshot": "failed:snapshot-not-copied",
    "test_fit": "partial:fit-optimiser-made-anew",
    "test_affine": "partial:affine-bias-always-there",
}
CELLS = {
    "snapshot": """
def snapshot(model, optimizer):
    return {"weights": model.state_dict(), "rest": optimizer.state_dict()}


def restore(model, optimizer, saved):
    model.load_state_dict(saved["weights"])
    optimizer.load_state_dict(copy.deepcopy(saved["rest"]))
""",
    "fit": """
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    model.train(True)
    losses = []
    for epoch in range(epochs):
        g = optimizer.param_groups[0]
        optimizer = torch.optim.SGD(model.parameters(), lr=g["lr"], momentum=g["momentum"])
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
        losses.append(summed / seen)
    return losses
""",
    "affine": """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        k = in_features**-0.5
        self.weight = nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * k)
        self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * k)

    def forward(self, x):
        out = torch.matmul(x, self.weight.t())
        if self.bias is not None:
            out = out + self.bias
        return out
""",
}
