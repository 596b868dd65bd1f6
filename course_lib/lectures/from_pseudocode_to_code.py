"""Lecture 18: momentum contrast on the digits, what its experiments share, and a check with a solution per exercise.

The solutions are classes and functions of torch, so this module imports it, as the lecture has done before.
"""

# The solutions stand as the lecture shows them, without annotations.
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs, allow-any-generics

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from course_lib.data import load_digits
from course_lib.exercises import NOTHING_RETURNED, attempt_or_solution

# Images, views and the network.


@functools.cache
def _digits() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    x_train, y_train, x_test, y_test = load_digits()
    return (
        torch.from_numpy(x_train)[:, None],
        torch.from_numpy(y_train),
        torch.from_numpy(x_test)[:, None],
        torch.from_numpy(y_test),
    )


def view(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A random view of each image, `(N, 1, 8, 8)`: turned, shifted, scaled, slanted, lighter or darker, noisy."""

    def random(most: float) -> torch.Tensor:
        return (torch.rand(len(images), generator=generator) * 2 - 1) * most

    turn, scale, slant = random(0.3), 1 + random(0.2), random(0.2)
    row1 = torch.stack([scale * turn.cos(), slant - scale * turn.sin(), random(0.3)], 1)
    row2 = torch.stack([scale * turn.sin(), scale * turn.cos(), random(0.3)], 1)
    grid = F.affine_grid(torch.stack([row1, row2], 1), list(images.shape), align_corners=False)
    moved = F.grid_sample(images, grid, align_corners=False)
    lit = moved * (1 + random(0.3))[:, None, None, None]
    return lit + 0.1 * torch.randn(lit.shape, generator=generator)


def make_network() -> nn.Sequential:
    """A body, `(N, 1, 8, 8)` -> `(N, 128)`, and a head, `(N, 128)` -> `(N, 32)`."""
    body = nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU()),
        *(nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten()),
        *(nn.Linear(512, 128), nn.ReLU()),
    )
    return nn.Sequential(body, nn.Linear(128, 32))


def batches(epochs: int, seed: int, size: int = 100) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Two views of each batch of training digits, `(size, 1, 8, 8)` each, in a new random order every epoch."""
    images, generator = _digits()[0], torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        for places in torch.randperm(len(images), generator=generator).split(size):
            yield view(images[places], generator), view(images[places], generator)


def real_views(count: int, seed: int) -> torch.Tensor:
    """Views of `count` different training digits, `(count, 1, 8, 8)`, to fill a queue with real keys."""
    images, generator = _digits()[0], torch.Generator().manual_seed(1000 + seed)
    return view(images[torch.randperm(len(images), generator=generator)[:count]], generator)


def four(make: Callable[..., Any], **options: Any) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """`make(size=10, **options)`, and two views of the same four digits, `(4, 1, 8, 8)` each; always the same."""
    torch.manual_seed(0)
    model, images = make(size=10, **options), _digits()[0][:4]
    return model, view(images, torch.Generator().manual_seed(1)), view(images, torch.Generator().manual_seed(2))


def five_per_class(seed: int) -> torch.Tensor:
    """Row numbers of 50 training digits, five of each class, drawn at random."""
    labels, rng = _digits()[1].numpy(), np.random.default_rng(seed)
    return torch.from_numpy(np.concatenate([rng.choice(np.flatnonzero(labels == c), 5, False) for c in range(10)]))


def probe(body: nn.Module, rows: torch.Tensor | slice = slice(None)) -> float:
    """The accuracy on the test digits of one linear layer on the frozen features of `body`.

    rows: which training digits the layer may see with their labels; all of them, if not given.
    """
    images, labels, test_images, test_labels = _digits()
    with torch.no_grad():
        all_features, test_features = body(images), body(test_images)
    mean, std = all_features.mean(0), all_features.std(0) + 1e-3
    x, x_test = (all_features[rows] - mean) / std, (test_features - mean) / std
    layer = nn.Linear(x.shape[1], 10)
    optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=100)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(layer(x), labels[rows]) + 1e-3 * (layer.weight**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return float((layer(x_test).argmax(dim=1) == test_labels).float().mean())


def first_try(seed: int = 0) -> dict[str, tuple[list[float], float]]:
    """What the lecture opens with: the losses of 15 epochs, and the probe's accuracy with 50 labels, by name."""
    found = {}
    for name, make in (("the box alone", _without_length_one()), ("box and text", MoCo)):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = make()
            model.queue.enqueue(model.make_keys(real_views(len(model.queue.keys), seed)))
            losses = [model.step(a, b) for a, b in batches(15, seed)]
            found[name] = (
                np.reshape(losses, (15, 15)).mean(axis=1).tolist(),
                probe(model.query[0], five_per_class(seed)),
            )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        found["untrained"] = [], probe(make_network()[0], five_per_class(seed))
    return found


# Exercise 2: line 10 of the box.


@torch.no_grad()
def momentum_update(key_net, query_net, momentum):
    """Move each parameter k of key_net to momentum * k + (1 - momentum) * q, in place; q is query_net's."""
    for k, q in zip(key_net.parameters(), query_net.parameters(), strict=True):
        k.mul_(momentum)
        k.add_((1 - momentum) * q)


def check_momentum_update(attempt: Callable[..., None]) -> Callable[..., None]:
    """Check `momentum_update(key_net, query_net, momentum)`; returns the attempt, or our solution."""

    def after(momentum: float, make: Callable[[], nn.Module] = lambda: nn.Linear(2, 3)) -> Any:
        torch.manual_seed(0)
        key_net, query_net = make().requires_grad_(False), make()
        with torch.no_grad():
            for p in key_net.parameters():
                p.fill_(1.0)
            for p in query_net.parameters():
                p.fill_(5.0)
        names = list(map(id, key_net.parameters()))
        attempt(key_net, query_net, momentum)
        same = names == list(map(id, key_net.parameters()))
        return [p.detach() for p in key_net.parameters()], [p.detach() for p in query_net.parameters()], same, key_net

    def all_equal(tensors: list[torch.Tensor], value: float) -> bool:
        return all(torch.allclose(t, torch.full_like(t, value)) for t in tensors)

    def no_graph() -> bool:
        return not any(p.requires_grad for p in after(0.75)[3].parameters())

    return attempt_or_solution(
        "momentum_update",
        attempt,
        momentum_update,
        (lambda: all_equal(after(0.75)[1], 5), "The parameters of query_net changed. Only key_net may change."),
        (
            lambda: not all_equal(after(0.75)[0], 1),
            "The parameters of key_net are as before. `k = ...` only gives a new tensor the name k; write into the "
            "parameter in place, for example with `k.mul_` or `k.copy_`.",
        ),
        (
            lambda: not all_equal(after(0.75)[0], 4),
            "With momentum 0.75, k = 1 and q = 5 became 4: momentum and 1 - momentum are exchanged.",
        ),
        (
            lambda: all_equal(after(0.75)[0], 2),
            "With momentum 0.75, k = 1 and q = 5 must give 0.75 * 1 + 0.25 * 5 = 2, in every parameter, biases too.",
        ),
        (
            lambda: all_equal(after(0.9)[0], 1.4),
            "Right for momentum 0.75, wrong for 0.9. Do you use the argument `momentum`?",
        ),
        (
            lambda: all_equal(after(0.75, make=lambda: nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)))[0], 2),
            "Right for one layer, wrong for a network of two. Go through `parameters()` of the whole network.",
        ),
        (lambda: after(0.75)[2], "key_net has new Parameter objects. Change the values of the old ones in place."),
        (no_graph, "The update was recorded for autograd. Write it under `torch.no_grad()`."),
    )


# Exercise 3: line 11, and what the box leaves open about the queue.


class KeyQueue:
    """The last keys, one in each row of `keys`, (size, dim); the next key goes to row `position`."""

    def __init__(self, size, dim):
        """Set keys to random vectors of length 1, (size, dim), and position to 0."""
        self.keys = F.normalize(torch.randn(size, dim), dim=1)
        self.position = 0

    @torch.no_grad()
    def enqueue(self, new):
        """Write new, (n, dim) with n <= size, over the n oldest keys, in place."""
        size = len(self.keys)
        rows = (self.position + torch.arange(len(new))) % size
        self.keys[rows] = new
        self.position = (self.position + len(new)) % size


def check_key_queue(attempt: type[Any]) -> type[Any]:
    """Check the class `KeyQueue(size, dim)`; returns the attempt, or our solution."""

    def made(size: int = 5, dim: int = 3) -> Any:
        torch.manual_seed(0)
        return attempt(size, dim)

    def after(*counts: int, size: int = 5) -> tuple[list[float], int]:
        queue, sent = made(size, 1), 0
        queue.keys.fill_(-1.0)
        for count in counts:
            queue.enqueue(torch.arange(sent, sent + count, dtype=torch.float32)[:, None])
            sent += count
        return queue.keys.flatten().tolist(), int(queue.position)

    def all_directions() -> bool:
        share = (made(1000, 3).keys < 0).float().mean(dim=0)
        return bool(((share > 0.4) & (share < 0.6)).all())

    def keeps_no_graph() -> bool:
        queue = made()
        queue.enqueue(torch.ones(2, 3, requires_grad=True) * 2)
        return not queue.keys.requires_grad

    def in_place() -> bool:
        queue = made()
        before = queue.keys
        queue.enqueue(torch.ones(2, 3))
        return queue.keys is before

    def wraps_around() -> bool:
        try:
            after(3, 3)
        except (IndexError, RuntimeError):
            return False
        return True

    def copies() -> bool:
        queue, new = made(), torch.ones(5, 3)
        queue.enqueue(new)
        new.zero_()
        return bool((queue.keys == 1).all())

    return attempt_or_solution(
        "KeyQueue",
        attempt,
        KeyQueue,
        (
            lambda: hasattr(made(), "keys") and hasattr(made(), "position"),
            "After `KeyQueue(5, 3)`, the object needs the attributes `keys` and `position`.",
        ),
        (
            lambda: tuple(made().keys.shape) == (5, 3),
            "`KeyQueue(5, 3).keys` must have the shape (5, 3): a key in each row.",
        ),
        (
            lambda: torch.allclose(made().keys.norm(dim=1), torch.ones(5)),
            "Before the first batch, each row of `keys` must be a random vector of length 1 (`F.normalize`, dim=1).",
        ),
        (
            lambda: not torch.allclose(made().keys[0], made().keys[1]),
            "All rows of a new queue are equal. Draw each at random.",
        ),
        (
            all_directions,
            "The random vectors of a new queue must point in all directions: about half of the numbers are negative "
            "(`torch.randn`).",
        ),
        (lambda: made().position == 0, "A new queue starts at position 0."),
        (keeps_no_graph, "The queue became part of a graph. Write into it under `torch.no_grad()`."),
        (
            lambda: after(2)[0] == [0, 1, -1, -1, -1],
            "Two keys sent to a queue of five must stand in rows 0 and 1; the other rows must stay.",
        ),
        (in_place, "`self.keys` is another tensor after `enqueue`. Write into the rows of the old one."),
        (lambda: after(2)[1] == 2, "After two keys, `position` must be 2."),
        (
            lambda: after(2, 2)[0] == [0, 1, 2, 3, -1],
            "A second batch of two must stand in rows 2 and 3. Start to write at `position`.",
        ),
        (lambda: after(3, 2)[1] == 0, "After five keys in a queue of five, `position` must be 0 again."),
        (
            wraps_around,
            "Two batches of three in a queue of five: the sixth key does not fit behind the fifth, so `enqueue` fails. "
            "It goes to row 0: take each row number modulo the size.",
        ),
        (
            lambda: after(3, 3) == ([5, 1, 2, 3, 4], 1),
            "Two batches of three in a queue of five: the sixth key must go to row 0, and `position` to 1.",
        ),
        (
            lambda: after(4, 4, 4, size=10) == ([10, 11, 2, 3, 4, 5, 6, 7, 8, 9], 2),
            "Right for a queue of five, wrong for three batches of four in a queue of ten. Is the size fixed in your "
            "code?",
        ),
        (copies, "The rows changed when the batch was changed later. Copy the values into `self.keys`."),
    )


# Exercise 1: the loss, lines 6 to 8 of the box.


def contrastive_loss(q, k, queue, temperature):
    """Cross-entropy of finding, for each query, its own key among 1 + K.

    q, k: (N, C), row i of k is the key of row i of q. queue: (K, C), keys of earlier batches. Returns a scalar.
    """
    positive = (q * k).sum(dim=1, keepdim=True)
    negatives = q @ queue.T
    logits = torch.cat([positive, negatives], dim=1) / temperature
    y = torch.zeros(len(q), dtype=torch.int64, device=q.device)
    return F.cross_entropy(logits, y)


def check_contrastive_loss(attempt: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Check `contrastive_loss(q, k, queue, temperature)`; returns the attempt, or our solution."""

    def data(n: int = 3, size: int = 5, dim: int = 4) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        torch.manual_seed(0)
        return tuple(F.normalize(torch.randn(rows, dim), dim=1) for rows in (n, n, size))  # type: ignore[return-value]

    def is_close(found: Any, wanted: torch.Tensor) -> bool:
        return torch.allclose(torch.as_tensor(found, dtype=torch.float32), wanted, atol=1e-5)

    def gives(wanted: Callable[..., Any], temperature: float = 0.5, **sizes: int) -> bool:
        q, k, queue = data(**sizes)
        return is_close(attempt(q.clone(), k.clone(), queue.clone(), temperature), wanted(q, k, queue, temperature))

    def scores(q: torch.Tensor, k: torch.Tensor, queue: torch.Tensor) -> torch.Tensor:
        return torch.cat([(q * k).sum(1, keepdim=True), q @ queue.T], 1)

    def at_the_end(q: torch.Tensor, k: torch.Tensor, queue: torch.Tensor, t: float) -> torch.Tensor:
        return F.cross_entropy(scores(q, k, queue).roll(-1, dims=1) / t, torch.zeros(len(q), dtype=torch.int64))

    def multiplied(q: torch.Tensor, k: torch.Tensor, queue: torch.Tensor, t: float) -> Any:
        return contrastive_loss(q, k, queue, 1 / t)

    def not_scaled(q: torch.Tensor, k: torch.Tensor, queue: torch.Tensor, t: float) -> Any:
        return contrastive_loss(q, k, queue, 1.0)

    def softmax_twice(q: torch.Tensor, k: torch.Tensor, queue: torch.Tensor, t: float) -> torch.Tensor:
        y = torch.zeros(len(q), dtype=torch.int64)
        return F.cross_entropy((scores(q, k, queue) / t).softmax(1), y)

    def summed(q: torch.Tensor, k: torch.Tensor, queue: torch.Tensor, t: float) -> Any:
        return contrastive_loss(q, k, queue, t) * len(q)

    def takes_lengths_as_they_are() -> bool:
        q, k, queue = data()
        longer = ((2 * q, k, queue), (q, 2 * k, queue), (q, k, 2 * queue))
        return all(is_close(attempt(*tensors, 0.5), contrastive_loss(*tensors, 0.5)) for tensors in longer)

    def with_gradient() -> bool:
        q, k, queue = data()
        q.requires_grad_()
        found = attempt(q, k, queue, 0.5)
        return isinstance(found, torch.Tensor) and found.requires_grad

    def leaves_arguments() -> bool:
        q, k, queue = data()
        before = [t.clone() for t in (q, k, queue)]
        attempt(q, k, queue, 0.5)
        return all(torch.equal(t, old) for t, old in zip((q, k, queue), before, strict=True))

    return attempt_or_solution(
        "contrastive_loss",
        attempt,
        contrastive_loss,
        (lambda: attempt(*data(), 0.5) is not None, NOTHING_RETURNED),
        (
            lambda: torch.as_tensor(attempt(*data(), 0.5)).ndim == 0,
            "The loss must be a single number, the mean over the batch: a tensor with the shape ().",
        ),
        (
            lambda: not gives(at_the_end),
            "The positive score is in the last column, but the class is 0. Put it first in `torch.cat`.",
        ),
        (lambda: not gives(multiplied), "You multiply by the temperature. The scores are divided by it."),
        (lambda: not gives(not_scaled), "The scores are not yet divided by the temperature."),
        (
            lambda: not gives(softmax_twice),
            "`F.cross_entropy` expects logits and applies the softmax itself. Pass it the scores.",
        ),
        (lambda: not gives(summed), "This is the sum over the batch. The mean is wanted, as by default."),
        (
            lambda: gives(contrastive_loss),
            "The value is wrong. Print the shapes: positive (N, 1), negatives (N, K), logits (N, 1 + K). `q @ k.T` "
            "would also compare each query with the keys of other images of its batch.",
        ),
        (
            lambda: gives(contrastive_loss, n=6, size=4, dim=2),
            "Right for N = 3 and K = 5, wrong for N = 6 and K = 4. Does a size stand in your code as a number?",
        ),
        (lambda: gives(contrastive_loss, 0.1), "Right for temperature 0.5, wrong for 0.1. Do you use the argument?"),
        (leaves_arguments, "The function changes its arguments. Make new tensors instead."),
        (
            takes_lengths_as_they_are,
            "Right for vectors of length 1, wrong for longer ones. Take the dot products as they are, without scaling "
            "the vectors.",
        ),
        (with_gradient, "No gradient reaches q. Is there a `detach`, an `item` or a `no_grad`?"),
    )


# Exercise 4: the box as a class.


class MoCo:
    def __init__(self, base_encoder=make_network, size=512, momentum=0.99, temperature=0.1):
        self.query = base_encoder()
        self.momentum = momentum
        self.temperature = temperature
        self.key = copy.deepcopy(self.query)
        self.key.requires_grad_(False)
        self.queue = KeyQueue(size, 32)
        self.optimizer = torch.optim.Adam(self.query.parameters(), lr=0.002)

    def embed(self, net, images):
        """The vectors of a network, (N, 32), each scaled to length 1."""
        return F.normalize(net(images), dim=1)

    def make_keys(self, images):
        """The vectors of the key network, without a graph."""
        with torch.no_grad():
            return self.embed(self.key, images)

    def loss(self, images, k):
        """The contrastive loss of the queries of images with their keys k, (N, 32)."""
        q = self.embed(self.query, images)
        return contrastive_loss(q, k, self.queue.keys, self.temperature)

    def step(self, a, b):
        """Train on two views of the same images: lines 4 to 11. Returns the loss as a float."""
        k = self.make_keys(b)
        loss = self.loss(a, k)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        momentum_update(self.key, self.query, self.momentum)
        self.queue.enqueue(k)
        return loss.item()


def _without_length_one() -> type[MoCo]:
    class BoxAlone(MoCo):
        def embed(self, net, images):
            return net(images)

    return BoxAlone


def _weights(net: nn.Module) -> list[torch.Tensor]:
    return [p.detach().clone() for p in net.parameters()]


def _perturb(net: nn.Module) -> None:
    """Change every weight, so that the key network differs from the query network."""
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(0.5 + torch.rand(p.shape))


def check_moco(attempt: type[Any]) -> type[Any]:
    """Check the class `MoCo`; returns the attempt, or our solution."""

    def starts_equal() -> bool:
        model, _, _ = four(attempt)
        return all(map(torch.equal, _weights(model.query), _weights(model.key)))

    def is_another() -> bool:
        model, _, _ = four(attempt)
        pairs = zip(model.query.parameters(), model.key.parameters(), strict=True)
        return all(q.data_ptr() != k.data_ptr() for q, k in pairs)

    def settings() -> bool:
        model = attempt(size=7, momentum=0.5, temperature=0.2)
        kept = getattr(model, "momentum", None), getattr(model, "temperature", None)
        return kept == (0.5, 0.2) and len(model.queue.keys) == 7

    def trains_only_query() -> bool:
        model, _, _ = four(attempt)
        wanted = list(map(id, model.query.parameters()))
        return [id(p) for group in model.optimizer.param_groups for p in group["params"]] == wanted

    def is_adam() -> bool:
        optimizer = four(attempt)[0].optimizer
        return isinstance(optimizer, torch.optim.Adam) and all(g["lr"] == 0.002 for g in optimizer.param_groups)

    def lengths() -> bool:
        model, a, _ = four(attempt)
        found = model.embed(model.query, a)
        return bool(torch.allclose(found.norm(dim=1), torch.ones(4), atol=1e-5))

    def right_keys() -> bool:
        model, _, b = four(attempt)
        _perturb(model.key)
        with torch.no_grad():
            return bool(torch.allclose(model.make_keys(b), F.normalize(model.key(b), dim=1), atol=1e-5))

    def expected(model: Any, a: torch.Tensor, b: torch.Tensor) -> Any:
        q, k = (F.normalize(net(images), dim=1) for net, images in ((model.query, a), (model.key, b)))
        return contrastive_loss(q, k, model.queue.keys, model.temperature).detach()

    def right_loss() -> bool:
        model, a, b = four(attempt, temperature=0.2)
        _perturb(model.key)
        found = model.loss(a, F.normalize(model.key(b), dim=1).detach())
        return found is not None and bool(torch.allclose(found.detach(), expected(model, a, b), atol=1e-5))

    def first_loss() -> bool:
        model, a, b = four(attempt, temperature=1.0)  # at 0.1 the two views' losses are too alike
        _perturb(model.key)
        wanted = float(expected(model, a, b))
        return abs(float(model.step(a, b)) - wanted) < 1e-4

    def learns() -> bool:
        model, a, b = four(attempt)
        before = _weights(model.query)
        model.step(a, b)
        return not any(map(torch.equal, before, _weights(model.query)))

    def same_after_three() -> bool:
        ours, a, b = four(MoCo)
        theirs, _, _ = four(attempt)
        theirs.query.load_state_dict(ours.query.state_dict())
        theirs.key.load_state_dict(ours.key.state_dict())
        theirs.queue.keys.copy_(ours.queue.keys)
        for _ in range(3):
            ours.step(a, b)
            theirs.step(a, b)
        return all(
            torch.allclose(x, y, atol=1e-4) for x, y in zip(_weights(ours.query), _weights(theirs.query), strict=True)
        )

    def follows() -> bool:
        model, a, b = four(attempt, momentum=0.75)
        before = _weights(model.key)
        model.step(a, b)
        wanted = [0.75 * old + 0.25 * q for old, q in zip(before, _weights(model.query), strict=True)]
        return all(torch.allclose(x, y, atol=1e-6) for x, y in zip(_weights(model.key), wanted, strict=True))

    def enqueued() -> bool:
        model, a, b = four(attempt)
        k = F.normalize(model.key(b), dim=1).detach()
        model.step(a, b)
        return bool(torch.allclose(model.queue.keys[:4], k, atol=1e-5)) and model.queue.position == 4

    def calls_methods() -> bool:
        called = []

        class Listening(attempt):  # type: ignore[misc]
            def embed(self, net, images):
                called.append("embed")
                return super().embed(net, images)

            def make_keys(self, images):
                called.append("make_keys")
                return super().make_keys(images)

            def loss(self, images, k):
                called.append("loss")
                return super().loss(images, k)

        model, a, b = four(Listening)
        called.clear()
        model.step(a, b)
        return called.count("embed") == 2 and called.count("make_keys") == 1 and called.count("loss") == 1

    return attempt_or_solution(
        "MoCo",
        attempt,
        MoCo,
        (
            lambda: all(hasattr(four(attempt)[0], name) for name in ("query", "key", "queue", "optimizer")),
            "`__init__` must set `self.query`, `self.key`, `self.queue` and `self.optimizer`.",
        ),
        (settings, "`__init__` must keep `momentum` and `temperature`, and make a queue with `size` rows."),
        (
            starts_equal,
            "The two networks start with different weights. Line 1: the key network is a copy, not a second "
            "`base_encoder()`.",
        ),
        (is_another, "`self.key` and `self.query` share their weights. Make a copy with `copy.deepcopy`."),
        (
            lambda: not any(p.requires_grad for p in four(attempt)[0].key.parameters()),
            "The parameters of the key network require gradients. See `requires_grad_(False)`.",
        ),
        (
            trains_only_query,
            "The optimizer must have the parameters of the query network, and only those.",
        ),
        (is_adam, "The optimizer must be `torch.optim.Adam` with `lr=0.002`."),
        (lambda: four(attempt)[0].embed(four(attempt)[0].query, four(attempt)[1]) is not None, NOTHING_RETURNED),
        (lengths, "`embed` must return vectors of length 1. Normalize over the numbers of one image: dim=1."),
        (lambda: four(attempt)[0].make_keys(four(attempt)[2]) is not None, "`make_keys` returns None."),
        (lambda: not four(attempt)[0].make_keys(four(attempt)[2]).requires_grad, "The keys must have no graph."),
        (
            right_keys,
            "`make_keys` must use the key network. The two networks differ after a step. Does `embed` use the network "
            "that it is given?",
        ),
        (
            right_loss,
            "`loss` differs from `contrastive_loss` of the queries with the keys that it is given, the queue and the "
            "temperature. Which network makes the queries?",
        ),
        (lambda: four(attempt)[0].step(*four(attempt)[1:]) is not None, "`step` returns None."),
        (
            lambda: isinstance(four(attempt)[0].step(*four(attempt)[1:]), float),
            "`step` must return a float: `loss.item()`.",
        ),
        (
            first_loss,
            "The loss of a step must use the view a for the queries, b for the keys, and the queue as it was before "
            "this step.",
        ),
        (learns, "The query network is the same after a step. Is there a `backward` and an `optimizer.step()`?"),
        (enqueued, "After a step, the keys of this batch must stand in the queue, once, from row 0 on."),
        (
            follows,
            "After a step, the key network must be momentum * (itself before) + (1 - momentum) * (the query network "
            "after the update).",
        ),
        (
            same_after_three,
            "After three steps, the weights of the query network are wrong. Are the gradients set to zero in each "
            "step, and are the queries those of the view a?",
        ),
        (
            calls_methods,
            "`step` must call `make_keys` and `loss` once, and both call `embed`. Section 6 replaces these methods.",
        ),
    )


# Exercise 7: the same network, trained on with few labels.


def fine_tune(body, x, y, seed, steps=100):
    """Train a copy of body, with a new linear layer on top, on views of x, (N, 1, 8, 8), with the labels y, (N,).

    Returns the model, whose output is (N, 10).
    """
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)  # for view(x, generator)
    model = nn.Sequential(copy.deepcopy(body), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
    for _ in range(steps):
        loss = F.cross_entropy(model(view(x, generator)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def check_fine_tune(attempt: Callable[..., nn.Module]) -> Callable[..., nn.Module]:
    """Check `fine_tune(body, x, y, seed, steps)`; returns the attempt, or our solution."""

    def data() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            body = make_network()[0]
        return body, _digits()[0][:6], _digits()[1][:6]

    @functools.cache
    def outputs(steps: int = 4, seed: int = 1) -> torch.Tensor:
        body, x, y = data()
        with torch.random.fork_rng(devices=[]):
            model = attempt(body, x, y, seed, steps)
        with torch.no_grad():
            return torch.as_tensor(model(_digits()[2][:20]))

    @functools.cache
    def wanted(
        steps: int = 4, views: str = "new", clear: bool = True, softmax: bool = False, which: str = "all",
        kind: Any = torch.optim.Adam, seed: int = 1,
    ) -> torch.Tensor:  # fmt: skip
        """What `outputs` should be, or what a mistake makes of it."""
        body, x, y = data()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            generator = torch.Generator().manual_seed(seed)
            model = nn.Sequential(body, nn.Linear(128, 10))
        optimizer = kind({"all": model, "layer": model[1], "body": model[0]}[which].parameters(), lr=0.002)
        once = view(x, generator) if views == "once" else x
        for _ in range(steps):
            logits = model(view(x, generator) if views == "new" else once)
            loss = F.cross_entropy(logits.softmax(dim=1) if softmax else logits, y)
            if clear:
                optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            return torch.as_tensor(model(_digits()[2][:20]))

    def like(**mistake: Any) -> bool:
        return torch.allclose(outputs(), wanted(**mistake), atol=1e-4)

    def keeps_body() -> bool:
        body, x, y = data()
        before = _weights(body)
        with torch.random.fork_rng(devices=[]):
            attempt(body, x, y, 1, 2)
        return all(map(torch.equal, before, _weights(body)))

    def returned() -> Any:
        with torch.random.fork_rng(devices=[]):
            return attempt(*data(), 1, 1)

    return attempt_or_solution(
        "fine_tune",
        attempt,
        fine_tune,
        (lambda: returned() is not None, NOTHING_RETURNED),
        (
            lambda: isinstance(returned(), nn.Module) and tuple(outputs(1).shape) == (20, 10),
            "The function must return the model, body and new layer, whose output for N images is (N, 10).",
        ),
        (keeps_body, "The body that was given has changed. Train a copy of it: `copy.deepcopy`."),
        (
            lambda: not like(steps=0),
            "The model is as before training. Is there a `backward` and an `optimizer.step()`, and does the optimizer "
            "have the parameters of this model?",
        ),
        (lambda: not like(which="layer"), "Only the new layer was trained. The optimizer needs all parameters."),
        (lambda: not like(which="body"), "Only the body was trained. The optimizer needs all parameters."),
        (lambda: not like(views="none"), "The model was trained on the images themselves. Use views of them."),
        (
            lambda: not like(views="once"),
            "All steps used the same views. Call `view(x, generator)` inside the loop, so that each has new ones.",
        ),
        (lambda: not like(clear=False), "The gradients of all steps pile up. Call `optimizer.zero_grad()` in each."),
        (lambda: not like(softmax=True), "`F.cross_entropy` needs logits, because it applies the softmax itself."),
        (lambda: not like(kind=torch.optim.SGD), "The optimizer should be `torch.optim.Adam`."),
        (
            lambda: not torch.allclose(outputs(2), outputs(4), atol=1e-6),
            "Two and four steps give the same model. Does the loop use the argument `steps`?",
        ),
        (
            lambda: like() and torch.allclose(outputs(3, 2), wanted(3, seed=2), atol=1e-4),
            "The model is not what four steps of Adam with `lr=0.002` make of it. Does each step use all of `x`, and "
            "one call of `view(x, generator)`? Is the copy of `body` trained, with one new linear layer on top?",
        ),
    )


# Exercises 5 and 6: two tests, tried on right and wrong versions.


def momentum_is_exact(make):
    """Raise an AssertionError unless a step of make(...) moves the key network as line 10 says."""
    moco, a, b = four(make, momentum=0.9)
    before = [p.detach().clone() for p in moco.key.parameters()]
    moco.step(a, b)
    for old, k, q in zip(before, moco.key.parameters(), moco.query.parameters(), strict=True):
        torch.testing.assert_close(k, 0.9 * old + 0.1 * q)


def negatives_are_older(make):
    """Raise an AssertionError unless the loss of a step of make(...) is that of the queue before this step."""
    moco, a, b = four(make)
    q = moco.embed(moco.query, a)
    k = moco.make_keys(b)
    expected = contrastive_loss(q, k, moco.queue.keys, moco.temperature).item()
    assert abs(moco.step(a, b) - expected) < 1e-4


def _fails(test: Callable[[Any], None], make: Any) -> bool:
    """Whether the test raises an AssertionError; any other error is passed on."""
    try:
        test(make)
    except AssertionError:
        return True
    return False


class _KeyDiffers(MoCo):  # a right program as far as the loss of a step is concerned
    def __init__(self, **options):
        super().__init__(**options)
        _perturb(self.key)


class _Exchanged(MoCo):
    def __init__(self, momentum=0.99, **options):
        super().__init__(momentum=1 - momentum, **options)


class _NeverFollows(MoCo):
    def step(self, a, b):
        before = _weights(self.key)
        loss = super().step(a, b)
        with torch.no_grad():
            for p, old in zip(self.key.parameters(), before, strict=True):
                p.copy_(old)
        return loss


class _Copies(MoCo):
    def step(self, a, b):
        loss = super().step(a, b)
        self.key.load_state_dict(self.query.state_dict())
        return loss


class _OneTensorForgotten(MoCo):
    def step(self, a, b):
        last = list(self.key.parameters())[-1]
        before = last.detach().clone()
        loss = super().step(a, b)
        with torch.no_grad():
            last.copy_(before)
        return loss


class _SameNetwork(MoCo):
    def __init__(self, **options):
        super().__init__(**options)
        self.key = self.query


class _QueueFirst(MoCo):
    def step(self, a, b):
        k = self.make_keys(b)
        self.queue.enqueue(k)
        self.queue.position = (self.queue.position - len(k)) % len(self.queue.keys)
        return super().step(a, b)


class _LastColumn(MoCo):
    def loss(self, images, k):
        q = self.embed(self.query, images)
        scores = torch.cat([q @ self.queue.keys.T, (q * k).sum(1, keepdim=True)], 1) / self.temperature
        return F.cross_entropy(scores, torch.zeros(len(q), dtype=torch.int64))


class _HalfTemperature(MoCo):
    def loss(self, images, k):
        q = self.embed(self.query, images)
        return contrastive_loss(q, k, self.queue.keys, self.temperature / 2)


def check_momentum_is_exact(attempt: Callable[[Any], None]) -> Callable[[Any], None]:
    """Check the test `momentum_is_exact(make)`; returns the attempt, or our solution."""
    return attempt_or_solution(
        "momentum_is_exact",
        attempt,
        momentum_is_exact,
        (
            lambda: not _fails(attempt, MoCo),
            "Your test fails a right program. Are the old weights of the key network copied (`clone`) before the "
            "step? Line 10 comes after line 9: are the weights of the query network those *after* the step? Is the "
            "momentum in your formula that of the model? Do you allow for rounding?",
        ),
        (
            lambda: _fails(attempt, _NeverFollows),
            "Your test passes a program whose key network never changes. Compare its weights after a step with line "
            "10, computed from the weights before, and let an `assert` fail if they differ.",
        ),
        (
            lambda: _fails(attempt, _Copies),
            "Your test passes a program that copies the query network in each step. Compare with line 10.",
        ),
        (
            lambda: _fails(attempt, _Exchanged),
            "Your test passes a program in which momentum and 1 - momentum are exchanged. Write the number that you "
            "asked for, not `moco.momentum`, into the expected value; and 0.5 would hide the exchange.",
        ),
        (
            lambda: _fails(attempt, _OneTensorForgotten),
            "Your test passes a program that leaves the last bias out. Compare every parameter.",
        ),
        (
            lambda: _fails(attempt, _SameNetwork),
            "Your test passes a program with one network under two names. The old weights must be copied (`clone`) "
            "before the step.",
        ),
    )


def check_negatives_are_older(attempt: Callable[[Any], None]) -> Callable[[Any], None]:
    """Check the test `negatives_are_older(make)`; returns the attempt, or our solution."""
    return attempt_or_solution(
        "negatives_are_older",
        attempt,
        negatives_are_older,
        (
            lambda: not _fails(attempt, MoCo) and not _fails(attempt, _KeyDiffers),
            "Your test fails a right program. Compute the expected loss before the step, because the step changes "
            "networks and queue. The queries are of `a`, the keys of `b`, all of length 1 (`embed`, `make_keys`). Does "
            "it use the temperature of the model, and allow for rounding?",
        ),
        (
            lambda: _fails(attempt, _QueueFirst),
            "Your test passes a program that puts the keys into the queue before it computes the loss. Compare the "
            "number that `step` returns with the loss for the queue before the step, to within 1e-4, and let an "
            "`assert` fail if they differ.",
        ),
        (
            lambda: _fails(attempt, _LastColumn),
            "Your test passes a program that has the positive in the last column. If you call `moco.loss`, the test "
            "repeats the mistakes of the program; compute the expected loss independently of it.",
        ),
        (
            lambda: _fails(attempt, _HalfTemperature),
            "Your test passes a program with half the temperature. How large a difference do you allow?",
        ),
    )
