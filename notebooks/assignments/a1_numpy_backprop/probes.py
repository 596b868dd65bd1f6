"""What the judge of a1 runs beside the student's code: build, call, hand back. Nothing here knows a right answer.

A cache or a function cannot travel as data. So forward and backward meet in one probe, and so do `numerical_gradient`
and the function that it measures.
"""


def called_twice(ns, function, arguments):
    """What a function of the student's returns, and what it returns for the same arrays a second time."""
    import copy

    first = copy.deepcopy(getattr(ns, function)(*arguments))
    return first, getattr(ns, function)(*arguments)


def forward_scores(ns, x, params):
    returned = ns.two_layer_forward(x, params)
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise TypeError("two_layer_forward should return the tuple (scores, cache)")
    return returned[0]


def scores_twice(ns, x, params, other_x, other_params, dscores):
    """Scores twice with the same arrays, and what the student's own backward pass makes of the first cache.

    That is asked after a call with other arrays of the same shapes: of a copy from before that call, of the cache
    itself, and of a second copy. So a wrong backward pass is not taken for a wrong cache. Without one there are none,
    and nothing comes along but numbers under the names of params: what else it returns is not this question's.
    """
    import copy

    import numpy as np

    def gradients(cache):
        grads = ns.two_layer_backward(dscores, cache)
        return {name: np.array(grads[name], float) for name in params if name in grads}

    first, cache = ns.two_layer_forward(x, params)
    first = copy.deepcopy(first)
    again = copy.deepcopy(ns.two_layer_forward(x, params)[0])
    try:
        copies = [copy.deepcopy(cache) for _ in range(2)]
        ns.two_layer_forward(other_x, other_params)
        grads = [gradients(of) for of in (copies[0], cache, copies[1])]
    except Exception:
        grads = []
    return first, again, grads


def scores_and_gradients(ns, x, params, dscores):
    """The scores come along so that a mistake in the forward pass is not taken for one in the backward pass."""
    returned = ns.two_layer_forward(x, params)
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise TypeError("two_layer_forward should return the tuple (scores, cache)")
    return returned[0], ns.two_layer_backward(dscores, returned[1])


def backward_after_another_forward(ns, x, params, dscores, other_x, other_params):
    """Scores and gradients twice with the same arrays, and then the gradients of the last cache once more.

    A cache that is used up has no others: two_layer_backward may take its arrays out. Last come the gradients, twice,
    of a copy of that cache from before the other forward pass.
    """
    import copy

    def copy_of(cache):
        try:
            return copy.deepcopy(cache)
        except Exception:
            return None

    def gradients_of(cache):
        try:
            return copy.deepcopy(ns.two_layer_backward(dscores, cache))
        except Exception:
            return None

    found = []
    for _ in range(2):
        returned = ns.two_layer_forward(x, params)
        if not isinstance(returned, (tuple, list)) or len(returned) != 2:
            raise TypeError("two_layer_forward should return the tuple (scores, cache)")
        kept = copy_of(returned[1])
        ns.two_layer_forward(other_x, other_params)
        found.append(copy.deepcopy((returned[0], ns.two_layer_backward(dscores, returned[1]))))
    return *found, gradients_of(returned[1]), gradients_of(kept), gradients_of(kept)


def central_difference_of_a_cubic(ns, x, coefficients, h):
    """f(v) = sum(coefficients * v**3) + sum(v)**2: each way of taking a difference gives another value for large h."""
    import numpy as np

    def f(v):
        return float(np.sum(coefficients * v**3) + np.sum(v) ** 2)

    return ns.numerical_gradient(f, x, h)


def gradient_of_a_wave(ns, x, weights):
    """f(v) = sum(v) * sum(sin(weights * v)), with the function's own h, for an x whose columns lie together."""
    import numpy as np

    def f(v):
        return float(np.sum(v) * np.sum(np.sin(weights * v)))

    return ns.numerical_gradient(f, np.asfortranarray(x))


def gradients_twice(ns, x, weights, h):
    """f(v) = sum(v) * sum(sin(weights * v)), for one x twice."""
    import copy

    import numpy as np

    def f(v):
        return float(np.sum(v) * np.sum(np.sin(weights * v)))

    first = copy.deepcopy(ns.numerical_gradient(f, x, h))
    return first, ns.numerical_gradient(f, x, h)


def losses_of_scores_used_twice(ns, scores, labels, another):
    """Loss and gradient, and again with one more class beside the same scores: had these been shifted, it shows."""
    import copy

    import numpy as np

    first = copy.deepcopy(ns.softmax_cross_entropy(scores, labels))
    return first, ns.softmax_cross_entropy(np.concatenate([scores, another], axis=1), labels)


def pieces_of_a_step(ns, x, labels, params):
    """What the functions that `train` should call say about some rows; nothing if they cannot say it.

    Several mistakes in those functions give the same parameters as a mistake in `train`. The pieces tell them apart.
    They are not graded here: a `train` that does without them is as good.
    """
    try:
        scores, cache = ns.two_layer_forward(x, params)
        loss, dscores = ns.softmax_cross_entropy(scores, labels)
        return scores, loss, dscores, ns.two_layer_backward(dscores, cache)
    except Exception:
        return None
