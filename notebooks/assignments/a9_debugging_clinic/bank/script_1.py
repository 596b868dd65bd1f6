"""Mends of script 1, and what is left or done wrong in others. The script is that of the reference's identifier."""

from autograder.bank import Wrong
from course_lib.checks import clinic

HANDED_OUT = clinic.script(1, "reference 895")


def mended(*edits):
    text = HANDED_OUT
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


BASES = {
    # The softmax of a log-softmax is the softmax: this network gives logits, too.
    "log_softmax": mended(
        ("nn.Softmax(dim=1)", "nn.LogSoftmax(dim=1)"),
        ("    with torch.no_grad():\n        for", "    net.train(False)\n    with torch.no_grad():\n        for"),
    ),
    "mode_by_the_caller": mended(
        ("        nn.Softmax(dim=1),\n", ""),
        ("        test_loss, test_accuracy =", "        net.eval()\n        test_loss, test_accuracy ="),
    ),
    "likelihood_of_logarithms": mended(
        ("        nn.Softmax(dim=1),\n", "        nn.LogSoftmax(dim=-1),\n"),
        ("criterion = nn.CrossEntropyLoss()", "criterion = nn.NLLLoss()"),
        ("            logits = net(images)", "            logits = net.eval()(images)"),
    ),
}

WRONG = [
    Wrong("wrong_digits_piled_up", "The gradients are cleared once, before the first epoch.")
    .expect(test_script_1="partial:digits-gradients-not-cleared")
    .base("mode_by_the_caller")
    .edit("            optimizer.zero_grad()\n", "")
    .edit("    for _ in range(epochs):\n", "    optimizer.zero_grad()\n    for _ in range(epochs):\n"),
    Wrong("wrong_digits_cleared_once_an_epoch", "The gradients are cleared before the first batch of each epoch.")
    .expect(test_script_1="partial:digits-gradients-cleared-once-an-epoch")
    .edit("            optimizer.zero_grad()\n", "")
    .edit("        net.train()\n", "        net.train()\n        optimizer.zero_grad()\n"),
    Wrong("wrong_digits_cleared_every_second_batch", "Two batches share their gradients; nobody has a name for it.")
    .expect(test_script_1="partial")
    .edit(
        "            optimizer.zero_grad()\n", "            if seen % 32 == 0:\n                optimizer.zero_grad()\n"
    ),
    Wrong("wrong_digits_arrays", "The numbers of the epochs are arrays, not lists.")
    .expect(test_script_1="partial")
    .edit("    return net, history", "    return net, {name: np.array(values) for name, values in history.items()}"),
    Wrong("wrong_digits_eval_stays", "Only the first epoch trains in training mode.")
    .expect(test_script_1="partial:digits-trains-in-eval-mode")
    .edit("    for _ in range(epochs):\n        net.train()\n", "    net.train(True)\n    for _ in range(epochs):\n"),
    Wrong("wrong_digits_softmax_left", "The mode is mended, the second softmax is not.")
    .expect(test_script_1="partial:digits-softmax-twice")
    .edit("nn.LogSoftmax(dim=1)", "nn.Softmax(dim=-1)"),
    Wrong("wrong_digits_all_rows", "Mean and deviation of training and test rows together.")
    .expect(test_script_1="partial:digits-statistics-from-test")
    .edit(
        "np.mean(x_train, axis=0)\n    spread = np.std(x_train, axis=0)",
        "np.vstack((x_train, x_test)).mean(axis=0)\n    spread = np.vstack((x_train, x_test)).std(axis=0)",
    ),
    Wrong("wrong_digits_deviation_of_all_rows", "Only the mean is that of the training rows.")
    .expect(test_script_1="partial:digits-deviation-from-test")
    .breaks("A mended script does what its docstrings say")
    .base("mode_by_the_caller")
    .edit("spread = np.std(x_train, axis=0)", "spread = np.vstack((x_test, x_train)).std(axis=0)"),
    Wrong("wrong_digits_mean_of_all_rows", "Only the deviation is that of the training rows.")
    .expect(test_script_1="partial:digits-mean-from-test")
    .base("likelihood_of_logarithms")
    .edit(
        "center = np.mean(x_train, axis=0)",
        "center = (x_train.sum(axis=0) + x_test.sum(axis=0)) / (len(x_train) + len(x_test))",
    ),
    Wrong("wrong_digits_mean_of_means", "Each batch counts the same.")
    .expect(test_script_1="partial:digits-mean-of-means")
    .base("likelihood_of_logarithms")
    .edit(
        "            loss_sum += batch_loss.item() * len(images)\n            hits",
        "            loss_sum += float(batch_loss) / len(loader)\n            hits",
    )
    .edit("return loss_sum / seen, hits", "return loss_sum, hits"),
    Wrong("wrong_digits_batch_means_over_rows", "A sum of means, divided by rows.")
    .expect(test_script_1="partial:digits-batch-means-over-rows")
    .base("mode_by_the_caller")
    .edit(
        "            loss_sum += batch_loss.item() * len(images)\n            hits",
        "            loss_sum += float(batch_loss)\n            hits",
    ),
    Wrong("wrong_digits_batch_size_for_each", "Each batch's mean times the size of a full one, divided by rows.")
    .expect(test_script_1="partial:digits-smaller-batch-counts-as-a-full-one")
    .base("mode_by_the_caller")
    .edit(
        "            loss_sum += batch_loss.item() * len(images)\n            hits",
        "            loss_sum += loader.batch_size * float(batch_loss)\n            hits",
    ),
    Wrong("wrong_digits_row_losses_over_batches", "A sum over rows, divided by batches.")
    .expect(test_script_1="partial:digits-row-losses-over-batches")
    .edit("return loss_sum / seen, hits", "return loss_sum / -(-seen // 16), hits"),
    Wrong("wrong_digits_one_test_batch", "Each batch counts the same, and the test set is one batch.")
    .expect(test_script_1="partial:digits-mean-over-equal-batches")
    .base("mode_by_the_caller")
    .edit("batch_loss.item() * len(images)\n            hits", "batch_loss.item()\n            hits")
    .edit("return loss_sum / seen, hits", "return loss_sum / len(loader), hits")
    .edit("DataLoader(test_set, batch_size=16)", "DataLoader(test_set, batch_size=len(x_test))"),
    Wrong("wrong_digits_single_test_rows", "Each batch counts the same, and a batch is one row.")
    .expect(test_script_1="partial:digits-mean-over-equal-batches")
    .edit("batch_loss.item() * len(images)\n            hits", "batch_loss.item()\n            hits")
    .edit("return loss_sum / seen, hits", "return loss_sum / len(loader), hits")
    .edit("DataLoader(test_set, batch_size=16)", "DataLoader(test_set, batch_size=1)"),
    Wrong("wrong_digits_logarithm_in_the_loss", "The softmax is left, and the loss takes the logarithm.")
    .expect(test_script_1="partial:digits-probabilities-for-logits")
    .base("likelihood_of_logarithms")
    .edit("nn.LogSoftmax(dim=-1)", "nn.Softmax(dim=1)")
    .edit("criterion = nn.NLLLoss()", "criterion = lambda p, y: nn.NLLLoss()(p.log(), y)"),
    Wrong("wrong_digits_test_set_alone", "Each set is scaled with its own mean and deviation.")
    .expect(test_script_1="partial:digits-test-set-scaled-alone")
    .base("mode_by_the_caller")
    .edit(
        "    test_set = TensorDataset(torch.tensor((x_test - center) / spread),",
        "    own, width = x_test.mean(0), x_test.std(0) + 0.1\n"
        "    test_set = TensorDataset(torch.tensor((x_test - own) / width),",
    ),
    Wrong("wrong_digits_test_rows_alone", "The test rows are scaled with numbers of their own, as tensors.")
    .expect(test_script_1="partial:digits-test-set-scaled-alone")
    .edit(
        "    test_set = TensorDataset(torch.tensor((x_test - center) / spread),",
        "    rows = torch.tensor(x_test)\n"
        "    rows = (rows - rows.mean(0)) / (rows.std(0, correction=0) + 0.1)\n"
        "    test_set = TensorDataset(rows,",
    ),
    Wrong("wrong_digits_untouched", "The diagnosis is right, and the cell for the script is as it was received.")
    .expect(test_script_1="partial:script-or-diagnosis-untouched")
    .base("stub"),
    Wrong("wrong_digits_labels_stay", "The labels of the training batches stay on the CPU.")
    .expect(test_script_1="partial:tensors-on-two-devices")
    .breaks("run on whichever device they are given")
    .base("likelihood_of_logarithms")
    .edit(
        "            labels = labels.to(device)\n            optimizer.zero_grad()\n",
        "            optimizer.zero_grad()\n",
    ),
    Wrong("wrong_digits_mode_left", "The softmax is mended, the mode is not.")
    .expect(test_script_1="partial:digits-evaluates-in-training-mode")
    .base("mode_by_the_caller")
    .edit("        net.eval()\n", ""),
    Wrong("wrong_digits_two_left", "A fault that is left, and one that was not there before.")
    .expect(test_script_1="partial:digits-softmax-twice+digits-statistics-from-test")
    .edit("nn.LogSoftmax(dim=1)", "nn.Softmax(dim=1)")
    .edit(
        "np.mean(x_train, axis=0)\n    spread = np.std(x_train, axis=0)",
        "np.vstack((x_train, x_test)).mean(axis=0)\n    spread = np.vstack((x_train, x_test)).std(axis=0)",
    ),
    Wrong("wrong_digits_as_handed_out", "Nothing is mended, though the diagnosis is right.")
    .expect(test_script_1="partial:digits-softmax-twice+digits-evaluates-in-training-mode")
    .breaks("A mended script does what its docstrings say")
    .whole(HANDED_OUT),
    Wrong("wrong_digits_renamed", "The function that trains has another name.")
    .expect(test_script_1="partial:script-arguments-changed")
    .breaks("The functions keep their names and their arguments")
    .edit("def train_digits(", "def train_on_digits("),
    Wrong("wrong_digits_on_the_host", "It runs on the CPU, whatever is asked for.")
    .expect(test_script_1="partial:tensors-on-two-devices")
    .breaks("run on whichever device they are given")
    .edit("    torch.manual_seed(seed)\n", '    torch.manual_seed(seed)\n    device = "cpu"\n'),
]
