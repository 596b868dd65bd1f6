"""All batches are fetched first; asserts and type hints."""

EXPECTED = {}
CELLS = {
    "train_epoch": """
def train_epoch(model: nn.Module, loader, loss_fn, optimizer: torch.optim.Optimizer, device: str) -> float:
    model.train()
    batches = list(loader)
    assert batches, "an empty epoch"
    rows = sum(len(y) for _, y in batches)
    mean = 0.0
    for x, y in batches:
        loss = train_step(model, (x, y), loss_fn, optimizer, device)
        mean += loss * len(y) / rows
    return mean
""",
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    assert len(batch) == 2
    model.zero_grad()
    value = loss_fn(model(batch[0].to(device)), batch[1].to(device))
    value.backward()
    optimizer.step()
    return float(value)
""",
}
