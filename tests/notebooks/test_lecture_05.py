"""Lecture 05 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. The exercises are solved here, rightly and wrongly, and their checks watched.
The rules are compared once more, with other settings, and with TensorFlow's, which has the two that PyTorch lacks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/05_nn_and_optim.ipynb"], indirect=True)

FACTS = {
    # 1 A layer
    "It is (2, 3): one *row* for each output.": "tuple(layer.weight.shape) == (2, 3) and layer.bias.shape == (2,)",
    "turns 3 features into 2. It holds a matrix $A$ and a bias $b$, and computes $y = xA^T + b$": (
        "(layer.in_features, layer.out_features) == (3, 2)"
        " and torch.equal(layer(torch.ones(5, 3)), torch.ones(5, 3) @ layer.weight.T + layer.bias)"
    ),
    "the shape of its matrix: (3, 2) or (2, 3)?": ("tuple(nn.Linear(3, 2).weight.shape) == (2, 3)"),
    "Both are tensors of the class `nn.Parameter`: leaves that require a gradient from birth.": (
        "all(type(p) is nn.Parameter and p.is_leaf and p.requires_grad for p in nn.Linear(3, 2).parameters())"
    ),
    "The first output is 1 - 3 + 10 = 8, the second is 2 · 2 + 20 = 24.": (
        "layer(torch.tensor([1.0, 2.0, 3.0])).tolist() == [8.0, 24.0]"
    ),
    "Only the last axis changes, from 3 to 2.": (
        "[tuple(layer(torch.ones(s)).shape) for s in ((3,), (5, 3), (7, 5, 3))] == [(2,), (5, 2), (7, 5, 2)]"
    ),
    "The input of shape (3, 5) has 5 features, and the layer wants 3.": (
        "tuple(torch.ones(5, 3).T.shape) == (3, 5) and layer.in_features == 3"
    ),
    "It names the shapes of $x$ and of $A^T$: (3, 5) and (3, 2).": (
        "'(3x5 and 3x2)' in raised(lambda: layer(torch.ones(5, 3).T)) and tuple(layer.weight.T.shape) == (3, 2)"
    ),
    "NumPy's numbers are float64, a layer's are float32.": (
        "np.ones(3).dtype == np.float64 and nn.Linear(3, 2).weight.dtype is torch.float32"
    ),
    "For training, move the data to float32. Here we often move the layer to float64 instead": (
        "nn.Linear(3, 2)(from_numpy.float()).dtype is torch.float32"
        " and nn.Linear(3, 2).double()(from_numpy).dtype is torch.float64"
    ),
    "How many numbers does `nn.Linear(1000, 100)` learn?": (
        "sum(p.numel() for p in nn.Linear(1000, 100).parameters()) == 100_100"
    ),
    "A · 100,000": "nn.Linear(1000, 100).weight.numel() == 100_000",
    "B · 100,100": "sum(p.numel() for p in nn.Linear(1000, 100).parameters()) == 100_100",
    "100 rows of 1000 weights, and 100 biases": (
        "tuple(nn.Linear(1000, 100).weight.shape) == (100, 1000) and nn.Linear(1000, 100).bias.numel() == 100"
    ),
    # 2 A network
    "1000 features, 100 hidden units with ReLU, 10 outputs, no bias": (
        "[(type(l).__name__, *getattr(l, 'weight', torch.ones(())).shape) for l in network()]"
        " == [('Linear', 100, 1000), ('ReLU',), ('Linear', 10, 100)]"
        " and all(l.bias is None for l in (network()[0], network()[2]))"
    ),
    "The network computes what lecture 02 computed, up to rounding.": (
        "np.abs(network()(X).detach().numpy() - by_hand).max() < 1e-12"
    ),
    "A parameter's name is its place in the list: `0.weight`, `2.weight`.": (
        "[name for name, _ in network().named_parameters()] == ['0.weight', '2.weight']"
    ),
    "the same operations as in lecture 04, and two transposes": (
        "names_behind(((network()(X) - Y) ** 2).sum() / N).count('TBackward0') == 2"
        " and sorted(set(names_behind(((network()(X) - Y) ** 2).sum() / N)) - {'TBackward0'}) == sorted(set("
        "names_behind((((X @ tracked[0]).relu() @ tracked[1] - Y) ** 2).sum() / N)))"
    ),
    "The shapes fit: 8 to 16, 16 to 4.": "two_linear(torch.ones(5, 8)).shape == (5, 4)",
    "It has 212 numbers, but it is not two layers": "sum(p.numel() for p in two_linear.parameters()) == 212",
    "You build `nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 4))` and forget the ReLU.": (
        "(two_linear[0].in_features, two_linear[1].out_features) == (8, 4)"
    ),
    "Anything it can compute, `nn.Linear(8, 4)` can compute with 36 numbers.": (
        "sum(p.numel() for p in nn.Linear(8, 4).parameters()) == 36 and torch.allclose(two_linear(some8),"
        " some8 @ (two_linear[1].weight @ two_linear[0].weight).T"
        " + two_linear[1].weight @ two_linear[0].bias + two_linear[1].bias, atol=1e-6)"
    ),
    # 3 The loss
    "summed over everything and divided by the 64 examples: 30.09": (
        "round(float(((by_hand - Y_np) ** 2).sum() / 64), 2) == 30.09"
    ),
    "Is that 30.09, too?": "round(nn.MSELoss()(network()(X), Y).item(), 2) != 30.09",
    "The mean is 3.0094, ten times smaller.": "round(nn.MSELoss()(network()(X), Y).item(), 4) == 3.0094",
    "It divides by *all* 640 entries, 64 examples times 10 outputs.": (
        "tuple(Y.shape) == (64, 10) and Y.numel() == 640"
        " and np.isclose(nn.MSELoss()(network()(X), Y).item(), ((by_hand - Y_np) ** 2).sum() / 640, rtol=1e-12)"
    ),
    '(`"none"` keeps the 640 squares, for instance to weight them.)': (
        "tuple(nn.MSELoss(reduction='none')(prediction, Y).shape) == (64, 10)"
        " and np.allclose(nn.MSELoss(reduction='none')(prediction, Y), (prediction - Y) ** 2)"
    ),
    "But it multiplies every gradient, and so every step.": (
        "np.allclose(loss_gradient('sum'), 640 * loss_gradient('mean'), rtol=1e-10, atol=0)"
    ),
    "Gradient descent with rate 0.1, for the mean and for the sum. One of the two comes down.": (
        "descend('mean', 0.1)[-1] < 0.001 and descend('sum', 0.1, steps=2)[1] > 1e6"
    ),
    "The sum with rate 0.1 goes from 3 to above 1e100 in three updates; it is not in the figure.": (
        "round(descend('sum', 0.1, steps=1)[0]) == 3 and descend('sum', 0.1, steps=4)[3] > 1e100"
    ),
    "Divide the rate by 640, and its curve lies on that of the mean.": (
        "np.allclose(descend('sum', 0.1 / 640), descend('mean', 0.1), rtol=1e-9)"
    ),
    "A model with one output gives shape (4, 1). Targets often have shape (4,).": (
        "tuple(nn.Linear(3, 1)(torch.ones(4, 3)).shape) == (4, 1) and tuple(target.shape) == (4,)"
    ),
    "It is 2.5 and not 0.": "((perfect - target) ** 2).mean().item() == 2.5",
    "broadcasts to a 4 by 4 table": "tuple((perfect - target).shape) == (4, 4)",
    "towards predicting the mean for everybody": ("np.allclose(broadcast_optimum(), target.mean().item(), atol=1e-4)"),
    'You double the batch from 32 to 64 and use `reduction="sum"`.': (
        "1.6 < gradient_size('sum', 64) / gradient_size('sum', 32) < 2.4"
    ),
    "With the mean it would keep its length": "0.8 < gradient_size('mean', 64) / gradient_size('mean', 32) < 1.2",
    # 4 From your update to optim
    "the rate 0.1 for the mean is lecture 02's 0.01 for its sum": (
        "np.allclose(ours, np.array(lecture_02()) / 10, rtol=1e-7, atol=0)"
    ),
    "The same 100 losses, at least to nine digits.": (
        "len(ours) == len(theirs) == 100 and np.allclose(ours, theirs, rtol=1e-9, atol=0)"
    ),
    "Times ten, they are the losses of lecture 02.": "np.allclose(10 * np.array(ours), lecture_02(), rtol=1e-7)",
    "`model.parameters()` can be walked through once.": "walked_twice() == [2, 0]",
    "Only the first. The optimiser still holds the old last layer, which nobody uses.": (
        "moved_after_replacing() == {'0.weight': True, '2.weight': False}"
    ),
    # 5 The order
    "The function runs any order, 30 times.": "len(run('ZBS')) == 30",
    "Four acts can stand around a circle in exactly six orders, so six runs show everything.": (
        "len({min(c[i:] + c[:i] for i in range(4)) for c in map(''.join, permutations('FZBS'))}) == 6"
        " and len(set(orders)) == 6"
    ),
    "Two train, three stand still, one raises an error.": (
        "[sum(verdict(o) == v for o in orders) for v in ('trains', 'still', 'error')] == [2, 3, 1]"
    ),
    "`ZBS` and `BSZ` are both right": "verdict('ZBS') == verdict('BSZ') == 'trains'",
    "They give the same losses, bit for bit.": "run('ZBS') == run('BSZ')",
    "`BZS`, `ZSB` and `SBZ` clear the gradient before `step` can use it.": (
        "[verdict(o) for o in ('BZS', 'ZSB', 'SBZ')] == ['still'] * 3"
    ),
    "In each of them, going round the circle from `B`, you meet `Z` before `S`.": (
        "all((o + o).index('Z', o.index('B')) < (o + o).index('S', o.index('B')) for o in ('BZS', 'ZSB', 'SBZ'))"
        " and all((o + o).index('Z', o.index('B')) > (o + o).index('S', o.index('B')) for o in ('ZBS', 'BSZ', 'SZB'))"
    ),
    "After clearing it is `None`, and `step` skips such a parameter without a word.": "cleared_then_stepped() is True",
    "Two backward passes through one graph fail": "'backward through the graph a second time' in outcome('ZBBS')",
    "Without `B` or without `S` nothing moves.": "verdict('ZS') == verdict('ZB') == 'still'",
    "`BS` follows the sum of all gradients so far; clearing once *before* the loop is the same mistake.": (
        "run('BS') == cleared_once_before() and run('BS')[-1] > 100 * run('ZBS')[-1]"
    ),
    "`ZBSS` follows each gradient twice: that is double the rate, and here it even looks better.": (
        "np.allclose(run('ZBSS'), run('ZBS', rate=0.2), rtol=1e-8) and run('ZBSS')[-1] < run('ZBS')[-1]"
    ),
    "In the first round `step` finds no gradient. The error comes in the second.": (
        "len(run('SZB', steps=1)) == 1 and 'modified by an inplace' in raised(lambda: run('SZB', steps=2))"
    ),
    "a tensor of shape [100, 10] was changed in place after the graph had saved it": (
        "'[torch.DoubleTensor [100, 10]]' in raised(lambda: run('SZB'))"
    ),
    "The second layer's matrix, transposed, has that shape.": "tuple(network()[2].weight.T.shape) == (100, 10)",
    "Take one weight, inputs 1 and -1, targets 3 and -3: the best weight is 3.": (
        "abs(one_weight('ZBS', 0.4)[-1] - 3) < 1e-9"
    ),
    "The right loop is at 3 after a few rounds, at both rates.": (
        "all(abs(one_weight('ZBS', rate)[5] - 3) < 0.01 for rate in (0.4, 0.6))"
    ),
    "The late one swings around 3, at rate 0.4 less and less, at rate 0.6 more and more.": (
        "swing('SZB', 0.4, 200) < 1e-6 and swing('SZB', 0.6, 200) > 1e6"
        " and min(one_weight('SZB', 0.4)) < 3 < max(one_weight('SZB', 0.4))"
    ),
    "Each step uses the gradient of the round before.": (
        "all(np.isclose(w[t + 1], w[t] - 2 * 0.4 * (w[t - 1] - 3)) for w in [one_weight('SZB', 0.4)]"
        " for t in range(1, 19)) and one_weight('SZB', 0.4)[1] == 0"
    ),
    "The right one shrinks for every rate below 1.": (
        "swing('ZBS', 0.99, 2000) < 1e-6 and swing('ZBS', 1.01, 2000) > 1e6"
    ),
    "The late one shrinks only for rates below 0.5": (
        "swing('SZB', 0.49, 3000) < 1e-6 and swing('SZB', 0.51, 3000) > 1e6"
    ),
    "for complex roots $|z|^2 = 2\\eta$": (
        "all(np.allclose(abs(np.roots([1, -1, 2 * rate])) ** 2, 2 * rate) for rate in (0.2, 0.4, 0.6))"
    ),
    "After 30 rounds with weight decay, how large are the weights in the two cases?": (
        "weights_after(True) == 1.0 and weights_after(False) < 1"
    ),
    "each of the 30 steps keeps 99 %, and 74 % are left": (
        "np.isclose(weights_after(False), 0.99**30, rtol=1e-9) and round(0.99**30, 2) == 0.74"
    ),
    "With `None` they stay as they are.": "weights_after(True) == 1.0",
    "it frees the memory of the gradients earlier": "cleared_then_stepped() is True",
    # 6 Mini-batches
    "1500 images of 8 x 8 pixels, ten classes": "x_train.shape == (1500, 8, 8) and len(set(y_train.tolist())) == 10",
    "1 for the right class and 0 elsewhere": (
        "bool((targets.sum(1) == 1).all()) and bool((targets.argmax(1) == torch.tensor(y_train)).all())"
    ),
    "20 epochs with batches of 1500 (all), 500 and 50.": (
        "list(by_size) == [1500, 500, 50] and {len(l) for l, _, _ in by_size.values()} == {20}"
    ),
    "20 passes through the data": "by_size[500][2] == 20 * 3",
    "they made 600 updates where the full batch made 20": (
        "(by_size[50][2], by_size[1500][2]) == (600, 20) and by_size[50][0][-1] < by_size[1500][0][-1] / 3"
    ),
    "there are thirty times as many": "by_size[50][2] == 30 * by_size[1500][2]",
    "If the batches have equal sizes, their mean gradients average to the gradient of the whole.": (
        "average_off(50) < 1e-5"
    ),
    "Half. Four times the work buys half the noise": (
        "all(1.7 < spread(small) / spread(4 * small) < 2.4 for small in (10, 40))"
    ),
    "With batches of 64, the average is off: 1500 is 23 batches of 64 and one of 28": (
        "[len(part) for part in torch.arange(1500).split(64)] == [64] * 23 + [28] and 1e-3 < average_off(64) < 0.1"
    ),
    # 7 A step is a small minimisation
    "Both give 1.7.": (
        "abs(lowest_point(lambda t: 3.0 * t + (t - 2.0) ** 2 / 0.2) - 1.7) < 1e-6 and 2.0 - 0.1 * 3.0 == 1.7"
    ),
    "from the point (-4, 1), where the loss is 33": (
        "valley(-4.0, 1.0) == 33 and walk(sgd, 0.01, 0).tolist() == [[-4.0, 1.0]]"
    ),
    "$f(a, b) = \\frac12 (a^2 + 50\\, b^2)$": "valley(3.0, 2.0) == (9 + 50 * 4) / 2",
    "Rates 0.01, 0.039 and 0.041, 30 steps each.": (
        "valley(*walk(sgd, 0.039, 30)[-1]) < valley(*walk(sgd, 0.01, 30)[-1]) < valley(*walk(sgd, 0.041, 30)[-1])"
    ),
    "where $\\lambda$ is the curvature: 1 along the valley and 50 across": "CURVES.tolist() == [1.0, 50.0]",
    "Across, 0.039 gives 1 - 0.039 · 50 = -0.95: it jumps from wall to wall and shrinks.": (
        "np.isclose(walk(sgd, 0.039, 1)[1, 1], -0.95)"
    ),
    "0.041 gives -1.05, and grows.": "np.isclose(walk(sgd, 0.041, 1)[1, 1], -1.05)",
    "The limit is 2/50 = 0.04.": (
        "2 / 50 == 0.04 and abs(walk(sgd, 0.0399, 3000)[-1, 1]) < 1e-3 and abs(walk(sgd, 0.0401, 3000)[-1, 1]) > 1e3"
    ),
    "Along, 0.039 gives 0.961: four per cent of the way in each step.": (
        "np.isclose(walk(sgd, 0.039, 1)[1, 0] / -4, 0.961)"
    ),
    "`difference` feeds both the same 200 random gradients": "difference(sgd, torch.optim.SGD, 0.01) < 1e-12",
    # 8 Momentum
    "With $\\mu = 1$ nothing fades. That is the fault": (
        "np.allclose(weights_of('BS'), weights_of('ZBS', momentum=1.0), rtol=1e-12)"
    ),
    "With $\\mu = 0.9$ the fault becomes a method.": (
        "run_with(momentum=0.9, rate=0.03)[-1] < run_with(momentum=0, rate=0.03)[-1] / 2"
    ),
    "The gradient is 1 in each step.": "abs(settled(lambda t: 1.0) - 10) < 1e-6",
    "And if the gradient is 1, -1, 1, -1, ...?": "abs(abs(settled(lambda t: (-1.0) ** t)) - 1 / 1.9) < 1e-6",
    "$1/(1-\\mu) = 10$ for a constant gradient and $1/(1+\\mu) = 0.526$ for an alternating one": (
        "abs(settled(lambda t: 1.0) - 10) < 1e-6 and round(1 / 1.9, 3) == 0.526"
    ),
    "At rate 0.01, momentum goes past the goal and swings back": (
        "walk(momentum, 0.01, 60)[:, 0].max() > 0.3 and walk(momentum, 0.01, 60)[-1, 0] < 0.1"
    ),
    "After 60 steps its loss is lower than SGD's by a factor of more than fifty.": (
        "valley(*walk(sgd, 0.01, 60)[-1]) > 50 * valley(*walk(momentum, 0.01, 60)[-1])"
    ),
    "SGD with ten times the rate is no substitute: it left the picture at once.": (
        "abs(walk(sgd, 0.1, 1)[1, 1]) > 1.6"
    ),
    "(`nesterov=True` looks ahead: it steps along $g_t + \\mu v_t$ instead of $v_t$. Exercise 2.)": (
        "difference(right_nesterov, torch.optim.SGD, 0.01, momentum=0.9, nesterov=True) < 1e-12"
    ),
    "You switch from SGD with rate 0.1 to momentum 0.9 and keep the rate.": (
        "9.9 < step_lengths(momentum, 0.1, 100)[-1] / step_lengths(sgd, 0.1, 100)[-1] < 10.1"
    ),
    "Each gradient acts 1 + 0.9 + 0.81 + ... = 10 times in all.": "abs(sum(0.9**k for k in range(500)) - 10) < 1e-9",
    "In the first step $v$ is the gradient alone.": "step_lengths(momentum, 0.1, 1) == step_lengths(sgd, 0.1, 1)",
    # 9 A rate for each parameter
    "The gradient is (1000, 1, 0.001), the rate 0.01.": (
        "np.allclose(adagrad(np.zeros(3), np.array([1000, 1, 0.001]), {}, rate=0.01), -0.01, rtol=1e-6)"
    ),
    "0.01 everywhere: only the sign of the gradient counts in the first step.": (
        "np.allclose(adagrad(np.zeros(2), np.array([-1000, 0.001]), {}, rate=0.01), [0.01, -0.01], rtol=1e-6)"
    ),
    "SGD's steps differ by a factor of a million.": (
        "np.isclose(sgd(0.0, 1000, {}, 0.01) / sgd(0.0, 0.001, {}, 0.01), 1e6)"
    ),
    "The gradient is 1 in every step, the rate 0.01. How long is step 1000": (
        "len(step_lengths(adagrad, 0.01, 1000)) == 1000"
    ),
    "AdaGrad's steps shrink like $1/\\sqrt{t}$: step 1000 is 0.00032.": (
        "round(step_lengths(adagrad, 0.01, 1000)[-1], 5) == 0.00032"
        " and np.allclose(step_lengths(adagrad, 0.01, 1000), 0.01 / np.sqrt(np.arange(1, 1001)), rtol=1e-6)"
    ),
    "RMSProp settles at the rate, 0.01.": "abs(step_lengths(rmsprop, 0.01, 1000)[-1] - 0.01) < 1e-5",
    "But RMSProp *starts* with 0.1, ten times its rate.": (
        "abs(step_lengths(rmsprop, 0.01, 1)[0] - 0.1) < 1e-6"
        " and abs(torch_first(torch.optim.RMSprop, lr=0.01) - 0.1) < 1e-6"
    ),
    "after one step it is only $0.01\\, g^2$: too small by a factor of 100, and the root of that is 10": (
        "np.isclose(after_one(rmsprop, 3.0)['mean'], 0.01 * 9)"
    ),
    "(PyTorch multiplies by `lr`, which is 1 unless you say otherwise.)": (
        "torch.optim.Adadelta([nn.Parameter(torch.ones(1))]).param_groups[0]['lr'] == 1"
    ),
    "It starts with 0.0032 and speeds up by itself.": (
        "round(step_lengths(adadelta, 1.0, 1)[0], 4) == 0.0032"
        " and np.all(np.diff(step_lengths(adadelta, 1.0, 1000)[10:]) > 0)"
    ),
    "Where weights must move by 0.1, that is fine. Where they must move by 4, as in our valley, it is slow.": (
        "sum(step_lengths(adadelta, 1.0, 40)) > 0.1 and sum(step_lengths(adadelta, 1.0, 400)) < 4"
    ),
    "so the first step lives on $\\epsilon$ alone": (
        "np.isclose(after_one(adadelta, 1.0)['moves'], 0.1 * 1e-6 / (0.1 + 1e-6), rtol=1e-6)"
    ),
    # 10 Adam
    "So divide by $1 - \\beta^t$, and the mean is right from the first step on.": "constant_means_are_right()",
    "Six rules of one to five lines, each within 1e-9 of PyTorch's.": (
        "len(differences) == 6 and max(differences.values()) < 1e-9"
    ),
    "Too long: 0.032 at first, and above 0.06 some ten steps later.": (
        "round(lengths_of(adam_uncorrected)[0], 3) == 0.032 and lengths_of(adam_uncorrected)[10] > 0.06"
    ),
    "With the correction, each step has exactly the rate's length.": ("np.allclose(lengths_of(adam), 0.01, rtol=1e-6)"),
    "all gradients become 640 times as large. You use Adam.": (
        "np.allclose(loss_gradient('sum'), 640 * loss_gradient('mean'), rtol=1e-10, atol=0)"
    ),
    "Only `eps` notices.": "0 < scale_gap(adam, 0.1778, 640.0) < 1e-6",
    "B · the steps are 640 times as long": "np.isclose(sgd(0.0, 640.0, {}, 0.01), 640 * sgd(0.0, 1.0, {}, 0.01))",
    "C · the steps are 640 times as short": "abs(adam(0.0, 640.0, {}, 0.01) - adam(0.0, 1.0, {}, 0.01)) < 1e-9",
    # 11 The race
    "Six rules, one valley, 500 steps.": "len(RULES) == 6 and len(walk(sgd, 0.01, 500)) == 501",
    "each rule may try 13 rates from 0.001 to 1": (
        "len(rates) == 13 and np.isclose(rates[0], 0.001) and np.isclose(rates[-1], 1)"
    ),
    "the one that first gets below 0.001 and stays there": "steps_needed([1, 0.0009, 1, 0.0009, 0.0008]) == 3",
    "AdaGrad wins with 26 steps, then RMSProp with 61. Adam (89) and momentum (93) are close, SGD needs 140.": (
        "[min(needed[n]) for n in ('AdaGrad', 'RMSProp', 'Adam', 'momentum', 'SGD')] == [26, 61, 89, 93, 140]"
    ),
    "AdaDelta has not arrived after 500: the figure shows its first 60 steps": (
        "min(needed['AdaDelta']) == np.inf and len(walk(adadelta, 1.0, 60)) == 61"
    ),
    "We look at the loss after 100 steps. (Losses outside the range from 1e-6 to 1000 are drawn at its edge.)": (
        "min(map(min, after_100.values())) == 1e-6 and max(map(max, after_100.values())) == 1000"
    ),
    "SGD is lowest at one rate, and runs away at the next.": (
        "after_100['SGD'][np.argmin(after_100['SGD']) + 1] == 1000"
    ),
    "Momentum is below 0.01 at 6 rates in a row, Adam at 5.": (
        "runs_below('momentum') == [6] and runs_below('Adam') == [5]"
    ),
    "Where nobody can try 13 rates": "len(rates) == 13",
    "RMSProp looks perfect here, at 6 rates.": "sum(v < 1e-5 for v in after_100['RMSProp']) == 6",
    "But the figure stops at step 100.": "len(walk(rmsprop, rates[0], 100)) == 101",
    "Beyond its best rate it comes down and later jumps out again": (
        "all(valley(*walk(rmsprop, rate, 500).T)[100:].max() > 1 for rate in rates if rate > best['RMSProp'])"
    ),
    "its mean of squares $q$ fades to almost nothing, and $\\eta / \\sqrt{q}$ passes the limit of section 7": (
        "all(passes_the_limit(rate) for rate in rates[8:])"
    ),
    "We turn the valley by 45 degrees: same shape, same start on it.": (
        "np.allclose(turn @ [1, 0], [np.cos(np.pi / 4), np.sin(np.pi / 4)])"
        " and np.isclose(turned_valley(*(turn @ [-4.0, 1.0])), 33)"
    ),
    "SGD and momentum: 140 and 93, as before.": "[min(turned_needed[n]) for n in ('SGD', 'momentum')] == [140, 93]",
    "AdaGrad goes from 26 to 181, RMSProp from 61 to more than 450.": (
        "min(turned_needed['AdaGrad']) == 181 and min(turned_needed['RMSProp']) > 450"
    ),
    "Adam needs 93 instead of 89: its momentum does not care either. But it had to find another rate.": (
        "min(turned_needed['Adam']) == 93 and np.argmin(turned_needed['Adam']) != np.argmin(needed['Adam'])"
    ),
    "Multiply the loss by 1000, keep the rate": "all(scale_gap(r, 0.01, 1.0) == 0 for r in RULES.values())",
    "SGD and momentum run away. The other four hardly notice: their paths move by less than 1e-4.": (
        "all(scale_gap(RULES[n], best[n]) > 1e6 for n in ('SGD', 'momentum'))"
        " and all(scale_gap(RULES[n], best[n]) < 1e-4 for n in ('AdaGrad', 'RMSProp', 'AdaDelta', 'Adam'))"
    ),
    "A · it is: 26 steps are fewer than 140": "min(needed['AdaGrad']) == 26 and min(needed['SGD']) == 140",
    "The same rule needs 181 on the same valley, turned.": "min(turned_needed['AdaGrad']) == 181",
    "AdaGrad keeps one extra number per parameter, and that is affordable. Adam keeps two.": (
        "extra('Adagrad') == 1 and extra('Adam') == 2"
    ),
    # 12 Proximal steps and FTRL
    "it hops over zero and hardly ever lands on it": "np.count_nonzero(found['slope']) == 50",
    "The flat piece from -0.5 to 0.5 is where weights become exactly 0.": (
        "(soft(np.linspace(-0.5, 0.5, 101), 0.5) == 0).all() and soft(0.51, 0.5) > 0 > soft(-0.51, 0.5)"
    ),
    "The search agrees.": "proximal_gap() < 1e-6",
    "PyTorch has neither this nor the next rule": (
        "not any(word in name.lower() for name in dir(torch.optim) for word in ('prox', 'ftrl'))"
    ),
    "Choose $\\sigma_s$ such that their sum is AdaGrad's": "sigma_gap() < 1e-12",
    "which is AdaGrad's step": "difference(ftrl, torch.optim.Adagrad, 0.01, eps=0) < 1e-12",
    "A stream of 2000 examples, one at a time: 50 features, of which 5 matter": (
        "stream.shape == (2000, 50) and np.count_nonzero(true) == 5"
    ),
    "All rules use the penalty 0.1.": (
        "all(np.array_equal(streamed(rule, rate, 0.1), found[name]) for name, rule, rate in"
        " (('slope', penalised, 0.01), ('proximal', proximal, 0.01), ('FTRL', ftrl, 0.3)))"
    ),
    "Of 50 weights, how many are not zero at the end": "all(len(theta) == 50 for theta in found.values())",
    "50, 49 and 5.": "[np.count_nonzero(theta) for theta in found.values()] == [50, 49, 5]",
    "All three are about equally near to the truth": (
        "all(0.2 < np.linalg.norm(theta - true) < 0.35 for theta in found.values())"
    ),
    "but only FTRL says which five features matter": "np.array_equal(found['FTRL'] != 0, true != 0)",
    "| SGD | the slope | 0 | `SGD` |": "extra('SGD') == 0",
    "| momentum, Nesterov | a fading sum of slopes | 1 |": (
        "extra('SGD', momentum=0.9) == extra('SGD', momentum=0.9, nesterov=True) == 1"
    ),
    "| AdaGrad | a rate per parameter, from all squares | 1 | `Adagrad` |": "extra('Adagrad') == 1",
    "| RMSProp | ... from a fading mean of squares | 1 | `RMSprop` |": "extra('RMSprop') == 1",
    "in place of a rate | 2 | `Adadelta` |": "extra('Adadelta') == 2",
    "| Adam | momentum, and means corrected | 2 | `Adam` |": "extra('Adam') == 2",
    "and not to the gradient | 2 | `AdamW` |": "extra('AdamW') == 2",
    "| 2 or 3 | `Adam(amsgrad=)`, `Adamax`, `NAdam`, `RAdam` |": (
        "extra('Adam', amsgrad=True) == 3 and [extra(n) for n in ('Adamax', 'NAdam', 'RAdam')] == [2, 2, 2]"
    ),
    "| FTRL | all of history | 2 | no |": "sum(np.size(v) == 50 for v in ftrl_state().values()) == 2",
    # 13 Back to a network
    "batches of 50, ten epochs": "all(len(chosen[n][0]) == 10 and chosen[n][2] == 300 for n in chosen)",
    "their default rate of 0.001 is far too small": (
        "torch.optim.SGD([nn.Parameter(torch.ones(1))]).param_groups[0]['lr'] == 0.001"
        " and all(by_default[n][1] < 0.2 for n in ('SGD', 'momentum'))"
        " and all(by_default[n][1] > 0.7 for n in by_default if n not in ('SGD', 'momentum'))"
    ),
    "With 0.5 and 0.2 they learn.": (
        "OPTIMISERS['SGD'][1]['lr'] == 0.5 and OPTIMISERS['momentum'][1]['lr'] == 0.2"
        " and all(chosen[n][1] > 0.8 for n in ('SGD', 'momentum'))"
    ),
    "these weights have only a short way to go": "typical_way() < 0.3",
    "With a rate chosen for each, all six get more than 80 % of the held-out images right.": (
        "len(chosen) == 6 and min(right for _, right, _ in chosen.values()) > 0.8"
    ),
    "The order of the curves is not that of the valley.": (
        "sorted(curves, key=lambda n: curves[n][-1]) != sorted(curves, key=lambda n: min(needed[n]))"
        " and len(curves) == 5"
    ),
    "or with SGD and momentum 0.9, and try rates in factors of three": (
        "OPTIMISERS['momentum'][1]['momentum'] == 0.9 and chosen['momentum'][1] > 0.8"
    ),
    "(and momentum's 0.9), and every other setting is PyTorch's default": (
        "by_default['momentum'][0] == train_digits("
        "lambda p: torch.optim.SGD(p, lr=0.001, momentum=0.9), 50, epochs=10)[0]"
    ),
    # 14 Exercises
    "It must equal `torch.optim.SGD(..., momentum=0.9, nesterov=True)`.": (
        "difference(right_nesterov, torch.optim.SGD, 0.01, momentum=0.9, nesterov=True) < 1e-12"
    ),
    "In section 5, use momentum 0.9 in `run`. Does `BZS` still stand still?": "still_with_momentum()",
    "with `eps` 1e-4 and 1e-2": "step_lengths(lambda *a: adadelta(*a, eps=1e-4), 1.0, 1)[0] > 0.03",
    "Turn the valley by 10, 20 and 30 degrees.": "len(rates) == 13",
}
"""piece of the text -> what must be true"""

SHORTHAND = """
def raised(act):
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def names_behind(tensor):
    found, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop(0)
        if node is not None and node not in found:
            found.append(node)
            waiting += [earlier for earlier, _ in node.next_functions]
    return [type(node).__name__ for node in found]


tracked = [torch.tensor(array, requires_grad=True) for array in (W1_np, W2_np)]
two_linear = nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 4))
some8 = torch.randn(5, 8)


def loss_gradient(reduction):
    model = network()
    nn.MSELoss(reduction=reduction)(model(X), Y).backward()
    return model[0].weight.grad.numpy()


def gradient_size(reduction, size):
    model = digit_network()
    nn.MSELoss(reduction=reduction)(model(images[:size]), targets[:size]).backward()
    return model[0].weight.grad.norm().item()


def broadcast_optimum():
    import warnings

    free = torch.zeros(4, 1, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(200):
            loss = nn.MSELoss()(free, target)
            free = (free - torch.autograd.grad(loss, free)[0]).detach().requires_grad_()
    return free.detach().numpy()


def lecture_02():
    V1, V2, losses = W1_np.copy(), W2_np.copy(), []
    for _ in range(100):
        hidden = np.maximum(X_np @ V1, 0)
        losses.append(np.sum((hidden @ V2 - Y_np) ** 2) / N)
        grad_pred = 2 * (hidden @ V2 - Y_np) / N
        V1, V2 = V1 - 0.01 * X_np.T @ ((grad_pred @ V2.T) * (hidden > 0)), V2 - 0.01 * hidden.T @ grad_pred
    return losses


def walked_twice():
    walk = network().parameters()
    return [len(list(walk)), len(list(walk))]


def moved_after_replacing():
    model = network()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    model[2] = nn.Linear(H, D_out, bias=False).double()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    mse(model(X), Y).backward()
    optimiser.step()
    return {name: not torch.equal(parameter, before[name]) for name, parameter in model.named_parameters()}


def verdict(order):
    try:
        losses = run(order)
    except RuntimeError:
        return "error"
    return "still" if len(set(losses)) == 1 else "trains" if losses[-1] < losses[0] / 2 else "fails"


def cleared_then_stepped():
    model = network()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    mse(model(X), Y).backward()
    optimiser.zero_grad()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    none = all(parameter.grad is None for parameter in model.parameters())
    optimiser.step()
    return none and all(map(torch.equal, before, model.parameters()))


def weights_of(order, steps=20, momentum=0.0):
    model = network()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum)
    for _ in range(steps):
        loss = mse(model(X), Y)
        for letter in order:
            {"Z": optimiser.zero_grad, "B": loss.backward, "S": optimiser.step}[letter]()
    return model[0].weight.detach().numpy()


def run_with(momentum, rate, order="ZBS", steps=30):
    model, losses = network(), []
    optimiser = torch.optim.SGD(model.parameters(), lr=rate, momentum=momentum)
    for _ in range(steps):
        loss = mse(model(X), Y)
        losses.append(loss.item())
        for letter in order:
            {"Z": optimiser.zero_grad, "B": loss.backward, "S": optimiser.step}[letter]()
    return losses


def still_with_momentum():
    return len(set(run_with(0.9, 0.1, "BZS"))) == 1


def cleared_once_before():
    model, losses = network(), []
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    optimiser.zero_grad()
    for _ in range(30):
        loss = mse(model(X), Y)
        losses.append(loss.item())
        loss.backward()
        optimiser.step()
    return losses


def swing(order, rate, steps):
    return max(abs(np.array(one_weight(order, rate, steps))[-10:] - 3))


def average_off(cut):
    model = digit_network()
    whole = gradient(model, torch.arange(1500))
    mean = torch.stack([gradient(model, part) for part in torch.arange(1500).split(cut)]).mean(0)
    return ((mean - whole).norm() / whole.norm()).item()


def spread(size):
    model, draw = digit_network(), torch.Generator().manual_seed(7)
    whole = gradient(model, torch.arange(1500))
    drawn = [gradient(model, torch.randint(1500, (size,), generator=draw)) for _ in range(200)]
    return (torch.stack(drawn) - whole).norm(dim=1).mean().item()


def settled(slope):
    state = {}
    for t in range(400):
        momentum(0.0, slope(t), state, rate=1)
    return state["v"]


def right_nesterov(theta, grad, state, rate, mu=0.9):
    state["v"] = mu * state.get("v", 0) + grad
    return theta - rate * (grad + mu * state["v"])


def torch_first(optimiser_class, **settings):
    parameter = nn.Parameter(torch.zeros(1, dtype=torch.float64))
    parameter.grad = torch.ones(1, dtype=torch.float64)
    optimiser_class([parameter], **settings).step()
    return -parameter.item()


def after_one(rule, grad):
    state = {}
    rule(0.0, grad, state, 1.0)
    return state


def constant_means_are_right():
    state = {}
    for t in range(1, 50):
        adam(0.0, 3.0, state, 0.01)
        if not (np.isclose(state["m"] / (1 - 0.9**t), 3) and np.isclose(state["q"] / (1 - 0.999**t), 9)):
            return False
    return True


def lengths_of(rule):
    return step_lengths(rule, 0.01, 60)


def scale_gap(rule, rate, scale=1000.0):
    with np.errstate(all="ignore"):
        return float(np.abs(walk(rule, rate, 60) - walk(rule, rate, 60, scale)).max())


def extra(name, **settings):
    parameter = nn.Parameter(torch.ones(1000))
    optimiser = getattr(torch.optim, name)([parameter], lr=0.01, **settings)
    parameter.grad = torch.ones(1000)
    optimiser.step()
    kept = [value for value in optimiser.state[parameter].values() if torch.is_tensor(value)]
    return sum(value.numel() for value in kept if value.numel() > 1) // 1000


after_100 = {}
for _name in ("SGD", "momentum", "AdaGrad", "RMSProp", "Adam"):
    _ends = np.array([walk(RULES[_name], _rate, 100)[-1] for _rate in rates])
    after_100[_name] = np.clip(valley(*np.clip(_ends, -1e9, 1e9).T), 1e-6, 1000).tolist()


def runs_below(name, goal=0.01):
    from itertools import groupby

    return [len(list(group)) for below, group in groupby(after_100[name], lambda v: v < goal) if below]


def passes_the_limit(rate):
    theta, state, over = np.array([-4.0, 1.0]), {}, []
    for _ in range(500):
        theta = rmsprop(theta, CURVES * theta, state, rate)
        over.append(bool((rate / np.sqrt(state["mean"]) * CURVES > 2).any()))
    losses = valley(*walk(rmsprop, rate, 500).T)
    jump = 100 + np.flatnonzero(losses[100:] > 1)[0]
    return all(over[jump - 10 : jump - 1])


def proximal_gap():
    draw = np.random.default_rng(5)
    cases = [(draw.normal(), draw.normal(), draw.uniform(0.1, 1), draw.uniform(0, 2)) for _ in range(300)]
    return max(abs(proximal_by_search(*case) - proximal(*case[:2], {}, *case[2:])) for case in cases)


def streamed(rule, rate, penalty):
    theta, state = np.zeros(50), {}
    for x, y in zip(stream, answers, strict=True):
        theta = rule(theta, (x @ theta - y) * x, state, rate, penalty=penalty)
    return theta


def ftrl_state():
    state = {}
    ftrl(np.zeros(50), np.ones(50), state, 0.3, 0.1)
    return state


def sigma_gap():
    grads, squares, total = np.random.default_rng(2).normal(size=20), 0.0, 0.0
    for g in grads:
        total += (np.sqrt(squares + g**2) - np.sqrt(squares)) / 0.5
        squares += g**2
    return abs(total - np.sqrt((grads**2).sum()) / 0.5)


def typical_way():
    made, original = [], digit_network

    def remembered():
        made.append(original())
        return made[-1]

    globals()["digit_network"] = remembered
    try:
        train_digits(torch.optim.Adadelta, 50, epochs=10)
    finally:
        globals()["digit_network"] = original
    pairs = zip(made[0].parameters(), original().parameters(), strict=True)
    return torch.cat([(now - then).abs().flatten() for now, then in pairs]).mean().item()
"""
"""names for the facts above, made in the lecture's kernel after its last cell"""


@pytest.fixture
def asked(ran: Any) -> Any:
    """The executed lecture, with the names that the facts use."""
    if not ran.value("'typical_way' in globals()"):
        ran.do(SHORTHAND)
    return ran


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(asked: Any, said: str) -> None:
    assert said in asked.prose, "the text no longer says this"
    assert asked.value(f"bool({FACTS[said]})") is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS) == []


# What fails on purpose fails, with the words that the text quotes.

ON_PURPOSE = {
    "layer(torch.ones(5, 3).T)": "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x5 and 3x2)",
    "layer(from_numpy)": "RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float",
    "perfect, target": "loss 2.5\nUserWarning: Using a target size (torch.Size([4])) that is different to the input",
    "parameters = model.parameters()\n": "ValueError: optimizer got an empty parameter list",
    'run("SZB")': "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace",
}
"""piece of a cell -> what the cell shows"""


@pytest.mark.parametrize("cell", ON_PURPOSE)
def test_what_fails_on_purpose_fails_with_the_message_that_the_text_explains(ran: Any, cell: str) -> None:
    assert ON_PURPOSE[cell] in ran.printed(cell)


def test_nothing_else_fails_on_purpose(ran: Any) -> None:
    assert len(ran.failing_on_purpose()) == len(ON_PURPOSE)


# The exercises: a check waits, names the mistake, and accepts what is right.

EPOCH = """
def train_epoch(model, optimiser, X, Y, size):
    {before}
    for x, y in {batches}:
        {inside}
    {after}
"""
RULE = """
def {name}(theta, grad, state, rate, {argument}):
    {body}
"""
SPLIT = "zip(X.split(size), Y.split(size), strict=True)"
STEP = "loss = mse(model(x), y); optimiser.zero_grad(); loss.backward(); optimiser.step(); "
TOTAL = "total += loss.item() * len(x)"


def _epoch(
    inside: str = STEP + TOTAL,
    after: str = "return total / len(X)",
    before: str = "total = 0.0",
    batches: str = SPLIT,
) -> str:
    return EPOCH.format(inside=inside, after=after, before=before, batches=batches)


def _rule(name: str, argument: str, *body: str) -> str:
    return RULE.format(name=name, argument=argument, body="\n    ".join(body))


def _nesterov(*body: str) -> str:
    return _rule("nesterov", "mu=0.9", *body)


def _adamw(*body: str) -> str:
    return _rule("adamw", "decay=0.01", *body)


SUM = 'v = state["v"] = mu * state.get("v", 0) + grad'
ANSWERS = [
    (1, _epoch(), "right, all 10 checks hold."),
    (1, _epoch(STEP.replace("optimiser.zero_grad(); ", "") + "optimiser.zero_grad(); " + TOTAL), "right, all 10"),
    (1, _epoch("loss = mse(model(x), y); loss.backward(); " + TOTAL), "No update was made."),
    (
        1,
        _epoch(
            "loss = mse(model(x), y); loss.backward(); " + TOTAL,
            "optimiser.step(); optimiser.zero_grad(); return total / len(X)",
        ),
        "`step` belongs inside the loop",
    ),
    (
        1,
        _epoch(batches="[(X[i:i + size], Y[i:i + size]) for i in range(0, len(X) - size + 1, size)]"),
        "10 examples in batches of 4 are 3 updates",
    ),
    (
        1,
        _epoch("loss = mse(model(x), y); loss.backward(); optimiser.zero_grad(); optimiser.step(); " + TOTAL),
        "The weights stand still.",
    ),
    (1, _epoch(STEP.replace("optimiser.zero_grad(); ", "") + TOTAL), "Clear them."),
    (1, _epoch(STEP.replace("model(x), y)", "model(x), y) * len(x)") + TOTAL), "Use the mean of each batch."),
    (1, _epoch(after=""), "Is there a `return`?"),
    (1, _epoch(STEP + "total = total + loss * len(x)"), "Return a Python number"),
    (1, _epoch(STEP + "total += loss.item() / 3", "return total"), "weight each mean by its size"),
    (1, _epoch(STEP + "total = loss.item()", "return total"), "The weights are right, the number is not"),
    (2, _nesterov(SUM, "return theta - rate * (grad + mu * v)"), "right, all 7 checks hold."),
    (2, _nesterov(SUM), "Is there a `return`?"),
    (2, _nesterov(SUM, "theta - rate * (grad + mu * v)"), "Is there a `return`?"),
    (2, _nesterov(SUM, "return theta - rate * v"), "That is plain momentum"),
    (2, _nesterov(SUM, "return theta + rate * (grad + mu * v)"), "You went uphill"),
    (2, _nesterov(SUM, "return theta - rate * (grad + v)"), "the first step goes to -1.9"),
    (
        2,
        _nesterov("v = mu * state.get('v', 0) + grad", "return theta - rate * (grad + mu * v)"),
        "Is v kept in `state`?",
    ),
    (2, _nesterov(SUM, "return theta - (rate * grad + mu * v)"), "Does `rate` multiply everything?"),
    (2, _nesterov(SUM.replace("mu", "0.9"), "return theta - rate * (grad + 0.9 * v)"), "Use the argument `mu`"),
    (3, _adamw("return adam(theta * (1 - rate * decay), grad, state, rate)"), "right, all 6 checks hold."),
    (3, _adamw("return adam(theta, grad, state, rate) - rate * decay * theta"), "right, all 6 checks hold."),
    (3, _adamw("adam(theta, grad, state, rate)"), "Is there a `return`?"),
    (3, _adamw("return adam(theta, grad, state, rate)"), "the weights do not decay"),
    (3, _adamw("return adam(theta, grad + decay * theta, state, rate)"), "The decay went into the gradient"),
    (3, _adamw("return adam(theta, grad, state, rate) - decay * theta"), "The decay lacks the rate"),
    (3, _adamw("return adam(theta, grad, state, rate) * (1 - rate * decay)"), "shrink first"),
    (3, _adamw("return adam(theta * (1 - rate * 0.01), grad, state, rate)"), "Use the argument `decay`"),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("exercise", "answer", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(ran: Any, exercise: int, answer: str, said: str) -> None:
    assert said in ran.say(exercise, answer)


@pytest.mark.parametrize("exercise", [1, 2, 3])
def test_a_check_waits_for_who_has_not_begun(ran: Any, exercise: int) -> None:
    ran.assert_waits(exercise)


# The rules once more, beyond what the lecture shows.


@pytest.mark.parametrize(
    ("rule", "settings", "theirs"),
    [
        ("sgd", {}, "SGD([p], lr=0.03)"),
        ("momentum", {"mu": 0.5}, "SGD([p], lr=0.03, momentum=0.5)"),
        ("adagrad", {"eps": 1e-3}, "Adagrad([p], lr=0.03, eps=1e-3)"),
        ("rmsprop", {"alpha": 0.7, "eps": 1e-2}, "RMSprop([p], lr=0.03, alpha=0.7, eps=1e-2)"),
        ("adadelta", {"rho": 0.6, "eps": 1e-4}, "Adadelta([p], lr=0.03, rho=0.6, eps=1e-4)"),
        (
            "adam",
            {"beta1": 0.7, "beta2": 0.95, "eps": 1e-3},
            "Adam([p], lr=0.03, betas=(0.7, 0.95), eps=1e-3)",
        ),
    ],
)
def test_a_rule_agrees_with_pytorchs_on_the_gradients_of_a_curved_loss_with_other_settings(
    ran: Any, rule: str, settings: dict[str, float], theirs: str
) -> None:
    ran.do(f"""
p = nn.Parameter(torch.tensor([2.0, -1.0, 0.5], dtype=torch.float64))
_theirs, _theta, _state = torch.optim.{theirs}, p.detach().numpy().copy(), {{}}
_gap = 0.0
for _ in range(300):
    _theirs.zero_grad()
    (torch.cosh(p) * torch.tensor([1.0, 5.0, 30.0])).sum().backward()
    _theirs.step()
    _theta = {rule}(_theta, np.sinh(_theta) * [1.0, 5.0, 30.0], _state, 0.03, **{settings!r})
    _gap = max(_gap, np.abs(_theta - p.detach().numpy()).max())
""")
    assert ran.value("_gap") < 1e-7


@pytest.mark.slow
def test_ftrl_and_the_proximal_rules_agree_with_tensorflows(ran: Any) -> None:
    """TensorFlow counts the penalty of FTRL once in all, the lecture once a step: so it is told t times the penalty."""
    tf = pytest.importorskip("tensorflow")
    random = np.random.default_rng(3)
    start, grads = random.normal(size=6), random.normal([2, -1, 0.3, 0, 0, 0], size=(40, 6))
    ran.do(f"""
_grads, _theta, _state, _followed = np.array({grads.tolist()}), np.array({start.tolist()}), {{}}, []
for _g in _grads:
    _theta = ftrl(_theta, _g, _state, 0.3, 0.2)
    _followed.append(_theta)
_theta, _stepped = np.array({start.tolist()}), []
for _g in _grads:
    _theta = proximal(_theta, _g, {{}}, 0.3, 0.2)
    _stepped.append(_theta)
""")
    var, squares, linear = (tf.Variable(value) for value in (start, np.zeros(6), np.zeros(6)))
    stepped = tf.Variable(start)
    raw, number = tf.raw_ops, lambda value: tf.constant(value, tf.float64)
    for t, (grad, followed, moved) in enumerate(
        zip(grads, ran.value("_followed"), ran.value("_stepped"), strict=True), start=1
    ):
        raw.ResourceApplyFtrl(
            var=var.handle,
            accum=squares.handle,
            linear=linear.handle,
            grad=number(grad),
            lr=number(0.3),
            l1=number(0.2 * t),
            l2=number(0.0),
            lr_power=number(-0.5),
        )
        raw.ResourceApplyProximalGradientDescent(
            var=stepped.handle, alpha=number(0.3), l1=number(0.2), l2=number(0.0), delta=number(grad)
        )
        np.testing.assert_allclose(followed, var.numpy(), atol=1e-10)
        np.testing.assert_allclose(moved, stepped.numpy(), atol=1e-10)
    assert (var.numpy() == 0).any() and (var.numpy() != 0).any()


@pytest.mark.slow
def test_tensorflow_kept_both_as_the_text_says(ran: Any) -> None:
    tf = pytest.importorskip("tensorflow")
    assert "PyTorch has neither this nor the next rule; TensorFlow kept both." in ran.prose
    assert tf.compat.v1.train.ProximalAdagradOptimizer and tf.compat.v1.train.FtrlOptimizer


def test_every_variant_that_the_table_places_in_pytorch_is_there(ran: Any) -> None:
    names = ("SGD", "Adagrad", "RMSprop", "Adadelta", "Adam", "AdamW", "Adamax", "NAdam", "RAdam")
    assert all(f"`{name}" in ran.prose for name in names)
    assert ran.value(f"all(hasattr(torch.optim, name) for name in {names!r})") is True
    ran.do("torch.optim.SGD([nn.Parameter(torch.ones(1))], momentum=0.9, nesterov=True)")


FIGURES = (
    "t of 0.weight (100, 1000) gives (1000, 100)",
    "sum, rate 0.1 / 640: from 3.01",
    "BS: never cleared: from 3.01",
    "SZB, rate 0.6: from 0 at 0",
    "batches of 50: from 0.07",
    "SGD, rate 0.041: 30 steps from (-4, 1)",
    "momentum, rate 0.01: 60 steps from (-4, 1)",
    "without correction: from 0.0316 at 1",
    "AdaGrad, rate 1: 60 steps from (-4, 1)",
    "loss after 100 steps against rate. SGD: from",
    "AdaGrad, rate 1.0: 100 steps from (-3.54, -2.12)",
    "proximal step, threshold 0.5: from -1.5 at -2 to 1.5 at 2",
    "FTRL: from 45.2 at 50 to 5 at 2e+03",
    "loss over all examples against epochs done. SGD: from",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)
