"""The mistakes that students make in a3, each as a small edit of the reference, with the words that a student reads.

Words say what was seen, why it matters and where to look. They do not say what to write. Families are those of the
course's catalog of training faults (AG: tensors and autograd, CF: custom functions). An exercise does not use the
others, so each mistake explains its own tests cell alone.
"""

from __future__ import annotations

from autograder.judge import Fault

BY_HAND = ("test_manual_gradients",)
GRADIENTS = ("test_gradients",)
JACOBIAN = ("test_jacobian",)
SQUAREPLUS = ("test_squareplus",)
POWER_SCALE = ("test_power_scale",)
PENALIZED = ("test_penalized_loss",)
TRAIN = ("test_train",)

MANUAL = [
    Fault(
        "manual-uses-autograd",
        cell="manual_gradients",
        raises=r"does not require grad|inference tensor|[Ii]nference ?[Mm]ode",
        words="Your code asks autograd for a gradient. The exercise runs it inside torch.inference_mode(), where "
        "nothing is recorded and there is nothing to ask. Look for backward() and requires_grad: every gradient is a "
        "formula here.",
        tests=BY_HAND,
    ),
    Fault(
        "manual-view-of-non-contiguous",
        family="AG11",
        cell="manual_gradients",
        words="Your code calls view() on a tensor that is not contiguous. x may be a transpose, and a view of it in "
        "another shape need not exist. Look at the last line of the error's text.",
        raises=r"view size is not compatible",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-summed",
        cell="manual_gradients",
        edits={"(y**2).mean()": "(y**2).sum()", "2 * y / y.numel()": "2 * y"},
        words="Loss and gradients are those of a sum: N * D times too large. The loss is the mean of all entries of "
        "y ** 2, so that it does not grow with the batch. Read the third equation again.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-loss-summed",
        cell="manual_gradients",
        edits={
            "(y**2).mean()": "(y**2).sum()",
        },
        words="Your gradients are right, your loss is N * D times too large: it is the sum of the entries of y ** 2, "
        "and the exercise asks for their mean. The two no longer belong together. Look at the third equation.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-gradient-not-averaged",
        cell="manual_gradients",
        edits={"2 * y / y.numel()": "2 * y"},
        words="Your loss is a mean, your gradients are those of a sum: N * D times too large. The factor of the mean "
        "is part of what is differentiated. Look at the gradient of the loss with respect to one entry of y.",
        tests=BY_HAND,
    ),
    Fault(
        "manual-averaged-over-rows",
        cell="manual_gradients",
        edits={"y.numel()": "y.shape[0]"},
        words="Your gradients are D times too large: they are divided by the number of rows. The mean runs over all "
        "N * D entries. Look at what you divide by.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-factor-two-missing",
        cell="manual_gradients",
        edits={"2 * y / y.numel()": "y / y.numel()"},
        words="Your gradients are half of the right ones. The loss holds a square; what is the slope of y ** 2?",
        tests=BY_HAND,
    ),
    Fault(
        "manual-tanh-slope-missing",
        cell="manual_gradients",
        edits={" / torch.cosh(z) ** 2": ""},
        words="Your gradients pass tanh unchanged. Every operation multiplies the gradient that comes from above by "
        "its own slope; without it a saturated entry learns as fast as a free one. Look at the step from y back to z.",
        tests=BY_HAND,
    ),
    Fault(
        "manual-tanh-slope-of-z",
        cell="manual_gradients",
        edits={" / torch.cosh(z) ** 2": " * (1 - z**2)"},
        words="Your slope of tanh is 1 - z ** 2. For |z| > 1 it is negative, and tanh never falls. Look at the hint: "
        "what is squared there?",
        tests=BY_HAND,
    ),
    Fault(
        "manual-slope-not-squared",
        cell="manual_gradients",
        edits={
            " / torch.cosh(z) ** 2": " / torch.cosh(z)",
        },
        words="Your slope of tanh is 1 / cosh z. Look at the hint: what is squared there?",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-tanh-applied-twice",
        cell="manual_gradients",
        edits={
            " / torch.cosh(z) ** 2": " * (1 - torch.tanh(y) ** 2)",
        },
        words="Your slope of tanh is taken at y, which is tanh z already: tanh is applied twice. Look at what goes "
        "into the slope.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-slope-rounded-in-float64-too",
        cell="manual_gradients",
        # Named by the check: a replay takes numbers as small as these for 0.
        words="Your gradients are right where |z| is 8, and 0 where it is 20. tanh z is rounded to 1 there in float64, "
        "too: with more digits 1 - tanh(z) ** 2 loses them all the same, only later. Look at the hint: it has another "
        "form of the slope.",
        tests=BY_HAND,
    ),
    Fault(
        "manual-slope-bounded",
        cell="manual_gradients",
        # Named by the check: where the bound lies is anybody's choice.
        words="Your gradients are right where |z| is 8, and many times too large where it is 20. The slope of tanh "
        "goes on falling, by a factor of about 7 each time that |z| grows by 1. If you keep z or the slope within a "
        "bound, or add a small number to something: what does that do to the slope at 20?",
        tests=BY_HAND,
    ),
    Fault(
        "manual-slope-rounded-to-zero",
        cell="manual_gradients",
        edits={" / torch.cosh(z) ** 2": " * (1 - y**2)"},
        words="Where |z| is large, your gradients are 0 or have no right digit. tanh z is rounded to 1 there, and a "
        "slope such as 1 - y ** 2 keeps only what the rounding has left. Look at the hint: it has another form "
        "of the slope.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-stays-in-float64",
        cell="manual_gradients",
        # Named by the check: there are many ways to get there.
        words="For tensors of float32 you return a tensor of float64. What is computed with it from then on is "
        "float64, too, or fails because the dtypes differ. If you compute in float64 inside, look at what you do at "
        "the end.",
        tests=BY_HAND,
    ),
    Fault(
        "manual-loss-in-float32",
        cell="manual_gradients",
        # Named by the check.
        words="For tensors of float64 your loss is a tensor of float32: half of the digits are lost. Look for a "
        "conversion, or for a new tensor that is made of a number without a dtype.",
        tests=BY_HAND,
        minor=True,
    ),
    Fault(
        "manual-x-and-w-swapped",
        cell="manual_gradients",
        edits={"grad_z * w": "grad_z * x", "(grad_z * x)": "(grad_z * w)"},
        words="Your grad_x uses x and your grad_w uses w. In a product the slope of one factor is the other factor. "
        "Look at the step from z back to x and w.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-w-missing-for-x",
        cell="manual_gradients",
        edits={
            "grad_z * w": "grad_z",
        },
        words="Your grad_x does not depend on w. In a product the slope of one factor is the other factor. Look at "
        "the step from z back to x.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-x-missing-for-w",
        cell="manual_gradients",
        edits={
            "(grad_z * x).sum(dim=0)": "grad_z.sum(dim=0)",
        },
        words="Your grad_w does not depend on x, except through z. In a product the slope of one factor is the other "
        "factor. Look at the step from z back to w.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-broadcast-not-summed",
        family="CF03",
        cell="manual_gradients",
        edits={"(grad_z * x).sum(dim=0)": "grad_z * x", "grad_z.sum(dim=1, keepdim=True)": "grad_z"},
        words="Your gradients for w and b have the shape of z. A gradient has the shape of its own tensor: one entry "
        "of w is used N times, and its slope is what all of these uses add up to. Look at what broadcasting did in "
        "the forward pass.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-w-not-summed",
        family="CF03",
        cell="manual_gradients",
        edits={"(grad_z * x).sum(dim=0)": "grad_z * x"},
        words="Your grad_w has one row for each row of x. One entry of w is used in all N rows, and its slope is what "
        "these uses add up to. Look at the shapes of w and of grad_w.",
        tests=BY_HAND,
    ),
    Fault(
        "manual-b-not-summed",
        family="CF03",
        cell="manual_gradients",
        edits={"grad_z.sum(dim=1, keepdim=True)": "grad_z"},
        words="Your grad_b has one column for each column of x. One entry of b is used in all D columns, and its slope "
        "is what these uses add up to. Look at the shapes of b and of grad_b.",
        tests=BY_HAND,
    ),
    Fault(
        "manual-b-lost-an-axis",
        family="CF03",
        cell="manual_gradients",
        edits={"sum(dim=1, keepdim=True)": "sum(dim=1)"},
        words="Your grad_b has shape (N,), and b has (N, 1). Subtracted from b it would be broadcast to (N, N) without "
        "a word. Look at what the sum does with the axis that it sums over.",
        tests=BY_HAND,
    ),
    Fault(
        "manual-averaged-where-summed",
        family="CF03",
        cell="manual_gradients",
        edits={
            "(grad_z * x).sum(dim=0)": "(grad_z * x).mean(dim=0)",
            "grad_z.sum(dim=1, keepdim=True)": "grad_z.mean(dim=1, keepdim=True)",
        },
        words="Your gradients for w and b are means over the axis that was broadcast: N and D times too small. The "
        "uses of one number add up; the mean of the loss has been taken already. Look at the last step to w and b.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-w-averaged",
        cell="manual_gradients",
        edits={
            "(grad_z * x).sum(dim=0)": "(grad_z * x).mean(dim=0)",
        },
        words="Your grad_w is a mean over the rows: N times too small. The uses of one number add up; the mean of "
        "the loss has been taken already. Look at the last step to w.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-b-averaged",
        cell="manual_gradients",
        edits={
            "grad_z.sum(dim=1, keepdim=True)": "grad_z.mean(dim=1, keepdim=True)",
        },
        words="Your grad_b is a mean over the columns: D times too small. The uses of one number add up; the mean of "
        "the loss has been taken already. Look at the last step to b.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-axes-swapped",
        family="CF03",
        cell="manual_gradients",
        edits={
            "(grad_z * x).sum(dim=0)": "(grad_z * x).sum(dim=1)",
            "grad_z.sum(dim=1, keepdim=True)": "grad_z.sum(dim=0).reshape(-1, 1)",
        },
        words="You sum over columns for w and over rows for b. w has an entry for each column, which is used in every "
        "row. Look at which axis has to be left.",
        tests=BY_HAND,
        pairs=False,
    ),
    Fault(
        "manual-changes-x",
        family="AG08",
        cell="manual_gradients",
        edits={"z = x * w + b": "z = x.mul_(w).add_(b)"},
        words="Your code writes into x, and then uses x as if it were the old one. An operation that ends in an "
        "underscore, and `*=`, change the tensor they are called on, which belongs to the caller. Look at how you "
        "compute z.",
        tests=BY_HAND,
        pairs=False,
    ),
]

WITHOUT_TRACES = [
    Fault(
        "gradients-unused-is-none",
        cell="gradients",
        edits={"materialize_grads=True": "allow_unused=True"},
        words="For a tensor that f does not use, you return None. It has a gradient: f does not change with it, so "
        "every slope is 0. Code that adds up or prints gradients stumbles over a None. Look at what you return.",
        tests=GRADIENTS,
    ),
    Fault(
        "gradients-zeros-in-float32",
        cell="gradients",
        # Named by the check: a replay compares numbers, and no dtypes.
        words="The zeros for a tensor that f does not use are float32, also where that tensor is float64. A new tensor "
        "gets the default dtype unless it is told another one. Look at how you make the zeros.",
        tests=GRADIENTS,
    ),
    Fault(
        "gradients-unused-raises",
        cell="gradients",
        edits={", materialize_grads=True": ""},
        words="Your code raises for a tensor that f does not use. autograd.grad refuses by default, since an unused "
        "tensor is often a mistake; here it is not. Read what its arguments say about that.",
        raises=r"appears to not have been used in the graph",
        tests=GRADIENTS,
        pairs=False,
    ),
    Fault(
        "gradients-unused-left-out",
        cell="gradients",
        edits={
            "return torch.autograd.grad(value, inputs, materialize_grads=True)": (
                "found = torch.autograd.grad(value, inputs, allow_unused=True)\n"
                "    return tuple(gradient for gradient in found if gradient is not None)"
            ),
        },
        words="You leave out the gradient of a tensor that f does not use, so the others move up and stand in the "
        "wrong places. It has a gradient: every slope is 0. Look at what you return for it.",
        tests=GRADIENTS,
        pairs=False,
    ),
    Fault(
        "gradients-none-met",
        cell="gradients",
        raises=r"'NoneType' object has no attribute '(clone|detach|reshape|data|zero_|to|numpy|shape)'|not NoneType",
        words="Your code meets None where it expects a gradient. autograd.grad with allow_unused=True gives None for "
        "a tensor that f does not use, and `.grad` is None for a tensor that is no leaf. Print what you got "
        "before you work with it.",
        tests=GRADIENTS,
        pairs=False,
    ),
    Fault(
        "gradients-left-in-other-tensors",
        family="AG01",
        cell="gradients",
        edits={
            "return torch.autograd.grad(value, inputs, materialize_grads=True)": "value.backward()\n"
            "    return tuple(torch.zeros_like(i) if i.grad is None else i.grad for i in inputs)"
        },
        words="Your values are right, but a tensor that f uses from outside, such as a weight, has something in its "
        "`.grad` afterwards. backward() fills every leaf that it reaches; the next training step would use it. Look "
        "for a way to ask for some gradients only.",
        tests=GRADIENTS,
        pairs=False,
    ),
    Fault(
        "gradients-of-the-callers-own-tensors",
        family="AG09",
        cell="gradients",
        edits={"[tensor.detach().requires_grad_() for tensor in tensors]": "[t.requires_grad_() for t in tensors]"},
        words="Your values are right, but the caller's tensors require gradients afterwards. `requires_grad_()` "
        "changes the tensor that it is called on, and all that is computed with it from then on is recorded. Look at "
        "whose tensors you mark.",
        tests=GRADIENTS,
        pairs=False,
    ),
    Fault(
        "gradients-in-the-callers-grad",
        family="AG01",
        cell="gradients",
        edits={
            "[tensor.detach().requires_grad_() for tensor in tensors]": "[t.requires_grad_() for t in tensors]",
            "return torch.autograd.grad(value, inputs, materialize_grads=True)": "for i in inputs:\n"
            "        i.retain_grad()\n"
            "    value.backward()\n"
            "    return tuple(torch.zeros_like(i) if i.grad is None else i.grad for i in inputs)",
        },
        words="Your gradients pass through `.grad` of the caller's tensors. backward() adds to what is in there "
        "already, so a second call gives the sum of both, and the caller finds traces afterwards. Look at "
        "where your gradients are stored before you return them.",
        tests=GRADIENTS,
        raises=r"can't retain_grad",
        pairs=False,
    ),
    Fault(
        "gradients-carry-a-graph",
        family="AG06",
        cell="gradients",
        edits={"materialize_grads=True": "materialize_grads=True, create_graph=True"},
        words="Your values are right, but they require gradients: they carry the graph of their own computation. "
        "Whoever keeps them keeps all of it in memory. Look at the arguments that you pass to autograd, and at "
        "what you do with the gradients afterwards.",
        tests=GRADIENTS,
        pairs=False,
    ),
    Fault(
        "gradients-first-only",
        cell="gradients",
        edits={"grad(value, inputs, materialize_grads=True)": "grad(value, inputs[:1], materialize_grads=True)"},
        words="You return the gradient of the first tensor only. Look at what you pass on as the tensors to "
        "differentiate with respect to, and at what you take of the result.",
        tests=GRADIENTS,
        pairs=False,
    ),
    Fault(
        "gradients-value-cut-off",
        family="AG05",
        cell="gradients",
        edits={"value = f(*inputs)": "value = f(*inputs).detach().requires_grad_()"},
        words="Zeros, or an error, where gradients belong. That is so where no way leads back from the value of f to "
        "the inputs (detach(), item() and torch.tensor(...) cut it, and under no_grad nothing is recorded), or where "
        "inputs that do not require gradients are passed over. Look at what is done to the inputs and to the value.",
        raises=r"element 0 of tensors does not require grad",
        tests=GRADIENTS,
        pairs=False,
        bare=True,
    ),
    Fault(
        "gradients-inputs-not-tracked",
        family="AG09",
        cell="gradients",
        edits={"tensor.detach().requires_grad_()": "tensor.detach()"},
        words="You ask for the gradient of tensors that autograd does not watch. It records operations only on "
        "tensors that require gradients, and only from then on. Look at the tensors that you pass to f.",
        raises=r"One of the differentiated Tensors does not require grad",
        tests=GRADIENTS,
        pairs=False,
    ),
]

PRODUCTS = [
    Fault(
        "vjp-ignores-v",
        family="AG12",
        cell="jacobian",
        edits={"torch.autograd.grad(y, x, v)": "torch.autograd.grad(y.sum(), x)"},
        words="Your product does not depend on v: it is the gradient of the plain sum of y. v says how much each "
        "output counts, and for a loss after y it is the gradient that comes from there. Look at where v enters.",
        tests=JACOBIAN,
    ),
    Fault(
        "vjp-averaged",
        family="AG12",
        cell="jacobian",
        edits={"torch.autograd.grad(y, x, v)": "torch.autograd.grad((v * y).mean(), x)"},
        words="Your product is divided by the number of entries of y. It belongs to the sum of v * y, not to the "
        "mean. Look at how you make one number of y.",
        tests=JACOBIAN,
    ),
    Fault(
        "vjp-scales-the-sum",
        family="AG12",
        cell="jacobian",
        edits={"torch.autograd.grad(y, x, v)": "torch.autograd.grad(y.sum() * v.sum(), x)"},
        words="Your product is the gradient of the sum of y, times the sum of v. Each output has a weight of its own. "
        "Look at whether v and y are multiplied before or after they are summed.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "vjp-y-is-weighted",
        cell="jacobian",
        edits={
            "return y.detach(), grad": "return (v * y).detach(), grad",
        },
        words="Your product is right, but what you return as y is v * y. The exercise asks for f(x) itself. Look at "
        "which variable you return.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "vjp-y-carries-its-graph",
        family="AG06",
        cell="jacobian",
        edits={"return y.detach(), grad": "return y, grad"},
        words="Your y is right, but it carries its graph: it requires gradients. A value that is kept for later keeps "
        "all of its past in memory. Look at what you return for y.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-graph-freed",
        family="AG07",
        cell="jacobian",
        edits={", retain_graph=True": ""},
        words="Your code goes back through one graph a second time. After the first time PyTorch has thrown away what "
        "the forward pass had saved. Read the end of the error's text, and think about which passes come after others.",
        raises=r"graph a second time",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-transposed",
        family="AG11",
        cell="jacobian",
        edits={"stack(rows).reshape(outputs.shape + x.shape)": "stack(rows, dim=-1).reshape(x.shape + outputs.shape)"},
        words="Your Jacobian is transposed: its first axes belong to x. For a function with as many outputs as inputs "
        "the shape does not tell. Look at the order of the axes in the exercise, and along which axis you stack.",
        tests=JACOBIAN,
    ),
    Fault(
        "jacobian-reshaped-not-transposed",
        family="AG11",
        cell="jacobian",
        edits={"torch.stack(rows)": "torch.stack(rows, dim=-1)"},
        words="Your Jacobian has the right shape and its entries are in the wrong places. reshape and view keep the "
        "order of the numbers in memory and only cut it elsewhere; they do not swap axes. Look at how you put "
        "the rows together.",
        tests=JACOBIAN,
    ),
    Fault(
        "jacobian-flat",
        cell="jacobian",
        edits={"reshape(outputs.shape + x.shape)": "reshape(outputs.numel(), x.numel())"},
        words="Your Jacobian is always a matrix. Its numbers are right, but its shape should be the shape of f(x) "
        "followed by the shape of x. Look at your last line.",
        tests=JACOBIAN,
    ),
    Fault(
        "jacobian-shape-swapped",
        cell="jacobian",
        edits={
            "reshape(outputs.shape + x.shape)": "reshape(x.shape + outputs.shape)",
        },
        words="Your Jacobian has the shape of x followed by that of f(x), and its numbers stand in the order of the "
        "other shape. The axes of f(x) come first. Look at your last line.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-in-float32",
        cell="jacobian",
        words="Your Jacobian is float32 though x is float64: half of the digits are lost. A new tensor, as "
        "torch.zeros makes it, is float32 if nothing else is said. Look at how you make the tensor for the "
        "result.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-rows-pile-up",
        family="AG01",
        cell="jacobian",
        edits={
            "rows.append(row)": "rows.append(row if not rows else rows[-1] + row)",
        },
        words="Each row of your Jacobian holds the sum of all rows so far; the first one is right. Something is added "
        "up over the loop that should start anew for each output. `.grad` does that. Look at what is set back, and "
        "when.",
        tests=JACOBIAN,
    ),
    Fault(
        "jacobian-one-row-everywhere",
        cell="jacobian",
        edits={"torch.stack(rows)": "torch.stack([rows[-1]] * len(rows))"},
        words="All rows of your Jacobian are the last one. You seem to store the same tensor again and again, and it "
        "changes in every round. Look at whether you keep a tensor or a copy of it.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-zero-everywhere",
        cell="jacobian",
        edits={"torch.stack(rows)": "torch.stack(rows).mul(0)"},
        words="Your Jacobian is zero everywhere. Perhaps every row is the same tensor, and it is set to zero after it "
        "was stored; or the value has lost its way back to x. Look at what you store in each round.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-summed-over-outputs",
        family="AG12",
        cell="jacobian",
        edits={
            "torch.stack(rows).reshape(outputs.shape + x.shape)": "sum(rows)",
        },
        words="Your jacobian has the shape of x: it is the gradient of the sum of all outputs. The Jacobian keeps "
        "them apart. Look at how many times you go back, and from what.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-every-row-is-the-sum",
        cell="jacobian",
        edits={
            "torch.autograd.grad(output, inputs,": "torch.autograd.grad(outputs.sum(), inputs,",
        },
        words="All rows of your Jacobian are equal: each is the gradient of the sum of all outputs. Look at what you "
        "differentiate in each round.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-sums-the-other-axes",
        family="AG12",
        cell="jacobian",
        edits={
            "in outputs.reshape(-1):": "in outputs:",
            "torch.autograd.grad(output, inputs,": "torch.autograd.grad(output.sum(), inputs,",
            "torch.stack(rows).reshape(outputs.shape + x.shape)": "torch.stack(rows)",
        },
        words="Your jacobian goes through the first axis of f(x) and sums over the others. f may return a matrix, and "
        "then each of its entries has derivatives of its own. Look at what you go through.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "vjp-and-jacobian-carry-graphs",
        family="AG06",
        cell="jacobian",
        words="Where x, as it was given, requires gradients, something that you return requires them too: the whole "
        "graph behind it stays alive. Look at what you return, and at what it was computed from.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-carries-its-graph",
        cell="jacobian",
        edits={
            "retain_graph=True": "create_graph=True",
        },
        words="Your derivatives are right, but they require gradients: they carry the graph of their own "
        "computation, through x or through other tensors that `f` uses. Look at what asks autograd for a graph, and "
        "at what you return.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-view-of-non-contiguous",
        family="AG11",
        cell="jacobian",
        edits={"outputs.reshape(-1)": "outputs.view(-1)"},
        words="Your code calls view() on a tensor that is not contiguous. x and f(x) may be transposes, and a view "
        "of them in another shape need not exist. Look at the last line of the error's text.",
        raises=r"view size is not compatible",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "jacobian-marks-x",
        family="AG09",
        cell="jacobian",
        edits={"inputs = x.detach().requires_grad_()": "inputs = x.requires_grad_()"},
        words="The derivatives are right, but x requires gradients after the call. `requires_grad_()` changes the "
        "tensor that it is called on, and it belongs to the caller. Look at which tensor you mark.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "vjp-and-jacobian-mark-x",
        family="AG09",
        cell="jacobian",
        edits={
            "    x = x.detach().requires_grad_()": "    x = x.requires_grad_()",
            "inputs = x.detach().requires_grad_()": "inputs = x.requires_grad_()",
        },
        words="The derivatives are right, but x requires gradients after the call. `requires_grad_()` changes the "
        "tensor that it is called on, and it belongs to the caller. Look at which tensor you mark.",
        tests=JACOBIAN,
        pairs=False,
    ),
    Fault(
        "x-left-unmarked",
        family="AG09",
        cell="jacobian",
        words="An x that requires gradients when it is given does not require them any more after the call, and "
        "whoever trains it trains it no longer. The tensor belongs to the caller. Look at every line that sets "
        "requires_grad.",
        tests=JACOBIAN,
    ),
    Fault(
        "jacobian-in-grad-of-x",
        family="AG01",
        cell="jacobian",
        edits={
            "    x = x.detach().requires_grad_()\n    y = f(x)\n    (grad,) = torch.autograd.grad(y, x, v)": (
                "    x.requires_grad_()\n    y = f(x)\n    y.backward(v)\n    grad = x.grad"
            )
        },
        words="Your product is right, but it is left in `.grad` of the caller's x. Whoever trains x next adds to it. "
        "Look at the tensor on which you call backward() and at where the result is stored.",
        tests=JACOBIAN,
        pairs=False,
    ),
]

INCOMING_CHANGED = (
    "Your backward pass writes into the gradient that comes in. That tensor belongs to somebody else: it may be needed "
    "once more, or be a leaf that requires gradients itself. Look for an operation in place in backward."
)
OWN_OPERATION = [
    Fault(
        "squareplus-value-not-halved",
        cell="squareplus",
        edits={"return (x + torch.sqrt(x**2 + 4)) / 2": "return x + torch.sqrt(x**2 + 4)"},
        words="Your y is twice the right one. Look at the first equation.",
        tests=SQUAREPLUS,
    ),
    Fault(
        "squareplus-slope-not-halved",
        family="CF01",
        cell="squareplus",
        edits={"slope = (1 + x / torch.sqrt(x**2 + 4)) / 2": "slope = 1 + x / torch.sqrt(x**2 + 4)"},
        words="Your gradient is twice the right one. y is half of a sum, and so is its slope. Look at the formula in "
        "your backward pass.",
        tests=SQUAREPLUS,
    ),
    Fault(
        "squareplus-only-the-root",
        family="CF01",
        cell="squareplus",
        edits={"slope = (1 + x / torch.sqrt(x**2 + 4)) / 2": "slope = x / torch.sqrt(x**2 + 4) / 2"},
        words="Your slope lacks a term: for x < 0 it is negative, and squareplus never falls. x stands in front of the "
        "root too. Look at the second equation.",
        tests=SQUAREPLUS,
    ),
    Fault(
        "squareplus-inner-slope-missing",
        family="CF01",
        cell="squareplus",
        edits={"slope = (1 + x / torch.sqrt(x**2 + 4)) / 2": "slope = (1 + 1 / (2 * torch.sqrt(x**2 + 4))) / 2"},
        words="Your slope treats what is under the root as if it were x itself. The chain rule multiplies by the slope "
        "of x ** 2 + 4. Look at the second equation.",
        tests=SQUAREPLUS,
    ),
    Fault(
        "squareplus-ignores-what-comes-in",
        family="CF02",
        cell="squareplus",
        edits={"return grad_y * slope": "return slope + 0 * grad_y"},
        words="Your backward pass returns the slope, whatever gradient comes in. That is right only if the loss is the "
        "plain sum of y. Every operation multiplies what comes from above by its own slope. Look at grad_y.",
        tests=SQUAREPLUS,
    ),
    Fault(
        "squareplus-kept-on-ctx",
        family="CF04",
        cell="squareplus",
        edits={"ctx.save_for_backward(x)": "ctx.x = x", "(x,) = ctx.saved_tensors": "x = ctx.x"},
        words="x was changed in place after the forward pass, and your backward pass computed with the new values "
        "without a word. PyTorch notices a change only of what save_for_backward was given, not of an "
        "attribute of ctx. Look at how x gets from forward to backward.",
        tests=SQUAREPLUS,
        pairs=False,
    ),
    Fault(
        "squareplus-y-not-watched",
        family="CF04",
        cell="squareplus",
        edits={
            "ctx.save_for_backward(x)\n        return (x + torch.sqrt(x**2 + 4)) / 2": (
                "ctx.y = (x + torch.sqrt(x**2 + 4)) / 2\n        return ctx.y"
            ),
            "(x,) = ctx.saved_tensors": "y = ctx.y",
            "slope = (1 + x / torch.sqrt(x**2 + 4)) / 2": "slope = y**2 / (y**2 + 1)",
        },
        words="y was changed in place after the forward pass, and your backward pass computed with the new values "
        "without a word. PyTorch notices a change only of what save_for_backward was given, as it was given; results "
        "of forward may be saved, too. Look at how y gets from forward to backward.",
        tests=SQUAREPLUS,
        pairs=False,
    ),
    Fault(
        "squareplus-kept-on-the-class",
        family="CF04",
        cell="squareplus",
        edits={"ctx.save_for_backward(x)": "Squareplus.x = x", "(x,) = ctx.saved_tensors": "x = Squareplus.x"},
        words="Your backward pass uses the x of the latest forward pass, not of its own: a second use of Squareplus "
        "in one network spoils the first. Each use has a ctx of its own. Look at where x is kept.",
        tests=SQUAREPLUS,
        pairs=False,
    ),
    Fault(
        "squareplus-second-derivative-lost",
        family="CF04",
        cell="squareplus",
        edits={"(x,) = ctx.saved_tensors": "(x,) = (value.detach() for value in ctx.saved_tensors)"},
        words="Your gradient is right, but its derivative with respect to x is zero. The slope that you multiply by "
        "has no way back to x: it was computed in forward, which runs without a graph, or from a detached tensor. "
        "Look at what your backward pass starts from.",
        tests=SQUAREPLUS,
        pairs=False,
    ),
    Fault(
        "squareplus-saves-the-root",
        cell="squareplus",
        edits={
            "ctx.save_for_backward(x)": "ctx.save_for_backward(x, torch.sqrt(x**2 + 4))",
            "(x,) = ctx.saved_tensors": "x, root = ctx.saved_tensors",
            "slope = (1 + x / torch.sqrt(x**2 + 4)) / 2": "slope = (1 + x / root) / 2",
        },
        words="Your gradient is right, and its derivative with respect to x is not: how the root depends on x is "
        "lost. It was computed in forward, which runs without a graph, or detached. Look at which values your "
        "backward pass starts from.",
        tests=SQUAREPLUS,
        pairs=False,
    ),
    Fault(
        "squareplus-backward-not-recorded",
        cell="squareplus",
        edits={
            "return grad_y * slope": "with torch.no_grad():\n            return grad_y * slope",
        },
        words="The gradient that your backward pass returns has no graph, so it cannot be differentiated again. Look "
        "for no_grad and detach in backward, and for what happens to the result before you return it.",
        tests=SQUAREPLUS,
        pairs=False,
    ),
    Fault(
        "squareplus-changes-what-comes-in",
        family="AG08",
        cell="squareplus",
        edits={"return grad_y * slope": "return grad_y.mul_(slope)"},
        words=INCOMING_CHANGED,
        tests=SQUAREPLUS,
        pairs=False,
    ),
    Fault(
        "squareplus-grad-y-cut-off",
        cell="squareplus",
        edits={"return grad_y * slope": "return grad_y.detach() * slope"},
        words="Your gradient can be differentiated once more with respect to x, but with respect to the gradient that "
        "came in its derivative is zero. Where another operation follows Squareplus, part of the second derivative "
        "comes that way. Look at what happens to grad_y before you multiply by it.",
        tests=SQUAREPLUS,
        pairs=False,
    ),
    Fault(
        "squareplus-once-differentiable",
        cell="squareplus",
        edits={
            "@staticmethod\n    def backward(ctx, grad_y):": (
                "@staticmethod\n    @torch.autograd.function.once_differentiable\n    def backward(ctx, grad_y):"
            )
        },
        raises=r"once_differentiable",
        words="The gradient that your backward pass returns cannot be differentiated again, not even with respect to "
        "the gradient that came in: autograd was kept from recording what backward does. Look at its "
        "decorators, and for no_grad and detach.",
        tests=SQUAREPLUS,
        pairs=False,
    ),
    Fault(
        "squareplus-leaves-pytorch",
        family="CF06",
        cell="squareplus",
        raises=r"meta (device|tensor)|out of meta",
        words='On the device "meta" your operation needs numbers that are not there. Perhaps it reads them out, '
        "through NumPy, item() or a loop over floats; perhaps it copies them into a tensor on the CPU. On a "
        "GPU that is a copy to the host or an error. Look for the line that leaves the device of x.",
        tests=SQUAREPLUS,
    ),
    Fault(
        "squareplus-makes-a-tensor-on-the-cpu",
        family="CF06",
        cell="squareplus",
        raises=r"on device \w+(:\d+)? is not on the expected device|to be on the same device",
        words="Your operation computes with tensors on two devices: x is on one of them, and another tensor is not. "
        "torch.ones and torch.zeros, for example, make tensors on the CPU unless they are told a device. With x on a "
        "GPU that is an error, too. Look at where your passes get their tensors from.",
        tests=SQUAREPLUS,
    ),
    Fault(
        "squareplus-overwrites-x",
        family="AG08",
        cell="squareplus",
        edits={
            "return (x + torch.sqrt(x**2 + 4)) / 2": "root = torch.sqrt(x**2 + 4)\n        return x.add_(root).div_(2)"
        },
        words="Your forward pass writes into x: the caller's tensor holds other values afterwards. Operations that end "
        "in an underscore, and `+=`, work in place. Look at what your forward pass does with x.",
        tests=SQUAREPLUS,
        pairs=False,
    ),
    Fault(
        "squareplus-in-float32",
        cell="squareplus",
        edits={"return (x + torch.sqrt(x**2 + 4)) / 2": "return ((x + torch.sqrt(x**2 + 4)) / 2).float()"},
        words="Your y is float32 though x is float64. Half of the digits are lost, and gradcheck could not work with "
        "it. Look for a conversion in your forward pass, or for a new tensor that is made without a dtype.",
        tests=SQUAREPLUS,
        pairs=False,
    ),
]

TWO_INPUTS = [
    Fault(
        "power-scale-none-missing",
        family="CF05",
        cell="power_scale",
        edits={"return grad_a, grad_b, None": "return grad_a, grad_b"},
        words="Your backward pass returns another number of values than forward has arguments. PyTorch wants one for "
        "each argument after ctx, also for those that have no gradient. Look at your `return`.",
        raises=r"incorrect number of gradients",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-gradient-for-power",
        family="CF05",
        cell="power_scale",
        raises=r"gradient different (than|from) None",
        words="Your backward pass returns a gradient for power. power is a plain number and no tensor: nothing could "
        "receive it. Look at the last value that you return.",
        tests=POWER_SCALE,
    ),
    Fault(
        "power-scale-factor-missing",
        family="CF01",
        cell="power_scale",
        edits={"grad_y * a * power * b": "grad_y * a * b"},
        words="Your gradient for b lacks a factor. What is the slope of b ** 3? Look at the formula for b.",
        tests=POWER_SCALE,
    ),
    Fault(
        "power-scale-slope-of-the-exponent",
        family="CF01",
        cell="power_scale",
        edits={"power * b ** (power - 1)": "b**power * torch.log(b)"},
        words="Your gradient for b holds log b. That is how fast b ** power grows with power, and nobody wants the "
        "gradient of power. Look at the formula for b: which of the two moves?",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-exponent-kept",
        family="CF01",
        cell="power_scale",
        edits={"b ** (power - 1)": "b ** power"},
        words="In your gradient for b the exponent is the same as in the forward pass. What is the slope of b ** 3? "
        "Look at the formula for b.",
        tests=POWER_SCALE,
    ),
    Fault(
        "power-scale-a-inside-the-power",
        cell="power_scale",
        edits={
            "return a * b**power": "return (a * b) ** power",
        },
        words="Your y is (a * b) ** power: a is raised to the power too. Look at the equation.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-a-missing-for-b",
        family="CF01",
        cell="power_scale",
        edits={"grad_y * a * power": "grad_y * power"},
        words="Your gradient for b does not depend on a. The larger a, the more y grows with b. Look at the formula "
        "for b.",
        tests=POWER_SCALE,
    ),
    Fault(
        "power-scale-ignores-what-comes-in",
        family="CF02",
        cell="power_scale",
        edits={
            "(grad_y * b**power)": "(torch.ones_like(grad_y) * b**power)",
            "(grad_y * a * power": "(torch.ones_like(grad_y) * a * power",
        },
        words="Your gradients do not depend on the gradient that comes in. They are right only if the loss is the "
        "plain sum of y. Look at grad_y.",
        tests=POWER_SCALE,
    ),
    Fault(
        "power-scale-sums-the-first-axis",
        family="CF03",
        cell="power_scale",
        edits={".sum_to_size(b.shape)": ".sum(dim=0)"},
        words="Your gradients are summed in a way that does not fit every broadcasting: one comes back in a shape "
        "not its own, or with wrong values, as from a sum over the first axis alone. Look at how the axes to sum "
        "over depend on the shapes, and which axes are left.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-sums-what-lies-apart",
        family="CF03",
        cell="power_scale",
        edits={
            ".sum_to_size(a.shape)": ".reshape(-1, *a.shape).sum(0)",
            ".sum_to_size(b.shape)": ".reshape(-1, *b.shape).sum(0)",
        },
        words="Where an axis of size 1 was broadcast and another axis stands before it, as from (3, 1) to (3, 3), your "
        "gradient has the right shape, and in each entry the wrong numbers are added up. A reshape takes numbers in "
        "the order in which they lie, and does not ask which axis they belong to. Look at which axes were broadcast.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-averages",
        family="CF03",
        cell="power_scale",
        edits={".sum_to_size(b.shape)": ".sum_to_size(b.shape) * (b.numel() / grad_y.numel())"},
        words="Where b is broadcast, your gradient for it is a mean and too small. Every use of an entry of b adds to "
        "its gradient. Look at how you bring the gradient back to the shape of b.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-forgets-an-input",
        family="CF05",
        cell="power_scale",
        edits={"if ctx.needs_input_grad[1]:": "if ctx.needs_input_grad[0]:"},
        words="If b alone requires gradients, yours does not arrive. needs_input_grad has one entry for each argument "
        "of forward, in their order. Look at which entry decides about b, and at what is returned then.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-one-gradient-alone",
        family="CF05",
        cell="power_scale",
        edits={"if ctx.needs_input_grad[1]:": "elif ctx.needs_input_grad[1]:"},
        words="Where a and b both require gradients, only one of them gets its own. Look at the conditions: does the "
        "second question get asked when the first was answered with yes?",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-b-alone-of-both",
        family="CF05",
        cell="power_scale",
        edits={
            "if ctx.needs_input_grad[0]:": "if ctx.needs_input_grad[0] and not ctx.needs_input_grad[1]:",
        },
        words="Where a and b both require gradients, only b gets its own. Look at the conditions: does the second "
        "question get asked when the first was answered with yes?",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-one-alone-gets-none",
        cell="power_scale",
        edits={
            "if ctx.needs_input_grad[0]:": "if all(ctx.needs_input_grad[:2]):",
            "if ctx.needs_input_grad[1]:": "if all(ctx.needs_input_grad[:2]):",
        },
        words="Where a and b both require gradients, yours are right. Where only one of them does, its gradient does "
        "not arrive. needs_input_grad has one entry for each argument of forward, in their order. Look at "
        "which entries decide about a, and which about b.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-divides-by-a",
        family="CF01",
        cell="power_scale",
        edits={"(grad_y * b**power)": "(grad_y * (a * b**power) / a)"},
        words="Your gradient for a is not a number where a is 0. y / a, for example, is 0 / 0 there, and only b is "
        "promised to be positive. Look at the formula for a: does it need y?",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-saves-a-result",
        family="CF04",
        cell="power_scale",
        edits={
            "ctx.save_for_backward(a, b)": "ctx.save_for_backward(a, b, b**power)",
            "a, b = ctx.saved_tensors": "a, b, scale = ctx.saved_tensors",
            "(grad_y * b**power)": "(grad_y * scale)",
        },
        words="Your gradients are right, but the second derivative with respect to b is not. You saved b ** power, a "
        "result of forward, which runs without a graph: how it depends on b is lost. Look at what is saved.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-gradients-swapped",
        family="CF05",
        cell="power_scale",
        edits={"return grad_a, grad_b, None": "return grad_b, grad_a, None"},
        words="Your two gradients are swapped. The values that backward returns stand in the order of the arguments of "
        "forward. Look at your `return`.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-saved-in-another-order",
        family="CF04",
        cell="power_scale",
        edits={"a, b = ctx.saved_tensors": "b, a = ctx.saved_tensors"},
        words="Your backward pass takes a for b and b for a. Saved tensors come back in the order in which they were "
        "saved. Compare the two lines.",
        tests=POWER_SCALE,
    ),
    Fault(
        "power-scale-kept-on-ctx",
        family="CF04",
        cell="power_scale",
        edits={"ctx.save_for_backward(a, b)": "ctx.kept = a, b", "a, b = ctx.saved_tensors": "a, b = ctx.kept"},
        words="An input was changed in place after the forward pass, and your backward pass computed with the new "
        "values without a word. PyTorch notices a change only of what save_for_backward was given, not of an "
        "attribute of ctx. Look at how a and b get from forward to backward.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-second-derivative-lost",
        family="CF04",
        cell="power_scale",
        edits={"a, b = ctx.saved_tensors": "a, b = (value.detach() for value in ctx.saved_tensors)"},
        words="Your gradients are right, but their derivatives with respect to a and b are zero. What they are "
        "computed from has no way back to a and b: it was computed in forward, which runs without a graph, or "
        "detached. Look at what your backward pass starts from.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-second-derivative-lost-for-one",
        family="CF04",
        cell="power_scale",
        edits={
            "a, b = ctx.saved_tensors": "a, b = (value if all(ctx.needs_input_grad[:2]) else value.detach() "
            "for value in ctx.saved_tensors)"
        },
        words="Where a and b both require gradients, your second derivatives are right. Where b alone does, the second "
        "derivative with respect to b is zero: what the gradient is computed from has no way back to b then, because "
        "it was computed in forward, or detached. Look at what forward saves in that case.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-changes-what-comes-in",
        family="AG08",
        cell="power_scale",
        edits={"(grad_y * a * power * b ** (power - 1))": "grad_y.mul_(a * power * b ** (power - 1))"},
        words=INCOMING_CHANGED,
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-grad-y-cut-off",
        cell="power_scale",
        edits={
            "(grad_y * b**power)": "(grad_y.detach() * b**power)",
            "(grad_y * a * power": "(grad_y.detach() * a * power",
        },
        words="Your gradients can be differentiated once more with respect to a and b, but with respect to the "
        "gradient that came in the derivative is zero. Where another operation follows PowerScale, part of the second "
        "derivative comes that way. Look at what happens to grad_y before you multiply by it.",
        tests=POWER_SCALE,
        pairs=False,
    ),
    Fault(
        "power-scale-once-differentiable",
        cell="power_scale",
        edits={
            "@staticmethod\n    def backward(ctx, grad_y):": (
                "@staticmethod\n    @torch.autograd.function.once_differentiable\n    def backward(ctx, grad_y):"
            ),
        },
        raises=r"once_differentiable",
        words="The gradients that your backward pass returns cannot be differentiated again, not even with respect "
        "to the gradient that came in: autograd was kept from recording what backward does. Look at its "
        "decorators, and for no_grad and detach.",
        tests=POWER_SCALE,
        pairs=False,
    ),
]

PENALTY = [
    Fault(
        "penalty-without-gradient",
        family="AG05",
        cell="penalized_loss",
        edits={"create_graph=True": "retain_graph=True"},
        words="Your loss is right, and its gradient is that of the first term alone: the penalty is a constant for "
        "autograd, so training would ignore it and the loss curve would look fine. Either the slopes were computed "
        "without a graph of their own, or they were cut off from it. Look at how you get them and at what happens to "
        "them next.",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-graph-freed",
        family="AG07",
        cell="penalized_loss",
        edits={", create_graph=True": ""},
        words="Your code, or loss.backward() after it, goes back through one graph a second time, and the pass "
        "before has freed it. The slopes need a graph of their own if they are to be differentiated. Look at "
        "the arguments of each pass back in your function.",
        raises=r"graph a second time",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-of-the-mean",
        cell="penalized_loss",
        edits={"prediction.sum()": "prediction.mean()"},
        words="Your slopes are N times too small, and the penalty N * N times: they belong to the mean of the "
        "predictions. The slope of each single prediction is wanted. Look at the number from which you go back.",
        tests=PENALIZED,
    ),
    Fault(
        "penalty-of-the-error",
        cell="penalized_loss",
        edits={"torch.autograd.grad(prediction.sum(), x": "torch.autograd.grad(data_term, x"},
        words="Your slopes are those of the squared error, not of f. A model that fits well would then look flat. "
        "Look at what you differentiate with respect to x.",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-root-of-zero",
        cell="penalized_loss",
        # Before the length that is not squared: where all slopes are 0, that gives the same.
        edits={"(slopes**2).sum(dim=1).mean()": "((slopes**2).sum(dim=1).sqrt() ** 2).mean()"},
        words="Your loss is right. Its gradient is nan where all slopes of a row are 0, as in a network whose weights "
        "start at 0. Something between the slopes and the penalty has no finite slope at 0, as a root has none, and a "
        "square after it does not help: 0 times inf is nan. Look at how the slopes become the penalty.",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-not-squared",
        cell="penalized_loss",
        edits={"(slopes**2).sum(dim=1).mean()": "(slopes**2).sum(dim=1).sqrt().mean()"},
        words="Your penalty is the mean length of the slopes. The exercise asks for the squared length. Look at the "
        "equation.",
        tests=PENALIZED,
    ),
    Fault(
        "penalty-halved",
        cell="penalized_loss",
        edits={"strength * penalty": "strength * penalty / 2"},
        words="Your penalty is half of what the equation says. The factor 1/2 is a habit of textbooks; the exercise "
        "has none. Look at the factors in front of the double sum.",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-summed-over-rows",
        cell="penalized_loss",
        edits={"(slopes**2).sum(dim=1).mean()": "(slopes**2).sum()"},
        words="Your penalty is summed over the rows: it is N times too large, and grows with the batch while the first "
        "term does not. Look at the factor in front of the double sum.",
        tests=PENALIZED,
    ),
    Fault(
        "penalty-averaged-over-columns",
        cell="penalized_loss",
        edits={"(slopes**2).sum(dim=1).mean()": "(slopes**2).mean()"},
        words="Your penalty is averaged over the columns too: it is D times too small. Look at the factor in front of "
        "the double sum.",
        tests=PENALIZED,
    ),
    Fault(
        "penalty-averaged-over-the-other-axis",
        cell="penalized_loss",
        edits={
            "(slopes**2).sum(dim=1).mean()": "(slopes**2).sum(dim=0).mean()",
        },
        words="Your penalty is summed over the rows and averaged over the columns. It is the other way round: a row "
        "has one squared length, the sum over its columns, and the mean is over the rows. Look at the axis of "
        "your sum.",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-square-of-the-sum",
        cell="penalized_loss",
        edits={"(slopes**2).sum(dim=1)": "(slopes.sum(dim=1) ** 2)"},
        words="You add up the slopes of a row before squaring, so that slopes of opposite sign cancel and a steep "
        "model looks flat. Look at the order of the square and the sum.",
        tests=PENALIZED,
    ),
    Fault(
        "penalty-error-summed",
        cell="penalized_loss",
        edits={"((prediction - t) ** 2).mean()": "((prediction - t) ** 2).sum()"},
        words="The first term of your loss is a sum over the rows. It should be their mean, as in the equation. Look "
        "at how you bring the squared errors to one number.",
        tests=PENALIZED,
    ),
    Fault(
        "penalty-error-without-gradient",
        cell="penalized_loss",
        edits={
            "((prediction - t) ** 2).mean()": "((prediction.detach() - t) ** 2).mean()",
        },
        words="Your loss is right, and its gradient is that of the penalty alone: the first term is a constant for "
        "autograd. detach(), item() and no_grad cut the way back. Look at what the first term is computed "
        "from.",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-strength-ignored",
        cell="penalized_loss",
        edits={"strength * penalty": "penalty"},
        words="Your loss does not depend on strength. Look at your last line.",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-marks-x",
        family="AG09",
        cell="penalized_loss",
        edits={"x = x.detach().requires_grad_()": "x = x.requires_grad_()"},
        words="Your loss is right, but the caller's x requires gradients afterwards: `requires_grad_()` changes the "
        "tensor that it is called on. All that is computed with x from then on is recorded. Look at which tensor you "
        "mark.",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-leaves-gradients",
        family="AG01",
        cell="penalized_loss",
        edits={
            "(slopes,) = torch.autograd.grad(prediction.sum(), x, create_graph=True)": (
                "prediction.sum().backward(create_graph=True)\n    slopes = x.grad"
            )
        },
        words="Your loss is right, but the parameters of f have something in `.grad` before the caller has called "
        "backward(): the first pass back went into every leaf. The training step would add both. Look for a way to "
        "ask for the slopes alone.",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-clears-gradients",
        family="AG01",
        cell="penalized_loss",
        # Named by the check: what was cleared may be None or zeros.
        words="Your loss is right, but what the parameters of f had in `.grad` before the call is gone. Whoever "
        "collects the gradients of several losses loses those before yours. When they are cleared is the caller's "
        "business. Look for what clears or replaces a `.grad`.",
        tests=PENALIZED,
    ),
    Fault(
        "penalty-x-not-tracked",
        family="AG09",
        cell="penalized_loss",
        edits={"x = x.detach().requires_grad_()": "x = x.detach()"},
        words="You ask for the slope with respect to a tensor that autograd does not watch or that f has not seen. "
        "It records only what is computed from tensors that require gradients. Look at the tensor that you "
        "pass to f, and at the one that you differentiate with respect to.",
        raises=r"One of the differentiated Tensors does not require grad|appears to not have been used",
        tests=PENALIZED,
        pairs=False,
    ),
    Fault(
        "penalty-loss-without-graph",
        family="AG05",
        cell="penalized_loss",
        edits={"return data_term + strength * penalty": "return (data_term + strength * penalty).item()"},
        words="What you return has no graph: nobody can call backward() on it. item(), float() and detach() cut the "
        "way back. Look at your `return`.",
        raises=r"'\w*float\d*' object has no attribute 'backward'|element 0 of tensors does not require grad",
        tests=PENALIZED,
        pairs=False,
    ),
]

LOSS_LINE = "loss = ((prediction - t[batch]) ** 2).mean()"
UPDATE = "value -= learning_rate * value.grad"
COPIES = "{name: value.detach().clone().requires_grad_() for name, value in params.items()}"

TRAINING = [
    Fault(
        "train-gradients-pile-up",
        family="AG01",
        cell="train",
        edits={"        for value in params.values():\n            value.grad = None\n": ""},
        words="Each step uses the sum of all gradients so far: the first step is right and every later one is not. "
        "backward() adds to what is in `.grad`. Look at where your gradients are set back.",
        tests=TRAIN,
    ),
    Fault(
        "train-nothing-moves",
        family="AG02",
        cell="train",
        edits={UPDATE: "value = value - learning_rate * value.grad"},
        words="The parameters end where they started. Perhaps the new value goes into a variable of the loop and not "
        "into the parameter; perhaps the gradients are set to zero between backward() and the step. Print one "
        "parameter and its gradient right before and after the step.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-step-recorded",
        family="AG03",
        cell="train",
        edits={"with torch.no_grad():": "if True:"},
        words="Your code changes a leaf that requires gradients, in place and while autograd was recording: it would "
        "have to treat the step as a part of the network. Look at how PyTorch is told that something is not to "
        "be recorded.",
        raises=r"leaf Variable that requires grad",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-gradient-is-none",
        family="AG04",
        cell="train",
        raises=r"operand type\(s\) for .*'NoneType'|'NoneType' object has no attribute '(zero_|data|clone|detach|mul)"
        r"|must be Tensor, not NoneType",
        words="`.grad` of a parameter is None where your step uses it. Only leaves receive a gradient: after "
        "`W = W - ...` W is the result of an operation, and from the second step on there is none. Or the loss has no "
        "way back to that parameter. Print is_leaf and grad of each parameter in the second step.",
        tests=TRAIN,
    ),
    Fault(
        "train-rebound-without-gradients",
        family="AG04",
        cell="train",
        edits={
            "            for value in params.values():\n                " + UPDATE: (
                "            for name, value in params.items():\n"
                "                params[name] = value - learning_rate * value.grad"
            )
        },
        words="After your step the parameters do not require gradients: under no_grad, `W - ...` is a plain new "
        "tensor. The next backward() has nothing to go back to. Look at what your step puts into the dict.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-parameters-are-no-leaves",
        family="AG04",
        cell="train",
        edits={
            "        loss.backward()\n        with torch.no_grad():\n"
            "            for value in params.values():\n                " + UPDATE: (
                "        grads = torch.autograd.grad(loss, list(params.values()))\n"
                "        for (name, value), grad in zip(list(params.items()), grads):\n"
                "            params[name] = value - learning_rate * grad"
            ),
            "            value.grad = None\n": "            pass\n",
        },
        words="The values are right, but the parameters that you return are no leaves: they are results of "
        "operations that autograd has recorded. A step that it watches makes such a result, and so does "
        "clone() of a tensor that requires gradients. Their `.grad` would stay None, and what they were "
        "computed from stays in memory. Look at how your parameters come about and at how your step is made.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-results-do-not-require-gradients",
        cell="train",
        edits={
            "return params, losses": "return {name: value.detach() for name, value in params.items()}, losses",
        },
        words="The values are right, but the parameters that you return do not require gradients: more training with "
        "them would fail. Look at what happens to them after the last step.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-losses-keep-the-graph",
        family="AG06",
        cell="train",
        edits={"losses.append(loss.item())": "losses.append(loss)"},
        words="Your losses are right, but they are tensors with their graphs. As long as the list lives, so do all "
        "hidden values of every step: this is how training runs out of memory after an hour. Look at what you append.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-backward-twice",
        family="AG07",
        cell="train",
        edits={"        loss.backward()\n": "        loss.backward()\n        loss.backward()\n"},
        words="Your code goes back through one graph a second time. After the first time its saved values are gone. "
        "One pass gives the gradients of all parameters. Look at how often backward() runs in one step.",
        raises=r"graph a second time",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-gradient-doubled",
        family="AG07",
        cell="train",
        edits={"        loss.backward()\n": "        loss.backward(retain_graph=True)\n        loss.backward()\n"},
        words="Every step is twice as long as it should be. If backward() runs twice for one batch, which "
        "retain_graph=True allows, the gradient is in `.grad` twice; a factor 2 in the step or the loss does "
        "the same. Look at how often backward() runs in one step.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-first-layer-cut-off",
        family="AG05",
        cell="train",
        edits={
            '(hidden @ params["W2"]': '(hidden.detach() @ params["W2"]',
            UPDATE: "value -= learning_rate * (0 if value.grad is None else value.grad)",
        },
        words="W1 and b1 never move. Either your step does not reach them, or the way back ends at the hidden values: "
        "detach(), .data, NumPy and torch.tensor(...) cut it. The second layer learns on its own, so the loss falls "
        "all the same. Look at the gradient of W1.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-loss-cut-off",
        family="AG05",
        cell="train",
        edits={LOSS_LINE: "loss = torch.tensor(((prediction - t[batch]) ** 2).mean().item())"},
        words="Your loss has no graph: backward() has nothing to go back through. torch.tensor(...), item() and "
        "detach() make a value without a past, and what was computed under no_grad never had one. Look at how the "
        "loss comes about.",
        raises=r"element 0 of tensors does not require grad",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-targets-broadcast",
        family="AG10",
        cell="train",
        edits={".squeeze(dim=1)": ""},
        words="Your difference has shape (N, N): predictions of shape (N, 1) minus targets of shape (N,). Every "
        "prediction is compared with every target, and the network learns the mean of the targets. A batch of one row "
        "does not show it. Look at the two shapes.",
        tests=TRAIN,
    ),
    Fault(
        "train-loss-summed",
        cell="train",
        edits={LOSS_LINE: LOSS_LINE.replace("mean", "sum")},
        words="Your loss is a sum over the rows of the batch, so that a large batch makes a longer step. The exercise "
        "asks for the mean. Look at how you bring the squared differences to one number.",
        tests=TRAIN,
    ),
    Fault(
        "train-loss-halved",
        cell="train",
        edits={LOSS_LINE: LOSS_LINE + " / 2"},
        words="Your loss is half of the mean squared difference, and so are your steps. The factor 1/2 is a habit of "
        "textbooks; the exercise has none. Look at the line of the loss.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-step-divided-by-batch-size",
        cell="train",
        edits={
            "learning_rate * value.grad": "learning_rate * value.grad / len(batch)",
        },
        words="Your steps are divided by the number of rows in the batch. The loss is a mean, so its gradients hold "
        "that factor already. Look for a division in the step.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-loss-divided-by-the-first-batch",
        cell="train",
        edits={LOSS_LINE: LOSS_LINE.replace("mean()", "sum() / len(batches[0])")},
        words="The first loss and its step are right, and so are later ones whose batch has as many rows as the first. "
        "The loss of another batch is divided by the number of rows of the first one, so it is too small or too large, "
        "and its step too. Batches may differ in size. Look at where the number of rows comes from.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-loss-divided-by-all-rows",
        cell="train",
        edits={LOSS_LINE: LOSS_LINE.replace("mean()", "sum() / len(x)")},
        words="Your losses and steps are too small: the loss of a batch is divided by the number of all rows of x. It "
        "is the mean over the batch's own rows, however many others there are. Look at where the number of rows comes "
        "from.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-restart-at-every-batch",
        cell="train",
        edits={
            "    for batch in batches:": "    start = params\n    for batch in batches:\n        params = "
            + COPIES.replace("params", "start")
        },
        words="Every step starts from the parameters that you were given, so only the last one has an effect. A step "
        "starts where the step before it ended. Look at what is copied or reset inside the loop.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-tanh-missing",
        cell="train",
        edits={
            'torch.tanh(x[batch] @ params["W1"] + params["b1"])': '(x[batch] @ params["W1"] + params["b1"])',
        },
        words="Your network has no tanh. Two matrix products in a row are one, so such a network is no more than a "
        "straight line. Look at the line that makes the hidden values.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-relu-for-tanh",
        cell="train",
        edits={
            "torch.tanh(": "torch.relu(",
        },
        words="Your hidden layer uses ReLU. The exercise asks for tanh. Look at the line that makes the hidden values.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-bias-after-tanh",
        cell="train",
        edits={
            'torch.tanh(x[batch] @ params["W1"] + params["b1"])': 'torch.tanh(x[batch] @ params["W1"]) + params["b1"]',
        },
        words="You add b1 after tanh. The bias shifts the point around which a hidden unit bends; after tanh it only "
        "adds a constant. Look at the brackets of the first layer.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-tanh-on-the-prediction",
        cell="train",
        edits={
            ".squeeze(dim=1)": ".squeeze(dim=1).tanh()",
        },
        words="Your predictions pass through tanh too, so they stay between -1 and 1. There is none after the second "
        "layer. Look at the line of the prediction.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-uphill",
        cell="train",
        edits={"value -= learning_rate": "value += learning_rate"},
        words="Your steps go along the gradient, not against it: the loss rises. Look at the sign of the step.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-learning-rate-missing",
        cell="train",
        edits={"learning_rate * value.grad": "value.grad"},
        words="Your steps are the gradients themselves: the learning rate has no effect. Look at the step.",
        tests=TRAIN,
    ),
    Fault(
        "train-biases-not-updated",
        cell="train",
        edits={UPDATE: "value -= learning_rate * value.grad * (value.shape != (1,) and value.ndim > 1)"},
        words="b1 and b2 never move. The loss falls all the same, only not as far. Look at which parameters your step "
        "reaches.",
        tests=TRAIN,
    ),
    Fault(
        "train-given-params-changed",
        cell="train",
        edits={"value.detach().clone().requires_grad_()": "value.detach().requires_grad_()"},
        words="The result is right, but the tensors that you were given have changed: whoever wants to train again "
        "from the same start cannot. detach() gives a new tensor that shares its numbers with the old one, and a new "
        "dict holds the same tensors. Look at what your step writes into.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-given-params-used",
        family="AG09",
        cell="train",
        edits={f"params = {COPIES}": "for value in params.values():\n        value.requires_grad_()"},
        words="You train the very tensors that you were given: their values, requires_grad and `.grad` are different "
        "afterwards. Whoever wants to train again from the same start cannot. Look at the lines before the loop.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-old-gradient-used",
        family="AG01",
        cell="train",
        edits={
            f"params = {COPIES}": "import copy\n\n"
            "    params = {name: copy.deepcopy(value).requires_grad_() for name, value in params.items()}",
            "        for value in params.values():\n            value.grad = None\n": "",
            "        losses.append(loss.item())": "        for value in params.values():\n"
            "            value.grad = None\n"
            "        losses.append(loss.item())",
        },
        words="The first step uses a gradient that was in `.grad` before your function was called. A deep copy, for "
        "example, copies it too. Look at when gradients are set back for the first time.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-losses-after-the-step",
        cell="train",
        edits={
            "losses.append(loss.item())": 'hidden = torch.tanh(x[batch] @ params["W1"] + params["b1"])\n'
            '        prediction = (hidden @ params["W2"] + params["b2"]).squeeze(1)\n'
            "        losses.append(((prediction - t[batch]) ** 2).mean().item())",
        },
        words="Your losses are those after each step. The exercise asks for the loss before the step, which is the one "
        "that the gradient belongs to. Look at where the value is computed that you store.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-only-last-loss",
        cell="train",
        edits={"losses.append(loss.item())": "losses = [loss.item()]"},
        words="losses holds one number, the loss of the last batch. It should hold one for each batch, in order. Look "
        "at how you store the loss inside the loop.",
        tests=TRAIN,
    ),
    Fault(
        "train-losses-are-running-sums",
        cell="train",
        edits={
            "losses.append(loss.item())": "losses.append(loss.item() + sum(losses[-1:]))",
        },
        words="The first of your losses is right; each later one is the sum of all losses so far. The exercise asks "
        "for the loss of each batch alone. Look at the variable that you append.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-losses-are-running-means",
        cell="train",
        edits={
            "losses = []": "losses, seen = [], []",
            "losses.append(loss.item())": ("seen.append(loss.item())\n        losses.append(sum(seen) / len(seen))"),
        },
        words="The first of your losses is right; each later one is the mean of all losses so far. The exercise asks "
        "for the loss of each batch alone. Look at the variable that you append.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-targets-not-batched",
        cell="train",
        edits={LOSS_LINE: "loss = ((prediction - t[: len(batch)]) ** 2).mean()"},
        words="The rows of x are those of the batch, the targets are the first ones of all. So the network learns "
        "targets that belong to other rows. Look at how you pick the targets of a batch.",
        tests=TRAIN,
    ),
    Fault(
        "train-rows-counted-once",
        cell="train",
        edits={"for batch in batches:": "for batch in map(torch.unique, batches):"},
        words="A row that stands in a batch twice counts once in your losses and steps. It is in the batch twice, so "
        "it counts twice in the mean. A mask or a set knows which rows are meant, and not how often. Look at how you "
        "pick the rows of a batch.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-batches-ignored",
        cell="train",
        edits={"x[batch]": "x", "t[batch]": "t"},
        words="Every step uses all rows, whatever the batch says. Look at which rows the network sees.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "train-only-first-batch",
        cell="train",
        edits={"for batch in batches:": "for batch in batches[:1]:"},
        words="Only the first batch has an effect. Each batch is one step. Look at where your loop ends: is the "
        "`return` inside it?",
        tests=TRAIN,
        pairs=False,
    ),
]

FAULTS = [*MANUAL, *WITHOUT_TRACES, *PRODUCTS, *OWN_OPERATION, *TWO_INPUTS, *PENALTY, *TRAINING]

INDISTINGUISHABLE = [
    (
        "new value bound to the loop's variable",
        "gradients set to zero between backward() and the step",
        "train-nothing-moves: the parameters stay, and a `.grad` on the way is nobody's business",
    ),
    (
        "slopes without create_graph but with retain_graph",
        "penalty detached",
        "penalty-without-gradient: the same value, the same gradient",
    ),
    (
        "slope computed in forward and saved",
        "saved tensors detached in backward",
        "squareplus-second-derivative-lost, power-scale-second-derivative-lost: first derivatives right, second zero",
    ),
    (
        "W = W - lr * W.grad outside no_grad",
        "loss without a way back to a parameter",
        "train-gradient-is-none: the step meets None, and the text of the exception does not say why",
    ),
    (
        "hidden values detached, parameters without gradient skipped",
        "only the second layer updated",
        "train-first-layer-cut-off: the first layer stays",
    ),
]
"""pairs of mistakes that no call of the exercise's function can tell apart; one id names both"""
