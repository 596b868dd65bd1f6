"""The backward passes compute the formula once more with autograd on."""

EXPECTED = {}
CELLS = {
    "squareplus": """
def _squareplus(x):
    return (x + torch.sqrt(x.pow(2) + 4)).div(2)


class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return _squareplus(x)

    @staticmethod
    def backward(ctx, grad_y):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            return torch.autograd.grad(_squareplus(x), x, grad_y, create_graph=True)[0]
""",
}
