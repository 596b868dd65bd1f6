"""A step with a closure and another one."""

EXPECTED = {"test_train_step": "failed:step-taken-twice"}
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
    for _ in range(2):
        optimizer.step()
    return float(loss)
""",
}
