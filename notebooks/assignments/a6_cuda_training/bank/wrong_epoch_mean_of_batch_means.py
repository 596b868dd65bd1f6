"""np.mean over the batches."""

EXPECTED = {"test_train_epoch": "partial:epoch-mean-of-batch-means", "test_fit": "failed:epoch-mean-of-batch-means"}
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
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        sizes.append(len(labels))
    return sum(losses) / len(losses)
""",
}
