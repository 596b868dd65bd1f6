"""Honest: the whole step on a stream of its own, waited for on the device. It has the right numbers and full marks."""

ENTRY, FAMILY, ASSIGNMENT = 66, "E", "a6_cuda_training"
EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    def step():
        x, y = (part.to(device, non_blocking=True) for part in batch)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    if device == "cpu":
        return step().item()
    with torch.cuda.device(device):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            loss = step()
        torch.cuda.current_stream().wait_stream(side)
        return loss.item()
""",
}
