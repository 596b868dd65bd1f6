"""Wrong answers to `gradients`."""

from autograder.bank import Wrong

BASES = {
    "materialized": """
def gradients(f, tensors):
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)
""",
}

WRONG = [
    Wrong("wrong_gradients_backward", "backward() on copies: weights that f uses get something into .grad.")
    .expect(test_gradients="partial:gradients-left-in-other-tensors")
    .base("right_wide_inside")
    .edit("backward(inputs=copies)", "backward()"),
    Wrong("wrong_gradients_first", "Only the gradient of the first tensor.")
    .breaks("in their order and with their shapes")
    .expect(test_gradients="failed:gradients-first-only")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        "return (torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)[0],)",
    ),
    Wrong("wrong_gradients_in_grad", "backward() into the caller's own .grad.")
    .expect(test_gradients="partial:gradients-in-the-callers-grad")
    .whole("""
def gradients(f, tensors):
    for t in tensors:
        t.requires_grad_()
        t.retain_grad()
    y = f(*tensors)
    y.backward()
    return tuple(t.grad if t.grad is not None else torch.zeros_like(t) for t in tensors)
"""),
    Wrong(
        "wrong_gradients_in_grad_of_leaves",
        "backward() into the caller's .grad; a result of other operations has none.",
    )
    .expect(test_gradients="partial:gradients-in-the-callers-grad")
    .whole("""
def gradients(f, tensors):
    for t in tensors:
        t.requires_grad_(True)
    f(*tensors).backward()
    return tuple(t.grad.clone() if t.grad is not None else torch.zeros(t.shape, dtype=t.dtype) for t in tensors)
"""),
    Wrong("wrong_gradients_item", "The value of f is made into a new tensor that requires gradients.")
    .expect(test_gradients="failed:gradients-value-cut-off")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        """loss = torch.tensor(f(*leaves).item(), requires_grad=True)
    loss.backward()
    return tuple(t.grad if t.grad is not None else torch.zeros_like(t) for t in leaves)""",
    ),
    Wrong("wrong_gradients_marks", "The given tensors are marked, where they can be.")
    .expect(test_gradients="partial:gradients-of-the-callers-own-tensors")
    .whole("""
def gradients(f, tensors):
    for t in tensors:
        if t.is_leaf:
            t.requires_grad = True
    found = torch.autograd.grad(f(*tensors), tensors, allow_unused=True)
    return tuple(torch.zeros_like(t) if g is None else g for g, t in zip(found, tensors))
"""),
    Wrong("wrong_gradients_none", "None for a tensor that is not used.")
    .expect(test_gradients="partial:gradients-unused-is-none")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        "f(*leaves).backward(inputs=leaves)\n    return tuple(leaf.grad for leaf in leaves)",
    ),
    Wrong("wrong_gradients_not_tracked", "Copies that nobody watches.")
    .expect(test_gradients="failed:gradients-inputs-not-tracked")
    .edit("t.detach().clone().requires_grad_()", "t.detach().clone()"),
    Wrong("wrong_gradients_numpy", "The value of f passes through a Python float.")
    .expect(test_gradients="failed:gradients-value-cut-off")
    .edit("f(*leaves)", "torch.tensor(float(f(*leaves)))"),
    Wrong("wrong_gradients_raise", "autograd.grad as it is by default.")
    .expect(test_gradients="partial:gradients-unused-raises")
    .edit(", materialize_grads=True", ""),
    Wrong("wrong_gradients_with_graph", "create_graph=True, to be on the safe side.")
    .breaks("carry no graph")
    .expect(test_gradients="partial:gradients-carry-a-graph")
    .edit("materialize_grads=True", "create_graph=True, materialize_grads=True"),
    Wrong("wrong_half_done", "Two exercises are as they were handed out, and one function returns nothing.")
    .expect(test_gradients="failed", test_squareplus="not attempted", test_train="not attempted")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        "print(torch.autograd.grad(f(*leaves), leaves, materialize_grads=True))",
    )
    .base("stub", cell="squareplus")
    .base("stub", cell="train"),
    Wrong("wrong_gradients_left_out", "No gradient for a tensor that is not used.")
    .expect(test_gradients="partial:gradients-unused-left-out")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        "f(*leaves).backward(inputs=leaves)\n    return tuple(leaf.grad for leaf in leaves if leaf.grad is not None)",
    ),
    Wrong("wrong_gradients_none_detached", "detach() of every gradient, also of a None.")
    .expect(test_gradients="partial:gradients-none-met")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        "return tuple(g.detach() for g in torch.autograd.grad(f(*leaves), leaves, allow_unused=True))",
    ),
    Wrong("wrong_gradients_zeros_float32", "Zeros of the default dtype.")
    .breaks("a tensor of zeros, of the same shape and dtype")
    .expect(test_gradients="partial:gradients-zeros-in-float32")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        """found = torch.autograd.grad(f(*leaves), leaves, allow_unused=True)
    return tuple(torch.zeros(t.shape) if g is None else g for t, g in zip(tensors, found))""",
    ),
    Wrong("wrong_gradients_emptied", "`.grad` of the given tensors is set to None first.")
    .breaks("as before, and so is `.grad` of every other tensor")
    .expect(test_gradients="partial")
    .edit("    leaves = [", "    for t in tensors:\n        t.grad = None\n    leaves = ["),
    Wrong("wrong_gradients_of_leaves_alone", "A tensor that does not require gradients gets zeros.")
    .breaks("A given tensor may require gradients or not")
    .expect(test_gradients="failed:gradients-value-cut-off")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        """found = torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)
    return tuple(g if t.requires_grad else torch.zeros_like(t) for t, g in zip(tensors, found))""",
    ),
    Wrong("wrong_gradients_new_zeros", "Zeros by torch.zeros beside gradients that were stored by backward().")
    .expect(test_gradients="partial:gradients-zeros-in-float32")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        """f(*leaves).backward(inputs=leaves)
    return tuple(torch.zeros(*t.shape) if t.grad is None else t.grad for t in leaves)""",
    ),
    Wrong("wrong_gradients_zeros_of_the_given", "0 times the given tensor is zero, and has its graph.")
    .breaks("carry no graph")
    .expect(test_gradients="partial")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        """found = torch.autograd.grad(f(*leaves), leaves, allow_unused=True)
    return tuple(0 * t if g is None else g for t, g in zip(tensors, found))""",
    ),
    Wrong("wrong_gradients_one_axis_at_least", "A tensor of shape () has a gradient of shape (1,).")
    .breaks("in their order and with their shapes")
    .expect(test_gradients="partial")
    .edit(
        "return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)",
        "return torch.atleast_1d(torch.autograd.grad(f(*leaves), leaves, materialize_grads=True))",
    ),
]
