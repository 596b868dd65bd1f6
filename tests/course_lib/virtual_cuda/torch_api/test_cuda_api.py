"""`torch.cuda` and `torch.accelerator` of the virtual devices: every name, and what programs read there."""

from __future__ import annotations

import importlib
import inspect
import warnings
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, torch

cuda_api = lazy("course_lib.virtual_cuda.torch_api.cuda_api")

pytestmark = pytest.mark.slow

# What a function is called with that needs arguments. A function that is in no list here fails the test.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "can_device_access_peer": (0, 1),
    "check_error": (0,),
    "classproperty": (len,),
    "manual_seed": (3,),
    "manual_seed_all": (3,),
    "set_device": (1,),
    "set_device_idx": (1,),
    "set_device_index": (1,),
    "set_per_process_memory_fraction": (0.5,),
    "set_sync_debug_mode": (0,),
    "stream": (None,),
}
NEEDS_NVML = (
    *("clock_rate", "device_memory_used", "memory_usage", "power_draw", "temperature", "utilization"),
    "list_gpu_processes",
)
"""of `torch.cuda`: asked of NVIDIA's management library, not of CUDA; answered as on a machine without that library"""
MADE = {
    "set_rng_state": lambda: (torch.cuda.get_rng_state(),),
    "set_rng_state_all": lambda: (torch.cuda.get_rng_state_all(),),
    "set_stream": lambda: (torch.cuda.Stream(),),
}


def functions(module: Any) -> list[str]:
    """The public functions of a torch module, but not what it imported from elsewhere."""
    return [
        name
        for name, value in sorted(vars(module).items())
        if not name.startswith("_")
        and callable(value)
        and not isinstance(value, type)
        and (getattr(value, "__module__", "") or "").split(".")[0] in ("torch", "course_lib")
    ]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("module", ["torch.cuda", "torch.accelerator", "torch.cuda.random", "torch.cuda.memory"])
def test_every_public_function_answers_or_is_refused_by_name(module: str, cuda: Any) -> None:
    unknown = []
    owner = importlib.import_module(module)
    for name in functions(owner):
        function = getattr(owner, name)
        if name in cuda_api.REFUSED:
            with pytest.raises(NotImplementedError, match=f"{name} needs a real GPU"):
                function()
            continue
        if name in NEEDS_NVML:
            continue
        needs = [
            p
            for p in inspect.signature(function).parameters.values()
            if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        arguments = MADE[name]() if name in MADE else ARGUMENTS.get(name, ())
        if needs and not arguments:
            unknown.append(name)
            continue
        try:
            function(*arguments)
        except Exception as error:
            unknown.append(f"{name}: {error!r}")
    assert not unknown


def test_what_nvidia_smi_would_be_asked_is_missing_as_without_its_library(cuda: Any) -> None:
    for name in NEEDS_NVML:
        try:
            said = getattr(torch.cuda, name)()
        except (ModuleNotFoundError, RuntimeError) as error:
            said = str(error)
        assert "nvidia-ml-py" in said or "driver can't be loaded" in said, name


def test_every_public_class_can_be_named_and_the_usual_ones_made(cuda: Any) -> None:
    classes = [n for n, v in vars(torch.cuda).items() if isinstance(v, type) and "torch" in v.__module__]
    assert set(classes) >= {"CUDAGraph", "Event", "Stream", "FloatTensor"}
    for name in classes:
        assert not isinstance(3, getattr(torch.cuda, name))
    torch.cuda.Stream(), torch.cuda.Event(), torch.cuda.FloatTensor([1.0])
    for name in ("CUDAGraph", "MemPool"):
        with pytest.raises(NotImplementedError, match="needs a real GPU"):
            getattr(torch.cuda, name)()


def test_devices_are_counted_and_described(cuda: Any) -> None:
    assert torch.cuda.is_available() and torch.cuda.is_initialized() and torch.backends.cuda.is_built()
    assert torch.cuda.device_count() == torch.accelerator.device_count() == 2
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    assert torch.cuda.get_arch_list() and torch.version.cuda
    one = torch.cuda.get_device_properties("cuda:1")
    assert (one.major, one.minor) == torch.cuda.get_device_capability(1) == (8, 0)
    assert one.name == torch.cuda.get_device_name() and one.total_memory == 16 << 30
    assert one.multi_processor_count > 0 and one.warp_size == 32
    assert repr(one).startswith("_CudaDeviceProperties(name='Virtual CUDA") and "total_memory=16384MB" in repr(one)
    assert one.uuid != torch.cuda.get_device_properties(0).uuid
    assert torch.cuda.is_bf16_supported() and torch.cuda.is_tf32_supported()


def test_properties_have_every_field_that_a_real_device_has(cuda: Any) -> None:
    real = getattr(torch._C, "_CudaDeviceProperties", None)
    if real is None:
        pytest.skip("this build of torch has no CUDA")
    fields = {name for name in dir(real) if not name.startswith("_")}
    assert fields <= set(dir(torch.cuda.get_device_properties()))


@pytest.mark.parametrize("device", [1, "cuda:1", "torch.device"])
def test_the_current_device_in_every_spelling(device: Any, cuda: Any) -> None:
    device = torch.device("cuda", 1) if device == "torch.device" else device
    with torch.cuda.device(device):
        assert torch.cuda.current_device() == torch.accelerator.current_device_index() == 1
        assert torch.zeros(1, device="cuda").device == torch.zeros(1).cuda().device == torch.device("cuda:1")
    assert torch.cuda.current_device() == 0
    torch.cuda.set_device(device)
    assert torch.zeros(1, device="cuda").device == torch.device("cuda:1")
    assert torch.cuda.current_stream().device == torch.device("cuda:1")
    with torch.cuda.device_of(torch.zeros(1, device="cuda:0")):
        assert torch.cuda.current_device() == 0
    with torch.cuda.device_of(torch.zeros(1)), torch.cuda.device(None), torch.cuda.device(-1):
        assert torch.cuda.current_device() == 1
    torch.cuda.set_device(0)


def test_accelerator_chooses_devices_too(cuda: Any) -> None:
    torch.accelerator.set_device_index(1)
    assert torch.cuda.current_device() == 1
    if hasattr(torch.accelerator, "device_index"):
        with torch.accelerator.device_index(0):
            assert torch.cuda.current_device() == 0
    assert torch.accelerator.current_stream() == torch.cuda.current_stream(1)


def test_a_device_that_is_not_there_is_refused(cuda: Any) -> None:
    for call in (
        lambda: torch.zeros(1, device="cuda:2"),
        lambda: torch.cuda.set_device(2),
        lambda: torch.zeros(1).cuda(5),
        lambda: torch.cuda.synchronize(2),
        lambda: torch.Generator("cuda:2"),
    ):
        with pytest.raises(RuntimeError, match="CUDA error: invalid device ordinal"):
            call()
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_properties(2)
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        torch.cuda.memory_allocated("cpu")


def test_old_tensor_types_make_tensors_and_are_their_types(cuda: Any) -> None:
    made = torch.cuda.FloatTensor([1, 2])
    assert made.device == torch.device("cuda:0") and made.tolist() == [1, 2]
    assert isinstance(made, torch.cuda.FloatTensor) and not isinstance(made, torch.cuda.HalfTensor)
    assert not isinstance(made.cpu(), torch.cuda.FloatTensor) and isinstance(made.cpu(), torch.FloatTensor)
    assert torch.cuda.LongTensor(2, 3).shape == (2, 3)
    assert torch.zeros(2).type(torch.cuda.HalfTensor).type() == "torch.cuda.HalfTensor"
    with pytest.raises(TypeError, match="expected TensorOptions"):
        torch.cuda.HalfTensor(torch.ones(2))


def test_the_default_tensor_type_may_be_cuda_and_is_put_back() -> None:
    with virtual_cuda.session(force=True, quiet=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.set_default_tensor_type("torch.cuda.DoubleTensor")
        assert torch.ones(2).is_cuda and torch.ones(2).dtype is torch.float64
        torch.set_default_tensor_type(torch.FloatTensor)
        assert not torch.ones(2).is_cuda
        torch.set_default_tensor_type(torch.cuda.FloatTensor)
    assert torch.ones(2).device.type == "cpu"


def test_backend_flags_are_read_and_set_without_a_driver(cuda: Any) -> None:
    with torch.backends.cudnn.flags(enabled=True, benchmark=True, deterministic=True):
        assert torch.backends.cudnn.benchmark and torch.backends.cudnn.deterministic
    torch.backends.cuda.matmul.allow_tf32 = True
    assert torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    assert torch.backends.cuda.cufft_plan_cache.size == 0
    torch.backends.cuda.cufft_plan_cache[1].max_size = 7
    assert torch.backends.cuda.cufft_plan_cache.max_size == 7
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        pass


def test_profiling_tools_do_nothing(cuda: Any) -> None:
    with torch.cuda.nvtx.range("forward"), torch.cuda.profiler.profile():
        assert torch.cuda.nvtx.range_push("inner") == 1
        torch.cuda.nvtx.mark("here")
        assert torch.cuda.nvtx.range_pop() == 1
    torch.cuda.check_error(torch.cuda.cudart().cudaProfilerStart())


def test_a_gpus_precision_of_products_is_told_and_changes_no_number(cuda: Any) -> None:
    """A CPU with bfloat16 units would use them for "medium", and an honest program would get other numbers there."""
    torch.set_float32_matmul_precision("medium")
    assert torch.get_float32_matmul_precision() == "medium"
    assert torch._C._get_float32_matmul_precision() == "highest"
    with pytest.warns(UserWarning, match="not one of"):
        torch.set_float32_matmul_precision("low")
    assert torch.get_float32_matmul_precision() == "medium"
