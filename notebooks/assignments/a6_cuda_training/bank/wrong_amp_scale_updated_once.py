"""Everything by hand with a fixed scale."""

EXPECTED = {"test_train_epoch_amp": "partial:amp-scale-updated-once"}
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
        bad = False
        for p in model.parameters():
            p.grad /= scaler.get_scale()
            bad = bad or not torch.isfinite(p.grad).all()
        torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)
        if not bad:
            optimizer.step()
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}
