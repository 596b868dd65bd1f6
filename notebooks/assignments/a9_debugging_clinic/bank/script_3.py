"""Mends of script 3, and what is left or done wrong in others. The script is that of the reference's identifier."""

from autograder.bank import Wrong
from course_lib.checks import clinic

HANDED_OUT = clinic.script(3, "reference 895")
SELECTED = "        if train_loss < lowest:\n            lowest, waited = train_loss, 0\n"


def mended(*edits):
    text = HANDED_OUT
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


BASES = {
    "only_dropout_trains": mended(
        ("        net.train()\n", "        net.dropout.train()\n"),
        (SELECTED, "        if val_loss < lowest:\n            waited, lowest = 0, val_loss\n"),
        ("    criterion = nn.CrossEntropyLoss()\n", "    criterion = nn.CrossEntropyLoss()\n    net.eval()\n"),
    ),
    "read_from_the_history": mended(
        ("        net.train()\n", "        net.train().backbone.train(False)\n"),
        (SELECTED, '        if history["val_loss"][-1] < lowest:\n            lowest, waited = val_loss, 0\n'),
    ),
    "layer_by_layer": mended(
        (
            "        net.train()\n",
            "        net.train()\n        for layer in net.backbone:\n            layer.eval()\n",
        ),
        (SELECTED, "        if lowest > val_loss:\n            waited = 0\n            lowest = val_loss\n"),
    ),
}

WRONG = [
    Wrong("wrong_pets_old_head", "The optimizer has the parameters of the head that was there before.")
    .expect(test_script_3="partial:pets-wrong-parameters")
    .base("read_from_the_history")
    .edit(
        "    net.head = nn.Linear(net.head.in_features, classes).to(device)\n",
        "    old = list(net.head.parameters())\n    net.head = nn.Linear(net.head.in_features, classes).to(device)\n",
    )
    .edit("torch.optim.SGD(net.head.parameters(), ", "torch.optim.SGD(old, "),
    Wrong("wrong_pets_no_copy", "What is kept are the network's own tensors.")
    .expect(test_script_3="partial:pets-best-is-a-reference")
    .base("layer_by_layer")
    .edit(
        "            best = copy.deepcopy(net.state_dict())\n        else",
        "            best = copy.copy(net.state_dict())\n        else",
    ),
    Wrong("wrong_pets_training_loss", "The training loss chooses the best epoch.")
    .expect(test_script_3="partial:pets-selected-on-training")
    .edit(
        "        if val_loss < lowest:\n            waited, lowest = 0, val_loss\n",
        "        if train_loss < lowest:\n            waited, lowest = 0, train_loss\n",
    ),
    Wrong("wrong_pets_statistics", "The backbone's batch normalization learns.")
    .expect(test_script_3="partial:pets-frozen-statistics-move")
    .base("read_from_the_history")
    .edit("net.train().backbone.train(False)", "net.train()"),
    Wrong("wrong_pets_statistics_copied_back", "The backbone trains, and its old state comes back after each epoch.")
    .expect(test_script_3="partial:pets-frozen-statistics-put-back")
    .breaks("A mended script does what its docstrings say")
    .base("layer_by_layer")
    .edit(
        "        for layer in net.backbone:\n            layer.eval()\n",
        "        old = copy.deepcopy(net.backbone.state_dict())\n",
    )
    .edit(
        "        val_loss, val_accuracy =",
        "        net.backbone.load_state_dict(old)\n        val_loss, val_accuracy =",
    ),
    Wrong("wrong_pets_statistics_without_momentum", "The statistics do not move, and the batch's are used in training.")
    .expect(test_script_3="partial:pets-frozen-statistics-put-back")
    .base("read_from_the_history")
    .edit("net.train().backbone.train(False)", "net.train().backbone[1].momentum = 0.0"),
    Wrong("wrong_pets_dropout", "Validation with dropout.")
    .expect(test_script_3="partial:pets-evaluates-in-training-mode")
    .base("layer_by_layer")
    .edit("    net.eval()\n    with torch", "    with torch"),
    Wrong("wrong_pets_first_network_tuned", "The network that was trained before is tuned itself; nobody has a name.")
    .expect(test_script_3="partial")
    .breaks("A mended script does what its docstrings say")
    .edit("net = copy.deepcopy(trained).to(device)", "net = trained.to(device)"),
    Wrong("wrong_pets_tuples", "The numbers of the epochs are tuples, not lists.")
    .expect(test_script_3="partial")
    .edit("    return net, history", "    return net, {name: tuple(values) for name, values in history.items()}"),
    Wrong("wrong_pets_as_handed_out", "Nothing is mended: two faults are left.")
    .expect(test_script_3="partial:pets-selected-on-training+pets-frozen-statistics-move")
    .whole(HANDED_OUT),
    Wrong("wrong_pets_frozen", "The optimizer never steps.")
    .expect(test_script_3="partial:pets-wrong-parameters")
    .base("layer_by_layer")
    .edit("            optimizer.step()\n", ""),
    Wrong("wrong_pets_half_compared", "The validation loss is compared, and the training loss is kept.")
    .expect(test_script_3="partial:pets-validation-loss-against-training-loss")
    .base("read_from_the_history")
    .edit("lowest, waited = val_loss, 0", "lowest, waited = train_loss, 0"),
    Wrong("wrong_pets_half_kept", "The validation loss is kept, and the training loss is compared.")
    .expect(test_script_3="partial:pets-training-loss-against-validation-loss")
    .base("layer_by_layer")
    .edit("if lowest > val_loss:", "if lowest > train_loss:"),
    Wrong("wrong_pets_best_if_stopped", "The best weights come back only where patience runs out.")
    .expect(test_script_3="partial:pets-best-only-where-patience-ends")
    .breaks("A mended script does what its docstrings say")
    .base("layer_by_layer")
    .edit(
        "                break\n    net.load_state_dict(best)\n",
        "                net.load_state_dict(best)\n                break\n",
    ),
    Wrong("wrong_pets_best_if_waited", "The best weights come back only where patience is used up at the end.")
    .expect(test_script_3="partial:pets-best-only-where-patience-ends")
    .base("only_dropout_trains")
    .edit("    net.load_state_dict(best)\n", "    if waited >= patience:\n        net.load_state_dict(best)\n"),
    Wrong("wrong_pets_all_in_evaluation_mode", "The whole network is in evaluation mode, the dropout too.")
    .expect(test_script_3="partial:pets-trains-without-dropout")
    .base("read_from_the_history")
    .edit("net.train().backbone.train(False)", "net.eval()"),
    Wrong("wrong_pets_mode_set_too_late", "Training mode for a moment, and then evaluation mode for all.")
    .expect(test_script_3="partial:pets-trains-without-dropout")
    .base("layer_by_layer")
    .edit("        for layer in net.backbone:\n            layer.eval()\n", "        net.eval()\n"),
]
