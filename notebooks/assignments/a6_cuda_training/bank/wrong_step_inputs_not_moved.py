"""Only the labels are moved."""

EXPECTED = {"test_train_step": "partial:step-batch-left-on-host"}
KIND = "fault"
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    inputs, labels = batch
    labels = labels.to(device=device)
    output = model(inputs)
    loss = loss_fn(output, labels)
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)
""",
}
