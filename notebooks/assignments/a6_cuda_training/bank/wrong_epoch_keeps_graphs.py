"""The losses are added as tensors."""

EXPECTED = {"test_train_epoch": "partial:epoch-keeps-graphs"}
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
        losses.append(loss * len(labels))
        sizes.append(len(labels))
    return float(sum(losses)) / sum(sizes)
""",
}
