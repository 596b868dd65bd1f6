"""Wrong answers to `train`."""

from autograder.bank import Wrong

BASES = {
    "by_names": """
def train(x, labels, params, learning_rate, batches):
    p = {k: v.copy() for k, v in params.items()}
    losses = []
    for b in batches:
        s, cache = two_layer_forward(x[b], p)
        L, ds = softmax_cross_entropy(s, labels[b])
        g = two_layer_backward(ds, cache)
        for k in p:
            p[k] -= learning_rate * g[k]
        losses.append(L)
    return p, losses
""",
    "by_items": """
def train(x, labels, params, learning_rate, batches):
    p = {k: v.copy() for k, v in params.items()}
    losses = []
    for b in batches:
        s, cache = two_layer_forward(x[b], p)
        L, ds = softmax_cross_entropy(s, labels[b])
        losses.append(L)
        for k, v in two_layer_backward(ds, cache).items():
            p[k] -= learning_rate * v
    return p, losses
""",
}

WRONG = [
    Wrong("wrong_batch_as_mask", "A batch becomes a mask: rows come in order, and each of them once.")
    .breaks("a row may stand in one twice")
    .expect(test_train="partial:rows-counted-once")
    .edit("for b in batches:", "for b in (np.isin(np.arange(len(x)), batch) for batch in batches):"),
    Wrong("wrong_batch_as_set", "The rows are put into a set first.")
    .expect(test_train="partial:rows-counted-once")
    .base("by_items")
    .edit("for b in batches:", "for b in [list({int(row) for row in batch}) for batch in batches]:"),
    Wrong("wrong_batches_as_one_array", "An array of all batches, which may differ in size.")
    .expect(test_train="partial:batches-of-different-sizes")
    .edit("for b in batches:", "for b in np.array(batches):"),
    Wrong("wrong_all_rows", "Every step uses all rows.")
    .expect(test_train="failed:batches-ignored")
    .base("by_items")
    .edit("for b in batches:", "for _ in range(len(batches)):")
    .edit("s, cache = two_layer_forward(x[b], p)", "s, cache = two_layer_forward(x, p)")
    .edit("labels[b]", "labels"),
    Wrong("wrong_first_batch", "return is inside the loop.")
    .breaks("one step for each batch")
    .expect(test_train="failed:only-first-batch-used")
    .base("by_items")
    .edit("    return p, losses", "        return p, losses"),
    Wrong("wrong_first_rows", "Every step uses the first rows of the set.")
    .expect(test_train="failed:rows-in-order")
    .edit("x[b]", "x[: len(b)]")
    .edit("labels[b]", "labels[: len(b)]"),
    Wrong("wrong_from_zero", "Starts from zeros.")
    .expect(test_train="failed:starts-from-zero")
    .edit("v.copy()", "np.zeros(v.shape)"),
    Wrong("wrong_gradients_pile_up", "Adds each batch's gradients to those before.")
    .expect(test_train="failed:gradients-pile-up")
    .edit("losses = []", "losses, total = [], dict.fromkeys(p, 0)")
    .edit("p[k] -= learning_rate * g[k]", "total[k] = total[k] + g[k]\n            p[k] -= learning_rate * total[k]"),
    Wrong("wrong_in_place", "-= on the caller's arrays.")
    .breaks("The dict that you were given")
    .expect(test_train="partial:params-changed-in-place")
    .base("by_items")
    .edit("    p = {k: v.copy() for k, v in params.items()}\n", "")
    .edit("s, cache = two_layer_forward(x[b], p)", "s, cache = two_layer_forward(x[b], params)")
    .edit("p[k] -= learning_rate * v", "params[k] -= learning_rate * v")
    .edit("return p, losses", "return params, losses"),
    Wrong("wrong_integer_params", "Stores the parameters as integers.")
    .expect(test_train="failed:params-cut-to-integers")
    .edit("p[k] -= learning_rate * g[k]", "p[k] = np.array(p[k] - learning_rate * g[k], dtype=int)"),
    Wrong("wrong_labels_not_batched", "Rows of the batch, labels from the start of the set.")
    .expect(test_train="failed:labels-not-batched")
    .base("by_items")
    .edit("for b in batches:", "for b in batches:\n        n = len(b)")
    .edit("labels[b]", "labels[0:n]"),
    Wrong("wrong_last_batch", "The step stands after the loop, so only the last batch counts.")
    .expect(test_train="failed:only-last-batch-used")
    .whole("""
def train(x, labels, params, learning_rate, batches):
    p = {k: v.copy() for k, v in params.items()}
    losses = []
    for b in batches:
        xb, yb = x[b], labels[b]
    s, cache = two_layer_forward(xb, p)
    L, ds = softmax_cross_entropy(s, yb)
    losses.append(L)
    for k, v in two_layer_backward(ds, cache).items():
        p[k] -= learning_rate * v
    return p, losses
"""),
    Wrong("wrong_last_loss_only", "losses holds the last loss only.")
    .expect(test_train="partial:only-last-loss")
    .edit("p[k] -= learning_rate * g[k]", "p[k] -= learning_rate * g[k]\n        losses.clear()"),
    Wrong("wrong_loss_after_step", "Stores the loss after the step.")
    .breaks("before the step that uses it")
    .expect(test_train="partial:losses-after-the-step")
    .edit(
        "p[k] -= learning_rate * g[k]",
        """p[k] -= learning_rate * g[k]
        L = softmax_cross_entropy(two_layer_forward(x[b], p)[0], labels[b])[0]""",
    ),
    Wrong("wrong_mean_loss", "Returns the mean of the losses.")
    .expect(test_train="partial:losses-averaged")
    .edit("return p, losses", "return p, sum(losses) / len(losses)"),
    Wrong("wrong_no_learning_rate", "The learning rate is not used.")
    .expect(test_train="failed:learning-rate-missing")
    .edit("p[k] -= learning_rate * g[k]", "p[k] = p[k] - g[k]"),
    Wrong("wrong_restart", "Each step starts from the params that were given.")
    .breaks("after the last step")
    .expect(test_train="failed:restart-at-every-batch")
    .edit("two_layer_forward(x[b], p)", "two_layer_forward(x[b], params)")
    .edit("p[k] -= learning_rate * g[k]", "p[k] = params[k] - learning_rate * g[k]"),
    Wrong("wrong_second_layer_only", "Only W2 and b2 are updated.")
    .expect(test_train="failed:only-second-layer-updated")
    .edit(
        "for k in p:\n            p[k] -= learning_rate * g[k]",
        'p["W2"] -= learning_rate * g["W2"]\n        p["b2"] -= learning_rate * g["b2"]',
    ),
    Wrong("wrong_step_divided", "The step is divided by the batch size.")
    .expect(test_train="failed:step-divided-by-batch-size")
    .edit("p[k] -= learning_rate * g[k]", "p[k] -= (learning_rate / b.size) * g[k]"),
    Wrong("wrong_too_late", "Updates W2, then goes back through the new W2.")
    .expect(test_train="failed:first-layer-gradient-too-late")
    .whole("""
def train(x, labels, params, learning_rate, batches):
    W1, b1, W2, b2 = (params[k].copy() for k in ("W1", "b1", "W2", "b2"))
    losses = []
    for rows in batches:
        a = x[rows] @ W1 + b1
        h = np.maximum(a, 0)
        loss, ds = softmax_cross_entropy(h @ W2 + b2, labels[rows])
        losses.append(loss)
        W2 -= learning_rate * h.T @ ds
        b2 -= learning_rate * ds.sum(0)
        da = ds @ W2.T
        da[a <= 0] = 0
        W1 -= learning_rate * x[rows].T @ da
        b1 -= learning_rate * da.sum(0)
    return dict(W1=W1, b1=b1, W2=W2, b2=b2), losses
"""),
    Wrong("wrong_update_lost", "W = W - ... on a local name.")
    .expect(test_train="failed:update-lost")
    .edit("p[k] -= learning_rate * g[k]", "v = p[k]\n            v = v - learning_rate * g[k]"),
    Wrong("wrong_uphill", "Steps along the gradient.")
    .expect(test_train="failed:step-uphill")
    .edit("for k in p:", "for k, v in g.items():")
    .edit("p[k] -= learning_rate * g[k]", "p[k] += learning_rate * v"),
    Wrong("wrong_weights_only", "The biases are not updated.")
    .expect(test_train="failed:biases-not-updated")
    .edit("p[k] -= learning_rate * g[k]", "if p[k].ndim == 2:\n                p[k] -= learning_rate * g[k]"),
    Wrong("wrong_gradients_at_the_start", "Each step uses gradients of the params that were given.")
    .expect(test_train="failed:gradients-at-the-start")
    .edit("two_layer_forward(x[b], p)", "two_layer_forward(x[b], params)"),
    Wrong("wrong_running_sum", "The loss is added up over the batches.")
    .expect(test_train="partial:losses-are-running-sums")
    .edit("losses.append(L)", "losses.append(L + sum(losses[-1:]))"),
    Wrong("wrong_running_mean", "Stores the mean of the losses so far.")
    .expect(test_train="partial:losses-are-running-means")
    .edit("    losses = []", "    losses, total = [], 0.0")
    .edit("losses.append(L)", "total += L\n        losses.append(total / (1 + len(losses)))"),
    Wrong("wrong_loss_after_step_in_place", "Stores the loss after a step in the caller's own arrays.")
    .expect(test_train="partial:params-changed-in-place+losses-after-the-step")
    .edit("{k: v.copy() for k, v in params.items()}", "params")
    .edit(
        "p[k] -= learning_rate * g[k]",
        """p[k] -= learning_rate * g[k]
        L = softmax_cross_entropy(two_layer_forward(x[b], p)[0], labels[b])[0]""",
    ),
    Wrong("wrong_given_returned", "Trains a copy and returns what it was given.")
    .expect(test_train="partial:given-params-returned")
    .edit("return p, losses", "return params, losses"),
    Wrong("wrong_params_alone", "Returns the parameters alone.")
    .breaks("It returns the tuple `(params, losses)`")
    .expect(test_train="failed")
    .edit("return p, losses", "return p"),
    Wrong("wrong_batches_stacked", "Makes one array of all batches.")
    .breaks("which may differ in size")
    .expect(test_train="partial")
    .edit("for b in batches:", "for b in np.stack(batches):"),
    Wrong("wrong_another_key", "The result has a key that the given dict has not.")
    .breaks("a dict with the same keys")
    .expect(test_train="partial")
    .edit("return p, losses", 'return {**p, "loss": losses[-1]}, losses'),
    Wrong("wrong_first_batch_size", "Each gradient is divided by the size of the first batch.")
    .expect(test_train="partial:gradients-divided-by-the-first-batch")
    .edit("two_layer_backward(ds, cache)", "two_layer_backward(ds * len(b) / len(batches[0]), cache)"),
    Wrong("wrong_first_batch_size_in_one_loop", "Forward and backward in the loop, with the size of the first batch.")
    .expect(test_train="partial:gradients-divided-by-the-first-batch")
    .whole("""
def train(x, labels, params, learning_rate, batches):
    params = {k: v.copy() for k, v in params.items()}
    losses, n = [], len(batches[0])
    for batch in batches:
        xb, rows, yb = x[batch], np.arange(len(batch)), labels[batch]
        z = xb @ params["W1"] + params["b1"]
        hidden = np.maximum(z, 0)
        s = hidden @ params["W2"] + params["b2"]
        s = s - s.max(axis=1, keepdims=True)
        log_p = s - np.log(np.exp(s).sum(axis=1, keepdims=True))
        losses.append(-log_p[rows, yb].mean())
        d = np.exp(log_p)
        d[rows, yb] -= 1
        d /= n
        dz = (d @ params["W2"].T) * (z > 0)
        params["W2"] -= learning_rate * hidden.T @ d
        params["b2"] -= learning_rate * d.sum(axis=0)
        params["W1"] -= learning_rate * xb.T @ dz
        params["b1"] -= learning_rate * dz.sum(axis=0)
    return params, losses
"""),
    Wrong("wrong_gradient_over_all_rows", "Each gradient is divided by the number of all rows.")
    .expect(test_train="failed:gradients-divided-by-all-rows")
    .base("by_items")
    .edit("two_layer_backward(ds, cache)", "two_layer_backward(ds * (b.size / len(x)), cache)"),
    Wrong("wrong_loss_over_all_rows", "Each loss is divided by the number of all rows.")
    .expect(test_train="partial:losses-divided-by-all-rows")
    .edit("losses.append(L)", "losses.append(L * (b.size / x.shape[0]))"),
    Wrong("wrong_mean_over_all_rows", "Loss and gradient are divided by the number of all rows.")
    .expect(test_train="failed:gradients-divided-by-all-rows+losses-divided-by-all-rows")
    .base("by_items")
    .edit("two_layer_backward(ds, cache)", "two_layer_backward(ds * (b.size / len(x)), cache)")
    .edit("losses.append(L)", "losses.append(L * (b.size / len(x)))"),
]
