"""Both are averaged over batches."""

EXPECTED = {"test_evaluate": "failed:both-means-of-batch-means", "test_fit": "failed:both-means-of-batch-means"}
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
            losses.append(float(loss_fn(output, labels)))
            hits.append((output.max(dim=1)[1] == labels).double().mean().item())
            sizes.append(len(labels))
    model.train(before)
    return sum(losses) / len(losses), sum(hits) / len(hits)
""",
}
