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
"""
}

WRONG = [
    Wrong("wrong_schedule_late", "The warm-up starts at 0.")
    .expect(test_warmup_cosine="failed:schedule-late")
    .edit("(k + 1) /", "k /"),
]
