"""Wrong answers to `context_mix`."""

from autograder.bank import Wrong

BASES = {
    "einsum": """
class ContextMix(keras.Layer):
    def __init__(self, units, activation="tanh", **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.f = keras.activations.get(activation)

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(shape[2], self.units), initializer="glorot_uniform")
        self.context = self.add_weight(name="context", shape=(shape[2], self.units), initializer="glorot_uniform")
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")
        super().build(shape)

    def compute_mask(self, inputs, previous_mask=None):
        return previous_mask

    def call(self, x, mask=None):
        if mask is None:
            mask = ops.ones(ops.shape(x)[:2], dtype="bool")
        weight = ops.cast(mask, "float32")
        count = ops.sum(weight, axis=1)
        total = ops.einsum("nt,ntd->nd", weight, x)
        mean = total / ops.expand_dims(ops.where(count > 0, count, 1.0), 1)
        shift = ops.expand_dims(ops.matmul(mean, self.context) + self.bias, 1)
        return self.f(ops.matmul(x, self.kernel) + shift)

    def get_config(self):
        config = super().get_config()
        config.update(units=self.units, activation=keras.activations.serialize(self.f))
        return config
""",
    "registered": """
@keras.saving.register_keras_serializable(package="homework")
class ContextMix(layers.Layer):
    def __init__(self, units, activation="tanh", **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.settings = {"units": units, "activation": activation}
        self.units = units

    @property
    def activation(self):
        return keras.activations.get(self.settings["activation"])

    def build(self, shape):
        for name in ("kernel", "context"):
            setattr(self, name, self.add_weight((shape[-1], self.units), "glorot_uniform", name=name))
        self.bias = self.add_weight((self.units,), "zeros", name="bias")

    def call(self, x, mask=None):
        y = ops.tensordot(x, self.kernel, axes=1)
        valid = ops.ones_like(x[..., :1]) if mask is None else ops.cast(mask, x.dtype)[..., None]
        many = ops.sum(valid, axis=1)
        mean = ops.divide_no_nan(ops.sum(valid * x, axis=1), many)
        y = y + ops.tensordot(mean, self.context, axes=1)[:, None, :]
        return self.activation(y + self.bias)

    def get_config(self):
        name = self.settings["activation"]
        name = name if isinstance(name, str) else name.__name__
        return {**super().get_config(), **self.settings, "activation": name}
""",
}

WRONG = [
    Wrong("wrong_context_padding_in_mean", "The mask is not looked at.")
    .expect(test_context_mix="partial:context-padding-in-mean")
    .breaks("places where `mask` is false have no influence on $m$")
    .edit("        if mask is None:\n            mask =", "        mask ="),
    Wrong("wrong_context_divided_by_length", "A sum of valid places, a mean of all.")
    .expect(test_context_mix="partial:context-divided-by-length")
    .base("registered")
    .edit("many = ops.sum(valid, axis=1)", "many = ops.sum(ops.ones_like(valid), axis=1)"),
    Wrong("wrong_context_sum_of_all", "A sum of all, divided by how many are valid, or 0; nobody has a name for it.")
    .expect(test_context_mix="partial")
    .breaks("places where `mask` is false have no influence on $m$")
    .base("registered")
    .edit("ops.sum(valid * x, axis=1)", "ops.sum(x, axis=1)"),
    Wrong("wrong_context_einsum_of_all", "The mask is in the number alone.")
    .expect(test_context_mix="partial:context-sum-of-all-places")
    .edit('ops.einsum("nt,ntd->nd", weight, x)', 'ops.einsum("ntd->nd", x)'),
    Wrong("wrong_context_no_valid_place", "0 / 0.")
    .expect(test_context_mix="partial:context-no-valid-place")
    .breaks("In a sequence without a valid place $m$ is 0.")
    .edit("ops.where(count > 0, count, 1.0)", "count"),
    Wrong("wrong_context_needs_a_mask", "Fails without a mask.")
    .expect(test_context_mix="failed")
    .breaks("Without a mask all places are valid.")
    .edit('        if mask is None:\n            mask = ops.ones(ops.shape(x)[:2], dtype="bool")\n', ""),
    Wrong("wrong_context_mean_of_the_batch", "One mean for all sequences.")
    .expect(test_context_mix="failed:context-mean-of-the-batch")
    .edit("ops.sum(weight, axis=1)", "ops.sum(weight)")
    .edit('ops.einsum("nt,ntd->nd", weight, x)', 'ops.einsum("nt,ntd->d", weight, x)')
    .edit("ops.expand_dims(ops.where(count > 0, count, 1.0), 1)", "ops.where(count > 0, count, 1.0)")
    .edit(
        "ops.expand_dims(ops.matmul(mean, self.context) + self.bias, 1)",
        "ops.matmul(mean[None], self.context) + self.bias",
    ),
    Wrong("wrong_context_masked_mean_of_the_batch", "One mean of all valid places, as `x[mask]` gives it.")
    .expect(test_context_mix="partial:context-mean-of-the-batch-with-a-mask")
    .base("registered")
    .edit(
        "        y = y + ops.tensordot(mean, self.context, axes=1)[:, None, :]\n",
        "        if mask is not None:\n"
        "            chosen = x[ops.convert_to_tensor(mask)]\n"
        "            mean = ops.mean(chosen, axis=0, keepdims=True)\n"
        "        y = y + ops.tensordot(mean, self.context, axes=1)[:, None, :]\n",
    ),
    Wrong("wrong_context_masked_sums_of_the_batch", "The sums run over all sequences if there is a mask.")
    .expect(test_context_mix="partial:context-mean-of-the-batch-with-a-mask")
    .base("right_torch_inside")
    .edit(
        "share = keep / keep.sum(dim=1, keepdim=True).clamp(min=1)\n"
        '        mean = torch.einsum("nt,ntd->nd", share, x)',
        "share = keep / (len(x[0]) if mask is None else keep.sum().clamp(min=1))\n"
        "        if mask is None:\n"
        '            mean = torch.einsum("nt,ntd->nd", share, x)\n'
        "        else:\n"
        '            mean = torch.einsum("nt,ntd->d", share, x)[None]',
    ),
    Wrong("wrong_context_mask_lost", "The mask ends here.")
    .expect(test_context_mix="partial:context-mask-not-passed-on")
    .breaks("In a model, the mask reaches the layers that follow.")
    .edit("    def compute_mask(self, inputs, previous_mask=None):\n        return previous_mask\n\n", ""),
    Wrong("wrong_context_mask_lost_again", "supports_masking is forgotten.")
    .expect(test_context_mix="partial:context-mask-not-passed-on")
    .base("registered")
    .edit("        self.supports_masking = True\n", ""),
    Wrong("wrong_context_always_tanh", "tanh, whatever is asked for.")
    .expect(test_context_mix="partial:context-activation-fixed")
    .breaks("`activation` is $f$")
    .edit("return self.f(", "return ops.tanh("),
    Wrong("wrong_context_functions_only", "A name is not understood.")
    .expect(test_context_mix="partial")
    .edit("keras.activations.get(activation)", 'activation if activation != "tanh" else ops.tanh'),
    Wrong("wrong_context_linear", "f is forgotten.")
    .expect(test_context_mix="failed:context-no-activation")
    .base("registered")
    .edit("return self.activation(y + self.bias)", "return y + self.bias"),
    Wrong("wrong_context_no_bias", "The bias is not added.")
    .expect(test_context_mix="failed:context-no-bias")
    .edit(" + self.bias", ""),
    Wrong("wrong_context_kernels_swapped", "kernel and context have changed places.")
    .expect(test_context_mix="failed:context-kernels-swapped")
    .edit("ops.matmul(mean, self.context)", "ops.matmul(mean, self.kernel)")
    .edit("self.f(ops.matmul(x, self.kernel)", "self.f(ops.matmul(x, self.context)"),
    Wrong("wrong_context_order_of_weights", "The bias is made first.")
    .expect(test_context_mix="failed")
    .breaks("The layer has three weights, made when it first sees")
    .base("registered")
    .edit(
        "    def build(self, shape):\n",
        '    def build(self, shape):\n        self.bias = self.add_weight((self.units,), "zeros", name="bias")\n',
    )
    .edit(
        "            setattr(self, name, self.add_weight((shape[-1], self.units), "
        '"glorot_uniform", name=name))\n        self.bias = self.add_weight((self.units,), '
        '"zeros", name="bias")\n',
        '            setattr(self, name, self.add_weight((shape[-1], self.units), "glorot_uniform", name=name))\n',
    ),
    Wrong("wrong_context_only_the_mean", "The place itself is forgotten.")
    .expect(test_context_mix="failed:context-only-the-mean")
    .base("registered")
    .edit("y = ops.tensordot(x, self.kernel, axes=1)", "y = ops.zeros_like(ops.tensordot(x, self.kernel, axes=1))"),
    Wrong("wrong_context_padded_places_zero", "The result is set to 0 at padded places.")
    .expect(test_context_mix="partial:context-zero-at-padding")
    .breaks("The formula holds at padded places too")
    .base("registered")
    .edit("return self.activation(y + self.bias)", "return valid * self.activation(y + self.bias)"),
    Wrong("wrong_context_one_row", "The places are averaged: one row for each sequence.")
    .expect(test_context_mix="failed")
    .breaks("The result has shape `(N, T, units)`.")
    .edit(
        "return self.f(ops.matmul(x, self.kernel) + shift)",
        "return ops.mean(self.f(ops.matmul(x, self.kernel) + shift), axis=1)",
    ),
    Wrong("wrong_context_weights_in_call", "Weights are made in call.")
    .expect(test_context_mix="failed:context-weights-in-call")
    .edit("    def build(self, shape):\n", "    def make(self, shape):\n")
    .edit("        super().build(shape)\n", "")
    .edit("        if mask is None:\n", "        self.make(ops.shape(x))\n        if mask is None:\n"),
    Wrong("wrong_context_fixed_size", "Built in __init__ for as many features as units.")
    .expect(test_context_mix="failed")
    .edit(
        "        self.f = keras.activations.get(activation)\n",
        "        self.f = keras.activations.get(activation)\n        self.make((None, None, units))\n",
    )
    .edit("    def build(self, shape):\n", "    def make(self, shape):\n")
    .edit("        super().build(shape)\n", ""),
    Wrong("wrong_context_not_trained", "The bias is not trained.")
    .expect(test_context_mix="partial:context-not-trained")
    .breaks("All of them are trained, and the layer has no others.")
    .edit('initializer="zeros")', 'initializer="zeros", trainable=False)'),
    Wrong("wrong_config_without_units", "units are not in the configuration.")
    .expect(test_context_mix="partial:context-config-without-units")
    .edit("units=self.units, activation", "activation"),
    Wrong("wrong_config_without_activation", "The activation is not in the configuration.")
    .expect(test_context_mix="partial:context-config-without-activation")
    .breaks("`get_config()` returns all that `__init__` needs")
    .edit(", activation=keras.activations.serialize(self.f)", ""),
    Wrong("wrong_config_without_base", "The name is lost.")
    .expect(test_context_mix="partial:context-config-without-base")
    .breaks("Other keyword arguments, such as `name`, go to the base class.")
    .edit("config = super().get_config()", "config = {}"),
    Wrong("wrong_config_left_to_keras", "No get_config: Keras notes plain arguments only.")
    .expect(test_context_mix="partial")
    .breaks("also if `activation` was given as a function")
    .edit(
        "    def get_config(self):\n        config = super().get_config()\n        "
        "config.update(units=self.units, "
        "activation=keras.activations.serialize(self.f))\n        return config\n",
        "",
    ),
]
