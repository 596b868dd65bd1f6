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
]
