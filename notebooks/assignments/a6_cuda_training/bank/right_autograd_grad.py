"""Gradients by torch.autograd.grad, put where the optimizer looks for them."""

EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    x, y = [t.to(device) for t in batch]
    params = list(model.parameters())
    loss = loss_fn(model(x), y)
    for p, g in zip(params, torch.autograd.grad(loss, params)):
        p.grad = g
    optimizer.step()
    return loss.item()
""",
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    params = [p for p in model.parameters() if p.requires_grad]
    weighted = 0.0
    n = 0
    for xb, yb in loader:
        xb = xb.to(device)
        yb = yb.to(device)
        loss = loss_fn(model(xb), yb)
        grads = torch.autograd.grad(loss, params)
        for p, g in zip(params, grads):
            p.grad = g
        optimizer.step()
        weighted += loss.item() * yb.size(0)
        n += yb.size(0)
    return weighted / n
""",
}
