"""Lecture 14 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell; `HISTORY` holds
the sentences about releases and dates, with where they come from. Numbers that stand in neither fail a test of their
own. No test looks at a time: of the measured costs, only memory and counts of calls are compared. The exercises are
solved here, rightly and wrongly, and their checks watched.
"""

# ruff: noqa: RUF001 - the lecture writes sizes with the multiplication sign

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/14_one_model_every_framework.ipynb"], indirect=True)

FACTS = {
    # 1 The task
    "64 pixels, 32 hidden units with ReLU, 10 scores. That makes 2,410 numbers": (
        "task.x.shape[1] == 64 and task.hidden == 32 and sum(a.size for a in start.values()) == 2410"
    ),
    "the batches: 50 images each, in that order": "task.batch == 50",
    "1500 images make 30 steps in an epoch, 300 in all": (
        "(len(task.x), task.steps, task.steps * task.epochs) == (1500, 30, 300)"
    ),
    "Why a rate of 1/8 and a momentum of 7/8, and not the usual 0.1 and 0.9?": (
        "(task.rate, task.momentum) == (1 / 8, 7 / 8)"
    ),
    "0.1 has no end in binary": "float(np.float32(0.1)) != 0.1",
    "Only the eighths.": "[float(np.float32(n)) == n for n in (0.1, 0.9, 1 / 8, 7 / 8)] == [False, False, True, True]",
    # 2 to 7 The versions
    "its gradient with respect to the scores is $p$, less 1 at the right class": "gradient_by_nudging() < 1e-8",
    "Over 90 % of the held-out images are right.": "right['NumPy', 'float64'] > 0.9",
    "How far will the 300 losses be from NumPy's: 0 exactly, about $10^{-16}$, or about $10^{-8}$?": (
        "len(losses['float64']['PyTorch']) == 300"
    ),
    "About $10^{-16}$. Near the first loss, the next float64 is 4.4e-16 away: the two programs differ by a few": (
        "np.isclose(np.spacing(losses['float64']['NumPy'][0]), 4.4e-16, rtol=0.02)"
        " and apart('float64', 'PyTorch') < 20 * np.spacing(1.0)"
    ),
    "Are Lightning's 300 losses those of PyTorch to the last bit?": "len(losses['float64']['Lightning']) == 300",
    "Yes. It runs the same operations in the same order.": (
        "np.array_equal(losses['float64']['Lightning'], losses['float64']['PyTorch'])"
    ),
    "But a plain number has no graph, so there is nothing to walk back through.": (
        "'must return a Tensor' in raised(train_with_a_number)"
    ),
    "the tape adds up the 50: every gradient is 50 times as large, without an error": (
        "np.isclose(*gradient_of_a_vector(), rtol=1e-9)"
    ),
    "The first numbers agree, the others do not. Yet nothing is wrong with the training.": (
        "np.isclose(noted[0], reference_losses()[0], rtol=1e-5)"
        " and np.abs(np.array(noted) - reference_losses())[1:].min() > 1e-3"
        " and bool(parity.compare({'a': weights_after_one_epoch(), 'b': obvious_weights}))"
    ),
    "It is the mean of the epoch so far.": "np.abs(means - noted).max() < 1e-5",
    "`shuffle=False`, because `fit` shuffles by default.": (
        "inspect.signature(keras.Model.fit).parameters['shuffle'].default is True"
    ),
    "JAX made float32 of it and said nothing. It warns only if you ask for float64 by name.": (
        "dtypes_at_first() == ['torch.float64', 'float64', 'float32']"
    ),
    "A · plain gradient descent: the velocity is 0 at every step": "dropped_velocity()",
    # 8 Equal
    "All five are within the tolerance by many orders of magnitude.": (
        "len(same_losses.rows) == 5 and same_losses.worst.share < 1e-4 and set(row.dtype for row in same_losses.rows)"
        " == {'float64'}"
    ),
    "takes all 300 losses of each version": "{len(v) for v in losses['float64'].values()} == {300}",
    "so look at all 2,410 final weights, too": "sum(a.size for a in weights['float64']['Keras'].values()) == 2410",
    "After 300 steps every weight of every framework is the same to 13 digits or more, and all give the same share": (
        "bool(same_weights) and same_weights.worst.difference < 1e-12"
        " and len({right[name, 'float64'] for name in versions}) == 1"
    ),
    "There is no slope: step 300 is no farther off than the first steps. The rounding errors": (
        "all(away['float32'][name][-1] < 20 * away['float32'][name][0] for name in others)"
    ),
    "Where are the losses after 300 steps: still $10^{-7}$ apart, or $10^{-4}$, or visibly different?": (
        "{len(v) for v in losses['float32'].values()} == {300}"
    ),
    "Still $10^{-7}$.": "all(1e-9 < apart('float32', name) < 5e-6 for name in others)",
    "The bands lie nine powers of ten apart.": (
        "7.5 < np.log10(apart('float32', 'PyTorch') / apart('float64', 'PyTorch')) < 10"
    ),
    "Take a rate four times as large: 1/2.": "wild.rate == 4 * task.rate == 1 / 2",
    "NumPy itself, with the 64 pixels in reverse order.": (
        "np.array_equal(mirrored.x[:, ::-1], wild.x) and mirrored.x.shape[1] == 64"
    ),
    "Neither: they drift alike. In float32 the difference grows a million times": (
        "all(1e5 < v.max() / v[0] < 1e8 for n, v in drift.items() if 'float32' in n)"
    ),
    "In float64 it grows as fast, but starts nine powers of ten lower.": (
        "all(v[4] > 30 * v[0] for v in drift.values()) and drift['PyTorch, float64'][-1] < 1e-6"
        " and 7.5 < np.log10(drift['PyTorch, float32'][0] / drift['PyTorch, float64'][0]) < 10"
    ),
    "so that 0.02 passes": "round(0.33 - 0.31, 9) == 0.02",
    # 9 The traps
    "For a 64 × 32 kernel a mistake is an error.": (
        "'must match' in raised(lambda: torch.nn.Linear(64, 32).weight.detach().copy_(torch.zeros(64, 32)))"
    ),
    "A 10 × 10 kernel is copied as it is. Error, warning, or neither?": "'DIFFERENT' in transposed_said",
    "Neither. Only the comparison says DIFFERENT. Every score is wrong, and the network would still train.": (
        "'PyTorch, parity  float32' in transposed_said and transposed_said.count('DIFFERENT') == 1"
    ),
    "It draws from Glorot's range, $\\pm\\sqrt{6/(in+out)}$, which is 0.25 here.": (
        "np.sqrt(6 / (64 + 32)) == 0.25 and 0.24 < np.abs(dense_after()).max() <= 0.25"
    ),
    "a setting that makes it $\\pm 1/\\sqrt{in}$, which is 0.125, for the kernel and for the bias.": (
        "largest_of_linear() == [True, True] and 1 / np.sqrt(64) == 0.125"
    ),
    "A new layer from 64 to 32, no settings": "np.shape(dense_after()) == (64, 32)",
    "A cross-entropy over ten classes that never falls below 1.46 is softmax taken twice.": (
        "round(twice, 2) == 1.46 and np.isclose(twice, -np.log(np.e / (np.e + 9)))"
    ),
    "PyTorch divides by the sum of the weights, which is 6. Keras divides by the number of images, 4.": (
        "np.isclose(pytorchs * 6 / 4, mean_of('sum_over_batch_size'), rtol=1e-5) and classes[labels].sum() == 6"
    ),
    "Keras's default, the first of its two lines, is 1.5 times as large": (
        "np.isclose(mean_of('sum_over_batch_size') / pytorchs, 1.5, rtol=1e-5)"
        " and keras.losses.SparseCategoricalCrossentropy().reduction == 'sum_over_batch_size'"
    ),
    '`reduction="mean_with_sample_weight"` is PyTorch\'s mean.': (
        "np.isclose(pytorchs, mean_of('mean_with_sample_weight'), rtol=1e-5)"
    ),
    "Keras. Its velocity still carries two steps of the old rate.": (
        "steps_of_momentum()[1][2] > 4 * steps_of_momentum()[0][2]"
        " and np.allclose(np.cumsum(steps_of_momentum(), axis=1), said_of_momentum, atol=2e-5)"
    ),
    "PyTorch's default is 1e-8, Keras's 1e-7. Suppose a gradient of 1e-7 and a rate of 1.": (
        "torch.optim.Adam([w]).defaults['eps'] == 1e-8 and keras.optimizers.Adam().epsilon == 1e-7"
    ),
    "And in Keras with `epsilon=1e-8`?": "'Keras, epsilon=1e-8' in adams",
    "0.91 against 0.03. The same epsilon does not make them equal: 0.24.": (
        "[round(adams[n], 2) for n in ('PyTorch', 'Keras', 'Keras, epsilon=1e-8')] == [0.91, 0.03, 0.24]"
    ),
    "At step 1 its epsilon counts $1/\\sqrt{0.001}$ as much, about 32 times.": (
        "round(1 / 0.001**0.5) == 32"
        " and np.isclose(adams['Keras, epsilon=1e-8 * sqrt(0.001)'], adams['PyTorch'], rtol=1e-4)"
    ),
    "PyTorch's default momentum is 0.1, Keras's 0.99.": (
        "torch.nn.BatchNorm1d(1).momentum == 0.1 and keras.layers.BatchNormalization().momentum == 0.99"
    ),
    "So PyTorch's 0.1 is Keras's 0.9.": (
        "np.isclose(parity.read(theirs)['moving_mean'][0], parity.read(ours)['moving_mean'][0])"
    ),
    "One batch: 0, 2, 4, 6, with mean 3 and variance 5.": "(column.mean(), column.var()) == (3, 5)",
    "PyTorch's running variance divides by 3, Keras's by 4.": (
        "np.isclose(parity.read(theirs)['moving_variance'][0], 0.9 + 0.1 * 20 / 3)"
        " and np.isclose(parity.read(ours)['moving_variance'][0], 0.9 + 0.1 * 20 / 4)"
    ),
    "For batches of 50 that is 2 %.": "round(50 / 49 - 1, 2) == 0.02",
    "And epsilon differs by a factor of 100.": (
        "np.isclose(keras.layers.BatchNormalization().epsilon / torch.nn.BatchNorm1d(1).eps, 100)"
    ),
    "Four orders from seed 0.": "len({tuple(found.tolist()) for found in orders.values()}) == 4",
    "`fit` shuffles by default, `DataLoader` does not.": (
        "isinstance(DataLoader([1, 2]).sampler, torch.utils.data.SequentialSampler)"
    ),
    "NumPy gives float64.": "(one @ other).dtype == np.float64",
    "With a momentum of 0.9 Keras would train with 0.8999999762, and its losses would be $10^{-7}$ away": (
        "f'{cast_in_float64(0.9):.10f}' == '0.8999999762' and cast_in_float64(7 / 8) == 7 / 8"
        " and 1e-9 < keras_with_nine_tenths() < 1e-5"
    ),
    "The first epoch is steps 0 to 29.": "task.steps == 30",
    "| at step 0, by far |": "symptoms['softmax twice'][0] > 0.01",
    "| at step 0, by $10^{-7}$, and it stays so |": (
        "1e-9 < symptoms['float32'][0] < 1e-6 and symptoms['float32'].max() < 1e-5"
    ),
    "| at step 1 |": "symptoms['gradient times 3'][0] == 0 and symptoms['gradient times 3'][1] > 0.01",
    "| at the second epoch |": (
        "symptoms['other order in epoch 2'][:30].max() == 0 and symptoms['other order in epoch 2'][30] > 0.01"
    ),
    "their ratio often tells the rest: 50 is a sum for a mean.": "np.isclose(*gradient_of_a_vector(), rtol=1e-9)",
    # 10 Costs
    "PyTorch is the shortest. The longest is Lightning": (
        "min(lines, key=lines.get) == 'PyTorch' and max(lines, key=lines.get) == 'Lightning'"
    ),
    "They were. Here is the table": "bool(parity.compare({'here': losses['float32']['NumPy'], **elsewhere}))",
    "The 2,410 weights are a hundredth of a megabyte.": "0.009 < 4 * 2410 / 1e6 < 0.011",
    "Lightning has loaded that with its own imports": (
        "imports_the_compiler('lightning') and not imports_the_compiler('torch')"
    ),
    "NumPy holds least, then JAX; the other four are far above both.": (
        "np.isnan(costs['NumPy'].peak) or all(costs[name].peak > 1.5 * costs['JAX'].peak > 3 * costs['NumPy'].peak"
        " for name in others if name != 'JAX')"
    ),
    "All the rest is the framework.": (
        "all(costs[name].peak > 2 * costs['NumPy'].peak for name in others) or np.isnan(costs['NumPy'].peak)"
    ),
    "Lightning has the most": "max(costs, key=lambda name: costs[name].calls) == 'Lightning'",
    "Yet TensorFlow calls hundreds of Python functions": "200 < costs['TensorFlow'].calls < 2000",
    "JAX does that in C++, and needs about as few as NumPy.": "costs['JAX'].calls < 50 > costs['NumPy'].calls",
    # 12 Choosing
    "PyTorch has the same two functions, `torch.func.vmap` and `torch.func.grad`.": "torch_per_example() < 1e-12",
    "their mean must be the gradient of the batch": (
        "bool(parity.compare({'batch': batch, 'mean': {n: a.mean(axis=0) for n, a in each.items()}}))"
        " and each['0.kernel'].shape == (50, 64, 32)"
    ),
    "Keras exports to ONNX and others, too": (
        "all(form in keras.Model.export.__doc__ for form in ('tf_saved_model', 'onnx', 'litert'))"
    ),
    "Any loop, per example, TPU: it alone has all three in our list.": (
        "candidates('any loop', 'per example', 'TPU') == ['JAX']"
    ),
    "`torch.export`, ONNX.": "hasattr(torch, 'export')",
    "| removed from TensorFlow in 2.16, March 2024 |": "not hasattr(tf, 'estimator')",
}
STATED = {
    "so they add up to 1. With the right class": "what the definition says",
    "In `fit`'s history, the loss of epoch 1 is 0.93.": "the question's own example",
    "Two frameworks agree to $10^{-7}$ for 20 steps of float32. After 2000 steps the losses are 0.31 and 0.33.": (
        "the question's own example"
    ),
    "Here 20 steps agree.": "the question's own example",
    "After two steps the rate falls from 1/8 to 1/80.": "as the cell writes it",
    "Training losses agree to $10^{-6}$, the evaluation loss differs by 1 %.": "the question's own example",
    "Step 0 agrees to 15 digits. Step 1 differs by 0.02.": "the question's own example",
    "for 64 inputs and 32 hidden units. What may you conclude for your network of 100 million weights?": (
        "the question's own example"
    ),
    '"framework X is 20 times as fast as Y"': "the question's own example",
    "A · X is about 20 times as fast there, too": "the question's own example",
    "X is faster, though perhaps not 20 times": "the question's own example",
    "A bank serves 40 models by TensorFlow Serving.": "the question's own numbers",
    "the other 40 will have to be moved": "the question's own numbers",
    "as the oldest of the 40 use": "the question's own numbers",
    "a network of 500 weights, trained on a device with 64 MB of memory": "the exercise's own numbers",
}
"""what stands in the text and is nothing to compute -> why, or its source"""

HISTORY = {
    "| TFLearn, 2016 |",  # first release: April 2016, its wiki
    "last release 0.5.0, November 2020; it lives on `tf.compat.v1`",  # release notes of 0.5.0, 11 November 2020
    "| TensorLayer, 2016 |",
    "its makers send you on to TensorLayerX, which has several back ends",  # the README of TensorLayer
    "| Sonnet, 2017 |",
    "last release 2.0.2, January 2024",  # package index; conda-forge has it from 3 January 2024
    "| Estimator, 2017 |",  # TensorFlow 1.1 to 1.3
    "| fast.ai, 2018 |",
    "alive: releases in 2025 and 2026",  # 2.8.7 of February 2026
    "| Lightning, 2019 |",
    "| Keras, 2015 |",
    "| Flax, 2020, and Equinox, 2021 |",
    "TorchServe was archived in August 2025",  # the repository's own banner
    "LiteRT, until September 2024 called TensorFlow Lite",  # Google's announcement of 4 September 2024
    "the older PyTorch Mobile is no longer supported",  # docs.pytorch.org, mobile_optimizer
}

SHORTHAND = """
import inspect
others = [name for name in versions if name != "NumPy"]


def raised(function):
    try:
        function()
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def apart(dtype, name):
    return np.abs(losses[dtype][name] - losses[dtype]["NumPy"]).max()


def reference_losses():
    return losses["float64"]["NumPy"][:30]


def gradient_by_nudging():
    s = np.random.default_rng(3).standard_normal(10)
    loss = lambda s: np.log(np.exp(s).sum()) - s[4]
    shares = np.exp(s) / np.exp(s).sum()
    found = [(loss(s + h) - loss(s - h)) / 2e-6 for h in 1e-6 * np.eye(10)]
    return np.abs(found - (shares - np.eye(10)[4])).max()


def train_with_a_number():
    class Wrong(Digits):
        def training_step(self, batch, index):
            return super().training_step(batch, index).item()

    quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    x, y = torch.from_numpy(task.x[:50]).float(), torch.from_numpy(task.y[:50])
    trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", **quiet)
    trainer.fit(Wrong(task, []), DataLoader(TensorDataset(x, y), 50))


def gradient_of_a_vector():
    network, norms = Network(task), []
    for reduce in (lambda v: v, tf.reduce_mean):
        with tf.GradientTape() as tape:
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(task.y[:50], network(task.x[:50]))
            value = reduce(each)
        norms.append(float(tf.norm(tape.gradient(value, network.w["0.kernel"]))))
    return norms[0], 50 * norms[1]


def weights_after_one_epoch():
    return versions["NumPy"].train(replace(task, epochs=1).cast("float32"), race.Log())[0]


keras.config.set_floatx("float32")
keras.config.set_dtype_policy("float32")
_net = keras.Sequential([keras.Input((64,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(10)])
parity.write(_net, task.start)
_net.compile(keras.optimizers.SGD(1 / 8, momentum=7 / 8), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
_kept, noted_again = noted, []
noted = noted_again
_net.fit(task.x, task.y, batch_size=50, shuffle=False, verbose=0, callbacks=[Obvious()])
noted = _kept
obvious_weights = parity.read(_net)


def dtypes_at_first():
    with jax.enable_x64(False):
        return [str(torch.from_numpy(task.x).dtype), tf.constant(task.x).dtype.name, str(jnp.asarray(task.x).dtype)]


def dropped_velocity():
    found, plain = [], race.Log()
    w, v = dict(task.start), {name: np.zeros_like(array) for name, array in task.start.items()}
    for first in range(0, 500, 50):
        loss, w, _ = step(w, v, task.x[first : first + 50], task.y[first : first + 50], task.rate, task.momentum)
        found.append(float(loss))
    versions["NumPy"].train(replace(task, momentum=0.0, epochs=1), plain)
    return np.allclose(found, plain[:10], rtol=1e-12)


def dense_after():
    keras.utils.set_random_seed(0)
    layer = keras.layers.Dense(32)
    layer.build((None, 64))
    return layer.kernel.numpy()


def largest_of_linear():
    torch.manual_seed(0)
    layer = torch.nn.Linear(64, 32)
    return [0.1 < tensor.abs().max().item() <= 0.125 for tensor in (layer.weight, layer.bias)]


def mean_of(reduction):
    mean = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)
    return mean(labels, scores, sample_weight=classes[labels]).numpy()


def steps_of_momentum():
    found = []
    for rate_inside in (False, True):
        v, lengths = 0.0, []
        for rate in (1 / 8, 1 / 8, 1 / 80, 1 / 80):
            v = 7 / 8 * v + (rate if rate_inside else 1.0)
            lengths.append(v if rate_inside else rate * v)
        found.append(lengths)
    return found


def cast_in_float64(number):
    keras.config.set_floatx("float64")
    try:
        return float(keras.ops.cast(number, "float64"))
    finally:
        keras.config.set_floatx("float32")


def keras_with_nine_tenths():
    nine = replace(task, momentum=0.9, epochs=2)
    one, other = race.Log(), race.Log()
    versions["NumPy"].train(nine, one)
    versions["Keras"].train(nine, other)
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")
    return np.abs(np.array(one) - np.array(other)).max()


def imports_the_compiler(package):
    import subprocess, sys
    ask = f"import {package}, sys; print('torch._dynamo' in sys.modules)"
    return "True" in subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout


def torch_per_example():
    w = {name: torch.from_numpy(array) for name, array in task.start.items()}

    def loss(w, x, y):
        hidden = torch.relu(x @ w["0.kernel"] + w["0.bias"])
        return F.cross_entropy(hidden @ w["1.kernel"] + w["1.bias"], y)

    x, y = torch.from_numpy(task.x[:50]), torch.from_numpy(task.y[:50])
    found = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(w, x, y)
    return max(np.abs(found[name].numpy() - np.asarray(each[name])).max() for name in w)
"""


@pytest.fixture(scope="module")
def shorthand(ran: Any) -> None:
    ran.do(f"transposed_said = {ran.printed('dense, linear = keras.layers.Dense(10)')!r}")
    ran.do(SHORTHAND)
    said = re.findall(r"PyTorch (-[\d.]+)   Keras (-[\d.]+)", ran.printed("sgd, box = torch.optim.SGD"))
    ran.do(f"said_of_momentum = {[[-float(pair[side]) for pair in said] for side in (0, 1)]}")


def test_every_fact_is_in_the_text(ran: Any) -> None:
    assert [sentence for sentence in [*FACTS, *HISTORY] if sentence not in ran.prose] == []


@pytest.mark.parametrize("sentence", FACTS)
def test_what_the_text_says_is_so(ran: Any, shorthand: None, sentence: str) -> None:
    assert ran.value(f"bool({FACTS[sentence]})") is True, sentence


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers([*FACTS, *HISTORY], STATED) == []


def test_every_version_is_proven_equal_in_both_dtypes(ran: Any) -> None:
    assert ran.value("sorted(versions)") == ["JAX", "Keras", "Lightning", "NumPy", "PyTorch", "TensorFlow"]
    assert ran.value("[bool(same_losses), bool(same_weights), bool(same_losses_32)]") == [True] * 3
    assert ran.value("len({right[key] for key in right})") == 1


def test_the_losses_are_those_of_a_training_that_was_written_once_more(ran: Any) -> None:
    """By central differences of the loss itself, for the first steps: nothing is shared with the lecture's NumPy."""
    x, y = np.array(ran.value("task.x[:150]")), np.array(ran.value("task.y[:150]"))
    start = ran.value("dict(task.start)")
    flat = np.concatenate([np.ravel(start[name]) for name in start])
    places = np.cumsum([0] + [np.size(start[name]) for name in start])

    def loss(flat: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
        k0, b0, k1, b1 = (
            flat[a:b].reshape(np.shape(start[n])) for n, a, b in zip(start, places[:-1], places[1:], strict=True)
        )
        scores = np.clip(x @ k0 + b0, 0, None) @ k1 + b1
        return float(np.mean(np.log(np.exp(scores).sum(1)) - scores[np.arange(len(y)), y]))

    found, velocity = [], np.zeros_like(flat)
    for first in (0, 50, 100):
        batch = x[first : first + 50], y[first : first + 50]
        found.append(loss(flat, *batch))
        if first == 100:
            break
        gradient = np.empty_like(flat)
        for place in range(len(flat)):
            nudge = np.zeros_like(flat)
            nudge[place] = 1e-6
            gradient[place] = (loss(flat + nudge, *batch) - loss(flat - nudge, *batch)) / 2e-6
        velocity = 7 / 8 * velocity + gradient
        flat = flat - velocity / 8
    np.testing.assert_allclose(ran.value("losses['float64']['NumPy'][:3]"), found, rtol=1e-6)


def test_what_each_version_leaves_to_the_reader_is_what_the_table_says(ran: Any) -> None:
    """Loops over epochs, and who is asked for the gradient, read from the cells' own text."""
    sources = dict(zip(ran.value("list(versions)"), ran.value("[v.source for v in versions.values()]"), strict=True))
    loops = {
        name
        for name, source in sources.items()
        if any(isinstance(node, ast.For) and "epochs" in ast.unparse(node.iter) for node in ast.walk(ast.parse(source)))
    }
    assert loops == {"NumPy", "PyTorch", "TensorFlow", "JAX"}
    asked = {"PyTorch": "backward()", "TensorFlow": "tape.gradient", "JAX": "value_and_grad"}
    for name, source in sources.items():
        assert [owner for owner, word in asked.items() if word in source] == ([name] if name in asked else [])
    ready = {"PyTorch": "optim.SGD", "Lightning": "optim.SGD", "Keras": "optimizers.SGD"}
    assert {name for name, source in sources.items() if "SGD(" in source} == set(ready)
    assert all("keep(" not in source for source in sources.values())


def test_the_lines_are_those_of_the_cells(ran: Any) -> None:
    """Counted once more, by the plainest rule that fits: no blank line, no line that begins with a comment."""
    plain = [
        sum(1 for line in source.splitlines() if line.strip() and not line.strip().startswith(("#", "keep(")))
        for source in ran.code("version")
    ]
    assert ran.value("list(lines.values())") == plain


def test_the_table_has_a_row_for_each_version(ran: Any) -> None:
    [cell] = [c for c in ran.notebook.cells if "table" in c.metadata.get("tags", [])]
    rows = "".join(output.text for output in cell.outputs).splitlines()
    assert [row.split()[0] for row in rows[2:]] == ran.value("list(versions)")
    assert all(len(row.split()) == 10 for row in rows[2:])


def test_nothing_is_written_outside_a_temporary_folder(ran: Any) -> None:
    ran.do("from pathlib import Path")
    assert ran.value("sorted(p.name for p in Path.cwd().iterdir() if p.name != '.ipython')") == []


ON_PURPOSE = {
    'jnp.zeros(3, dtype="float64")': "UserWarning: Explicitly requested dtype float64",
    "perfect = torch.eye(10": 'UserWarning: "`sparse_categorical_crossentropy` received `from_logits=True`',
    'one, other = np.ones((2, 2), "float32")': "RuntimeError: expected m1 and m2 to have the same dtype",
}


@pytest.mark.parametrize("cell", ON_PURPOSE)
def test_what_fails_on_purpose_fails_as_announced(ran: Any, cell: str) -> None:
    assert ON_PURPOSE[cell] in ran.printed(cell)


def test_nothing_else_fails_on_purpose_and_everything_that_should_does(ran: Any) -> None:
    assert len(ran.failing_on_purpose()) == len(ON_PURPOSE)
    assert not any("No error, no warning." in ran.printed(cell) for cell in ON_PURPOSE)
    assert "InvalidArgumentError: cannot compute MatMul" in ran.printed('one, other = np.ones((2, 2), "float32")')


# The exercises: a check waits, names the mistake, and accepts what is right.

SUSPECT = """
def suspect(differences, allowed, steps):
    beyond = [step for step, away in enumerate(differences) if away > allowed]
    if not beyond:
        return {nothing}
    first = beyond[{which}]
    return "start" if first == 0 else "update" if first < {border} else "order"
"""
NORM = """
def to_keras(norm):
    layer = keras.layers.BatchNormalization(momentum={momentum}{epsilon})
    layer.build((None, norm.num_features))
    layer.gamma.assign(norm.weight.detach().numpy())
    layer.beta.assign(norm.bias.detach().numpy())
    layer.moving_mean.assign(norm.running_mean.numpy())
    {variance}
    return layer
"""
NEEDS = """
def needs(job):
    return {{
        "sensor": ({sensor},), "reading": {reading}, "private": {private}, "museum": ("back ends", "ready loop"),
    }}[job]
"""


def _suspect(nothing: str = '"nothing"', which: str = "0", border: str = "steps") -> str:
    return SUSPECT.format(nothing=nothing, which=which, border=border)


def _norm(
    momentum: str = "1 - norm.momentum",
    epsilon: str = ", epsilon=norm.eps",
    variance: str = "layer.moving_variance.assign(norm.running_var.numpy())",
) -> str:
    return NORM.format(momentum=momentum, epsilon=epsilon, variance=variance)


def _needs(
    sensor: str = '"tiny"',
    reading: str = '("gradient", "ready loop", "phone")',
    private: str = '("gradient", "any loop", "per example", "TPU")',
) -> str:
    return NEEDS.format(sensor=sensor, reading=reading, private=private)


ANSWERS = [
    (1, _suspect(), "right, all 7 checks hold."),
    (1, _suspect(nothing='"start"'), "All three are within"),
    (1, _suspect(which="-1"), "Softmax twice differs at step 0"),
    (1, _suspect(border="30"), "Use `steps`"),
    (1, _suspect(border="1"), "The first step that differs is step 1"),
    (1, _suspect(border="99"), "Its first difference is at step 30"),
    (2, _norm(), "right, all 4 checks hold."),
    (2, _norm(epsilon=""), "Hand over epsilon"),
    (2, _norm(momentum="norm.momentum"), "whose share is momentum"),
    (2, _norm(variance="pass"), "Outputs differ in evaluation"),
    (2, "def to_keras(norm):\n    return norm", "Return a Keras layer"),
    (3, _needs(), "right, all 5 checks hold."),
    (3, _needs(sensor='"fast"'), "Use the words"),
    (3, _needs(sensor='"any loop"'), "sensor: what counts is memory"),
    (3, _needs(reading='("gradient", "ready loop", "phone", "TPU")'), "reading: gradient, a loop, a phone"),
    (3, _needs(private='("gradient", "per example")'), "private: each example's gradient"),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("number", "answer", "reply"), ANSWERS)
def test_the_check_of_an_exercise_tells_right_from_wrong(ran: Any, number: int, answer: str, reply: str) -> None:
    [check] = [source for source in ran.code("check") if f'"Exercise {number}"' in source]
    call = ast.unparse(ast.parse(check).body[-1])
    ran.do(f"import contextlib, io\n{answer}")
    ran.do(f"with contextlib.redirect_stdout(io.StringIO()) as said:\n    {call}")
    assert reply in ran.value("said.getvalue()")


def test_an_exercise_that_was_not_begun_waits(ran: Any) -> None:
    assert [ran.printed(f'"Exercise {number}"').strip() for number in (1, 2, 3)] == [
        f"Exercise {number}: waits for you." for number in (1, 2, 3)
    ]


FIGURES = (
    "farthest from NumPy's loss against epoch, logarithmic. float64, PyTorch: largest",
    "farthest from NumPy's loss against epoch. PyTorch, float64: from",
    "difference (0 drawn at the bottom) against step. float32: from",
    "Stacked bars, seconds until the first loss. NumPy: imports",
    "Bars, most memory held, in MB (2,410 weights are 0.01 MB). NumPy:",
    "seconds for an epoch against hidden units. NumPy: from",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)
