"""The copies on the device are put back into the batch."""

EXPECTED = {"test_train_step": "failed:step-writes-into-the-batch"}
KIND = "fault"
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    for place in range(2):
        batch[place] = batch[place].to(device)
    loss = loss_fn(model(batch[0]), batch[1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)
""",
}
