"""Lambdas, lists instead of tuples, a float for the loss."""

EXPECTED = {}
CELLS = {
    "manual_gradients": """
def _d(z):
    return torch.tanh(z) / torch.cosh(z) / torch.cosh(z) * 2 / z.numel()


manual_gradients = lambda x, w, b: [
    float(torch.tanh(x * w + b).pow(2).mean()),
    _d(x * w + b) * w.expand_as(x),
    torch.sum(_d(x * w + b) * x, 0),
    torch.sum(_d(x * w + b), 1, True),
]
""",
    "gradients": """
gradients = lambda f, tensors: list(
    (lambda inputs: torch.autograd.grad(f(*inputs), inputs, materialize_grads=True))(
        [torch.nn.Parameter(t.detach().clone()) for t in tensors]
    )
)
""",
}
