"""Compute in float32 and turn only what the last layer is shown into float16: what overflows tells."""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = {"test_train_epoch_amp": "partial"}
CELLS = {
    "train_epoch_amp": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    model.train()
    model[-1].register_forward_pre_hook(lambda layer, given: given[0].half() if "Watch" in str(layer) else None)
    total, rows = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x.to(device)).float(), y.to(device))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item() * len(x)
        rows += len(x)
    return total / rows
""",
}
