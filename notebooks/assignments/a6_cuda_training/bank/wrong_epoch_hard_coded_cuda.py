""".cuda() wherever a tensor stands."""

EXPECTED = {"test_train_epoch": "failed:epoch-hard-coded-cuda", "test_fit": "failed:epoch-hard-coded-cuda"}
KIND = "fault"
CELLS = {
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train(True)
    losses, sizes = [], []
    for batch in loader:
        inputs = batch[0].cuda()
        labels = batch[1].cuda()
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
