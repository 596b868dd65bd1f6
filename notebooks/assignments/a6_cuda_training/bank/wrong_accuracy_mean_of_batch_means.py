"""The accuracy is averaged over batches."""

EXPECTED = {"test_evaluate": "failed:accuracy-mean-of-batch-means", "test_fit": "failed:accuracy-mean-of-batch-means"}
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
            hits.append(float((output.max(dim=1)[1] == labels).sum()) / len(labels))
            sizes.append(len(labels))
    model.train(before)
    return sum(losses) / sum(sizes), sum(hits) / len(hits)
""",
}
