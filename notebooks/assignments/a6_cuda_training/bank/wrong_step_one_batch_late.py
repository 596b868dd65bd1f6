"""step, then clear, then backward."""

EXPECTED = {"test_train_step": "failed:step-one-batch-late"}
KIND = "fault"
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    inputs, labels = batch
    inputs = inputs.to(device=device)
    labels = labels.to(device=device)
    output = model(inputs)
    loss = loss_fn(output, labels)
    optimizer.step()
    for p in model.parameters():
        p.grad = None
    loss.backward()
    return float(loss)
""",
}
