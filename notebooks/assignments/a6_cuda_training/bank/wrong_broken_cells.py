"""One cell does not parse, another uses a name that is not there."""

EXPECTED = {
    "test_evaluate": "failed",
    "test_train_epoch_amp": "failed",
    "test_checkpoint": "failed",
    "test_fit": "failed",
}
KIND = "fault"
CELLS = {
    "evaluate": """
def evaluate(model, loader, loss_fn, device)
    return 0.0, 0.0
""",
    "train_epoch_amp": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    model.train(True)
    losses, sizes = [], []
    for batch in loader:
        inputs, labels = (t.to(device) for t in batch)
        optimizer.zero_grad()
        with torch.amp.autocast(device_type="cuda", dtype=torch.float16):
            output = model(inputs)
            loss = loss_fn(output, labels)
        scaled = grad_scaler.scale(loss)
        scaled.backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
    "checkpoint": """
def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    state = {"epoch": epoch, "rng": torch.random.get_rng_state()}
    state["model"] = model.state_dict()
    state["optimizer"] = optimizer.state_dict()
    if scheduler is not None:
        state["scheduler"] = scheduler.state_dict()
    if scaler is not None:
        state["scaler"] = scaler.state_dict()
    torch.save(state, path)


def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    state = torch.load(path, map_location="cpu")
    torch.random.set_rng_state(state["rng"])
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    if scheduler is not None:
        scheduler.load_state_dict(state["scheduler"])
    if scaler is not None:
        scaler.load_state_dict(state["scaler"])
    return checkpoint["epoch"]
""",
}
