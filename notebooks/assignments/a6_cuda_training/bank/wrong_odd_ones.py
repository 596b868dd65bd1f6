"""Mistakes that nobody has listed: a clipped gradient, a median instead of a mean, a doubled learning rate."""

EXPECTED = {"test_train_step": "failed", "test_evaluate": "failed", "test_fit": "failed"}
KIND = "fault"
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    inputs, labels = batch
    inputs = inputs.to(device=device)
    labels = labels.to(device=device)
    output = model(inputs)
    loss = loss_fn(output, labels)
    model.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.01)
    optimizer.step()
    return float(loss)
""",
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    before = model.training
    model.train(False)
    losses, hits, sizes = [], [], []
    with torch.inference_mode():
        for batch in loader:
            inputs, labels = (t.to(device) for t in batch)
            output = model(inputs)
            losses.append(float(loss_fn(output, labels)) * len(labels))
            hits.append(int((output.max(dim=1)[1] == labels).sum()))
            sizes.append(len(labels))
    model.train(before)
    return sorted(losses)[len(losses) // 2] / sizes[0], sum(hits) / sum(sizes)
""",
    "fit": """
import copy


def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model = model.to(device)
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=2 * learning_rate, momentum=0.9)
    sched = torch.optim.lr_scheduler.StepLR(opt, 1, gamma=0.8)
    writer = SummaryWriter(log_dir)
    train_losses, val_losses, accuracies = [], [], []
    for epoch in range(epochs):
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
    model.load_state_dict(best)
    return {"loss/train": train_losses, "loss/validation": val_losses, "accuracy/validation": accuracies}
""",
}
