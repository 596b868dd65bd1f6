"""Sums stay on the device and are read once, at the end."""

EXPECTED = {}
CELLS = {
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    total, rows = torch.zeros((), device=device, dtype=torch.float64), 0
    for x, y in loader:
        x = x.to(device, non_blocking=True)
        y = y.to(device, non_blocking=True)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.detach() * x.shape[0]
        rows += x.shape[0]
    return (total / rows).item()
""",
    "evaluate": """
@torch.no_grad()
def evaluate(model, loader, loss_fn, device):
    mode = model.training
    model.eval()
    loss = torch.zeros((), device=device)
    hits = torch.zeros((), device=device, dtype=torch.long)
    n = 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        scores = model(x)
        loss += loss_fn(scores, y) * len(y)
        hits += torch.eq(scores.argmax(-1), y).sum()
        n += len(y)
    model.train(mode)
    return loss.item() / n, hits.item() / n
""",
    "train_epoch_amp": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    model.train()
    losses, sizes = [], []
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        with torch.autocast(device_type="cuda", dtype=torch.half):
            scores = model(x)
            loss = loss_fn(scores, y)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.detach() * len(y))
        sizes.append(len(y))
    return float(torch.stack(losses).sum()) / sum(sizes)
""",
}
