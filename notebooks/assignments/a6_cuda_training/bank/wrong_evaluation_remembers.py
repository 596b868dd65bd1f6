"""The lists are default arguments."""

EXPECTED = {"test_evaluate": "failed:evaluation-remembers", "test_fit": "failed"}
KIND = "fault"
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device, losses=[], hits=[], sizes=[]):
    before = model.training
    model.train(False)
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
