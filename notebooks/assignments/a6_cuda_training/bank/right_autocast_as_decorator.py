"""Autocast decorates a forward function; outputs are cast to float32 before the loss."""

EXPECTED = {}
CELLS = {
    "train_epoch_amp": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    @torch.autocast("cuda", dtype=torch.float16)
    def forward(x, y):
        return loss_fn(model(x), y)

    model.train()
    total, rows = 0.0, 0
    for batch in loader:
        x, y = (t.to(device) for t in batch)
        loss = forward(x, y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        total += loss.item() * y.numel()
        rows += y.numel()
    return total / rows
""",
    "checkpoint": """
import copy


def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    things = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}
    state = {name: copy.deepcopy(thing.state_dict()) for name, thing in things.items() if thing is not None}
    torch.save((state, int(epoch), torch.random.get_rng_state()), path)


def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    state, epoch, rng = torch.load(path, map_location="cpu")
    things = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}
    for name, thing in things.items():
        if thing is not None:
            thing.load_state_dict(state[name])
    torch.random.set_rng_state(rng)
    return epoch
""",
}
