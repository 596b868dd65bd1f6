"""Wrong answers to `train_epoch_amp`."""

from autograder.bank import Wrong

BASES = {
    "in_lists": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    model.train(True)
    losses, sizes = [], []
    for batch in loader:
        inputs, labels = (t.to(device) for t in batch)
        optimizer.zero_grad()
        with torch.amp.autocast(device_type="cuda", dtype=torch.float16):
            output = model(inputs)
            loss = loss_fn(output, labels)
        scaled = scaler.scale(loss)
        scaled.backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)
        scaler.step(optimizer)
        scaler.update()
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}

WRONG = [
    Wrong("wrong_amp_infinite_losses_left_out", "continue where the loss is not finite.")
    .breaks("If a batch overflows, the scaler skips")
    .expect(test_train_epoch_amp="partial:amp-infinite-losses-left-out")
    .edit(
        "        scaled = scaler.scale(loss)",
        "        if not torch.isfinite(loss):\n            continue\n        scaled = scaler.scale(loss)",
    ),
    Wrong("wrong_amp_batch_left_on_host", "Not moved.")
    .expect(test_train_epoch_amp="failed:amp-batch-left-on-host")
    .edit("(t.to(device) for t in batch)", "batch"),
    Wrong("wrong_amp_clipped_after_the_step", "Clipped after the step.")
    .expect(test_train_epoch_amp="partial:amp-not-clipped")
    .edit("        torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)\n", "")
    .edit("scaler.update()", "scaler.update()\n        nn.utils.clip_grad_norm_(model.parameters(), max_norm)"),
    Wrong("wrong_amp_clipped_before_unscaling", "unscale_ comes after clipping.")
    .expect(test_train_epoch_amp="partial:amp-clipped-before-unscaling")
    .edit(
        "scaled.backward()",
        """scaled.backward()
        torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)""",
    )
    .edit("        torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)\n", ""),
    Wrong("wrong_amp_clipped_by_value", "clamp of every entry.")
    .expect(test_train_epoch_amp="partial:amp-clipped-by-value")
    .edit(
        "torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)",
        "[p.grad.clamp_(-max_norm, max_norm) for p in model.parameters()]",
    ),
    Wrong("wrong_amp_each_tensor_clipped", "Each tensor by itself.")
    .expect(test_train_epoch_amp="partial:amp-each-tensor-clipped")
    .edit(
        "torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)",
        "[p.grad.mul_(min(1.0, max_norm / (p.grad.norm().item() + 1e-6))) for p in model.parameters()]",
    ),
    Wrong("wrong_amp_gradients_not_unscaled", "The optimizer steps on scaled gradients.")
    .expect(test_train_epoch_amp="failed:amp-gradients-not-unscaled")
    .edit("        scaler.unscale_(optimizer)\n", "")
    .edit("scaler.step(optimizer)\n        scaler.update()", "optimizer.step()"),
    Wrong("wrong_amp_hard_coded_cuda", ".cuda().")
    .expect(test_train_epoch_amp="partial:amp-hard-coded-cuda")
    .edit("t.to(device)", "t.cuda()"),
    Wrong("wrong_amp_in_evaluation_mode", "The mode is left alone.")
    .breaks("an epoch of training as in exercise 3")
    .expect(test_train_epoch_amp="partial:amp-in-evaluation-mode")
    .edit("    model.train(True)\n", ""),
    Wrong("wrong_amp_loss_divided_by_the_new_scale", "The scaled loss is divided by the scale after the update.")
    .expect(test_train_epoch_amp="partial:amp-loss-divided-by-the-new-scale")
    .edit("float(loss) * len(labels)", "float(scaled) / scaler.get_scale() * len(labels)"),
    Wrong("wrong_amp_loss_not_scaled", "backward on the plain loss.")
    .breaks("The backward pass starts from the scaled loss")
    .expect(test_train_epoch_amp="failed:amp-loss-not-scaled")
    .edit("scaled = scaler.scale(loss)", "scaled = loss"),
    Wrong("wrong_amp_loss_outside_autocast", "The loss is outside.")
    .breaks("The forward pass and the loss are computed under")
    .expect(test_train_epoch_amp="partial:amp-loss-outside-autocast")
    .edit("            loss = loss_fn(output, labels)", "        loss = loss_fn(output, labels)"),
    Wrong("wrong_amp_loss_still_scaled", "The scaled loss is added up.")
    .breaks("It returns the mean over all rows of the loss, unscaled")
    .expect(test_train_epoch_amp="partial:amp-loss-still-scaled")
    .edit("float(loss)", "float(scaled)"),
    Wrong("wrong_amp_mean_of_batch_means", "Mean over batches.")
    .breaks("It returns the mean over all rows of the loss, unscaled")
    .expect(test_train_epoch_amp="partial:amp-mean-of-batch-means")
    .edit("float(loss) * len(labels)", "float(loss)")
    .edit("sum(sizes)", "len(sizes)"),
    Wrong("wrong_amp_moves_the_model_to_cuda", "The usual line, whatever the caller says.")
    .expect(test_train_epoch_amp="partial:amp-moves-the-model-to-cuda")
    .edit(
        "def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):",
        """def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model.to(device)""",
    ),
    Wrong("wrong_amp_not_clipped", "max_norm is not used.")
    .breaks("the gradients of the *unscaled* loss are clipped")
    .expect(test_train_epoch_amp="partial:amp-not-clipped")
    .edit("        torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)\n", ""),
    Wrong("wrong_amp_parameters_in_half", "model.half().")
    .breaks("The parameters stay float32")
    .expect(test_train_epoch_amp="failed:amp-parameters-in-half")
    .edit("model.train(True)", "model.train(True)\n    for p in model.parameters():\n        p.data = p.data.half()"),
    Wrong("wrong_amp_scale_not_updated", "No update.")
    .breaks("Each batch ends with a step through the scaler")
    .expect(test_train_epoch_amp="failed:amp-scale-not-updated")
    .edit("        scaler.update()\n", ""),
    Wrong("wrong_amp_scale_updated_once", "Everything by hand with a fixed scale.")
    .expect(test_train_epoch_amp="partial:amp-scale-updated-once")
    .edit(
        "scaler.unscale_(optimizer)",
        """bad = False
        for p in model.parameters():
            p.grad /= scaler.get_scale()
            bad = bad or not torch.isfinite(p.grad).all()""",
    )
    .edit("scaler.step(optimizer)\n        scaler.update()", "if not bad:\n            optimizer.step()"),
    Wrong("wrong_amp_step_past_the_scaler", "optimizer.step after unscale_.")
    .breaks("If a batch overflows, the scaler skips the step")
    .expect(test_train_epoch_amp="partial:amp-step-past-the-scaler")
    .edit("scaler.step(optimizer)", "optimizer.step()"),
    Wrong("wrong_amp_unscaled_twice", "The gradients are unscaled twice.")
    .expect(test_train_epoch_amp="failed:amp-scale-not-updated")
    .edit("scaler.unscale_(optimizer)", "scaler.unscale_(optimizer)\n        scaler.unscale_(optimizer)"),
    Wrong("wrong_amp_without_steps", "No step.")
    .expect(test_train_epoch_amp="failed:amp-without-steps")
    .edit("        scaler.step(optimizer)\n", ""),
    Wrong("wrong_amp_without_zero_grad", "No zero_grad.")
    .expect(test_train_epoch_amp="partial:amp-without-zero-grad")
    .edit("        optimizer.zero_grad()\n", ""),
    Wrong("wrong_autocast_bfloat16", "bfloat16.")
    .breaks("The forward pass and the loss are computed under")
    .expect(test_train_epoch_amp="partial:autocast-bfloat16")
    .edit("torch.float16", "torch.bfloat16"),
    Wrong("wrong_autocast_missing", "No autocast.")
    .expect(test_train_epoch_amp="partial:autocast-missing")
    .edit('with torch.amp.autocast(device_type="cuda", dtype=torch.float16):', "if True:"),
    Wrong("wrong_broken_cells", "One cell does not parse, another uses a name that is not there.")
    .expect(test_evaluate="failed", test_train_epoch_amp="failed", test_checkpoint="failed")
    .edit("scaler.scale", "grad_scaler.scale")
    .whole(
        """
def evaluate(model, loader, loss_fn, device)
    return 0.0, 0.0
""",
        cell="evaluate",
    )
    .edit('return state["epoch"]', 'return checkpoint["epoch"]', cell="checkpoint"),
    Wrong("wrong_unfinished", "The last three exercises are as they were handed out, and one function returns nothing.")
    .expect(
        test_evaluate="failed",
        test_train_epoch_amp="not attempted",
        test_checkpoint="not attempted",
        test_fit="not attempted",
    )
    .base("stub")
    .base("stub", cell="checkpoint")
    .base("stub", cell="fit")
    .whole(
        """
def evaluate(model, loader, loss_fn, device):
    model.eval()
    for x, y in loader:
        outputs = model(x.to(device))
    # to be continued
""",
        cell="evaluate",
    ),
    Wrong("wrong_amp_each_group_clipped", "The norm of each group of the optimizer.")
    .breaks("if the norm of all of them together is larger")
    .expect(test_train_epoch_amp="partial:amp-each-group-clipped")
    .edit(
        "torch.nn.utils.clip_grad_norm_([p for p in model.parameters()], max_norm)",
        "for group in optimizer.param_groups:\n            torch.nn.utils.clip_grad_norm_(group['params'], max_norm)",
    ),
    Wrong("wrong_amp_scaler_of_its_own", "A new scaler in every epoch.")
    .breaks("the loader that you are given are the ones to use")
    .expect(test_train_epoch_amp="partial:amp-scaler-of-its-own")
    .edit("model.train(True)", "model.train(True)\n    scaler = torch.amp.GradScaler(device)"),
    Wrong("wrong_amp_skipped_batches_left_out", "Skipped batches are not counted.")
    .breaks("Batches whose step is skipped count too")
    .expect(test_train_epoch_amp="partial:amp-skipped-batches-left-out")
    .edit(
        "        scaler.update()\n        losses.append(float(loss) * len(labels))\n        sizes.append(len(labels))",
        """        old = scaler.get_scale()
        scaler.update()
        if scaler.get_scale() < old:
            continue
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))""",
    )
    .edit("return sum(losses) / sum(sizes)", "return sum(losses) / max(1, sum(sizes))"),
    Wrong("wrong_autocast_around_everything", "One autocast for the whole epoch.")
    .breaks("and nothing else is")
    .expect(test_train_epoch_amp="failed:autocast-around-everything")
    .whole("""
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    with torch.autocast("cuda", dtype=torch.float16):
        model.train()
        total, n = 0.0, 0
        for x, y in loader:
            y = y.to(device)
            loss = loss_fn(model(x.to(device)), y)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            scaler.step(optimizer)
            scaler.update()
            total += loss.item() * len(y)
            n += len(y)
    return total / n
"""),
    Wrong("wrong_amp_update_before_the_step", "update, then step.")
    .breaks("Each batch ends with a step through the scaler")
    .expect(test_train_epoch_amp="failed:amp-update-before-the-step")
    .edit(
        "        scaler.step(optimizer)\n        scaler.update()",
        "        scaler.update()\n        scaler.step(optimizer)",
    ),
    Wrong("wrong_amp_unscaled_after_the_step", "Unscaled and clipped when the step is done.")
    .breaks("the gradients of the *unscaled* loss are clipped")
    .expect(test_train_epoch_amp="failed:amp-unscaled-after-the-step")
    .edit("scaler.step(optimizer)\n        scaler.update()", "scaler.update()")
    .edit("scaled.backward()", "scaled.backward()\n        scaler.step(optimizer)"),
    Wrong("wrong_amp_autocast_to_the_backward_pass", "The backward pass stands inside autocast.")
    .breaks("and nothing else is")
    .expect(test_train_epoch_amp="partial:autocast-around-the-backward-pass")
    .edit(
        "        scaled = scaler.scale(loss)\n        scaled.backward()\n",
        "            scaled = scaler.scale(loss)\n            scaled.backward()\n",
    ),
    Wrong("wrong_amp_list_of_losses_with_graphs", "The losses are collected as they are.")
    .breaks("an epoch of training as in exercise 3")
    .expect(test_train_epoch_amp="partial:amp-keeps-graphs")
    .edit("losses.append(float(loss) * len(labels))", "losses.append(loss * len(labels))")
    .edit("return sum(losses) / sum(sizes)", "return float(sum(losses)) / sum(sizes)"),
    Wrong("wrong_amp_list_of_outputs", "The outputs of every batch are kept, without their graphs.")
    .breaks("an epoch of training as in exercise 3")
    .expect(test_train_epoch_amp="partial:amp-keeps-tensors")
    .edit(
        "        scaled = scaler.scale(loss)\n",
        "        scaled = scaler.scale(loss)\n        kept.append((inputs, output.detach()))\n",
    )
    .edit("    losses, sizes = [], []", "    losses, sizes, kept = [], [], []"),
]
