"""Honest: images in channels-last layout, each batch in two halves whose gradients are added. Full marks."""

ENTRY, FAMILY, ASSIGNMENT = 75, "E", "a6_cuda_training"
EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    x, y = (part.to(device) for part in batch)
    optimizer.zero_grad()
    total = 0.0
    for some in torch.arange(len(x), device=device).chunk(2):
        loss = loss_fn(model(x[some]), y[some]) * (len(some) / len(x))
        loss.backward()
        total += loss.detach()
    optimizer.step()
    return total.item()
""",
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    total, rows = 0.0, 0
    for x, y in loader:
        if x.ndim == 4:
            model = model.to(memory_format=torch.channels_last)
            x = x.contiguous(memory_format=torch.channels_last)
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=False)
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total = total + loss.detach().double() * len(x)
        rows += len(x)
    return (total / rows).item()
""",
}
