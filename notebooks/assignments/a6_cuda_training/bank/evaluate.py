"""Wrong answers to `evaluate`."""

from autograder.bank import Wrong

BASES = {
    "in_lists": """
def evaluate(model, loader, loss_fn, device):
    before = model.training
    model.train(False)
    losses, hits, sizes = [], [], []
    with torch.inference_mode():
        for batch in loader:
            inputs, labels = (t.to(device) for t in batch)
            output = model(inputs)
            losses.append(float(loss_fn(output, labels)) * len(labels))
            hits.append(int((output.max(dim=1)[1] == labels).sum()))
            sizes.append(len(labels))
    model.train(before)
    return sum(losses) / sum(sizes), sum(hits) / sum(sizes)
""",
}

WRONG = [
    Wrong("wrong_accuracy_in_per_cent", "Per cent.")
    .breaks("`accuracy` is the share of rows")
    .expect(test_evaluate="failed:accuracy-in-per-cent")
    .edit("sum(hits) / sum(sizes)", "sum(hits) / sum(sizes) * 100"),
    Wrong("wrong_accuracy_is_a_count", "The number of hits.")
    .expect(test_evaluate="failed:accuracy-is-a-count")
    .edit("sum(hits) / sum(sizes)", "float(sum(hits))"),
    Wrong("wrong_accuracy_is_the_error", "The error rate.")
    .expect(test_evaluate="failed:accuracy-is-the-error")
    .edit("sum(hits)", "1 - sum(hits)"),
    Wrong("wrong_accuracy_mean_of_batch_means", "The accuracy is averaged over batches.")
    .expect(test_evaluate="partial:accuracy-mean-of-batch-means")
    .edit("int((output.max(dim=1)[1] == labels).sum())", "float((output.max(dim=1)[1] == labels).sum()) / len(labels)")
    .edit("sum(hits) / sum(sizes)", "sum(hits) / len(hits)"),
    Wrong("wrong_accuracy_over_the_wrong_axis", "The maximum over the rows.")
    .expect(test_evaluate="failed:accuracy-over-the-wrong-axis")
    .edit("output.max(dim=1)[1]", "torch.argmax(output, 0)"),
    Wrong("wrong_both_means_of_batch_means", "Both are averaged over batches.")
    .expect(test_evaluate="partial:both-means-of-batch-means")
    .edit("float(loss_fn(output, labels)) * len(labels)", "float(loss_fn(output, labels))")
    .edit("int((output.max(dim=1)[1] == labels).sum())", "(output.max(dim=1)[1] == labels).double().mean().item()")
    .edit("sum(losses) / sum(sizes)", "sum(losses) / len(losses)")
    .edit("sum(hits) / sum(sizes)", "sum(hits) / len(hits)"),
    Wrong("wrong_evaluated_in_training_mode", "train(True) by mistake.")
    .expect(test_evaluate="failed:evaluated-in-training-mode")
    .edit("model.train(False)", "model.train(True)"),
    Wrong("wrong_evaluation_always_to_training_mode", "Back to training, always.")
    .expect(test_evaluate="partial:evaluation-always-to-training-mode")
    .edit("model.train(before)", "model.train()"),
    Wrong("wrong_evaluation_batch_left_on_host", "Nothing is moved.")
    .expect(test_evaluate="partial:evaluation-batch-left-on-host")
    .edit("(t.to(device) for t in batch)", "batch"),
    Wrong("wrong_evaluation_builds_graphs", "No no_grad.")
    .breaks("no graph is built")
    .expect(test_evaluate="partial:evaluation-builds-graphs")
    .edit("with torch.inference_mode():", "if True:"),
    Wrong("wrong_evaluation_clears_gradients", "Gradients are thrown away to be safe.")
    .breaks("Parameters, their `requires_grad` and `.grad`")
    .expect(test_evaluate="partial:evaluation-clears-gradients")
    .edit("model.train(False)", "model.train(False)\n    for p in model.parameters():\n        p.grad = None"),
    Wrong("wrong_evaluation_divides_by_the_data_set", "Loss and accuracy are divided by the size of the data set.")
    .expect(test_evaluate="partial:evaluation-divides-by-the-data-set")
    .edit("sum(losses) / sum(sizes)", "sum(losses) / len(loader.dataset)")
    .edit("sum(hits) / sum(sizes)", "sum(hits) / len(loader.dataset)"),
    Wrong("wrong_evaluation_freezes_parameters", "requires_grad stays False.")
    .expect(test_evaluate="partial:evaluation-freezes-parameters")
    .edit(
        "model.train(False)", "model.train(False)\n    for p in model.parameters():\n        p.requires_grad = False"
    ),
    Wrong("wrong_evaluation_hard_coded_cuda", ".cuda() in the loop.")
    .expect(test_evaluate="failed:evaluation-hard-coded-cuda")
    .edit("t.to(device)", "t.cuda()"),
    Wrong("wrong_evaluation_labels_left_on_host", "Only the inputs are moved.")
    .expect(test_evaluate="partial:evaluation-labels-left-on-host")
    .edit(
        "inputs, labels = (t.to(device) for t in batch)",
        "inputs, labels = batch\n            inputs = inputs.to(device)",
    ),
    Wrong("wrong_evaluation_mean_of_batch_means", "The loss is averaged over batches.")
    .breaks("`loss` is the mean of `loss_fn` over all rows")
    .expect(test_evaluate="partial:evaluation-mean-of-batch-means")
    .edit("float(loss_fn(output, labels)) * len(labels)", "float(loss_fn(output, labels))")
    .edit("sum(losses) / sum(sizes)", "sum(losses) / len(losses)"),
    Wrong("wrong_evaluation_mode_left_on", "Not put back.")
    .breaks("Afterwards `model.training` is what it was")
    .expect(test_evaluate="partial:evaluation-mode-left-on")
    .edit("    model.train(before)\n", ""),
    Wrong("wrong_evaluation_mode_not_set", "The mode is left alone.")
    .expect(test_evaluate="partial:evaluation-mode-not-set")
    .edit("    model.train(False)\n", ""),
    Wrong("wrong_evaluation_on_the_host_and_back", "To the host, a look, and back.")
    .expect(test_evaluate="partial:evaluation-on-the-host-and-back")
    .edit(
        "def evaluate(model, loader, loss_fn, device):",
        """def evaluate(model, loader, loss_fn, device):
    model.to("cpu")
    result = on_the_host(model, loader, loss_fn, "cpu")
    model.to(device)
    return result


def on_the_host(model, loader, loss_fn, device):""",
    ),
    Wrong("wrong_evaluation_moves_the_model_to_cuda", "The usual line, whatever the caller says.")
    .expect(test_evaluate="failed:evaluation-moves-the-model-to-cuda")
    .edit(
        "def evaluate(model, loader, loss_fn, device):",
        """def evaluate(model, loader, loss_fn, device):
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model.to(device)""",
    ),
    Wrong("wrong_evaluation_of_the_first_batch", "next(iter(loader)).")
    .expect(test_evaluate="failed:evaluation-of-the-first-batch")
    .edit("for batch in loader:", "for batch in [next(iter(loader))]:"),
    Wrong("wrong_evaluation_of_the_last_batch", "The lists are made anew in each pass.")
    .expect(test_evaluate="failed:evaluation-of-the-last-batch")
    .edit("for batch in loader:", "for batch in loader:\n            losses, hits, sizes = [], [], []"),
    Wrong("wrong_evaluation_remembers", "The lists are default arguments.")
    .breaks("Every call starts from nothing")
    .expect(test_evaluate="failed:evaluation-remembers")
    .edit(
        "def evaluate(model, loader, loss_fn, device):",
        "def evaluate(model, loader, loss_fn, device, losses=[], hits=[], sizes=[]):",
    )
    .edit("    losses, hits, sizes = [], [], []\n", ""),
    Wrong("wrong_evaluation_returns_tensors", "Two tensors.")
    .breaks("It returns the tuple `(loss, accuracy)`")
    .expect(test_evaluate="failed:result-is-a-tensor")
    .edit("float(loss_fn(output, labels))", "loss_fn(output, labels)")
    .edit("int((output.max(dim=1)[1] == labels).sum())", "(output.max(dim=1)[1] == labels).sum()"),
    Wrong("wrong_evaluation_waits_too_often", "Row by row in Python.")
    .breaks("The host waits at most twice")
    .expect(test_evaluate="partial:evaluation-waits-too-often")
    .edit(
        "int((output.max(dim=1)[1] == labels).sum())",
        "sum(a.item() == b.item() for a, b in zip(output.argmax(1), labels))",
    ),
    Wrong("wrong_accuracy_before_the_loss", "(accuracy, loss).")
    .breaks("It returns the tuple `(loss, accuracy)`")
    .expect(test_evaluate="failed:accuracy-before-the-loss")
    .edit(
        "return sum(losses) / sum(sizes), sum(hits) / sum(sizes)",
        "return sum(hits) / sum(sizes), sum(losses) / sum(sizes)",
    ),
    Wrong("wrong_evaluation_copies_twice", "The labels are copied once for the loss and once for the accuracy.")
    .breaks("Every tensor of a batch is copied to the device once")
    .expect(test_evaluate="partial:copied-more-than-once")
    .edit("output = model(inputs)", "output = model(inputs)\n            model(batch[0].to(device))"),
    Wrong("wrong_evaluation_last_batch_skipped", "Smaller batches are skipped.")
    .breaks("over everything that the loader gives")
    .expect(test_evaluate="partial:evaluation-last-batch-skipped")
    .edit(
        "            output = model(inputs)",
        """            if sizes and len(labels) < sizes[0]:
                continue
            output = model(inputs)""",
    ),
    Wrong("wrong_evaluation_unfreezes_parameters", "Everything is frozen for a while, and everything melts.")
    .breaks("Parameters, their `requires_grad` and `.grad`")
    .expect(test_evaluate="partial:evaluation-unfreezes-parameters")
    .edit("model.train(False)", "model.train(False)\n    model.requires_grad_(False)")
    .edit("model.train(before)", "model.requires_grad_(True)\n    model.train(before)"),
    Wrong("wrong_evaluation_in_the_mode_it_came", "The mode comes back inside the loop.")
    .breaks("The model works in evaluation mode")
    .expect(test_evaluate="failed")
    .edit("sizes.append(len(labels))", "sizes.append(len(labels))\n            model.train(True)"),
]
