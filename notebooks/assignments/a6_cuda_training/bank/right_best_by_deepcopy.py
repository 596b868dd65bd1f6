"""The best state is a deep copy; the schedule is a LambdaLR; the writer is closed in a finally."""

EXPECTED = {}
CELLS = {
    "fit": """
import copy


def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model.to(device)
    criterion = nn.CrossEntropyLoss().to(device)
    optimizer = torch.optim.SGD(model.parameters(), learning_rate, 0.9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: 0.8**e)
    history = []
    best_loss, best_state = None, None
    writer = SummaryWriter(str(log_dir))
    try:
        for step in range(1, epochs + 1):
            loss = train_epoch(model, train_loader, criterion, optimizer, device)
            schedule.step()
            val = evaluate(model, val_loader, criterion, device)
            history.append((loss, *val))
            if best_loss is None or val[0] < best_loss:
                best_loss, best_state = val[0], copy.deepcopy(model.state_dict())
        for step, (a, b, c) in enumerate(history, start=1):
            writer.add_scalar("loss/train", a, global_step=step)
            writer.add_scalar("loss/validation", b, global_step=step)
            writer.add_scalar("accuracy/validation", c, global_step=step)
    finally:
        writer.close()
    model.load_state_dict(best_state)
    names = ("loss/train", "loss/validation", "accuracy/validation")
    return {name: [row[i] for row in history] for i, name in enumerate(names)}
""",
}
