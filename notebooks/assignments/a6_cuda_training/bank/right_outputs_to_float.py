"""The loss is computed outside autocast on outputs that were cast to float32 first."""

EXPECTED = {}
CELLS = {
    "train_epoch_amp": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    model.train()
    total, rows = 0.0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        with torch.autocast(torch.device(device).type, torch.float16):
            outputs = model(x)
        loss = loss_fn(outputs.float(), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm, foreach=False)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item() * len(y)
        rows += len(y)
    return total / rows
""",
    "checkpoint": """
def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    cpu = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
    torch.save(
        {
            "weights": cpu,
            "opt": optimizer.state_dict(),
            "sched": {} if scheduler is None else scheduler.state_dict(),
            "scaler": {} if scaler is None else scaler.state_dict(),
            "done": epoch,
            "rng": torch.get_rng_state().tolist(),
        },
        path,
    )


def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    saved = torch.load(path, map_location=lambda storage, place: storage, weights_only=True)
    model.load_state_dict(saved["weights"])
    optimizer.load_state_dict(saved["opt"])
    if scheduler:
        scheduler.load_state_dict(saved["sched"])
    if scaler:
        scaler.load_state_dict(saved["scaler"])
    torch.set_rng_state(torch.tensor(saved["rng"], dtype=torch.uint8))
    return saved["done"]
""",
}
