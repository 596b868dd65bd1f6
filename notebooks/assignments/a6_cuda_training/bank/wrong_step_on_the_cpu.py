"""Trains on the CPU."""

EXPECTED = {"test_train_step": "partial:step-on-the-cpu"}
KIND = "fault"
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    inputs, labels = batch
    model.cpu()
    inputs = inputs.cpu()
    labels = labels.cpu()
    output = model(inputs)
    loss = loss_fn(output, labels)
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)
""",
}
