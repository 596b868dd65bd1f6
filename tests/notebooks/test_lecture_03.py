"""Lecture 03 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. The puzzles are solved here, rightly and wrongly, and their checks watched.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

pytestmark = pytest.mark.parametrize("ran", ["lectures/03_pytorch_tensors.ipynb"], indirect=True)

FACTS = {
    # 1 A tensor against an array
    "The next cell makes five pairs": "len(pairs) == 5",
    "The shapes are equal, and whole numbers are `int64` in both.": (
        "all(a.shape == tuple(t.shape) for a, t in pairs.values()) and"
        " [t.dtype for _, t in pairs.values()][3:] == [torch.int64] * 2 and"
        " [str(a.dtype) for a, _ in pairs.values()][3:] == ['int64'] * 2"
    ),
    "Numbers with a fraction differ: NumPy takes `float64`, PyTorch `float32`.": (
        "[(str(a.dtype), t.dtype) for a, t in pairs.values()][:3] == [('float64', torch.float32)] * 3"
    ),
    "A network does not need 16 digits; it needs half the memory": (
        "np.finfo(float).eps < 1e-15 and torch.zeros(1).element_size() * 2 == double.element_size()"
    ),
    "`torch.zeros(2, 3, dtype=torch.float64)`": "torch.zeros(2, 3, dtype=torch.float64).dtype is torch.float64",
    "The same seed gives other numbers than in NumPy.": "other_numbers()",
    "`torch.tensor` accepts an array, and keeps its dtype": "torch.tensor(np.ones(2)).dtype is torch.float64",
    "float64 has 8 bytes and float32 has 4. Two more have only 2: `float16`, and `bfloat16`": (
        "[torch.ones((), dtype=d).element_size() for d in lost_at] == [2, 2, 4, 8]"
    ),
    "which has fewer digits and reaches as far as float32": (
        "torch.finfo(torch.bfloat16).eps > torch.finfo(torch.float16).eps and"
        " torch.finfo(torch.bfloat16).max > 0.99 * torch.finfo(torch.float32).max"
    ),
    "the gap doubles at every power of 2": (
        "all(gap_at(d, 2.0**k) == 2 * gap_at(d, 2.0 ** (k - 1)) and gap_at(d, 1.5 * 2.0**k) == gap_at(d, 2.0**k)"
        " for d in lost_at for k in range(-3, 10))"
    ),
    "`float16` ends at 65,504, where its range ends.": (
        "torch.finfo(torch.float16).max == 65504 and gaps['float16'].isnan().any().item() and"
        " not any(gaps[n].isnan().any().item() for n in ('bfloat16', 'float32', 'float64'))"
    ),
    "in which of the four is 256 + 1 equal to 256?": "len(gaps) == 4 + 1",
    "a level line where the gap is 1": "gaps['a gap of 1'].tolist() == [1] * len(numbers)",
    "the next number is more than 1 away, and adding 1 can be lost": (
        "all(gap_at(d, n) == 2 for d, n in lost_at.items() if d is not torch.float16) and"
        " gap_at(torch.float16, 2048) == 2"
    ),
    "In `bfloat16` 256 + 1 is 256; `float16` lasts until 2048, `float32` until 16,777,216, and `float64` until a number"
    " of 16 digits.": "list(lost_at.values()) == [256, 2048, 16777216, 2**53] and len(str(2**53)) == 16",
    "`pixel` is the byte 200": "pixel.tolist() == [200] and pixel.dtype is torch.uint8",
    "float over integer, float64 over float32": (
        "(whole + single).dtype is torch.float32 and mixed['single + double'].dtype is torch.float64"
    ),
    "`single * np.pi` stays float32.": (
        "(single * np.pi).dtype is torch.float32 and (whole + 1.5).dtype is torch.float32"
    ),
    "It can only turn integers into floats, and then into float32, the default. `/` always gives a float.": (
        "(whole + 1.5).dtype is (whole / 2).dtype is (whole / whole).dtype is torch.get_default_dtype()"
    ),
    "300 does not fit into 0 to 255, so 256 is taken off, and 44 is left.": (
        "mixed['pixel + 100'].tolist() == [44] == [300 - 256]"
    ),
    "Elementwise operations convert. Matrix products do not": "'same dtype' in raised(lambda: single @ double)",
    "Messages use C's names: `float` is float32, `double` is float64, `Long` is int64": (
        "single.float().dtype is torch.float32 and single.double().dtype is torch.float64 and"
        " single.long().dtype is torch.int64"
    ),
    "float32 is what PyTorch chooses where *nobody* said anything.": "torch.get_default_dtype() is torch.float32",
    "<code>torch.tensor(array, dtype=torch.float32)</code> mends it": (
        "torch.tensor(np.ones(2), dtype=torch.float32).dtype is torch.float32"
    ),
    # 2 Slicing
    "From here on `x` is a matrix of twelve numbers.": "x.numel() == 12 and x.shape == (3, 4)",
    "All as in NumPy": (
        "all(np.array_equal(x[key].numpy(), x.numpy()[key]) for key in"
        " (1, (slice(None), 1), (slice(1, None), slice(None, None, 2)), (..., -1), None)) and"
        " np.array_equal(x[x > 50].numpy(), x.numpy()[x.numpy() > 50])"
    ),
    "`flip` makes a copy": "not shares(x.flip(0), x) and np.array_equal(x.flip(0).numpy(), x.numpy()[::-1])",
    "What is `x[1, 0]` afterwards: 40, -1 or -2? ": "x[1, 0].item() == 40",
    "It is -1. `x[1]` is a *view*": "shares(row, row_of) and row_of[1, 0].item() == -1",
    "`x[[1]]` is a copy": "not shares(picked, row) and picked[0, 0].item() == -2",
    "numbers, slices, `...` and `None` give a view": "all(shares(x[k], x) for k in (1, slice(0, 2), ..., None))",
    "lists, index tensors and masks give a copy": (
        "not any(shares(x[k], x) for k in ([1], torch.tensor([1]), x > 50))"
    ),
    "Only the second.": "y.tolist() == [[0, 10, 20, 30], [40, 50, 0, 0], [0, 0, 0, 0]]",
    "one entry of a tensor is again a tensor, with no axes": "entry.dim() == 0 and type(entry.item()) is int",
    "A number as index gives a view. If you want an independent copy, write `data[0].clone()`.": (
        "shares(x[0], x) and not shares(x[0].clone(), x)"
    ),
    # 3 Broadcasting
    "Two of these four do not fit `(3, 4)`": (
        "[bool(raised(lambda: torch.broadcast_shapes((3, 4), s))) for s in ((4,), (3,), (3, 1), (2, 3))]"
        " == [False, True, False, True]"
    ),
    "at axis 1, 4 meets 3. For `(3,)` there is a cure: `v[:, None]` makes it `(3, 1)`": (
        "(torch.zeros(3, 4) + torch.arange(3)[:, None]).tolist() == [[0] * 4, [1] * 4, [2] * 4]"
    ),
    "A model predicts 64 targets exactly.": "torch.equal(predictions[:, 0], targets) and len(targets) == 64",
    "its output has the shape `(64, 1)`, as models' outputs do, and the targets have `(64,)`": (
        "predictions.shape == (64, 1) and targets.shape == (64,)"
    ),
    "A perfect model gets a loss of 2.249.": "round(squared.mean().item(), 3) == 2.249",
    "`(64, 1)` and `(64,)` broadcast to `(64, 64)`: each prediction was compared with *every* target, 4096 pairs.": (
        "squared.shape == (64, 64) and squared.numel() == 4096"
    ),
    "it is least where every prediction is the mean of all targets": "flat_at_the_mean()",
    "Aligned at the right, they are subtracted from the *columns*": (
        "torch.equal(q - q.mean(dim=1), torch.stack([q[:, j] - q[j].mean() for j in range(3)], dim=1))"
    ),
    "They do fit, for a square matrix. With `(3, 4)` you would get the error": (
        "'must match' in raised(lambda: x.float() - x.float().mean(dim=1))"
    ),
    "<code>q.mean(dim=1, keepdim=True)</code> is right": (
        "(q - q.mean(dim=1, keepdim=True)).mean(dim=1).abs().max().item() < 1e-6 and"
        " (q - q.mean(dim=1)).mean(dim=1).abs().max().item() > 0.1"
    ),
    # 4 In place
    "Most methods exist twice": "all(hasattr(x, n) and hasattr(x, n + '_') for n in ('add', 'mul', 'clamp'))",
    "`zero_`, `fill_`, `copy_`, `clamp_`": "all(hasattr(x, n) for n in ('zero_', 'fill_', 'copy_', 'clamp_', 'mul_'))",
    "`b` is 12.": "b.tolist() == [12] * 3 and a.tolist() == [112] * 3",
    "`a = a + 100` made a new tensor": "not shares(a, b)",
    "Without the underscore both work": (
        "whole.add(1.5).tolist() == [2.5, 3.5] and torch.ones(4).add(torch.ones(3, 4)).shape == (3, 4)"
    ),
    "Integers cannot take up 2.5, and four places cannot hold twelve numbers.": "whole.tolist() == [1, 2]",
    "NumPy calls it `clip`": "np.array_equal(t.clamp(-2, 1), np.clip(t.numpy(), -2, 1), equal_nan=True)",
    "`clamp(min=0)` is the ReLU of lecture 02": (
        "torch.equal(t[:4].clamp(min=0), t[:4].relu()) and t[:4].clamp(min=0).tolist() == [0, 0, 0.5, 2]"
    ),
    'A `nan` ("not a number") stays a `nan`': "t.clamp(0, 1).isnan().tolist() == [False] * 4 + [True]",
    # 5 The bridge
    "`from_numpy` shares the array's memory, always.": "sharing() == [True, True, False, False]",
    "Another dtype needs other bytes, so there it copies.": (
        "made['torch.as_tensor(..., float32)'].tolist() == [0, 0, 0]"
    ),
    "`torch.tensor` copies, always.": "made['torch.tensor(array)'].tolist() == [0, 0, 0]",
    "7 became 14 in the array": "back.tolist() == [14, 0, 0] and shared.tolist() == [14, 0, 0]",
    "Then `array + 1` made a *new* array": "array.tolist() == [15, 1, 1] and not np.shares_memory(array, back)",
    "the message names the cure, `array.copy()`": (
        "torch.from_numpy(np.arange(4)[::-1].copy()).tolist() == [3, 2, 1, 0]"
    ),
    "<code>t = t / 255</code>": "torch.equal(floats / 255, torch.full((3,), 1 / 255))",
    "<code>t.div_(255)</code>": "callers_image() == [1.0]",
    "The division makes a new tensor": "not shares(floats / 255, floats)",
    "The underscore writes into the shared memory. The caller's images are 255 times darker now": (
        "callers_image() == [1.0]"
    ),
    "If `t` is float64 already, it returns `t` itself; else it makes a copy.": (
        "double.double() is double and not shares(single.double(), single)"
    ),
    # 6 Storage
    "Twelve numbers of 8 bytes: 96.": "x.untyped_storage().nbytes() == 96 == 12 * x.element_size()",
    "one row further is 4 places, one column further is 1": "x.stride() == (4, 1) and x.storage_offset() == 0",
    "Place 9 holds 90: in this `x` each value is ten times its place": (
        "place(x, 2, 1) == 9 and all(x[i, j].item() == 10 * place(x, i, j) for i in range(3) for j in range(4))"
    ),
    "Now four tensors over the same storage.": "all(shares(v, x) for v in (x.T, x[1:, ::2], x[:, 1]))",
    "Transposing swaps the strides, (4, 1) to (1, 4), and nothing else.": (
        "x.T.stride() == (1, 4) and x.T.shape == (4, 3) and x.T.storage_offset() == 0"
    ),
    "A slice begins later (offset 4), and its step multiplies a stride (1 becomes 2).": (
        "x[1:, ::2].storage_offset() == 4 and x[1:, ::2].stride() == (4, 2)"
    ),
    "A column is a vector whose next entry lies 4 places on.": "x[:, 1].stride() == (4,)",
    "PyTorch does not allow negative strides": "'Negative strides' in raised(lambda: x.as_strided((2,), (-1,), 3))",
    "First row of `x.T`: 0, 40, 80, the first column of `x`. First row of `x.view(4, 3)`: 0, 10, 20": (
        "x.T[0].tolist() == x[:, 0].tolist() == [0, 40, 80] and x.view(4, 3)[0].tolist() == [0, 10, 20]"
    ),
    "`x.T` reads the places 0, 4, 8, 1, ...": (
        "[place(x.T, *ij) for ij in ((0, 0), (0, 1), (0, 2), (1, 0))] == [0, 4, 8, 1]"
    ),
    "`view` never copies": "shares(x.view(2, 6), x) and 'not compatible' in raised(lambda: x.T.view(12))",
    "`reshape` is a view where it can be one, and copies where it must": (
        "shares(x.reshape(12), x) and not shares(x.T.reshape(12), x)"
    ),
    "the new storage is in the order of `x.T`": "x.T.reshape(12).tolist() == [v for r in x.T.tolist() for v in r]",
    "`x` is, `x.T` is not, and `x.T.contiguous()` would make the copy": (
        "x.is_contiguous() and not x.T.is_contiguous() and x.T.contiguous().stride() == (3, 1)"
    ),
    "Which of these nine are copies?": "len(candidates) == 9",
    "Four copies: `reshape` and `contiguous` of the transposed, the list, and `float`.": (
        "[n for n, v in candidates.items() if not shares(v, x)]"
        " == ['x.T.reshape(12)', 'x.T.contiguous()', 'x[[0, 1]]', 'x.float()']"
    ),
    "`x.contiguous()` and `x.long()` had nothing to do, and returned `x` itself": (
        "candidates['x.contiguous()'] is x and candidates['x.long()'] is x"
    ),
    "a stride of 0 stays at the same place": "bias.expand(4, 3).stride() == (0, 1) and shares(bias.expand(4, 3), bias)",
    "3,000,000 entries in 12 bytes.": "million.numel() == 3_000_000 and million.untyped_storage().nbytes() == 12",
    "`clone()` first": "raised(lambda: bias.expand(4, 3).clone().add_(1)) == '' and bias.tolist() == [5, 6, 7]",
    "row `i` begins at place `i`": "[place(windows, i, 0) for i in range(5)] == [0, 1, 2, 3, 4]",
    "A moving average without a loop and without a copy.": (
        "torch.allclose(windows.mean(dim=1), torch.stack([series[i : i + 3].mean() for i in range(5)])) and"
        " shares(windows, series)"
    ),
    "The message counts bytes: 32 would be 8 places, and 28 are 7.": (
        "series.untyped_storage().nbytes() == 28 == 7 * 4 and 6 + 3 - 1 == 8 and 32 == 8 * 4"
    ),
    "(`series.unfold(0, 3, 1)` gives the same windows": "torch.equal(series.unfold(0, 3, 1), windows)",
    "We keep 3 numbers of a million": "sample.tolist() == [0] * 3 and sample.untyped_storage().nbytes() == 4_000_000",
    "More than 4,000,000 bytes": "saved_bytes(sample) > 4_000_000",
    "`clone()` first leaves under 5000, nearly all of it the frame of the file": (
        "12 < saved_bytes(sample.clone()) < 5000 and"
        " saved_bytes(sample[:1].clone()) > saved_bytes(sample.clone()) - 200"
    ),
    "because other views saved beside it may share it": "shared_after_loading()",
    "B · <code>big.view(1000, -1).T[::2]</code>": "shares(big.view(1000, -1).T[::2], big)",
    "A · <code>big.view(1000, -1).T.reshape(-1)</code>": (
        "not shares(big.view(1000, -1).T.reshape(-1), big) and raised(lambda: big.view(1000, -1).T.view(-1)) != ''"
    ),
    "The expanded tensor has stride 0 along its first axis": "big.expand(5, -1).stride() == (0, 1)",
    # 7 Device and layout
    "`.to(device)` copies, unless there is nothing to do.": "not shares(v, w) and v.to('cpu') is v",
    "What is made from a tensor stays on its device.": "moved() == ['cuda:0'] * 3",
    "Seven of the nine entries are 0.": "mostly_zero.numel() == 9",
    "nine places of 4 bytes, seven of them for zeros": (
        "mostly_zero.untyped_storage().nbytes() == 9 * 4 and (mostly_zero == 0).sum().item() == 7"
    ),
    "7 stands in row 0, column 2": (
        "coo.values().tolist() == [7, 8] and coo.indices().tolist() == [[0, 2], [2, 0]] and"
        " coo.layout is torch.sparse_coo and coo.values().layout is coo.indices().layout is torch.strided"
    ),
    "40 bytes against 36. An entry costs 4 bytes for its value and 16 for its row and column.": (
        "mostly_zero.nbytes == 36 and coo.values().nbytes + coo.indices().nbytes == 40 == 2 * (4 + 16) and"
        " coo.indices().nbytes == 2 * 16"
    ),
    "needs less only if fewer than one entry in five is not 0": "5 * 4 == 4 + 16",
    # 8 Products
    "The next cell tries four of them on six pairs of shapes.": "len(products) == 4",
    "It works in the first row alone, and `*` does not work there.": (
        "works('mm') == [True] + [False] * 5 and not works('*')[0]"
    ),
    "`bmm`: a batch of matrices times a batch of matrices.": "works('bmm') == [False] * 4 + [True, False]",
    "`matmul`: all of it.": "works('matmul') == [True] * 6",
    "(7, 1) and (5,) give (7, 5)": "shape_or_dash(torch.matmul, (7, 1, 3, 4), (5, 4, 2)) == '(7, 5, 3, 2)'",
    "(1000x100 and 1000x100), the inner lengths 100 and 1000 are not equal": "weights.shape == (1000, 100)",
    "`[[1, 2], [3, 4]]` times itself is `[[7, 10], [15, 22]]`; entry by entry it is `[[1, 4], [9, 16]]`": (
        "[[[7, 10], [15, 22]], [[1, 4], [9, 16]]] == [r.tolist() for r in (two @ two, two * two)]"
    ),
    # 9 The network
    "64 examples of 1000 features, 100 hidden units with ReLU, 10 outputs": (
        "(N, D_in, H, D_out) == (64, 1000, 100, 10) and X.shape == (64, 1000) and Y.shape == (64, 10)"
    ),
    "`mul_` is safe here": "torch.equal(W2, torch.tensor(W2_np)) and torch.equal(X, torch.tensor(X_np))",
    "The loss is 30.09, as in lecture 02, and the gradients agree to 14 digits.": (
        "round(loss, 2) == 30.09 and off < 1e-14"
    ),
    "The second run begins where the first ended, below 0.000001.": (
        "second_run[0] < first_run[-1] < 1e-6 and second_run[0] > 0.8 * first_run[-1]"
    ),
    "leave exactly as they are": "[len(c) for c in curves.values()] == [100] * 3 and len(unmoved) == 3",
    "The updates went through the bridge into the arrays": "not np.array_equal(weights_np[0], W1_np)",
    "The cure is a copy at the start: `torch.tensor(array)`, or `.clone()` for a tensor.": (
        "torch.equal(W1, torch.tensor(W1_np)) and curves['float64'] == first_run"
    ),
    "keeps between two and three digits": "10**-3 < torch.finfo(torch.bfloat16).eps < 10**-2",
    "float64 ends below 0.000001.": "curves['float64'][-1] < 1e-6",
    "float32 lies on float64, down to the end": (
        "np.allclose(curves['float32'], curves['float64'], rtol=0.01) and"
        " trained['float32'][0].nbytes * 2 == trained['float64'][0].nbytes"
    ),
    "bfloat16 follows for some twenty updates, and then hardly falls.": (
        "curves['bfloat16'][10] < 1.3 * curves['float64'][10] and"
        " curves['bfloat16'][30] > 2 * curves['float64'][30] and"
        " curves['bfloat16'][99] > 0.2 * curves['bfloat16'][60] and curves['bfloat16'][99] > 1e-3"
    ),
    "Its weights are about 0.05 in size ($\\sqrt{2/1000}$, as they were drawn). In the figure of section 1, the gap"
    " there is above 0.0002.": (
        "0.04 < W1.std().item() < 0.05 and abs(W1.std().item() - (2 / 1000) ** 0.5) < 0.001 and"
        " 0.0002 < gap_at(torch.bfloat16, W1.std().item()) < 0.0003"
    ),
    "An update of less than half a gap is rounded away.": (
        "torch.tensor(1.0).bfloat16() + 0.49 * gap_at(torch.bfloat16, 1.0) == 1 and"
        " torch.tensor(1.0).bfloat16() + 0.51 * gap_at(torch.bfloat16, 1.0) > 1"
    ),
    "In bfloat16 more than nine of ten weights do not move at all: 256 + 1 is 256.": (
        "unmoved['bfloat16'] > 0.9 and unmoved['float32'] < 0.1 and unmoved['float64'] < 0.01"
    ),
    "The same losses.": "np.allclose(on_device, first_run, rtol=1e-9, atol=0)",
    "One is left, the five lines of `backward`.": "len(inspect.getsource(backward).strip().splitlines()) == 1 + 5",
    # 10 Photographs
    "CIFAR-10 is 60,000 small colour photographs, 50,000 of them to train with.": "5 * 10_000 + 10_000 == 60_000",
    "All 50,000 training photographs would be 614,400,000 bytes instead of 153,600,000.": (
        "50_000 * images[0].numel() == 153_600_000 and 50_000 * batch[0].nbytes == 614_400_000"
    ),
    "a float32 takes four bytes where the file has one": "images.element_size() == 1 and batch.element_size() == 4",
    "each photograph is 3073 bytes. First the label (the number of its class), then"
    " 32 \N{MULTIPLICATION SIGN} 32 bytes of red": ("1 + 3 * 32 * 32 == 3073 and len(photo[0]) == 32"),
    "So we ship 40 photographs of our own choice": "len(records) == 40 and len(data.PHOTO_CLASSES) == 5",
    "crops of five pictures that their makers gave away (a cat, coffee, galaxies, a retina, a rocket)": (
        "data.PHOTO_CLASSES == ('cat', 'coffee', 'galaxies', 'retina', 'rocket')"
    ),
    "they are not CIFAR-10, and too few to train on": "len(records) < 50",
    "(If you have CIFAR-10's binary version": "from_a_file('data_batch_1.bin').dtype == np.uint8",
    '`np.fromfile("data_batch_1.bin", np.uint8).reshape(-1, 3073)` gives 10,000 such records': (
        "from_a_file('data_batch_1.bin').shape == (10_000, 3073) and"
        " np.array_equal(from_a_file('data_batch_1.bin')[:40], records)"
    ),
    "We want labels, shape (40,), and images, shape (40, 3, 32, 32): image, colour, row, column.": (
        "labels.shape == (40,) and images.shape == (40, 3, 32, 32) and labels.unique().tolist() == [0, 1, 2, 3, 4]"
    ),
    "The next image is 3073 places on, the next colour 1024, the next row 32, the next pixel 1": (
        "images.stride() == (3073, 1024, 32, 1) and images.storage_offset() == 1 and shares(images, records)"
    ),
    "Both lines below have the right shape, (32, 32, 3).": (
        "[shown[n].shape == (32, 32, 3) for n in shown] == [True] * 2"
    ),
    "You see nine small, almost grey cats, three from each colour.": (
        "torch.equal(photo.reshape(32, 32, 3)[0].flatten(), photo[0, :3].flatten()) and nine_small_cats()"
    ),
    "Now all 40, in 5 rows of 8, without a loop.": (
        "wall.shape == (160, 256, 3) and"
        " all(torch.equal(wall[r * 32 : r * 32 + 32, c * 32 : c * 32 + 32].permute(2, 0, 1), images[8 * r + c])"
        " for r in range(5) for c in range(8))"
    ),
    "So a row of 32 bytes fills a third of a row of pixels": "3 * 32 == 32 * 3 == photo.reshape(32, 32, 3)[0].numel()",
    "Until `permute` all are views; the last `reshape` must copy": (
        "shares(grid, records) and not shares(wall, records)"
    ),
    'three neighbours in a row of red become the "colours" of one pixel': (
        "torch.equal(photo.reshape(32, 32, 3)[0, :2].flatten(), photo[0, 0, :6])"
    ),
    "Add 100 to each byte": "torch.equal(wrapped, ((cup.int() + 100) % 256).to(torch.uint8))",
    "What was above 155 went past 255, came round, and is dark now.": (
        "(wrapped[cup > 155] < 100).all().item() and 0.1 < gone_wrong < 0.9 and (right >= cup).all().item()"
    ),
    "all axes but the second": "mean.shape == std.shape == (3,)",
    "the shape (3,) meets 32 columns": "'must match' in raised(lambda: batch - mean)",
    "`mean[:, None, None]` has the shape (3, 1, 1)": "mean[:, None, None].shape == (3, 1, 1)",
    "Networks also like inputs with mean 0 and standard deviation 1, for each colour.": (
        "normal.mean(dim=(0, 2, 3)).abs().max().item() < 1e-4 and"
        " (normal.std(dim=(0, 2, 3)) - 1).abs().max().item() < 1e-4"
    ),
    "Had the images been 3 pixels wide": "(batch[..., :3] - mean).shape == (40, 3, 32, 3)",
    "(3,) fits a last axis of length 3.": "torch.broadcast_shapes((40, 3, 32, 3), (3,)) == (40, 3, 32, 3)",
    "Section 10 shows what that does to a photograph.": "'wrapped' in globals()",
    "Section 10 does it to a photograph.": "'photo' in globals()",
    # Exercises
    "One of the five may surprise you.": (
        "[v.is_contiguous() for v in (x, x.T, x[1:], x[:, :1], x[:1].T)] == [True, False, True, False, True]"
    ),
    "Mirror all 40 photographs": "not shares(images.flip(3), images) and not shares(images.rot90(1, (2, 3)), images)",
    "And the transposed?": "shares(images.mT, images)",
    "8. Save `images[:1]` and `images[:1].clone()`. Explain both sizes.": (
        "saved_bytes(images[:1]) > 40 * 3073 and saved_bytes(images[:1].clone()) < 10_000"
    ),
}

SHORTHAND = """
import inspect


def raised(function):
    try:
        function()
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def gap_at(dtype, number):
    number = torch.tensor(number, dtype=dtype)
    return (torch.nextafter(number, torch.full_like(number, torch.inf)).double() - number.double()).item()


def sharing():
    array = np.zeros(3)
    tensors = (torch.from_numpy(array), torch.as_tensor(array), torch.tensor(array),
               torch.as_tensor(array, dtype=torch.float32))
    return [np.shares_memory(array, tensor.numpy()) for tensor in tensors]


def other_numbers():
    torch.manual_seed(0)
    return not torch.allclose(torch.rand(9, dtype=torch.float64), torch.tensor(np.random.RandomState(0).rand(9)))


def flat_at_the_mean():
    guess = torch.full((64, 1), targets.mean().item(), dtype=torch.float64, requires_grad=True)
    loss = ((guess - targets) ** 2).mean()
    loss.backward()
    return guess.grad.abs().max().item() < 1e-12 and loss.item() < squared.mean().item()


def callers_image():
    image = np.array([255.0])
    torch.from_numpy(image).div_(255)
    return image.tolist()


def shared_after_loading():
    buffer = io.BytesIO()
    torch.save([sample, sample[1:]], buffer)
    buffer.seek(0)
    return shares(*torch.load(buffer, weights_only=True))


def works(name):
    pairs = (((3, 4), (4, 2)), ((3, 4), (4,)), ((4,), (4,)), ((5, 3, 4), (4, 2)), ((5, 3, 4), (5, 4, 2)),
             ((7, 1, 3, 4), (5, 4, 2)))
    return [shape_or_dash(products[name], left, right) != "-" for left, right in pairs]


def from_a_file(path):
    np.tile(records.numpy(), (250, 1)).tofile(path)
    return np.fromfile(path, np.uint8).reshape(-1, 3073)


def nine_small_cats():
    # Three rows of a plane fill one row of the reshaped picture: every third row, every third pixel, side by side.
    pixels = photo.reshape(32, 32, 3).float().mean(dim=2).flatten()
    for channel, plane in enumerate(photo.float()):
        for begin in range(3):
            for row in range(begin, 30, 3):
                byte = channel * 1024 + row * 32
                pixel = -(-byte // 3)  # the first that lies wholly in this row of the plane
                thirds = plane[row, 3 * pixel - byte :][:30].unflatten(0, (10, 3)).mean(dim=1)
                if not torch.allclose(pixels[pixel : pixel + 10], thirds):
                    return False
    return True


def moved():
    with virtual_cuda.session(quiet=True):
        there = torch.ones(3).to("cuda")
        return [str(v.device) for v in (there, there[:2], there + 1)]


row_of = torch.arange(0, 120, 10).view(3, 4)
row, picked = row_of[1], row_of[[1]]
row[0], picked[0, 0] = -1, -2
q = torch.tensor([[1.0, 2.0, 4.0], [0.0, 5.0, 7.0], [3.0, 3.0, 9.0]])
two = torch.tensor([[1, 2], [3, 4]])
floats, big = torch.ones(3), torch.zeros(10_000)
"""
"""what the facts need besides the lecture's own names"""


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(ran: Any, said: str) -> None:
    assert said.strip() in ran.prose, "the text was changed; change its fact, too"
    ran.do(SHORTHAND)
    assert ran.value(f"bool({FACTS[said]})") is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS) == []


# What fails on purpose fails, with the words that the text quotes.

ON_PURPOSE = {
    "whole.mean()": (
        "expected m1 and m2 to have the same dtype, but got: float != double",
        "mean(): could not infer output dtype.",
    ),
    "x[::-1]": ("ValueError: step must be greater than zero",),
    "[(4,), (3,), (3, 1), (2, 3)]": (
        "(3, 4) and (4,) give (3, 4)\nNo error",
        "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1\n(3, 4) and (3, 1)",
    ),
    "whole.add_(1.5)": ("can't be cast to the desired output type Long", "doesn't match the broadcast shape [3, 4]"),
    "np.arange(4)[::-1]": (
        "ValueError: At least one stride in the given numpy array is negative",
        "UserWarning: The given NumPy array is not writable",
    ),
    "x.T.view(12)": ("RuntimeError: view size is not compatible with input tensor's size and stride",),
    "million.add_(1)": ("Please clone() the tensor before performing the operation",),
    "series.as_strided((6, 3)": ("storage\nsize of 32 are out of bounds for storage of size 28",),
    "w.numpy()": (
        "cuda:0\nNo error, no warning.\ncuda:0\nNo error, no warning.\nRuntimeError: Expected all tensors to be on the",
        "found at least two devices, cuda:0 and cpu!\nTypeError: can't convert cuda:0 device type tensor to numpy",
    ),
    "batch_too_deep": (
        "matmul gives (64, 1, 100)\nRuntimeError: self must be a matrix",
        "mat1 and mat2 shapes cannot be multiplied (1000x100 and 1000x100)",
    ),
    "batch - mean\n": ("The size of tensor a (32) must match the size of tensor b (3) at non-singleton dimension 3",),
}
"""piece of a cell -> what the cell shows"""


@pytest.mark.parametrize("piece", ON_PURPOSE)
def test_what_fails_on_purpose_fails_with_the_message_that_the_text_explains(ran: Any, piece: str) -> None:
    [cell] = [cell for cell in ran.failing_on_purpose() if piece in cell.source + "\n"]
    shown = "".join(output.get("text", "") for output in cell.outputs)
    assert [words for words in ON_PURPOSE[piece] if words not in shown] == []


def test_nothing_else_fails_on_purpose(ran: Any) -> None:
    assert len(ran.failing_on_purpose()) == len(ON_PURPOSE)


# The puzzles: a check waits, shows a small failing input, names the mistake, and accepts what is right.

RIGHT, VIEW = "right, for 12 random inputs.", "right, for 12 random inputs, and without a copy."
SIGNATURES = ("outer(a, b)", "one_hot(labels, classes)", "distances(a, b)", "diagonal(m)")
ANSWERS = [
    (1, "a[:, None] * b", RIGHT),
    (1, "torch.outer(a, b)", RIGHT),
    (1, "b[:, None] * a", "That is the transpose"),
    (1, "torch.stack([one * b for one in a])", "Is there a loop?"),
    (1, "a * b", "wanted [["),
    (1, "a[:, None] * b.float()", "wanted torch.int64."),
    (2, "(labels[:, None] == torch.arange(classes)).long()", RIGHT),
    (2, "torch.eye(classes).long()[labels]", RIGHT),
    (2, "labels[:, None] == torch.arange(classes)", "Right, but True and False"),
    (2, "(torch.arange(classes)[:, None] == labels).long()", "Rows and columns are swapped."),
    (2, "labels.missing", "your code raises AttributeError"),
    (3, "((a[:, None] - b) ** 2).sum(dim=-1)", RIGHT),
    (3, "((a[:, None] - b) ** 2).sum(dim=-1).sqrt()", "You took the root"),
    (3, "(a[:, None] - b).sum(dim=-1) ** 2", "Square first"),
    (3, "((a[:, None] - b) ** 2).sum(dim=1)", "Sum over the last axis"),
    (3, "((b[:, None] - a) ** 2).sum(dim=-1)", "That is the transpose."),
    (4, "m.as_strided((len(m),), (sum(m.stride()),))", VIEW),
    (4, "m.diagonal()", VIEW),
    (4, "m.as_strided((len(m),), (len(m) + 1,))", "ask `m.stride()`"),
    (4, "m[range(len(m)), range(len(m))]", "they are copies"),
    (4, "m[:, 0]", "down *and* right"),
    (4, "m.diagonal().mul_(2)", "your code changes its input"),
]
"""number of the puzzle, an answer, and what its check says to it"""


@pytest.mark.parametrize(("number", "answer", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(ran: Any, number: int, answer: str, said: str) -> None:
    written = f"def {SIGNATURES[number - 1]}:\n    return {answer}"
    printed = " ".join(ran.say(number, written).split())
    assert said in printed and printed.startswith(f"Puzzle {number}: ")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_check_waits_for_who_has_not_begun(ran: Any, number: int) -> None:
    assert SIGNATURES[number - 1] in ran.assert_waits(number, "Puzzle")


# What the lecture teaches is tested as code, too, on more than the lecture shows.


def test_the_gradients_by_hand_are_those_of_autograd(ran: Any) -> None:
    X, Y, *weights = (torch.tensor(ran.value(f"{name}_np"), dtype=torch.float64) for name in ("X", "Y", "W1", "W2"))
    W1, W2 = (weight.requires_grad_() for weight in weights)
    loss = ((X.mm(W1).clamp(min=0).mm(W2) - Y) ** 2).sum() / len(X)
    for name, truth in zip(("grad_W1", "grad_W2"), torch.autograd.grad(loss, (W1, W2)), strict=True):
        ran.do("grad_W1, grad_W2 = backward(X, Y, W2, *forward(X, W1, W2))")
        assert torch.allclose(torch.tensor(ran.value(name), dtype=torch.float64), truth, rtol=1e-10, atol=1e-14)


def test_a_stranger_to_the_formula_finds_the_same_places(ran: Any) -> None:
    """`place` against the memory itself, for slices, transposes and windows of a large tensor."""
    ran.do(
        "big_x = torch.arange(5000).view(10, 20, 25)\n"
        "cut = (big_x[2:, ::3, 1::4], big_x.permute(2, 0, 1), big_x[3].T[::2], big_x[:, 4, 7], big_x.mT[1:, 2:, 3:])\n"
        "found = [place(v, *map(int, i)) == v[tuple(i)].item() for v in cut for i in np.argwhere(np.ones(v.shape))]"
    )
    assert ran.value("all(found) and len(found) > 5000")


FIGURES = (
    "gap to the next number against number. bfloat16: from 6.1e-05 at 0.01",
    "x.T: shape (4, 3), strides (1, 4), offset 0, reads places 0 4 8 / 1 5 9 / 2 6 10 / 3 7 11",
    "x.view(4, 3): shape (4, 3), strides (3, 1), offset 0, reads places 0 1 2 / 3 4 5 / 6 7 8 / 9 10 11",
    "A storage of 12 int64 elements on cpu, 0 40 80 10 50 90 20 60 100 30 70 110. x.T.reshape(12): shape (12,)",
    "bias.expand(4, 3): shape (4, 3), strides (0, 1), offset 0, reads places 0 1 2 / 0 1 2 / 0 1 2 / 0 1 2",
    "windows: shape (5, 3), strides (1, 1), offset 0, reads places 0 1 2 / 1 2 3 / 2 3 4",
    "1 2 3. w: shape (3,), strides (1,), offset 0, reads places 0 1 2; w[1:]: shape (2,), strides (1,), offset 1",
    "A storage of 2 float32 elements on cpu, 7 8. coo.values(): shape (2,)",
    "bfloat16: from 30.1 at 0 to 0.00",
    "nine small grey faces where they were reshaped",
    "Forty photographs in 5 rows of 8",
    "A cup of coffee as it is, in false colours, and brighter.",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)


def test_the_lecture_says_on_which_device_it_ran(ran: Any) -> None:
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "Virtual CUDA (this is the CPU)"
    printed = ran.printed("devices.best_device")
    assert f"device: {name}" in printed and "weights on cuda:0" in printed
    assert torch.cuda.is_available() or "there is no GPU here" in ran.printed("%load_ext")


def test_the_virtual_device_is_off_again_at_the_end(ran: Any) -> None:
    assert ran.value("virtual_cuda.is_enabled()") is False
