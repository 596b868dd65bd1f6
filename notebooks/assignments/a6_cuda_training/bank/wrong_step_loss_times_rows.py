"""The mean is turned into a sum."""

EXPECTED = {"test_train_step": "failed:step-loss-times-rows"}
KIND = "fault"
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    inputs, labels = batch
    inputs = inputs.to(device=device)
    labels = labels.to(device=device)
    output = model(inputs)
    loss = labels.numel() * loss_fn(output, labels)
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)
""",
}
