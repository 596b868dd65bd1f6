"""Gradients pile up, and the mean is one over batches."""

EXPECTED = {
    "test_train_epoch": "failed:epoch-without-zero-grad+epoch-mean-of-batch-means",
    "test_fit": "failed:epoch-without-zero-grad+epoch-mean-of-batch-means",
}
KIND = "fault"
CELLS = {
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train(True)
    losses, sizes = [], []
    for batch in loader:
        inputs = batch[0].to(device)
        labels = batch[1].to(device)
        output = model(inputs)
        loss = loss_fn(output, labels)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
        sizes.append(len(labels))
    return sum(losses) / len(sizes)
""",
}
