"""fit without backward(): torch.autograd.grad, sums in a list, own clipping without a safety term."""

CELLS = {
    "fit": """
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    parameters = [p for p in model.parameters() if p.requires_grad]
    history = []
    for _ in range(epochs):
        model.train()
        losses = []
        for first in range(0, len(batches), accumulate):
            sums, rows = [torch.zeros_like(p) for p in parameters], 0
            for x, y in batches[first : first + accumulate]:
                loss = loss_fn(model(x), y)
                for total, g in zip(sums, torch.autograd.grad(loss, parameters)):
                    total += len(y) * g
                rows += len(y)
                losses += [loss.item()] * len(y)
            mean = [total / rows for total in sums]
            norm = math.sqrt(sum(float((g.double() ** 2).sum()) for g in mean))
            factor = 1.0 if max_norm is None or norm <= max_norm else max_norm / norm
            for p, g in zip(parameters, mean):
                p.grad = factor * g
            optimizer.step()
        if scheduler is not None:
            scheduler.step()
        history.append(sum(losses) / len(losses))
    return history
""",
}
