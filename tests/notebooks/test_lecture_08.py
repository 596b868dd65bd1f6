"""Lecture 08 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. The exercises are solved here, rightly and wrongly, and their checks watched.
"""

# ruff: noqa: RUF001 - the lecture writes sizes with the multiplication sign

from __future__ import annotations

import ast
from typing import Any

import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/08_training_and_evaluation.ipynb"], indirect=True)

FACTS = {
    # 1 The whole loop
    "1500 images for training and 297 held out, 8 × 8 pixels each. We cut the 1500 once more:": (
        "(tuple(x.shape), tuple(x_test.shape)) == ((1500, 8, 8), (297, 8, 8))"
    ),
    "1200 to **train** on": "len(train.dataset) == 1200",
    "300 to **validate** on": "len(valid.dataset) == 300",
    "297 to **test** on": "len(test.dataset) == 297",
    "Cells with `with on_purpose():` fail or warn on purpose.": "on_purpose.__module__ == 'course_lib.classroom'",
    "turns ten scores into ten shares that add up to 1. The loss is minus the logarithm of the share of the right"
    " class.": (
        "torch.allclose(F.cross_entropy(net(x_test), y_test),"
        " -net(x_test).softmax(dim=1)[range(297), y_test].log().mean())"
    ),
    "`Dropout(0.3)` sets three tenths of the hidden numbers to zero, each time others.": "make_net()[4].p == 0.3",
    "Ours draws one new order for each epoch, from a random generator of its own": (
        "orders_of_the_sampler() == [2, True]"
    ),
    "`make_net` seeds first, so it always makes the same network": "same_bits(make_net(), make_net())",
    "a plain number. If you add up `loss` itself, you keep the graph of every batch.": (
        "(F.cross_entropy(net(x_test), y_test) + 0).grad_fn.next_functions[0][0] is not None"
    ),
    "Untrained, the loss lies near $\\log 10 = 2.30$, and about one answer in ten is right": (
        "abs(untrained_loss - np.log(10)) < 0.05 and abs(untrained_accuracy - 0.1) < 0.05"
    ),
    "After 15 epochs more than 93 % of the validation images are right.": (
        "len(history['train loss']) == 15 and history['valid accuracy'][-1] > 0.93"
    ),
    "From epoch 5 on the training loss is the lower one. The validation loss hardly moves any more": (
        "[i + 1 for i in range(15) if history['train loss'][i] > history['valid loss'][i]] == [1, 2, 3, 4]"
        " and max(history['valid loss'][4:]) - min(history['valid loss'][4:]) < 0.05"
    ),
    "The validation loss. Three reasons, and none is a fault": "history['valid loss'][0] < history['train loss'][0]",
    "Judged alike, the training images have the least loss, as they should. The recorded number was more than three"
    " times too high.": (
        "history['train loss'][-1] > 3 * evaluate(net, train)[0] and evaluate(net, train)[0] < evaluate(net, valid)[0]"
    ),
    "The test loss is higher than the validation loss, too.": "evaluate(net, test)[0] > evaluate(net, valid)[0]",
    # 2 Accuracy over the whole set
    "We cut the 297 test images into batches of 148.": "[len(part) for part in parts] == [148, 148, 1]",
    "The batches have 148, 148 and 1 images. The last image alone makes a third of the mean: as much as 148 others. It"
    " happens to be right, which lifts the number by 3 points. If it were wrong, the mean would fall below 62 %.": (
        "right[-1] == 1 and round(100 * (mean_of_means - right.mean().item())) == 3"
        " and abs(mean_of_means - 1 / 3 - torch.stack([p.mean() for p in last_wrong().split(148)]).mean()) < 1e-6"
        " and mean_of_means - 1 / 3 < 0.62"
    ),
    "here nearly 2 points. So do not call one network better than another for one point on 297 images.": (
        "0.015 < (right.mean() * (1 - right.mean()) / 297) ** 0.5 < 0.02"
    ),
    "it leaves out a last batch that is not full. You evaluate with it in batches of 148.": (
        "sum(len(b) for b in DataLoader(y_test, 148, drop_last=True)) == 296"
    ),
    "the accuracy of 296 images": "297 // 148 * 148 == 296",
    "the accuracy of all 297": "len(y_test) == 297",
    "Without the last batch all batches have 148 images": "297 % 148 == 1",
    "where a batch of 1 upsets BatchNorm": "'Expected more than 1 value' in raised(lambda: make_net()(x_test[:1]))",
    # 3 train and eval
    "`nn.Dropout(0.5)` in training mode sets each number to zero with a chance of one half, and doubles those that are"
    " left": "sorted(set(nn.Dropout(0.5)(torch.ones(100)).tolist())) == [0, 2]",
    "Only those in eval mode. In training mode, about half of the hidden units are silent, at each call others.": (
        "not torch.equal(*in_train) and torch.equal(*in_eval) and only_dropout[3].p == 0.5"
    ),
    "Below. With dropout at work you also get another number each time, over a range of more than 5 points.": (
        "noisy.mean().item() < quiet and (noisy.max() - noisy.min()).item() > 0.05 and len(noisy) == 100"
    ),
    "One column, four examples: 0, 2, 4, 6. Their mean is 3, their variance 5.": (
        "(column.flatten().tolist(), column.mean().item(), column.var(correction=0).item()) == ([0, 2, 4, 6], 3, 5)"
    ),
    "The buffers start at mean 0 and variance 1.": (
        "(nn.BatchNorm1d(1).running_mean.item(), nn.BatchNorm1d(1).running_var.item()) == (0, 1)"
    ),
    "In training: $(0 - 3) / \\sqrt{5} = -1.342$. In eval mode: $(0 - 0.3) / \\sqrt{1.567} = -0.240$. The running mean"
    " is 0.3: nine tenths of 0 and one tenth of 3.": (
        "(round(in_training, 3), round(in_use, 3), round(first_mean, 6)) == (-1.342, -0.24, 0.3)"
        " and abs(in_training + 3 / 5**0.5) < 1e-4 and abs(in_use + 0.3 / (0.9 + 0.1 * 20 / 3) ** 0.5) < 1e-4"
    ),
    "The running variance is 1.567. That is $0.9 \\cdot 1 + 0.1 \\cdot 6.667$: for the buffer, PyTorch divides the sum"
    " of the squares by 3 and not by 4": (
        "abs(first_var - 1.5667) < 1e-3 and round(column.var().item(), 3) == 6.667 == round(20 / 3, 3)"
    ),
    "After 24 batches, one of our epochs, 8 % of the starting value is still in the running mean.": (
        "len(train) == 24 and round(100 * 0.9**24) == 8"
    ),
    '"Expected more than 1 value per channel": one value has no variance.': (
        "'Expected more than 1 value per channel' in raised(lambda: copy.deepcopy(net).train()(x_test[:1]))"
    ),
    "(We take 296 of the 297 images. In batches of 2, the last would be alone": "297 % sizes[0] == 1",
    "With two images in a batch about 6 in 10 answers are right, with 16 and more about as many as in eval mode.": (
        "0.55 < by_size[0] < 0.66 and all(abs(share - in_eval_mode) < 0.03 for share in by_size[3:])"
        " and sizes[3] == 16 and by_size[1] < in_eval_mode - 0.1"
    ),
    "Batches of 27 would be large enough. But now we sort the test images by class first, so that a batch holds one or"
    " two kinds of digit.": (
        "mixed_accuracy > 0.87 and all(len(part.unique()) <= 2 for part in y_test[by_class].split(27))"
    ),
    "Less than half is right.": "sorted_accuracy < 0.5",
    "The three buffers of BatchNorm have changed.": "buffers_changed_by(judged_copy()) == 3",
    "With 24 batches in an epoch and 5 epochs": "len(train) == 24",
    "120 against 24. From the second epoch on, the running statistics stand still": (
        "'train() in each epoch: 120 | once, before the first: 24' in said_of_five_epochs"
    ),
    "More than 75,000 numbers for one small batch against none.": (
        "sum(t.numel() for t in kept) > 75_000 and kept_without == [] and torch.equal(recorded, unrecorded)"
    ),
    "(`torch.inference_mode()` saves a little more, and its results can never be trained on.)": (
        "'Inference tensors cannot be saved for backward' in raised(train_on_inference)"
    ),
    # 4 Over-fitting
    "only 300 images, and 60 of them have a wrong label": (
        "(y_noisy != y[:300]).sum().item() == 60 and len(small_set().dataset) == 300"
    ),
    "The network has 85,002 parameters.": "sum(p.numel() for p in large_net().parameters()) == 85_002",
    "We train for 40 epochs.": "len(overfit['train loss']) == 40",
    "The training loss falls and falls. The validation loss falls, turns in about the middle, and rises.": (
        "overfit['train loss'][-1] < 0.3 and 10 <= lowest <= 30"
        " and overfit['valid loss'][-1] > 1.4 * overfit['valid loss'][lowest]"
    ),
    "Up to the turn the training loss is the higher one. A fifth of its labels are wrong": (
        "all(overfit['train loss'][i] > overfit['valid loss'][i] for i in range(lowest + 1) if i != 19)"
        " and overfit['train loss'][39] < overfit['valid loss'][39] and len(mislabelled) / 300 == 1 / 5"
    ),
    "The accuracy falls too, by more than 8 points from epoch 21 to the last.": (
        "lowest + 1 == 21 and overfit['valid accuracy'][lowest] - overfit['valid accuracy'][-1] > 0.08"
    ),
    "Of the 60 wrong labels, how many does the trained network repeat?": "len(mislabelled) == 60",
    "More than 40 of 60. There is no rule behind them": "40 < repeats_wrong_labels(large) <= 60",
    "It stopped eight epochs after the best one and restored that. Fewer than 20 wrong labels are repeated now, and the"
    " test accuracy is more than 5 points better. It also took fewer than three quarters of the epochs.": (
        "len(short['valid loss']) - stopper.best_epoch == 8 and repeats_wrong_labels(stopped) < 20"
        " and stopped_test - trained_on_test > 0.05 and len(short['valid loss']) < 30"
        " and evaluate(stopped, valid)[0] == stopper.best_loss"
    ),
    "Dropout ends lowest, and its curve stays flat where the others turn. The small network has the highest training"
    " loss: 16 units learn slowly, and after 40 epochs its curve still falls. Weight decay helps a little.": (
        "max(cured, key=lambda n: cured[n]['train loss'][-1]) == '16 units'"
        " and min(cured, key=lambda n: cured[n]['valid loss'][-1]) == 'dropout 0.5'"
        " and max(cured, key=lambda n: cured[n]['train loss'][20]) == '16 units'"
        " and np.mean(cured['16 units']['valid loss'][-5:]) < np.mean(cured['16 units']['valid loss'][-10:-5])"
        " and max(cured['dropout 0.5']['valid loss'][-15:]) < 0.55"
        " and cured['weight decay 0.3']['valid loss'][-1] < cured['nothing']['valid loss'][-1]"
    ),
    "each makes the *training* loss worse": (
        "all(h['train loss'][-1] > cured['nothing']['train loss'][-1] for n, h in cured.items() if n != 'nothing')"
    ),
    "We choose the one that is best on the 300 validation images": "tuple(on_valid.shape) == (1000,)",
    "More than 15 %, from pure chance. On the test set the same guesser is back near 10 %.": (
        "on_valid[winner] > 0.15 and abs(on_test[winner] - 0.1) < 0.03"
    ),
    # 5 Schedules
    "`StepLR(step_size=10, gamma=0.5)` starts at a rate of 1. What is it after 30 steps?": (
        "schedules['steps'][30] == 0.125"
    ),
    "An eighth: halved three times.": "schedules['steps'][0] == 1 and schedules['steps'][-1] == 1 / 8",
    "is multiplied by 0.9 at every step": "abs(schedules['exponential'][2] - 0.81) < 1e-9",
    "it starts at a tenth and reaches the full rate after 5 steps": (
        "schedules['warm-up'][0] == 0.1 and schedules['warm-up'][4] < 0.999 < schedules['warm-up'][5]"
    ),
    "`SequentialLR` puts two schedules one after the other": "warm_then_cosine() == [0.1, 1.0, True]",
    '"skipping the first value". The rate 1 was never used.': "first_rate_used() == 0.5",
    "After the sixth: the best is the third, two without progress are forgiven, the next is not.": (
        "plateau == [1, 1, 1, 1, 1, 0.1, 0.1]"
    ),
    "8 epochs of SGD from the same start": "all(len(curve) == 8 for curve in sgd_curves.values())",
    "The constant rate 1.5 is too high to settle, the constant rate 0.2 is a good one.": (
        "sgd_curves['1.5, constant'][-1] > 1 > 0.4 > sgd_curves['0.2, constant'][-1]"
    ),
    "Constant, it ends above 2; on a cosine, below 0.2, and that is the best of all four.": (
        "sgd_curves['1.5, constant'][-1] > 2 and sgd_curves['1.5, cosine'][-1] < 0.2"
        " and min(sgd_curves, key=lambda n: sgd_curves[n][-1]) == '1.5, cosine'"
    ),
    "For the good rate it does not help here": "sgd_curves['0.2, cosine'][-1] > sgd_curves['0.2, constant'][-1]",
    "meant for 8 epochs, but `step()` is called after each of 24 batches in an epoch": (
        "[round(counted_in_batches()[i], 6) for i in (0, 8, 16, 24)] == [1, 0, 1, 0]"
    ),
    "the rate reaches zero after 8 batches": "abs(counted_in_batches()[8]) < 1e-9",
    "It reaches zero after 8 batches. But a cosine comes back.": "abs(counted_in_batches()[16] - 1) < 1e-9",
    "Zero after 8 batches, full after 16, zero again after 24.": "abs(counted_in_batches()[24]) < 1e-9",
    # 6 Checkpoints
    "\"Can't get attribute 'OldName'\". The first file holds the *name* of the class": (
        "\"Can't get attribute 'OldName'\" in raised(lambda: torch.load(folder / 'whole.pt', weights_only=False))"
    ),
    "The second file holds names and numbers alone": (
        "'All keys matched' in str(NewName(2, 1).load_state_dict(torch.load(folder / 'state.pt')))"
    ),
    "The first prints: the file ran a function of its own choice": (
        "what_the_file_says() == ['This sentence was', True]"
    ),
    "The default, `weights_only=True`, reads tensors, numbers, strings, lists and dictionaries": "reads_plain_things()",
    'The refusal calls itself "Weights only load failed", and then offers `weights_only=False`.': (
        "'Weights only load failed' in raised(lambda: torch.load(folder / 'whole.pt'))"
        " and 'weights_only' in raised(lambda: torch.load(folder / 'whole.pt'))"
    ),
    "train for 6 epochs; or train for 3, save, end the program, start it again, load, train 3 more": (
        "(uninterrupted.epoch, resumed.epoch, torch.load(folder / 'half_way.pt')['epoch']) == (6, 6, 3)"
    ),
    "Six parts. Two of them are states of random generators": "len(torch.load(folder / 'half_way.pt')) == 6",
    "the file is written under another name and then renamed": "not (folder / 'half_way.part').exists()",
    'Bit for bit. Not "about the same": `torch.equal` on every tensor.': (
        "same and same_bits(uninterrupted.net, resumed.net) and same_moments(uninterrupted, resumed)"
    ),
    "Each one matters, and none raises an error. By distance the network is the worst to forget, and the optimiser the"
    " next. The accuracies lie within 4 points": (
        "sorted(forgotten, key=forgotten.get)[-2:] == ['optimiser', 'net']"
        " and len(forgotten) == 6 and min(forgotten.values()) > 0.01 and spread_of_accuracies() < 0.04"
    ),
    "with the rate of the start, which stands in its state": (
        "[resume(folder / 'half_way.pt', without=w).optimiser.param_groups[0]['lr'] for w in (None, 'optimiser')]"
        " == [torch.load(folder / 'half_way.pt')['optimiser']['param_groups'][0]['lr'], 0.01]"
    ),
    "Without the order of batches, the epochs 4 to 6 repeat the orders of 1 to 3.": (
        "torch.equal(resume(folder / 'half_way.pt', without='order of batches').batches.sampler.dice.get_state(),"
        " torch.Generator().manual_seed(0).get_state())"
    ),
    "No. Drawing it moves PyTorch's generator, from which dropout draws next.": "a_draw_changes_dropout()",
    # 7 TensorBoard
    "The first line below tells it to do without": "'tensorflow' not in sys.modules",
    "The losses in `written` are Python numbers, with 64 bits.": "type(written['valid loss'][0]) is float",
    "Equal to the 32 bits that TensorBoard keeps, and no more.": (
        "read_back != written['valid loss'] and read_back == torch.tensor(written['valid loss']).tolist()"
    ),
    "The histogram counts 64 · 64 weights; the image is a small PNG file; the graph is a list of nodes, with the names"
    " of our layers.": (
        "histogram.num == 64 * 64 == 4096 and abs(histogram.min - watched[1].weight.min().item()) < 1e-6"
        " and image_of_the_file_is_what_was_written()"
        " and {f'{type(m).__name__}[{i}]' for i, m in enumerate(watched)}"
        " == {n.name.split('/')[1] for n in graph.node if '/' in n.name and '[' in n.name}"
    ),
    "It serves a page on a free port of this machine": "'<title>TensorBoard' in urlopen(url).read().decode()",
    "after epoch 6. The faint curve ends at 0.166, the bold one at 0.238.": (
        "len(served) == 6 and (round(served[-1], 3), round(smoothed(served)[-1], 3)) == (0.166, 0.238)"
    ),
    "from a running mean, with the *Smoothing* of 0.6": "smoothed.__defaults__ == (0.6,)",
    "The service sends what we wrote.": "served == read_back",
    "Under Adam they spread further than under SGD.": (
        "watched[1].weight.std().item() > 1.1 * rival[1].weight.std().item()"
    ),
    "one curve that jumps back and forth": "steps_of_two_runs_in_one_folder() == [1, 2, 1, 2]",
    # 8 Faults
    "with $\\log 10 = 2.30$ as the mark": "round(np.log(10), 2) == 2.3",
    "a rate twenty times too high": "4.0 / 0.2 == 20",
    "its first epoch lies above the mark, then it stands there": (
        "catalogue['rate'][0] > 2.4 and all(abs(loss - 2.3) < 0.12 for loss in catalogue['rate'][1:])"
    ),
    "its first epoch is the best of all five, then it climbs far above the mark": (
        "min(catalogue, key=lambda n: catalogue[n][0]) == 'no zero_grad' and catalogue['no zero_grad'][-1] > 3.5"
        " and len(catalogue) == 5"
    ),
    "it stands at the mark from the start": "all(abs(loss - 2.3) < 0.03 for loss in catalogue['labels'])",
    "it creeps down from the mark. The healthy curve is long near the bottom.": (
        "all(a > b for a, b in zip(catalogue['softmax'], catalogue['softmax'][1:], strict=False))"
        " and catalogue['softmax'][-1] > 2.15 and catalogue['healthy'][-1] < 0.25"
    ),
    "with the rate 0.2 that was healthy above": "catalogue['healthy'][-1] < 0.25",
    "It falls a little, and then stands just under the mark.": (
        "2.2 < np.mean(clues['loss'][-24:]) < 2.3"
        " and abs(np.mean(clues['loss'][24:48]) - np.mean(clues['loss'][-24:])) < 0.01"
    ),
    "It is as long as ever: the network wants to learn. But the weights hardly move, less at each update, and where the"
    " lower line ends they do not move at all.": (
        "min(clues['gradient']) > 0.5 * clues['gradient'][0] and clues['movement'][-1] == 0"
    ),
    "It starts at 0.2 and is multiplied by 0.8 at every update. After one epoch of 24 updates it is below 0.001.": (
        "[round(ratio, 3) for ratio in steady[:3]] == [0.2, 0.16, 0.128] and steady[3] < 0.001"
    ),
    "A factor of 0.8 was meant for each epoch": "healed['loss'][-1] < 0.8 < 2 < clues['loss'][-1]",
    "`mystery_two` trains `large_net(0.5)` of section 4, with dropout, on the 300 images.": "len(odd['train']) == 40",
    "The first epoch agrees with the healthy run to the last digit shown. From the second on, the mystery learns faster"
    " and then over-fits": (
        "round(odd['held out'][0], 3) == round(cured['dropout 0.5']['valid loss'][0], 3)"
        " and odd['held out'][1] < cured['dropout 0.5']['valid loss'][1] - 0.05"
        " and odd['held out'][-1] > 1.4 * min(odd['held out'])"
    ),
    "It jumps back and forth over the valley.": (
        "sgd_curves['1.5, constant'][-1] > 1 and sgd_curves['0.2, constant'][-1] < 0.4"
    ),
    # 9 Lightning
    "We train for 5 epochs with our `fit` and with Lightning.": "len(our_history['train loss']) == 5",
    "Not at all: every bit agrees.": "agree and same_bits(ours, model.net)",
    "Lightning weighs them with the sizes of the batches": "lightning_weighs()",
    "the built-in `shuffle=True` draws once more when it is asked for a batch beyond the last": (
        "draws_of_the_built_in_shuffle() == [True, False]"
    ),
    "The same epoch, the same loss as our twelve lines of section 4.": (
        "round(keep_best.best_model_score.item(), 5) == round(stopper.best_loss, 5)"
        " and stop.stopped_epoch + 1 == len(short['valid loss'])"
    ),
    "Lightning numbers its points by batches, 12 in an epoch; we numbered ours by epochs.": (
        "len(small_set()) == 12 and steps_of_lightning() == [12 * epoch - 1 for epoch in range(1, 30)]"
    ),
    "now has a third run": "len({p.parent.relative_to(runs).parts[0] for p in runs.rglob('events*')}) == 3",
    "Weights, optimiser, schedulers, epoch, callbacks. The two generators are missing.": (
        "{'state_dict', 'optimizer_states', 'lr_schedulers', 'epoch', 'callbacks'} <= set(lit_parts)"
        " and not any('rng' in name or 'generator' in name for name in lit_parts)"
    ),
    # 10 Exercises
    "would early stopping end a run with these validation losses?": "len(overfit['valid loss']) == 40",
    "Mix the 1500 images before cutting off the validation set.": "len(x) == 1500",
}

SHORTHAND = """
import contextlib, io
import numpy as np


def raised(function):
    try:
        function()
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def same_bits(one, other):
    return all(map(torch.equal, one.state_dict().values(), other.state_dict().values()))


def same_moments(one, other):
    pairs = zip(one.optimiser.state_dict()["state"].values(), other.optimiser.state_dict()["state"].values())
    return all(torch.equal(a[name], b[name]) for a, b in pairs for name in a)


def orders_of_the_sampler():
    sampler = Shuffled(10)
    torch.manual_seed(3)
    before, (one, two) = torch.get_rng_state(), (list(sampler), list(sampler))
    return [len({tuple(one), tuple(two)}), torch.equal(before, torch.get_rng_state())]


def last_wrong():
    changed = right.clone()
    changed[-1] = 0
    return changed


def judged_copy():
    return copy.deepcopy(net).train()


def buffers_changed_by(network):
    before = copy.deepcopy(network.state_dict())
    with torch.no_grad():
        network(x_test)
    return sum(not torch.equal(value, before[name]) for name, value in network.state_dict().items())


def train_on_inference():
    with torch.inference_mode():
        scores = net(x_test[:2])
    (scores * torch.ones(10, requires_grad=True)).sum()


said_of_five_epochs = f"train() in each epoch: {five_epochs(True)} | once, before the first: {five_epochs(False)}"


def warm_then_cosine():
    joined = rates(lambda o: lr_scheduler.SequentialLR(o, [
        lr_scheduler.LinearLR(o, start_factor=0.1, total_iters=5), lr_scheduler.CosineAnnealingLR(o, T_max=35)
    ], milestones=[5]))
    return [round(joined[0], 6), round(joined[5], 6), joined[-1] < 0.01]


def first_rate_used():
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lr_scheduler.StepLR(optimiser, step_size=1, gamma=0.5).step()
    return optimiser.param_groups[0]["lr"]


def counted_in_batches():
    return rates(lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=8), steps=25)


def what_the_file_says():
    with contextlib.redirect_stdout(io.StringIO()) as said:
        torch.load(folder / "from_a_stranger.pt", weights_only=False)
    with contextlib.redirect_stdout(io.StringIO()) as nothing:
        refused = "UnpicklingError" in raised(lambda: torch.load(folder / "from_a_stranger.pt"))
    return [said.getvalue()[:17], refused and nothing.getvalue() == ""]


def reads_plain_things():
    torch.save({"a": [1, 2.5, "text"], "b": {"c": torch.ones(1)}}, folder / "plain.pt")
    return torch.load(folder / "plain.pt", weights_only=True)["a"] == [1, 2.5, "text"]


def spread_of_accuracies():
    shares = [evaluate(go_on(resume(folder / "half_way.pt", without=p), until=6).net, valid)[1] for p in forgotten]
    return max(shares) - min(shares)


def a_draw_changes_dropout():
    results = []
    for extra in (False, True):
        torch.manual_seed(5)
        if extra:
            torch.randn(1)
        results.append(F.dropout(torch.ones(100)))
    return not torch.equal(*results)


def image_of_the_file_is_what_was_written():
    from PIL import Image
    pixels = np.asarray(Image.open(io.BytesIO(image.encoded_image_string)).convert("L"))
    wanted = torch.cat(list(x_test[missed]), dim=1).numpy() * 255
    return pixels.shape == (8, 48) and bool(np.abs(pixels - wanted).max() <= 1)


def steps_of_two_runs_in_one_folder():
    for number, suffix in enumerate((".a", ".b")):
        with SummaryWriter(folder / "shared", filename_suffix=suffix) as writer:
            for step in (1, 2):
                writer.add_scalar("loss", number, step)
    events = EventAccumulator(str(folder / "shared"), size_guidance={"scalars": 0}, purge_orphaned_data=False).Reload()
    return [event.step for event in events.Scalars("loss")]


def steps_of_lightning():
    events = EventAccumulator(str(runs / "lightning" / "version_0"), size_guidance={"scalars": 0}).Reload()
    return [event.step for event in events.Scalars("loss/valid")]


def lightning_weighs():
    uneven = trainer(1, logger=False, enable_checkpointing=False)
    found = uneven.validate(model, batches_of(x_test, y_test, 148), verbose=False)[0]["accuracy/valid"]
    return abs(found - evaluate(model.net, test)[1]) < 1e-6


def draws_of_the_built_in_shuffle():
    def after(exhaust):
        dice = torch.Generator().manual_seed(0)
        order = iter(torch.utils.data.RandomSampler(range(10), generator=dice))
        for _ in range(10):
            next(order)
        if exhaust:
            list(order)
        return dice.get_state()

    mine = Shuffled(10)
    once, twice = iter(mine), Shuffled(10)
    list(once)
    list(twice)
    return [not torch.equal(after(False), after(True)), not torch.equal(mine.dice.get_state(), twice.dice.get_state())]
"""


@pytest.fixture(scope="module")
def shorthand(ran: Any) -> None:
    ran.do(SHORTHAND)


def test_every_fact_is_in_the_text(ran: Any) -> None:
    assert [sentence for sentence in FACTS if sentence not in ran.prose] == []


@pytest.mark.parametrize("sentence", FACTS)
def test_what_the_text_says_is_so(ran: Any, shorthand: None, sentence: str) -> None:
    assert ran.value(f"bool({FACTS[sentence]})") is True, sentence


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS) == []


def test_nothing_is_written_outside_a_temporary_folder(ran: Any) -> None:
    assert ran.value("sorted(p.name for p in Path.cwd().iterdir() if p.name != '.ipython')") == []


def test_the_training_sees_the_same_numbers_each_time(ran: Any, shorthand: None) -> None:
    """What was trained first in the kernel is trained again at its end, bit for bit."""
    ran.do(
        "again = make_net()\n"
        "same_history = fit(again, torch.optim.Adam(again.parameters(), lr=3e-3), *fresh_loaders(), epochs=5)"
    )
    assert ran.value("same_history['valid loss'] == history['valid loss'][:5] == our_history['valid loss']") is True


def test_tensorflow_is_never_loaded(ran: Any) -> None:
    assert ran.value("'tensorflow' in sys.modules") is False


def test_the_board_is_shown_in_a_frame(ran: Any) -> None:
    [cell] = [cell for cell in ran.notebook.cells if cell.cell_type == "code" and "board.launch" in cell.source]
    assert "<iframe" in cell.outputs[-1].data["text/html"] and ran.value("url") in cell.outputs[-1].data["text/html"]


def test_a_progress_bar_comes_to_its_end(ran: Any) -> None:
    assert "15/15" in ran.printed("epochs=15, show=True")


ON_PURPOSE = {
    "net.train()(x_test[:1])": "ValueError: Expected more than 1 value per channel when training",
    "with on_purpose(lines=3)": "UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`",
    "torch.save(OldName(2, 1), folder": "AttributeError: Can't get attribute 'OldName'",
    "class Harmless": "UnpicklingError: Weights only load failed",
}


@pytest.mark.parametrize("cell", ON_PURPOSE)
def test_what_fails_on_purpose_fails_as_announced(ran: Any, cell: str) -> None:
    assert ON_PURPOSE[cell] in ran.printed(cell)


def test_nothing_else_fails_on_purpose(ran: Any) -> None:
    assert len(ran.failing_on_purpose()) == len(ON_PURPOSE)


# The exercises: a check waits, names the mistake, and accepts what is right.

JUDGE = """
def judge(net, batches):
    mode = net.training
    net.{eval}()
    with torch.{no_grad}():
        right = [(net(x).argmax(dim=1) == y).float() for x, y in batches]
    net.train({mode})
    return {result}
"""
STOP = """
def stop_epoch(losses, patience, margin=0.0):
    best, waited = float("inf"), 0
    for epoch, loss in enumerate(losses, start=1):
        if {better}:
            best, waited = loss, 0
        else:
            {wait}
        {remember}
        if waited {enough} patience:
            return epoch
    return len(losses)
"""
RUN = """
def save_run(net, optimiser, path):
    torch.save({{"net": net.state_dict(), "optimiser": optimiser.state_dict(), "dice": torch.get_rng_state()}}, path)


def load_run(net, optimiser, path):
    parts = torch.load(path)
    {net}
    {optimiser}
    {dice}
"""


def _judge(
    eval: str = "eval", no_grad: str = "no_grad", mode: str = "mode", result: str = "torch.cat(right).mean().item()"
) -> str:
    return JUDGE.format(eval=eval, no_grad=no_grad, mode=mode, result=result)


def _stop(
    better: str = "loss < best - margin", wait: str = "waited += 1", remember: str = "pass", enough: str = ">="
) -> str:
    return STOP.format(better=better, wait=wait, remember=remember, enough=enough)


def _run(
    net: str = 'net.load_state_dict(parts["net"])',
    optimiser: str = 'optimiser.load_state_dict(parts["optimiser"])',
    dice: str = 'torch.set_rng_state(parts["dice"])',
) -> str:
    return RUN.format(net=net, optimiser=optimiser, dice=dice)


ONLY_WEIGHTS = "for own, kept in zip(net.parameters(), parts['net'].values()): own.data.copy_(kept)"

ANSWERS = [
    (1, _judge(), "right, all 6 checks hold."),
    (1, _judge(no_grad="inference_mode"), "right, all 6 checks hold."),
    (1, _judge(result="torch.cat(right).mean()"), "use .item()"),
    (1, _judge(eval="train"), "switch to eval mode first"),
    (1, _judge(result="torch.stack([part.mean() for part in right]).mean().item()"), "divide once"),
    (1, _judge(result="torch.cat(right).mean().item() / 2"), "Even in a single batch"),
    (1, _judge(no_grad="enable_grad"), "use no_grad"),
    (1, _judge(mode="True"), "Leave the mode as you found it"),
    (1, _judge(mode="False"), "Leave the mode as you found it"),
    (2, _stop(), "right, all 7 checks hold."),
    (2, _stop(enough=">"), "then stop"),
    (2, _stop(better="loss <= best - margin"), "An equal loss is no progress"),
    (2, _stop(better="loss < best"), "not better than 3 by more than 0.1"),
    (2, _stop(wait="waited += 1; best = min(best, loss)"), "though not than the loss before it"),
    (2, _stop(better="loss < best - margin and not waited"), "starts anew"),
    (3, _run(), "right, all 4 checks hold."),
    (3, _run(net="pass"), "The network's state was not restored"),
    (3, _run(optimiser="pass"), "The optimiser's state is empty"),
    (3, _run(dice="pass"), "Save the generator"),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("number", "answer", "reply"), ANSWERS)
def test_the_check_of_an_exercise_tells_right_from_wrong(
    ran: Any, shorthand: None, number: int, answer: str, reply: str
) -> None:
    [check] = [source for source in ran.code("check") if f'"Exercise {number}"' in source]
    tree = ast.parse(check)
    call = ast.unparse(tree.body[-1])
    ran.do(answer)
    ran.do(f"with contextlib.redirect_stdout(io.StringIO()) as said:\n    {call}")
    assert reply in ran.value("said.getvalue()")


def test_an_exercise_that_was_not_begun_waits(ran: Any) -> None:
    assert [ran.printed(f'"Exercise {number}"').strip() for number in (1, 2, 3)] == [
        f"Exercise {number}: waits for you." for number in (1, 2, 3)
    ]


FIGURES = (
    "loss against epoch. train loss: from 1.5",
    "share of right answers against images in a batch. train mode: from 0.6",
    "loss against epoch. train loss: from 2.2",
    "validation loss against epoch. nothing: from 2.1",
    "rate against steps done. steps: from 1 at 0 to 0.125 at 39",
    "1.5, constant: from",
    "6 images side by side: no. ",
    "healthy: from 2.1",
    "training loss against epoch. rate: from 2.6",
    "Line plot of loss against updates. mystery one goes from 2.3",
    "movement: from 0.08",
    "validation loss against epoch. mystery two: from 2.18",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)
