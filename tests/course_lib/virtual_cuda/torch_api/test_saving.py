"""Checkpoints: saved on the device, loaded where one wants, and refused on a host without a device as by torch."""

from __future__ import annotations

import copy
import io
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import nn, torch

pytestmark = pytest.mark.slow


def saved(value: Any, **settings: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file, **settings)
    file.seek(0)
    return file


def places(value: Any) -> list[str]:
    """The devices of all tensors in a structure."""
    return [str(x.device) for x in torch.utils._pytree.tree_leaves(value) if isinstance(x, torch.Tensor)]


BOTH = ("cuda:0", "cpu")
LOCATIONS: list[tuple[Any, tuple[str, str]]] = [
    (None, BOTH),
    ("cpu", ("cpu", "cpu")),
    ("cuda", ("cuda:0", "cuda:0")),
    ("cuda:1", ("cuda:1", "cuda:1")),
    ("device cpu", ("cpu", "cpu")),
    ("device cuda:1", ("cuda:1", "cuda:1")),
    ({"cuda:0": "cuda:1"}, ("cuda:1", "cpu")),
    ({"cuda:0": "cpu"}, ("cpu", "cpu")),
    ({"cuda:0": "cpu", "cpu": "cuda:1"}, ("cpu", "cuda:1")),
    (lambda storage, location: storage, ("cpu", "cpu")),
    (lambda storage, location: storage.cuda(1), ("cuda:1", "cuda:1")),
    (lambda storage, location: storage.cuda() if location == "cuda:0" else None, BOTH),
]


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize(("location", "expected"), LOCATIONS)
def test_a_checkpoint_is_loaded_where_one_wants(
    location: Any, expected: tuple[str, str], zipped: bool, cuda: Any
) -> None:
    if isinstance(location, str) and location.startswith("device "):
        location = torch.device(location.removeprefix("device "))
    value = {"there": torch.arange(3.0, device="cuda"), "here": torch.ones(2)}
    found = torch.load(saved(value, _use_new_zipfile_serialization=zipped), map_location=location)
    assert places(found) == list(expected)
    assert found["there"].tolist() == [0, 1, 2] and found["here"].tolist() == [1, 1]


def test_the_current_device_is_meant_by_cuda(cuda: Any) -> None:
    with torch.cuda.device(1):
        assert places(torch.load(saved(torch.ones(2)), map_location="cuda")) == ["cuda:1"]


def test_a_checkpoint_of_the_second_device_wants_one() -> None:
    with virtual_cuda.session(devices=2, force=True, quiet=True):
        data = saved(torch.ones(2, device="cuda:1")).getvalue()
    with virtual_cuda.session(devices=1, force=True, quiet=True):
        with pytest.raises(RuntimeError, match=r"on CUDA device 1 but torch.cuda.device_count\(\) is 1"):
            torch.load(io.BytesIO(data))
        assert places(torch.load(io.BytesIO(data), map_location="cuda:0")) == ["cuda:0"]


@pytest.mark.parametrize("weights_only", [True, False])
def test_everything_that_training_needs_comes_back(weights_only: bool, cuda: Any) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(5, 3, device="cuda")).sum().backward()
    optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "seed": torch.cuda.get_rng_state()}
    found = torch.load(saved(state), weights_only=weights_only)
    assert places(found) == places(state)
    assert places(state).count("cpu") == 5, "Adam's counters and the random state are on the host"
    again = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).cuda()
    again.load_state_dict(found["model"])
    stepped = torch.optim.Adam(again.parameters())
    stepped.load_state_dict(found["optimizer"])
    torch.cuda.set_rng_state(found["seed"])
    for one, other in zip(again.state_dict().values(), model.state_dict().values(), strict=True):
        assert torch.equal(one, other) and one.device == other.device


def test_a_whole_module_is_pickled(cuda: Any) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).to("cuda:1")
    for found in (torch.load(saved(model), weights_only=False), pickle.loads(pickle.dumps(model))):
        assert places(list(found.state_dict().values())) == ["cuda:1"] * 7
        assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in found.parameters())


def test_views_share_their_memory_after_loading(cuda: Any) -> None:
    x = torch.arange(6.0, device="cuda")
    for location, device in ((None, "cuda:0"), ("cpu", "cpu"), ("cuda:1", "cuda:1")):
        whole, part = torch.load(saved([x, x[2:4]]), map_location=location)
        part.zero_()
        assert whole.tolist() == [0, 1, 0, 0, 4, 5] and places([whole, part]) == [device] * 2


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta", "ignore:Validating sparse tensor")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.eye(3, device="cuda").to_sparse(),
        lambda: torch.eye(3, device="cuda").to_sparse_csr(),
        lambda: nn.Parameter(torch.ones(2, device="cuda")),
        lambda: torch.ones(2, device="cuda", dtype=torch.bfloat16),
        lambda: torch.ones(2, device="cuda") + 1j,
        lambda: torch.empty(0, 3, device="cuda"),
        lambda: torch.ones(2, 2, device="cuda", requires_grad=True),
        lambda: torch.arange(6, device="cuda").reshape(2, 3).T,
    ],
)
def test_every_kind_of_tensor_is_saved_pickled_and_copied(make: Any, cuda: Any) -> None:
    x = make()
    made = [torch.load(saved(x)), pickle.loads(pickle.dumps(x)), copy.copy(x)]
    if x.layout is not torch.sparse_csr:  # torch cannot, on any device
        made.append(copy.deepcopy(x))
    for found in made:
        assert type(found) is type(x) and found.device == x.device and found.requires_grad == x.requires_grad
        assert (found.dtype, found.shape, found.layout) == (x.dtype, x.shape, x.layout)
        assert str(found) == str(x)
        if x.layout is torch.strided:
            assert found.stride() == x.stride()


def test_a_deep_copy_has_memory_of_its_own(cuda: Any) -> None:
    model = nn.Linear(2, 2).cuda()
    model(torch.ones(1, 2, device="cuda")).sum().backward()
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin.weight.zero_()
    assert model.weight.abs().sum() > 0 and places([twin.weight]) == ["cuda:0"]
    leaf = torch.ones(2, device="cuda", requires_grad=True)
    (leaf * 2).sum().backward()
    again = copy.deepcopy(leaf)
    assert places([again, again.grad]) == ["cuda:0"] * 2
    assert again.grad.tolist() == [2, 2] and again.grad.data_ptr() != leaf.grad.data_ptr()


def test_files_are_mapped_into_memory(tmp_path: Path, cuda: Any) -> None:
    torch.save({"x": torch.ones(3, device="cuda")}, tmp_path / "x.pt")
    assert places(torch.load(tmp_path / "x.pt", mmap=True, map_location="cpu")) == ["cpu"]
    assert places(torch.load(tmp_path / "x.pt", mmap=True)) == ["cuda:0"]


def test_state_dicts_are_copied_into_the_module_or_take_its_place(cuda: Any) -> None:
    there, here = nn.Linear(2, 2).cuda(), nn.Linear(2, 2)
    kept = here.weight
    here.load_state_dict(there.state_dict())
    assert here.weight is kept and places([here.weight]) == ["cpu"]
    assert torch.equal(here.weight, there.weight.cpu())
    here.load_state_dict(there.state_dict(), assign=True)
    assert here.weight is not kept and places([here.weight]) == ["cuda:0"] and here.weight.requires_grad
    assert places(list(here.state_dict(keep_vars=True).values())) == ["cuda:0"] * 2
    assert isinstance(there.state_dict(), OrderedDict)


WITHOUT = (
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a "
    "CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
)


def test_it_is_refused_after_the_session_unless_mapped_to_the_cpu() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a real GPU")
    with virtual_cuda.session(force=True, quiet=True):
        file = saved({"weight": torch.ones(2, 1).cuda()})
    with pytest.raises(RuntimeError) as caught:
        torch.load(file)
    assert str(caught.value) == WITHOUT
    file.seek(0)
    found = torch.load(file, map_location="cpu")["weight"]
    assert found.tolist() == [[1], [1]] and places(found) == ["cpu"]
