"""Honest: rows from last to first, sums in float64 and gradients by `torch.func`. The last digits differ."""

ENTRY, FAMILY, ASSIGNMENT = 75, "E", "a6_cuda_training"
EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    x, y = (part.flip(0).to(device) for part in batch)
    values = {name: p.detach() for name, p in model.named_parameters()}

    def loss_of(values):
        return loss_fn(torch.func.functional_call(model, values, (x,)), y)

    found, loss = torch.func.grad_and_value(loss_of)(values)
    for name, p in model.named_parameters():
        p.grad = found[name]
    optimizer.step()
    return float(loss)
""",
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    was_training = model.training
    model.eval()
    total = torch.zeros((), dtype=torch.float64, device=device)
    right = torch.zeros((), dtype=torch.int64, device=device)
    rows = 0
    with torch.inference_mode():
        for x, y in loader:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            outputs = model(x)
            total += len(x) * loss_fn(outputs.double(), y)
            right += (outputs.softmax(dim=1).topk(1).indices[:, 0] == y).sum()
            rows += len(x)
    model.train(was_training)
    return (total / rows).item(), right.item() / rows
""",
}
