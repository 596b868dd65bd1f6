"""The moved inputs are thrown away."""

EXPECTED = {"test_train_epoch": "partial:epoch-batch-left-on-host", "test_fit": "partial:epoch-batch-left-on-host"}
KIND = "fault"
CELLS = {
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train(True)
    losses, sizes = [], []
    for batch in loader:
        inputs = batch[0]
        inputs.to(device)
        labels = batch[1].to(device)
        output = model(inputs)
        loss = loss_fn(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}
