"""No graph is built because the parameters do not require gradients for a while."""

EXPECTED = {}
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    wanted = [p.requires_grad for p in model.parameters()]
    for p in model.parameters():
        p.requires_grad_(False)
    mode = model.training
    model.eval()
    loss, right, rows = 0.0, 0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        scores = model(x)
        loss += loss_fn(scores, y).item() * len(y)
        _, guess = scores.topk(1, dim=1)
        right += guess.squeeze(1).eq(y).sum().item()
        rows += len(y)
    for p, want in zip(model.parameters(), wanted):
        p.requires_grad_(want)
    model.train(mode)
    return loss / rows, right / rows
""",
    "train_epoch_amp": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    model.train()
    total = n = 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        with torch.amp.autocast("cuda"):
            loss = loss_fn(model(x), y)
        scaled = scaler.scale(loss)
        scaled.backward()
        scaler.unscale_(optimizer)
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.sqrt(sum((g.float() ** 2).sum() for g in grads))
        factor = torch.clamp(max_norm / (norm + 1e-6), max=1.0)
        for g in grads:
            g.mul_(factor)
        scaler.step(optimizer)
        scaler.update()
        total += float(loss) * len(x)
        n += len(x)
    return total / n
""",
}
