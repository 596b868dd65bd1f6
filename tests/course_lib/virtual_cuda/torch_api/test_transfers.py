"""Copies between devices, their gradients, and memory that tensors share: each is where CUDA has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.course_lib.virtual_cuda.lazy import nn, torch

pytestmark = pytest.mark.slow


def place(x: Any) -> str:
    return str(x.device)


MOVES: list[tuple[Any, str, str]] = [
    (lambda x: x.to("cuda"), "cuda:0", "float32"),
    (lambda x: x.to("cuda:1"), "cuda:1", "float32"),
    (lambda x: x.to(1), "cuda:1", "float32"),
    (lambda x: x.to(np.int64(1)), "cuda:1", "float32"),
    (lambda x: x.to(torch.device("cuda", 1)), "cuda:1", "float32"),
    (lambda x: x.to(device="cuda"), "cuda:0", "float32"),
    (lambda x: x.to(device=1, dtype=torch.half), "cuda:1", "float16"),
    (lambda x: x.to("cuda", torch.float64), "cuda:0", "float64"),
    (lambda x: x.to("cuda", torch.float64, True), "cuda:0", "float64"),
    (lambda x: x.to("cuda", torch.float64, True, True), "cuda:0", "float64"),
    (lambda x: x.to("cuda", None, True), "cuda:0", "float32"),
    (lambda x: x.to(torch.float64), "cpu", "float64"),
    (lambda x: x.to(torch.float64, True, True), "cpu", "float64"),
    (lambda x: x.to(None), "cpu", "float32"),
    (lambda x: x.to(device=None, dtype=torch.half), "cpu", "float16"),
    (lambda x: x.to(torch.ones(1, dtype=torch.int32, device="cuda:1")), "cuda:1", "int32"),
    (lambda x: x.to(other=torch.ones(1, device="cuda")), "cuda:0", "float32"),
    (lambda x: x.to(torch.ones(1, device="cuda"), non_blocking=True, copy=True), "cuda:0", "float32"),
    (lambda x: x.cuda(), "cuda:0", "float32"),
    (lambda x: x.cuda(1), "cuda:1", "float32"),
    (lambda x: x.cuda("cuda:1", non_blocking=True), "cuda:1", "float32"),
    (lambda x: x.cuda(device=torch.device("cuda:1")), "cuda:1", "float32"),
    (lambda x: x.cuda(None), "cuda:0", "float32"),
    (lambda x: x.cuda().cpu(), "cpu", "float32"),
    (lambda x: x.cuda().to("cpu", torch.long), "cpu", "int64"),
    (lambda x: x.cuda().cuda(1), "cuda:1", "float32"),
    (lambda x: x.type("torch.cuda.DoubleTensor"), "cuda:0", "float64"),
    (lambda x: x.type(torch.cuda.HalfTensor), "cuda:0", "float16"),
    (lambda x: x.cuda().type(torch.FloatTensor), "cpu", "float32"),
    (lambda x: x.type_as(torch.ones(1, device="cuda:1").half()), "cuda:1", "float16"),
    (lambda x: torch.zeros(2, device="cuda").copy_(x), "cuda:0", "float32"),
]


@pytest.mark.parametrize(("move", "device", "dtype"), MOVES)
@pytest.mark.parametrize("learns", [False, True])
def test_a_tensor_is_moved_in_every_spelling(move: Any, device: str, dtype: str, learns: bool, cuda: Any) -> None:
    learns = learns and "float" in dtype
    x = torch.tensor([1.0, 2.0], requires_grad=learns)
    moved = move(x)
    assert (place(moved), str(moved.dtype), moved.tolist()) == (device, f"torch.{dtype}", [1, 2])
    if learns:
        moved.sum().backward()
        assert place(x.grad) == "cpu" and x.grad.tolist() == [1, 1]


def test_what_is_there_already_is_not_copied(cuda: Any) -> None:
    x, y = torch.ones(2, device="cuda"), torch.ones(2)
    for same in (x.to("cuda"), x.to("cuda:0"), x.to(0), x.cuda(), x.to(x), x.to(x.device), x.to(torch.float32)):
        assert same is x
    for same in (y.to("cpu"), y.cpu(), y.to(y), y.to(torch.device("cpu"))):
        assert same is y
    copied = x.to("cuda", copy=True)
    assert copied is not x and copied.data_ptr() != x.data_ptr() and place(copied) == "cuda:0"


def test_the_current_device_is_meant_where_none_is_named(cuda: Any) -> None:
    x = torch.ones(1, device="cuda:0")
    with torch.cuda.device(1):
        assert {place(y) for y in (x.to("cuda"), x.cuda(), torch.ones(1).cuda(), nn.Linear(1, 1).cuda().weight)} == {
            "cuda:1"
        }


@pytest.mark.parametrize("name", ["channels_last", "contiguous_format", "preserve_format"])
def test_memory_formats_are_those_of_the_cpu(name: str, cuda: Any) -> None:
    channels = getattr(torch, name)
    image = torch.ones(2, 3, 4, 5).transpose(2, 3)
    expected = image.to(torch.float64, memory_format=channels).stride()
    assert image.to("cuda", memory_format=channels).stride() == expected
    assert image.to("cuda", torch.float64, memory_format=channels).stride() == expected
    assert image.cuda().to(memory_format=channels).stride() == image.to(memory_format=channels).stride()
    assert image.cuda(memory_format=channels).stride() == expected
    assert image.cuda().cpu(memory_format=channels).stride() == expected


WRONG: list[tuple[Any, Any, str]] = [
    (lambda x: x.to("cuda:7"), RuntimeError, "invalid device ordinal"),
    (lambda x: x.cuda(7), RuntimeError, "invalid device ordinal"),
    (lambda x: torch.ones(1, device=7), RuntimeError, "invalid device ordinal"),
    (lambda x: x.to(-1), RuntimeError, "^Device index must not be negative$"),
    (lambda x: x.cuda(-1), RuntimeError, "^Device index must not be negative$"),
    (lambda x: torch.ones(1, device=-1), RuntimeError, "^Device index must not be negative$"),
    (lambda x: x.to("cuda:-1"), RuntimeError, "^Invalid device string: 'cuda:-1'$"),
    (lambda x: x.to("cuda", "float32"), TypeError, r"^to\(\) received an invalid combination of arguments"),
    (lambda x: x.to(object()), TypeError, r"^to\(\) received an invalid combination of arguments"),
    (lambda x: x.to("cuda", rubbish=1), TypeError, r"^to\(\) received an invalid combination of arguments"),
    (lambda x: torch.ones(1, device=1.5), TypeError, r"^ones\(\): argument 'device' must be torch.device, not float"),
    (lambda x: torch.ones(1, device=True), TypeError, r"^ones\(\): argument 'device' must be torch.device, not bool"),
    (lambda x: x.to("meta").to("cuda"), NotImplementedError, "^Cannot copy out of meta tensor; no data!$"),
    (lambda x: x.to("meta").cuda(), NotImplementedError, "^Cannot copy out of meta tensor; no data!$"),
]


@pytest.mark.parametrize(("call", "error", "words"), WRONG)
def test_what_is_no_device_is_refused_in_torchs_words(call: Any, error: Any, words: str, cuda: Any) -> None:
    with pytest.raises(error, match=words):
        call(torch.ones(2))


def test_the_graph_calls_a_transfer_what_torch_calls_it(cuda: Any) -> None:
    x = torch.ones(1, requires_grad=True)
    expected = x.to(torch.float64).grad_fn
    moved = x.cuda()
    assert moved.grad_fn.name() == type(moved.grad_fn).__name__ == expected.name() == "ToCopyBackward0"
    assert repr(moved) == "tensor([1.], device='cuda:0', grad_fn=<ToCopyBackward0>)"
    assert not moved.is_leaf and moved.requires_grad and x.is_leaf


def test_no_gradient_is_kept_without_a_graph(cuda: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not x.cuda().requires_grad
    with torch.inference_mode():
        assert x.cuda().is_inference()
    assert not x.detach().cuda().requires_grad
    leaf = x.detach().cuda().requires_grad_()
    assert leaf.is_leaf and x.cuda().data.is_leaf


def test_a_parameter_keeps_its_identity_when_its_data_moves(cuda: Any) -> None:
    weight = nn.Parameter(torch.ones(2))
    before = id(weight)
    weight.data = weight.data.cuda()
    assert id(weight) == before and place(weight) == "cuda:0" and isinstance(weight, nn.Parameter)
    weight.sum().backward()
    assert place(weight.grad) == "cuda:0"
    weight.data = weight.data.cpu()
    assert place(weight) == "cpu"


def test_edits_in_place_stay_on_the_device_and_show_in_every_view(cuda: Any) -> None:
    x = torch.zeros(2, 3, device="cuda")
    row, turned, flat = x[0], x.T, x.view(-1)
    row += 1
    flat[-1] = torch.tensor(5.0)
    turned.mul_(2)
    x[1, 0] = 7
    assert x.tolist() == [[2, 2, 2], [7, 0, 10]]
    assert {place(y) for y in (x, row, turned, flat, x.detach(), x.data, x.unsqueeze(0), x.expand(4, 2, 3))} == {
        "cuda:0"
    }
    assert turned._base is x and row.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    with pytest.raises(RuntimeError, match="on the same device"):
        x += torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="on the same device"):
        torch.ones(2, 3).add_(x)


@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy keyword")
def test_an_array_is_not_shared_with_the_device(cuda: Any) -> None:
    array = np.ones(2, dtype=np.float32)
    there = torch.from_numpy(array).cuda()
    there.add_(1)
    assert array.tolist() == [1, 1]
    back = there.cpu().numpy()
    back[:] = 9
    assert there.tolist() == [2, 2]
    for convert in (np.asarray, np.sqrt, lambda x: x.numpy(), lambda x: memoryview(x.numpy())):
        with pytest.raises(TypeError, match=r"can't convert cuda:0 device type tensor to numpy\. Use Tensor\.cpu"):
            convert(there)
    assert there.numpy(force=True).tolist() == [2, 2]


SET = (
    'Attempted to set the storage of a tensor on device "{}" to a storage on different device "{}".  This is no longer'
)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_a_tensor_takes_memory_of_its_own_device_only(cuda: Any) -> None:
    x, y, here = torch.arange(3.0, device="cuda"), torch.zeros(2, device="cuda"), torch.ones(2)
    assert y.set_(x).tolist() == [0, 1, 2] and y.data_ptr() == x.data_ptr()
    assert y.set_(x.untyped_storage(), 1, (2,), (1,)).tolist() == [1, 2]
    assert y.set_(x.storage(), 0, (1,)).tolist() == [0] and place(y) == "cuda:0"
    assert place(y.set_()) == "cuda:0" and y.numel() == 0
    for target, source, names in (
        (x, here, ("cuda:0", "cpu")),
        (here, x, ("cpu", "cuda:0")),
        (x, x.to(1).untyped_storage(), ("cuda:0", "cuda:1")),
        (here, x.storage(), ("cpu", "cuda:0")),
    ):
        with pytest.raises(RuntimeError) as caught:
            target.clone().set_(source)
        assert str(caught.value).startswith(SET.format(*names))


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages_say_where_they_are_and_are_copied(cuda: Any) -> None:
    x = torch.arange(3.0, device="cuda")
    for storage in (x.untyped_storage(), x.storage()):
        assert place(storage) == "cuda:0" and storage.is_cuda and storage.get_device() == 0
        assert [place(s) for s in (storage.cpu(), storage.cuda(1), storage.clone())] == ["cpu", "cuda:1", "cuda:0"]
    assert place(torch.UntypedStorage(8, device="cuda:1")) == "cuda:1"
    assert place(torch.UntypedStorage(8)) == "cpu"
    assert x.storage().type() == "torch.cuda.FloatStorage"
    assert "device=cuda:0" in repr(x.untyped_storage())


def test_a_storage_that_grows_counts_in_the_memory_in_use(cuda: Any) -> None:
    before = torch.cuda.memory_allocated()
    x = torch.ones(2, device="cuda")
    assert torch.cuda.memory_allocated() == before + 512
    x.resize_(2)
    assert place(x) == "cuda:0" and torch.cuda.memory_allocated() == before + 512
    del x
    assert torch.cuda.memory_allocated() == before


def test_memory_of_the_device_is_shared_memory(cuda: Any) -> None:
    x, here = torch.ones(2, device="cuda"), torch.ones(2)
    assert x.is_shared() and not here.is_shared()
    pointer = x.data_ptr()
    assert x.share_memory_() is x and x.data_ptr() == pointer
    assert all(p.is_shared() and p.is_cuda for p in nn.Linear(2, 2).cuda().share_memory().parameters())


def test_dlpack_hands_on_the_memory_and_the_device(cuda: Any) -> None:
    x = torch.ones(2, device="cuda")
    twin = torch.from_dlpack(x)
    twin.add_(1)
    assert place(twin) == "cuda:0" and x.tolist() == [2, 2]
    assert x.__dlpack_device__()[1] == 0 and int(x.__dlpack_device__()[0]) == 2
    assert place(torch.utils.dlpack.from_dlpack(x)) == "cuda:0"
    assert place(torch.from_dlpack(np.ones(2))) == "cpu"
    with pytest.raises(BufferError, match="tensors that require gradient"):
        torch.from_dlpack(x.clone().requires_grad_())


@pytest.mark.parametrize(
    "mix",
    [
        lambda x, y: x + y,
        lambda x, y: x @ y,
        lambda x, y: torch.cat([x, y]),
        lambda x, y: torch.stack([x, y]),
        lambda x, y: torch.where(x > 0, x, y),
        lambda x, y: x.add_(y),
        lambda x, y: nn.functional.mse_loss(x, y),
        lambda x, y: nn.functional.linear(x, y),
        lambda x, y: x[y.long()],
        lambda x, y: torch.dot(x[0], y[0]),
    ],
)
def test_tensors_of_two_devices_do_not_mix(mix: Any, cuda: Any) -> None:
    x, y = torch.ones(2, 2, device="cuda:0"), torch.zeros(2, 2, device="cuda:1")
    with pytest.raises(RuntimeError, match=r"cuda:1|cuda:0|same device"):
        mix(x, y)
    mix(x, y.to(x.device))


def test_copies_between_devices(cuda: Any) -> None:
    x = torch.arange(3.0, device="cuda:0")
    y = x.to("cuda:1")
    assert place(y) == "cuda:1" and y.tolist() == [0, 1, 2] and y.data_ptr() != x.data_ptr()
    target = torch.zeros(3, device="cuda:1")
    target.copy_(x)
    target[:1] = torch.ones(1, device="cuda:1")
    assert target.tolist() == [1, 1, 2]
    # `.tolist()` is a read, not a copy that the program asked for.
    assert [(c.source, c.target) for c in cuda.copies] == [("cuda:0", "cuda:1")] * 2
