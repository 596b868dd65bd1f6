"""Wrong answers to `two_layer_forward`."""

from autograder.bank import Wrong

BASES = {
    "dots": """
def two_layer_forward(x, params):
    h = np.maximum(np.dot(x, params["W1"]) + params["b1"], 0)
    return np.dot(h, params["W2"]) + params["b2"], {"x": x, "hidden": h, "W2": params["W2"]}
""",
}

WRONG = [
    Wrong("wrong_first_bias_missing", "b1 is forgotten.")
    .expect(
        test_two_layer_forward="failed:first-bias-missing",
    )
    .edit('np.dot(x, params["W1"]) + params["b1"]', 'np.dot(x, params["W1"])'),
    Wrong("wrong_relu_before_bias", "b1 is added after ReLU.")
    .expect(
        test_two_layer_forward="failed:relu-before-the-bias",
    )
    .edit(
        'np.maximum(np.dot(x, params["W1"]) + params["b1"], 0)', 'np.maximum(np.dot(x, params["W1"]), 0) + params["b1"]'
    ),
    Wrong("wrong_relu_missing", "No ReLU in the forward pass; the backward pass has it.")
    .expect(
        test_two_layer_forward="failed:relu-missing",
    )
    .edit('np.maximum(np.dot(x, params["W1"]) + params["b1"], 0)', 'np.dot(x, params["W1"]) + params["b1"]'),
    Wrong("wrong_relu_on_scores", "A second ReLU after the second layer.")
    .expect(test_two_layer_forward="failed:relu-on-the-scores")
    .edit('np.dot(h, params["W2"]) + params["b2"]', 'np.maximum(np.dot(h, params["W2"]) + params["b2"], 0)'),
    Wrong("wrong_relu_upside_down", "Keeps the negative half.")
    .expect(
        test_two_layer_forward="failed:relu-upside-down",
    )
    .edit("np.maximum(np.dot", "np.minimum(np.dot"),
    Wrong("wrong_second_bias_missing", "b2 is forgotten.")
    .expect(test_two_layer_forward="failed:second-bias-missing")
    .edit('np.dot(h, params["W2"]) + params["b2"]', 'np.dot(h, params["W2"])'),
    Wrong("wrong_w2_from_preactivation", "The gradient of W2 uses the hidden values before ReLU.")
    .expect(test_two_layer_backward="partial:w2-gradient-before-relu")
    .edit(
        'h = np.maximum(np.dot(x, params["W1"]) + params["b1"], 0)',
        'pre = np.dot(x, params["W1"]) + params["b1"]\n    h = np.maximum(pre, 0)',
    )
    .edit('"hidden": h', '"hidden": pre'),
    Wrong("wrong_sigmoid", "The sigmoid in place of ReLU.")
    .expect(test_two_layer_forward="failed:sigmoid-instead-of-relu")
    .edit(
        'np.maximum(np.dot(x, params["W1"]) + params["b1"], 0)',
        '1.0 / (np.exp(-(np.dot(x, params["W1"]) + params["b1"])) + 1.0)',
    ),
    Wrong("wrong_scores_squeezed", "Axes of length 1 are dropped from the scores.")
    .expect(test_two_layer_forward="partial:scores-lose-an-axis")
    .edit(
        'return np.dot(h, params["W2"]) + params["b2"], ', 'return np.squeeze(np.dot(h, params["W2"]) + params["b2"]), '
    ),
    Wrong("wrong_single_row_unpacked", "A single row of scores is taken out of its batch.")
    .expect(test_two_layer_forward="partial:scores-lose-an-axis")
    .edit(
        'return np.dot(h, params["W2"]) + params["b2"], ',
        's = np.dot(h, params["W2"]) + params["b2"]\n    return s[0] if len(s) == 1 else s, ',
    ),
    Wrong("wrong_tanh", "tanh in place of ReLU.")
    .expect(test_two_layer_forward="failed:tanh-instead-of-relu")
    .edit('np.maximum(np.dot(x, params["W1"]) + params["b1"], 0)', 'np.tanh(np.dot(x, params["W1"]) + params["b1"])'),
    Wrong("wrong_absolute_value", "The absolute value in place of ReLU.")
    .expect(test_two_layer_forward="failed:absolute-value-instead-of-relu")
    .edit('np.maximum(np.dot(x, params["W1"]) + params["b1"], 0)', 'abs(np.dot(x, params["W1"]) + params["b1"])'),
    Wrong("wrong_softmax_in_forward", "Returns probabilities.")
    .expect(test_two_layer_forward="failed:scores-are-probabilities")
    .edit("    return np.dot", "    e = np.exp(np.dot")
    .edit(
        'params["b2"], {"x": x, "hidden": h, "W2": params["W2"]}',
        'params["b2"])\n    return e / np.sum(e, axis=1)[:, None], {"x": x, "hidden": h, "W2": params["W2"]}',
    ),
    Wrong("wrong_x_overwritten", "x gets a new value before it goes into the cache.")
    .expect(test_two_layer_backward="partial:w1-gradient-of-overwritten-x")
    .edit(
        'h = np.maximum(np.dot(x, params["W1"]) + params["b1"], 0)',
        'x = np.dot(x, params["W1"]) + params["b1"]\n    h = np.maximum(x, 0)',
    ),
    Wrong("wrong_hidden_in_a_buffer", "One hidden array for each shape, filled anew by every call, is in every cache.")
    .expect(test_two_layer_forward="partial:cache-overwritten")
    .edit("def two_layer_forward(x, params):", "buffers = {}\n\n\ndef two_layer_forward(x, params):")
    .edit(
        'h = np.maximum(np.dot(x, params["W1"]) + params["b1"], 0)',
        """size = len(x), len(params["b1"])
    h = buffers.setdefault(size, np.empty(size))
    np.dot(x, params["W1"], out=h) if x.dtype == h.dtype else np.copyto(h, np.dot(x, params["W1"]))
    h += params["b1"]
    np.maximum(h, 0, out=h)""",
    ),
    Wrong("wrong_one_dict_for_all_calls", "The cache is a dict outside the function, which every call fills.")
    .expect(test_two_layer_forward="partial:cache-overwritten")
    .edit("def two_layer_forward(x, params):", "saved = {}\n\n\ndef two_layer_forward(x, params):")
    .edit(
        '    return np.dot(h, params["W2"]) + params["b2"], {"x": x, "hidden": h, "W2": params["W2"]}',
        '    saved.update(x=x, hidden=h, W2=params["W2"])\n    return np.dot(h, params["W2"]) + params["b2"], saved',
    ),
    Wrong("wrong_scores_alone", "No cache.")
    .breaks("It returns the tuple `(scores, cache)`")
    .expect(test_two_layer_forward="failed")
    .edit(', {"x": x, "hidden": h, "W2": params["W2"]}', ""),
    Wrong("wrong_float64_only", "Refuses other dtypes than float64.")
    .breaks("sometimes float32")
    .expect(test_two_layer_forward="partial")
    .edit("    h = np.maximum", "    assert x.dtype == float\n    h = np.maximum"),
]
