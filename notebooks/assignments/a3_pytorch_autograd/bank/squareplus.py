"""Wrong answers to `squareplus`."""

from autograder.bank import Wrong

BASES = {
    "saved_input": """
class Squareplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * (torch.sqrt(x * x + 4) + x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 0.5 * g * (1 + x / (x**2 + 4) ** 0.5)
""",
}

WRONG = [
    Wrong("wrong_squareplus_attribute", "The input hangs on ctx as an attribute.")
    .expect(test_squareplus="partial:squareplus-kept-on-ctx")
    .edit("ctx.save_for_backward(x)", "ctx.x = x")
    .edit("(x,) = ctx.saved_tensors", "x = ctx.x"),
    Wrong("wrong_squareplus_chain_rule", "The slope of what is under the root left out.")
    .expect(test_squareplus="partial:squareplus-inner-slope-missing")
    .edit("return 0.5 * g * (1 + x / (x**2 + 4) ** 0.5)", "return g * (0.5 + 0.25 * torch.rsqrt(x * x + 4))"),
    Wrong("wrong_squareplus_detached", "The saved input is detached in backward.")
    .expect(test_squareplus="partial:squareplus-second-derivative-lost")
    .edit("(x,) = ctx.saved_tensors", "x = ctx.saved_tensors[0].detach()"),
    Wrong("wrong_squareplus_doubled", "The value is not halved.")
    .expect(test_squareplus="partial:squareplus-value-not-halved")
    .edit("return 0.5 * (torch.sqrt(x * x + 4) + x)", "return torch.sqrt(x * x + 4) + x")
    .edit("return 0.5 * g * (1 + x / (x**2 + 4) ** 0.5)", "return g * (0.5 + 0.5 * x / torch.sqrt(x * x + 4))"),
    Wrong("wrong_squareplus_float32", "The result is always float32.")
    .expect(test_squareplus="partial:squareplus-in-float32")
    .edit("return 0.5 * (torch.sqrt(x * x + 4) + x)", "return ((torch.sqrt(x * x + 4) + x) / 2).to(torch.float32)")
    .edit("return 0.5 * g * (1 + x / (x**2 + 4) ** 0.5)", "return g * (1 + x / torch.sqrt(x * x + 4)) / 2"),
    Wrong("wrong_squareplus_floats", "forward computes with Python floats.")
    .expect(test_squareplus="partial:squareplus-leaves-pytorch")
    .edit(
        "return 0.5 * (torch.sqrt(x * x + 4) + x)",
        """values = [(v + (v * v + 4) ** 0.5) / 2 for v in x.flatten().tolist()]
        return torch.tensor(values, dtype=x.dtype).reshape(x.shape)""",
    ),
    Wrong("wrong_squareplus_global", "The input is kept in a global variable.")
    .expect(test_squareplus="partial:squareplus-kept-on-the-class")
    .edit("ctx.save_for_backward(x)", "global saved\n        saved = x")
    .edit("(x,) = ctx.saved_tensors", "x = saved"),
    Wrong("wrong_squareplus_in_place", "forward works in the given tensor.")
    .expect(test_squareplus="failed:squareplus-overwrites-x")
    .edit("return 0.5 * (torch.sqrt(x * x + 4) + x)", "return x.add_(torch.sqrt(x * x + 4)).div_(2)"),
    Wrong("wrong_squareplus_no_grad_y", "Returns the slope.")
    .expect(test_squareplus="partial:squareplus-ignores-what-comes-in")
    .edit("0.5 * g", "0.5"),
    Wrong("wrong_squareplus_numpy", "forward goes through NumPy.")
    .expect(test_squareplus="partial:squareplus-leaves-pytorch")
    .edit(
        "return 0.5 * (torch.sqrt(x * x + 4) + x)",
        """a = x.detach().numpy()
        return torch.as_tensor((a + (a**2 + 4) ** 0.5) / 2, dtype=x.dtype)""",
    ),
    Wrong("wrong_squareplus_once", "once_differentiable, as in a tutorial.")
    .expect(test_squareplus="partial:squareplus-once-differentiable")
    .edit("def backward(ctx, g):", "@torch.autograd.function.once_differentiable\n    def backward(ctx, g):"),
    Wrong("wrong_squareplus_root_only", "The slope of the root alone.")
    .expect(test_squareplus="partial:squareplus-only-the-root")
    .edit("return 0.5 * g * (1 + x / (x**2 + 4) ** 0.5)", "return 0.5 * x * g * (x * x + 4) ** -0.5"),
    Wrong("wrong_squareplus_slope_doubled", "The slope is not halved.")
    .expect(test_squareplus="partial:squareplus-slope-not-halved")
    .edit("return 0.5 * g * (1 + x / (x**2 + 4) ** 0.5)", "return g + g * x / torch.sqrt(x * x + 4)"),
    Wrong("wrong_squareplus_slope_saved", "The slope is computed in forward and saved.")
    .expect(test_squareplus="partial:squareplus-second-derivative-lost")
    .edit("ctx.save_for_backward(x)", "ctx.save_for_backward(0.5 + 0.5 * x / (x**2 + 4) ** 0.5)")
    .edit("(x,) = ctx.saved_tensors", "(slope,) = ctx.saved_tensors")
    .edit("0.5 * g * (1 + x / (x**2 + 4) ** 0.5)", "slope * g"),
    Wrong("wrong_squareplus_saves_the_root", "The root is computed in forward and saved beside x.")
    .expect(test_squareplus="partial:squareplus-saves-the-root")
    .edit("ctx.save_for_backward(x)", "ctx.save_for_backward(x, (x * x + 4).sqrt())")
    .edit("(x,) = ctx.saved_tensors", "x, root = ctx.saved_tensors")
    .edit("(x**2 + 4) ** 0.5)", "root)"),
    Wrong("wrong_squareplus_no_grad", "backward computes under no_grad.")
    .breaks("The gradient can be differentiated once more")
    .expect(test_squareplus="partial:squareplus-backward-not-recorded")
    .edit("def backward(ctx, g):", "@torch.no_grad()\n    def backward(ctx, g):"),
    Wrong("wrong_squareplus_cpu_buffer", "The result is written into a new tensor on the CPU.")
    .breaks("Both passes use PyTorch operations only")
    .expect(test_squareplus="partial:squareplus-leaves-pytorch")
    .edit(
        "return 0.5 * (torch.sqrt(x * x + 4) + x)",
        "y = torch.zeros(x.shape, dtype=x.dtype)\n        y[...] = 0.5 * (torch.sqrt(x * x + 4) + x)\n        return y",
    ),
    Wrong("wrong_squareplus_cpu_ones", "backward makes ones on the CPU.")
    .breaks("so that they run on any device")
    .expect(test_squareplus="partial:squareplus-makes-a-tensor-on-the-cpu")
    .edit("0.5 * g * (1 + x", "0.5 * g * (torch.ones(x.shape, dtype=x.dtype) + x"),
    Wrong("wrong_squareplus_cpu_four", "forward makes a tensor of fours on the CPU.")
    .expect(test_squareplus="partial:squareplus-makes-a-tensor-on-the-cpu")
    .edit("torch.sqrt(x * x + 4)", "torch.sqrt(x * x + torch.full(x.shape, 4, dtype=x.dtype))"),
    Wrong("wrong_squareplus_data", "What is saved is x.data, whose changes nobody counts.")
    .breaks("It never computes with the new ones", "raises PyTorch's RuntimeError about an inplace operation")
    .expect(test_squareplus="partial:squareplus-second-derivative-lost")
    .edit("save_for_backward(x)", "save_for_backward(x.data)"),
    Wrong("wrong_squareplus_grad_detached", "What came in is copied and detached, not to be written into.")
    .expect(test_squareplus="partial:squareplus-grad-y-cut-off")
    .breaks("with respect to `x` and to the gradient that came in")
    .edit("(x,) = ctx.saved_tensors", "(x,) = ctx.saved_tensors\n        g = g.clone().detach()"),
    Wrong("wrong_squareplus_grad_data", "g.data.")
    .expect(test_squareplus="partial:squareplus-grad-y-cut-off")
    .edit("0.5 * g * (1", "0.5 * g.data * (1"),
    Wrong("wrong_squareplus_y_attribute", "y hangs on ctx as an attribute; the slope is made of y.")
    .expect(test_squareplus="partial:squareplus-y-not-watched")
    .breaks("It never computes with the new ones")
    .edit(
        "ctx.save_for_backward(x)\n        return 0.5 * (torch.sqrt(x * x + 4) + x)",
        "ctx.y = 0.5 * (torch.sqrt(x * x + 4) + x)\n        return ctx.y",
    )
    .edit("(x,) = ctx.saved_tensors", "y = ctx.y")
    .edit("0.5 * g * (1 + x / (x**2 + 4) ** 0.5)", "g * y / (y + 1 / y)"),
    Wrong("wrong_squareplus_in_place_of_grad_y", "The gradient that comes in is multiplied in place.")
    .breaks("The values in the tensors that you are given")
    .expect(test_squareplus="partial:squareplus-changes-what-comes-in")
    .edit("return 0.5 * g * (1 + x / (x**2 + 4) ** 0.5)", "return g.mul_(0.5 * (1 + x / (x**2 + 4) ** 0.5))"),
    Wrong("wrong_squareplus_in_place_unless_recorded", "The same, where autograd does not record it.")
    .breaks("The values in the tensors that you are given")
    .expect(test_squareplus="partial")
    .edit(
        "return 0.5 * g * (1 + x / (x**2 + 4) ** 0.5)",
        """slope = 0.5 * (1 + x / (x**2 + 4) ** 0.5)
        return g * slope if torch.is_grad_enabled() else g.mul_(slope)""",
    ),
]
