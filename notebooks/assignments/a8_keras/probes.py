"""What the judge of a8 runs beside the student's code: build, call, hand back. Nothing here knows a right answer.

Layers and models cannot travel as data, so each probe builds one from arrays, uses it and returns arrays. How models
are built stands in `course_lib`, because the visible checks do the same.
"""

# --- 1. two images, one encoder -------------------------------------------------------------------------------------


def encoder_codes(ns, shape, weights, images):
    """Codes of an encoder with the given weights."""
    from course_lib.checks.a8_keras import plain

    encoder = ns.make_encoder(tuple(shape), weights[0].shape[1], weights[2].shape[1])
    encoder.set_weights(weights)
    return plain(encoder(images))


def encoder_kind(ns, shape):
    import keras

    return isinstance(ns.make_encoder(tuple(shape), 3, 2), keras.Sequential)


def pair_outputs(ns, shape, classes, first, weights, images):
    """Outputs of a model. All of it gets the first weights, then the encoder that was given and the heads others."""
    from course_lib.checks.a8_keras import build_coder, load, plain

    encoder = build_coder(shape, len(weights["coder bias"]))
    model = ns.make_pair_model(encoder, tuple(shape), classes)
    model(images[0])  # a subclass may make its weights here
    load(model, first)
    for layer in (model.get_layer("digit"), model.get_layer("same"), encoder):
        load(layer, weights)
    return [plain(model(batch)) for batch in images]


def pair_weights(ns, shape, classes, units):
    """Names and shapes of the pair model's weights."""
    import numpy as np

    from course_lib.checks.a8_keras import arrays, build_coder

    model = ns.make_pair_model(build_coder(shape, units), tuple(shape), classes)
    model({side: np.zeros((1, *shape), np.float32) for side in ("left", "right")})
    return {name: list(value.shape) for name, value in sorted(arrays(model).items())}, len(model.weights)


def heads_loss(ns, weights, rate, weight, x, targets):
    """The loss that `evaluate` reports for a model with two outputs."""
    from course_lib.checks.a8_keras import build_heads

    model = build_heads(weights)
    ns.compile_pair_model(model, rate, weight)
    return float(model.evaluate(x, targets, verbose=0, return_dict=True)["loss"])


def heads_after(ns, weights, rate, weight, batches):
    """Weights of a model with two outputs after a step for each batch."""
    from course_lib.checks.a8_keras import arrays, build_heads

    model = build_heads(weights)
    ns.compile_pair_model(model, rate, weight)
    for x, targets in batches:
        model.train_on_batch(x, targets)
    return arrays(model)


# --- 2. a layer that knows about padding ----------------------------------------------------------------------------


def context_outputs(ns, weights, options, calls):
    """Outputs of one layer, call after call. calls: pairs of x and a mask, or None."""
    from course_lib.checks.a8_keras import built_context, plain

    layer = built_context(ns.ContextMix, weights, options)
    return [plain(layer(x) if mask is None else layer(x, mask=mask)) for x, mask in calls]


def context_made_from_a_function(ns, weights, activation, x):
    """With an activation that is a function: outputs of a model with the layer, before and after it was saved."""
    import keras

    from course_lib.checks.a8_keras import build_padded_model, built_context, plain, saved_and_loaded

    layer = built_context(ns.ContextMix, weights, {"activation": keras.activations.get(activation)})
    model = build_padded_model(layer, x.shape[-1])
    return [plain(model(x)), plain(saved_and_loaded(model, ContextMix=ns.ContextMix)(x))]


def context_copied(ns, weights, options, x):
    """Outputs of a layer, and of one that is made from its configuration."""
    from course_lib.checks.a8_keras import built_context, plain

    layer = built_context(ns.ContextMix, weights, options)
    again = ns.ContextMix.from_config(layer.get_config())
    again(x)
    again.set_weights(weights)
    return [plain(layer(x)), plain(again(x))]


def context_name(ns, options):
    return ns.ContextMix.from_config(ns.ContextMix(2, **options).get_config()).name


def context_in_a_model(ns, weights, options, x):
    """Means over the valid places of what the layer gives, in a model that finds the mask by itself."""
    from course_lib.checks.a8_keras import build_padded_model, built_context, plain

    return plain(build_padded_model(built_context(ns.ContextMix, weights, options), x.shape[-1])(x))


def context_weights(ns, features, units):
    """Shapes of the trained weights and of all, of a layer that has seen one batch; how many it had before."""
    import numpy as np

    layer = ns.ContextMix(units)
    before = len(layer.weights)
    layer(np.zeros((2, 3, features), np.float32))
    names = [w.name for w in layer.weights]
    return before, [list(w.shape) for w in layer.trainable_weights], len(layer.weights), names


# --- 3. a training step ---------------------------------------------------------------------------------------------


def two_loss_weights(ns, **data):
    """Weights of the three parts after `fit`; see `two_loss_fit`."""
    from course_lib.checks.a8_keras import two_loss_fit

    return two_loss_fit(ns.TwoLossModel, **data)[0]


def two_loss_history(ns, **data):
    """Loss and accuracy of each epoch; see `two_loss_fit`."""
    from course_lib.checks.a8_keras import two_loss_fit

    history = two_loss_fit(ns.TwoLossModel, **data)[1]
    return {name: [float(v) for v in history[name]] for name in ("loss", "accuracy")}


def two_loss_logits(ns, weights, x):
    """Logits in evaluation, in training, and without a word about the mode."""
    from course_lib.checks.a8_keras import build_parts, plain

    found = []
    for mode in ({"training": False}, {"training": True}, {}):
        model = ns.TwoLossModel(*build_parts(weights, 0.0), alpha=0.5, max_norm=1.0)
        found.append(plain(model(x, **mode)))
    return found


# --- 4. stopping in time --------------------------------------------------------------------------------------------


def outputs_after_stopping(ns, options, runs, x):
    """What the model makes of x after each of several calls of `fit` with one callback.

    runs: for each call, the values of the epochs and the weights that they end with.
    """
    from course_lib.checks.a8_keras import plain, scripted_fit

    callback = ns.StopAtBest(**options)
    monitor = options.get("monitor", "val_loss")
    return [plain(scripted_fit(callback, monitor, values, weights)[1](x)) for values, weights in runs]


def best_epochs(ns, options, runs):
    """What the callback says after each call of `fit`, and how many epochs that call had."""
    from course_lib.checks.a8_keras import scripted_fit

    callback = ns.StopAtBest(**options)
    monitor = options.get("monitor", "val_loss")
    found = []
    for values, weights in runs:
        epochs, _ = scripted_fit(callback, monitor, values, weights)
        found.append((callback.best_epoch, epochs))
    return found


def finished_in_stopping(ns, values, weights):
    """What of Keras's finished answers works in a callback."""
    from course_lib.checks.a8_keras import finished_answers, scripted_fit

    with finished_answers() as used:
        scripted_fit(ns.StopAtBest(), "val_loss", values, weights)
    return sorted(used)


# --- 5. a schedule --------------------------------------------------------------------------------------------------


def schedule_rates(ns, options, steps, copied=False):
    """What the schedule says at each step; copied: and then what a copy by its configuration says."""
    from course_lib.checks.a8_keras import rates

    schedule = ns.WarmupCosine(**options)
    again = rates(ns.WarmupCosine.from_config(schedule.get_config()), steps) if copied else []
    return rates(schedule, steps) + again


def scheduled_steps(ns, options, start, gradients):
    """The numbers that an SGD with this schedule leads to, after each step."""
    import keras
    import numpy as np
    from keras import ops

    variable = keras.Variable(start)
    optimizer = keras.optimizers.SGD(ns.WarmupCosine(**options))
    found = []
    for gradient in gradients:
        optimizer.apply([ops.convert_to_tensor(gradient)], [variable])
        found.append(np.array(ops.convert_to_numpy(variable)))
    return found


def finished_in_schedule(ns, options, steps):
    """What of Keras's finished answers works in a schedule."""
    from course_lib.checks.a8_keras import finished_answers, rates

    with finished_answers() as used:
        rates(ns.WarmupCosine(**options), steps)
    return sorted(used)


# --- 6. random, in training only ------------------------------------------------------------------------------------


def mirror_calls(ns, options, images, kernel, calls):
    """What a dense layer behind the mirror gives, call after call; see `mirrored`."""
    from course_lib.checks.a8_keras import mirrored

    return mirrored(ns.RandomMirror(**options), images, kernel, calls)


def finished_in_mirror(ns, images):
    """What of Keras's finished answers works in a mirror."""
    from course_lib.checks.a8_keras import finished_answers

    with finished_answers() as used:
        ns.RandomMirror()(images, training=True)
    return sorted(used)


# --- 7. transfer ----------------------------------------------------------------------------------------------------


def transfer_steps(ns, weights, classes, rate, batches, depth=None, second_rate=None, later=()):
    """Weights of model and base after a step for each batch; then `fine_tune` and a step for each later batch."""
    from course_lib.checks.a8_keras import arrays, build_base, load

    base = build_base(weights)
    model = ns.make_transfer_model(base, classes, rate)
    load(model.get_layer("head"), weights)
    for x, y in batches:
        model.train_on_batch(x, y)
    if depth is not None:
        ns.fine_tune(model, base, depth, second_rate)
    for x, y in later:
        model.train_on_batch(x, y)
    return {f"{name} of base": value for name, value in arrays(base).items()} | arrays(model)


def transfer_results(ns, weights, classes, rate, x, y):
    """Logits and loss of a new model."""
    from course_lib.checks.a8_keras import build_base, load, plain

    base = build_base(weights)
    model = ns.make_transfer_model(base, classes, rate)
    load(model.get_layer("head"), weights)
    loss = float(model.evaluate(x, y, verbose=0, return_dict=True)["loss"])
    return {"logits": plain(model(x)), "loss": loss}
