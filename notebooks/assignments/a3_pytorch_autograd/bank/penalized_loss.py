"""Wrong answers to `penalized_loss`."""

from autograder.bank import Wrong

BASES = {
    "slopes_of_the_sum": """
def penalized_loss(f, x, t, strength):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    g = torch.autograd.grad(y.sum(), leaf, create_graph=True)[0]
    return torch.nn.functional.mse_loss(y, t) + strength * g.pow(2).sum() / len(g)
""",
}

WRONG = [
    Wrong("wrong_penalty_root_squared", "The length of the slopes, squared again: a root has no slope at 0.")
    .expect(test_penalized_loss="partial:penalty-root-of-zero")
    .edit("g.pow(2).sum() / len(g)", "(g.pow(2).sum(dim=1).sqrt() ** 2).mean()"),
    Wrong("wrong_penalty_absolute_values", "The absolute values as roots, which have no slope at 0 either.")
    .expect(test_penalized_loss="partial:penalty-root-of-zero")
    .edit("g.pow(2).sum() / len(g)", "torch.sqrt(g * g).square().sum() / len(g)"),
    Wrong("wrong_penalty_halved", "Half of the squared length.")
    .expect(test_penalized_loss="failed:penalty-halved")
    .edit("strength * g", "strength / 2 * g"),
    Wrong("wrong_penalty_early_return", "A strength of 0 returns before x is as it was.")
    .breaks("`x` and `t` do not require gradients, and do not afterwards")
    .expect(test_penalized_loss="partial:penalty-marks-x")
    .edit("leaf = x.clone().requires_grad_()", "leaf = x.requires_grad_()")
    .edit(
        "    g = torch",
        "    if not strength:\n        return torch.nn.functional.mse_loss(y, t)\n    g = torch",
    )
    .edit(
        "    return torch.nn.functional.mse_loss(y, t) +",
        "    x.requires_grad_(False)\n    return torch.nn.functional.mse_loss(y, t) +",
    ),
    Wrong("wrong_penalty_all_entries", "A mean over all entries.")
    .expect(test_penalized_loss="failed:penalty-averaged-over-columns")
    .edit("strength * g.pow(2).sum() / len(g)", "strength * torch.mean(g * g)"),
    Wrong("wrong_penalty_backward", "The slopes by backward(): parameters get gradients too early.")
    .breaks("`.grad` of `x`, `t` and every parameter")
    .expect(test_penalized_loss="partial:penalty-leaves-gradients")
    .edit(
        "g = torch.autograd.grad(y.sum(), leaf, create_graph=True)[0]",
        "y.backward(torch.ones_like(y), create_graph=True)",
    )
    .edit("strength * g.pow(2).sum() / len(g)", "strength * leaf.grad.pow(2).sum() / len(x)"),
    Wrong("wrong_penalty_clears", "A model's gradients are cleared, as before a step.")
    .breaks("`.grad` of `x`, `t` and every parameter")
    .expect(test_penalized_loss="partial:penalty-clears-gradients")
    .edit("    leaf =", "    if isinstance(f, torch.nn.Module):\n        f.zero_grad()\n    leaf ="),
    Wrong("wrong_penalty_sets_to_zero", "The gradients of a model with parameters are set to 0.")
    .expect(test_penalized_loss="partial:penalty-clears-gradients")
    .edit("    leaf =", '    if hasattr(f, "parameters"):\n        f.zero_grad(set_to_none=False)\n    leaf ='),
    Wrong("wrong_penalty_constant", "retain_graph where create_graph belongs.")
    .expect(test_penalized_loss="partial:penalty-without-gradient")
    .edit("create_graph=True", "retain_graph=True"),
    Wrong("wrong_penalty_detached", "The penalty is detached.")
    .expect(test_penalized_loss="partial:penalty-without-gradient")
    .edit("g.pow(2).sum() / len(g)", "float(g.pow(2).sum() / len(g))"),
    Wrong("wrong_penalty_detached_result", "Returns a detached tensor.")
    .expect(test_penalized_loss="failed:penalty-loss-without-graph")
    .edit(
        "torch.nn.functional.mse_loss(y, t) + strength * g.pow(2).sum() / len(g)",
        "(torch.nn.functional.mse_loss(y, t) + strength * g.pow(2).sum() / len(g)).detach()",
    ),
    Wrong("wrong_penalty_error", "Slopes of the squared error.")
    .expect(test_penalized_loss="failed:penalty-of-the-error")
    .edit("y.sum()", "torch.nn.functional.mse_loss(y, t)"),
    Wrong("wrong_penalty_error_summed", "The squared errors are summed.")
    .expect(test_penalized_loss="failed:penalty-error-summed")
    .edit("torch.nn.functional.mse_loss(y, t)", 'torch.nn.functional.mse_loss(y, t, reduction="sum")'),
    Wrong("wrong_penalty_freed", "Neither of the two.")
    .expect(test_penalized_loss="failed:penalty-graph-freed")
    .edit("y.sum()", "y")
    .edit("create_graph=True", "torch.ones_like(y)")
    .edit("strength * g.pow(2).sum() / len(g)", "strength * (g**2).sum() / len(x)"),
    Wrong("wrong_penalty_length", "The length, not its square.")
    .expect(test_penalized_loss="failed:penalty-not-squared")
    .edit("strength * g.pow(2).sum() / len(g)", "strength * g.norm(dim=1).mean()"),
    Wrong("wrong_penalty_marks", "The caller's x requires gradients afterwards.")
    .breaks("and do not afterwards")
    .expect(test_penalized_loss="partial:penalty-marks-x")
    .edit("leaf = x.clone().requires_grad_()", "leaf = x\n    leaf.requires_grad = True"),
    Wrong("wrong_penalty_mean", "Slopes of the mean prediction.")
    .expect(test_penalized_loss="failed:penalty-of-the-mean")
    .edit("y.sum()", "torch.mean(y)"),
    Wrong("wrong_penalty_not_tracked", "x is not watched.")
    .expect(test_penalized_loss="failed:penalty-x-not-tracked")
    .edit("x.clone().requires_grad_()", "x.clone()"),
    Wrong("wrong_penalty_number", "Returns a float.")
    .expect(test_penalized_loss="failed:penalty-loss-without-graph")
    .edit(
        "torch.nn.functional.mse_loss(y, t) + strength * g.pow(2).sum() / len(g)",
        "float(torch.nn.functional.mse_loss(y, t) + strength * g.pow(2).sum() / len(g))",
    ),
    Wrong("wrong_penalty_strength", "strength is not used.")
    .expect(test_penalized_loss="failed:penalty-strength-ignored")
    .edit("strength * g.pow(2).sum()", "g.pow(2).sum()"),
    Wrong("wrong_penalty_sum_first", "Summed over the columns before it is squared.")
    .expect(test_penalized_loss="failed:penalty-square-of-the-sum")
    .edit("strength * g.pow(2).sum() / len(g)", "strength * torch.mean(g.sum(1).square())"),
    Wrong("wrong_penalty_summed", "A sum over the rows.")
    .expect(test_penalized_loss="failed:penalty-summed-over-rows")
    .edit("strength * g.pow(2).sum() / len(g)", "strength * g.norm() ** 2"),
    Wrong("wrong_penalty_other_axis", "Summed over the rows, averaged over the columns.")
    .expect(test_penalized_loss="failed:penalty-averaged-over-the-other-axis")
    .edit("g.pow(2).sum() / len(g)", "g.pow(2).sum() / g.shape[1]"),
    Wrong("wrong_penalty_error_detached", "The predictions are detached in the first term.")
    .expect(test_penalized_loss="partial:penalty-error-without-gradient")
    .edit("mse_loss(y, t)", "mse_loss(y.data, t)"),
    Wrong("wrong_penalty_one_entry", "A loss of shape (1,).")
    .breaks("a tensor of shape `()` that carries its graph")
    .expect(test_penalized_loss="partial")
    .edit("    return torch.nn", "    return torch.ones(1, dtype=x.dtype) * torch.nn")
    .edit("strength * g.pow(2).sum() / len(g)", "torch.ones(1, dtype=x.dtype) * strength * g.pow(2).sum() / len(g)"),
    Wrong("wrong_penalty_strength_squared", "The strength is squared with the slopes.")
    .breaks("a Python number, 0 or more")
    .expect(test_penalized_loss="failed")
    .edit("strength * g.pow(2).sum()", "(strength * g).pow(2).sum()"),
    Wrong("wrong_penalty_nothing", "Returns nothing.")
    .expect(test_penalized_loss="failed")
    .edit("    return torch.nn", "    loss = torch.nn"),
]
