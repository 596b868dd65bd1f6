"""No step."""

EXPECTED = {"test_train_epoch_amp": "failed:amp-without-steps"}
KIND = "fault"
CELLS = {
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
        scaled = scaler.scale(loss)
        scaled.backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)
        scaler.update()
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}
