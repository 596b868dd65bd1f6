""".cuda() in the loop."""

EXPECTED = {"test_evaluate": "failed:evaluation-hard-coded-cuda", "test_fit": "failed:evaluation-hard-coded-cuda"}
KIND = "fault"
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    before = model.training
    model.train(False)
    losses, hits, sizes = [], [], []
    with torch.inference_mode():
        for batch in loader:
            inputs, labels = (t.cuda() for t in batch)
            output = model(inputs)
            losses.append(float(loss_fn(output, labels)) * len(labels))
            hits.append(int((output.max(dim=1)[1] == labels).sum()))
            sizes.append(len(labels))
    model.train(before)
    return sum(losses) / sum(sizes), sum(hits) / sum(sizes)
""",
}
