"""The usual line, whatever the caller says."""

EXPECTED = {
    "test_train_epoch": "partial:epoch-moves-the-model-to-cuda",
    "test_fit": "failed:epoch-moves-the-model-to-cuda",
}
KIND = "fault"
CELLS = {
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model.to(device)
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
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}
