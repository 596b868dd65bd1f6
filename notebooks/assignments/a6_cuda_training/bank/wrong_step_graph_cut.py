"""The loss becomes a new tensor."""

EXPECTED = {"test_train_step": "failed:step-graph-cut"}
KIND = "fault"
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    inputs, labels = batch
    inputs = inputs.to(device=device)
    labels = labels.to(device=device)
    output = model(inputs)
    loss = torch.tensor(loss_fn(output, labels).item())
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)
""",
}
