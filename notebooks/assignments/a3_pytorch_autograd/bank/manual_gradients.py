"""Wrong answers to `manual_gradients`."""

from autograder.bank import Wrong

BASES = {
    "divided": """
def manual_gradients(x, w, b):
    z = x * w + b
    y = torch.tanh(z)
    g = 2 * y / torch.cosh(z) ** 2 / y.numel()
    return (y**2).mean(), g * w, (g * x).sum(0), g.sum(1, keepdim=True)
""",
}

WRONG = [
    Wrong(
        "wrong_manual_autograd", "Exercise 1 with backward(), which has nothing to go back through in inference mode."
    )
    .breaks("inside `with torch.inference_mode():`")
    .expect(test_manual_gradients="failed:manual-uses-autograd")
    .whole("""
def manual_gradients(x, w, b):
    x, w, b = (t.clone().requires_grad_() for t in (x, w, b))
    loss = torch.tanh(x * w + b).pow(2).mean()
    loss.backward()
    return loss.detach(), x.grad, w.grad, b.grad
"""),
    Wrong(
        "wrong_manual_autograd_enabled",
        "Exercise 1 with autograd.grad under enable_grad, on the given tensors' own copies.",
    )
    .expect(test_manual_gradients="failed:manual-uses-autograd")
    .whole("""
def manual_gradients(x, w, b):
    with torch.enable_grad():
        leaves = [torch.nn.Parameter(t.detach()) for t in (x, w, b)]
        loss = (torch.tanh(leaves[0] * leaves[1] + leaves[2]) ** 2).mean()
        return (loss.detach(), *torch.autograd.grad(loss, leaves))
"""),
    Wrong("wrong_manual_axes", "Rows and columns mixed up.")
    .expect(test_manual_gradients="partial:manual-axes-swapped")
    .edit(
        "return (y**2).mean(), g * w, (g * x).sum(0), g.sum(1, keepdim=True)",
        'return (y**2).mean(), g * w, torch.einsum("nd,nd->n", x, g), g.sum(0, keepdim=True).T',
    ),
    Wrong("wrong_manual_b_not_reduced", "grad_b keeps its columns.")
    .expect(test_manual_gradients="partial:manual-b-not-summed")
    .edit(
        "return (y**2).mean(), g * w, (g * x).sum(0), g.sum(1, keepdim=True)",
        "return (y**2).mean(), g * w, x.mul(g).sum(0), torch.ones_like(b) * g",
    ),
    Wrong("wrong_manual_flat_b", "grad_b of shape (N,).")
    .breaks("Each gradient has the shape of the tensor")
    .expect(test_manual_gradients="partial:manual-b-lost-an-axis")
    .edit(
        "return (y**2).mean(), g * w, (g * x).sum(0), g.sum(1, keepdim=True)",
        'return (y**2).mean(), g * w, x.mul(g).sum(0), torch.einsum("nd->n", g)',
    ),
    Wrong("wrong_manual_in_place", "`*=` on the caller's x.")
    .breaks("The values in the tensors that you are given")
    .expect(test_manual_gradients="partial:manual-changes-x")
    .edit("x * w + b", "x.mul_(w).add_(b)"),
    Wrong("wrong_manual_linear", "The slope of tanh left out.")
    .expect(test_manual_gradients="partial:manual-tanh-slope-missing")
    .edit(" / torch.cosh(z) ** 2", ""),
    Wrong("wrong_manual_means", "Means over the axes that were broadcast.")
    .expect(test_manual_gradients="partial:manual-averaged-where-summed")
    .edit("(g * x).sum(0)", "(g * x).mean(0)")
    .edit("g.sum(1, keepdim=True)", "g.mean(1, keepdim=True)"),
    Wrong("wrong_manual_no_two", "The slope of a square without its 2.")
    .expect(test_manual_gradients="partial:manual-factor-two-missing")
    .edit("g = 2 * y", "g = y"),
    Wrong("wrong_manual_not_averaged", "The mean in the loss, not in the gradients.")
    .expect(test_manual_gradients="partial:manual-gradient-not-averaged")
    .edit(" / y.numel()", ""),
    Wrong("wrong_manual_not_reduced", "Nothing is summed back.")
    .expect(test_manual_gradients="partial:manual-broadcast-not-summed")
    .edit(
        "return (y**2).mean(), g * w, (g * x).sum(0), g.sum(1, keepdim=True)", "return (y**2).mean(), g * w, g * x, g"
    ),
    Wrong("wrong_manual_rows_only", "Divided by len(x).")
    .expect(test_manual_gradients="partial:manual-averaged-over-rows")
    .edit("y.numel()", "len(x)"),
    Wrong("wrong_manual_slope_cancels", "The slope of tanh from a y that was rounded to 1.")
    .expect(test_manual_gradients="partial:manual-slope-rounded-to-zero")
    .edit("2 * y / torch.cosh(z) ** 2", "2 * (y - y**3)"),
    Wrong("wrong_manual_slope_of_z", "1 - z ** 2 for the slope.")
    .expect(test_manual_gradients="partial:manual-tanh-slope-of-z")
    .edit("/ torch.cosh(z) ** 2", "* (1 - z * z)"),
    Wrong("wrong_manual_summed", "A sum for a mean, in the loss and in the gradients.")
    .breaks("the number $L$")
    .expect(test_manual_gradients="failed:manual-summed")
    .edit(" / y.numel()", "")
    .edit("(y**2).mean()", "torch.sum(y * y)"),
    Wrong("wrong_manual_swapped", "x where w belongs, and the other way round.")
    .expect(test_manual_gradients="partial:manual-x-and-w-swapped")
    .edit("g * w", "x * g")
    .edit("g * x", "w * g"),
    Wrong("wrong_manual_two_mistakes", "The slope of tanh and the sum for w both missing.")
    .expect(test_manual_gradients="partial:manual-tanh-slope-missing+manual-w-not-summed")
    .edit("g = 2 * y / torch.cosh(z) ** 2 / y.numel()", "g = y / y.numel() * 2")
    .edit("(g * x).sum(0)", "x * g"),
    Wrong("wrong_manual_view_of_non_contiguous", "The values are flattened with view.")
    .breaks("may be non-contiguous")
    .expect(test_manual_gradients="partial:manual-view-of-non-contiguous")
    .edit("(y**2).mean()", "(y.view(-1) ** 2).mean()"),
    Wrong("wrong_manual_w_not_reduced", "grad_w keeps its rows.")
    .expect(test_manual_gradients="partial:manual-w-not-summed")
    .edit("(g * x).sum(0)", "x.mul(g)"),
    Wrong("wrong_nothing_known", "A slope of tanh that nobody has written before, and a penalty on the fourth power.")
    .expect(test_manual_gradients="partial", test_penalized_loss="failed")
    .edit("/ torch.cosh(z) ** 2", "* (1 - y) * 0.7")
    .edit("strength * g.pow(2).sum() / len(g)", "strength * g.pow(4).sum()", cell="penalized_loss"),
    Wrong("wrong_manual_loss_summed", "The loss is a sum, the gradients are those of the mean.")
    .expect(test_manual_gradients="partial:manual-loss-summed")
    .edit("(y**2).mean()", "y.pow(2).sum()"),
    Wrong("wrong_manual_cosh", "1 / cosh z for the slope.")
    .expect(test_manual_gradients="partial:manual-slope-not-squared")
    .edit("torch.cosh(z) ** 2", "z.cosh()"),
    Wrong("wrong_manual_tanh_twice", "The slope of tanh at y.")
    .expect(test_manual_gradients="partial:manual-tanh-applied-twice")
    .edit("/ torch.cosh(z) ** 2", "* (1 - y.tanh().square())"),
    Wrong("wrong_manual_no_w", "grad_x without w.")
    .expect(test_manual_gradients="partial:manual-w-missing-for-x")
    .edit("g * w", "g"),
    Wrong("wrong_manual_no_x", "grad_w without x.")
    .expect(test_manual_gradients="partial:manual-x-missing-for-w")
    .edit("(g * x).sum(0)", "g.sum(0)"),
    Wrong("wrong_manual_w_mean", "grad_w is a mean over the rows.")
    .expect(test_manual_gradients="partial:manual-w-averaged")
    .edit("(g * x).sum(0)", "(g * x).sum(0) / len(x)"),
    Wrong("wrong_manual_b_mean", "grad_b is a mean over the columns.")
    .expect(test_manual_gradients="partial:manual-b-averaged")
    .edit("g.sum(1, keepdim=True)", "g.mean(-1, keepdim=True)"),
    Wrong("wrong_manual_factored_slope", "The slope as (1 - y) * (1 + y), which rounds to 0 as well.")
    .breaks("right to three digits")
    .expect(test_manual_gradients="partial:manual-slope-rounded-to-zero")
    .edit("/ torch.cosh(z) ** 2", "* (1 - y) * (1 + y)"),
    Wrong("wrong_manual_float32_loss", "The loss goes through a float into a tensor of float32.")
    .breaks("the tensors that you return have that dtype")
    .expect(test_manual_gradients="partial:manual-loss-in-float32")
    .edit("(y**2).mean()", "torch.tensor((y**2).mean().item())"),
    Wrong("wrong_manual_squeezed", "Axes of size 1 are dropped first.")
    .breaks("each size may be 1")
    .expect(test_manual_gradients="partial")
    .edit("    z = x * w + b", "    x, w = x.squeeze(), w.squeeze()\n    z = x * w + b"),
    Wrong("wrong_manual_torch_func", "torch.func does it, also in inference mode; it rounds as autograd does.")
    .breaks("without autograd and `torch.func`")
    .expect(test_manual_gradients="partial:manual-slope-rounded-to-zero")
    .whole("""
def manual_gradients(x, w, b):
    def loss(*inputs):
        return torch.tanh(inputs[0] * inputs[1] + inputs[2]).square().mean()

    with torch.inference_mode(False):
        inputs = tuple(t.clone() for t in (x, w, b))
        return loss(*inputs), *torch.func.grad(loss, argnums=(0, 1, 2))(*inputs)
"""),
    Wrong("wrong_manual_slope_in_double", "1 - tanh(z) ** 2 in float64, which rounds to 0 from |z| = 19 on.")
    .breaks("right to three digits")
    .expect(test_manual_gradients="partial:manual-slope-rounded-in-float64-too")
    .edit(
        "    z = x * w + b", "    dtype = x.dtype\n    x, w, b = x.double(), w.double(), b.double()\n    z = x * w + b"
    )
    .edit(
        "2 * y / torch.cosh(z) ** 2 / y.numel()",
        "2 * y * (1 - y * y) / y.numel()",
    )
    .edit(
        "return (y**2).mean(), g * w, (g * x).sum(0), g.sum(1, keepdim=True)",
        "found = (y**2).mean(), g * w, (g * x).sum(0), g.sum(1, keepdim=True)\n"
        "    return tuple(value.to(dtype) for value in found)",
    ),
    Wrong("wrong_manual_slope_alone_in_double", "(1 - y) * (1 + y) with a y of float64.")
    .expect(test_manual_gradients="partial:manual-slope-rounded-in-float64-too")
    .edit("/ torch.cosh(z) ** 2", "* ((1 - z.double().tanh()) * (1 + z.double().tanh())).type_as(z)"),
    Wrong("wrong_manual_stays_double", "Computes in float64, returns float64, and a float for the loss.")
    .breaks("the tensors that you return have that dtype")
    .expect(test_manual_gradients="partial:manual-stays-in-float64")
    .edit("    z = x * w + b", "    x, w, b = x.double(), w.double(), b.double()\n    z = x * w + b")
    .edit("(y**2).mean()", "(y**2).mean().item()"),
    Wrong("wrong_manual_clamped", "z is kept within 15, for cosh might overflow.")
    .breaks("right to three digits")
    .expect(test_manual_gradients="partial:manual-slope-bounded")
    .edit("z = x * w + b", "z = (x * w + b).clamp(-15, 15)"),
    Wrong("wrong_manual_slope_not_zero", "A slope is never less than 1e-12, so that no entry stops learning.")
    .expect(test_manual_gradients="partial:manual-slope-bounded")
    .edit("2 * y / torch.cosh(z) ** 2", "2 * y * (1 / torch.cosh(z) ** 2).clamp(min=1e-12)"),
    Wrong("wrong_manual_all_double", "Computes in float64 and returns float64, the loss as well.")
    .expect(test_manual_gradients="partial:manual-stays-in-float64")
    .edit("    z = x * w + b", "    z = x.double() * w.double() + b.double()"),
    Wrong("wrong_manual_double_b", "One gradient is float64.")
    .expect(test_manual_gradients="partial:manual-stays-in-float64")
    .edit("g.sum(1, keepdim=True)", "g.sum(1, keepdim=True, dtype=torch.float64)"),
    Wrong("wrong_manual_asymptote_for_all", "One saturated entry, and all entries get the formula for large |z|.")
    .breaks("right to three digits")
    .expect(test_manual_gradients="partial")
    .edit(
        "g = 2 * y",
        "steep = 4 * torch.exp(-2 * z.abs()) if z.abs().max() > 6 else 1 / torch.cosh(z) ** 2\n    g = 2 * y",
    )
    .edit("/ torch.cosh(z) ** 2 / y.numel()", "* steep / y.numel()"),
]
