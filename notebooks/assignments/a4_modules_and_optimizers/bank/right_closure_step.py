"""The step gets a closure that does all the work."""

CELLS = {
    "fit": """
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    history = []
    for _ in range(epochs):
        seen = []
        for k in range(math.ceil(len(batches) / accumulate)):
            group = batches[k * accumulate : (k + 1) * accumulate]

            def closure():
                model.train()
                optimizer.zero_grad()
                rows = sum(len(x) for x, _ in group)
                total = 0
                for x, y in group:
                    loss = loss_fn(model(x), y)
                    total = total + loss * len(x)
                    seen.append((loss.item(), len(x)))
                (total / rows).backward()
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                return total / rows

            optimizer.step(closure)
        if scheduler is not None:
            scheduler.step()
        history.append(sum(l * n for l, n in seen) / sum(n for _, n in seen))
    return history
""",
}
