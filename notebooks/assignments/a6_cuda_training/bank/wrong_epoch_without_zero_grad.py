"""Cleared once, before the loop."""

EXPECTED = {"test_train_epoch": "failed:epoch-without-zero-grad", "test_fit": "failed:epoch-without-zero-grad"}
KIND = "fault"
CELLS = {
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train(True)
    losses, sizes = [], []
    optimizer.zero_grad()
    for batch in loader:
        inputs = batch[0].to(device)
        labels = batch[1].to(device)
        output = model(inputs)
        loss = loss_fn(output, labels)
        loss.backward()
        optimizer.step()
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}
