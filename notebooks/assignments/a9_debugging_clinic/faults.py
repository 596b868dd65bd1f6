"""The faults of a9: each is a small edit of a healthy script (a reference cell), planted in some students' scripts.

The id of a fault is its script and its code in the catalog that students choose from: `digits-softmax-twice`. Its edits
serve twice: `plant` makes the scripts that are handed out, and the judge replays what remains in one that was mended.
"""

from __future__ import annotations

import io
import itertools
import tokenize
from collections.abc import Mapping, Sequence

from autograder.judge import Fault

NAMES = {1: "digits", 2: "half", 3: "pets", 4: "forecast", 5: "long", 6: "keras"}
"""script -> what the ids of its faults begin with"""


def _fault(script: int, code: str, family: str, edits: Mapping[str, str], words: str, **more: bool) -> Fault:
    where = {"cell": f"script_{script}", "tests": (f"test_script_{script}",)}
    return Fault(f"{NAMES[script]}-{code}", edits=edits, words=words, family=family, **where, **more)


def _seen(script: int, code: str, family: str, edits: Mapping[str, str], words: str) -> Fault:
    """One that the check sees by itself: it changes no number."""
    return _fault(script, code, family, edits, words, pairs=False)


DIGITS = [
    _fault(
        1,
        "gradients-not-cleared",
        "AG01",
        {"            optimizer.zero_grad()\n": ""},
        "The weights move as if a step used the gradients of all batches so far. `backward` adds to `.grad` and does "
        "not replace what is there. Look at what happens to `.grad` between two steps.",
    ),
    _fault(
        1,
        "trains-in-eval-mode",
        "EV03",
        {"    for _ in range(epochs):\n        net.train()\n": "    net.train()\n    for _ in range(epochs):\n"},
        "The first epoch is right, and the later ones train without dropout and with running statistics that stand "
        "still. That is evaluation mode. Look at who sets the mode, and how often.",
    ),
    _fault(
        1,
        "softmax-twice",
        "LS01",
        {
            "        nn.Linear(hidden, classes),\n    )": "        nn.Linear(hidden, classes),\n"
            "        nn.Softmax(dim=1),\n    )"
        },
        "The loss is that of a softmax of a softmax. `nn.CrossEntropyLoss` takes logits and applies softmax itself; "
        "given probabilities it cannot come near 0, and its gradients are small. Look at the last layer.",
    ),
    _fault(
        1,
        "statistics-from-test",
        "DA04",
        {
            "    center = np.mean(x_train, axis=0)\n    spread = np.std(x_train, axis=0) + 0.1\n": "    everything = "
            "np.concatenate([x_train, x_test])\n    center = np.mean(everything, axis=0)\n"
            "    spread = np.std(everything, axis=0) + 0.1\n"
        },
        "The inputs are scaled with numbers that depend on the test set too. Then the test set is no longer data that "
        "the program has never met. Look at which rows the mean and the deviation are taken from.",
    ),
    _fault(
        1,
        "mean-of-means",
        "EV06",
        {
            "batch_loss.item() * len(images)\n            hits": "batch_loss.item()\n            hits",
            "return loss_sum / seen, hits": "return loss_sum / len(loader), hits",
        },
        "The test loss is the mean of the batches' means. A smaller last batch then counts as much as a full one, so "
        "the number depends on the batch size. Look at what is added up, and what it is divided by.",
    ),
    _fault(
        1,
        "evaluates-in-training-mode",
        "EV01",
        {"    net.eval()\n": ""},
        "The test numbers are those of a network in training mode: dropout removes units, and batch normalization uses "
        "the test batch and moves its running statistics. Look at the mode while the test set is read.",
    ),
]

HALF = [
    _fault(
        2,
        "clipped-while-scaled",
        "AM04",
        {"                scaler.unscale_(optimizer)\n": ""},
        "The norms are those of the scaled gradients. They are about a thousand times too large, so nearly every "
        "update is clipped, and divided by the scale afterwards. Look at what `.grad` holds where it is clipped.",
    ),
    _fault(
        2,
        "not-divided",
        "OP09",
        {"scaler.scale(loss / group)": "scaler.scale(loss)"},
        "The gradients of an update are `group` times too large: those of its batches are added up, and none is "
        "divided. Look at what the backward pass starts from.",
    ),
    _fault(
        2,
        "updates-missing",
        "OP10",
        {"if number % group == 0 or number == len(loader):": "if number % group == 0:"},
        "There are fewer updates than groups: the smaller last group of an epoch makes none. Its gradients wait in "
        "`.grad` for the next epoch. Look at when an update is made.",
    ),
    _fault(
        2,
        "rate-steps-too-often",
        "OP07",
        {"                scheduler.step()\n": "            scheduler.step()\n"},
        "The learning rate falls once for each batch, and is 0 long before the end. The schedule was made for as many "
        "steps as there are updates. Look at how often the scheduler steps.",
    ),
    _fault(
        2,
        "last-batch-only",
        "LS10",
        {
            "loss_sum += loss.item() * len(inputs)\n            seen += len": "loss_sum = loss.item() * len(inputs)\n"
            "            seen = len"
        },
        "The loss in the history is that of the last batch of each epoch. It jumps, because it is a mean over a few "
        "rows. Look at how the numbers of the batches come together.",
    ),
]

PETS = [
    _fault(
        3,
        "wrong-parameters",
        "OP05",
        {
            "    net.head = nn.Linear(net.head.in_features, classes).to(device)\n"
            "    optimizer = torch.optim.SGD(net.head.parameters(), lr=lr, momentum=0.9)\n": "    optimizer = "
            "torch.optim.SGD(net.head.parameters(), lr=lr, momentum=0.9)\n"
            "    net.head = nn.Linear(net.head.in_features, classes).to(device)\n"
        },
        "The head of the network that comes back is as it was made, though its loss has gradients. What moves a "
        "parameter is the optimizer that holds it. Look at which parameters yours holds, and at when it steps.",
    ),
    _fault(
        3,
        "best-is-a-reference",
        "SV01",
        {
            "            best = copy.deepcopy(net.state_dict())\n        else": "            best = net.state_dict()\n"
            "        else"
        },
        "The network comes back with its last weights, not with its best. `state_dict()` hands out the tensors of the "
        "network, and training goes on in them. Look at what is kept when the loss is lowest.",
    ),
    _fault(
        3,
        "selected-on-training",
        "DA06",
        {
            "if val_loss < lowest:\n            lowest, waited = val_loss": "if train_loss < lowest:\n"
            "            lowest, waited = train_loss"
        },
        "The training loss decides which weights are the best and when to stop. It falls as long as the network fits "
        "its training rows better, also while it gets worse on others. Look at what is compared with `lowest`.",
    ),
    _fault(
        3,
        "frozen-statistics-move",
        "OP15",
        {"        net.backbone.eval()\n": ""},
        "The running statistics of the backbone change, though its parameters are frozen. Batch normalization updates "
        "them in training mode, without any gradient. Look at the mode of the backbone while the head is trained.",
    ),
    _fault(
        3,
        "evaluates-in-training-mode",
        "EV01",
        {"    net.eval()\n": ""},
        "The validation numbers are those of a network with dropout. They are too bad and change from call to call, "
        "and the best epoch is partly chosen by luck. Look at the mode while the validation set is read.",
    ),
]

FORECAST = [
    _fault(
        4,
        "target-in-input",
        "DA14",
        {"series[start + window] for": "series[start + window - 1] for"},
        "The network is asked for a value that is the last one of its window. It learns to copy, and predicting the "
        "last value has an error of 0. Look at which value belongs to which window.",
    ),
    _fault(
        4,
        "split-at-random",
        "DA05",
        {
            "order = torch.arange(len(windows), device=device)": "order = torch.randperm(len(windows), "
            "generator=torch.Generator().manual_seed(seed)).to(device)"
        },
        "The test windows come from everywhere in the series. Their neighbors, which share all values but one, are "
        "training windows, so the test asks for what was learned by heart. Look at how the windows are divided.",
    ),
    _fault(
        4,
        "shapes-broadcast",
        "AG10",
        {"self.out(states[:, -1]).squeeze(1)": "self.out(states[:, -1])"},
        "Predictions of shape (N, 1) minus targets of shape (N,) is an array of shape (N, N): each prediction is "
        "compared with each target, and the best that the network can do is the mean. Look at both shapes.",
    ),
    _fault(
        4,
        "axis-confused",
        "AG11",
        {"nn.GRU(1, hidden, batch_first=True)": "nn.GRU(1, hidden)"},
        "The recurrent layer walks along the rows of the batch instead of along the window: each prediction depends "
        "on the other rows. Look at which axis the layer takes for time.",
    ),
    _fault(
        4,
        "statistics-from-test",
        "DA04",
        {"known = values[: len(values) - held_out]": "known = values"},
        "The series is scaled with a mean and a deviation that depend on its end, which is kept for the test. Look at "
        "which values the two are taken from.",
    ),
]

LONG = [
    _fault(
        5,
        "optimizer-not-restored",
        "SV02",
        {'    optimizer.load_state_dict(checkpoint["optimizer"])\n': ""},
        "After an interruption the optimizer begins anew: its momentum is gone, and its learning rate is that of the "
        "start. The weights go another way from there. Look at what is brought back.",
    ),
    _fault(
        5,
        "schedule-not-restored",
        "SV02",
        {'    scheduler.load_state_dict(checkpoint["scheduler"])\n': ""},
        "After an interruption the schedule counts from 0, so the learning rate jumps up one epoch later. Look at what "
        "is brought back.",
    ),
    _fault(
        5,
        "epoch-repeated",
        "SV02",
        {"scheduler, epoch + 1, losses)": "scheduler, epoch, losses)"},
        "An interrupted run trains one epoch twice, and has one loss more than epochs. Look at the number that is "
        "written, and at what the reader takes it for.",
    ),
    _fault(
        5,
        "order-never-changes",
        "RP02",
        {"manual_seed(seed + epoch)": "manual_seed(seed)"},
        "Each epoch has the same order and the same noise. Then the noise is no augmentation: the network sees the "
        "same inputs again and again. Look at what the generator starts from.",
    ),
    _seen(
        5,
        "copied-every-step",
        "DV09",
        {
            "    data = torch.tensor(x).to(device)\n": "    data = torch.tensor(x)\n",
            "inputs = data[rows]": "inputs = data.to(device)[rows]",
        },
        "More bytes go to the device than the data has. The numbers are right, and the GPU waits for copies. Look for "
        "each `.to(` inside the loops, and at how large the tensor in front of it is.",
    ),
    _fault(
        5,
        "last-batch-only",
        "LS10",
        {"losses.append(total / len(x))": "losses.append(loss.item())"},
        "The loss that is kept is that of the last batch of each epoch: a mean over a few rows, which jumps. Look at "
        "which number the list is given.",
    ),
]

KERAS = [
    _fault(
        6,
        "logits-as-probabilities",
        "LS02",
        {"SparseCategoricalCrossentropy(from_logits=True)": "SparseCategoricalCrossentropy()"},
        "The loss takes the outputs for probabilities, and they are logits: negative ones are cut off, and the rest is "
        "divided by its sum. Look at what the last layer gives and what the loss expects.",
    ),
    _fault(
        6,
        "statistics-from-test",
        "DA04",
        {"normalizer.adapt(x_train)": "normalizer.adapt(np.concatenate([x_train, x_val, x_test]))"},
        "The inputs are scaled with numbers that depend on rows outside the training set. Look at what the "
        "normalization is adapted to.",
    ),
    _fault(
        6,
        "selected-on-test",
        "DA06",
        {"validation_data=(x_val, y_val)": "validation_data=(x_test, y_test)"},
        "The test set decides when training stops and which weights are kept. Its accuracy is then no longer that on "
        "data which the program has never met. Look at what `fit` is given.",
    ),
    _fault(
        6,
        "best-not-restored",
        "KE08",
        {"        restore_best_weights=True,\n": ""},
        "The losses are right, and the model has the weights of the last epoch. Early stopping ends the training some "
        "epochs after the best one. Look at which weights it leaves behind.",
    ),
    _fault(
        6,
        "missing-nonlinearity",
        "NN05",
        {', activation="relu")(scaled)': ")(scaled)"},
        "The network is a linear map, whatever its size: two dense layers with nothing nonlinear between them are one "
        "dense layer. Look at what stands between the two.",
    ),
    _fault(
        6,
        "selected-on-training",
        "DA06",
        {'monitor="val_loss"': 'monitor="loss"'},
        "The training loss decides when training stops and which weights are kept. It falls as long as the network "
        "fits its training rows better. Look at what early stopping watches.",
    ),
]

MENDS = [
    _fault(
        1,
        "gradients-cleared-once-an-epoch",
        "AG01",
        {
            "            optimizer.zero_grad()\n": "",
            "        loss_sum, seen = 0.0, 0\n": "        loss_sum, seen = 0.0, 0\n        optimizer.zero_grad()\n",
        },
        "The weights move as if a step used the gradients of all batches of its epoch so far: they are cleared once "
        "in each epoch. `backward` adds to `.grad` for every batch. Look at what happens to `.grad` between two steps.",
    ),
    _fault(
        1,
        "batch-means-over-rows",
        "EV06",
        {"batch_loss.item() * len(images)\n            hits": "batch_loss.item()\n            hits"},
        "The test loss is too small: the means of the batches are added up, and their sum is divided by the number of "
        "rows. Look at what is added up, and how many of these there are.",
    ),
    _fault(
        1,
        "smaller-batch-counts-as-a-full-one",
        "EV06",
        {
            "batch_loss.item() * len(images)\n            hits": (
                "batch_loss.item() * loader.batch_size\n            hits"
            )
        },
        "In the test loss the mean of each batch is multiplied by the number of rows of a full batch. The last batch "
        "may be smaller, and then the sum is too large. Look at what each batch's loss is multiplied by.",
        pairs=False,
    ),
    _fault(
        1,
        "row-losses-over-batches",
        "EV06",
        {"return loss_sum / seen, hits": "return loss_sum / len(loader), hits"},
        "The test loss is too large: the losses of all rows are added up, and their sum is divided by the number of "
        "batches. Look at what is added up, and how many of these there are.",
    ),
    _fault(
        1,
        "test-set-scaled-alone",
        "DA04",
        {"(x_test - center) / spread": "(x_test - np.mean(x_test, axis=0)) / (np.std(x_test, axis=0) + 0.1)"},
        "The test set is scaled with its own mean and deviation. The network has learned from rows of another scale, "
        "and what it says of one image then depends on which others are tested with it. Look at which numbers each of "
        "the two sets is scaled with.",
    ),
    _fault(
        1,
        "deviation-from-test",
        "DA04",
        {"spread = np.std(x_train, axis=0)": "spread = np.std(np.concatenate([x_train, x_test]), axis=0)"},
        "The mean that the inputs are scaled with is that of the training set, and the deviation still depends on the "
        "test set. Then the test set is no longer data that the program has never met. Look at which rows each of the "
        "two numbers is taken from.",
    ),
    _fault(
        1,
        "mean-from-test",
        "DA04",
        {"center = np.mean(x_train, axis=0)": "center = np.mean(np.concatenate([x_train, x_test]), axis=0)"},
        "The deviation that the inputs are scaled with is that of the training set, and the mean still depends on the "
        "test set. Then the test set is no longer data that the program has never met. Look at which rows each of the "
        "two numbers is taken from.",
    ),
    _fault(
        1,
        "mean-over-equal-batches",
        "EV06",
        {
            "batch_loss.item() * len(images)\n            hits": "batch_loss.item()\n            hits",
            "return loss_sum / seen, hits": "return loss_sum / len(loader), hits",
            "DataLoader(test_set, batch_size=16)": "DataLoader(test_set, batch_size=len(test_set))",
        },
        "Your test losses are right, and `evaluate_digits` still counts each batch the same: with a loader whose last "
        "batch is smaller, what it returns is no mean over the rows. A loader that hides this mends nothing. Look at "
        "what is added up, and what it is divided by.",
    ),
    _fault(
        1,
        "probabilities-for-logits",
        "LS01",
        {
            "        nn.Linear(hidden, classes),\n    )": "        nn.Linear(hidden, classes),\n"
            "        nn.Softmax(dim=1),\n    )",
            "criterion = nn.CrossEntropyLoss()": "criterion = lambda shares, labels: "
            "nn.functional.nll_loss(torch.log(shares), labels)",
        },
        "The losses are right, and the outputs of the network are probabilities: no row has a negative number, and "
        "each has the sum 1. The docstring of `make_digit_net` says that they are logits, and who uses the network "
        "relies on that. Look at the last layer, and at what the loss expects.",
    ),
    _fault(
        2,
        "scale-taken-for-fixed",
        "AM04",
        {
            "                scaler.unscale_(optimizer)\n": "",
            "clip_grad_norm_(net.parameters(), max_norm)": "clip_grad_norm_(net.parameters(), max_norm * 1024) / 1024",
        },
        "As long as the scale is 1024 your norms are right. After gradients that overflow the scaler takes a smaller "
        "scale, and from then on your norms are too small and your bound for clipping is too large. Look at what "
        "knows the scale of the moment.",
    ),
    Fault(
        "half-update-without-gradients",
        cell="script_2",
        raises=r"No inf checks were recorded for this optimizer",
        words="An update is made at a moment when no parameter has a gradient. After a group is done nothing is left, "
        "and where the number of batches is a multiple of `group`, the last group of an epoch is a whole one. Look at "
        "when an update is made.",
        family="OP10",
        tests=("test_script_2",),
    ),
    _fault(
        2,
        "rate-steps-once-an-epoch",
        "OP07",
        {
            "                scheduler.step()\n": "",
            '        history["loss"].append(loss_sum / seen)': "        scheduler.step()\n"
            '        history["loss"].append(loss_sum / seen)',
        },
        "The learning rate falls once in each epoch. The schedule was made for as many steps as there are updates, so "
        "the rate falls too slowly and is not near 0 at the end. Look at how often the scheduler steps.",
    ),
    _fault(
        2,
        "last-group-divided-by-its-own-number",
        "OP09",
        {"scaler.scale(loss / group)": "scaler.scale(loss / min(group, len(loader) - (number - 1) // group * group))"},
        "The gradients of a smaller last group are divided by the number of its own batches. Then each of these counts "
        "for more than a batch of a whole group. Read in the docstring what the gradients of an update are divided by.",
    ),
    _fault(
        2,
        "losses-divided",
        "OP09",
        {"loss_sum += loss.item() * len(inputs)": "loss_sum += loss.item() / group * len(inputs)"},
        "The losses in the history are `group` times too small. The division is there for the gradients of an update; "
        "the loss of an epoch is a mean over its rows. Look at which loss is added up.",
    ),
    _fault(
        2,
        "mean-of-means",
        "EV06",
        {"loss.item() * len(inputs)\n            seen += len(inputs)": "loss.item()\n            seen += 1"},
        "The loss in the history is the mean of the batches' means. A smaller last batch then counts as much as a full "
        "one, so the number depends on the batch size. Look at what is added up, and what it is divided by.",
    ),
    _fault(
        2,
        "last-update-one-batch-early",
        "OP10",
        {"number == len(loader):": "number == len(loader) - 1:"},
        "The smaller last group of an epoch makes its update one batch too early, or none, and the gradients of the "
        "last batch wait in `.grad` for the next epoch. Look at the number that the last batch has.",
    ),
    _fault(
        3,
        "best-only-where-patience-ends",
        "SV01",
        {
            "                break\n    net.load_state_dict(best)\n": "                net.load_state_dict(best)\n"
            "                break\n"
        },
        "Where patience runs out, the network comes back with its best weights. Where all `epochs` are done before, it "
        "comes back with those of the last epoch. Look at each way in which the loop over the epochs can end.",
    ),
    _fault(
        3,
        "validation-loss-against-training-loss",
        "DA06",
        {
            "if val_loss < lowest:\n            lowest, waited = val_loss": "if val_loss < lowest:\n"
            "            lowest, waited = train_loss"
        },
        "The validation loss is compared with the training loss of the last epoch that was called the best. The two "
        "are not of one kind: which epoch is called the best, and when training stops, depends on how far they lie "
        "apart. Look at every place where `lowest` gets a value.",
        pairs=False,
    ),
    _fault(
        3,
        "training-loss-against-validation-loss",
        "DA06",
        {
            "if val_loss < lowest:\n            lowest, waited = val_loss": "if train_loss < lowest:\n"
            "            lowest, waited = val_loss"
        },
        "The training loss is compared with the validation loss of the last epoch that was called the best. The two "
        "are not of one kind: which epoch is called the best, and when training stops, depends on how far they lie "
        "apart. Look at every place where `lowest` is used.",
        pairs=False,  # beside another mistake it can look as a training loss does that is compared with itself
    ),
    _fault(
        3,
        "trains-without-dropout",
        "EV03",
        {"        net.train()\n        net.backbone.eval()\n": "        net.eval()\n"},
        "The head is trained without dropout, as in evaluation mode. Only the backbone has to stay as it is. Look at "
        "the mode of each part while the head is trained.",
    ),
    _fault(
        3,
        "frozen-statistics-put-back",
        "OP15",
        {
            "        net.backbone.eval()\n": "",
            "        train_loss = loss_sum / len(inputs)\n": "        train_loss = loss_sum / len(inputs)\n"
            "        net.backbone.load_state_dict(trained.backbone.state_dict())\n",
        },
        "The running statistics of the backbone are the old ones where the network is validated. While the head is "
        "trained, the backbone still scales the rows with the mean and the variance of their batch, so the head learns "
        "from other numbers than it gets later. Look at the mode of the backbone while the head is trained.",
    ),
    _fault(
        4,
        "predictions-in-a-column",
        "AG10",
        {
            "self.out(states[:, -1]).squeeze(1)": "self.out(states[:, -1])",
            "residuals = net(windows[rows]) - targets[rows]": "residuals = net(windows[rows]).squeeze(1) - "
            "targets[rows]",
        },
        "The network learns from the right differences, and its predictions for the test still have the shape (N, 1). "
        "Minus values of shape (N,) that is an array of shape (N, N): the test error compares each prediction with "
        "each value. Look at the shape that `forward` should return.",
    ),
    _fault(
        4,
        "column-flattened-outside",
        "AG10",
        {
            "self.out(states[:, -1]).squeeze(1)": "self.out(states[:, -1])",
            "residuals = net(windows[rows]) - targets[rows]": "residuals = net(windows[rows]).squeeze(1) - "
            "targets[rows]",
            "predictions = net(windows[test_rows])": "predictions = net(windows[test_rows]).squeeze(1)",
        },
        "The numbers are right, and the network still returns predictions of shape (N, 1). The docstring of `forward` "
        "gives another shape, and who calls the network next gets the same trouble again. Look at the shape that "
        "`forward` should return.",
    ),
    _fault(
        4,
        "targets-mended-outside",
        "DA14",
        {
            "series[start + window] for": "series[start + window - 1] for",
            "make_windows((values - center) / spread, window)\n": "make_windows((values - center) / spread, window)\n"
            "    targets = ((values - center) / spread)[window:]\n",
        },
        "The numbers are right, and `make_windows` still returns the last value of each window for its target. Its "
        "docstring says which value that is, and who calls it next gets the same fault again. Look at which value "
        "belongs to which window.",
    ),
    _fault(
        4,
        "one-window-loses-its-axis",
        "AG10",
        {"self.out(states[:, -1]).squeeze(1)": "self.out(states[:, -1]).squeeze()"},
        "The prediction for a single window comes back as a number, not as an array of shape (1,): an axis of length "
        "1 went away that counts the windows. Look at which axes are taken away when there is one row.",
    ),
    _fault(
        4,
        "statistics-leave-values-out",
        "DA04",
        {"known = values[: len(values) - held_out]": "known = values[: len(values) - held_out - window]"},
        "The series is scaled with a mean and a deviation that leave out the last `window` values of the training "
        "part. Training windows have these for targets, so they are known. Look at where the training part ends.",
    ),
    _fault(
        4,
        "statistics-of-windows",
        "DA04",
        {
            "values[: len(values) - held_out]": "values[: len(values) - held_out].unfold(0, window, 1)[:-1]",
        },
        "The series is scaled with the mean and the deviation of the training windows. There a value counts once for "
        "each window that holds it, and the values at the ends count less. Look at what the two are taken from.",
    ),
    _fault(
        4,
        "tested-on-the-beginning",
        "DA05",
        {"order[:-held_out], order[-held_out:]": "order[held_out:], order[:held_out]"},
        "The first windows of the series are tested, and the last ones are for training. A forecast is asked about "
        "what comes after all that it has learned from. Look at which windows go to which side.",
    ),
    _fault(
        5,
        "seed-without-the-run",
        "RP02",
        {"manual_seed(seed + epoch)": "manual_seed(epoch)"},
        "The order and the noise of an epoch depend on its number alone, so runs with different seeds have the same "
        "ones. The docstring gives the seed of each epoch's generator. Look at what yours starts from.",
    ),
    _fault(
        5,
        "seed-one-too-high",
        "RP02",
        {"manual_seed(seed + epoch)": "manual_seed(seed + epoch + 1)"},
        "Each epoch has the order and the noise that belong to the next one. The docstring counts epochs from 0. Look "
        "at the seed of the first epoch's generator.",
    ),
    _fault(
        5,
        "one-generator-for-all-epochs",
        "RP02",
        {
            "        dice = torch.Generator().manual_seed(seed + epoch)\n": "",
            "    for epoch in range(start, until):\n": "    dice = torch.Generator().manual_seed(seed)\n"
            "    for epoch in range(start, until):\n",
        },
        "One generator draws the order and the noise of all epochs, one after the other. Then an epoch gets what the "
        "epochs before it have left, and its number decides nothing. Look at where the generator is made, and at its "
        "seed.",
    ),
    _fault(
        5,
        "saved-at-the-end",
        "SV02",
        {
            "        save_run(path, net, optimizer, scheduler, epoch + 1, losses)\n    return net, losses": "    "
            "save_run(path, net, optimizer, scheduler, until, losses)\n    return net, losses"
        },
        "The checkpoint is written at the end of a call. A run that is interrupted before has lost all the epochs of "
        "that call. Read in the docstring when a checkpoint is written, and look at where yours is.",
    ),
    _fault(
        5,
        "first-epoch-left-out",
        "SV02",
        {
            "for epoch in range(start, until)": "for epoch in range(start + 1, until)",
            "scheduler, epoch + 1, losses)": "scheduler, epoch, losses)",
        },
        "A run without a checkpoint leaves out epoch 0, and returns one loss too few. Look at what `start` is where no "
        "file is read, and at the first epoch of the loop.",
    ),
    Fault(
        "long-checkpoint-one-too-low",
        cell="script_5",
        words="The checkpoint says one epoch less than are done, and your reader makes up for that. The docstring of "
        "`save_run` says what this number is, and whoever else reads the file takes it for that. Look at the number "
        "that is written.",
        family="SV02",
        tests=("test_script_5",),
    ),
    _fault(
        6,
        "probabilities-for-logits",
        "LS02",
        {
            "layers.Dense(classes)(kept)": 'layers.Dense(classes, activation="softmax")(kept)',
            "SparseCategoricalCrossentropy(from_logits=True)": "SparseCategoricalCrossentropy()",
        },
        "The outputs of the model are probabilities: no row has a negative number, and each has the sum 1. The "
        "docstring of `make_keras_net` says that they are logits, and who uses the model relies on that. Look at the "
        "last layer, and at what the loss can be told about its inputs.",
    ),
    _fault(
        6,
        "statistics-from-validation",
        "DA04",
        {"normalizer.adapt(x_train)": "normalizer.adapt(np.concatenate([x_train, x_val]))"},
        "The inputs are scaled with the mean and the variance of the training and the validation rows together. Rows "
        "that decide when training stops should be as new to the network as later ones. Look at what the normalization "
        "is adapted to.",
    ),
    Fault(
        "tensors-on-two-devices",
        cell="script_5",
        raises=r"on the same device",
        words="An operation meets tensors on two devices: one of them does not lie on the device that the function was "
        "given. Look at each tensor in the line that raised, and at what decides where it lies.",
        family="DV01",
    ),
]
"""mistakes that come in where a script is mended; none of them is planted"""

ANSWERS = [
    Fault(
        "diagnosis-incomplete",
        cell="diagnosis_1",
        words="Your diagnosis lacks a fault that the script was handed out with, and names none that it did not have. "
        "A symptom that is left when all others are explained has a cause of its own.",
    ),
    Fault(
        "diagnosis-wrong",
        cell="diagnosis_1",
        words="Your diagnosis names something that was right in the script as it was handed out. Test each suspicion: "
        "change that line alone, and see whether a symptom goes away.",
    ),
    Fault(
        "diagnosis-not-in-the-catalog",
        cell="diagnosis_1",
        words="A text in your diagnosis is no code of the catalog. Copy the codes from the table, one text for each.",
    ),
    Fault(
        "diagnosis-not-given",
        cell="diagnosis_1",
        words="No code is written in your diagnosis. It is a set of texts, written as in the table.",
    ),
    Fault(
        "script-rewritten",
        cell="script_1",
        words="More of the script has changed than its faults needed. A change that is not needed has to be read and "
        "tested by somebody, and it can bring a fault of its own. Begin from the script as it was handed out.",
    ),
    Fault(
        "script-arguments-changed",
        cell="script_1",
        words="A function of the script has not kept its name or its arguments. Others call it as it was handed out, "
        "and give it what it no longer needs, too.",
    ),
    Fault(
        "script-or-diagnosis-untouched",
        cell="script_1",
        words="A cell of this exercise is as you received it: the one for the script, or the one for its diagnosis.",
    ),
    Fault(
        "script-as-handed-out",
        cell="script_1",
        words="The script is as it was handed out. Each script has at least one fault.",
    ),
]

POOLS = {1: DIGITS, 2: HALF, 3: PETS, 4: FORECAST, 5: LONG, 6: KERAS}
FAULTS = [*MENDS, *DIGITS, *HALF, *PETS, *FORECAST, *LONG, *KERAS, *ANSWERS]
"""first what passes some of the cases in which a planted fault fails"""

# --- planting -------------------------------------------------------------------------------------------------------

APART = [
    # Where the test set is read in training mode, nothing ever sets the other mode.
    {"digits-trains-in-eval-mode", "digits-evaluates-in-training-mode"},
    # Where the optimizer moves no weight that counts, nothing tells when the best was.
    {"pets-wrong-parameters", "pets-best-is-a-reference"},
    {"pets-wrong-parameters", "pets-selected-on-training"},
    # One hides the other: a head that copies its input needs no other rows; statistics of all rows need no split.
    {"forecast-shapes-broadcast", "forecast-axis-confused"},
    {"keras-selected-on-test", "keras-selected-on-training"},
]
"""faults that are not planted together"""

OTHER_SPELLINGS = {
    "digits-gradients-not-cleared": {"optimizer.zero_grad()": "optimizer.zero_grad"},
    "digits-statistics-from-test": {
        "    center = np.mean(x_train, axis=0)\n    spread = np.std(x_train, axis=0) + 0.1\n": "    center = "
        "np.mean(np.vstack([x_train, x_test]), axis=0)\n"
        "    spread = np.std(np.vstack([x_train, x_test]), axis=0) + 0.1\n"
    },
    "half-clipped-while-scaled": {
        "                scaler.unscale_(optimizer)\n": "",
        "                scaler.step(optimizer)\n": "                scaler.unscale_(optimizer)\n"
        "                scaler.step(optimizer)\n",
    },
    "pets-best-is-a-reference": {
        "            best = copy.deepcopy(net.state_dict())\n        else": "            best = "
        "dict(net.state_dict())\n        else"
    },
    "keras-logits-as-probabilities": {"(from_logits=True)": "(from_logits=False)"},
    "keras-best-not-restored": {"restore_best_weights=True": "restore_best_weights=False"},
}
"""a second way to plant a fault"""

RENAMED = {
    1: {"net": "model", "images": "inputs", "labels": "targets", "hits": "right", "seen": "count", "spread": "scale"},
    2: {"net": "model", "inputs": "images", "labels": "targets", "loss": "batch_loss", "seen": "count"},
    3: {"net": "model", "inputs": "features", "labels": "targets", "shuffler": "generator", "rows": "chosen"},
    4: {"net": "model", "windows": "inputs", "spread": "scale", "chosen": "picked", "residuals": "errors"},
    5: {"net": "model", "rows": "chosen", "dice": "generator", "total": "loss_sum", "data": "images"},
    6: {"model": "net", "logits": "outputs", "kept": "dropped", "stopper": "early", "record": "fitted"},
}
"""script -> variables that have another name in some copies, so that a neighbor's script is another text"""


def groups(script: int, many: int) -> list[tuple[Fault, ...]]:
    """All `many` faults that may be planted in a script together."""
    several = itertools.combinations(POOLS[script], many)
    return [chosen for chosen in several if not any(apart <= {f.id for f in chosen} for apart in APART)]


def copies(script: int, many: int) -> list[tuple[tuple[Fault, ...], int]]:
    """The faults of each copy of a script, and the copy's number: which names and spellings it has."""
    return [(chosen, number) for number in range(4) for chosen in groups(script, many)]


def renamed(script: int, text: str, number: int) -> str:
    """The script with the names of its copy: in copy 0 its own, in 3 all others, in 1 and 2 every second one."""
    new = {old: other for k, (old, other) in enumerate(RENAMED[script].items()) if number & (1 + k % 2)}
    lines = text.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for before, token in reversed(list(itertools.pairwise(tokens))):
        if token.type == tokenize.NAME and token.string in new and before.string != ".":
            (row, start), (_, end) = token.start, token.end
            lines[row - 1] = lines[row - 1][:start] + new[token.string] + lines[row - 1][end:]
    return "".join(lines)


def plant(script: int, healthy: str, chosen: Sequence[Fault], number: int) -> str:
    """The healthy script with these faults, as the copy of that number."""
    text = healthy.removeprefix("### BEGIN SOLUTION").removesuffix("### END SOLUTION").strip()
    for fault in chosen:
        edits = OTHER_SPELLINGS.get(fault.id, fault.edits) if number >= 2 else fault.edits
        for old, new in edits.items():
            if text.count(old) != 1:
                raise ValueError(f"{fault.id}: {old!r} occurs {text.count(old)} times in script {script}")
            text = text.replace(old, new)
    return renamed(script, text, number)
