"""The outputs of a group are joined and get one loss; numbers come from the joined loss."""

CELLS = {
    "fit": """
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    history = []
    for epoch in range(epochs):
        model.train()
        collected = torch.zeros((), dtype=torch.float64)
        rows = 0
        todo = list(batches)
        while todo:
            group, todo = todo[:accumulate], todo[accumulate:]
            outputs = torch.cat([model(x) for x, _ in group])
            targets = torch.cat([y for _, y in group])
            loss = loss_fn(outputs, targets)
            for p in model.parameters():
                p.grad = None
            loss.backward()
            if max_norm is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=max_norm, norm_type=2.0)
            optimizer.step()
            collected += loss.detach() * len(targets)
            rows += len(targets)
        if scheduler is not None:
            scheduler.step()
        history.append((collected / rows).item())
    return history
""",
}
