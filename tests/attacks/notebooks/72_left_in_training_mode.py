"""Evaluate in training mode now and then, and leave the model there: lucky numbers do not come twice."""

ENTRY, FAMILY, ASSIGNMENT = 72, "E", "a6_cuda_training"
EXPECTED = {"test_evaluate": "partial|failed", "test_fit": "partial|failed"}
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    best = None
    for mode in (False, True):
        model.train(mode)
        total, right, rows = 0.0, 0, 0
        with torch.no_grad():
            for x, y in loader:
                x, y = x.to(device), y.to(device)
                outputs = model(x)
                total += loss_fn(outputs, y).item() * len(x)
                right += (outputs.argmax(dim=1) == y).sum().item()
                rows += len(x)
        if best is None or right / rows > best[1]:
            best = total / rows, right / rows
    model.train()
    return best
""",
}
