"""Mends of script 6, and what is left or done wrong in others. The script is that of the reference's identifier."""

from autograder.bank import Wrong
from course_lib.checks import clinic

HANDED_OUT = clinic.script(6, "reference 895")
PATIENCE = "        patience=patience,\n"


def mended(*edits):
    text = HANDED_OUT
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


BASES = {
    "positional": mended(
        ("SparseCategoricalCrossentropy()", "SparseCategoricalCrossentropy(True)"),
        (PATIENCE, PATIENCE + '        mode="min",\n        restore_best_weights=True,\n'),
    ),
    # The softmax of a log-softmax is the softmax: this network gives logits, too.
    "log_softmax": mended(
        ("layers.Dense(classes)(kept)", 'layers.Dense(classes, activation="log_softmax")(kept)'),
        ("SparseCategoricalCrossentropy()", "SparseCategoricalCrossentropy(from_logits=1 > 0)"),
        (PATIENCE, PATIENCE + "        restore_best_weights=bool(epochs),\n"),
    ),
    "a_function": mended(
        (
            "        loss=keras.losses.SparseCategoricalCrossentropy(),\n",
            "        loss=lambda y, z: keras.losses.sparse_categorical_crossentropy(y, z, from_logits=True),\n",
        ),
        (PATIENCE, PATIENCE + "        restore_best_weights=True,\n"),
    ),
}

WRONG = [
    Wrong("wrong_keras_softmax_at_the_end", "The outputs are probabilities, as the loss expects.")
    .expect(test_script_6="partial:keras-probabilities-for-logits")
    .edit("layers.Dense(classes)(kept)", 'layers.Dense(classes, activation="softmax")(kept)')
    .edit("SparseCategoricalCrossentropy(True)", "SparseCategoricalCrossentropy(from_logits=False)"),
    Wrong("wrong_keras_softmax_and_last_weights", "The outputs are probabilities, and the last weights stay.")
    .expect(test_script_6="partial:keras-probabilities-for-logits+keras-best-not-restored")
    .base("a_function")
    .edit("layers.Dense(classes)(kept)", "layers.Softmax()(layers.Dense(classes)(kept))")
    .edit("(y, z, from_logits=True)", "(y, z)")
    .edit("        restore_best_weights=True,\n", ""),
    Wrong("wrong_keras_arguments_gone", "A function has lost the arguments that it does not need.")
    .expect(test_script_6="partial:script-arguments-changed")
    .breaks("The functions keep their names and their arguments")
    .base("a_function")
    .edit("def fit_normalizer(x_train, x_val, x_test)", "def fit_normalizer(x_train)")
    .edit("normalizer = fit_normalizer(x_train, x_val, x_test)", "normalizer = fit_normalizer(x_train)"),
    Wrong("wrong_keras_arguments_gathered", "The arguments that a function does not need have no names any more.")
    .expect(test_script_6="partial:script-arguments-changed")
    .edit("def fit_normalizer(x_train, x_val, x_test)", "def fit_normalizer(x_train, *others)"),
    Wrong("wrong_keras_logits", "The loss expects probabilities.")
    .expect(test_script_6="partial:keras-logits-as-probabilities")
    .edit("SparseCategoricalCrossentropy(True)", "SparseCategoricalCrossentropy(from_logits=False)"),
    Wrong("wrong_keras_all_rows", "The normalization sees all rows.")
    .expect(test_script_6="partial:keras-statistics-from-test")
    .edit("normalizer.adapt(x_train)", "normalizer.adapt(np.vstack((x_test, x_val, x_train)))"),
    Wrong("wrong_keras_validation_rows", "The normalization sees the validation rows.")
    .expect(test_script_6="partial:keras-statistics-from-validation")
    .base("log_softmax")
    .edit("normalizer.adapt(x_train)", "normalizer.adapt(np.append(x_val, x_train, axis=0))"),
    Wrong("wrong_keras_test_set", "The test set decides when to stop.")
    .expect(test_script_6="partial:keras-selected-on-test")
    .base("log_softmax")
    .edit("validation_data=(x_val, y_val)", "validation_data=[x_test, y_test]"),
    Wrong("wrong_keras_last_weights", "The weights of the last epoch stay.")
    .expect(test_script_6="partial:keras-best-not-restored")
    .edit("restore_best_weights=True", "restore_best_weights=False"),
    Wrong("wrong_keras_test_accuracy_twice", "The accuracy on the validation set is that on the test set.")
    .expect(test_script_6="partial")
    .edit("share_right(val_logits, y_val)", "share_right(test_logits, y_test)"),
    Wrong("wrong_keras_linear", "Nothing nonlinear between the dense layers.")
    .expect(test_script_6="partial:keras-missing-nonlinearity")
    .base("a_function")
    .edit('activation="relu"', 'activation="linear"'),
    Wrong("wrong_keras_training_loss", "The training loss decides when to stop.")
    .expect(test_script_6="partial:keras-selected-on-training")
    .base("a_function")
    .edit('monitor="val_loss"', 'monitor="loss"'),
]
