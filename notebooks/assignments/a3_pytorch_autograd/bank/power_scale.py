"""Wrong answers to `power_scale`."""

from autograder.bank import Wrong

BASES = {
    "saved_inputs": """
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        ctx.save_for_backward(a, b)
        ctx.power = power
        return torch.pow(b, power) * a

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        p = ctx.power
        return (g * b**p).sum_to_size(a.shape), (g * a * p * b ** (p - 1)).sum_to_size(b.shape), None
""",
}

WRONG = [
    Wrong("wrong_power_scale_attributes", "Both inputs hang on ctx as attributes.")
    .expect(test_power_scale="partial:power-scale-kept-on-ctx")
    .edit("ctx.save_for_backward(a, b)", "ctx.a, ctx.b = a, b")
    .edit("a, b = ctx.saved_tensors", "a, b = ctx.a, ctx.b"),
    Wrong("wrong_power_scale_logarithm", "The slope with respect to power stands for the one with respect to b.")
    .expect(test_power_scale="partial:power-scale-slope-of-the-exponent")
    .edit("g * a * p * b ** (p - 1)", "g * a * torch.exp(p * b.log()) * b.log()"),
    Wrong("wrong_power_scale_elif", "The gradient of b is asked for only where that of a is not.")
    .breaks("or both may require gradients")
    .expect(test_power_scale="partial:power-scale-one-gradient-alone")
    .edit(
        "p = ctx.power",
        """p = ctx.power
        if ctx.needs_input_grad[0]:
            return (g * b**p).sum_to_size(a.shape), None, None""",
    ),
    Wrong("wrong_power_scale_elif_b_first", "The gradient of a is asked for only where that of b is not.")
    .expect(test_power_scale="partial:power-scale-b-alone-of-both")
    .edit(
        "p = ctx.power",
        """p = ctx.power
        if ctx.needs_input_grad[1]:
            return None, (g * a * p * b ** (p - 1)).sum_to_size(b.shape), None""",
    ),
    Wrong("wrong_power_scale_exponent", "The slope of b ** power with the old exponent.")
    .expect(test_power_scale="partial:power-scale-exponent-kept")
    .edit("b ** (p - 1)", "b**p"),
    Wrong("wrong_power_scale_mean", "A mean over the axis that was broadcast.")
    .expect(test_power_scale="partial:power-scale-averages")
    .edit("sum_to_size(b.shape)", "sum_to_size(b.shape) * b.numel() / g.numel()"),
    Wrong("wrong_power_scale_needs", "Nothing is computed if the first input needs nothing.")
    .expect(test_power_scale="partial:power-scale-forgets-an-input")
    .edit(
        "p = ctx.power", "p = ctx.power\n        if not ctx.needs_input_grad[0]:\n            return None, None, None"
    ),
    Wrong("wrong_power_scale_no_a", "The gradient for b does without a.")
    .expect(test_power_scale="partial:power-scale-a-missing-for-b")
    .edit("g * a * p * b ** (p - 1)", "g * (p * b ** (p - 1))"),
    Wrong("wrong_power_scale_no_factor", "The slope of b ** power without its factor.")
    .expect(test_power_scale="partial:power-scale-factor-missing")
    .edit("g * a * p * b ** (p - 1)", "g * a * b**p / b"),
    Wrong("wrong_power_scale_no_grad_y", "What comes in is not used.")
    .expect(test_power_scale="partial:power-scale-ignores-what-comes-in")
    .edit("p = ctx.power", "p, g = ctx.power, torch.ones_like(g)"),
    Wrong("wrong_power_scale_order", "Saved as (b, a), read as (a, b).")
    .expect(test_power_scale="partial:power-scale-saved-in-another-order")
    .edit("ctx.save_for_backward(a, b)", "ctx.save_for_backward(b, a)"),
    Wrong("wrong_power_scale_saves_a_result", "b ** power is saved in forward.")
    .expect(test_power_scale="partial:power-scale-saves-a-result")
    .edit("ctx.save_for_backward(a, b)", "factor = torch.pow(b, power)\n        ctx.save_for_backward(a, b, factor)")
    .edit("a, b = ctx.saved_tensors", "a, b, factor = ctx.saved_tensors")
    .edit("g * b**p", "g * factor"),
    Wrong("wrong_power_scale_slopes_saved", "Both slopes are computed in forward.")
    .expect(test_power_scale="partial:power-scale-second-derivative-lost")
    .whole("""
class PowerScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, power):
        ctx.save_for_backward(torch.pow(b, power), power * a * torch.pow(b, power - 1))
        ctx.shapes = a.shape, b.shape
        return torch.pow(b, power) * a

    @staticmethod
    def backward(ctx, g):
        for_a, for_b = ctx.saved_tensors
        return (g * for_a).sum_to_size(ctx.shapes[0]), (g * for_b).sum_to_size(ctx.shapes[1]), None
"""),
    Wrong("wrong_power_scale_sum_0", "Sums over the first axis, always.")
    .breaks("also where that tensor was broadcast")
    .expect(test_power_scale="partial:power-scale-sums-the-first-axis")
    .edit(
        "return (g * b**p).sum_to_size(a.shape), (g * a * p * b ** (p - 1)).sum_to_size(b.shape), None",
        "return g * b**p, torch.sum(g * p * a * b ** (p - 1), 0), None",
    ),
    Wrong("wrong_power_scale_swapped", "The gradients come back in the wrong order.")
    .expect(test_power_scale="partial:power-scale-gradients-swapped")
    .edit(
        "return (g * b**p).sum_to_size(a.shape), (g * a * p * b ** (p - 1)).sum_to_size(b.shape), None",
        """for_b = (g * p * a * b ** (p - 1)).sum_to_size(b.shape)
        return for_b, (g * b**p).sum_to_size(a.shape), None""",
    ),
    Wrong("wrong_power_scale_three_gradients", "A gradient for power as well.")
    .expect(test_power_scale="partial:power-scale-gradient-for-power")
    .edit(
        "return (g * b**p).sum_to_size(a.shape), (g * a * p * b ** (p - 1)).sum_to_size(b.shape), None",
        """grad_power = (g * a * b**p * torch.log(b)).sum()
        return (g * b**p).sum_to_size(a.shape), (g * p * a * b ** (p - 1)).sum_to_size(b.shape), grad_power""",
    ),
    Wrong("wrong_power_scale_two_values", "Two gradients for three arguments.")
    .expect(test_power_scale="partial:power-scale-none-missing")
    .edit(
        "return (g * b**p).sum_to_size(a.shape), (g * a * p * b ** (p - 1)).sum_to_size(b.shape), None",
        "return (g * b**p).sum_to_size(a.shape), (g * p * a * b ** (p - 1)).sum_to_size(b.shape)",
    ),
    Wrong("wrong_power_scale_y_over_a", "Gets the gradient for a from y / a, which is 0 / 0 where a is zero.")
    .expect(test_power_scale="partial:power-scale-divides-by-a")
    .edit("ctx.save_for_backward(a, b)", "y = torch.pow(b, power) * a\n        ctx.save_for_backward(a, b, y)")
    .edit("return torch.pow(b, power) * a", "return y")
    .edit("a, b = ctx.saved_tensors", "a, b, y = ctx.saved_tensors")
    .edit("g * b**p", "g * y / a")
    .edit("g * a * p * b ** (p - 1)", "g * p * y / b"),
    Wrong("wrong_power_scale_both_or_none", "Gradients only where both inputs require them.")
    .breaks("`ctx.needs_input_grad` tells which")
    .expect(test_power_scale="partial:power-scale-one-alone-gets-none")
    .edit(
        "p = ctx.power",
        "p = ctx.power\n        if sum(ctx.needs_input_grad) < 2:\n            return None, None, None",
    ),
    Wrong("wrong_power_scale_needs_swapped", "Each asks whether the other requires a gradient.")
    .breaks("The gradient for each one that does is right in every case")
    .expect(test_power_scale="partial:power-scale-one-alone-gets-none")
    .edit(
        "return (g * b**p).sum_to_size(a.shape), (g * a * p * b ** (p - 1)).sum_to_size(b.shape), None",
        """for_b, for_a, _ = ctx.needs_input_grad
        grad_a = (g * b**p).sum_to_size(a.shape) if for_a else None
        return grad_a, (g * a * p * b ** (p - 1)).sum_to_size(b.shape) if for_b else None, None""",
    ),
    Wrong("wrong_power_scale_power_of_both", "(a * b) ** power.")
    .expect(test_power_scale="partial:power-scale-a-inside-the-power")
    .edit("torch.pow(b, power) * a", "torch.pow(a * b, power)"),
    Wrong("wrong_power_scale_once", "once_differentiable, as in a tutorial.")
    .breaks("the gradients can be differentiated once more")
    .expect(test_power_scale="partial:power-scale-once-differentiable")
    .edit("def backward(ctx, g):", "@torch.autograd.function.once_differentiable\n    def backward(ctx, g):"),
    Wrong("wrong_power_scale_reshaped", "reshape(-1, *shape) and a sum over the first axis undo any broadcast.")
    .expect(test_power_scale="partial:power-scale-sums-what-lies-apart")
    .breaks("also where that tensor was broadcast")
    .edit("(g * b**p).sum_to_size(a.shape)", "(g * b**p).reshape(-1, *a.shape).sum(0)")
    .edit("(g * a * p * b ** (p - 1)).sum_to_size(b.shape)", "(g * a * p * b ** (p - 1)).reshape(-1, *b.shape).sum(0)"),
    Wrong("wrong_power_scale_flattened", "The same by rows with as many entries as the tensor has.")
    .expect(test_power_scale="partial:power-scale-sums-what-lies-apart")
    .edit("(g * b**p).sum_to_size(a.shape)", "(g * b**p).flatten().reshape(-1, a.numel()).sum(0).reshape(a.shape)")
    .edit(
        "(g * a * p * b ** (p - 1)).sum_to_size(b.shape)",
        "(g * a * p * b ** (p - 1)).flatten().reshape(-1, b.numel()).sum(0).reshape(b.shape)",
    ),
    Wrong("wrong_power_scale_grad_detached", "What came in is detached.")
    .expect(test_power_scale="partial:power-scale-grad-y-cut-off")
    .breaks("with respect to `a`, `b` and the gradient that came in")
    .edit("p = ctx.power", "p, g = ctx.power, g.detach()"),
    Wrong("wrong_power_scale_in_place_of_grad_y", "The gradient that comes in is multiplied in place.")
    .breaks("The values in the tensors that you are given")
    .expect(test_power_scale="partial:power-scale-changes-what-comes-in")
    .edit("(g * a * p * b ** (p - 1)).sum_to_size(b.shape)", "g.mul_(p * a * b ** (p - 1)).sum_to_size(b.shape)"),
    Wrong("wrong_power_scale_contiguous", "Contiguous copies are saved, of what is not contiguous.")
    .breaks("the gradients can be differentiated once more", "may be non-contiguous")
    .expect(test_power_scale="partial:power-scale-second-derivative-lost")
    .edit("ctx.save_for_backward(a, b)", "ctx.save_for_backward(a.contiguous(), b.contiguous())"),
    Wrong("wrong_power_scale_finished_factor", "Where b alone requires gradients, forward saves its finished slope.")
    .breaks("with respect to `a`, `b` and the gradient that came in")
    .expect(test_power_scale="partial:power-scale-second-derivative-lost-for-one")
    .edit(
        "        ctx.save_for_backward(a, b)",
        "        ready = not ctx.needs_input_grad[0] and ctx.needs_input_grad[1]\n"
        "        ctx.shape = b.shape\n"
        "        ctx.save_for_backward(*([power * a * b ** (power - 1)] if ready else [a, b]))",
    )
    .edit(
        "        a, b = ctx.saved_tensors",
        "        if len(ctx.saved_tensors) == 1:\n"
        "            return None, (g * ctx.saved_tensors[0]).sum_to_size(ctx.shape), None\n"
        "        a, b = ctx.saved_tensors",
    ),
]
