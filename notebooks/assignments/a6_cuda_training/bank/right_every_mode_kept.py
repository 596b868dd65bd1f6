"""A step in training mode; evaluate keeps the mode of each part; a checkpoint holds the mode and clears gradients."""

EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    model.train()
    x, y = (part.to(device) for part in batch)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()
""",
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    loss, hits, rows = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            scores = model(x)
            loss += loss_fn(scores, y).item() * len(y)
            hits += (scores.argmax(1) == y).sum().item()
            rows += len(y)
    for part, mode in modes:
        part.training = mode
    return loss / rows, hits / rows
""",
    "checkpoint": """
def save_checkpoint(path, *parts):
    *parts, epoch = parts
    states = [part and part.state_dict() for part in parts]
    torch.save([states, parts[0].training, torch.get_rng_state(), epoch], path)


def load_checkpoint(path, *parts):
    states, mode, chance, epoch = torch.load(path, map_location="cpu", weights_only=True)
    for part, state in zip(parts, states):
        if part is not None:
            part.load_state_dict(state)
    model, optimizer = parts[:2]
    model.train(mode)
    optimizer.zero_grad()
    torch.set_rng_state(chance)
    return epoch
""",
}
