"""Detached losses are collected on the device and averaged with weights afterwards."""

EXPECTED = {}
CELLS = {
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    losses, sizes = [], []
    for features, labels in loader:
        features, labels = features.to(device), labels.to(device)
        loss = loss_fn(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        sizes.append(len(labels))
    weights = torch.tensor(sizes, dtype=torch.float64)
    return (torch.stack(losses).cpu().double() * weights / weights.sum()).sum().item()
""",
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    was = model.training
    try:
        model.eval()
        outputs, labels, losses = [], [], []
        with torch.no_grad():
            for x, y in loader:
                y = y.to(device)
                out = model(x.to(device))
                losses.append(loss_fn(out, y) * len(y))
                outputs.append(out.argmax(dim=1))
                labels.append(y)
        predicted, true = torch.cat(outputs), torch.cat(labels)
        return torch.stack(losses).sum().item() / len(true), (predicted == true).float().mean().item()
    finally:
        model.train(was)
""",
}
