"""Two mistakes in one function, twice: wrong scale and no mode; momentum swapped and a division by N - 1."""

EXPECTED = {
    "test_fit": "partial:fit-means-added",
    "test_standardise": "partial:standardise-momentum-swapped+standardise-n-minus-one",
}
KIND = "fault"
CELLS = {
    "fit": """
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    history = []
    for _ in range(epochs):
        total = count = 0
        for k in range(0, len(batches), accumulate):
            optimizer.zero_grad()
            for x, y in batches[k : k + accumulate]:
                loss = loss_fn(model(x), y)
                loss.backward()
                total += loss.item() * len(y)
                count += len(y)
            if max_norm:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
        if scheduler:
            scheduler.step()
        history.append(total / count)
    return history
""",
    "standardise": """
class Standardise(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), x.var(0)
            self.running_mean.mul_(self.momentum).add_((1 - self.momentum) * mean.detach())
            self.running_var.mul_(self.momentum).add_((1 - self.momentum) * var.detach())
        else:
            mean, var = self.running_mean, self.running_var
        return (x - mean) / (var + self.eps) ** 0.5
""",
}
