"""Lecture 10 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell; `HISTORY` holds
the dates that no program can ask for, with their sources. Numbers that stand in neither fail a test of their own. What
fails on purpose is listed with its message, and the exercises are solved here, rightly and wrongly.
"""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/10_tensorflow_static_graphs.ipynb"], indirect=True)

SHORTHAND = '''
def raised(act):
    """The message of what `act` raises; TensorFlow's are long."""
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""

def one(build, feeds=None, config=None):
    """The value of what `build()` returns, in a graph and a session of its own."""
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        fetch, *fed = build() if feeds else (build(),)
        return session.run(fetch, dict(zip(fed, feeds or ())))

def parabola(rate, rounds, start=0.0):
    """Where gradient descent on 10 x^2 - 5 x + 4 is after `rounds`."""
    x = start
    for _ in range(rounds):
        x -= rate * (20 * x - 5)
    return x

def nodes_of(graph, **kw):
    from course_lib.plots.tensorflow_graph import tensorflow_nodes
    return tensorflow_nodes(*(graph if isinstance(graph, (list, tuple)) else [graph]), **kw)

def crossings(parts):
    """(from, to) of every tensor that is sent."""
    short = lambda path: path.rsplit(":", 1)[1]
    return sorted((short(n.attr["send_device"].s.decode()), short(n.attr["recv_device"].s.decode()))
                  for p in parts for n in p.node if n.op == "_Send")

def loss_with_init_inside():
    with tf.Session(graph=net) as s:
        seen = []
        for _ in range(3):
            s.run(init_net)
            seen.append(float(s.run([loss, updates], feeds)[0]))
    return seen

def noise_pair(together, seed=None):
    with tf.Graph().as_default(), tf.Session() as s:
        noise = tf.random_normal([], seed=seed)
        double = noise * 2
        return s.run([noise, double]) if together else [s.run(noise), s.run(double)]

def moved_b():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        with tf.device("/cpu:2"):
            a = tf.square(x, name="a")
            b = tf.exp(a, name="b")
        with tf.device("/cpu:3"):
            c = tf.add(a, b, name="c")
    return crossings(what_ran(c, {x: [1.0, 2.0]}, four_cpus)[1])
'''

FACTS = {
    # 1 Two programs
    "It cannot be turned on again in this kernel.": (
        "'must be called at program startup' in raised(tf.enable_eager_execution)"
    ),
    "`total` is a *handle*: a name, a shape and a dtype": (
        "[(t.name, t.shape.as_list(), t.dtype.name, t.op.type) for t in wide()]"
        " == [('Const:0', [1, 3], 'float32', 'Const'), ('Const_1:0', [], 'float32', 'Const'),"
        " ('add:0', [1, 3], 'float32', 'AddV2')]"
    ),
    "The sum is made by `AddV2`; its shape (1, 3) was worked out without computing.": "wide()[2].shape == (1, 3)",
    "5, 6, 7 at last, as a NumPy array.": (
        "one(lambda: tf.constant([[1.0, 2.0, 3.0]]) + tf.constant(4.0)).tolist() == [[5, 6, 7]]"
    ),
    "so `larger` is ten times that": "one(lambda: conditional()).tolist() == [[50, 60, 70]]",
    "Three runs of one graph, with other numbers fed each time: 4, 3.375 and 9.": (
        "[10 * v**2 - 5 * v + 4 for v in (0.0, 0.25, 1.0)] == [4, 3.375, 9]"
    ),
    "`**` is `Pow`, `*` is `Mul`, and each number is a `Const`": (
        "{'Pow', 'Mul', 'Const'} <= {op.type for op in curve.get_operations()}"
    ),
    "`pow/y` is the `y` of `pow`, the exponent 2": "nodes_of(curve)['pow/y'].content == '2'",
    "With `shape=None` any shape may be fed; with `shape=[None, 3]` any number of rows.": (
        "all(one(lambda: [tf.reduce_sum(p := tf.placeholder(tf.float32, None)), p], [np.ones(s)]) == n"
        " for s, n in (((), 1), ((2,), 2), ((2, 2), 4)))"
        " and one(lambda: [tf.reduce_sum(p := tf.placeholder(tf.float32, [None, 3])), p], [np.ones((5, 3))]) == 15"
    ),
    # 2 What deferring means
    "The product of two (2, 3) matrices needs 3 columns to meet 2 rows: `are 3 and 2`.": (
        "'must be equal, but are 3 and 2' in raised(lambda: one(lambda: tf.zeros([2, 3]) @ tf.zeros([2, 3])))"
    ),
    "A matrix of a million rows and a million columns, in float32, takes 4 TB.": "(10**6) ** 2 * 4 == 4e12",
    "`right` did not run for `left`.": "noted([['left']]) == ['base', 'left']",
    "And a run remembers nothing: in two calls, `base` ran twice.": (
        "noted([['left', 'right']]) == ['base', 'left', 'right']"
        " and noted([['left'], ['right']]) == ['base', 'base', 'left', 'right']"
    ),
    "Each run draws anew.": "noise_pair(False)[1] != 2 * noise_pair(False)[0]",
    "Within one run the node is computed once, so both fetches see the same draw.": (
        "(lambda pair: bool(pair[1] == 2 * pair[0]))(noise_pair(True))"
    ),
    "A seed makes the *sequence* of draws repeat in the next session. The second run still takes the second draw.": (
        "noise_pair(False, 1) == noise_pair(False, 1)"
        " and (lambda pair: bool(pair[1] != 2 * pair[0]))(noise_pair(False, 1))"
    ),
    # 3 Variables
    "The slope at 0 is -5.": "session_value(descent, 'gradients/AddN') == -5",
    "starting at $x = 0$, with rate 0.02": "abs(parabola(0.02, 1) - 0.1) < 1e-12",
    "0.1, 0.16, 0.196, 0.2176, 0.23056, 0.238336, 0.243002, 0.245801.": (
        "[f'{value:.6g}' for value in visited]"
        " == '0.1, 0.16, 0.196, 0.2176, 0.23056, 0.238336, 0.243002, 0.245801'.split(', ')"
        " and np.allclose(visited, [parabola(0.02, k) for k in range(1, 9)], atol=1e-7)"
    ),
    "$x \\leftarrow x - 0.02\\,(20x - 5) = 0.6x + 0.1$. The slope is 0 at 0.25, and the distance to 0.25 shrinks to 0.6"
    " of itself.": (
        "all(abs((parabola(0.02, 1, v) - 0.25) / (v - 0.25) - 0.6) < 1e-12"
        " and abs(parabola(0.02, 1, v) - (0.6 * v + 0.1)) < 1e-12 for v in (-3.0, 0.0, 1.0))"
    ),
    "The loop in Python added nothing to the graph. It only pressed the same button eight times. (48 nodes": (
        "nodes_before == 48 and len(visited) == 8"
    ),
    "The green part begins with a 1, the slope of $y$ with respect to itself, and ends in `AddN`": (
        "nodes_of(descent, ends=[descent.get_operation_by_name('gradients/AddN')])['gradients/AddN'].op == 'AddN'"
        " and nodes_of(descent)['gradients/grad_ys_0/Const'].content == '1'"
    ),
    "The lower one is the 1 with its sign turned (`Neg`), times 5: the slope of $-5x$.": (
        "session_value(descent, 'gradients/mul_1_grad/Mul_1') == -5"
        " and list(nodes_of(descent)['gradients/mul_1_grad/Mul_1'].inputs) == ['gradients/sub_grad/Neg', 'mul_1/x']"
    ),
    "The upper one is 1 times 10 times 2 times `Pow`, which is $x^{2-1}$: the slope of $10x^2$.": (
        "[list(nodes_of(descent)['gradients/' + n].inputs)"
        " for n in ('mul_grad/Mul_1', 'pow_grad/mul', 'pow_grad/mul_1')]"
        " == [['gradients/grad_ys_0', 'mul/x'], ['gradients/mul_grad/Mul_1', 'pow/y'],"
        " ['gradients/pow_grad/mul', 'gradients/pow_grad/Pow']]"
        " and [nodes_of(descent)[n].content for n in ('mul/x', 'pow/y', 'gradients/pow_grad/sub/y')]"
        " == ['10', '2', '1']"
    ),
    "20, as it should be.": "session_value(descent, 'gradients_1') == 20",
    "Two sessions are two sets of weights": "two_sessions() == [True, True]",
    "Rate 0.02 shrinks the distance by the factor 0.6. What do 0.08 and 0.1 do?": (
        "list(paths) == ['rate 0.02', 'rate 0.08', 'rate 0.1']"
        " and all(np.allclose(path, [parabola(float(name[5:]), k) for k in range(13)], atol=1e-6)"
        " for name, path in paths.items())"
    ),
    "With 0.08 the factor is -0.6: each update jumps past 0.25, and the jumps get smaller.": (
        "abs(1 - 20 * 0.08 + 0.6) < 1e-12 and (lambda p: all((p[k] - 0.25) * (p[k + 1] - 0.25) < 0"
        " and abs(p[k + 1] - 0.25) < abs(p[k] - 0.25) for k in range(6)))(paths['rate 0.08'])"
    ),
    "With 0.1 it is -1: $x$ swings between 0 and 0.5 for ever.": (
        "np.allclose(paths['rate 0.1'], [0, 0.5] * 6 + [0], atol=1e-6)"
    ),
    "or order the two with `tf.control_dependencies`": "ordered_read() == [0.1, 0.16]",
    # 4 The numbers of lecture 02
    "three inputs of shape (3, 4)": "x_np.shape == y_np.shape == z_np.shape == (3, 4)",
    "The eight numbers of lecture 02, and equal to the last bit: 0.76103773, 0.12167502, 0.44386323, 0.33367433 and"
    " 1.76405235, 0.40015721, 0.97873798, 2.2408932.": (
        "np.array_equal(found[0], y_np) and np.array_equal(found[1], x_np) and np.all(found[2] == np.ones((3, 4)))"
        " and [round(v, 8) for v in found[0][0].tolist() + found[1][0].tolist()]"
        " == [0.76103773, 0.12167502, 0.44386323, 0.33367433, 1.76405235, 0.40015721, 0.97873798, 2.2408932]"
        " and round(float(c_value), 4) == 6.7170"
    ),
    "The gradient of the sum is `Tile`: a 1 repeated to the shape (3, 4).": (
        "gradients[2].op.type == 'Tile' and session_value(small, 'gradients/c_grad/Tile').tolist()"
        " == np.ones((3, 4)).tolist()"
    ),
    "It reaches the two products `a_grad/Mul` and `a_grad/Mul_1`. The gradient of `z` is `Tile` itself.": (
        "[g.op.name for g in gradients] == ['gradients/a_grad/Mul', 'gradients/a_grad/Mul_1', 'gradients/c_grad/Tile']"
    ),
    # 5 The two-layer network
    "The loss is 30.09, as in lecture 02, and both gradients agree to the round-off of float64.": (
        "round(float(loss_tf), 2) == 30.09 and abs(loss_tf - by_hand(W1, W2)[0]) < 1e-12"
        " and all(np.abs(a - b).max() < 1e-13 for a, b in zip(in_numpy.values(), in_tf.values()))"
    ),
    "But look at what moves in each step: 808,000 bytes each way.": "W1.nbytes + W2.nbytes == 808_000 == 101_000 * 8",
    "Where is the loss after 20 rounds?": "len(watched) == 20",
    "It stands still, in every digit.": "len(set(map(float, watched))) == 1",
    "Fetching them would carry 808,000 bytes out again.": (
        "sum(value.nbytes for value in fetched_updates()) == 808_000"
    ),
    "So each loss is from before its update.": "largest_gap(grouped) < 1e-11",
    "From 30 to below 0.00001.": "round(float(grouped[0])) == 30 and grouped[-1] < 1e-5 and len(grouped) == 100",
    "Equal to at least 11 digits in each of the 100 losses.": (
        "largest_gap(grouped) < 1e-11 and len(grouped) == len(losses_np) == 100"
    ),
    "The same rate, 0.01.": (
        "np.isclose(grouped[1], by_hand(W1 - 0.01 * by_hand_1, W2 - 0.01 * by_hand_2)[0], rtol=1e-12)"
    ),
    "The optimiser made a float32 node of 0.01 and cast it to float64, so the rate itself was off in the eighth"
    " significant digit.": (
        "1e-8 < abs(float(np.float32(0.01)) / 0.01 - 1) < 1e-7 and largest_gap(train(0.01)) > 1e-8"
    ),
    "`np.float64(0.01)` has a dtype, and the losses agree again.": "largest_gap(train(np.float64(0.01))) < 1e-11",
    "The loss stays the same in every digit, for 20 rounds.": "len(set(map(float, watched))) == 1",
    "Call the initialiser inside the loop of section 5.": "len(set(loss_with_init_inside())) == 1",
    # 6 The optimiser zoo
    "Ten rules came with TensorFlow 1;": (
        "len(optimisers) == 10 and {n + 'Optimizer' for n in optimisers}"
        " == {type(o).__name__ for o in optimisers.values()}"
        " == {n for n in dir(tf.train) if n.endswith('Optimizer')} - {'Optimizer', 'SyncReplicasOptimizer'}"
    ),
    "all with the rate 0.02": "abs(traces[1]['GradientDescent'] - 0.02 * 5) < 1e-6",
    "Adam keeps two, so it needs three times the memory of the weight. Gradient descent keeps none.": (
        "optimisers['Adam'].get_slot_names() == ['m', 'v'] and optimisers['GradientDescent'].get_slot_names() == []"
    ),
    "Adam's first step is the rate, 0.02, whatever the slope.": (
        "abs(traces[1]['Adam'] - 0.02) < 1e-6 and abs(adams_first(1000.0)) - 0.02 < 1e-6"
    ),
    "AdaDelta has hardly moved": "0 < traces[60]['Adadelta'] < 0.001",
    "FTRL without a penalty walks exactly as AdaGrad does.": (
        "all(abs(t['Ftrl'] - t['Adagrad']) < 1e-6 for t in traces) and traces[60]['Adagrad'] > 0.2"
    ),
    "All walk towards 0.25. Momentum overshoots most.": (
        "max(walks, key=lambda name: max(walks[name])) == 'Momentum'"
        " and all(abs(walk[-1] - 0.25) < 0.05 for walk in walks.values())"
    ),
    "On this easy curve plain gradient descent wins": (
        "min(walks, key=lambda name: max(abs(v - 0.25) for v in walks[name][20:])) == 'GradientDescent'"
    ),
    "Seven of the ten live on in today's `tf.keras.optimizers`, in six classes": (
        "all(hasattr(tf2.keras.optimizers, n) for n in ('SGD', 'Adagrad', 'Adadelta', 'RMSprop', 'Adam', 'Ftrl'))"
        " and not any(hasattr(tf2.keras.optimizers, n)"
        " for n in ('AdagradDA', 'ProximalAdagrad', 'ProximalGradientDescent'))"
    ),
    # 7 The graph, optimised
    "It computes $12x + 1$ in a roundabout way.": "np.array_equal(value_of(result), 12 * np.arange(3.0) + 1)",
    "There are four kinds of waste, and 12 nodes.": "len(wasteful.get_operations()) == 12",
    "1, 13 and 25 are right, and seven nodes are left.": (
        "quick.tolist() == [1, 13, 25] and len(nodes_of(list(optimised))) == 7 == len(kinds[1])"
    ),
    "`six` is no longer a product, it is the constant 6": (
        "(lambda node: (node.op, node.content))(nodes_of(list(optimised))['six']) == ('Const', '6')"
    ),
    "`p` and `q` were the same, so one is kept": "('p' in (n := nodes_of(list(optimised)))) != ('q' in n)",
    "`p + p` became `p` times 2, and the two minus signs are gone": (
        "'Neg' not in kinds[1] and kinds[1].count('Mul') == 2 and kinds[1].count('AddV2') == 1"
        " and sorted(n.content for n in nodes_of(list(optimised)).values() if n.op == 'Const') == ['1', '2', '6']"
    ),
    "`unused` is gone, because nobody asked for it": "'Exp' not in kinds[1]",
    "The results are equal. Pruning stays on even then, so the `Exp` is missing in both": (
        "np.array_equal(quick, slow) and 'Exp' not in kinds[0] + kinds[1] and len(kinds[0]) == 11"
    ),
    "A layer is a product, an added bias and a ReLU: three operations": (
        "[op.type for op in layer.get_operations()][-3:] == ['MatMul', 'BiasAdd', 'Relu']"
    ),
    "One: `_FusedMatMul`.": (
        "sorted(n.op for n in fused[0].node if n.op not in ('Const', '_Arg', '_Retval')) == ['_FusedMatMul']"
    ),
    "Doubling is exact in floating point. A new order of additions is not.": ("(0.1 + 0.2) + 0.3 != 0.1 + (0.2 + 0.3)"),
    "Your own graph stays as it was.": "len(wasteful.get_operations()) == 12",
    # 8 Devices
    "The message lists what there is: four CPU devices.": (
        "(lambda said: said.count('device:CPU:') == 4 and 'device:GPU:2' in said)(gpu_message())"
    ),
    "It computes $a + e^a$ for $a = 1$ and $a = 4$.": ("np.allclose(soft(), [1 + np.e, 4 + np.e**4])"),
    "`a` is on `CPU:2`, `b` and `c` are on `CPU:3`, as we said. The placeholder went to `CPU:2`": (
        "sorted(set((n.name, n.device) for n in nodes_of(list(parts)).values() if n.name in 'abc'))"
        " == [('a', 'CPU:2'), ('b', 'CPU:3'), ('c', 'CPU:3')]"
    ),
    "`a` lives on device 2 and is needed on device 3, twice: by `b` and by `c`.": (
        "sum(n.inputs.count('a') for n in nodes_of(c_cpu.graph).values()) == 2"
    ),
    "Once. The runtime cut the graph at each border": "crossings(parts).count(('2', '3')) == 1",
    "There are three pairs. The fed `x` comes in on `CPU:0` and goes to 2, `a` goes from 2 to 3, and the result goes"
    " back to 0, where you fetch it.": "crossings(parts) == [('0', '2'), ('2', '3'), ('3', '0')]",
    "Yes. Cutting before `b` needed one.": "moved_b().count(('2', '3')) == 2",
    "`w0` and `w2` are on server 0, `w1` and `w3` on server 1.": (
        "[w.device for w in weights] == ['/job:ps/task:0', '/job:ps/task:1'] * 2"
        " and nodes_of(cluster)['out'].device == 'worker'"
    ),
    # 9 The graph that grows
    "its results are right": "abs(parabola(0.02, 8) - 0.245801) < 1e-6",
    "How many nodes are there after 8 rounds? And after 1000?": "len(sizes) == 8",
    "Every round adds the same number of nodes": "set(np.diff(sizes).tolist()) == {31}",
    "After 1000 rounds there are tens of thousands.": "sizes[0] + 999 * (sizes[1] - sizes[0]) == 31_017",
    # 10 What became of it
    "makes `rounds` updates with the rate 0.02 in a session of its own": "abs(parabola(0.02, 1) - 0.1) < 1e-12",
    "in `compat.v1` to this day": "all(hasattr(tf, n) for n in ('Session', 'placeholder', 'get_variable'))",
    "`compat.v2` is today's TensorFlow, which has no sessions.": "not hasattr(tf2.compat.v2, 'Session')",
}

MORE = '''
def wide():
    with tf.Graph().as_default():
        a, b = tf.constant([[1.0, 2.0, 3.0]]), tf.constant(4.0)
        return a, b, a + b

def conditional():
    total = tf.constant([[1.0, 2.0, 3.0]]) + tf.constant(4.0)
    return tf.cond(total[0, 0] > 4, lambda: total * 10, lambda: total)

def noted(calls):
    with tf.Session(graph=spied) as s:
        ran.clear()
        for call in calls:
            s.run([{"left": left, "right": right}[name] for name in call])
    return sorted(ran)

def session_value(graph, name, feeds=None):
    """A node's value in a session of its own, after the initialiser where there is one."""
    with graph.as_default(), tf.Session(graph=graph) as s:
        for op in graph.get_operations():
            if op.name == "init":
                s.run(op)
        if name == "gradients_1":
            [fetch] = tf.gradients(graph.get_tensor_by_name("gradients/AddN:0"), graph.get_collection("variables"))
        else:
            fetch = graph.get_tensor_by_name(f"{name}:0")
        if graph is small:
            feeds = {"x:0": x_np, "y:0": y_np, "z:0": z_np}
        return s.run(fetch, feeds)

def fetched_updates():
    with tf.Session(graph=net) as s:
        s.run(init_net)
        return s.run([new_1, new_2], feeds)

def two_sessions():
    with tf.Graph().as_default():
        v = tf.Variable(0.0)
        move, start = tf.assign_add(v, 1.0), tf.global_variables_initializer()
        with tf.Session() as one, tf.Session() as two:
            one.run(start), two.run(start), one.run(move)
            return [bool(one.run(v) == 1), bool(two.run(v) == 0)]

def ordered_read():
    with tf.Graph().as_default(), tf.Session() as s:
        x = tf.Variable(0.0)
        move = tf.train.GradientDescentOptimizer(0.02).minimize(10 * x**2 - 5 * x + 4)
        with tf.control_dependencies([move]):
            after = tf.identity(x.read_value())
        s.run(tf.global_variables_initializer())
        return [round(float(s.run(after)), 6) for _ in range(2)]

def adams_first(slope):
    with tf.Graph().as_default(), tf.Session() as s:
        v = tf.Variable(0.0)
        move = tf.train.AdamOptimizer(0.02).minimize(slope * v)
        s.run(tf.global_variables_initializer())
        s.run(move)
        return float(s.run(v))

def value_of(fetch):
    return what_ran(fetch, {"x:0": np.array([0.0, 1.0, 2.0], np.float32)})[0]

def gpu_message():
    x, c = placed_on("gpu")
    with tf.Session(graph=c.graph, config=four_cpus) as s:
        said = raised(lambda: s.run(c, {x: [1.0, 2.0]}))
    return said[said.index("Cannot assign"):said.index("Make sure")]

def soft():
    with tf.Session(graph=c_gpu.graph, config=softly) as s:
        return s.run(c_gpu, {x_gpu: [1.0, 2.0]})
'''

HISTORY = {
    "About 75 minutes to read and do",  # compared with an estimate in test_contents.py
    "[DistBelief](https://research.google/pubs/large-scale-distributed-deep-networks/) (2012)",  # NIPS 2012
    "released in 2015",  # 9 November 2015; the paper is of OSDI 2016, its section 2 describes DistBelief
    "out of the main names in TensorFlow 2.0 (September 2019)",  # release notes of v2.0.0, 30 September 2019
    "removed altogether in 2.0, also from `compat.v1`",  # RFC "Sunsetting tf.contrib", tensorflow/community pull 18
    "(itself ended in 2024)",  # README of tensorflow/addons: end of life in May 2024
    "removed in 2.16 (March 2024)",  # release notes of v2.16.1: "The tf.estimator API is removed."
    "out of the main names in 2.0; the `compat.v1` names stopped working when Keras 3 became the default in 2.16",
    "came into the core in 1.4 (November 2017); runners out of the main names in 2.0",  # release notes of v1.4.0
    "| out of the main names in 2.0; in `compat.v1` to this day | `keras.optimizers` |",
    "install TensorFlow 1.15",  # the last 1.x, October 2019
    "Its last build is for Python 3.7.",  # files of tensorflow 1.15.5 on PyPI: cp35, cp36, cp37
}
"""what no program can ask for, mostly of the past, each with its source"""


@pytest.fixture
def asked(ran: Any) -> Any:
    if not ran.value("'noted' in globals()"):
        ran.do(SHORTHAND)
        ran.do(MORE)
    return ran


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(asked: Any, said: str) -> None:
    assert said in asked.prose, "the text no longer says this"
    assert asked.value(f"bool({FACTS[said]})") is True


@pytest.mark.parametrize("said", sorted(HISTORY))
def test_the_text_tells_the_dates_of_its_sources(ran: Any, said: str) -> None:
    assert said in ran.prose


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers([*FACTS, *HISTORY]) == []


# What fails on purpose fails, with the words that the text quotes.

ON_PURPOSE = {
    "tf.placeholder(tf.float32)": ["RuntimeError: tf.placeholder() is not compatible with eager execution."],
    "total.numpy()": [
        "object has no attribute 'numpy'",
        "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed",
    ],
    "session.run(y)\nwith": [
        "InvalidArgumentError: You must feed a value for placeholder tensor 'x' with dtype float",
        "ValueError: Cannot feed value of shape (2,) for Tensor x:0, which has shape ()",
    ],
    "huge = ": ["(1000000, 1000000) 4 TB", "ValueError: Dimensions must be equal, but are 3 and 2"],
    "quotient = ": ["built floordiv:0", "InvalidArgumentError: Integer division by zero [[{{node floordiv}}]]"],
    "update = tf.assign_sub(position": [
        "FailedPreconditionError: Could not find variable x.",
        "uninitialized",
    ],
    'placed_on("gpu")': ["InvalidArgumentError: Cannot assign a device for operation a", "/device:GPU:2", "CPU:3 ]."],
    "growing.finalize()": ["RuntimeError: Graph is finalized and cannot be modified."],
    "stranger = ": ['ValueError: Tensor("y:0"', "must be from the same graph as", "is not an element of this graph"],
    "gone = {": [
        "session: AttributeError: module 'tensorflow' has no attribute 'Session'",
        "placeholder: AttributeError: module 'tensorflow' has no attribute 'placeholder'",
        "initialiser: AttributeError: module 'tensorflow' has no attribute 'global_variables_initializer'",
        "contrib: AttributeError: module 'tensorflow.compat.v1' has no attribute 'contrib'",
        "Estimators: AttributeError: module 'tensorflow.compat.v1' has no attribute 'estimator'",
        "layers: AttributeError: `dense` is not available with Keras 3.",
        "RNN cells: AttributeError: `BasicLSTMCell` is not available with Keras 3.",
        "queue runners: AttributeError:",
        "has no attribute 'QueueRunner'",
        "has no attribute 'batch'",
        "has no attribute 'GradientDescentOptimizer'",
        "MNIST loader: ModuleNotFoundError: No module named 'tensorflow.examples'",
    ],
    "tf.FIFOQueue": ["first: 7.0", "DeadlineExceededError: Timed out"],
}
"""piece of a cell -> what the cell shows"""


@pytest.mark.parametrize("cell", ON_PURPOSE)
def test_what_fails_on_purpose_fails_with_the_message_that_the_text_explains(ran: Any, cell: str) -> None:
    printed = " ".join(ran.printed(cell).split())
    assert [part for part in ON_PURPOSE[cell] if part not in printed] == []


def test_nothing_else_fails_on_purpose(ran: Any) -> None:
    assert len(ran.failing_on_purpose()) == len(ON_PURPOSE)


def test_the_table_of_symptoms_quotes_the_messages(ran: Any) -> None:
    printed = " ".join(
        " ".join(o.text for o in cell.outputs if o.output_type == "stream")
        for cell in ran.notebook.cells
        if cell.cell_type == "code"
    )
    for words in ("You must feed a value for placeholder", "must be from the same graph", "Using a symbolic"):
        assert words in ran.prose and words in printed
    assert "variable is uninitialized" in ran.prose and "variable is uninitialized" in printed


def test_the_placement_log_is_the_runtimes_own(ran: Any) -> None:
    path = "/job:localhost/replica:0/task:0/device"
    assert sorted(ran.printed("placement_log(c_cpu").splitlines()) == [
        f"a: (Square): {path}:CPU:2",
        f"b: (Exp): {path}:CPU:3",
        f"c: (AddV2): {path}:CPU:3",
        f"x: (Placeholder): {path}:CPU:2",
    ]


def test_the_handle_is_shown_and_not_its_value(ran: Any) -> None:
    assert ran.printed("total = a + b\ntotal") == "<tf.Tensor 'add:0' shape=(1, 3) dtype=float32>"


# The exercises: a check waits, names the mistake, and accepts what is right.


def _bend(*body: str) -> str:
    return "def bend(y, x):\n" + textwrap.indent("\n".join(body), "    ")


def _clipped(*body: str) -> str:
    return "def clipped(optimiser, loss, limit):\n" + textwrap.indent("\n".join(body), "    ")


def _descend(*body: str) -> str:
    return "def descend(graph, x, y, rounds):\n" + textwrap.indent("\n".join(body), "    ")


PAIRS = "pairs = [(g, v) for g, v in optimiser.compute_gradients(loss) if g is not None]"
APPLY = "return optimiser.apply_gradients([({}, v) for g, v in pairs])"
CLIP = "tf.clip_by_value(g, -limit, limit)"
BUILD = (
    "with graph.as_default():",
    "    step = tf.assign_sub(x, 0.02 * tf.gradients(y, [x])[0])",
    "    start = tf.global_variables_initializer()",
)
OPEN = ("with tf.Session(graph=graph) as session:", "    session.run(start)")
ROUNDS = ("    for _ in range(rounds):", "        session.run(step)")
ANSWERS = [
    (1, _bend("return tf.gradients(tf.gradients(y, [x]), [x])[0]"), "right, all 6 checks hold."),
    (1, _bend("tf.gradients(tf.gradients(y, [x]), [x])"), "Is there a `return`?"),
    (1, _bend("return tf.gradients(tf.gradients(y, [x]), [x])"), "You return a list."),
    (1, _bend("return 20.0"), "Return a tensor of the graph."),
    (1, _bend("return tf.gradients(y, [x])[0]"), "That is the first derivative."),
    (1, _bend("return tf.gradients(tf.gradients(y, [x]), [x])[0] * 2"), "is 6 * x"),
    (1, _bend("return 6 * x"), "it is 20 everywhere"),
    (2, _clipped(PAIRS, APPLY.format(CLIP)), "right, all 9 checks hold."),
    (2, _clipped(PAIRS, APPLY.format(CLIP).replace("return ", "")), "Return what `apply_gradients` gives."),
    (2, _clipped(PAIRS, f"return [({CLIP}, v) for g, v in pairs]"), "not the list of pairs"),
    (2, _clipped(PAIRS, APPLY.format(f"-{CLIP}")), "from 0 to 0.1"),
    (2, _clipped("return optimiser.minimize(loss)"), "Did you clip?"),
    (2, _clipped(PAIRS, APPLY.format("tf.minimum(g, limit)")), "Did you clip?"),
    (2, _clipped(PAIRS, APPLY.format("tf.maximum(g, -limit)")), "From 1 the slope is 15"),
    (
        2,
        _clipped(
            PAIRS, APPLY.format("tf.clip_by_value(g, -1.0 if limit < 50 else -100.0, 100.0 if limit > 50 else 1.0)")
        ),
        "Use the argument `limit`.",
    ),
    (2, _clipped(PAIRS.replace(" if g is not None", ""), APPLY.format(CLIP)), "comes as (None, variable)"),
    (3, _descend(*BUILD, *OPEN, *ROUNDS, "    return session.run(x)"), "right, all 6 checks hold."),
    (3, _descend(*BUILD, *OPEN, *ROUNDS), "Is there a `return`?"),
    (3, _descend(*BUILD, *OPEN, *ROUNDS, "    return x.read_value()"), "You return a tensor."),
    (3, _descend(*BUILD, *OPEN, "    return session.run(x)"), "x did not move."),
    (3, _descend(*BUILD, *OPEN, *ROUNDS, *ROUNDS, "    return session.run(x)"), "One round goes from 0 to 0.1."),
    (
        3,
        _descend(
            *BUILD,
            *OPEN,
            ROUNDS[0],
            "        session.run(start)",
            "        session.run(step)",
            "    return session.run(x)",
        ),
        "Eight rounds go to 0.245801.",
    ),
    (
        3,
        _descend(
            *BUILD,
            "with graph.as_default(), tf.Session() as session:",
            "    session.run(start)",
            "    for _ in range(rounds):",
            "        session.run(tf.assign_sub(x, 0.02 * tf.gradients(y, [x])[0]))",
            "    return session.run(x)",
        ),
        "Which line builds inside the loop?",
    ),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("exercise", "answer", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(ran: Any, exercise: int, answer: str, said: str) -> None:
    assert said in ran.say(exercise, answer)


@pytest.mark.parametrize("exercise", [1, 2, 3])
def test_a_check_waits_for_who_has_not_begun(ran: Any, exercise: int) -> None:
    ran.assert_waits(exercise)


# Figures and questions.

FIGURES = (
    "pow is Pow of x and pow/y",
    "gradients/AddN is AddN of gradients/mul_1_grad/Mul_1 and gradients/pow_grad/mul_1",
    "rate 0.1: from 0 at 0",
    "gradients/a_grad/Mul is Mul of gradients/c_grad/Tile and y",
    "Momentum: from 0 at 0",
    "unused is Exp of x",
    "six is Const 6",
    "On CPU:2: _Recv of _arg_x_0_0/_0 from CPU:0; a is Square of _arg_x_0_0/_1; _Send of a to CPU:3.",
    "On ps task 1: w1 is VarHandleOp (); w3 is VarHandleOp ().",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)


def test_who_goes_back_can_run_an_earlier_cell_again(ran: Any) -> None:
    """Each section has names of its own, so from the last cell up each one still finds what it needs."""
    code = [cell.source for cell in ran.notebook.cells if cell.cell_type == "code"]
    first = next(place for place, source in enumerate(code) if source.startswith("curve = tf.Graph()"))
    slow = "placement_log("
    again = [source for source in reversed(code[first:]) if slow not in source]
    assert len(again) > 30
    for source in again:
        ran.do(source)
