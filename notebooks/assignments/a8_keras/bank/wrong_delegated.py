"""Keras's own callback behind the student's name: a person is asked to look, and a first nan gives it away."""

EXPECTED = {"test_stop_at_best": "partial:stop-nan-first"}

BREAKS = ["So your code uses no `keras.callbacks.EarlyStopping`"]

CELLS = {
    "stop_at_best": """
class StopAtBest(keras.callbacks.EarlyStopping):
    def __init__(self, monitor="val_loss", mode="min", patience=3):
        super().__init__(monitor=monitor, mode=mode, patience=patience, restore_best_weights=True)
""",
}
