"""The scaled loss is divided by the scale after the update."""

EXPECTED = {"test_train_epoch_amp": "partial:amp-loss-divided-by-the-new-scale"}
KIND = "fault"
CELLS = {
    "train_epoch_amp": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    model.train()
    loss_sum = seen = 0
    for rows, labels in loader:
        rows, labels = rows.to(device), labels.to(device)
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16):
            loss = loss_fn(model(rows), labels)
        scaled = scaler.scale(loss)
        scaled.backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        loss_sum += scaled.item() / scaler.get_scale() * len(labels)
        seen += len(labels)
    return loss_sum / seen
""",
}
