"""Functions that are checked in front of their operators do what they did, where nothing is mixed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import F, lazy, nn, torch

Scale = lazy("tests.course_lib.virtual_cuda.networks", "Scale")

pytestmark = pytest.mark.slow


@pytest.fixture
def virtual() -> Iterator[None]:
    with virtual_cuda.session(devices=2, quiet=True, force=True):
        yield


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"])
def test_recurrent_layers_give_the_cpus_numbers(kind: str, same_numbers: Callable[..., None]) -> None:
    def program(device: str) -> Any:
        layer = getattr(nn, kind)(3, 4).to(device)
        shape = (2, 3) if "Cell" in kind else (5, 2, 3)
        batch = torch.randn(*shape, device=device, requires_grad=True)
        out = layer(batch)
        first = out[0] if isinstance(out, tuple) else out
        first.square().sum().backward()
        return out, batch.grad, [p.grad for p in layer.parameters()]

    same_numbers(program)


def test_packed_sequences_give_the_cpus_numbers(same_numbers: Callable[..., None]) -> None:
    def program(device: str) -> Any:
        batch = torch.randn(5, 2, 3).to(device)
        packed = nn.utils.rnn.pack_padded_sequence(batch, torch.tensor([5, 3]))
        layer = nn.LSTM(3, 4, num_layers=2, bidirectional=True).to(device)
        return nn.utils.rnn.pad_packed_sequence(layer(packed)[0])[0]

    same_numbers(program)


def test_checked_functions_give_the_cpus_numbers(same_numbers: Callable[..., None]) -> None:
    def program(device: str) -> Any:
        heads, signal = torch.randn(3, 1, 2, 4, 8).to(device), torch.randn(64).to(device)
        spectrum = torch.stft(signal, 16, window=torch.hann_window(16, device=device), return_complex=True)
        return {
            "attention": F.scaled_dot_product_attention(heads[0], heads[1], heads[2]),
            "spectrum": torch.view_as_real(spectrum),
            "signal": torch.istft(spectrum, 16, window=torch.hann_window(16, device=device)),
            "quantile": [torch.quantile(signal, 0.5), signal.quantile(torch.tensor([0.1, 0.9], device=device))],
            "split": [*torch.tensor_split(signal, torch.tensor([3])), *signal.tensor_split(3)],
            "grid": torch.meshgrid(signal[:2], signal[:3], indexing="ij"),
            "blocks": torch.block_diag(heads[0, 0, 0], heads[1, 0, 0]),
        }

    same_numbers(program)


def test_a_gradient_can_be_assigned_taken_away_and_deleted(virtual: None) -> None:
    parameter = nn.Parameter(torch.ones(3, device="cuda"))
    assert parameter.grad is None
    parameter.grad = torch.ones(3, device="cuda")
    assert parameter.grad.is_cuda
    parameter.grad = None
    assert parameter.grad is None
    parameter.grad = torch.ones(3, device="cuda")
    del parameter.grad
    assert parameter.grad is None


def test_a_gradient_of_the_wrong_type_is_refused_as_ever(virtual: None) -> None:
    parameter = nn.Parameter(torch.ones(3, device="cuda"))
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        parameter.grad = 1.0
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        parameter.grad = torch.ones(2, device="cuda")


def test_a_bare_number_is_a_device(virtual: None) -> None:
    assert nn.Linear(2, 1).to(1).weight.device == torch.device("cuda:1")
    assert nn.Linear(2, 1).to(device=0, dtype=torch.float64).weight.device == torch.device("cuda:0")
    assert torch.ones(2).to(1).get_device() == 1
    assert torch.ones(2, device=1).get_device() == 1


def test_own_functions_may_send_gradients_to_where_the_inputs_are(
    virtual: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = torch.ones(3, device="cuda", requires_grad=True)
    there, here = value * 1, torch.ones(3, requires_grad=True)
    monkeypatch.setattr(Scale, "where", "cpu")
    one, other = Scale.apply(there, here, "name")
    (one.sum() + other.sum().cuda()).backward()
    assert value.grad is not None and value.grad.is_cuda and value.grad.tolist() == [2] * 3
    assert here.grad is not None and not here.grad.is_cuda and here.grad.tolist() == [3] * 3


def test_own_functions_may_not_send_them_elsewhere(virtual: None, monkeypatch: pytest.MonkeyPatch) -> None:
    value = torch.ones(3, device="cuda", requires_grad=True)
    monkeypatch.setattr(Scale, "where", "cpu")
    _, other = Scale.apply(value.detach(), value * 1, "name")
    with pytest.raises(RuntimeError, match="Function ScaleBackward returned an invalid gradient at index 1 - expected"):
        other.sum().backward()


def test_switched_off_nothing_is_checked() -> None:
    before = torch.lstm, torch._VF.lstm, F.scaled_dot_product_attention, torch.autograd.Function.__dict__["apply"]
    with virtual_cuda.session(quiet=True, force=True):
        assert torch.lstm is not before[0]
    after = torch.lstm, torch._VF.lstm, F.scaled_dot_product_attention, torch.autograd.Function.__dict__["apply"]
    assert after == before
    assert "grad" not in vars(torch.Tensor) and "lstm" not in vars(torch._VF)
