"""Wrong answers to `build_graph`."""

from autograder.bank import Wrong

BASES = {
    "optimizer": """
def build_graph(w_start, b_start, learning_rate):
    n, h = w_start.shape
    with tf.Graph().as_default() as graph:
        with v1.variable_scope("encoder"):
            w = v1.get_variable("w", shape=[n, h], initializer=v1.constant_initializer(w_start))
            b = v1.get_variable("b", shape=[h], initializer=v1.constant_initializer(b_start))
        x1 = v1.placeholder("float32", (None, n), "x1")
        x2 = v1.placeholder("float32", (None, n), "x2")
        y = v1.placeholder("float32", (None,), "y")

        def forward():
            code1 = tf.nn.tanh(x1 @ w + b)
            code2 = tf.nn.tanh(x2 @ w + b)
            d = tf.reduce_sum(tf.square(code1 - code2), 1)
            return d, tf.reduce_mean(tf.math.squared_difference(d, y))

        distance, loss = forward()
        optimizer = v1.train.GradientDescentOptimizer(learning_rate)
        pairs = optimizer.compute_gradients(loss, [w, b])
        train = optimizer.apply_gradients(pairs)
        with graph.control_dependencies([train]):
            after = forward()[1]
        nodes = dict(x1=x1, x2=x2, y=y, distance=distance, loss=loss, step=after)
        nodes.update(grad_w=pairs[0][0], grad_b=pairs[1][0], init=v1.variables_initializer([w, b]))
        return graph, nodes
""",
    "one_pass": """
def build_graph(w_start, b_start, learning_rate):
    graph = tf.Graph()
    nodes = {}

    def layer(x, again):
        with v1.variable_scope("encoder", reuse=again):
            w = v1.get_variable("w", w_start.shape, tf.float32, v1.constant_initializer(w_start))
            b = v1.get_variable("b", b_start.shape, tf.float32, v1.constant_initializer(b_start))
        return tf.tanh(tf.einsum("ij,jk->ik", x, w) + b)

    def loss_of(again):
        codes = layer(nodes["x1"], again) - layer(nodes["x2"], True)
        d = tf.einsum("ij,ij->i", codes, codes)
        error = d - nodes["y"]
        return d, tf.tensordot(error, error, 1) / tf.cast(tf.size(error), tf.float32)

    with graph.as_default():
        for key, shape in {"x1": [None, w_start.shape[0]], "x2": [None, w_start.shape[0]], "y": [None]}.items():
            nodes[key] = v1.placeholder(tf.float32, shape, name=key)
        nodes["distance"], nodes["loss"] = loss_of(None)
        variables = v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES, scope="encoder")
        w, b = sorted(variables, key=lambda v: v.name, reverse=True)
        nodes["grad_w"], nodes["grad_b"] = v1.gradients(nodes["loss"], (w, b))
        new_w, new_b = w - learning_rate * nodes["grad_w"], b - learning_rate * nodes["grad_b"]
        with tf.control_dependencies([new_w, new_b]):
            moved = [v1.assign(w, new_w), v1.assign(b, new_b)]
        with tf.control_dependencies([tf.group(*moved)]):
            nodes["step"] = loss_of(True)[1]
        nodes["init"] = tf.group(w.initializer, b.initializer)
    return graph, nodes
""",
}

WRONG = [
    Wrong("wrong_batch_size_fixed", "The placeholders take four rows.")
    .expect(test_build_graph="failed:graph-placeholder-does-not-fit")
    .breaks("Every run may feed a batch of another size")
    .edit('"float32", (None, n), "x1"', '"float32", (4, n), "x1"'),
    Wrong("wrong_targets_in_a_column", "y is a column.")
    .expect(test_build_graph="failed:graph-placeholder-does-not-fit")
    .breaks("is one for `(batch,)`")
    .edit('"float32", (None,), "y"', '"float32", (None, 1), "y"'),
    Wrong("wrong_no_reuse", "The scope does not reuse.")
    .expect(test_build_graph="failed:graph-variable-asked-for-twice")
    .base("one_pass")
    .edit('layer(nodes["x2"], True)', 'layer(nodes["x2"], None)'),
    Wrong("wrong_default_graph", "Everything goes into one global graph.")
    .expect(test_build_graph="failed:graph-variable-asked-for-twice")
    .breaks("It returns the tuple `(graph, nodes)`")
    .edit("def build_graph", "ONLY = tf.Graph()\n\n\ndef build_graph")
    .edit("with tf.Graph().as_default() as graph", "with ONLY.as_default() as graph"),
    Wrong("wrong_two_encoders", "Each input has variables of its own.")
    .expect(test_build_graph="failed:graph-second-input-apart")
    .breaks("exactly two trainable variables")
    .edit("v1.variables_initializer([w, b])", "v1.global_variables_initializer()")
    .edit("            code2 = tf.nn.tanh(x2 @ w + b)", "            code2 = tf.nn.tanh(x2 @ w2 + b2)")
    .edit(
        "        x1 = v1.placeholder(",
        "        w2 = tf.Variable(w_start)\n        b2 = tf.Variable(b_start)\n        x1 = v1.placeholder(",
    ),
    Wrong("wrong_third_variable", "A counter is trainable.")
    .expect(test_build_graph="partial:graph-more-variables")
    .edit(
        "        x1 = v1.placeholder(",
        ("        steps = v1.get_variable('steps', initializer=0.0)\n        x1 = v1.placeholder("),
    ),
    Wrong("wrong_names", "The scope has another name.")
    .expect(test_build_graph="partial:graph-variables-by-other-names")
    .edit('variable_scope("encoder")', 'variable_scope("net")'),
    Wrong("wrong_second_input_constant", "The second input meets the start values.")
    .expect(test_build_graph="failed:graph-second-input-apart")
    .breaks("Both inputs pass through them")
    .edit("tf.nn.tanh(x2 @ w + b)", "tf.nn.tanh(x2 @ w_start + b_start)"),
    Wrong("wrong_no_control_dependency", "Nothing makes the loss wait for the updates.")
    .expect(test_build_graph="partial:graph-step-does-not-update")
    .breaks('To run `nodes["step"]`, and nothing else')
    .edit("with graph.control_dependencies([train])", 'with tf.name_scope("after")'),
    Wrong("wrong_identity_of_the_loss", "The loss of before waits for the updates.")
    .expect(test_build_graph="partial:graph-step-gives-the-old-loss")
    .breaks("is the loss of the same batch after the step")
    .edit("after = forward()[1]", "after = tf.identity(loss)"),
    Wrong("wrong_uphill", "The gradients are added.")
    .expect(test_build_graph="partial:graph-step-uphill")
    .edit("GradientDescentOptimizer(learning_rate)", "GradientDescentOptimizer(-learning_rate)"),
    Wrong("wrong_only_w", "Only w moves.")
    .expect(test_build_graph="partial:graph-only-w-is-updated")
    .edit("apply_gradients(pairs)", "apply_gradients(pairs[:1])"),
    Wrong("wrong_last_update_only", "The loss waits for the last update of a loop.")
    .expect(test_build_graph="partial:graph-only-b-is-updated")
    .edit(
        "        train = optimizer.apply_gradients(pairs)\n",
        "        for pair in pairs:\n            train = optimizer.apply_gradients([pair])\n",
    ),
    Wrong("wrong_last_assignment_only", "The loss waits for the last of two assignments.")
    .expect(test_build_graph="partial:graph-only-b-is-updated")
    .base("one_pass")
    .edit("tf.group(*moved)", "moved[-1]"),
    Wrong("wrong_learning_rate_ignored", "The whole gradient is subtracted.")
    .expect(test_build_graph="partial:graph-learning-rate-not-used")
    .edit("GradientDescentOptimizer(learning_rate)", "GradientDescentOptimizer(1.0)"),
    Wrong("wrong_one_after_the_other", "b follows the gradient at the new w.")
    .expect(test_build_graph="partial:graph-updates-one-after-the-other")
    .edit(
        "train = optimizer.apply_gradients(pairs)",
        """with tf.control_dependencies([optimizer.apply_gradients(pairs[:1])]):
            late = optimizer.compute_gradients(forward()[1], [b])
        train = optimizer.apply_gradients(late)""",
    ),
    Wrong("wrong_gradient_of_distance", "The distances are differentiated.")
    .expect(test_build_graph="failed:graph-gradient-of-the-distances")
    .breaks("are the gradients of the loss")
    .edit("compute_gradients(loss, [w, b])", "compute_gradients(distance, [w, b])"),
    Wrong("wrong_loss_over_pairs", "A column of distances meets a row of targets.")
    .expect(test_build_graph="failed:graph-loss-over-all-pairs")
    .breaks("is the tensor of the distances")
    .edit("d = tf.reduce_sum(tf.square(code1 - code2), 1)", "d = tf.reduce_sum(tf.square(code1 - code2), 1, True)")
    .edit("return d, tf", "return d[:, 0], tf"),
    Wrong("wrong_loss_over_pairs_squeezed", "The same, squeezed after the loss.")
    .expect(test_build_graph="failed:graph-loss-over-all-pairs")
    .edit(
        "            return d, tf.reduce_mean(tf.math.squared_difference(d, y))",
        "            d = tf.expand_dims(d, -1)\n            return tf.squeeze(d, -1), tf.reduce_mean((y - d) ** 2)",
    ),
    Wrong("wrong_graph_linear", "No tanh.")
    .expect(test_build_graph="failed:graph-without-tanh")
    .breaks("is the tensor of the distances")
    .edit("tf.nn.tanh(x1 @ w + b)", "x1 @ w + b")
    .edit("tf.nn.tanh(x2 @ w + b)", "x2 @ w + b"),
    Wrong("wrong_loss_sum", "The loss is a sum.")
    .expect(test_build_graph="failed:graph-loss-is-a-sum")
    .edit("tf.reduce_mean(tf.math.squared_difference(d, y))", "tf.reduce_sum(tf.math.squared_difference(d, y))"),
    Wrong("wrong_distance_mean", "The distance is a mean.")
    .expect(test_build_graph="failed:graph-distance-is-a-mean")
    .breaks("is the tensor of the distances")
    .edit("tf.reduce_sum(tf.square(code1 - code2), 1)", "tf.reduce_mean(tf.square(code1 - code2), 1)"),
    Wrong("wrong_distance_root", "The distance is not squared.")
    .expect(test_build_graph="failed:graph-distance-has-a-root")
    .edit("tf.reduce_sum(tf.square(code1 - code2), 1)", "tf.sqrt(tf.reduce_sum(tf.square(code1 - code2), 1))"),
    Wrong("wrong_zeros", "The variables start at zero.")
    .expect(test_build_graph="failed:graph-starts-elsewhere")
    .breaks("is an operation that sets them")
    .edit("v1.constant_initializer(w_start)", "v1.zeros_initializer()")
    .edit("v1.constant_initializer(b_start)", "v1.zeros_initializer()"),
    Wrong("wrong_init_of_w_alone", "b is never initialized.")
    .expect(test_build_graph="failed:graph-init-does-not-initialize")
    .edit("v1.variables_initializer([w, b])", "v1.variables_initializer([w])"),
    Wrong("wrong_init_once", "What has a value keeps it.")
    .expect(test_build_graph="partial:graph-init-keeps-what-was-trained")
    .breaks("is an operation that sets them")
    .edit(
        "        nodes = dict(x1=",
        """        def begin(variable):
            assign = lambda: tf.identity(variable.assign(variable.initial_value))
            return tf.cond(v1.is_variable_initialized(variable), lambda: variable.read_value(), assign)

        begun = tf.group(begin(w), begin(b))
        nodes = dict(x1=""",
    )
    .edit("v1.variables_initializer([w, b])", "begun"),
    Wrong("wrong_init_once_counted", "A flag remembers that the variables have been set.")
    .expect(test_build_graph="partial:graph-init-keeps-what-was-trained")
    .base("one_pass")
    .edit(
        '        nodes["init"] = tf.group(w.initializer, b.initializer)\n',
        """        with v1.variable_scope("flags"):
            ready = v1.get_variable("ready", initializer=False, trainable=False)

        def first():
            with tf.control_dependencies([w.assign(w_start), b.assign(b_start)]):
                return tf.identity(ready.assign(True))

        is_new = tf.logical_not(v1.is_variable_initialized(ready))
        nodes["init"] = tf.cond(is_new, first, lambda: tf.constant(True)).op
""",
    ),
]
