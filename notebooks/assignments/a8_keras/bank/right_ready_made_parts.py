"""What Keras has is used: TimeDistributed, binomial draws, the optimizer's own clipping; weights are kept as bytes."""

CELLS = {
    "pair_model": """
def make_encoder(shape, hidden, units):
    model = keras.Sequential()
    model.add(keras.Input(shape=shape))
    model.add(layers.Flatten())
    for width, name in ((hidden, "relu"), (units, "tanh")):
        model.add(layers.Dense(width, activation=name))
    return model


def make_pair_model(encoder, shape, classes):
    sides = [keras.Input(shape, name=side) for side in ("left", "right")]
    codes = layers.TimeDistributed(encoder)(ops.stack(sides, axis=1))
    left, right = codes[:, 0], codes[:, 1]
    distance = ops.relu(left - right) + ops.relu(right - left)
    return keras.Model(
        inputs=dict(zip(("left", "right"), sides)),
        outputs={"same": layers.Dense(1, name="same")(distance), "digit": layers.Dense(classes, name="digit")(left)},
    )


def compile_pair_model(model, rate, weight):
    settings = {"from_logits": True}
    model.compile(
        "sgd",
        loss={"digit": keras.losses.SparseCategoricalCrossentropy(**settings),
              "same": keras.losses.BinaryCrossentropy(**settings)},
        loss_weights={"same": weight, "digit": 1.0},
    )
    model.optimizer.learning_rate = rate
""",
    "context_mix": """
class ContextMix(layers.Layer):
    def __init__(self, units, activation="tanh", **kwargs):
        super().__init__(**kwargs)
        self.units, self.activation, self.supports_masking = units, keras.activations.get(activation), True

    def build(self, input_shape):
        d = input_shape[-1]
        shapes = {"kernel": (d, self.units), "context": (d, self.units), "bias": (self.units,)}
        for name, shape in shapes.items():
            setattr(self, name, self.add_weight(shape=shape, name=name))

    def call(self, x, mask=None):
        if mask is not None:
            visible = ops.cast(mask, "float32")[:, :, None]
            share = visible / ops.maximum(ops.sum(visible, axis=1, keepdims=True), 1)
            mean = ops.sum(share * x, axis=1, keepdims=True)
        else:
            mean = ops.mean(x, axis=1, keepdims=True)
        both = ops.concatenate([x, ops.broadcast_to(mean, ops.shape(x))], axis=-1)
        weights = ops.concatenate([self.kernel, self.context], axis=0)
        return self.activation(ops.add(both @ weights, self.bias))

    def get_config(self):
        own = dict(units=self.units, activation=keras.saving.serialize_keras_object(self.activation))
        return super().get_config() | own

    @classmethod
    def from_config(cls, config):
        activation = keras.saving.deserialize_keras_object(config["activation"])
        return cls(**{**config, "activation": activation})
""",
    "two_loss_model": """
class TwoLossModel(keras.Model):
    def __init__(self, encoder, classifier, decoder, alpha, max_norm):
        super().__init__()
        self.encoder = encoder
        self.classifier = classifier
        self.decoder = decoder
        self.alpha = alpha
        self.longest = max_norm
        self.cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.mse = keras.losses.MeanSquaredError()
        self.mean_loss = keras.metrics.Mean()
        self.hits = keras.metrics.SparseCategoricalAccuracy()

    def call(self, x, training=False):
        # Keras hands the mode of this call on to the layers that are called in it.
        return self.classifier(self.encoder(x))

    def train_step(self, data):
        rows, labels = data

        def loss_and_logits():
            codes = self.encoder(rows, training=True)
            logits, images = (part(codes, training=True) for part in (self.classifier, self.decoder))
            terms = [self.cross_entropy(labels, logits), self.alpha * self.mse(rows, images), *self.losses]
            return sum(terms), logits

        learned = self.trainable_variables
        (loss, logits), slopes = value_and_gradients(loss_and_logits, learned)
        self.optimizer.global_clipnorm = self.longest
        self.optimizer.apply(slopes, learned)
        self.mean_loss.update_state(ops.broadcast_to(loss, (len(rows),)))
        self.hits.update_state(labels, logits)
        return {"loss": self.mean_loss.result(), "accuracy": self.hits.result()}
""",
    "stop_at_best": """
import pickle


class StopAtBest(keras.callbacks.Callback):
    def __init__(self, monitor="val_loss", mode="min", patience=3):
        super().__init__()
        self.monitor = monitor
        self.best_of = {"min": min, "max": max}[mode]
        self.patience = patience

    def on_train_begin(self, logs=None):
        self.seen = []
        self.best_epoch = -1
        self.kept = b""

    def on_epoch_end(self, epoch, logs=None):
        value = logs[self.monitor]
        if not math.isnan(value):
            if value not in self.seen and self.best_of([*self.seen, value]) == value:
                self.best_epoch = epoch
                self.kept = pickle.dumps(self.model.get_weights())
            self.seen.append(value)
        self.model.stop_training = epoch - self.best_epoch >= self.patience

    def on_train_end(self, logs=None):
        if self.kept:
            self.model.set_weights(pickle.loads(self.kept))
""",
    "warmup_cosine": """
class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total, floor=0.0):
        self.peak, self.warmup, self.total, self.floor = peak, warmup, total, floor

    def __call__(self, step):
        step = int(step)
        if step < self.warmup:
            return np.linspace(self.peak / self.warmup, self.peak, self.warmup)[step]
        p = np.interp(step, [self.warmup, self.total], [0, 1])
        return self.floor + (self.peak - self.floor) * (0.5 + 0.5 * np.exp(1j * np.pi * p).real)

    def get_config(self):
        return vars(self)
""",
    "random_mirror": """
class RandomMirror(layers.Layer):
    def __init__(self, rate=0.5, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.draws = keras.random.SeedGenerator(seed)

    def call(self, images, training=False):
        if not training:
            return images
        tails = keras.random.binomial((len(images),), counts=1.0, probabilities=self.rate, seed=self.draws)
        coins = ops.stack([1 - tails, tails], axis=1)
        return ops.einsum("nk,nkhwc->nhwc", coins, ops.stack([images, ops.flip(images, axis=2)], axis=1))
""",
    "transfer": """
def prepared(model, rate):
    model.compile(loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), optimizer="sgd")
    model.optimizer.learning_rate.assign(rate)


def make_transfer_model(base, classes, rate):
    for layer in base.layers:
        layer.trainable = False
    model = keras.Sequential()
    model.add(base)
    model.add(layers.Dense(classes, name="head"))
    prepared(model, rate)
    return model


def fine_tune(model, base, depth, rate):
    frozen = set(base.layers[: len(base.layers) - depth])
    frozen.update(layer for layer in base.layers if isinstance(layer, layers.BatchNormalization))
    for layer in base.layers:
        layer.trainable = layer not in frozen
    prepared(model, rate)
""",
}
