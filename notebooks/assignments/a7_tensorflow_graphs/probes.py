"""What the hidden checks of a7 ask: each function is sent as source and runs beside the student's code.

Arrays go in and come back; graphs, sessions, tapes and data sets are made and used here. No right answers stand here.
"""

from __future__ import annotations

import numpy as np  # every probe has it

# --- 1. build_graph -------------------------------------------------------------------------------------------------


def graph_values(ns, w, b, learning_rate, batches):
    """Distance, loss and both gradients of each batch, before any step."""
    import tensorflow.compat.v1 as v1

    graph, nodes = ns.build_graph(w, b, learning_rate)
    found = []
    with v1.Session(graph=graph) as session:
        session.run(nodes["init"])
        for batch in batches:
            feed = {nodes[name]: value for name, value in batch.items()}
            found.append(session.run([nodes[name] for name in ("distance", "loss", "grad_w", "grad_b")], feed))
    return found


def graph_after_steps(ns, w, b, learning_rate, batches):
    """What `step` gives for each batch, with w and b behind each step; the loss of the last one after `init` again."""
    import tensorflow.compat.v1 as v1

    graph, nodes = ns.build_graph(w, b, learning_rate)
    with graph.as_default():
        variables = v1.trainable_variables()
    watched = [next(variable for variable in variables if len(variable.shape) == rank) for rank in (2, 1)]
    found = []
    with v1.Session(graph=graph) as session:
        session.run(nodes["init"])
        for batch in batches:
            feed = {nodes[name]: value for name, value in batch.items()}
            found.append([session.run(nodes["step"], feed), *session.run(watched)])
        session.run(nodes["init"])
        return {"steps": found, "again": session.run(nodes["loss"], feed)}


def graph_with_other_variables(ns, w, b, learning_rate, batch, new_w, new_b):
    """Names of the trainable variables, and the loss after new values were assigned to them by their names."""
    import tensorflow.compat.v1 as v1

    graph, nodes = ns.build_graph(w, b, learning_rate)
    with graph.as_default():
        variables = {variable.op.name: variable for variable in v1.trainable_variables()}
        if set(variables) == {"encoder/w", "encoder/b"}:
            assigned = [v1.assign(variables["encoder/w"], new_w), v1.assign(variables["encoder/b"], new_b)]
    if set(variables) != {"encoder/w", "encoder/b"}:
        return {"names": sorted(variables)}
    with v1.Session(graph=graph) as session:
        session.run(nodes["init"])
        session.run(assigned)
        feed = {nodes[name]: value for name, value in batch.items()}
        return {"names": sorted(variables), "values": session.run([nodes["distance"], nodes["loss"]], feed)}


# --- 2. run_training ------------------------------------------------------------------------------------------------


def session_training(ns, w, learning_rate, batches, finalized=False, late=False):
    """What `run_training` returns for a linear network with two ways in, `scale` having a value where none is fed.

    late: the loss reads w by itself, after a wait that is longer than a step.
    """
    import time

    import tensorflow as tf
    import tensorflow.compat.v1 as v1

    graph = tf.Graph()
    with graph.as_default():
        x, y = v1.placeholder(tf.float32, [None, len(w)]), v1.placeholder(tf.float32, [None])
        scale = v1.placeholder_with_default(np.float32(1), [])
        variable = v1.get_variable("w", initializer=w)
        count = v1.get_variable("count", initializer=np.float32(1))

        def loss_of(value):
            return scale * tf.reduce_mean((tf.linalg.matvec(x, value) - y) ** 2)

        loss = loss_of(variable)
        gradient = v1.gradients(loss, [variable])[0]
        with tf.control_dependencies([gradient]):
            # Later steps are shorter, so that their number and order show.
            counted = count.assign_add(1)
        train = variable.assign_sub(learning_rate * gradient / counted).op
        if late:

            @tf.autograph.experimental.do_not_convert
            def wait(_):
                return tf.numpy_function(lambda: time.sleep(0.1) or np.int64(0), [], tf.int64)

            # A dataset waits in a thread of its own, so that a step can run meanwhile where TensorFlow has one thread.
            waits = v1.data.make_one_shot_iterator(tf.data.Dataset.range(1).repeat().map(wait))
            with tf.control_dependencies([waits.get_next()]):
                loss = loss_of(variable.read_value())
        nodes = {"init": v1.global_variables_initializer(), "train": train, "loss": loss, "w": variable}
        nodes |= {"x": x, "y": y, "scale": scale}
    if finalized:
        graph.finalize()
    losses, after = ns.run_training(graph, nodes, batches)
    return {"losses": losses, "w": after}


# --- 3. train_with_tape ---------------------------------------------------------------------------------------------


def tape_training(ns, w, b, batches, settings, decay=None, again=()):
    """What `train_with_tape` returns, and w and b afterwards. decay: what each step multiplies the learning rate by.

    again: batches of a second call with the same variables and the same optimizer.
    """
    import tensorflow as tf

    variables = tf.Variable(w), tf.Variable(b)
    if decay is not None:
        schedule = tf.keras.optimizers.schedules.ExponentialDecay(settings["learning_rate"], 1, decay)
        settings = settings | {"learning_rate": schedule}
    optimizer = tf.keras.optimizers.SGD(**settings)
    tensors, more = ([tuple(map(tf.constant, batch)) for batch in some] for some in (batches, again))
    losses, sensitivities = ns.train_with_tape(*variables, tensors, optimizer)
    if more:
        ns.train_with_tape(*variables, more, optimizer)
    after = {"w": variables[0].numpy(), "b": variables[1].numpy()}
    return {"losses": losses, "sensitivities": list(sensitivities), "after": after}


# --- 4. make_step ---------------------------------------------------------------------------------------------------


def compiled_steps(ns, w, b, calls, kinds=("float",), arrays=(True,), history=(), typed=False):
    """Losses, history, w and b after each call of `step`, and how often Python ran loss_fn.

    The loss grows with each time that Python runs loss_fn. kinds: what the learning rates are, in turns. arrays:
    whether x and y are arrays or tensors, in turns. history: what the list holds before. typed: a loss that is neither
    a tensor nor a float is told by the name of its type.
    """
    import tensorflow as tf

    variables = [tf.Variable(w), tf.Variable(b)]
    runs, history, returned, after = [], list(history), [], []

    @tf.autograph.experimental.do_not_convert
    def loss_fn(x, y):
        runs.append(1)
        outputs = tf.linalg.matvec(x, variables[0]) + variables[1]
        return tf.reduce_mean((outputs - y) ** 2) * float(2 ** (len(runs) - 1))

    as_kind = {"float": float, "int": int, "tensor": tf.constant}
    step = ns.make_step(loss_fn, variables, history)
    for number, (x, y, learning_rate) in enumerate(calls):
        rate = as_kind[kinds[number % len(kinds)]](learning_rate)
        x, y = (x, y) if arrays[number % len(arrays)] else (tf.constant(x), tf.constant(y))
        loss = step(x, y, rate)
        fits = not typed or type(loss) is float or tf.is_tensor(loss)
        returned.append(np.float32(loss) if fits else type(loss).__name__)
        after.append([variable.numpy() for variable in variables])
    kept = [entry if type(entry) is float else type(entry).__name__ for entry in history]
    return {"returned": returned, "after": after, "history": kept, "runs": np.float64(len(runs))}


def steps_in_turns(ns, starts, calls, one_loss):
    """What two steps of two calls of `make_step` return, called in turns, and their variables afterwards.

    one_loss: both calls get the same loss_fn, which uses the variables of both.
    """
    import tensorflow as tf

    variables = [tf.Variable(start) for start in starts]

    def loss_of(*used):
        @tf.autograph.experimental.do_not_convert
        def loss_fn(x, y):
            weights = sum((number + 1) * variable for number, variable in enumerate(used))
            return tf.reduce_mean((tf.linalg.matvec(x, weights) - y) ** 2)

        return loss_fn

    losses = [loss_of(*variables)] * 2 if one_loss else [loss_of(variable) for variable in variables]
    made = []
    for loss_fn, variable in zip(losses, variables, strict=True):
        history = []
        made.append((variable, history, ns.make_step(loss_fn, [variable], history)))
    returned = [[np.float32(step(*call)) for _, _, step in made] for call in calls]
    return {
        "returned": returned,
        "after": [variable.numpy() for variable, _, _ in made],
        "history": [
            [entry if type(entry) is float else type(entry).__name__ for entry in history] for _, history, _ in made
        ],
    }


# --- 5. row_norms ---------------------------------------------------------------------------------------------------


def norms_and_gradients(ns, x, upstream, compiled=False):
    """The norms of the rows, and what comes back to x from `upstream`."""
    import tensorflow as tf

    def both(x, upstream):
        with tf.GradientTape() as tape:
            tape.watch(x)
            norms = ns.row_norms(x)
        return norms, tape.gradient(norms, x, output_gradients=upstream)

    if compiled:
        dtype = tf.as_dtype(x.dtype)
        both = tf.function(both, input_signature=[tf.TensorSpec([None, None], dtype), tf.TensorSpec([None], dtype)])
    norms, gradient = both(tf.constant(x), tf.constant(upstream))
    return {"norms": norms.numpy(), "gradient": gradient.numpy()}


# --- 6. make_dataset ------------------------------------------------------------------------------------------------


def passes_over_a_dataset(ns, x, y, batch_size, epochs, seeds, passes=1):
    """All batches of one pass, or of some, for each seed. Behind the features of a row stand three columns: how often
    it has been decoded, how often augmented since, and its first feature as `augment` got it.
    """
    import tensorflow as tf

    def one(seed):
        decoded, augmented = {}, {}

        def counted(counts, row):
            number = int(row[0])
            counts[number] = counts.get(number, 0) + 1
            return np.float32(counts[number])

        @tf.autograph.experimental.do_not_convert
        def decode(row):
            times = tf.numpy_function(lambda r: counted(decoded, r), [row], tf.float32)
            times.set_shape([])
            return tf.concat([row, times[tf.newaxis]], axis=0)

        @tf.autograph.experimental.do_not_convert
        def augment(row):
            times = tf.numpy_function(lambda r: counted(augmented, r), [row], tf.float32)
            times.set_shape([])
            return tf.concat([row, times[tf.newaxis], 2 * row[:1]], axis=0)

        dataset = ns.make_dataset(x, y, decode, augment, batch_size, epochs, seed)
        return [batch for _ in range(passes) for batch in dataset.as_numpy_iterator()]

    return [one(seed) for seed in seeds]


def orders_of_a_dataset(ns, n, batch_size, epochs, seed):
    """The numbers of n rows in the order in which one pass gives them."""
    import tensorflow as tf

    @tf.autograph.experimental.do_not_convert
    def same(row):
        return row

    x, y = np.arange(n, dtype=np.float32)[:, np.newaxis], np.arange(n)
    dataset = ns.make_dataset(x, y, same, same, batch_size, epochs, seed)
    return np.concatenate([labels for _, labels in dataset.as_numpy_iterator()])


# --- 7. TwoTowers ---------------------------------------------------------------------------------------------------


def scores_of_towers(ns, first, second, new_first, new_second, batches):
    """Scores of each batch, eager and traced, before and after new values are assigned; the sum of the squares of what
    the module finds to train.
    """
    import tensorflow as tf

    model = ns.TwoTowers(first, second)
    traced = tf.function(lambda x1, x2: model(x1, x2))

    def scores():
        return [[f(tf.constant(x1), tf.constant(x2)).numpy() for f in (model, traced)] for x1, x2 in batches]

    before = scores()
    for variable, value in zip((*model.first, *model.second), (*new_first, *new_second), strict=True):
        variable.assign(value)
    found = sum(np.sum(variable.numpy() ** 2) for variable in model.trainable_variables)
    return {"before": before, "after": scores(), "trainable": np.float32(found)}


def places_of_towers(ns, first, second, x1, x2):
    """Where the variables lie, and on which devices the operations are: those from x1 alone, x2 alone, from both."""
    import tensorflow as tf

    from course_lib.checks.a7_tensorflow_graphs import placed_operations
    from course_lib.virtual_cuda import tensorflow as virtual_gpus

    model = ns.TwoTowers(first, second)
    inputs = tf.constant(x1), tf.constant(x2)
    scores = model(*inputs)
    variables = [[virtual_gpus.placement(v) for v in tower] for tower in (model.first, model.second)]
    return {
        "variables": variables,
        "operations": placed_operations(model, *inputs),
        "result": virtual_gpus.placement(scores),
        "scores": scores.numpy(),
    }


# --- 8. export_encoder, load_encoder --------------------------------------------------------------------------------


def codes_of_an_export(ns, w, b, batches, new_w=None, new_b=None):
    """What the signature of the exported folder gives for each batch; after new values are assigned, if there are."""
    import tempfile

    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        ns.export_encoder(w, b, folder)
        loaded = tf.saved_model.load(folder)
        encode = loaded.signatures["encode"]
        if new_w is not None:
            loaded.w.assign(new_w)
            loaded.b.assign(new_b)
        return [encode(x=tf.constant(x))["code"].numpy() for x in batches]


def input_of_an_export(ns, w, b, x):
    """The shape that the signature asks of its input, and the codes that it gives."""
    import tempfile

    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        ns.export_encoder(w, b, folder)
        loaded = tf.saved_model.load(folder)
        encode = loaded.signatures["encode"]
        shape = encode.structured_input_signature[1]["x"].shape
        shape = None if shape.rank is None else shape.as_list()
        return {"shape": shape, "codes": encode(x=tf.constant(x))["code"].numpy()}


def codes_of_two_encoders(ns, weights, x):
    """What the functions of two folders give, called after both were written."""
    import gc
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        encoders = []
        for number, (w, b) in enumerate(weights):
            place = str(Path(folder) / f"encoder{number}")
            ns.export_encoder(w, b, place)
            encoders.append(ns.load_encoder(place))
        gc.collect()
        return [encode(rows) for rows in (x, x[:1]) for encode in encoders]


def files_of_an_export(ns, w, b):
    """The files of the exported folder."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        ns.export_encoder(w, b, folder)
        found = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): np.fromfile(path, np.uint8) for path in found}


def codes_of_files(ns, files, x):
    """What the function of a folder gives that has these files."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            content.tofile(path)
        return ns.load_encoder(folder)(x)
