"""The forward pass by torch.func.functional_call; the epoch by iterating by hand."""

EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    x, y = batch
    parameters = dict(model.named_parameters())
    optimizer.zero_grad()
    outputs = torch.func.functional_call(model, parameters, (x.to(device),))
    loss = loss_fn(outputs, y.to(device))
    loss.backward()
    optimizer.step()
    return loss.tolist()
""",
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    iterator = iter(loader)
    total, seen = 0.0, 0
    while True:
        batch = next(iterator, None)
        if batch is None:
            break
        total += train_step(model, batch, loss_fn, optimizer, device) * len(batch[1])
        seen += len(batch[1])
    return total / seen
""",
}
