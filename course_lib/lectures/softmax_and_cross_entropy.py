"""The exercises of lecture 04: what each check asks, and the solution that the lecture continues with meanwhile.

Each solution stands here as it is folded in the lecture, so it has a notebook's form: without annotations.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from course_lib.exercises import attempt_or_solution

Function = Callable[..., Any]

LOGITS = np.array([[2.0, 0.0, -1.0], [0.5, 1.5, -0.5], [-3.0, -1.0, 0.0], [0.0, 0.0, 0.0], [1.0, -2.0, 3.0]])
LABELS = np.array([0, 2, 1, 2, 0])
LARGE = np.array([[1000.0, 0.0, -1000.0], [-1000.0, -1001.0, -1000.0]])


# softmax


def softmax(logits):
    """Probabilities of each row of logits, (N, C) -> (N, C)."""
    exp_logits = np.exp(logits)
    row_sums = exp_logits.sum(axis=1, keepdims=True)
    return exp_logits / row_sums


def check_softmax(attempt: Function) -> Function:
    """`softmax(logits)`: `(N, C) -> (N, C)`, rows that sum to 1. It need not be stable yet."""
    wanted = _probabilities(LOGITS)

    def got() -> Any:
        return np.asarray(_quietly(attempt, LOGITS.copy()))

    return attempt_or_solution(
        "softmax",
        attempt,
        softmax,
        (
            lambda: _broadcasts(attempt, LOGITS.copy()),
            "NumPy cannot combine an array of shape (N, C) with one of shape (N,). Keep the summed axis with "
            "`keepdims=True`, so that the row sums have shape (N, 1).",
        ),
        _returns(attempt, LOGITS.copy()),
        (
            lambda: got().shape == LOGITS.shape,
            "The result does not have the shape of the logits: (N, C), one probability for every class of every row.",
        ),
        (
            lambda: not np.allclose(got(), np.exp(LOGITS)),
            "The numbers are positive, but they do not sum to 1 yet. Divide by the sum of each row.",
        ),
        (
            lambda: not np.allclose(got().sum(axis=0), 1),
            "Every column sums to 1. Classes run along axis 1, so sum over `axis=1`.",
        ),
        (
            lambda: not np.isclose(got().sum(), 1),
            "All entries together sum to 1. Each row is one image: sum over `axis=1`, with `keepdims=True`.",
        ),
        (
            lambda: not _close(_quietly(attempt, np.array([[1.0, 3.0]])), [[0.25, 0.75]]),
            "You divide the logits themselves, and these can be negative or sum to 0. Take `np.exp` of them first.",
        ),
        (lambda: _close(got().sum(axis=1), np.ones(5)), "The rows do not sum to 1. Divide each by its own sum."),
        (
            lambda: _close(got(), wanted),
            "The rows sum to 1, but the values differ: softmax of [2, 0, -1] is [0.844, 0.114, 0.042].",
        ),
        (lambda: _leaves(attempt, LOGITS), "Your code changes the array that it was given. Compute a new one."),
    )


# log_softmax and cross_entropy


def log_softmax(logits):
    """Logarithm of the softmax of each row, (N, C) -> (N, C); exact for logits of any size."""
    largest = logits.max(axis=1, keepdims=True)
    shifted = logits - largest
    log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shifted - log_sum


def cross_entropy(logits, labels):
    """Mean cross-entropy of logits (N, C) with class indices (N,): one number."""
    log_p = log_softmax(logits)
    rows = np.arange(len(labels))
    log_p_true = log_p[rows, labels]
    return -log_p_true.mean()


def check_cross_entropy(log_attempt: Function, loss_attempt: Function) -> tuple[Function, Function]:
    """`log_softmax(logits)`: `(N, C) -> (N, C)`, and `cross_entropy(logits, labels) -> float`, both stable."""
    chosen = _check_log_softmax(log_attempt)
    if chosen is not log_attempt:
        return log_softmax, cross_entropy
    return chosen, _check_loss(loss_attempt)


def _check_log_softmax(attempt: Function) -> Function:
    wanted, large = log_softmax(LOGITS), log_softmax(LARGE)
    shifted = LOGITS - LOGITS.max(axis=1, keepdims=True)
    mixing = [z - np.log(np.exp(z).sum(axis=axis)) for z in (LOGITS, shifted) for axis in (None, 0)]

    def got(logits: Any = LOGITS) -> Any:
        return np.asarray(_quietly(attempt, logits.copy()))

    return attempt_or_solution(
        "log_softmax",
        attempt,
        log_softmax,
        (
            lambda: _broadcasts(attempt, LOGITS.copy()),
            "NumPy cannot combine an array of shape (N, C) with one of shape (N,). Use `keepdims=True` for the maximum "
            "and for the sum, so that both have shape (N, 1).",
        ),
        _returns(attempt, LOGITS.copy()),
        (
            lambda: got().shape == LOGITS.shape,
            "The result does not have the shape of the logits, (N, C). "
            "The maximum and the sum need `axis=1, keepdims=True`.",
        ),
        (
            lambda: not _close(got(), _probabilities(LOGITS)),
            "These are the probabilities. What is wanted is their logarithm, which is never positive.",
        ),
        (lambda: not _close(got(), -wanted), "The sign is wrong: logarithms of probabilities are never positive."),
        (
            lambda: not _close(got(), LOGITS - LOGITS.max(axis=1, keepdims=True)),
            "The largest logit of each row is subtracted. Now subtract the logarithm of the row's sum of exponentials.",
        ),
        (
            lambda: not _close(got(), wanted - LOGITS.max(axis=1, keepdims=True)),
            "The maximum is subtracted twice. The log-sum of the *shifted* logits belongs to the shifted logits.",
        ),
        (
            lambda: not _close(got(), wanted + LOGITS.max(axis=1, keepdims=True)),
            "The log-sum is that of the shifted logits, but you subtract it from the logits themselves. Subtract it "
            "from the shifted ones.",
        ),
        (
            lambda: not any(_close(got(), mixed) for mixed in mixing),
            "The sum mixes the images. Each row has its own sum: `axis=1, keepdims=True`.",
        ),
        (
            lambda: _close(got(), wanted),
            "For ordinary logits the result is not the logarithm of the softmax. With z = [2, 0, -1], m = 2 and "
            "z - m = [0, -2, -3], it is [-0.170, -2.170, -3.170].",
        ),
        (
            lambda: not np.isnan(got(LARGE)).any(),
            "For logits of ±1000 the result contains nan: `np.exp(1000)` is inf, or a whole row has become 0. Before "
            "`np.exp`, subtract from each row its own largest logit: `logits.max(axis=1, keepdims=True)`.",
        ),
        (
            lambda: np.isfinite(got(LARGE)).all(),
            "For logits of ±1000 the result contains an infinity: either `np.exp` has overflowed, or the logarithm "
            "of 0 is taken. Subtract each row's own largest logit before `np.exp`, and do not compute probabilities.",
        ),
        (
            lambda: _close(got(LARGE), large),
            "For logits of ±1000 the result is finite but wrong. For [1000, 0, -1000] it is [0, -1000, -2000]; a small "
            "number added inside the logarithm, or clipping, would hide that.",
        ),
        (lambda: _leaves(attempt, LOGITS), "Your code changes the array that it was given. Compute a new one."),
    )


def _check_loss(attempt: Function) -> Function:
    log_p = log_softmax(LOGITS)
    each = -log_p[np.arange(5), LABELS]

    def got() -> Any:
        return np.asarray(_quietly(attempt, LOGITS.copy(), LABELS.copy()))

    return attempt_or_solution(
        "cross_entropy",
        attempt,
        cross_entropy,
        _returns(attempt, LOGITS.copy(), LABELS.copy()),
        (
            lambda: got().size == 1,
            "The result should be a single number: the mean over the N images.",
        ),
        (
            lambda: not np.isclose(got(), log_p[:, LABELS].mean()) and not np.isclose(got(), -log_p[:, LABELS].mean()),
            "`log_p[:, labels]` takes N columns from every row. Pair each row with its own label: "
            "`log_p[np.arange(N), labels]`.",
        ),
        (
            lambda: not np.isclose(got(), -each.mean()),
            "The sign is wrong. Logarithms of probabilities are negative; the loss is minus their mean.",
        ),
        (
            lambda: not np.isclose(got(), each.sum()),
            "This is the sum over the images. The loss is the mean: divide by N.",
        ),
        (
            lambda: not np.isclose(got(), each.mean() / 3),
            "This is the mean over all N·C entries. There are only N images, and each has one true class.",
        ),
        (
            lambda: not np.isclose(got(), -log_p.mean()),
            "This is the mean over all classes. Only the true class of each image counts.",
        ),
        (
            lambda: not np.isclose(got(), -np.exp(-each).mean()) and not np.isclose(got(), np.exp(-each).mean()),
            "You average probabilities. Average their logarithms: use `log_softmax`.",
        ),
        (
            lambda: np.isclose(got(), each.mean()),
            "The value is not yet the mean of minus the log-probability of the true class. For one image with logits "
            "[2, 0, -1] and label 0 the loss is 0.170.",
        ),
        (
            lambda: _close(_quietly(attempt, LARGE.copy(), np.array([2, 1])), cross_entropy(LARGE, np.array([2, 1]))),
            "For logits of ±1000 the loss is infinite, nan or wrong. Take the log-probabilities from `log_softmax`, "
            "not from the logarithm of `softmax`.",
        ),
    )


# cross_entropy_gradient


def cross_entropy_gradient(logits, labels):
    """Gradient of the mean cross-entropy with respect to the logits: (N, C)."""
    p = np.exp(log_softmax(logits))
    one_hot = np.zeros_like(p)
    one_hot[np.arange(len(labels)), labels] = 1
    return (p - one_hot) / len(labels)


def check_cross_entropy_gradient(attempt: Function) -> Function:
    """`cross_entropy_gradient(logits, labels)`: `(N, C), (N,) -> (N, C)`."""
    p, y = _probabilities(LOGITS), np.eye(3)[LABELS]
    wanted = (p - y) / 5
    all_columns = p.copy()
    all_columns[:, LABELS] -= 1

    def got() -> Any:
        return np.asarray(_quietly(attempt, LOGITS.copy(), LABELS.copy()))

    return attempt_or_solution(
        "cross_entropy_gradient",
        attempt,
        cross_entropy_gradient,
        (
            lambda: _broadcasts(attempt, LOGITS.copy(), LABELS.copy()),
            "NumPy cannot combine these shapes. `labels` holds N class indices; to subtract them from probabilities of "
            "shape (N, C), make them one-hot first.",
        ),
        _returns(attempt, LOGITS.copy(), LABELS.copy()),
        (
            lambda: got().shape == LOGITS.shape,
            "There is one derivative for every logit: the result has the shape of the logits, (N, C).",
        ),
        (lambda: not (_close(got(), p) or _close(got(), p / 5)), "These are the probabilities. Subtract the labels."),
        (
            lambda: not (_close(got(), (log_softmax(LOGITS) - y) / 5) or _close(got(), (LOGITS - y) / 5)),
            "You subtract the labels from logits or log-probabilities. Take `np.exp(log_softmax(logits))` first.",
        ),
        (
            lambda: not (_close(got(), -wanted) or _close(got(), -5 * wanted)),
            "The sign is wrong: it is p - y, and not y - p. Increasing the logit of a wrong class increases the loss.",
        ),
        (
            lambda: not (_close(got(), all_columns) or _close(got(), all_columns / 5)),
            "`[:, labels]` changes N columns of every row. Pair each row with its own label: `[np.arange(N), labels]`.",
        ),
        (
            lambda: not _close(got(), p - y),
            "This is the gradient of the sum. The loss is the mean over N images, so divide by N.",
        ),
        (
            lambda: not _close(got(), (p - y) / 15),
            "You divide by the number of entries, N·C. The loss is the mean over N images: divide by N only.",
        ),
        (
            lambda: _close(got(), wanted),
            "The values are not (p - y) / N. For one image with logits [2, 0, -1] and label 0 they are "
            "[-0.156, 0.114, 0.042].",
        ),
        (
            lambda: _close(
                _quietly(attempt, LARGE.copy(), np.array([2, 1])), cross_entropy_gradient(LARGE, np.array([2, 1]))
            ),
            "For logits of ±1000 the result is nan or wrong. Get the probabilities as `np.exp(log_softmax(logits))`.",
        ),
        (lambda: _leaves(attempt, LOGITS, LABELS), "Your code changes an array that it was given. Use a copy."),
    )


# train


def train(x, labels, W, b, gradient, lr, epochs, batch_size=50, seed=0):
    """Mini-batch SGD for logits = x @ W + b; returns new W and b, and leaves the given ones as they are.

    x: (N, D). labels: (N,). W: (D, C). b: (C,). gradient: function of (logits, labels) that returns (batch, C).
    """
    rng = np.random.default_rng(seed)
    W = W.copy()
    b = b.copy()
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), batch_size):
            batch = order[start : start + batch_size]
            logits = x[batch] @ W + b
            grad_logits = gradient(logits, labels[batch])
            grad_W = x[batch].T @ grad_logits
            grad_b = grad_logits.sum(axis=0)
            W -= lr * grad_W
            b -= lr * grad_b
    return W, b


def evaluate(x, labels, W, b):
    """Mean cross-entropy and accuracy on images x (N, D) with class indices (N,): two numbers."""
    logits = x @ W + b
    predicted = logits.argmax(axis=1)
    loss = cross_entropy(logits, labels)
    accuracy = (predicted == labels).mean()
    return loss, accuracy


def check_train(train_attempt: Function, evaluate_attempt: Function) -> tuple[Function, Function]:
    """`train(x, labels, W, b, gradient, lr, epochs, batch_size=50, seed=0)`: new `W` of `(D, C)` and `b` of `(C,)`.

    And `evaluate(x, labels, W, b)`: loss and accuracy.
    """
    chosen = _check_training_loop(train_attempt)
    if chosen is not train_attempt:
        return train, evaluate
    return chosen, _check_evaluate(evaluate_attempt)


def _check_training_loop(attempt: Function) -> Function:
    rng = np.random.default_rng(4)
    x, labels = rng.standard_normal((6, 2)), np.array([0, 2, 1, 1, 0, 2])
    W, b = rng.standard_normal((2, 3)), rng.standard_normal(3)
    grad_logits = cross_entropy_gradient(x @ W + b, labels)
    step_W, step_b = x.T @ grad_logits, grad_logits.sum(axis=0)
    rest = cross_entropy_gradient, 0.5, 1

    def whole(epochs: int = 1) -> Any:
        """Steps on all examples at once."""
        return _quietly(
            attempt, x.copy(), labels.copy(), W.copy(), b.copy(), cross_entropy_gradient, 0.5, epochs, batch_size=6
        )

    @cache
    def moved() -> tuple[Any, Any]:
        new_W, new_b = whole()
        return np.asarray(new_W) - W, np.asarray(new_b) - b

    @cache
    def seen() -> list[SimpleNamespace]:
        return _batches(attempt)

    return attempt_or_solution(
        "train",
        attempt,
        train,
        (
            lambda: _broadcasts(whole),
            "The shapes do not fit. Does the function use only its arguments, `x` and `labels`, and not `x_train` and "
            "`y_train`? `x[batch]` is (batch, D) and `grad_logits` is (batch, C), so that `x[batch].T @ "
            "grad_logits` has the shape of W, (D, C). The gradient of b is `grad_logits.sum(axis=0)`, (C,).",
        ),
        (
            lambda: isinstance(result := whole(), (tuple, list)) and len(result) == 2,
            "Return the two arrays: `return W, b`, after the loops.",
        ),
        (
            lambda: [np.shape(part) for part in whole()] == [(2, 3), (3,)],
            "The returned W and b do not have the shapes (D, C) and (C,). The gradient of W is `x[batch].T @ "
            "grad_logits`; that of b is the sum of `grad_logits` over `axis=0`.",
        ),
        (
            lambda: _leaves(lambda x, labels: attempt(x, labels, W.copy(), b.copy(), *rest, batch_size=6), x, labels),
            "The images or labels that were given have changed. `rng.shuffle` works in place; draw an order with "
            "`rng.permutation(len(x))` and index with it.",
        ),
        (
            lambda: _leaves(lambda W, b: attempt(x.copy(), labels.copy(), W, b, *rest, batch_size=6), W, b),
            "The W or b that was given has changed: `-=` changes an array in place. Start with `W = W.copy()` and "
            "`b = b.copy()`.",
        ),
        (
            lambda: seen(),
            "The function `gradient` that was passed is never called. Call it, and not another function by its name.",
        ),
        (
            lambda: all(batch.matching for batch in seen()),
            "Images and labels no longer belong together: take `x[batch]` and `labels[batch]` with the same indices.",
        ),
        (
            lambda: len(_order(seen())) not in (4, 10),
            "Two epochs over 10 examples in batches of 4 were asked for, but only the first epoch or the first "
            "batch was used. Is the loop over the epochs missing, or does `return` stand inside a loop?",
        ),
        (
            lambda: max(len(batch.rows) for batch in seen()) <= 4,
            "A batch holds more than `batch_size` examples. Cut the order into pieces of `batch_size`.",
        ),
        (
            lambda: sorted(_order(seen())) == sorted([*range(10)] * 2),
            "In each epoch every example should be used exactly once, also those in a last, smaller batch. "
            "`rng.permutation(len(x))` gives an order; cut it into pieces.",
        ),
        (
            lambda: [len(batch.rows) for batch in seen()] == [4, 4, 2, 4, 4, 2],
            "10 examples in batches of 4 are batches of 4, 4 and 2 examples.",
        ),
        (lambda: np.abs(moved()[0]).max() > 0, "W is still what it was. Subtract lr times its gradient in each step."),
        (
            lambda: np.abs(moved()[1]).max() > 1e-9,
            "b is still what it was. Subtract lr times its gradient, the sum of `grad_logits` over `axis=0`. (The "
            "sum over both axes is always 0.)",
        ),
        (
            lambda: not _close(moved()[0], 0.5 * step_W),
            "W moves uphill. Move against the gradient: `W -= lr * grad_W`.",
        ),
        (
            lambda: not _close(moved()[0], -step_W),
            "The step does not depend on `lr` as it should: it is lr times the gradient.",
        ),
        (
            lambda: not _close(moved()[0], -0.5 * step_W / 6),
            "The step of W is too small by a factor of the batch size. `gradient` has already divided by the number of "
            "images.",
        ),
        (
            lambda: _close(moved()[0], -0.5 * step_W),
            "After one step on all examples, W is not W - lr * x.T @ gradient(x @ W + b, labels).",
        ),
        (
            lambda: not _close(moved()[1], -0.5 * step_b / 6),
            "You average the gradient of b over the batch, but `gradient` contains the division already. Sum it.",
        ),
        (
            lambda: _close(moved()[1], -0.5 * step_b),
            "W is right, but b is not: its gradient is the sum of `grad_logits` over the images, `axis=0`.",
        ),
        (
            lambda: all(map(_close, whole(3), train(x, labels, W, b, cross_entropy_gradient, 0.5, 3, batch_size=6))),
            "One epoch is right, but three are not. Are W and b set back at the start of each epoch?",
        ),
        (
            lambda: _order(seen()[:3]) != [*range(10)],
            "The examples come in their stored order. Shuffle: draw `rng.permutation(len(x))`.",
        ),
        (
            lambda: _order(seen()[:3]) != _order(seen()[3:]),
            "Both epochs have the same order. Draw a new permutation at the start of each epoch, and create the "
            "generator only once, before the loops.",
        ),
        (
            lambda: [batch.rows for batch in seen()] == [batch.rows for batch in _batches(attempt)],
            "Two calls with the same seed use different batches. Draw from `np.random.default_rng(seed)`.",
        ),
    )


def _check_evaluate(attempt: Function) -> Function:
    W, b = np.eye(3), np.array([0.0, 0.0, 0.5])
    loss, accuracy = evaluate(LOGITS, LABELS, W, b)

    def got() -> list[Any]:
        return [np.asarray(part) for part in _quietly(attempt, LOGITS.copy(), LABELS.copy(), W.copy(), b.copy())]

    return attempt_or_solution(
        "evaluate",
        attempt,
        evaluate,
        (
            lambda: _broadcasts(attempt, LOGITS.copy(), LABELS.copy(), W.copy(), b.copy()),
            "NumPy cannot combine these shapes. Use the arguments `x` and `labels`, and not `x_test` and `y_test`. "
            "`argmax` over `axis=1` gives one class for each image, (N,).",
        ),
        _returns(
            attempt,
            LOGITS.copy(),
            LABELS.copy(),
            W.copy(),
            b.copy(),
            hint="The function returns nothing: return the loss and the accuracy.",
        ),
        (lambda: len(got()) == 2, "Return two values: `return loss, accuracy`."),
        (
            lambda: not (_close(got()[0], accuracy) and _close(got()[1], loss)),
            "The order is loss, accuracy; yours is the other way around.",
        ),
        (
            lambda: not _close(got()[0], cross_entropy(LOGITS @ W, LABELS)),
            "The loss is that of logits without the bias `b`.",
        ),
        (lambda: _close(got()[0], loss), "The first value is not the cross-entropy of `x @ W + b` with the labels."),
        (
            lambda: not (_close(got()[1], 5 * accuracy) or _close(got()[1], 100 * accuracy)),
            "The accuracy is a fraction between 0 and 1: divide the number of right answers by the number of images.",
        ),
        (
            lambda: not _close(got()[1], 1 - accuracy),
            "This is the fraction of wrong answers. Count where `predicted == labels`.",
        ),
        (
            lambda: _close(got()[1], accuracy),
            "The loss is right, but the accuracy is not. The answer for an image is the class with its largest logit: "
            "`argmax` over `axis=1`.",
        ),
    )


def _batches(attempt: Function) -> list[SimpleNamespace]:
    """What `gradient` is given in two epochs over 10 examples in batches of 4; each image holds its own number."""
    seen = []

    def gradient(logits: Any, labels: Any) -> Any:
        rows = [round(float(value)) for value in np.asarray(logits)[:, 0]]
        seen.append(SimpleNamespace(rows=rows, matching=rows == np.asarray(labels).tolist()))
        return np.zeros_like(logits)

    numbers = np.arange(10)
    attempt(numbers[:, None].astype(float), numbers, np.ones((1, 10)), np.zeros(10), gradient, 0.5, 2, 4)
    return seen


def _order(batches: list[SimpleNamespace]) -> list[int]:
    return [row for batch in batches for row in batch.rows]


# squared_error_gradient


def squared_error_gradient(logits, labels):
    """Gradient of the mean of sum((softmax(logits) - one_hot) ** 2) with respect to the logits: (N, C)."""
    p = np.exp(log_softmax(logits))
    one_hot = np.zeros_like(p)
    one_hot[np.arange(len(labels)), labels] = 1
    upstream = 2 * (p - one_hot) / len(labels)
    weighted_sum = (upstream * p).sum(axis=1, keepdims=True)
    return p * (upstream - weighted_sum)


def check_squared_error_gradient(attempt: Function) -> Function:
    """`squared_error_gradient(logits, labels)`: `(N, C), (N,) -> (N, C)`."""
    p, y = _probabilities(LOGITS), np.eye(3)[LABELS]
    upstream = 2 * (p - y) / 5
    weighted = (upstream * p).sum(axis=1, keepdims=True)
    wanted = p * (upstream - weighted)

    def got() -> Any:
        return np.asarray(_quietly(attempt, LOGITS.copy(), LABELS.copy()))

    return attempt_or_solution(
        "squared_error_gradient",
        attempt,
        squared_error_gradient,
        (
            lambda: _broadcasts(attempt, LOGITS.copy(), LABELS.copy()),
            "NumPy cannot combine these shapes. The sum over the classes needs `axis=1, keepdims=True`, and the labels "
            "must be one-hot, (N, C).",
        ),
        _returns(attempt, LOGITS.copy(), LABELS.copy()),
        (
            lambda: got().shape == LOGITS.shape,
            "There is one derivative for every logit: the result has the shape of the logits, (N, C).",
        ),
        (
            lambda: not (_close(got(), upstream) or _close(got(), 5 * upstream)),
            "This is the upstream gradient, with respect to p. Carry it back through softmax to the logits.",
        ),
        (
            lambda: not (_close(got(), p * (1 - p) * upstream) or _close(got(), 5 * p * (1 - p) * upstream)),
            "p * (1 - p) is only the case j = k. A logit also changes the probabilities of the other classes: subtract "
            "the sum over j of u_j p_j.",
        ),
        (
            lambda: (
                not any(
                    _close(got(), lacking)
                    for lacking in (
                        upstream - weighted,
                        p * upstream,
                        p * upstream - weighted,
                        p * (upstream - upstream.sum(axis=1, keepdims=True)),
                    )
                )
            ),
            "One factor or term is missing: it is p * (u - sum of u * p).",
        ),
        (
            lambda: not (_close(got(), -wanted) or _close(got(), -5 * wanted)),
            "The sign is wrong. The upstream gradient of (p - y)² is 2 (p - y).",
        ),
        (lambda: not _close(got(), 5 * wanted), "The loss is the mean over N images: divide by N."),
        (
            lambda: not _close(got(), wanted / 2),
            "A factor 2 is missing: the derivative of (p - y)² is 2 (p - y).",
        ),
        (
            lambda: not any(_close(got(), p * (upstream - (upstream * p).sum(axis=axis))) for axis in (None, 0)),
            "The sum mixes the images. It should run over the classes of each image: `axis=1, keepdims=True`.",
        ),
        (
            lambda: _close(got(), wanted),
            "The values are not those of p * (u - sum of u * p) with u = 2 (p - y) / N. For one image with logits "
            "[2, 0, -1] and label 0 they are [-0.066, 0.053, 0.013].",
        ),
    )


# confusion_matrix and worst_mistakes


def confusion_matrix(labels, predicted, classes):
    """Counts (classes, classes): entry [t, p] is how many images of class t were predicted as p."""
    counts = np.zeros((classes, classes), dtype=int)
    for true_class, predicted_class in zip(labels, predicted, strict=True):
        counts[true_class, predicted_class] += 1
    return counts


def worst_mistakes(logits, labels, k):
    """Indices of the k wrongly classified images with the largest loss, largest first."""
    losses = -log_softmax(logits)[np.arange(len(labels)), labels]
    wrong = np.flatnonzero(logits.argmax(axis=1) != labels)
    order = np.argsort(-losses[wrong])
    return wrong[order[:k]]


def check_mistakes(matrix_attempt: Function, worst_attempt: Function) -> tuple[Function, Function]:
    """`confusion_matrix(labels, predicted, classes)` and `worst_mistakes(logits, labels, k)`."""
    chosen = _check_confusion_matrix(matrix_attempt)
    if chosen is not matrix_attempt:
        return confusion_matrix, worst_mistakes
    return chosen, _check_worst_mistakes(worst_attempt)


def _check_confusion_matrix(attempt: Function) -> Function:
    labels, predicted = np.array([0, 1, 1, 1, 2, 2, 0]), np.array([0, 2, 2, 1, 2, 0, 0])
    wanted = np.array([[2, 0, 0, 0], [0, 1, 2, 0], [1, 0, 1, 0], [0, 0, 0, 0]])

    def got() -> Any:
        return np.asarray(_quietly(attempt, labels.copy(), predicted.copy(), 4))

    return attempt_or_solution(
        "confusion_matrix",
        attempt,
        confusion_matrix,
        _returns(
            attempt,
            labels.copy(),
            predicted.copy(),
            4,
            hint="The function returns nothing: does it end with `return`, after the loop?",
        ),
        (
            lambda: got().shape == (4, 4),
            "The shape should be (classes, classes), even if some class never occurs.",
        ),
        (
            lambda: not np.array_equal(got(), wanted.T),
            "Rows and columns are exchanged: rows are the true classes, columns the predicted ones.",
        ),
        (
            lambda: not np.array_equal(got(), np.minimum(wanted, 1)),
            "Pairs that occur more than once are counted once: `counts[labels, predicted] += 1` adds to each entry "
            "only once. Use a loop, or `np.add.at`.",
        ),
        (
            lambda: not np.array_equal(got(), wanted - np.diag(np.diag(wanted))),
            "The diagonal is empty. Count the right answers, too.",
        ),
        (
            lambda: np.array_equal(got(), wanted),
            "The counts are wrong. Add 1 to entry [true class, predicted class] for each image.",
        ),
    )


def _check_worst_mistakes(attempt: Function) -> Function:
    logits = np.array([[2.0, 0, -1], [0, 4, 0], [1, 1.2, 0], [0, 0, 3], [0.1, 0, 0], [9, 0, 0], [0, 0, 0.5]])
    labels = np.array([0, 0, 0, 2, 0, 2, 1])
    losses = -log_softmax(logits)[np.arange(7), labels]

    def got(k: int = 3) -> list[int]:
        return [int(place) for place in np.ravel(_quietly(attempt, logits.copy(), labels.copy(), k))]

    return attempt_or_solution(
        "worst_mistakes",
        attempt,
        worst_mistakes,
        _returns(attempt, logits.copy(), labels.copy(), 3),
        (lambda: len(got()) == 3 and len(got(1)) == 1, "The result should hold k indices."),
        (
            lambda: np.issubdtype(np.asarray(_quietly(attempt, logits.copy(), labels.copy(), 3)).dtype, np.integer),
            "The result should hold indices, which are whole numbers, and not the losses themselves.",
        ),
        (
            lambda: got() != [2, 0, 3],
            "These are places within the array of mistakes, or of another order. Return indices of the images: index "
            "the array of wrong images with your order.",
        ),
        (
            lambda: not set(got(4)) & {0, 3, 4},
            "An image among these is classified correctly. Keep the wrong ones only.",
        ),
        (
            lambda: got() != [6, 2, 1],
            "These losses are those of the predicted classes. Take the log-probability of the true class, `labels`.",
        ),
        (lambda: set(got(1)) != {2}, "This is the mistake with the smallest loss. The largest comes first."),
        (
            lambda: [losses[place] for place in got()] == sorted((losses[place] for place in got()), reverse=True),
            "The losses of these images do not fall from first to last. `np.argsort` sorts upward: sort "
            "minus the loss.",
        ),
        (
            lambda: got() == [5, 1, 6],
            "These are not the mistakes with the largest loss, which is minus the log-probability of the true class.",
        ),
    )


# what the checks share


def _probabilities(logits: Any) -> Any:
    return np.exp(log_softmax(logits))


def _quietly(function: Function, *args: Any, **kwargs: Any) -> Any:
    """The result of a call, without NumPy's warnings about overflow."""
    with np.errstate(all="ignore"):
        return function(*args, **kwargs)


def _broadcasts(function: Function, *args: Any) -> bool:
    """Whether a call gets by without NumPy's error about shapes that do not fit."""
    try:
        _quietly(function, *args)
    except ValueError as error:
        return not any(word in str(error) for word in ("broadcast", "mismatch"))
    return True


def _returns(
    function: Function, *args: Any, hint: str = "The function returns nothing: does it end with `return`?"
) -> tuple[Callable[[], bool], str]:
    """The test whether a call returns anything, with its hint."""
    return lambda: _quietly(function, *args) is not None, hint


def _leaves(function: Function, *args: Any, **kwargs: Any) -> bool:
    """Whether a call leaves its arrays as they were."""
    given = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    _quietly(function, *given, **kwargs)
    return all(
        np.array_equal(now, before) for now, before in zip(given, args, strict=True) if isinstance(before, np.ndarray)
    )


def _close(one: Any, other: Any) -> bool:
    """Equal up to the rounding of float32, and of one shape."""
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other, rtol=1e-4, atol=1e-5))
