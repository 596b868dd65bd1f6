"""Wrong answers to `two_layer_backward`."""

from autograder.bank import Wrong

BASES = {
    "masked": """
def two_layer_backward(dscores, cache):
    x, hidden, W2 = cache["x"], cache["hidden"], cache["W2"]
    dh = dscores @ W2.T * (hidden > 0)
    return {"W1": x.T @ dh, "b1": dh.sum(0), "W2": hidden.T @ dscores, "b2": dscores.sum(0)}
""",
    # The cache is good for one call: its arrays are taken out.
    "popped": """
def two_layer_backward(dscores, cache):
    hidden = cache.pop("hidden")
    back = dscores.dot(cache.pop("W2").T)
    back[hidden == 0] = 0
    x = cache.pop("x")
    assert not cache
    return dict(W1=x.T.dot(back), b1=back.sum(axis=0), W2=hidden.T.dot(dscores), b2=dscores.sum(axis=0))
""",
}

WRONG = [
    Wrong("wrong_backward_spends_the_cache", "The mask is written over the hidden layer, for one call is enough.")
    .expect(test_two_layer_backward="partial:cache-spent")
    .edit(
        'return {"W1": x.T @ dh, "b1": dh.sum(0), "W2": hidden.T @ dscores, "b2": dscores.sum(0)}',
        """dW2 = hidden.T @ dscores
    hidden[:] = hidden > 0
    return {"W1": x.T @ dh, "b1": dh.sum(0), "W2": dW2, "b2": dscores.sum(0)}""",
    ),
    Wrong("wrong_backward_collects_in_the_cache", "Gradients are added to those of an earlier call.")
    .expect(test_two_layer_backward="partial:cache-spent")
    .edit("return {", "grads = {")
    .edit(
        "dscores.sum(0)}",
        """dscores.sum(0)}
    before = cache.setdefault("grads", dict.fromkeys(grads, 0))
    before.update({name: before[name] + grads[name] for name in grads})
    return dict(before)""",
    ),
    Wrong("wrong_averaged_again", "Every gradient is divided by the batch size once more.")
    .breaks("There is nothing to average here")
    .expect(test_two_layer_backward="failed:gradients-averaged-again")
    .edit("dh = dscores @ W2.T * (hidden > 0)", "dscores = dscores / len(x)\n    dh = dscores @ W2.T * (hidden > 0)"),
    Wrong("wrong_b1_not_summed", "The gradient of b1 keeps the batch axis.")
    .expect(test_two_layer_backward="partial:b1-gradient-not-summed")
    .edit("dh.sum(0)", "dh"),
    Wrong("wrong_b1_skips_relu", "b1 gets the gradient from before the mask.")
    .expect(test_two_layer_backward="partial:b1-gradient-skips-relu")
    .edit("dh.sum(0)", "np.sum(dscores @ W2.T, axis=0)"),
    Wrong("wrong_b2_not_summed", "The gradient of b2 keeps the batch axis.")
    .expect(test_two_layer_backward="partial:b2-gradient-not-summed")
    .edit("dscores.sum(0)", "1 * dscores"),
    Wrong("wrong_biases_columns", "Bias gradients summed along each row.")
    .expect(
        test_two_layer_backward="failed:bias-gradients-summed-over-columns",
    )
    .edit("dh.sum(0)", "dh.sum(-1)")
    .edit("dscores.sum(0)", "dscores.sum(-1)"),
    Wrong("wrong_biases_keepdims", "Bias gradients of shape (1, H) and (1, C).")
    .breaks("Each gradient has the shape of its parameter")
    .expect(test_two_layer_backward="failed:bias-gradients-keep-an-axis")
    .edit("dh.sum(0)", "dh.sum(0, keepdims=True)")
    .edit("dscores.sum(0)", "dscores.sum(0, keepdims=True)"),
    Wrong("wrong_biases_mean", "Bias gradients are means over the batch.")
    .expect(test_two_layer_backward="failed:bias-gradients-are-means")
    .edit("dh.sum(0)", "np.mean(dh, 0)")
    .edit("dscores.sum(0)", "np.mean(dscores, 0)"),
    Wrong("wrong_biases_not_summed", "Bias gradients keep the batch axis.")
    .expect(test_two_layer_backward="failed:bias-gradients-not-summed")
    .edit("dh.sum(0)", "dh")
    .edit("dscores.sum(0)", "dscores.copy()"),
    Wrong("wrong_biases_total", "Bias gradients summed over everything.")
    .expect(
        test_two_layer_backward="failed:bias-gradients-summed-over-everything",
    )
    .edit("dh.sum(0)", "np.sum(dh)")
    .edit("dscores.sum(0)", "np.sum(dscores)"),
    Wrong("wrong_both_transposed", "Both weight gradients come out transposed.")
    .expect(
        test_two_layer_backward="failed:both-weight-gradients-transposed",
    )
    .edit("x.T @ dh", "dh.T @ x")
    .edit("hidden.T @ dscores", "dscores.T @ hidden"),
    Wrong("wrong_relu_derivative_inverted", "Zeroes the gradient where ReLU was on.")
    .expect(test_two_layer_backward="partial:relu-derivative-inverted")
    .edit("dh = dscores @ W2.T * (hidden > 0)", "dh = dscores @ W2.T\n    dh[hidden > 0] = 0"),
    Wrong("wrong_relu_derivative_missing", "The gradient passes through ReLU unchanged.")
    .expect(test_two_layer_backward="partial:relu-derivative-missing")
    .edit("dscores @ W2.T * (hidden > 0)", "np.dot(dscores, W2.T)"),
    Wrong("wrong_mask_without_bias", "The mask is computed again, from x @ W1 alone.")
    .breaks("a dict with the gradient of $L$ for each parameter")
    .expect(test_two_layer_backward="partial:relu-mask-without-bias")
    .edit(
        "dh = dscores @ W2.T * (hidden > 0)",
        'dh = np.where(x.dot(cache["first"]) > 0, np.dot(dscores, W2.T), 0)',
    )
    .edit('"W2": params["W2"]', '"W2": params["W2"], "first": params["W1"]', cell="two_layer_forward"),
    Wrong("wrong_relu_of_the_gradient", "Applies ReLU to the gradient instead of its slope.")
    .expect(test_two_layer_backward="partial:relu-mask-from-the-gradient")
    .edit("dh = dscores @ W2.T * (hidden > 0)", "dh = np.maximum(dscores @ W2.T, 0)"),
    Wrong("wrong_relu_slope_is_value", "Multiplies by hidden, not by its slope.")
    .expect(test_two_layer_backward="partial:relu-slope-is-its-value")
    .edit("dh = dscores @ W2.T * (hidden > 0)", "dh = hidden * (dscores @ W2.T)"),
    Wrong("wrong_two_backward_mistakes", "ReLU's slope and the sum for b2 both missing.")
    .expect(
        test_two_layer_backward="failed:relu-derivative-missing+b2-gradient-not-summed",
    )
    .edit("dscores @ W2.T * (hidden > 0)", "dscores @ W2.T")
    .edit("dscores.sum(0)", "dscores"),
    Wrong("wrong_w1_gradient_transposed", "The gradient of W1 comes out transposed.")
    .expect(test_two_layer_backward="partial:w1-gradient-transposed")
    .edit("x.T @ dh", "(x.T @ dh).T"),
    Wrong("wrong_w2_gradient_transposed", "The gradient of W2 comes out transposed.")
    .expect(test_two_layer_backward="partial:w2-gradient-transposed")
    .edit("hidden.T @ dscores", 'np.einsum("nh,nc->ch", hidden, dscores)'),
    Wrong("wrong_w2_not_transposed", "Goes back through W2 instead of its transpose.")
    .expect(test_two_layer_backward="partial:w2-not-transposed")
    .edit("dscores @ W2.T", "dscores @ W2"),
    Wrong("wrong_weights_averaged_again", "The weight gradients are divided by the batch size once more.")
    .breaks("the factor $1/N$ is already in `dscores`")
    .expect(
        test_two_layer_backward="failed:weight-gradients-averaged-again",
    )
    .edit("x.T @ dh", "x.T @ dh / len(x)")
    .edit("hidden.T @ dscores", "hidden.T @ dscores / len(x)"),
    Wrong("wrong_b1_mean", "The gradient of b1 is a mean over the batch.")
    .expect(test_two_layer_backward="partial:b1-gradient-is-a-mean")
    .edit("dh.sum(0)", "dh.mean(0)"),
    Wrong("wrong_b2_mean", "The gradient of b2 is a mean over the batch.")
    .expect(test_two_layer_backward="partial:b2-gradient-is-a-mean")
    .edit("dscores.sum(0)", "np.average(dscores, axis=0)"),
    Wrong("wrong_b1_keepdims", "The gradient of b1 has shape (1, H).")
    .expect(test_two_layer_backward="partial:b1-gradient-keeps-an-axis")
    .edit("dh.sum(0)", "np.ones((1, len(x))) @ dh"),
    Wrong("wrong_b2_keepdims", "The gradient of b2 has shape (1, C).")
    .expect(test_two_layer_backward="partial:b2-gradient-keeps-an-axis")
    .edit("dscores.sum(0)", "dscores.sum(0)[None]"),
    Wrong("wrong_w1_mean", "The gradient of W1 is a mean over the batch.")
    .expect(test_two_layer_backward="partial:w1-gradient-averaged-again")
    .edit("x.T @ dh", "(x.T @ dh) / x.shape[0]"),
    Wrong("wrong_w2_mean", "The gradient of W2 is a mean over the batch.")
    .expect(test_two_layer_backward="partial:w2-gradient-averaged-again")
    .edit("hidden.T @ dscores", "np.mean(hidden[:, :, None] * dscores[:, None, :], axis=0)"),
    Wrong("wrong_gradient_names", "The keys are dW1, db1, dW2, db2.")
    .breaks("exactly the keys `W1`, `b1`, `W2`, `b2`")
    .expect(test_two_layer_backward="failed:gradients-lack-a-key")
    .edit('"W1": x.T', '"dW1": x.T')
    .edit('"b1": dh', '"db1": dh')
    .edit('"W2": hidden.T', '"dW2": hidden.T')
    .edit('"b2": dscores', '"db2": dscores'),
    Wrong("wrong_one_key_more", "A fifth gradient, for x.")
    .breaks("exactly the keys `W1`, `b1`, `W2`, `b2`")
    .expect(test_two_layer_backward="failed:gradients-have-another-key")
    .edit('return {"W1"', 'return {"x": dh, "W1"'),
    Wrong("wrong_gradients_of_weights_alone", "The biases are forgotten.")
    .expect(test_two_layer_backward="failed:gradients-lack-a-key")
    .edit(
        '"W1": x.T @ dh, "b1": dh.sum(0), "W2": hidden.T @ dscores, "b2": dscores.sum(0)',
        '"W1": x.T @ dh, "W2": hidden.T @ dscores',
    ),
    Wrong("wrong_gradient_of_x_too", "The gradient with respect to x, for a layer below.")
    .expect(test_two_layer_backward="failed:gradients-have-another-key")
    .edit("return {", "grads = {")
    .edit("dscores.sum(0)}", 'dscores.sum(0)}\n    grads["x"] = dh @ cache["W1"].T\n    return grads')
    .edit('"W2": params["W2"]', '"W1": params["W1"], "W2": params["W2"]', cell="two_layer_forward"),
]
