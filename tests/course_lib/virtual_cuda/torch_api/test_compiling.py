"""torch.compile on the virtual devices: in every spelling the program itself, with one note for a session."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, nn, torch
from tests.course_lib.virtual_cuda.same_numbers import as_on_the_cpu

compiling = lazy("course_lib.virtual_cuda.torch_api.compiling")

pytestmark = pytest.mark.slow

WAYS: list[dict[str, Any]] = [
    {},
    *({"mode": mode} for mode in ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")),
    *({"backend": backend} for backend in ("inductor", "eager", "aot_eager", "cudagraphs")),
    *({"fullgraph": True}, {"dynamic": True}, {"dynamic": False}, {"options": {"trace.enabled": False}}),
    {"disable": True},
]


@pytest.mark.filterwarnings("ignore:torch.compile")
@pytest.mark.parametrize("settings", WAYS, ids=str)
@as_on_the_cpu
def test_a_compiled_training_run_has_the_numbers_of_a_plain_one(device: str, settings: dict[str, Any]) -> Any:
    compiled: Callable[..., Any] = torch.compile if device == "cuda" else lambda model, **_: model
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)).to(device)
    run = compiled(model, **settings)
    loss_of = compiled(nn.functional.mse_loss, **settings)
    optimizer = torch.optim.AdamW(run.parameters(), lr=0.01)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = loss_of(run(torch.randn(6, 4).to(device)), torch.randn(6, 2).to(device))
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses, dict(model.state_dict())


def test_the_note_comes_once_in_a_session_whatever_is_compiled() -> None:
    for _ in range(2):
        with virtual_cuda.session(quiet=True), warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")

            @torch.compile
            def half(x: torch.Tensor) -> torch.Tensor:
                return x / 2

            @torch.compile(mode="max-autotune", fullgraph=True)
            def double(x: torch.Tensor) -> torch.Tensor:
                return 2 * x

            model = nn.Linear(2, 2).cuda()
            model.compile(mode="reduce-overhead")
            x = torch.ones(1, 2, device="cuda")
            assert torch.equal(double(half(x)), x)
            assert torch.equal(torch.compile(model, dynamic=True)(x), model(x))
        assert [str(note.message) for note in notes] == [compiling.NOTE]
        assert notes[0].filename == __file__


@pytest.mark.filterwarnings("ignore:torch.compile")
def test_a_compiled_model_is_saved_copied_and_loaded_as_torchs_own() -> None:
    plain = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    expected = type(torch.compile(plain)), list(torch.compile(plain).state_dict())
    with virtual_cuda.session(quiet=True):
        model = torch.compile(plain.cuda())
        assert (type(model), list(model.state_dict())) == expected
        assert next(model.parameters()) is plain[0].weight
        twin = copy.deepcopy(model).cuda()
        twin.load_state_dict(model.state_dict())
        x = torch.ones(1, 2, device="cuda")
        assert torch.equal(twin.eval()(x), model.eval()(x)) and not plain.training
        plain.compile()
        assert plain(x).is_cuda and list(plain.state_dict()) == ["0.weight", "0.bias"]


@pytest.mark.filterwarnings("ignore:torch.compile")
def test_a_misspelt_setting_is_refused_as_torch_refuses_it() -> None:
    with pytest.raises(TypeError) as expected:
        torch.compile(abs, mod="default")  # type: ignore[call-overload]
    with virtual_cuda.session(quiet=True):
        with pytest.raises(TypeError) as found:
            torch.compile(abs, mod="default")  # type: ignore[call-overload]
        with pytest.raises(RuntimeError, match="Either mode or options"):
            torch.compile(abs, mode="default", options={"a": 1})
    assert str(found.value) == str(expected.value)


def test_what_surrounds_the_compiler_stays_as_it_is() -> None:
    with virtual_cuda.session(quiet=True):

        @torch.compile
        @torch.compiler.disable
        def asks() -> bool:
            return torch.compiler.is_compiling()

        assert not asks()
        torch.compiler.reset()
        torch.compiler.cudagraph_mark_step_begin()
        torch.set_float32_matmul_precision("high")
        torch.set_float32_matmul_precision("highest")
