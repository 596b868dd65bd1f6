"""The labels are moved and thrown away."""

EXPECTED = {"test_train_step": "partial:step-target-left-on-host"}
KIND = "fault"
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    inputs, labels = batch
    inputs = inputs.to(device=device)
    labels.to(device)
    output = model(inputs)
    loss = loss_fn(output, labels)
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)
""",
}
