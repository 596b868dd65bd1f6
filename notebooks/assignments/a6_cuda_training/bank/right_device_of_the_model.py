"""The device is asked of the model; helper functions in a cell of their own."""

EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    x, y = on(place_of(model), *batch)
    loss = loss_fn(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
""",
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    sums = []
    for batch in loader:
        sums.append((train_step(model, batch, loss_fn, optimizer, device) * len(batch[0]), len(batch[0])))
    return sum(s for s, _ in sums) / sum(n for _, n in sums)
""",
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    before = model.training
    model.train(False)
    sums = [0.0, 0, 0]
    with torch.inference_mode():
        for batch in loader:
            x, y = on(place_of(model), *batch)
            logits = model(x)
            sums[0] += loss_fn(logits, y).item() * len(y)
            sums[1] += int((logits.max(1).indices == y).sum())
            sums[2] += len(y)
    model.train(before)
    return (sums[0] / sums[2], sums[1] / sums[2])
""",
}
EXTRA = [
    (
        "how_it_works",
        """
def place_of(model):
    return next(model.parameters()).device


def on(device, *tensors):
    return tuple(t.to(device, non_blocking=True) for t in tensors)
""",
    ),
]
