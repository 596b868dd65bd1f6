"""Honest: gradients of a3 in other orders of the same sums, in higher precision and back again. Full marks."""

ENTRY, FAMILY, ASSIGNMENT = 75, "E", "a3_pytorch_autograd"
EXPECTED = {}
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    dtype = x.dtype
    x, w, b = (value.double() for value in (x, w, b))
    y = torch.tanh(torch.einsum("nd,d->nd", x, w) + b)
    slope = 2 * y * (1 - y.square()) / y.numel()
    parts = y.square().flatten().flip(0).sum() / y.numel(), slope * w, (slope * x).flip(0).sum(0), slope.sum(1)[:, None]
    return tuple(part.to(dtype) for part in parts)
""",
    "train": """
def train(x, t, params, learning_rate, batches):
    torch.use_deterministic_algorithms(True)
    params = {name: value.detach().clone().requires_grad_() for name, value in params.items()}
    losses = []
    for batch in batches:
        turned = batch.flip(0)

        def loss_of(values):
            hidden = torch.tanh(x[turned] @ values["W1"] + values["b1"])
            return ((hidden @ values["W2"] + values["b2"])[:, 0] - t[turned]).square().mean()

        found, loss = torch.func.grad_and_value(loss_of)(params)
        params = {k: (v.detach() - learning_rate * found[k].detach()).requires_grad_() for k, v in params.items()}
        losses.append(loss.item())
    torch.use_deterministic_algorithms(False)
    return params, losses
""",
}
