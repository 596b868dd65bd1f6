"""Only the inputs are moved."""

EXPECTED = {
    "test_evaluate": "partial:evaluation-labels-left-on-host",
    "test_fit": "partial:evaluation-labels-left-on-host",
}
KIND = "fault"
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    before = model.training
    model.train(False)
    losses, hits, sizes = [], [], []
    with torch.inference_mode():
        for batch in loader:
            inputs, labels = batch
            inputs = inputs.to(device)
            output = model(inputs)
            losses.append(float(loss_fn(output, labels)) * len(labels))
            hits.append(int((output.max(dim=1)[1] == labels).sum()))
            sizes.append(len(labels))
    model.train(before)
    return sum(losses) / sum(sizes), sum(hits) / sum(sizes)
""",
}
