"""Wrong answers to `make_step`."""

from autograder.bank import Wrong

BASES = {
    "concrete": """
def make_step(loss_fn, variables, history):
    def body(x, y, rate):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            for variable in variables:
                tape.watch(variable)
            loss = loss_fn(x, y)
        gradients = tape.gradient(loss, variables)
        for variable, gradient in zip(variables, gradients):
            variable.assign(variable - rate * gradient)
        return loss

    f32 = tf.float32
    graph = tf.function(body).get_concrete_function(
        tf.TensorSpec((None, None), f32), tf.TensorSpec((None,), f32), tf.TensorSpec((), f32)
    )

    def step(x, y, learning_rate):
        value = graph(tf.convert_to_tensor(x), tf.convert_to_tensor(y), tf.cast(learning_rate, f32)).numpy().item()
        history.append(value)
        return value

    return step
""",
    "class_with_a_rate_variable": """
class Step:
    def __init__(self, loss_fn, variables, history):
        self.loss_fn, self.variables, self.history = loss_fn, variables, history
        self.rate = tf.Variable(0.0, trainable=False)

    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None])])
    def run(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(x, y)
        for v, g in zip(self.variables, tape.gradient(loss, self.variables)):
            v.assign_sub(g * self.rate)
        return loss

    def __call__(self, x, y, learning_rate):
        self.rate.assign(tf.cast(learning_rate, tf.float32))
        self.history += [float(self.run(x, y))]
        return self.history[-1]


def make_step(loss_fn, variables, history):
    return Step(loss_fn, variables, history)
""",
    "py_function": """
def make_step(loss_fn, variables, history):
    def note(value):
        history.append(float(value))

    def step(x, y, learning_rate):
        loss = loss_fn(x, y)
        gradients = tf.gradients(loss, variables)
        tf.py_function(note, [loss], [])
        for number in range(len(variables)):
            variables[number].assign_sub(tf.multiply(learning_rate, gradients[number]))
        return loss

    specs = (tf.TensorSpec([None] * rank, tf.float32) for rank in (2, 1, 0))
    return tf.function(step, input_signature=list(specs))
""",
}

TRACED = """tf.function(body).get_concrete_function(
        tf.TensorSpec((None, None), f32), tf.TensorSpec((None,), f32), tf.TensorSpec((), f32)
    )"""
WRONG = [
    Wrong("wrong_eager", "Nothing is compiled.")
    .expect(test_make_step="partial:step-python-in-each-call")
    .breaks("Python runs `loss_fn` exactly once")
    .edit(TRACED, "body"),
    Wrong("wrong_function_in_each_call", "The function is made in each call.")
    .expect(test_make_step="partial:step-python-in-each-call")
    .edit("value = graph(tf.convert", "value = tf.function(body)(tf.convert")
    .edit(TRACED, "None"),
    Wrong("wrong_shapes_fixed", "Each shape is traced.")
    .expect(test_make_step="partial:step-retraced-for-shapes")
    .edit(TRACED, "tf.function(body)"),
    Wrong("wrong_reduce_retracing", "The second trace is the last.")
    .expect(test_make_step="partial:step-retraced-once-more")
    .edit(TRACED, "tf.function(body, reduce_retracing=True)"),
    Wrong("wrong_numbers_traced", "Each learning rate is traced.")
    .expect(test_make_step="partial:step-retraced-for-numbers")
    .whole("""def make_step(loss_fn, variables, history):
    graphs = {}

    def trace(rate):
        def body(x, y):
            with tf.GradientTape() as tape:
                loss = loss_fn(x, y)
            for v, g in zip(variables, tape.gradient(loss, variables)):
                v.assign_sub(rate * g)
            return loss

        return tf.function(body, input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None])])

    def step(x, y, learning_rate):
        rate = float(learning_rate)
        graphs[rate] = graphs.get(rate) or trace(rate)
        history.append(float(graphs[rate](x, y)))
        return history[-1]

    return step"""),
    Wrong("wrong_append_while_tracing", "The traced function appends.")
    .expect(test_make_step="partial:step-history-while-tracing")
    .base("class_with_a_rate_variable")
    .edit(
        "            loss = self.loss_fn(x, y)\n",
        "            loss = self.loss_fn(x, y)\n            self.history.append(loss)\n",
    )
    .edit(
        "        self.history += [float(self.run(x, y))]\n        return self.history[-1]",
        "        return self.run(x, y)",
    ),
    Wrong("wrong_float_while_tracing", "The traced function asks for a number.")
    .expect(test_make_step="partial")
    .base("class_with_a_rate_variable")
    .edit(
        "            loss = self.loss_fn(x, y)\n",
        "            loss = self.loss_fn(x, y)\n            self.history.append(float(loss))\n",
    ),
    Wrong("wrong_history_of_tensors", "The history holds tensors.")
    .expect(test_make_step="partial:step-history-of-tensors")
    .breaks("as a Python float.")
    .edit("f32)).numpy().item()", "f32))"),
    Wrong("wrong_history_of_numpy_numbers", "The history holds NumPy's numbers.")
    .expect(test_make_step="partial:step-history-of-numpy-numbers")
    .breaks("as a Python float.")
    .edit(".numpy().item()", ".numpy()"),
    Wrong("wrong_history_of_float32", "The float becomes one of NumPy's again.")
    .expect(test_make_step="partial:step-history-of-numpy-numbers")
    .base("py_function")
    .edit("history.append(float(value))", "history.append(np.float32(value))"),
    Wrong("wrong_history_cleared", "The list is emptied first.")
    .expect(test_make_step="partial:step-history-not-kept")
    .breaks("appends the loss that it returns to the list `history`")
    .edit("    def body(x, y, rate):\n", "    history.clear()\n\n    def body(x, y, rate):\n"),
    Wrong("wrong_history_written_anew", "The list becomes that of the step's own losses.")
    .expect(test_make_step="partial:step-history-not-kept")
    .breaks("appends the loss that it returns to the list `history`")
    .edit("    def body(x, y, rate):\n", "    losses = []\n\n    def body(x, y, rate):\n")
    .edit("history.append(value)", "losses.append(value)\n        history[:] = losses"),
    Wrong("wrong_returns_a_number_of_numpy", "The step returns a number of NumPy.")
    .expect(test_make_step="partial:step-returns-another-type")
    .breaks("a scalar tensor or a Python float")
    .edit("        return value\n", "        return np.float32(value)\n"),
    Wrong("wrong_arrays_and_tensors_apart", "One graph for arrays, one for tensors; nobody has a name for it.")
    .expect(test_make_step="partial")
    .breaks("Python runs `loss_fn` exactly once")
    .edit(f"graph = {TRACED}", f"graphs = [\n        {TRACED}\n        for _ in range(2)\n    ]")
    .edit("value = graph(tf.convert", "value = graphs[tf.is_tensor(x)](tf.convert"),
    Wrong("wrong_no_history", "Nothing is appended.")
    .expect(test_make_step="partial:step-history-missing")
    .edit("        history.append(value)\n", ""),
    Wrong("wrong_first_rate", "The learning rate is captured.")
    .expect(test_make_step="partial:step-keeps-the-first-learning-rate")
    .base("class_with_a_rate_variable")
    .edit("        self.rate = tf.Variable(0.0, trainable=False)", "        self.rate = None")
    .edit(
        "        self.rate.assign(tf.cast(learning_rate, tf.float32))",
        "        if self.rate is None:\n            self.rate = tf.cast(learning_rate, tf.float32)",
    ),
    Wrong("wrong_one_for_all", "One step is made for all.")
    .expect(test_make_step="failed:step-shared-between-calls")
    .breaks("do not interfere")
    .whole("""ONE = {}


def compiled(loss_fn, variables):
    if not ONE:
        @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None]), tf.TensorSpec([])])
        def graph(x, y, rate):
            with tf.GradientTape() as tape:
                loss = loss_fn(x, y)
            for v, g in zip(variables, tape.gradient(loss, variables)):
                v.assign_sub(rate * g)
            return loss
        ONE["graph"] = graph
    return ONE["graph"]


def make_step(loss_fn, variables, history):
    graph = compiled(loss_fn, variables)

    def step(x, y, learning_rate):
        history.append(float(graph(x, y, learning_rate)))
        return history[-1]

    return step"""),
    Wrong("wrong_one_for_a_loss", "Compiled steps are kept by loss_fn, so that each is traced once.")
    .expect(test_make_step="partial:step-shared-by-loss-function")
    .breaks("do not interfere")
    .whole("""_compiled = {}  # so that each loss function is traced once


def make_step(loss_fn, variables, history):
    if loss_fn not in _compiled:

        @tf.function(
            input_signature=[
                tf.TensorSpec((None, None), tf.float32),
                tf.TensorSpec((None,), tf.float32),
                tf.TensorSpec((), tf.float32),
            ]
        )
        def compiled(x, y, learning_rate):
            with tf.GradientTape() as tape:
                tape.watch(variables)
                loss = loss_fn(x, y)
            gradients = tape.gradient(loss, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
            for variable, gradient in zip(variables, gradients):
                variable.assign_sub(learning_rate * gradient)
            return loss

        _compiled[loss_fn] = compiled
    compiled = _compiled[loss_fn]

    def step(x, y, learning_rate):
        x = tf.convert_to_tensor(x, tf.float32)
        y = tf.convert_to_tensor(y, tf.float32)
        learning_rate = tf.convert_to_tensor(learning_rate, tf.float32)
        loss = compiled(x, y, learning_rate)
        history.append(float(loss))
        return loss

    return step"""),
    Wrong("wrong_graph_on_the_loss", "The graph is kept as an attribute of the loss function.")
    .expect(test_make_step="partial:step-shared-by-loss-function")
    .breaks("do not interfere")
    .edit("    graph = tf", '    loss_fn.graph = graph = getattr(loss_fn, "graph", None) or tf'),
    Wrong("wrong_first_variable", "One variable is updated.")
    .expect(test_make_step="partial:step-only-the-first-variable")
    .edit("in zip(variables, gradients)", "in list(zip(variables, gradients))[:1]"),
    Wrong("wrong_step_uphill", "The gradient is added.")
    .expect(test_make_step="failed:step-uphill")
    .breaks("Each call of `step` subtracts")
    .edit("variable.assign(variable - rate", "variable.assign(variable + rate"),
    Wrong("wrong_step_rate_negative", "The learning rate is negated.")
    .expect(test_make_step="failed:step-uphill")
    .base("class_with_a_rate_variable")
    .edit(
        "self.rate.assign(tf.cast(learning_rate, tf.float32))", "self.rate.assign(-tf.cast(learning_rate, tf.float32))"
    ),
    Wrong("wrong_step_loss_after", "The loss that is returned is that after the step.")
    .expect(test_make_step="failed")
    .breaks("Each call of `step` subtracts")
    .edit("        return loss\n\n    f32", "        return loss_fn(x, y)\n\n    f32"),
    Wrong("wrong_rate_of_int", "An int does not become a float.")
    .expect(test_make_step="partial:step-refuses-an-int")
    .edit("tf.cast(learning_rate, f32)", "tf.constant(learning_rate)"),
    Wrong("wrong_rate_of_int_in_a_signature", "An int does not fit the signature.")
    .expect(test_make_step="partial:step-refuses-an-int")
    .base("py_function")
    .edit(
        "    return tf.function(step, input_signature=list(specs))",
        "    graph = tf.function(step, input_signature=list(specs))\n"
        "    return lambda x, y, rate: graph(x, y, tf.convert_to_tensor(rate))",
    ),
    Wrong("wrong_returns_history", "make_step returns more than the step.")
    .expect(test_make_step="failed")
    .breaks("It returns a function `step(x, y, learning_rate)`")
    .edit("    return step\n", "    return step, history\n"),
]
