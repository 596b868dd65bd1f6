"""Wrong answers to `random_mirror`."""

from autograder.bank import Wrong

BASES = {
    "bernoulli": """
class RandomMirror(layers.Layer):
    def __init__(self, rate=0.5, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.source = keras.random.SeedGenerator(seed)

    def call(self, images, training=False):
        if training:
            n = ops.shape(images)[0]
            yes = ops.floor(keras.random.uniform((n,), seed=self.source) + self.rate)
            yes = ops.cast(ops.reshape(yes, (n, 1, 1, 1)), images.dtype)
            images = yes * ops.flip(images, 2) + (1 - yes) * images
        return images
""",
    "counter": """
class RandomMirror(layers.Layer):
    def __init__(self, rate=0.5, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rng = np.random.default_rng(seed)
        self.rate = rate

    def call(self, images, training=None):
        if not training:
            return images
        flags = self.rng.random(images.shape[0]) < self.rate
        rows = [ops.flip(image, axis=1) if flag else ops.convert_to_tensor(image) for image, flag in zip(images, flags)]
        return ops.stack(rows)
""",
}

WRONG = [
    Wrong("wrong_mirror_other_axis", "Upside down.")
    .expect(test_random_mirror="failed:mirror-other-axis")
    .breaks("left becomes right, along the axis `W`")
    .edit("ops.flip(images, 2)", "ops.flip(images, 1)"),
    Wrong("wrong_mirror_at_inference", "Active always.")
    .expect(test_random_mirror="partial:mirror-at-inference")
    .breaks("Without training, that is with `training=False`")
    .edit("if training:", "if True:"),
    Wrong("wrong_mirror_trains_by_default", "training is taken for granted.")
    .expect(test_random_mirror="partial:mirror-trains-by-default")
    .edit("if training:", "if training:")
    .edit("training=False", "training=True"),
    Wrong("wrong_mirror_one_draw", "One decision for the batch.")
    .expect(test_random_mirror="partial:mirror-one-draw-for-the-batch")
    .breaks("Whether one image is mirrored does not depend on the other images")
    .edit("keras.random.uniform((n,),", "ops.ones((n,)) * keras.random.uniform((1,),"),
    Wrong("wrong_mirror_each_number", "A decision for each number of the images; nobody has a name for it.")
    .expect(test_random_mirror="partial")
    .whole("""class RandomMirror(layers.Layer):
    def __init__(self, rate=0.5, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.seed_generator = keras.random.SeedGenerator(seed)

    def call(self, images, training=False):
        if not training:
            return images
        drawn = keras.random.uniform(ops.shape(images), seed=self.seed_generator)
        return ops.where(drawn < self.rate, ops.flip(images, axis=2), images)"""),
    Wrong("wrong_mirror_rate_swapped", "The images that stay.")
    .expect(test_random_mirror="partial:mirror-rate-swapped")
    .base("counter")
    .edit("< self.rate", ">= self.rate"),
    Wrong("wrong_mirror_rate_ignored", "Heads or tails.")
    .expect(test_random_mirror="partial:mirror-rate-ignored")
    .breaks("With `training=True` it mirrors each image with probability `rate`")
    .base("counter")
    .edit("< self.rate", "< 0.5"),
    Wrong("wrong_mirror_same_in_every_call", "An integer is handed over as seed.")
    .expect(test_random_mirror="partial:mirror-same-in-every-call")
    .breaks("Every call in training draws anew.")
    .edit("keras.random.SeedGenerator(seed)", "seed if seed is not None else 1337"),
    Wrong("wrong_mirror_seed_ignored", "The seed is not used.")
    .expect(test_random_mirror="partial:mirror-seed-ignored")
    .breaks("Two layers with the same integer as `seed` make the same choices")
    .base("counter")
    .edit("np.random.default_rng(seed)", "np.random.default_rng()"),
    Wrong("wrong_mirror_one_seed_for_all", "Another seed gives the same choices.")
    .expect(test_random_mirror="partial")
    .edit("keras.random.SeedGenerator(seed)", "keras.random.SeedGenerator(1)"),
    Wrong("wrong_mirror_exact_share", "The smallest of the numbers drawn, as many as the rate says.")
    .expect(test_random_mirror="partial:mirror-share-reached-exactly")
    .breaks("Whether one image is mirrored does not depend on the other images")
    .whole("""class RandomMirror(layers.Layer):
    def __init__(self, rate=0.5, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.seed = seed
        self.seed_generator = keras.random.SeedGenerator(seed)

    def call(self, images, training=False):
        if not training:
            return images
        n = ops.shape(images)[0]
        ranks = ops.argsort(ops.argsort(keras.random.uniform((n,), seed=self.seed_generator)))
        chosen = ops.reshape(ranks, (n, 1, 1, 1)) < int(round(self.rate * n))
        return ops.where(chosen, ops.flip(images, axis=2), images)"""),
    Wrong("wrong_mirror_permutation", "The first of a permutation; the number is rounded by chance.")
    .expect(test_random_mirror="partial:mirror-share-reached-exactly")
    .base("counter")
    .edit(
        "flags = self.rng.random(images.shape[0]) < self.rate",
        "n = images.shape[0]\n        flags = self.rng.permutation(n) < int(self.rate * n + self.rng.random())",
    ),
    Wrong("wrong_mirror_neighbors", "Every second image; nobody has a name for it.")
    .expect(test_random_mirror="partial")
    .base("counter")
    .edit(
        "flags = self.rng.random(images.shape[0]) < self.rate",
        "flags = (np.arange(images.shape[0]) + self.rng.integers(100)) % 100 < 100 * self.rate",
    ),
]
