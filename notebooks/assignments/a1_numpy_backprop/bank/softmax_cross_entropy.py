"""Wrong answers to `softmax_cross_entropy`."""

from autograder.bank import Wrong

BASES = {
    "one_hot": """
def softmax_cross_entropy(scores, labels):
    N, C = scores.shape
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    y = np.eye(C)[labels]
    return np.mean(-np.log(p[range(N), labels] + 1e-12)), (p - y) / N
""",
}

WRONG = [
    Wrong("wrong_flat_index", "Labels are added to a flat index, which uint64 turns into floating-point numbers.")
    .breaks("of any integer dtype")
    .expect(test_softmax_cross_entropy="partial:index-of-floating-point-numbers")
    .whole("""
def softmax_cross_entropy(scores, labels):
    n, c = scores.shape
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    right = np.arange(n) * c + labels
    loss = -np.log(np.maximum(p.reshape(-1)[right], 1e-300)).mean()
    p.reshape(-1)[right] -= 1
    return loss, p / n
"""),
    Wrong("wrong_flat_take", "The same with np.take, which raises another exception.")
    .expect(test_softmax_cross_entropy="partial:floating-point-numbers-for-integers")
    .whole("""
def softmax_cross_entropy(scores, labels):
    n, c = scores.shape
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    right = np.arange(n) * c + labels
    loss = -np.log(np.maximum(np.take(p, right), 1e-300)).mean()
    np.put(p, right, np.take(p, right) - 1)
    return loss, p / n
"""),
    Wrong("wrong_flat_put", "The same with np.put alone.")
    .expect(test_softmax_cross_entropy="partial:floating-point-numbers-for-integers")
    .edit("np.eye(C)[labels]", "np.zeros((N, C))\n    np.put(y, C * np.arange(N) + labels, 1)"),
    Wrong("wrong_flat_index_of_8_bits", "Places in the whole table are computed in the dtype of the labels.")
    .breaks("of any integer dtype")
    .expect(test_softmax_cross_entropy="partial:flat-index-in-the-labels-dtype")
    .whole("""
def softmax_cross_entropy(scores, labels):
    n, c = scores.shape
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    right = labels + c * np.arange(n, dtype=labels.dtype)
    flat = p.reshape(-1)
    loss = -np.log(np.maximum(flat[right], 1e-300)).mean()
    flat[right] -= 1
    return loss, p / n
"""),
    Wrong("wrong_float_labels", "The labels are made floating-point numbers with the scores.")
    .expect(test_softmax_cross_entropy="failed:index-of-floating-point-numbers")
    .edit("    N, C = scores.shape", "    N, C = scores.shape\n    labels = labels.astype(scores.dtype)"),
    Wrong("wrong_gradient_negative", "Labels minus probabilities.")
    .breaks("the gradient of that number")
    .expect(test_softmax_cross_entropy="partial:gradient-negative")
    .edit(
        "return np.mean(-np.log(p[range(N), labels] + 1e-12)), (p - y) / N",
        "loss = -np.sum(y * np.log(p + 1e-12)) / N\n    return loss, (y - p) / N",
    ),
    Wrong("wrong_gradient_not_averaged", "The loss is a mean, the gradient that of the sum.")
    .breaks("The mean is part of the loss")
    .expect(test_softmax_cross_entropy="partial:gradient-not-averaged")
    .edit(
        "return np.mean(-np.log(p[range(N), labels] + 1e-12)), (p - y) / N",
        "loss = -np.sum(y * np.log(p + 1e-12)) / N\n    return loss, p - y",
    ),
    Wrong("wrong_labels_pick_columns", "p[:, labels] instead of one entry of each row, in the loss.")
    .expect(test_softmax_cross_entropy="partial:labels-pick-columns")
    .edit("range(N)", ":"),
    Wrong("wrong_labels_pick_columns_twice", "p[:, labels] in loss and gradient.")
    .expect(test_softmax_cross_entropy="failed:labels-pick-columns-twice")
    .edit(
        "return np.mean(-np.log(p[range(N), labels] + 1e-12)), (p - y) / N",
        """d = p.copy()
    for k in set(labels.tolist()):
        d[:, k] -= 1
    return np.mean(-np.log(p[:, labels] + 1e-12)), d / N""",
    ),
    Wrong("wrong_log2", "Logarithm to base 2.")
    .expect(test_softmax_cross_entropy="partial:logarithm-of-base-2")
    .edit("np.mean(-np.log(p[range(N), labels] + 1e-12))", "-np.sum(y * np.log2(p + 1e-12)) / N"),
    Wrong("wrong_log_of_zero", "A stable softmax, and then the logarithm of a probability that is 0.")
    .expect(test_softmax_cross_entropy="partial:log-of-zero")
    .edit("p[range(N), labels] + 1e-12", "p[range(N), labels]"),
    Wrong("wrong_log_sum_exp_overflow", "Logarithm of a sum of exponentials of the bare scores.")
    .expect(test_softmax_cross_entropy="partial:log-sum-exp-overflows")
    .base("right_log_sum_exp")
    .edit("top + np.log(np.sum(np.exp(table - top[:, np.newaxis]), axis=1))", "np.log(np.sum(np.exp(table), axis=1))"),
    Wrong("wrong_loss_mean_of_table", "np.mean over the whole one-hot table.")
    .expect(test_softmax_cross_entropy="partial:loss-averaged-over-classes")
    .edit("np.log(p[range(N), labels] + 1e-12)", "y * np.log(p + 1e-12)"),
    Wrong("wrong_loss_negative", "The minus sign is missing.")
    .expect(test_softmax_cross_entropy="partial:loss-negative")
    .edit("np.mean(-np.log(p[range(N), labels] + 1e-12))", "np.sum(y * np.log(p + 1e-12)) / N"),
    Wrong("wrong_loss_sum_gradient_mean", "Sum over the batch in the loss, mean in the gradient.")
    .expect(
        test_softmax_cross_entropy="partial:loss-summed-gradient-averaged",
    )
    .edit("np.mean(-np.log(p[range(N), labels] + 1e-12))", "-np.log(p[np.arange(N), labels] + 1e-12).sum()"),
    Wrong("wrong_loss_summed", "Sum over the batch in loss and gradient.")
    .expect(test_softmax_cross_entropy="failed:loss-summed")
    .edit(
        "return np.mean(-np.log(p[range(N), labels] + 1e-12)), (p - y) / N",
        "return -np.log(p[np.arange(N), labels] + 1e-12).sum(), p - y",
    ),
    Wrong("wrong_no_logarithm", "Minus the mean probability.")
    .expect(test_softmax_cross_entropy="partial:logarithm-missing")
    .edit("np.mean(-np.log(p[range(N), labels] + 1e-12))", "-(p * y).sum() / N"),
    Wrong("wrong_one_hot_forgotten", "The gradient is the probabilities.")
    .expect(test_softmax_cross_entropy="partial:one-hot-not-subtracted")
    .edit(
        "return np.mean(-np.log(p[range(N), labels] + 1e-12)), (p - y) / N",
        "loss = -np.sum(y * np.log(p + 1e-12)) / N\n    return loss, p / N",
    ),
    Wrong("wrong_one_hot_not_averaged", "p / N - y instead of (p - y) / N.")
    .expect(
        test_softmax_cross_entropy="partial:one-hot-subtracted-after-averaging",
    )
    .edit("(p - y) / N", "p / N - y"),
    Wrong("wrong_one_maximum", "Subtracts the largest score of the whole table.")
    .breaks("stay finite and right")
    .expect(test_softmax_cross_entropy="partial:softmax-shifted-by-one-maximum")
    .edit("np.max(scores, axis=1, keepdims=True)", "np.amax(scores)")
    .edit("p[range(N), labels] + 1e-12", "p[range(N), labels]"),
    Wrong("wrong_probabilities_returned", "Returns the probabilities in place of the loss.")
    .expect(test_softmax_cross_entropy="partial:probabilities-returned")
    .edit("np.mean(-np.log(p[range(N), labels] + 1e-12))", "p"),
    Wrong("wrong_row_losses", "Returns one loss for each row.")
    .breaks("`loss`: one number")
    .expect(test_softmax_cross_entropy="partial:loss-of-each-row-returned")
    .edit("np.mean(-np.log(p[range(N), labels] + 1e-12))", "np.log(e.sum(1)) - np.log(e[range(N), labels] + 1e-300)"),
    Wrong("wrong_scores_in_place", "Subtracts the maximum from the caller's scores.")
    .breaks("No function may change")
    .expect(test_softmax_cross_entropy="partial:scores-changed-in-place")
    .edit(
        "e = np.exp(scores - np.max(scores, axis=1, keepdims=True))",
        "scores -= np.max(scores, axis=1, keepdims=True)\n    e = np.exp(scores)",
    ),
    Wrong("wrong_softmax_columns", "Normalizes each column.")
    .expect(test_softmax_cross_entropy="failed:softmax-over-columns")
    .edit("np.max(scores, axis=1, keepdims=True)", "np.max(scores, axis=0)")
    .edit("np.sum(e, axis=1, keepdims=True)", "np.sum(e, axis=0)"),
    Wrong("wrong_softmax_overflow", "exp of the bare scores.")
    .breaks("Scores may be as large as 1000")
    .expect(test_softmax_cross_entropy="partial:softmax-overflows")
    .edit("np.exp(scores - np.max(scores, axis=1, keepdims=True))", "np.exp(scores)"),
    Wrong("wrong_softmax_table", "Normalizes the whole table.")
    .expect(test_softmax_cross_entropy="failed:softmax-over-everything")
    .edit("np.max(scores, axis=1, keepdims=True)", "np.max(scores)")
    .edit("np.sum(e, axis=1, keepdims=True)", "np.sum(e)"),
    Wrong("wrong_softmax_twice", "Chains p - y through the Jacobian of softmax again.")
    .expect(test_softmax_cross_entropy="partial:softmax-jacobian-twice")
    .edit(
        "return np.mean(-np.log(p[range(N), labels] + 1e-12)), (p - y) / N",
        """loss = -np.sum(y * np.log(p + 1e-12)) / N
    d = np.zeros_like(p)
    for i in range(N):
        d[i] = (np.diag(p[i]) - np.outer(p[i], p[i])) @ (p[i] - y[i])
    return loss, d / N""",
    ),
    Wrong("wrong_gradient_over_classes", "The gradient is divided by N x C.")
    .expect(test_softmax_cross_entropy="partial:gradient-averaged-over-classes")
    .edit("(p - y) / N", "np.divide(p - y, N * C)"),
    Wrong("wrong_gradient_of_the_labels_alone", "Only the entry of the right class has a slope.")
    .expect(test_softmax_cross_entropy="partial:gradient-of-the-right-class-alone")
    .edit("(p - y) / N", "y * (p - y) / N"),
    Wrong("wrong_gradient_softmax_slope", "p * (1 - p) as the gradient.")
    .expect(test_softmax_cross_entropy="partial:gradient-is-the-slope-of-softmax")
    .edit("(p - y) / N", "(p - p**2) / N"),
    Wrong("wrong_sum_over_columns", "The maximum of each row, the sum of each column.")
    .expect(test_softmax_cross_entropy="failed:softmax-sum-over-columns")
    .edit("np.sum(e, axis=1, keepdims=True)", "np.sum(e, axis=0)"),
    Wrong("wrong_sum_over_table", "The maximum of each row, the sum of the table.")
    .expect(test_softmax_cross_entropy="failed:softmax-sum-over-everything")
    .edit("np.sum(e, axis=1, keepdims=True)", "np.sum(e)"),
    Wrong("wrong_scores_clipped", "Scores are cut off at 300.")
    .expect(test_softmax_cross_entropy="partial:scores-clipped")
    .edit(
        "np.exp(scores - np.max(scores, axis=1, keepdims=True))", "np.exp(np.minimum(np.maximum(scores, -300), 300))"
    ),
    Wrong("wrong_log_sum_exp_one_maximum", "log-sum-exp with the largest score of the whole table.")
    .expect(test_softmax_cross_entropy="partial:log-sum-exp-shifted-by-one-maximum")
    .base("right_log_sum_exp")
    .edit("np.max(table, axis=1)", "np.full(len(table), np.max(table))"),
    Wrong("wrong_largest_absolute_value", "Subtracts the largest absolute value of each row.")
    .expect(test_softmax_cross_entropy="partial:softmax-shifted-by-one-maximum")
    .edit("np.max(scores, axis=1, keepdims=True)", "np.max(np.abs(scores), axis=1, keepdims=True)")
    .edit("p[range(N), labels] + 1e-12", "p[range(N), labels]"),
    Wrong("wrong_columns_in_the_gradient", "d[:, labels] -= 1.")
    .expect(test_softmax_cross_entropy="partial:labels-pick-columns-in-the-gradient")
    .edit(
        "return np.mean(-np.log(p[range(N), labels] + 1e-12)), (p - y) / N",
        """d = np.array(p)
    for k in np.unique(labels):
        d[:, k] -= 1
    return np.mean(-np.log(p[range(N), labels] + 1e-12)), d / N""",
    ),
    Wrong("wrong_gradient_of_the_bound", "The gradient is 0 where the probability is kept away from 0.")
    .breaks("The gradient of such a row is the one of the formula")
    .expect(test_softmax_cross_entropy="partial:gradient-zero-where-certain-and-wrong")
    .edit("(p - y) / N", "np.where(p[range(N), labels][:, None] < 1e-12, 0, p - y) / N"),
    Wrong("wrong_gradient_through_a_probability_of_zero", "A large slope of the logarithm, times a probability of 0.")
    .expect(test_softmax_cross_entropy="partial:gradient-zero-where-certain-and-wrong")
    .edit(
        "return np.mean(-np.log(p[range(N), labels] + 1e-12)), (p - y) / N",
        """d = -y / (p + 1e-12) / N
    d = p * (d - np.sum(d * p, axis=1, keepdims=True))
    return np.mean(-np.log(p[range(N), labels] + 1e-12)), d""",
    ),
    Wrong("wrong_binary_cross_entropy", "The loss of yes-or-no questions, one for each class.")
    .expect(test_softmax_cross_entropy="partial:binary-cross-entropy")
    .edit(
        "np.mean(-np.log(p[range(N), labels] + 1e-12))",
        "-np.sum(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12)) / N",
    ),
    Wrong("wrong_sum_without_keepdims", "The sum of each row loses its axis.")
    .expect(test_softmax_cross_entropy="failed:one-number-a-row-meets-the-table")
    .edit("np.sum(e, axis=1, keepdims=True)", "np.sum(e, axis=1)"),
    Wrong("wrong_labels_for_one_hot", "Takes labels, one number a row, from the table.")
    .expect(test_softmax_cross_entropy="failed:one-number-a-row-meets-the-table")
    .edit("np.eye(C)[labels]", "labels"),
    Wrong("wrong_larger_number_added", "The probability is raised by 1e-6.")
    .breaks("Elsewhere the loss is right to five digits")
    .expect(test_softmax_cross_entropy="partial")
    .edit("1e-12", "1e-6"),
    Wrong("wrong_loss_rounded", "Rounds the loss to three decimals.")
    .breaks("Elsewhere the loss is right to five digits")
    .expect(test_softmax_cross_entropy="partial")
    .edit(
        "np.mean(-np.log(p[range(N), labels] + 1e-12))", "np.round(np.mean(-np.log(p[range(N), labels] + 1e-12)), 3)"
    ),
    Wrong("wrong_bounded_loss", "A probability is never below 1e-4, so the loss never above 9.2.")
    .breaks("it is enough that the row costs 10 or more")
    .expect(test_softmax_cross_entropy="partial:loss-bounded-too-low")
    .edit("p[range(N), labels] + 1e-12", "np.maximum(p[range(N), labels], 1e-4)"),
    Wrong("wrong_loss_alone", "Returns the loss alone.")
    .breaks("It returns the tuple `(loss, dscores)`")
    .expect(test_softmax_cross_entropy="failed")
    .edit(", (p - y) / N", ""),
    Wrong("wrong_classes_of_labels", "As many classes as the largest label says.")
    .breaks("`scores`: `(N, C)`")
    .expect(test_softmax_cross_entropy="partial:tables-of-different-width")
    .edit("np.eye(C)[labels]", "np.eye(labels.max() + 1)[labels]"),
    Wrong("wrong_classes_of_labels_in_the_loss", "The same one-hot table, in loss and gradient.")
    .expect(test_softmax_cross_entropy="partial:tables-of-different-width")
    .edit("np.eye(C)[labels]", "np.zeros((N, labels.max() + 1))\n    y[range(N), labels] = 1")
    .edit("np.mean(-np.log(p[range(N), labels] + 1e-12))", "-np.sum(y * np.log(p + 1e-12)) / N"),
    Wrong("wrong_labels_from_the_end", "labels - C counts from the end, and an unsigned number is never negative.")
    .breaks("of any integer dtype")
    .expect(test_softmax_cross_entropy="partial")
    .edit("np.eye(C)[labels]", "np.eye(C)[labels - np.array(C, labels.dtype)]"),
    Wrong("wrong_one_maximum_in_both", "The largest score of the whole table, in a log-sum-exp and in a softmax.")
    .expect(test_softmax_cross_entropy="partial:log-sum-exp-and-softmax-shifted-by-one-maximum")
    .whole("""
def softmax_cross_entropy(scores, labels):
    n, top = len(scores), scores.max()
    e = np.exp(scores - top)
    total = e.sum(axis=1)
    loss = np.mean(np.log(total) + top - scores[np.arange(n), labels])
    p = e / total[:, None]
    p[np.arange(n), labels] -= 1
    return loss, p / n
"""),
    Wrong("wrong_bounded_logarithm", "A logarithm is never below -8, so a row never costs more than 8.")
    .expect(test_softmax_cross_entropy="partial:loss-bounded-too-low")
    .edit(
        "np.mean(-np.log(p[range(N), labels] + 1e-12))",
        "np.mean(np.minimum(-np.log(p[range(N), labels] + 1e-12), 8.0))",
    ),
]
