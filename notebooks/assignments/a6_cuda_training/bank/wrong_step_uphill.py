"""The gradients are negated by hand."""

EXPECTED = {"test_train_step": "failed:step-uphill"}
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
    loss.backward()
    for p in model.parameters():
        p.grad.neg_()
    optimizer.step()
    return float(loss)
""",
}
