"""Loss and accuracy are divided by the size of the data set."""

EXPECTED = {"test_evaluate": "partial:evaluation-divides-by-the-data-set"}
KIND = "fault"
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    mode = model.training
    model.train(False)
    loss_sum = hits = 0
    for rows, labels in loader:
        rows, labels = rows.to(device), labels.to(device)
        with torch.inference_mode():
            logits = model(rows)
            loss_sum += loss_fn(logits, labels).item() * len(labels)
            hits += int((logits.argmax(1) == labels).sum())
    model.train(mode)
    size = len(loader.dataset)
    return loss_sum / size, hits / size
""",
}
