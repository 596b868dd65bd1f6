"""Lecture 16 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. Which mistake fails which test is compared cell by cell, and the exercises are
solved rightly and wrongly.
"""

# ruff: noqa: E501 - the lecture's sentences and answers, word for word

from __future__ import annotations

from typing import Any

import nbformat
import pytest

pytestmark = pytest.mark.parametrize("ran", ["lectures/16_from_pseudocode_to_code.ipynb"], indirect=True)

WRONG = "('CountedBefore', 'FullForNow', 'FullTooSoon', 'OnlyTheFirst', 'CountsAll', 'WholeMemory')"

FACTS = {
    # 2 The box
    "With two answers each, this box stands for 256 programs.": "2 ** 8 == 256",
    "Every reading in the list runs.": f"all(run(globals()[n], [0, 1, 0, 2] * 9, 5, np.random.default_rng(0)) for n in {WRONG})",
    "Two of the readings above lose the balance": "failing('is balanced') == ['FullTooSoon', 'OnlyTheFirst']",
    # 3 The promise
    "Of 20 places the class of two gets 2. The others share 18, and get 6 each.": (
        "poured(np.array([140, 59, 10, 2]), 20) == [2, 6, 6, 6]"
    ),
    "Four ways of 1/4. The results 0, 1, 1, 2": (
        "list(every_outcome(two_coins)) == [(Fraction(1, 4), n) for n in (0, 1, 1, 2)]"
    ),
    # 4 Line by line
    "Two of each class.": "sorted(memory_of_four().labels.tolist()) == [0, 0, 1, 1]",
    "In the first stream, class 0 comes five times and class 1 three times; the memory has three places.": (
        "sorted(SHORT[0][0]) == [0] * 5 + [1] * 3 and SHORT[0][1] == 3"
    ),
    "The balanced memory ends with one zero and two ones.": (
        "all(sorted(m.labels) == [0, 1, 1] for _, m in every_outcome(lambda rng: run(Balanced, *SHORT[0], rng)))"
    ),
    "Exactly 1/5 for each zero: one place for five. Exactly 2/3 for each one. 72 branches": (
        "[str(c) for c in chances(Balanced, *SHORT[0])] == ['1/5', '1/5', '1/5', '2/3', '2/3', '1/5', '2/3', '1/5'] and"
        " sum(1 for _ in every_outcome(lambda rng: run(Balanced, *SHORT[0], rng))) == 72"
    ),
    # 5 The other readings
    "No version fails the first test": "failing('holds what it saw') == []",
    "Balance alone would let four wrong readings pass.": (
        f"len(set({WRONG}) - set(failing('is balanced'))) == 4 and set(failing('is balanced')) < set({WRONG})"
    ),
    "Equal chance alone would let one pass: *full before the memory is* keeps every zero with the same chance": (
        f"set({WRONG}) - set(failing('equal chance')) == {{'FullTooSoon'}} and"
        " chances(FullTooSoon, *SHORT[2]) != chances(Balanced, *SHORT[2])"
    ),
    "Six readings are wrong. The last two pass everything": (
        f"set(failing('is balanced') + failing('equal chance')) == set({WRONG}) and"
        " all(all(readings[READINGS[v]].values()) for v in (Balanced, FirstLoses, MarkedNextRound))"
    ),
    "1/6 for the early zeros and 1/4 for the late ones. The last item of class 1 is always kept.": (
        "[str(c) for c in chances(CountedBefore, *SHORT[0])] == ['1/6', '1/6', '1/6', '1/2', '1/2', '1/4', '1', '1/4']"
    ),
    "The early zeros differ from the promise by $1/5 - 1/6 = 1/30$": (
        "Fraction(1, 5) - Fraction(1, 6) == Fraction(1, 30)"
    ),
    "The promise was 1/5 and 2/3.": ("{str(c) for c in chances(Balanced, *SHORT[0])} == {'1/5', '2/3'}"),
    "How many runs until 1/30 is four times the tremble?": "np.isclose(4 * np.sqrt(0.2 * 0.8 / 2304), 1 / 30)",
    "2304 runs. After 100 the wrong reading is well within what chance does": (
        "needed == 2304 and abs(kept_share(CountedBefore, 100) - 0.2) < 2 * 0.04"
        " and abs(kept_share(CountedBefore, 2304) - 0.2) > 3 * np.sqrt(0.16 / 2304)"
    ),
    "The 72 branches settled it.": "sum(1 for _ in every_outcome(lambda rng: run(Balanced, *SHORT[0], rng))) == 72",
    "You want to test a shuffle of 52 cards.": "__import__('math').factorial(52) > 1e67",
    "There are more orders of 52 cards than a computer can visit.": "__import__('math').factorial(52) > 1e67",
    "follow every branch for 4 cards, and count runs for 52": "__import__('math').factorial(4) == 24",
    "24 orders, each with chance exactly 1/24": (
        "sorted(shuffles(4)) == sorted(__import__('itertools').permutations(range(4)))"
        " and set(shuffles(4).values()) == {Fraction(1, 24)}"
    ),
    # 6 On images
    "240 digits pass a memory of 40.": "len(stream) == 240 and balanced.size == 40 == balanced.used",
    "While there is room all rise, class 0 fastest.": (
        "(np.diff(history[:40], axis=0) >= 0).all() and history[39].argmax() == 0 and history[-1][0] < history[39][0]"
    ),
    "Class 4 has five digits in all, and all five are there in the end.": "history[-1][4] == 5 == balanced.seen[4]",
    "The plain memory is a small copy of the stream: nearly half of it is class 0.": (
        "plain.stored()[0] == 19 and plain.stored().sum() == 40"
    ),
    "On average over the classes the balanced memory is better.": (
        "nearest['Balanced'].mean() > nearest['Plain'].mean() + 0.03"
    ),
    "class 4 rises from about 0.6 to about 0.9": (
        "abs(nearest['Plain'].mean(0)[4] - 0.6) < 0.06 and abs(nearest['Balanced'].mean(0)[4] - 0.9) < 0.06"
    ),
    "The frequent classes 0 and 1 have fewer places now, and lose a few points of a hundred.": (
        "(nearest['Balanced'].mean(0)[:2] < nearest['Plain'].mean(0)[:2] - 0.01).all()"
        " and (balanced.stored()[:2] < plain.stored()[:2]).all()"
    ),
    # 7 The second box
    "Line 10 fails: `parameters()` is a generator, and a generator cannot be multiplied.": (
        "type(net_q.parameters()).__name__ == 'generator'"
    ),
    "| 11 | what if N does not divide K?": "512 % 100 != 0",
    "Section 13": "'PerDevice' in globals()",
    "| 9, 10 | the follower moves after the update; the published code moves it before the keys of the next batch | section 10 |": (
        "'FollowsBefore' in globals()"
    ),
    "Section 12 measures what a follower of the box alone would get.": "NotNormalised in wrong",
    # 8 Views and network
    "turned by up to 0.3 radians, shifted by about a pixel": "0.3 / (2 / 8) == 1.2",
    "The *body* makes 128 features": "network()[0](images[:2]).shape == (2, 128)",
    "The *head* makes the vector of 32 numbers that is compared": "network()(images[:2]).shape == (2, 32)",
    # 9 Line by line, once more
    "10 net_k.params = m * net_k.params + (1 - m) * net_q.params 11 enqueue(queue, k); dequeue(queue)": (
        "caught['right']['momentum exact'] and caught['right']['first in, first out']"
    ),
    "We take 512, 0.99 and 0.1 for 1500 digits.": (
        "(len(MoCo().queue), MoCo().momentum, MoCo().temperature, len(images)) == (512, 0.99, 0.1, 1500)"
    ),
    "and the momentum update must be line 10 to rounding": "caught['right']['momentum exact']",
    "So `lerp_(q, 1 - m)` is line 10.": "torch.allclose(torch.zeros(1).lerp_(torch.ones(1), 1 - 0.9), torch.tensor(0.1))",
    "They use four images and a queue of ten": "len(four(MoCo)[1]) == 4 and len(four(MoCo)[0].queue) == 10",
    "batches of four into ten places, so that the third batch must wrap around": "2 * 4 < 10 < 3 * 4",
    "an untrained network, with real keys in the queue, should do no better than guessing among $1 + K$": (
        "abs(curves[0][0] - np.log(513)) < 0.2"
    ),
    "Nine passes.": "len(TESTS) == 9 and all(caught['right'].values())",
    "With four into eight places, a pointer that jumps back too early would pass.": "passes_with_eight_places()",
    # 10 Mistakes
    "Eight mistakes that people make with this box.": "len(MISTAKES) == 9",
    "Every mistake has its cross, and every test has one.": (
        "all(not all(caught[name].values()) for make, name in MISTAKES.items() if make is not MoCo)"
        " and all(not all(row[test] for row in caught.values()) for test in TESTS.values())"
    ),
    "Five mistakes are caught by more than one test, *same network twice* by three.": (
        "sum(list(row.values()).count(False) > 1 for row in caught.values()) == 5"
        " and list(caught['same network twice'].values()).count(False) == 3"
    ),
    "All eight were silent.": "all(runs_silently(make) for make in MISTAKES)",
    "The published code multiplies with a *copy* of the queue, `queue.clone()`. Now you know what that clone is for.": (
        "runs_silently(cloning())"
    ),
    "So does `EnqueueInForward`: `enqueue` has the decorator in both.": "EnqueueInForward.enqueue is QueueFirst.enqueue",
    "The same losses": "np.allclose(orders['MoCo'], orders['FollowsBefore'], atol=1e-4)",
    "Yet `momentum_is_exact` fails this version.": (
        "verdicts({momentum_is_exact: 'm'}, {FollowsBefore: 'v'}) == {'v': {'m': False}}"
    ),
    # 11 The first losses
    "The queue has 512 places, so guessing costs $\\log 513 = 6.24$.": (
        "len(MoCo().queue) == 512 and round(float(np.log(513)), 2) == 6.24"
    ),
    "at 6.24, far above, or far below?": "first['random vectors'][0] < 1",
    "Far below. An untrained network gives all images almost the same vector": "spread_of_untrained() > 0.8",
    "As real keys come in the loss *rises*, and after six batches the queue is real.": (
        "max(first['random vectors']) > 5 and 6 * 100 >= 512 > 5 * 100"
    ),
    "Both runs are right, and come together.": "abs(first['random vectors'][-1] - first['real keys'][-1]) < 0.5",
    "Now 15 epochs, for five seeds": "len(curves) == 5 and all(len(c) == 15 * 15 for c in curves)",
    "Each starts within 0.2 of 6.24 and ends below 4.7.": (
        "all(abs(c[0] - 6.24) < 0.2 for c in curves) and max(ends) < 4.7"
    ),
    # 12 The probe
    "put one linear layer on its 128 features": "trained[0].query[0](images[:2]).shape == (2, 128)",
    "and the 64 raw pixels": "nn.Flatten()(images[:2]).shape == (2, 64)",
    "We ask with all 1500 labels, and with only five of each class": (
        "len(labels) == 1500 and torch.bincount(labels[fifty(3)]).tolist() == [5] * 10"
    ),
    "MoCo's features beat random ones for each of the five seeds, with all labels and with fifty. They beat the raw"
    " pixels, too, each time.": (
        "(probed['MoCo'] > probed['random features']).all() and (probed['MoCo'] > probed['raw pixels']).all()"
    ),
    "With all labels the mean gain over pixels is about four points of a hundred; with fifty labels it is about eight.": (
        "abs((probed['MoCo'] - probed['raw pixels']).mean(0)[0] - 0.04) < 0.015"
        " and abs((probed['MoCo'] - probed['raw pixels']).mean(0)[1] - 0.08) < 0.025"
    ),
    "With all labels, random features are only about a point worse than raw pixels": (
        "0 < (probed['raw pixels'] - probed['random features']).mean(0)[0] < 0.02"
    ),
    "whether a network trained *with* the 1500 labels does better still": "len(labels) == 1500",
    "how often the right key gets the highest score of the 513": (
        "trained[0].scores(torch.zeros(2, 32), torch.zeros(2, 32)).shape == (2, 513)"
    ),
    "Two of the four reach nearly 100 % hits.": "sum(hit > 0.95 for _, hit, _ in outcome.values()) == 2",
    "*Right* hits only 8 %, since the queue is full of digits that look alike. Guessing would hit 0.2 %.": (
        "0.04 < outcome['right'][1] < 0.12 and round(100 / 513, 1) == 0.2"
    ),
    "*Not normalised*, the box to the letter, has the **lowest** loss of all and features worse than untrained ones.": (
        "min(outcome, key=lambda name: outcome[name][0]) == 'not normalised'"
        " and outcome['not normalised'][2] < probed['random features'][0, 1] - 0.05"
    ),
    "Without length 1 a network can lower the loss by making vectors long.": "grown() > 3",
    "*Momentum on the wrong side* and *key trained by gradient* hit almost always, and their features are worse than"
    " untrained ones. Their loss stands near guessing: a lead of a hair is a hit, and hardly lowers the loss.": (
        "all(outcome[n][1] > 0.9 and outcome[n][2] < probed['random features'][0, 1] - 0.05"
        " and abs(outcome[n][0] - 6.24) < 0.6 for n in ('momentum on wrong side', 'key trained by gradient'))"
    ),
    "its loss is within 0.2 of the right one, and its probe within the spread of the five seeds above": (
        "abs(outcome['enqueued before scores'][0] - outcome['right'][0]) < 0.2 and"
        " outcome['enqueued before scores'][2] > probed['MoCo'][:, 1].min() - 0.02"
    ),
    "how often does it find its own among 100 fresh keys?": "len(next(batches(1, 0))[0]) == 100",
    "On the wrong side a query is as similar to the fresh keys of others as to its own; only the queue is a little"
    " farther away.": (
        "abs(fresh['wrong side'][0] - fresh['wrong side'][1]) < 0.005"
        " and fresh['wrong side'][2] < fresh['wrong side'][1] - 0.002"
    ),
    "Among fresh keys the hits collapse from almost 100 % to a few in a hundred.": (
        "outcome['momentum on wrong side'][1] > 0.9 and fresh['wrong side'][3] < 0.1 < fresh['right'][3]"
    ),
    # 13 Batch norm
    "We imitate 20 devices with five images each: `PerDevice` normalises each five by themselves.": "100 / PerDevice.part == 20",
    "Only for the last.": ("changed['none'] < 1e-5 and changed['whole batch'] < 1e-5 and changed['per device'] > 0.01"),
    "Layer or group normalisation looks at one image only, and passes too.": (
        "all(own_image(lambda n=n: with_norm(n)) for n in (nn.LayerNorm(128), nn.GroupNorm(4, 128)))"
    ),
    "In evaluation mode nothing updates them, so they stay at mean 0 and spread 1 for ever.": (
        "evaluated() == [True, 0.0, 1.0]"
    ),
    # 14 Checklist
    "1/6 and 1/4 in place of 1/5": "chances(CountedBefore, *SHORT[0])[0] == Fraction(1, 6)",
    "Queue of ten, batches of four: wrap": "len(four(MoCo)[0].queue) == 10",
    "as in section 10": "'FollowsBefore' in globals()",
    # exercises
    "with the 1500 labels, and with fifty": "len(labels) == 1500 and len(fifty(0)) == 50",
    "Where does it stand beside the probes of section 12?": "'probed' in globals()",
    "Add one more mistake to section 10": "'MISTAKES' in globals()",
    "Set the momentum to 0, 0.9 and 0.999.": "MoCo(momentum=0.999).momentum == 0.999",
}
STATED = {
    "Section 11 of lecture 07 has this method as five rules.": "a test below looks there",
    "The published defaults are $K$ = 65,536, $m$ = 0.999 and $\\tau$ = 0.07, for a million photographs.": "defaults in moco/builder.py of github.com/facebookresearch/moco",
    "Of the box in section 7, line 11 is gone then, and line 7 reads from elsewhere.": "the box stands in this notebook",
    "What you built is the first version: on arXiv in 2019, at a conference in 2020.": "arXiv 1911.05722, CVPR 2020",
    "**Version 2** (2020) put a small network in place of the linear head": "arXiv 2003.04297, abstract",
    "**Version 3** (2021) dropped the queue: its gain shrinks when the batch is large, say 4096.": "2104.02057, 3",
    "(Chrysakis and Moens, 2020)": "a reference",
    "MoCo (He et al., 2020)": "a reference",
}
"""what stands in the text and is nothing to compute -> why, or its source"""

HELPERS = """
def failing(test):
    return [version.__name__ for version, label in READINGS.items() if not readings[label][test]]

def memory_of_four():
    return run(Balanced, [0, 0, 0, 0, 1, 1, 1, 0, 0], 4, np.random.default_rng(0))

def shuffles(n):
    def shuffle(rng):
        cards = list(range(n))
        for i in range(n - 1, 0, -1):
            j = rng.integers(i + 1)
            cards[i], cards[j] = cards[j], cards[i]
        return tuple(cards)
    found = {}
    for chance_of, order_of in every_outcome(shuffle):
        found[order_of] = found.get(order_of, 0) + chance_of
    return found

class JumpsBack(MoCo):
    @torch.no_grad()
    def enqueue(self, k):
        if self.place + len(k) > len(self.queue):
            self.place = 0
        self.queue[self.place : self.place + len(k)] = k
        self.place = (self.place + len(k)) % len(self.queue)

def passes_with_eight_places():
    moco, sent = JumpsBack(size=8), torch.randn(12, 32)
    for batch in sent.split(4):
        moco.enqueue(batch)
    caught_with_ten = not verdicts({first_in_first_out: 't'}, {JumpsBack: 'v'})['v']['t']
    return torch.equal(moco.queue, torch.cat([sent[8:], sent[4:8]])) and caught_with_ten

def runs_silently(make):
    moco, a, b = four(make)
    return all(np.isfinite(moco.step(a, b)) for _ in range(3))

def cloning():
    class Cloning(EnqueueInForward):
        def scores(self, q, k):
            other = q @ self.queue.clone().T
            return torch.cat([(q * k).sum(dim=1, keepdim=True), other], dim=1) / self.temperature
    return Cloning

def spread_of_untrained():
    k = start(MoCo, 0, filled=False).keys(images[:200])
    return (k @ k.T).min().item()

def grown():
    with torch.no_grad():
        after = wrong[NotNormalised].query(images).norm(dim=1).mean() / untrained(0)(images).norm(dim=1).mean()
    return after.item()

def own_image(make):
    moco = MoCo(make=make)
    b = images[:4].clone()
    other = b.clone()
    other[1:] = torch.rand(3, 1, 8, 8)
    return torch.allclose(moco.keys(other)[0], moco.keys(b)[0], atol=1e-6)

def evaluated():
    moco, a, b = four(BatchNormLeak)
    moco.key.eval()
    moco.step(a, b)
    norm = moco.key[0][-2]
    other = b.clone()
    other[1:] = 0
    same = torch.allclose(moco.keys(other)[0], moco.keys(b)[0], atol=1e-6)
    return [same, norm.running_mean.abs().max().item(), norm.running_var.mean().item()]
"""


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(ran: Any, said: str) -> None:
    assert said in ran.prose
    ran.do(HELPERS)
    assert ran.value(f"bool({FACTS[said]})") is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS, STATED) == []


CROSSES = {
    "right": [],
    "same network twice": ["starts as copy", "key no gradient", "momentum exact"],
    "key trained by gradient": ["key no gradient", "momentum exact"],
    "not normalised": ["length one"],
    "positive last, label 0": ["positive in column 0", "negatives older"],
    "enqueued before scores": ["negatives older"],
    "momentum on wrong side": ["momentum exact"],
    "pointer forgotten": ["first in, first out", "guesses at first"],
    "batch norm leaks": ["own image only", "guesses at first"],
}


def test_each_mistake_is_caught_by_the_test_that_is_meant_for_it(ran: Any) -> None:
    caught = ran.value("caught")
    assert {name: [test for test, passes in row.items() if not passes] for name, row in caught.items()} == CROSSES


def test_lecture_07_has_the_five_rules_where_the_text_says(ran: Any) -> None:
    lecture = nbformat.read(ran.path.parent / "07_datasets_and_dataloaders.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in lecture.cells if cell.cell_type == "markdown")
    section = text.split("## 11 ·")[1].split("\n## ")[0]
    rules = section.partition("*Class-balancing reservoir sampling*")[2]
    assert all(f"\n{number}. " in rules for number in range(1, 6)) and "\n6. " not in rules


def test_the_balanced_memory_of_this_lecture_is_that_of_lecture_07(ran: Any) -> None:
    """The rules of lecture 07 in other words: on the short streams, the same exact chances for each item."""
    ran.do("""
class Rules:
    def __init__(self, size, classes, rng):
        self.size, self.rng, self.kept, self.seen, self.full = size, rng, [], [0] * classes, set()

    def offer(self, item, label):
        self.seen[label] += 1
        stored = lambda c: sum(other == c for _, other in self.kept)
        most = lambda: max(map(stored, range(len(self.seen))))
        if len(self.kept) < self.size:
            self.kept.append((item, label))
        else:
            if label not in self.full:
                places = [i for i, (_, c) in enumerate(self.kept) if stored(c) == most()]
            elif self.rng.random() < stored(label) / self.seen[label]:
                places = [i for i, (_, c) in enumerate(self.kept) if c == label]
            else:
                places = []
            if places:
                self.kept[places[self.rng.integers(len(places))]] = (item, label)
        if len(self.kept) == self.size:
            self.full |= {c for c in range(len(self.seen)) if stored(c) == most()}

    @property
    def items(self):
        return [item for item, _ in self.kept]
""")
    assert ran.value("all(chances(Rules, *short) == chances(Balanced, *short) for short in SHORT)") is True


def test_the_plain_reservoir_keeps_every_item_with_the_same_chance(ran: Any) -> None:
    assert ran.value("set(map(str, chances(Plain, [0, 0, 1, 0, 1, 0, 0], 3))) == {'3/7'}") is True


@pytest.mark.slow
def test_the_costly_mistakes_cost_with_another_seed_too(ran: Any) -> None:
    ran.do("""
again = {}
for make in (NotNormalised, WrongSide, KeyLearns):
    moco, losses = train(make, 1)
    again[make.__name__] = [np.mean(losses[-15:]), hits(moco, 1), probe(moco.query[0], fifty(1))]
""")
    again, random = ran.value("again"), ran.value("probed['random features'][1, 1]")
    assert all(right < random for _, _, right in again.values())
    assert again["NotNormalised"][0] < min(ran.value("ends"))
    assert again["WrongSide"][1] > 0.9 and again["KeyLearns"][1] > 0.9


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("0.99 * net_k.parameters()", "TypeError: unsupported operand type(s) for *: 'float' and 'generator'"),
        ("net_k.parameters = net_q.parameters", "No error, no warning.\nEqual weights? False"),
        ("moco, a, b = four(EnqueueInForward)", "modified by an inplace operation"),
    ],
)
def test_what_fails_on_purpose_fails_with_the_message_that_the_text_explains(ran: Any, cell: str, said: str) -> None:
    assert said in ran.printed(cell)


# The exercises: a check waits, names the mistake, and accepts what is right.

KEEP = """
def keep(stream, k, rng):
    kept = []
    for n, item in enumerate(stream, start=1):
        if len(kept) < k:
            kept.append(item)
        elif rng.random() < {chance}:
            kept[rng.integers(k)] = item
    return kept
"""
PUT = """
def put(queue, place, keys):
    size = len(queue)
    {body}
"""
FOLLOW = """
@torch.no_grad()
def follow_all(key, query, momentum):
    for k, q in zip(key.parameters(), query.parameters()):
        k.lerp_(q, {share})
    for k, q in zip(key.buffers(), query.buffers()):
        {buffers}
"""
RIGHT = "right, all"
BUFFERS = "k.lerp_(q, 1 - momentum) if k.is_floating_point() else k.copy_(q)"
FOLD = (
    "last = keys[-size:]\n    first = place + len(keys) - len(last)\n"
    "    queue[(first + torch.arange(len(last))) % size] = last\n    return (place + len(keys)) % size"
)

ANSWERS = [
    (1, KEEP.format(chance="k / n"), RIGHT),
    (1, "def keep(stream, k, rng):\n    pass", "Your function returns None."),
    (1, "def keep(stream, k, rng):\n    return stream[:k]", "each must be kept with chance 2/3"),
    (1, "def keep(stream, k, rng):\n    return stream", "three must be kept"),
    (1, KEEP.format(chance="k / (n - 1)"), "n must count it"),
    (1, KEEP.format(chance="0.5"), "each must be kept with chance 2/3"),
    (1, KEEP.format(chance="k / (k + 1)"), "Does n go on counting?"),
    (2, PUT.format(body=FOLD), RIGHT),
    (
        2,
        PUT.format(
            body="for i, key in enumerate(keys): queue[(place + i) % size] = key\n    return (place + len(keys)) % size"
        ),
        RIGHT,
    ),
    (2, PUT.format(body="queue[place : place + len(keys)] = keys"), "Return the new place."),
    (2, PUT.format(body="queue[: len(keys)] = keys[:size]\n    return len(keys)"), "place 0 again"),
    (
        2,
        PUT.format(
            body="n = min(len(keys), size - place)\n    queue[place : place + n] = keys[:n]\n    return (place + n) % size"
        ),
        "must wrap around",
    ),
    (
        2,
        PUT.format(
            body="keys = keys[-size:]\n    queue[(place + torch.arange(len(keys))) % size] = keys\n    return (place + len(keys)) % size"
        ),
        "in the wrong places",
    ),
    (
        2,
        PUT.format(
            body="for i, key in enumerate(keys[:size]): queue[(place + i) % size] = key\n    return (place + len(keys)) % size"
        ),
        "the last five must stay",
    ),
    (3, FOLLOW.format(share="1 - momentum", buffers=BUFFERS), RIGHT),
    (3, FOLLOW.format(share="momentum", buffers=BUFFERS), "The weight is 1 and follows 2"),
    (3, FOLLOW.format(share="1 - momentum", buffers="pass"), "goes a quarter of the way"),
    (3, FOLLOW.format(share="1 - momentum", buffers="k.copy_(q)"), "goes a quarter of the way"),
    (
        3,
        FOLLOW.format(share="1 - momentum", buffers="k.lerp_(q, 1 - momentum) if k.is_floating_point() else None"),
        "count of batches",
    ),
    (3, FOLLOW.format(share="1 - momentum", buffers="q.copy_(k)"), "own buffers changed"),
    (3, FOLLOW.format(share="1 - momentum", buffers=BUFFERS) + "    key.requires_grad_(True)\n", "must not require"),
    (3, FOLLOW.format(share="1 - momentum", buffers="k.lerp_(q, 1 - momentum)"), "TypeError"),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("exercise", "answer", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(ran: Any, exercise: int, answer: str, said: str) -> None:
    assert said in ran.say(exercise, answer, errors_as_text=True)


@pytest.mark.parametrize("exercise", [1, 2, 3])
def test_a_check_waits_for_who_has_not_begun(ran: Any, exercise: int) -> None:
    ran.assert_waits(exercise)


FIGURES = (
    "9 versions, 3 tests. ours: passes all; count without this item: fails equal chance;",
    "in memory against digits seen. class 0 (130 in all): from 1 at 1",
    "examples for each class, from 0 on. plain:",
    "6 images side by side: image, 8 by 8",
    "9 versions, 9 tests. right: passes all; same network twice: fails starts as copy",
    "loss against updates done. random vectors: from 0.",
    "mean loss of its 15 batches against epoch. seed 0: from 5",
    "Bars, right on held-out digits, mean of five seeds. random features, all labels: 0.",
    "Bars, right on held-out digits, fifty labels, seed 0. right: 0.8",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)
