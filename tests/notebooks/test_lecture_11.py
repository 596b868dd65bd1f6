"""Lecture 11 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. No test looks at how long something took. The exercises are solved here,
rightly and wrongly, and their checks watched.
"""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/11_tensorflow_eager.ipynb"], indirect=True)

FACTS = {
    "About 90 minutes to read and do; half a minute to run on two cores": "time.process_time() < 60",
    # 1 Tensors
    "We cut it into two *logical devices*": "len(tf.config.list_logical_devices('CPU')) == 2",
    "for three arrays of shape (3, 4)": "[a.shape for a in (x, y, z)] == [(3, 4)] * 3",
    'gave `Tensor("Sum:0", shape=(), ...)`': "in_a_graph().startswith('Tensor(\"Sum:0\", shape=()')",
    "The value is there: 6.717, as in lecture 02.": (
        "round(float(np.sum(x_np * y_np + z_np)), 3) == 6.717 == round(float(c), 3)"
    ),
    "it has been the default since TensorFlow 2.0": "tf.executing_eagerly() and tf.__version__.startswith('2.')",
    "a TensorFlow tensor has neither `.sum()` nor `.reshape()` nor `.T`": (
        "not any(hasattr(x, name) for name in ('sum', 'reshape', 'T'))"
    ),
    "What does `x[0, 0] = 5.0` do? It fails.": "'does not support item assignment' in raised(put)",
    "There are no names with a trailing `_`": (
        "not [name for name in dir(x) if name.endswith('_') and not name.startswith('_')]"
    ),
    "TensorFlow's `.numpy()` is a copy, PyTorch's is a window.": (
        "not np.shares_memory(x.numpy(), np.asarray(x)) and np.shares_memory(tensor.numpy(), tensor.numpy())"
        " and float(x[0, 0]) == x_np[0, 0] and tensor[0, 0].item() == 5"
    ),
    "float32 plus float64. PyTorch gives float64. TensorFlow?": (
        "(torch.ones(2) + torch.ones(2, dtype=torch.float64)).dtype == torch.float64"
        " and 'InvalidArgumentError' in raised(lambda: single + double)"
    ),
    'In the first message "double" is float64, "float" is float32': (
        "single.dtype == tf.float32 and double.dtype == tf.float64"
        " and 'was expected to be a float tensor but is a double tensor' in raised(lambda: single + double)"
    ),
    "The number 0.5 had to become one of the other's dtype, int32, and 0.5 is no integer.": (
        "tf.constant([1, 2]).dtype == tf.int32"
        " and raised(lambda: tf.constant([1, 2]) * 0.5)"
        " == 'TypeError: Cannot convert 0.5 to EagerTensor of dtype int32'"
    ),
    "what is `single + np.ones(2)`? NumPy's ones are float64.": "np.ones(2).dtype == np.float64",
    "float32. The array is not a tensor yet": "(single + np.ones(2)).dtype == tf.float32",
    "Make it a tensor first, and the mistake is loud.": (
        "'InvalidArgumentError' in raised(lambda: single + tf.constant(np.ones(2)))"
    ),
    "`images` is a uint8 tensor of pixels from 0 to 255. You write `images * 0.1`.": (
        "'Cannot convert 0.1' in raised(lambda: tf.constant([0, 255], tf.uint8) * 0.1)"
    ),
    "an error, since 0.1 cannot become a uint8": (
        "'TypeError' in raised(lambda: tf.constant([0, 255], tf.uint8) * 0.1)"
    ),
    "Write `tf.cast(images, tf.float32) * 0.1`.": (
        "np.allclose(tf.cast(tf.constant([0, 255], tf.uint8), tf.float32) * 0.1, [0, 25.5])"
    ),
    "TensorFlow refuses to turn 0.1 into an integer, rather than round it.": (
        "all('Error' in raised(act) for act in (lambda: tf.constant([1, 2]) + 0.1, lambda: tf.constant([1, 2]) * 0.1))"
    ),
    "Only an array with a dtype of its own is converted silently.": (
        "(tf.constant([1, 2]) * np.array([0.5, 1.5])).dtype == tf.int32"
    ),
    # 2 Variables
    "A slice of a Variable can be assigned to, by a method and not by `=`.": (
        "kept.tolist() == [9, 4, 5] and 'TypeError' in raised(lambda: v.__class__.__setitem__(v, 0, 1.0))"
        " or 'AttributeError' in raised(lambda: v.__setitem__(0, 1.0))"
    ),
    "the box does not take two numbers where three belong": "'Shape mismatch' in raised(lambda: v.assign([1.0, 2.0]))",
    "Only `alias`: it is the same box. `kept` is a copy, and `plus` is a tensor.": (
        "alias is v and isinstance(kept, np.ndarray) and tf.is_tensor(plus) and not isinstance(plus, tf.Variable)"
        " and alias.numpy().tolist() == [0, 0, 0] and plus.numpy().tolist() == kept.tolist() == [9, 4, 5]"
    ),
    "**Every computation with a Variable gives a tensor**": (
        "not any(isinstance(made, tf.Variable) for made in (v + 1, -v, v * v, tf.nn.relu(v), v[0]))"
    ),
    # 3 The tape
    "The eight numbers of lecture 02: 0.76103773, 0.12167502, 0.44386323, 0.33367433 and 1.76405235, 0.40015721,"
    " 0.97873798, 2.2408932. Equal to the last bit.": (
        "np.allclose(grad_x[0], [0.76103773, 0.12167502, 0.44386323, 0.33367433], rtol=1e-7, atol=0)"
        " and np.allclose(grad_y[0], [1.76405235, 0.40015721, 0.97873798, 2.2408932], rtol=1e-7, atol=0)"
        " and np.array_equal(grad_x, y_np) and np.array_equal(grad_y, x_np) and bool(np.all(grad_z == 1))"
    ),
    "There is no `backward()` that writes, and no `.grad` to read.": (
        "not hasattr(x, 'backward') and not hasattr(x, 'grad') and not hasattr(w, 'grad')"
    ),
    "Trainable Variables are watched by themselves.": "watched(tf.Variable(1.0)) and not watched(tf.constant(1.0))",
    "12 and 6. PyTorch adds to `.grad` until you clear it.": "twice() == [[6, 6], [12, 6]]",
    "The first answer frees what the tape remembered.": (
        "'A non-persistent GradientTape can only be used to compute one set' in raised(asked_twice)"
    ),
    "Four of the five functions below lose the path. None of them is an error.": (
        "[path_of(name) is None for name in losing] == [True] * 4 + [False]"
    ),
    "Only `tf.identity`. All five values are 9": (
        "[float(function()) for _, function in losing.values()] == [9.0] * 5 and float(path_of('tf.identity')) == 6"
    ),
    "For the integer PyTorch would have raised an error: `requires_grad` refuses integers.": (
        "'RuntimeError: Only Tensors of floating point' in raised(lambda: torch.tensor(3, requires_grad=True))"
    ),
    '`unconnected_gradients="zero"` gives zeros instead of `None`.': "float(unconnected()) == 0",
    "Its last line makes `weight` a *tensor*, which nobody watches, so the second gradient is `None`.": (
        "rebound() == [('ResourceVariable', 6.0), ('EagerTensor', None)]"
    ),
    "With an optimiser that skips `None`, nothing would fail": (
        "'No gradients provided' in raised(lambda: tf.keras.optimizers.SGD().apply_gradients([(None, w)]))"
        " and skipped_none()"
    ),
    "$3 \\cdot 0.8 \\cdot 0.8 = 1.92$": "abs(3 * 0.8 * 0.8 - 1.92) < 1e-12 and abs(descended() - 1.92) < 1e-6",
    "TensorFlow adds the three slopes 1, 2 and 3 up to 6 and says nothing.": (
        "slopes() == (6.0, [1.0, 2.0, 3.0])"
        " and 'grad can be implicitly created only for scalar' in raised(lambda: (torch.ones(3, requires_grad=True)"
        " * 2).backward())"
    ),
    "Forget `reduce_mean` in a loss, and you train on the sum: all gradients are larger by the size of the batch.": (
        "batch_factor(16) == 16"
    ),
    "a list of 161 heights": "height.shape == (161,)",
    "The second derivative of $t = \\tanh x$ is $-2\\,t\\,(1 - t^2)$.": (
        "np.allclose(curvature, -2 * height * (1 - height**2), rtol=1e-12)"
    ),
    "each height depends on its own $x$ only, so each sum has one term": "jacobian_is_diagonal()",
    "Both derivatives vanish far from 0": (
        "max(abs(float(d[k])) for d in (slope, curvature) for k in (0, -1)) < 0.003"
    ),
    "What does `tape.gradient(loss, weight)` give?": "after_the_block() is None",
    # 4 The network
    "64 examples of 1000 features, 100 hidden units with ReLU, 10 outputs": (
        "(X_np.shape, W1_np.shape, W2_np.shape) == ((64, 1000), (1000, 100), (100, 10))"
    ),
    "From 30.09 to below 0.00001, as in lecture 02.": (
        "round(float(losses[0]), 2) == 30.09 and losses[-1] < 1e-5 and len(losses) == 100"
        " and np.allclose(losses[:60], reference, rtol=1e-9)"
    ),
    # 5 Four ways
    "Equal in all rows, but not to the last bit.": (
        "bool(in_double) and bool(in_single) and len(in_double.rows) == len(in_single.rows) == 9"
        " and any(row.difference > 0 for row in in_double.rows)"
    ),
    "A product of matrices adds a thousand numbers": "D_in == 1000",
    "In float64 the gradients differ by less than 1e-14, in float32 by less than 1e-5.": (
        "max(row.difference for row in in_double.rows if 'grad' in row.name) < 1e-14"
        " and max(row.difference for row in in_single.rows if 'grad' in row.name) < 1e-5"
        " and {row.dtype for row in in_double.rows} == {'float64'} and {row.dtype for row in in_single.rows}"
        " == {'float32'}"
    ),
    "Here are 60 steps of training in each dtype.": "all(len(path) == 60 for path in off.values()) and len(off) == 4",
    "In float64 all 60 losses agree to at least eleven digits, in float32 to at least four.": (
        "max(max(path) for name, path in off.items() if '64' in name) < 1e-11"
        " and max(max(path) for name, path in off.items() if '32' in name) < 1e-4"
    ),
    "In float32 the gradients differ by 3 %.": "np.finfo(np.float32).eps < 0.03",
    "Rounding shrinks by a factor of about a billion. A wrong formula stays wrong by 3 %.": (
        "2e8 < np.finfo(np.float32).eps / np.finfo(np.float64).eps < 2e9"
    ),
    # 6 Losses and optimisers
    "The prediction is a (64, 10) array in float64.": "prediction.shape == (64, 10) and prediction.dtype == tf.float64",
    "Only the mean, and that to about eight digits.": (
        "3e-9 < abs(keras_mse() / torch_mse() - 1) < 1e-6 and abs(keras_mse(dtype='float64') / torch_mse() - 1) < 1e-14"
    ),
    "Keras averages over the last axis first, the 10 outputs of one example.": "prediction.shape[-1] == 10",
    'Its "sum" adds 64 means: 192.6, not 1926.': (
        "round(keras_mse(reduction='sum'), 1) == 192.6 and round(torch_mse('sum')) == 1926"
        " and np.isclose(keras_mse(reduction='sum'), 64 * keras_mse(), rtol=1e-6)"
    ),
    "The result is float32, although the data are float64.": (
        "tf.keras.losses.MeanSquaredError()(Y, prediction).dtype == tf.float32 and Y.dtype == tf.float64"
        " and tf.keras.config.floatx() == 'float32'"
    ),
    '`MeanSquaredError(dtype="float64")` keeps the digits.': (
        "tf.keras.losses.MeanSquaredError(dtype='float64')(Y, prediction).dtype == tf.float64"
    ),
    "0.1643 against 2.4089.": (
        "round(float(entropy(truth, guess)), 4) == 0.1643 and round(float(entropy(guess, truth)), 4) == 2.4089"
        " and round(torch.nn.BCELoss()(torch.tensor(guess), torch.tensor(truth)).item(), 4) == 0.1643"
    ),
    "from 0 towards 0.25: 40 steps": "[len(path) for path in adagrads.values()] == [40] * 3",
    "After 40 steps PyTorch's weight has gone more than five times as far as Keras's.": (
        "adagrads['PyTorch, defaults'][-1] > 5 * adagrads['Keras, defaults'][-1] > 0"
    ),
    "With the same settings the two curves lie on each other, up to rounding": (
        "np.allclose(adagrads['Keras, defaults'], adagrads[\"PyTorch, Keras's settings\"], rtol=1e-4)"
    ),
    "Only Adam has the same rate in both. Nearly every `epsilon` differs.": (
        "[name for name, (k, t) in defaults.items() if np.isclose(k['learning_rate'], t['lr'])] == ['Adam']"
        " and all(k['epsilon'] != t['eps'] for name, (k, t) in defaults.items() if name != 'SGD')"
    ),
    "RMSprop remembers a share of 0.9 in one and 0.99 in the other, and Keras's Adagrad starts its sums at 0.1.": (
        "(defaults['RMSprop'][0]['rho'], defaults['RMSprop'][1]['alpha']) == (0.9, 0.99)"
        " and (defaults['Adagrad'][0]['initial_accumulator_value'],"
        " defaults['Adagrad'][1]['initial_accumulator_value']) == (0.1, 0)"
    ),
    "Keras's optimisers still do.": "keras_keeps_the_rate_in_float32()",
    "It does, but for a constant rate the updates are the same.": "momentum_agrees()",
    'A PyTorch script trains with `torch.optim.SGD(lr=0.1, momentum=0.9)` and `MSELoss(reduction="sum")`.': (
        "momentum_agrees()"
    ),
    "With 10 outputs every gradient is a tenth of PyTorch's.": (
        "np.isclose(10 * keras_mse(reduction='sum'), torch_mse('sum'), rtol=1e-6)"
    ),
    # 7 Modules
    "there is no `forward`, no `train()`, no hook": (
        "not any(hasattr(net, name) for name in ('forward', 'train', 'register_forward_hook'))"
    ),
    "1500 images of 8 by 8 pixels for training, 297 for testing": (
        "images.shape == (1500, 64) and test_images.shape == (297, 64)"
    ),
    "Four: `tf.Module` looks into lists, tuples and dictionaries.": (
        "len(net.trainable_variables) == 4 and looks_into() == 3"
    ),
    "The Variable with `trainable=False` is left out": (
        "len(net.non_trainable_variables) == 1 and len(net.variables) == 5"
    ),
    "$64 \\cdot 32 + 32 + 32 \\cdot 10 + 10 = 2410$ numbers learn.": (
        "sum(int(tf.size(p)) for p in net.trainable_variables) == 2410 == 64 * 32 + 32 + 32 * 10 + 10"
    ),
    "Names may repeat, and here they do.": (
        "sorted(p.name for p in net.trainable_variables) == ['b:0', 'b:0', 'w:0', 'w:0']"
    ),
    "In PyTorch a plain list hides its layers, and `parameters()` is empty.": "hidden_in_torch() == 0",
    "Does the tape watch it?": "not watched(net.scale)",
    "no, and its gradient is None unless you ask the tape to watch it": (
        "not watched(net.scale) and watched(net.scale, ask=True)"
    ),
    # 8 tf.data
    "The last batch is short, unless you say `drop_remainder=True`.": (
        "[len(part) for part in numbers.batch(3)] == [3, 3, 1]"
        " and [len(part) for part in numbers.batch(3, drop_remainder=True)] == [3, 3]"
    ),
    "Once, and one. `map` called the function a single time": "len(drawn) == 7 and len(set(drawn)) == 1",
    "Seven. A *stateless* draw depends on its seed alone, here on 11 and the element.": (
        "len(set(numbers.map(mended).as_numpy_iterator())) == 7"
        " and list(numbers.map(mended).as_numpy_iterator()) == list(numbers.map(mended).as_numpy_iterator())"
    ),
    "the mean class of each batch of 50. If the order is random, it is near 4.5 throughout.": (
        "abs(labels.mean() - 4.5) < 0.05 and max(abs(np.array(mixed['shuffle(1500)']) - 4.5)) < 1.2"
    ),
    "With `shuffle(100)`: is the first batch mixed?": "mixed['shuffle(100)'][0] == 0",
    "With room for 100, the first batch can hold nothing but the first 149 elements: all of class 0.": (
        "np.sort(labels)[:149].max() == 0 and max(reach(100)) <= 148 and len(reach(100)) == 50"
    ),
    "The curve climbs like the unshuffled one. Only `shuffle(1500)`, the whole set, is flat.": (
        "max(abs(np.subtract(mixed['shuffle(100)'], mixed['shuffle(1)']))) < 1.2"
        " and np.ptp(mixed['shuffle(500)']) > 4 and np.ptp(mixed['shuffle(1500)']) < 2"
    ),
    "21 against 7: three times seven, or once.": (
        "runs_in_three_epochs(slow) == 21 and runs_in_three_epochs(slow.cache()) == 7"
    ),
    "After it. The cache freezes what stands before": (
        "frozen(slow.map(add_noise).cache()) and not frozen(slow.cache().map(add_noise))"
    ),
    "a cache behind it repeats one order for ever": (
        "frozen(numbers.shuffle(7).cache()) and not frozen(tf.data.Dataset.range(99).cache().shuffle(99))"
    ),
    "Loading a batch takes 20 ms, as from a slow disk. A training step takes 20 ms": (
        "list(eight.as_numpy_iterator()) == [20] * 8 and shortest(alone, 'load') >= 0.02 <= shortest(alone, 'train')"
    ),
    "Never. `for` asks for a batch": "alone.overlap('load', 'train') == 0",
    "Now the second batch is loaded while the first one is used.": "fetched.overlap('load', 'train') > 0",
    "Let loading take 60 ms, three times as long as training": "list(sixty.as_numpy_iterator()) == [60] * 8",
    "`num_parallel_calls=3` loads up to three elements at once, and gives them out in order": (
        "in_order() == list(range(8)) and at_once() in (2, 3)"
    ),
    "Six pipelines of eight batches.": "len(epochs) == 6 and all(len(trained(one)) == 8 for one in timed.values())",
    "Eight training steps take 160 ms at least, eight loads as long again, or 480 ms when they are slow.": (
        "all(value >= 160 for value in epochs.values()) and epochs['load, train'] >= 320"
        " and epochs['60 ms a load, prefetch'] >= 480"
    ),
    "From the cache nothing is waited for.": "'load' not in timed['cache, second epoch'].rows()",
    "today TensorFlow adds a prefetch to a pipeline that has none": (
        "timed['nothing said, TensorFlow decides'].overlap('load', 'train') > 0"
    ),
    "Over 85 % of the test images are right after 90 steps.": (
        "accuracy(net, test_images, test_labels) > 0.85 and 3 * len(batches) == 90"
    ),
    "`shuffle` draws a new order in each epoch, by itself": "not frozen(tf.data.Dataset.range(99).shuffle(99, seed=0))",
    "`dataset.batch(50).shuffle(1500)` instead of `dataset.shuffle(1500).batch(50)`": ("batches_stay_together()"),
    "whole batches change places; each keeps its 50 examples": "batches_stay_together()",
    "No. A buffer may be larger than what there is.": "len(list(numbers.shuffle(1500))) == 7",
    "an error, since there are only 30 batches": "len(batches) == 30",
    # 9 Devices
    "Two results, no error, and both on CPU:0.": (
        "(place(there), place(here)) == ('CPU:1', 'CPU:0') and place(there + here) == place(there * there) == 'CPU:0'"
    ),
    "TensorFlow runs it where `with tf.device` *says*": (
        "multiplied_on('CPU:1') == 'CPU:1' and multiplied_on('CPU:0') == 'CPU:0'"
    ),
    "the operation was to run on CPU:0, its input is on CPU:1": (
        "'was expected to be on' in raised(explicit) and place(there) == 'CPU:1'"
    ),
    "The mending is `tf.identity(there)` inside the block": "mended_explicitly() == 'CPU:0'",
    "this is *soft placement*, and it is on by default": "tf.config.get_soft_device_placement()",
    '`torch.device("cuda")` without a GPU is an error': (
        "torch.cuda.is_available() or 'Error' in raised(lambda: torch.ones(2, device='cuda'))"
    ),
    "TensorFlow has no `.to`.": "not hasattr(tf.constant([1.0]), 'to')",
    "On a machine with a GPU you write `tf.constant([1.0])`": "tf.constant([1.0]).shape == (1,)",
    # 10 Custom gradients
    "`nan`: the chain rule multiplies infinity (the slope of the root at 0) by 0.": (
        "np.isnan(gradient_of(plain_length, [0.0, 0.0])).all() and np.isinf(root_slope())"
    ),
    "`tf.norm` does the same.": "np.isnan(gradient_of(tf.norm, [0.0, 0.0])).all()",
    "Squaring 3e-25 in float32 gives 0, so the length is 0, and the gradient infinite.": (
        "float(tf.constant(3e-25) ** 2) == 0 and float(plain_length(tf.constant([3e-25, 4e-25]))) == 0"
        " and np.isinf(gradient_of(plain_length, [3e-25, 4e-25])).all()"
    ),
    "The true gradient is (0.6, 0.8), as in the first line.": (
        "np.allclose(gradient_of(plain_length, [3.0, 4.0]), [0.6, 0.8])"
    ),
    "Right at the first two. At 0 no gradient is right": (
        "np.allclose(gradient_of(length, [3e-25, 4e-25]), [0.6, 0.8])"
        " and np.allclose(gradient_of(length, [3.0, 4.0]), [0.6, 0.8])"
        " and gradient_of(length, [0.0, 0.0]).tolist() == [0, 0]"
    ),
    "Use float64, or you measure rounding.": "checked(tf.float64) < 1e-6 < 1e-5 < checked(tf.float32)",
    "The right rule agrees to better than 1e-6, the wrong one is off by 11.": (
        "checked(tf.float64) < 1e-6 and round(float(worst)) == 11"
    ),
    '"expected to return 2 gradients, but returned 1"': (
        "'expected to return 2 gradients, but returned 1' in raised(one_for_two)"
    ),
    'For "no gradient" you return `None` in its place.': "none_for_second() == (3.0, None)",
    # 11 Save and resume
    "Now 20 steps, save, throw everything away, build it anew with *another* seed, restore, 20 more.": (
        "len(losses_before) == len(losses_after) == 20"
    ),
    "Equal in all 40 losses.": "len(uninterrupted) == 40 and losses_before + losses_after == uninterrupted",
    "Both do. Look at the curves": (
        "all(resumed_without(name) != uninterrupted[20:] for name in ('optimiser', 'batches'))"
    ),
    "the way to it from the root: `net`, then `layers`, then 0, then `w`": (
        "way('net', 'layers', '0', 'w') and not way('model')"
    ),
    "The five Python objects of the message are the net's Variables.": "len(renamed.variables) == 5",
    "Nothing, and it restored nothing.": "np.array_equal(before, renamed.layers[0].w.numpy())",
    "It keeps the values, in case a `net` should turn up later.": "deferred()",
    "(`load_state_dict` in PyTorch is strict by default.)": (
        "'Missing key' in raised(lambda: torch.nn.Linear(2, 2).load_state_dict({}))"
    ),
    "`None` leaves the size of the batch open.": (
        "[loaded.classify(test_images[:k]).shape for k in (1, 5)] == [(1,), (5,)]"
    ),
    "Same answers, from an object that is no `Served`.": (
        "np.array_equal(loaded.classify(test_images), served.classify(test_images)) and not isinstance(loaded, Served)"
    ),
    "Plain Python (`describe`) is gone, and the signature is enforced.": (
        "not hasattr(loaded, 'describe') and 'TypeError' in raised(lambda: loaded.classify(test_images[:, :63]))"
    ),
}
"""piece of the text -> what must be true"""

SHORTHAND = """
def raised(act):
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def put():
    x[0, 0] = 5.0


def way(*steps):
    from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

    graph, node = TrackableObjectGraph(), 0
    graph.ParseFromString(tf.train.load_checkpoint(saved).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    for step in steps:
        children = {child.local_name: child.node_id for child in graph.nodes[node].children}
        if step not in children:
            return False
        node = children[step]
    return [one.name for one in graph.nodes[node].attributes] == ["VARIABLE_VALUE"]


def in_a_graph():
    with tf.Graph().as_default():
        return str(tf.reduce_sum(tf.constant([1.0])))


def watched(source, ask=False):
    with tf.GradientTape() as tape:
        if ask:
            tape.watch(source)
        result = source * source
    return tape.gradient(result, source) is not None


def twice():
    one, other, found = torch.tensor(3.0, requires_grad=True), tf.Variable(3.0), []
    for _ in range(2):
        (one * one).backward()
        with tf.GradientTape() as tape:
            result = other * other
        found.append([one.grad.item(), float(tape.gradient(result, other))])
    return found


def asked_twice():
    with tf.GradientTape() as tape:
        result = w * w
    tape.gradient(result, w)
    tape.gradient(result, w)


def path_of(name):
    source, function = losing[name]
    with tf.GradientTape() as tape:
        result = function()
    return tape.gradient(result, source)


def unconnected():
    with tf.GradientTape() as tape:
        result = w * w
    return tape.gradient(result, tf.Variable(1.0), unconnected_gradients="zero")


def rebound():
    weight, found = tf.Variable(3.0), []
    for _ in range(2):
        with tf.GradientTape() as tape:
            result = weight * weight
        gradient = tape.gradient(result, weight)
        found.append((type(weight).__name__, None if gradient is None else float(gradient)))
        weight = weight - 0.1 * (0.0 if gradient is None else gradient)
    return found


def skipped_none():
    import warnings

    one, other = tf.Variable(1.0), tf.Variable(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tf.keras.optimizers.SGD(0.5).apply_gradients([(None, one), (tf.constant(1.0), other)])
    return float(one) == 1 and float(other) == 0.5


def descended():
    one = tf.Variable(3.0)
    for _ in range(2):
        with tf.GradientTape() as tape:
            result = one * one
        one.assign_sub(0.1 * tape.gradient(result, one))
    return float(one)


def slopes():
    one = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        result = one * tf.constant([1.0, 2.0, 3.0])
    return float(tape.gradient(result, one)), tape.jacobian(result, one).numpy().tolist()


def batch_factor(size):
    one, found = tf.Variable(1.0), []
    for reduce in (tf.identity, tf.reduce_mean):
        with tf.GradientTape() as tape:
            result = reduce(one * tf.ones(size))
        found.append(float(tape.gradient(result, one)))
    return found[0] / found[1]


def after_the_block():
    one = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(one * one, one)


def keras_mse(**settings):
    return float(tf.keras.losses.MeanSquaredError(**settings)(Y, prediction))


def torch_mse(reduction="mean"):
    return torch.nn.MSELoss(reduction=reduction)(torch.tensor(prediction.numpy()), torch.tensor(Y_np)).item()


def momentum_agrees():
    keras = with_keras(tf.keras.optimizers.SGD(0.02, momentum=0.9), steps=10)
    return np.allclose(keras, with_torch(torch.optim.SGD, steps=10, lr=0.02, momentum=0.9), rtol=1e-5)


def looks_into():
    module = tf.Module()
    module.a, module.b, module.c = [tf.Variable(1.0)], (tf.Variable(1.0),), {"x": tf.Variable(1.0)}
    return len(module.trainable_variables)


def hidden_in_torch():
    module = torch.nn.Module()
    module.layers = [torch.nn.Linear(2, 2)]
    return len(list(module.parameters()))


def reach(room):
    return next(tf.data.Dataset.range(1500).shuffle(room).batch(50).as_numpy_iterator()).tolist()


def frozen(dataset):
    one, other = (list(dataset.as_numpy_iterator()) for _ in range(2))
    return one == other


def shortest(spans, label):
    return min(end - begin for name, row in spans.rows().items() if name.startswith(label) for begin, end in row)


def trained(spans):
    return spans.rows()["train"]


def at_once():
    rows = timed["60 ms a load, 3 at once, prefetch"].rows()
    return len([name for name in rows if name.startswith("load")])


def jacobian_is_diagonal():
    points = grid[:5]
    with tf.GradientTape() as tape:
        tape.watch(points)
        result = tf.tanh(points)
    slopes = tape.jacobian(result, points).numpy()
    return np.count_nonzero(slopes) == 5 and np.array_equal(slopes, np.diag(np.diag(slopes)))


def keras_keeps_the_rate_in_float32():
    exact = tf.Variable([1.0], dtype=tf.float64)
    tf.keras.optimizers.SGD(0.1).apply_gradients([(tf.constant([0.1], tf.float64), exact)])
    return float(exact.numpy()[0]) == 1 - float(np.float32(0.1)) * 0.1 != 1 - 0.1 * 0.1


def in_order():
    return list(as_written(tf.data.Dataset.range(8).map(lambda n: n, num_parallel_calls=3)).as_numpy_iterator())


def batches_stay_together():
    whole = tf.data.Dataset.range(1500)
    kept = [tuple(part) for part in whole.batch(50).shuffle(1500).as_numpy_iterator()]
    mixed = [tuple(part) for part in whole.shuffle(1500).batch(50).as_numpy_iterator()]
    fixed = {tuple(range(k, k + 50)) for k in range(0, 1500, 50)}
    return set(kept) == fixed and not fixed & {tuple(sorted(part)) for part in mixed}


def multiplied_on(device):
    with tf.device(device):
        return place(there * here)


def explicit():
    tf.config.experimental.set_device_policy("explicit")
    try:
        with tf.device("CPU:0"):
            there * 2.0
    finally:
        tf.config.experimental.set_device_policy("silent")


def mended_explicitly():
    tf.config.experimental.set_device_policy("explicit")
    try:
        with tf.device("CPU:0"):
            return place(tf.identity(there) * 2.0)
    finally:
        tf.config.experimental.set_device_policy("silent")


def root_slope():
    return gradient_of(tf.sqrt, 0.0)


def checked(dtype):
    ours, nudged = tf.test.compute_gradient(length, [tf.constant([3.0, 4.0, -12.0], dtype)])
    return np.abs(ours[0] - nudged[0]).max()


def product_with(backward):
    @tf.custom_gradient
    def product(a, b):
        return a * b, lambda above: backward(above, a, b)

    one, other = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        result = product(tf.identity(one), tf.identity(other))
    return tape.gradient(result, [one, other])


def one_for_two():
    product_with(lambda above, a, b: above * b)


def none_for_second():
    one, other = product_with(lambda above, a, b: (above * b, None))
    return float(one), other


def first_weights():
    whole = Net(seed=2)
    tf.train.Checkpoint(net=whole).restore(saved).expect_partial()
    return whole.layers[0].w.numpy()


def deferred():
    root = tf.train.Checkpoint()
    root.restore(saved).expect_partial()
    root.net = Net(seed=3)
    return np.array_equal(root.net.layers[0].w.numpy(), first_weights())


shorthand_is_there = True
"""


@pytest.fixture
def asked(ran: Any) -> Any:
    """The executed lecture, with the names that the facts use."""
    if not ran.value("'shorthand_is_there' in globals()"):
        ran.do(SHORTHAND)
    return ran


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(asked: Any, said: str) -> None:
    assert said in asked.prose, "the text no longer says this"
    assert asked.value(f"bool({FACTS[said]})") is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS) == []


# The four ways again, with other data and both dtypes: the tolerance depends on the dtype alone.


@pytest.mark.parametrize(("dtype", "limit"), [("float64", 1e-13), ("float32", 1e-5)])
@pytest.mark.parametrize("way", ["by_session", "by_tape", "by_pytorch"])
def test_the_gradients_are_those_of_numpy_to_the_tolerance_of_the_dtype(
    asked: Any, way: str, dtype: str, limit: float
) -> None:
    ours, theirs = f"by_hand('{dtype}')", f"{way}('{dtype}')"
    share = (
        f"[float(np.abs(parity.read(dict(r={theirs}[k]))['r'] - {ours}[k]).max() / np.abs({ours}[k]).max())"
        f" for k in {ours}]"
    )
    assert max(asked.value(share)) < limit
    assert set(asked.value(f"[str(v.dtype) for v in parity.read({theirs}).values()]")) == {dtype}


# What fails on purpose fails, with the words that the text quotes.

ON_PURPOSE = {
    "x[0, 0] = 5.0\n": "TypeError: 'tensorflow.python.framework.ops.EagerTensor' object does not support item",
    "single + double": "was expected to be a float tensor but is a\ndouble tensor",
    "single + np.ones(2)": "InvalidArgumentError: cannot compute AddV2",
    "v.assign([1.0, 2.0])": "Shape mismatch",
    "first = tape.gradient": "RuntimeError: A non-persistent GradientTape can only be used",
    "weight = weight - 0.1": "TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'",
    "factors = [": "RuntimeError: grad can be implicitly created only for scalar outputs",
    'torch.ones(2, device="meta")': "RuntimeError: Tensor on device cpu is not on the expected device meta!",
    'set_device_policy("explicit")': "Tensors on conflicting devices: cannot compute Mul",
    "set_soft_device_placement(False)": "No error, no warning.\nInvalidArgumentError: Could not satisfy device",
    "status.assert_existing_objects_matched()": "AssertionError: Found 5 Python objects that were not bound",
    "loaded.classify(test_images[:, :63])": "TypeError: Binding inputs to tf.function failed",
}
"""piece of a cell -> what the cell shows"""


@pytest.mark.parametrize("cell", ON_PURPOSE)
def test_what_fails_on_purpose_fails_with_the_message_that_the_text_explains(ran: Any, cell: str) -> None:
    assert ON_PURPOSE[cell] in ran.printed(cell)


def test_nothing_else_fails_on_purpose(ran: Any) -> None:
    assert len(ran.failing_on_purpose()) == len(ON_PURPOSE)


# The exercises: a check waits, names the mistake, and accepts what is right.

MOMENTUM = """
def momentum_step(weight, speed, gradient):
    {body}
"""
BRAKE = """
@tf.custom_gradient
def braked(x):
    {body}
"""
PIPELINE = """
def pipeline(n, slow, noise, seed):
    return tf.data.Dataset.range(n){body}
"""
SPEED = "speed.assign(0.9 * speed + gradient); "
ANSWERS = [
    (1, MOMENTUM, SPEED + "weight.assign_sub(0.1 * speed)", "right, all 2 checks hold."),
    (1, MOMENTUM, "weight.assign_sub(0.1 * speed); " + SPEED, "The weight moves by the *new* speed"),
    (1, MOMENTUM, SPEED + "weight = weight - 0.1 * speed", "through assign"),
    (1, MOMENTUM, "speed.assign(gradient); weight.assign_sub(0.1 * speed)", "the speed is 0.9 + 1"),
    (2, BRAKE, "return x, lambda above: tf.clip_by_value(above, -1.0, 1.0)", "right, all 3 checks hold."),
    (2, BRAKE, "return tf.identity(x), lambda g: tf.minimum(1.0, tf.maximum(-1.0, g))", "right, all 3 checks hold."),
    (2, BRAKE, "return tf.clip_by_value(x, -1.0, 1.0), lambda above: above", "Forwards nothing happens."),
    (2, BRAKE, "return x, lambda above: tf.sign(above)", "A small gradient passes unchanged."),
    (2, BRAKE, "return x, lambda above: above", "A gradient of -7 becomes -1."),
    (3, PIPELINE, ".map(slow).cache().shuffle(n, seed=seed).map(noise).batch(4)", "right, all 5 checks hold."),
    (3, PIPELINE, ".map(slow).cache().shuffle(n, seed=seed).map(noise).batch(4).prefetch(1)", "right, all 5"),
    (3, PIPELINE, ".map(slow).cache().shuffle(n, seed=seed).map(noise).batch(5)", "Three batches of four."),
    (3, PIPELINE, ".map(slow).cache().repeat(1).skip(1).concatenate(tf.data.Dataset.range(1)).batch(4)", "the same"),
    (3, PIPELINE, ".map(slow).shuffle(n, seed=seed).map(noise).batch(4)", "What does cache keep?"),
    (3, PIPELINE, ".map(slow).cache().map(noise).batch(4)", "Both epochs have the same order."),
    (3, PIPELINE, ".map(slow).shuffle(n, seed=seed).cache().map(noise).batch(4)", "Both epochs have the same order."),
    (3, PIPELINE, ".map(slow).map(noise).cache().shuffle(n, seed=seed).batch(4)", "Both epochs have the same noise."),
    (3, PIPELINE, ".map(slow).cache().map(noise).take(8).repeat(2).take(12).batch(4)", "Each number once."),
]
"""number of the exercise, its form, an answer, and what its check says to it"""


def _say(ran: Any, exercise: int, answer: str) -> str:
    """What the cell of an exercise prints if the reader writes `answer` in the place of the first definition."""
    [cell] = ran.code(f"exercise-{exercise}")
    stub, waits, check = cell.partition("    raise NotImplementedError\n")
    assert waits
    body = textwrap.indent((answer or stub + waits) + check, "    ")
    ran.do(f"import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as said:\n{body}")
    return str(ran.value("said.getvalue()"))


@pytest.mark.parametrize(("exercise", "form", "body", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(
    ran: Any, exercise: int, form: str, body: str, said: str
) -> None:
    assert said in _say(ran, exercise, form.format(body=body))


@pytest.mark.parametrize("exercise", [1, 2, 3])
def test_a_check_waits_for_who_has_not_begun(ran: Any, exercise: int) -> None:
    assert _say(ran, exercise, "").endswith(": waits for you.\n")


def test_who_goes_back_can_run_an_earlier_cell_again(ran: Any) -> None:
    """From the last cell up to the first tensor, each one still finds what it needs."""
    code = [cell.source for cell in ran.notebook.cells if cell.cell_type == "code"]
    first = next(place for place, source in enumerate(code) if source.startswith("np.random.seed(0)"))
    assert len(code[first:]) > 30
    for source in reversed(code[first:]):
        ran.do(source)
