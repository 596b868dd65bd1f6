"""The maximum over the rows."""

EXPECTED = {"test_evaluate": "failed:accuracy-over-the-wrong-axis", "test_fit": "failed:accuracy-over-the-wrong-axis"}
KIND = "fault"
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    before = model.training
    model.train(False)
    losses, hits, sizes = [], [], []
    with torch.inference_mode():
        for batch in loader:
            inputs, labels = (t.to(device) for t in batch)
            output = model(inputs)
            losses.append(float(loss_fn(output, labels)) * len(labels))
            hits.append(int((torch.argmax(output, 0) == labels).sum()))
            sizes.append(len(labels))
    model.train(before)
    return sum(losses) / sum(sizes), sum(hits) / sum(sizes)
""",
}
