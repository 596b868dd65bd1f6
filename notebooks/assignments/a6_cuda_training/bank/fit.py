"""Wrong answers to `fit`."""

from autograder.bank import Wrong

BASES = {
    "copied_weights": """
import copy


def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model = model.to(device)
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
    sched = torch.optim.lr_scheduler.StepLR(opt, 1, gamma=0.8)
    writer = SummaryWriter(log_dir)
    train_losses, val_losses, accuracies = [], [], []
    for epoch in range(epochs):
        train_losses.append(train_epoch(model, train_loader, criterion, opt, device))
        loss, accuracy = evaluate(model, val_loader, criterion, device)
        sched.step()
        val_losses.append(loss)
        accuracies.append(accuracy)
        writer.add_scalar("loss/train", train_losses[-1], epoch + 1)
        writer.add_scalar("loss/validation", val_losses[-1], epoch + 1)
        writer.add_scalar("accuracy/validation", accuracies[-1], epoch + 1)
        if epoch == 0 or loss < min(val_losses[:-1]):
            best = copy.deepcopy(model.state_dict())
    writer.close()
    model.load_state_dict(best)
    return {"loss/train": train_losses, "loss/validation": val_losses, "accuracy/validation": accuracies}
""",
}

WRONG = [
    Wrong("wrong_fit_training_loss_evaluated", "The training loss is that of a second pass.")
    .breaks("Each epoch trains on everything")
    .expect(test_fit="failed:fit-training-loss-evaluated")
    .edit(
        "train_losses.append(train_epoch(model, train_loader, criterion, opt, device))",
        "train_epoch(model, train_loader, criterion, opt, device)\n"
        "        train_losses.append(evaluate(model, train_loader, criterion, device)[0])",
    ),
    Wrong("wrong_fit_validates_before_training", "evaluate stands above train_epoch.")
    .breaks("Each epoch trains on everything")
    .expect(test_fit="failed:fit-validates-before-training")
    .edit("        loss, accuracy = evaluate(model, val_loader, criterion, device)\n", "")
    .edit(
        "        train_losses.append(train",
        "        loss, accuracy = evaluate(model, val_loader, criterion, device)\n        train_losses.append(train",
    ),
    Wrong("wrong_fit_best_by_accuracy", "The highest accuracy.")
    .expect(test_fit="partial:fit-best-by-accuracy")
    .edit("loss < min(val_losses[:-1])", "accuracy > max(accuracies[:-1])"),
    Wrong("wrong_fit_best_by_training_loss", "The lowest training loss.")
    .expect(test_fit="partial:fit-best-by-training-loss")
    .edit("loss < min(val_losses[:-1])", "train_losses[-1] < min(train_losses[:-1])"),
    Wrong("wrong_fit_best_not_copied", "The best are not copied.")
    .expect(test_fit="partial:fit-last-weights")
    .edit("copy.deepcopy", "dict"),
    Wrong("wrong_fit_best_without_statistics", "Parameters only.")
    .expect(test_fit="partial:fit-best-without-statistics")
    .edit("best = copy.deepcopy(model.state_dict())", "best = [p.detach().clone() for p in model.parameters()]")
    .edit("model.load_state_dict(best)", "for p, kept in zip(model.parameters(), best):\n        p.data.copy_(kept)"),
    Wrong("wrong_fit_hard_coded_cuda", "The usual line, whatever the caller says.")
    .expect(test_fit="failed:fit-hard-coded-cuda")
    .edit(
        "def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):",
        """def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')""",
    ),
    Wrong("wrong_fit_last_weights", "The best are kept and not used.")
    .breaks("`model` holds the parameters and running statistics")
    .expect(test_fit="partial:fit-last-weights")
    .edit("    model.load_state_dict(best)\n", ""),
    Wrong("wrong_fit_learning_rate_constant", "No schedule.")
    .breaks("After each epoch the learning rate is multiplied")
    .expect(test_fit="partial:fit-learning-rate-constant")
    .edit("        sched.step()\n", ""),
    Wrong("wrong_fit_learning_rate_falls_too_early", "The schedule comes first.")
    .expect(test_fit="failed:fit-learning-rate-falls-too-early")
    .edit("for epoch in range(epochs):", "for epoch in range(epochs):\n        sched.step()")
    .edit("        sched.step()\n", ""),
    Wrong("wrong_fit_model_back_on_host", "The model is brought home.")
    .breaks("and stays there")
    .expect(test_fit="partial:fit-model-back-on-host")
    .edit("model.load_state_dict(best)", "model.load_state_dict(best)\n    model.to('cpu')"),
    Wrong("wrong_fit_model_not_moved", "The model stays on the host.")
    .expect(test_fit="partial:fit-model-not-moved")
    .edit("    model = model.to(device)\n", ""),
    Wrong("wrong_fit_on_the_host_and_back", "Everything on the CPU, and the model sent to the device.")
    .expect(test_fit="partial:fit-on-the-host-and-back")
    .edit(
        "def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):",
        """def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model.to("cpu")
    result = on_the_host(model, train_loader, val_loader, epochs, learning_rate, "cpu", log_dir)
    model.to(device)
    return result


def on_the_host(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):""",
    ),
    Wrong("wrong_fit_on_the_cpu", "Everything on the CPU.")
    .breaks("It is trained on `device` and stays there")
    .expect(test_fit="partial:fit-on-the-cpu")
    .edit(
        "def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):",
        """def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    device = torch.device('cpu')""",
    ),
    Wrong("wrong_fit_one_epoch_more", "One more.")
    .expect(test_fit="failed:fit-one-epoch-more")
    .edit("range(epochs)", "range(epochs + 1)"),
    Wrong("wrong_fit_one_epoch_short", "The range starts at 1.")
    .breaks("training from the first epoch to the last")
    .expect(test_fit="failed:fit-one-epoch-short")
    .edit("range(epochs)", "range(epochs - 1)")
    .edit("model.load_state_dict(best)", "if epochs > 1:\n        model.load_state_dict(best)"),
    Wrong("wrong_fit_optimizer_made_anew", "A new optimizer in every epoch.")
    .expect(test_fit="partial:fit-optimizer-made-anew")
    .edit(
        "for epoch in range(epochs):",
        """for epoch in range(epochs):
        opt = torch.optim.SGD(model.parameters(), lr=learning_rate * 0.8**epoch, momentum=0.9)""",
    ),
    Wrong("wrong_fit_optimizer_of_a_copy", "The optimizer gets the parameters of a copy.")
    .expect(test_fit="failed:fit-optimizer-of-a-copy")
    .edit("model = model.to(device)", "model = model.to(device)\n    net = copy.deepcopy(model)")
    .edit("model.parameters", "net.parameters"),
    Wrong("wrong_fit_scalars_swapped", "Two tags swapped.")
    .expect(test_fit="partial:fit-scalars-swapped")
    .edit("train_losses[-1]", "val_losses[-1]")
    .edit("val_losses[-1]", "train_losses[-1]"),
    Wrong("wrong_fit_steps_from_zero", "Steps from 0.")
    .breaks("with the keys as tags and the steps")
    .expect(test_fit="partial:fit-steps-from-zero")
    .edit("train_losses[-1], epoch + 1", "train_losses[-1], epoch")
    .edit("val_losses[-1], epoch + 1", "val_losses[-1], epoch")
    .edit("accuracies[-1], epoch + 1", "accuracies[-1], epoch"),
    Wrong("wrong_fit_steps_missing", "No steps.")
    .expect(test_fit="partial:fit-steps-missing")
    .edit("train_losses[-1], epoch + 1", "train_losses[-1]")
    .edit("val_losses[-1], epoch + 1", "val_losses[-1]")
    .edit("accuracies[-1], epoch + 1", "accuracies[-1]"),
    Wrong("wrong_fit_trains_on_validation_data", "The wrong loader is trained on.")
    .breaks("Each epoch trains on everything")
    .expect(test_fit="failed:fit-trains-on-validation-data")
    .edit(
        "train_epoch(model, train_loader, criterion, opt, device)",
        "train_epoch(model, val_loader, criterion, opt, device)",
    ),
    Wrong("wrong_fit_validates_on_training_data", "The wrong loader is evaluated.")
    .expect(test_fit="failed:fit-validates-on-training-data")
    .edit("evaluate(model, val_loader, criterion, device)", "evaluate(model, train_loader, criterion, device)"),
    Wrong("wrong_fit_without_momentum", "Plain SGD.")
    .breaks("The optimizer is `torch.optim.SGD` with")
    .expect(test_fit="failed:fit-without-momentum")
    .edit(
        "opt = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)",
        "opt = torch.optim.SGD(model.parameters(), lr=learning_rate)",
    ),
    Wrong("wrong_fit_worst_weights", "The comparison is turned round.")
    .expect(test_fit="partial:fit-worst-weights")
    .edit("loss < min(val_losses[:-1])", "loss > max(val_losses[:-1])"),
    Wrong("wrong_scalars_under_other_names", "Other tags.")
    .breaks("The same numbers are written as scalars")
    .expect(test_fit="partial:scalars-under-other-names")
    .edit('"loss/train", train', '"train/loss", train')
    .edit('"loss/validation", val', '"val/loss", val')
    .edit('"accuracy/validation", acc', '"val/accuracy", acc'),
    Wrong("wrong_two_in_fit", "The learning rate stays, and the last weights are returned.")
    .expect(test_fit="partial:fit-learning-rate-constant")
    .edit("        sched.step()\n", "")
    .edit("    model.load_state_dict(best)\n", ""),
    Wrong("wrong_writer_not_closed", "The writer is left open.")
    .breaks("they are in the file")
    .expect(test_fit="partial:writer-not-closed")
    .edit("    writer.close()\n", ""),
    Wrong("wrong_fit_adam", "Adam instead of SGD.")
    .breaks("The optimizer is `torch.optim.SGD` with")
    .expect(test_fit="failed")
    .edit(
        "torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)",
        "torch.optim.Adam(model.parameters(), lr=learning_rate)",
    ),
    Wrong("wrong_fit_smoothed_labels", "Label smoothing.")
    .breaks("The loss is `nn.CrossEntropyLoss()`")
    .expect(test_fit="failed")
    .edit("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(label_smoothing=0.1)"),
    Wrong("wrong_fit_last_of_equals", "<= in place of <.")
    .breaks("after the first of them if several are equal")
    .expect(test_fit="partial:fit-last-of-equals")
    .edit("loss < min(val_losses[:-1])", "loss <= min(val_losses[:-1])"),
    Wrong("wrong_fit_stops_early", "The end comes with the first loss that does not fall.")
    .breaks("training from the first epoch to the last")
    .expect(test_fit="partial:fit-stops-early")
    .edit(
        "            best = copy.deepcopy(model.state_dict())\n",
        "            best = copy.deepcopy(model.state_dict())\n        else:\n            break\n",
    ),
    Wrong("wrong_fit_loses_a_key", "The accuracy is written and not returned.")
    .breaks("It returns a dict with the keys")
    .expect(test_fit="failed")
    .edit(', "accuracy/validation": accuracies}', "}"),
    Wrong("wrong_fit_lists_of_tensors", "The numbers are collected as tensors.")
    .breaks("Each holds a list of one Python `float`")
    .expect(test_fit="failed:result-is-a-tensor")
    .edit("accuracies.append(accuracy)", "accuracies.append(torch.tensor(accuracy))"),
    Wrong("wrong_scalars_elsewhere", "The writer is not told the folder.")
    .breaks("into the folder `log_dir` itself")
    .expect(test_fit="partial:scalars-elsewhere")
    .edit("SummaryWriter(log_dir)", 'SummaryWriter(log_dir + "/run1")'),
]
