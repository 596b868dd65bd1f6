"""The mistakes that students make in a6, each as a small edit of the reference, with the words that a student reads.

Words say what was seen, why it matters and where to look. They do not say what to write. Families are those of the
course's catalog of training faults. A fault without edits is named by the check that sees it.
"""

from __future__ import annotations

from autograder.judge import Fault

STEP = ("test_train_step",)
LOADERS = ("test_make_loaders",)
EPOCH = ("test_train_epoch", "test_fit")
EVALUATION = ("test_evaluate", "test_fit")
AMP = ("test_train_epoch_amp",)
CHECKPOINT = ("test_checkpoint",)
FIT = ("test_fit",)

NO_GPU = r"Torch not compiled with CUDA|Found no NVIDIA driver|No CUDA GPUs are available"

INDISTINGUISHABLE = [
    (
        "zero_grad between backward and step",
        "no backward, or a step before backward that comes after zero_grad",
        "in all three the optimizer steps without gradients and the parameters stay: one id, step-without-gradients",
    ),
    (
        "x.to(device) without keeping the result",
        "x never moved",
        "`.to` of a tensor that is dropped leaves the same error: one id, step-batch-left-on-host",
    ),
    (
        "load_state_dict of renamed keys with strict=False",
        "the model's state is not loaded",
        "both leave the weights of the new model: one id, checkpoint-model-not-loaded",
    ),
    (
        "gradients clipped after the step",
        "gradients not clipped",
        "the step has used them as they were: one id, amp-not-clipped",
    ),
    (
        "best = model.state_dict() without a copy",
        "the last weights are returned",
        "the kept tensors are the model's own, so both return the last epoch: one id, fit-last-weights",
    ),
]

ANYWHERE = [
    Fault(
        "result-is-a-tensor",
        family="AG06",
        cell="train_step",
        words="Your function returns a tensor where the text asks for a Python float. A tensor takes memory on its "
        "device, and one that was not detached keeps its whole graph alive for as long as somebody holds it. Look at "
        "the value that you return.",
        pairs=False,
    ),
    Fault(
        "copied-more-than-once",
        family="DV09",
        cell="train_epoch",
        words="More bytes go to the device than the batches have. Either a batch is copied twice (once for the model "
        "and once for the loss, say), or something larger travels in every step, such as the model. Copies are the "
        "slowest part of a small step. Look for every `.to(`, `.cuda(` and `.cpu(` inside the loop.",
        pairs=False,
        minor=True,  # the numbers are right; and what was copied is known only from a log, so it cannot weigh much
    ),
]

TRAIN_STEP = [
    Fault(
        "step-batch-left-on-host",
        family="DV01, DV04",
        cell="train_step",
        edits={"    x = x.to(device)\n": ""},
        words="The inputs of the batch are still on the CPU when the model on the CUDA device gets them. Either they "
        "are never moved, or the moved tensor is thrown away: for a tensor, `.to` returns a new one and leaves the old "
        "one where it was. Look at the name that you pass to the model.",
        tests=STEP,
    ),
    Fault(
        "step-target-left-on-host",
        family="DV02",
        cell="train_step",
        edits={"    y = y.to(device)\n": ""},
        words="The labels are on the CPU and the model's outputs on the CUDA device when the loss is computed. The "
        "loss needs both in one place. Look at what happens to y before the loss.",
        tests=STEP,
    ),
    Fault(
        "step-hard-coded-cuda",
        family="DV05",
        cell="train_step",
        edits={"x = x.to(device)": 'x = x.to("cuda")', "y = y.to(device)": 'y = y.to("cuda")'},
        raises=NO_GPU,
        words="Your step uses the first CUDA device, whichever device it is given. On a machine without a GPU it "
        "stops, and with two GPUs it mixes them. Look for `cuda` written into the function.",
        tests=STEP,
    ),
    Fault(
        "step-moves-the-model-to-cuda",
        family="DV05",
        cell="train_step",
        edits={
            "    x, y = batch\n": '    model.to("cuda")\n    x, y = batch\n',
            "x = x.to(device)": 'x = x.to("cuda")',
            "y = y.to(device)": 'y = y.to("cuda")',
        },
        words="After your step on another device the model is on the first CUDA device: everything is moved there, "
        "whichever device you are given. The caller asked for another one, where the rest of the program is. Look for "
        "`cuda` written into the function.",
        tests=STEP,
    ),
    Fault(
        "step-on-the-cpu",
        family="DV03",
        cell="train_step",
        edits={"    x, y = batch\n": '    model.to("cpu")\n    x, y = batch\n    device = "cpu"\n'},
        words="Your step runs on the CPU, whichever device it is given: afterwards the model is there, and the GPU "
        "does nothing. Look at where the model and the batch go.",
        tests=STEP,
    ),
    Fault(
        "step-on-the-host-and-back",
        family="DV03",
        cell="train_step",
        edits={
            "    x, y = batch\n": '    there, device = device, "cpu"\n    model.to(device)\n    x, y = batch\n',
            "    return loss.item()": "    model.to(there)\n    return loss.item()",
        },
        words="Your step gives the CPU's numbers, whichever device is asked for: the model goes to the host, is "
        "trained there, and comes back. The GPU does nothing. Look for each `.cpu()` and `.to(` of the model.",
        tests=STEP,
        pairs=False,
    ),
    Fault(
        "step-writes-into-the-batch",
        family="DV01",
        cell="train_step",
        words="Your code assigns to an element of a tuple, which cannot be written to. A batch may be a tuple; a list "
        "would be changed for whoever called you. Look at where the copies on the device are kept.",
        raises=r"'tuple' object does not support item assignment",
        tests=STEP,
        pairs=False,
    ),
    # Before the next one: where only old gradients tell the two apart, the first that fits is taken.
    Fault(
        "step-uses-old-gradients",
        family="AG01",
        cell="train_step",
        edits={
            "    optimizer.zero_grad()\n": "",
            "    optimizer.step()\n": "    optimizer.step()\n    optimizer.zero_grad()\n",
        },
        words="What lies in `.grad` when your function is called goes into its step. Setting gradients to zero after "
        "the step is too late for those that were there before the first. Look at what is in `.grad` when backward "
        "begins.",
        tests=STEP,
    ),
    Fault(
        "step-without-zero-grad",
        family="AG01",
        cell="train_step",
        edits={"    optimizer.zero_grad()\n": ""},
        words="Your step adds the gradients of this batch to those that were there before. `backward` always adds; "
        "with every batch the step follows older and older batches. Look at what is in `.grad` when backward begins.",
        tests=STEP,
    ),
    Fault(
        "step-missing",
        family="OP01",
        cell="train_step",
        edits={"    optimizer.step()\n": ""},
        words="No weight has moved, because the optimizer never takes its step. Look at the end of the function.",
        tests=STEP,
    ),
    Fault(
        "step-without-gradients",
        family="AG02, OP02, OP03",
        cell="train_step",
        edits={"    loss.backward()\n": "    loss.backward()\n    optimizer.zero_grad()\n"},
        words="The optimizer takes its step and no weight moves: there are no gradients at that moment. Either they "
        "are set to zero after backward, or backward comes too late or not at all. Look at the order of these three "
        "lines.",
        tests=STEP,
    ),
    Fault(
        "step-one-batch-late",
        family="OP02",
        cell="train_step",
        edits={
            "    optimizer.zero_grad()\n": "",
            "    loss.backward()\n    optimizer.step()\n": "    optimizer.step()\n    optimizer.zero_grad()\n"
            "    loss.backward()\n",
        },
        words="Each step uses the gradients of the batch before: the first does nothing, and the last batch is never "
        "learned from. The gradients of a batch exist only after backward. Look at the order of backward and step.",
        tests=STEP,
    ),
    Fault(
        "step-taken-twice",
        family="OP13",
        cell="train_step",
        edits={"    optimizer.step()\n": "    optimizer.step()\n    optimizer.step()\n"},
        words="The optimizer takes two steps for one batch, the second with gradients that belong to weights which are "
        "no longer there. Look at how often step is called.",
        tests=STEP,
    ),
    Fault(
        "step-loss-afterwards",
        family="LS10",
        cell="train_step",
        edits={"return loss.item()": "return loss_fn(model(x), y).item()"},
        words="The loss that you return is that of the weights after the step. The text asks for the loss that the "
        "step was computed from: it needs no second forward pass. Look at which loss is returned.",
        tests=STEP,
    ),
    Fault(
        "step-loss-times-rows",
        family="LS08",
        cell="train_step",
        edits={"    loss = loss_fn(model(x), y)\n": "    loss = loss_fn(model(x), y) * len(x)\n"},
        words="Your gradients are as many times too large as the batch has rows. The loss function has taken the mean "
        "already; a sum makes the step depend on the batch size. Look at what you do to the loss before backward.",
        tests=STEP,
    ),
    Fault(
        "step-uphill",
        family="LS09",
        cell="train_step",
        edits={"    loss.backward()\n": "    (-loss).backward()\n"},
        words="Your step goes up the slope: after it the loss of the batch is larger. The optimizer subtracts the "
        "gradient of what backward was called on. Look at that expression and its sign.",
        tests=STEP,
    ),
    Fault(
        "step-graph-cut",
        family="AG05",
        cell="train_step",
        edits={"loss_fn(model(x), y)": "loss_fn(model(x).detach(), y)"},
        raises=r"does not require grad|'float' object has no attribute 'backward'",
        words="When backward is called, nothing leads from the loss to the weights: the graph was cut on the way, by "
        "`detach`, `item`, `no_grad` or by making a new tensor of the loss. Look at what stands between the model and "
        "backward.",
        tests=STEP,
    ),
]

MAKE_LOADERS = [
    Fault(
        "training-not-shuffled",
        family="DA01",
        cell="make_loaders",
        words="Training rows come in the order of the arrays. Where rows are sorted by class, each batch then teaches "
        "a single class. Look at the arguments of the training loader.",
        tests=LOADERS,
    ),
    Fault(
        "training-order-in-runs",
        family="DA01",
        cell="make_loaders",
        words="Training rows come in runs: most stand before the row that follows them in the arrays, as when whole "
        "batches are shuffled, or only the start is random. Rows that lie together then meet in every epoch. Look at "
        "what is put in random order.",
        tests=LOADERS,
    ),
    Fault(
        "validation-shuffled",
        family="DA03",
        cell="make_loaders",
        words="Validation rows come in random order. Predictions can then no longer be laid beside the rows that they "
        "belong to. Look at the arguments of the validation loader.",
        tests=LOADERS,
    ),
    Fault(
        "last-batch-dropped",
        family="EV08",
        cell="make_loaders",
        words="The rows that do not fill a whole batch are never seen. In validation that changes the result; in "
        "training it wastes data. Look at the arguments of the loaders.",
        tests=LOADERS,
    ),
    Fault(
        "seed-does-not-decide",
        family="RP01",
        cell="make_loaders",
        words="With the same seed the rows came in another order in a second run, in which the program drew other "
        "random numbers beside. A run that cannot be repeated cannot be compared. Look at which generator the loader "
        "draws from: the global one is shared with everything else.",
        tests=LOADERS,
    ),
    Fault(
        "same-order-each-epoch",
        family="RP02",
        cell="make_loaders",
        words="Two epochs have the same order, so the same rows meet in a batch each time. Shuffling is there to mix "
        "them anew. Look at when the order is drawn, and whether the generator is seeded again each time.",
        tests=LOADERS,
    ),
    Fault(
        "seed-ignored",
        family="RP01",
        cell="make_loaders",
        words="Two different seeds give the same order, as if the argument were not used. To see how much of a result "
        "is chance one runs it with several seeds. Look for a number where `seed` belongs.",
        tests=LOADERS,
    ),
    Fault(
        "loaders-share-a-generator",
        family="RP01",
        cell="make_loaders",
        words="Going through val_loader changes the orders of later training epochs: the two loaders share something "
        "that draws or counts, such as a generator. A DataLoader draws a number from its generator each time one goes "
        "through it, even if it does not shuffle. Look at what you give to both loaders.",
        tests=LOADERS,
    ),
    Fault(
        "generator-on-the-device",
        family="DV01",
        cell="make_loaders",
        raises=r"Expected a 'cpu' device type for generator but found",
        words="A loader draws its orders on the host, and the generator that you give it is on the CUDA device. "
        "`device` says only where the batches will go. Look at where your generator is made.",
        tests=LOADERS,
    ),
    Fault(
        "global-generator-seeded",
        family="RP04",
        cell="make_loaders",
        words="After your function the rest of the program draws other random numbers than without it: you seeded, or "
        "drew from, a generator that everybody shares. Dropout masks and weights made later then repeat. Look for "
        "`manual_seed` or `seed` called on a library instead of on a generator of your own.",
        tests=LOADERS,
    ),
    Fault(
        "labels-not-with-rows",
        family="DA02",
        cell="make_loaders",
        words="Rows and labels are no longer pairs, as when they are shuffled separately or only one of them is. No "
        "model can learn from that. Look at how the two are put together.",
        tests=LOADERS,
    ),
    Fault(
        "batches-on-the-device",
        cell="make_loaders",
        words="Your batches are on the device already. A data set that lives there fills the device's memory, and the "
        "functions of the other exercises copy for themselves. `device` is only there to decide about pinning. Look at "
        "where your tensors are made.",
        tests=LOADERS,
    ),
    Fault(
        "batches-of-another-dtype",
        family="LS05",
        cell="make_loaders",
        words="The tensors of a batch do not have the dtype that the text asks for: float32 for x, int64 for y. "
        "Cross-entropy reads integer labels as classes, and a float64 batch does not fit float32 weights. Look at how "
        "the arrays become tensors.",
        tests=LOADERS,
    ),
    Fault(
        "loaders-swapped",
        family="DA05",
        cell="make_loaders",
        words="Your training loader gives the validation rows. The text asks for the training loader first. Look at "
        "the order in which you return the two.",
        tests=LOADERS,
    ),
    Fault(
        "loader-is-no-dataloader",
        cell="make_loaders",
        words="One of the two is not a `DataLoader`. A list of batches, for example, lies in memory whole and never "
        "changes its order. Look at what you return.",
        tests=LOADERS,
        minor=True,  # where the batches come in the right order, little depends on it
    ),
]

LOOP = "        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)\n"

TRAIN_EPOCH = [
    Fault(
        "epoch-batch-left-on-host",
        family="DV01, DV04",
        cell="train_epoch",
        edits={LOOP: "        y = y.to(device)\n"},
        words="The inputs of the batch are on the CPU when the model on the CUDA device gets them. Either they are "
        "never moved, or the moved tensor is thrown away. Look at the first line of the loop.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-target-left-on-host",
        family="DV02",
        cell="train_epoch",
        edits={LOOP: "        x = x.to(device)\n"},
        words="The labels are on the CPU and the outputs on the CUDA device when the loss is computed. Look at the "
        "first line of the loop.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-hard-coded-cuda",
        family="DV05",
        cell="train_epoch",
        edits={LOOP: '        x, y = x.to("cuda"), y.to("cuda")\n'},
        raises=NO_GPU,
        words="Your loop uses the first CUDA device, whichever device it is given. On a machine without a GPU it "
        "stops, and with two GPUs it mixes them. Look for `cuda` written into the function.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-on-the-host-and-back",
        family="DV03",
        cell="train_epoch",
        edits={
            "    model.train()\n": '    there, device = device, "cpu"\n    model.to(device)\n    model.train()\n',
            "    return total / rows": "    model.to(there)\n    return total / rows",
        },
        words="Your epoch gives the CPU's numbers, whichever device is asked for: the model goes to the host, is "
        "trained there, and comes back. The GPU does nothing. Look for each `.cpu()` and `.to(` of the model.",
        tests=EPOCH,
        pairs=False,
    ),
    Fault(
        "epoch-moves-the-model-to-cuda",
        family="DV05",
        cell="train_epoch",
        edits={
            "    model.train()\n": '    model.to("cuda")\n    model.train()\n',
            LOOP: '        x, y = x.to("cuda"), y.to("cuda")\n',
        },
        words="After your function on another device the model is on the first CUDA device: everything is moved there, "
        "whichever device you are given. The caller asked for another one, where the rest of the program is. Look for "
        "`cuda` written into the function, and for `is_available`.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-without-zero-grad",
        family="AG01",
        cell="train_epoch",
        edits={"        optimizer.zero_grad()\n": ""},
        words="The first step is right and the later ones are not: the gradients of all batches so far pile up. "
        "`backward` adds to what is in `.grad`. Look at the beginning of each pass of the loop.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-without-steps",
        family="OP01",
        cell="train_epoch",
        edits={"        optimizer.step()\n": ""},
        words="No weight has moved, because the optimizer never takes a step. Look at the end of the loop.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-without-gradients",
        family="AG02, OP02, OP03",
        cell="train_epoch",
        edits={"        loss.backward()\n": "        loss.backward()\n        optimizer.zero_grad()\n"},
        words="The optimizer takes its steps and no weight moves: there are no gradients at that moment. Either they "
        "are set to zero after backward, or backward comes too late or not at all. Look at the order of these three "
        "lines.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-one-step-for-all",
        family="OP13",
        cell="train_epoch",
        edits={
            "        optimizer.zero_grad()\n": "",
            "        optimizer.step()\n": "",
            "    total, rows = 0.0, 0\n": "    total, rows = 0.0, 0\n    optimizer.zero_grad()\n",
            "    return total / rows": "    optimizer.step()\n    return total / rows",
        },
        words="The optimizer takes a single step for the whole epoch, with the gradients of all batches added up. The "
        "text asks for one step for each batch. Look at what stands inside the loop and what behind it.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-steps-one-batch-late",
        family="OP02",
        cell="train_epoch",
        edits={
            "        optimizer.zero_grad()\n": "",
            "        loss.backward()\n        optimizer.step()\n": "        optimizer.step()\n"
            "        optimizer.zero_grad()\n        loss.backward()\n",
        },
        words="Each step uses the gradients of the batch before: the first does nothing, and the last batch is never "
        "learned from. Look at the order of backward and step.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-mode-not-set",
        family="OP15, EV03",
        cell="train_epoch",
        edits={"    model.train()\n": ""},
        words="A model that arrives in evaluation mode is trained in evaluation mode: batch normalization uses its old "
        "statistics and never updates them, and dropout is off. After the first evaluation that happens in every "
        "epoch. Look at what your function does before its first batch.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-in-evaluation-mode",
        family="OP15",
        cell="train_epoch",
        edits={"model.train()": "model.eval()"},
        words="Training runs in evaluation mode: batch normalization uses its running statistics and never updates "
        "them, and dropout is off. Look for `eval` in the function.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-mean-of-batch-means",
        family="LS08, EV06",
        cell="train_epoch",
        edits={"total += loss.item() * len(x)": "total += loss.item()", "rows += len(x)": "rows += 1"},
        words="Your result is the mean of the batches' means. A last batch of two rows then counts as much as one of a "
        "hundred. Look at what each batch adds, and at what you divide by.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-loss-summed",
        family="LS08",
        cell="train_epoch",
        edits={"total / rows": "total"},
        words="Your result is the sum over the rows, so it grows with the data. The text asks for the mean. Look at "
        "what you return.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-batch-means-summed",
        family="LS08",
        cell="train_epoch",
        edits={"total += loss.item() * len(x)": "total += loss.item()", "total / rows": "total"},
        words="Your result is the sum of the batches' mean losses. Look at what each batch adds, and at what you "
        "divide by.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-means-divided-by-rows",
        family="EV06",
        cell="train_epoch",
        edits={"total += loss.item() * len(x)": "total += loss.item()"},
        words="Your result is too small by about the batch size: means of batches are added up and divided by the "
        "number of rows. A mean over rows needs a sum over rows. Look at what each batch adds.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-weighs-by-the-batch-size",
        family="EV08",
        cell="train_epoch",
        edits={"total += loss.item() * len(x)": "total += loss.item() * loader.batch_size"},
        words="A smaller last batch counts in your mean as if it were a full one, and you divide by the rows that "
        "there are. Look at what the loss of each batch is multiplied by.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-divides-by-full-batches",
        family="EV08",
        cell="train_epoch",
        edits={"rows += len(x)": "rows += loader.batch_size"},
        words="Your mean loss is divided by the rows of so many full batches. A smaller last batch has fewer, so the "
        "result is too small. Look at what you divide by.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-last-loss",
        family="LS10",
        cell="train_epoch",
        edits={"total / rows": "loss.item()"},
        words="Your result is the loss of the last batch. The text asks for the mean over the whole epoch. Look at "
        "what you return.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-first-batch-alone",
        family="OP13",
        cell="train_epoch",
        edits={"    return total / rows": "        return total / rows"},
        words="Your function returns after the first batch. Look at how far the `return` is indented.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-last-batch-skipped",
        family="OP13",
        cell="train_epoch",
        edits={LOOP: "        if rows and len(x) < largest:\n            break\n        largest = len(x)\n" + LOOP},
        words="The last batch is left out when it is smaller than the others. Its rows belong to the epoch. Look at "
        "what your loop does with a batch of another size.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-optimizer-made-anew",
        family="OP06",
        cell="train_epoch",
        edits={
            "        optimizer.zero_grad()\n": "        optimizer.zero_grad()\n        optimizer.state.clear()\n",
        },
        words="The optimizer forgets its momentum between two batches, as if it were made anew for each. Its memory "
        "is what makes it more than plain gradient descent. Look for an optimizer that is made, or emptied, inside "
        "the loop.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-keeps-graphs",
        family="AG06",
        cell="train_epoch",
        words="The graphs of earlier steps are still alive when the next batch is fetched. Adding losses as tensors, "
        "or keeping them in a list, keeps the whole graph of each: memory grows with every batch. Look at what your "
        "loop collects.",
        tests=EPOCH,
        pairs=False,
    ),
    Fault(
        "epoch-keeps-tensors",
        family="DV13",
        cell="train_epoch",
        words="The memory in use on the device grows with every batch: something of each batch is kept, such as its "
        "inputs or outputs. A long epoch then ends in an out-of-memory error. Look at what your loop collects.",
        tests=EPOCH,
        pairs=False,
    ),
    Fault(
        "epoch-waits-too-often",
        family="DV08",
        cell="train_epoch",
        words="Your loop makes the host wait for the device more than once for each batch. While it waits, it cannot "
        "prepare the next batch, and the device soon idles. Look for `.item()`, `float(...)`, `.cpu()`, `print` and "
        "`if` on tensors inside the loop.",
        tests=EPOCH,
        pairs=False,
        minor=True,  # the numbers are right; and how often the host waits is known only from a log
    ),
    Fault(
        "epoch-loss-afterwards",
        family="LS10",
        cell="train_epoch",
        edits={
            "        total += loss.item() * len(x)\n": "        with torch.no_grad():\n"
            "            total += loss_fn(model(x), y).item() * len(x)\n"
        },
        words="Each batch's loss is that of the weights after its step. The text asks for the one that the step was "
        "computed from: it needs no second forward pass. Look at which loss you add up.",
        tests=EPOCH,
    ),
    Fault(
        "epoch-divides-by-the-data-set",
        family="EV06",
        cell="train_epoch",
        edits={"return total / rows": "return total / len(loader.dataset)"},
        words="Your mean loss is divided by the size of the whole data set. A loader may leave rows out (a smaller "
        "last batch, a sampler), and those were never seen. Look at what you divide by.",
        tests=EPOCH,
        pairs=False,
    ),
]

EVALUATE = [
    Fault(
        "evaluation-batch-left-on-host",
        family="DV01, DV02",
        cell="evaluate",
        edits={"            x, y = x.to(device), y.to(device)\n": ""},
        words="The batch is on the CPU and the model on the CUDA device. Look at the first line of the loop.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-labels-left-on-host",
        family="DV02",
        cell="evaluate",
        edits={"x, y = x.to(device), y.to(device)": "x = x.to(device)"},
        words="The labels are on the CPU and the outputs on the CUDA device when the two meet. Look at the first line "
        "of the loop.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-hard-coded-cuda",
        family="DV05",
        cell="evaluate",
        edits={"x, y = x.to(device), y.to(device)": 'x, y = x.to("cuda"), y.to("cuda")'},
        raises=NO_GPU,
        words="Your loop uses the first CUDA device, whichever device it is given. On a machine without a GPU it "
        "stops, and with two GPUs it mixes them. Look for `cuda` written into the function.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-on-the-host-and-back",
        family="DV03",
        cell="evaluate",
        edits={
            "    model.eval()\n": '    there, device = device, "cpu"\n    model.to(device)\n    model.eval()\n',
            "    model.train(was_training)\n": "    model.train(was_training)\n    model.to(there)\n",
        },
        words="Your evaluation gives the CPU's numbers, whichever device is asked for: the model goes to the host, is "
        "evaluated there, and comes back. The GPU does nothing. Look for each `.cpu()` and `.to(` of the model.",
        tests=EVALUATION,
        pairs=False,
    ),
    Fault(
        "evaluation-moves-the-model-to-cuda",
        family="DV05",
        cell="evaluate",
        edits={
            "    model.eval()\n": '    model.to("cuda")\n    model.eval()\n',
            "x, y = x.to(device), y.to(device)": 'x, y = x.to("cuda"), y.to("cuda")',
        },
        words="After your function on another device the model is on the first CUDA device: everything is moved there, "
        "whichever device you are given. The caller asked for another one, where the rest of the program is. Look for "
        "`cuda` written into the function, and for `is_available`.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-mode-not-set",
        family="EV01",
        cell="evaluate",
        edits={"    model.eval()\n": ""},
        words="The model is evaluated in whichever mode it arrives. In training mode batch normalization uses the "
        "statistics of each batch and changes its running ones, and dropout is on: measuring changes the model. Look "
        "at what happens before the first forward pass.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluated-in-training-mode",
        family="EV01",
        cell="evaluate",
        edits={"    model.eval()\n": "    model.train()\n"},
        words="The model is evaluated in training mode: batch normalization uses the statistics of each batch and "
        "changes its running ones, and dropout is on. The result depends on how rows fall into batches, and measuring "
        "changes the model. Look at what happens before the first forward pass.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-mode-left-on",
        family="EV03",
        cell="evaluate",
        edits={"    model.train(was_training)\n": ""},
        words="The model comes back in evaluation mode, whichever mode it came in. A training loop that evaluates now "
        "and then goes on without dropout and with frozen statistics. Look at the end of the function.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-always-to-training-mode",
        family="EV03",
        cell="evaluate",
        edits={"model.train(was_training)": "model.train()"},
        words="The model comes back in training mode even when it came in evaluation mode. Whoever evaluates a "
        "finished model twice then predicts with it in the wrong mode. Look at the end of the function.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-builds-graphs",
        family="EV02",
        cell="evaluate",
        raises=r"call numpy\(\) on Tensor that requires grad",
        words="The outputs require gradients: PyTorch notes down every operation for a backward pass that never comes. "
        "That costs memory and time, and NumPy does not take such outputs. Look at what tells PyTorch that no "
        "gradients are wanted.",
        tests=EVALUATION,
        pairs=False,
    ),
    Fault(
        "evaluation-mean-of-batch-means",
        family="EV06",
        cell="evaluate",
        edits={
            "            total += loss_fn(outputs, y).item() * len(x)\n": "            total += loss_fn(outputs, y)"
            ".item()\n            count += 1\n",
            "    total, right, rows = 0.0, 0, 0\n": "    total, right, rows, count = 0.0, 0, 0, 0\n",
            "return total / rows,": "return total / count,",
        },
        words="Your loss is the mean of the batches' means. A last batch of two rows then counts as much as one of a "
        "hundred. Look at what each batch adds, and at what you divide by.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-divides-by-the-data-set",
        family="EV06",
        cell="evaluate",
        edits={
            "return total / rows, right / rows": "return total / len(loader.dataset), right / len(loader.dataset)",
        },
        words="Loss and accuracy are divided by the size of the whole data set. A loader may leave rows out (a smaller "
        "last batch, a sampler), and those were never seen. Look at what you divide by.",
        tests=EVALUATION,
        pairs=False,
    ),
    Fault(
        "accuracy-mean-of-batch-means",
        family="EV06",
        cell="evaluate",
        edits={
            "(outputs.argmax(dim=1) == y).sum().item()": "(outputs.argmax(dim=1) == y).float().mean().item()",
            "    total, right, rows = 0.0, 0, 0\n": "    total, right, rows, count = 0.0, 0, 0, 0\n",
            "            rows += len(x)\n": "            rows += len(x)\n            count += 1\n",
            "right / rows": "right / count",
        },
        words="Your accuracy is the mean of the batches' accuracies. A last batch of two rows then counts as much as "
        "one of a hundred. Look at what each batch adds, and at what you divide by.",
        tests=EVALUATION,
    ),
    Fault(
        "both-means-of-batch-means",
        family="EV06",
        cell="evaluate",
        edits={
            "loss_fn(outputs, y).item() * len(x)": "loss_fn(outputs, y).item()",
            "(outputs.argmax(dim=1) == y).sum().item()": "(outputs.argmax(dim=1) == y).float().mean().item()",
            "rows += len(x)": "rows += 1",
        },
        words="Loss and accuracy are means of the batches' means. A last batch of two rows then counts as much as one "
        "of a hundred. Look at what each batch adds, and at what you divide by.",
        tests=EVALUATION,
    ),
    Fault(
        "accuracy-over-the-wrong-axis",
        family="EV05, LS06",
        cell="evaluate",
        edits={"argmax(dim=1)": "argmax(dim=0)"},
        words="Your accuracy asks for each class which row has the largest output. The question is which class each "
        "row is: the outputs have the shape (batch, classes). Look at the axis of the maximum.",
        tests=EVALUATION,
    ),
    Fault(
        "accuracy-in-per-cent",
        family="EV05",
        cell="evaluate",
        edits={"right / rows": "100 * right / rows"},
        words="Your accuracy is in per cent. The text asks for a share between 0 and 1. Look at what you return.",
        tests=EVALUATION,
    ),
    Fault(
        "accuracy-is-a-count",
        family="EV05",
        cell="evaluate",
        edits={"right / rows": "float(right)"},
        words="Your accuracy is the number of right rows. The text asks for their share. Look at what you return.",
        tests=EVALUATION,
    ),
    Fault(
        "accuracy-is-the-error",
        family="EV05",
        cell="evaluate",
        edits={"argmax(dim=1) == y": "argmax(dim=1) != y"},
        words="Your accuracy is the share of wrong rows. Look at the comparison of predictions and labels.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-of-the-last-batch",
        family="EV08",
        cell="evaluate",
        edits={
            "total += loss_fn(outputs, y).item() * len(x)": "total = loss_fn(outputs, y).item() * len(x)",
            "right += (": "right = (",
            "rows += len(x)": "rows = len(x)",
        },
        words="Your result is that of the last batch alone. Look at how each batch is added to the ones before.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-of-the-first-batch",
        family="EV08",
        cell="evaluate",
        edits={"            rows += len(x)\n": "            rows += len(x)\n            break\n"},
        words="Your result is that of the first batch alone. Look at where the function returns.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-remembers",
        family="EV07",
        cell="evaluate",
        words="A second call gives wrong numbers where the first gave right ones: something of the first is still "
        "there, such as its sums. Look at where they are set to zero.",
        tests=EVALUATION,
        pairs=False,
    ),
    Fault(
        "evaluation-clears-gradients",
        cell="evaluate",
        edits={"    model.eval()\n": "    model.eval()\n    model.zero_grad()\n"},
        words="After the evaluation the gradients of the model are gone. Somebody may be collecting them over several "
        "batches; an evaluation has no business there. Look for `zero_grad`.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-freezes-parameters",
        cell="evaluate",
        edits={"    model.eval()\n": "    model.eval()\n    model.requires_grad_(False)\n"},
        words="After the evaluation backward() fails or does nothing: either the parameters no longer require "
        "gradients, or gradients are still switched off for the whole program. Look at how you keep PyTorch from "
        "building a graph, and whether that ends.",
        tests=EVALUATION,
    ),
    Fault(
        "evaluation-unfreezes-parameters",
        cell="evaluate",
        edits={"    model.eval()\n": "    model.eval()\n    model.requires_grad_(True)\n"},
        words="After the evaluation every parameter requires gradients, also those that did not before: a layer that "
        "somebody has frozen is trained on. Look for `requires_grad`. There is a way to do without.",
        tests=EVALUATION,
    ),
    Fault(
        "accuracy-before-the-loss",
        cell="evaluate",
        edits={"return total / rows, right / rows": "return right / rows, total / rows"},
        words="You return the accuracy first and the loss second. The text asks for (loss, accuracy). Look at the "
        "order.",
        tests=EVALUATION,
        pairs=False,
    ),
    Fault(
        "evaluation-last-batch-skipped",
        family="EV08",
        cell="evaluate",
        edits={
            "            x, y = x.to(device), y.to(device)\n": "            if rows and len(x) < largest:\n"
            "                break\n            largest = len(x)\n            x, y = x.to(device), y.to(device)\n"
        },
        words="The last batch is left out when it is smaller than the others. Its rows count, too. Look at what your "
        "loop does with a batch of another size.",
        tests=EVALUATION,
        pairs=False,
    ),
    Fault(
        "evaluation-waits-too-often",
        family="DV08",
        cell="evaluate",
        words="Your loop makes the host wait for the device more often than the text allows, for each row perhaps. "
        "Look for `.item()`, `.tolist()`, `float(...)` and `if` on tensors.",
        tests=EVALUATION,
        pairs=False,
        minor=True,  # the numbers are right; and how often the host waits is known only from a log
    ),
]

AMP_LOOP = "        scaler.unscale_(optimizer)\n"

TRAIN_EPOCH_AMP = [
    Fault(
        "amp-clipped-before-unscaling",
        family="AM04",
        cell="train_epoch_amp",
        edits={AMP_LOOP: ""},
        words="The gradients are clipped while they are still multiplied by the scale: they look huge, are cut to "
        "max_norm, and after the division almost nothing is left. Look at what `.grad` holds when it is clipped.",
        tests=AMP,
    ),
    Fault(
        "amp-not-clipped",
        family="OP08",
        cell="train_epoch_amp",
        edits={"        nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n": ""},
        words="The norm of the gradients is not limited: max_norm changes nothing. Either they are not clipped, or "
        "only after the step, when nobody uses them any more. Look at what happens between backward and step.",
        tests=AMP,
    ),
    Fault(
        "amp-clipped-by-value",
        family="OP08",
        cell="train_epoch_amp",
        edits={"clip_grad_norm_(model.parameters(), max_norm)": "clip_grad_value_(model.parameters(), max_norm)"},
        words="Each gradient entry is cut by itself, which changes the direction of the step. The text limits the norm "
        "of all of them together. Look at which function clips.",
        tests=AMP,
    ),
    Fault(
        "amp-each-tensor-clipped",
        family="OP08",
        cell="train_epoch_amp",
        edits={
            "        nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n": "        for p in model.parameters():\n"
            "            nn.utils.clip_grad_norm_(p, max_norm)\n"
        },
        words="The norm of each parameter's gradient is limited by itself. The text limits the norm of all of them "
        "together, so that the direction of the step stays. Look at what is passed to the clipping.",
        tests=AMP,
    ),
    Fault(
        "amp-loss-not-scaled",
        family="AM01",
        cell="train_epoch_amp",
        edits={"scaler.scale(loss).backward()": "loss.backward()"},
        words="Your steps are too small by the factor of the scale: backward starts from the plain loss, and the "
        "scaler divides all the same. Look at what backward is called on.",
        tests=AMP,
    ),
    Fault(
        "amp-gradients-not-unscaled",
        family="AM02, AM04",
        cell="train_epoch_amp",
        edits={AMP_LOOP: "", "scaler.step(optimizer)": "optimizer.step()", "        scaler.update()\n": ""},
        words="Your steps use gradients that are still multiplied by the scale. They are as many times too large, or, "
        "once clipped, always as long as max_norm. Look at who takes the step.",
        tests=AMP,
    ),
    Fault(
        "amp-step-past-the-scaler",
        family="AM02",
        cell="train_epoch_amp",
        edits={"scaler.step(optimizer)": "optimizer.step()"},
        words="A batch whose gradients overflow is not skipped: the optimizer takes the step with infinite gradients, "
        "and every weight is lost. Only the scaler knows that they overflowed. Look at who takes the step.",
        tests=AMP,
    ),
    Fault(
        "amp-scale-not-updated",
        family="AM03",
        cell="train_epoch_amp",
        edits={"        scaler.update()\n": ""},
        raises=r"unscale_\(\) has already been called on this optimizer since the last update",
        words="The scaler is not told that a batch has ended, or is asked twice to unscale the gradients of one. It "
        "adapts its scale between batches, and refuses the next one otherwise. Look at the last line of the loop.",
        tests=AMP,
    ),
    Fault(
        "amp-update-before-the-step",
        family="AM03",
        cell="train_epoch_amp",
        edits={
            "        scaler.step(optimizer)\n        scaler.update()\n": "        scaler.update()\n"
            "        scaler.step(optimizer)\n"
        },
        words="The scaler's update comes before the step. After update it takes the gradients for those of a new "
        "batch: the step divides them by the scale once more, and the next batch is refused. Look at the order of the "
        "two lines.",
        tests=AMP,
        pairs=False,
    ),
    Fault(
        "amp-unscaled-after-the-step",
        family="AM04",
        cell="train_epoch_amp",
        edits={
            AMP_LOOP: "",
            "        nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n        scaler.step(optimizer)\n": (
                f"        scaler.step(optimizer)\n{AMP_LOOP}"
                "        nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
            ),
        },
        words="The scaler refuses to unscale gradients whose step is taken already: step has divided them itself. What "
        "is clipped after that is of no use any more. Look at the order of unscale_ and step.",
        tests=AMP,
        pairs=False,
    ),
    Fault(
        "amp-scale-updated-once",
        family="AM03",
        cell="train_epoch_amp",
        edits={
            AMP_LOOP: "        for p in model.parameters():\n            p.grad /= scaler.get_scale()\n",
            "        scaler.step(optimizer)\n        scaler.update()\n": "        finite = all(bool(p.grad.isfinite()"
            ".all()) for p in model.parameters())\n        optimizer.step() if finite else None\n",
        },
        words="The scale never changes: after a batch that overflows, the next one overflows too. Adapting it is what "
        "the scaler is for. Look at how often its scale is updated.",
        tests=AMP,
    ),
    Fault(
        "autocast-missing",
        family="AM05",
        cell="train_epoch_amp",
        edits={'torch.autocast("cuda", dtype=torch.float16)': 'torch.autocast("cuda", enabled=False)'},
        words="The model computes in float32: there is a scaler, and nothing to scale for. Half precision is what "
        "makes it fast. Look at what surrounds the forward pass.",
        tests=AMP,
    ),
    Fault(
        "autocast-bfloat16",
        family="AM05",
        cell="train_epoch_amp",
        edits={"dtype=torch.float16": "dtype=torch.bfloat16"},
        words="The model computes in bfloat16. The text asks for float16, which has more digits and a smaller range; "
        "that range is why there is a scaler. Look at the dtype of autocast.",
        tests=AMP,
    ),
    Fault(
        "amp-loss-outside-autocast",
        family="AM05, AM06",
        cell="train_epoch_amp",
        edits={
            "            loss = loss_fn(model(x), y)\n": "            outputs = model(x)\n"
            "        loss = loss_fn(outputs, y)\n"
        },
        words="The loss is computed in float16, outside autocast: exponentials beyond 65504 are infinite there. "
        "Autocast knows which operations need float32. Look at which lines it surrounds.",
        tests=AMP,
    ),
    Fault(
        "amp-parameters-in-half",
        family="AM05",
        cell="train_epoch_amp",
        edits={"    model.train()\n": "    model.train().half()\n"},
        raises=r"Attempting to unscale FP16 gradients",
        words="The parameters themselves are float16. Small updates are then rounded away, and the scaler refuses "
        "such gradients. Autocast leaves the parameters in float32 and casts for each operation. Look for `half`.",
        tests=AMP,
    ),
    Fault(
        "amp-without-zero-grad",
        family="AG01",
        cell="train_epoch_amp",
        edits={"        optimizer.zero_grad()\n": ""},
        words="The gradients of all batches so far pile up. `backward` adds to what is in `.grad`. Look at the "
        "beginning of each pass of the loop.",
        tests=AMP,
    ),
    Fault(
        "amp-without-steps",
        family="OP01",
        cell="train_epoch_amp",
        edits={"        scaler.step(optimizer)\n": ""},
        words="No weight has moved, as if the step were never taken. Look at the end of the loop.",
        tests=AMP,
    ),
    Fault(
        "autocast-around-the-backward-pass",
        family="AM05",
        cell="train_epoch_amp",
        words="Autocast is still on in the backward pass. Each operation of it takes the dtype that the forward pass "
        "used for it, and needs no autocast. Look at which lines it surrounds.",
        tests=AMP,
        pairs=False,
        minor=True,  # the numbers are the same
    ),
    Fault(
        "amp-keeps-graphs",
        family="AG06",
        cell="train_epoch_amp",
        words="The graphs of earlier steps are still alive when the next batch is fetched. Adding losses as tensors, "
        "or keeping them in a list, keeps the whole graph of each: memory grows with every batch. Look at what your "
        "loop collects.",
        tests=AMP,
        pairs=False,
        minor=True,  # the numbers are right; exercise 3 has the same demand, and weighs it
    ),
    Fault(
        "amp-keeps-tensors",
        family="DV13",
        cell="train_epoch_amp",
        words="The memory in use on the device grows with every batch: something of each batch is kept, such as its "
        "inputs or outputs. A long epoch then ends in an out-of-memory error. Look at what your loop collects.",
        tests=AMP,
        pairs=False,
        minor=True,
    ),
    Fault(
        "autocast-around-everything",
        family="AM05",
        cell="train_epoch_amp",
        edits={
            "    total, rows = 0.0, 0\n": '    total, rows = 0.0, 0\n    around = torch.autocast("cuda", dtype='
            "torch.float16)\n    around.__enter__()\n",
            "    return total / rows": "    around.__exit__(None, None, None)\n    return total / rows",
        },
        words="Autocast surrounds more than the forward pass and the loss: it is still on when the optimizer makes its "
        "step. It keeps float16 copies of the weights for as long as it is on, so that later batches may be computed "
        "with old weights. Look at which lines it surrounds.",
        tests=AMP,
        minor=True,  # where a GPU computes the same all the same, it is a matter of style
    ),
    Fault(
        "amp-skipped-batches-left-out",
        family="EV06",
        cell="train_epoch_amp",
        edits={
            "        scaler.update()\n        total += loss.item() * len(x)\n        rows += len(x)\n": "        "
            "before = scaler.get_scale()\n        scaler.update()\n        if scaler.get_scale() >= before:\n"
            "            total += loss.item() * len(x)\n            rows += len(x)\n",
            "return total / rows": "return total / max(rows, 1)",
        },
        words="Batches whose step was skipped are missing from your mean loss. They were computed, and the text counts "
        "them. Look at the condition under which you add a loss.",
        tests=AMP,
        pairs=False,
    ),
    Fault(
        "amp-infinite-losses-left-out",
        cell="train_epoch_amp",
        edits={
            "        scaler.scale(loss).backward()": "        if not torch.isfinite(loss):\n            continue\n"
            "        scaler.scale(loss).backward()"
        },
        words="A batch whose loss is not finite never reaches the scaler: its scale is not lowered, and its rows are "
        "missing in your mean. The scaler itself looks for what overflows. Look for an `if` that leaves a batch out.",
        tests=AMP,
    ),
    Fault(
        "amp-each-group-clipped",
        family="OP08",
        cell="train_epoch_amp",
        edits={
            "        nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n": "        for g in "
            "optimizer.param_groups:\n            nn.utils.clip_grad_norm_(g['params'], max_norm)\n"
        },
        words="The norm of each parameter group of the optimizer is limited by itself. The text limits the norm of all "
        "gradients together. Look at what is passed to the clipping.",
        tests=AMP,
        pairs=False,
    ),
    Fault(
        "amp-scaler-of-its-own",
        family="AM02",
        cell="train_epoch_amp",
        edits={
            "    model.train()\n": '    model.train()\n    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**16)\n'
        },
        words="The scaler that you are given is not used: its scale has not changed, and the steps are those of "
        "another scaler. A scale that was found in earlier epochs is lost. Look for a `GradScaler` that is made in the "
        "function.",
        tests=AMP,
        pairs=False,
    ),
    Fault(
        "amp-loss-still-scaled",
        family="LS10",
        cell="train_epoch_amp",
        edits={"total += loss.item() * len(x)": "total += scaler.scale(loss).item() * len(x)"},
        words="The mean loss that you return is multiplied by the scale. Look at which loss is added up.",
        tests=AMP,
    ),
    Fault(
        "amp-loss-divided-by-the-new-scale",
        family="LS10",
        cell="train_epoch_amp",
        edits={
            "total += loss.item() * len(x)": "total += loss.item() * scale / scaler.get_scale() * len(x)",
            "        scaler.scale(loss).backward()\n": "        scale = scaler.get_scale()\n"
            "        scaler.scale(loss).backward()\n",
        },
        words="Your mean loss is right until the scale changes. You divide a scaled loss by the scale, but by the one "
        "after the update. Look at which loss you add up, and when you ask for the scale.",
        tests=AMP,
        pairs=False,
    ),
    Fault(
        "amp-mean-of-batch-means",
        family="LS08, EV06",
        cell="train_epoch_amp",
        edits={"total += loss.item() * len(x)": "total += loss.item()", "rows += len(x)": "rows += 1"},
        words="Your result is the mean of the batches' means. A last batch of two rows then counts as much as one of a "
        "hundred. Look at what each batch adds, and at what you divide by.",
        tests=AMP,
    ),
    Fault(
        "amp-in-evaluation-mode",
        family="OP15",
        cell="train_epoch_amp",
        words="A model that arrives in evaluation mode is trained in evaluation mode. Look at what your function does "
        "before its first batch.",
        tests=AMP,
    ),
    Fault(
        "amp-hard-coded-cuda",
        family="DV05",
        cell="train_epoch_amp",
        edits={LOOP: '        x, y = x.to("cuda"), y.to("cuda")\n'},
        raises=NO_GPU,
        words="Your loop uses the first CUDA device, whichever it is given; with two GPUs it mixes them. Look for "
        "`cuda` written into the function.",
        tests=AMP,
    ),
    Fault(
        "amp-moves-the-model-to-cuda",
        family="DV05",
        cell="train_epoch_amp",
        edits={
            "    model.train()\n": '    model.to("cuda")\n    model.train()\n',
            LOOP: '        x, y = x.to("cuda"), y.to("cuda")\n',
        },
        words="After your function on another device the model is on the first CUDA device: everything is moved there, "
        "whichever device you are given. The caller asked for another one, where the rest of the program is. Look for "
        "`cuda` written into the function, and for `is_available`.",
        tests=AMP,
    ),
    Fault(
        "amp-batch-left-on-host",
        family="DV01",
        cell="train_epoch_amp",
        edits={LOOP: ""},
        words="The batch is on the CPU and the model on the CUDA device. Look at the first line of the loop.",
        tests=AMP,
    ),
]

CHECKPOINTS = [
    Fault(
        "checkpoint-model-not-loaded",
        family="SV03",
        cell="checkpoint",
        edits={'    model.load_state_dict(checkpoint["model"])\n': ""},
        words="After loading, the model still has the weights that it was made with. Either they are not loaded, or "
        "they are loaded under names that the model does not have while mismatches are ignored (`strict=False`). Look "
        "at the lines that concern the model.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-statistics-missing",
        family="SV03",
        cell="checkpoint",
        edits={
            '"model": model.state_dict(),': '"model": {name: p.data for name, p in model.named_parameters()},',
            'model.load_state_dict(checkpoint["model"])': 'model.load_state_dict(checkpoint["model"], strict=False)',
        },
        words="The parameters come back and the running statistics of batch normalization do not: they are buffers, "
        "not parameters. In evaluation mode the resumed model computes something else. Look at what is saved of the "
        "model.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-optimizer-missing",
        family="SV02",
        cell="checkpoint",
        edits={'    optimizer.load_state_dict(checkpoint["optimizer"])\n': ""},
        words="The resumed run goes on with an optimizer that remembers nothing: momentum, or Adam's averages, start "
        "from zero. Look at what is saved and loaded of the optimizer.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-optimizer-without-options",
        family="SV02",
        cell="checkpoint",
        edits={
            'optimizer.load_state_dict(checkpoint["optimizer"])': "optimizer.load_state_dict({**optimizer."
            'state_dict(), "state": checkpoint["optimizer"]["state"]})'
        },
        words="The memory of the optimizer comes back and its options do not: the learning rate, which a schedule may "
        "have changed, is that of the new optimizer. Look at what is saved and loaded of the optimizer.",
        tests=CHECKPOINT,
    ),
    *(
        Fault(
            f"checkpoint-{part}-only-with-a-{other}",
            family="SV02",
            cell="checkpoint",
            edits={f"    if {part} is not None:\n": "    if scheduler is not None and scaler is not None:\n"},
            words=f"With a {part} and no {other}, {what} of the resumed run starts from the beginning; with both, it "
            f"goes on. Either may be None without the other. Look at when the state of the {part} is saved and loaded.",
            tests=CHECKPOINT,
            minor=part == "scaler",
        )
        for part, other, what in (("scheduler", "scaler", "the schedule"), ("scaler", "scheduler", "the scale"))
    ),
    Fault(
        "checkpoint-scheduler-missing",
        family="SV02",
        cell="checkpoint",
        edits={'        scheduler.load_state_dict(checkpoint["scheduler"])\n': "        pass\n"},
        words="The schedule of the resumed run starts from the beginning: the learning rate falls at other times than "
        "in the uninterrupted one. Look at what is saved and loaded of the scheduler.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-scaler-without-its-count",
        family="SV02",
        cell="checkpoint",
        edits={
            'scaler.load_state_dict(checkpoint["scaler"])': "scaler.load_state_dict({**scaler.state_dict(), "
            '"scale": checkpoint["scaler"]["scale"]})'
        },
        words="The scale comes back, and then it grows at other times than in the uninterrupted run. A scaler also "
        "counts the steps since its scale last changed, and your resumed one counts from 0. Look at what is saved and "
        "loaded of the scaler.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-scaler-missing",
        family="SV02",
        cell="checkpoint",
        edits={'        scaler.load_state_dict(checkpoint["scaler"])\n': "        pass\n"},
        words="The scale of the resumed run starts from the beginning. Look at what is saved and loaded of the scaler.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-random-state-missing",
        family="SV02, RP01",
        cell="checkpoint",
        edits={'    torch.set_rng_state(checkpoint["random"].cpu())\n': ""},
        words="With dropout the resumed run ends elsewhere: its masks are drawn from another place in the stream of "
        "random numbers. Look at what is saved and set of the random state.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-random-state-on-the-device",
        family="SV02, RP01",
        cell="checkpoint",
        edits={'checkpoint["random"].cpu()': 'checkpoint["random"]'},
        words="The random state cannot be set: that of the CPU's generator is a byte tensor on the CPU, and yours is "
        "something else by then. Often it was loaded onto the device with everything else: look at what map_location "
        "does to all tensors of the file.",
        raises=r"RNG state must be a torch\.ByteTensor",
        tests=CHECKPOINT,
        pairs=False,
    ),
    Fault(
        "checkpoint-epoch-from-zero",
        family="SV02",
        cell="checkpoint",
        edits={'return checkpoint["epoch"]': "return 0"},
        words="The epoch that you return is 0: the resumed run would do all its epochs again. Look at what is saved "
        "and returned of it.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-epoch-off-by-one",
        family="SV02, OP13",
        cell="checkpoint",
        edits={'return checkpoint["epoch"]': 'return checkpoint["epoch"] + 1'},
        words="The epoch that you return is one more than the one that was saved. `epoch` is the number of epochs that "
        "are done; counting on is the caller's business. Look for `+ 1`.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-epoch-not-returned",
        family="SV02",
        cell="checkpoint",
        edits={'    return checkpoint["epoch"]\n': ""},
        words="`load_checkpoint` returns None. The program that resumes needs to know how many epochs are done. Look "
        "at the end of the function.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-without-map-location",
        family="SV04",
        cell="checkpoint",
        edits={"map_location=device, ": ""},
        raises=r"Attempting to deserialize object on (a )?CUDA device",
        words="A file that was written on a CUDA device cannot be loaded where there is none: its tensors want to go "
        "back to where they were. Look at what `torch.load` is told about devices.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-pickles-objects",
        family="SV07",
        cell="checkpoint",
        raises=r"Weights only load failed",
        words="The file holds Python objects: a whole model, an optimizer, or something else with a class. Such a file "
        "can run any code when it is opened, and breaks when a class changes its place. Look at what you put into it.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-none-not-handled",
        cell="checkpoint",
        edits={
            "scheduler.state_dict() if scheduler is not None else None": "scheduler.state_dict()",
            "scaler.state_dict() if scaler is not None else None": "scaler.state_dict()",
        },
        raises=r"'NoneType' object has no attribute '(state_dict|load_state_dict)'",
        words="Your code asks None for its state: there is not always a scheduler or a scaler. Look at how you treat "
        "the two when they are None.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-saving-changes-the-mode",
        family="SV06",
        cell="checkpoint",
        edits={"    checkpoint = {\n": "    model.eval()\n    checkpoint = {\n"},
        words="The run that was saved goes on differently after it: the model is left in evaluation mode. Saving reads "
        "and changes nothing. Look for `eval`.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-loading-changes-the-mode",
        family="SV06",
        cell="checkpoint",
        edits={'    return checkpoint["epoch"]\n': '    model.eval()\n    return checkpoint["epoch"]\n'},
        words="After loading, the model is in evaluation mode, and training goes on without dropout and with frozen "
        "statistics. Which mode is right is the caller's business. Look for `eval`.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-model-moved-to-cpu",
        family="DV11",
        cell="checkpoint",
        edits={'    return checkpoint["epoch"]\n': '    model.cpu()\n    return checkpoint["epoch"]\n'},
        words="After loading, the model is on the CPU, whichever device it was on. Look at every `.cpu()` and `.to(`.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-saving-moves-the-model",
        family="DV11, SV06",
        cell="checkpoint",
        edits={"    checkpoint = {\n": "    model.cpu()\n    checkpoint = {\n"},
        words="After saving, the model is on the CPU, so the run that was saved cannot go on: `model.cpu()` moves the "
        "model itself and makes no copy. Look at what happens to the model before its state is taken.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-schedule-replayed",
        family="SV02",
        cell="checkpoint",
        edits={
            '        scheduler.load_state_dict(checkpoint["scheduler"])\n': "        for _ in range(checkpoint["
            '"epoch"]):\n            scheduler.step()\n'
        },
        words="You bring the schedule up to date by making its steps again. Each of them changes the learning rate, "
        "which came back with the optimizer already: it falls twice. Look at what a scheduler can save and load.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-seed-saved",
        family="RP04",
        cell="checkpoint",
        edits={
            '"random": torch.get_rng_state()': '"random": torch.initial_seed()',
            'torch.set_rng_state(checkpoint["random"].cpu())': 'torch.manual_seed(checkpoint["random"])',
        },
        words="After loading, the random numbers begin anew at the seed of the saved run, and do not go on where that "
        "run was: it gets the masks that it had at its start. A seed says where a stream begins, and not how far it "
        "has been read. Look at what is saved and set of the random state.",
        tests=CHECKPOINT,
    ),
    Fault(
        "checkpoint-seeded-instead",
        family="RP04",
        cell="checkpoint",
        edits={'torch.set_rng_state(checkpoint["random"].cpu())': 'torch.manual_seed(checkpoint["epoch"])'},
        words="After loading, the random numbers begin at a seed and do not go on where the saved run was. Look at "
        "what is saved and set of the random state.",
        tests=CHECKPOINT,
    ),
]

FITS = [
    Fault(
        "fit-model-not-moved",
        family="DV03",
        cell="fit",
        edits={"    model.to(device)\n": ""},
        words="The model is on the CPU when the first batch arrives on the device. It comes from the host. Look at the "
        "first lines of the function.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-on-the-cpu",
        family="DV03",
        cell="fit",
        edits={"    model.to(device)\n": '    device = "cpu"\n'},
        words="The whole run is on the CPU, whichever device it is given, and the GPU does nothing. "
        "Look at where `device` is used.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-on-the-host-and-back",
        family="DV03",
        cell="fit",
        edits={
            "    model.to(device)\n": '    there, device = device, "cpu"\n',
            "    return history": "    model.to(there)\n    return history",
        },
        words="Your run gives the CPU's numbers, whichever device is asked for: the model is trained on the host and "
        "sent to the device at the end. The GPU does nothing. Look at where `device` is used.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-hard-coded-cuda",
        family="DV05",
        cell="fit",
        edits={"    model.to(device)\n": '    device = "cuda"\n    model.to(device)\n'},
        raises=NO_GPU,
        words="The run is on the first CUDA device, whichever device it is given. Look for `cuda` written into the "
        "function, and for `is_available`: the caller has decided already.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-model-back-on-host",
        family="DV09",
        cell="fit",
        edits={"    return history": "    model.cpu()\n    return history"},
        words="The model comes back on the CPU. The text asks for it to stay on the device. Look at the end of the "
        "function.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-learning-rate-constant",
        family="OP07",
        cell="fit",
        edits={"            scheduler.step()\n": ""},
        words="The first epoch is right, and later ones use a learning rate that has not become smaller. Look at what "
        "happens to it at the end of an epoch.",
        tests=FIT,
    ),
    Fault(
        "fit-learning-rate-falls-too-early",
        family="OP07",
        cell="fit",
        edits={
            "            scheduler.step()\n": "",
            "        for epoch in range(1, epochs + 1):\n": "        for epoch in range(1, epochs + 1):\n"
            "            scheduler.step()\n",
        },
        words="The first epoch already uses the smaller learning rate. It falls *after* each epoch. Look at the order "
        "of training and schedule.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-without-momentum",
        family="OP04",
        cell="fit",
        edits={", momentum=0.9": ""},
        words="Your optimizer has no momentum. Look at its arguments.",
        tests=FIT,
    ),
    Fault(
        "fit-optimizer-made-anew",
        family="OP06",
        cell="fit",
        edits={
            "            train_loss = train_epoch": "            optimizer.state.clear()\n            train_loss = "
            "train_epoch"
        },
        words="The optimizer forgets its momentum between two epochs, as if it were made anew for each. Look at where "
        "it is made.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-optimizer-of-a-copy",
        family="OP05",
        cell="fit",
        edits={
            "    optimizer = torch.optim.SGD(model.parameters(),": "    import copy\n\n"
            "    optimizer = torch.optim.SGD(copy.deepcopy(model).parameters(),"
        },
        words="The parameters of the model stay where they were. Perhaps your optimizer moves those of another model: "
        "look at which parameters it gets, whether the model is copied or made anew after that, and whether the "
        "optimizer makes its steps.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-training-loss-evaluated",
        family="EV08",
        cell="fit",
        edits={
            "train_loss = train_epoch(model, train_loader, loss_fn, optimizer, device)": "train_epoch(model, "
            "train_loader, loss_fn, optimizer, device)\n            "
            "train_loss, _ = evaluate(model, train_loader, loss_fn, device)"
        },
        words="Your training loss is measured after the epoch, in evaluation mode. That of exercise 3 is measured "
        "while the model learns, each batch before its step, and costs no second pass. Look at where the number comes "
        "from.",
        tests=FIT,
    ),
    Fault(
        "fit-validates-before-training",
        family="EV08",
        cell="fit",
        edits={
            "            train_loss = train_epoch(model, train_loader, loss_fn, optimizer, device)\n": "",
            "            val_loss, accuracy = evaluate(model, val_loader, loss_fn, device)\n": "            val_loss, "
            "accuracy = evaluate(model, val_loader, loss_fn, device)\n"
            "            train_loss = train_epoch(model, train_loader, loss_fn, optimizer, device)\n",
        },
        words="The validation of each epoch comes before its training: your first validation loss is that of the "
        "untrained model, and nobody sees that of the last epoch. Look at the order in your loop.",
        tests=FIT,
    ),
    Fault(
        "fit-last-weights",
        family="SV01, OP14",
        cell="fit",
        edits={"    model.load_state_dict(best)\n": ""},
        words="The model comes back with the weights of the last epoch, not of the best one. Either the best ones are "
        "never brought back, or what you kept are the model's own tensors, and training went on changing them. Look at "
        "what is kept when an epoch is the best so far, and at the end of the function.",
        tests=FIT,
    ),
    Fault(
        "fit-best-without-statistics",
        family="SV03",
        cell="fit",
        edits={
            "in model.state_dict().items()}": "in model.named_parameters()}",
            "model.load_state_dict(best)": "model.load_state_dict(best, strict=False)",
        },
        words="The parameters of the best epoch come back with the running statistics of the last one. They belong "
        "together. Look at what is kept when an epoch is the best so far.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-worst-weights",
        family="OP14",
        cell="fit",
        edits={'float("inf")': '-float("inf")', "if val_loss < lowest:": "if val_loss > lowest:"},
        words="The model comes back as it was after the epoch with the *highest* validation loss. Look at the "
        "comparison.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-best-by-training-loss",
        family="DA06, OP14",
        cell="fit",
        edits={"if val_loss < lowest:": "if train_loss < lowest:", "lowest = val_loss": "lowest = train_loss"},
        words="The best epoch is chosen by the training loss, which falls even when the model only learns its data by "
        "heart. Look at the comparison.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-best-by-accuracy",
        family="OP14",
        cell="fit",
        edits={"if val_loss < lowest:": "if -accuracy < lowest:", "lowest = val_loss": "lowest = -accuracy"},
        words="The best epoch is chosen by the validation accuracy. The text asks for the lowest validation loss, "
        "which still differs where accuracies are equal. Look at the comparison.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-one-epoch-short",
        family="OP13",
        cell="fit",
        edits={"range(1, epochs + 1)": "range(1, epochs)", "    model.load_state_dict(best)\n": ""},
        words="There is one epoch too few. Look at the ends of the loop's range.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-one-epoch-more",
        family="OP13",
        cell="fit",
        edits={"range(1, epochs + 1)": "range(1, epochs + 2)"},
        words="There is one epoch too many. Look at the ends of the loop's range.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-validates-on-training-data",
        family="DA05",
        cell="fit",
        edits={"evaluate(model, val_loader,": "evaluate(model, train_loader,"},
        words="Your validation numbers are those of the training data. They say how well the model knows what it has "
        "seen. Look at which loader is evaluated.",
        tests=FIT,
    ),
    Fault(
        "fit-trains-on-validation-data",
        family="DA05",
        cell="fit",
        edits={"train_epoch(model, train_loader,": "train_epoch(model, val_loader,"},
        words="Your model is trained on the validation data. Look at which loader goes where.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-steps-from-zero",
        cell="fit",
        edits={"add_scalar(name, value, epoch)": "add_scalar(name, value, epoch - 1)"},
        words="Your scalars start at step 0. The text counts epochs from 1. Look at the third argument of the writer.",
        tests=FIT,
    ),
    Fault(
        "fit-steps-missing",
        cell="fit",
        edits={"add_scalar(name, value, epoch)": "add_scalar(name, value)"},
        words="All your scalars have the step 0, so that TensorBoard draws them above each other. Look at the "
        "arguments of the writer.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-scalars-swapped",
        cell="fit",
        edits={
            "                writer.add_scalar(name, value, epoch)\n": "                name = {'loss/train': "
            "'loss/validation', 'loss/validation': 'loss/train'}.get(name, name)\n"
            "                writer.add_scalar(name, value, epoch)\n"
        },
        words="In TensorBoard's file training and validation loss are swapped. Look at which value goes with which "
        "tag.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "writer-not-closed",
        cell="fit",
        words="When your function returns, TensorBoard's file in `log_dir` holds no scalars. A writer collects what it "
        "is given and writes now and then: without `close` or `flush` the end is lost, or everything. Look at what "
        "becomes of the writer before you return, and at what it is given.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "scalars-elsewhere",
        cell="fit",
        words="When your function returns, there is no file for TensorBoard in `log_dir` itself. A `SummaryWriter` "
        "without arguments makes a folder `runs` of its own. Look at the folder that your writer is told.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-last-of-equals",
        family="OP14",
        cell="fit",
        edits={"if val_loss < lowest:": "if val_loss <= lowest:"},
        words="Where several epochs have the same lowest validation loss, the model comes back as it was after a later "
        "one. The text asks for the first. Look at the comparison.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "fit-stops-early",
        family="OP14",
        cell="fit",
        edits={
            "                best = {name: value.clone() for name, value in model.state_dict().items()}\n": "          "
            "      best = {name: value.clone() for name, value in model.state_dict().items()}\n            else:\n"
            "                break\n"
        },
        words="Training ends as soon as the validation loss does not fall. The text asks for all epochs: a loss may "
        "fall again. Look for a `break`.",
        tests=FIT,
        pairs=False,
    ),
    Fault(
        "scalars-under-other-names",
        cell="fit",
        words="TensorBoard's file does not have the three tags of the text. Programs that read it find curves by their "
        "names. Look at the first argument of the writer.",
        tests=FIT,
        pairs=False,
    ),
]

# Those of fit come first: what went wrong in exercises 3 and 4 is tried before them if it was seen there.
FAULTS = [
    *ANYWHERE,
    *FITS,
    *TRAIN_STEP,
    *MAKE_LOADERS,
    *TRAIN_EPOCH,
    *EVALUATE,
    *TRAIN_EPOCH_AMP,
    *CHECKPOINTS,
]
