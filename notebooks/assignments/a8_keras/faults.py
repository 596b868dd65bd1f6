"""The mistakes that students make in a8, each as a small edit of the reference, with the words that a student reads.

Words say what was seen, why it matters and where to look. They do not say what to write.
"""

from __future__ import annotations

from autograder.judge import Fault

PAIR = ("test_pair_model",)
CONTEXT = ("test_context_mix",)
STEP = ("test_two_loss_model",)
STOP = ("test_stop_at_best",)
SCHEDULE = ("test_warmup_cosine",)
MIRROR = ("test_random_mirror",)
TRANSFER = ("test_transfer",)

INDISTINGUISHABLE = [
    ("best weights not restored", "variables kept instead of their values", "the last weights remain either way"),
    ("no clipping", "clipping after the optimizer's step", "the step is made with the whole gradients either way"),
]
"""mistakes that behave alike: one id, whose words name both"""

# --- 1. two images, one encoder ---------------------------------------------------------------------------------------

DIGIT_LOSS = '"digit": keras.losses.SparseCategoricalCrossentropy(from_logits=True)'
SAME_LOSS = '"same": keras.losses.BinaryCrossentropy(from_logits=True)'

SHAPE_OF_TWO = (
    "Your code counts on a `shape` of two entries, and raised an exception where we gave it another number of them. "
    "The text speaks of images of shape `(N, *shape)`: rows of numbers and colors are possible too. Look at where you "
    "use `shape`."
)

PAIR_FAULTS = [
    Fault(
        "encoder-not-built",
        cell="pair_model",
        edits={"keras.Input(shape),": ""},
        raises=r"expecting 0 weights",
        words="A new encoder has no weights. A layer knows the size of its kernel when it knows its input, and nothing "
        "has told your model of its shape. Look at what stands first in the list of layers.",
        tests=PAIR,
    ),
    Fault(
        "encoder-not-sequential",
        cell="pair_model",
        words="make_encoder returns a model of another kind. The text asks for a `keras.Sequential`, which can be "
        "taken apart and extended as a list of layers. Look at the class of what you return.",
        tests=PAIR,
        minor=True,
    ),
    Fault(
        "encoder-shape-unpacked",
        cell="pair_model",
        edits={"    return keras.Sequential(": "    height, width = shape\n    return keras.Sequential("},
        words=SHAPE_OF_TWO,
        tests=PAIR,
    ),
    Fault(
        "encoder-shape-of-two",
        cell="pair_model",
        edits={"keras.Input(shape),": "keras.Input((shape[0], shape[1])),"},
        words=SHAPE_OF_TWO,
        tests=PAIR,
    ),
    Fault(
        "pair-shape-unpacked",
        cell="pair_model",
        edits={"    left = keras.Input(shape": "    height, width = shape\n    left = keras.Input(shape"},
        words=SHAPE_OF_TWO,
        tests=PAIR,
    ),
    Fault(
        "encoder-no-relu",
        cell="pair_model",
        edits={', activation="relu"': ""},
        words="There is no ReLU between the two dense layers of your encoder. Two linear maps in a row are one linear "
        "map, so the hidden layer adds nothing. Look at the activations of the encoder.",
        tests=PAIR,
    ),
    Fault(
        "encoder-no-tanh",
        cell="pair_model",
        edits={', activation="tanh"': ""},
        words="The codes are those of a last layer without an activation, and can have any size. The text asks for "
        "tanh, which keeps them between -1 and 1. Look at the activations of the encoder.",
        tests=PAIR,
    ),
    Fault(
        "encoder-activations-swapped",
        cell="pair_model",
        edits={
            'hidden, activation="relu"': 'hidden, activation="tanh"',
            'units, activation="tanh"': 'units, activation="relu"',
        },
        words="ReLU and tanh have changed places in your encoder. Codes that end in ReLU are never negative, so half "
        "of the room for them is lost. Look at the activations of the encoder.",
        tests=PAIR,
    ),
    Fault(
        "pair-two-encoders",
        cell="pair_model",
        edits={
            "encoder(left), encoder(right)": "encoder(left), "
            "keras.Sequential(keras.models.clone_model(encoder).layers)(right)"
        },
        # A copy has the name of the encoder, and a functional model refuses two parts of one name.
        raises=r'The name "sequential\w*" is used 2 times',
        words="Your model holds the encoder's layers twice. Each of them learns from one side only, and "
        "the codes of the two sides cannot be compared. Look at how the second image gets its code.",
        tests=PAIR,
    ),
    Fault(
        "pair-digit-from-right",
        cell="pair_model",
        edits={'name="digit")(code_left)': 'name="digit")(code_right)'},
        words="Your output digit reads the code of the right image. The labels belong to the left one, so it would "
        "learn nothing but chance. Look at the input of the layer digit.",
        tests=PAIR,
    ),
    Fault(
        "pair-no-absolute",
        cell="pair_model",
        edits={"ops.abs(code_left": "(code_left"},
        words="The layer same reads the difference of the codes with its sign. Left and right can then not be "
        "exchanged: a logit that is high for one sign is low for the other. Look at the input of the layer same.",
        tests=PAIR,
    ),
    Fault(
        "pair-squared-difference",
        cell="pair_model",
        edits={"ops.abs(code_left": "(code_left", "- code_right)": "- code_right) ** 2"},
        words="The layer same reads the squared difference of the codes. Small differences then nearly vanish. Look at "
        "what the text says of the input of the layer same.",
        tests=PAIR,
    ),
    Fault(
        "pair-digit-softmax",
        cell="pair_model",
        edits={'layers.Dense(classes, name="digit")': 'layers.Dense(classes, activation="softmax", name="digit")'},
        words="Your output digit holds probabilities. A loss that is told to expect logits "
        "applies softmax to them once more: then even a sure answer has a large loss, and "
        "learning is slow. Look at the activation of digit.",
        tests=PAIR,
    ),
    Fault(
        "pair-same-sigmoid",
        cell="pair_model",
        edits={'layers.Dense(1, name="same")': 'layers.Dense(units=1, activation="sigmoid", name="same")'},
        words="Your output same holds a probability. A loss that is told to expect logits applies the sigmoid once "
        "more. Look at the activation of same.",
        tests=PAIR,
    ),
    Fault(
        "pair-outputs-swapped",
        cell="pair_model",
        edits={'"digit": digit, ': '"digit": same, ', '"same": same}': '"same": digit}'},
        words="The two outputs have changed places: under the key digit stands the output of the layer same. Each loss "
        "would then judge the other output. Look at the dict of outputs.",
        tests=PAIR,
    ),
    Fault(
        "loss-digit-not-from-logits",
        cell="pair_model",
        edits={DIGIT_LOSS: '"digit": keras.losses.SparseCategoricalCrossentropy()'},
        words="Your loss of digit takes logits for probabilities. It does not complain: it rescales them, and most of "
        "the gradient is wrong or lost. Look at the arguments of that loss.",
        tests=PAIR,
    ),
    Fault(
        "loss-same-not-from-logits",
        cell="pair_model",
        edits={SAME_LOSS: '"same": keras.losses.BinaryCrossentropy()'},
        words="Your loss of same takes logits for probabilities. It clips what is not between 0 and 1, and what is "
        "clipped has no gradient. Look at the arguments of that loss.",
        tests=PAIR,
    ),
    Fault(
        "loss-neither-from-logits",
        cell="pair_model",
        edits={
            DIGIT_LOSS: '"digit": keras.losses.SparseCategoricalCrossentropy()',
            SAME_LOSS: '"same": keras.losses.BinaryCrossentropy()',
        },
        words="Both of your losses take logits for probabilities. They do not complain; they clip and rescale, and "
        "most of the gradient is lost. A loss that is named by a string does this too. Look at the two losses.",
        tests=PAIR,
    ),
    Fault(
        "loss-one-hot",
        cell="pair_model",
        edits={DIGIT_LOSS: '"digit": keras.losses.CategoricalCrossentropy(from_logits=True)'},
        raises=r"must have the same (rank|shape)|same rank|Shapes? .* (are|is) incompatible",
        words="The shapes of targets and outputs do not fit your loss of digit. There are two cross-entropies: one "
        "for labels that are integers, one for one-hot rows. Which kind of labels does the text describe?",
        tests=PAIR,
    ),
    Fault(
        "loss-weight-ignored",
        cell="pair_model",
        edits={'"same": weight}': '"same": 1.0}'},
        words="`weight` has no influence on your loss: both parts count the same. Look at what `compile` can be told "
        "about the parts of a loss.",
        tests=PAIR,
    ),
    Fault(
        "loss-weight-on-digit",
        cell="pair_model",
        edits={'{"digit": 1.0, "same": weight}': '{"digit": weight, "same": 1.0}'},
        words="`weight` multiplies the loss of digit, and that of same counts fully. Look at which of the two has a "
        "factor in the text.",
        tests=PAIR,
    ),
    Fault(
        "pair-momentum",
        cell="pair_model",
        edits={"SGD(learning_rate=rate)": "SGD(learning_rate=rate, momentum=0.9)"},
        words="Your first step is right and the later ones are those of SGD with momentum 0.9. "
        "Look at the arguments of the optimizer.",
        tests=PAIR,
    ),
    Fault(
        "pair-adam",
        cell="pair_model",
        edits={"SGD(learning_rate=rate)": "Adam(learning_rate=rate)"},
        words="The steps are those of Adam. Its first step has the same size for every weight, whatever the gradient. "
        "Look at the optimizer that the text asks for.",
        tests=PAIR,
    ),
    Fault(
        "pair-rate-ignored",
        cell="pair_model",
        edits={"SGD(learning_rate=rate)": "SGD()"},
        words="The steps are made with the learning rate 0.01, which is the default of SGD: `rate` has no influence. "
        "Look at the arguments of the optimizer.",
        tests=PAIR,
    ),
]

# --- 2. a layer that knows about padding ------------------------------------------------------------------------------

COUNT = "ops.maximum(ops.sum(valid, axis=1, keepdims=True), 1.0)"
BOTH = "ops.matmul(x, self.kernel) + ops.matmul(mean, self.context)"

CONTEXT_FAULTS = [
    Fault(
        "context-padding-in-mean",
        cell="context_mix",
        edits={"if mask is None:": "if True:"},
        words="Your mean runs over all places, valid or not. The same sequence then gives other results when it is "
        "padded more. Look at where you use the mask.",
        tests=CONTEXT,
    ),
    Fault(
        "context-divided-by-length",
        cell="context_mix",
        edits={COUNT: "x.shape[1]"},
        words="Your sum leaves the padding out, but you divide it by the length of the padded "
        "sequence. So the mean of a short sequence is too small. Look at the denominator.",
        tests=CONTEXT,
    ),
    Fault(
        "context-no-valid-place",
        cell="context_mix",
        edits={COUNT: "ops.sum(valid, axis=1, keepdims=True)"},
        words="Where a sequence has no valid place your result is not finite: 0 / 0. One such "
        "sequence in a batch makes the loss nan, and then every weight. Look at the "
        "denominator.",
        tests=CONTEXT,
    ),
    Fault(
        "context-mean-of-the-batch",
        cell="context_mix",
        edits={
            "ops.mean(x, axis=1, keepdims=True)": "ops.mean(x, axis=(0, 1), keepdims=True)",
            "ops.sum(valid, axis=1, keepdims=True)": "ops.sum(valid, axis=(0, 1), keepdims=True)",
            "ops.sum(x * valid, axis=1, keepdims=True)": "ops.sum(x * valid, axis=(0, 1), keepdims=True)",
        },
        words="You take one mean over all sequences of the batch. The result for a sequence then depends on its "
        "neighbors. Look at the axes of your sums.",
        tests=CONTEXT,
    ),
    Fault(
        "context-sum-of-all-places",
        cell="context_mix",
        edits={"ops.sum(x * valid, axis=1, keepdims=True)": "ops.sum(x, axis=1, keepdims=True)"},
        words="You divide by the number of valid places, as you should, but add up all places: padding that is not 0 "
        "gets into the mean. Look at what you add up.",
        tests=CONTEXT,
    ),
    Fault(
        "context-mean-of-the-batch-with-a-mask",
        cell="context_mix",
        edits={
            "ops.sum(valid, axis=1, keepdims=True)": "ops.sum(valid, axis=(0, 1), keepdims=True)",
            "ops.sum(x * valid, axis=1, keepdims=True)": "ops.sum(x * valid, axis=(0, 1), keepdims=True)",
        },
        words="With a mask you take one mean over the valid places of all sequences of the batch; without one each "
        "sequence has its own, as it should. Look at what your mean runs over where there is a mask.",
        tests=CONTEXT,
    ),
    Fault(
        "context-zero-at-padding",
        cell="context_mix",
        edits={
            "            mean = ops.mean(x, axis=1, keepdims=True)\n        else": (
                "            valid = ops.ones_like(x[..., :1])\n"
                "            mean = ops.mean(x, axis=1, keepdims=True)\n        else"
            ),
            "return self.activation(y)": "return valid * self.activation(y)",
        },
        words="Your result is 0 at padded places. The text wants the formula there as well: the mask goes on to the "
        "next layer, which leaves these places out by itself. Look at where the mask is used besides the mean.",
        tests=CONTEXT,
    ),
    Fault(
        "context-mask-not-passed-on",
        cell="context_mix",
        edits={"self.supports_masking =": "self.described ="},
        words="The mask ends at your layer: the layer after it counts the padding. Keras warns of this when the model "
        "is called. Look up how a layer says that it supports masks.",
        tests=CONTEXT,
    ),
    Fault(
        "context-activation-fixed",
        cell="context_mix",
        edits={"return self.activation(y)": "return ops.tanh(y)"},
        words="Your layer computes tanh, whatever activation is asked for. Look at what becomes of the argument.",
        tests=CONTEXT,
    ),
    Fault(
        "context-no-activation",
        cell="context_mix",
        edits={"return self.activation(y)": "return y"},
        words="Your result is that of the formula without f. Several such layers in a row are one linear map. Look at "
        "the end of `call`.",
        tests=CONTEXT,
    ),
    Fault(
        "context-no-bias",
        cell="context_mix",
        edits={" + self.bias\n": "\n"},
        words="The bias has no influence on your result. Look at the formula.",
        tests=CONTEXT,
    ),
    Fault(
        "context-kernels-swapped",
        cell="context_mix",
        edits={BOTH: "ops.matmul(x, self.context) + ops.matmul(mean, self.kernel)"},
        words="The first weight multiplies the mean and the second one the places. Weights that "
        "were saved by others would be used wrongly, without any message. Look at the "
        "order in which the weights are made, and at the formula.",
        tests=CONTEXT,
    ),
    Fault(
        "context-only-the-mean",
        cell="context_mix",
        edits={BOTH: "0 * ops.matmul(x, self.kernel) + ops.matmul(mean, self.context)"},
        words="All places of a sequence have the same result: the term of the place itself is "
        "missing. Look at the formula.",
        tests=CONTEXT,
    ),
    Fault(
        "context-weights-in-call",
        cell="context_mix",
        raises=r"to a layer that is already built",
        words="A weight is made when the layer is built already, and Keras refuses it: a weight that is made in a call "
        "would be a new one in every call. Look at where `add_weight` stands.",
        tests=CONTEXT,
    ),
    Fault(
        "context-not-trained",
        cell="context_mix",
        words="The layer has three weights, and not all of them are trained: an optimizer would leave the others as "
        "they are. Look at the arguments of `add_weight`.",
        tests=CONTEXT,
        minor=True,
    ),
    Fault(
        "context-config-without-units",
        cell="context_mix",
        edits={'"units": self.units, ': ""},
        raises=r"missing 1 required positional argument: 'units'",
        words="The layer cannot be made again: its configuration lacks the units, which `__init__` requires. Look at "
        "what `get_config` returns.",
        tests=CONTEXT,
    ),
    Fault(
        "context-config-without-activation",
        cell="context_mix",
        edits={', "activation": activation}': "}"},
        words="A layer that was made from your configuration has the default activation. Nothing complains: a "
        "model that was saved just gives other numbers when it is loaded. Look at what `get_config` returns.",
        tests=CONTEXT,
    ),
    Fault(
        "context-config-without-base",
        cell="context_mix",
        words="A layer that was made from your configuration has another name than the first. `name` is an "
        "argument too, which the base class has kept. Look at where your configuration begins.",
        tests=CONTEXT,
        minor=True,
    ),
]

# --- 3. a training step -----------------------------------------------------------------------------------------------

NAMED = "keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)"
CALL = "self.classifier(self.encoder(x, training=training), training=training)"
SCALE = "self.max_norm / ops.maximum(norm, self.max_norm)"

STEP_FAULTS = [
    Fault(
        "step-in-evaluation-mode",
        cell="two_loss_model",
        edits={
            "self.encoder(x, training=True)": "self.encoder(x, training=False)",
            "self.classifier(code, training=True)": "self.classifier(code, training=False)",
            "self.decoder(code, training=True)": "self.decoder(code, training=False)",
        },
        words="Your step runs all three parts in evaluation mode: batch normalization uses the moving statistics, and "
        "these never move. Dropout would be off, too. Look at the arguments with which the parts are called.",
        tests=STEP,
    ),
    Fault(
        "step-classifier-in-evaluation-mode",
        cell="two_loss_model",
        edits={"self.classifier(code, training=True)": "self.classifier(code, training=False)"},
        words="Your step runs the classifier in evaluation mode, and the other parts in training mode: its batch "
        "normalization uses the moving statistics, and these never move. Look at the arguments with which the parts "
        "are called.",
        tests=STEP,
    ),
    Fault(
        "step-decoder-in-evaluation-mode",
        cell="two_loss_model",
        edits={"self.decoder(code, training=True)": "self.decoder(code, training=False)"},
        words="Your step runs the decoder in evaluation mode, and the other parts in training mode: its batch "
        "normalization uses the moving statistics, and these never move. Look at the arguments with which the parts "
        "are called.",
        tests=STEP,
    ),
    Fault(
        "step-no-penalties",
        cell="two_loss_model",
        edits={" + sum(self.losses)": ""},
        words="Your loss lacks the penalties of the regularizers. A layer with a regularizer only writes its penalty "
        "down; whoever computes the loss must add it. Look at the three terms of the loss.",
        tests=STEP,
    ),
    Fault(
        "step-alpha-ignored",
        cell="two_loss_model",
        edits={"self.alpha * ops.mean(squares)": "ops.mean(squares)"},
        words="`alpha` has no influence: the reconstruction counts fully. Look at the terms of the loss.",
        tests=STEP,
    ),
    Fault(
        "step-alpha-as-a-share",
        cell="two_loss_model",
        edits={"ops.mean(named) + self.alpha": "(1 - self.alpha) * ops.mean(named) + self.alpha"},
        words="Your cross-entropy has the factor 1 - alpha. The text gives `alpha` to the reconstruction and leaves "
        "the cross-entropy whole. Look at the terms of the loss.",
        tests=STEP,
    ),
    Fault(
        "step-no-reconstruction",
        cell="two_loss_model",
        edits={" + self.alpha * ops.mean(squares)": ""},
        words="Your loss lacks the reconstruction, so the decoder never learns. Look at the terms of the loss.",
        tests=STEP,
    ),
    Fault(
        "step-squares-summed",
        cell="two_loss_model",
        edits={"ops.mean(squares)": "ops.mean(ops.sum(squares, axis=-1))"},
        words="You add the squared errors of a row's columns and average over the rows only. The reconstruction then "
        "counts as many times too much as there are columns. Look at what the mean runs over.",
        tests=STEP,
    ),
    Fault(
        "step-not-from-logits",
        cell="two_loss_model",
        edits={NAMED: "keras.losses.sparse_categorical_crossentropy(y, logits)"},
        words="Your cross-entropy takes logits for probabilities. It does not complain; it rescales and clips them. "
        "Look at the arguments of that loss.",
        tests=STEP,
    ),
    Fault(
        "step-not-clipped",
        cell="two_loss_model",
        edits={"scale = " + SCALE: "scale = 1.0"},
        words="The step is made with the whole gradients, however long they are. Either nothing is clipped, or the "
        "clipped gradients are not those that the optimizer gets. Look at what you hand to the optimizer.",
        tests=STEP,
    ),
    Fault(
        "step-clipped-one-by-one",
        cell="two_loss_model",
        edits={
            "gradients = [g * scale for g in gradients]": "gradients = ["
            "g * (self.max_norm / ops.maximum(ops.sqrt(ops.sum(g**2)), self.max_norm)) for g in gradients]"
        },
        words="You clip each gradient by its own norm. That changes the direction of the step: "
        "long gradients lose more than short ones. Look at what the norm runs over.",
        tests=STEP,
    ),
    Fault(
        "step-always-scaled",
        cell="two_loss_model",
        edits={SCALE: "self.max_norm / norm"},
        words="You scale gradients to max_norm that are shorter than that. Near a minimum the steps then never become "
        "small. Look at the case in which the norm is below max_norm.",
        tests=STEP,
    ),
    Fault(
        "step-clipped-by-value",
        cell="two_loss_model",
        edits={
            "gradients = [g * scale for g in gradients]": "gradients = ["
            "ops.clip(g, -self.max_norm, self.max_norm) for g in gradients]"
        },
        words="You clip each number of the gradients. That changes the direction of the step and does not bound its "
        "length by max_norm. Look at the formula of the norm.",
        tests=STEP,
    ),
    Fault(
        "step-norm-without-root",
        cell="two_loss_model",
        edits={"ops.sqrt(sum(ops.sum(g**2) for g in gradients))": "sum(ops.sum(g**2) for g in gradients)"},
        words="You compare the sum of the squares with max_norm, not its root. Look at the formula of the norm.",
        tests=STEP,
    ),
    Fault(
        "step-encoder-twice",
        cell="two_loss_model",
        edits={"self.decoder(code, training=True)": "self.decoder(self.encoder(x, training=True), training=True)"},
        words="In one step your encoder runs twice: its batch normalization has moved its statistics two times, and "
        "the work is done twice. Look at where the code is computed.",
        tests=STEP,
        minor=True,
    ),
    Fault(
        "step-metrics-not-reset",
        cell="two_loss_model",
        edits={
            "self.mean_loss = keras.metrics.Mean(name": "hidden_loss = keras.metrics.Mean(name",
            'self.accuracy = keras.metrics.SparseCategoricalAccuracy(name="accuracy")': "hidden_accuracy = "
            'keras.metrics.SparseCategoricalAccuracy(name="accuracy")\n        '
            "self.hidden = lambda: (hidden_loss, hidden_accuracy)",
            "self.mean_loss.update_state": "mean_loss, accuracy = self.hidden()\n        mean_loss.update_state",
            "self.accuracy.update_state": "accuracy.update_state",
            "self.mean_loss.result()": "mean_loss.result()",
            "self.accuracy.result()": "accuracy.result()",
        },
        words="Your means go on through the epochs: the second epoch still counts the rows of the first. Keras resets "
        "the metrics that it finds in `self.metrics`. Look at where yours are kept.",
        tests=STEP,
    ),
    Fault(
        "step-loss-of-the-last-batch",
        cell="two_loss_model",
        edits={
            # With means of the names that the step returns, `fit` would look them up itself.
            'keras.metrics.Mean(name="loss")': "keras.metrics.Mean()",
            '{"loss": self.mean_loss.result()': '{"loss": loss',
        },
        words="Your loss of an epoch is that of its last batch. `fit` writes down what the last step of an epoch "
        "returned, so a step has to return a mean over all rows so far. Look at what stands in the dict.",
        tests=STEP,
    ),
    Fault(
        "step-mean-of-batches",
        cell="two_loss_model",
        edits={", sample_weight=ops.shape(x)[0]": ""},
        words="Your loss of an epoch is the mean of the batches' losses. A row in a smaller last "
        "batch then counts more than the others. Look at how the mean learns how many rows "
        "a batch has.",
        tests=STEP,
        minor=True,
    ),
    Fault(
        "step-accuracy-of-the-last-batch",
        cell="two_loss_model",
        edits={
            'SparseCategoricalAccuracy(name="accuracy")': "SparseCategoricalAccuracy()",
            '"accuracy": self.accuracy.result()': (
                '"accuracy": ops.mean(keras.metrics.sparse_categorical_accuracy(y, logits))'
            ),
        },
        words="Your accuracy of an epoch is that of its last batch. `fit` writes down what the last step of an epoch "
        "returned, so a step has to return the share over all rows so far. Look at what stands in the dict.",
        tests=STEP,
        minor=True,
    ),
    Fault(
        "step-accuracy-mean-of-batches",
        cell="two_loss_model",
        edits={
            'keras.metrics.SparseCategoricalAccuracy(name="accuracy")': 'keras.metrics.Mean(name="accuracy")',
            "update_state(y, logits)": "update_state(ops.mean(keras.metrics.sparse_categorical_accuracy(y, logits)))",
        },
        words="Your accuracy of an epoch is the mean of the batches' accuracies. A row in a smaller last batch then "
        "counts more than the others. Look at how the mean learns how many rows a batch has.",
        tests=STEP,
        minor=True,
    ),
    Fault(
        "call-mode-fixed-to-evaluation",
        cell="two_loss_model",
        edits={CALL: CALL.replace("=training", "=False")},
        words="Called with training=True, your model computes in evaluation mode. Look at what `call` does with its "
        "argument `training`.",
        tests=STEP,
        minor=True,
    ),
    Fault(
        "call-mode-fixed-to-training",
        cell="two_loss_model",
        edits={CALL: CALL.replace("=training", "=True")},
        words="Your model computes in training mode, whatever it is told: the prediction for one row depends on the "
        "rows beside it, and predicting changes the statistics. Look at `call` and its argument `training`.",
        tests=STEP,
        minor=True,
    ),
    Fault(
        "call-returns-probabilities",
        cell="two_loss_model",
        edits={CALL: f"ops.softmax({CALL})"},
        words="`call` returns probabilities. The text asks for logits, from which a loss can be "
        "computed without losing digits. Look at the end of `call`.",
        tests=STEP,
        minor=True,
    ),
]

# --- 4. stopping in time ----------------------------------------------------------------------------------------------

KEEP = "self.best_weights = self.model.get_weights()\n            self.waited = 0"
NEW = "self.best = np.inf\n        self.best_epoch = None\n        self.best_weights = None\n        self.waited = 0"

STOP_FAULTS = [
    Fault(
        "stop-last-weights",
        cell="stop_at_best",
        edits={"self.model.set_weights(self.best_weights)": "pass"},
        words="After training the model has the weights of the last epoch. Either they are not put back, or what you "
        "kept in the best epoch is no copy and has changed since. Look at what you keep, and at `on_train_end`.",
        tests=STOP,
    ),
    Fault(
        "stop-restores-only-when-stopped",
        cell="stop_at_best",
        edits={"if self.best_weights is not None:": "if self.model.stop_training:"},
        words="When training ends by itself, the model has the weights of the last epoch: the best ones come back only "
        "if the callback stopped it. Look at when you put the weights back.",
        tests=STOP,
    ),
    Fault(
        "stop-late",
        cell="stop_at_best",
        edits={"self.waited >= self.patience": "self.waited > self.patience"},
        words="Training goes on for one epoch more than patience allows. Look at the comparison with patience.",
        tests=STOP,
    ),
    Fault(
        "stop-early",
        cell="stop_at_best",
        edits={"self.waited >= self.patience": "self.waited >= self.patience - 1"},
        words="Training stops one epoch before patience is used up. Look at the comparison with patience.",
        tests=STOP,
    ),
    Fault(
        "stop-mode-ignored",
        cell="stop_at_best",
        edits={'1.0 if mode == "min" else -1.0': "1.0"},
        words='With mode="max" you still look for the smallest value: the worst epoch counts as the best. Look at what '
        "becomes of the argument `mode`.",
        tests=STOP,
    ),
    Fault(
        "stop-mode-swapped",
        cell="stop_at_best",
        edits={'1.0 if mode == "min" else -1.0': '-1.0 if mode == "min" else 1.0'},
        words='The two modes have changed places: with "min" you look for the largest value. Look at your comparison.',
        tests=STOP,
    ),
    Fault(
        "stop-equal-improves",
        cell="stop_at_best",
        edits={"if value < self.best:": "if value <= self.best:"},
        words="You take an equal value for an improvement. A loss that has come to rest would never end the training. "
        "Look at your comparison.",
        tests=STOP,
    ),
    Fault(
        "stop-small-improvement-ignored",
        cell="stop_at_best",
        edits={"if value < self.best:": "if value < self.best - 1e-3:"},
        words="Your callback sees no improvement where values differ by a ten-thousandth or less. The text names no "
        "least size: each value that is better than the best one before improves. Look at your comparison.",
        tests=STOP,
    ),
    # Before "negative": this one passes some of the cases in which that one fails.
    Fault(
        "stop-start-beats-far-values",
        cell="stop_at_best",
        edits={"        self.best = np.inf\n": "        self.best = np.inf if self.sign > 0 else 1e9\n"},
        words='With mode="max" values that are far below 0 never improve in your callback, not even the first, and no '
        "weights come back. The text asks for no bound on the values: the first finite one always improves. Look at "
        "what the first value is compared with.",
        tests=STOP,
    ),
    Fault(
        "stop-start-beats-large-values",
        cell="stop_at_best",
        edits={"if value < self.best:": "if value < (min(self.best, 1e9) if self.sign > 0 else self.best):"},
        words='With mode="min" large values never improve in your callback, not even the first, and no weights come '
        "back. A loss may begin very large, and the first finite value always improves. Look at what the first value "
        "is compared with.",
        tests=STOP,
    ),
    Fault(
        "stop-start-beats-negative-values",
        cell="stop_at_best",
        edits={"        self.best = np.inf\n": "        self.best = np.inf if self.sign > 0 else 0.0\n"},
        words='With mode="max" values below 0 never improve in your callback, not even the first, and no weights come '
        "back. A number that grows while training gets better may be negative: a log-likelihood, for example. Look at "
        "what the first value is compared with.",
        tests=STOP,
    ),
    Fault(
        "stop-nan-first",
        cell="stop_at_best",
        edits={"if value < self.best:": "if self.best_epoch is None or value < self.best:"},
        words="You take the first value as the best so far even if it is nan. No value is smaller than nan, so nothing "
        "improves afterward. Look at how the first epoch is treated.",
        tests=STOP,
    ),
    Fault(
        "stop-nan-improves",
        cell="stop_at_best",
        edits={"if value < self.best:": "if not value >= self.best:"},
        words="You take nan for an improvement: every comparison with nan is false, and yours asks for the opposite. "
        "The model then ends with broken weights. Look at your comparison.",
        tests=STOP,
    ),
    Fault(
        "stop-compares-with-the-last-epoch",
        cell="stop_at_best",
        edits={
            "if value < self.best:": (
                "before, self.best = self.best, self.best if np.isnan(value) else value\n        if value < before:"
            )
        },
        words="You compare each value with that of the epoch before. A value may be smaller than that and still worse "
        "than the best one. Look at when what you compare with changes.",
        tests=STOP,
    ),
    Fault(
        "stop-patience-not-reset",
        cell="stop_at_best",
        edits={KEEP: "self.best_weights = self.model.get_weights()"},
        words="You count all epochs without improvement. The text asks for those in a row. Look at what happens to the "
        "count when an epoch improves.",
        tests=STOP,
    ),
    Fault(
        "stop-best-value-not-anew",
        cell="stop_at_best",
        edits={
            "self.patience = patience": "self.patience = patience\n        self.best = np.inf",
            "        self.best = np.inf\n        self.best_epoch": "        self.best_epoch",
        },
        words="In a second call of fit you still compare with the best value of the first call. Another training has "
        "another best epoch. Look at what `on_train_begin` sets back.",
        tests=STOP,
    ),
    Fault(
        "stop-not-anew",
        cell="stop_at_best",
        edits={
            "self.patience = patience": "self.patience = patience\n        " + NEW,
            NEW: "pass",
        },
        words="In a second call of fit your callback still knows the values of the first. A "
        "worse second training would end with the weights of the first. Look at when the "
        "memory is set up.",
        tests=STOP,
        minor=True,
    ),
    Fault(
        "stop-best-epoch-from-one",
        cell="stop_at_best",
        words="best_epoch is one too large: it is counted from 1, or belongs to the next epoch. "
        "Keras counts epochs from 0. Look at what you assign to it.",
        tests=STOP,
        minor=True,
    ),
    Fault(
        "stop-trained-weights-only",
        cell="stop_at_best",
        edits={
            "self.model.get_weights()": "[np.array(ops.convert_to_numpy(w)) for w in self.model.trainable_weights]",
            "self.model.set_weights(self.best_weights)": "for w, value in zip(self.model.trainable_weights, "
            "self.best_weights):\n                w.assign(value)",
        },
        words="You bring back the trained weights only. The moving statistics of a batch "
        "normalization stay those of the last epoch and do not fit. Look at which weights "
        "you keep.",
        tests=STOP,
    ),
    Fault(
        "stop-monitor-ignored",
        cell="stop_at_best",
        edits={"logs[self.monitor]": 'logs["val_loss"]'},
        raises=r"KeyError: 'val_loss'",
        words="Your callback looks for val_loss where another number was asked for. Look at how you read `logs`.",
        tests=STOP,
        minor=True,
    ),
]

# --- 5. a schedule ----------------------------------------------------------------------------------------------------

P = "(step - self.warmup) / (self.total - self.warmup)"

SCHEDULE_FAULTS = [
    Fault(
        "schedule-late",
        cell="warmup_cosine",
        edits={"self.peak * (step + 1) /": "self.peak * step /"},
        words="In your warm-up the rate lags one step behind the table. At step 0 it is 0, so "
        "the first step of training moves nothing. Look at the first row of the table.",
        tests=SCHEDULE,
    ),
    Fault(
        "schedule-divides-by-zero",
        cell="warmup_cosine",
        raises=r"ZeroDivisionError",
        words="Your schedule divides by 0. `warmup` may be 0, and then there is no warm-up. Look at each division, and "
        "at which steps it is made.",
        tests=SCHEDULE,
    ),
    Fault(
        "schedule-no-warmup",
        cell="warmup_cosine",
        edits={"ops.where(step < self.warmup, rising, falling)": "falling"},
        words="There is no warm-up: the first steps already have the rate peak. Look at the first row of the table.",
        tests=SCHEDULE,
    ),
    Fault(
        "schedule-not-shifted",
        cell="warmup_cosine",
        edits={P: "step / self.total"},
        words="Your cosine begins at step 0, not where the warm-up ends, so the rate jumps down there. Look at p.",
        tests=SCHEDULE,
    ),
    Fault(
        "schedule-too-slow",
        cell="warmup_cosine",
        edits={P: "(step - self.warmup) / self.total"},
        words="Your cosine takes total steps from the end of the warm-up on, so it has not come down to floor at the "
        "end. Look at the denominator of p.",
        tests=SCHEDULE,
    ),
    Fault(
        "schedule-rises-again",
        cell="warmup_cosine",
        edits={f"ops.clip({P}, 0.0, 1.0)": P},
        words="After total your rate rises again, along the other half of the cosine. Look at "
        "the last row of the table.",
        tests=SCHEDULE,
    ),
    Fault(
        "schedule-floor-ignored",
        cell="warmup_cosine",
        edits={"self.floor + (self.peak - self.floor)": "self.peak"},
        words="Your rate falls to 0, whatever floor says. Look at the second row of the table.",
        tests=SCHEDULE,
    ),
    Fault(
        "schedule-floor-added",
        cell="warmup_cosine",
        edits={"self.floor + (self.peak - self.floor)": "self.floor + self.peak"},
        words="At the end of the warm-up your rate is peak + floor. Look at the second row of the table.",
        tests=SCHEDULE,
    ),
    Fault(
        "schedule-straight",
        cell="warmup_cosine",
        edits={"(1 + ops.cos(math.pi * p)) / 2": "(1 - p)"},
        words="Your rate falls along a straight line. Look at the second row of the table.",
        tests=SCHEDULE,
    ),
    Fault(
        "schedule-without-pi",
        cell="warmup_cosine",
        edits={"ops.cos(math.pi * p)": "ops.cos(p)"},
        words="The angle of your cosine runs from 0 to 1, which is far from half a turn: the "
        "rate hardly falls. Look at the argument of the cosine.",
        tests=SCHEDULE,
    ),
    Fault(
        "schedule-config-without-floor",
        cell="warmup_cosine",
        edits={', "floor": self.floor}': "}"},
        words="A schedule that was made from your configuration has the default floor. Look at "
        "what `get_config` returns.",
        tests=SCHEDULE,
        minor=True,
    ),
]

# --- 6. random, in training only --------------------------------------------------------------------------------------

MIRROR_FAULTS = [
    Fault(
        "mirror-other-axis",
        cell="random_mirror",
        words="Images came out mirrored along another axis than W. Look at the order of the axes.",
        tests=MIRROR,
    ),
    Fault(
        "mirror-at-inference",
        cell="random_mirror",
        words="Images are mirrored when nobody trains: the same image gets another prediction in every call. Look at "
        "what you do with `training`.",
        tests=MIRROR,
    ),
    Fault(
        "mirror-trains-by-default",
        cell="random_mirror",
        words="A call without `training` mirrors images. Look at which value the argument has if nobody gives it.",
        tests=MIRROR,
    ),
    Fault(
        "mirror-one-draw-for-the-batch",
        cell="random_mirror",
        words="In every call all images were mirrored, or none. One decision for a whole batch makes the batches alike "
        "in themselves. Look at the shape of what you draw.",
        tests=MIRROR,
    ),
    Fault(
        "mirror-rate-swapped",
        cell="random_mirror",
        words="The share of mirrored images is 1 - rate. Look at your comparison with rate.",
        tests=MIRROR,
    ),
    Fault(
        "mirror-rate-ignored",
        cell="random_mirror",
        words="About half of the images were mirrored, whatever rate said. Look at what becomes of the argument.",
        tests=MIRROR,
    ),
    Fault(
        "mirror-share-reached-exactly",
        cell="random_mirror",
        words="In every call nearly the same number of images of a batch is mirrored, though not the same images. "
        "Where each image is decided for itself, that number varies from call to call: of 40 images, from 14 to 26 or "
        "so at rate 0.5. Where it does not, one image depends on the others of its batch. Look at what decides.",
        tests=MIRROR,
    ),
    Fault(
        "mirror-same-in-every-call",
        cell="random_mirror",
        words="Every call mirrors the same places of the batch. An integer handed to `keras.random` gives the "
        "same numbers each time; something must count the calls. Look at what you hand over as seed.",
        tests=MIRROR,
    ),
    Fault(
        "mirror-seed-ignored",
        cell="random_mirror",
        words="Two layers with the same seed make different choices, so nobody can repeat an experiment. Look at what "
        "becomes of the argument `seed`.",
        tests=MIRROR,
    ),
]

# --- 7. transfer ------------------------------------------------------------------------------------------------------

FREEZE = "base.trainable = False"
BUILD = (
    'outputs = layers.Dense(classes, name="head")(base(inputs, training=False))\n'
    "    model = keras.Model(inputs, outputs)"
)
QUIET = """class Quiet(keras.Model):
        def __init__(self):
            super().__init__()
            self.base, self.head = base, layers.Dense(classes, name="head")

        def call(self, x):
            return self.head(self.base(x, training=False))

    model = Quiet()
    model(np.zeros((1, base.input_shape[1]), "float32"))"""
LATE = "late and not isinstance(layer, layers.BatchNormalization)"

NOT_COUNTED = (
    "In the second phase layers of base learn that stand before the last `depth`: you leave layers out when you count. "
    "`depth` counts all of `base.layers`, also those that learn nothing, as the example says. Look at the list that "
    "you count in."
)

TRANSFER_FAULTS = [
    Fault(
        "transfer-base-learns",
        cell="transfer",
        edits={FREEZE: "base.trainable = True", BUILD: QUIET},
        words="In the first phase weights of base move too. The gradients of a head that knows nothing yet destroy "
        "what base has learned. Look at which weights are trained.",
        tests=TRANSFER,
    ),
    Fault(
        "transfer-base-in-training-mode",
        cell="transfer",
        edits={FREEZE: "base.trainable = True"},
        words="In the first phase weights of base move, and its batch normalization uses and "
        "changes its statistics as in training. Look at which weights are trained, and in "
        "which mode base is called.",
        tests=TRANSFER,
    ),
    Fault(
        "transfer-copied-base",
        cell="transfer",
        edits={
            FREEZE: "given = base\n    base = keras.models.clone_model(given)\n    "
            "base.set_weights(given.get_weights())\n    base.trainable = False"
        },
        words="Your model holds a copy of base. Everything looks right until somebody changes base, as fine_tune "
        "does: nothing of that reaches the model. Look at what you build the model from.",
        tests=TRANSFER,
    ),
    Fault(
        "transfer-softmax",
        cell="transfer",
        edits={'layers.Dense(classes, name="head")': 'layers.Dense(classes, activation="softmax", name="head")'},
        words="Your head returns probabilities, and the loss takes them for logits: softmax is applied twice, and "
        "learning is slow. Look at the activation of the head.",
        tests=TRANSFER,
    ),
    Fault(
        "transfer-not-from-logits",
        cell="transfer",
        edits={
            "    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)": "    "
            "loss = keras.losses.SparseCategoricalCrossentropy()"
        },
        words="In the first phase your loss takes logits for probabilities. Look at the arguments of the loss.",
        tests=TRANSFER,
    ),
    Fault(
        "transfer-rate-ignored",
        cell="transfer",
        edits={"keras.optimizers.SGD(rate)": "keras.optimizers.SGD()"},
        words="The steps of the first phase are made with the learning rate 0.01, the default of SGD. Look at the "
        "arguments of the optimizer.",
        tests=TRANSFER,
    ),
    Fault(
        "transfer-momentum",
        cell="transfer",
        edits={"keras.optimizers.SGD(rate)": "keras.optimizers.SGD(rate, momentum=0.9)"},
        words="In the first phase your first step is right and the later ones are those of SGD with momentum 0.9. "
        "Look at the arguments of the optimizer.",
        tests=TRANSFER,
    ),
    Fault(
        "tune-momentum",
        cell="transfer",
        edits={"SGD(learning_rate=rate)": "SGD(learning_rate=rate, momentum=0.9)"},
        words="In the second phase your first step is right and the later ones are those of SGD with momentum 0.9. "
        "Look at the arguments of the optimizer.",
        tests=TRANSFER,
    ),
    Fault(
        "tune-some-layers-not-counted",
        cell="transfer",
        edits={
            "late = k >= len(base.layers) - depth": (
                "others = [late for late in base.layers[k:] if not isinstance(late, layers.BatchNormalization)]\n"
                "        late = len(others) <= depth"
            )
        },
        words=NOT_COUNTED,
        tests=TRANSFER,
    ),
    Fault(
        "tune-dense-layers-counted",
        cell="transfer",
        edits={
            "late = k >= len(base.layers) - depth": (
                "late = sum(isinstance(late, layers.Dense) for late in base.layers[k:]) <= depth"
            )
        },
        words=NOT_COUNTED,
        tests=TRANSFER,
    ),
    Fault(
        "tune-one-layer-more",
        cell="transfer",
        edits={"late = k >= len(base.layers) - depth": "late = k >= len(base.layers) - depth - 1"},
        words="In the second phase one layer more than depth learns. Look at where your range begins.",
        tests=TRANSFER,
    ),
    Fault(
        "tune-all-layers",
        cell="transfer",
        edits={"late = k >= len(base.layers) - depth": "late = True"},
        words="In the second phase layers of base learn that are not among the last `depth`: where we looked, all "
        "but the batch normalizations, which count as layers, too. Look at which layers you choose, and how you count "
        "them.",
        tests=TRANSFER,
    ),
    Fault(
        "tune-first-layers",
        cell="transfer",
        edits={"late = k >= len(base.layers) - depth": "late = k < depth"},
        words="In the second phase the first layers of base learn, not the last. Look at which "
        "end of the list you count from.",
        tests=TRANSFER,
    ),
    Fault(
        "tune-one-layer-less",
        cell="transfer",
        edits={"late = k >= len(base.layers) - depth": "late = k > len(base.layers) - depth"},
        words="In the second phase one layer less than depth learns. Look at where your range begins.",
        tests=TRANSFER,
    ),
    Fault(
        "tune-batchnorm-learns",
        cell="transfer",
        edits={LATE: "late", BUILD: QUIET},
        words="In the second phase scale and shift of a BatchNormalization are trained. The text "
        "makes an exception for these layers: a few new examples would pull them away from "
        "the data that they were fitted to. Look at the layers that you choose.",
        tests=TRANSFER,
    ),
    Fault(
        "tune-batchnorm-in-training-mode",
        cell="transfer",
        edits={LATE: "late"},
        words="In the second phase a BatchNormalization learns, normalizes with the batch and "
        "moves its statistics. A few small batches are enough to spoil them. Look at the "
        "layers that you choose, and at the mode in which base is called.",
        tests=TRANSFER,
    ),
    Fault(
        "tune-not-compiled",
        cell="transfer",
        raises=r"Unknown variable",
        words="The optimizer does not know the weights that are now trained: it was built for "
        "those of the first phase. Look at what must follow when `trainable` has changed.",
        tests=TRANSFER,
    ),
    Fault(
        "tune-rate-ignored",
        cell="transfer",
        edits={"SGD(learning_rate=rate)": "SGD()"},
        words="The steps of the second phase are made with the learning rate 0.01, the default of SGD. Look at the "
        "arguments of the optimizer.",
        tests=TRANSFER,
    ),
    Fault(
        "tune-head-frozen",
        cell="transfer",
        edits={
            "    base.trainable = True\n    for": "    base.trainable = True\n"
            '    model.get_layer("head").trainable = False\n    for'
        },
        words="In the second phase the head does not move. Look at which layers are trained.",
        tests=TRANSFER,
    ),
]

FAULTS = [
    *PAIR_FAULTS,
    *CONTEXT_FAULTS,
    *STEP_FAULTS,
    *STOP_FAULTS,
    *SCHEDULE_FAULTS,
    *MIRROR_FAULTS,
    *TRANSFER_FAULTS,
]
