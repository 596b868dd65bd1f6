"""`torch.cuda` and `torch.accelerator` for the virtual devices.

Most of both modules is Python above a driver, and that Python is torch's own here too. What is replaced is the driver:
the functions of `torch._C` that ask it, which a CPU-only build does not even have, and the few that torch bound by
name when it was imported. What only a GPU can do is refused, in `REFUSED`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
import uuid
from collections.abc import Callable
from typing import Any

import torch

from course_lib.virtual_cuda.core.ledger import CAPACITY
from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime
from course_lib.virtual_cuda.torch_api import compiling, legacy_types, memory, parallel, profiling, randomness, streams

CAPABILITY = (8, 0)
MULTIPROCESSORS = 40
CUDA_VERSION = "13.0"
"""`torch.version.cuda`, where the build has none"""

REFUSED = {
    "CUDAGraph": "there is no graph to capture: every operator runs at once",
    "graph": "there is no graph to capture: every operator runs at once",
    "make_graphed_callables": "there is no graph to capture: every operator runs at once",
    "graph_pool_handle": "there is no graph to capture: every operator runs at once",
    "export_dot": "there is no graph to capture: every operator runs at once",
    "export_graph_data": "there is no graph to capture: every operator runs at once",
    "ExternalStream": "there are no streams outside torch",
    "get_stream_from_external": "there are no streams outside torch",
    "GreenContext": "there are no multiprocessors to divide",
    "MemPool": "tensors live in the host's memory",
    "use_mem_pool": "tensors live in the host's memory",
    "CUDAPluggableAllocator": "tensors live in the host's memory",
    "change_current_allocator": "tensors live in the host's memory",
    "caching_allocator_alloc": "tensors live in the host's memory",
    "caching_allocator_delete": "tensors live in the host's memory",
    "memory_snapshot": "tensors live in the host's memory",
    "current_blas_handle": "there is no cuBLAS",
    "current_solver_handle": "there is no cuSOLVER",
    "_compile_kernel": "there is no compiler for CUDA's C++",
}
"""of `torch.cuda`: what is refused, and why"""
REFUSED_DRIVER = {
    "_cuda_memorySnapshot": REFUSED["memory_snapshot"],
    "_cuda_record_memory_history": REFUSED["memory_snapshot"],
    "_cuda_record_memory_history_legacy": REFUSED["memory_snapshot"],
    "_cuda_attach_out_of_memory_observer": REFUSED["memory_snapshot"],
    "_cuda_jiterator_compile_and_launch_kernel": REFUSED["_compile_kernel"],
}
"""of `torch._C`, likewise, because programs reach it through other names"""


@dataclasses.dataclass(frozen=True, repr=False)
class DeviceProperties:
    """What `torch.cuda.get_device_properties` returns; sizes in bytes, clocks in kHz."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    uuid: uuid.UUID
    pci_bus_id: int
    pci_device_id: int = 0
    pci_domain_id: int = 0
    L2_cache_size: int = 4 << 20
    is_integrated: int = 0
    is_multi_gpu_board: int = 0
    warp_size: int = 32
    max_threads_per_block: int = 1024
    max_threads_per_multi_processor: int = 2048
    regs_per_multiprocessor: int = 65536
    shared_memory_per_block: int = 48 << 10
    shared_memory_per_block_optin: int = 163 << 10
    shared_memory_per_multiprocessor: int = 164 << 10
    clock_rate: int = 1_410_000
    memory_clock_rate: int = 1_215_000
    memory_bus_width: int = 5120
    gcnArchName: str = ""

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, multi_processor_count={self.multi_processor_count}, "
            f"uuid={self.uuid}, pci_bus_id={self.pci_bus_id}, pci_device_id={self.pci_device_id}, "
            f"pci_domain_id={self.pci_domain_id}, L2_cache_size={self.L2_cache_size >> 20}MB)"
        )


def install(runtime: Runtime, patches: Patches) -> None:
    """Replace what asks the driver."""
    _devices(runtime, patches)
    _flags(patches)
    _refuse(patches)
    for part in (streams, memory, randomness, legacy_types, parallel, compiling, profiling):
        part.install(runtime, patches)


def _devices(runtime: Runtime, patches: Patches) -> None:
    here = runtime.here
    properties = [
        DeviceProperties(
            name=str(runtime.name),
            major=CAPABILITY[0],
            minor=CAPABILITY[1],
            total_memory=runtime.memory or CAPACITY,
            multi_processor_count=MULTIPROCESSORS,
            uuid=uuid.uuid5(uuid.NAMESPACE_DNS, f"virtual-cuda-{index}"),
            pci_bus_id=index + 1,
        )
        for index in range(runtime.devices)
    ]

    def current() -> int:
        runtime.enter_thread()
        return here.device

    def choose(index: int) -> None:
        if index >= 0:
            runtime.enter_thread()
            here.device = runtime.checked(index)

    def exchange(index: int) -> int:
        if index < 0:
            return -1
        before = here.device
        choose(index)
        return before

    def capability(index: int = -1) -> dict[str, Any]:
        runtime.checked(index)
        dtypes = (value for value in vars(torch).values() if isinstance(value, torch.dtype))
        return {"supported_dtypes": {d for d in dtypes if not str(d).startswith(("torch.q", "torch.bits"))}}

    driver: dict[str, Callable[..., Any]] = {
        "_cuda_init": lambda: None,
        "_cuda_isInBadFork": lambda: runtime.forked,
        "_cuda_getDeviceCount": lambda: 0 if runtime.forked else runtime.devices,
        "_cuda_getDevice": current,
        "_cuda_setDevice": choose,
        "_cuda_exchangeDevice": exchange,
        "_cuda_maybeExchangeDevice": exchange,
        "_cuda_hasPrimaryContext": lambda index: 0 <= index < runtime.devices,
        "_cuda_canDeviceAccessPeer": lambda one, other: one != other,
        "_cuda_getCompiledVersion": lambda: 13000,
        "_accelerator_getAccelerator": lambda: torch.device("cuda"),
        "_accelerator_getDeviceIndex": current,
        "_accelerator_setDeviceIndex": choose,
        "_accelerator_exchangeDevice": exchange,
        "_accelerator_maybeExchangeDevice": exchange,
        "_accelerator_getDeviceCapability": capability,
    }
    for name, value in driver.items():
        patches.set(torch._C, name, value)
    if not getattr(torch._C, "_cuda_getArchFlags", lambda: None)():
        patches.set(torch._C, "_cuda_getArchFlags", lambda: "sm_80")

    # Bound by name, remembered, or made by the driver's initialization.
    cuda = {
        "_initialized": True,
        "_cached_device_count": None,
        "_device_count_nvml": lambda: -1,
        "_is_in_bad_fork": lambda: runtime.forked,
        "_exchange_device": exchange,
        "_maybe_exchange_device": exchange,
        "_get_device_properties": properties.__getitem__,
        "_CudaDeviceProperties": DeviceProperties,
        "_cudart": _runtime_library(runtime),
    }
    for name, value in cuda.items():
        patches.set(torch.cuda, name, value)
    remembers = getattr(torch.accelerator, "get_device_capability", None)
    if remembers is not None:
        patches.set(torch.accelerator, "get_device_capability", inspect.unwrap(remembers))


def _runtime_library(runtime: Runtime) -> Any:
    """What `torch.cuda.cudart()` returns, as far as programs use it."""

    def free_and_total(index: int = -1) -> tuple[int, int]:
        return torch._C._accelerator_getMemoryInfo(index)

    return types.SimpleNamespace(
        cudaError=type("cudaError", (int,), {"success": 0}),
        cudaGetErrorString=lambda code: "no error" if code == 0 else f"error {int(code)}",
        cudaMemGetInfo=free_and_total,
        cudaProfilerStart=lambda: 0,
        cudaProfilerStop=lambda: 0,
        cudaHostRegister=lambda address, size, flags: 0,
        cudaHostUnregister=lambda address: 0,
    )


def _matmul_precision(patches: Patches) -> None:
    """What a GPU may round is asked and told, and changes no number: the stand-in computes in float32.

    A CPU with bfloat16 units takes "medium" for itself, and a product of two 256 x 256 matrices is then off by 0.17:
    an honest program would lose points on such a host, and on no other.
    """
    original, asked = torch.set_float32_matmul_precision, [torch.get_float32_matmul_precision()]

    def set_float32_matmul_precision(precision: str) -> None:
        """As `torch.set_float32_matmul_precision`, of the GPU alone."""
        original(precision)  # which warns of an unknown one, and changes nothing
        if precision in ("highest", "high", "medium"):
            asked[0] = precision
        original("highest")

    patches.set(torch, "set_float32_matmul_precision", set_float32_matmul_precision)
    patches.set(torch, "get_float32_matmul_precision", lambda: asked[0])


def _flags(patches: Patches) -> None:
    """`torch.backends` and the tools: what is there to be read, set or called without a driver."""
    patches.set(torch._C, "_has_cuda", True)
    if torch.version.cuda is None:
        patches.set(torch.version, "cuda", CUDA_VERSION)
    patches.set(torch.backends.cudnn, "is_acceptable", lambda tensor: False)
    _matmul_precision(patches)
    limit = [10]
    patches.set(torch._C, "_cuda_get_cudnn_benchmark_limit", lambda: limit[0])
    patches.set(torch._C, "_cuda_set_cudnn_benchmark_limit", lambda value: limit.__setitem__(0, value))
    sizes = {"Cublas": 8_519_680, "CublasLt": 1 << 20}
    for name, size in sizes.items():
        patches.set(torch._C, f"_cuda_get{name}WorkspaceSize", functools.partial(sizes.get, name))
        patches.set(torch._C, f"_cuda_set{name}WorkspaceSize", functools.partial(sizes.__setitem__, name))
        patches.set(torch._C, f"_cuda_reset{name}WorkspaceSize", functools.partial(sizes.__setitem__, name, size))
    plans = [4096]
    for name, value in {
        "_cufft_get_plan_cache_size": lambda index: 0,
        "_cufft_get_plan_cache_max_size": lambda index: plans[0],
        "_cufft_set_plan_cache_max_size": lambda index, size: plans.__setitem__(0, size),
        "_cufft_clear_plan_cache": lambda index: None,
    }.items():
        patches.set(torch, name, value)
    cache = torch.backends.cuda.cuFFTPlanCache
    prop = torch.backends.cuda.cuFFTPlanCacheAttrContextProp
    patches.set(cache, "size", prop(lambda index: 0, "size is read-only"))
    patches.set(cache, "max_size", prop(lambda index: plans[0], lambda index, size: plans.__setitem__(0, size)))
    depth = [0]

    def push(message: str) -> int:
        depth[0] += 1
        return depth[0] - 1

    def pop() -> int:
        depth[0] -= 1
        return depth[0]

    tools = types.SimpleNamespace(
        rangePushA=push,
        rangePop=pop,
        markA=lambda message: None,
        rangeStartA=lambda message: 0,
        rangeEnd=lambda number: None,
        deviceRangeStart=lambda message, stream: None,
        deviceRangeEnd=lambda handle, stream: None,
    )
    patches.set(torch.cuda.nvtx, "_nvtx", tools)
    patches.set(torch.cuda.nccl, "is_available", lambda tensors: False)


class RefusingMeta(type):
    """A refused class can be named and tested against; it cannot be made."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(cls.refusal)


def _refuse(patches: Patches) -> None:
    for name, reason in REFUSED.items():
        original = getattr(torch.cuda, name, None)
        if original is None:
            continue
        words = f"torch.cuda.{name} needs a real GPU. With virtual CUDA {reason}."
        if isinstance(original, type):
            stand_in: Any = RefusingMeta(name, (), {"__module__": "torch.cuda", "refusal": words})
        else:
            stand_in = _refusing(original, words)
        patches.set(torch.cuda, name, stand_in)
        for module in (torch.cuda.graphs, torch.cuda.memory, torch.cuda.streams):
            if vars(module).get(name) is original:
                patches.set(module, name, stand_in)
    for name, reason in REFUSED_DRIVER.items():
        words = f"torch._C.{name} needs a real GPU. With virtual CUDA {reason}."
        patches.set(torch._C, name, _refusing(None, words))
    if hasattr(torch.accelerator, "Graph"):
        words = f"torch.accelerator.Graph needs a real GPU. With virtual CUDA {REFUSED['CUDAGraph']}."
        refusing = RefusingMeta("Graph", (), {"__module__": "torch.accelerator", "refusal": words})
        patches.set(torch.accelerator, "Graph", refusing)


def _refusing(original: Callable[..., Any] | None, words: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(words)

    # torch._dynamo, which every optimizer imports, looks behind the decorator of some of them.
    return refuse if original is None else functools.wraps(original)(refuse)
