"""The exercises of lecture 05: a check for each, and the solution that the lecture continues with until it is right.

Each check tries small tensors and names the mistake that fits. torch is imported at the top, because the solutions
stand here word for word as the notebook shows them; the module itself is loaded when the lecture first names it.
"""

# The solutions have no annotations, as in a notebook.
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from course_lib.exercises import attempt_or_solution

__all__ = [
    "check_backward",
    "check_brighten",
    "check_decode",
    "check_einsum",
    "check_nearest",
    "check_prepare",
    "check_train",
]

Solution = Callable[..., Any]
DEVICE = (
    "On another device it raises an error: a tensor made inside the function has no `device=`, so it is on the CPU."
)


# --- solutions, as the notebook has them ---


def brighten(images, amount):
    """images: uint8. Return uint8: each value plus amount, limited to what a byte can hold."""
    wide = images.int() + amount
    limited = wide.clamp(0, 255)
    return limited.to(torch.uint8)


def decode(records):
    """records: (N, 3073) uint8. Return labels (N,) int64 and images (N, 3, 32, 32) uint8, a view."""
    labels = records[:, 0].long()
    pixels = records[:, 1:]  # (N, 3072)
    images = pixels.unflatten(1, (3, 32, 32))
    return labels, images


def side_by_side(images):
    """images: (N, 3, 32, 32). Return one picture (32, N * 32, 3): the images from left to right."""
    by_row = images.permute(2, 0, 3, 1)  # (32, N, 32, 3)
    return by_row.reshape(32, -1, 3)


def squared_distances(a, b):
    """a: (n, d), b: (m, d). Return (n, m): the squared distance of each row of a from each row of b."""
    difference = a[:, None] - b  # (n, m, d)
    return (difference**2).sum(dim=2)


def nearest_labels(x_train, y_train, x_test):
    """Return for each row of x_test the label of the nearest row of x_train: (len(x_test),) int64."""
    distances = squared_distances(x_test, x_train)
    nearest = distances.argmin(dim=1)
    return y_train[nearest]


def squared_distances_einsum(a, b):
    """a: (n, d), b: (m, d). Return (n, m): the same squared distances, without any tensor of shape (n, m, d)."""
    a_squared = torch.einsum("nd,nd->n", a, a)
    b_squared = torch.einsum("md,md->m", b, b)
    products = torch.einsum("nd,md->nm", a, b)
    return a_squared[:, None] - 2 * products + b_squared


def prepare(array):
    """array: (N, D) float32 NumPy array, left as it is. Return a new tensor (N, D), each row with mean 0, std 1."""
    x = torch.tensor(array)
    x[x < 0.1] = 0
    mean = x.mean(dim=1, keepdim=True)  # (N, 1)
    std = x.std(dim=1, keepdim=True)  # (N, 1)
    return (x - mean) / std


def forward(x, W1, b1, W2, b2):
    """x: (N, D), W1: (D, H), b1: (H,), W2: (H, C), b2: (C,). Return hidden (N, H) and logits (N, C)."""
    hidden = (x @ W1 + b1).clamp(min=0)
    logits = hidden @ W2 + b2
    return hidden, logits


def backward(x, Y, W2, hidden, logits):
    """Y: (N, C) one-hot. Return the gradients of the mean cross-entropy for W1, b1, W2, b2."""
    grad_logits = (logits.softmax(dim=1) - Y) / len(x)  # (N, C)
    grad_W2 = hidden.T @ grad_logits  # (H, C)
    grad_b2 = grad_logits.sum(dim=0)  # (C,)
    grad_hidden = grad_logits @ W2.T  # (N, H)
    grad_hidden *= hidden > 0  # ReLU
    grad_W1 = x.T @ grad_hidden  # (D, H)
    grad_b1 = grad_hidden.sum(dim=0)  # (H,)
    return grad_W1, grad_b1, grad_W2, grad_b2


def cross_entropy(logits, Y):
    right = (logits * Y).sum(dim=1)  # (N,): the logit of the right class
    return (logits.logsumexp(dim=1) - right).mean()


def train(x, y, params, steps=300, lr=0.5):
    """x: (N, D), y: (N,) int64. Update params = [W1, b1, W2, b2] in place; return the loss before each update."""
    W1, b1, W2, b2 = params
    classes = torch.arange(len(b2), device=x.device)
    Y = (y[:, None] == classes).to(x.dtype)  # (N, C), one-hot
    losses = []
    for _ in range(steps):
        hidden, logits = forward(x, W1, b1, W2, b2)
        loss = cross_entropy(logits, Y)
        losses.append(loss.item())
        grads = backward(x, Y, W2, hidden, logits)
        for param, grad in zip(params, grads, strict=True):
            param -= lr * grad
    return losses


# --- checks ---


def check_brighten(attempt: Solution) -> Solution:
    """Whether `attempt(images, amount)` adds and limits, in both directions, and returns bytes; it, or ours."""
    images = torch.arange(256, dtype=torch.uint8).view(16, 16)

    def values(amount: int) -> Any:
        return attempt(images.clone(), amount)

    def is_right(amount: int) -> bool:
        try:
            got = values(amount)
        except RuntimeError:  # a limit that uint8 cannot hold
            return False
        return _same(got, (images.int() + amount).clamp(0, 255))

    def wraps(amount: int) -> bool:
        """As bytes do, whatever the dtype of the result."""
        return _same(values(amount), (images.int() + amount) % 256)

    def leaves_its_input() -> bool:
        given = images.clone()
        attempt(given, 100)
        attempt(given, -60)
        return torch.equal(given, images)

    return attempt_or_solution(
        "brighten",
        attempt,
        brighten,
        (
            lambda: _has_shape(values(100), (16, 16)),
            "Return one tensor with the shape of `images`.",
        ),
        (
            lambda: not wraps(100),
            "Values still wrap around: 200 + 100 gives 44. Convert to a wider dtype before you add. Then limit the "
            "sum, and convert back the limited one, which `clamp` *returns*.",
        ),
        (
            lambda: not _same(values(100), images.int() + 100),
            "The sum is not limited: 200 + 100 gives 300, which no byte can hold. `clamp` limits it.",
        ),
        (
            lambda: is_right(100),
            "For `amount` = 100, some values are wrong. Each should be the old value plus 100, or 255 if that is more.",
        ),
        (
            lambda: is_right(-60),
            "It is right for 100, but not for -60: a value below 60 should become 0. So the sum needs a dtype that "
            "holds negative numbers, and a lower limit.",
        ),
        (
            lambda: values(100).dtype == torch.uint8,
            "The values are right, but they are not bytes: convert the result to `torch.uint8`.",
        ),
        (leaves_its_input, "Your function changes the images that it was given. Make new tensors instead."),
    )


def check_decode(attempt: Solution, attempt_at_picture: Solution) -> tuple[Solution, Solution]:
    """Whether `decode(records)` and `side_by_side(images)` keep each byte in its place; both, or ours.

    `side_by_side` is tried once `decode` is right.
    """
    records = torch.randint(0, 256, (6, 3073), dtype=torch.uint8, generator=_generator())
    truth = records[:, 1:].reshape(6, 3, 32, 32)

    def images() -> Any:
        return attempt(records)[1]

    first = attempt_or_solution(
        "decode",
        attempt,
        decode,
        (lambda: _are_tensors(attempt(records), 2), "Return two tensors: `return labels, images`."),
        (lambda: attempt(records)[0].shape == (6,), "`labels` should have shape (N,): one number from each record."),
        (
            lambda: attempt(records)[0].tolist() == records[:, 0].tolist(),
            "`labels` should hold the first byte of each record.",
        ),
        (
            lambda: attempt(records)[0].dtype == torch.int64,
            "`labels` should be int64: PyTorch takes a uint8 index for a mask. `.long()` converts.",
        ),
        (
            lambda: images().shape == (6, 3, 32, 32),
            "`images` should have shape (N, 3, 32, 32): image, color, row, column.",
        ),
        (
            lambda: not _same(images(), records[:, :3072].reshape(6, 3, 32, 32)),
            "The label has become the first pixel, and the last byte is lost: the pixels begin at byte 1.",
        ),
        (
            lambda: not _same(images(), records[:, 1:].reshape(6, 32, 32, 3).permute(0, 3, 1, 2)),
            "You read three successive bytes as one pixel. In a record all of red comes first, then green, then blue.",
        ),
        (
            lambda: not _same(images(), truth.mT),
            "Rows and columns of each image are swapped: in the record one *row* of pixels follows the other.",
        ),
        (lambda: _same(images(), truth), "The shape is right, but not every byte is in its place."),
        (lambda: images().dtype == torch.uint8, "Leave `images` in uint8: a copy in another dtype is no view."),
        (
            lambda: _share(images(), records),
            "The values are right, but you copy them. A slice, followed by `view` or `unflatten`, is a view.",
        ),
    )
    if first is not attempt:
        return first, side_by_side
    three = truth[:3]
    photos = three.permute(0, 2, 3, 1)  # (3, 32, 32, 3)
    right = torch.cat(list(photos), dim=1)

    def is_like(wrong: Any) -> bool:
        return _same(attempt_at_picture(three), wrong)

    second = attempt_or_solution(
        "side_by_side",
        attempt_at_picture,
        side_by_side,
        (lambda: torch.is_tensor(attempt_at_picture(three)), "Return one tensor."),
        (
            lambda: attempt_at_picture(three).shape != (96, 32, 3),
            "The images stand one below the other. The shape for three images should be (32, 3 * 32, 3).",
        ),
        (
            lambda: attempt_at_picture(three).shape == (32, 96, 3),
            "For three images the shape should be (32, 3 * 32, 3), with the color last.",
        ),
        (
            lambda: not is_like(three.reshape(32, 96, 3)),
            "You only cut the numbers anew, in the order in which they are stored. Move the axes first (`permute`).",
        ),
        (
            lambda: not is_like(photos.reshape(32, 96, 3)),
            "The color is last now, but the rows of one image still follow each other. A row of the picture needs row "
            "0 of *all* images: put the axis of pixel rows before the axis of images.",
        ),
        (
            lambda: not is_like(three.permute(2, 3, 0, 1).reshape(32, 96, 3)),
            "The images alternate from pixel to pixel: the axis of images comes after the axis of columns. All columns "
            "of one image should come before those of the next.",
        ),
        (
            lambda: not is_like(torch.cat(list(photos.transpose(1, 2)), dim=1)),
            "Rows and columns of each image are swapped. In (N, C, H, W) the rows are axis 2 and the columns axis 3.",
        ),
        (
            lambda: is_like(right),
            "The shape is right, but not every pixel is in its place. Before the last step the order of the axes "
            "should be row of pixels, image, column of pixels, color.",
        ),
    )
    return first, second


def check_nearest(attempt: Solution, attempt_at_labels: Solution) -> tuple[Solution, Solution]:
    """Whether `squared_distances(a, b)` and `nearest_labels(...)` are right; both, or ours.

    `nearest_labels` is tried once `squared_distances` is right.
    """
    a, b = (torch.randn(n, 3, generator=_generator(n)) for n in (4, 5))
    truth = ((a.unsqueeze(1) - b.unsqueeze(0)) ** 2).sum(dim=2)

    first = attempt_or_solution(
        "squared_distances",
        attempt,
        squared_distances,
        (lambda: torch.is_tensor(attempt(a, b)), "Return one tensor."),
        (
            lambda: attempt(a, b).shape != (5, 4),
            "That has a row for each row of `b`. Wanted is a row for each row of `a`, and a column for each of `b`.",
        ),
        (
            lambda: attempt(a, b).dim() != 3,
            "The result still has three axes: sum over the last one, which holds the features.",
        ),
        (
            lambda: attempt(a, b).shape == (4, 5),
            "For a of shape (4, 3) and b of shape (5, 3) the result should have shape (4, 5): sum over the features.",
        ),
        (
            lambda: not _near(attempt(a, b), truth.sqrt()),
            "You took the root. The *squared* distance is wanted; the nearest is the same, and the root costs time.",
        ),
        (
            lambda: not _near(attempt(a, b), (a[:, None] - b).sum(dim=2) ** 2),
            "You sum the differences first, so that they cancel. Square each difference, then sum.",
        ),
        (
            lambda: not _near(attempt(a, b), truth / a.shape[1]),
            "You take the mean over the features. The squared distance is the *sum* of the squared differences.",
        ),
        (lambda: _near(attempt(a, b), truth), "The shape is right, the values are not: sum of squared differences."),
    )
    if first is not attempt:
        return first, nearest_labels
    train, test = torch.randn(20, 6, generator=_generator(1)), torch.randn(7, 6, generator=_generator(2))
    labels = 100 + torch.randperm(20, generator=_generator(3))
    distances = squared_distances(test, train)

    def found() -> Any:
        return attempt_at_labels(train, labels, test)

    def of_many() -> Any:
        """With more labels than needed, so that any entry of the distances has one at its place."""
        return attempt_at_labels(train, torch.arange(7 * 20), test)

    second = attempt_or_solution(
        "nearest_labels",
        attempt_at_labels,
        nearest_labels,
        (lambda: torch.is_tensor(of_many()), "Return one tensor."),
        (
            lambda: not _same(of_many(), train[distances.argmin(dim=1)]),
            "These are the nearest *images*. Look up their labels in `y_train`.",
        ),
        (
            lambda: of_many().shape == (7,),
            "There should be one label for each row of `x_test`. If the matrix of distances has a row for each of "
            "them, the minimum is taken along dim=1.",
        ),
        (
            lambda: not _same(found(), distances.argmin(dim=1)),
            "These are the numbers of the nearest rows. Look up their labels in `y_train`.",
        ),
        (
            lambda: found().dtype == labels.dtype,
            "These are not the labels, which are integers. `argmin` gives the place of the smallest distance, and "
            "`y_train` has the label of that place.",
        ),
        (
            lambda: not _same(found(), labels[distances.argmax(dim=1)]),
            "These are the labels of the *farthest* rows.",
        ),
        (
            lambda: _same(found(), labels[distances.argmin(dim=1)]),
            "Some labels are wrong, or not in the order of `x_test`.",
        ),
    )
    return first, second


def check_einsum(attempt: Solution) -> Solution:
    """Whether `attempt(a, b)` gives the squared distances and makes no tensor of shape (n, m, d); it, or ours."""
    a, b = (torch.randn(4, 3, generator=_generator(seed)) for seed in (1, 2))
    more = torch.randn(6, 3, generator=_generator(3))
    a2, b2, ab = a.pow(2).sum(dim=1), b.pow(2).sum(dim=1), a @ b.T
    truth = a2[:, None] - 2 * ab + b2
    pairs = (a * b).sum(dim=1)
    crossed = (a @ a.T, a2[:, None], a @ a.T), (b2, b @ b.T, b @ b.T)

    def is_like(*wrong: Any) -> bool:
        return any(_near(attempt(a, b), one) for one in wrong)

    def is_small() -> bool:
        """Whether no operation makes a storage of as many entries as all differences have."""
        from torch.utils._python_dispatch import TorchDispatchMode

        large = []

        class Watch(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                made = func(*args, **(kwargs or {}))
                if torch.is_tensor(made) and made.untyped_storage().nbytes() >= 4 * 20 * 30 * 40:
                    large.append(func)
                return made

        with Watch():
            attempt(torch.zeros(20, 40), torch.zeros(30, 40))
        return not large

    return attempt_or_solution(
        "squared_distances_einsum",
        attempt,
        squared_distances_einsum,
        (lambda: torch.is_tensor(attempt(a, b)), "Return one tensor."),
        (
            lambda: _has_shape(attempt(a, b), (4, 4)),
            "For a and b of shape (4, 3) the result should have shape (4, 4): a row for each row of `a`, a column for "
            "each row of `b`.",
        ),
        (
            lambda: not is_like(a2 - 2 * ab + b2, a2 - 2 * ab + b2[:, None]),
            "`a_squared` has shape (n,), so broadcasting aligns it with the *columns*. It belongs to the rows, so "
            "give it the shape (n, 1): `a_squared[:, None]`.",
        ),
        (
            lambda: not is_like(a2[:, None] - 2 * ab + b2[:, None]),
            "`b_squared` belongs to the columns, so it needs no new axis: (m,) is aligned with them.",
        ),
        (
            lambda: not is_like(a2.sum() - 2 * ab + b2.sum(), a2.sum() - 2 * ab + b2, a2[:, None] - 2 * ab + b2.sum()),
            "A square is summed over *all* rows. Each row needs a number of its own, so its letter must also stand "
            "after the arrow.",
        ),
        (
            lambda: not is_like(a2[:, None] - ab + b2),
            "The factor 2 of the mixed term is missing: (a - b)**2 = a**2 - 2ab + b**2.",
        ),
        (
            lambda: not is_like(a2[:, None] + 2 * ab + b2),
            "The mixed term has the wrong sign: (a - b)**2 = a**2 - 2ab + b**2.",
        ),
        (
            lambda: not is_like(*(a2[:, None] - sign * ab - b2 for sign in (2, -2))),
            "|b|^2 is subtracted. In (a - b)**2 = a**2 - 2ab + b**2 both squares are added.",
        ),
        (
            lambda: not is_like(truth.clamp(min=0).sqrt()),
            "You took the root. The *squared* distance is wanted, as in `squared_distances`.",
        ),
        (
            lambda: not is_like(a2[:, None] - 2 * ab.T + b2),
            "The products are transposed: entry [i, j] belongs to row i of `a` and row j of `b`. The order of the "
            "letters after the arrow is the order of the axes.",
        ),
        (
            lambda: not is_like(ab, 2 * ab, -2 * ab),
            "That is the mixed term alone. The squares of both vectors belong to it.",
        ),
        (
            lambda: (
                not is_like(
                    a2[:, None] - 2 * ab + b.sum(dim=1),
                    a.sum(dim=1)[:, None] - 2 * ab + b2,
                    a.sum(dim=1)[:, None] - 2 * ab + b.sum(dim=1),
                )
            ),
            "One of the squares is only a sum: for the product of a tensor with itself, einsum needs the tensor twice.",
        ),
        (
            lambda: not is_like(*(a2[:, None] - 2 * paired + b2 for paired in (pairs, pairs[:, None]))),
            "The products pair row i of `a` with row i of `b` only. Every row of `a` meets every row of `b`, so their "
            "axes need different letters.",
        ),
        (
            lambda: not is_like(*(one - 2 * ab + other for one, other in zip(*crossed, strict=True))),
            "A square has an entry for each *pair* of rows. |a|^2 multiplies each row by itself only, so both factors "
            "get the same letters.",
        ),
        (lambda: is_like(truth), "The shape is right, the values are not. Compare each of the three terms."),
        (
            lambda: _near(attempt(a, more), a2[:, None] - 2 * a @ more.T + more.pow(2).sum(dim=1)),
            "For as many rows in `a` as in `b` it is right, but not for 4 and 6. The result should have shape (n, m).",
        ),
        (
            is_small,
            "The values are right, but a tensor with n * m * d entries is still made. Let einsum multiply *and* sum: "
            "the letter of the features stands before the arrow only.",
        ),
    )


def check_prepare(attempt: Solution) -> Solution:
    """Whether `attempt(array)` has none of the three silent bugs; the attempt if so, else ours."""
    array = np.random.default_rng(0).random((8, 8)).astype(np.float32)
    array[array < 0.3] /= 5  # faint, but not 0
    raw = torch.tensor(array)
    clean = raw.masked_fill(raw < 0.1, 0)

    def prepared(kept: Any, *, mean_by_row: bool = True, std_by_row: bool = True) -> list[Any]:
        """The standard deviation is taken before or after the mean is subtracted, and with N or N - 1."""
        shifted = kept - kept.mean(dim=1, keepdim=mean_by_row)
        return [
            shifted / of.std(dim=1, keepdim=std_by_row, correction=correction)
            for of in (kept, shifted)
            for correction in (0, 1)
        ]

    def is_one_of(*wrong: Any) -> bool:
        got = attempt(array.copy())
        return any(_near(got, one) for one in wrong)

    def leaves_its_input() -> bool:
        given = array.copy()
        attempt(given)
        return np.array_equal(given, array)

    across = [
        one
        for kept in (raw, clean)
        for mean_by_row, std_by_row in ((False, False), (False, True), (True, False))
        for one in prepared(kept, mean_by_row=mean_by_row, std_by_row=std_by_row)
    ]
    divisors = [
        (kept, kept.std(dim=1, keepdim=True, correction=correction)) for kept in (raw, clean) for correction in (0, 1)
    ]
    masked_last = [
        one.masked_fill(small < 0.1, 0) for one in (*prepared(raw), *prepared(clean)) for small in (raw, one)
    ]
    the_bright_removed = prepared(raw.masked_fill(raw > 0.1, 0))  # a row without faint pixels: 0 / 0
    means = [clean.mean(dim=1, keepdim=True), clean.mean(dim=0), clean.mean()]
    shifted = [clean - mean for mean in means]
    others = [
        one / deviation
        for one in shifted
        for of in (clean, one)
        for deviation in (of.std(dim=1, keepdim=True), of.std(dim=0), of.std())
    ]
    return attempt_or_solution(
        "prepare",
        attempt,
        prepare,
        (lambda: _has_shape(attempt(array.copy()), (8, 8)), "Return one tensor with the shape of `array`."),
        (
            leaves_its_input,
            "The caller's array has changed. `from_numpy` and `as_tensor` share its memory: start with a copy "
            "(`torch.tensor`), and write only into that.",
        ),
        (
            lambda: not is_one_of(*across),
            "A statistic of shape (N,) is aligned with the *columns*, and with N columns there is no error. Keep the "
            "reduced axis: `keepdim=True`.",
        ),
        (
            lambda: not is_one_of(*(kept - kept.mean(dim=1, keepdim=True) / of for kept, of in divisors)),
            "Only the mean is divided by the standard deviation, because `/` comes before `-`. Put brackets around the "
            "difference: `(x - mean) / std`.",
        ),
        (
            lambda: not is_one_of(*masked_last),
            "Faint pixels are set to 0 after a row was normalized. Do it first, on the raw pixels.",
        ),
        (
            lambda: not is_one_of(*prepared(raw)),
            "Faint pixels are not 0. Assign through the mask in one step, `x[mask] = 0`; `x[mask][:] = 0` writes into "
            "a copy.",
        ),
        (
            lambda: not is_one_of(*(kept - kept.mean(dim=1, keepdim=True) for kept in (raw, clean))),
            "The rows have mean 0, but not standard deviation 1: divide by it.",
        ),
        (
            lambda: is_one_of(*prepared(clean)) or not is_one_of(*others),
            "You normalize the columns, or all pixels together, or only in part. Take both statistics of each *row*: "
            "`dim=1`.",
        ),
        (
            lambda: not is_one_of(*((kept - kept.mean(dim=1, keepdim=True)) / of**2 for kept, of in divisors)),
            "You divide by the variance. Divide by its root, the standard deviation: `std`.",
        ),
        (
            lambda: not any(_near(attempt(array.copy()).nan_to_num(), one.nan_to_num()) for one in the_bright_removed),
            "Bright pixels are 0, and faint ones are kept. The mask should be true where a pixel is *below* 0.1.",
        ),
        (
            lambda: is_one_of(*prepared(clean)),
            "Set faint pixels to 0 first. Then take mean and standard deviation of each row, subtract and divide.",
        ),
    )


def check_backward(attempt_at_forward: Solution, attempt: Solution) -> tuple[Solution, Solution]:
    """Whether `forward(x, W1, b1, W2, b2)` and `backward(x, Y, W2, hidden, logits)` are right; both, or ours.

    `backward` is tried once `forward` is right.
    """
    x, Y, W1, b1, W2, b2 = _small_network()
    before = x.mm(W1) + b1
    hidden = before.clamp(min=0)
    logits = hidden.mm(W2) + b2

    def run() -> Any:
        return attempt_at_forward(x.clone(), W1.clone(), b1.clone(), W2.clone(), b2.clone())

    def leaves_weights() -> bool:
        given = [part.clone() for part in (x, W1, b1, W2, b2)]
        attempt_at_forward(*given)
        return all(map(torch.equal, given, (x, W1, b1, W2, b2)))

    first = attempt_or_solution(
        "forward",
        attempt_at_forward,
        forward,
        (lambda: _are_tensors(run(), 2), "Return two tensors: `return hidden, logits`."),
        (
            lambda: [tuple(part.shape) for part in run()] != [(6, 3), (6, 4)],
            "These are `logits` and `hidden`. Return `hidden` first, then `logits`.",
        ),
        (lambda: run()[0].shape == (6, 4), "`hidden` should have shape (N, H): `x` times `W1`."),
        (
            lambda: not _near(run()[0], before),
            "The ReLU is missing: `hidden` has negative entries. (`clamp` returns a new tensor.)",
        ),
        (lambda: not _near(run()[0], x.mm(W1).clamp(min=0)), "The bias `b1` is missing in `hidden`."),
        (
            lambda: not _near(run()[0], x.mm(W1).clamp(min=0) + b1),
            "`b1` is added after the ReLU. Add it before, so that the ReLU sees the sum.",
        ),
        (lambda: _near(run()[0], hidden), "`hidden` should be the ReLU of x W1 + b1."),
        (lambda: run()[1].shape == (6, 3), "`logits` should have shape (N, C): `hidden` times `W2`."),
        (lambda: not _near(run()[1], hidden.mm(W2)), "The bias `b2` is missing in `logits`."),
        (lambda: not _near(run()[1], logits.clamp(min=0)), "No ReLU after the second layer: logits may be negative."),
        (
            lambda: not _near(run()[1], before.mm(W2) + b2),
            "`logits` are computed from what was there before the ReLU.",
        ),
        (lambda: not _near(run()[1], logits.softmax(dim=1)), "Return the logits themselves, without softmax."),
        (lambda: _near(run()[1], logits), "`logits` should be hidden W2 + b2."),
        (leaves_weights, "`forward` changes one of its inputs: one of the operations is in place."),
    )
    if first is not attempt_at_forward:
        return first, backward
    wanted = backward(x, Y, W2, hidden, logits)
    grad_logits = (logits.softmax(dim=1) - Y) / len(x)
    unmasked = grad_logits.mm(W2.T)

    def grads() -> Any:
        return attempt(x.clone(), Y.clone(), W2.clone(), hidden.clone(), logits.clone())

    def are(factor: float) -> bool:
        return all(_near(got, factor * true) for got, true in zip(grads(), wanted, strict=True))

    def leaves_inputs() -> bool:
        given = [part.clone() for part in (x, Y, W2, hidden, logits)]
        attempt(*given)
        return all(map(torch.equal, given, (x, Y, W2, hidden, logits)))

    def runs(dtype: Any) -> bool:
        try:
            got = attempt(*(part.to(dtype) for part in (x, Y, W2, hidden, logits)))
        except RuntimeError:
            return False
        return all(grad.dtype == dtype for grad in got)

    second = attempt_or_solution(
        "backward",
        attempt,
        backward,
        (lambda: _are_tensors(grads(), 4), "Return four tensors: `return grad_W1, grad_b1, grad_W2, grad_b2`."),
        (
            lambda: [tuple(grad.shape) for grad in grads()] == [(5, 4), (4,), (4, 3), (3,)],
            "Each gradient has the shape of its parameter, in the order W1, b1, W2, b2. For a bias: sum over the "
            "examples, dim=0.",
        ),
        (leaves_inputs, "`backward` changes one of its inputs: write in place only into tensors made here."),
        (lambda: not are(len(x)), "Every gradient is N times too large: the loss is a *mean* over the examples."),
        (lambda: not are(-1), "Every gradient has the wrong sign: the gradient of the logits is softmax minus Y."),
        (
            lambda: not _near(grads()[3], grad_logits.mean(dim=0)),
            "`grad_b2` is the mean over the examples instead of the sum: the 1/N of the loss is in "
            "`grad_logits` already.",
        ),
        (
            lambda: _near(grads()[3], wanted[3]),
            "`grad_b2` is wrong, so look at `grad_logits`: (softmax(logits) - Y) / N, softmax along dim=1.",
        ),
        (lambda: _near(grads()[2], wanted[2]), "`grad_W2` should be hidden transposed times `grad_logits`."),
        (
            lambda: not _near(grads()[0], x.T.mm(unmasked)),
            "In `grad_W1`, units whose `hidden` is 0 pass a gradient on. Multiply `grad_hidden` by a mask that is "
            "False for them: `hidden > 0`.",
        ),
        (
            lambda: not _near(grads()[1], unmasked.sum(dim=0)),
            "In `grad_b1`, units whose `hidden` is 0 pass a gradient on. Apply the mask to `grad_hidden` itself, "
            "before both gradients are computed from it.",
        ),
        (
            lambda: not any(_near(grads()[0], x.T.mm(unmasked.clamp(min=0) * on)) for on in (1, hidden > 0)),
            "You apply the ReLU to the gradient, which removes its negative entries. Multiply by the mask "
            "`hidden > 0`, which keeps them where the unit is active.",
        ),
        (
            lambda: not _near(grads()[0], x.T.mm(unmasked * hidden)),
            "You multiply by `hidden` itself. The local gradient of the ReLU is 1 where `hidden > 0`, and 0 elsewhere.",
        ),
        (lambda: _near(grads()[0], wanted[0]), "`grad_W1` should be x transposed times the masked `grad_hidden`."),
        (lambda: _near(grads()[1], wanted[1]), "`grad_b1` should be the sum of the masked `grad_hidden` over dim=0."),
        (
            lambda: runs(torch.float32) and runs(torch.bfloat16),
            "In float64 all is right, but in another dtype it raises an error or gives a wider one: a factor has a "
            "dtype of its own. Multiply by the mask `hidden > 0` itself, or convert it with `.to(x.dtype)`.",
        ),
    )
    return first, second


def check_train(attempt: Solution) -> Solution:
    """Whether `attempt(x, y, params, steps, lr)` trains in place, in any dtype and on any device; it, or ours."""
    generator = _generator()
    x = torch.randn(20, 4, generator=generator, dtype=torch.float64)
    y = torch.arange(20) % 10
    start = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((4, 6), (6,), (6, 10), (10,))]

    def fresh() -> list[Any]:
        return [param.clone() for param in start]

    def losses(steps: int = 5, lr: float = 0.1) -> Any:
        return attempt(x.clone(), y.clone(), fresh(), steps, lr)

    def ends(lr: float = 0.1) -> list[Any]:
        params = fresh()
        attempt(x.clone(), y.clone(), list(params), 5, lr)  # a list of its own: the tensors count, not the list
        return params

    def one_step(lr: float) -> list[Any]:
        params = fresh()
        train(x, y, params, 1, lr)
        return params

    def moved() -> bool:
        return not any(map(torch.equal, ends(), start))

    def all_near(got: Iterable[Any], wanted: Iterable[Any]) -> bool:
        return all(map(_near, got, wanted))

    right_params = fresh()
    right = train(x, y, right_params, 5, 0.1)
    uphill = train(x, y, fresh(), 5, -0.1)

    def runs_with_fewer_labels() -> bool:
        def seven_classes() -> list[Any]:
            W1, b1, W2, b2 = fresh()
            return [W1, b1, W2[:, :7].contiguous(), b2[:7].contiguous()]

        try:
            got = attempt(x.clone(), y % 5, seven_classes(), 2, 0.1)
        except RuntimeError:
            return False
        return np.allclose(got, train(x, y % 5, seven_classes(), 2, 0.1))

    def runs_in_bfloat16() -> bool:
        try:
            attempt(x.bfloat16(), y.clone(), [param.bfloat16() for param in start], 2, 0.1)
        except RuntimeError:
            return False
        return True

    def runs_on_another_device() -> bool:
        from course_lib import virtual_cuda

        with virtual_cuda.session(quiet=True):
            there = [part.to("cuda") for part in (x, y, *start)]
            try:
                attempt(there[0], there[1], there[2:], 2, 0.1)
            except RuntimeError:
                return False
        return True

    return attempt_or_solution(
        "train",
        attempt,
        train,
        (
            lambda: isinstance(losses(), list) and len(losses()) == 5,
            "After the loop, return a list of `steps` losses.",
        ),
        (
            lambda: all(isinstance(loss, float) for loss in losses()),
            "The losses should be Python numbers: `.item()` takes the number out of a tensor.",
        ),
        (
            lambda: not np.allclose(losses()[:1], [right[0] * len(x)]),
            "The first loss is N times too large: take the mean over the examples.",
        ),
        (
            lambda: not np.allclose(losses()[:4], right[1:]),
            "These are the losses *after* each update. Record the loss before you change the parameters.",
        ),
        (
            lambda: np.allclose(losses()[:1], right[:1]),
            "The first loss is wrong. It should be `cross_entropy(logits, Y)`, where row i of `Y` has a 1 in column "
            "y[i] and 0 elsewhere.",
        ),
        (
            moved,
            "Some of the tensors in `params` have not changed: `param = param - ...` makes a new tensor. "
            "Write `param -= ...` for each of the four.",
        ),
        (
            lambda: not np.allclose(losses(), uphill),
            "The loss rises: subtract the gradient, times `lr`, instead of adding it.",
        ),
        (
            lambda: not all_near(ends(0.1), ends(0.2)),
            "The result does not depend on `lr`: multiply each gradient by it.",
        ),
        (
            lambda: np.allclose(losses(), right) and all_near(ends(), right_params),
            "The first loss is right, the next ones are not. In each step: forward, loss, backward, then one update "
            "of all four parameters.",
        ),
        (
            runs_with_fewer_labels,
            "It works for these labels, but not for 7 classes of which only 5 occur. A function for any network takes "
            "the number of classes from `b2`.",
        ),
        (
            runs_in_bfloat16,
            "In float64 all is right; in bfloat16 it raises an error: something has a dtype of its own. Give the "
            "one-hot `Y` the dtype of `x`.",
        ),
        (runs_on_another_device, DEVICE),
    )


def _generator(seed: int = 0) -> Any:
    return torch.Generator().manual_seed(seed)


def _small_network() -> list[Any]:
    """x, one-hot Y, W1, b1, W2, b2 in float64, with some hidden units on and some off; N, D, H, C = 6, 5, 4, 3."""
    generator = _generator()
    shapes = ((6, 5), (5, 4), (4,), (4, 3), (3,))
    x, W1, b1, W2, b2 = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)
    Y = torch.eye(3, dtype=torch.float64)[torch.tensor([0, 1, 2, 2, 1, 0])]
    return [x, Y, W1, b1, W2, b2]


def _are_tensors(value: Any, count: int) -> bool:
    return isinstance(value, tuple | list) and len(value) == count and all(map(torch.is_tensor, value))


def _has_shape(value: Any, shape: tuple[int, ...]) -> bool:
    return torch.is_tensor(value) and tuple(value.shape) == shape


def _same(one: Any, other: Any) -> bool:
    """Equal values and shapes, whatever the dtypes."""
    return one.shape == other.shape and bool((one.double() == other.double()).all())


def _near(one: Any, other: Any) -> bool:
    return one.shape == other.shape and torch.allclose(one.double(), other.double(), rtol=1e-4, atol=1e-5)


def _share(one: Any, other: Any) -> bool:
    return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())
