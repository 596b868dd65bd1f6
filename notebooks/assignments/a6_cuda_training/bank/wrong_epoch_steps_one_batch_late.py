"""step, zero_grad, backward."""

EXPECTED = {"test_train_epoch": "failed:epoch-steps-one-batch-late", "test_fit": "failed:epoch-steps-one-batch-late"}
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
        optimizer.step()
        model.zero_grad()
        loss.backward()
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}
