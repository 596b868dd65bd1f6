"""Wrong answers to `train_with_tape`."""

from autograder.bank import Wrong

BASES = {
    "persistent": """
def train_with_tape(w, b, batches, optimizer):
    result = ([], [])
    for batch in batches:
        inputs = tf.convert_to_tensor(batch[0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(inputs)
            loss = siamese_loss(w, b, inputs, *batch[1:])
        variables = [w, b]
        grads = [tape.gradient(loss, variable) for variable in variables]
        sensitivity = tape.gradient(loss, inputs)
        optimizer.apply_gradients(zip(grads, variables))
        result[0].append(loss.numpy().item())
        result[1].append(np.array(sensitivity))
    return result
""",
    "two_tapes": """
def train_with_tape(w, b, batches, optimizer):
    def of_input(x1, x2, y):
        with tf.GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(x1)
            value = siamese_loss(w, b, x1, x2, y)
        return inner.gradient(value, x1).numpy()

    def of_weights(*batch):
        with tf.GradientTape() as outer:
            value = siamese_loss(w, b, *batch)
        return float(value), outer.gradient(value, {"w": w, "b": b})

    losses, sensitivities = [], []
    for batch in batches:
        sensitivities.append(of_input(*batch))
        value, grads = of_weights(*batch)
        losses.append(value)
        optimizer.apply(list(grads.values()), [{"w": w, "b": b}[name] for name in grads])
    return losses, sensitivities
""",
}

LOSS_WITH_CONSTANTS = "siamese_loss(tf.constant(w.numpy()), b.numpy(), inputs, *batch[1:])"
WRONG = [
    Wrong("wrong_not_watched", "The tape does not watch the input.")
    .expect(test_train_with_tape="failed:tape-input-not-watched")
    .base("two_tapes")
    .edit("            inner.watch(x1)\n", ""),
    Wrong("wrong_asked_twice", "The tape is not persistent.")
    .expect(test_train_with_tape="failed:tape-asked-twice")
    .edit("persistent=True", ""),
    Wrong("wrong_outside_the_tape", "The loss is computed after the block.")
    .expect(test_train_with_tape="failed:tape-does-not-see-the-weights")
    .edit("            loss = siamese_loss", "        loss = siamese_loss"),
    Wrong("wrong_weights_as_constants", "The weights go in as arrays.")
    .expect(test_train_with_tape="failed:tape-does-not-see-the-weights")
    .edit("siamese_loss(w, b, inputs, *batch[1:])", LOSS_WITH_CONSTANTS),
    Wrong("wrong_losses_added", "The gradients are those of all losses so far.")
    .expect(test_train_with_tape="partial:tape-gradients-add-up")
    .breaks("with the gradients of the loss of that batch")
    .edit("    result = ([], [])\n", "    result = ([], [])\n    so_far = None\n")
    .edit(
        "        optimizer.apply_gradients(",
        (
            "        so_far = grads if so_far is None else [a + g for a, g in zip(so_far, "
            "grads)]\n"
            "        optimizer.apply_gradients("
        ),
    )
    .edit("zip(grads, variables)", "zip(so_far, variables)"),
    Wrong("wrong_tape_loss_after", "The loss is computed again after the step.")
    .expect(test_train_with_tape="partial:tape-loss-after-the-step")
    .breaks("has the loss of each batch before its step")
    .edit("result[0].append(loss.numpy().item())", "result[0].append(float(siamese_loss(w, b, *batch)))"),
    Wrong("wrong_sensitivity_after", "The sensitivity is computed after the step.")
    .expect(test_train_with_tape="partial:tape-sensitivity-after-the-step")
    .breaks("has the gradient of the same loss with respect to `x1`")
    .base("two_tapes")
    .edit("        sensitivities.append(of_input(*batch))\n", "")
    .edit("for name in grads])\n", "for name in grads])\n        sensitivities.append(of_input(*batch))\n"),
    Wrong("wrong_other_input", "The sensitivity to x2.")
    .expect(test_train_with_tape="partial:tape-sensitivity-of-the-other-input")
    .edit("tf.convert_to_tensor(batch[0])", "tf.convert_to_tensor(batch[1])")
    .edit("siamese_loss(w, b, inputs, *batch[1:])", "siamese_loss(w, b, batch[0], inputs, batch[2])"),
    Wrong("wrong_times_input", "Gradient times input.")
    .expect(test_train_with_tape="partial:tape-sensitivity-times-input")
    .breaks("has the gradient of the same loss with respect to `x1`")
    .edit("np.array(sensitivity)", "np.array(sensitivity * inputs)"),
    Wrong("wrong_saliency", "The size of the gradient alone.")
    .expect(test_train_with_tape="partial:tape-sensitivity-without-sign")
    .base("two_tapes")
    .edit("inner.gradient(value, x1).numpy()", "tf.math.abs(inner.gradient(value, x1)).numpy()"),
    Wrong("wrong_tape_losses_of_numpy", "The losses are NumPy's numbers.")
    .expect(test_train_with_tape="partial:tape-losses-not-floats")
    .breaks("has the loss of each batch before its step")
    .edit("loss.numpy().item()", "loss.numpy()"),
    Wrong("wrong_tape_losses_as_float32", "The float becomes NumPy's again.")
    .expect(test_train_with_tape="partial:tape-losses-not-floats")
    .base("two_tapes")
    .edit("losses.append(value)", "losses.append(np.float32(value))"),
    Wrong("wrong_tape_losses_as_tensors", "The losses are tensors.")
    .expect(test_train_with_tape="partial:tape-losses-not-floats")
    .edit("loss.numpy().item()", "loss"),
    Wrong("wrong_tape_only_w", "b is not trained.")
    .expect(test_train_with_tape="failed:tape-only-w-is-trained")
    .edit("variables = [w, b]", "variables = [w]"),
    Wrong("wrong_sensitivities_as_tensors", "The sensitivities are tensors.")
    .expect(test_train_with_tape="partial:tape-sensitivities-as-tensors")
    .breaks("an array of the shape of `x1`")
    .edit("np.array(sensitivity)", "sensitivity"),
    Wrong("wrong_copy_of_the_optimizer", "A copy of the optimizer, which begins anew in each call.")
    .expect(test_train_with_tape="partial")
    .breaks("the optimizer takes one step")
    .edit(
        "    result = ([], [])\n",
        "    result = ([], [])\n    optimizer = type(optimizer).from_config(optimizer.get_config())\n",
    ),
    Wrong("wrong_two_steps", "Two steps with the same gradients.")
    .expect(test_train_with_tape="failed:tape-step-taken-twice")
    .edit(
        "        result[0].append(",
        "        optimizer.apply_gradients(list(zip(grads, variables)))\n        result[0].append(",
    ),
    Wrong("wrong_step_for_each_variable", "The gradients are applied in two calls.")
    .expect(test_train_with_tape="partial:tape-step-for-each-variable")
    .breaks("the optimizer takes one step with the gradients of the loss")
    .edit(
        "        optimizer.apply_gradients(zip(grads, variables))\n",
        (
            "        optimizer.build(variables)\n"
            "        for pair in zip(grads, variables):\n"
            "            optimizer.apply_gradients([pair])\n"
        ),
    ),
    Wrong("wrong_apply_for_each_variable", "The same with apply.")
    .expect(test_train_with_tape="partial:tape-step-for-each-variable")
    .base("two_tapes")
    .edit(
        '        optimizer.apply(list(grads.values()), [{"w": w, "b": b}[name] for name in grads])\n',
        (
            "        optimizer.build([w, b])\n"
            '        optimizer.apply([grads["w"]], [w])\n'
            '        optimizer.apply([grads["b"]], [b])\n'
        ),
    ),
    Wrong("wrong_step_by_hand", "The optimizer lends its learning rate.")
    .expect(test_train_with_tape="partial:tape-optimizer-not-used")
    .edit(
        "        optimizer.apply_gradients(zip(grads, variables))\n",
        (
            "        w.assign(w - grads[0] * optimizer.learning_rate)\n"
            "        b.assign(b - grads[1] * optimizer.learning_rate)\n"
        ),
    ),
    Wrong("wrong_sum", "The loss is multiplied by the number of rows.")
    .expect(test_train_with_tape="failed:tape-gradients-of-the-sum")
    .edit(
        "            loss = siamese_loss(w, b, inputs, *batch[1:])\n",
        "            loss = siamese_loss(w, b, inputs, *batch[1:])\n            total = loss * inputs.shape[0]\n",
    )
    .edit("tape.gradient(loss, variable)", "tape.gradient(total, variable)")
    .edit("tape.gradient(loss, inputs)", "tape.gradient(total, inputs)"),
    Wrong("wrong_dict", "The results come as a dict.")
    .expect(test_train_with_tape="failed")
    .breaks("It returns the tuple `(losses, sensitivities)` of two lists")
    .edit("    return result", '    return dict(zip(("losses", "sensitivities"), result))'),
]
