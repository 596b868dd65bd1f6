"""The optimizer gets a closure."""

EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    x, y = batch
    x, y = x.to(device), y.to(device)

    def closure():
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).item()
""",
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    total = rows = 0
    for batch in loader:
        loss = train_step(model, batch, loss_fn, optimizer, device)
        total += loss * len(batch[0])
        rows += len(batch[0])
    return total / rows
""",
}
