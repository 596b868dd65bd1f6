"""Gradients are zeros, not None; a generator of groups; losses stay tensors until the end of an epoch."""

CELLS = {
    "fit": """
def groups_of(batches, size):
    group = []
    for pair in batches:
        group.append(pair)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    model.train()
    optimizer.zero_grad(set_to_none=False)
    history = []
    for _ in range(epochs):
        losses, weights = [], []
        for group in groups_of(batches, accumulate):
            n = sum(x.shape[0] for x, _ in group)
            for x, y in group:
                loss = loss_fn(model(x), y)
                loss.backward(torch.tensor(x.shape[0] / n))
                losses.append(loss.detach())
                weights.append(x.shape[0])
            if max_norm:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
        if scheduler is not None:
            scheduler.step()
        w = torch.tensor(weights, dtype=torch.float32)
        history.append(((torch.stack(losses) * w).sum() / w.sum()).item())
    return history
""",
}
