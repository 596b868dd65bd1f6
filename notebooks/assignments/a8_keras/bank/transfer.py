"""Wrong answers to `transfer`."""

from autograder.bank import Wrong

BASES = {
    "model_of_layers": """
def classifier_loss():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def make_transfer_model(base, classes, rate):
    for layer in base.layers:
        layer.trainable = False
    head = layers.Dense(classes, name="head")
    x = keras.Input((base.input_shape[-1],))
    model = keras.Model(inputs=x, outputs=head(base(x, training=False)))
    model.compile(keras.optimizers.SGD(rate), classifier_loss())
    return model


def fine_tune(model, base, depth, rate):
    chosen = base.layers[-depth:]
    for layer in chosen:
        if layer.__class__.__name__ != "BatchNormalization":
            layer.trainable = True
    model.compile(keras.optimizers.SGD(rate), classifier_loss())
""",
    "subclass": """
class Transfer(keras.Model):
    def __init__(self, base, classes):
        super().__init__()
        self.base = base
        self.head = layers.Dense(classes, name="head")

    def call(self, x):
        return self.head(self.base(x, training=False))


def ready(model, rate):
    def loss(y, logits):
        y = ops.one_hot(ops.cast(ops.reshape(y, (-1,)), "int32"), ops.shape(logits)[-1])
        return -ops.sum(y * ops.log_softmax(logits), axis=-1)

    model.compile(optimizer=keras.optimizers.SGD(rate, momentum=0.0), loss=loss)
    return model


def make_transfer_model(base, classes, rate):
    base.trainable = False
    model = Transfer(base, classes)
    model(np.zeros((1, base.input_shape[1]), "float32"))
    return ready(model, rate)


def fine_tune(model, base, depth, rate):
    base.trainable = True
    first = len(base.layers) - depth
    for layer in base.layers[:first]:
        layer.trainable = False
    for layer in base.layers[first:]:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.trainable = False
    ready(model, rate)
""",
}

WRONG = [
    Wrong("wrong_transfer_base_learns", "Nothing is frozen.")
    .expect(test_transfer="partial:transfer-base-learns")
    .breaks("All weights of `base` stay as they are")
    .base("subclass")
    .edit("    base.trainable = False\n", ""),
    Wrong("wrong_transfer_base_in_training_mode", "Nothing is frozen, and fit overrules training=False.")
    .expect(test_transfer="partial:transfer-base-in-training-mode")
    .edit("    for layer in base.layers:\n        layer.trainable = False\n", ""),
    Wrong("wrong_transfer_copied_base", "A copy of base.")
    .expect(test_transfer="partial:transfer-copied-base")
    .breaks("The model contains the very `base` that was given")
    .base("subclass")
    .edit(
        "        self.base = base\n",
        "        self.base = keras.models.clone_model(base)\n        "
        "self.base.set_weights(base.get_weights())\n        self.base.trainable = False\n",
    ),
    Wrong("wrong_transfer_new_weights", "A base that has forgotten all.")
    .expect(test_transfer="failed")
    .edit(
        "head = layers.Dense",
        "base = keras.models.clone_model(base)\n    base.trainable = False\n    head = layers.Dense",
    ),
    Wrong("wrong_transfer_softmax", "Softmax in the head.")
    .expect(test_transfer="failed:transfer-softmax")
    .breaks("It takes rows `(N, D)` and returns logits")
    .edit('layers.Dense(classes, name="head")', 'layers.Dense(classes, "softmax", name="head")'),
    Wrong("wrong_transfer_two_layers", "A hidden layer before the head.")
    .expect(test_transfer="failed")
    .breaks("They come from one new `Dense` layer named `head`")
    .edit("head(base(x, training=False))", "head(layers.Dense(base.output_shape[-1])(base(x, training=False)))"),
    Wrong("wrong_transfer_head_frozen", "Nothing is trained in the first phase.")
    .expect(test_transfer="partial")
    .breaks("Training moves the weights of `head`.")
    .edit('name="head")', 'name="head", trainable=False)'),
    Wrong("wrong_transfer_not_from_logits", "Logits are taken for probabilities.")
    .expect(test_transfer="failed:transfer-not-from-logits")
    .breaks("The loss is the mean cross-entropy of the logits, for labels")
    .edit(
        "model.compile(keras.optimizers.SGD(rate), classifier_loss())\n    return",
        'model.compile(keras.optimizers.SGD(rate), "sparse_categorical_crossentropy")\n    return',
    ),
    Wrong("wrong_transfer_rate", "The default rate.")
    .expect(test_transfer="partial:transfer-rate-ignored")
    .breaks("The optimizer is SGD without momentum, with learning rate `rate`.")
    .edit(
        "model.compile(keras.optimizers.SGD(rate), classifier_loss())\n    return",
        'model.compile("sgd", classifier_loss())\n    return',
    ),
    Wrong("wrong_transfer_momentum", "Momentum in the first phase.")
    .expect(test_transfer="partial:transfer-momentum")
    .breaks("The optimizer is SGD without momentum, with learning rate `rate`.")
    .edit(
        "model.compile(keras.optimizers.SGD(rate), classifier_loss())\n    return",
        "model.compile(keras.optimizers.SGD(rate, 0.9), classifier_loss())\n    return",
    ),
    Wrong("wrong_transfer_momentum_in_both", "Momentum in both phases.")
    .expect(test_transfer="partial:transfer-momentum")
    .base("subclass")
    .edit("momentum=0.0", "momentum=0.9"),
    Wrong("wrong_transfer_not_compiled", "Compiling is left to others.")
    .expect(test_transfer="failed")
    .breaks("It returns a compiled `keras.Model`:")
    .edit("model.compile(keras.optimizers.SGD(rate), classifier_loss())\n    return", "return"),
    Wrong("wrong_tune_all_layers", "All layers follow.")
    .expect(test_transfer="partial:tune-all-layers")
    .breaks("The layers before them stay as they are.")
    .edit("base.layers[-depth:]", "base.layers"),
    Wrong("wrong_tune_batchnorm_not_counted", "depth is counted over the other layers.")
    .expect(test_transfer="partial:tune-some-layers-not-counted")
    .breaks("From now on the last `depth` of `base.layers` (one at least) are trained")
    .edit(
        "base.layers[-depth:]",
        "[layer for layer in base.layers if not isinstance(layer, layers.BatchNormalization)][-depth:]",
    ),
    Wrong("wrong_tune_counted_backward", "From the end, until depth layers have been chosen.")
    .expect(test_transfer="partial:tune-some-layers-not-counted")
    .base("subclass")
    .edit(
        "    first = len(base.layers) - depth\n",
        """    first = len(base.layers)
    while first and depth:
        first -= 1
        depth -= not isinstance(base.layers[first], layers.BatchNormalization)
""",
    ),
    Wrong("wrong_tune_dense_counted", "depth is counted over the dense layers.")
    .expect(test_transfer="partial:tune-dense-layers-counted")
    .edit("base.layers[-depth:]", "[layer for layer in base.layers if isinstance(layer, layers.Dense)][-depth:]"),
    Wrong("wrong_tune_layers_with_weights_counted", "depth is counted over the layers with weights.")
    .expect(test_transfer="partial:tune-some-layers-not-counted")
    .edit("base.layers[-depth:]", "[layer for layer in base.layers if layer.weights][-depth:]"),
    Wrong("wrong_tune_one_more", "One layer too many.")
    .expect(test_transfer="partial:tune-one-layer-more")
    .breaks("The layers before them stay as they are.")
    .base("subclass")
    .edit("first = len(base.layers) - depth", "first = max(0, len(base.layers) - depth - 1)"),
    Wrong("wrong_tune_one_more_of_a_slice", "A slice that begins one place too early.")
    .expect(test_transfer="partial:tune-one-layer-more")
    .edit("base.layers[-depth:]", "base.layers[-depth - 1 :]"),
    Wrong("wrong_tune_first_layers", "The first layers follow.")
    .expect(test_transfer="partial:tune-first-layers")
    .breaks("From now on the last `depth` of `base.layers` (one at least) are trained")
    .edit("base.layers[-depth:]", "base.layers[:depth]"),
    Wrong("wrong_tune_one_less", "One layer is left out.")
    .expect(test_transfer="partial:tune-one-layer-less")
    .base("subclass")
    .edit("first = len(base.layers) - depth", "first = len(base.layers) - depth + 1"),
    Wrong("wrong_tune_batchnorm_learns", "No exception.")
    .expect(test_transfer="partial:tune-batchnorm-learns")
    .breaks("`BatchNormalization` layers are an exception")
    .base("subclass")
    .edit(
        "        if isinstance(layer, keras.layers.BatchNormalization):\n            layer.trainable = False\n",
        "        pass\n",
    ),
    Wrong("wrong_tune_batchnorm_in_training_mode", "No exception, and base runs in training mode.")
    .expect(test_transfer="partial:tune-batchnorm-in-training-mode")
    .edit(
        '        if layer.__class__.__name__ != "BatchNormalization":\n            layer.trainable = True',
        "        layer.trainable = True",
    )
    .edit("base(x, training=False)", "base(x)"),
    Wrong("wrong_tune_not_compiled", "Not compiled again.")
    .expect(test_transfer="partial:tune-not-compiled")
    .breaks("The model is compiled anew, with the same loss")
    .base("subclass")
    .edit("            layer.trainable = False\n    ready(model, rate)\n", "            layer.trainable = False\n"),
    Wrong("wrong_tune_rate", "The old rate, by default.")
    .expect(test_transfer="partial:tune-rate-ignored")
    .base("subclass")
    .edit(
        "            layer.trainable = False\n    ready(model, rate)\n",
        "            layer.trainable = False\n    ready(model, 0.01)\n",
    ),
    Wrong("wrong_tune_momentum", "Momentum in the second phase.")
    .expect(test_transfer="partial:tune-momentum")
    .breaks("The model is compiled anew, with the same loss")
    .edit(
        "            layer.trainable = True\n    model.compile(keras.optimizers.SGD(rate)",
        "            layer.trainable = True\n    model.compile(keras.optimizers.SGD(rate, momentum=0.9)",
    ),
    Wrong("wrong_tune_head_frozen", "The head rests.")
    .expect(test_transfer="partial:tune-head-frozen")
    .edit(
        "    chosen = base.layers[-depth:]\n",
        '    chosen = base.layers[-depth:]\n    model.get_layer("head").trainable = False\n',
    ),
    Wrong("wrong_tune_head_reset", "The head begins anew.")
    .expect(test_transfer="partial")
    .breaks("No weight changes in `fine_tune` itself")
    .base("subclass")
    .edit(
        "    first = len(base.layers) - depth\n",
        "    first = len(base.layers) - depth\n    model.head.set_weights([0 * w for w in model.head.get_weights()])\n",
    ),
]
