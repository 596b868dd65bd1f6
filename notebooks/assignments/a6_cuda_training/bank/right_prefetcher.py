"""A generator moves the next batch ahead; batches are pinned by hand."""

EXPECTED = {}
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    mode = model.training
    model.eval()
    losses, hits, rows = 0.0, 0, 0
    with torch.no_grad():
        for x, y in ahead(loader, device):
            out = model(x)
            losses += loss_fn(out, y).item() * len(x)
            hits += (out.argmax(1) == y).sum().item()
            rows += len(x)
    model.train(mode)
    return losses / rows, hits / rows
""",
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    losses, rows = 0.0, 0
    for x, y in ahead(loader, device):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        losses += loss.item() * len(x)
        rows += len(x)
    return losses / rows
""",
}
EXTRA = [
    (
        "how_it_works",
        """
def ahead(loader, device):
    waiting = None
    for x, y in loader:
        if torch.device(device).type == "cuda":
            x, y = x.pin_memory(), y.pin_memory()
        now = (x.to(device, non_blocking=True), y.to(device, non_blocking=True))
        if waiting is not None:
            yield waiting
        waiting = now
    if waiting is not None:
        yield waiting
""",
    ),
]
