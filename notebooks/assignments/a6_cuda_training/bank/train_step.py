"""Wrong answers to `train_step`."""

from autograder.bank import Wrong

BASES = {
    "cleared_first": """
def train_step(model, batch, loss_fn, optimizer, device):
    inputs, labels = batch
    inputs = inputs.to(device=device)
    labels = labels.to(device=device)
    output = model(inputs)
    loss = loss_fn(output, labels)
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)
""",
}

WRONG = [
    Wrong(
        "wrong_odd_ones",
        "Mistakes that nobody has listed: a clipped gradient, a median instead of a mean, a doubled learning rate.",
    )
    .expect(test_train_step="failed", test_evaluate="failed", test_fit="failed")
    .edit("loss.backward()", "loss.backward()\n    nn.utils.clip_grad_norm_(model.parameters(), 0.01)")
    .edit("sum(losses) / sum(sizes)", "sorted(losses)[len(losses) // 2] / sizes[0]", cell="evaluate")
    .edit("lr=learning_rate", "lr=2 * learning_rate", cell="fit"),
    Wrong("wrong_step_zero_grad_late", "Gradients are set to zero when the step is done.")
    .expect(test_train_step="partial:step-uses-old-gradients")
    .edit("    model.zero_grad()\n", "")
    .edit("optimizer.step()", "optimizer.step()\n    optimizer.zero_grad()"),
    Wrong("wrong_result_is_a_tensor", "The loss comes back as a tensor.")
    .breaks("It returns the loss before the step as a Python")
    .expect(test_train_step="failed:result-is-a-tensor")
    .edit("return float(loss)", "return loss.detach()"),
    Wrong("wrong_step_batch_left_on_host", "The moved tensor is thrown away.")
    .expect(test_train_step="partial:step-batch-left-on-host")
    .edit("inputs = inputs.to(device=device)", "inputs.to(device)"),
    Wrong("wrong_step_before_backward", "step stands before backward.")
    .expect(test_train_step="failed:step-without-gradients")
    .edit("model.zero_grad()", "model.zero_grad()\n    optimizer.step()")
    .edit("    optimizer.step()\n", ""),
    Wrong("wrong_step_graph_cut", "The loss becomes a new tensor.")
    .expect(test_train_step="failed:step-graph-cut")
    .edit("loss = loss_fn(output, labels)", "loss = torch.tensor(loss_fn(output, labels).item())"),
    Wrong("wrong_step_hard_coded_cuda", "x.cuda() and y.cuda().")
    .breaks("a function uses the device that it is given")
    .expect(test_train_step="failed:step-hard-coded-cuda")
    .edit("inputs = inputs.to(device=device)", "inputs = inputs.cuda()")
    .edit("labels = labels.to(device=device)", "labels = labels.cuda()"),
    Wrong("wrong_step_inputs_not_moved", "Only the labels are moved.")
    .expect(test_train_step="partial:step-batch-left-on-host")
    .edit("    inputs = inputs.to(device=device)\n", ""),
    Wrong("wrong_step_item_first", "item comes before backward.")
    .expect(test_train_step="failed:step-graph-cut")
    .edit("loss = loss_fn(output, labels)", "loss = loss_fn(output, labels).item()"),
    Wrong("wrong_step_loss_afterwards", "A second forward pass gives the loss.")
    .breaks("It returns the loss before the step as a Python")
    .expect(test_train_step="failed:step-loss-afterwards")
    .edit("return float(loss)", "with torch.no_grad():\n        return loss_fn(model(inputs), labels).item()"),
    Wrong("wrong_step_loss_times_rows", "The mean is turned into a sum.")
    .expect(test_train_step="failed:step-loss-times-rows")
    .edit("loss = loss_fn(output, labels)", "loss = labels.numel() * loss_fn(output, labels)"),
    Wrong("wrong_step_missing", "The gradients are computed and thrown away.")
    .breaks("It takes one step of the optimizer on one batch")
    .expect(test_train_step="failed:step-missing")
    .edit("    optimizer.step()\n", ""),
    Wrong("wrong_step_on_the_host_and_back", "To the host, a step, and back.")
    .expect(test_train_step="partial:step-on-the-host-and-back")
    .edit(
        "def train_step(model, batch, loss_fn, optimizer, device):",
        """def train_step(model, batch, loss_fn, optimizer, device):
    model.to("cpu")
    result = on_the_host(model, batch, loss_fn, optimizer, "cpu")
    model.to(device)
    return result


def on_the_host(model, batch, loss_fn, optimizer, device):""",
    ),
    Wrong("wrong_step_moves_the_model_to_cuda", "Everything is moved to a device of its own choice.")
    .expect(test_train_step="failed:step-moves-the-model-to-cuda")
    .edit(
        "def train_step(model, batch, loss_fn, optimizer, device):",
        """def train_step(model, batch, loss_fn, optimizer, device):
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model = model.to(device)""",
    ),
    Wrong("wrong_step_no_backward", "backward is forgotten.")
    .expect(test_train_step="failed:step-without-gradients")
    .edit("    loss.backward()\n", ""),
    Wrong("wrong_step_on_the_cpu", "Trains on the CPU.")
    .expect(test_train_step="partial:step-on-the-cpu")
    .edit(
        "inputs = inputs.to(device=device)\n    labels = labels.to(device=device)",
        "model.cpu()\n    inputs = inputs.cpu()\n    labels = labels.cpu()",
    ),
    Wrong("wrong_step_one_batch_late", "step, then clear, then backward.")
    .expect(test_train_step="failed:step-one-batch-late")
    .edit("model.zero_grad()", "optimizer.step()\n    for p in model.parameters():\n        p.grad = None")
    .edit("    optimizer.step()\n", ""),
    Wrong("wrong_step_taken_twice", "A step with a closure and another one.")
    .breaks("The optimizer takes exactly one step")
    .expect(test_train_step="failed:step-taken-twice")
    .edit("optimizer.step()", "for _ in range(2):\n        optimizer.step()"),
    Wrong("wrong_step_target_left_on_host", "The labels are moved and thrown away.")
    .breaks("both of its tensors have to go")
    .expect(test_train_step="partial:step-target-left-on-host")
    .edit("labels = labels.to(device=device)", "labels.to(device)"),
    Wrong("wrong_step_uphill", "The gradients are negated by hand.")
    .expect(test_train_step="failed:step-uphill")
    .edit("loss.backward()", "loss.backward()\n    for p in model.parameters():\n        p.grad.neg_()"),
    Wrong("wrong_step_without_gradients", "zero_grad stands between backward and step.")
    .expect(test_train_step="failed:step-without-gradients")
    .edit("loss = loss_fn(output, labels)", "loss = loss_fn(output, labels)\n    loss.backward()")
    .edit("    loss.backward()\n", ""),
    Wrong("wrong_step_without_zero_grad", "Gradients are never cleared.")
    .breaks("The step uses the gradients of this batch alone")
    .expect(test_train_step="failed:step-without-zero-grad")
    .edit("    model.zero_grad()\n", ""),
    Wrong("wrong_step_writes_into_the_batch", "The copies on the device are put back into the batch.")
    .breaks("A batch is a pair `x, y`")
    .expect(test_train_step="failed:step-writes-into-the-batch")
    .edit("inputs, labels = batch", "batch[:] = [t.to(device) for t in batch]\n    inputs, labels = batch"),
    Wrong("wrong_step_by_hand", "The step of plain SGD, written out.")
    .breaks("It may be any of PyTorch's")
    .expect(test_train_step="partial")
    .edit(
        "optimizer.step()",
        """with torch.no_grad():
        for p in model.parameters():
            p -= optimizer.param_groups[0]["lr"] * p.grad""",
    ),
    Wrong("wrong_step_twice_wrong", "Nothing is cleared, and the loss is the one after the step.")
    .expect(test_train_step="failed:step-without-zero-grad+step-loss-afterwards")
    .edit("    model.zero_grad()\n", "")
    .edit("return float(loss)", "with torch.no_grad():\n        return loss_fn(model(inputs), labels).item()"),
    Wrong("wrong_step_sum", "The mean is divided by the rows once more.")
    .breaks("the mean over the rows of the batch")
    .expect(test_train_step="failed")
    .edit("loss = loss_fn(output, labels)", "loss = loss_fn(output, labels) / len(labels)"),
]
