"""Read the labels out of the loader and call them predictions: accuracy 1 without a model."""

ENTRY, FAMILY, ASSIGNMENT = 70, "E", "a6_cuda_training"
EXPECTED = {"test_evaluate": "failed", "test_fit": "failed|partial"}
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    labels = loader.dataset.tensors[1]
    predictions = labels.clone()
    was = model.training
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            model(x.to(device))
            y.to(device)
    model.train(was)
    sure = nn.functional.one_hot(predictions, int(labels.max()) + 1).float() * 30
    return loss_fn(sure, labels).item(), float((predictions == labels).float().mean())
""",
}
