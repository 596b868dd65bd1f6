"""Wrong answers to the network that learns."""

from autograder.bank import Wrong

BASES = {
    "one_hot": """
class Linear:
    def __init__(self, n_in, n_out, rng):
        scale = (2.0 / n_in) ** 0.5
        self.weight = Tensor(scale * rng.standard_normal((n_in, n_out)), True)
        self.bias = Tensor([0.0] * n_out, True)

    def __call__(self, x):
        return matmul(x, self.weight) + self.bias

    def parameters(self):
        return [self.weight, self.bias]


class MLP:
    def __init__(self, sizes, rng):
        self.layers = []
        for k in range(1, len(sizes)):
            self.layers.append(Linear(sizes[k - 1], sizes[k], rng))

    def __call__(self, x):
        for k, layer in enumerate(self.layers):
            if k > 0:
                x = relu(x)
            x = layer(x)
        return x

    def parameters(self):
        return sum([layer.parameters() for layer in self.layers], [])


def cross_entropy(logits, labels):
    n, c = logits.shape
    top = np.amax(logits.data, axis=1, keepdims=True)
    z = logits - Tensor(top)
    norm = z.exp().sum(1).log()
    picked = (z * np.eye(c)[labels]).sum(1)
    return (norm - picked).sum() / n


def fit(model, x, labels, lr, batches):
    history = []
    for b in batches:
        loss = cross_entropy(model(Tensor(x[b])), labels[b])
        for p in model.parameters():
            p.grad = None
        loss.backward()
        history.append(loss.data.item())
        with no_grad():
            for p in model.parameters():
                add_(p, -(lr * p.grad))
    return history
""",
}
WEIGHT = "Tensor(scale * rng.standard_normal((n_in, n_out)), True)"
CLEAR = "        for p in model.parameters():\n            p.grad = None\n"
STEP = "add_(p, -(lr * p.grad))"
WRONG = [
    Wrong("wrong_start_zero", "Weights start at 0.")
    .expect(test_training="partial:weights-start-at-zero")
    .breaks("Each weight is drawn from a normal distribution")
    .edit(WEIGHT, "Tensor(np.zeros([n_in, n_out]), True)"),
    Wrong("wrong_start_equal", "All units alike.")
    .expect(test_training="partial:weights-all-units-equal")
    .breaks("Each weight is drawn from a normal distribution")
    .edit("rng.standard_normal((n_in, n_out))", "rng.standard_normal((n_in, 1)) * np.ones(n_out)"),
    Wrong("wrong_start_variance", "The variance taken for the deviation.")
    .expect(test_training="partial:weights-root-missing")
    .breaks("Each weight is drawn from a normal distribution")
    .edit("(2.0 / n_in) ** 0.5", "2.0 / n_in"),
    Wrong("wrong_start_one", "Standard normal weights.")
    .expect(test_training="partial:weights-of-spread-one")
    .breaks("Each weight is drawn from a normal distribution")
    .edit("(2.0 / n_in) ** 0.5", "1"),
    Wrong("wrong_start_uniform", "Uniform weights of the right spread.")
    .expect(test_training="partial")
    .breaks("Each weight is drawn from a normal distribution")
    .edit("rng.standard_normal((n_in, n_out))", "rng.uniform(-np.sqrt(3), np.sqrt(3), (n_in, n_out))"),
    Wrong("wrong_start_bias", "Biases start at one.")
    .expect(test_training="partial")
    .breaks("The biases are 0")
    .edit("[0.0] * n_out", "[1.0] * n_out"),
    Wrong("wrong_start_generator", "A generator of its own in every layer.")
    .expect(test_training="partial:generator-ignored")
    .breaks("Each weight is drawn from a normal distribution")
    .edit("rng.standard_normal(", "np.random.default_rng(0).standard_normal("),
    Wrong("wrong_mlp_last_relu", "ReLU after the last layer, too.")
    .expect(test_training="partial:relu-after-the-last-layer")
    .breaks("with ReLU between two of them and none after the last")
    .edit(
        "            if k > 0:\n                x = relu(x)\n            x = layer(x)", "            x = relu(layer(x))"
    ),
    Wrong("wrong_mlp_no_relu", "No ReLU.")
    .expect(test_training="partial:no-relu-between-layers")
    .breaks("with ReLU between two of them and none after the last")
    .edit("            if k > 0:\n                x = relu(x)\n", ""),
    Wrong("wrong_mlp_order", "Parameters from the last layer to the first.")
    .expect(test_training="partial")
    .breaks("returns the list of the parameters of all layers, in order")
    .edit("for layer in self.layers], [])", "for layer in self.layers[::-1]], [])"),
    Wrong("wrong_mlp_two_layers", "Always two layers.")
    .expect(test_training="partial")
    .breaks("A network is a chain of `Linear` layers")
    .edit("range(1, len(sizes))", "(1, len(sizes) - 1)"),
    Wrong("wrong_linear_parameters", "The bias first.")
    .expect(test_training="partial")
    .breaks("returns the list `[weight, bias]`")
    .edit("return [self.weight, self.bias]", "return [self.bias, self.weight]"),
    Wrong("wrong_linear_no_bias", "The bias is not added.")
    .expect(test_training="partial")
    .breaks("the layer returns `x @ weight + bias`")
    .edit("matmul(x, self.weight) + self.bias", "matmul(x, self.weight) + 0 * self.bias"),
    Wrong("wrong_linear_shape", "Weights of shape (n_out, n_in).")
    .expect(test_training="partial")
    .breaks("A layer has two leaves that require gradients")
    .edit("rng.standard_normal((n_in, n_out))", "rng.standard_normal((n_out, n_in))")
    .edit("matmul(x, self.weight)", "matmul(x, self.weight.transpose())"),
    Wrong("wrong_loss_sum", "The sum over the rows.")
    .expect(test_training="partial:loss-summed")
    .breaks("the mean over the rows of `logits`")
    .edit("(norm - picked).sum() / n", "(norm - picked).sum()"),
    Wrong("wrong_loss_sign", "No minus sign.")
    .expect(test_training="partial:loss-sign")
    .breaks("the mean over the rows of `logits`")
    .edit("(norm - picked).sum()", "(picked - norm).sum()"),
    Wrong("wrong_loss_overflow", "Nothing is subtracted.")
    .expect(test_training="partial:loss-overflows")
    .breaks("For logits as large as 1000")
    .edit("z = logits - Tensor(top)", "z = logits"),
    Wrong("wrong_loss_one_shift", "One shift for all rows.")
    .expect(test_training="partial:loss-one-shift-for-all-rows")
    .breaks("For logits as large as 1000")
    .edit("np.amax(logits.data, axis=1, keepdims=True)", "np.amax(logits.data)"),
    Wrong("wrong_fit_not_cleared", "Gradients pile up.")
    .expect(test_training="partial:gradients-not-cleared")
    .breaks("Each step uses the gradients of its own batch alone")
    .edit(CLEAR, ""),
    Wrong("wrong_fit_cleared_late", "Cleared after the step.")
    .expect(test_training="partial:gradients-cleared-too-late")
    .breaks("Each step uses the gradients of its own batch alone")
    .edit(CLEAR, "")
    .edit(STEP, f"{STEP}\n                p.grad = None"),
    Wrong("wrong_fit_uphill", "Along the gradient.")
    .expect(test_training="partial:step-uphill")
    .breaks("One step moves each parameter by")
    .edit("-(lr * p.grad)", "lr * p.grad"),
    Wrong("wrong_fit_lr", "lr is not used.")
    .expect(test_training="partial:lr-ignored")
    .breaks("One step moves each parameter by")
    .edit("-(lr * p.grad)", "-p.grad"),
    Wrong("wrong_fit_divided", "Divided by the batch size once more.")
    .expect(test_training="partial:step-divided-by-batch-size")
    .breaks("One step moves each parameter by")
    .edit("-(lr * p.grad)", "-(lr / len(b) * p.grad)"),
    Wrong("wrong_fit_new_tensors", "The layers get new tensors.")
    .expect(test_training="partial:parameters-unmoved")
    .breaks("One step moves each parameter by")
    .edit(
        f"            for p in model.parameters():\n                {STEP}",
        "            for layer in model.layers:\n"
        "                layer.weight = Tensor(layer.weight.data - lr * layer.weight.grad, True)\n"
        "                layer.bias = Tensor(layer.bias.data - lr * layer.bias.grad, True)",
    ),
    Wrong("wrong_fit_all_rows", "Every step uses all rows.")
    .expect(test_training="partial:batches-ignored")
    .breaks("step `k` uses the rows")
    .edit("cross_entropy(model(Tensor(x[b])), labels[b])", "cross_entropy(model(Tensor(x)), labels)"),
    Wrong("wrong_fit_late_loss", "The loss after the step.")
    .expect(test_training="partial:loss-after-the-step")
    .breaks("for every batch the loss before its step")
    .edit("        history.append(loss.data.item())\n", "")
    .edit(STEP, f"{STEP}\n        history.append(cross_entropy(model(Tensor(x[b])), labels[b]).data.item())"),
    Wrong("wrong_fit_recorded", "The step is not made under no_grad.")
    .expect(test_training="partial")
    .breaks("Steps are not recorded")
    .edit("        with no_grad():\n            for p", "        if True:\n            for p"),
    Wrong("wrong_fit_switches_off", "The parameters do not require gradients afterwards.")
    .expect(test_training="partial")
    .breaks("Steps are not recorded")
    .edit(
        "    return history", "    for p in model.parameters():\n        p.requires_grad = False\n    return history"
    ),
    Wrong("wrong_fit_losses_as_arrays", "The losses are arrays without axes.")
    .expect(test_training="partial:fit-losses-not-floats")
    .breaks("as Python floats")
    .edit("history.append(loss.data.item())", "history.append(loss.data)"),
    Wrong("wrong_fit_versions", "The numbers are changed, and not the versions.")
    .expect(test_training="partial:fit-version-not-raised")
    .breaks("and their `version` is raised")
    .edit(STEP, "p.data -= lr * p.grad"),
    Wrong("wrong_fit_versions_slice", "The same, written through a slice.")
    .expect(test_training="partial:fit-version-not-raised")
    .edit(STEP, "p.data[:] = p.data - lr * p.grad"),
    Wrong("wrong_loss_shape", "The loss has the shape (1,).")
    .expect(test_training="partial")
    .breaks("It returns a tensor of shape")
    .edit("return (norm - picked).sum() / n", "return (norm - picked).sum(0, keepdims=True) / n"),
    Wrong("wrong_fit_losses_in_an_array", "The losses come as an array.")
    .expect(test_training="partial:fit-losses-no-list")
    .breaks("returns the list of the losses")
    .edit("    return history", "    return np.array(history)"),
    Wrong("wrong_parameters_in_a_tuple", "parameters() returns a tuple, and that of MLP a chain.")
    .expect(test_training="partial:parameters-no-list")
    .breaks("returns the list `[weight, bias]`", "returns the list of the parameters of all layers")
    .edit("return [self.weight, self.bias]", "return self.weight, self.bias")
    .edit(
        "sum([layer.parameters() for layer in self.layers], [])",
        "sum([layer.parameters() for layer in self.layers], ())",
    ),
    Wrong("wrong_fit_new_arrays", "Each step makes new arrays for the same tensors.")
    .expect(test_training="partial:fit-makes-new-arrays")
    .breaks("in place: the parameters stay the same tensors")
    .edit(STEP, "p.data = p.data - lr * p.grad\n                p.version[0] += 1"),
    Wrong("wrong_fit_rows_once", "A row that a batch names twice counts once.")
    .expect(test_training="partial")
    .breaks("step `k` uses the rows")
    .edit("    for b in batches:\n", "    for b in map(np.unique, batches):\n"),
]
