"""Smaller batches are skipped."""

EXPECTED = {"test_train_epoch": "failed:epoch-last-batch-skipped", "test_fit": "failed:epoch-last-batch-skipped"}
KIND = "fault"
CELLS = {
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train(True)
    losses, sizes = [], []
    for batch in loader:
        inputs = batch[0].to(device)
        labels = batch[1].to(device)
        if sizes and len(labels) != sizes[0]:
            continue
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
