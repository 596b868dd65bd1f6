"""Means are divided by the number of rows."""

EXPECTED = {"test_train_epoch": "partial:epoch-means-divided-by-rows", "test_fit": "failed:epoch-means-divided-by-rows"}
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
        losses.append(float(loss))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}
