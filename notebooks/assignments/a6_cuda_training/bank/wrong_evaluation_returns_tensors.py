"""Two tensors."""

EXPECTED = {"test_evaluate": "failed:result-is-a-tensor", "test_fit": "failed:result-is-a-tensor"}
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
            losses.append(loss_fn(output, labels) * len(labels))
            hits.append((output.max(dim=1)[1] == labels).sum())
            sizes.append(len(labels))
    model.train(before)
    return sum(losses) / sum(sizes), sum(hits) / sum(sizes)
""",
}
