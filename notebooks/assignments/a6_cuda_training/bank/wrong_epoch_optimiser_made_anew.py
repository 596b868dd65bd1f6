"""A new optimiser in every pass."""

EXPECTED = {"test_train_epoch": "partial:epoch-optimiser-made-anew", "test_fit": "failed:epoch-optimiser-made-anew"}
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
        for p in list(optimizer.state):
            optimizer.state[p] = {}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}
