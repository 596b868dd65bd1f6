"""A tensor says where it is as a CUDA tensor does, whoever made it, and stays there in modules and transforms."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, nn, torch

torch_device = lazy("torch.utils._device")
factories = lazy("course_lib.virtual_cuda.torch_api.factories")

Net = lazy("tests.course_lib.virtual_cuda.networks", "Net")

pytestmark = pytest.mark.slow


@pytest.fixture
def cuda() -> Iterator[Any]:
    """Two virtual devices."""
    with virtual_cuda.session(devices=2, same_numbers=True, force=True, quiet=True) as log:
        yield log
        torch.set_default_device(None)


def place(x: Any) -> str:
    return str(x.device)


def test_the_text_of_a_tensor_is_that_of_a_cuda_tensor(cuda: Any) -> None:
    x = torch.tensor([1.0, 2.0], device="cuda")
    texts = {
        "tensor([1., 2.], device='cuda:0')": x,
        "tensor([1., 2.], device='cuda:1')": x.to(1),
        "tensor([1, 2], device='cuda:0')": x.long(),
        "tensor([1, 2], device='cuda:0', dtype=torch.int32)": x.int(),
        "tensor([1., 2.], device='cuda:0', dtype=torch.float16)": x.half(),
        "tensor([False,  True], device='cuda:0')": x > 1,
        "tensor([1.+1.j, 2.+1.j], device='cuda:0')": x + 1j,
        "tensor(1., device='cuda:0')": x[0],
        "tensor([], device='cuda:0', size=(0, 3))": x.new_empty(0, 3),
        "tensor([0., 0., 0.,  ..., 0., 0., 0.], device='cuda:0')": x.new_zeros(2000),
        "tensor([1., 2.], device='cuda:0', requires_grad=True)": x.clone().requires_grad_(),
        "tensor([2., 4.], device='cuda:0', grad_fn=<MulBackward0>)": x.clone().requires_grad_() * 2,
        "Parameter containing:\ntensor([1., 2.], device='cuda:0', requires_grad=True)": nn.Parameter(x),
        "tensor([1., 2.])": x.cpu(),
    }
    for text, tensor in texts.items():
        assert repr(tensor) == str(tensor) == text
        assert f"{tensor}" == (str(tensor.item()) if tensor.dim() == 0 else text)
    assert f"{x[1]:.2f}" == "2.00"
    assert str(list(x)) == "[tensor(1., device='cuda:0'), tensor(2., device='cuda:0')]"


def test_every_question_about_the_place_has_cudas_answer(cuda: Any) -> None:
    x, second, here = torch.ones(2, device="cuda"), torch.ones(2, device=1), torch.ones(2)
    assert [t.device for t in (x, second, here)] == [
        torch.device("cuda:0"),
        torch.device("cuda:1"),
        torch.device("cpu"),
    ]
    assert [(t.is_cuda, t.is_cpu, t.is_meta) for t in (x, here)] == [(True, False, False), (False, True, False)]
    assert [t.get_device() for t in (x, second, here)] == [0, 1, -1]
    assert [torch.get_device(t) for t in (x, second, here)] == [0, 1, -1]
    assert x.device == torch.device("cuda", 0) and x.device != torch.device("cuda")
    assert (x.device.type, x.device.index) == ("cuda", 0)
    types = {"Float": torch.float, "Half": torch.half, "Double": torch.double, "Long": torch.long, "Bool": torch.bool}
    for name, dtype in types.items():
        assert x.to(dtype).type() == f"torch.cuda.{name}Tensor" and here.to(dtype).type() == f"torch.{name}Tensor"
    assert isinstance(x, torch.cuda.FloatTensor) and not isinstance(here, torch.cuda.FloatTensor)
    assert x.to_sparse().type() == "torch.cuda.sparse.FloatTensor"
    assert x.__cuda_array_interface__["shape"] == (2,)
    with pytest.raises(AttributeError, match=r"on non-CUDA tensor type: torch\.FloatTensor"):
        _ = here.__cuda_array_interface__


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **{name: (2,) for name in ("empty", "ones", "zeros", "rand", "randn", "eye", "arange", "randperm")},
    **{f"{name}_window": (5,) for name in ("bartlett", "blackman", "hamming", "hann", "kaiser")},
    **{"empty_permuted": ((2, 3), (1, 0)), "empty_strided": ((2, 3), (3, 1)), "full": ((2,), 1.5), "range": (0, 3)},
    **{"linspace": (0, 1, 3), "logspace": (0, 1, 3), "randint": (5, (2,)), "scalar_tensor": (1.0,)},
    **{"tril_indices": (2, 2), "triu_indices": (2, 2), "normal": (0.0, 1.0, (2,))},
    **{name: ([1.0, 2.0],) for name in ("tensor", "as_tensor", "asarray")},
    "sparse_coo_tensor": ([[0, 1], [1, 0]], [1.0, 2.0]),
    **{f"sparse_{rows}_tensor": ([0, 1, 2], [0, 1], [1.0, 2.0]) for rows in ("csr", "csc")},
    **{f"sparse_{blocks}_tensor": ([0, 1, 2], [0, 1], [[[1.0]], [[2.0]]]) for blocks in ("bsr", "bsc")},
}
FACTORIES: dict[str, Callable[..., torch.Tensor]] = {
    **{name: lambda name=name, **k: getattr(torch, name)(*ARGUMENTS[name], **k) for name in ARGUMENTS},
    "fft_fftfreq": lambda **k: torch.fft.fftfreq(4, **k),
    "fft_rfftfreq": lambda **k: torch.fft.rfftfreq(4, **k),
    "nested_tensor": lambda **k: torch.nested.nested_tensor([[1.0], [2.0, 3.0]], **k),
    "sparse_compressed_tensor": lambda **k: torch.sparse_compressed_tensor(
        [0, 1, 2], [0, 1], [1.0, 2.0], layout=torch.sparse_csr, **k
    ),
    "empty_quantized": lambda **k: torch.empty_quantized(
        (2,), torch.quantize_per_tensor(torch.ones(2, device="cpu"), 0.1, 0, torch.qint8), **k
    ),
}
SPELLINGS = ("cuda", "cuda:0", 0, 'torch.device("cuda")', 'torch.device("cuda", 0)', 'torch.device("cuda:0")')


def spelled(device: Any) -> Any:
    """What is meant by a spelling: Python, or the value itself."""
    return eval(device) if isinstance(device, str) and device.startswith("torch") else device


quietly = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")


def test_every_factory_that_torch_gives_a_default_device_is_tried() -> None:
    names = {f.__name__ for f in torch_device._device_constructors()}
    assert names - {"_nested_tensor"} <= FACTORIES.keys()
    assert set(factories.MAKERS) | set(factories.FROM_DATA) <= FACTORIES.keys()


@quietly
@pytest.mark.parametrize("name", FACTORIES)
def test_a_factory_takes_its_device_in_every_spelling(name: str, cuda: Any) -> None:
    make = FACTORIES[name]
    torch.manual_seed(0)
    expected = make()
    assert place(expected) == "cpu"
    for device in map(spelled, SPELLINGS):
        torch.manual_seed(0)
        made = make(device=device)
        assert (place(made), made.dtype, made.layout) == ("cuda:0", expected.dtype, expected.layout)
        if "empty" not in name and not made.is_nested and made.layout is torch.strided:
            assert torch.equal(made.cpu(), expected)
    assert place(make(device=1)) == place(make(device="cuda:1")) == "cuda:1"
    assert place(make(device="cpu")) == "cpu"


@quietly
@pytest.mark.parametrize("name", FACTORIES)
def test_a_factory_follows_the_context_and_the_default(name: str, cuda: Any) -> None:
    make = FACTORIES[name]
    with torch.device("cuda:1"):
        inside = place(make())
        assert place(make(device="cpu")) == "cpu" and place(make(device="cuda:0")) == "cuda:0"
        with torch.device("cpu"):
            assert place(make()) == "cpu"
    assert place(make()) == "cpu"
    torch.set_default_device(0)
    assert place(make()) == inside.replace("1", "0")
    torch.set_default_device(None)
    assert inside == ("cuda:1" if name not in WITHOUT_CONTEXT else "cpu")


WITHOUT_CONTEXT = {"range", "nested_tensor", "normal"}
"""those that torch's own context does not reach, whatever the device"""


@pytest.mark.parametrize("device", [*SPELLINGS, "cuda:1", 1])
def test_the_default_device_is_named_and_taken_back(device: Any, cuda: Any) -> None:
    device = spelled(device)
    expected = "cuda:1" if "1" in str(device) else "cuda:0"
    torch.set_default_device(device)
    assert str(torch.get_default_device()) == expected
    assert place(torch.ones(1)) == place(nn.Linear(1, 1).weight) == place(torch.tensor(1)) == expected
    torch.set_default_device(None)
    assert str(torch.get_default_device()) == place(torch.ones(1)) == "cpu"
    if isinstance(device, int) and torch.version.cuda is None:
        pytest.skip("a build without CUDA does not know what a bare number is to torch.device, which is C++")
    with torch.device(device):
        assert str(torch.get_default_device()) == place(torch.ones(1)) == expected
        assert place(nn.LSTM(2, 2).weight_ih_l0) == place(nn.BatchNorm1d(2).running_mean) == expected
    assert place(torch.ones(1)) == "cpu"


LIKE: dict[str, Callable[..., torch.Tensor]] = {
    **{
        f"{name}_like": lambda x, name=name, **k: getattr(torch, f"{name}_like")(x, **k)
        for name in ("empty", "ones", "zeros", "rand", "randn")
    },
    "full_like": lambda x, **k: torch.full_like(x, 2.0, **k),
    "randint_like": lambda x, **k: torch.randint_like(x, 3, **k),
    "new_empty": lambda x, **k: x.new_empty(2, **k),
    "new_empty_strided": lambda x, **k: x.new_empty_strided((2,), (1,), **k),
    "new_full": lambda x, **k: x.new_full((2,), 1.0, **k),
    "new_ones": lambda x, **k: x.new_ones(2, **k),
    "new_zeros": lambda x, **k: x.new_zeros((2,), **k),
    "new_tensor": lambda x, **k: x.new_tensor([1.0, 2.0], **k),
}


def test_every_function_that_follows_a_tensor_is_tried() -> None:
    assert {*factories.LIKE, *factories.NEW} <= LIKE.keys()


@pytest.mark.parametrize("name", LIKE)
def test_a_follower_goes_with_its_tensor_unless_told(name: str, cuda: Any) -> None:
    x, here = torch.ones(2, device="cuda:1"), torch.ones(2)
    assert place(LIKE[name](x)) == "cuda:1" and place(LIKE[name](here)) == "cpu"
    assert place(LIKE[name](x, device="cpu")) == "cpu"
    for device in map(spelled, SPELLINGS):
        assert place(LIKE[name](x, device=device)) == place(LIKE[name](here, device=device)) == "cuda:0"
    made = LIKE[name](x, dtype=torch.float64, requires_grad=True)
    assert (place(made), made.dtype, made.requires_grad, made.is_leaf) == ("cuda:1", torch.float64, True, True)


@quietly
def test_old_constructors_follow_their_tensor(cuda: Any) -> None:
    x = torch.ones(2, device="cuda:1")
    assert {place(y) for y in (x.new(3), x.new(2, 3), x.new([1.0]), x.new(), x.new_tensor(torch.ones(1)))} == {"cuda:1"}
    assert place(torch.ones(2).new(3)) == "cpu"
    assert x.new([1.0, 2.0]).tolist() == [1, 2]


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
def test_data_that_is_a_tensor_stays_where_it_is_unless_told(cuda: Any) -> None:
    x = torch.ones(2, device="cuda:1")
    assert {place(y) for y in (torch.tensor(x), torch.as_tensor(x), torch.asarray(x))} == {"cuda:1"}
    assert {place(f(x, device="cpu")) for f in (torch.tensor, torch.as_tensor, torch.asarray)} == {"cpu"}
    assert {place(f(x, device="cuda:0")) for f in (torch.tensor, torch.as_tensor, torch.asarray)} == {"cuda:0"}
    assert torch.as_tensor(x) is x and torch.as_tensor(x, device=1) is x
    assert place(torch.tensor([x[0], x[1]])) == "cpu", "a list is read number by number"


@pytest.mark.parametrize(
    ("move", "device"),
    [
        (lambda m: m.cuda(), "cuda:0"),
        (lambda m: m.cuda(1), "cuda:1"),
        (lambda m: m.to("cuda"), "cuda:0"),
        (lambda m: m.to(torch.device("cuda", 1)), "cuda:1"),
        (lambda m: m.to(0), "cuda:0"),
        (lambda m: m.to(torch.ones(1, device="cuda:1")), "cuda:1"),
        (lambda m: m.to("cuda", non_blocking=True), "cuda:0"),
        (lambda m: m.cuda().cpu(), "cpu"),
        (lambda m: m.cuda().to("cpu"), "cpu"),
        (lambda m: m.cuda(0).cuda(1), "cuda:1"),
        (lambda m: m._apply(lambda t: t.cuda()), "cuda:0"),
    ],
)
def test_a_module_moves_with_its_buffers_and_keeps_its_parameters(move: Any, device: str, cuda: Any) -> None:
    model = Net()
    before = {name: id(p) for name, p in model.named_parameters()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    called: list[str] = []
    model.linear.register_forward_hook(lambda module, inputs, output: called.append(place(output)))
    assert move(model) is model
    assert {name: id(p) for name, p in model.named_parameters()} == before
    assert {place(t) for t in (*model.parameters(), *model.buffers())} == {device}
    assert place(model.plain) == "cpu", "a tensor that was not registered stays"
    out = model(torch.ones(1, 2, device=device))
    out.sum().backward()
    optimizer.step()
    assert called == [device] and {place(p.grad) for p in model.parameters()} == {device}
    assert set(model.state_dict()) == {"linear.weight", "linear.bias", "kept"}
    model.zero_grad()
    model.double()
    assert {t.dtype for t in model.parameters()} == {torch.float64} and place(model.kept) == device


def test_gradients_move_with_their_parameters(cuda: Any) -> None:
    model = nn.Linear(2, 2)
    model(torch.ones(1, 2)).sum().backward()
    model.cuda()
    assert place(model.weight.grad) == "cuda:0"
    model(torch.ones(1, 2, device="cuda")).sum().backward()
    assert model.bias.grad.tolist() == [2, 2]


def test_a_module_without_data_gets_it_on_the_device(cuda: Any) -> None:
    model = nn.Linear(2, 2, device="meta")
    with pytest.raises(
        NotImplementedError, match=r"Please use torch.nn.Module.to_empty\(\) instead of torch.nn.Module"
    ):
        model.to("cuda")
    assert place(model.to_empty(device="cuda").weight) == "cuda:0"
    assert place(nn.Linear(2, 2, device=1).weight) == "cuda:1"


def test_modules_may_swap_or_replace_their_parameters_instead(cuda: Any) -> None:
    for change in (
        torch.__future__.set_swap_module_params_on_conversion,
        torch.__future__.set_overwrite_module_params_on_conversion,
    ):
        change(True)
        try:
            model = nn.Linear(2, 2).cuda()
            model(torch.ones(1, 2, device="cuda")).sum().backward()
            assert place(model.weight) == place(model.weight.grad) == "cuda:0"
        finally:
            change(False)


def test_lazy_modules_are_made_where_their_input_is(cuda: Any) -> None:
    for model in (nn.LazyLinear(3).cuda(), nn.LazyLinear(3, device="cuda"), nn.LazyLinear(3).to("cuda:0")):
        assert repr(model.weight) == "<UninitializedParameter>"
        out = model(torch.ones(2, 4, device="cuda"))
        assert out.shape == (2, 3) and place(model.weight) == place(out) == "cuda:0"
    with pytest.raises(RuntimeError, match="on the same device"):
        nn.LazyLinear(3)(torch.ones(2, 4, device="cuda"))


def test_sparse_tensors(cuda: Any) -> None:
    dense = torch.tensor([[0.0, 1.0], [2.0, 0.0]], device="cuda")
    for layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        sparse = dense.to_sparse(layout=layout)
        assert place(sparse) == place(sparse.to_dense()) == "cuda:0" and torch.equal(sparse.to_dense(), dense)
        assert place(sparse.cpu()) == "cpu" and place(sparse.cpu().cuda(1)) == "cuda:1"
        assert "device='cuda:0'" in repr(sparse)
    coo = dense.to_sparse().coalesce()
    assert place(coo.indices()) == place(coo.values()) == "cuda:0"
    assert torch.equal(torch.sparse.mm(coo, dense), dense @ dense)
    with pytest.raises(RuntimeError, match="on the same device"):
        torch.sparse.mm(coo, dense.cpu())
    embedding = nn.Embedding(3, 2, sparse=True).cuda()
    embedding(torch.tensor([1], device="cuda")).sum().backward()
    assert embedding.weight.grad.is_sparse and place(embedding.weight.grad) == "cuda:0"


@quietly
def test_nested_tensors_of_the_strided_layout(cuda: Any) -> None:
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], device="cuda")
    assert place(nested) == place(nested * 2) == place(nested.unbind()[0]) == "cuda:0"
    assert (nested * 2).to_padded_tensor(0.0).tolist() == [[2, 2, 0], [2, 2, 2]]
    assert place(nested.cpu()) == "cpu"
    with pytest.raises(RuntimeError, match="on the same device"):
        nested + nested.cpu()


@quietly
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], device="cuda", layout=torch.jagged),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged).cuda(),
        lambda: torch.nested.as_nested_tensor([torch.ones(2).cuda()], layout=torch.jagged),
        lambda: torch.nested.nested_tensor_from_jagged(torch.ones(2).cuda(), torch.tensor([0, 2]).cuda()),
    ],
)
def test_nested_tensors_of_the_jagged_layout_are_refused_by_name(make: Any, cuda: Any) -> None:
    with pytest.raises(NotImplementedError, match=r"Virtual CUDA has no nested tensors of layout torch\.jagged"):
        make()


def test_quantized_complex_and_small_floats(cuda: Any) -> None:
    x = torch.ones(2, 2, device="cuda")
    quantized = torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)
    assert place(quantized) == place(quantized.dequantize()) == place(quantized.int_repr()) == "cuda:0"
    assert place(torch.quantize_per_tensor(x.cpu(), 0.1, 0, torch.qint8).cuda()) == "cuda:0"
    assert place(x.to(torch.float8_e4m3fn)) == "cuda:0"
    for made in ((x + 1j).real, (x + 1j).abs(), (x + 1j).conj(), torch.view_as_complex(x), torch.fft.fft(x)):
        assert place(made) == "cuda:0"
    with pytest.raises(RuntimeError, match="on the same device"):
        torch.complex(x, x.cpu())


@quietly
def test_scripted_traced_and_symbolic_programs(cuda: Any) -> None:
    model, x = nn.Sequential(nn.Linear(2, 3), nn.ReLU()).cuda(), torch.ones(1, 2, device="cuda")
    expected = model(x)
    for made in (torch.jit.script(model), torch.jit.trace(model, x), torch.fx.symbolic_trace(model)):
        assert torch.equal(made(x), expected) and place(made(x)) == "cuda:0"
        # The interpreter of TorchScript loses the words of an error that comes from Python.
        with pytest.raises(RuntimeError, match=r"on the same device|failed in the TorchScript interpreter"):
            made(x.cpu())
        assert place(made.cpu()(x.cpu())) == "cpu" and place(model.cuda()(x)) == "cuda:0"


@quietly
def test_a_scripted_module_is_saved_as_one_of_the_cpu_and_mapped_to_the_device(cuda: Any) -> None:
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(nn.Linear(2, 2).cuda()), file)
    for location, device in ((None, "cpu"), ("cpu", "cpu"), ("cuda:1", "cuda:1")):
        file.seek(0)
        assert place(torch.jit.load(file, map_location=location).weight) == device


@quietly
def test_an_exported_program_runs_on_the_device(cuda: Any) -> None:
    model, x = (
        nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU()).cuda().eval(),
        torch.ones(4, 2, device="cuda"),
    )
    exported = torch.export.export(model, (x,))
    assert torch.equal(exported.module()(x), model(x)) and place(exported.module()(x)) == "cuda:0"
    with torch._subclasses.FakeTensorMode() as mode:
        assert mode.from_tensor(x).shape == (4, 2)
        assert nn.Linear(2, 2, device="cuda").weight.requires_grad
    assert place(x + x) == "cuda:0"
