"""Every optimizer of torch.optim takes the CPU's steps, and keeps its state where CUDA keeps it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, nn, torch
from tests.course_lib.virtual_cuda.same_numbers import as_on_the_cpu

optim = lazy("torch.optim")

pytestmark = pytest.mark.slow

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "ASGD": [{}, {"weight_decay": 0.1, "t0": 1.0}],
    "Adadelta": [{}, {"weight_decay": 0.1}],
    "Adafactor": [{}, {"weight_decay": 0.1}],
    "Adagrad": [{}, {"lr_decay": 0.1, "initial_accumulator_value": 0.1}],
    "Adam": [{}, {"amsgrad": True, "weight_decay": 0.1}, {"lr": "a tensor"}],
    "AdamW": [{}, {"amsgrad": True}],
    "Adamax": [{}, {"weight_decay": 0.1}],
    "LBFGS": [{"max_iter": 4}, {"max_iter": 4, "line_search_fn": "strong_wolfe"}],
    "Muon": [{}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"}],
    "NAdam": [{}, {"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "RAdam": [{}, {"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "RMSprop": [{}, {"momentum": 0.9, "centered": True, "weight_decay": 0.1}],
    "Rprop": [{}, {"etas": (0.4, 1.3)}],
    "SGD": [{}, {"momentum": 0.9, "nesterov": True}, {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1}],
    "SparseAdam": [{}],
}


def variants(name: str) -> Iterator[dict[str, Any]]:
    """The settings of an optimizer, in each implementation that it has."""
    known = inspect.signature(getattr(optim, name)).parameters
    ways: list[dict[str, bool]] = [{}]
    if "foreach" in known:
        ways = [{"foreach": True}, {"foreach": False}]
    if "fused" in known:
        ways.append({"fused": True})
    if "maximize" in known:
        ways.append({**ways[0], "maximize": True})
    for settings in SETTINGS[name]:
        for way in ways:
            if "lr" not in settings:
                yield {**settings, **way}
            elif not way.get("foreach"):
                # A learning rate that is a tensor needs `capturable` with foreach, on CUDA as on the CPU.
                yield {**settings, **way, "lr": torch.tensor(0.01)}


def test_every_optimizer_of_the_module_is_tried() -> None:
    classes = {name: cls for name, cls in vars(torch.optim).items() if inspect.isclass(cls)}
    assert set(SETTINGS) == {name for name, cls in classes.items() if issubclass(cls, optim.Optimizer)} - {"Optimizer"}


def steps(cls: Any, settings: dict[str, Any], device: Any, count: int = 4) -> tuple[nn.Module, optim.Optimizer]:
    """A small model after some steps of an optimizer, and the optimizer."""
    sparse, matrices = cls is optim.SparseAdam, cls is optim.Muon
    layers: list[nn.Module] = [nn.Embedding(7, 5, sparse=sparse), nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3)]
    model = nn.Sequential(*layers).to(device)
    parameters: Any = model.parameters()
    if sparse:
        parameters = model[0].parameters()
    if matrices:
        parameters = [p for p in model.parameters() if p.ndim == 2]
    settings = {k: v.to(device) if isinstance(v, torch.Tensor) and v.dim() else v for k, v in settings.items()}
    optimizer = cls(parameters, **settings)
    tokens = torch.randint(7, (count, 6), device=device)
    targets = torch.randint(3, (count, 6), device=device)
    for token, target in zip(tokens, targets, strict=True):

        def closure(token: torch.Tensor = token, target: torch.Tensor = target) -> torch.Tensor:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(token), target)
            loss.backward()
            return loss

        optimizer.step(closure)
    return model, optimizer


def states(optimizer: optim.Optimizer) -> dict[str, Any]:
    """The state by the parameter's position and name: tensors only."""
    found = {}
    for position, state in optimizer.state_dict()["state"].items():
        for name, value in state.items():
            found[f"{position}.{name}"] = value
    return found


@pytest.mark.parametrize("name", SETTINGS)
def test_parameters_and_state_are_those_of_the_cpu(same_numbers: Callable[..., None], name: str) -> None:
    cls = getattr(optim, name)
    for settings in variants(name):
        print(settings)

        def program(device: str, settings: dict[str, Any] = settings) -> Any:
            model, optimizer = steps(cls, settings, device)
            found = states(optimizer)
            counters = {k: found.pop(k) for k in list(found) if k.endswith((".step", ".mu_product"))}
            # Counters are on the CPU, unless the fused kernel reads them; ASGD has its own on the device.
            for value in counters.values():
                if isinstance(value, torch.Tensor):
                    assert value.device.type == (device if settings.get("fused") or name == "ASGD" else "cpu")
            return list(model.parameters()), found, {k: float(v) for k, v in counters.items()}

        same_numbers(program)


@pytest.mark.parametrize("name", SETTINGS)
def test_without_a_word_the_device_takes_the_foreach_implementation(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if "foreach" not in inspect.signature(getattr(optim, name)).parameters:
        return
    names: dict[str, Any] = inspect.unwrap(getattr(optim, name).step).__globals__
    ways: list[str] = []
    for way in [w for w in names if w.startswith(("_multi_tensor_", "_single_tensor_"))]:

        def note(*args: Any, way: str = way, original: Any = names[way], **kwargs: Any) -> Any:
            ways.append(way)
            return original(*args, **kwargs)

        monkeypatch.setitem(names, way, note)
    with virtual_cuda.session(quiet=True):
        steps(getattr(optim, name), {}, "cuda", count=1)
    # Adafactor's is only for those who ask for it.
    assert [w.split("_")[1] for w in ways] == ["single" if name == "Adafactor" else "multi"]


@pytest.mark.parametrize("foreach", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_capturable_keeps_the_counter_on_the_device_and_takes_the_same_steps(name: str, foreach: bool) -> None:
    if "capturable" not in inspect.signature(getattr(optim, name)).parameters:
        return
    torch.manual_seed(0)
    expected, _ = steps(getattr(optim, name), {"foreach": foreach}, "cpu")
    with virtual_cuda.session(same_numbers=True, quiet=True):
        torch.manual_seed(0)
        found, optimizer = steps(getattr(optim, name), {"capturable": True, "foreach": foreach}, "cuda")
        where = {k: v.is_cuda for k, v in states(optimizer).items()}
    assert all(where.values()), where
    # Another order of operations than the CPU's, which has no capturable optimizers.
    for one, other in zip(found.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", ["SGD", "Adam"])
@as_on_the_cpu
def test_a_differentiable_step_has_a_gradient_on_the_device(device: str, name: str) -> Any:
    start = torch.randn(3, device=device, requires_grad=True)
    weight = start.clone()
    optimizer = getattr(optim, name)([weight], differentiable=True, lr=0.1)
    weight.retain_grad()
    for _ in range(2):
        weight.grad = weight.square().detach() + start
        optimizer.step()
    return [weight, *torch.autograd.grad(weight.sum(), start)]


def test_parameters_on_two_devices_are_stepped_as_on_one() -> None:
    def program(first: str, second: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        one, other = nn.Linear(3, 3).to(first), nn.Linear(3, 2).to(second)
        optimizer = optim.AdamW([*one.parameters(), *other.parameters()], foreach=True)
        for _ in range(3):
            optimizer.zero_grad()
            other(one(torch.ones(2, 3, device=first)).tanh().to(second)).square().sum().backward()
            nn.utils.clip_grad_norm_([*one.parameters(), *other.parameters()], 0.1)
            optimizer.step()
        for part, device in ((one, first), (other, second)):
            for parameter in part.parameters():
                state = optimizer.state[parameter]
                assert {str(parameter.device), str(state["exp_avg"].device)} == {device}
                assert state["step"].device.type == "cpu"
        return [p.detach().cpu() for p in (*one.parameters(), *other.parameters())]

    expected = program("cpu", "cpu")
    with virtual_cuda.session(devices=2, same_numbers=True, quiet=True):
        found = program("cuda:0", "cuda:1")
    assert all(map(torch.equal, found, expected))


def test_an_optimizers_state_follows_the_parameters_when_it_is_loaded() -> None:
    with virtual_cuda.session(quiet=True):
        _, trained = steps(optim.Adam, {}, "cpu")
        model, resumed = steps(optim.Adam, {}, "cuda", count=1)
        resumed.load_state_dict(trained.state_dict())
        for parameter in model.parameters():
            assert resumed.state[parameter]["exp_avg"].is_cuda
            assert resumed.state[parameter]["step"].device.type == "cpu"
        resumed.step()
