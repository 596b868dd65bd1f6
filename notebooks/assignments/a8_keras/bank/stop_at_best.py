"""Wrong answers to `stop_at_best`."""

from autograder.bank import Wrong

BASES = {
    "history_of_values": """
class StopAtBest(keras.callbacks.Callback):
    def __init__(self, monitor="val_loss", mode="min", patience=3):
        super().__init__()
        self.monitor, self.patience = monitor, patience
        self.better = np.less if mode == "min" else np.greater

    def on_train_begin(self, logs=None):
        self.record = None

    def on_epoch_end(self, epoch, logs=None):
        value = float(logs[self.monitor])
        record = self.record
        if not math.isnan(value) and (record is None or self.better(value, record["value"])):
            weights = [np.array(ops.convert_to_numpy(w)) for w in self.model.weights]
            self.record = {"value": value, "epoch": epoch, "weights": weights}
        since = epoch - (self.record["epoch"] if self.record else -1)
        if since >= self.patience:
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        for weight, value in zip(self.model.weights, self.record["weights"] if self.record else []):
            weight.assign(value)

    @property
    def best_epoch(self):
        return self.record["epoch"]
""",
    "best_file": """
import os
import tempfile


class StopAtBest(keras.callbacks.Callback):
    def __init__(self, monitor="val_loss", mode="min", patience=3):
        super().__init__()
        self.monitor = monitor
        self.mode = mode
        self.patience = patience

    def on_train_begin(self, logs=None):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "best.weights.h5")
        self.values = []
        self.best_epoch = None
        self.bad = 0

    def on_epoch_end(self, epoch, logs=None):
        value = logs[self.monitor]
        seen = [v for v in self.values if v == v]
        self.values.append(value)
        if self.mode == "max":
            improved = all(value > v for v in seen)
        else:
            improved = all(value < v for v in seen)
        if improved and value == value:
            self.best_epoch = epoch
            self.model.save_weights(self.path, overwrite=True)
            self.bad = 0
            return
        self.bad += 1
        self.model.stop_training = self.bad == self.patience

    def on_train_end(self, logs=None):
        if self.best_epoch is not None:
            self.model.load_weights(self.path)
        self.folder.cleanup()
""",
}

WRONG = [
    Wrong("wrong_stop_last_weights", "The best weights are not put back.")
    .expect(test_stop_at_best="failed:stop-last-weights")
    .breaks("After training the model has the weights that it had at the end of the best epoch")
    .edit("            weight.assign(value)", "            pass"),
    Wrong("wrong_stop_keeps_variables", "The variables themselves are kept.")
    .expect(test_stop_at_best="failed:stop-last-weights")
    .edit("[np.array(ops.convert_to_numpy(w)) for w in self.model.weights]", "list(self.model.weights)"),
    Wrong("wrong_stop_restores_when_stopped", "Put back only after a stop.")
    .expect(test_stop_at_best="partial:stop-restores-only-when-stopped")
    .base("best_file")
    .edit("if self.best_epoch is not None:", "if self.bad == self.patience:"),
    Wrong("wrong_stop_late", "One epoch too many.")
    .expect(test_stop_at_best="partial:stop-late")
    .breaks("Training stops at the end of the epoch that is the `patience`-th")
    .edit("since >= self.patience", "since > self.patience"),
    Wrong("wrong_stop_early", "One epoch too few.")
    .expect(test_stop_at_best="partial:stop-early")
    .edit("since >= self.patience", "since + 1 >= self.patience and since"),
    Wrong("wrong_stop_never", "Training is never stopped; nobody has a name for it.")
    .expect(test_stop_at_best="partial")
    .edit("self.model.stop_training = True", "self.stop_training = True"),
    Wrong("wrong_stop_mode_ignored", "Always the smallest.")
    .expect(test_stop_at_best="partial:stop-mode-ignored")
    .breaks('with `mode="max"`, if it is larger')
    .edit('np.less if mode == "min" else np.greater', "np.less"),
    Wrong("wrong_stop_mode_swapped", "The modes have changed places.")
    .expect(test_stop_at_best="failed:stop-mode-swapped")
    .edit('np.less if mode == "min" else np.greater', 'np.greater if mode == "min" else np.less'),
    Wrong("wrong_stop_equal_improves", "Equal counts as better.")
    .expect(test_stop_at_best="partial:stop-equal-improves")
    .breaks("An equal value does not improve, and neither does `nan`.")
    .base("best_file")
    .edit("all(value < v for v in seen)", "all(value <= v for v in seen)"),
    Wrong("wrong_stop_least_improvement", "Only an improvement by more than 0.001 counts.")
    .expect(test_stop_at_best="partial:stop-small-improvement-ignored")
    .breaks('With `mode="min"` an epoch improves if its value is smaller')
    .edit(
        'np.less if mode == "min" else np.greater',
        "lambda new, old: (new - old if mode == 'max' else old - new) > 1e-3",
    ),
    Wrong("wrong_stop_least_improvement_of_all", "Better than each one before by 0.0001 at least.")
    .expect(test_stop_at_best="partial:stop-small-improvement-ignored")
    .base("best_file")
    .edit("all(value < v for v in seen)", "all(value + 1e-4 <= v for v in seen)")
    .edit("all(value > v for v in seen)", "all(value - 1e-4 >= v for v in seen)"),
    Wrong("wrong_stop_rounds", "Values are rounded to three places.")
    .expect(test_stop_at_best="partial:stop-small-improvement-ignored")
    .edit("value = float(logs[self.monitor])", "value = round(float(logs[self.monitor]), 3)"),
    Wrong("wrong_stop_compares_neighbors", "Each value is compared with the one before it.")
    .expect(test_stop_at_best="partial:stop-compares-with-the-last-epoch")
    .breaks('With `mode="min"` an epoch improves if its value is smaller')
    .base("best_file")
    .edit("seen = [v for v in self.values if v == v]", "seen = [v for v in self.values if v == v][-1:]"),
    Wrong("wrong_stop_compares_last", "A number is kept of each epoch, whether it is the best or not.")
    .expect(test_stop_at_best="partial:stop-compares-with-the-last-epoch")
    .whole("""class StopAtBest(keras.callbacks.Callback):
    def __init__(self, monitor="val_loss", mode="min", patience=3):
        super().__init__()
        self.monitor, self.mode, self.patience = monitor, mode, patience

    def on_train_begin(self, logs=None):
        self.last, self.best_epoch, self.bad = None, None, 0

    def on_epoch_end(self, epoch, logs=None):
        value = logs[self.monitor]
        if math.isnan(value):
            improved = False
        else:
            rose = self.last is not None and value - self.last
            improved = self.last is None or (rose > 0 if self.mode == "max" else rose < 0)
            self.last = value
        if improved:
            self.best_epoch, self.weights, self.bad = epoch, self.model.get_weights(), 0
        else:
            self.bad += 1
            self.model.stop_training = self.bad >= self.patience

    def on_train_end(self, logs=None):
        if self.best_epoch is not None:
            self.model.set_weights(self.weights)"""),
    Wrong("wrong_stop_values_kept", "The values of an earlier call are still there.")
    .expect(test_stop_at_best="partial:stop-best-value-not-anew")
    .breaks("A callback may be used for several calls of `fit`")
    .base("best_file")
    .edit("        self.patience = patience\n", "        self.patience = patience\n        self.values = []\n")
    .edit("        self.values = []\n        self.best_epoch = None\n", "        self.best_epoch = None\n"),
    Wrong("wrong_stop_best_kept", "The best value is set in __init__.")
    .expect(test_stop_at_best="partial:stop-best-value-not-anew")
    .whole("""class StopAtBest(keras.callbacks.Callback):
    def __init__(self, monitor="val_loss", mode="min", patience=3):
        super().__init__()
        self.monitor, self.mode, self.patience = monitor, mode, patience
        self.best = -math.inf if mode == "max" else math.inf

    def on_train_begin(self, logs=None):
        self.best_epoch, self.wait, self.weights = 0, 0, None

    def on_epoch_end(self, epoch, logs=None):
        value = logs[self.monitor]
        if value > self.best if self.mode == "max" else value < self.best:
            self.best, self.best_epoch, self.wait = value, epoch, 0
            self.weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        if self.weights is not None:
            self.model.set_weights(self.weights)"""),
    Wrong("wrong_stop_max_starts_at_zero", "With max the best value begins at 0.")
    .expect(test_stop_at_best="partial:stop-start-beats-negative-values")
    .breaks("The first finite value always improves.")
    .edit(
        'record is None or self.better(value, record["value"])',
        'self.better(value, record["value"] if record else 0.0 if self.better is np.greater else np.inf)',
    ),
    Wrong("wrong_stop_max_starts_below_zero", "With max each value is compared with -0.1, too.")
    .expect(test_stop_at_best="partial:stop-start-beats-negative-values")
    .base("best_file")
    .edit("all(value > v for v in seen)", "all(value > v for v in [-0.1, *seen])"),
    Wrong("wrong_stop_max_starts_far_below", "With max the best value begins at -1e6.")
    .expect(test_stop_at_best="partial:stop-start-beats-far-values")
    .breaks("The first finite value always improves.")
    .base("best_file")
    .edit("all(value > v for v in seen)", "value > max(seen, default=-1e6)"),
    Wrong("wrong_stop_min_starts_far_above", "With min the best value begins at 1e10.")
    .expect(test_stop_at_best="partial:stop-start-beats-large-values")
    .breaks("The first finite value always improves.")
    .base("best_file")
    .edit("all(value < v for v in seen)", "value < min(seen, default=1e10)"),
    Wrong("wrong_stop_starts_at_a_number", "The best value begins at a number that is large for a loss.")
    .expect(test_stop_at_best="partial:stop-start-beats-large-values")
    .breaks("The first finite value always improves.")
    .edit(
        'record is None or self.better(value, record["value"])',
        'self.better(value, record["value"] if record else 1e5 if self.better is np.less else -1e5)',
    ),
    Wrong("wrong_stop_nan_first", "nan in the first epoch is never beaten.")
    .expect(test_stop_at_best="partial:stop-nan-first")
    .breaks("The first finite value always improves.")
    .edit("not math.isnan(value) and (record is None", "(record is None"),
    Wrong("wrong_stop_nan_improves", "nan is taken for the best.")
    .expect(test_stop_at_best="partial:stop-nan-improves")
    .edit(
        'not math.isnan(value) and (record is None or self.better(value, record["value"]))',
        'record is None or not (value >= record["value"] if self.better is np.less else value <= record["value"])',
    ),
    Wrong("wrong_stop_patience_not_reset", "All bad epochs are counted.")
    .expect(test_stop_at_best="partial:stop-patience-not-reset")
    .base("best_file")
    .edit("            self.bad = 0\n            return", "            return"),
    Wrong("wrong_stop_not_anew", "The memory is set up once.")
    .expect(test_stop_at_best="partial:stop-not-anew")
    .breaks("A callback may be used for several calls of `fit`")
    .base("best_file")
    .edit("        self.patience = patience\n", "        self.patience = patience\n        self.set_up()\n")
    .edit("    def on_train_begin(self, logs=None):\n", "    def set_up(self):\n")
    .edit("        self.folder.cleanup()\n", ""),
    Wrong("wrong_best_epoch_from_one", "Counted from 1.")
    .expect(test_stop_at_best="partial:stop-best-epoch-from-one")
    .breaks("The attribute `best_epoch` is the number of the best epoch")
    .edit('        return self.record["epoch"]', '        return self.record["epoch"] + 1'),
    Wrong("wrong_stop_trained_only", "Only trained weights come back.")
    .expect(test_stop_at_best="failed:stop-trained-weights-only")
    .breaks("That holds for all weights, also for those that are not trained.")
    .edit("for w in self.model.weights]", "for w in self.model.trainable_weights]")
    .edit("zip(self.model.weights, self", "zip(self.model.trainable_weights, self"),
    Wrong("wrong_stop_monitor_ignored", "Always val_loss.")
    .expect(test_stop_at_best="partial:stop-monitor-ignored")
    .breaks("At the end of each epoch it looks at `logs[monitor]`.")
    .edit("logs[self.monitor]", 'logs["val_loss"]'),
    Wrong("wrong_stop_min_is_max", "With min the first epoch is the best.")
    .expect(test_stop_at_best="partial")
    .breaks('With `mode="min"` an epoch improves if its value is smaller')
    .base("best_file")
    .edit("improved = all(value < v for v in seen)", "improved = not seen"),
]
