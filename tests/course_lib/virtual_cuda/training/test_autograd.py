"""Derivatives: custom functions, hooks, higher orders, `torch.func`, checkpoints, and what changes parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import Tensor, lazy, nn, torch
from tests.course_lib.virtual_cuda.same_numbers import as_on_the_cpu

parametrizations = lazy("torch.nn.utils.parametrizations")
parametrize = lazy("torch.nn.utils.parametrize")
prune = lazy("torch.nn.utils.prune")
swa_utils = lazy("torch.optim.swa_utils")
checkpoint, checkpoint_sequential = lazy("torch.utils.checkpoint", "checkpoint checkpoint_sequential")

networks = lazy("tests.course_lib.virtual_cuda.networks")
Cube, Power, Scale, Symmetric = lazy("tests.course_lib.virtual_cuda.networks", "Cube Power Scale Symmetric")

pytestmark = pytest.mark.slow


def small_model() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def random(device: str, *shape: int, grad: bool = True, dtype: Any = None) -> Tensor:
    """Drawn on the CPU and moved; a leaf."""
    return torch.randn(shape, dtype=dtype).to(device).requires_grad_(grad)


@as_on_the_cpu
def test_a_custom_function_with_saved_tensors(device: str) -> Any:
    x, scale = random(device, 4), random(device, grad=False)
    Power.apply(x, 3, scale).sum().backward()
    assert networks.WANTED.pop() == (True, False, False)
    first = x.grad
    x.grad = None
    Power.apply(x, 2, scale.requires_grad_()).sum().backward()
    assert networks.WANTED.pop() == (True, False, True)
    return first, x.grad, scale.grad


@pytest.mark.parametrize("function", ["Power", "Cube", "sin"])
@as_on_the_cpu
def test_second_derivatives(device: str, function: str) -> Any:
    x = random(device, 4)
    out = {
        "Power": lambda: Power.apply(x, 3, torch.ones((), device=device)),
        "Cube": lambda: Cube.apply(x),
        "sin": lambda: x.sin(),
    }[function]()
    (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    (bend,) = torch.autograd.grad(slope.square().sum(), x)
    return slope, bend


def test_gradcheck_in_double_precision() -> None:
    with virtual_cuda.session(quiet=True):
        x = torch.randn(3, dtype=torch.float64, device="cuda", requires_grad=True)
        assert torch.autograd.gradcheck(Cube.apply, x, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(Cube.apply, x)
        model = small_model().double().cuda()
        batch = torch.randn(2, 3, dtype=torch.float64, device="cuda", requires_grad=True)
        assert torch.autograd.gradcheck(model, batch, check_batched_grad=True)
        scale = torch.randn((), dtype=torch.float64, device="cuda", requires_grad=True)
        assert torch.autograd.gradcheck(lambda x, s: Power.apply(x, 2, s), (x, scale))


@as_on_the_cpu(devices=2)
def test_a_graph_over_two_devices_and_the_host(device: str) -> Any:
    first, second = (device, device) if device == "cpu" else ("cuda:0", "cuda:1")
    x, y, z = random(first, 3), random(second, 3), random("cpu", 3)
    ((x.to(second) * y).cpu() + z).to(first).mul(x).sum().backward()
    assert [t.grad.device for t in (x, y, z)] == [t.device for t in (x, y, z)]
    return x.grad, y.grad, z.grad.to(device)


@as_on_the_cpu
def test_hooks_see_tensors_of_the_device(device: str) -> Any:
    seen: list[Any] = []
    model = small_model().to(device)

    def note(*values: Any) -> None:
        tensors = [t for v in values for t in (v if isinstance(v, tuple) else (v,)) if isinstance(t, Tensor)]
        assert {t.device.type for t in tensors} == {device}
        seen.extend(t.detach().clone() for t in tensors)

    model[0].register_forward_pre_hook(lambda module, inputs: note(inputs))
    model[0].register_forward_hook(lambda module, inputs, out: note(inputs, out))
    model[2].register_full_backward_pre_hook(lambda module, gradient: note(gradient))
    model[2].register_full_backward_hook(lambda module, inputs, outputs: note(inputs, outputs))
    x = random(device, 5, 3)
    x.register_hook(lambda gradient: gradient * 2)
    model[0].weight.register_hook(note)
    model[0].bias.register_post_accumulate_grad_hook(lambda parameter: note(parameter.grad))
    out = model(x)
    out.retain_grad()
    out.register_hook(note)
    out.grad_fn.register_prehook(lambda gradients: note(gradients))
    out.square().sum().backward()
    return seen, x.grad, out.grad


@as_on_the_cpu
def test_an_optimizer_inside_backward_hooks(device: str) -> Any:
    model = small_model().to(device)
    optimizers = {p: torch.optim.SGD([p], lr=0.1, foreach=False) for p in model.parameters()}

    def step(parameter: Tensor) -> None:
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(step)
    for _ in range(2):
        model(random(device, 5, 3)).square().sum().backward()
    assert all(p.grad is None for p in model.parameters())
    return list(model.parameters())


@as_on_the_cpu
def test_saved_tensors_are_kept_on_the_host_if_asked(device: str) -> Any:
    x = random(device, 4)
    kept: list[str] = []

    def pack(tensor: Tensor) -> Tensor:
        kept.append(tensor.device.type)
        return tensor.cpu()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor.to(device)):
        (x.sin() * x.cos()).sum().backward()
    assert set(kept) == {device}
    with torch.autograd.graph.save_on_cpu():
        x.exp().square().sum().backward()
    return x.grad


def test_a_gradient_can_be_assigned_taken_away_and_deleted_and_must_be_one(cuda: Any) -> None:
    parameter = nn.Parameter(torch.ones(3, device="cuda"))
    assert parameter.grad is None
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        parameter.grad = 1.0
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        parameter.grad = torch.ones(2, device="cuda")
    parameter.grad = torch.ones(3, device="cuda")
    assert parameter.grad.is_cuda
    parameter.grad = None
    assert parameter.grad is None
    parameter.grad = torch.ones(3, device="cuda")
    del parameter.grad
    assert parameter.grad is None


def test_own_functions_send_gradients_to_where_the_inputs_are_and_nowhere_else(
    cuda: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = torch.ones(3, device="cuda", requires_grad=True)
    there, here = value * 1, torch.ones(3, requires_grad=True)
    monkeypatch.setattr(Scale, "where", "cpu")
    one, other = Scale.apply(there, here, "name")
    (one.sum() + other.sum().cuda()).backward()
    assert value.grad is not None and value.grad.is_cuda and value.grad.tolist() == [2] * 3
    assert here.grad is not None and not here.grad.is_cuda and here.grad.tolist() == [3] * 3
    _, other = Scale.apply(value.detach(), value * 1, "name")
    with pytest.raises(RuntimeError, match="Function ScaleBackward returned an invalid gradient at index 1 - expected"):
        other.sum().backward()


def test_a_graph_is_used_once_and_an_edit_of_what_it_needs_is_noticed() -> None:
    with virtual_cuda.session(quiet=True):
        x = torch.ones(3, device="cuda", requires_grad=True)
        loss = (x * x).sum()
        loss.backward(retain_graph=True)
        loss.backward()
        assert x.grad is not None and x.grad.tolist() == [4.0] * 3
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            loss.backward()
        y = x.exp()
        y += 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


@as_on_the_cpu
def test_modes_without_gradients(device: str) -> Any:
    model, x = small_model().to(device), random(device, 5, 3)
    with torch.no_grad():
        quiet = model(x)
    with torch.inference_mode():
        inference = model(x)
        made = torch.ones(2, device=device) + inference[0]
    assert inference.is_inference() and made.is_inference()
    assert not quiet.requires_grad and inference.device == quiet.device == x.device
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        inference * x[:, :2]
    with torch.no_grad(), torch.enable_grad():
        assert model(x).requires_grad
    with torch.set_grad_enabled(False):
        x.data.mul_(2)
        x[0] = 0
    alias = x.detach()
    assert alias.data_ptr() == x.data_ptr()
    return quiet, inference.clone(), made.clone(), alias


TRANSFORMS: dict[str, Callable[[Callable[..., Tensor], Tensor, Tensor], Any]] = {
    "grad": lambda f, x, v: torch.func.grad(f)(x),
    "grad and value": lambda f, x, v: torch.func.grad_and_value(f)(x),
    "vmap": lambda f, x, v: torch.func.vmap(f)(torch.stack([x, v])),
    "gradient of each": lambda f, x, v: torch.func.vmap(torch.func.grad(f))(torch.stack([x, v])),
    "jvp": lambda f, x, v: torch.func.jvp(f, (x,), (v,)),
    "vjp": lambda f, x, v: torch.func.vjp(f, x)[1](torch.ones_like(f(x))),
    "jacrev": lambda f, x, v: torch.func.jacrev(lambda y: y.sin() * y.sum())(x),
    "jacfwd": lambda f, x, v: torch.func.jacfwd(lambda y: y.sin() * y.sum())(x),
    "hessian": lambda f, x, v: torch.func.hessian(f)(x),
    "third": lambda f, x, v: torch.func.grad(lambda y: torch.func.grad(lambda z: f(z))(y).square().sum())(x),
    "linearize": lambda f, x, v: torch.func.linearize(f, x)[1](v),
    "functional jacobian": lambda f, x, v: torch.autograd.functional.jacobian(lambda y: y.exp() * y.sum(), x),
    "functional hessian": lambda f, x, v: torch.autograd.functional.hessian(f, x),
    "functional hvp": lambda f, x, v: torch.autograd.functional.hvp(f, x, v),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@as_on_the_cpu
def test_transforms_of_functions(device: str, name: str) -> Any:
    x, v, weight = (random(device, 4, grad=False) for _ in range(3))

    def function(x: Tensor) -> Tensor:
        return (Cube.apply(x) * weight + x.cos()).sum()

    return TRANSFORMS[name](function, x, v)


@as_on_the_cpu
def test_gradients_of_each_example(device: str) -> Any:
    model = small_model().to(device)
    parameters = {k: v.detach() for k, v in model.named_parameters()}
    batch, targets = random(device, 5, 3, grad=False), torch.tensor([0, 1, 0, 1, 1], device=device)

    def loss(parameters: Any, x: Tensor, y: Tensor) -> Tensor:
        out = torch.func.functional_call(model, parameters, (x.unsqueeze(0),))
        return nn.functional.cross_entropy(out, y.unsqueeze(0))

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(parameters, batch, targets)
    assert all(g.device.type == device for g in each.values())
    models = [small_model().to(device) for _ in range(3)]
    stacked, buffers = torch.func.stack_module_state(models)
    ensemble = torch.func.vmap(lambda p, b, x: torch.func.functional_call(model, (p, b), (x,)), in_dims=(0, 0, None))(
        stacked, buffers, batch
    )
    return each, ensemble


@pytest.mark.parametrize("randomness", ["different", "same"])
@as_on_the_cpu
def test_random_numbers_inside_vmap(device: str, randomness: str) -> Any:
    x = random(device, 3, 4, grad=False)
    return torch.func.vmap(lambda row: nn.functional.dropout(row, 0.5), randomness=randomness)(x)


def test_a_mixture_inside_a_transform_is_refused() -> None:
    with virtual_cuda.session(quiet=True):
        x, weight = torch.ones(2, 3, device="cuda"), torch.ones(3)
        for transform in (torch.func.vmap, torch.func.jacrev):
            with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
                transform(lambda row: row * weight)(x)
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            torch.func.grad(lambda row: (row * weight).sum())(x[0])


@as_on_the_cpu
def test_batched_gradients(device: str) -> Any:
    x = random(device, 4)
    seen: list[str] = []
    x.register_hook(lambda gradient: seen.append(gradient.device.type))
    out = Cube.apply(x) * x.sum()
    rows = torch.autograd.grad(out, x, torch.eye(4, device=device), is_grads_batched=True)
    assert seen == [device]
    return rows, torch.autograd.functional.jacobian(lambda y: Cube.apply(y) * y.sum(), x, vectorize=True)


@as_on_the_cpu
def test_forward_mode(device: str) -> Any:
    x, v = random(device, 4, grad=False), random(device, 4, grad=False)
    with torch.autograd.forward_ad.dual_level():
        out = torch.autograd.forward_ad.make_dual(x, v).cpu().exp().to(device)
        return tuple(torch.autograd.forward_ad.unpack_dual(out))


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("same", [False, True])
def test_a_checkpointed_block_repeats_its_random_numbers(
    same_numbers: Callable[..., None], use_reentrant: bool, same: bool
) -> None:
    def program(device: str) -> Any:
        block = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 2)).to(device)
        x = random(device, 6, 3)
        masks: list[Tensor] = []
        block[1].register_forward_hook(lambda module, inputs, out: masks.append(out.detach() != 0))
        checkpoint(block, x, use_reentrant=use_reentrant).square().sum().backward()
        assert len(masks) == 2 and torch.equal(*masks)
        segments = checkpoint_sequential(block, 2, x, use_reentrant=use_reentrant)
        return x.grad, segments, [p.grad for p in block.parameters()]

    if same:
        same_numbers(program)
    else:
        with virtual_cuda.session(quiet=True):
            program("cuda")


CHANGES: dict[str, Callable[[nn.Linear], nn.Module]] = {
    "weight norm": lambda layer: parametrizations.weight_norm(layer),
    "spectral norm": lambda layer: parametrizations.spectral_norm(layer),
    "orthogonal": lambda layer: parametrizations.orthogonal(layer, use_trivialization=False),
    "old weight norm": lambda layer: torch.nn.utils.weight_norm(layer),
    "old spectral norm": lambda layer: torch.nn.utils.spectral_norm(layer),
    "symmetric": lambda layer: parametrize.register_parametrization(layer, "weight", Symmetric()) or layer,
    "pruned": lambda layer: prune.l1_unstructured(layer, "weight", 0.4),
    "pruned at random": lambda layer: prune.random_structured(layer, "weight", 0.5, dim=0),
    "pruned by magnitude": lambda layer: prune.ln_structured(layer, "weight", 0.5, n=2, dim=1),
}


@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
@pytest.mark.parametrize("moved_before", [False, True])
@pytest.mark.parametrize("name", CHANGES)
@as_on_the_cpu
def test_changed_layers_train(device: str, name: str, moved_before: bool) -> Any:
    layer = nn.Linear(4, 4)
    layer = CHANGES[name](layer.to(device)) if moved_before else CHANGES[name](layer).to(device)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, foreach=True)
    x = random(device, 3, 4, grad=False)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = layer(x).square().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    if name.startswith("pruned"):
        prune.remove(layer, "weight")
    if parametrize.is_parametrized(layer):
        parametrize.remove_parametrizations(layer, "weight")
    return losses, layer.weight, list(layer.parameters()), list(layer.buffers())


@as_on_the_cpu
def test_averages_of_weights(device: str) -> Any:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)).to(device)
    # The CPU would take the loop over parameters, CUDA takes the lists.
    plain = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_swa_multi_avg_fn())
    moving = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9), use_buffers=True)
    placed = swa_utils.AveragedModel(model, torch.device(device), swa_utils.get_swa_avg_fn())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=True)
    schedule = swa_utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    batches = [random(device, 6, 3, grad=False) for _ in range(3)]
    for x in batches:
        optimizer.zero_grad()
        model(x).square().sum().backward()
        optimizer.step()
        schedule.step()
        for average in (plain, moving, placed):
            average.update_parameters(model)
    swa_utils.update_bn([x.cpu() for x in batches], plain, device=torch.device(device))
    averages = [[*a.module.parameters(), *a.module.buffers()] for a in (plain, moving, placed)]
    return averages, plain(batches[0])


@pytest.mark.parametrize("foreach", [None, False, True])
@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf")])
@as_on_the_cpu
def test_clipping_and_vectors(device: str, foreach: bool | None, norm_type: float) -> Any:
    model = small_model().to(device)
    model(random(device, 5, 3)).square().sum().backward()
    parameters = list(model.parameters())
    norm = nn.utils.get_total_norm([p.grad for p in parameters], norm_type, foreach=foreach)
    clipped = nn.utils.clip_grad_norm_(parameters, 0.1, norm_type, foreach=foreach)
    nn.utils.clip_grad_value_(parameters, 0.01, foreach=foreach)
    vector = nn.utils.parameters_to_vector(parameters)
    nn.utils.vector_to_parameters(vector * 2, parameters)
    return norm, clipped, vector, [p.grad for p in parameters], parameters
