"""fit has loops of its own and keeps every epoch's weights on the host."""

EXPECTED = {}
CELLS = {
    "fit": """
def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model.to(device)
    opt = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.8)
    ce = nn.CrossEntropyLoss(reduction="sum")
    log = SummaryWriter(log_dir)
    history = {"loss/train": [], "loss/validation": [], "accuracy/validation": []}
    states = []
    for epoch in range(1, epochs + 1):
        model.train()
        s, n = 0.0, 0
        for x, y in train_loader:
            x, y = x.to(device), y.to(device)
            opt.zero_grad()
            summed = ce(model(x), y)
            (summed / len(y)).backward()
            opt.step()
            s += summed.item()
            n += len(y)
        history["loss/train"].append(s / n)
        model.eval()
        s, r, n = 0.0, 0, 0
        with torch.no_grad():
            for x, y in val_loader:
                x, y = x.to(device), y.to(device)
                out = model(x)
                s += ce(out, y).item()
                r += (out.argmax(1) == y).sum().item()
                n += len(y)
        history["loss/validation"].append(s / n)
        history["accuracy/validation"].append(r / n)
        sched.step()
        states.append({k: v.cpu().clone() for k, v in model.state_dict().items()})
        for name, values in history.items():
            log.add_scalar(name, values[-1], epoch)
    log.close()
    values = history["loss/validation"]
    model.load_state_dict(states[values.index(min(values))])
    return history
""",
}
