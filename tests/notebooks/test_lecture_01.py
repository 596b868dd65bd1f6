"""Lecture 01 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Of times only
directions and orders of magnitude are asked: they are those of the machine. Years and prices are compared with a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/01_hardware_and_frameworks.ipynb"], indirect=True)

FACTS = {
    # 1 What a framework must offer
    "| 11 | little overhead |": "small[0].seconds < 1e-4 and len(offers) == 6",
    "| 10 | an installation that a non-expert survives |": (
        "offers['10 installed by'].startswith('pip install torch==')"
    ),
    "The layer maps 4 features of each of 3 examples to 2.": (
        "table.shape == (3, 4) and layer(table.float()).shape == (3, 2)"
    ),
    "The recurrent layer took 7 steps, one after the other, and kept what it had after each.": (
        "outputs.shape == (7, 1, 5) and torch.equal(outputs[-1], last[0])"
    ),
    "A slice picks rows and columns.": "table[:, ::2].tolist() == [[0, 2], [4, 6], [8, 10]]",
    "The next cell asks for points 4 to 10.": "[p.split(' ')[0] for p in offers] == ['4', '5', '6', '7,', '9', '10']",
    "Over ten algorithms, and batches of 4, 4 and 2": (
        "offers['4 training algorithms'] > 10 and {'SGD', 'Adam'} < set(algorithms) and 'Optimizer' not in algorithms"
        " and [len(batch) for batch in batches] == [4, 4, 2]"
    ),
    "Adding 1000 pairs of numbers is 1000 times the work of adding one pair.": (
        "small[1].operations == 1000 * small[0].operations"
    ),
    "about 1000 times, about 30 times, or about as long?": "small[1].seconds < 10 * small[0].seconds",
    "One call costs about a microsecond, whatever it does.": "1e-7 < small[0].seconds < 3e-5",
    "Only far beyond 1000 numbers does the work itself show.": "small[2].seconds > 5 * small[1].seconds",
    "the sums of 100,000 pairs": "len(ones) == len(loop) == call.size == 100_000 and set(loop) == {2.0}",
    "More than ten times, in the same language.": "loop_seconds > 10 * call.seconds",
    "On one CPU the two are about equally fast.": "0.1 < numpy_product_s / products[-2].seconds < 10",
    "`np.zeros((2, 3, 4, 5))` has four": "np.zeros((2, 3, 4, 5)).ndim == 4",
    # 2 Few fast cores
    "(https://www.amd.com/en/products/processors/desktops/ryzen/9000-series/amd-ryzen-9-9950x.html) (2024)": (
        "shop[-1][0] == 'Ryzen 9 9950X' and int(shop[-1][1]) == 2024 and shop[-1][3:5] == (16, 4.3)"
    ),
    "AMD Ryzen 9 9950X": "machines['CPU'] == {'cores': 16, 'GHz': 4.3}",
    "(https://www.nvidia.com/en-us/geforce/graphics-cards/50-series/rtx-5090/) (2025)": (
        "shop[4][0] == 'RTX 5090' and int(shop[4][1]) == 2025 and shop[4][3:5] == (21_760, 2.407)"
    ),
    "NVIDIA GeForce RTX 5090": "machines['GPU'] == {'cores': 21_760, 'GHz': 2.407}",
    "with 1 task? with 16? with 17? with a million?": "list(ahead) == [1, 16, 17, 1_000_000]",
    "With one task the CPU is 1.8 times faster: its clock is.": (
        "round(1 / ahead[1], 1) == 1.8 and abs(1 / ahead[1] - 4.3 / 2.407) < 1e-9"
    ),
    "At 17 tasks it needs a second round, and falls behind.": "ahead[16] == ahead[1] < 1 < ahead[17]",
    "With a million tasks the GPU is 761 times faster.": "round(ahead[1_000_000]) == 761",
    "The GPU's line is flat for a long time.": "nanoseconds('GPU', 1) == nanoseconds('GPU', 21_760)",
    "761 is too good, though.": "ahead[1_000_000] > 20 * peak['GPU'] / peak['CPU']",
    "One core of this CPU has two arithmetic units, each of which handles 16 numbers at once": (
        "wide == {'CPU': 32, 'GPU': 1}"
    ),
    "So on paper it is 24 times, not 761.": "round(peak['GPU'] / peak['CPU']) == 24",
    "the GPU leads there by a factor of 20": "round(memory['GPU'] / memory['CPU']) == 20",
    "128 numbers to fetch, if each is fetched when it is needed": "2 * 4**3 == 128",
    "It takes 10 ticks, since the last numbers enter late and have a way to go.": "ticks == 10",
    "32: each number is fetched once, and used 4 times on its way.": (
        "reads == 32 == A.size + B.size and 128 == 4 * reads and np.allclose(product, A @ B)"
    ),
    "With 256 x 256 cells each number is used 256 times.": "2 * 256**3 == 256 * (2 * 256**2)",
    "with 65,536 cells at 0.7 GHz: 92 million million operations per second": (
        "256**2 == 65_536 and round(65_536 * 2 * 0.7e9 / 1e12) == 92"
    ),
    # 3 How one programs a GPU
    "add<<<4, 256>>>(a, b, c, 1000); // 4 blocks of 256 threads": "4 * 256 >= 1000 > 3 * 256",
    "The last line starts the kernel 1024 times": "4 * 256 == 1024",
    "when 4 blocks of 256 threads add 1000 numbers": "len(a) == len(b) == len(c) == 1000",
    "4 blocks are 1024 threads, and 24 of them have no element.": "4 * 256 - len(a) == 24",
    "So the guard is needed in every kernel.": "np.array_equal(c, a + b)",
    "On NVIDIA's GPUs 32 neighbouring threads form a *warp*.": "len(x) == 32",
    "The numbers are 1, 2, ..., 32, and their sum is 528.": "x.tolist() == list(range(1, 33)) and x.sum() == 528",
    "What is `total` after the 32 threads have run?": "total[0] == 32",
    "32. Every thread read the same 0, and every one wrote 0 plus its own number; the last one won.": (
        "total[0] == x[-1]"
    ),
    "The sum is right, after 5 rounds instead of 31 steps.": "partial[0] == 528 and rounds == 5 and len(x) - 1 == 31",
    "Added in pairs they are, within 0.1 %.": "abs(float(in_pairs) - 1e6) < 1e3",
    "One by one in float32 they come to 1,087,937": "round(float(one_by_one)) == 1_087_937",
    "Ten million tenths are a million.": "tenths.size == 10**7",
    # 4 Four steps
    "The matrices are (768, 768) in float32, 4 bytes a number.": (
        "host_a.shape == host_b.shape == (768, 768) and host_a.element_size() == 4"
    ),
    "Two matrices go in, 4,718,592 bytes; one comes out, 2,359,296 bytes.": (
        "[len(way) for way in ways.values()] == [2, 1] and"
        " [sum(c.nbytes for c in way) for way in ways.values()] == [4_718_592, 2_359_296]"
    ),
    "The host stops three times: for each copy in, and for the copy out": (
        "[c.blocking for c in log.copies] == [True] * 3 and sum(s.what == 'copy to host' for s in log.syncs) == 1"
    ),
    "The bus brings 28 times less than the GPU's own memory. It even brings 1.4 times less than the *CPU's*": (
        "round(memory['GPU'] / bus) == 28 and round(memory['CPU'] / bus, 1) == 1.4"
    ),
    "For the launches we take 10 µs; that is an assumption, ten calls of section 1.": (
        "abs(seconds(*roofline.counts('add', 1), 'CPU') / gain('add', 1) - 10e-6) < 1e-8"
    ),
    "Never. The CPU could have added the numbers in less time than the bus takes to carry them.": (
        "max(gain('add', float(n)) for n in np.geomspace(1, 1e12, 100)) < 0.7"
    ),
    "the copies grow like $n^2$ and the work like $n^3$": (
        "[b / a for a, b in zip(roofline.counts('matmul', 100), roofline.counts('matmul', 200))] == [8, 4]"
    ),
    "On paper the product pays from about n = 550 on, and is 15 times faster at 16,384.": (
        "500 < pays_from < 600 and sides[-1] == 16_384 and round(product_gain[-1]) == 15"
    ),
    "The sum never reaches the line.": "max(vector_gain) < 1",
    # 5 What runs in parallel
    "Four programs on 1024 numbers.": "len(work) == 4",
    "The element-wise square takes 1 step, the loop 1023, the tree 10, and the recurrent unit 2048.": (
        "[steps for _, steps in work.values()] == [1, 1023, 10, 2048]"
    ),
    "Loop and tree do the same 1023 additions; only the order differs.": (
        "work['sum_in_a_loop'][0] == work['sum_as_a_tree'][0] == 1023"
    ),
    "The same. Now eight updates at a rate of 0.1, one per sample.": (
        "whole == quarters == -36 and len(samples) == 8 and in_a_row == updated(0.1)"
    ),
    "No: 2.8742 in a row, 3.6 at once.": "round(in_a_row, 4) == 2.8742 and round(at_once, 9) == 3.6",
    "it takes the time $0.1 + 0.9 / k$": "abs(1 / amdahl(0.1, 7) - (0.1 + 0.9 / 7)) < 1e-12",
    "How much faster is it with 16 workers? How much with a million?": "amdahl(0.1, 16) < amdahl(0.1, 10**6)",
    "6.4 times with 16 workers, and never more than 10.": (
        "round(amdahl(0.1, 16), 2) == 6.4 and 9.99 < amdahl(0.1, 10**6) < 10"
    ),
    "Each line flattens at one over the sequential share: 100, 20, 10 and 4.": (
        "[round(amdahl(share, 1e9)) for share in (0.01, 0.05, 0.1, 0.25)] == [100, 20, 10, 4] and len(shares) == 4"
    ),
    # 6 Memory
    "4, 8, 16: the gradient takes as much as the weight, and Adam keeps two averages for each.": (
        "[round(v, 2) for v in used.values()] == [4, 8, 16]"
    ),
    "So a model of 7 billion weights, trained in float32, needs 112 GB before it has seen an example.": (
        'round(used["and Adam\'s averages"] * 7) == 112'
    ),
    "the card that Colab lends (section 10), has 16 GB; an RTX 5090 has 32, an H100 80.": "112 > 80 > 32 > 16",
    "on a device of 64 MiB": "limit[0] == 64",
    "(1 MiB is 1024 x 1024 bytes.)": "2**20 == 1024 * 1024",
    "a straight line: a fixed part for the weights, and a part that grows with each example": (
        "abs((peaks[4096] - peaks[2048]) / (peaks[2048] - peaks[1024]) - 2) < 0.05 and peaks[16] > 8"
    ),
    "The next doubling would have crossed the limit.": (
        "max(peaks) == 4096 and max(peaks.values()) < 64 < 2 * peaks[4096] - peaks[16]"
    ),
    "Training fails with `OutOfMemoryError` at a batch of 64.": "issubclass(torch.cuda.OutOfMemoryError, RuntimeError)",
    "A · a batch of 32</summary> No. Weights, gradients and Adam's two averages are four copies: four thirds": (
        "round(used[\"and Adam's averages\"] / used['weights']) == 4"
    ),
    "Plain SGD, the algorithm of lecture 02, keeps nothing, so that weights and gradients take two thirds": (
        "round(used['and gradients'] / used['weights']) == 2 and sgd_state() == {}"
    ),
    # 7 The roofline
    "A sum of two float32 vectors reads 8 bytes and writes 4 for each addition.": (
        "roofline.counts('add', 5) == (5, 5 * (8 + 4))"
    ),
    "does $2n^3$ operations on three matrices of $4n^2$ bytes": (
        "roofline.counts('matmul', 7) == (2 * 7**3, 3 * 4 * 7**2)"
    ),
    "What is it for a product with n = 600?": "np.divide(*roofline.counts('matmul', 600)).item() == 100",
    "The sum has 1/12, however long. The product has n / 6: 1 for n = 6, 100 for n = 600.": (
        "{p.intensity for p in sums} == {1 / 12} and all(abs(p.intensity - p.size / 6) < 1e-9 for p in products)"
    ),
    '("matvec" is a matrix times *one* vector; it has about 0.5.)': "all(0.49 < p.intensity < 0.5 for p in vectors)",
    "Both lines rise at first": (
        "sums[0].flops * 10 < max(p.flops for p in sums) and products[0].flops * 3 < max(p.flops for p in products)"
    ),
    "The sum falls again when its vectors no longer fit into the caches": "sums[-1].flops < max(p.flops for p in sums)",
    "Then they part.": "max(p.flops for p in products) > 3 * max(p.flops for p in sums)",
    "The sums stand above each other at 1/12": "len(sums) == 7",
    "The largest lies on the slope.": "abs(mine.at(1 / 12) / sums[-1].flops - 1) < 1e-9",
    "The products walk to the right and reach the roof.": "max(p.flops for p in products) == mine.flops",
    "From the corner on, memory does not matter to them.": "0.1 < mine.ridge < products[-1].intensity",
    "A matrix times a single vector is back on the left.": "max(p.flops for p in vectors) < mine.flops / 2",
    "A100](https://www.nvidia.com/en-us/data-center/a100/), 40 GB, and [H100]": (
        "(a100.flops, a100.bandwidth, h100.flops, h100.bandwidth) == (19.5e12, 1.555e12, 989e12, 3.35e12)"
    ),
    "The A100's times, 0.11 s and 0.016 s, are in": "big[0].seconds == 0.11 and round(stored[0][1], 1) == 19.5",
    "since version 1.7 of October 2020": "tuple(map(int, torch.__version__.split('.')[:2])) > (1, 7)",
    "They are rounded, so the 100 % is, too.": "round(stored[0][1] / stored[0][2], 2) == 1",
    'one machine, an "H100 80GB HBM3" with PyTorch 2.11, on 13 November 2026': (
        "[row[1:3] for row in stored[2:]] == [(798.0, 989.0), (3.0, 3.35)]"
    ),
    "found 794.5 with PyTorch 2.7: half a per cent less": "0.003 < 1 - 794.5 / stored[2][1] < 0.006",
    "7 times faster on the A100, for fewer digits": "round(stored[1][1] / stored[0][1]) == 7",
    "12.5 operations per byte for the A100 in float32, 295 for the H100 in bfloat16": (
        "round(a100.ridge, 1) == 12.5 and round(h100.ridge) == 295"
    ),
    "A · 0.5 ms</summary> No. It does one operation for 8 bytes.": "1 / 8 < a100.ridge < h100.ridge",
    # 8 What computing costs
    "Every 3.5 years, for the top card.": "round(years / doublings, 1) == 3.5",
    "study of 470 GPUs": "years / doublings > 2.95 > 2.46",
    "(https://epoch.ai/blog/trends-in-gpu-price-performance) from 2006 to 2021 found 2.46 years for all, and 2.95": (
        "2006 < launched['GTX 580'] and launched['RTX 5090'] > 2021"
    ),
    "between the last two cards there are 2.3 years and hardly any gain": (
        "round(shop[4][1] - shop[3][1], 1) == 2.3 and 1 < per_dollar['RTX 5090'] / per_dollar['RTX 4090'] < 1.02"
    ),
    "A dollar buys about 8 times more arithmetic in the GPU of 2025 than in the CPU of 2024.": (
        "round(per_dollar['RTX 5090'] / per_dollar['Ryzen 9 9950X']) == 8"
    ),
    "A chain of ten square layers gets 64 examples.": "len(chain) == 10 and len(examples) == 64",
    "2 forwards: one multiplication and one addition. 5.8 for both": (
        "[c.get_total_flops() / weight_count / 64 for c in (forward, both)] == [2, 5.8]"
    ),
    "except in the first layer, where nobody wants the gradient of the data": "round(2 + 2 + 2 * 9 / 10, 9) == 5.8",
    "In May 2024 Andrej Karpathy trained a network of the size of GPT-2, 124 million weights on 10 billion tokens.": (
        "operations == 6 * 124e6 * 10e9"
    ),
    "He used 8 A100 at 14 dollars an hour for all, reached up to about 60 % of their promise of 312 TFLOP/s each": (
        "abs(minutes * 60 * 8 * 312e12 * 0.6 / operations - 1) < 1e-12"
    ),
    "(https://github.com/karpathy/llm.c/discussions/481): 90 minutes, 20 dollars": (
        "abs(minutes / 90 - 1) < 0.1 and abs(minutes / 60 * 14 / 20 - 1) < 0.1"
    ),
    "83 minutes and 19 dollars.": "round(minutes) == 83 and round(minutes / 60 * 14) == 19",
    "as listed on 7 May 2026": (
        "{name: price for name, (price, _) in rented.items()} == {'T4': 0.5904, 'A100': 2.4984, 'H100': 3.9492}"
    ),
    "the A100 is the one with 80 GB. We assume that 40 % of the promise is reached.": (
        "{name: t for name, (_, t) in rented.items()} == {'T4': 65, 'A100': 312, 'H100': 989}"
        " and abs(bills['T4'][0] * 3600 * 65e12 * 0.4 / operations - 1) < 1e-12"
    ),
    "The T4 takes 79.5 hours and 46.93 dollars, the H100 5.2 hours and 20.63 dollars.": (
        "[round(v, d) for name in ('T4', 'H100') for v, d in zip(bills[name], (1, 2))] == [79.5, 46.93, 5.2, 20.63]"
    ),
    "**The card that is dearest by the hour is the cheapest for the job**": (
        "min(bills, key=lambda name: bills[name][1]) == max(rented, key=lambda name: rented[name][0]) == 'H100'"
    ),
    # 9 The frameworks
    "In the early 2000s there was MATLAB, in which one bought a toolbox, and there were libraries such as OpenNN": (
        "[name for name, first, *_ in zoo if first < 2005] == ['MATLAB NN Toolbox', 'Torch', 'OpenNN']"
    ),
    "From 2013 to 2018 there appeared more than two frameworks a year.": (
        "sum(2013 <= first <= 2018 for _, first, *_ in zoo) == 14"
    ),
    "Of these eighteen, how many are still developed? (As of November 2026.)": "len(zoo) == 18",
    "Nine of eighteen. The median of the others is 4 years; Torch made it to 15.": (
        "len(alive) == 9 and lived[4] == 4 and max(ended, key=ended.get) == 'Torch' and ended['Torch'] == 15"
    ),
    "Seven of the eighteen appeared in 2014 and 2015, and five of those seven are gone.": (
        "[sum(f in (2014, 2015) for _, f, *_ in zoo), sum(f in (2014, 2015) and last is not None"
        " for _, f, last, *_ in zoo)] == [7, 5]"
    ),
    "Of the nine that go on, seven have a large company or a foundation behind them.": (
        "len(alive) == 9 and len(set(alive) - {'OpenNN', 'fast.ai'}) == 7"
    ),
    "CNTK had Microsoft and MXNet had Amazon, and both are gone.": (
        "[(name, maker) for name, *_, maker, _ in zoo if name in ended and ('Microsoft' in maker or 'Amazon' in maker)]"
        " == [('CNTK', 'Microsoft'), ('MXNet', 'DMLC, then Apache and Amazon')]"
    ),
    "(as its makers tell it: begun in 2003, under the name Flood)": (
        "[first for name, first, *_ in zoo if name == 'OpenNN'] == [2003]"
    ),
    "(the copyright line of the toolbox's manual begins in 1992)": "zoo[0][:2] == ('MATLAB NN Toolbox', 1992)",
    "(alpha versions since 2016, for everybody since January 2017)": (
        "[first for name, first, *_ in zoo if name == 'PyTorch'] == [2017]"
    ),
    "A paper of 2016 comes with a Theano program.": "[last for name, _, last, *_ in zoo if name == 'Theano'] > [2016]",
    "ONNX is younger than that program": "next(first for name, first, *_ in zoo if name == 'ONNX') > 2016",
    # 10 Colab
    "after 12 hours at most in the free version": "sessions == -(-bills['T4'][0] // 12)",
    "Seven sessions, if nothing interrupts them.": "sessions == 7",
    "**CUDA Version: 13.0** is the newest that the *driver* can serve.": "'CUDA Version: 13.0' in SMI",
    "**13102MiB / 15360MiB**: memory in use, of the memory there is.": "'13102MiB /  15360MiB' in SMI",
    "**23%** of the time some kernel was running.": "'23%' in SMI",
    "**68W / 70W** and **71C**: power and temperature.": "'68W /   70W' in SMI and '71C' in SMI",
    "Your training shows 14000MiB / 15360MiB and a GPU-Util of 8%.": "14000 < 15360",
    # 11 Exercises
    "`Tesla T4, 13102 MiB, 15360 MiB, 23 %`": "'%' in 'Tesla T4, 13102 MiB, 15360 MiB, 23 %' and 15360 - 13102 == 2258",
    "Write `sum_as_a_tree` for 1000 numbers instead of 1024.": "len(sum_as_a_tree([Step(1.0)] * 1024)) == 1",
}

SHORTHAND = """
def updated(rate):
    weight = 0.0
    for sample in samples:
        weight -= rate * (weight - sample)
    return weight


def sgd_state():
    weight = torch.ones(3, requires_grad=True)
    plain = torch.optim.SGD([weight], lr=0.1)
    weight.sum().backward()
    plain.step()
    return {key: value for key, value in plain.state[weight].items() if value is not None}


from course_lib.timing import best_seconds

square = np.ones((512, 512), dtype=np.float32)
numpy_product_s = best_seconds(np.matmul, square, square, repeats=5)
"""
"""names for the facts above, made in the lecture's kernel after its last cell"""


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(ran: Any, said: str) -> None:
    assert said in ran.prose, "the text no longer says this"
    ran.do(SHORTHAND)
    assert ran.value(FACTS[said]) is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS) == []


# What is taken from elsewhere is compared with a second copy, each line with its source.

LIVES = {
    "MATLAB NN Toolbox": (1992, None),  # user's guide of R2012b: "copyright 1992-2012"; MathWorks release notes
    "Torch": (2002, 2017),  # Collobert, Bengio, Mariethoz, IDIAP-RR 02-46; torch7's README: not in active development
    "OpenNN": (2003, None),  # opennn.net; its repository names Artelnics
    "Theano": (2007, 2017),  # "after almost ten years of development", MILA to theano-users, 28 September 2017
    "Caffe": (2013, 2017),  # public in December 2013; 1.0 of April 2017 was the last release
    "DL4J": (2014, 2022),  # Wired of June 2014 on Skymind; 1.0.0-M2.1 of August 2022
    "Neon": (2015, 2018),  # opened in 2015; README: discontinued; intel.ai: "as of 2018 no longer supported"
    "Keras": (2015, None),  # first commit of 27 March 2015
    "CNTK": (2015, 2019),  # README: open source since April 2015; release notes of 2.7, April 2019: no plans after it
    "Chainer": (2015, 2019),  # first commit of 12 April 2015; Preferred Networks, 5 December 2019: maintenance only
    "MXNet": (2015, 2023),  # Apache Attic, September 2023
    "TensorFlow": (2015, None),  # arXiv 1603.04467: released in November 2015
    "PaddlePaddle": (2016, None),  # opened in September 2016
    "PyTorch": (2017, None),  # public since January 2017; alpha versions before; Linux Foundation, 12 September 2022
    "Caffe2": (2017, 2018),  # April 2017; facebookarchive/caffe2 issue 2439 of 27 March 2018: merged
    "ONNX": (2017, None),  # Microsoft and Facebook, September 2017
    "fast.ai": (2018, None),  # fastai 1.0, October 2018; 2.8.7 of February 2026
    "JAX": (2018, None),  # December 2018
}
SHOP = {
    "GTX 580": (2010, 499, 1.58),
    "GTX 1080 Ti": (2017, 699, 11.34),
    "RTX 3090": (2020, 1499, 35.58),
    "RTX 4090": (2022, 1599, 82.58),
    "RTX 5090": (2025, 1999, 104.8),
    "Core i7-7700K": (2017, 339, 0.54),
    "Ryzen 9 9950X": (2024, 649, 4.4),
}
"""year, dollars at launch, TFLOP/s in float32 as the lists of these processors state them"""


def test_the_years_of_the_frameworks_are_those_of_their_sources(ran: Any) -> None:
    assert {name: tuple(years) for name, *years in ran.value("[row[:3] for row in zoo]")} == LIVES


def test_the_table_names_every_framework_of_the_syllabus_and_its_maker(ran: Any) -> None:
    rows = ran.value("zoo")
    wanted = "Torch Theano Caffe Caffe2 CNTK MXNet Chainer Neon DL4J PaddlePaddle TensorFlow Keras PyTorch fast.ai JAX"
    assert {*wanted.split(), "ONNX", "OpenNN"} < {row[0] for row in rows}
    assert all(len(maker) > 4 and len(fate) > 10 for *_, maker, fate in rows)


def test_prices_and_peaks_are_those_of_the_lists(ran: Any) -> None:
    rows = ran.value("shop")
    assert {name: (int(year), price) for name, year, price, *_ in rows} == {n: s[:2] for n, s in SHOP.items()}
    for name, _, _, cores, ghz, per_cycle in rows:
        assert cores * ghz * per_cycle / 1000 == pytest.approx(SHOP[name][2], rel=0.005)


def test_the_milestones_are_dated(ran: Any) -> None:
    years = {name: year for year, name, _ in ran.value("milestones")}
    assert years == {"CUDA": 2007, "OpenCL": 2008, "cuDNN": 2014, "TPU": 2015, "ROCm": 2016}


# What the lecture teaches is tested as code, too, on more than the lecture shows.


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_the_systolic_grid_multiplies_and_reads_each_number_once(ran: Any, n: int) -> None:
    ran.do(f"rng = np.random.default_rng({n}); P, Q = rng.standard_normal((2, {n}, {n})); grid = systolic(P, Q)")
    assert ran.value("np.allclose(grid[0], P @ Q)") is True
    assert ran.value("list(grid[1:])") == [3 * n - 2, 2 * n * n]


@pytest.mark.parametrize(("blocks", "size"), [(1, 1), (3, 4), (4, 4), (5, 4)])
def test_the_guarded_kernel_adds_whatever_the_grid(ran: Any, blocks: int, size: int) -> None:
    """Elements beyond the last thread stay as they were: the grid must be large enough, and may be too large."""
    ran.do(f"c = np.zeros(14); launch(add_kernel, {blocks}, {size}, np.arange(14.0), np.ones(14), c)")
    reached = min(14, blocks * size)
    assert ran.value("c") == [i + 1.0 if i < reached else 0.0 for i in range(14)]


@pytest.mark.parametrize("power", range(8))
def test_depths_of_loop_and_tree(ran: Any, power: int) -> None:
    ran.do(f"numbers = [Step(float(i)) for i in range({2**power})]")
    expected = float(sum(range(2**power)))
    for program, depth in (("sum_in_a_loop", 2**power - 1), ("sum_as_a_tree", power)):
        assert ran.value(f"[[r.value, r.depth] for r in {program}(numbers)]") == [[expected, depth]]


def test_the_recurrent_unit_computes_what_torchs_does_without_its_squashing(ran: Any) -> None:
    inputs = np.random.default_rng(0).standard_normal(9).tolist()
    state = 0.0
    for value in inputs:
        state = 0.5 * state + value
    assert ran.value(f"recurrent_unit([Step(v) for v in {inputs}])[0].value") == pytest.approx(state)


# What fails on purpose fails, with the words that the text explains.

ON_PURPOSE = {
    "launch(add_kernel, 4, 256, a, b, c)\n": ("with on_purpose():", "IndexError: index 10", "size 1000"),
    "peaks = {}": ("with on_purpose(lines=2):", "OutOfMemoryError: CUDA out of memory.", "64.00 MiB"),
}


def test_what_fails_on_purpose_says_what_the_text_explains(ran: Any) -> None:
    failing = ran.failing_on_purpose()
    assert len(failing) == len(ON_PURPOSE)
    for cell, (start, *said) in zip(failing, ON_PURPOSE.values(), strict=True):
        printed = "".join(output.text for output in cell.outputs)
        assert start in cell.source and all(part in printed for part in said)


# The exercises, solved rightly and wrongly.

INTENSITY = "def intensity(m, k, n, number_bytes):\n    return {}"
LARGEST = "def largest_model(memory_gb, averages):\n    return {}"
FREE = "def free_mib(answer):\n    {}"
NUMBERS = "(m * k + k * n + m * n)"
ANSWERS = [
    (1, INTENSITY.format(f"2 * m * k * n / ({NUMBERS} * number_bytes)"), "right, all 7 checks hold."),
    (1, INTENSITY.format("None"), "Is there a `return`?"),
    (1, INTENSITY.format(f"m * k * n / ({NUMBERS} * number_bytes)"), "Half of it"),
    (1, INTENSITY.format("2 * m * k * n / ((m * k + k * n) * number_bytes)"), "three matrices"),
    (1, INTENSITY.format(f"2 * m * k * n / {NUMBERS}"), "Divide by the bytes of a number"),
    (1, INTENSITY.format("m / 7"), "as in section 7"),
    (1, INTENSITY.format(f"2 * m * k * n / ({NUMBERS} * 4)"), "Did you use `number_bytes`?"),
    (1, INTENSITY.format("2 * n / 3 / number_bytes"), "which matrix has which shape?"),
    (2, LARGEST.format("memory_gb * 10**9 // (4 * (2 + averages))"), "right, all 7 checks hold."),
    (2, LARGEST.format("None"), "Is there a `return`?"),
    (2, LARGEST.format("memory_gb * 10**9 // 4"), "What else is in memory?"),
    (2, LARGEST.format("memory_gb * 2**30 // (4 * (2 + averages))"), "Here it is 10**9"),
    (2, LARGEST.format("memory_gb * 10**9 // (4 * (1 + averages))"), "weights and gradients"),
    (2, LARGEST.format("memory_gb * 10**9 // 8"), "four numbers per weight"),
    (2, LARGEST.format("memory_gb * 10**9 / (4 * (2 + averages))"), "what does `//` do?"),
    (2, LARGEST.format("round(memory_gb * 10**9 / (4 * (2 + averages)) + 0.5)"), "a weight more would not fit"),
    (
        3,
        FREE.format("_, used, total, _ = answer.split(', ')\n    return int(total[:-4]) - int(used[:-4])"),
        "right, all 5 checks hold.",
    ),
    (3, FREE.format("answer.split()"), "Is there a `return`?"),
    (3, FREE.format("return int(answer.split(', ')[1][:-4])"), "That is in use"),
    (3, FREE.format("p = answer.split(', ')\n    return int(p[1][:-4]) - int(p[2][:-4])"), "The other way round"),
    (3, FREE.format("return '2258'"), "as an int"),
    (
        3,
        FREE.format("import re\n    p = re.findall('[0-9]+', answer)\n    return int(p[2]) - int(p[1])"),
        "split at commas",
    ),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("exercise", "answer", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(ran: Any, exercise: int, answer: str, said: str) -> None:
    assert said in ran.say(exercise, answer)


@pytest.mark.parametrize("exercise", [1, 2, 3])
def test_a_check_waits_for_who_has_not_begun(ran: Any, exercise: int) -> None:
    ran.assert_waits(exercise)


FIGURES = (
    "time in ns against independent tasks. CPU (16 cores): from 0.233 at 1",
    "step 1: copy in 2 matrices, 4.7 MB",
    "host: 3 waits",
    "speed-up by the GPU, copies included against n. product",
    "10% sequential: from 1 at 1 to 9.99 at 1e+04",
    "memory in MiB against batch. one pass: from 8.",
    "GFLOP/s against bytes touched. matrix products",
    "roof measured here",
    "ridge at 295 per byte; products, your CPU",
    "RTX 5090 52.4 in 2025; CPUs: Core i7-7700K 1.59 in 2017",
    "MATLAB NN Toolbox 1992 to today; Torch 2002 to 2017",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)


def test_the_lecture_says_on_which_device_it_ran(ran: Any) -> None:
    import torch

    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "Virtual CUDA (this is the CPU)"
    assert f"computed on: {name}" in ran.printed("computed on:")
