"""Gradients are thrown away by hand, and at the end of a step of the epoch."""

EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    for p in model.parameters():
        p.grad = None
    x, y = batch[0].to(device), batch[1].to(device)
    out = model(x)
    loss = loss_fn(out, y)
    loss.backward()
    optimizer.step()
    return float(loss.detach())
""",
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train(True)
    optimizer.zero_grad(set_to_none=False)
    losses, counts = [], []
    for batch in loader:
        x, y = batch
        x, y = x.to(device), y.to(device)
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        losses.append(loss.item())
        counts.append(y.shape[0])
    return sum(l * c for l, c in zip(losses, counts)) / sum(counts)
""",
}
