"""Lecture 15 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. Nothing is asserted about times. What several processes do is asked of the
results that the lecture kept; `course_lib.distributed` has tests of its own.
"""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/15_distributed_training.ipynb"], indirect=True)

FACTS = {
    # 1 Two halves of a batch
    "the 1500 training digits, 64 numbers each": "x.shape == (1500, 64)",
    "one array of shape (65, 10)": "start.shape == (65, 10)",
    "That makes 650 numbers": "start.size == 650",
    "The slope of the loss along score $i$ is $p_i$; for the right class it is $p_c - 1$": (
        "abs(slope - exchange.softmax_gradient(start, x, y)[20, 3]) < 1e-9 and abs(slope) > 1e-3"
    ),
    "A batch of 64 is cut into two halves": "BATCH == 64 and off(halves, whole) < 1e-15",
    "Nearly. The loss is a mean over examples": "not np.array_equal(halves, whole) and off(halves, whole) < 1e-15",
    "1e-12 for float64, 1e-5 for float32": (
        "max(off(w, alone) for name, w in ways.items() if 'float32' not in name) < 1e-12"
        " and 1e-12 < off(ways['DDP in float32'], alone) < 1e-5"
    ),
    "Now cut the 64 images into 48 and 16": "off(plain, whole) > 0.01 and off(weighted, whole) < 1e-15",
    "The 16: in the plain mean each of them weighs as much as three of the others": "(1 / 16) / (1 / 48) == 3",
    "20 steps along batches of 64": (
        "(STEPS, BATCH) == (20, 64) and off(exchange.train_alone(start, x, y, 0.5, 64, 20), alone) == 0"
    ),
    # 2 Processes and wires
    "the sum 11, 22. Each worker sent 16 bytes: two numbers of 8 bytes. The server received and sent 32": (
        "np.add(*numbers).tolist() == [11, 22] and np.zeros(2).nbytes == 16"
    ),
    # 3 The parameter server
    "650 numbers of 8 bytes, 5200 bytes.": "start.nbytes == 5200",
    "How many bytes does the server send to its two workers in 20 steps?": "len(served) - 1 == 2 and STEPS == 20",
    "208,000 bytes out, and as many in: two workers, times 5200, times 20 steps": (
        "(served[0].sent, served[0].received) == (208_000, 208_000) and 2 * 5200 * 20 == 208_000"
    ),
    "A worker sends one gradient and receives one set of weights": (
        "[(w.sent, w.received) for w in served[1:]] == [(104_000, 104_000)] * 2"
    ),
    # 4 The ring
    "9 is $2^0 + 2^3$, so it holds the numbers of 0 and 3": "9 == 2**0 + 2**3",
    'After step 1, process 0 holds in chunk 3 the numbers of 0 and 3: "03"': "histories[0][1][3] == 2**0 + 2**3",
    'After step 3, each process has one chunk that says "all"': (
        "[int((h[3] == 15).sum()) for h in histories] == [1, 1, 1, 1]"
        " and max(int((h[2] == 15).sum()) for h in histories) == 0"
    ),
    "Three more steps hand the four complete chunks round": (
        "len(histories[0]) == 7 and all((h[6] == 15).all() for h in histories)"
    ),
    "With two workers, each sends 104,000 bytes: $S = 5200$, times 20 steps": (
        "[(w.sent, w.received) for w in ring] == [(104_000, 104_000)] * 2"
    ),
    "For a thousand workers the formula gives $1.998\\,S$": "2 * 999 / 1000 == 1.998",
    "The replicas never compare their weights": "np.array_equal(ring[0].value, ring[1].value)",
    "An array of 1200 numbers has 9600 bytes": "np.zeros(1200).nbytes == 9600 and all(len(a) == 1200 for a in arrays)",
    "Equal to the formulas, byte for byte: $nS$ and $2(n-1)S/n$": (
        "busiest == {'server': [n * 9600 for n in (2, 3, 4)], 'ring': [2 * (n - 1) * 9600 // n for n in (2, 3, 4)]}"
    ),
    # 5 Waiting, or not
    "plus a random delay of 0.2 seconds on average": "abs(waits.mean() - 1.2) < 0.005",
    "From 1.20 s to 1.95 s": ("(f'{waits[:, :1].mean():.2f}', f'{waits.max(axis=1).mean():.2f}') == ('1.20', '1.95')"),
    "With 64 of them, one is nearly always unlucky": "waits.shape[1] == 64",
    "Worker 2 rests 30 ms in each step, worker 1 rests 5.": "len(turns) == 60 and set(turns) <= {1, 2}",
    "With $n$ workers each gradient is then $n - 1$ updates old": "staleness[7:] == [7] * 53",
    "Batches of 16 and a rate of 0.5, for 1, 4 and 8 workers. All make 60 updates": (
        "[len(losses) for losses in stale.values()] == [61] * 4"
    ),
    "(The fourth curve has 8 workers and the rate 0.1.)": "list(stale)[3] == 'staleness 7, rate 0.1'",
    "One worker: the loss falls to 0.57": "round(stale['staleness 0'][-1], 2) == 0.57",
    "Four: it falls and rises in turn": (
        "(np.diff(stale['staleness 3']) > 0).sum() > 10 and stale['staleness 3'][-1] < 1.2"
    ),
    "Eight: it ends *above* where it started": "stale['staleness 7'][-1] > stale['staleness 7'][0]",
    "With a fifth of the rate, eight workers learn again, slowly": (
        "stale['staleness 0'][-1] < stale['staleness 7, rate 0.1'][-1] < 1.5 and 0.5 / 5 == 0.1"
    ),
    # 6 DistributedDataParallel
    "a fixed port such as 29500": ("'29500' in inspect.getsource(__import__('torch.distributed.run').distributed.run)"),
    "and after 20 steps, are their weights equal? And whose start counts?": (
        "np.array_equal(first['float64'][2], second['float64'][2])"
    ),
    "DDP sends the weights of process 0 to all, when it wraps": (
        "not np.array_equal(first['float64'][0], second['float64'][0])"
        " and np.array_equal(first['float64'][1], start) and np.array_equal(second['float64'][1], start)"
    ),
    "the replicas agree to the last bit. Are they *right*?": (
        "all(np.array_equal(first[kind][2], second[kind][2]) for kind in ('float64', 'float32'))"
    ),
    "about 1e-16 in float64, 1e-7 in float32": (
        "0 < differences[torch.float64, 1] < 1e-15 and 1e-9 < differences[torch.float32, 1] < 1e-6"
    ),
    "one process adds 64 terms in one go and the others add two sums of 32": "BATCH == 64",
    "Give the one process the same order, and not a bit differs": (
        "differences[torch.float64, 2] == 0 and differences[torch.float32, 2] == 0"
    ),
    "Four sums of 16 are added in another order than two sums of 32": "4 * 16 == 2 * 32 == BATCH",
    "Each has 16 images, but the average is over all 64": "64 / 4 == 16",
    "a network of eight layers of 65,536 bytes each": "first['25 MB'][0] == [65_536] * 8",
    "With PyTorch's own 25 MB, all eight go in one message": "first['25 MB'][1] == [8 * 65_536]",
    "With buckets of 0.15 MB there are three messages; the first starts when three gradients are there": (
        "len(first['0.15 MB'][1]) == 3 and first['0.15 MB'][1][0] == 3 * 65_536"
        " and 2 * 65_536 < 0.15 * 2**20 < 3 * 65_536"
    ),
    "Three each, which makes twelve: images 0 and 1 were dealt twice": (
        "[len(s) for s in shares(10, 4)] == [3] * 4 and [i for i in range(10) if dealt.count(i) == 2] == [0, 1]"
    ),
    "0.900 became 0.833": "(f'{right.mean():.3f}', f'{right[dealt].mean():.3f}') == ('0.900', '0.833')",
    # 7 Where DDP goes wrong
    "They differ after 20 steps exactly as much as before": "abs(np.abs(made).max() - np.abs(trained).max()) < 1e-12",
    "With one seed the two shares are disjoint and cover all": "sorted(sum(shares(8, 2), [])) == list(range(8))",
    "With two seeds, each rank deals from an order of its own: some images come twice and some never": (
        "len(set(sum(shares(8, 2, seeds=(0, 1)), []))) < 8"
    ),
    "Without `set_epoch` the sampler shuffles from the same seed in each epoch": (
        "shares(8, 2) == shares(8, 2, epoch=0) != shares(8, 2, epoch=1) != shares(8, 2, epoch=2)"
    ),
    "if one has 48 images and the other 16": (
        "off(found[0]['plain'], joint) > 0.01 and off(found[0]['weighted'], joint) < 1e-15"
    ),
    "The error appears in the *second* pass": "[values['two heads'] for values in found] == [2, 2]",
    "Process 0 gets the values 0 and 2, process 1 gets 10 and 14": (
        "[p.ravel().tolist() for p in parts] == [[0, 2], [10, 14]]"
    ),
    "The mean of all four is 6.5": "np.vstack(parts).mean() == 6.5",
    "the mean of its own part, 1 and 12": "[p.mean() for p in parts] == [1, 12]",
    "So 0 becomes -1.000 here, and -1.136 in one process that has all four": (
        "f\"{found[0]['batch norm']['first result'][0]:.3f}\" == '-1.000' and f'{first_joined:.3f}' == '-1.136'"
    ),
    "After one pass the running means are 0.1 and 1.2": (
        "np.allclose([values['batch norm']['running mean'][0] for values in found], [0.1, 1.2])"
    ),
    "goes on from 0.1 and arrives at 0.9 · 0.1 + 1.2 = 1.29": (
        "np.allclose([found[1]['batch norm']['running mean'][1], 0.9 * 0.1 + 1.2], 1.29)"
    ),
    "`SyncBatchNorm`, exchanges the statistics, but refuses tensors on a CPU": "'to be on GPU' in refusal()",
    # 8 Large batches
    "Two processes, a batch of 64, four pieces each": "pieces['pieces'] == 4 and len(pieces['x']) == 64",
    "Four times too large": (
        "off(accumulated['as it should be'][0], joint) < 1e-15"
        " and off(accumulated['not divided'][0], 4 * joint) < 1e-15"
    ),
    "the result is right, but four messages of 5200 bytes cross the wire instead of one": (
        "off(accumulated['without no_sync'][0], joint) < 1e-15"
        " and [exchanged for _, exchanged in accumulated.values()] == [[5200], [5200], [5200] * 4]"
    ),
    "Eight workers with 16 images each make batches of 128": "8 * 16 == 128",
    "Four runs over 6144 images: batch 16 at 0.1; batch 128 at 0.1 and at 0.8; batch 1024 at 6.4": (
        "list(large_batches) == ['16 at 0.1', '128 at 0.1', '128 at 0.8', '1024 at 6.4']"
        " and 6 * 1024 == 6144 and [len(v) for v in large_batches.values()] == [7] * 4"
        " and np.isclose(6.4 / 1024, 0.1 / 16) and np.isclose(0.8 / 128, 0.1 / 16)"
    ),
    "Batch 128 at 0.8 follows batch 16 at 0.1, within 0.02": (
        "off(np.array(large_batches['16 at 0.1']), np.array(large_batches['128 at 0.8'])) < 0.02"
    ),
    "At 0.1 it learns far more slowly. Batch 1024 at 6.4 rises instead": (
        "large_batches['128 at 0.1'][-1] > 1.5 and large_batches['1024 at 6.4'][-1] > large_batches['1024 at 6.4'][0]"
    ),
    # 9 MirroredStrategy
    "it **sums** the gradients over the replicas. DDP takes their **mean**": "off(by_mean, double_rate) < 1e-12",
    "Equal to training alone, with the two copies equal to the last bit": (
        "off(mirrored, alone) < 1e-12 and np.array_equal(*copies)"
    ),
    "With `reduce_mean`, two replicas act like twice the rate": (
        "off(by_mean, alone) > 0.1 and off(by_mean, double_rate) < 1e-12"
    ),
    "Keras's `fit` does the division for you": "off(fitted, alone) < 1e-12",
    "after 20 steps from the same weights": "STEPS == 20",
    "Six ways, one network: below 1e-12 in float64, and below 1e-5 in float32": (
        "sum(off(w, alone) < 1e-12 for w in ways.values()) == 6 and len(ways) == 7"
        " and off(ways['DDP in float32'], alone) < 1e-5"
    ),
    'Not synchronised: -1.000 again, and the "mirrored" moving means are 0.1 and 1.2': (
        "np.allclose(apart_norm[0][0], -1, atol=5e-4) and np.allclose(apart_norm[1], [0.1, 1.2])"
    ),
    "Synchronised: -1.136 and 0.65, as in one process": (
        "round(joint_norm[0][0], 3) == round(first_joined, 3) == -1.136"
        " and np.allclose([*joint_norm[1], joined.running_mean.item()], 0.65)"
    ),
    # 10 How far does it scale?
    "a wire of 10 Gbit/s, which is 1.25 GB/s": "10 / 8 == 1.25 and wire == 1.25e9 and C == 1",
    "102 MB for ResNet-50": "round(S / 1e6) == 102 and S == 4 * models.ResNet50_Weights.DEFAULT.meta['num_params']",
    "With gradients of $S$ bytes and wires of $B$ bytes per second": "n[-1] == 64",
    "We take a ResNet-50 with float32 gradients": "torch.float32.itemsize == 4",
    "AlexNet sends over ten times as much per multiplication as ResNet-50": (
        "ratio['AlexNet'] > 10 * ratio['ResNet-50']"
    ),
    "The figure draws it for $s$ = 5 %": "round(speedup['5 % cannot be divided'][-1], 1) == 15.4",
    "Only 5 % that cannot be divided, and 64 workers are 15 times as fast": "round(1 / (0.05 + 0.95 / 64)) == 15",
    "64 workers. How fast is the ring: about 60, 30, 6 times one worker?": "round(speedup['ring'][-1]) == 6",
    "The ring reaches 5.7 with 64 workers, and can never pass 6.1: to send 102 MB almost twice takes 0.16 s": (
        "(round(speedup['ring'][-1], 1), round(C / (2 * S / wire), 1), round(2 * S / wire, 2)) == (5.7, 6.1, 0.16)"
    ),
    "The server is best with 2 or 4 workers, and worse than a *single* worker from 8 on": (
        "set(np.argsort(speedup['server'])[-2:]) == {1, 2} and (speedup['server'][:3] >= 1).all()"
        " and (speedup['server'][3:] < 1).all()"
    ),
    "fewer bytes (16-bit gradients)": "torch.bfloat16.itemsize == 2",
    "55 times with 64 workers, over the same wire": "round(weak[-1]) == 55 and n[-1] == 64",
    "A step of one worker has 0.1 s of computing and 0.1 s of ring communication": "max(0.1, 0.1 / 2) == 0.1",
    "A · 0.15 s": "abs(0.1 + 0.1 / 2 - 0.15) < 1e-12",
    "That is without overlap: 0.1 + 0.05.": "0.1 / 2 == 0.05",
    "B · 0.1 s": "max(0.1, 0.05) == 0.1",
    "The 0.05 s of sending pass while the worker computes": "0.05 < 0.1",
    "C · 0.05 s": "0.1 / 2 == 0.05",
    'a "step" of 40 matrix products': "products == 40",
    # 11 Other ways to share
    "16 bytes per weight: 2 for the weight, 2 for its gradient, 12 for Adam's two moments and a float32 copy": (
        "2 + 2 + 3 * torch.float32.itemsize == 16"
    ),
    "A network of 7.5 billion weights then needs 120 GB, and no single GPU of 80 GB holds it": (
        "memory['everything on each'] == 7.5 * 16 == 120 > 80"
    ),
    "Four processes, 840 weights, five steps.": "gradients.shape == (4, 5, 840)",
    "The same weights, a quarter of the state, the same bytes": (
        "all(np.array_equal(a.value[0], b.value[0]) and a.sent == b.sent and a.value[1] == 4 * b.value[1]"
        " for a, b in zip(full, shared))"
    ),
    "From 120 GB to 1.9 GB. The line marks 80 GB": "[round(v, 1) for v in memory.values()] == [120.0, 31.4, 16.6, 1.9]",
    "Two devices hold five of the ten columns each": (
        "low.device.endswith('CPU:0') and high.device.endswith('CPU:1') and low.shape == high.shape == (4, 5)"
        " and off(together.numpy(), x[:4] @ start[:64]) < 1e-12"
    ),
    "of all: 33 % in the figure. With one piece, three of four stages always wait: 75 %. With 32 pieces it is 9 %": (
        "[round(100 * 3 / (m + 3)) for m in (6, 1, 32)] == [33, 75, 9]"
    ),
    "Its documentation advises DDP even on one machine": (
        "'recommended to use :class:`~torch.nn.parallel.DistributedDataParallel`' in nn.DataParallel.__doc__"
        " and 'only a single' in ' '.join(nn.DataParallel.__doc__.split())"
    ),
    "`tf.distribute.ParameterServerStrategy`": "hasattr(tf.distribute, 'ParameterServerStrategy')",
    "`MirroredStrategy`, `MultiWorkerMirroredStrategy`": "hasattr(tf.distribute, 'MultiWorkerMirroredStrategy')",
    "in `torch.distributed.fsdp` the function is `fully_shard`": (
        "hasattr(__import__('torch.distributed.fsdp').distributed.fsdp, 'fully_shard')"
    ),
    "eight GPUs of 24 GB. Activations need 4 GB": "16 + 4 < 24",
    "A · FSDP: 16 bytes times a billion do not fit": "2 + 2 + 12 == 16",
    "They do: 16 GB and 4 GB are 20 GB": "16 + 4 == 20",
    "16 GB for weights, gradients and state, and 4 GB for activations, fit into 24 GB": "20 < 24",
    # Exercises
}
STATED = {
    "It works for 100 numbers": "a wrong answer",
    "(Dean and others, 2012, below)": "Large scale distributed deep networks, NIPS 2012",
    "lecture 10 draws a graph whose variables alternate between two servers": "a test below looks there",
    "the latest release in the Python Package Index, 0.28.1, is of June 2023": (
        "`pip index versions horovod`; github.com/horovod/horovod/pull/3942 is of 7 June 2023"
    ),
    "give eight workers the rate 0.2 and then 0.3": "what the reader is asked to try",
    "let a GPU compute ten times as fast ($C$ = 0.1 s)": "what the reader is asked to try",
}
"""what stands in the text and is nothing to compute -> why, or its source"""

MADE_IN_CODE = ("It takes fewer than 30 lines", "Fewer than 30 lines. To watch it", "About 90 minutes to read and do")
"""asked by tests of their own, here and in test_contents.py"""

SHORTHAND = """
if "apart_norm" not in globals():
    apart_norm, joint_norm = mirrored_norm(False), mirrored_norm(True)


def off(one, other):
    return float(np.abs(one - other).max())


def refusal():
    try:
        with replicas.group(0, {}):
            nn.SyncBatchNorm(1)(torch.ones(4, 1))
    except ValueError as error:
        return str(error)
    return "none"
"""
"""names for the facts above, made in the lecture's kernel after its last cell"""


@pytest.fixture
def shorthand(ran: Any) -> None:
    ran.do(SHORTHAND)


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(ran: Any, shorthand: None, said: str) -> None:
    assert said in ran.prose, "the text no longer says this"
    assert ran.value(f"bool({FACTS[said]})") is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers([*FACTS, *MADE_IN_CODE], STATED) == []


# What the cells print is part of the lesson.

PRINTED = [
    ("server_sum)", ["process 0: Outcome(value=array([11., 22.]), sent=32, received=32)", "sent=16, received=16"]),
    ("def hello(", ["process 0 raised AttributeError: Can't get attribute 'hello'"]),
    ("everyone_sends_first", ["100 numbers: [100, 100]", "TimeoutError: process 0, 1: not done within 3 s, and ended"]),
    ("dict(find=False)", ["process 0 raised RuntimeError: Expected to have finished reduction", "True: [2, 2]"]),
]


@pytest.mark.parametrize(("inside", "said"), PRINTED, ids=[inside for inside, _ in PRINTED])
def test_a_cell_prints_what_the_text_reads(ran: Any, inside: str, said: list[str]) -> None:
    printed = " ".join(ran.printed(inside).split())
    assert [part for part in said if part not in printed] == []


def test_the_server_and_the_ring_take_fewer_than_thirty_lines_each(ran: Any) -> None:
    assert all(said in ran.prose for said in MADE_IN_CODE)
    ran.do(
        "def lines_of(*functions):\n"
        "    return sum(bool(line.strip()) for f in functions for line in inspect.getsource(f).splitlines())"
    )
    assert ran.value("lines_of(exchange.serve, exchange.train_by_server)") < 30
    assert (
        ran.value("lines_of(exchange.swap, exchange.reduce_scatter, exchange.all_gather, exchange.ring_all_reduce)")
        < 30
    )


def test_lecture_10_draws_what_this_one_sends_the_reader_to(ran: Any) -> None:
    other = (ran.path.parent / "10_tensorflow_static_graphs.ipynb").read_text(encoding="utf-8")
    assert "replica_device_setter(ps_tasks=2)" in other


def test_no_process_outlives_its_cell(ran: Any) -> None:
    assert ran.value("__import__('multiprocessing').active_children()") == []


def test_tensorflow_exchanges_by_a_ring_as_the_text_reads(ran: Any) -> None:
    said = ran.printed("def train_mirrored(")
    assert "Collective all_reduce tensors: 2 all_reduces" in said and "RING" in said


RIGHT = (
    "def ring_bytes(n, size):\n    return 2 * (n - 1) * size * 8 // n\n"
    "def server_bytes(n, size):\n    return n * size * 8",
    "def factors(counts):\n    return [len(counts) * k / sum(counts) for k in counts]",
    "def deal(count, ranks, rank):\n    return list(range(rank, count, ranks))",
)
ANSWERS = [
    (1, RIGHT[0], "right, all 3 checks hold."),
    (1, RIGHT[0].replace("2 * (n - 1) * size * 8 // n", "(n - 1) * size * 8"), "Compare with `busiest['ring']`"),
    (1, RIGHT[0].replace("return n * size", "return 2 * n * size"), "Compare with `busiest['server']`"),
    (2, RIGHT[1], "right, all 3 checks hold."),
    (2, RIGHT[1].replace("len(counts) * k", "k"), "Equal parts need no correction."),
    (2, RIGHT[1].replace("len(counts)", "2"), "must have mean 1"),
    (3, RIGHT[2], "right, all 3 checks hold."),
    (3, "def deal(count, ranks, rank):\n    return [(rank + k * ranks) % count for k in range(3)]", "exactly once"),
    (3, "def deal(count, ranks, rank):\n    return list(range(count)) if rank == 0 else []", "nearly equal"),
    (3, RIGHT[2].replace("list(range(rank, count, ranks))", "list(range(rank, count, ranks))[::-1]"), "Keep the order"),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("number", "answer", "reply"), ANSWERS)
def test_the_check_of_an_exercise_tells_right_from_wrong(ran: Any, number: int, answer: str, reply: str) -> None:
    [check] = [source for source in ran.code("check") if f'"Exercise {number}"' in source]
    ran.do(answer)
    ran.do(
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as said:\n"
        + textwrap.indent(check, "    ")
    )
    assert reply in ran.value("said.getvalue()")


def test_an_exercise_that_was_not_begun_waits(ran: Any) -> None:
    assert [ran.printed(f'"Exercise {number}"').strip() for number in (1, 2, 3)] == [
        f"Exercise {number}: waits for you." for number in (1, 2, 3)
    ]


FIGURES = (
    "Chunks that hold all contributions: 0, 0, 0, 4, 8, 12, 16.",
    "server: from 2 at 2 to 16 at 16",
    "staleness 7: from 2.35 at 0 to 4.86 at 60",
    "128 at 0.8: from 2.3 at 0 to 0.45",
    "ring: from 1 at 1 to 5.66 at 64",
    "seconds against bytes. ring of two: from",
    "ZeRO 1: state shared: 31.4",
    "a pipeline of 4 stages and 6 pieces of a batch over 18 time steps: each stage works for 12 and is idle for 6",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)
