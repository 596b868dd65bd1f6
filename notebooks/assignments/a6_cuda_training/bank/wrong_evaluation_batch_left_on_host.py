"""Nothing is moved."""

EXPECTED = {
    "test_evaluate": "partial:evaluation-batch-left-on-host",
    "test_fit": "partial:evaluation-batch-left-on-host",
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
            output = model(inputs)
            losses.append(float(loss_fn(output, labels)) * len(labels))
            hits.append(int((output.max(dim=1)[1] == labels).sum()))
            sizes.append(len(labels))
    model.train(before)
    return sum(losses) / sum(sizes), sum(hits) / sum(sizes)
""",
}
