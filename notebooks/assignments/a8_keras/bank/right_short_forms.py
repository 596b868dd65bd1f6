"""The shortest that works: Sequential for transfer, a mirror by the order of columns, a schedule in one expression."""

CELLS = {
    "pair_model": """
def make_encoder(shape, hidden, units):
    dense = [layers.Dense(hidden, "relu"), layers.Dense(units, "tanh")]
    return keras.Sequential([keras.Input(shape), layers.Flatten(), *dense])


def make_pair_model(encoder, shape, classes):
    pair = {"right": keras.Input(shape), "left": keras.Input(shape)}
    a, b = map(encoder, (pair["left"], pair["right"]))
    heads = layers.Dense(classes, name="digit")(a), layers.Dense(1, name="same")(ops.maximum(a, b) - ops.minimum(a, b))
    return keras.Model(pair, dict(zip(("digit", "same"), heads)))


def compile_pair_model(model, rate, weight):
    losses = keras.losses.SparseCategoricalCrossentropy(True), keras.losses.BinaryCrossentropy(True)
    names = ("digit", "same")
    model.compile(keras.optimizers.SGD(rate), dict(zip(names, losses)), loss_weights=dict(zip(names, (1.0, weight))))
""",
    "transfer": """
def _compiled(model, rate):
    model.compile(optimizer=keras.optimizers.SGD(rate), loss=keras.losses.SparseCategoricalCrossentropy(True))
    return model


def make_transfer_model(base, classes, rate):
    base.trainable = False
    return _compiled(keras.Sequential([base, layers.Dense(classes, name="head")]), rate)


def fine_tune(model, base, depth, rate):
    base.trainable = True
    for place, layer in enumerate(reversed(base.layers)):
        if place >= depth or "norm" in type(layer).__name__.lower():
            layer.trainable = False
    _compiled(model, rate)
""",
    "warmup_cosine": """
class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total, floor=0.0):
        self.numbers = peak, warmup, total, floor

    def __call__(self, step):
        peak, warmup, total, floor = self.numbers
        step = int(ops.convert_to_numpy(step))
        p = (min(step, total) - warmup) / (total - warmup)
        return (step + 1) / warmup * peak if p < 0 else floor + (peak - floor) * math.cos(math.pi * p / 2) ** 2

    def get_config(self):
        return dict(zip(("peak", "warmup", "total", "floor"), self.numbers))
""",
    "random_mirror": """
class RandomMirror(layers.Layer):
    def __init__(self, rate=0.5, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate, self.dice = rate, keras.random.SeedGenerator(seed)

    def call(self, images, training=False):
        n, width = images.shape[0], images.shape[2]
        flip = keras.random.uniform((n, 1), seed=self.dice) < (self.rate if training else 0.0)
        columns = ops.where(flip, ops.arange(width - 1, -1, -1), ops.arange(width))
        return ops.take_along_axis(images, columns[:, None, :, None], axis=2)
""",
}
