"""All outputs are kept."""

EXPECTED = {"test_train_epoch": "partial:epoch-keeps-tensors"}
KIND = "fault"
CELLS = {
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train(True)
    losses, sizes, kept = [], [], []
    for batch in loader:
        inputs = batch[0].to(device)
        labels = batch[1].to(device)
        output = model(inputs)
        loss = loss_fn(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.append((inputs, output.detach()))
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}
