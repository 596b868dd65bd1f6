"""Other tags."""

EXPECTED = {"test_fit": "partial:scalars-under-other-names"}
KIND = "fault"
CELLS = {
    "fit": """
import copy


def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model = model.to(device)
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
    sched = torch.optim.lr_scheduler.StepLR(opt, 1, gamma=0.8)
    writer = SummaryWriter(log_dir)
    train_losses, val_losses, accuracies = [], [], []
    for epoch in range(epochs):
        train_losses.append(train_epoch(model, train_loader, criterion, opt, device))
        loss, accuracy = evaluate(model, val_loader, criterion, device)
        sched.step()
        val_losses.append(loss)
        accuracies.append(accuracy)
        writer.add_scalar("train/loss", train_losses[-1], epoch + 1)
        writer.add_scalar("val/loss", val_losses[-1], epoch + 1)
        writer.add_scalar("val/accuracy", accuracies[-1], epoch + 1)
        if epoch == 0 or loss < min(val_losses[:-1]):
            best = copy.deepcopy(model.state_dict())
    writer.close()
    model.load_state_dict(best)
    return {"loss/train": train_losses, "loss/validation": val_losses, "accuracy/validation": accuracies}
""",
}
