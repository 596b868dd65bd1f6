"""Wrong answers to `train_epoch`."""

from autograder.bank import Wrong

BASES = {
    "in_lists": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train(True)
    losses, sizes = [], []
    for batch in loader:
        inputs = batch[0].to(device)
        labels = batch[1].to(device)
        output = model(inputs)
        loss = loss_fn(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss) * len(labels))
        sizes.append(len(labels))
    return sum(losses) / sum(sizes)
""",
}

WRONG = [
    Wrong("wrong_epoch_weighs_by_the_batch_size", "The loss of a batch times loader.batch_size.")
    .breaks("A smaller last batch counts for fewer rows")
    .expect(test_train_epoch="partial:epoch-weighs-by-the-batch-size")
    .edit("float(loss) * len(labels)", "float(loss) * loader.batch_size"),
    Wrong("wrong_epoch_divides_by_full_batches", "len(loader) times batch_size rows.")
    .breaks("It returns the mean over all *rows*")
    .expect(test_train_epoch="partial:epoch-divides-by-full-batches")
    .edit("/ sum(sizes)", "/ (len(loader) * loader.batch_size)"),
    Wrong("wrong_copied_more_than_once", "Each use copies anew.")
    .breaks("Every tensor of a batch is copied to the device once")
    .expect(test_train_epoch="partial:copied-more-than-once")
    .edit("output = model(inputs)", "output = model(batch[0].to(device))"),
    Wrong("wrong_epoch_batch_left_on_host", "The moved inputs are thrown away.")
    .expect(test_train_epoch="partial:epoch-batch-left-on-host")
    .edit("inputs = batch[0].to(device)", "inputs = batch[0]\n        inputs.to(device)"),
    Wrong("wrong_epoch_batch_means_summed", "The sum of the batches' losses.")
    .expect(test_train_epoch="partial:epoch-batch-means-summed")
    .edit("float(loss) * len(labels)", "float(loss)")
    .edit("return sum(losses) / sum(sizes)", "return sum(losses)"),
    Wrong("wrong_epoch_first_batch_alone", "break after one batch.")
    .expect(test_train_epoch="failed:epoch-first-batch-alone")
    .edit("sizes.append(len(labels))", "sizes.append(len(labels))\n        break"),
    Wrong("wrong_epoch_hard_coded_cuda", ".cuda() wherever a tensor stands.")
    .expect(test_train_epoch="partial:epoch-hard-coded-cuda")
    .edit("inputs = batch[0].to(device)", "inputs = batch[0].cuda()")
    .edit("labels = batch[1].to(device)", "labels = batch[1].cuda()"),
    Wrong("wrong_epoch_in_evaluation_mode", "Training mode is switched off.")
    .expect(test_train_epoch="partial:epoch-in-evaluation-mode")
    .edit("model.train(True)", "model.train(False)"),
    Wrong("wrong_epoch_keeps_graphs", "The losses are added as tensors.")
    .breaks("The memory in use does not grow")
    .expect(test_train_epoch="partial:epoch-keeps-graphs")
    .edit("float(loss)", "loss")
    .edit("sum(losses)", "float(sum(losses))"),
    Wrong("wrong_epoch_keeps_tensors", "All outputs are kept.")
    .breaks("The memory in use does not grow")
    .expect(test_train_epoch="partial:epoch-keeps-tensors")
    .edit("losses, sizes = [], []", "losses, sizes, kept = [], [], []")
    .edit("optimizer.step()", "optimizer.step()\n        kept.append((inputs, output.detach()))"),
    Wrong("wrong_epoch_last_batch_skipped", "Smaller batches are skipped.")
    .breaks("It takes one step for each batch of the loader")
    .expect(test_train_epoch="partial:epoch-last-batch-skipped")
    .edit(
        "labels = batch[1].to(device)",
        "labels = batch[1].to(device)\n        if sizes and len(labels) != sizes[0]:\n            continue",
    ),
    Wrong("wrong_epoch_last_loss", "The last loss.")
    .expect(test_train_epoch="partial:epoch-last-loss")
    .edit("return sum(losses) / sum(sizes)", "return float(loss)"),
    Wrong("wrong_epoch_loss_summed", "The sum over all rows.")
    .breaks("It returns the mean over all *rows* that the loader gives")
    .expect(test_train_epoch="partial:epoch-loss-summed")
    .edit("return sum(losses) / sum(sizes)", "return sum(losses)"),
    Wrong("wrong_epoch_mean_of_batch_means", "np.mean over the batches.")
    .breaks("A smaller last batch counts for fewer rows")
    .expect(test_train_epoch="partial:epoch-mean-of-batch-means")
    .edit("float(loss) * len(labels)", "loss.item()")
    .edit("sum(sizes)", "len(losses)"),
    Wrong("wrong_epoch_means_divided_by_rows", "Means are divided by the number of rows.")
    .expect(test_train_epoch="partial:epoch-means-divided-by-rows")
    .edit("float(loss) * len(labels)", "float(loss)"),
    Wrong("wrong_epoch_mode_not_set", "Nothing is said about the mode.")
    .breaks("It trains in training mode")
    .expect(test_train_epoch="partial:epoch-mode-not-set")
    .edit("    model.train(True)\n", ""),
    Wrong("wrong_epoch_on_the_host_and_back", "To the host, an epoch, and back.")
    .expect(test_train_epoch="partial:epoch-on-the-host-and-back")
    .edit(
        "def train_epoch(model, loader, loss_fn, optimizer, device):",
        """def train_epoch(model, loader, loss_fn, optimizer, device):
    model.to("cpu")
    result = on_the_host(model, loader, loss_fn, optimizer, "cpu")
    model.to(device)
    return result


def on_the_host(model, loader, loss_fn, optimizer, device):""",
    ),
    Wrong("wrong_epoch_moves_the_model_to_cuda", "The usual line, whatever the caller says.")
    .expect(test_train_epoch="partial:epoch-moves-the-model-to-cuda")
    .edit(
        "def train_epoch(model, loader, loss_fn, optimizer, device):",
        """def train_epoch(model, loader, loss_fn, optimizer, device):
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model.to(device)""",
    ),
    Wrong("wrong_epoch_one_step_for_all", "The step is behind the loop.")
    .breaks("It takes one step for each batch of the loader")
    .expect(test_train_epoch="failed:epoch-one-step-for-all")
    .edit("losses, sizes = [], []", "losses, sizes = [], []\n    model.zero_grad()")
    .edit("        optimizer.zero_grad()\n", "")
    .edit("        optimizer.step()\n", "")
    .edit("sizes.append(len(labels))", "sizes.append(len(labels))\n    optimizer.step()"),
    Wrong("wrong_epoch_optimizer_made_anew", "A new optimizer in every pass.")
    .breaks("the loader that you are given are the ones to use")
    .expect(test_train_epoch="partial:epoch-optimizer-made-anew")
    .edit(
        "loss = loss_fn(output, labels)",
        """loss = loss_fn(output, labels)
        for p in list(optimizer.state):
            optimizer.state[p] = {}""",
    ),
    Wrong("wrong_epoch_returns_a_tensor", "The mean is a tensor.")
    .expect(test_train_epoch="partial:result-is-a-tensor")
    .edit("float(loss)", "loss.detach()"),
    Wrong("wrong_epoch_steps_one_batch_late", "step, zero_grad, backward.")
    .expect(test_train_epoch="failed:epoch-steps-one-batch-late")
    .edit("optimizer.zero_grad()", "optimizer.step()\n        model.zero_grad()")
    .edit("        optimizer.step()\n", ""),
    Wrong("wrong_epoch_target_left_on_host", "Labels stay.")
    .expect(test_train_epoch="partial:epoch-target-left-on-host")
    .edit("labels = batch[1].to(device)", "labels = batch[1]"),
    Wrong("wrong_epoch_waits_too_often", "Accuracy and loss are printed in each pass.")
    .breaks("The host waits for the device at most once")
    .expect(test_train_epoch="partial:epoch-waits-too-often")
    .edit(
        "optimizer.step()",
        "optimizer.step()\n        print(float(loss), (output.argmax(1) == labels).float().mean().item())",
    ),
    Wrong("wrong_epoch_without_gradients", "Clear after backward.")
    .expect(test_train_epoch="failed:epoch-without-gradients")
    .edit("loss = loss_fn(output, labels)", "loss = loss_fn(output, labels)\n        loss.backward()")
    .edit("        loss.backward()\n", ""),
    Wrong("wrong_epoch_without_steps", "No step.")
    .expect(test_train_epoch="failed:epoch-without-steps")
    .edit("        optimizer.step()\n", ""),
    Wrong("wrong_epoch_without_zero_grad", "Cleared once, before the loop.")
    .expect(test_train_epoch="failed:epoch-without-zero-grad")
    .edit("losses, sizes = [], []", "losses, sizes = [], []\n    optimizer.zero_grad()")
    .edit("        optimizer.zero_grad()\n", ""),
    Wrong("wrong_model_travels", "The model travels in every pass.")
    .breaks("Nothing else of that size is copied")
    .expect(test_train_epoch="partial:copied-more-than-once")
    .edit("optimizer.step()", "optimizer.step()\n        model.cpu()\n        model.to(device)"),
    Wrong("wrong_two_in_the_epoch", "Gradients pile up, and the mean is one over batches.")
    .expect(
        test_train_epoch="failed:epoch-without-zero-grad+epoch-mean-of-batch-means",
    )
    .edit("        optimizer.zero_grad()\n", "")
    .edit("float(loss) * len(labels)", "float(loss)")
    .edit("sum(sizes)", "len(sizes)"),
    Wrong("wrong_epoch_loss_afterwards", "The loss is computed again after the step.")
    .breaks("Each batch's loss is the one before its step")
    .expect(test_train_epoch="partial:epoch-loss-afterwards")
    .edit(
        "losses.append(float(loss) * len(labels))", "losses.append(float(loss_fn(model(inputs), labels)) * len(labels))"
    ),
    Wrong("wrong_epoch_divides_by_the_data_set", "The sum is divided by the size of the data set.")
    .breaks("that the loader gives, a Python `float`")
    .expect(test_train_epoch="partial:epoch-divides-by-the-data-set")
    .edit("sum(sizes)", "len(loader.dataset)"),
]
