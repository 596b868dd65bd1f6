"""Divides the sums by the size of the data set, not by the rows that came."""

KIND = "fault"
EXPECTED = {"test_evaluate": "partial"}
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    mode = model.training
    model.eval()
    total = right = 0.0
    with torch.no_grad():
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            out = model(x)
            total += loss_fn(out, y).item() * len(y)
            right += (out.argmax(1) == y).float().sum().item()
    model.train(mode)
    return total / len(loader.dataset), right / len(loader.dataset)
"""
}
