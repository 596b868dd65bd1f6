"""The mistakes that students make in a2, each as a small edit of the reference, with the words that a student reads.

Words say what was seen, why it matters and where to look. They do not say what to write.
"""

from __future__ import annotations

from autograder.judge import Fault

TENSOR, BACKWARD, ARITHMETIC = ("test_tensor",), ("test_backward",), ("test_arithmetic",)
FUNCTIONS, SHAPES, MATMUL = ("test_functions",), ("test_shapes",), ("test_matmul",)
MODES, TRAINING = ("test_modes",), ("test_training",)

IN_TENSOR = [
    Fault(
        "tensor-shares-the-array",
        cell="tensor",
        edits={"np.array(data, dtype=np.float64)": "np.asarray(data, dtype=np.float64)"},
        words="When the array that a tensor was made from changes, the tensor changes with it. A weight that is "
        "updated in place would then change the data of whoever made it. Look at what NumPy copies and what it "
        "shares.",
        tests=TENSOR,
    ),
    Fault(
        "tensor-keeps-integers",
        cell="tensor",
        edits={"np.array(data, dtype=np.float64)": "np.array(data)"},
        words="A tensor made from whole numbers holds integers: half of 3, written into it, becomes 1. Gradient "
        "steps are small, and would be cut off. Look at the dtype of `data`.",
        tests=TENSOR,
    ),
    Fault(
        "tensor-keeps-the-dtype-of-an-array",
        cell="tensor",
        edits={"np.array(data, dtype=np.float64)": "np.array(data, dtype=getattr(data, 'dtype', np.float64))"},
        words="A tensor made from an array has the dtype of the array: half of 3, written into one of integers, "
        "becomes 1. Gradient steps are small, and would be cut off. Look at the dtype of `data`.",
        tests=TENSOR,
        pairs=False,
    ),
    Fault(
        "tensor-begins-with-a-gradient",
        cell="tensor",
        edits={"self.grad = None": "self.grad = np.zeros_like(self.data)"},
        words="`grad` of a new tensor is not None. Zeros look like a gradient that happens to be 0: nobody can tell "
        "any more whether a backward pass has been here. Look at what a tensor begins with.",
        tests=TENSOR,
    ),
    Fault(
        "tensor-one-version-for-all",
        cell="tensor",
        edits={"recording = True\n": "recording = True\n    version = [0]\n", "self.version = [0]": "pass"},
        words="All your tensors have the same list `version`: raising it for one raises it for all, and then every "
        "graph seems changed. A list in the body of a class is made once. Where is one made for each tensor?",
        tests=TENSOR,
    ),
    Fault(
        "inputs-not-a-tuple",
        cell="tensor",
        edits={"tuple(inputs)": "list(inputs)"},
        words="A result does not remember its inputs as a tuple. Look at what the table of attributes says "
        "of `inputs`.",
        tests=TENSOR,
        pairs=False,
    ),
    Fault(
        "result-requires-all",
        cell="tensor",
        edits={"any(t.requires_grad": "all(t.requires_grad"},
        words="A result whose inputs partly require gradients requires none. In `weight * x` with constant data `x`, "
        "the weight would never learn. Look at how you combine `requires_grad` of the inputs.",
        tests=TENSOR,
    ),
    Fault(
        "result-ignores-recording",
        cell="tensor",
        edits={"Tensor.recording and ": ""},
        words="While `Tensor.recording` is False, your results still require gradients. Exercise 7 switches "
        "recording off to update weights without a trace. Look at the condition under which a result remembers "
        "its past.",
        tests=TENSOR,
    ),
    Fault(
        "result-always-remembers",
        cell="tensor",
        edits={
            "result = Tensor(data)": "result = Tensor(data)\n        result.inputs, result.vjp = tuple(inputs), vjp"
        },
        words="A result that requires no gradients remembers its inputs and its vjp all the same. They keep memory "
        "alive that nobody will use. Look at what stands outside of your condition.",
        tests=TENSOR,
    ),
    Fault(
        "result-saves-the-list",
        cell="tensor",
        edits={"(t, t.version[0])": "(t, t.version)"},
        words="What you note in `saved` moves when the version is raised later, so a change could never be noticed. "
        "You have kept the list; it is the number at this moment that tells whether something has changed "
        "since.",
        tests=TENSOR,
    ),
    Fault(
        "result-saves-inputs-alone",
        cell="tensor",
        edits={" for t in saved]": " for t in saved if any(t is one for one in inputs)]"},
        words="Of the tensors in `saved`, your result notes only those that are inputs, too. A vjp may also read the "
        "numbers of a tensor that gets no gradient from it: if that is changed in place, nobody notices. Which "
        "tensors in `saved` may a vjp read?",
        tests=TENSOR,
        pairs=False,
    ),
    Fault(
        "result-saves-no-constants",
        cell="tensor",
        edits={" for t in saved]": " for t in saved if t.requires_grad]"},
        words="Of the tensors in `saved`, your result notes only those that require gradients. The gradient for a "
        "weight `w` in `w * x` reads the constant data `x`: if that is changed in place, nobody notices. Which "
        "tensors in `saved` may a vjp read?",
        tests=TENSOR,
    ),
    Fault(
        "result-saves-nothing",
        cell="tensor",
        edits={"[(t, t.version[0]) for t in saved]": "()"},
        words="A result does not note the tensors in `saved`. The backward pass then has nothing to compare versions "
        "with. Look at what becomes of the argument `saved`.",
        tests=TENSOR,
    ),
]

PATHS = """paths, passed = [(tensor, gradient)], []
    while paths:
        node, gradient = paths.pop()
        if node.vjp is None:
            node.grad = (0 if node.grad is None else node.grad) + gradient
            continue
        passed.append(node)
        if any(t.version[0] != version for t, version in node.saved):
            raise RuntimeError("a tensor that the backward pass needs was changed in place")
        paths += [(t, g) for t, g in zip(node.inputs, node.vjp(gradient)) if t.requires_grad]
    for node in () if retain_graph else passed:
        node.inputs, node.saved, node.vjp = (), (), used_up
    return
    order, seen, waiting = [], set(), [(tensor, False)]"""
FORGET = "node.inputs, node.saved, node.vjp = (), (), used_up"
LEAF = "node.grad = before + np.array(gradient, dtype=np.float64)"
ACCUMULATE = "gradients[id(t)] + g if id(t) in gradients else g"
START, OWN_START = "{id(tensor): gradient}", "{id(tensor): np.array(gradient, dtype=np.float64)}"
VISIT = """        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting.extend((t, False) for t in node.inputs if t.requires_grad)"""
MARKED_EARLY = """        else:
            order.append(node)
            for t in node.inputs:
                if t.requires_grad and id(t) not in seen:
                    seen.add(id(t))
                    waiting.append((t, False))"""
MARKED_WHEN_PUSHED = """        else:
            waiting.append((node, True))
            for t in node.inputs{}:
                if t.requires_grad and id(t) not in seen:
                    seen.add(id(t))
                    waiting.append((t, False))"""
# Of some mistakes there is more than one spelling, with other answers and the same words.
NOT_IN_ORDER = (
    "A tensor passes its gradient on before everything that was computed from it has delivered its part; "
    "the late parts are lost. In a reverse topological order a tensor comes after all its users. Look at "
    "when you append a tensor to the order."
)
MARKED_TOO_EARLY = (
    "In some graphs a tensor passes its gradient on before everything that was computed from it has delivered its "
    "part; the late parts are lost. In others the order is right. While a tensor waits for its turn, it may be met "
    "again as an input of another one that waits. Look at when a tensor counts as seen."
)
BY_DISTANCE = (
    "Your tensors come in the order of their distance from the result. A result that is used near the end "
    "and once more further away has its turn at the nearer place, before all its gradients have arrived; the late "
    "ones are lost. In a reverse topological order a tensor comes after all its users. Look at how the order is "
    "made."
)
LEAVES_LAST = "sorted(order, key=lambda node: node.vjp is None)"
ADDED_IN_PLACE = (
    "You add to `.grad` in place, and the array in it is one that another leaf holds as well, so the other "
    "grows, too. An addition hands the same array to both of its inputs. Look at what you store for the "
    "first gradient."
)

IN_BACKWARD = [
    Fault(
        "gradients-overwritten",
        cell="backward",
        edits={ACCUMULATE: "g"},
        words="If a tensor is used twice, it gets the gradient of one use alone. The loss depends on it through "
        "every use, so their gradients add up. Look at what happens when a second gradient arrives at a tensor.",
        tests=BACKWARD,
    ),
    Fault(
        "leaf-overwritten",
        cell="backward",
        edits={"before = 0 if node.grad is None else node.grad": "before = 0"},
        words="A second backward pass replaces the `.grad` of the leaves. As in PyTorch it should be added to, so "
        "that the gradients of several batches can be collected. Look at what is in `.grad` before you write "
        "to it.",
        tests=BACKWARD,
    ),
    Fault(
        "gradient-of-one-number-ignored",
        cell="backward",
        edits={"    if gradient is None:": "    if gradient is None or tensor.data.size == 1:"},
        words="If `tensor` holds one number, your gradients are those for a `gradient` of 1, also where another one "
        "was passed. When should the pass start from 1?",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "gradient-ignored",
        cell="backward",
        edits={"{id(tensor): gradient}": "{id(tensor): np.ones_like(tensor.data)}"},
        words="Your gradients are those for a `gradient` of 1 everywhere, whatever was passed. Look at what the "
        "backward pass starts from.",
        tests=BACKWARD,
    ),
    Fault(
        "results-get-gradients",
        cell="backward",
        edits={
            "        for t, version in node.saved:": "        node.grad = gradient\n        for t, version in "
            "node.saved:"
        },
        words="Results of operations have a `.grad` after the backward pass. In a large network these arrays would "
        "fill the memory; only leaves keep theirs. Look at where you write to `.grad`.",
        tests=BACKWARD,
    ),
    Fault(
        "results-pile-up",
        cell="backward",
        edits={
            "        gradient = gradients.pop(id(node))": "        gradient = gradients.pop(id(node))\n"
            "        if node.vjp is not None:\n"
            "            gradient = node.collected = gradient + getattr(node, 'collected', 0)"
        },
        words="Results keep what they got from one backward pass to the next and add to them, so with retain_graph "
        "the second pass through a graph carries more than its share. Where do the gradients of one pass "
        "belong?",
        tests=BACKWARD,
    ),
    Fault(
        "constants-get-gradients",
        cell="backward",
        edits={
            "(t, False) for t in node.inputs if t.requires_grad)": "(t, False) for t in node.inputs)",
            "            if t.requires_grad:\n": "            if True:\n",
            "if node.requires_grad:": "if True:",
        },
        words="A tensor that does not require gradients has a `.grad` afterwards. Data would get gradients as large "
        "as the data. Look at which inputs you go on to.",
        tests=BACKWARD,
    ),
    Fault(
        "every-path-walked",
        cell="backward",
        edits={"order, seen, waiting = [], set(), [(tensor, False)]": PATHS},
        words="Your vjps are called once for every path to the result, and not once for all. The values come out "
        "right, but a ladder in which every tensor is used twice has twice as many paths with every rung: "
        "after 40 rungs a trillion. Add up what arrives at a tensor before you carry it on.",
        tests=BACKWARD,
    ),
    *(
        Fault(
            f"order-marked-when-pushed{spelling}",
            cell="backward",
            edits={VISIT: MARKED_WHEN_PUSHED.format(backward)},
            words=MARKED_TOO_EARLY,
            tests=BACKWARD,
            pairs=False,
        )
        for spelling, backward in {"": "", "-from-the-end": "[::-1]"}.items()
    ),
    Fault(
        "order-not-topological",
        cell="backward",
        edits={"waiting.append((node, True))": "order.append(node)", "in reversed(order)": "in order"},
        words=NOT_IN_ORDER,
        tests=BACKWARD,
    ),
    Fault(
        "order-not-topological-marked-early",
        cell="backward",
        edits={VISIT: MARKED_EARLY, "in reversed(order)": "in order"},
        words=NOT_IN_ORDER,
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "order-not-topological-leaves-last",
        cell="backward",
        edits={VISIT: MARKED_EARLY, "in reversed(order)": f"in {LEAVES_LAST}"},
        words=NOT_IN_ORDER,
        tests=BACKWARD,
        pairs=False,
    ),
    *(
        Fault(
            f"order-by-distance{spelling}",
            cell="backward",
            edits={
                "waiting.append((node, True))": "order.append(node)",
                "in reversed(order)": f"in {order}",
                "waiting.pop()": "waiting.pop(0)",
            },
            words=BY_DISTANCE,
            tests=BACKWARD,
            pairs=False,
        )
        for spelling, order in {"": "order", "-leaves-last": LEAVES_LAST}.items()
    ),
    Fault(
        "summed-in-place",
        cell="backward",
        # Named by the check: which gradients are wrong depends on the order of processing.
        words="The second gradient that arrives at a tensor is added in place, to an array that is not the tensor's "
        "own, so that the gradient of another tensor changes with it. A vjp may hand the same array to two inputs, as "
        "that of an addition does, or hand on the one that it was given. Look at how you add gradients up.",
        tests=BACKWARD,
    ),
    Fault(
        "leaves-share-a-gradient",
        cell="backward",
        edits={LEAF: "node.grad = gradient if node.grad is None else node.grad + gradient", START: OWN_START},
        words="Two leaves have the same array in `.grad`: when one is changed in place, the other changes with it. An "
        "addition hands the same array to both of its inputs: look at what you store for the first gradient of a leaf.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "leaves-share-a-new-array",
        cell="backward",
        edits={
            LEAF: "node.grad = gradient if node.grad is None else node.grad + gradient",
            START: OWN_START,
            ACCUMULATE: ACCUMULATE.replace("else g", "else np.array(g) if np.shares_memory(g, gradient) else g"),
        },
        words="The `.grad` of a leaf is the very array that a vjp has returned, where that is another one than it was "
        "given. A vjp may return one new array for two inputs, or keep the one that it returns: when one is changed in "
        "place, the other changes with it. Look at which gradients you copy.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "leaf-shares-its-gradient",
        cell="backward",
        edits={LEAF: "node.grad = gradient if node.grad is None else node.grad + gradient"},
        words="The `.grad` of a leaf is an array that somebody else has, too: another leaf, or whoever passed the "
        "gradient. When one is changed in place, the other changes with it. An addition hands the same array "
        "to both of its inputs: look at what you store for the first of them.",
        tests=BACKWARD,
    ),
    Fault(
        "leaf-adds-in-place",
        cell="backward",
        edits={
            LEAF: "node.grad = gradient if node.grad is None else np.add(node.grad, gradient, out=node.grad)",
        },
        words=ADDED_IN_PLACE,
        tests=BACKWARD,
    ),
    Fault(
        "leaf-adds-in-place-after-a-copy",
        cell="backward",
        edits={
            LEAF: "node.grad = gradient if node.grad is None else np.add(node.grad, gradient, out=node.grad)",
            START: OWN_START,
        },
        words=ADDED_IN_PLACE,
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "recursion",
        cell="backward",
        raises="RecursionError",
        words="A long chain of operations ends in RecursionError: your function calls itself once for every "
        "operation, and Python allows about a thousand calls inside each other. Keep a list of what is still "
        "to be done instead.",
        tests=BACKWARD,
    ),
    Fault(
        "graph-not-forgotten",
        cell="backward",
        edits={"if not retain_graph:": "if False:"},
        words="After a backward pass the graph is still there: it can be used again, and its memory stays taken "
        "although nobody asked with retain_graph. Look at what remains of `inputs`, `vjp` and `saved`.",
        tests=BACKWARD,
    ),
    Fault(
        "kept-graph-forgets-saved",
        cell="backward",
        edits={"        if not retain_graph:": "        node.saved = ()\n        if not retain_graph:"},
        words="With retain_graph=True your results keep their vjp, and no longer hold the tensors in `saved`. If one "
        "of these is changed in place before the next backward pass, there is nothing to compare its version with. "
        "Look at what is forgotten in every case.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "graph-always-forgotten",
        cell="backward",
        edits={"if not retain_graph:": "if True:"},
        words="With retain_graph=True your graph is forgotten all the same, and the next backward pass fails. Look "
        "at the condition under which you forget.",
        tests=BACKWARD,
    ),
    Fault(
        "used-part-not-noticed",
        cell="backward",
        edits={
            FORGET: "node.inputs, node.saved, node.vjp = (), (), None\n            node.used = True",
            "    if gradient is None:": "    if hasattr(tensor, 'used'):\n        used_up(gradient)\n"
            "    if gradient is None:",
        },
        words="A second backward pass from the same result is refused. One from a new result that was computed with a "
        "used one is not, and the leaves behind the used one silently get no gradient. Which tensors of a graph do you "
        "ask whether they were used?",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "used-result-taken-for-a-leaf",
        cell="backward",
        edits={FORGET: "node.inputs, node.saved, node.vjp = (), (), None"},
        words="A second backward pass through a used graph raises nothing, and the leaves silently get no gradient. "
        "A result that has forgotten its past looks like a leaf to you. How can it be told from one?",
        tests=BACKWARD,
    ),
    Fault(
        "vjp-kept-in-memory",
        cell="backward",
        edits={FORGET: f"node.old_vjp = node.vjp\n            {FORGET}"},
        words="A used graph is refused, but its vjp functions are still held by the results, and with them all "
        "arrays that they read. Look at what a result refers to after the pass.",
        tests=BACKWARD,
    ),
    Fault(
        "inputs-kept-in-memory",
        cell="backward",
        edits={FORGET: "node.saved, node.vjp = (), used_up"},
        words="A used graph is refused, but its results still hold the tensors that they were computed from, and these "
        "hold theirs: no memory is free while the last result is in use. Look at what a result refers to after the "
        "pass.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "saved-kept-in-memory",
        cell="backward",
        edits={FORGET: "node.inputs, node.vjp = (), used_up"},
        words="A used graph is refused, but the results still hold the tensors in `saved`, with all their numbers. "
        "Look at what a result refers to after the pass.",
        tests=BACKWARD,
    ),
    Fault(
        "vjp-called-before-the-comparison",
        cell="backward",
        words="If a tensor in `saved` was changed in place, your backward pass raises RuntimeError, but it has called "
        "the vjp that reads the changed numbers before. Look at the order of the two.",
        tests=BACKWARD,
    ),
    Fault(
        "backward-returns",
        cell="backward",
        words="Your `backward` returns something. What it finds belongs into `.grad` of the leaves, and nowhere else.",
        tests=BACKWARD,
    ),
    Fault(
        "versions-of-results-alone-compared",
        cell="backward",
        edits={"in node.saved:": "in (node.saved if node is tensor else ()):"},
        words="A change in place is noticed if the tensor that the pass starts from had saved the changed one. If a "
        "result further back had saved it, the pass goes on with the new numbers. Whose `saved` do you look at?",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "versions-of-constants-not-compared",
        cell="backward",
        edits={"if t.version[0] != version:": "if t.requires_grad and t.version[0] != version:"},
        words="A tensor in `saved` that requires no gradients was changed in place after the forward pass, and the "
        "backward pass went on with the new numbers. They are read for the gradient of another tensor. Look at the "
        "pairs in `saved` that you compare.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "versions-not-compared",
        cell="backward",
        edits={"if t.version[0] != version:": "if False:"},
        words="A tensor in `saved` was changed in place after the forward pass, and the backward pass went on with "
        "the new numbers: the gradient is that of no function at all. Look at the pairs in `saved`.",
        tests=BACKWARD,
    ),
    Fault(
        "several-numbers-taken-for-a-loss",
        cell="backward",
        edits={"if tensor.data.size != 1:": "if False:"},
        words="Without a gradient, backward goes on for a tensor with several numbers, as if their sum were the "
        "loss. Most often that is a forgotten mean, which should be noticed. Look at the case without "
        "`gradient`.",
        tests=BACKWARD,
    ),
    Fault(
        "single-number-refused",
        cell="backward",
        edits={"tensor.data.size != 1": "tensor.data.ndim != 0"},
        words="Without a gradient, backward refuses a single number whose shape is (1,) or (1, 1). Count the "
        "numbers, and not the axes.",
        tests=BACKWARD,
    ),
]

FROM_OP = "Tensor.from_op(a.data {} b.data, (a, b), vjp, saved=(a, b))"
UNSAVED = "Tensor.from_op(a.data {} b.data, (a, b), vjp)"
BY_TWO = "unbroadcast(gradient * b.data, a.shape), unbroadcast(gradient * a.data, b.shape)"
NOT_SAVED = (
    "The backward pass of your {} computes with numbers that were changed after the forward pass. It is the "
    "gradient of "
    "no function at all, and nobody is told. What does your vjp read, and who would notice a change of it?"
)
CONSTANT_NOT_SAVED = (
    "If one operand of your {} requires gradients and the other does not, a change in place of the other goes "
    "unnoticed, and the gradient is that of no function at all. Whose numbers does the gradient for the one operand "
    "read?"
)
ONLY_GRADIENTS = ", saved=[t for t in (a, b) if t.requires_grad])"
MISSING = "gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))"
MISSING_NOT_SUMMED = (
    "A gradient keeps axes that broadcasting has put in front: a row of shape (3,) that becomes (2, 3) has to get a "
    "gradient of shape (3,), with the sums over the columns. Does `unbroadcast` sum over axes that the shape lacks?"
)
DIVIDED = f"return {FROM_OP.format('/')}"

IN_ARITHMETIC = [
    # The first that fits is named. One operation's own mistake gives what a wrong `unbroadcast` gives wherever the
    # calls that failed are of that operation alone; a wrong `unbroadcast` is seen by a check of its own before.
    Fault(
        "add-not-unbroadcast",
        cell="arithmetic",
        edits={"unbroadcast(gradient, a.shape), unbroadcast(gradient, b.shape)": "gradient, gradient"},
        words="The gradients of your `add` have the shape of the sum also where an operand was stretched. Each has "
        "to have the shape of its own tensor.",
        tests=ARITHMETIC,
    ),
    Fault(
        "mul-not-unbroadcast",
        cell="arithmetic",
        edits={BY_TWO: "gradient * b.data, gradient * a.data"},
        words="The gradients of your `mul` have the shape of the product also where a factor was stretched. Each has "
        "to have the shape of its own tensor.",
        tests=ARITHMETIC,
    ),
    Fault(
        "sub-not-unbroadcast",
        cell="arithmetic",
        edits={"unbroadcast(gradient, a.shape), unbroadcast(-gradient, b.shape)": "gradient, -gradient"},
        words="The gradients of your `sub` have the shape of the difference also where an operand was stretched. Each "
        "has to have the shape of its own tensor.",
        tests=ARITHMETIC,
    ),
    Fault(
        "div-not-unbroadcast",
        cell="arithmetic",
        edits={"unbroadcast(gradient / b.data, a.shape), unbroadcast(grad_b, b.shape)": "gradient / b.data, grad_b"},
        words="The gradients of your `div` have the shape of the quotient also where an operand was stretched. Each "
        "has to have the shape of its own tensor.",
        tests=ARITHMETIC,
    ),
    Fault(
        "missing-axes-not-summed",
        cell="arithmetic",
        edits={MISSING: "pass"},
        words=MISSING_NOT_SUMMED,
        tests=ARITHMETIC,
        pairs=False,
    ),
    Fault(
        "missing-axes-not-summed-lined-up",
        cell="arithmetic",
        edits={MISSING: "pass", "enumerate(shape)": "enumerate(shape, gradient.ndim - len(shape))"},
        words=MISSING_NOT_SUMMED,
        tests=ARITHMETIC,
        pairs=False,
    ),
    Fault(
        "one-missing-axis-summed",
        cell="arithmetic",
        edits={"gradient.ndim - len(shape))": "min(1, gradient.ndim - len(shape)))"},
        words="Your `unbroadcast` sums over one of the axes in front that the shape lacks. Broadcasting may have added "
        "several, as for a number that becomes a matrix. Look at how often you sum, or over how many axes.",
        tests=ARITHMETIC,
        pairs=False,
    ),
    Fault(
        "broadcasting-not-undone",
        cell="arithmetic",
        edits={MISSING: "return gradient"},
        words="Your `unbroadcast` returns the gradient as it came, in the shape of the result. An entry that was "
        "stretched to four places influences the loss through all four. Which shape does the gradient of a "
        "tensor have?",
        tests=ARITHMETIC,
    ),
    Fault(
        "stretched-axes-not-summed",
        cell="arithmetic",
        edits={"return gradient.sum(axis=stretched, keepdims=True)": "return gradient"},
        words="A gradient keeps the size to which broadcasting has stretched an axis: a column of shape (2, 1) that "
        "becomes (2, 3) has to get a gradient of shape (2, 1), with the sums over its rows. Does `unbroadcast` sum "
        "over stretched axes of size 1, and does every operation use it?",
        tests=ARITHMETIC,
    ),
    Fault(
        "one-stretched-axis-summed",
        cell="arithmetic",
        edits={"if size == 1)": "if size == 1 and gradient.shape[axis] != 1)[:1]"},
        words="Your `unbroadcast` undoes the stretching along one axis of size 1 alone. A tensor may be stretched "
        "along several, as (1, 1) is to (2, 3), and each of them has to be summed over. Look at when your loop ends, "
        "or at how many axes you look for.",
        tests=ARITHMETIC,
        pairs=False,
    ),
    Fault(
        "stretched-axes-dropped",
        cell="arithmetic",
        edits={"keepdims=True": "keepdims=False"},
        words="Your `unbroadcast` sums over an axis of size 1, and the axis is gone: the gradient of a column has "
        "become a row. The gradient has the shape of its tensor, with every axis in its place.",
        tests=ARITHMETIC,
    ),
    Fault(
        "broadcasting-averaged",
        cell="arithmetic",
        edits={
            "gradient.sum(axis=tuple(range(": "gradient.mean(axis=tuple(range(",
            "gradient.sum(axis=stretched": "gradient.mean(axis=stretched",
        },
        words="Your `unbroadcast` takes the mean over the places that an entry was stretched to. Each of these "
        "places adds its part to the loss, so their gradients add up; no division is called for.",
        tests=ARITHMETIC,
    ),
    Fault(
        "wrong-axes-summed",
        cell="arithmetic",
        edits={"range(gradient.ndim - len(shape))": "range(len(shape), gradient.ndim)"},
        words="Your `unbroadcast` sums over the last axes where the shape has fewer. NumPy lines shapes up at their "
        "ends, and adds axes in front.",
        tests=ARITHMETIC,
    ),
    Fault(
        "sub-sign",
        cell="arithmetic",
        edits={"unbroadcast(-gradient, b.shape)": "unbroadcast(gradient, b.shape)"},
        words="In `a - b` your gradient for `b` has the wrong sign. If `b` grows, the difference falls.",
        tests=ARITHMETIC,
    ),
    Fault(
        "sub-swapped",
        cell="arithmetic",
        edits={"a.data - b.data": "b.data - a.data"},
        words="`sub(a, b)` computes `b - a`. For `2 - t` Python calls `t.__rsub__(2)`, and the class above has put "
        "the two into order for you.",
        tests=ARITHMETIC,
    ),
    Fault(
        "mul-factors-swapped",
        cell="arithmetic",
        edits={BY_TWO: "unbroadcast(gradient * a.data, a.shape), unbroadcast(gradient * b.data, b.shape)"},
        words="In `a * b` each factor gets a gradient that was multiplied by itself. The slope of a product with "
        "respect to one factor is set by the other.",
        tests=ARITHMETIC,
    ),
    Fault(
        "div-sign",
        cell="arithmetic",
        edits={"-gradient * a.data / b.data**2": "gradient * a.data / b.data**2"},
        words="In `a / b` your gradient for `b` has the wrong sign. For positive numbers a quotient falls when its "
        "denominator grows.",
        tests=ARITHMETIC,
    ),
    Fault(
        "div-square-missing",
        cell="arithmetic",
        edits={"-gradient * a.data / b.data**2": "-gradient * a.data / b.data"},
        words="In `a / b` your gradient for `b` is divided by `b` once. Write the quotient as `a * b ** -1`: which "
        "power of `b` has its slope?",
        tests=ARITHMETIC,
    ),
    Fault(
        "div-numerator-missing",
        cell="arithmetic",
        edits={"-gradient * a.data / b.data**2": "-gradient / b.data**2"},
        words="In `a / b` your gradient for `b` is that of `1 / b`. The numerator is a factor of it.",
        tests=ARITHMETIC,
    ),
    Fault(
        "neg-sign",
        cell="arithmetic",
        edits={"lambda gradient: (-gradient,)": "lambda gradient: (gradient,)"},
        words="`-a` hands the gradient on unchanged. If `a` grows, `-a` falls.",
        tests=ARITHMETIC,
    ),
    Fault(
        "power-factor-missing",
        cell="arithmetic",
        edits={"gradient * exponent * a.data": "gradient * a.data"},
        words="In `a ** k` the slope lacks the factor k: at `a = 1`, `a ** 3` grows three times as fast as `a`.",
        tests=ARITHMETIC,
    ),
    Fault(
        "power-exponent-not-lowered",
        cell="arithmetic",
        edits={"a.data ** (exponent - 1)": "a.data ** exponent"},
        words="In `a ** k` your slope still has `a` to the power k. The slope of a square is a straight line: which "
        "power of `a` is that?",
        tests=ARITHMETIC,
    ),
    Fault(
        "power-as-exponential",
        cell="arithmetic",
        edits={"gradient * exponent * a.data ** (exponent - 1)": "gradient * a.data**exponent * np.log(a.data)"},
        words="Your slope of `a ** k` is the one with respect to the exponent: `a ** k * log(a)`. Here the exponent "
        "is a constant, and the base moves.",
        tests=ARITHMETIC,
    ),
    Fault(
        "power-of-float-zero",
        cell="arithmetic",
        edits={"if exponent == 0:": "if type(exponent) is int and exponent == 0:"},
        words="At `a = 0` your slope of `a ** 0` is right, and that of `a ** 0.0` is nan. The two are the same "
        "function. Look at how you ask whether the exponent is 0.",
        tests=ARITHMETIC,
        pairs=False,
    ),
    Fault(
        "power-zero-at-zero",
        cell="arithmetic",
        edits={"if exponent == 0:": "if False:"},
        words="At `a = 0` your slope of `a ** 0` is nan: 0 times a negative power of 0, for example, is 0 times "
        "infinity. `a ** 0` is 1 everywhere: how steep is it?",
        tests=ARITHMETIC,
        pairs=False,
    ),
    Fault(
        "power-divides-by-zero",
        cell="arithmetic",
        edits={"exponent * a.data ** (exponent - 1)": "exponent * a.data**exponent / a.data"},
        words="At `a = 0` your slope of `a ** k` is 0 / 0. For `k = 2` it should be 0. Look for a division by `a`.",
        tests=ARITHMETIC,
    ),
    Fault(
        "arithmetic-not-protected",
        cell="arithmetic",
        edits={
            FROM_OP.format("*"): UNSAVED.format("*"),
            FROM_OP.format("/"): UNSAVED.format("/"),
            "(a,), vjp, saved=(a,))": "(a,), vjp)",
        },
        words=NOT_SAVED.format("product (and of others)"),
        tests=ARITHMETIC,
    ),
    Fault(
        "div-result-not-protected",
        cell="arithmetic",
        edits={
            "-gradient * a.data / b.data**2": "-gradient * result.data / b.data",
            DIVIDED: DIVIDED.replace("return", "result =") + "\n    return result",
        },
        words="The result of `a / b` was changed in place after the forward pass, and your gradient for `b` changes "
        "with it: it reads the array that the result holds. Who else has this array, and who would notice a change?",
        tests=ARITHMETIC,
    ),
    Fault(
        "div-result-and-operands-not-protected",
        cell="arithmetic",
        edits={
            "-gradient * a.data / b.data**2": "-gradient * result.data / b.data",
            DIVIDED: f"result = {UNSAVED.format('/')}\n    return result",
        },
        words=NOT_SAVED.format("`div`"),
        tests=ARITHMETIC,
        pairs=False,
    ),
    *(
        Fault(
            f"{name}-constant-not-saved",
            cell="arithmetic",
            edits={FROM_OP.format(sign): UNSAVED.format(sign)[:-1] + ONLY_GRADIENTS},
            words=CONSTANT_NOT_SAVED.format(f"`{name}`"),
            tests=ARITHMETIC,
        )
        for name, sign in {"mul": "*", "div": "/"}.items()
    ),
    *(
        Fault(
            f"mul-{name}",
            cell="arithmetic",
            edits={FROM_OP.format("*"): UNSAVED.format("*")[:-1] + saved},
            words=NOT_SAVED.format("`mul`"),
            tests=ARITHMETIC,
        )
        for name, saved in {"not-protected": ")", "saves-a-alone": ", (a,))", "saves-b-alone": ", (b,))"}.items()
    ),
    Fault(
        "div-not-protected",
        cell="arithmetic",
        edits={FROM_OP.format("/"): UNSAVED.format("/")},
        words=NOT_SAVED.format("`div`"),
        tests=ARITHMETIC,
    ),
    Fault(
        "power-not-protected",
        cell="arithmetic",
        edits={"(a,), vjp, saved=(a,))": "(a,), vjp)"},
        words=NOT_SAVED.format("`power`"),
        tests=ARITHMETIC,
    ),
]

EXP = "return Tensor.from_op(value.copy(), (a,), lambda gradient: (gradient * value,))"
EXP_LATE = "result = Tensor.from_op(value, (a,), lambda gradient: (gradient * result.data,))\n    return result"
TANH = "return Tensor.from_op(value.copy(), (a,), lambda gradient: (gradient * (1 - value**2),))"
TANH_LATE = (
    "result = Tensor.from_op(value, (a,), lambda gradient: (gradient * (1 - result.data**2),))\n    return result"
)
EXP_OF_THE_INPUT = {EXP: EXP.replace("gradient * value", "gradient * np.exp(a.data)")}
TANH_OF_THE_INPUT = {TANH: TANH.replace("value**2", "np.tanh(a.data) ** 2")}
RELU_LATE = {"gradient * positive": "gradient * (a.data > 0)"}
LOG_UNSAVED = {"(gradient / a.data,), saved=(a,))": "(gradient / a.data,))"}

IN_FUNCTIONS = [
    Fault(
        "exp-slope-is-the-input",
        cell="functions",
        edits={"(gradient * value,)": "(gradient * a.data,)"},
        words="Your slope of `exp` at `a` is `a`. The exponential is the function that is its own slope.",
        tests=FUNCTIONS,
    ),
    Fault(
        "exp-slope-missing",
        cell="functions",
        edits={"(gradient * value,)": "(gradient,)"},
        words="`exp` hands the gradient on unchanged. Its slope is 1 at 0 alone; where it is large, it is steep.",
        tests=FUNCTIONS,
    ),
    Fault(
        "log-slope-inverted",
        cell="functions",
        edits={"gradient / a.data": "gradient * a.data"},
        words="Your slope of `log` grows with `a`. The logarithm gets flatter the larger its argument is.",
        tests=FUNCTIONS,
    ),
    Fault(
        "log-base-ten",
        cell="functions",
        edits={"np.log(a.data)": "np.log10(a.data)"},
        words="Your `log` is the logarithm to base 10. The natural one is meant, for which `log(exp(a))` is `a`.",
        tests=FUNCTIONS,
    ),
    Fault(
        "relu-mask-from-the-gradient",
        cell="functions",
        edits={"gradient * positive": "gradient * (gradient > 0)"},
        words="The backward pass of your `relu` cuts off negative gradients. What decides whether a gradient passes "
        "is the input of the forward pass; the gradient itself may have any sign.",
        tests=FUNCTIONS,
    ),
    Fault(
        "relu-mask-missing",
        cell="functions",
        edits={"gradient * positive": "gradient"},
        words="The backward pass of your `relu` lets everything pass. Where the input was negative, the result is 0 "
        "whatever the input is exactly: what is the slope there?",
        tests=FUNCTIONS,
    ),
    Fault(
        "tanh-slope-of-the-input",
        cell="functions",
        edits={"1 - value**2": "1 - a.data**2"},
        words="Your slope of `tanh` is 1 minus the square of the input. The formula has the square of the result.",
        tests=FUNCTIONS,
    ),
    Fault(
        "tanh-square-missing",
        cell="functions",
        edits={"1 - value**2": "1 - value"},
        words="Your slope of `tanh` is 1 minus the result, without a square. `tanh` is as steep at -1 as it is at 1; "
        "is your slope?",
        tests=FUNCTIONS,
    ),
    *(
        Fault(
            f"functions-not-protected{spelling}",
            cell="functions",
            edits={**EXP_OF_THE_INPUT, **RELU_LATE, **TANH_OF_THE_INPUT, **log},
            words=NOT_SAVED.format("`exp` (and of others)"),
            tests=FUNCTIONS,
            pairs=False,
        )
        for spelling, log in {"": LOG_UNSAVED, "-but-log": {}}.items()
    ),
    *(
        Fault(
            f"{name}-not-protected", cell="functions", edits=edits, words=NOT_SAVED.format(f"`{name}`"), tests=FUNCTIONS
        )
        for name, edits in {
            "exp": EXP_OF_THE_INPUT,
            "log": LOG_UNSAVED,
            "relu": RELU_LATE,
            "tanh": TANH_OF_THE_INPUT,
        }.items()
    ),
    Fault(
        "results-not-protected",
        cell="functions",
        edits={EXP: EXP_LATE, TANH: TANH_LATE},
        words=NOT_SAVED.format("`exp`, and of `tanh`,"),
        tests=FUNCTIONS,
    ),
    Fault(
        "exp-result-not-protected",
        cell="functions",
        edits={EXP: EXP_LATE},
        words=NOT_SAVED.format("`exp`"),
        tests=FUNCTIONS,
    ),
    Fault(
        "tanh-result-not-protected",
        cell="functions",
        edits={TANH: TANH_LATE},
        words=NOT_SAVED.format("`tanh`"),
        tests=FUNCTIONS,
    ),
]

VIEWS = (
    "The result of your {} holds a view of the numbers of `a`, and a version of its own. After a change in place of "
    "`a` the backward pass computed with the new numbers, without a word. Let the result hold a copy, or share the "
    "version with `a`."
)


def view(result: str, data: str) -> dict[str, str]:
    """The edit after which `result`, the end of an operation, holds the array itself."""
    return {f"return {result}": f"result = {result}\n    result.data = {data}\n    return result"}


RESHAPED = view(
    "Tensor.from_op(a.data.reshape(shape), (a,), lambda gradient: (gradient.reshape(a.shape),))",
    "a.data.reshape(shape)",
)
TRANSPOSED = view(
    "Tensor.from_op(a.data.transpose(axes), (a,), lambda gradient: (gradient.transpose(back),))",
    "a.data.transpose(axes)",
)
PICKED = view("Tensor.from_op(a.data[index], (a,), vjp)", "a.data[index]")

MEAN = "value = a.data.mean(axis, keepdims=keepdims)"
COUNT = "a.data.size if axis is None else a.shape[{}]"
BACK_ONE_BY_ONE = """for k in () if keepdims else range(a.data.ndim) if axis is None else np.atleast_1d(axis):
            gradient = np.expand_dims(gradient, int(k))"""
IN_ORDER_ONE_BY_ONE = """if axis is not None and not keepdims:
            for k in sorted(np.atleast_1d(axis)):
                {0} = np.expand_dims({0}, int(k))
        return (np.broadcast_to({0}, a.shape),)"""

IN_SHAPES = [
    Fault(
        "views-change-unseen",
        cell="shapes",
        edits={**RESHAPED, **TRANSPOSED, **PICKED},
        words=VIEWS.format("`reshape` (and of others)"),
        tests=SHAPES,
        pairs=False,
    ),
    *(
        Fault(f"{name}-view-changes-unseen", cell="shapes", edits=edits, words=VIEWS.format(f"`{name}`"), tests=SHAPES)
        for name, edits in {"reshape": RESHAPED, "transpose": TRANSPOSED, "getitem": PICKED}.items()
    ),
    *(
        Fault(
            f"summed-axis-not-put-back{spelling}",
            cell="shapes",
            edits={
                "np.broadcast_to(np.reshape(gradient, kept), a.shape)": stretched.format("gradient"),
                "np.broadcast_to(np.reshape(share, kept), a.shape)": stretched.format("share"),
            },
            words="Over some axes the backward pass of your sum or of your mean fails, or stretches the gradient along "
            "the wrong axis. Without keepdims, the gradient that arrives lacks the axis that is gone, and NumPy lines "
            "shapes up at their ends. What has to happen to the gradient before it is stretched?",
            tests=SHAPES,
            pairs=False,
        )
        for spelling, stretched in {"": "np.broadcast_to({}, a.shape)", "-times-ones": "{} * np.ones(a.shape)"}.items()
    ),
    Fault(
        "mean-not-divided",
        cell="shapes",
        edits={"gradient * value.size / a.data.size": "gradient"},
        words="The gradient of your mean is that of a sum. Raise one of five entries by 1: by how much does the mean "
        "grow?",
        tests=SHAPES,
    ),
    Fault(
        "mean-divided-by-all",
        cell="shapes",
        edits={"gradient * value.size / a.data.size": "gradient / a.data.size"},
        words="The gradient of your mean over one axis is divided by the number of all entries. How many entries go "
        "into each mean?",
        tests=SHAPES,
    ),
    Fault(
        "mean-divided-by-one-axis",
        cell="shapes",
        edits={
            MEAN: f"count = {COUNT.format('axis[0] if isinstance(axis, tuple) else axis')}\n"
            "    value = a.data.sum(axis, keepdims=keepdims) / count",
            "gradient * value.size / a.data.size": "gradient / count",
        },
        words="Your mean over several axes is a multiple of the right one, and so are its gradients: the sum is "
        "divided by the size of one of the axes. How many entries go into a mean over two axes?",
        tests=SHAPES,
    ),
    Fault(
        "mean-over-one-axis-alone",
        cell="shapes",
        edits={
            MEAN: f"count = {COUNT.format('axis')}\n    value = a.data.sum(axis, keepdims=keepdims) / count",
            "gradient * value.size / a.data.size": "gradient / count",
        },
        words="Your mean fails for a tuple of axes: `a.shape` is a tuple, and a tuple of axes is no index of it. How "
        "many entries go into a mean over two axes, and how do you get that number for any number of axes?",
        tests=SHAPES,
        pairs=False,
    ),
    Fault(
        "axes-put-back-one-by-one",
        cell="shapes",
        edits={
            "kept = np.sum(a.data, axis, keepdims=True).shape": BACK_ONE_BY_ONE,
            "np.reshape(gradient, kept)": "gradient",
            "kept = np.mean(a.data, axis, keepdims=True).shape": BACK_ONE_BY_ONE,
            "(np.broadcast_to(np.reshape(share, kept), a.shape),)": "(np.broadcast_to(share, a.shape),)",
        },
        words="For some tuples of axes the backward pass of your sum fails, or puts the axes back in the wrong places. "
        "If you put them back one by one, each moves those that come after it: an axis that was number 1 in `a` is not "
        "number 1 while another before it is missing. Look at the order in which they come.",
        tests=SHAPES,
        pairs=False,
    ),
    Fault(
        "sum-keepdims-ignored",
        cell="shapes",
        edits={"a.data.sum(axis, keepdims=keepdims)": "a.data.sum(axis)"},
        words="Your sum drops the axis also with keepdims=True. Look at what becomes of the argument.",
        tests=SHAPES,
    ),
    Fault(
        "reshape-not-undone",
        cell="shapes",
        edits={"gradient.reshape(a.shape)": "gradient"},
        words="The gradient of a reshaped tensor arrives in the new shape. It has to have the shape of the tensor.",
        tests=SHAPES,
    ),
    Fault(
        "transpose-not-undone",
        cell="shapes",
        edits={"gradient.transpose(back)": "gradient"},
        words="The gradient of a transposed tensor is handed on as it came, with its axes in the new order. Each "
        "axis has to go back to its place.",
        tests=SHAPES,
    ),
    Fault(
        "transpose-axes-not-inverted",
        cell="shapes",
        edits={"np.argsort(axes)": "axes"},
        words="You bring the axes back with the permutation that moved them. For two axes that is right; with three, "
        "a rotation applied twice is not where it started. Which permutation undoes it?",
        tests=SHAPES,
    ),
    *(
        Fault(
            f"transpose-fails-without-axes{spelling}",
            cell="shapes",
            edits={"None if axes is None else np.argsort(axes)": inverse},
            words="Without axes, as in `a.transpose()`, your function or its backward pass ends in an error. None "
            "stands for the reversed order, which is its own inverse. Look at every line that reads `axes`.",
            tests=SHAPES,
            pairs=False,
        )
        # The first fails for every tensor, the second if there is more than one axis.
        for spelling, inverse in {"": "np.argsort([k for k in axes])", "-of-matrices": "np.argsort(axes)"}.items()
    ),
    Fault(
        "transpose-only-reversed",
        cell="shapes",
        edits={"gradient.transpose(back)": "gradient.transpose()"},
        words="Your gradient always has its axes reversed, whatever `axes` was. Look at what the vjp of `transpose` "
        "makes of the argument.",
        tests=SHAPES,
    ),
    Fault(
        "getitem-repeats-lost-in-tuples",
        cell="shapes",
        edits={
            "np.add.at(grad_a, index, gradient)": "if isinstance(index, tuple):\n"
            "            grad_a[index] += gradient\n        else:\n"
            "            np.add.at(grad_a, index, gradient)"
        },
        words="If the index is a list, your gradients of an entry that it picks twice add up. If the list stands in a "
        "tuple of indices, as in `a[:, [0, 2, 2]]`, such an entry gets the gradient of one use alone. Which kinds of "
        "index can pick an entry twice?",
        tests=SHAPES,
        pairs=False,
    ),
    Fault(
        "summed-axes-put-back-one-by-one",
        cell="shapes",
        edits={
            "kept = np.sum(a.data, axis, keepdims=True).shape\n        "
            "return (np.broadcast_to(np.reshape(gradient, kept), a.shape),)": IN_ORDER_ONE_BY_ONE.format("gradient"),
            "return (np.broadcast_to(np.reshape(share, kept), a.shape),)": IN_ORDER_ONE_BY_ONE.format("share"),
        },
        words="The backward pass of your sum or of your mean is right for one axis, and wrong for some tuples of axes "
        "that are counted from the end. Put back one after the other, such an axis is counted from another end: the "
        "first one that comes back has moved it. How can all be put back at once?",
        tests=SHAPES,
        pairs=False,
    ),
    Fault(
        "getitem-repeats-lost-in-arrays",
        cell="shapes",
        edits={
            "np.add.at(grad_a, index, gradient)": "if isinstance(index, np.ndarray):\n"
            "            grad_a[index] += gradient\n        else:\n"
            "            np.add.at(grad_a, index, gradient)"
        },
        words="If the index is a list, your gradients of an entry that it picks twice add up. If it is an array, such "
        "an entry gets the gradient of one use alone. Which kinds of index can pick an entry twice?",
        tests=SHAPES,
        pairs=False,
    ),
    Fault(
        "getitem-repeats-lost",
        cell="shapes",
        edits={"np.add.at(grad_a, index, gradient)": "grad_a[index] += gradient"},
        words="An entry that an index picks twice gets the gradient of one use alone: `g[[0, 2, 2]] += gradient` and "
        "`g[[0, 2, 2]] = gradient` write the second 2 over the first. Look up `np.add.at`.",
        tests=SHAPES,
    ),
    Fault(
        "getitem-not-placed",
        cell="shapes",
        edits={"return (grad_a,)": "return (gradient,)"},
        words="The gradient of `a[index]` is handed on in the shape of the result. It has to have the shape of `a`, "
        "with 0 where nothing was picked.",
        tests=SHAPES,
    ),
    Fault(
        "getitem-marks-only",
        cell="shapes",
        edits={"np.add.at(grad_a, index, gradient)": "np.add.at(grad_a, index, 1.0)"},
        words="The gradient of `a[index]` counts how often each entry was picked, and does not depend on the "
        "gradient that arrives. What is put into these places?",
        tests=SHAPES,
    ),
]

GRAD_A, GRAD_B = "gradient @ np.swapaxes(b.data, -1, -2)", "np.swapaxes(a.data, -1, -2) @ gradient"
ONE_SIDE = {
    "order": (
        {"a": "np.swapaxes(b.data, -1, -2) @ gradient", "b": "gradient @ np.swapaxes(a.data, -1, -2)"},
        "In `a @ b` your gradient for `{0}` multiplies in the wrong order: the shapes fit for square matrices alone. "
        "Write down the shapes of `a`, `b` and the result, and see which product has the shape of `{0}`.",
    ),
    "not-transposed": (
        {"a": "gradient @ b.data", "b": "a.data @ gradient"},
        "In `a @ b` your gradient for `{0}` uses the other matrix as it is. It carries a gradient back from columns to "
        "rows: then it has to be transposed.",
    ),
    "all-axes-reversed": (
        {"a": "gradient @ b.data.T", "b": "a.data.T @ gradient"},
        "For matrices your gradient for `{0}` is right, for stacks it is not: `.T` reverses all axes, those of the "
        "stack, too. Only the last two are to be swapped.",
    ),
}
"""a mistake -> what stands in it for the gradient of each matrix, and words"""

IN_MATMUL = [
    *(
        Fault(
            f"matmul-{name}-for-{matrix}",
            cell="matmul",
            edits={{"a": GRAD_A, "b": GRAD_B}[matrix]: wrong},
            words=words.format(matrix),
            tests=MATMUL,
        )
        for name, (both, words) in ONE_SIDE.items()
        for matrix, wrong in both.items()
    ),
    Fault(
        "matmul-order",
        cell="matmul",
        edits={GRAD_A: "np.swapaxes(b.data, -1, -2) @ gradient", GRAD_B: "gradient @ np.swapaxes(a.data, -1, -2)"},
        words="In `a @ b` your gradients multiply in the wrong order: the shapes fit for square matrices alone. "
        "Write down the shapes of `a`, `b` and the result, and see which product has the shape of `a`.",
        tests=MATMUL,
    ),
    Fault(
        "matmul-not-transposed",
        cell="matmul",
        edits={GRAD_A: "gradient @ b.data", GRAD_B: "a.data @ gradient"},
        words="In `a @ b` your gradients use the other matrix as it is. It carries a gradient back from columns to "
        "rows: then it has to be transposed.",
        tests=MATMUL,
    ),
    Fault(
        "matmul-all-axes-reversed",
        cell="matmul",
        edits={GRAD_A: "gradient @ b.data.T", GRAD_B: "a.data.T @ gradient"},
        words="For matrices your gradients are right, for stacks they are not: `.T` reverses all axes, those of the "
        "stack, too. Only the last two are to be swapped.",
        tests=MATMUL,
    ),
    Fault(
        "matmul-stretched-axes-not-summed",
        cell="matmul",
        edits={
            "unbroadcast(grad_a, a.shape), unbroadcast(grad_b, b.shape)": "grad_a.sum(tuple(range(grad_a.ndim - "
            "a.data.ndim))), grad_b.sum(tuple(range(grad_b.ndim - b.data.ndim)))"
        },
        words="The gradient for a single matrix that serves a whole stack is right. For a stack of one, such as one of "
        "shape (1, 2, 3), your gradient has the size to which the stack was stretched. It has to have the shape of its "
        "own tensor.",
        tests=MATMUL,
        pairs=False,
    ),
    *(
        Fault(
            f"matmul-{side}-not-unbroadcast",
            cell="matmul",
            edits={f"unbroadcast({gradient}, {gradient[-1]}.shape)": gradient},
            words=f"If the {side} matrix of a product serves a whole stack, your gradient for it is a stack, too. It "
            "was stretched, as in exercise 3: what becomes of the gradients of its uses?",
            tests=MATMUL,
            pairs=False,
        )
        for side, gradient in {"left": "grad_a", "right": "grad_b"}.items()
    ),
    Fault(
        "matmul-not-unbroadcast",
        cell="matmul",
        edits={"unbroadcast(grad_a, a.shape), unbroadcast(grad_b, b.shape)": "grad_a, grad_b"},
        words="If one matrix serves a whole stack, your gradient for it is a stack, too. It was stretched, as in "
        "exercise 3: what becomes of the gradients of its uses?",
        tests=MATMUL,
    ),
    Fault(
        "matmul-constant-not-saved",
        cell="matmul",
        edits={", saved=(a, b))": ONLY_GRADIENTS},
        words=CONSTANT_NOT_SAVED.format("`matmul`"),
        tests=MATMUL,
    ),
    Fault(
        "matmul-not-protected",
        cell="matmul",
        edits={"(a, b), vjp, saved=(a, b))": "(a, b), vjp)"},
        words=NOT_SAVED.format("`matmul`"),
        tests=MATMUL,
    ),
    *(
        Fault(
            f"matmul-array-on-the-{side}",
            cell="matmul",
            edits={"a, b = as_tensor(a), as_tensor(b)": f"{other} = as_tensor({other})", ", saved=(a, b))": saved},
            words=f"Products of two tensors are right. `{product}` ends in an error, at once or in the backward pass. "
            "Which of the two operands may be an array, and what makes a tensor of it?",
            tests=MATMUL,
            pairs=False,
        )
        for side, other, product, saved in (
            ("right", "a", "x @ array", ", saved=(a, b))"),
            ("right-not-saved", "a", "x @ array", ")"),
            ("left", "b", "array @ x", ", saved=(a, b))"),
        )
    ),
]

RESTORE = "Tensor.recording = self.before"
REFUSED = "if Tensor.recording and a.requires_grad:"

IN_MODES = [
    Fault(
        "no-grad-not-restored-after-an-exception",
        cell="modes",
        edits={RESTORE: f"if error[0] is None:\n            {RESTORE}"},
        words="After a block that ended with an exception, nothing is recorded any more. One caught error, and the "
        "rest of the program trains nothing. What is run when an exception leaves a block?",
        tests=MODES,
    ),
    Fault(
        "no-grad-always-switches-on",
        cell="modes",
        edits={RESTORE: "Tensor.recording = True"},
        words="At its end your block switches recording on, also if it was off before: an inner block ends the outer "
        "one. Look at what has to be remembered at the beginning.",
        tests=MODES,
    ),
    Fault(
        "no-grad-never-switched-back",
        cell="modes",
        edits={RESTORE: "pass"},
        words="After the first block nothing is recorded any more. Look at what happens at its end.",
        tests=MODES,
    ),
    Fault(
        "no-grad-records",
        cell="modes",
        edits={"Tensor.recording = False": "pass"},
        words="What is computed inside of `no_grad()` is recorded as anywhere else. Look at what happens when the "
        "block begins.",
        tests=MODES,
    ),
    Fault(
        "no-grad-swallows-the-exception",
        cell="modes",
        edits={RESTORE: f"{RESTORE}\n        return True"},
        words="An exception in the block does not come out of it: the program goes on as if nothing had happened. "
        "Look up what the value that `__exit__` returns means.",
        tests=MODES,
    ),
    Fault(
        "detach-copies",
        cell="modes",
        edits={"result.data = a.data": "result.data = a.data.copy()"},
        words="A detached tensor has numbers of its own: a change in place of one is not seen in the other. They "
        "should share the array.",
        tests=MODES,
    ),
    Fault(
        "detach-own-version",
        cell="modes",
        edits={"result.version = a.version": "result.version = [a.version[0]]"},
        words="A detached tensor shares the numbers but not the version. If they are changed through one, the graph "
        "of the other does not notice, and computes a wrong gradient.",
        tests=MODES,
    ),
    Fault(
        "detach-keeps-the-graph",
        cell="modes",
        edits={"return result": "return a"},
        words="Gradients flow through a detached tensor: it still is, or has, the past of its origin. It is meant to "
        "be a constant for the backward pass.",
        tests=MODES,
    ),
    Fault(
        "detach-keeps-the-past",
        cell="modes",
        edits={
            "result = Tensor(0.0)": "result = Tensor(0.0)\n    result.__dict__.update(a.__dict__)\n"
            "    result.requires_grad = False"
        },
        words="A detached tensor is no leaf: it still has the past of its origin, or its gradient. That shows when it "
        "is told to require gradients. Which attributes does a leaf begin with?",
        tests=MODES,
        pairs=False,
    ),
    Fault(
        "detach-keeps-the-gradient",
        cell="modes",
        edits={"result.version = a.version": "result.version, result.grad = a.version, a.grad"},
        words="A detached tensor begins with the `.grad` of its origin. It is a new tensor, with numbers that it "
        "shares and no gradient.",
        tests=MODES,
        pairs=False,
    ),
    Fault(
        "detach-cuts-its-origin",
        cell="modes",
        edits={"result = Tensor(0.0)": "a.inputs, a.vjp, a.requires_grad = (), None, False\n    result = Tensor(0.0)"},
        words="After `detach(a)` no gradient flows through `a` itself any more. The origin is to stay as it is; only "
        "the new tensor has no past.",
        tests=MODES,
    ),
    Fault(
        "add-makes-a-new-array",
        cell="modes",
        edits={"a.data += value": "a.data = a.data + value"},
        words="`add_` gives the tensor a new array, and the old one stays as it was. Whoever shares it (a detached "
        "tensor, a layer) still has the old numbers. Look at how NumPy writes into an array.",
        tests=MODES,
    ),
    Fault(
        "add-version-forgotten",
        cell="modes",
        edits={"a.version[0] += 1": "pass"},
        words="`add_` changes the numbers and not the version, so a graph that needs the old ones goes on with the "
        "new.",
        tests=MODES,
    ),
    Fault(
        "add-refuses-leaves-alone",
        cell="modes",
        edits={REFUSED: "if Tensor.recording and a.requires_grad and not a.inputs:"},
        words="While recording is on, your `add_` refuses a leaf that requires gradients, and changes a result that "
        "requires them. The backward pass would know nothing of that change either. Look at what is asked before the "
        "numbers are touched.",
        tests=MODES,
        pairs=False,
    ),
    Fault(
        "add-refused-raises-the-version",
        cell="modes",
        edits={REFUSED: f"{REFUSED}\n        a.version[0] += 1"},
        words="`add_` leaves the numbers of a tensor that requires gradients as they are while recording is on, but "
        "raises its version. An earlier result that saved this tensor cannot be passed any more, though nothing has "
        "changed. Look at what is done before the question is asked.",
        tests=MODES,
        pairs=False,
    ),
    *(
        Fault(
            f"add-refused-too-late{spelling}",
            cell="modes",
            edits={REFUSED: f"{REFUSED}\n        a.data += value{more}"},
            words="While recording is on, `add_` raises `RuntimeError` for a tensor that requires gradients, but has "
            "changed its numbers already. A change that is refused changes nothing. Look at what is asked before the "
            "numbers are touched.",
            tests=MODES,
            pairs=False,
        )
        for spelling, more in {"": "", "-version-and-all": "\n        a.version[0] += 1"}.items()
    ),
    Fault(
        "add-refused-in-silence",
        cell="modes",
        edits={'raise RuntimeError("a change in place is not recorded; make it under no_grad()")': "return a"},
        words="While recording is on, `add_` leaves a tensor that requires gradients as it is, and raises no "
        "`RuntimeError`. Whoever calls it goes on as if the numbers had changed.",
        tests=MODES,
        pairs=False,
    ),
    Fault(
        "add-not-refused",
        cell="modes",
        edits={REFUSED: "if False:"},
        words="`add_` changes a tensor that requires gradients while recording is on. The backward pass would know "
        "nothing of that change. Look at what is asked before the numbers are touched.",
        tests=MODES,
    ),
]

WEIGHT = "rng.normal(0, np.sqrt(2 / n_in), (n_in, n_out))"
CLEAR = "        for p in model.parameters():\n            p.grad = None\n"
STEP = "p.add_(-lr * p.grad)"

IN_TRAINING = [
    Fault(
        "weights-start-at-zero",
        cell="training",
        edits={WEIGHT: "np.zeros((n_in, n_out))"},
        words="All weights start at 0. Then all hidden units compute the same, get the same gradient and stay the "
        "same for ever. Look at what `rng` is for.",
        tests=TRAINING,
    ),
    Fault(
        "weights-all-units-equal",
        cell="training",
        edits={WEIGHT: "np.repeat(rng.normal(0, np.sqrt(2 / n_in), (n_in, 1)), n_out, axis=1)"},
        words="All units of a layer start with the same weights. They get the same gradient and stay the same for "
        "ever: a layer of a hundred units learns as much as one.",
        tests=TRAINING,
    ),
    Fault(
        "weights-root-missing",
        cell="training",
        edits={"np.sqrt(2 / n_in)": "2 / n_in"},
        words="The spread of your weights is 2 / n_in, the variance that is asked for. The generator wants a "
        "standard deviation.",
        tests=TRAINING,
    ),
    Fault(
        "weights-of-spread-one",
        cell="training",
        edits={"np.sqrt(2 / n_in)": "1.0"},
        words="Your weights have standard deviation 1, whatever the size of the layer. A sum over 64 inputs is then "
        "eight times too large, and each further layer makes it worse.",
        tests=TRAINING,
    ),
    Fault(
        "generator-ignored",
        cell="training",
        edits={"rng.normal(": "np.random.default_rng(0).normal("},
        words="Two networks from one generator have the same weights. They are drawn by a generator of your own, and "
        "not by `rng`.",
        tests=TRAINING,
    ),
    Fault(
        "relu-after-the-last-layer",
        cell="training",
        edits={"return self.layers[-1](x)": "return self.layers[-1](x).relu()"},
        words="Your network ends with ReLU. Logits may be negative: without them a class cannot be ruled out, and a "
        "unit that is off for a row learns nothing from it.",
        tests=TRAINING,
    ),
    Fault(
        "no-relu-between-layers",
        cell="training",
        edits={"layer(x).relu()": "layer(x)"},
        words="There is no ReLU between your layers. A chain of linear layers is one linear layer.",
        tests=TRAINING,
    ),
    Fault(
        "loss-summed",
        cell="training",
        edits={".mean()": ".sum()"},
        words="Your loss is the sum over the rows. As a mean it does not grow with the batch, nor do its gradients.",
        tests=TRAINING,
    ),
    Fault(
        "loss-sign",
        cell="training",
        edits={"return -log_p": "return log_p"},
        words="Your loss is the mean log-probability, without the minus sign. It grows as the network gets better.",
        tests=TRAINING,
    ),
    Fault(
        "loss-overflows",
        cell="training",
        edits={"shifted = logits - logits.data.max(axis=1, keepdims=True)": "shifted = logits"},
        words="Logits of 1000 or of -1000 give `inf` or `nan`: `np.exp(1000)` overflows, and the logarithm of a sum "
        "that underflows is -inf. What happens to the probabilities of a row if the same number is added to "
        "all its logits?",
        tests=TRAINING,
    ),
    Fault(
        "loss-one-shift-for-all-rows",
        cell="training",
        edits={"max(axis=1, keepdims=True)": "max()"},
        words="A row that lies far below another gives `inf` or `nan`: you subtract one number from all rows, and in "
        "that row every exponential becomes 0. Each row has a largest logit of its own.",
        tests=TRAINING,
    ),
    Fault(
        "gradients-not-cleared",
        cell="training",
        edits={"p.grad = None": "pass"},
        words="Each step uses the gradients of all steps before it as well, and of what was in `.grad` at the start. "
        "`backward` adds to what is there. Look at when it is cleared.",
        tests=TRAINING,
    ),
    Fault(
        "gradients-cleared-too-late",
        cell="training",
        edits={CLEAR: "", STEP: f"{STEP}\n                p.grad = None"},
        words="The first step uses what was in `.grad` when `fit` was called. You clear gradients after each step; "
        "who has cleared them before the first?",
        tests=TRAINING,
    ),
    Fault(
        "step-uphill",
        cell="training",
        edits={"-lr * p.grad": "lr * p.grad"},
        words="Your steps go along the gradient, uphill: the loss grows.",
        tests=TRAINING,
    ),
    Fault(
        "lr-ignored",
        cell="training",
        edits={"-lr * p.grad": "-p.grad"},
        words="Your steps do not depend on `lr`. Look at what a parameter moves by.",
        tests=TRAINING,
    ),
    Fault(
        "step-divided-by-batch-size",
        cell="training",
        edits={"-lr * p.grad": "-lr * p.grad / len(rows)"},
        words="Your steps are divided by the number of rows. The loss is a mean, so its gradients are divided already.",
        tests=TRAINING,
    ),
    Fault(
        "fit-losses-not-floats",
        cell="training",
        words="`fit` returns the right losses, but not as Python floats. `json`, for one, refuses an array. Look at "
        "what is appended.",
        tests=TRAINING,
        minor=True,
    ),
    Fault(
        "fit-losses-no-list",
        cell="training",
        words="`fit` does not return a list. Look at what becomes of the losses at its end.",
        tests=TRAINING,
        minor=True,
    ),
    Fault(
        "parameters-no-list",
        cell="training",
        words="`parameters()` does not return a list. A generator, for one, is used up after one loop, and has no "
        "length. Look at what it returns.",
        tests=TRAINING,
        minor=True,
    ),
    Fault(
        "fit-makes-new-arrays",
        cell="training",
        edits={STEP: "p.data, p.version[0] = p.data - lr * p.grad, p.version[0] + 1"},
        words="After `fit` each parameter has a new array. Whoever shares the old one (a detached tensor) still has "
        "the old numbers. Look at how NumPy writes into an array.",
        tests=TRAINING,
        pairs=False,
        minor=True,  # the numbers are right
    ),
    Fault(
        "fit-version-not-raised",
        cell="training",
        edits={STEP: "p.data -= lr * p.grad"},
        words="`fit` changes the numbers of the parameters and not their version, so a graph that needs the old ones "
        "goes on with the new. Look at how a step changes the numbers.",
        tests=TRAINING,
        pairs=False,
        minor=True,  # the numbers are right
    ),
    Fault(
        "parameters-unmoved",
        cell="training",
        edits={STEP: "p = p - lr * p.grad"},
        words="After `fit` the tensors that `parameters()` gave before hold the numbers that they held at the start. "
        "A new tensor, under whatever name, is not the parameter. The numbers have to change in place.",
        tests=TRAINING,
    ),
    Fault(
        "batches-ignored",
        cell="training",
        edits={"cross_entropy(model(Tensor(x[rows])), labels[rows])": "cross_entropy(model(Tensor(x)), labels)"},
        words="Every step uses all rows, and not those of its batch. Look at what `batches` is for.",
        tests=TRAINING,
    ),
    Fault(
        "loss-after-the-step",
        cell="training",
        edits={
            "float(loss.data)": "float(cross_entropy(model(Tensor(x[rows])), labels[rows]).data)",
        },
        words="Your losses are those after each step. Asked for is the loss that the step was computed from, which "
        "costs no second forward pass.",
        tests=TRAINING,
    ),
]

FAULTS = [
    *IN_TENSOR,
    *IN_BACKWARD,
    *IN_ARITHMETIC,
    *IN_FUNCTIONS,
    *IN_SHAPES,
    *IN_MATMUL,
    *IN_MODES,
    *IN_TRAINING,
]
