"""Loops and plain Python where others use one call; a step that overrides compute_loss; weights kept in a dict."""

CELLS = {
    "context_mix": """
class ContextMix(layers.Layer):
    def __init__(self, units, activation="tanh", **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.dense = layers.Activation(activation)
        self.units = units

    @property
    def activation(self):
        return self.dense.activation

    def build(self, input_shape):
        *_, features = input_shape
        self.kernel = self.add_weight(shape=(features, self.units), name="kernel")
        self.context = self.add_weight(shape=(features, self.units), name="context")
        self.bias = self.add_weight(shape=(self.units,), name="bias")

    def mean(self, x, mask):
        if mask is None:
            return ops.mean(x, axis=1)
        total, many = 0.0, 0.0
        for t in range(x.shape[1]):
            valid = ops.cast(mask[:, t : t + 1], x.dtype)
            total = total + valid * x[:, t]
            many = many + valid
        return ops.where(many > 0, total / ops.maximum(many, 1), 0.0)

    def call(self, x, mask=None):
        if x.shape[1] is None:
            return self.dense(x @ self.kernel + self.bias)
        shift = self.mean(x, mask) @ self.context
        rows = [self.dense(x[:, t] @ self.kernel + shift + self.bias) for t in range(x.shape[1])]
        return ops.stack(rows, axis=1)

    def get_config(self):
        config = super().get_config()
        config["units"] = self.units
        config["activation"] = self.dense.get_config()["activation"]
        return config
""",
    "two_loss_model": """
class TwoLossModel(keras.Model):
    def __init__(self, encoder, classifier, decoder, alpha, max_norm):
        super().__init__()
        self.encoder = encoder
        self.classifier = classifier
        self.decoder = decoder
        self.alpha = alpha
        self.max_norm = max_norm
        self.total = keras.metrics.Sum()
        self.right = keras.metrics.Sum()
        self.rows = keras.metrics.Sum()

    def call(self, x, training=False):
        code = self.encoder(x, training=training)
        return self.classifier(code, training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        logits, reconstruction = y_pred
        entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, logits)
        error = keras.losses.MeanSquaredError()(x, reconstruction)
        penalties = [penalty for part in (self.encoder, self.classifier, self.decoder) for penalty in part.losses]
        return entropy + self.alpha * error + sum(penalties)

    def train_step(self, data):
        x, y = data
        n = len(x)

        def forward():
            code = self.encoder(x, training=True)
            logits = self.classifier(code, training=True)
            return self.compute_loss(x, y, (logits, self.decoder(code, training=True))), logits

        (loss, logits), gradients = value_and_gradients(forward, self.trainable_variables)
        squared = 0.0
        for gradient in gradients:
            squared += float(ops.convert_to_numpy(ops.sum(gradient * gradient)))
        norm = math.sqrt(squared)
        if norm > self.max_norm:
            for k in range(len(gradients)):
                gradients[k] = gradients[k] * (self.max_norm / norm)
        self.optimizer.apply(gradients, self.trainable_variables)
        self.total.update_state(n * loss)
        self.right.update_state(keras.metrics.sparse_categorical_accuracy(y, logits))
        self.rows.update_state(float(n))
        rows = self.rows.result()
        return {"accuracy": self.right.result() / rows, "loss": self.total.result() / rows}
""",
    "stop_at_best": """
import copy


class StopAtBest(keras.callbacks.Callback):
    def __init__(self, monitor="val_loss", mode="min", patience=3):
        super().__init__()
        self.monitor = monitor
        self.mode = mode
        self.patience = patience

    def on_train_begin(self, logs=None):
        self.values = []
        self.kept = {}

    def on_epoch_end(self, epoch, logs=None):
        self.values.append(-logs[self.monitor] if self.mode == "max" else logs[self.monitor])
        real = [value for value in self.values if not np.isnan(value)]
        best = self.values.index(min(real)) if real else None
        if best == epoch:
            self.kept = {w.path: copy.deepcopy(ops.convert_to_numpy(w)) for w in self.model.weights}
            self.best_epoch = epoch
        if len(self.values) - 1 - (-1 if best is None else best) >= self.patience:
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        for w in self.model.weights:
            if w.path in self.kept:
                w.assign(self.kept[w.path])
""",
}
