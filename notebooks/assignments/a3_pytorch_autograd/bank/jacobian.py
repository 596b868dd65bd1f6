"""Wrong answers to `jacobian`."""

from autograder.bank import Wrong

BASES = {
    "row_by_row": """
def vjp(f, x, v):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y, x, v)[0]


def jacobian(f, x):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    rows = [torch.autograd.grad(entry, x, retain_graph=True)[0] for entry in y.flatten()]
    return torch.stack(rows).reshape(y.shape + x.shape)
""",
    "row_by_backward": """
def vjp(f, x, v):
    x = x.detach().clone().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y, x, v)[0]


def jacobian(f, x):
    leaf = x.detach().clone().requires_grad_()
    y = f(leaf)
    rows = []
    for entry in y.flatten():
        leaf.grad = None
        entry.backward(retain_graph=True, inputs=[leaf])
        rows.append(leaf.grad.clone())
    return torch.stack(rows).reshape(y.shape + x.shape)
""",
}

WRONG = [
    Wrong("wrong_jacobian_both_mark", "x itself requires gradients afterwards, in both functions.")
    .expect(test_jacobian="partial:vjp-and-jacobian-mark-x")
    .edit(
        "def vjp(f, x, v):\n    x = x.detach().clone().requires_grad_()",
        "def vjp(f, x, v):\n    x.requires_grad = True",
    )
    .edit(
        "def jacobian(f, x):\n    x = x.detach().clone().requires_grad_()",
        "def jacobian(f, x):\n    x.requires_grad = True",
    ),
    Wrong("wrong_jacobian_carries_graphs", "torch.func on the given x: what requires gradients leaves results that do.")
    .expect(test_jacobian="partial:vjp-and-jacobian-carry-graphs")
    .base("right_torch_func")
    .edit("torch.func.vjp(f, x.detach())", "torch.func.vjp(f, x)")
    .edit("return y.detach(), back(v)[0].detach()", "return y, back(v)[0]")
    .edit("torch.func.jacrev(f)(x.detach()).detach()", "torch.func.jacrev(f)(x)"),
    Wrong("wrong_jacobian_keeps_weights", "torch.func on a detached x: what f uses beside x leaves its graph.")
    .breaks("also where `f` uses other tensors that do")
    .expect(test_jacobian="partial:jacobian-carries-its-graph")
    .base("right_torch_func")
    .edit("torch.func.jacrev(f)(x.detach()).detach()", "torch.func.jacrev(f)(x.detach())"),
    Wrong("wrong_jacobian_freed", "No retain_graph in the loop.")
    .expect(test_jacobian="partial:jacobian-graph-freed")
    .edit("torch.autograd.grad(entry, x, retain_graph=True)", "torch.autograd.grad(entry, x)"),
    Wrong("wrong_jacobian_in_grad", "vjp by backward() on the caller's x.")
    .expect(test_jacobian="partial:jacobian-in-grad-of-x")
    .edit(
        "def vjp(f, x, v):\n    x = x.detach().clone().requires_grad_()",
        "def vjp(f, x, v):\n    x.requires_grad = True",
    )
    .edit(
        "return y.detach(), torch.autograd.grad(y, x, v)[0]",
        "torch.sum(y * v).backward()\n    return y.detach(), x.grad",
    ),
    Wrong("wrong_jacobian_marks", "x itself requires gradients afterwards, in jacobian.")
    .expect(test_jacobian="partial:jacobian-marks-x")
    .edit(
        "def jacobian(f, x):\n    x = x.detach().clone().requires_grad_()",
        "def jacobian(f, x):\n    x.requires_grad = True",
    ),
    Wrong("wrong_jacobian_matrix", "A matrix, whatever the shapes.")
    .expect(test_jacobian="partial:jacobian-flat")
    .edit("reshape(y.shape + x.shape)", "reshape(y.numel(), x.numel())"),
    Wrong("wrong_jacobian_of_the_sum", "The gradient of the sum of the outputs.")
    .expect(test_jacobian="partial:jacobian-summed-over-outputs")
    .edit("torch.stack(rows).reshape(y.shape + x.shape)", "sum(rows)"),
    Wrong("wrong_jacobian_piles_up", ".grad is never set back.")
    .expect(test_jacobian="partial:jacobian-rows-pile-up")
    .base("row_by_backward")
    .edit("        leaf.grad = None\n", ""),
    Wrong("wrong_jacobian_reshaped", "A transposed matrix is brought to the right shape by reshape.")
    .expect(test_jacobian="partial:jacobian-reshaped-not-transposed")
    .edit("torch.stack(rows).reshape(y.shape + x.shape)", "torch.stack(rows).flatten(1).T.reshape(y.shape + x.shape)"),
    Wrong("wrong_jacobian_same_tensor", ".grad is stored itself, set to zero before each pass.")
    .expect(test_jacobian="partial:jacobian-one-row-everywhere")
    .base("row_by_backward")
    .edit("leaf.grad = None", "if leaf.grad is not None:\n            leaf.grad.zero_()")
    .edit("leaf.grad.clone()", "leaf.grad"),
    Wrong("wrong_jacobian_sums_the_other_axes", "The Jacobian goes through the first axis of f(x) only.")
    .expect(test_jacobian="partial:jacobian-sums-the-other-axes")
    .edit("torch.autograd.grad(entry, x", "torch.autograd.grad(entry.sum(), x")
    .edit("y.flatten()", "y")
    .edit("torch.stack(rows).reshape(y.shape + x.shape)", "torch.stack(rows)"),
    Wrong("wrong_jacobian_transposed", "The derivatives of each input in turn: axes of x first.")
    .expect(test_jacobian="partial:jacobian-transposed")
    .edit("torch.stack(rows).reshape(y.shape + x.shape)", "torch.stack(rows, dim=-1).reshape(x.shape + y.shape)"),
    Wrong("wrong_jacobian_view", "view() of what f returns.")
    .expect(test_jacobian="partial:jacobian-view-of-non-contiguous")
    .edit("y.flatten()", "y.view(y.numel())"),
    Wrong("wrong_jacobian_zero", ".grad is stored itself and set to zero after each pass.")
    .expect(test_jacobian="partial:jacobian-zero-everywhere")
    .base("row_by_backward")
    .edit("        leaf.grad = None\n", "")
    .edit("rows.append(leaf.grad.clone())", "rows.append(leaf.grad)\n        leaf.grad.zero_()"),
    Wrong("wrong_vjp_mean", "The mean of v * y.")
    .expect(test_jacobian="partial:vjp-averaged")
    .edit("torch.autograd.grad(y, x, v)[0]", "torch.autograd.grad(y, x, v / v.numel())[0]"),
    Wrong("wrong_vjp_ones", "v is an argument and nothing more.")
    .breaks("`vjp(f, x, v)` returns the tuple")
    .expect(test_jacobian="partial:vjp-ignores-v")
    .edit("torch.autograd.grad(y, x, v)[0]", "torch.autograd.grad(y, x, torch.ones_like(y))[0]"),
    Wrong("wrong_vjp_scaled_sum", "The gradient of the sum, times the sum of v.")
    .expect(test_jacobian="partial:vjp-scales-the-sum")
    .edit("torch.autograd.grad(y, x, v)[0]", "torch.autograd.grad(y.sum(), x)[0] * v.sum()"),
    Wrong("wrong_vjp_y_attached", "y with its graph.")
    .expect(test_jacobian="partial:vjp-y-carries-its-graph")
    .edit("y.detach()", "y"),
    Wrong("wrong_vjp_y_weighted", "Returns v * y in place of y.")
    .expect(test_jacobian="partial:vjp-y-is-weighted")
    .edit(
        "return y.detach(), torch.autograd.grad(y, x, v)[0]",
        "y = y * v\n    return y.detach(), torch.autograd.grad(y.sum(), x)[0]",
    ),
    Wrong("wrong_jacobian_shape_swapped", "The shape of x first, the numbers as they were.")
    .breaks("of shape `f(x).shape + x.shape`")
    .expect(test_jacobian="partial:jacobian-shape-swapped")
    .edit("reshape(y.shape + x.shape)", "reshape(*x.shape, *y.shape)"),
    Wrong("wrong_jacobian_float32", "The rows are written into zeros of the default dtype.")
    .expect(test_jacobian="partial:jacobian-in-float32")
    .edit(
        "return torch.stack(rows).reshape(y.shape + x.shape)",
        """table = torch.zeros(len(rows), x.numel())
    for k, row in enumerate(rows):
        table[k] = row.flatten()
    return table.reshape(y.shape + x.shape)""",
    ),
    Wrong("wrong_jacobian_equal_rows", "Each row is the gradient of the sum.")
    .breaks("says how fast `f(x)[i...]` grows")
    .expect(test_jacobian="partial:jacobian-every-row-is-the-sum")
    .edit("torch.autograd.grad(entry, x", "torch.autograd.grad(y.sum(), x"),
    Wrong("wrong_jacobian_create_graph", "create_graph, so that the graph is kept.")
    .breaks("what you return does not require gradients")
    .expect(test_jacobian="partial:jacobian-carries-its-graph")
    .edit("retain_graph=True", "create_graph=True"),
    Wrong("wrong_vjp_empties_grad", "vjp by backward() on the given x, whose .grad is set to None afterwards.")
    .breaks("its `.grad` may be filled already")
    .expect(test_jacobian="partial")
    .edit(
        "    return y.detach(), torch.autograd.grad(y, x, v)[0]",
        "    y.backward(v)\n    grad = given.grad\n    given.grad = None\n    return y.detach(), grad",
    )
    .edit(
        "def vjp(f, x, v):\n    x = x.detach().clone().requires_grad_()\n    y = f(x)",
        """def vjp(f, x, v):
    given = x if x.requires_grad else x.clone().requires_grad_()
    given.grad = None
    y = f(given)""",
    ),
    Wrong("wrong_jacobian_unmarks_x", "x is unmarked before it is copied, whatever it was.")
    .breaks("The values in the tensors that you are given")
    .expect(test_jacobian="partial:x-left-unmarked")
    .edit(
        "def jacobian(f, x):\n    x = x.detach()",
        "def jacobian(f, x):\n    x.requires_grad_(False)\n    x = x.detach()",
    ),
    Wrong("wrong_vjp_v_in_place", "v is halved in place before the pass.")
    .breaks("The values in the tensors that you are given")
    .expect(test_jacobian="partial")
    .edit(
        "return y.detach(), torch.autograd.grad(y, x, v)[0]",
        "return y.detach(), 2 * torch.autograd.grad(y, x, v.div_(2))[0]",
    ),
]
