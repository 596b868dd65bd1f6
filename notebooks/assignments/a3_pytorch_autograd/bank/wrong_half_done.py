"""Two exercises are as they were handed out, and one function returns nothing."""

EXPECTED = {
    "test_gradients": "failed",
    "test_squareplus": "not attempted",
    "test_train": "not attempted",
}
KIND = "fault"
CELLS = {
    "gradients": """
def gradients(f, tensors):
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    print(torch.autograd.grad(f(*leaves), leaves, materialize_grads=True))
""",
    "squareplus": '''class Squareplus(torch.autograd.Function):
    """y = (x + sqrt(x ** 2 + 4)) / 2, element by element."""

    @staticmethod
    def forward(ctx, x):
        """x: tensor of any shape. Returns y, with the shape of x."""
        # YOUR CODE HERE
        raise NotImplementedError()

    @staticmethod
    def backward(ctx, grad_y):
        """grad_y: gradient with respect to y. Returns the gradient with respect to x."""
        # YOUR CODE HERE
        raise NotImplementedError()''',
    "train": '''def train(x, t, params, learning_rate, batches):
    """Stochastic gradient descent over the given batches.

    x: (M, D). t: (M,). params: dict of W1 (D, H), b1 (H,), W2 (H, 1), b2 (1,); left as it was.
    batches: list of int64 tensors, the rows of each step.
    Returns (params, losses): the new dict, and the loss of each batch before its step.
    """
    # YOUR CODE HERE
    raise NotImplementedError()''',
}
