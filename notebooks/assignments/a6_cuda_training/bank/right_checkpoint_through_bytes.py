"""The file is written through a buffer, and the tensors are moved to the device by hand."""

EXPECTED = {}
CELLS = {
    "checkpoint": """
import io


def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    buffer = io.BytesIO()
    state = dict(model=model.state_dict(), optimizer=optimizer.state_dict(), epoch=epoch, rng=torch.get_rng_state())
    if scheduler is not None:
        state["scheduler"] = scheduler.state_dict()
    if scaler is not None:
        state["scaler"] = scaler.state_dict()
    torch.save(state, buffer)
    with open(path, "wb") as file:
        file.write(buffer.getvalue())


def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    with open(path, "rb") as file:
        state = torch.load(file, map_location=torch.device("cpu"), weights_only=True)
    with torch.no_grad():
        own = model.state_dict()
        assert own.keys() == state["model"].keys()
        for name, value in own.items():
            value.copy_(state["model"][name])
    optimizer.load_state_dict(state["optimizer"])
    if scheduler is not None and "scheduler" in state:
        scheduler.load_state_dict(state["scheduler"])
    if scaler is not None and "scaler" in state:
        scaler.load_state_dict(state["scaler"])
    torch.set_rng_state(state["rng"])
    return state["epoch"]
""",
    "fit": """
import io


def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model = model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
    writer = SummaryWriter(log_dir=log_dir)
    train_losses, val_losses, accuracies = [], [], []
    kept = io.BytesIO()
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * 0.8**epoch
        train_losses.append(train_epoch(model, train_loader, nn.functional.cross_entropy, optimizer, device))
        loss, accuracy = evaluate(model, val_loader, nn.functional.cross_entropy, device)
        val_losses.append(loss)
        accuracies.append(accuracy)
        writer.add_scalar("loss/train", train_losses[-1], epoch + 1)
        writer.add_scalar("loss/validation", loss, epoch + 1)
        writer.add_scalar("accuracy/validation", accuracy, epoch + 1)
        if loss == min(val_losses) and val_losses.count(loss) == 1:
            kept = io.BytesIO()
            torch.save(model.state_dict(), kept)
    writer.flush()
    kept.seek(0)
    model.load_state_dict(torch.load(kept, map_location=device))
    return {"loss/train": train_losses, "loss/validation": val_losses, "accuracy/validation": accuracies}
""",
}
