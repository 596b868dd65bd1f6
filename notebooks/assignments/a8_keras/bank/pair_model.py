"""Wrong answers to `pair_model`."""

from autograder.bank import Wrong

BASES = {
    "layers_for_everything": """
def make_encoder(shape, hidden, units):
    encoder = keras.Sequential(name="encoder")
    encoder.add(layers.InputLayer(shape=shape))
    encoder.add(layers.Reshape((-1,)))
    encoder.add(layers.Dense(hidden))
    encoder.add(layers.ReLU())
    encoder.add(layers.Dense(units))
    encoder.add(layers.Activation("tanh"))
    return encoder


def make_pair_model(encoder, shape, classes):
    images = {side: layers.Input(shape, name=side) for side in ("left", "right")}
    codes = {side: encoder(image) for side, image in images.items()}
    gap = layers.subtract([codes["right"], codes["left"]])
    gap = layers.maximum([gap, -gap])
    outputs = {}
    outputs["digit"] = layers.Dense(classes, name="digit")(codes["left"])
    outputs["same"] = layers.Dense(1, name="same")(gap)
    return keras.Model(inputs=images, outputs=outputs)


def compile_pair_model(model, rate, weight):
    def digit_loss(y, logits):
        return keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)

    def same_loss(y, logits):
        return weight * keras.losses.binary_crossentropy(y, logits, from_logits=True)

    model.compile(keras.optimizers.SGD(rate), loss={"digit": digit_loss, "same": same_loss})
""",
    "by_hand": """
def make_encoder(shape, hidden, units):
    encoder = keras.Sequential([layers.Flatten(), layers.Dense(hidden, "relu"), layers.Dense(units, "tanh")])
    encoder.build((None, *shape))
    return encoder


class PairModel(keras.Model):
    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder = encoder
        self.digit = layers.Dense(classes, name="digit")
        self.same = layers.Dense(1, name="same")

    def call(self, pair):
        n = ops.shape(pair["left"])[0]
        codes = self.encoder(ops.concatenate([pair["left"], pair["right"]], axis=0))
        left, right = codes[:n], codes[n:]
        return {"same": self.same(ops.abs(left - right)), "digit": self.digit(left)}


def make_pair_model(encoder, shape, classes):
    model = PairModel(encoder, classes)
    model({side: np.zeros((1, *shape), "float32") for side in ("left", "right")})
    return model


def compile_pair_model(model, rate, weight):
    def digit(labels, logits):
        picked = ops.take_along_axis(logits, ops.expand_dims(ops.cast(ops.reshape(labels, (-1,)), "int32"), 1), axis=1)
        return ops.mean(ops.logsumexp(logits, axis=1) - picked[:, 0])

    def same(targets, logits):
        targets = ops.cast(targets, logits.dtype)
        return ops.mean(ops.softplus(logits) - targets * logits)

    weights = {"digit": 1, "same": weight}
    model.compile(optimizer=keras.optimizers.SGD(rate), loss={"digit": digit, "same": same}, loss_weights=weights)
""",
}

BASES["built_when_called"] = BASES["by_hand"].replace(
    """    model = PairModel(encoder, classes)
    model({side: np.zeros((1, *shape), "float32") for side in ("left", "right")})
    return model
""",
    "    return PairModel(encoder, classes)\n",
)

WRONG = [
    Wrong("wrong_encoder_not_built", "No input in front of the layers.")
    .expect(test_pair_model="partial:encoder-not-built")
    .breaks("Its four weights exist when it is returned")
    .edit("    encoder.add(layers.InputLayer(shape=shape))\n", ""),
    Wrong("wrong_encoder_functional", "A functional model.")
    .expect(test_pair_model="partial:encoder-not-sequential")
    .breaks("It returns a `keras.Sequential`:")
    .edit("return encoder\n", "return keras.Model(encoder.inputs, encoder.outputs)\n"),
    Wrong("wrong_encoder_shape_unpacked", "shape must have two entries.")
    .expect(test_pair_model="partial:encoder-shape-unpacked")
    .breaks("It reads images of shape `(N, *shape)` and flattens them.")
    .edit("    encoder = keras.Sequential(name", "    h, w = shape\n    encoder = keras.Sequential(name")
    .edit("shape=shape", "shape=(h, w)")
    .edit("Reshape((-1,))", "Reshape((h * w,))"),
    Wrong("wrong_encoder_shape_of_two", "The first two entries of shape.")
    .expect(test_pair_model="partial:encoder-shape-of-two")
    .breaks("It reads images of shape `(N, *shape)` and flattens them.")
    .base("by_hand")
    .edit("encoder.build((None, *shape))", "encoder.build((None, shape[0], shape[1]))"),
    Wrong("wrong_pair_shape_unpacked", "The images must have two axes.")
    .expect(test_pair_model="partial:pair-shape-unpacked")
    .breaks('It takes a dict with the keys `"left"` and `"right"`, two arrays')
    .edit(
        "    images = {side: layers.Input(shape, name=side)",
        "    h, w = shape\n    images = {side: layers.Input((h, w), name=side)",
    ),
    Wrong("wrong_shapes_unpacked", "Encoder and images must have two axes.")
    .expect(test_pair_model="partial:encoder-shape-unpacked")
    .edit("    encoder = keras.Sequential(name", "    h, w = shape\n    encoder = keras.Sequential(name")
    .edit(
        "    images = {side: layers.Input(shape, name=side)",
        "    h, w = shape\n    images = {side: layers.Input((h, w), name=side)",
    ),
    Wrong("wrong_encoder_flattens_too_late", "The dense layers run along the last axis.")
    .expect(test_pair_model="partial")
    .breaks("It reads images of shape `(N, *shape)` and flattens them.")
    .edit("    encoder.add(layers.Reshape((-1,)))\n", "")
    .edit(
        'encoder.add(layers.Activation("tanh"))',
        'encoder.add(layers.Activation("tanh"))\n    encoder.add(layers.Flatten())',
    ),
    Wrong("wrong_encoder_linear", "No ReLU.")
    .expect(test_pair_model="partial:encoder-no-relu")
    .breaks("A `Dense` layer of `hidden` units with ReLU follows")
    .edit("    encoder.add(layers.ReLU())\n", ""),
    Wrong("wrong_encoder_without_tanh", "A linear code.")
    .expect(test_pair_model="partial:encoder-no-tanh")
    .breaks("A `Dense` layer of `hidden` units with ReLU follows")
    .edit('    encoder.add(layers.Activation("tanh"))\n', ""),
    Wrong("wrong_encoder_activations_swapped", "tanh first, ReLU last.")
    .expect(test_pair_model="partial:encoder-activations-swapped")
    .base("by_hand")
    .edit(
        'layers.Dense(hidden, "relu"), layers.Dense(units, "tanh")',
        'layers.Dense(hidden, "tanh"), layers.Dense(units, "relu")',
    ),
    Wrong("wrong_pair_two_encoders", "A clone reads the second image.")
    .expect(test_pair_model="partial:pair-two-encoders")
    .breaks("Both images pass through this very encoder")
    .edit(
        "codes = {side: encoder(image) for side, image in images.items()}",
        'codes = {"left": encoder(images["left"])}\n'
        '    codes["right"] = keras.models.clone_model(encoder)(images["right"])',
    ),
    Wrong("wrong_pair_two_encoders_by_hand", "A clone reads the second image, in a model that knows no names.")
    .expect(test_pair_model="partial:pair-two-encoders")
    .breaks("Both images pass through this very encoder")
    .base("by_hand")
    .edit(
        "        self.encoder = encoder\n",
        "        self.encoder, self.other = encoder, keras.models.clone_model(encoder)\n",
    )
    .edit(
        '        n = ops.shape(pair["left"])[0]\n'
        '        codes = self.encoder(ops.concatenate([pair["left"], pair["right"]], axis=0))\n'
        "        left, right = codes[:n], codes[n:]\n",
        '        left, right = self.encoder(pair["left"]), self.other(pair["right"])\n',
    ),
    Wrong("wrong_pair_digit_from_right", "The code of the right image.")
    .expect(test_pair_model="partial:pair-digit-from-right")
    .breaks("which reads the code of the left image")
    .edit('name="digit")(codes["left"])', 'name="digit")(codes["right"])'),
    Wrong("wrong_pair_no_absolute", "The difference with its sign.")
    .expect(test_pair_model="partial:pair-no-absolute")
    .breaks("which reads the absolute difference of the two codes")
    .base("by_hand")
    .edit("ops.abs(left - right)", "left - right"),
    Wrong("wrong_pair_other_sign", "right minus left; nobody has a name for it.")
    .expect(test_pair_model="partial")
    .edit("    gap = layers.maximum([gap, -gap])\n", ""),
    Wrong("wrong_pair_squared", "The squared difference.")
    .expect(test_pair_model="partial:pair-squared-difference")
    .edit("layers.maximum([gap, -gap])", "layers.multiply([gap, gap])"),
    Wrong("wrong_pair_softmax", "Softmax in the layer.")
    .expect(test_pair_model="partial:pair-digit-softmax")
    .breaks("It holds logits, shape `(N, classes)`.")
    .edit(
        'layers.Dense(classes, name="digit")(codes["left"])',
        'ops.softmax(layers.Dense(classes, name="digit")(codes["left"]))',
    ),
    Wrong("wrong_pair_sigmoid", "A sigmoid in the layer.")
    .expect(test_pair_model="partial:pair-same-sigmoid")
    .breaks("It holds one logit for each pair")
    .base("by_hand")
    .edit('layers.Dense(1, name="same")', 'layers.Dense(1, "sigmoid", name="same")'),
    Wrong("wrong_pair_outputs_swapped", "The keys have changed places.")
    .expect(test_pair_model="partial:pair-outputs-swapped")
    .breaks('It returns a dict with the keys `"digit"` and `"same"`.')
    .edit('outputs["digit"] =', 'outputs["same"] =')
    .edit('outputs["same"] = layers.Dense(1', 'outputs["digit"] = layers.Dense(1'),
    Wrong("wrong_pair_takes_a_list", "Inputs are a list.")
    .expect(test_pair_model="partial")
    .breaks('It takes a dict with the keys `"left"` and `"right"`')
    .base("by_hand")
    .edit('n = ops.shape(pair["left"])', "left, right = pair\n        n = ops.shape(left)")
    .edit('ops.concatenate([pair["left"], pair["right"]], axis=0)', "ops.concatenate([left, right], axis=0)")
    .edit(
        'model({side: np.zeros((1, *shape), "float32") for side in ("left", "right")})',
        'model([np.zeros((1, *shape), "float32")] * 2)',
    ),
    Wrong("wrong_pair_predicts_only", "A function in place of a model.")
    .expect(test_pair_model="partial")
    .breaks("It returns a `keras.Model`:")
    .base("by_hand")
    .edit("    return model\n", "    return lambda pair: model(pair)\n"),
    Wrong("wrong_loss_digit", "The loss of digit takes logits for probabilities.")
    .expect(test_pair_model="partial:loss-digit-not-from-logits")
    .breaks('The loss of `"digit"` is the mean cross-entropy')
    .edit("sparse_categorical_crossentropy(y, logits, from_logits=True)", "sparse_categorical_crossentropy(y, logits)"),
    Wrong("wrong_loss_same", "The loss of same takes logits for probabilities.")
    .expect(test_pair_model="partial:loss-same-not-from-logits")
    .breaks('The loss of `"same"` is the mean binary cross-entropy')
    .edit("binary_crossentropy(y, logits, from_logits=True)", "binary_crossentropy(y, logits)"),
    Wrong("wrong_loss_strings", "Losses by their names.")
    .expect(test_pair_model="partial:loss-neither-from-logits")
    .breaks("Both outputs of the model are logits.")
    .base("by_hand")
    .edit(
        'loss={"digit": digit, "same": same}',
        'loss={"digit": "sparse_categorical_crossentropy", "same": "binary_crossentropy"}',
    ),
    Wrong("wrong_loss_one_hot", "The loss for one-hot rows.")
    .expect(test_pair_model="partial:loss-one-hot")
    .base("by_hand")
    .edit(
        '{"digit": digit, "same": same}',
        '{"digit": keras.losses.CategoricalCrossentropy(from_logits=True), "same": same}',
    ),
    Wrong("wrong_loss_weight_ignored", "Both count the same.")
    .expect(test_pair_model="partial:loss-weight-ignored")
    .breaks("The total loss is the loss of")
    .edit("return weight * keras", "return keras"),
    Wrong("wrong_loss_weight_on_digit", "The weight stands at the wrong loss.")
    .expect(test_pair_model="partial:loss-weight-on-digit")
    .base("by_hand")
    .edit('{"digit": 1, "same": weight}', '{"digit": weight, "same": 1}'),
    Wrong("wrong_pair_not_compiled", "Compiling is left to others.")
    .expect(test_pair_model="failed")
    .breaks("It compiles a model with such outputs")
    .edit("    model.compile(", "    return ("),
    Wrong("wrong_pair_momentum", "SGD with momentum.")
    .expect(test_pair_model="partial:pair-momentum")
    .breaks("The optimizer is SGD without momentum, and `rate` is its learning rate.")
    .edit("keras.optimizers.SGD(rate)", "keras.optimizers.SGD(rate, 0.9)"),
    Wrong("wrong_pair_adam", "Adam.")
    .expect(test_pair_model="partial:pair-adam")
    .base("by_hand")
    .edit("keras.optimizers.SGD(rate)", "keras.optimizers.Adam(rate)"),
    Wrong("wrong_pair_rate", "SGD by its name.")
    .expect(test_pair_model="partial:pair-rate-ignored")
    .edit("keras.optimizers.SGD(rate)", '"sgd"'),
]
