"""Wrong answers to `TwoTowers`."""

from autograder.bank import Wrong

BASES = {
    "tower_module": """
class Tower(tf.Module):
    def __init__(self, arrays, device):
        super().__init__()
        self.device = device
        with tf.device(device):
            self.w, self.b = map(tf.Variable, arrays)

    def __call__(self, x):
        with tf.device(self.device):
            return tf.math.tanh(tf.nn.bias_add(x @ self.w, self.b))


class TwoTowers(tf.Module):
    def __init__(self, first, second):
        super().__init__()
        self.towers = Tower(first, "/device:GPU:0"), Tower(second, "/device:GPU:1")
        self.first, self.second = [(tower.w, tower.b) for tower in self.towers]

    def __call__(self, x1, x2):
        one, two = self.towers[0](x1), self.towers[1](x2)
        with tf.device("GPU:0"):
            return tf.einsum("ij,ij->i", one, two)
""",
    "compiled_call": """
class TwoTowers(tf.Module):
    def __init__(self, first, second):
        super().__init__()
        gpus = tf.config.list_logical_devices("GPU")
        with tf.device(gpus[0].name):
            self.first = tuple(tf.Variable(tf.constant(value)) for value in first)
        with tf.device(gpus[1].name):
            self.second = tuple(tf.Variable(tf.constant(value)) for value in second)

    @tf.function
    def __call__(self, x1, x2):
        with tf.device("GPU:1"):
            right = 2 * tf.sigmoid(2 * (tf.matmul(x2, self.second[0]) + self.second[1])) - 1
        with tf.device("GPU:0"):
            left = tf.tanh(tf.matmul(x1, self.first[0]) + self.first[1])
            return tf.linalg.diag_part(tf.matmul(left, right, transpose_b=True))
""",
    "matvec": """
class TwoTowers(tf.Module):
    def __init__(self, first, second):
        super().__init__()
        with tf.device("GPU:0"):
            self.first = [tf.Variable(value, dtype=tf.float32) for value in first]
        with tf.device("GPU:1"):
            self.second = [tf.Variable(value, dtype=tf.float32) for value in second]

    def __call__(self, x1, x2):
        with tf.device("GPU:0"):
            code1 = tf.tanh(x1 @ self.first[0] + self.first[1])
        with tf.device("GPU:1"):
            code2 = tf.tanh(x2 @ self.second[0] + self.second[1])
        with tf.device("GPU:0"):
            return tf.squeeze(tf.linalg.matvec(code1[:, None, :], code2), axis=1)
""",
}

WRONG = [
    Wrong("wrong_one_gpu", "Everything is on the first GPU.")
    .expect(test_two_towers="partial:towers-variables-misplaced")
    .edit('"/device:GPU:1"', '"/device:GPU:0"'),
    Wrong("wrong_variables_on_the_host", "The variables are made on the CPU.")
    .expect(test_two_towers="partial:towers-variables-misplaced")
    .breaks("The variables of the first tower lie on")
    .edit("        with tf.device(device):\n", '        with tf.device("CPU:0"):\n'),
    Wrong("wrong_operations_anywhere", "The call names no device for a tower.")
    .expect(test_two_towers="partial:towers-operations-misplaced")
    .breaks("Everything that is computed from `x1` alone")
    .edit("        with tf.device(self.device):\n            return", "        if True:\n            return"),
    Wrong("wrong_towers_crossed", "The towers work on each other's device.")
    .expect(test_two_towers="partial:towers-operations-misplaced")
    .base("compiled_call")
    .edit('with tf.device("GPU:1"):', 'with tf.device("GPU:0"):  # both'),
    Wrong("wrong_score_elsewhere", "The score is computed on the second GPU.")
    .expect(test_two_towers="partial:towers-score-misplaced")
    .edit('with tf.device("GPU:0")', 'with tf.device("GPU:1")'),
    Wrong("wrong_variables_in_call", "The call makes its variables.")
    .expect(test_two_towers="failed:towers-variables-made-in-the-call")
    .base("compiled_call")
    .edit("    @tf.function\n", "")
    .edit("self.first = tuple(tf.Variable(tf.constant(value)) for value in first)", "self.arrays = first, second")
    .edit("self.second = tuple(tf.Variable(tf.constant(value)) for value in second)", "self.first = self.second = ()")
    .edit(
        "            right = 2",
        ("            self.second = [tf.Variable(value) for value in self.arrays[1]]\n            right = 2"),
    )
    .edit(
        "            left = tf",
        ("            self.first = [tf.Variable(value) for value in self.arrays[0]]\n            left = tf"),
    ),
    Wrong("wrong_no_tanh", "The towers are linear.")
    .expect(test_two_towers="failed:towers-without-tanh")
    .breaks("A call `model(x1, x2)` returns the scores")
    .edit("tf.math.tanh(tf.nn.bias_add(x @ self.w, self.b))", "tf.nn.bias_add(x @ self.w, self.b)"),
    Wrong("wrong_score_mean", "A mean over the units.")
    .expect(test_two_towers="failed:towers-score-is-a-mean")
    .breaks("A call `model(x1, x2)` returns the scores")
    .base("matvec")
    .edit(
        "code1 = tf.tanh(x1 @ self.first[0] + self.first[1])",
        "code1 = tf.tanh(x1 @ self.first[0] + self.first[1]) / self.first[1].shape[0]",
    ),
    Wrong("wrong_no_module", "The class is no tf.Module.")
    .expect(test_two_towers="failed")
    .breaks("Write `TwoTowers(first, second)`")
    .edit("class TwoTowers(tf.Module)", "class TwoTowers"),
    Wrong("wrong_order_of_a_pair", "The bias stands before the weight.")
    .expect(test_two_towers="failed")
    .breaks("are lists or tuples of the two variables")
    .edit("(tower.w, tower.b)", "(tower.b, tower.w)"),
]
