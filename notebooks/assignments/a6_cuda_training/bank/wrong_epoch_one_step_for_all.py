"""The step is behind the loop."""

EXPECTED = {"test_train_epoch": "failed:epoch-one-step-for-all", "test_fit": "failed:epoch-one-step-for-all"}
KIND = "fault"
CELLS = {
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train(True)
    losses, sizes = [], []
    model.zero_grad()
    for batch in loader:
        inputs = batch[0].to(device)
        labels = batch[1].to(device)
        output = model(inputs)
        loss = loss_fn(output, labels)
        loss.backward()
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    optimizer.step()
    return sum(losses) / sum(sizes)
""",
}
