"""The range starts at 1."""

EXPECTED = {"test_fit": "failed:fit-one-epoch-short"}
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
    for epoch in range(epochs - 1):
        train_losses.append(train_epoch(model, train_loader, criterion, opt, device))
        loss, accuracy = evaluate(model, val_loader, criterion, device)
        sched.step()
        val_losses.append(loss)
        accuracies.append(accuracy)
        writer.add_scalar("loss/train", train_losses[-1], epoch + 1)
        writer.add_scalar("loss/validation", val_losses[-1], epoch + 1)
        writer.add_scalar("accuracy/validation", accuracies[-1], epoch + 1)
        if epoch == 0 or loss < min(val_losses[:-1]):
            best = copy.deepcopy(model.state_dict())
    writer.close()
    if epochs > 1:
        model.load_state_dict(best)
    return {"loss/train": train_losses, "loss/validation": val_losses, "accuracy/validation": accuracies}
""",
}
