"""fit: Once, after all epochs. standardise: Momentum as in Keras. parallel_block: A tuple of modules."""

KIND = "fault"
EXPECTED = {
    "test_fit": "partial:fit-schedule-never",
    "test_standardise": "partial:standardise-momentum-swapped",
    "test_parallel_block": "partial:block-plain-list",
}
CELLS = {
    "fit": """
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    model.train(True)
    losses = []
    for epoch in range(epochs):
        optimizer.zero_grad()
        seen = waiting = 0
        summed = 0.0
        for i, (inputs, targets) in enumerate(batches):
            n = inputs.shape[0]
            loss = loss_fn(model(inputs), targets)
            loss.mul(n).backward()
            waiting += n
            seen += n
            summed += n * float(loss.detach())
            if (i + 1) % accumulate == 0 or i + 1 == len(batches):
                for p in model.parameters():
                    if p.grad is not None:
                        p.grad /= waiting
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
                optimizer.step()
                optimizer.zero_grad()
                waiting = 0
        losses.append(summed / seen)
    if scheduler:
        scheduler.step()
    return losses
""",
    "standardise": """
class Standardise(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.m, self.eps = momentum, eps
        self.register_buffer("running_mean", torch.full((features,), 0.0))
        self.register_buffer("running_var", torch.full((features,), 1.0))

    def forward(self, x):
        if not self.training:
            return (x - self.running_mean) * (self.running_var + self.eps) ** -0.5
        mu = x.sum(0) / x.shape[0]
        centred = x - mu
        sigma2 = (centred**2).sum(0) / x.shape[0]
        self.running_mean = self.m * self.running_mean + (1 - self.m) * mu.detach()
        self.running_var = self.m * self.running_var + (1 - self.m) * sigma2.detach()
        return centred * (sigma2 + self.eps) ** -0.5
""",
    "parallel_block": """
class ParallelBlock(nn.Module):
    def __init__(self, branches, mode="sum"):
        super().__init__()
        assert_known(mode)
        self.mode = mode
        self.branches = ()
        for branch in branches:
            self.branches += (branch,)

    def forward(self, x):
        results = []
        for branch in self.branches:
            results.append(branch(x))
        if self.mode == "cat":
            return torch.cat(results, -1)
        total = results[0]
        for result in results[1:]:
            total = total + result
        return total


def assert_known(mode):
    if mode != "sum" and mode != "cat":
        raise ValueError("unknown mode: " + str(mode))
""",
}
