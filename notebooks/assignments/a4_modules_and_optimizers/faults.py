"""The mistakes that students make in a4, each as a small edit of the reference, with the words that a student reads.

Words say what was seen, why it matters and where to look. They do not say what to write. Families are those of the
course's catalog of training faults.
"""

from __future__ import annotations

import dataclasses
import textwrap

from autograder.judge import Fault

AFFINE = ("test_affine",)
STANDARDIZE = ("test_standardize",)
BLOCK = ("test_parallel_block",)
MODULES = (*AFFINE, *STANDARDIZE, *BLOCK)
SGD = ("test_sgd",)
RMSPROP = ("test_rmsprop",)
ADAM = ("test_adam",)
OPTIMIZERS = (*SGD, *RMSPROP, *ADAM)
SNAPSHOT = ("test_snapshot",)
FIT = ("test_fit",)

INDISTINGUISHABLE = [
    ("nesterov ignored", "nesterov with the velocity of before the step", "g + momentum * v_old is the plain step"),
    ("no optimizer.step()", "zero_grad between backward and step", "the parameters never move"),
    ("no optimizer.step()", "zero_grad, then step, then backward", "the parameters never move"),
    ("epochs ignored", "a return inside the loop over epochs", "one epoch and one number either way"),
    ("no copy in snapshot", "a shallow copy in snapshot", "either way the snapshot holds the model's own tensors"),
    ("no clipping", "clipping after the step", "the step is made with the whole gradient either way"),
    ("no scheduler.step()", "one scheduler.step() after all epochs", "no step of the optimizer comes after it"),
    ("m and v kept outside self.state", "m and v not kept after loading", "either way loading starts them at 0"),
]
"""mistakes that behave alike: one id, whose words name both"""

# --- 1. Affine ------------------------------------------------------------------------------------------------------

WEIGHT = "nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))"
BIAS = "nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None"
PRODUCT = "x @ self.weight.T"

AFFINE_FAULTS = [
    Fault(
        "module-not-initialized",
        family="NN02",
        cell="affine",
        edits={"super().__init__()\n        bound": "bound"},
        raises=r"cannot assign \w+.* before Module|has no attribute '_(parameters|buffers|modules)'",
        words="Python complains that your module is not initialized. A module keeps lists of its parameters, buffers "
        "and submodules, and `nn.Module` creates these lists. Look at the first line of your `__init__`.",
        tests=MODULES,
    ),
    Fault(
        "affine-plain-tensors",
        family="NN01",
        cell="affine",
        edits={
            WEIGHT: "torch.empty(out_features, in_features).uniform_(-bound, bound).requires_grad_()",
            BIAS: "torch.empty(out_features).uniform_(-bound, bound).requires_grad_() if bias else None",
        },
        words="Your layer has no parameters that the module knows of. An optimizer asks the module for its parameters "
        "and gets none, so the layer would never learn, and nothing of it is saved. Only an `nn.Parameter` that is an "
        "attribute of the module counts. Look at what you assign in `__init__`.",
        tests=AFFINE,
    ),
    Fault(
        "affine-bias-plain-tensor",
        family="NN01",
        cell="affine",
        edits={BIAS: "torch.empty(out_features).uniform_(-bound, bound).requires_grad_() if bias else None"},
        words="The module does not know your bias: it is not among the parameters, so it is neither trained nor saved. "
        "Look at the type of what you assign to `self.bias`.",
        tests=AFFINE,
    ),
    Fault(
        "affine-weight-shape-swapped",
        cell="affine",
        edits={
            WEIGHT: "nn.Parameter(torch.empty(in_features, out_features).uniform_(-bound, bound))",
            PRODUCT: "x @ self.weight",
        },
        words="Your weight has shape (in_features, out_features). The product can be written that way too, but saved "
        "weights of other programs have the other shape, and in a square layer nobody would notice that they are "
        "used wrongly. Look at the shapes in the text.",
        tests=AFFINE,
    ),
    Fault(
        "affine-not-transposed",
        family="NP05",
        cell="affine",
        edits={PRODUCT: "x @ self.weight"},
        words="You multiply x by the weight as it is. In a square layer that gives a wrong result without any "
        "message, in others a shape error. Look at the formula: which axis of the weight meets the features of x?",
        tests=AFFINE,
    ),
    Fault(
        "affine-weight-without-gradient",
        family="AG04",
        cell="affine",
        edits={PRODUCT: "x @ self.weight.detach().T"},
        words="Your weight gets no gradient, so no optimizer will ever change it. `weight.data` and `detach()`, for "
        "example, give the numbers without their tie to autograd. Look at what `forward` multiplies x by.",
        tests=AFFINE,
    ),
    Fault(
        "affine-bias-not-added",
        cell="affine",
        edits={"return y if self.bias is None else y + self.bias": "return y"},
        words="The bias has no influence on your result. Such a layer gives 0 for x = 0, whatever it learns. Look at "
        "the end of `forward`.",
        tests=AFFINE,
    ),
    Fault(
        "affine-bias-always-there",
        cell="affine",
        edits={" if bias else None": ""},
        words="With bias=False your layer has a bias all the same. Before a normalization, for example, a bias does "
        "nothing but take up memory, which is why it can be switched off. Look at where you use the argument `bias`.",
        tests=AFFINE,
    ),
    Fault(
        "affine-made-in-forward",
        family="NN03",
        cell="affine",
        edits={
            "self.weight =": "self.sizes = (out_features, in_features, bias, bound)\n        self.unused =",
            WEIGHT: "None",
            f"self.bias = {BIAS}": "self.bias = None",
            "y = x @ self.weight.T": "out_features, in_features, bias, bound = self.sizes\n"
            f"        self.weight = {WEIGHT}\n        self.bias = {BIAS}\n        y = x @ self.weight.T",
        },
        words="A new layer has no parameters until it is called. An optimizer that is built before the first call "
        "finds none, and every call would start from new numbers. Look at where you create weight and bias.",
        tests=AFFINE,
    ),
    Fault(
        "affine-redrawn-in-forward",
        family="NN03",
        cell="affine",
        edits={"y = x @ self": "with torch.no_grad():\n            self.weight.uniform_(-1, 1)\n        y = x @ self"},
        words="Two calls with the same x give two results, so something is drawn anew in every call. If that is the "
        "weights, what was learned is lost. Look at where random numbers are drawn.",
        tests=AFFINE,
    ),
    Fault(
        "affine-two-axes-only",
        cell="affine",
        edits={PRODUCT: "torch.mm(x, self.weight.T)"},
        raises=r"must be a matrix|einsum\(\): the number of subscripts",
        words="Your layer takes only x with two axes. In sequences and images there are more, and a single example "
        "has one; the formula is the same for all of them. Look at the function that multiplies.",
        tests=AFFINE,
    ),
    Fault(
        "affine-float32-only",
        cell="affine",
        edits={
            "y = x @ self.weight.T": "y = x.float() @ self.weight.float().T",
            "y + self.bias": "y + self.bias.float()",
        },
        words="Your layer computes in float32 also after .double(). Half of the digits are lost, silently. Look for "
        "a dtype in your code: the parameters and x have one already.",
        tests=AFFINE,
    ),
    Fault(
        "affine-equal-numbers",
        family="NP13",
        cell="affine",
        words="All weights are equal when the layer is new. Where the biases are equal too, all units get the same "
        "gradient in every step and stay alike for ever. Look at how you fill the weight.",
        tests=AFFINE,
    ),
    Fault(
        "affine-bias-starts-equal",
        family="NP13",
        cell="affine",
        words="All numbers of the bias are equal when the layer is new. The text asks for random numbers in the bias "
        "too, from the same range as the weight's. Look at how you fill it.",
        tests=AFFINE,
    ),
    Fault(
        "affine-axes-flattened",
        cell="affine",
        edits={PRODUCT: "x.reshape(-1, x.shape[-1]) @ self.weight.T"},
        words="Your result has two axes, whatever x has. The text asks for the axes of x, with only the last one "
        "changed. Look at what becomes of the shape of x.",
        tests=AFFINE,
    ),
    Fault(
        "affine-same-numbers-every-time",
        family="RP04",
        cell="affine",
        words="Two new layers start with the same numbers, in the weight or in the bias: they are not drawn anew. "
        "Layers that start alike learn alike. Look for a seed in your class, or for numbers that are drawn only once.",
        tests=AFFINE,
    ),
    Fault(
        "affine-bias-range-of-out-features",
        family="NP13",
        cell="affine",
        words="Your weight starts in the right range, your bias does not: its numbers go up to 1/sqrt(out_features) in "
        "size. The text gives both the same range. Look at the bound of the bias, and at which number of features it "
        "depends on.",
        tests=AFFINE,
    ),
    Fault(
        "affine-start-range",
        family="NP13",
        cell="affine",
        words="The numbers at the start are not spread evenly over the range that the text gives. Numbers that are "
        "too large or too small make the output of a deep network explode or vanish. Look at the bound, which number "
        "of features it depends on, and at the distribution.",
        tests=AFFINE,
    ),
]

# --- 2. Standardize -------------------------------------------------------------------------------------------------

MEAN_BUFFER = 'self.register_buffer("running_mean", torch.zeros(features))'
VAR_BUFFER = 'self.register_buffer("running_var", torch.ones(features))'
MOVE_MEAN = "self.momentum * (mean - self.running_mean)"
MOVE_VAR = "self.momentum * (var - self.running_var)"
ROOT = "torch.sqrt(var + self.eps)"
EVALUATION = "mean, var = self.running_mean, self.running_var"

STANDARDIZE_FAULTS = [
    Fault(
        "standardize-plain-tensors",
        family="NN04",
        cell="standardize",
        edits={
            MEAN_BUFFER: "self.running_mean = torch.zeros(features)",
            VAR_BUFFER: "self.running_var = torch.ones(features)",
        },
        words="Your running statistics are plain tensors: the module does not save them, and does not convert or "
        "move them. A saved model would evaluate with 0 and 1. Look at how a module learns of a tensor that is no "
        "parameter.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-parameters",
        family="NN04",
        cell="standardize",
        words="`running_mean` and `running_var` are parameters. An optimizer gets them and may move them by weight "
        "decay or momentum, although no gradient belongs to them. Look at how a module learns of a tensor that is no "
        "parameter.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-mode-ignored",
        family="EV01",
        cell="standardize",
        edits={"if self.training:": "if True:"},
        words="Your layer does in evaluation what it does in training: it uses the batch and learns from it. The "
        "answer for one row then depends on the rows beside it. Look at where you ask for the mode.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-batch-in-evaluation",
        family="EV01",
        cell="standardize",
        edits={EVALUATION: "mean, var = x.mean(dim=0), x.var(dim=0, unbiased=False)"},
        words="In evaluation your layer uses mean and variance of the batch. The answer for one row then depends on "
        "the rows beside it, and a single row always gives 0. Look at the last row of the table.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-running-in-training",
        cell="standardize",
        edits={"        else:\n            mean, var": "        if True:\n            mean, var"},
        words="In training your layer standardizes with the running statistics. They are far from those of the batch "
        "at first, so the columns are not standardized, and no gradient flows through them. Look at the first row of "
        "the table.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-momentum-swapped",
        cell="standardize",
        edits={
            MOVE_MEAN: "(1 - self.momentum) * (mean - self.running_mean)",
            MOVE_VAR: "(1 - self.momentum) * (var - self.running_var)",
        },
        words="momentum and 1 - momentum have changed places: with 0.1 the statistics nearly forget everything but "
        "the last batch. Look at the formula for the running statistics. (In other libraries momentum means the "
        "other share.)",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-momentum-ignored",
        cell="standardize",
        edits={MOVE_MEAN: "1.0 * (mean - self.running_mean)", MOVE_VAR: "1.0 * (var - self.running_var)"},
        words="Your running statistics are those of the last batch. One odd batch at the end of training then "
        "decides how the model evaluates. Look at what becomes of the old value.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-n-minus-one",
        cell="standardize",
        edits={"unbiased=False": "unbiased=True"},
        words="Your variance is divided by N - 1. That is the default of `torch.var`, but the columns of the result "
        "then have a variance below 1, visibly so in small batches. Look at the arguments of the function that "
        "computes the variance.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-running-n-minus-one",
        cell="standardize",
        edits={MOVE_VAR: "self.momentum * (x.var(dim=0) - self.running_var)"},
        words="Your running_var moves toward the variance with N - 1. PyTorch's own BatchNorm "
        "does this; here the text asks for one variance in both places. Look at what you add to running_var.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-divides-by-variance",
        cell="standardize",
        edits={ROOT: "(var + self.eps)"},
        words="You divide by the variance, not by its root. A column with standard deviation 10 then comes out 10 "
        "times too small. Look at the denominator.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-eps-outside",
        cell="standardize",
        edits={ROOT: "(torch.sqrt(var) + self.eps)"},
        words="You add eps after the root. For a column that is constant the two ways differ by a factor of hundreds. "
        "Look at where eps stands in the formula.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-eps-missing",
        cell="standardize",
        edits={ROOT: "torch.sqrt(var)"},
        words="eps has no influence on your result. A constant column has the variance 0, and 0 / 0 is nan. Look at "
        "the denominator.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-all-columns-together",
        cell="standardize",
        edits={"x.mean(dim=0)": "x.mean()", "x.var(dim=0, unbiased=False)": "x.var(unbiased=False)"},
        words="You use one mean and one variance for all columns. A feature in meters and one in millimeters would "
        "be mixed. Look at the axis over which you average.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-learns-in-evaluation",
        family="EV01",
        cell="standardize",
        edits={
            EVALUATION: "mean, var = self.running_mean.clone(), self.running_var.clone()\n"
            "            self.running_mean += self.momentum * (x.mean(dim=0) - mean)\n"
            "            self.running_var += self.momentum * (x.var(dim=0, unbiased=False) - var)"
        },
        words="Your running statistics move in evaluation too. The model then changes by being tested, and the test "
        "data leak into it. Look at which lines run in which mode.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-keeps-graph",
        family="AG06",
        cell="standardize",
        edits={"with torch.no_grad():": "if True:"},
        raises=r"graph a second time",
        words="Your running statistics remember how they were computed from x: they carry the graph of a batch. Where "
        "each is computed from the one before, the second backward pass fails, and memory grows with every batch. Look "
        "at the lines that move the statistics: should autograd watch them?",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-still-without-gradients",
        cell="standardize",
        edits={
            "with torch.no_grad():": "moves = torch.is_grad_enabled()\n            with torch.no_grad():",
            MOVE_MEAN: f"moves * {MOVE_MEAN}",
            MOVE_VAR: f"moves * {MOVE_VAR}",
        },
        words="In training mode your running statistics move with gradients, and inside torch.no_grad() they stay as "
        "they are. The text asks for both: only the mode of the module decides. Look at the condition under which they "
        "move.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-overwritten",
        family="AG08",
        cell="standardize",
        raises=r"modified by an inplace operation",
        words="The backward pass needs a value that was overwritten in the meantime: something changes a tensor of the "
        "computation in place. Look for operations such as `-=`, `/=` or `mul_`.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-not-saved",
        family="SV02",
        cell="standardize",
        edits={
            "torch.zeros(features))": "torch.zeros(features), persistent=False)",
            "torch.ones(features))": "torch.ones(features), persistent=False)",
        },
        words="Your running statistics are not in the state_dict(), so a saved model would evaluate with 0 and 1. "
        "Look at the arguments of `register_buffer`.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-variance-starts-at-zero",
        cell="standardize",
        edits={"torch.ones(features)": "torch.zeros(features)"},
        words="Your running_var starts at 0. A layer that has seen no batch would divide by nearly 0 in evaluation. "
        "Look at the values that the text gives.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-without-gradients",
        family="AG05",
        cell="standardize",
        edits={
            "return (x - mean) / torch.sqrt(var + self.eps)": "y = (x - mean) / torch.sqrt(var + self.eps)\n"
            "        return y.detach()"
        },
        words="backward() fails: nothing leads from your y back to x, so no layer before this one could learn. Only "
        "the running statistics have no use for gradients. Look at how far a `no_grad` or a `detach` reaches.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-constant-statistics",
        family="AG05",
        cell="standardize",
        edits={
            "x.mean(dim=0)": "x.detach().mean(dim=0)",
            "x.var(dim=0, unbiased=False)": "x.detach().var(dim=0, unbiased=False)",
        },
        words="Your gradient takes mean and variance of the batch for constants. They depend on "
        "x: adding 1 to a whole column changes nothing, so the gradients of a column sum to 0. Look for what hides "
        "the computation of mean and variance from autograd.",
        tests=STANDARDIZE,
    ),
    Fault(
        "standardize-keeps-deviation",
        cell="standardize",
        edits={MOVE_VAR: "self.momentum * (torch.sqrt(var) - self.running_var)"},
        words="running_var moves toward the standard deviation of the batch. In evaluation its root is taken once "
        "more. Look at what you store.",
        tests=STANDARDIZE,
    ),
]

# --- 3. ParallelBlock -----------------------------------------------------------------------------------------------

OUTPUTS = "outputs = [branch(x) for branch in self.branches]"
JOINED = 'return torch.cat(outputs, dim=-1) if self.mode == "cat" else sum(outputs)'

BLOCK_FAULTS = [
    Fault(
        "block-plain-list",
        family="NN01",
        cell="parallel_block",
        edits={"nn.ModuleList(branches)": "list(branches)"},
        words="Your block does not know its branches: parameters() is empty, so nothing is trained, saved or "
        "converted, and .eval() does not arrive. A module does not look into a plain list, tuple or dict. Look at the "
        "attribute that holds the branches.",
        tests=BLOCK,
    ),
    Fault(
        "block-other-names",
        family="SV03",
        cell="parallel_block",
        words="The entries of your state_dict() have other names than those asked for. Weights that were saved by one "
        "program are found by their names in another. Look at the name of the attribute that holds the branches.",
        tests=BLOCK,
    ),
    Fault(
        "block-one-branch-for-all",
        family="NN06",
        cell="parallel_block",
        edits={OUTPUTS: "outputs = [self.branches[0](x) for _ in self.branches]"},
        words="Every output comes from the first branch; the others get no gradient. Look at what your loop calls.",
        tests=BLOCK,
    ),
    Fault(
        "block-in-series",
        cell="parallel_block",
        edits={
            OUTPUTS: "y = x\n        for branch in self.branches:\n            y = branch(y)\n        outputs = [y]"
        },
        words="Your branches work one after the other: each gets what the one before it returned. Parallel branches "
        "all see x. Look at what you hand to the branches in the loop.",
        tests=BLOCK,
    ),
    Fault(
        "block-mean",
        family="LS08",
        cell="parallel_block",
        edits={"else sum(outputs)": "else sum(outputs) / len(outputs)"},
        words="Your result is the mean of the branches, not their sum. The gradients become smaller with each branch "
        "that is added. Look at how you join the outputs.",
        tests=BLOCK,
    ),
    Fault(
        "block-joined-along-axis-1",
        cell="parallel_block",
        edits={"dim=-1": "dim=1"},
        words="Your outputs are joined along axis 1. That is the last axis only if x has two; with others it puts "
        "examples or time steps side by side, or raises an error. Look at the argument that names the axis.",
        tests=BLOCK,
    ),
    Fault(
        "block-joined-along-rows",
        cell="parallel_block",
        edits={"dim=-1": "dim=0"},
        words="Your outputs are joined along the first axis: the batch grows, and the features stay. Look at the "
        "axis that the text names, and at the default of the function.",
        tests=BLOCK,
    ),
    Fault(
        "block-stacked",
        cell="parallel_block",
        edits={"torch.cat(outputs, dim=-1)": "torch.stack(outputs, dim=-1)"},
        words="Your outputs are stacked along a new axis. A concatenation makes an axis longer and adds none. Look "
        "at the function that joins.",
        tests=BLOCK,
    ),
    Fault(
        "block-mode-ignored",
        cell="parallel_block",
        edits={JOINED: "return sum(outputs)"},
        words='Your block sums also with mode="cat". Look at where you use the argument `mode`.',
        tests=BLOCK,
    ),
    Fault(
        "block-mode-not-checked",
        cell="parallel_block",
        edits={'if mode not in ("sum", "cat"):': "if False:"},
        words="A mode that does not exist is not refused when the block is built. A slip of the pen would show hours "
        "later, or never. Look at what __init__ does with `mode`.",
        tests=BLOCK,
    ),
    Fault(
        "block-changes-x",
        family="AG08",
        cell="parallel_block",
        edits={
            JOINED: 'if self.mode == "cat":\n            return torch.cat(outputs, dim=-1)\n        y = outputs[0]\n'
            "        for output in outputs[1:]:\n            y += output\n        return y"
        },
        raises=r"requires grad is being used in an in-place operation|modified by an inplace operation",
        words="An operation in place writes into a tensor that is not yours. The output of nn.Identity() is x itself: "
        "whoever adds to it changes the caller's x, or autograd refuses. Look for `+=` and names that end in `_`.",
        tests=BLOCK,
    ),
    Fault(
        "block-drops-a-repeated-branch",
        cell="parallel_block",
        edits={"for branch in self.branches]": "for branch in dict.fromkeys(self.branches)]"},
        words="A module that stands in the list twice works only once in your block. `children()`, sets and dicts hold "
        "each module once. Look at what your loop goes through.",
        tests=BLOCK,
    ),
    Fault(
        "block-cat-in-reverse-order",
        cell="parallel_block",
        edits={"torch.cat(outputs, dim=-1)": "torch.cat(outputs[::-1], dim=-1)"},
        words="Your outputs are put side by side in the reverse order of the list. Look at the order in which you "
        "collect them.",
        tests=BLOCK,
    ),
    Fault(
        "block-another-exception",
        cell="parallel_block",
        words="A mode that does not exist raises an exception, but no ValueError. Whoever expects the one that the "
        "text names will not catch yours. Look at what __init__ raises.",
        tests=BLOCK,
    ),
    Fault(
        "block-changes-the-list",
        cell="parallel_block",
        words="The list of branches that your block was given has other contents afterwards. It belongs to the caller, "
        "who may build a second block from it. Look at what takes modules out of that list, or puts some in.",
        tests=BLOCK,
    ),
    Fault(
        "block-copies",
        family="NN06",
        cell="parallel_block",
        edits={"nn.ModuleList(branches)": "nn.ModuleList(copy.deepcopy(branch) for branch in branches)"},
        words="Your block works with copies of the branches. Whoever built them and changes or trains them changes "
        "modules that the block does not use. Look at what you put into the list.",
        tests=BLOCK,
    ),
]

# --- 4 to 6. what all optimizers share ------------------------------------------------------------------------------

STEP = {
    "sgd": 'p -= group["lr"] * direction',
    "rmsprop": 'p -= group["lr"] * p.grad / (torch.sqrt(square) + group["eps"])',
    "adam": 'p -= group["lr"] * m_hat / (torch.sqrt(v_hat) + group["eps"])',
}
STATE = {
    "sgd": "state = self.state[p]",
    "rmsprop": "state = self.state[p]",
    "adam": "state, grad = self.state[p], p.grad",
}
SKIP = "                    if p.grad is None:\n                        continue\n"
CLOSURE = "loss = closure()"
CALL_CLOSURE = f"        if closure is not None:\n            with torch.enable_grad():\n                {CLOSURE}\n"
OWN = 'self.__dict__.setdefault("own", {}).setdefault(p, {})'
TESTS = {"sgd": SGD, "rmsprop": RMSPROP, "adam": ADAM}


WITH_ZEROS = {
    "sgd": "the velocity moves it on",
    "rmsprop": "v shrinks",
    "adam": "m moves it on, and t counts",
}
"""what a step does where a gradient is zero"""


def shared(cell: str) -> list[Fault]:
    """Mistakes that can be made in each of the three optimizers."""
    step, tests = STEP[cell], TESTS[cell]
    return [
        Fault(
            f"{cell}-uphill",
            family="LS09",
            cell=cell,
            edits={step: step.replace("-=", "+=")},
            words="Your step has the opposite sign: it goes where the loss grows. Look at the sign of the update.",
            tests=tests,
        ),
        Fault(
            f"{cell}-parameter-rebound",
            family="NP12",
            cell=cell,
            edits={step: step.replace("p -=", "p = p -")},
            words="Your parameters do not move at all. Look at the line of the update: `p = p - ...`, for example, "
            "makes a new tensor and gives it the name p, and the tensor in the model stays as it was.",
            tests=tests,
        ),
        Fault(
            f"{cell}-writes-into-a-copy",
            family="NP12",
            cell=cell,
            edits={
                step: step.replace("p -= ", "flat = p.reshape(-1)\n                    flat -= (") + ").reshape(-1)"
            },
            words="A parameter whose entries do not lie in memory row by row, as in a transposed one, does not move. "
            "Of such a tensor `reshape(-1)`, for example, makes a copy, and what is written into a copy is lost. Look "
            "at what your update writes into.",
            tests=tests,
        ),
        Fault(
            f"{cell}-rate-of-the-start",
            family="OP04",
            cell=cell,
            edits={step: step.replace('group["lr"]', 'self.defaults["lr"]')},
            words="Your steps use one lr for everything: the one from `__init__`. A group's own lr and a scheduler "
            "have no effect. Look at where you read lr.",
            tests=tests,
        ),
        Fault(
            f"{cell}-first-group-only",
            family="OP05",
            cell=cell,
            edits={"in self.param_groups:": "in self.param_groups[:1]:"},
            words="Only the parameters of the first group move. Look at how you go through `self.param_groups`.",
            tests=tests,
        ),
        Fault(
            f"{cell}-memory-outside-state",
            family="SV02",
            cell=cell,
            edits={STATE[cell]: STATE[cell].replace("self.state[p]", OWN)},
            words="After loading a state_dict() your optimizer goes on without its memory, as if it were new: the "
            "first steps after a restart are wrong, and nobody is told. Only what stands in `self.state` is saved. "
            "Look at where you keep what the next step needs.",
            tests=tests,
        ),
        Fault(
            f"{cell}-skips-zero-gradients",
            cell=cell,
            edits={SKIP: SKIP.replace("None:", "None or not p.grad.any():")},
            words="A parameter whose gradient is zero is left out of your step, as if it had none. Only `None` means "
            f"that: with a gradient of zeros {WITH_ZEROS[cell]}. Look at how you tell one from the other.",
            tests=tests,
        ),
        Fault(
            f"{cell}-closure-ignored",
            cell=cell,
            edits={CLOSURE: "pass"},
            words="The closure that is given to step() is not called. It computes the gradients that the step is to "
            "use. Look at what `step` does with its argument.",
            tests=tests,
        ),
        Fault(
            f"{cell}-loss-not-returned",
            cell=cell,
            edits={"return loss": "return None"},
            words="step(closure) returns None. Whoever trains with a closure wants to see its loss. Look at the end "
            "of `step`.",
            tests=tests,
        ),
        Fault(
            f"{cell}-closure-in-the-mode-of-the-caller",
            family="AG05",
            cell=cell,
            edits={"with torch.enable_grad():": "if True:"},
            words="Called inside torch.no_grad(), your step(closure) fails: gradients are switched off while the "
            "closure runs, and its backward() finds nothing to go through. The text asks for a call with gradients "
            "enabled, whatever the mode of the caller. Look at what stands around the call of the closure.",
            tests=tests,
            minor=True,  # only where the caller has switched gradients off
        ),
        Fault(
            f"{cell}-clears-gradients",
            family="AG02",
            cell=cell,
            edits={"return loss": "self.zero_grad()\n        return loss"},
            words="After your step the gradients are gone. The text asks that a step changes no p.grad: whoever logs "
            "them, or makes a second step with them, finds none. Look for `zero_grad` or `grad = None`.",
            tests=tests,
        ),
        Fault(
            f"{cell}-changes-the-gradient",
            family="AG08",
            cell=cell,
            words="Your step changes p.grad. Whoever clips, logs or accumulates gradients afterwards finds other "
            "numbers. `g = p.grad` is no copy. Look for an operation that works in place on the gradient.",
            tests=tests,
        ),
        Fault(
            f"{cell}-refuses-a-negative-lr",
            cell=cell,
            raises=r"ValueError: .*(\blr\b|learning.rate)",
            words="Your optimizer refuses an lr. The text allows a negative one, which climbs instead of descending. "
            "Look at the conditions under which you raise an exception.",
            tests=tests,
        ),
    ]


def of_the_start(cell: str, option: str, edits: dict[str, str]) -> Fault:
    """One option is the constructor's in every group."""
    return Fault(
        f"{cell}-{option.removeprefix('weight_')}-of-the-start",
        family="OP04",
        cell=cell,
        edits=edits,
        words=f"{option} is the one from `__init__`; what stands in a group has no effect on it. Often the layers of a "
        f"network get different options. Look at where you read {option}.",
        tests=TESTS[cell],
    )


# --- 4. SGD ---------------------------------------------------------------------------------------------------------

VELOCITY = 'velocity = momentum * state.get("velocity", 0.0) + grad'
DIRECTION = 'direction = grad + momentum * velocity if group["nesterov"] else velocity'
SGD_GRAD = 'grad = p.grad + group["weight_decay"] * p'

SGD_FAULTS = [
    *shared("sgd"),
    Fault(
        "step-watched-by-autograd",
        family="AG03",
        cell="sgd",
        edits={"with torch.no_grad():": "if True:"},
        raises=r"leaf Variable that requires grad",
        words="PyTorch refuses your update: a parameter that requires a gradient is changed in place while autograd "
        "watches. The update is no part of the loss. Look at where gradients are switched off in `step`.",
        tests=OPTIMIZERS,
    ),
    Fault(
        "step-asks-for-a-view",
        family="NP12",
        cell="sgd",
        edits={STEP["sgd"]: 'p.view(-1).sub_((group["lr"] * direction).reshape(-1))'},
        raises=r"view size is not compatible with input tensor's size and stride",
        words="PyTorch refuses a `view` in your step: the entries of a tensor do not lie in memory row by row, as in a "
        "transposed parameter. Parameters may have any memory layout, and of such a one `reshape` makes a copy. Look "
        "for `view`, and at whether the step needs another shape at all.",
        tests=OPTIMIZERS,
    ),
    Fault(
        "step-in-float32",
        family="NN06",
        cell="sgd",
        words="With float64 parameters only the first six to nine digits of your steps are right, as if made in "
        "float32. `torch.zeros(shape)`, `torch.tensor(number)` and `.float()`, for example, make float32 tensors. Look "
        "at the dtype of what you keep in `self.state`, and of all else that a step computes with.",
        tests=OPTIMIZERS,
        minor=True,
    ),
    Fault(
        "missing-gradient-not-skipped",
        cell="sgd",
        edits={SKIP: ""},
        words="A parameter without a gradient makes your step fail: its `grad` is None. Frozen layers and branches "
        "that were not used have no gradient. Look at the start of your inner loop.",
        tests=OPTIMIZERS,
    ),
    Fault(
        "closure-without-gradients",
        family="AG05",
        cell="sgd",
        edits={"with torch.enable_grad():": "with torch.no_grad():"},
        raises=r"does not require grad",
        words="backward() fails in the closure: nothing leads from its loss to the parameters, as when gradients are "
        "switched off while it runs. Look at what stands around the call of the closure, a decorator too.",
        tests=OPTIMIZERS,
    ),
    Fault(
        "sgd-closure-too-late",
        family="OP02",
        cell="sgd",
        edits={
            CALL_CLOSURE: "",
            "        return loss": f"{CALL_CLOSURE}        return loss",
        },
        words="The closure is called after the update, so the step uses old gradients or none. Look at the order in "
        "`step`.",
        tests=SGD,
    ),
    Fault(
        "sgd-options-of-the-start",
        family="OP04",
        cell="sgd",
        edits={
            'momentum = group["momentum"]': 'momentum = self.defaults["momentum"]',
            'group["weight_decay"]': 'self.defaults["weight_decay"]',
            'group["nesterov"]': 'self.defaults["nesterov"]',
            'group["lr"]': 'self.defaults["lr"]',
        },
        words="All options are those from `__init__`; what stands in a group has no effect. Often the layers of a "
        "network get different options. Look at where you read lr, momentum and the others.",
        tests=SGD,
    ),
    Fault(
        "sgd-options-but-lr-of-the-start",
        family="OP04",
        cell="sgd",
        edits={
            'momentum = group["momentum"]': 'momentum = self.defaults["momentum"]',
            'group["weight_decay"]': 'self.defaults["weight_decay"]',
            'group["nesterov"]': 'self.defaults["nesterov"]',
        },
        words="momentum, nesterov and weight_decay are those from `__init__`; what stands in a group has no effect on "
        "them. Often the layers of a network get different options. Look at where you read the options.",
        tests=SGD,
    ),
    Fault(
        "sgd-momentum-and-decay-of-the-start",
        family="OP04",
        cell="sgd",
        edits={
            'momentum = group["momentum"]': 'momentum = self.defaults["momentum"]',
            'group["weight_decay"]': 'self.defaults["weight_decay"]',
        },
        words="momentum and weight_decay are those from `__init__`; what stands in a group has no effect on them. "
        "Often the layers of a network get different options. Look at where you read these two.",
        tests=SGD,
    ),
    of_the_start("sgd", "momentum", {'momentum = group["momentum"]': 'momentum = self.defaults["momentum"]'}),
    Fault(
        "sgd-decay-of-the-start",
        family="OP04",
        cell="sgd",
        edits={'group["weight_decay"]': 'self.defaults["weight_decay"]'},
        words="weight_decay is the one from `__init__`; what stands in a group has no effect on it. Often some layers "
        "of a network are to decay and others are not. Look at where you read weight_decay.",
        tests=SGD,
    ),
    Fault(
        "sgd-nesterov-of-the-start",
        family="OP04",
        cell="sgd",
        edits={'group["nesterov"]': 'self.defaults["nesterov"]'},
        words="nesterov is the one from `__init__`; what stands in a group has no effect on it. Often the layers of a "
        "network get different options, and what is not in the groups is not saved. Look at where you read nesterov.",
        tests=SGD,
    ),
    Fault(
        "sgd-velocity-forgotten",
        family="OP12",
        cell="sgd",
        edits={'state["velocity"] = velocity': "pass"},
        words="Every step starts with velocity 0: momentum has no effect, or a wrong one. Look at whether the new "
        "velocity is stored, and where the next step looks for it.",
        tests=SGD,
    ),
    Fault(
        "sgd-velocity-averaged",
        family="OP12",
        cell="sgd",
        edits={VELOCITY: VELOCITY.replace("+ grad", "+ (1 - momentum) * grad")},
        words="Your velocity is a running mean: the gradient enters with the factor 1 - momentum, so all steps are "
        "shorter, ten times with momentum 0.9. Adam does so; here the gradient is added whole. Look at the formula "
        "for v.",
        tests=SGD,
    ),
    Fault(
        "sgd-rate-in-velocity",
        family="OP12",
        cell="sgd",
        edits={
            VELOCITY: VELOCITY.replace("+ grad", '+ group["lr"] * grad'),
            DIRECTION: DIRECTION.replace("grad + momentum", 'group["lr"] * grad + momentum'),
            STEP["sgd"]: "p -= direction",
        },
        words="Your velocity holds lr times the gradients. As long as lr stays the same that makes no difference; "
        "when a scheduler lowers lr, your old velocity goes on with the old one. Look at where lr enters.",
        tests=SGD,
    ),
    Fault(
        "sgd-nesterov-without-effect",
        family="OP12",
        cell="sgd",
        edits={DIRECTION: "direction = velocity"},
        words="With nesterov=True your step is the plain one. Either the option is not used, or its formula has the "
        "velocity of before the step: g plus momentum times the old v is the new v, and so nothing changes. Look at "
        "which v stands in the last formula.",
        tests=SGD,
    ),
    Fault(
        "sgd-nesterov-from-the-second-step",
        family="OP12",
        cell="sgd",
        edits={
            DIRECTION: 'ahead = group["nesterov"] and "later" in state\n'
            "                    direction = grad + momentum * velocity if ahead else velocity\n"
            '                    state["later"] = True'
        },
        words="With nesterov=True the first step of a parameter is the plain one. The formula holds there too: v is 0 "
        "before the first step and g after its update. Look at what your first step does otherwise than the next.",
        tests=SGD,
    ),
    Fault(
        "sgd-nesterov-always",
        family="OP12",
        cell="sgd",
        edits={DIRECTION: "direction = grad + momentum * velocity"},
        words="Your step is Nesterov's also without nesterov=True. Look at where you use the option.",
        tests=SGD,
    ),
    Fault(
        "sgd-nesterov-without-gradient",
        family="OP12",
        cell="sgd",
        edits={DIRECTION: DIRECTION.replace("grad + momentum", "momentum")},
        words="With nesterov your step is momentum times v, and the gradient itself is missing. Look at the last "
        "formula.",
        tests=SGD,
    ),
    Fault(
        "sgd-decay-ignored",
        family="OP11",
        cell="sgd",
        edits={SGD_GRAD: "grad = p.grad + 0.0"},
        words="weight_decay has no effect on your steps. Look at the first formula.",
        tests=SGD,
    ),
    Fault(
        "sgd-decay-grows",
        family="OP11",
        cell="sgd",
        edits={SGD_GRAD: SGD_GRAD.replace("p.grad +", "p.grad -")},
        words="Your weight decay makes weights larger: it enters with the wrong sign. Look at the first formula.",
        tests=SGD,
    ),
    Fault(
        "sgd-decay-beside-momentum",
        family="OP11",
        cell="sgd",
        edits={
            SGD_GRAD: "grad = p.grad + 0.0",
            STEP["sgd"]: 'p -= group["lr"] * (direction + group["weight_decay"] * p)',
        },
        words="Your weight decay shrinks p directly and does not enter the velocity. That is decoupled decay, as in "
        "AdamW; the text adds it to the gradient, before momentum. Look at the order of the formulas.",
        tests=SGD,
    ),
    Fault(
        "sgd-decay-written-into-grad",
        family="OP11",
        cell="sgd",
        edits={SGD_GRAD: 'grad = p.grad.add_(p, alpha=group["weight_decay"])'},
        words="Your step changes p.grad: the weight decay is written into it. Whoever clips, logs or accumulates "
        "gradients afterwards finds other numbers. Look for an operation that works in place on the gradient.",
        tests=SGD,
    ),
    Fault(
        "sgd-velocity-shares-the-gradient",
        family="AG08",
        cell="sgd",
        edits={
            SGD_GRAD: 'grad = p.grad + group["weight_decay"] * p if group["weight_decay"] else p.grad',
            VELOCITY: 'velocity = momentum * state["velocity"] + grad if "velocity" in state else grad',
        },
        words="In the first step your velocity is p.grad itself, not a copy. When new gradients are written into "
        "p.grad, as zero_grad(set_to_none=False) and backward() do, the velocity changes with them. Look at what you "
        "store in the first step.",
        tests=SGD,
    ),
    Fault(
        "sgd-velocity-is-the-gradient",
        family="AG08",
        cell="sgd",
        edits={
            SGD_GRAD: 'grad = p.grad + group["weight_decay"] * p if group["weight_decay"] else p.grad',
            VELOCITY: 'velocity = state["velocity"].mul_(momentum).add_(grad) if "velocity" in state else grad',
        },
        words="In the first step your velocity is p.grad itself, not a copy. When new gradients are written into "
        "p.grad, as zero_grad(set_to_none=False) and backward() do, the velocity changes with them. Look at what you "
        "store in the first step.",
        tests=SGD,
    ),
    Fault(
        "sgd-missing-gradient-is-zero",
        cell="sgd",
        edits={
            SKIP: "",
            SGD_GRAD: 'grad = (torch.zeros_like(p) if p.grad is None else p.grad) + group["weight_decay"] * p',
        },
        words="You treat a missing gradient as 0: the parameter moves on with its old velocity and its weight decay, "
        "although it was not used. Look at what the text says of parameters whose grad is None.",
        tests=SGD,
    ),
]

# --- 5. RMSProp -----------------------------------------------------------------------------------------------------

SQUARE = 'square = alpha * state.get("square", 0.0) + (1 - alpha) * p.grad**2'

RMSPROP_FAULTS = [
    *shared("rmsprop"),
    Fault(
        "rmsprop-options-of-the-start",
        family="OP04",
        cell="rmsprop",
        edits={'alpha = group["alpha"]': 'alpha = self.defaults["alpha"]', 'group["eps"]': 'self.defaults["eps"]'},
        words="alpha and eps are those from `__init__`; what stands in a group has no effect on them. Often the layers "
        "of a network get different options. Look at where you read the options.",
        tests=RMSPROP,
    ),
    Fault(
        "rmsprop-all-of-the-start",
        family="OP04",
        cell="rmsprop",
        edits={
            'alpha = group["alpha"]': 'alpha = self.defaults["alpha"]',
            STEP["rmsprop"]: STEP["rmsprop"].replace("group", "self.defaults"),
        },
        words="All options are those from `__init__`; what stands in a group has no effect. Often the layers of a "
        "network get different options. Look at where you read lr, alpha and eps.",
        tests=RMSPROP,
    ),
    of_the_start("rmsprop", "alpha", {'alpha = group["alpha"]': 'alpha = self.defaults["alpha"]'}),
    of_the_start("rmsprop", "eps", {'group["eps"]': 'self.defaults["eps"]'}),
    Fault(
        "rmsprop-missing-gradient-is-zero",
        cell="rmsprop",
        edits={
            SKIP: "",
            SQUARE: "grad = torch.zeros_like(p) if p.grad is None else p.grad\n                    "
            + SQUARE.replace("p.grad", "grad"),
            STEP["rmsprop"]: STEP["rmsprop"].replace("p.grad", "grad"),
        },
        words="You treat a missing gradient as 0: the parameter stays, but its v shrinks as in a step, and so its next "
        "steps are too long. Look at what the text says of parameters whose grad is None.",
        tests=RMSPROP,
    ),
    Fault(
        "rmsprop-eps-in-the-root",
        family="OP12",
        cell="rmsprop",
        edits={'(torch.sqrt(square) + group["eps"])': 'torch.sqrt(square + group["eps"])'},
        words="Your eps stands under the root. With a small gradient that makes the step much shorter: the root of "
        "1e-8 is 1e-4. Look at the denominator.",
        tests=RMSPROP,
    ),
    Fault(
        "rmsprop-eps-missing",
        family="OP12",
        cell="rmsprop",
        edits={'(torch.sqrt(square) + group["eps"])': "torch.sqrt(square)"},
        words="eps has no effect on your steps. A gradient of exactly 0 then gives 0 / 0. Look at the denominator.",
        tests=RMSPROP,
    ),
    Fault(
        "rmsprop-root-missing",
        family="OP12",
        cell="rmsprop",
        edits={"torch.sqrt(square)": "square"},
        words="You divide by v, not by its root. The step then grows when gradients become smaller. Look at the "
        "denominator.",
        tests=RMSPROP,
    ),
    Fault(
        "rmsprop-alpha-swapped",
        family="OP12",
        cell="rmsprop",
        edits={SQUARE: 'square = (1 - alpha) * state.get("square", 0.0) + alpha * p.grad**2'},
        words="alpha and 1 - alpha have changed places: your v hardly remembers the past. Look at the formula for v.",
        tests=RMSPROP,
    ),
    Fault(
        "rmsprop-squares-summed",
        family="OP12",
        cell="rmsprop",
        edits={SQUARE: 'square = state.get("square", 0.0) + p.grad**2'},
        words="Your v is the sum of all squares so far. That is Adagrad: its steps become shorter and shorter. Look "
        "at the formula for v.",
        tests=RMSPROP,
    ),
    Fault(
        "rmsprop-starts-at-the-first-square",
        family="OP12",
        cell="rmsprop",
        edits={SQUARE: SQUARE.replace('"square", 0.0', '"square", p.grad**2')},
        words="Your v starts as the square of the first gradient. The text starts it at 0, which makes the first "
        "steps longer. Look at the value that v has before the first step.",
        tests=RMSPROP,
    ),
    Fault(
        "rmsprop-corrected",
        family="OP12",
        cell="rmsprop",
        edits={
            'state["square"] = square': 'state["square"] = square\n'
            '                    state["n"] = state.get("n", 0) + 1\n'
            '                    square = square / (1 - alpha ** state["n"])'
        },
        words="You divide v by 1 - alpha ** t. That correction belongs to Adam; RMSProp has none. Look at the two "
        "formulas.",
        tests=RMSPROP,
    ),
    Fault(
        "rmsprop-v-of-before-the-step",
        family="OP12",
        cell="rmsprop",
        edits={
            SQUARE: 'square = torch.zeros_like(p) + state.get("square", 0.0)',
            'state["square"] = square': 'state["square"] = alpha * square + (1 - alpha) * p.grad**2',
        },
        words="You divide by the root of the v of before the step. In the first step that is 0, and eps alone is left. "
        "Look at the order of the two formulas.",
        tests=RMSPROP,
    ),
    Fault(
        "rmsprop-one-size-for-all",
        family="OP12",
        cell="rmsprop",
        edits={SQUARE: SQUARE.replace("p.grad**2", "(p.grad**2).mean()")},
        words="All entries of a parameter share one v, the mean of their squares. The point of the method is that "
        "each entry has its own. Look at the shape of v.",
        tests=RMSPROP,
    ),
]

# --- 6. Adam --------------------------------------------------------------------------------------------------------

M, V = (
    'm = beta_1 * state.get("m", 0.0) + (1 - beta_1) * grad',
    'v = beta_2 * state.get("v", 0.0) + (1 - beta_2) * grad**2',
)
COUNT, KEPT = 't = state.get("t", 0) + 1', 'state["t"], state["m"], state["v"] = t, m, v'
M_HAT, V_HAT = "m_hat = m / (1 - beta_1**t)", "v_hat = v / (1 - beta_2**t)"
DECOUPLED = 'p -= group["lr"] * group["weight_decay"] * p'
PENALTY = 'grad = grad + group["weight_decay"] * p'
BOTH = (
    'if group["decoupled"]:\n                        p -= group["lr"] * group["weight_decay"] * p\n'
    '                    else:\n                        grad = grad + group["weight_decay"] * p\n'
)

ADAM_FAULTS = [
    *shared("adam"),
    Fault(
        "adam-betas-of-the-start",
        family="OP04",
        cell="adam",
        edits={'beta_1, beta_2 = group["betas"]': 'beta_1, beta_2 = self.defaults["betas"]'},
        words="The betas are those from `__init__`; what stands in a group has no effect on them. Often the layers of "
        "a network get different options. Look at where you read them.",
        tests=ADAM,
    ),
    Fault(
        "adam-options-of-the-start",
        family="OP04",
        cell="adam",
        edits={
            'beta_1, beta_2 = group["betas"]': 'beta_1, beta_2 = self.defaults["betas"]',
            'if group["decoupled"]': 'if self.defaults["decoupled"]',
            DECOUPLED: DECOUPLED.replace('group["weight_decay"]', 'self.defaults["weight_decay"]'),
            PENALTY: PENALTY.replace("group", "self.defaults"),
            'group["eps"]': 'self.defaults["eps"]',
        },
        words="betas, eps, weight_decay and decoupled are those from `__init__`; what stands in a group has no effect "
        "on them. Often the layers of a network get different options. Look at where you read the options.",
        tests=ADAM,
    ),
    Fault(
        "adam-all-of-the-start",
        family="OP04",
        cell="adam",
        edits={
            'beta_1, beta_2 = group["betas"]': 'beta_1, beta_2 = self.defaults["betas"]',
            'if group["decoupled"]': 'if self.defaults["decoupled"]',
            **{line: line.replace("group", "self.defaults") for line in (DECOUPLED, PENALTY, STEP["adam"])},
        },
        words="All options are those from `__init__`; what stands in a group has no effect. Often the layers of a "
        "network get different options. Look at where you read lr, betas and the others.",
        tests=ADAM,
    ),
    Fault(
        "adam-both-rates-of-the-start",
        family="OP04",
        cell="adam",
        edits={line: line.replace('group["lr"]', 'self.defaults["lr"]') for line in (DECOUPLED, STEP["adam"])},
        words="Your steps use one lr for everything: the one from `__init__`. A group's own lr and a scheduler have no "
        "effect. Look at where you read lr.",
        tests=ADAM,
    ),
    of_the_start("adam", "eps", {'group["eps"]': 'self.defaults["eps"]'}),
    of_the_start(
        "adam",
        "weight_decay",
        {line: line.replace('group["weight_decay"]', 'self.defaults["weight_decay"]') for line in (DECOUPLED, PENALTY)},
    ),
    of_the_start("adam", "decoupled", {'if group["decoupled"]': 'if self.defaults["decoupled"]'}),
    Fault(
        "adam-decays-without-gradient",
        family="OP11",
        cell="adam",
        edits={
            SKIP: f'                    if group["decoupled"]:\n                        {DECOUPLED}\n{SKIP}',
            f'{STATE["adam"]}\n                    if group["decoupled"]:\n                        {DECOUPLED}\n'
            "                    else:\n": f'{STATE["adam"]}\n                    if not group["decoupled"]:\n',
        },
        words="With decoupled=True a parameter whose grad is None decays all the same. The decay is part of the step, "
        "and such a parameter is left out of it. Look at which lines come before you ask whether there is a gradient.",
        tests=ADAM,
        minor=True,  # only where a missing gradient and decoupled decay meet
    ),
    Fault(
        "adam-missing-gradient-is-zero",
        cell="adam",
        edits={
            SKIP: "",
            STATE["adam"]: STATE["adam"].replace("p.grad", "torch.zeros_like(p) if p.grad is None else p.grad"),
        },
        words="You treat a missing gradient as 0: the parameter moves on with its old m and its weight decay, and t "
        "counts a step, although it was not used. Look at what the text says of parameters whose grad is None.",
        tests=ADAM,
    ),
    Fault(
        "adam-root-missing",
        family="OP12",
        cell="adam",
        edits={"torch.sqrt(v_hat)": "v_hat"},
        words="You divide by the mean square itself, not by its root. The step then grows when gradients become "
        "smaller. Look at the denominator.",
        tests=ADAM,
    ),
    Fault(
        "adam-decay-both-ways",
        family="OP11",
        cell="adam",
        edits={
            "                    else:\n                        grad = grad": "                    if True:\n"
            "                        grad = grad"
        },
        words="With decoupled=True your weight decay works twice: p shrinks, and the decay is added to the gradient "
        "too. Look at the second row of the table: what happens to g?",
        tests=ADAM,
    ),
    Fault(
        "adam-count-of-the-group",
        family="OP12",
        cell="adam",
        edits={
            'beta_1, beta_2 = group["betas"]': 'beta_1, beta_2 = group["betas"]\n'
            '                group["t"] = group.get("t", 0) + 1',
            COUNT: 't = group["t"]',
        },
        words="Your t counts the steps of a group, not those of each parameter. A parameter that was left out of some "
        "steps then gets the wrong correction. Look at where t is kept.",
        tests=ADAM,
    ),
    Fault(
        "adam-no-correction",
        family="OP12",
        cell="adam",
        edits={M_HAT: "m_hat = m", V_HAT: "v_hat = v"},
        words="m and v are used as they are. Both start at 0 and are too small at first, v more than m, so your first "
        "steps are too long: three times with the default betas. Look at the formulas with a hat.",
        tests=ADAM,
    ),
    Fault(
        "adam-v-not-corrected",
        family="OP12",
        cell="adam",
        edits={V_HAT: "v_hat = v"},
        words="m is corrected, v is not. v starts at 0 and is far too small at first, so your first steps are far too "
        "long. Look at the formulas with a hat.",
        tests=ADAM,
    ),
    Fault(
        "adam-m-not-corrected",
        family="OP12",
        cell="adam",
        edits={M_HAT: "m_hat = m"},
        words="v is corrected, m is not: your first step is only a tenth of what it should be with beta_1 = 0.9. Look "
        "at the formulas with a hat.",
        tests=ADAM,
    ),
    Fault(
        "adam-counts-from-zero",
        family="OP12",
        cell="adam",
        edits={M_HAT: "m_hat = m / (1 - beta_1 ** (t - 1))", V_HAT: "v_hat = v / (1 - beta_2 ** (t - 1))"},
        raises=r"ZeroDivisionError",
        words="Your first step gives NaN, or a division by zero stops it. With t = 0 both bias corrections are "
        "1 - 1 = 0, and dividing by them does that. Look at t in the first step, and at when it counts up.",
        tests=ADAM,
        bare=True,
    ),
    Fault(
        "adam-one-count-for-all",
        family="OP12",
        cell="adam",
        edits={COUNT: 'self.count = getattr(self, "count", 0) + 1\n                    t = self.count'},
        words="Your t counts parameters, not steps: with four parameters it is 4 after one step, and the correction "
        "fades too early. Look at whose counter is counted up inside the loop.",
        tests=ADAM,
    ),
    Fault(
        "adam-count-of-all-steps",
        family="OP12",
        cell="adam",
        edits={
            "        with torch.no_grad():": '        self.count = getattr(self, "count", 0) + 1\n'
            "        with torch.no_grad():",
            COUNT: "t = self.count",
        },
        words="Your t counts calls of step(), not the steps of each parameter. A parameter that was left out of some "
        "steps then gets the wrong correction. Look at where t is kept, and whether it is saved.",
        tests=ADAM,
    ),
    Fault(
        "adam-betas-swapped",
        family="OP12",
        cell="adam",
        edits={"beta_1, beta_2 = group": "beta_2, beta_1 = group"},
        words="The two betas have changed places. The mean of the squares needs the longer memory. Look at where you "
        "take the pair apart.",
        tests=ADAM,
    ),
    Fault(
        "adam-eps-in-the-root",
        family="OP12",
        cell="adam",
        edits={'(torch.sqrt(v_hat) + group["eps"])': 'torch.sqrt(v_hat + group["eps"])'},
        words="Your eps stands under the root. With small gradients that makes the steps much shorter. Look at the "
        "denominator.",
        tests=ADAM,
    ),
    Fault(
        "adam-eps-before-the-correction",
        family="OP12",
        cell="adam",
        edits={STEP["adam"]: 'p -= group["lr"] * m_hat * math.sqrt(1 - beta_2**t) / (torch.sqrt(v) + group["eps"])'},
        words="You add eps to the root of v before v is corrected. In the first steps eps then weighs much more than "
        "it should. Look at the order: correction, root, eps.",
        tests=ADAM,
    ),
    Fault(
        "adam-square-of-m",
        family="OP12",
        cell="adam",
        edits={V: V.replace("grad**2", "m**2")},
        words="Your v is made of the squares of m. It should be made of the squares of the gradients: where they "
        "change their sign, m is small and v is not, and that is what shortens the step. Look at the formula "
        "for v.",
        tests=ADAM,
    ),
    Fault(
        "adam-penalty-not-in-v",
        family="OP11",
        cell="adam",
        edits={V: V.replace("grad**2", "p.grad**2")},
        words="With an L2 penalty your v is made of the gradients without the penalty. The first row of the table "
        "changes g, and both m and v are made of the new g. Look at which gradient stands in the formula for v.",
        tests=ADAM,
    ),
    Fault(
        "adam-largest-v",
        family="OP12",
        cell="adam",
        edits={
            V_HAT: 'state["most"] = torch.maximum(state.get("most", v), v)\n'
            '                    v_hat = state["most"] / (1 - beta_2**t)'
        },
        words="You divide by the root of the largest v so far. That is a variant called AMSGrad; the text divides by v "
        "itself, which may shrink again. Look at the formula for v with a hat.",
        tests=ADAM,
    ),
    Fault(
        "adam-keeps-the-corrected",
        family="OP12",
        cell="adam",
        edits={
            KEPT: 'state["t"] = t',
            V_HAT: f'{V_HAT}\n                    state["m"], state["v"] = m_hat, v_hat',
        },
        words="You store m and v after their correction, so the next step corrects them again. Look at what is kept "
        "for the next step.",
        tests=ADAM,
    ),
    Fault(
        "adam-decay-written-into-grad",
        family="OP11",
        cell="adam",
        edits={
            'grad = grad + group["weight_decay"] * p': 'grad = p.grad.add_(p, alpha=group["weight_decay"])',
        },
        words="Your step changes p.grad: the weight decay is written into it. Whoever clips, logs or accumulates "
        "gradients afterwards finds other numbers. Look for an operation that works in place on the gradient.",
        tests=ADAM,
    ),
    Fault(
        "adam-decay-ignored",
        family="OP11",
        cell="adam",
        edits={DECOUPLED: "pass", PENALTY: "pass"},
        words="weight_decay has no effect on your steps. Look at the table.",
        tests=ADAM,
    ),
    Fault(
        "adam-decay-kinds-swapped",
        family="OP11",
        cell="adam",
        edits={'if group["decoupled"]:': 'if not group["decoupled"]:'},
        words="Your two kinds of weight decay have changed places. Look at the table.",
        tests=ADAM,
    ),
    Fault(
        "adam-decay-always-coupled",
        family="OP11",
        cell="adam",
        edits={DECOUPLED: PENALTY},
        words="Your weight decay is added to the gradient also with decoupled=True. There it is divided by the root of "
        "v, so that weights with large gradients hardly decay. Look at the second row of the table.",
        tests=ADAM,
    ),
    Fault(
        "adam-decay-always-decoupled",
        family="OP11",
        cell="adam",
        edits={PENALTY: DECOUPLED},
        words="Your weight decay is decoupled also with decoupled=False. Look at the first row of the table.",
        tests=ADAM,
    ),
    Fault(
        "adam-decay-without-rate",
        family="OP11",
        cell="adam",
        edits={DECOUPLED: 'p -= group["weight_decay"] * p'},
        words="Your decoupled weight decay does not contain lr: with lr = 0.001 it is a thousand times too strong. "
        "Look at the second row of the table.",
        tests=ADAM,
    ),
    Fault(
        "adam-decay-after-the-step",
        family="OP11",
        cell="adam",
        edits={
            DECOUPLED: "pass",
            STEP["adam"]: STEP["adam"] + '\n                    if group["decoupled"]:\n'
            '                        p -= group["lr"] * group["weight_decay"] * p',
        },
        words="Your decoupled weight decay comes after the step, and shrinks the step too. The text puts it before. "
        "Look at the order.",
        tests=ADAM,
    ),
]

# --- 7. snapshot ----------------------------------------------------------------------------------------------------

TAKEN = 'copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})'
LOAD_MODEL = 'model.load_state_dict(state["model"])'
LOAD_OPTIMIZER = 'optimizer.load_state_dict(state["optimizer"])'

SNAPSHOT_FAULTS = [
    Fault(
        "snapshot-not-copied",
        family="SV01",
        cell="snapshot",
        edits={TAKEN: '{"model": model.state_dict(), "optimizer": optimizer.state_dict()}'},
        words="Your snapshot holds the tensors of model and optimizer themselves (a copy of a dict does not copy what "
        "is in it), and training went on changing them. The best model of all epochs would be the last one. Look at "
        "what state_dict() hands out.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-memory-never-copied",
        family="SV01",
        cell="snapshot",
        edits={
            TAKEN: '{"model": copy.deepcopy(model.state_dict()), "optimizer": optimizer.state_dict()}',
            "state = copy.deepcopy(saved)": "state = saved",
        },
        words="Your snapshot holds the tensors of the optimizer's memory themselves, and training went on changing "
        "them. They are not copied when they are brought back either. Look at what optimizer.state_dict() hands out, "
        "and at what its load_state_dict() does with the tensors that it is given.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-only-one",
        family="SV01",
        cell="snapshot",
        edits={
            f"return {TAKEN}": f"state = {TAKEN}\n    kept = snapshot.__dict__\n    kept.update(state)\n"
            "    return kept",
        },
        words="When a second snapshot is taken, the first one becomes the second: all of them share one place. Look at "
        "where the snapshot lives: a global variable or one file holds only the last one.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-of-this-model",
        family="SV01",
        cell="snapshot",
        edits={
            f"return {TAKEN}": f'return {TAKEN} | {{"whose": [model, optimizer]}}',
            "state = copy.deepcopy(saved)": 'model, optimizer = saved["whose"]\n'
            '    state = copy.deepcopy({k: v for k, v in saved.items() if k != "whose"})',
        },
        words="`restore` writes into the model and optimizer that the snapshot was taken of. The text asks for those "
        "that it is given, which may be others. Look at what `restore` does with its arguments.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-changes-the-mode",
        family="SV06",
        cell="snapshot",
        edits={f"return {TAKEN}": f"model.eval()\n    return {TAKEN}"},
        words="After `snapshot` the model is in evaluation mode. Taking a snapshot changes nothing; whoever trains on "
        "would train with frozen statistics and without dropout. Look for `eval`.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-clears-gradients",
        family="AG02",
        cell="snapshot",
        edits={f"return {TAKEN}": f"optimizer.zero_grad()\n    return {TAKEN}"},
        words="After `snapshot` the gradients of the model are gone. Taking a snapshot changes nothing, and somebody "
        "may be collecting gradients over several batches. Look for `zero_grad`.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-becomes-the-model",
        family="SV01",
        cell="snapshot",
        edits={
            LOAD_MODEL: "values = dict(model.named_parameters()) | dict(model.named_buffers())\n"
            '    for name, value in saved["model"].items():\n        values[name].data = value',
        },
        words="The first restore is right, the second is not. After the first one the model's own tensors are those of "
        "the snapshot, and training goes on changing them. Look at how the values get into the model.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-optimizer-of-a-copy",
        family="OP05",
        cell="snapshot",
        edits={
            TAKEN: "copy.deepcopy(model), copy.deepcopy(optimizer)",
            LOAD_MODEL: "model.__dict__.update(state[0].__dict__)",
            LOAD_OPTIMIZER: "optimizer.__dict__.update(state[1].__dict__)",
        },
        words="After `restore` the steps of the optimizer no longer move the model: the two do not hold the same "
        "tensors any more. An optimizer that is copied by itself holds copies of the parameters. Look at what "
        "`restore` puts into the optimizer.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-not-in-place",
        family="OP05",
        cell="snapshot",
        edits={
            TAKEN: "copy.deepcopy((model, optimizer))",
            LOAD_MODEL: "model.__dict__.update(state[0].__dict__)",
            LOAD_OPTIMIZER: "optimizer.__dict__.update(state[1].__dict__)",
        },
        words="After `restore` the model has other tensors than before. Whoever else holds its parameters, as a second "
        "optimizer does, goes on with the old ones. The text asks for a restore in place. Look at what `restore` puts "
        "into the model: new numbers, or new tensors.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-model-not-copied",
        family="SV01",
        cell="snapshot",
        edits={TAKEN: '{"model": model.state_dict(), "optimizer": copy.deepcopy(optimizer.state_dict())}'},
        words="The optimizer comes back, the model does not: your snapshot holds the model's own tensors (a copy of "
        "the dict does not copy what is in it), and training went on changing them. Look at what model.state_dict() "
        "hands out.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-memory-not-copied",
        family="SV01",
        cell="snapshot",
        edits={TAKEN: '{"model": copy.deepcopy(model.state_dict()), "optimizer": optimizer.state_dict()}'},
        words="The model comes back, the optimizer's memory does not: your snapshot holds the optimizer's own "
        "tensors, and training went on changing them. Look at what optimizer.state_dict() hands out.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-spoiled-by-restore",
        family="SV01",
        cell="snapshot",
        edits={"state = copy.deepcopy(saved)": "state = saved"},
        words="The first restore is right, the second is not. Training after the first one has changed your snapshot, "
        "because the optimizer went on with its tensors. (An optimizer's load_state_dict() takes over the tensors that "
        "it is given.) Look at what `restore` hands to the optimizer.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-without-optimizer",
        family="SV02",
        cell="snapshot",
        edits={LOAD_OPTIMIZER: "pass"},
        words="The model comes back, the optimizer does not: it goes on with the memory and the options of later. The "
        "next steps are other ones. Look at what besides the weights decides on a step.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-without-buffers",
        family="SV02",
        cell="snapshot",
        edits={
            LOAD_MODEL: "names = dict(model.named_parameters())\n"
            '    kept = {n: v for n, v in state["model"].items() if n in names}\n'
            "    model.load_state_dict(kept, strict=False)"
        },
        words="The parameters come back, the buffers do not: the running statistics of a BatchNorm layer stay those of "
        "later, and the model evaluates differently. Look at what a model holds besides its parameters.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-without-options",
        family="SV02",
        cell="snapshot",
        edits={
            LOAD_OPTIMIZER: "options = optimizer.state_dict()['param_groups']\n"
            '    optimizer.load_state_dict({**state["optimizer"], "param_groups": options})'
        },
        words="The optimizer's memory comes back, its options do not: lr stays what it was made meanwhile. A scheduler "
        "changes it all the time. Look at what an optimizer's state_dict() holds besides the state.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-without-memory",
        family="SV02",
        cell="snapshot",
        edits={LOAD_OPTIMIZER: 'optimizer.load_state_dict({**state["optimizer"], "state": {}})'},
        words="The optimizer's options come back, but its memory is empty: momentum and running means start at 0, as "
        "in a new optimizer. Look at what an optimizer's state_dict() holds besides the options.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-keeps-later-memory",
        family="SV02",
        cell="snapshot",
        edits={
            LOAD_OPTIMIZER: "later = dict(optimizer.state)\n"
            f"    {LOAD_OPTIMIZER}\n"
            "    optimizer.state.update({p: m for p, m in later.items() if p not in optimizer.state})"
        },
        words="Before its first step an optimizer has no memory. After you restore a snapshot from then, it still has "
        "the memory of later, so the next steps are other ones. Look at what `restore` does with a parameter for which "
        "the snapshot holds no memory.",
        tests=SNAPSHOT,
    ),
    Fault(
        "snapshot-without-model",
        family="SV02",
        cell="snapshot",
        edits={LOAD_MODEL: "pass"},
        words="The model does not come back: `restore` leaves its weights as they are. Look at what `restore` does "
        "with the model. If it builds or copies a model: the caller still holds the old one.",
        tests=SNAPSHOT,
    ),
]

# --- 8. fit ---------------------------------------------------------------------------------------------------------

CLEAR = "            optimizer.zero_grad()\n            for x, y in group:\n"
BACKWARD = "(loss * len(x) / group_rows).backward()"
CLIP = (
    "            if max_norm is not None:\n"
    "                torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
)
CLIPPED = "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
MOVE = "            optimizer.step()\n"
SCHEDULE = "        if scheduler is not None:\n            scheduler.step()\n"
EPOCH = "        total, rows = 0.0, 0\n"
ADDED = "total += loss.item() * len(x)"
HISTORY = "history.append(total / rows)"

FIT_FAULTS = [
    Fault(
        "fit-gradients-not-cleared",
        family="AG01",
        cell="fit",
        edits={"            optimizer.zero_grad()\n": ""},
        words="Every step uses the sum of all gradients so far. The first one is right (if there were none before), "
        "and every later one is wrong: backward() adds to what is there. Look at where gradients are cleared.",
        tests=FIT,
    ),
    Fault(
        "fit-leftovers-count",
        family="AG01",
        cell="fit",
        edits={"            optimizer.zero_grad()\n": "", MOVE: f"{MOVE}            optimizer.zero_grad()\n"},
        words="Gradients that were in the model before the call go into your first step. Whoever looked at a gradient "
        "before training would spoil it. Look at what is cleared before the first backward().",
        tests=FIT,
    ),
    Fault(
        "fit-never-moves",
        family="OP01",
        cell="fit",
        edits={MOVE: ""},
        words="The weights never move. Either the optimizer makes no step, or the model's parameters have no gradients "
        "when it does: because they are cleared between backward() and the step, because backward() comes later or not "
        "at all, or because it is a copy of the model that learns. Look at the order: clear, backward, step.",
        tests=FIT,
    ),
    Fault(
        "fit-step-before-backward",
        family="OP02",
        cell="fit",
        edits={
            "            optimizer.zero_grad()\n": f"{MOVE}            optimizer.zero_grad()\n",
            f"{MOVE}            rows": "            rows",
        },
        words="Your steps come one group too late: each uses the gradient of the group before it, the first one none, "
        "and the last gradient is never used. Look at the order: clear, backward, step.",
        tests=FIT,
    ),
    Fault(
        "fit-last-batch-of-a-group-only",
        family="OP09",
        cell="fit",
        edits={CLEAR: "            for x, y in group:\n                optimizer.zero_grad()\n"},
        words="Only the last batch of each group has an influence on the step: the gradients of the others are cleared "
        "before it. Look at how often gradients are cleared in a group.",
        tests=FIT,
    ),
    Fault(
        "fit-step-for-each-batch",
        family="OP09",
        cell="fit",
        edits={"for start in": "accumulate = 1\n        for start in"},
        words="You make a step for every batch, whatever accumulate says. Look at when the step is made.",
        tests=FIT,
    ),
    Fault(
        "fit-means-added",
        family="OP09",
        cell="fit",
        edits={BACKWARD: "loss.backward()"},
        words="Your gradient of a group is the sum of the gradients of its batches' means. With accumulate = 4 it is "
        "about four times too long. Look at what each batch should contribute to a mean over all rows.",
        tests=FIT,
    ),
    Fault(
        "fit-batches-count-alike",
        family="LS08",
        cell="fit",
        edits={BACKWARD: "(loss / len(group)).backward()"},
        words="Each batch of a group has the same weight in your gradient. A row in a small batch then counts more "
        "than a row in a large one. Look at the worked example: 2.0, not 3.0.",
        tests=FIT,
    ),
    Fault(
        "fit-divided-by-accumulate",
        family="OP10",
        cell="fit",
        edits={BACKWARD: "(loss / accumulate).backward()"},
        words="You divide every loss by accumulate. Batches of different size then have the same weight, and a last "
        "group with fewer batches gets too short a step. Look at how many rows a group really has.",
        tests=FIT,
    ),
    Fault(
        "fit-rows-added",
        family="LS08",
        cell="fit",
        edits={BACKWARD: "(loss * len(x)).backward()"},
        words="Your gradient belongs to the sum over the rows, not to their mean: it is as many times too long as a "
        "group has rows. Look at what you divide by.",
        tests=FIT,
    ),
    Fault(
        "fit-last-group-dropped",
        family="OP10",
        cell="fit",
        edits={MOVE: "            if len(group) == accumulate:\n                optimizer.step()\n"},
        words="The last group of an epoch makes no step if it is shorter than the others, and nothing is learned from "
        "its batches. Look at the condition for a step.",
        tests=FIT,
    ),
    Fault(
        "fit-last-group-waits",
        family="OP02",
        cell="fit",
        edits={
            "history = []": "history, waiting = [], False",
            "            optimizer.zero_grad()\n": "            if not waiting:\n"
            "                optimizer.zero_grad()\n"
            "            waiting = len(group) < accumulate\n",
            "            optimizer.step()\n": "            if not waiting:\n                optimizer.step()\n",
        },
        words="Where the last group of an epoch is smaller than `accumulate`, it makes no step of its own: its "
        "gradients stay in p.grad and go into the first step of the next epoch, or are lost. Look at what happens "
        "after the last batch of an epoch.",
        tests=FIT,
    ),
    *(
        Fault(
            name,
            family="OP02",
            cell="fit",
            edits={
                "history = []": "history, held, held_rows = [], 0, 0",
                "range(0, len(batches), accumulate)": "range(len(batches))",
                "start + accumulate": "start + 1",
                "            optimizer.zero_grad()\n": "            (None if held else optimizer.zero_grad())\n",
                BACKWARD: "(loss * len(x)).backward()",
                CLIP: "            rows, held, held_rows = rows + group_rows, held + 1, held_rows + group_rows\n"
                f"            if held < accumulate{unless}:\n                continue\n"
                "            for p in model.parameters():\n                p.grad /= held_rows\n"
                f"            held, held_rows = 0, 0\n{CLIP}",
                f"{MOVE}            rows += group_rows\n": MOVE,
            },
            words="Your groups go on over the end of an epoch: batches that are left there make no step of their own, "
            f"but one together with the first of the next epoch{said}. Look at what happens to an unfinished group "
            "after the last batch of an epoch.",
            tests=FIT,
        )
        for name, unless, said in (
            ("fit-groups-cross-epochs", " and not (len(history) == epochs - 1 and start == len(batches) - 1)", ""),
            ("fit-groups-cross-epochs-to-no-end", "", ", and those left in the last epoch none at all"),
        )
    ),
    Fault(
        "fit-clips-each-value",
        family="OP08",
        cell="fit",
        edits={CLIPPED: "torch.nn.utils.clip_grad_value_(model.parameters(), max_norm)"},
        words="You limit every entry of the gradient by itself. That changes its direction. max_norm bounds the length "
        "of the whole gradient. Look at the function that clips.",
        tests=FIT,
    ),
    Fault(
        "fit-clips-each-parameter",
        family="OP08",
        cell="fit",
        edits={CLIPPED: "[torch.nn.utils.clip_grad_norm_([p], max_norm) for p in model.parameters()]"},
        words="You limit the norm of each parameter's gradient by itself. All together can still be longer than "
        "max_norm, and the direction changes. Look at what the norm is taken of.",
        tests=FIT,
    ),
    Fault(
        "fit-clips-each-batch",
        family="OP08",
        cell="fit",
        edits={
            CLIP: "",
            "                total +=": textwrap.indent(CLIP, "    ") + "                total +=",
        },
        words="You clip after every batch of a group: parts of the gradient are cut off before it is complete. Look at "
        "when the gradient of the group is complete.",
        tests=FIT,
    ),
    Fault(
        "fit-clips-after-the-step",
        family="OP08",
        cell="fit",
        edits={CLIP + MOVE: MOVE + CLIP},
        words="You clip after the step, when the gradient has done its work: max_norm has no effect. (If you do not "
        "clip at all, it looks the same.) Look at the order.",
        tests=FIT,
    ),
    Fault(
        "fit-always-scaled-to-the-norm",
        family="OP08",
        cell="fit",
        edits={
            CLIPPED: "norm = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters()))\n"
            "                [p.grad.mul_(max_norm / norm) for p in model.parameters()]"
        },
        words="Your gradient always gets the norm max_norm, also when it was shorter. Near a minimum the steps would "
        "not become smaller. Look at the condition for scaling.",
        tests=FIT,
    ),
    Fault(
        "fit-schedule-not-at-the-end",
        family="OP07",
        cell="fit",
        edits={"if scheduler is not None:": "if scheduler is not None and len(history) + 1 < epochs:"},
        words="The scheduler makes no step at the end of the last epoch. Whoever calls fit again, to train on, starts "
        "with the lr of the epoch before. Look at the epochs after which scheduler.step() is called.",
        tests=FIT,
        minor=True,  # this training itself is right
    ),
    Fault(
        "fit-schedule-at-every-step",
        family="OP07",
        cell="fit",
        edits={SCHEDULE: "", MOVE: f"{MOVE}            if scheduler is not None:\n                scheduler.step()\n"},
        words="The scheduler makes a step after every step of the optimizer: lr falls much too fast. Look at which "
        "loop it belongs to.",
        tests=FIT,
    ),
    Fault(
        "fit-schedule-never",
        family="OP07",
        cell="fit",
        edits={SCHEDULE: ""},
        words="The scheduler makes no step while you train (or only one at the very end): lr stays as it is. Look at "
        "where scheduler.step() stands.",
        tests=FIT,
    ),
    Fault(
        "fit-schedule-first",
        family="OP07",
        cell="fit",
        edits={SCHEDULE: "", EPOCH: f"{SCHEDULE}{EPOCH}"},
        words="The scheduler makes its step before the epoch, so that the first lr is never used. Look at when in an "
        "epoch scheduler.step() is called.",
        tests=FIT,
    ),
    Fault(
        "fit-mode-as-it-came",
        family="OP15",
        cell="fit",
        edits={"    model.train()\n": ""},
        words="A model that comes in evaluation mode stays in it while you train: BatchNorm does not learn its "
        "statistics and Dropout is off. Look at the first line of `fit`.",
        tests=FIT,
    ),
    Fault(
        "fit-one-epoch-only",
        family="OP13",
        cell="fit",
        edits={"range(epochs)": "range(min(epochs, 1))"},
        words="You train for one epoch, whatever `epochs` says: either there is no loop over epochs, or it ends in its "
        "first round. Look at the loop and at the indentation of `return`.",
        tests=FIT,
    ),
    Fault(
        "fit-first-group-only",
        family="OP13",
        cell="fit",
        edits={"range(0, len(batches), accumulate)": "range(0, min(len(batches), accumulate), accumulate)"},
        words="Only the first group of each epoch is learned from. Look at the indentation in the loop over batches.",
        tests=FIT,
    ),
    Fault(
        "fit-uphill",
        family="LS09",
        cell="fit",
        edits={BACKWARD: "(-loss * len(x) / group_rows).backward()"},
        words="Your loss grows: the steps follow the gradient of minus the loss. Look at the sign of what you call "
        "backward() on.",
        tests=FIT,
    ),
    Fault(
        "fit-own-loss",
        family="LS07",
        cell="fit",
        edits={"loss_fn(model(x), y)": "nn.functional.cross_entropy(model(x), y)"},
        words="You use the cross-entropy, whatever loss_fn is. Look at how the loss of a batch is computed.",
        tests=FIT,
    ),
    Fault(
        "fit-optimizer-made-anew",
        family="OP06",
        cell="fit",
        edits={
            EPOCH: f"{EPOCH}        options = {{**optimizer.param_groups[0]}}\n"
            "        options = {name: options[name] for name in ('lr', 'momentum')}\n"
            "        optimizer = type(optimizer)(model.parameters(), **options)\n"
        },
        words="Every epoch starts without the optimizer's memory (the velocity), as if the optimizer were new each "
        "time. Look for an optimizer that is created or emptied inside `fit`.",
        tests=FIT,
    ),
    Fault(
        "fit-history-mean-of-means",
        family="EV06",
        cell="fit",
        edits={ADDED: "total += loss.item()", HISTORY: "history.append(total / len(batches))"},
        words="Your loss of an epoch is the mean of the batches' means. A row in a small batch then counts more than "
        "one in a large batch. Look at what you add up and what you divide by.",
        tests=FIT,
    ),
    Fault(
        "fit-history-sum",
        family="LS08",
        cell="fit",
        edits={HISTORY: "history.append(total)"},
        words="Your loss of an epoch is the sum over its rows, not the mean. It would grow with the data set. Look at "
        "what you append.",
        tests=FIT,
    ),
    Fault(
        "fit-history-last-batch",
        family="LS10",
        cell="fit",
        edits={HISTORY: "history.append(loss.item())"},
        words="Your loss of an epoch is that of its last batch, which jumps up and down with the rows that happen to "
        "be in it. Look at what you append.",
        tests=FIT,
    ),
    Fault(
        "fit-history-not-reset",
        family="EV07",
        cell="fit",
        edits={EPOCH: "", "    history = []\n": "    history = []\n    total, rows = 0.0, 0\n"},
        words="Your loss of an epoch is the mean over all epochs so far: the first number is right and the later ones "
        "lag behind. Look at where the sum starts at 0.",
        tests=FIT,
    ),
    Fault(
        "fit-history-of-scaled-losses",
        family="LS10",
        cell="fit",
        edits={ADDED: "total += loss.item() * len(x) / group_rows", HISTORY: "history.append(total)"},
        words="Your loss of an epoch is the sum of the groups' mean losses. With one group it is right, with more it "
        "is too large. Is it what you call backward() on that you add up? Look at what you divide by in the end.",
        tests=FIT,
    ),
    Fault(
        "fit-history-after-the-step",
        family="LS10",
        cell="fit",
        edits={
            ADDED: "pass",
            f"{MOVE}            rows": f"{MOVE}            with torch.no_grad():\n"
            "                total += sum(loss_fn(model(x), y).item() * len(x) for x, y in group)\n            rows",
        },
        words="Your losses are measured after each step, on the rows that the step has just learned from. They look "
        "better than they are. Look at when the loss is computed.",
        tests=FIT,
    ),
    Fault(
        "fit-history-of-batches",
        family="LS10",
        cell="fit",
        edits={HISTORY: "pass", ADDED: "history.append(loss.item())"},
        words="You return a number for every batch. The text asks for one for each epoch. Look at where you append.",
        tests=FIT,
    ),
    Fault(
        "fit-history-holds-graphs",
        family="AG06",
        cell="fit",
        words="The losses that you return still require a gradient: each keeps alive everything that was computed for "
        "it, and memory grows with every batch. Look at how you take the number out of the tensor.",
        tests=FIT,
    ),
    Fault(
        "fit-history-holds-tensors",
        family="LS10",
        cell="fit",
        words="The losses that you return are tensors. The text asks for Python floats, which can be printed, plotted "
        "and saved without PyTorch. Look at how you take the number out of the tensor.",
        tests=FIT,
    ),
    Fault(
        "fit-history-mean-of-groups",
        family="EV06",
        cell="fit",
        edits={ADDED: "total += loss.item() * len(x) / group_rows", "rows += group_rows": "rows += 1"},
        words="Your loss of an epoch is the mean of the groups' means. A row in a small group then counts more than "
        "one in a large group. Look at what you add up and what you divide by.",
        tests=FIT,
    ),
    Fault(
        "fit-group-as-one-batch",
        cell="fit",
        edits={
            "            for x, y in group:\n": "            for x, y in [tuple(torch.cat(part) for part in "
            "zip(*group, strict=True))]:\n"
        },
        words="You put the batches of a group together, and they pass through the model as one. Accumulating is there "
        "because they do not fit into memory together; and a normalization layer computes something else. Look at how "
        "often the model is called in a group.",
        tests=FIT,
    ),
    Fault(
        "fit-clips-the-first-group",
        family="OP08",
        cell="fit",
        edits={CLIPPED: "torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]['params'], max_norm)"},
        words="You limit the norm of the optimizer's first parameter group. The gradients of the other groups stay as "
        "long as they are, and do not enter into the norm. Look at what the norm is taken of.",
        tests=FIT,
    ),
    Fault(
        "fit-clips-each-group",
        family="OP08",
        cell="fit",
        edits={
            CLIPPED: "[torch.nn.utils.clip_grad_norm_(g['params'], max_norm) for g in optimizer.param_groups]",
        },
        words="You limit the norm of each parameter group of the optimizer by itself. All together can still be longer "
        "than max_norm, and the direction changes. Look at what the norm is taken of.",
        tests=FIT,
    ),
    Fault(
        "fit-clips-the-sum",
        family="OP08",
        cell="fit",
        edits={
            BACKWARD: "(loss * len(x)).backward()",
            MOVE: "            for p in model.parameters():\n                p.grad /= group_rows\n"
            "            optimizer.step()\n",
        },
        words="You clip the gradient of the sum over the rows, and divide by their number afterwards. Clipped steps "
        "are then too short. max_norm bounds the gradient of the mean. Look at the order of dividing and clipping.",
        tests=FIT,
    ),
    Fault(
        "fit-mode-lost-after-an-epoch",
        family="OP15",
        cell="fit",
        edits={EPOCH: EPOCH + "        (model.eval() if history else None)\n"},
        words="The first epoch learns in training mode, later ones in evaluation mode: BatchNorm stops learning its "
        "statistics and Dropout is off. Look at where the mode is set, and how often.",
        tests=FIT,
    ),
]

PAIRED = {
    *("affine-not-transposed", "affine-bias-not-added", "affine-bias-always-there"),
    *("standardize-momentum-swapped", "standardize-n-minus-one", "standardize-divides-by-variance"),
    *("standardize-eps-outside", "standardize-mode-ignored", "standardize-all-columns-together"),
    "standardize-running-n-minus-one",
    *("block-one-branch-for-all", "block-mean", "block-joined-along-rows"),
    *("sgd-uphill", "sgd-velocity-averaged", "sgd-nesterov-without-effect", "sgd-nesterov-always"),
    *("sgd-decay-ignored", "sgd-decay-grows", "sgd-rate-of-the-start"),
    *("rmsprop-uphill", "rmsprop-eps-in-the-root", "rmsprop-alpha-swapped", "rmsprop-root-missing"),
    *("adam-uphill", "adam-no-correction", "adam-m-not-corrected", "adam-v-not-corrected", "adam-betas-swapped"),
    *("adam-eps-in-the-root", "adam-decay-ignored", "adam-decay-without-rate"),
    *("snapshot-without-buffers", "snapshot-without-options"),
    *(
        "fit-gradients-not-cleared",
        "fit-means-added",
        "fit-batches-count-alike",
        "fit-rows-added",
        "fit-mode-as-it-came",
    ),
    *("fit-last-group-dropped", "fit-clips-each-value", "fit-schedule-never", "fit-leftovers-count"),
}
"""mistakes that are looked for in twos as well: the commonest ones, for every pair costs time"""

FAULTS = [
    dataclasses.replace(fault, pairs=fault.id in PAIRED)
    for fault in (
        *AFFINE_FAULTS,
        *STANDARDIZE_FAULTS,
        *BLOCK_FAULTS,
        *SGD_FAULTS,
        *RMSPROP_FAULTS,
        *ADAM_FAULTS,
        *SNAPSHOT_FAULTS,
        *FIT_FAULTS,
    )
]
