"""The usual line, whatever the caller says."""

EXPECTED = {
    "test_evaluate": "partial:evaluation-moves-the-model-to-cuda",
    "test_fit": "failed:evaluation-moves-the-model-to-cuda",
}
KIND = "fault"
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model.to(device)
    before = model.training
    model.train(False)
    losses, hits, sizes = [], [], []
    with torch.inference_mode():
        for batch in loader:
            inputs, labels = (t.to(device) for t in batch)
            output = model(inputs)
            losses.append(float(loss_fn(output, labels)) * len(labels))
            hits.append(int((output.max(dim=1)[1] == labels).sum()))
            sizes.append(len(labels))
    model.train(before)
    return sum(losses) / sum(sizes), sum(hits) / sum(sizes)
""",
}
