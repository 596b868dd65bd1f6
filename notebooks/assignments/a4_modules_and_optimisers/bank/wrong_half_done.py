"""Three exercises are left open, one is begun."""

EXPECTED = {
    "test_adam": "not attempted",
    "test_snapshot": "not attempted",
    "test_fit": "not attempted",
    "test_standardise": "failed",
}
KIND = "fault"
CELLS = {
    "standardise": '''class Standardise(nn.Module):
    """Columns of mean 0 and variance 1: by the batch in training, by running statistics in evaluation."""

    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum = momentum
        self.eps = eps

    def forward(self, x):
        """x: (N, features). Returns (N, features)."""
        # YOUR CODE HERE
        raise NotImplementedError()
''',
    "adam": '''class Adam(torch.optim.Optimizer):
    """Adam; with `decoupled` its weight decay is that of AdamW."""

    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
        # YOUR CODE HERE
        raise NotImplementedError()

    def step(self, closure=None):
        """One step. Returns what the closure returned, or None."""
        # YOUR CODE HERE
        raise NotImplementedError()
''',
    "snapshot": '''def snapshot(model, optimizer):
    """The state of model and optimizer, independent of what becomes of them."""
    # YOUR CODE HERE
    raise NotImplementedError()


def restore(model, optimizer, saved):
    """Bring back what `saved` holds. `saved` stays good."""
    # YOUR CODE HERE
    raise NotImplementedError()
''',
    "fit": '''def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    """Train `model` and return the mean loss of each epoch.

    batches: list of (x, y). accumulate: batches for each step. max_norm: bound of the gradient's norm, or None.
    scheduler: an object with step(), or None; called once for each epoch.
    """
    # YOUR CODE HERE
    raise NotImplementedError()
''',
}
