"""x.cuda() and y.cuda()."""

EXPECTED = {"test_train_step": "failed:step-hard-coded-cuda"}
KIND = "fault"
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    inputs, labels = batch
    inputs = inputs.cuda()
    labels = labels.cuda()
    output = model(inputs)
    loss = loss_fn(output, labels)
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)
""",
}
