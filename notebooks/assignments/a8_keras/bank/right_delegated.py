"""Keras's own callback behind the student's name: all numbers are right, and a person is asked to look."""

BREAKS = ["So your code uses no `keras.callbacks.EarlyStopping`"]

CELLS = {
    "stop_at_best": """
class StopAtBest(keras.callbacks.EarlyStopping):
    def __init__(self, monitor="val_loss", mode="min", patience=3):
        super().__init__(monitor=monitor, mode=mode, patience=patience, restore_best_weights=True)
""",
}
