"""step stands before backward."""

EXPECTED = {"test_train_step": "failed:step-without-gradients"}
KIND = "fault"
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    inputs, labels = batch
    inputs = inputs.to(device=device)
    labels = labels.to(device=device)
    output = model(inputs)
    loss = loss_fn(output, labels)
    model.zero_grad()
    optimizer.step()
    loss.backward()
    return float(loss)
""",
}
