"""The mistakes that students make in a7, each as a small edit of the reference, with the words that a student reads.

Words say what was seen, why it matters and where to look. They do not say what to write. A fault without edits is
named by the check that sees it, or by its exception.
"""

from __future__ import annotations

from autograder.judge import Fault

GRAPH = ("test_build_graph",)
SESSION = ("test_run_training",)
TAPE = ("test_train_with_tape",)
STEP = ("test_make_step",)
NORMS = ("test_row_norms",)
DATASET = ("test_make_dataset",)
TOWERS = ("test_two_towers",)
EXPORT = ("test_export_encoder",)

UNINITIALIZED = r"(?s)FailedPreconditionError.*([Uu]ninitialized|Could not find variable)"

INDISTINGUISHABLE = [
    (
        "init for each batch",
        "a session for each batch",
        "in both the variables begin anew: one id, session-begins-anew",
    ),
    (
        "a step that is not compiled",
        "a tf.function made in each call",
        "in both Python runs loss_fn in each call: one id, step-python-in-each-call",
    ),
    (
        "a shuffle in front of the cache",
        "reshuffle_each_iteration=False",
        "both repeat one order: one id, dataset-same-order-each-epoch",
    ),
    (
        "the loss computed outside the tape",
        "w turned into an array on the way",
        "nothing that is recorded leads to w, and the optimizer says so: one id, tape-does-not-see-the-weights",
    ),
]

BUILD_GRAPH = [
    Fault(
        "graph-placeholder-does-not-fit",
        cell="build_graph",
        raises=r"Cannot feed value of shape",
        words="A batch cannot be fed, because the placeholder has been declared with another shape. A "
        "placeholder takes what fits its shape, and a size that is fixed there is fixed for good. Look at "
        "the shapes of the three placeholders: the number of dimensions, and which sizes are left open.",
        tests=GRAPH,
    ),
    Fault(
        "graph-variable-asked-for-twice",
        cell="build_graph",
        raises=r"ValueError: Variable \S+ already exists",
        words="`get_variable` is asked a second time for a variable that its graph has already, and its scope "
        "does not reuse variables. Both inputs pass through the layer, so the code that gets the variables "
        "may run twice. Look at the scope in the second run, and at whether the graph is a new one.",
        tests=GRAPH,
    ),
    Fault(
        "graph-more-variables",
        cell="build_graph",
        words="The graph has more trainable variables than a w and a b. Whoever trains a graph trains all of "
        "them, and a copy of the encoder would drift away from the first. Look at each line that makes a "
        "variable, and how often it runs.",
        tests=GRAPH,
    ),
    Fault(
        "graph-variables-by-other-names",
        cell="build_graph",
        words="The graph has two trainable variables, under other names than encoder/w and encoder/b. A "
        "checkpoint is read by name, so a name is part of what a graph promises. Look at the scope and at "
        "the names that you give.",
        tests=GRAPH,
        minor=True,
    ),
    Fault(
        "graph-second-input-apart",
        cell="build_graph",
        edits={"encode(x1) - encode(x2)": "encode(x1) - tf.tanh(tf.matmul(x2, w_start) + b_start)"},
        words="Your gradients lack the part of the second input. It meets the start values, but not in the "
        "variables that the first one passes through: in constants, or in copies. That looks right until "
        "the first step, and then the two encoders are different ones. Look at what x2 is multiplied by.",
        tests=GRAPH,
    ),
    Fault(
        "graph-step-does-not-update",
        cell="build_graph",
        edits={"tf.control_dependencies(updates)": "tf.control_dependencies([])"},
        words="To run `step` changes no variable. A session runs what the fetched node depends on and nothing "
        "else; updates that stand beside it in the graph are not run. Look at what `step` depends on.",
        tests=GRAPH,
    ),
    Fault(
        "graph-step-gives-the-old-loss",
        cell="build_graph",
        edits={"            _, step = network()": "            step = tf.identity(loss)"},
        words="`step` updates the variables, and its value is the loss before the update. A control dependency "
        "makes new operations wait; the operations that read the variables for `loss` are older, and have "
        "run by then. Look at which operations are made inside the block.",
        tests=GRAPH,
    ),
    Fault(
        "graph-step-uphill",
        cell="build_graph",
        edits={"w.assign_sub(": "w.assign_add(", "b.assign_sub(": "b.assign_add("},
        words="Your step goes up the slope: the learning rate times the gradient is added. Look at the sign of "
        "the updates.",
        tests=GRAPH,
    ),
    Fault(
        "graph-only-w-is-updated",
        cell="build_graph",
        edits={", b.assign_sub(learning_rate * grad_b)]": "]"},
        words="A step changes w and leaves b as it was. Look at which updates `step` depends on.",
        tests=GRAPH,
    ),
    Fault(
        "graph-only-b-is-updated",
        cell="build_graph",
        edits={"[w.assign_sub(learning_rate * grad_w), ": "["},
        words="A step changes b and leaves w as it was. A session runs what the fetched node depends on and nothing "
        "else: an update that `step` does not wait for is not run. Look at which updates `step` depends on.",
        tests=GRAPH,
    ),
    Fault(
        "graph-learning-rate-not-used",
        cell="build_graph",
        edits={"w.assign_sub(learning_rate * grad_w)": "w.assign_sub(grad_w)", "(learning_rate * grad_b)": "(grad_b)"},
        words="Your step subtracts the whole gradient. The learning rate has no effect. Look at what is subtracted.",
        tests=GRAPH,
    ),
    Fault(
        "graph-updates-one-after-the-other",
        cell="build_graph",
        edits={
            "        updates = [w.assign_sub(learning_rate * grad_w), b.assign_sub(learning_rate * grad_b)]\n": (
                "        first = w.assign_sub(learning_rate * grad_w)\n"
                "        with tf.control_dependencies([first]):\n"
                "            second = b.assign_sub(learning_rate * tf.gradients(network()[1], b)[0])\n"
                "        updates = [first, second]\n"
            )
        },
        words="The gradient for b is taken after w has changed. Both belong to one point; else the step follows "
        "no gradient of the loss. Look at when each of the two is computed.",
        tests=GRAPH,
    ),
    Fault(
        "graph-gradient-of-the-distances",
        cell="build_graph",
        edits={"tf.gradients(loss, [w, b])": "tf.gradients(distance, [w, b])"},
        words="Your gradients are those of the distances, added over the rows, and not of the loss. "
        "`tf.gradients` differentiates the sum of what it is given first. Look at that argument.",
        tests=GRAPH,
    ),
    Fault(
        "graph-loss-over-all-pairs",
        cell="build_graph",
        edits={"tf.reduce_mean((distance - y) ** 2)": "tf.reduce_mean((distance[:, tf.newaxis] - y) ** 2)"},
        words="Your loss compares the distance of each row with the targets of all rows: it is a mean over all pairs. "
        "A difference of the shapes `(batch, 1)` and `(batch,)` has the shape `(batch, batch)`, without a word. Look "
        "at the shapes of what you subtract.",
        tests=GRAPH,
    ),
    Fault(
        "graph-without-tanh",
        cell="build_graph",
        edits={"return tf.tanh(tf.matmul(x, w) + b)": "return tf.matmul(x, w) + b"},
        words="Your distances are those of codes without tanh. Look at the last operation of the encoder.",
        tests=GRAPH,
    ),
    Fault(
        "graph-loss-is-a-sum",
        cell="build_graph",
        edits={"tf.reduce_mean((distance - y) ** 2)": "tf.reduce_sum((distance - y) ** 2)"},
        words="Your loss is a sum over the rows; the text asks for their mean. The gradients then grow with the "
        "batch. Look at how the squares become one number.",
        tests=GRAPH,
    ),
    Fault(
        "graph-distance-is-a-mean",
        cell="build_graph",
        edits={
            "tf.reduce_sum((encode": "tf.reduce_mean((encode",
        },
        words="Your distance is the mean of the squares over the units; the text asks for their sum. Look at how "
        "the squares of a row become one number.",
        tests=GRAPH,
    ),
    Fault(
        "graph-distance-has-a-root",
        cell="build_graph",
        edits={"** 2, axis=1)": "** 2, axis=1) ** 0.5"},
        words="Your distance is the root of the sum of the squares. The text asks for the sum itself. Look at "
        "the last step of the distance.",
        tests=GRAPH,
    ),
    Fault(
        "graph-starts-elsewhere",
        cell="build_graph",
        edits={"initializer=w_start)": "initializer=0 * w_start)", "initializer=b_start)": "initializer=0 * b_start)"},
        words="After `init` the variables are zero. The text asks for w_start and b_start; from zeros, both "
        "inputs have the same code, and no gradient ever changes that. Look at the initializers.",
        tests=GRAPH,
    ),
    Fault(
        "graph-init-keeps-what-was-trained",
        cell="build_graph",
        edits={
            "v1.global_variables_initializer()}": (
                "tf.group([tf.cond(v1.is_variable_initialized(v), lambda v=v: tf.identity(v), "
                "lambda v=v, s=s: tf.identity(v.assign(s))) for v, s in ((w, w_start), (b, b_start))])}"
            )
        },
        words="When `init` runs a second time, after steps, the variables keep what the steps made of them. The text "
        "asks for w_start and b_start then too: whoever repeats a run in one session begins with `init`. Look at what "
        "`init` does with a variable that has a value.",
        tests=GRAPH,
    ),
    Fault(
        "graph-init-does-not-initialize",
        cell="build_graph",
        raises=UNINITIALIZED,
        words="After `init` has run, a variable has no value. In a graph a variable is empty until its "
        "initializer has run in the session. Look at what `init` depends on, and whether all variables "
        "existed when it was made.",
        tests=GRAPH,
    ),
]

RUN_TRAINING = [
    Fault(
        "session-without-init",
        cell="run_training",
        raises=UNINITIALIZED,
        words="A variable is read that has no value yet. In a new session all variables are empty until they are "
        "initialized. Look at what runs first.",
        tests=SESSION,
    ),
    Fault(
        "session-begins-anew",
        cell="run_training",
        edits={
            '        session.run(nodes["init"])\n        for batch in batches:\n': (
                '        for batch in batches:\n            session.run(nodes["init"])\n'
            )
        },
        words="Every batch is trained on from the start values. Either the variables are initialized for each "
        "batch, or each batch has a session of its own: the values live in a session and go with it. Look "
        "at what stands inside the loop.",
        tests=SESSION,
    ),
    Fault(
        "session-of-another-graph",
        cell="run_training",
        raises=r"is not an element of this graph|The Session graph is empty",
        words="The session was opened on another graph than the one that you are given. Without an argument it "
        "takes the default graph. Look at how the session is made.",
        tests=SESSION,
    ),
    Fault(
        "session-changes-the-graph",
        cell="run_training",
        raises=r"Graph is finalized and cannot be modified",
        words="Your code adds an operation to the graph. In a training loop that makes the graph grow with every "
        "batch; here the graph is finalized to show it. Look for calls of TensorFlow that make a node "
        "where a ready one could be run.",
        tests=SESSION,
    ),
    Fault(
        "session-loss-and-step-in-one-run",
        cell="run_training",
        edits={
            (
                '            losses.append(float(session.run(nodes["loss"], feed)))\n'
                '            session.run(nodes["train"], feed)\n'
            ): (
                '            loss, _ = session.run([nodes["loss"], nodes["train"]], feed)\n'
                "            losses.append(float(loss))\n"
            )
        },
        words="The loss and the step are asked for in one run, whose order the graph chooses. Where the loss reads w "
        "late, you get the loss after the step. Look at what each run fetches.",
        tests=SESSION,
    ),
    Fault(
        "session-loss-after-the-step",
        cell="run_training",
        edits={
            (
                '            losses.append(float(session.run(nodes["loss"], feed)))\n'
                '            session.run(nodes["train"], feed)\n'
            ): (
                '            session.run(nodes["train"], feed)\n'
                '            losses.append(float(session.run(nodes["loss"], feed)))\n'
            )
        },
        words="Each of your losses is that of its batch after the step. The text asks for the loss that the step "
        "was computed from. Look at the order of the two runs.",
        tests=SESSION,
    ),
    Fault(
        "session-feeds-x-and-y-alone",
        cell="run_training",
        edits={"for name, value in batch.items()}": 'for name, value in batch.items() if name in ("x", "y")}'},
        words="Of each batch you feed x and y alone. Another placeholder that the batch names keeps its default, "
        "without a word. Look at which names are fed.",
        tests=SESSION,
    ),
    Fault(
        "session-feeds-of-earlier-batches",
        cell="run_training",
        edits={
            "    losses = []\n": "    losses, feed = [], {}\n",
            "feed = {nodes[name]: value for name, value in batch.items()}": (
                "feed |= {nodes[name]: value for name, value in batch.items()}"
            ),
        },
        words="What one batch feeds is fed with the later ones too, if they do not name that placeholder. It should "
        "then have its default again. Look at where your dict of feeds begins.",
        tests=SESSION,
    ),
    Fault(
        "session-losses-not-floats",
        cell="run_training",
        words="Your losses are numbers of NumPy, or tensors. The text asks for Python floats; `json`, for one, refuses "
        "the others. Look at what you put into the list.",
        tests=SESSION,
    ),
    Fault(
        "session-trains-twice",
        cell="run_training",
        edits={
            '            session.run(nodes["train"], feed)\n': (
                '            session.run(nodes["train"], feed)\n            session.run(nodes["train"], feed)\n'
            )
        },
        words="Two steps are made for each batch. Every run that fetches `train` makes one. Look at all runs in "
        "the loop.",
        tests=SESSION,
    ),
    Fault(
        "session-never-trains",
        cell="run_training",
        edits={'            session.run(nodes["train"], feed)\n': ""},
        words="No step is made: all losses are those of the start values. A session runs what is fetched and "
        "what that needs; the loss does not need the training step. Look at what is fetched.",
        tests=SESSION,
    ),
]

TRAIN_WITH_TAPE = [
    Fault(
        "tape-input-not-watched",
        cell="train_with_tape",
        edits={"            tape.watch(x1)\n": ""},
        raises=r"'NoneType' object has no attribute 'numpy'",
        words="The gradient with respect to the input is None. A tape records what depends on something it "
        "watches: trainable variables by themselves, tensors only if it is told to before they are used. "
        "Look at what the tape watches.",
        tests=TAPE,
    ),
    Fault(
        "tape-asked-twice",
        cell="train_with_tape",
        raises=r"non-persistent GradientTape can only be used to compute one set of gradients",
        words="A tape is asked for gradients a second time. It lets go of what it has recorded after the first "
        "time, unless it is made persistent. Look at how many calls of `gradient` there are, and whether "
        "one could do.",
        tests=TAPE,
    ),
    Fault(
        "tape-does-not-see-the-weights",
        cell="train_with_tape",
        raises=r"No gradients provided for any variable",
        words="The optimizer gets None for w and b. Nothing that the tape has recorded leads from them to the "
        "loss: it was computed outside the tape, or from values taken out of the variables. Look at what "
        "stands inside the `with` block, and what goes into the loss.",
        tests=TAPE,
    ),
    Fault(
        "tape-gradients-add-up",
        cell="train_with_tape",
        edits={
            "    losses, sensitivities = [], []\n": "    losses, sensitivities, sums = [], [], [0, 0]\n",
            "[(grad_w, w), (grad_b, b)]": "[(sums[0], w), (sums[1], b)]",
            "tape.gradient(loss, [w, b, x1])\n": (
                "tape.gradient(loss, [w, b, x1])\n        sums = [sums[0] + grad_w, sums[1] + grad_b]\n"
            ),
        },
        words="Your second step uses the gradients of the first batch and of the second, added. In TensorFlow "
        "nothing adds them up by itself: a loss or gradients are carried from batch to batch. Look at what "
        "is set before the loop and what inside it.",
        tests=TAPE,
    ),
    Fault(
        "tape-loss-after-the-step",
        cell="train_with_tape",
        edits={"losses.append(float(loss))": "losses.append(float(siamese_loss(w, b, x1, x2, y)))"},
        words="Your losses are those after the steps. The text asks for the loss that the gradients come from. "
        "Look at which loss is appended.",
        tests=TAPE,
    ),
    Fault(
        "tape-sensitivity-after-the-step",
        cell="train_with_tape",
        edits={
            "        sensitivities.append(grad_x1.numpy())": (
                "        with tf.GradientTape() as tape:\n"
                "            tape.watch(x1)\n"
                "            loss = siamese_loss(w, b, x1, x2, y)\n"
                "        sensitivities.append(tape.gradient(loss, x1).numpy())"
            )
        },
        words="Your sensitivities are taken after the step, with other weights than the loss. Look at what is "
        "computed before `apply_gradients` and what after it.",
        tests=TAPE,
    ),
    Fault(
        "tape-sensitivity-of-the-other-input",
        cell="train_with_tape",
        edits={
            "            tape.watch(x1)\n": "            tape.watch(x2)\n",
            "[w, b, x1])": "[w, b, x2])",
        },
        words="Your sensitivities are the gradients with respect to x2. The text asks for x1. Look at what the "
        "tape is asked for.",
        tests=TAPE,
    ),
    Fault(
        "tape-sensitivity-times-input",
        cell="train_with_tape",
        edits={"grad_x1.numpy()": "(grad_x1 * x1).numpy()"},
        words="Your sensitivities are the gradients with respect to x1 times x1. The text asks for the gradients "
        "alone; where x1 is 1, as in the example, nobody sees the difference. Look at what is appended.",
        tests=TAPE,
    ),
    Fault(
        "tape-sensitivity-without-sign",
        cell="train_with_tape",
        edits={"grad_x1.numpy()": "np.abs(grad_x1.numpy())"},
        words="Your sensitivities are right but for their signs: none is negative. The text asks for the gradient, and "
        "its sign says whether the loss rises or falls with an entry. Look at what is appended.",
        tests=TAPE,
    ),
    Fault(
        "tape-sensitivities-as-tensors",
        cell="train_with_tape",
        words="Your sensitivities are tensors. The text asks for arrays, which can be plotted and kept without "
        "TensorFlow. Look at what you put into the list.",
        tests=TAPE,
        minor=True,
    ),
    Fault(
        "tape-losses-not-floats",
        cell="train_with_tape",
        words="Your losses are numbers of NumPy, or tensors. The text asks for Python floats; `json`, for one, refuses "
        "the others. Look at what you put into the list.",
        tests=TAPE,
    ),
    Fault(
        "tape-only-w-is-trained",
        cell="train_with_tape",
        edits={"[(grad_w, w), (grad_b, b)]": "[(grad_w, w)]"},
        words="A step changes w and leaves b as it was. Look at the pairs that the optimizer is given.",
        tests=TAPE,
    ),
    Fault(
        "tape-step-for-each-variable",
        cell="train_with_tape",
        edits={
            "        optimizer.apply_gradients([(grad_w, w), (grad_b, b)])\n": (
                "        optimizer.build([w, b])\n"
                "        optimizer.apply_gradients([(grad_w, w)])\n"
                "        optimizer.apply_gradients([(grad_b, b)])\n"
            )
        },
        words="For each batch the optimizer counts two steps, one for w and one for b. A learning rate that falls with "
        "the steps then falls too fast, and Adam corrects its means by the wrong count. Look at how often gradients "
        "are applied in a round of the loop.",
        tests=TAPE,
    ),
    Fault(
        "tape-step-taken-twice",
        cell="train_with_tape",
        edits={
            "        losses.append(float(loss))\n": (
                "        optimizer.apply_gradients([(grad_w, w), (grad_b, b)])\n        losses.append(float(loss))\n"
            )
        },
        words="The optimizer takes two steps with the same gradients. Look at how often gradients are applied in "
        "a round of the loop.",
        tests=TAPE,
    ),
    Fault(
        "tape-optimizer-not-used",
        cell="train_with_tape",
        edits={
            "optimizer.apply_gradients([(grad_w, w), (grad_b, b)])": (
                "[v.assign_sub(optimizer.learning_rate * g) for g, v in ((grad_w, w), (grad_b, b))]"
            )
        },
        words="Your steps subtract the learning rate times the gradient, whatever the optimizer is. Its momentum "
        "is lost: the first step is right and the later ones are too short. Look at who makes the step.",
        tests=TAPE,
    ),
    Fault(
        "tape-gradients-of-the-sum",
        cell="train_with_tape",
        edits={
            "            loss = siamese_loss(w, b, x1, x2, y)\n": (
                "            loss = siamese_loss(w, b, x1, x2, y)\n            total = loss * len(y)\n"
            ),
            "tape.gradient(loss, [w, b, x1])": "tape.gradient(total, [w, b, x1])",
        },
        words="Your gradients are as many times too large as the batch has rows: they are those of the sum over "
        "the rows. Look at what is differentiated.",
        tests=TAPE,
    ),
]

RATE_AS_TENSOR = "compiled(x, y, tf.cast(learning_rate, tf.float32))"
MAKE_STEP = [
    Fault(
        "step-python-in-each-call",
        cell="make_step",
        edits={"    @tf.function(input_signature=signature)\n": ""},
        words="In every call Python runs loss_fn again. Either the step is not compiled, or a new `tf.function` "
        "is made in each call: a traced graph belongs to the function object that was traced, and is lost "
        "with it. Look at where that object is made.",
        tests=STEP,
    ),
    Fault(
        "step-retraced-for-shapes",
        cell="make_step",
        edits={
            "    @tf.function(input_signature=signature)\n": "    @tf.function\n",
            "compiled(x, y, learning_rate)\n        history": f"{RATE_AS_TENSOR}\n        history",
        },
        words="Your function is traced again for each new batch size. Unless it is told otherwise, `tf.function` "
        "takes the shape of an argument for fixed, and a smaller last batch costs a new graph in the "
        "middle of the epoch. Look at what the function knows of its arguments before the first call.",
        tests=STEP,
    ),
    Fault(
        "step-retraced-once-more",
        cell="make_step",
        edits={
            "    @tf.function(input_signature=signature)\n": "    @tf.function(reduce_retracing=True)\n",
            "compiled(x, y, learning_rate)\n        history": f"{RATE_AS_TENSOR}\n        history",
        },
        words="Your function is traced twice: for the first batch size, and with open shapes when the second one "
        "comes. The text asks for one trace. Look at what the function knows of its arguments before the "
        "first call.",
        tests=STEP,
    ),
    Fault(
        "step-retraced-for-numbers",
        cell="make_step",
        edits={"    @tf.function(input_signature=signature)\n": "    @tf.function\n"},
        words="Your function is traced again for each new learning rate. A Python number becomes a constant of "
        "the graph, so another number needs another graph; with a schedule that is one graph for each "
        "step. Look at the type with which the learning rate enters the traced function.",
        tests=STEP,
    ),
    Fault(
        "step-refuses-an-int",
        cell="make_step",
        raises=r"Can not cast TensorSpec\(shape=\(\), dtype=tf\.int32.* to TensorSpec\(shape=\(\), dtype=tf\.float32|"
        r"cannot compute __inference_\w+ as input #\d+\(zero-based\) was expected to be a float tensor but is a int32",
        words="A call with an int as learning rate raises. As a tensor an int is int32, and the traced function takes "
        "float32; TensorFlow does not turn one into the other by itself. Look at the dtype with which the learning "
        "rate enters the traced function.",
        tests=STEP,
    ),
    Fault(
        "step-uphill",
        cell="make_step",
        edits={"variable.assign_sub(": "variable.assign_add("},
        words="Your step goes up the slope: the learning rate times the gradient is added. Look at the sign of the "
        "update.",
        tests=STEP,
    ),
    Fault(
        "step-history-while-tracing",
        cell="make_step",
        edits={
            "            loss = loss_fn(x, y)\n": "            loss = loss_fn(x, y)\n        history.append(loss)\n",
            "        history.append(float(loss))\n": "",
        },
        words="The loss is put into the history while the function is traced. That happens once, and what is "
        "there then is a name for a value of the graph, not a number. Look at which lines Python runs in "
        "each call, and which only when it traces.",
        tests=STEP,
    ),
    Fault(
        "step-history-of-tensors",
        cell="make_step",
        edits={"history.append(float(loss))": "history.append(loss)"},
        words="The history holds tensors. The text asks for Python floats, which can be printed, saved and "
        "plotted without TensorFlow. Look at what is appended.",
        tests=STEP,
        minor=True,
    ),
    Fault(
        "step-history-of-numpy-numbers",
        cell="make_step",
        edits={"history.append(float(loss))": "history.append(loss.numpy())"},
        words="The history holds numbers of NumPy. The text asks for Python floats; `json`, for one, refuses a "
        "`float32`. Look at what is appended.",
        tests=STEP,
        minor=True,
    ),
    Fault(
        "step-history-not-kept",
        cell="make_step",
        words="What stood in `history` before is gone. The list belongs to the caller, who may keep the losses of an "
        "earlier training in it, and `append` leaves them there. Look at each line that changes the list.",
        tests=STEP,
        minor=True,  # the losses themselves are right
    ),
    Fault(
        "step-returns-another-type",
        cell="make_step",
        words="What a step returns is neither a scalar tensor nor a Python float. A number of NumPy looks like one and "
        "is another type; `json`, for one, refuses it. Look at the last line of your function.",
        tests=STEP,
        minor=True,
    ),
    Fault(
        "step-history-missing",
        cell="make_step",
        edits={"        history.append(float(loss))\n": ""},
        words="The history stays empty. Look at what happens with the loss of a call.",
        tests=STEP,
    ),
    Fault(
        "step-keeps-the-first-learning-rate",
        cell="make_step",
        edits={
            "    def step(x, y, learning_rate):\n        loss": (
                "    kept = []\n"
                "\n"
                "    def step(x, y, learning_rate):\n"
                "        kept.append(learning_rate)\n"
                "        learning_rate = kept[0]\n"
                "        loss"
            )
        },
        words="Every step uses the learning rate of the first call. What Python puts into a graph while tracing "
        "stays there. Look at how the learning rate gets into the graph.",
        tests=STEP,
    ),
    Fault(
        "step-shared-between-calls",
        cell="make_step",
        words="The step of a second call of make_step leaves its own variables as they were, while those of the "
        "first have moved. A trace keeps the loss function and the variables that it met. Look at what two "
        "calls of make_step share, and where the traced function lives.",
        tests=STEP,
    ),
    Fault(
        "step-shared-by-loss-function",
        cell="make_step",
        words="Where two calls of make_step get the same loss_fn, the step of the second leaves its own variables as "
        "they were, while those of the first have moved. With two functions each moves its own. One loss may be "
        "trained by several steps, each with variables of its own. Look at what two calls of make_step share.",
        tests=STEP,
    ),
    Fault(
        "step-only-the-first-variable",
        cell="make_step",
        edits={
            "in zip(variables, ": "in zip(variables[:1], ",
            "variables), strict=True)": "variables))",
        },
        words="A step changes the first variable and leaves the others. Look at which variables are updated.",
        tests=STEP,
    ),
]

ROW_NORMS = [
    Fault(
        "norms-nan-at-zero",
        cell="row_norms",
        edits={"tf.math.divide_no_nan(x, norms)": "x / norms"},
        words="A row of zeros receives nan. Its norm is 0, and 0/0 is not a number; one such row, and after the "
        "step all weights are nan. Look at every division in the gradient, also in one whose result is not "
        "used afterwards.",
        tests=NORMS,
    ),
    Fault(
        "norms-squares-out-of-range",
        cell="row_norms",
        edits={"tf.where(largest > 0, largest, 1)": "tf.ones_like(largest)"},
        words="The norms of large rows are infinite, or those of small rows 0. The norm itself would fit, but "
        "the squares on the way to it are beyond the range of float32. Look at the size of what is squared.",
        tests=NORMS,
    ),
    *(
        Fault(
            f"norms-one-scale-for-all{spelling}",
            cell="row_norms",
            edits={"tf.reduce_max(tf.abs(x), axis=1, keepdims=True)": "tf.reduce_max(tf.abs(x))", **more},
            words="Beside a large row the norms of small ones become 0. All rows are divided by one number, which "
            "suits the largest, and the squares of the others are lost. Look at which entries the scale of a row comes "
            "from.",
            tests=NORMS,
            pairs=not more,
        )
        # Where such a norm has become 0, the gradient is x divided by 0 or by 1, or it is 0.
        for spelling, more in (
            ("", {}),
            ("-over-one", {"tf.math.divide_no_nan(x, norms)": "x / tf.where(norms > 0, norms, 1)"}),
        )
    ),
    Fault(
        "norms-gradient-of-extreme-rows",
        cell="row_norms",
        words="The gradient of very large or very small rows is wrong, though their norms are right, and so is the "
        "gradient of rows of moderate size. A direction fits into float32 whatever the norm is; the square of a norm "
        "may not, and a number that is added to it drowns a small norm. Look at the sizes of all numbers in your "
        "gradient.",
        tests=NORMS,
    ),
    Fault(
        "norms-size-not-known",
        cell="row_norms",
        edits={"return norms[:, 0], gradient": "return tf.ones(x.shape[0], x.dtype) * norms[:, 0], gradient"},
        raises=r"Failed to convert elements of \[None|got None of type 'NoneType'|partially known TensorShape|"
        r"'NoneType' object cannot be interpreted as an integer|Cannot infer argument `num`|len is not well defined",
        words="Inside a `tf.function` your code raises: it needs a size of x while the function is traced, and there "
        "the size is not known. What a shape says before the graph runs is None where it was left open. Look at each "
        "place where you read a size.",
        tests=NORMS,
    ),
    Fault(
        "norms-upstream-ignored",
        cell="row_norms",
        edits={"upstream[:, tf.newaxis] * tf.math": "tf.math"},
        words="What comes back to x does not depend on the upstream gradient. The chain rule multiplies by it; "
        "without it the norm works only at the end of a network, as a sum. Look at where your gradient "
        "uses its argument.",
        tests=NORMS,
    ),
    Fault(
        "norms-upstream-summed",
        cell="row_norms",
        edits={"upstream[:, tf.newaxis] * tf.math": "tf.reduce_sum(upstream) * tf.math"},
        words="Every row receives the sum of all upstream gradients. Each norm has one of its own, which belongs "
        "to its row. Look at the shapes of the two factors.",
        tests=NORMS,
    ),
    Fault(
        "norms-gradient-not-divided",
        cell="row_norms",
        edits={"tf.math.divide_no_nan(x, norms)": "x"},
        words="What comes back is the row times the upstream gradient. It should be a direction, a row of length "
        "1: the norm of a long row does not grow faster than that of a short one. Look at the derivative "
        "of the root.",
        tests=NORMS,
    ),
    Fault(
        "norms-no-gradient",
        cell="row_norms",
        raises=r"'NoneType' object has no attribute 'numpy'|to_tensor.*None",
        words="No gradient comes back to x. Nothing that TensorFlow can differentiate leads from x to the norms, "
        "or your gradient returns nothing. Look at what is computed outside TensorFlow, stopped, or not "
        "returned.",
        tests=NORMS,
    ),
]

MAKE_DATASET = [
    Fault(
        "dataset-not-shuffled",
        cell="make_dataset",
        words="The rows come in the order of the arrays. Where they are sorted by class, each batch then teaches "
        "a single class. Look for what brings the rows into another order.",
        tests=DATASET,
    ),
    Fault(
        "dataset-same-order-each-epoch",
        cell="make_dataset",
        words="Two epochs have the same order, so the same rows meet in a batch again and again. An order that "
        "is drawn once and kept is no longer random. Look at what is kept from the first epoch, and when "
        "an order is drawn.",
        tests=DATASET,
    ),
    Fault(
        "dataset-seed-not-used",
        cell="make_dataset",
        words="Two data sets that were made with the same seed have different orders: a run cannot be repeated. "
        "Look at where the seed goes.",
        tests=DATASET,
    ),
    Fault(
        "dataset-seed-ignored",
        cell="make_dataset",
        words="Two data sets that were made with different seeds have the same orders. Look at where the seed goes.",
        tests=DATASET,
    ),
    Fault(
        "dataset-shuffled-after-batch",
        cell="make_dataset",
        words="The same rows are together in a batch in every epoch: batches are shuffled, and not rows. Look at "
        "what an element of the data set is where it is shuffled.",
        tests=DATASET,
    ),
    Fault(
        "dataset-shuffle-buffer-small",
        cell="make_dataset",
        words="No row comes far before its place in the arrays. A shuffle chooses the next row among those in "
        "its buffer; what is not in the buffer yet cannot come. Look at the size of the buffer.",
        tests=DATASET,
    ),
    Fault(
        "dataset-last-batch-dropped",
        cell="make_dataset",
        words="Each epoch lacks the rows that do not fill a batch. They are data as good as the others. Look at "
        "what the batching does with a remainder.",
        tests=DATASET,
    ),
    Fault(
        "dataset-batches-across-epochs",
        cell="make_dataset",
        words="Some batches hold rows of two epochs: the batching has not seen where one epoch ends. Look at the "
        "order of the steps that batch and that repeat.",
        tests=DATASET,
    ),
    Fault(
        "dataset-labels-of-other-rows",
        cell="make_dataset",
        words="Rows come with labels of other rows, and a network learns nothing from them. Look at what brings the "
        "rows into their order, and whether it does the same with the labels.",
        tests=DATASET,
    ),
    Fault(
        "dataset-labels-of-another-type",
        cell="make_dataset",
        words="The labels come in another type than that of y, which is int64. Whoever asks for labels of one type "
        "meets another. Look at what your code does with a label.",
        tests=DATASET,
        minor=True,
    ),
    Fault(
        "dataset-is-no-dataset",
        cell="make_dataset",
        raises=r"has no attribute 'as_numpy_iterator'",
        words="What you return is no `tf.data.Dataset`. A list or a generator of batches gives them in a loop too, but "
        "nobody can add a step to it or go through a generator twice. Look at what you return.",
        tests=DATASET,
    ),
    Fault(
        "dataset-epochs-mixed",
        cell="make_dataset",
        words="Within the first epoch some rows occur twice and others not at all: the epochs are mixed. The "
        "shuffling does not see where one epoch ends. Look at the order of the steps that shuffle and that "
        "repeat.",
        tests=DATASET,
    ),
    Fault(
        "dataset-decodes-in-a-later-pass",
        cell="make_dataset",
        words="Your first pass decodes each row once. A later pass decodes a row more than once. Look at what is kept "
        "from one epoch to the next, and for how long.",
        tests=DATASET,
        minor=True,  # who passes once, as most do, meets nothing of it
    ),
    Fault(
        "dataset-decodes-each-epoch",
        cell="make_dataset",
        words="A row is decoded more than once. Decoding is the slow part, and its result is the same each time. "
        "Look at what keeps it, and where that stands in the chain.",
        tests=DATASET,
    ),
    Fault(
        "dataset-augmentation-cached",
        cell="make_dataset",
        words="In a later epoch a row comes as it was augmented before. What is random must be drawn again, or "
        "the network sees the same rows in every epoch. Look at what is kept from the first epoch.",
        tests=DATASET,
    ),
]

TWO_TOWERS = [
    Fault(
        "towers-variables-misplaced",
        cell="two_towers",
        words="The variables of a tower do not lie on its device. In each call they would have to be copied "
        "there, which TensorFlow does silently. Look at where the variables are made.",
        tests=TOWERS,
    ),
    Fault(
        "towers-operations-misplaced",
        cell="two_towers",
        words="Operations of a tower are not placed on its device. TensorFlow copies what they need without a "
        "word, and one GPU works while the other waits. Look at the lines of the call, and at what "
        "surrounds each of them.",
        tests=TOWERS,
    ),
    Fault(
        "towers-score-misplaced",
        cell="two_towers",
        words="The towers are where they belong, but what is computed from both codes is not placed on GPU:0. "
        "Look at the last lines of the call.",
        tests=TOWERS,
    ),
    Fault(
        "towers-variables-made-in-the-call",
        cell="two_towers",
        raises=r"tf\.function only supports singleton tf\.Variables|creating variables on (a )?non-first call",
        words="Variables are made in the call. Each call would start with new ones, and nothing could be "
        "trained; inside a `tf.function` TensorFlow refuses it. Look at where the variables are made.",
        tests=TOWERS,
    ),
    Fault(
        "towers-score-is-a-mean",
        cell="two_towers",
        edits={"tf.reduce_sum(code1 * code2, axis=1)": "tf.reduce_mean(code1 * code2, axis=1)"},
        words="Your score is the mean of the products over the units; the text asks for their sum. Look at how the "
        "products of a row become one number.",
        tests=TOWERS,
    ),
    Fault(
        "towers-without-tanh",
        cell="two_towers",
        edits={
            "tf.tanh(tf.matmul(x1, self.first[0]) + self.first[1])": "tf.matmul(x1, self.first[0]) + self.first[1]",
            "tf.tanh(tf.matmul(x2, self.second[0]) + self.second[1])": "tf.matmul(x2, self.second[0]) + self.second[1]",
        },
        words="Your scores are those of towers without tanh. Look at the last operation of each tower.",
        tests=TOWERS,
    ),
]

EXPORT_ENCODER = [
    Fault(
        "export-without-the-signature",
        cell="export_encoder",
        raises=r"KeyError: .*encode",
        words='The folder has no signature "encode". A function that nobody names as a signature is saved as a '
        "part of the object, if at all, and a serving program does not find it. Look at the arguments of "
        "`save`.",
        tests=EXPORT,
    ),
    Fault(
        "export-output-by-another-name",
        cell="export_encoder",
        raises=r"KeyError: .*code['\"]*$",
        words='The signature has no output "code". Outputs that have no name get one of TensorFlow\'s. Look at '
        "what the function of the signature returns.",
        tests=EXPORT,
    ),
    Fault(
        "export-does-not-take-the-batch",
        cell="export_encoder",
        raises=r"TypeError: .*(signature|Binding inputs)|InvalidArgumentError.*(shape|compatible)",
        words="The signature refuses a batch. A graph is saved with the shapes and the argument names that it "
        "was traced with, and whoever loads it cannot trace it again. Look at the shape and the name of "
        "its input.",
        tests=EXPORT,
    ),
    Fault(
        "export-batch-size-fixed",
        cell="export_encoder",
        words="The signature says that it takes one batch size alone. Whoever serves the model reads that, and "
        "refuses the others. Look at the shapes that the function was traced with.",
        tests=EXPORT,
    ),
    Fault(
        "export-width-open",
        cell="export_encoder",
        words="The signature does not say how many numbers a row has. Whoever serves the model reads its shape there, "
        "to prepare the rows and to refuse others. Look at both sizes that the function was traced with.",
        tests=EXPORT,
    ),
    Fault(
        "export-loads-an-attribute",
        cell="export_encoder",
        raises=r"_UserObject.* (has no attribute '(?![wb]')|is not callable)",
        words="Your code asks the loaded object for something that it does not have. A folder that others wrote has no "
        "methods of yours: what the text promises is the signature, and the variables w and b. Look at what you take "
        "from the loaded object.",
        tests=EXPORT,
    ),
    Fault(
        "export-variables-missing",
        cell="export_encoder",
        raises=r"AttributeError: .*_UserObject.* has no attribute '[wb]'",
        words="The loaded object has no variable w or b. `save` follows the attributes of the object that it is "
        "given, and finds what hangs there. Look at what is an attribute of it.",
        tests=EXPORT,
    ),
    Fault(
        "export-values-baked-in",
        cell="export_encoder",
        edits={"tf.matmul(x, encoder.w) + encoder.b": "tf.matmul(x, w) + b"},
        words="The codes do not change when w and b of the loaded object change: the signature computes with "
        "constants. An array that is used while tracing is copied into the graph. Look at what the traced "
        "function uses.",
        tests=EXPORT,
    ),
    Fault(
        "export-without-tanh",
        cell="export_encoder",
        edits={"tf.tanh(tf.matmul(x, encoder.w) + encoder.b)": "tf.matmul(x, encoder.w) + encoder.b"},
        words="Your codes are those of an encoder without tanh. Look at the last operation of the signature.",
        tests=EXPORT,
    ),
    Fault(
        "export-codes-as-a-tensor",
        cell="export_encoder",
        words="The function that `load_encoder` returns gives a tensor. The text asks for an array, which can be used "
        "without TensorFlow. Look at what your function returns.",
        tests=EXPORT,
    ),
    Fault(
        "export-last-folder-for-all",
        cell="export_encoder",
        edits={
            "    def encode(x):\n        return np": (
                '    vars(load_encoder)["loaded"] = loaded\n\n    def encode(x):\n'
                "        loaded = load_encoder.loaded\n        return np"
            )
        },
        words="A function that was loaded earlier gives the codes of the folder that was loaded last. Look at "
        "what is shared between two calls of load_encoder.",
        tests=EXPORT,
    ),
]

FAULTS = [
    *BUILD_GRAPH,
    *RUN_TRAINING,
    *TRAIN_WITH_TAPE,
    *MAKE_STEP,
    *ROW_NORMS,
    *MAKE_DATASET,
    *TWO_TOWERS,
    *EXPORT_ENCODER,
]
