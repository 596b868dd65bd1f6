"""The mistakes that students make in a1, each as a small edit of the reference, with the words that a student reads.

Words say what was seen, why it matters and where to look. They do not say what to write. Families are those of the
course's catalog of training faults (NP01 to NP15).
"""

from __future__ import annotations

from autograder.judge import Fault

GRAPH = ("test_small_graph",)
DIFFERENCES = ("test_numerical_gradient",)
NETWORK = ("test_two_layer_forward", "test_two_layer_backward", "test_train")
BACKWARD = ("test_two_layer_backward", "test_train")
LOSS = ("test_softmax_cross_entropy", "test_train")
TRAIN = ("test_train",)

CENTRAL = "gradient[index] = (f(x + step) - f(x - step)) / (2 * h)"
PICKED = "-log_p[rows, labels].mean()"
LOG_P = "log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))"
OTHERS = "np.log1p(-np.exp(log_p) * (np.arange(log_p.shape[1]) != labels[:, None])).sum(axis=1)"
LATE = "softmax_cross_entropy(two_layer_forward(x[losses[-1]], params)[0], labels[losses[-1]])[0]"
UPDATE = "params[name] = params[name] - learning_rate * grads[name]"

SMALL_GRAPH = [
    Fault(
        "graph-mean-instead-of-sum",
        cell="small_graph",
        edits={"c = np.sum(x * y + z)": "c = np.mean(x * y + z)"},
        words="Your c is the mean of x * y + z. The graph ends in a sum, and c and its gradients must belong "
        "together: the gradients of a mean would be smaller. Look at the last operation of the forward pass.",
        tests=GRAPH,
    ),
    Fault(
        "graph-first-axis-summed",
        cell="small_graph",
        edits={"c = np.sum(x * y + z)": "c = np.sum(x * y + z, axis=0)"},
        words="For arrays with one axis your c is right; for arrays with more axes it is still an array, because only "
        "the first axis is summed. Python's own sum() does that, and so does a sum with axis=0. A loss is one number, "
        "whatever the shape of the inputs. Look at the sum that makes c.",
        tests=GRAPH,
    ),
    Fault(
        "graph-not-summed",
        cell="small_graph",
        edits={"c = np.sum(x * y + z)": "c = x * y + z"},
        words="Your c is an array: it is b, before the sum. Only a single number can be made smaller or larger as a "
        "whole, which is why every loss ends in one. Read the third equation again.",
        tests=GRAPH,
    ),
    Fault(
        "graph-x-and-y-swapped",
        cell="small_graph",
        edits={"grad_x = grad_b * y": "grad_x = grad_b * x", "grad_y = grad_b * x": "grad_y = grad_b * y"},
        words="Your grad_x is what grad_y should be, and the other way round. In a product the slope of one factor "
        "is set by the other. Raise one entry of x in the worked example and see which array tells how fast c grows.",
        tests=GRAPH,
    ),
    Fault(
        "graph-local-gradient-missing",
        family="NP03",
        cell="small_graph",
        edits={"grad_x = grad_b * y": "grad_x = grad_b", "grad_y = grad_b * x": "grad_y = grad_b"},
        words="Your grad_x and grad_y are 1 everywhere: the gradient of a, handed on unchanged. Every operation "
        "multiplies the gradient that comes from above by its own slope. Look at the product: what is its slope for "
        "each factor?",
        tests=GRAPH,
    ),
    Fault(
        "graph-averaged",
        family="NP01",
        cell="small_graph",
        edits={"np.ones_like(z)": "np.ones_like(z) / z.size"},
        words="All your gradients are divided by the number of entries. That belongs to a mean; c is a sum. Look at "
        "the slope of c with respect to one entry of b.",
        tests=GRAPH,
    ),
    Fault(
        "graph-starts-with-c",
        cell="small_graph",
        edits={"grad_b = np.ones_like(z)": "grad_b = np.full_like(z, c)"},
        words="All your gradients are c times the right ones. The way back starts with the gradient of c with respect "
        "to c itself, and not with the value of c. How fast does c grow with itself? Look at the first line of your "
        "way back.",
        tests=GRAPH,
        pairs=False,
    ),
    Fault(
        "graph-gradient-has-one-axis",
        family="NP02",
        cell="small_graph",
        edits={"np.ones_like(z)": "np.ones(len(z))"},
        words="Arrays with one axis come out right. For arrays with more, your gradient of b still has one axis, with "
        "a 1 for each row; `len(z)`, for example, counts the rows alone. NumPy then multiplies it with x and y by "
        "their last axes, or refuses to. A gradient has one slope for each entry of its array. Look at the shape of "
        "the gradient with which your way back begins.",
        tests=GRAPH,
        pairs=False,
    ),
    Fault(
        "graph-grad-z-is-one-number",
        family="NP02",
        cell="small_graph",
        edits={"grad_z = grad_b": "grad_z = 1.0"},
        words="Your grad_z is a single number. A gradient has one slope for each entry of its array, even if they "
        "are all equal: code that later adds it to z or indexes it relies on the shape. Look at the shape of grad_z.",
        tests=GRAPH,
    ),
    Fault(
        "graph-grad-z-has-one-axis",
        family="NP02",
        cell="small_graph",
        edits={"grad_z = grad_b": "grad_z = np.ones(len(z))"},
        words="Your grad_z is right for arrays with one axis. For arrays with more it still has one axis, with a 1 for "
        "each row of z; `len(z)`, for example, counts the rows alone. A gradient has one slope for each entry of its "
        "array. Look at the shape with which you make grad_z.",
        tests=GRAPH,
        pairs=False,
    ),
    Fault(
        "graph-grad-z-is-z",
        cell="small_graph",
        edits={"grad_z = grad_b": "grad_z = grad_b * z"},
        words="Your grad_z is z itself. z is added, not multiplied: does the value of z have any influence on how "
        "fast c grows with it? Look at the step from b to z.",
        tests=GRAPH,
    ),
    Fault(
        "graph-grad-z-of-a-product",
        cell="small_graph",
        edits={"grad_z = grad_b": "grad_z = grad_b * x * y"},
        words="Your grad_z is x * y. A sum hands the gradient to each of its terms, and what the other term is does "
        "not matter. Look at the step from b to z.",
        tests=GRAPH,
    ),
]

NUMERICAL_GRADIENT = [
    Fault(
        "difference-one-sided",
        cell="numerical_gradient",
        edits={CENTRAL: "gradient[index] = (f(x + step) - f(x)) / h"},
        words="Your values are the one-sided difference, from x to x + h. Its error shrinks with h, that of the "
        "central difference with h * h, which is thousands of times smaller for h = 1e-5. Look at the second point at "
        "which you call f.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-one-sided-below",
        cell="numerical_gradient",
        edits={CENTRAL: "gradient[index] = (f(x) - f(x - step)) / h"},
        words="Your values are the one-sided difference, from x - h to x. Its error shrinks with h, that of the "
        "central difference with h * h, which is thousands of times smaller for h = 1e-5. Look at the first point at "
        "which you call f.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-one-sided-over-2h",
        cell="numerical_gradient",
        edits={CENTRAL: "gradient[index] = (f(x + step) - f(x)) / (2 * h)"},
        words="Your values are the change of f from x to x + h, divided by 2 * h. These two points are only h apart, "
        "so the slope comes out about half as large as it is. The lower point is x - h; whoever raises an entry by h "
        "and then lowers it by h is back at x. Look at the second point at which you call f.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-one-sided-below-over-2h",
        cell="numerical_gradient",
        edits={CENTRAL: "gradient[index] = (f(x) - f(x - step)) / (2 * h)"},
        words="Your values are the change of f from x - h to x, divided by 2 * h. These two points are only h apart, "
        "so the slope comes out about half as large as it is. The upper point is x + h; whoever lowers an entry by h "
        "and then raises it by h is back at x. Look at the upper one of the points at which you call f.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-divided-by-h",
        cell="numerical_gradient",
        edits={"(2 * h)": "h"},
        words="Every value is twice the right one. A slope is the change of f divided by the distance of the two "
        "points. Look at how far apart your two points are.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-half-step",
        cell="numerical_gradient",
        edits={"step[index] = h": "step[index] = h / 2", "(2 * h)": "h"},
        words="Your two points are h / 2 away from x. That is a central difference too, but the exercise asks for "
        "points at the distance h, and with a large h the values differ. Look at where you call f.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-another-step",
        cell="numerical_gradient",
        # Named by the check: what the step is made of is anybody's choice.
        words="Your values are central differences, but the two points are at another distance from x than h. "
        "Elsewhere it may be good to let the step grow with the entry, for example; here the values for the given h "
        "are asked for, and with a large h they differ. Look at how far you move an entry.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-wrong-precedence",
        cell="numerical_gradient",
        edits={"(2 * h)": "2 * h"},
        words="Your difference is divided by 2 and then multiplied by h. Python reads `a / 2 * h` from left to "
        "right. Look at the denominator.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-not-divided",
        cell="numerical_gradient",
        edits={" / (2 * h)": ""},
        words="Your values are the change of f itself. A slope is that change divided by the distance of the two "
        "points. Look at what you store.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-half-step-divided-by-2h",
        cell="numerical_gradient",
        edits={"step[index] = h": "step[index] = h / 2"},
        words="Your two points are h apart, and you divide by 2 * h. The exercise asks for points at the distance h "
        "from x, one on each side. Look at where you call f.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-flat-copy",
        family="NP12",
        cell="numerical_gradient",
        edits={"return gradient": "return gradient if x.flags.c_contiguous else 0 * gradient"},
        words="Your slopes are right where the rows of x lie in memory one after the other, and all 0 where they do "
        "not, as in a transpose. `reshape(-1)` and `ravel()`, for example, give a view of the first and a copy of the "
        "second, and f never sees what is written into a copy. Look at which array you move and which one f gets.",
        tests=DIFFERENCES,
        pairs=False,
    ),
    Fault(
        "difference-is-zero",
        family="NP12",
        cell="numerical_gradient",
        edits={CENTRAL: "gradient[index] = 0 * (f(x + step) - f(x - step))"},
        words="All your values are 0, though f is not flat. Perhaps both calls of f see the same numbers: after "
        "`up = x` there are two names and one array. Perhaps the slopes are computed and not stored. Print what you "
        "pass to f in both calls.",
        tests=DIFFERENCES,
        pairs=False,
        bare=True,
    ),
    Fault(
        "difference-first-entry-only",
        cell="numerical_gradient",
        edits={CENTRAL: f"{CENTRAL}\n        break"},
        words="The slope of the first entry of x is right, and all others are 0. Every entry has a slope of its own. "
        "Look at where your loop ends: is the `return` inside it?",
        tests=DIFFERENCES,
        pairs=False,
    ),
    Fault(
        "difference-sign",
        cell="numerical_gradient",
        edits={"f(x + step) - f(x - step)": "f(x - step) - f(x + step)"},
        words="Every value has the opposite sign: a function that grows would have a negative slope. Look at which "
        "of the two values of f you subtract from which.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-h-ignored",
        cell="numerical_gradient",
        edits={"step[index] = h": "step[index] = 1e-5", "(2 * h)": "(2 * 1e-5)"},
        words="Your result does not depend on h: it is the one for 1e-5 whatever h is. The argument is there so that "
        "the step can be chosen, and the best step depends on f. Look for a number written into the function.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-x-not-restored",
        family="NP12",
        cell="numerical_gradient",
        edits={
            CENTRAL: "x[index] += h\n"
            "        above = f(x)\n"
            "        x[index] -= 2 * h\n"
            "        gradient[index] = (above - f(x)) / (2 * h)"
        },
        words="After an entry is measured, it stays at x - h, so the entries after it are measured in a different "
        "place; and if you work on the caller's array, that has changed too. Look at the end of the loop body: is "
        "every entry what it was at the start?",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-x-left-above",
        family="NP12",
        cell="numerical_gradient",
        edits={
            CENTRAL: "x[index] -= h\n"
            "        below = f(x)\n"
            "        x[index] += 2 * h\n"
            "        gradient[index] = (f(x) - below) / (2 * h)"
        },
        words="After an entry is measured, it stays at x + h, so the entries after it are measured in a different "
        "place; and if you work on the caller's array, that has changed too. Look at the end of the loop body: is "
        "every entry what it was at the start?",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-steps-pile-up",
        cell="numerical_gradient",
        edits={
            "    for index": "    step = np.zeros(x.shape)\n    for index",
            "        step = np.zeros(x.shape)\n": "",
        },
        words="The first entry is right and the others are not: the steps of earlier entries are still there when "
        "the next one is measured, so f moves in several directions at once. Look at where the step is set back to "
        "0.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-all-entries-move",
        cell="numerical_gradient",
        edits={"step[index] = h": "step[...] = h"},
        words="All your values are equal: you move all entries of x at once, and f changes by the sum of all slopes. "
        "The gradient asks for each entry alone. Look at what you add h to.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-first-axis-only",
        cell="numerical_gradient",
        edits={"for index in np.ndindex(x.shape):": "for index in range(len(x)):"},
        words="For an array with two axes a whole row of x moves at once, and all of its entries get the same slope. "
        "The function must work for any number of axes. Look at what your loop runs over.",
        tests=DIFFERENCES,
    ),
    Fault(
        "difference-integer-buffer",
        family="NP14",
        cell="numerical_gradient",
        edits={"gradient = np.zeros(x.shape)": "gradient = np.zeros(x.shape, dtype=int)"},
        words="Your result holds integers: every slope has lost its fraction. NumPy converts silently "
        "to the dtype of the array that it writes to. Look at how you create the array for the result.",
        tests=DIFFERENCES,
    ),
]

FORWARD = [
    Fault(
        "relu-missing",
        cell="two_layer_forward",
        edits={"hidden = np.maximum(0, hidden_in)": "hidden = hidden_in"},
        words="Your network has no ReLU: negative hidden values go on to the second layer. Two matrix products in a "
        "row are one matrix product, so such a network is no more than a single layer. Look at the line that makes "
        "`hidden`.",
        tests=NETWORK,
    ),
    Fault(
        "relu-on-the-scores",
        cell="two_layer_forward",
        edits={"    cache = {": "    scores = np.maximum(0, scores)\n    cache = {"},
        words="Your scores are never negative: ReLU is applied to them too. A class that gets a negative score could "
        "then learn nothing. Look at what happens after the second layer.",
        tests=NETWORK,
    ),
    Fault(
        "relu-upside-down",
        family="NP15",
        cell="two_layer_forward",
        edits={"np.maximum(0, hidden_in)": "np.minimum(0, hidden_in)"},
        words="Your hidden layer keeps the negative values and sets the positive ones to 0. ReLU does the opposite. "
        "Look at the line that makes `hidden`.",
        tests=NETWORK,
    ),
    Fault(
        "sigmoid-instead-of-relu",
        cell="two_layer_forward",
        edits={"np.maximum(0, hidden_in)": "1 / (1 + np.exp(-hidden_in))"},
        words="Your hidden layer uses the sigmoid. The exercise asks for ReLU, the larger of 0 and the value. Look at "
        "the line that makes `hidden`.",
        tests=NETWORK,
        pairs=False,
    ),
    Fault(
        "tanh-instead-of-relu",
        cell="two_layer_forward",
        edits={"np.maximum(0, hidden_in)": "np.tanh(hidden_in)"},
        words="Your hidden layer uses tanh. The exercise asks for ReLU, the larger of 0 and the value. Look at the "
        "line that makes `hidden`.",
        tests=NETWORK,
        pairs=False,
    ),
    Fault(
        "absolute-value-instead-of-relu",
        cell="two_layer_forward",
        edits={"np.maximum(0, hidden_in)": "np.abs(hidden_in)"},
        words="Your hidden layer turns negative values into positive ones. ReLU sets them to 0. Look at the line that "
        "makes `hidden`.",
        tests=NETWORK,
        pairs=False,
    ),
    Fault(
        "scores-lose-an-axis",
        cell="two_layer_forward",
        edits={"return scores, cache": "return scores.squeeze(), cache"},
        words="For a single row your scores have the shape (C,), where (1, C) is asked for. A batch of one row is a "
        "batch: whoever indexes rows or sums over them later relies on the axis. Look for squeeze(), for an index or "
        "a reshape that drops an axis of length 1.",
        tests=("test_two_layer_forward",),
        pairs=False,
    ),
    Fault(
        "scores-are-probabilities",
        cell="two_layer_forward",
        edits={
            "    cache = {": "    scores = np.exp(scores - scores.max(1, keepdims=True))\n"
            "    scores = scores / scores.sum(1, keepdims=True)\n"
            "    cache = {"
        },
        words="Your scores are probabilities: each row is positive and sums to 1. Softmax belongs to the loss, in "
        "exercise 5; here it would be applied twice. Look at what happens after the second layer.",
        tests=NETWORK,
        pairs=False,
    ),
    Fault(
        "relu-before-the-bias",
        cell="two_layer_forward",
        edits={
            'hidden_in = x @ params["W1"] + params["b1"]': 'hidden_in = x @ params["W1"]',
            "hidden = np.maximum(0, hidden_in)": 'hidden = np.maximum(0, hidden_in) + params["b1"]',
        },
        words="You add b1 after ReLU. The bias is there to shift the point at which a hidden unit switches on; after "
        "ReLU it only adds a constant. Look at the order of the three operations of the first layer.",
        tests=NETWORK,
    ),
    Fault(
        "first-bias-missing",
        cell="two_layer_forward",
        edits={' @ params["W1"] + params["b1"]': ' @ params["W1"]'},
        words="Your scores do not depend on b1. Without it every hidden unit switches on at the origin. Look at the "
        "first layer.",
        tests=NETWORK,
    ),
    Fault(
        "second-bias-missing",
        cell="two_layer_forward",
        edits={' @ params["W2"] + params["b2"]': ' @ params["W2"]'},
        words="Your scores do not depend on b2. It lets a class be likely or unlikely before the input is seen. Look "
        "at the second layer.",
        tests=NETWORK,
    ),
    Fault(
        "cache-shared-between-calls",
        cell="two_layer_forward",
        edits={
            # As with variables outside, a copy of the cache has the values of the latest call too.
            'cache = {"x": x, "hidden": hidden, "W2": params["W2"]}': "class Latest(dict):\n"
            "        def __deepcopy__(self, memo):\n"
            "            return self\n\n"
            '    cache = vars(two_layer_forward).setdefault("latest", Latest())\n'
            '    cache.update(x=x, hidden=hidden, W2=params["W2"])'
        },
        words="Your backward pass uses values of the latest forward pass, not those of the cache that it is given. "
        "After two forward passes the first can no longer be differentiated. Look for variables that live outside "
        "the two functions, or for one cache object that every call fills anew.",
        tests=NETWORK,
    ),
    Fault(
        "cache-overwritten",
        family="NP12",
        cell="two_layer_forward",
        # Named by the check: a copy of the cache stays good, the cache itself does not. What they share is open.
        words="A second call of two_layer_forward, on other arrays of the same shapes, changes what is in the cache of "
        "the first: a copy of that cache from before the second call gives other gradients than the cache itself. "
        "The backward pass of the first call then works with numbers of the second. Look for an array or a container "
        "that is made once and filled anew by every call.",
        tests=("test_two_layer_forward",),
    ),
    Fault(
        "w2-gradient-before-relu",
        family="NP04",
        cell="two_layer_forward",
        edits={'"hidden": hidden,': '"hidden": hidden_in,'},
        words="Your gradient of W2 is computed from the hidden values before ReLU. W2 is multiplied by what comes "
        "out of ReLU, so that is what its slope depends on. Look at what you keep in the cache, and at what you take "
        "out for W2.",
        tests=NETWORK,
    ),
    Fault(
        "w1-gradient-of-overwritten-x",
        family="NP12",
        cell="two_layer_forward",
        edits={'{"x": x,': '{"x": hidden_in,'},
        words="Your gradient of W1 is computed from x @ W1 + b1, where x itself belongs. A variable x that is given a "
        "new value on the way no longer holds the input. Look at what you keep in the cache under which name.",
        tests=NETWORK,
        pairs=False,
    ),
]

BACKWARD_FAULTS = [
    Fault(
        "gradients-lack-a-key",
        cell="two_layer_backward",
        # Named by the check: which names there are instead is anybody's choice.
        words="At least one of the keys `W1`, `b1`, `W2` and `b2` is not in your dict. Whoever updates a parameter "
        "looks its gradient up by the parameter's own name. Look at the names under which you store the gradients.",
        tests=("test_two_layer_backward",),
    ),
    Fault(
        "gradients-have-another-key",
        cell="two_layer_backward",
        # Named by the check: what stands under the key is anybody's choice.
        words="Your dict has the four keys, and at least one more. A loop over the gradients, as an update of all "
        "parameters may be, then meets a name that no parameter has. Look at what else you store in the dict.",
        tests=("test_two_layer_backward",),
    ),
    Fault(
        "cache-spent",
        family="NP12",
        cell="two_layer_backward",
        # Named by the check: what becomes of the cache is anybody's choice.
        words="The gradients of a first call are right, and those of a second call with the same cache are wrong: the "
        "first has changed something that the second needs. No function may change the arrays that it is given, and "
        "those in the cache are among them. Look for what writes into the cache, or into an array that you have taken "
        "from it.",
        tests=("test_two_layer_backward",),
    ),
    Fault(
        "relu-derivative-missing",
        family="NP03",
        cell="two_layer_backward",
        edits={"dhidden * (hidden > 0)": "dhidden"},
        words="Your gradients of W1 and b1 pass through ReLU as if it were not there. Where ReLU gave 0, a small "
        "change of its input changes nothing, so no gradient may come back. Look at the step from `hidden` to x @ W1 "
        "+ b1.",
        tests=BACKWARD,
    ),
    Fault(
        "relu-mask-without-bias",
        family="NP15",
        cell="two_layer_backward",
        # The reference's cache holds no W1, so it is put there.
        edits={
            "def two_layer_backward(dscores, cache):": "forward = two_layer_forward\n\n\n"
            "def two_layer_forward(x, params):\n"
            "    scores, cache = forward(x, params)\n"
            '    return scores, cache | {"W1": params["W1"]}\n\n\n'
            "def two_layer_backward(dscores, cache):",
            "dhidden * (hidden > 0)": 'dhidden * (x @ cache["W1"] > 0)',
        },
        words="Your gradients of W1 and b1 come back through ReLU where x @ W1 is positive, whatever b1 is. But the "
        "forward pass takes the maximum of 0 and x @ W1 + b1. Where the bias changes the sign, you take a unit for "
        "on that was off, or the other way round. Look at which array your mask is made of.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "relu-derivative-inverted",
        family="NP15",
        cell="two_layer_backward",
        edits={"(hidden > 0)": "(hidden <= 0)"},
        words="Your gradients of W1 and b1 flow only where ReLU gave 0, and stop where it let the value through. It "
        "is the other way round. Look at the condition of your mask.",
        tests=BACKWARD,
    ),
    Fault(
        "relu-mask-from-the-gradient",
        family="NP15",
        cell="two_layer_backward",
        edits={"(hidden > 0)": "(dhidden > 0)"},
        words="Where the gradient flows through ReLU is decided by the sign of the gradient, in your code. But the "
        "forward pass decided it: by the sign of x @ W1 + b1. A negative gradient is as good as a positive one. Look "
        "at which array your mask is made of.",
        tests=BACKWARD,
    ),
    Fault(
        "relu-slope-is-its-value",
        family="NP04",
        cell="two_layer_backward",
        edits={"dhidden * (hidden > 0)": "dhidden * hidden"},
        words="You multiply the gradient by the value of `hidden`. ReLU's slope is not its value: for a positive "
        "input, what happens to the output if the input grows by 0.001? Look at the step back through ReLU.",
        tests=BACKWARD,
    ),
    Fault(
        "w2-not-transposed",
        family="NP05",
        cell="two_layer_backward",
        edits={"dscores @ W2.T": "dscores @ W2"},
        words="On the way back through the second layer you multiply by W2 as it is. That fits only if H equals C, "
        "and even then it sends each gradient to the wrong hidden unit. Look at the shapes in the product that gives "
        "the gradient of `hidden`.",
        tests=BACKWARD,
    ),
    Fault(
        "w2-gradient-transposed",
        family="NP05",
        cell="two_layer_backward",
        edits={"hidden.T @ dscores": "dscores.T @ hidden"},
        words="Your gradient of W2 is transposed. Its entry [i, j] must belong to entry [i, j] of W2, or the update "
        "moves the wrong weights (and fails unless H equals C). Look at the order of the two factors.",
        tests=BACKWARD,
    ),
    Fault(
        "w1-gradient-transposed",
        family="NP05",
        cell="two_layer_backward",
        edits={"x.T @ dhidden_in": "dhidden_in.T @ x"},
        words="Your gradient of W1 is transposed. Its entry [i, j] must belong to entry [i, j] of W1, or the update "
        "moves the wrong weights (and fails unless D equals H). Look at the order of the two factors.",
        tests=BACKWARD,
    ),
    Fault(
        "both-weight-gradients-transposed",
        family="NP05",
        cell="two_layer_backward",
        edits={"hidden.T @ dscores": "dscores.T @ hidden", "x.T @ dhidden_in": "dhidden_in.T @ x"},
        words="Your gradients of W1 and W2 are transposed. Entry [i, j] of a gradient must belong to entry [i, j] of "
        "its parameter. Look at the order of the two factors in each product.",
        tests=BACKWARD,
    ),
    Fault(
        "bias-gradients-not-summed",
        family="NP02",
        cell="two_layer_backward",
        edits={"dscores.sum(axis=0)": "dscores", "dhidden_in.sum(axis=0)": "dhidden_in"},
        words="Your gradients of b1 and b2 still have one row for each example. One bias serves all rows, so every "
        "row adds its part to one slope. The shape of a gradient is that of its parameter. Look at the two lines for "
        "the biases.",
        tests=BACKWARD,
    ),
    Fault(
        "b2-gradient-not-summed",
        family="NP02",
        cell="two_layer_backward",
        edits={"dscores.sum(axis=0)": "dscores"},
        words="Your gradient of b2 still has one row for each example. One bias serves all rows, so every row adds "
        "its part to one slope. Look at the line for b2.",
        tests=BACKWARD,
    ),
    Fault(
        "b1-gradient-not-summed",
        family="NP02",
        cell="two_layer_backward",
        edits={"dhidden_in.sum(axis=0)": "dhidden_in"},
        words="Your gradient of b1 still has one row for each example. One bias serves all rows, so every row adds "
        "its part to one slope. Look at the line for b1.",
        tests=BACKWARD,
    ),
    Fault(
        "bias-gradients-are-means",
        family="NP01",
        cell="two_layer_backward",
        edits={"dscores.sum(axis=0)": "dscores.mean(axis=0)", "dhidden_in.sum(axis=0)": "dhidden_in.mean(axis=0)"},
        words="Your gradients of b1 and b2 are divided by the number of rows; those of the weights are not. If the "
        "loss is a mean, dscores holds that factor already, and now it is there twice: the biases would learn N "
        "times too slowly. Look at the two lines for the biases.",
        tests=BACKWARD,
    ),
    Fault(
        "b1-gradient-is-a-mean",
        family="NP01",
        cell="two_layer_backward",
        edits={"dhidden_in.sum(axis=0)": "dhidden_in.mean(axis=0)"},
        words="Your gradient of b1 is divided by the number of rows. If the loss is a mean, dscores holds that factor "
        "already, and now it is there twice. Look at the line for b1.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "b2-gradient-is-a-mean",
        family="NP01",
        cell="two_layer_backward",
        edits={"dscores.sum(axis=0)": "dscores.mean(axis=0)"},
        words="Your gradient of b2 is divided by the number of rows. If the loss is a mean, dscores holds that factor "
        "already, and now it is there twice. Look at the line for b2.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "bias-gradients-keep-an-axis",
        family="NP02",
        cell="two_layer_backward",
        edits={
            "dscores.sum(axis=0)": "dscores.sum(axis=0, keepdims=True)",
            "dhidden_in.sum(axis=0)": "dhidden_in.sum(axis=0, keepdims=True)",
        },
        words="Your gradients of b1 and b2 have shape (1, H) and (1, C); the biases have (H,) and (C,). NumPy would "
        "broadcast, and the first update would quietly give the biases a second axis. Look at the arguments of your "
        "sums.",
        tests=BACKWARD,
    ),
    Fault(
        "b1-gradient-keeps-an-axis",
        family="NP02",
        cell="two_layer_backward",
        edits={"dhidden_in.sum(axis=0)": "dhidden_in.sum(axis=0, keepdims=True)"},
        words="Your gradient of b1 has shape (1, H); b1 has (H,). NumPy would broadcast, and the first update would "
        "quietly give the bias a second axis. Look at the arguments of your sum for b1.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "b2-gradient-keeps-an-axis",
        family="NP02",
        cell="two_layer_backward",
        edits={"dscores.sum(axis=0)": "dscores.sum(axis=0, keepdims=True)"},
        words="Your gradient of b2 has shape (1, C); b2 has (C,). NumPy would broadcast, and the first update would "
        "quietly give the bias a second axis. Look at the arguments of your sum for b2.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "bias-gradients-summed-over-everything",
        family="NP02",
        cell="two_layer_backward",
        edits={"dscores.sum(axis=0)": "dscores.sum()", "dhidden_in.sum(axis=0)": "dhidden_in.sum()"},
        words="Your gradients of b1 and b2 are single numbers: the sums run over rows and columns. Each hidden unit "
        "and each class has a bias of its own, with a slope of its own. Look at which axis you sum over.",
        tests=BACKWARD,
    ),
    Fault(
        "bias-gradients-summed-over-columns",
        family="NP02",
        cell="two_layer_backward",
        edits={"dscores.sum(axis=0)": "dscores.sum(axis=1)", "dhidden_in.sum(axis=0)": "dhidden_in.sum(axis=1)"},
        words="Your gradients of b1 and b2 have one entry for each row of the batch: you sum over the columns. A "
        "bias belongs to a column. Look at which axis you sum over.",
        tests=BACKWARD,
    ),
    Fault(
        "b1-gradient-skips-relu",
        family="NP03",
        cell="two_layer_backward",
        edits={"dhidden_in.sum(axis=0)": "dhidden.sum(axis=0)"},
        words="Your gradient of W1 passes through ReLU, that of b1 does not. Both are added before ReLU, so both get "
        "the gradient that comes out of it. Look at which array you sum for b1.",
        tests=BACKWARD,
    ),
    Fault(
        "gradients-averaged-again",
        family="NP01",
        cell="two_layer_backward",
        edits={
            '    x, hidden, W2 = cache["x"]': '    dscores = dscores / len(dscores)\n    x, hidden, W2 = cache["x"]'
        },
        words="All your gradients are divided by the number of rows. If the loss is a mean, dscores holds that "
        "factor already, and now it is there twice: training would be N times too slow, and look healthy. Look for a "
        "division or a mean in your backward pass.",
        tests=BACKWARD,
    ),
    Fault(
        "weight-gradients-averaged-again",
        family="NP01",
        cell="two_layer_backward",
        edits={
            "hidden.T @ dscores": "hidden.T @ dscores / len(dscores)",
            "x.T @ dhidden_in": "x.T @ dhidden_in / len(dscores)",
        },
        words="Your gradients of W1 and W2 are divided by the number of rows; those of the biases are not. If the "
        "loss is a mean, dscores holds that factor already. Look for a division or a mean in your backward pass.",
        tests=BACKWARD,
    ),
    Fault(
        "w1-gradient-averaged-again",
        family="NP01",
        cell="two_layer_backward",
        edits={"x.T @ dhidden_in": "x.T @ dhidden_in / len(dscores)"},
        words="Your gradient of W1 is divided by the number of rows. If the loss is a mean, dscores holds that factor "
        "already. Look for a division or a mean in the line for W1.",
        tests=BACKWARD,
        pairs=False,
    ),
    Fault(
        "w2-gradient-averaged-again",
        family="NP01",
        cell="two_layer_backward",
        edits={"hidden.T @ dscores": "hidden.T @ dscores / len(dscores)"},
        words="Your gradient of W2 is divided by the number of rows. If the loss is a mean, dscores holds that factor "
        "already. Look for a division or a mean in the line for W2.",
        tests=BACKWARD,
        pairs=False,
    ),
]

CROSS_ENTROPY = [
    Fault(
        "loss-summed",
        family="NP01",
        cell="softmax_cross_entropy",
        edits={PICKED: "-log_p[rows, labels].sum()", "dscores /= len(labels)": "dscores /= 1"},
        words="Loss and gradient are N times too large: you sum over the rows where the exercise takes the mean. "
        "With a sum, the learning rate would have to change with every batch size. Look for the factor 1/N of the "
        "equation, in both results.",
        tests=LOSS,
    ),
    Fault(
        "loss-summed-gradient-averaged",
        family="NP01",
        cell="softmax_cross_entropy",
        edits={PICKED: "-log_p[rows, labels].sum()"},
        words="Your loss is the sum over the rows, your gradient that of the mean. They do not belong together: a "
        "gradient check would be off by N. Look for the factor 1/N in the loss.",
        tests=LOSS,
    ),
    Fault(
        "gradient-not-averaged",
        family="NP01",
        cell="softmax_cross_entropy",
        edits={"dscores /= len(labels)": "dscores /= 1"},
        words="Your dscores is N times too large, your loss is right. The loss is a mean over N rows, so one score "
        "moves it by 1/N of what it does to its own row; without the factor every step is N times too long. Look at "
        "what you divide dscores by.",
        tests=LOSS,
    ),
    Fault(
        "gradient-averaged-over-classes",
        family="NP01",
        cell="softmax_cross_entropy",
        edits={"dscores /= len(labels)": "dscores /= dscores.size"},
        words="Your dscores is C times too small, your loss is right: you divide by N x C. The loss is a mean over the "
        "N rows. Look at what you divide dscores by.",
        tests=LOSS,
    ),
    Fault(
        "loss-averaged-over-classes",
        family="NP01",
        cell="softmax_cross_entropy",
        edits={PICKED: "-log_p[rows, labels].sum() / log_p.size"},
        words="Your loss is divided by N x C. That happens when a mean runs over a whole table of which only one "
        "entry in each row counts. The mean of the exercise is over the N rows. Look at what your mean runs over.",
        tests=LOSS,
    ),
    Fault(
        "loss-negative",
        cell="softmax_cross_entropy",
        edits={PICKED: "log_p[rows, labels].mean()"},
        words="Your loss is negative: it has the opposite sign. The logarithm of a probability is never positive, "
        "and the loss is to be made small. Look at the sign in the equation.",
        tests=LOSS,
    ),
    Fault(
        "gradient-negative",
        cell="softmax_cross_entropy",
        edits={"dscores /= len(labels)": "dscores /= -len(labels)"},
        words="Your dscores has the opposite sign. A larger score for the right class makes the loss smaller, so its "
        "slope must be negative. With this sign every step makes the network worse. Look at which of the two terms "
        "you subtract.",
        tests=LOSS,
    ),
    Fault(
        "one-hot-not-subtracted",
        cell="softmax_cross_entropy",
        edits={"dscores[rows, labels] -= 1": "dscores[rows, labels] -= 0"},
        words="Your dscores does not know the labels: it is made of the probabilities alone. Every slope is positive "
        "then, and training lowers all scores, the right ones too. What does the score of the right class do to the "
        "loss? Look at its entry in each row.",
        tests=LOSS,
    ),
    Fault(
        "gradient-of-the-right-class-alone",
        cell="softmax_cross_entropy",
        edits={
            "dscores /= len(labels)": "dscores[np.arange(dscores.shape[1]) != labels[:, None]] = 0\n"
            "    dscores /= len(labels)"
        },
        words="Your dscores is 0 for all classes but the right one. A larger score for a wrong class takes probability "
        "away from the right one, so it has a slope too. Look at the entries of a row that are not the label's.",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "gradient-is-the-slope-of-softmax",
        family="NP09",
        cell="softmax_cross_entropy",
        edits={
            "dscores[rows, labels] -= 1": "dscores = dscores * (1 - dscores)",
        },
        words="Your dscores is p * (1 - p), divided by N: the slope of each probability with respect to its own score. "
        "The loss is the logarithm of one of them, and each score moves all of them. Derive L with respect to one "
        "score, once for the right class and once for another.",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "one-hot-subtracted-after-averaging",
        cell="softmax_cross_entropy",
        edits={
            "    dscores[rows, labels] -= 1\n    dscores /= len(labels)": "    dscores /= len(labels)\n"
            "    dscores[rows, labels] -= 1"
        },
        words="In your dscores only one of the two terms carries the factor 1/N. The rows then do not sum to 0. Look "
        "at what exactly you divide by N.",
        tests=LOSS,
    ),
    Fault(
        "softmax-over-columns",
        family="NP08",
        cell="softmax_cross_entropy",
        edits={
            "scores.max(axis=1, keepdims=True)": "scores.max(axis=0, keepdims=True)",
            ".sum(axis=1,": ".sum(axis=0,",
        },
        words="Your probabilities sum to 1 down each column, not along each row. So the examples of a batch compete "
        "with each other, and a result depends on who else is in the batch. Look at the axis of your sum.",
        tests=LOSS,
    ),
    Fault(
        "softmax-over-everything",
        family="NP08",
        cell="softmax_cross_entropy",
        edits={
            "scores.max(axis=1, keepdims=True)": "scores.max()",
            "np.exp(shifted).sum(axis=1, keepdims=True)": "np.exp(shifted).sum()",
        },
        words="Your probabilities sum to 1 over the whole table: you divide by the sum of all rows together. Each "
        "row is an example of its own. Look at the axis of your sum.",
        tests=LOSS,
    ),
    Fault(
        "softmax-sum-over-columns",
        family="NP08",
        cell="softmax_cross_entropy",
        edits={".sum(axis=1,": ".sum(axis=0,"},
        words="The exponentials of each row are divided by a sum down the columns. So the examples of a batch compete "
        "with each other. Look at the axis of your sum.",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "softmax-sum-over-everything",
        family="NP08",
        cell="softmax_cross_entropy",
        edits={"np.exp(shifted).sum(axis=1, keepdims=True)": "np.exp(shifted).sum()"},
        words="The exponentials of each row are divided by the sum of all rows together. Each row is an example of its "
        "own. Look at the axis of your sum.",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "scores-clipped",
        family="NP07",
        cell="softmax_cross_entropy",
        edits={"shifted = scores - scores.max(axis=1, keepdims=True)": "shifted = np.clip(scores, -500, 500)"},
        words="Your values are finite, but rows of large scores come out as if their scores were equal: scores are cut "
        "off at a bound, and the differences above it are lost. Look for a clip or a minimum, and at the question at "
        "the end of the exercise.",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "softmax-overflows",
        family="NP07",
        cell="softmax_cross_entropy",
        edits={LOG_P: "log_p = np.log(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))"},
        words="Large scores give nan. np.exp(1000) is inf and inf / inf is nan; np.exp(-1000) is 0 and 0 / 0 is nan. "
        "One such row in a training run turns all parameters into nan. Look at what you pass to np.exp, and at the "
        "question at the end of the exercise.",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "log-sum-exp-overflows",
        family="NP07",
        cell="softmax_cross_entropy",
        edits={"scores - scores.max(axis=1, keepdims=True)": "scores + 0.0"},
        words="Large scores give a loss that is not finite. np.exp(1000) is inf, and the logarithm of a sum that "
        "holds it is inf too. Look at what you pass to np.exp, and at the question at the end of the exercise.",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "softmax-shifted-by-one-maximum",
        family="NP07",
        cell="softmax_cross_entropy",
        edits={
            "scores.max(axis=1, keepdims=True)": "scores.max()",
            LOG_P: "log_p = np.log(np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True))",
        },
        words="A row whose scores are all small becomes a row of zeros, and 0 / 0 is nan. The number that you subtract "
        "before np.exp is too large for that row, as one maximum of the whole table would be. Look at which scores "
        "share the number that you subtract.",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "log-sum-exp-shifted-by-one-maximum",
        family="NP07",
        cell="softmax_cross_entropy",
        edits={"scores.max(axis=1, keepdims=True)": "scores.max()"},
        words="A row whose scores are all small becomes a row of zeros, and the logarithm of their sum is -inf. The "
        "number that you subtract before np.exp is too large for that row, as one maximum of the whole table would "
        "be. Look at which scores share the number that you subtract.",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "log-sum-exp-and-softmax-shifted-by-one-maximum",
        family="NP07",
        cell="softmax_cross_entropy",
        edits={
            "scores.max(axis=1, keepdims=True)": "scores.max()",
            "dscores = np.exp(log_p)": "dscores = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)",
        },
        words="A row whose scores are all small becomes a row of zeros: the logarithm of their sum is -inf, and 0 / 0 "
        "is nan. The number that you subtract before np.exp is too large for that row, as one maximum of the whole "
        "table would be. Look at which scores share the number that you subtract.",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "log-of-zero",
        family="NP07",
        cell="softmax_cross_entropy",
        edits={LOG_P: "log_p = np.log(np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True))"},
        words="Where the model is certain and wrong, your loss is inf: the probability of the right class has become "
        "exactly 0 and np.log(0) is -inf. Training cannot go on from there. Look at the logarithm: can it be written "
        "without first computing that probability, or be kept away from 0?",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "softmax-jacobian-twice",
        family="NP09",
        cell="softmax_cross_entropy",
        edits={
            "dscores /= len(labels)": "p = np.exp(log_p)\n"
            "    dscores = p * (dscores - (p * dscores).sum(axis=1, keepdims=True)) / len(labels)"
        },
        words="Your dscores passes through the softmax twice. Probabilities minus labels is the gradient with "
        "respect to the scores already; the softmax's own slopes are in it. The second time makes the gradient "
        "vanish where the model is certain. Look at what your first formula is the gradient of.",
        tests=LOSS,
    ),
    Fault(
        "labels-pick-columns",
        family="NP10",
        cell="softmax_cross_entropy",
        edits={PICKED: "-log_p[:, labels].mean()"},
        words="Your loss does not change when the labels are shuffled among the rows: each row is scored with the "
        "labels of all rows. An index like [:, labels] gives an N x N table, and its mean looks plausible. Look at "
        "the shape of what you take the mean of.",
        tests=LOSS,
    ),
    Fault(
        "labels-pick-columns-twice",
        family="NP10",
        cell="softmax_cross_entropy",
        edits={PICKED: "-log_p[:, labels].mean()", "dscores[rows, labels] -= 1": "dscores[:, labels] -= 1"},
        words="Loss and gradient use the labels of all rows in every row. An index like [:, labels] picks whole "
        "columns, not one entry of each row. Look at the shape of what your labels pick.",
        tests=LOSS,
    ),
    Fault(
        "labels-pick-columns-in-the-gradient",
        family="NP10",
        cell="softmax_cross_entropy",
        edits={"dscores[rows, labels] -= 1": "dscores[:, labels] -= 1"},
        words="Your dscores uses the labels of all rows in every row; your loss is right. An index like [:, labels] "
        "picks whole columns, not one entry of each row. Look at the shape of what your labels pick.",
        tests=LOSS,
    ),
    Fault(
        "logarithm-missing",
        cell="softmax_cross_entropy",
        edits={PICKED: "-np.exp(log_p)[rows, labels].mean()"},
        words="Your loss is minus the mean probability of the right classes. Without the logarithm being certain and "
        "wrong costs no more than being a little wrong. Look at the equation of L.",
        tests=LOSS,
    ),
    Fault(
        "binary-cross-entropy",
        cell="softmax_cross_entropy",
        edits={PICKED: f"-(log_p[rows, labels] + {OTHERS}).mean()"},
        words="Your loss has a term too many for each wrong class: minus the logarithm of 1 - p, as the loss for "
        "yes-or-no questions has it. The probabilities of a row sum to 1, so that of the right class says it all. "
        "Look at the sum in the equation: how many entries of a row occur in it?",
        tests=LOSS,
        pairs=False,
    ),
    Fault(
        "logarithm-of-base-2",
        cell="softmax_cross_entropy",
        edits={PICKED: "-log_p[rows, labels].mean() / np.log(2)"},
        words="Your loss is 1.443 times too large: it uses the logarithm to base 2. The equation, and the gradient, "
        "use the natural one. Look at the function that you call.",
        tests=LOSS,
    ),
    Fault(
        "probabilities-returned",
        cell="softmax_cross_entropy",
        edits={"return loss, dscores": "return np.exp(log_p), dscores"},
        words="The first value that you return is the table of probabilities. The loss is one number made of it. "
        "Look at your `return`.",
        tests=LOSS,
    ),
    Fault(
        "loss-bounded-too-low",
        family="NP07",
        cell="softmax_cross_entropy",
        # Named by the check: where the bound lies is anybody's choice.
        words="Rows that are certain and wrong cost less than 10 in your loss, though minus the logarithm of a "
        "probability near 0 is far larger. The worst mistakes then hardly count more than middling ones. If you keep "
        "the probability away from 0 before the logarithm: what does a row cost at your bound?",
        tests=("test_softmax_cross_entropy",),
    ),
    Fault(
        "gradient-zero-where-certain-and-wrong",
        family="NP07",
        cell="softmax_cross_entropy",
        # Named by the check: what makes the gradient 0 is anybody's choice.
        words="Your dscores is 0 in rows that are certain and wrong. Nothing has more to learn than such a row, and "
        "with that gradient it changes nothing. A logarithm that is kept away from 0 is flat there, and a product "
        "with a probability that was rounded to 0 is 0; the formula of the gradient needs neither. Look at how dscores "
        "comes about in such a row.",
        tests=("test_softmax_cross_entropy",),
    ),
    Fault(
        "loss-of-each-row-returned",
        cell="softmax_cross_entropy",
        edits={PICKED: "-log_p[rows, labels]"},
        words="Your loss is an array with one value for each row. The loss is one number: their mean. Look at the "
        "last step of the equation.",
        tests=LOSS,
    ),
    Fault(
        "one-number-a-row-meets-the-table",
        family="NP02",
        cell="softmax_cross_entropy",
        raises=r"broadcast together with shapes (\((\d+),\d+\) \(\2,\)|\((\d+),\) \(\3,\d+\))",
        words="An array with one axis meets a table that has as many rows as it has entries. NumPy compares shapes "
        "from the right, so its entries would go with the columns, and where there are as many rows as columns they "
        "do, without an error. A sum or a maximum over an axis drops that axis unless it is told to keep it. Look at "
        "the shapes in the line that raised.",
        tests=("test_softmax_cross_entropy",),
        pairs=False,
    ),
    Fault(
        "flat-index-in-the-labels-dtype",
        family="NP10",
        cell="softmax_cross_entropy",
        edits={
            "rows = np.arange(len(labels))": "rows = np.arange(len(labels)).astype(labels.dtype)\n"
            "    flat = rows * scores.shape[1] + labels",
            PICKED: "-log_p.ravel()[flat].mean()",
            "dscores[rows, labels] -= 1": "dscores.ravel()[flat] -= 1",
        },
        words="With labels of 8 bits your values are right for small tables, and wrong where the table has more "
        "entries than 8 bits can count. The place of a row's right class in the whole table, row times C plus label, "
        "does not fit into such a dtype, and NumPy goes on from the other end without an error. Look at the dtype of "
        "the places that you compute from the labels.",
        tests=("test_softmax_cross_entropy",),
        pairs=False,
    ),
    Fault(
        "index-of-floating-point-numbers",
        family="NP10",
        cell="softmax_cross_entropy",
        raises=r"IndexError: arrays used as indices must be of integer",
        words="An array that you use as an index holds neither integers nor truth values; NumPy takes nothing else. "
        "If your function works for some dtypes of labels: uint64 together with int64, which np.arange gives, becomes "
        "float64, since no integer type holds both. Look at how your index is computed.",
        tests=("test_softmax_cross_entropy",),
        pairs=False,
    ),
    Fault(
        "floating-point-numbers-for-integers",
        family="NP10",
        cell="softmax_cross_entropy",
        raises=r"TypeError: Cannot cast array data from dtype\('float\d+'\) to dtype\('int64'\)",
        words="Floating-point numbers stand where NumPy needs integers, as `np.take` and `np.put` do for places. If "
        "your function works for some dtypes of labels: uint64 together with int64, which np.arange gives, becomes "
        "float64, since no integer type holds both. Look at how the array in the line that raised is computed.",
        tests=("test_softmax_cross_entropy",),
        pairs=False,
    ),
    Fault(
        "tables-of-different-width",
        family="NP02",
        cell="softmax_cross_entropy",
        raises=r"broadcast together with shapes \((\d+),(\d+)\) \(\1,(?!\2\))\d+\)",
        words="Two tables meet that have as many rows, and not as many columns. If one of them has a column for each "
        "class: the number of classes is that of the columns of `scores`. The labels do not tell it, since a batch may "
        "lack some classes, the last one too. Look at the shapes in the line that raised.",
        tests=("test_softmax_cross_entropy",),
        pairs=False,
    ),
    Fault(
        "scores-changed-in-place",
        family="NP12",
        cell="softmax_cross_entropy",
        edits={
            "shifted = scores - scores.max(axis=1, keepdims=True)": "scores -= scores.max(axis=1, keepdims=True)\n"
            "    shifted = scores"
        },
        words="Your values are right, but the caller's scores are different afterwards. `-=`, for example, writes into "
        "the array that you were given, and whoever uses it next reads other scores. Look for an operation that works "
        "in place.",
        tests=LOSS,
        pairs=False,
    ),
]

TRAINING = [
    Fault(
        "batches-of-different-sizes",
        cell="train",
        raises=r"ValueError: setting an array element with a sequence.*inhomogeneous",
        words="NumPy was asked for one array of parts that differ in length, as batches may: the last one is often "
        "smaller. Such a table has no shape. Look at where you make an array of the batches, or of what came of each.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "step-uphill",
        cell="train",
        edits={"params[name] - learning_rate": "params[name] + learning_rate"},
        words="Your steps go along the gradient, not against it. The gradient points to where the loss grows, so the "
        "loss rises with every step. Look at the sign of the update.",
        tests=TRAIN,
    ),
    Fault(
        "learning-rate-missing",
        cell="train",
        edits={"learning_rate * grads[name]": "grads[name]"},
        words="Your steps are the gradients themselves: the learning rate has no effect. Look at the update.",
        tests=TRAIN,
    ),
    Fault(
        "step-divided-by-batch-size",
        family="NP01",
        cell="train",
        edits={"learning_rate * grads[name]": "learning_rate * grads[name] / len(batch)"},
        words="Your steps are divided by the number of rows in the batch. The loss is a mean, so its gradients hold "
        "that factor already. Look for a division in the update.",
        tests=TRAIN,
    ),
    Fault(
        "gradients-divided-by-the-first-batch",
        family="NP01",
        cell="train",
        edits={"learning_rate * grads[name]": "learning_rate * grads[name] * len(batch) / len(batches[0])"},
        words="The first step is right, and so is every later one whose batch has as many rows as the first. The "
        "gradient of another batch is divided by the number of rows of the first one, so its step is too long or too "
        "short. Batches may differ in size. Look at where the number of rows comes from.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "gradients-divided-by-all-rows",
        family="NP01",
        cell="train",
        edits={"learning_rate * grads[name]": "learning_rate * grads[name] * len(batch) / len(x)"},
        words="Your steps are too short: the gradient of a batch is divided by the number of all rows of x. The loss "
        "of a batch is the mean over its own rows, however many others there are. Look at where the number of rows "
        "comes from.",
        tests=TRAIN,
    ),
    Fault(
        "losses-divided-by-all-rows",
        family="NP01",
        cell="train",
        edits={"losses.append(loss)": "losses.append(loss * len(batch) / len(x))"},
        words="Your losses are too small: the loss of a batch is divided by the number of all rows of x. It is the "
        "mean over the batch's own rows, however many others there are. Look at where the number of rows comes from.",
        tests=TRAIN,
    ),
    Fault(
        "only-second-layer-updated",
        cell="train",
        edits={"for name in params:": 'for name in ("W2", "b2"):'},
        words="W1 and b1 never move. The second layer can learn on top of random hidden units, so the loss falls all "
        "the same, only not as far. Look at which parameters your update reaches.",
        tests=TRAIN,
    ),
    Fault(
        "biases-not-updated",
        cell="train",
        edits={"for name in params:": 'for name in ("W1", "W2"):'},
        words="b1 and b2 never move. The loss falls all the same, only not as far. Look at which parameters your "
        "update reaches.",
        tests=TRAIN,
    ),
    Fault(
        "update-lost",
        family="NP12",
        cell="train",
        edits={UPDATE: "value = params[name]\n            value = value - learning_rate * grads[name]"},
        words="The parameters that come back are the ones that went in. Either the new values never reach a dict: "
        "`value = value - ...` gives a new array to a local variable. Or the dict that you update is not the one that "
        "you return. Look at where the new value is stored.",
        tests=TRAIN,
    ),
    Fault(
        "given-params-returned",
        family="NP12",
        cell="train",
        edits={
            "params = dict(params)": "given, params = params, dict(params)",
            "return params, losses": "return given, losses",
        },
        words="The parameters that come back are the ones that went in, though your losses are those of a network that "
        "learns. The dict that you update is not the one that you return. Look at your `return`.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "params-changed-in-place",
        family="NP12",
        cell="train",
        edits={UPDATE: "params[name] -= learning_rate * grads[name]"},
        words="Your values are right, but the caller's params are different afterwards. Whoever wants to train again "
        "from the same start cannot. A new dict is not enough: it holds the same arrays. Look at what your update "
        "writes into.",
        tests=TRAIN,
    ),
    Fault(
        "first-layer-gradient-too-late",
        family="NP06",
        cell="train",
        edits={
            "grads = two_layer_backward(dscores, cache)": "grads = two_layer_backward(dscores, cache)\n"
            '        moved = {n: params[n] - learning_rate * grads[n] * (n in ("W2", "b2")) for n in params}\n'
            "        late = two_layer_backward(dscores, two_layer_forward(x[batch], moved)[1])\n"
            '        grads = {**grads, "W1": late["W1"], "b1": late["b1"]}'
        },
        words="W2 is updated before the gradients of W1 and b1 are computed, so these pass back through the new W2 "
        "instead of the one that made the loss. The error is small and grows with the learning rate. Look at the "
        "order: all gradients first, then all updates.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "only-last-batch-used",
        cell="train",
        edits={"for batch in batches:": "for batch in batches[-1:]:"},
        words="Only the last batch has an effect. Each batch is one step. Look at what is inside the loop and what "
        "is after it.",
        tests=TRAIN,
    ),
    Fault(
        "only-first-batch-used",
        cell="train",
        edits={"for batch in batches:": "for batch in batches[:1]:"},
        words="Only the first batch has an effect. Each batch is one step. Look at where your loop ends: is the "
        "`return` inside it?",
        tests=TRAIN,
    ),
    Fault(
        "restart-at-every-batch",
        cell="train",
        edits={
            "    for batch in batches:": "    start = params\n    for batch in batches:\n        params = dict(start)"
        },
        words="Every step starts from the parameters you were given, so only the last one has an effect. A step "
        "starts where the step before it ended. Look at which dict you pass to the forward pass, and at what is "
        "reset inside the loop.",
        tests=TRAIN,
    ),
    Fault(
        "gradients-at-the-start",
        cell="train",
        edits={
            "    for batch in batches:": "    start = dict(params)\n    for batch in batches:",
            "two_layer_forward(x[batch], params)": "two_layer_forward(x[batch], start)",
        },
        words="The first step is right; every later one uses a loss and gradients computed at the parameters that you "
        "were given, not at those that the step before it left. Look at which dict you pass to the forward pass.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "gradients-pile-up",
        cell="train",
        edits={
            "grads = two_layer_backward(dscores, cache)": "new = two_layer_backward(dscores, cache)\n"
            "        grads = {n: new[n] + grads[n] for n in new} if len(losses) > 1 else new"
        },
        words="Each step uses the sum of all gradients so far. The first step is right and every later one is too "
        "long. A step uses the gradients of its own batch. Look at where your gradients are set back.",
        tests=TRAIN,
    ),
    Fault(
        "batches-ignored",
        cell="train",
        edits={"x[batch]": "x", "labels[batch]": "labels"},
        words="Every step uses all rows, whatever the batch says. Look at which rows you pass to the forward pass.",
        tests=TRAIN,
    ),
    Fault(
        "rows-counted-once",
        cell="train",
        edits={"for batch in batches:": "for batch in map(np.unique, batches):"},
        words="A row that stands in a batch twice counts once in your losses and steps. It is in the batch twice, so "
        "it counts twice in the mean. A mask or a set knows which rows are meant, and not how often. Look at how you "
        "pick the rows of a batch.",
        tests=TRAIN,
        pairs=False,
    ),
    Fault(
        "labels-not-batched",
        cell="train",
        edits={"labels[batch]": "labels[: len(batch)]"},
        words="The rows of x are those of the batch, the labels are the first ones of the whole set. So the network "
        "learns labels that belong to other examples. Look at how you pick the labels of a batch.",
        tests=TRAIN,
    ),
    Fault(
        "rows-in-order",
        cell="train",
        edits={"x[batch]": "x[: len(batch)]", "labels[batch]": "labels[: len(batch)]"},
        words="Every step uses the first rows, as many as the batch has. A batch is an array of row numbers. Look at "
        "how you pick the rows of a batch.",
        tests=TRAIN,
    ),
    Fault(
        "losses-after-the-step",
        cell="train",
        # Stored when the next batch comes, or at the end: so it can stand beside a mistake in the step itself.
        edits={
            "losses.append(loss)": f"if losses:\n            losses[-1] = {LATE}\n        losses.append(batch)",
            "    return params, losses": f"    losses[-1] = {LATE}\n    return params, losses",
        },
        words="Your losses are those after each step, on the batch that the step has just learned from. The exercise "
        "asks for the loss before the step, which is the one that the gradient belongs to. Look at where you store "
        "it.",
        tests=TRAIN,
    ),
    Fault(
        "only-last-loss",
        cell="train",
        edits={"losses.append(loss)": "losses = [loss]"},
        words="losses holds one number, the loss of the last batch. It should hold one for each batch, in order. "
        "Look at how you store the loss inside the loop.",
        tests=TRAIN,
    ),
    Fault(
        "losses-averaged",
        cell="train",
        edits={"return params, losses": "return params, float(np.mean(losses))"},
        words="losses is a single number, the mean over all batches. It should hold one for each batch: the curve is "
        "what shows whether training works. Look at your `return`.",
        tests=TRAIN,
    ),
    Fault(
        "losses-are-running-sums",
        cell="train",
        edits={"losses.append(loss)": "losses.append(loss + losses[-1] if losses else loss)"},
        words="The first of your losses is right; each later one is the sum of all losses so far. The exercise asks "
        "for the loss of each batch alone. Look at the variable that you append.",
        tests=TRAIN,
    ),
    Fault(
        "losses-are-running-means",
        cell="train",
        edits={
            "losses = []": "losses, seen = [], []",
            "losses.append(loss)": "seen.append(loss)\n        losses.append(sum(seen) / len(seen))",
        },
        words="The first of your losses is right; each later one is the mean of all losses so far. The exercise asks "
        "for the loss of each batch alone. Look at the variable that you append.",
        tests=TRAIN,
    ),
    Fault(
        "starts-from-zero",
        family="NP13",
        cell="train",
        edits={"params = dict(params)": "params = {name: np.zeros_like(value) for name, value in params.items()}"},
        words="Training starts from zeros, not from the params that you were given. From zeros all hidden units "
        "compute the same, get the same gradient and stay equal for ever. Look at the lines before the loop.",
        tests=TRAIN,
    ),
    Fault(
        "params-cut-to-integers",
        family="NP14",
        cell="train",
        edits={UPDATE: "params[name] = (params[name] - learning_rate * grads[name]).astype(int)"},
        words="Your updated parameters are integers: the fractions are cut off, and a small step is lost altogether. "
        "Look at the dtype of the arrays that you store the new values in.",
        tests=TRAIN,
        pairs=False,
    ),
]

# A mistake in `train` is looked for first: it leaves the functions that train calls as they should be.
FAULTS = [*SMALL_GRAPH, *NUMERICAL_GRADIENT, *TRAINING, *FORWARD, *BACKWARD_FAULTS, *CROSS_ENTROPY]
