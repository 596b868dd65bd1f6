"""Wrong answers to `warmup_cosine`."""

from autograder.bank import Wrong

BASES = {
    "branches": """
class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total, floor=0.0):
        super().__init__()
        self.settings = {"peak": peak, "warmup": warmup, "total": total, "floor": floor}

    def __call__(self, step):
        s = self.settings
        k = float(ops.convert_to_numpy(step))
        if k < s["warmup"]:
            return s["peak"] * (k + 1) / s["warmup"]
        if k > s["total"]:
            return s["floor"]
        angle = math.pi * (k - s["warmup"]) / (s["total"] - s["warmup"])
        return s["floor"] + 0.5 * (s["peak"] - s["floor"]) * (1 + math.cos(angle))

    def get_config(self):
        return dict(self.settings)
""",
    "table": """
class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total, floor=0.0):
        self.config = dict(peak=peak, warmup=warmup, total=total, floor=floor)
        up = np.arange(1, warmup + 1) / max(warmup, 1) * peak
        turn = np.linspace(0, np.pi, total - warmup + 1)
        down = floor + (peak - floor) * np.cos(turn / 2) ** 2
        self.table = ops.convert_to_tensor(np.concatenate([up, down]).astype("float32"))

    def __call__(self, step):
        last = self.table.shape[0] - 1
        return ops.take(self.table, ops.minimum(ops.cast(step, "int32"), last))

    def get_config(self):
        return self.config
""",
}

WRONG = [
    Wrong("wrong_schedule_late", "The warm-up starts at 0.")
    .expect(test_warmup_cosine="failed:schedule-late")
    .edit("(k + 1) /", "k /"),
    Wrong("wrong_schedule_no_warmup", "The table of the falling part alone.")
    .expect(test_warmup_cosine="failed:schedule-no-warmup")
    .edit('if k < s["warmup"]:\n            return s["peak"] * (k + 1) / s["warmup"]', 'k = max(k, s["warmup"])'),
    Wrong("wrong_schedule_not_shifted", "The cosine begins at step 0.")
    .expect(test_warmup_cosine="failed:schedule-not-shifted")
    .edit('(k - s["warmup"]) / (s["total"] - s["warmup"])', 'k / s["total"]'),
    Wrong("wrong_schedule_too_slow", "Divided by total.")
    .expect(test_warmup_cosine="failed:schedule-too-slow")
    .edit('/ (s["total"] - s["warmup"])', '/ s["total"]'),
    Wrong("wrong_schedule_rises_again", "No end.")
    .expect(test_warmup_cosine="partial:schedule-rises-again")
    .edit('        if k > s["total"]:\n            return s["floor"]\n', ""),
    Wrong("wrong_schedule_floor_ignored", "Down to 0.")
    .expect(test_warmup_cosine="failed:schedule-floor-ignored")
    .base("table")
    .edit("down = floor + (peak - floor) *", "down = peak *"),
    Wrong("wrong_schedule_floor_added", "The floor is added to all.")
    .expect(test_warmup_cosine="failed:schedule-floor-added")
    .base("table")
    .edit("(peak - floor) *", "peak *"),
    Wrong("wrong_schedule_straight", "A straight line.")
    .expect(test_warmup_cosine="failed:schedule-straight")
    .base("table")
    .edit("np.cos(turn / 2) ** 2", "(1 - turn / np.pi)"),
    Wrong("wrong_schedule_without_pi", "An angle from 0 to 1.")
    .expect(test_warmup_cosine="failed:schedule-without-pi")
    .base("table")
    .edit("np.linspace(0, np.pi,", "np.linspace(0, 1,"),
    Wrong("wrong_schedule_integers_only", "A tensor is not understood.")
    .expect(test_warmup_cosine="failed")
    .breaks("`step` is an integer, or a tensor or Keras variable")
    .edit(
        "k = float(ops.convert_to_numpy(step))",
        "k = [float(j) for j in range(100)].__getitem__(step) if isinstance(step, int) else 0.0",
    ),
    Wrong("wrong_schedule_gives_a_list", "The result is a list of all rates.")
    .expect(test_warmup_cosine="failed")
    .breaks("The result is a number or a tensor with one number.")
    .base("table")
    .edit('return ops.take(self.table, ops.minimum(ops.cast(step, "int32"), last))', "return self.table"),
    Wrong("wrong_schedule_zero_warmup", "Without warm-up the first step has the rate 0.")
    .expect(test_warmup_cosine="partial")
    .breaks("With `warmup=0` there is no warm-up: the rate starts at `peak`.")
    .edit('if k < s["warmup"]:', 'if k == 0 == s["warmup"]:\n            return 0.0\n        if k < s["warmup"]:'),
    Wrong("wrong_schedule_division_by_zero", "Without warm-up something is divided by 0.")
    .expect(test_warmup_cosine="partial:schedule-divides-by-zero")
    .breaks("With `warmup=0` there is no warm-up: the rate starts at `peak`.")
    .edit(
        "k = float(ops.convert_to_numpy(step))\n",
        'k = float(ops.convert_to_numpy(step))\n        rising = s["peak"] * (k + 1) / s["warmup"]\n',
    ),
    Wrong("wrong_schedule_config", "The floor is not in the configuration.")
    .expect(test_warmup_cosine="partial:schedule-config-without-floor")
    .breaks("is a schedule with the same rates")
    .edit("return dict(self.settings)", 'return {name: self.settings[name] for name in ("peak", "warmup", "total")}'),
]
