"""Wrong answers to `train`."""

from autograder.bank import Wrong

BASES = {
    "in_data": """
def train(x, t, params, learning_rate, batches):
    p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    losses = []
    for b in batches:
        out = (torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[b])
        loss.backward()
        for v in p.values():
            v.data -= learning_rate * v.grad
            v.grad = None
        losses.append(loss.item())
    return p, losses
""",
    "pairs": """
def train(x, t, params, learning_rate, batches):
    p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    losses = []
    for b in batches:
        out = (torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]
        loss = torch.nn.functional.mse_loss(out, t[b])
        for v, g in zip(p.values(), torch.autograd.grad(loss, list(p.values()))):
            v.data.sub_(g, alpha=learning_rate)
        losses.append(loss.item())
    return p, losses
""",
}

WRONG = [
    Wrong("wrong_train_all_rows", "All rows in every step.")
    .expect(test_train="failed:train-batches-ignored")
    .base("pairs")
    .edit("for b in batches:", "for _ in batches:")
    .edit('x[b] @ p["W1"]', 'x @ p["W1"]')
    .edit("loss = torch.nn.functional.mse_loss(out, t[b])", "loss = torch.nn.functional.mse_loss(out, t)"),
    Wrong("wrong_train_mask", "A batch becomes a mask: rows come in order, and each of them once.")
    .breaks("a row may stand in one twice")
    .expect(test_train="partial:train-rows-counted-once")
    .edit("for b in batches:", "for b in (torch.isin(torch.arange(len(x)), batch) for batch in batches):"),
    Wrong("wrong_train_set", "The rows are put into a set first.")
    .expect(test_train="partial:train-rows-counted-once")
    .base("pairs")
    .edit("for b in batches:", "for b in [list(set(batch.tolist())) for batch in batches]:"),
    Wrong("wrong_train_first_batch_size", "Each loss is divided by the size of the first batch.")
    .expect(test_train="failed:train-loss-divided-by-the-first-batch")
    .edit("torch.nn.functional.mse_loss(out, t[b])", "(out - t[b]).square().sum() / batches[0].numel()"),
    Wrong("wrong_train_first_batch_size_kept", "The number of rows is looked up once.")
    .expect(test_train="failed:train-loss-divided-by-the-first-batch")
    .base("pairs")
    .edit("    losses = []", "    losses, n = [], None")
    .edit("torch.nn.functional.mse_loss(out, t[b])", "torch.dist(out, t[b]) ** 2 / (n := n or len(out))"),
    Wrong("wrong_train_mean_over_all_rows", "Each loss is divided by the number of all rows.")
    .expect(test_train="failed:train-loss-divided-by-all-rows")
    .base("pairs")
    .edit("torch.nn.functional.mse_loss(out, t[b])", "(out - t[b]).square().sum() / t.numel()"),
    Wrong("wrong_train_restart", "The copies are made inside the loop.")
    .expect(test_train="failed:train-restart-at-every-batch")
    .base("pairs")
    .edit("    p = {", "    losses = []\n    for b in batches:\n        p = {")
    .edit("    losses = []\n    for b in batches:\n        out", "        out"),
    Wrong("wrong_train_backward_each", "backward() once for each parameter.")
    .expect(test_train="failed:train-backward-twice")
    .edit("        loss.backward()\n", "")
    .edit("for v in p.values():", "for v in p.values():\n            loss.backward()"),
    Wrong("wrong_train_broadcast", "(N, 1) minus (N,).")
    .expect(test_train="failed:train-targets-broadcast")
    .edit("torch.nn.functional.mse_loss(out, t[b])", "(t[b] - out[:, None]).pow(2).mean()"),
    Wrong("wrong_train_doubled", "backward() twice, with retain_graph.")
    .expect(test_train="failed:train-gradient-doubled")
    .edit("loss.backward()", "for again in (True, False):\n            loss.backward(retain_graph=again)")
    .edit("v.grad = None", "v.grad.zero_()"),
    Wrong("wrong_train_first_targets", "Rows of the batch, targets from the front.")
    .expect(test_train="failed:train-targets-not-batched")
    .base("pairs")
    .edit(
        "loss = torch.nn.functional.mse_loss(out, t[b])",
        "loss = torch.nn.functional.mse_loss(out, t[torch.arange(len(b))])",
    ),
    Wrong("wrong_train_hidden_detached", "The hidden values are detached: W1 has no gradient.")
    .expect(test_train="failed:train-gradient-is-none")
    .edit('torch.tanh(x[b] @ p["W1"] + p["b1"])', 'torch.tanh(x[b] @ p["W1"] + p["b1"]).detach()'),
    Wrong("wrong_train_hidden_skipped", "Hidden values detached, and parameters without a gradient skipped.")
    .expect(test_train="failed:train-first-layer-cut-off")
    .edit('torch.tanh(x[b] @ p["W1"] + p["b1"])', 'torch.tanh(x[b] @ p["W1"] + p["b1"]).detach()')
    .edit(
        "v.data -= learning_rate * v.grad", "if v.grad is not None:\n                v.data -= learning_rate * v.grad"
    ),
    Wrong("wrong_train_history", "Every step is recorded on top of the one before.")
    .expect(test_train="partial:train-parameters-are-no-leaves")
    .base("pairs")
    .edit(
        """for v, g in zip(p.values(), torch.autograd.grad(loss, list(p.values()))):
            v.data.sub_(g, alpha=learning_rate)""",
        """grads = torch.autograd.grad(loss, list(p.values()))
        p = {k: v - learning_rate * g for (k, v), g in zip(p.items(), grads)}""",
    ),
    Wrong("wrong_train_in_given", "The given tensors are trained.")
    .breaks("The dict that you were given, its tensors")
    .expect(test_train="partial:train-given-params-used")
    .edit(
        "p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}",
        "p = params\n    for v in p.values():\n        v.requires_grad = True",
    )
    .edit("loss.backward()", "for v in p.values():\n            v.grad = None\n        loss.backward()")
    .edit("            v.grad = None\n", ""),
    Wrong("wrong_train_last_loss", "Only the last loss is kept.")
    .expect(test_train="partial:train-only-last-loss")
    .base("pairs")
    .edit("    losses = []\n", "")
    .edit("for b in batches:", "for b in batches:\n        losses = []"),
    Wrong("wrong_train_late_losses", "The loss after the step.")
    .breaks("before the step that uses it")
    .expect(test_train="partial:train-losses-after-the-step")
    .edit(
        "losses.append(loss.item())",
        """out = (torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]
        losses.append(torch.nn.functional.mse_loss(out, t[b]).item())""",
    ),
    Wrong("wrong_train_loss_detached", "The loss is computed under no_grad.")
    .expect(test_train="failed:train-loss-cut-off")
    .edit(
        "loss = torch.nn.functional.mse_loss(out, t[b])",
        "with torch.no_grad():\n            loss = torch.nn.functional.mse_loss(out, t[b])",
    ),
    Wrong("wrong_train_losses_attached", "The list of losses holds graphs.")
    .expect(test_train="partial:train-losses-keep-the-graph")
    .edit("losses.append(loss.item())", "losses.append(loss)"),
    Wrong("wrong_train_momentum", "An invented step with momentum: nothing known.")
    .expect(test_train="failed")
    .base("pairs")
    .edit(
        "p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}",
        """p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    velocity = {k: torch.zeros_like(v) for k, v in p.items()}""",
    )
    .edit(
        """for v, g in zip(p.values(), torch.autograd.grad(loss, list(p.values()))):
            v.data.sub_(g, alpha=learning_rate)""",
        """for k, g in zip(p, torch.autograd.grad(loss, list(p.values()))):
            velocity[k] = 0.9 * velocity[k] + 0.5 * g
            p[k].data.sub_(learning_rate * velocity[k])""",
    ),
    Wrong("wrong_train_no_rate", "The learning rate is not used.")
    .expect(test_train="failed:train-learning-rate-missing")
    .base("pairs")
    .edit("v.data.sub_(g, alpha=learning_rate)", "v.data.sub_(g)"),
    Wrong("wrong_train_no_zero", "Gradients are never set back.")
    .expect(test_train="failed:train-gradients-pile-up")
    .edit("            v.grad = None\n", ""),
    Wrong("wrong_train_old_gradient", "Deep copies, whose gradients are set back at the end of a step only.")
    .expect(test_train="partial:train-old-gradient-used")
    .edit(
        "p = {k: v.detach().clone().requires_grad_() for k, v in params.items()}",
        """from copy import deepcopy

    p = deepcopy(params)
    for v in p.values():
        v.requires_grad = True""",
    )
    .edit("v.grad = None", "v.grad.zero_()"),
    Wrong("wrong_train_plain_tensors", "Under no_grad the parameters are replaced by plain tensors.")
    .expect(test_train="failed:train-rebound-without-gradients")
    .edit(
        "for v in p.values():\n            v.data -= learning_rate * v.grad\n            v.grad = None",
        "with torch.no_grad():\n            p = {k: v - learning_rate * v.grad for k, v in p.items()}",
    ),
    Wrong("wrong_train_recorded", "The step in place, with autograd watching.")
    .expect(test_train="failed:train-step-recorded")
    .edit("v.data -= learning_rate * v.grad", "v.sub_(learning_rate * v.grad)"),
    Wrong("wrong_train_returns_early", "The return stands inside the loop.")
    .breaks("one step for each batch")
    .expect(test_train="failed:train-only-first-batch")
    .base("pairs")
    .edit("    return p, losses", "        return p, losses"),
    Wrong("wrong_train_second_layer_only", "W1 and b1 are left out of the step.")
    .expect(test_train="failed:train-first-layer-cut-off")
    .edit("for v in p.values():", 'for v in (p["W2"], p["b2"]):'),
    Wrong("wrong_train_second_step_none", "W = W - ... with autograd watching: no .grad in the second step.")
    .expect(test_train="failed:train-gradient-is-none")
    .edit(
        "for v in p.values():\n            v.data -= learning_rate * v.grad\n            v.grad = None",
        "for k in p:\n            p[k] = p[k] - learning_rate * p[k].grad",
    ),
    Wrong("wrong_train_shared_numbers", "detach() without clone(): the given numbers change.")
    .expect(test_train="partial:train-given-params-changed")
    .base("pairs")
    .edit("v.detach().clone().requires_grad_()", "torch.nn.Parameter(v.data)")
    .edit(
        """for v, g in zip(p.values(), torch.autograd.grad(loss, list(p.values()))):
            v.data.sub_(g, alpha=learning_rate)""",
        """loss.backward()
        with torch.no_grad():
            for v in p.values():
                v -= learning_rate * v.grad
                v.grad = None""",
    ),
    Wrong("wrong_train_sum", "The loss is a sum.")
    .breaks("Every step computes the loss on one batch")
    .expect(test_train="failed:train-loss-summed")
    .edit(
        "loss = torch.nn.functional.mse_loss(out, t[b])",
        'loss = torch.nn.functional.mse_loss(out, t[b], reduction="sum")',
    ),
    Wrong("wrong_train_two_mistakes", "No zero_grad, and a sum for a mean; the first step shows the sum alone.")
    .expect(test_train="failed:train-loss-summed")
    .edit("loss = torch.nn.functional.mse_loss(out, t[b])", "loss = ((out - t[b]) ** 2).sum()")
    .edit("            v.grad = None\n", ""),
    Wrong("wrong_train_update_lost", "The new values go into local names.")
    .expect(test_train="failed:train-nothing-moves")
    .edit("v.data -= learning_rate * v.grad", "v = v - learning_rate * v.grad"),
    Wrong("wrong_train_uphill", "Along the gradient.")
    .expect(test_train="failed:train-uphill")
    .base("pairs")
    .edit("v.data.sub_", "v.data.add_"),
    Wrong("wrong_train_weights_only", "The biases are forgotten.")
    .expect(test_train="failed:train-biases-not-updated")
    .edit("v.data -= learning_rate * v.grad", "if v.dim() == 2:\n                v.data -= learning_rate * v.grad"),
    Wrong("wrong_train_zero_of_none", "zero_() on the .grad of a new tensor.")
    .expect(test_train="failed:train-gradient-is-none")
    .edit(
        "for v in p.values():\n            v.data -= learning_rate * v.grad\n            v.grad = None",
        "for k in p:\n            p[k] = p[k] - learning_rate * p[k].grad\n            p[k].grad.zero_()",
    ),
    Wrong("wrong_train_zero_too_early", "Gradients are set to zero between backward() and the step.")
    .expect(test_train="failed:train-nothing-moves")
    .edit("for v in p.values():", "for v in p.values():\n            v.grad.zero_()")
    .edit("            v.grad = None\n", ""),
    Wrong("wrong_train_half_loss", "Half of the mean squared difference.")
    .expect(test_train="failed:train-loss-halved")
    .edit("torch.nn.functional.mse_loss(out, t[b])", "0.5 * (out - t[b]).square().mean()"),
    Wrong("wrong_train_divided_step", "The step is divided by the number of rows.")
    .expect(test_train="failed:train-step-divided-by-batch-size")
    .base("pairs")
    .edit("alpha=learning_rate", "alpha=learning_rate / b.numel()"),
    Wrong("wrong_train_linear", "No tanh.")
    .expect(test_train="failed:train-tanh-missing")
    .edit('torch.tanh(x[b] @ p["W1"] + p["b1"])', '(x[b] @ p["W1"] + p["b1"])'),
    Wrong("wrong_train_relu", "ReLU in place of tanh.")
    .expect(test_train="failed:train-relu-for-tanh")
    .edit('torch.tanh(x[b] @ p["W1"] + p["b1"])', '(x[b] @ p["W1"] + p["b1"]).clamp(min=0)'),
    Wrong("wrong_train_late_bias", "b1 is added after tanh.")
    .expect(test_train="failed:train-bias-after-tanh")
    .edit('torch.tanh(x[b] @ p["W1"] + p["b1"])', '(torch.tanh(x[b] @ p["W1"]) + p["b1"])'),
    Wrong("wrong_train_tanh_at_the_end", "tanh of the prediction.")
    .expect(test_train="failed:train-tanh-on-the-prediction")
    .edit("mse_loss(out, t[b])", "mse_loss(out.tanh(), t[b])"),
    Wrong("wrong_train_detached_result", "The result does not require gradients.")
    .breaks("leaves that require gradients, ready for more training")
    .expect(test_train="partial:train-results-do-not-require-gradients")
    .edit("return p, losses", "return {k: v.detach() for k, v in p.items()}, losses"),
    Wrong("wrong_train_clone_without_detach", "clone() alone: of a leaf it makes a result, which stays one.")
    .breaks("Some of these tensors may require gradients")
    .expect(test_train="partial:train-parameters-are-no-leaves")
    .base("pairs")
    .edit("v.detach().clone().requires_grad_()", "v.clone().requires_grad_()"),
    Wrong("wrong_train_losses_none", "`losses = losses.append(...)`.")
    .expect(test_train="failed")
    .edit("losses.append(loss.item())", "losses = losses.append(loss.item())"),
    Wrong("wrong_train_running_sum", "The loss is added up over the batches.")
    .expect(test_train="partial:train-losses-are-running-sums")
    .edit("    losses = []", "    losses, total = [], 0.0")
    .edit("losses.append(loss.item())", "total += float(loss)\n        losses.append(total)"),
    Wrong("wrong_train_running_mean", "Stores the mean of the losses so far.")
    .expect(test_train="partial:train-losses-are-running-means")
    .edit(
        "losses.append(loss.item())",
        "losses.append((loss.item() - sum(losses[-1:])) / (len(losses) + 1) + sum(losses[-1:]))",
    ),
    Wrong("wrong_train_params_alone", "Returns the parameters alone.")
    .breaks("It returns the tuple `(params, losses)`")
    .expect(test_train="failed")
    .edit("return p, losses", "return p"),
    Wrong("wrong_train_batches_stacked", "Makes one tensor of all batches.")
    .breaks("which may differ in size")
    .expect(test_train="failed")
    .edit("for b in batches:", "for b in torch.stack(batches):"),
    Wrong("wrong_train_another_key", "The result has a key that the given dict has not.")
    .breaks("a dict with the same keys")
    .expect(test_train="partial")
    .edit("return p, losses", 'return {**p, "x": x.clone().requires_grad_()}, losses'),
    Wrong("wrong_train_losses_of_one_entry", "Losses of shape (1,).")
    .breaks("or tensors of shape `()`")
    .expect(test_train="failed")
    .edit("loss.item()", "loss.detach().reshape(1)"),
    Wrong("wrong_train_squeezed_weights", "W2 without its axes of size 1, however many they are.")
    .breaks("each size may be 1")
    .expect(test_train="partial")
    .edit(
        '(torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"])[:, 0]',
        'torch.tanh(x[b] @ p["W1"] + p["b1"]) @ p["W2"].squeeze() + p["b2"]',
    ),
    Wrong("wrong_train_view_of_non_contiguous", "The copies are made flat with view.")
    .breaks("may be non-contiguous")
    .expect(test_train="partial")
    .edit("v.detach().clone().requires_grad_()", "v.detach().view(-1).clone().view(v.shape).requires_grad_()"),
    Wrong("wrong_train_losses_in_float32", "The losses go through floats into tensors of float32.")
    .breaks("the tensors that you return have that dtype")
    .expect(test_train="partial")
    .edit("losses.append(loss.item())", "losses.append(torch.tensor(loss.item()))"),
    Wrong("wrong_train_losses_in_one_tensor", "The losses as one tensor.")
    .breaks("a list with one number for each batch")
    .expect(test_train="failed")
    .edit("return p, losses", "return p, torch.tensor(losses, dtype=x.dtype)"),
    Wrong("wrong_train_flag_of_the_first", "All given tensors get the flag of the first one back.")
    .breaks("their `requires_grad` and their `.grad` stay as they were")
    .expect(test_train="partial")
    .edit(
        "return p, losses",
        """flag = params["W1"].requires_grad
    for v in params.values():
        v.requires_grad_(flag)
    return p, losses""",
    ),
]
