"""Run in a process of its own by test_switch.py: what is different in torch after virtual CUDA was on.

Prints one JSON object: for each scenario the attributes that are not the same objects as before.
"""

from __future__ import annotations

import contextlib
import copyreg
import hashlib
import io
import json
import random
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch._dynamo
import torch.accelerator
import torch.cuda.amp
import torch.distributed
import torch.testing
import torch.utils.checkpoint
import torch.utils.data.datapipes
from torch import nn
from torch.optim import swa_utils
from torch.utils import _python_dispatch
from torch.utils.data import DataLoader, TensorDataset

from course_lib import virtual_cuda

with contextlib.suppress(ImportError):  # the CPU build may be without it
    import torchvision  # noqa: F401

PACKAGES = ("torch", "torchvision", "threading", "copyreg", "numpy", "random", "warnings", "os", "functools", "pickle")
MISSING = object()
CHANGING = ("__dict__", "__weakref__", "__warningregistry__", "__slotnames__")
CHANGING += ("next_id", "_persistent_workers_atexit_registered")
"""attributes that change by themselves"""


def owners() -> dict[str, Any]:
    """Every loaded module of torch and its neighbors, and every class in them."""
    found: dict[str, Any] = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in PACKAGES and isinstance(module, types.ModuleType):
            found[name] = module
            for key, value in list(vars(module).items()):
                if isinstance(value, type) and value.__module__.split(".")[0] in PACKAGES:
                    found[f"{name}.{key}"] = value
    return found


def contents(value: Any) -> Any:
    """What a container holds, as identities: a function registered in a table is a trace too."""
    if type(value) is dict:
        return {k if isinstance(k, (str, int)) else id(k): id(v) for k, v in value.items()}
    if type(value) in (list, tuple, set, frozenset) and len(value) < 10_000:
        return sorted(map(id, value))
    return repr(value) if isinstance(value, (int, str, float)) else None


def snapshot(where: dict[str, Any]) -> dict[tuple[str, str], tuple[Any, Any]]:
    return {
        (name, key): (value, contents(value))
        for name, owner in where.items()
        for key, value in list(vars(owner).items())
        if key not in CHANGING
    }


def kernels() -> str:
    """Which kernel every operator has for every dispatch key, in short: what is registered must be taken out again."""
    summed = hashlib.sha256()
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        summed.update(torch._C._dispatch_dump_table(name).encode())
    return summed.hexdigest()


def state() -> dict[str, Any]:
    """What is not an attribute of any module."""
    return {
        "dispatch modes": len(_python_dispatch._get_current_dispatch_mode_stack()),
        "function modes": torch._C._len_torch_function_stack(),
        "default device": str(torch.get_default_device()),
        "cuda available": torch.cuda.is_available(),
        "random state": torch.get_rng_state().sum().item(),
        "autocast": [torch.is_autocast_enabled("cuda"), torch.is_autocast_enabled("cpu")],
        "autocast cache": torch.is_autocast_cache_enabled(),
        "gradients": torch.is_grad_enabled(),
        "threads": sorted(t.name for t in threading.enumerate()),
        "pickling": len(copyreg.dispatch_table),
        "numbers": [random.getstate()[1][:3], int(np.random.get_state()[1][0])],
        "warning filters": len(warnings.filters),
        "kernels of operators": kernels(),
        "hooks": [len(sys.meta_path), sys.gettrace() is None, sys.getprofile() is None, sys.excepthook.__name__],
    }


def differences(before: Any, after: Any) -> list[str]:
    found = []
    for key, (value, held) in before.items():
        new, now = after.get(key, (MISSING, None))
        if new is not value and not (type(new) is type(value) and isinstance(new, (int, str, float)) and now == held):
            found.append(f"{key[0]}.{key[1]}: {value!r:.60} became {'nothing' if new is MISSING else repr(new)[:60]}")
        elif now != held:
            changed = dict(set(now.items()) ^ set(held.items())) if isinstance(now, dict) else ""
            found.append(f"{key[0]}.{key[1]}: other contents {changed}")
    for key in after.keys() - before.keys():
        if not isinstance(after[key][0], types.ModuleType):
            found.append(f"{key[0]}.{key[1]}: new, {after[key][0]!r:.60}")
    return sorted(found)


def train(device: str = "cuda") -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 2)).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    loader = DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(2, (8,))), 4, pin_memory=device == "cuda")
    average = swa_utils.AveragedModel(model)
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=device == "cuda"):
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average.update_parameters(model)
    torch.utils.checkpoint.checkpoint(model, x.to(device), use_reentrant=False).sum().backward()
    torch.func.vmap(torch.func.grad(lambda row: row.square().sum()))(x.to(device))
    str(model(x.to(device)))


SCENARIOS: dict[str, Callable[[], None]] = {}


def scenario(*ends_with: type[BaseException], **settings: Any) -> Callable[[Callable[[], None]], None]:
    """Decorator: what a program does while virtual CUDA is on, and the exceptions that it may end with."""

    def add(program: Callable[[], None]) -> None:
        def run() -> None:
            with contextlib.suppress(*ends_with), virtual_cuda.session(quiet=True, **settings):
                program()

        SCENARIOS[program.__name__] = run

    return add


def by_itself(program: Callable[[], None]) -> None:
    """Decorator: a program that switches on and off itself."""
    SCENARIOS[program.__name__] = program


@scenario()
def plain() -> None:
    train()


@by_itself
def nested() -> None:
    first = virtual_cuda.enable(devices=2, quiet=True)
    assert virtual_cuda.enable(devices=5, quiet=True) is first and torch.cuda.device_count() == 2
    train()
    virtual_cuda.disable()
    assert virtual_cuda.is_enabled() and torch.ones(1).cuda().is_cuda
    virtual_cuda.disable()
    virtual_cuda.disable()
    assert not virtual_cuda.is_enabled()


@scenario(RuntimeError)
def mixture_refused() -> None:
    nn.Linear(3, 3).cuda()(torch.ones(2, 3))


@scenario(RuntimeError)
def exception_in_an_operator() -> None:
    with contextlib.suppress(IndexError):
        nn.functional.embedding(torch.tensor([9], device="cuda"), torch.ones(3, 3, device="cuda"))
    torch.ones(2, 3, device="cuda") @ torch.ones(2, 3, device="cuda")


@scenario(KeyError)
def exception_in_backward() -> None:
    def fail(gradient: Any) -> None:
        raise KeyError("in a hook")

    x = torch.ones(3, device="cuda", requires_grad=True)
    x.register_hook(fail)
    (x * 2).sum().backward()


@by_itself
def exception_in_a_factory() -> None:
    for make in (
        lambda: torch.ones(-1, device="cuda"),
        lambda: torch.ones(1, device="cuda:7"),
        lambda: torch.tensor(object(), device="cuda"),
        lambda: torch.zeros(2, device="nowhere"),
    ):
        with contextlib.suppress(Exception), virtual_cuda.session(quiet=True):
            make()


@scenario(torch.cuda.OutOfMemoryError, memory=1 << 20)
def out_of_memory() -> None:
    torch.ones(1 << 20, device="cuda")
    raise AssertionError("it fits")


@scenario(KeyboardInterrupt)
def interrupted() -> None:
    torch.ones(2, device="cuda")
    raise KeyboardInterrupt


@by_itself
def installation_fails() -> None:
    from course_lib.virtual_cuda.torch_api import threads

    original = threads.install

    def fail(*args: Any) -> None:
        original(*args)
        raise MemoryError

    threads.install = fail
    try:
        with contextlib.suppress(MemoryError), virtual_cuda.session(quiet=True):
            raise AssertionError("it was switched on")
    finally:
        threads.install = original
    assert not virtual_cuda.is_enabled()


@by_itself
def a_thread_outlives_it() -> None:
    go, done, devices = threading.Event(), threading.Event(), []

    def work() -> None:
        devices.append(torch.ones(2, device="cuda").device.type)
        done.set()
        go.wait()
        devices.append((torch.ones(2) + 1).device.type)

    with virtual_cuda.session(quiet=True):
        thread = threading.Thread(target=work)
        thread.start()
        done.wait()
    go.set()
    thread.join()
    assert devices == ["cuda", "cpu"], devices


@scenario(trace=True)
def traced() -> None:
    train()


@scenario()
def iteration_abandoned() -> None:
    loader = DataLoader(TensorDataset(torch.randn(8, 4)), 2, num_workers=1, pin_memory=True)
    for (batch,) in loader:
        batch.cuda()
        break


@by_itself
def workers() -> None:
    data = TensorDataset(torch.randn(8, 4))
    with virtual_cuda.session(quiet=True):
        for persistent in (False, True):
            loader = DataLoader(data, 2, num_workers=2, pin_memory=True, persistent_workers=persistent)
            for _ in range(2):
                assert [batch.cuda().device.type for (batch,) in loader] == ["cuda"] * 4
        del loader


@scenario(KeyError)
def mixed_precision() -> None:
    model, scaler = nn.Linear(4, 4).cuda(), torch.amp.GradScaler("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for dtype in (torch.float16, torch.bfloat16):
        with torch.autocast("cuda", dtype):
            loss = model(torch.ones(2, 4, device="cuda")).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    with torch.autocast("cuda"):
        model(torch.ones(2, 4, device="cuda"))
        raise KeyError


OPTIMIZERS: Any = (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.LBFGS)


@scenario()
def every_optimizer() -> None:
    for kind in OPTIMIZERS:
        weight = nn.Parameter(torch.ones(2, device="cuda"))
        optimizer = kind([weight], lr=0.1)

        def loss(weight: Any = weight, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            value = weight.square().sum()
            value.backward()
            return value

        optimizer.step(loss)


@scenario(devices=2)
def saved_and_loaded() -> None:
    file = io.BytesIO()
    torch.save(nn.Linear(2, 2).cuda().state_dict(), file)
    for where in (None, "cpu", "cuda:1", {"cuda:0": "cuda:1"}, lambda storage, location: storage.cuda()):
        file.seek(0)
        torch.load(file, map_location=where)


@by_itself
def defaults_left_set() -> None:
    before = torch.get_rng_state()
    try:
        with virtual_cuda.session(quiet=True):
            torch.set_default_device("cuda")
            assert torch.ones(2).is_cuda
            with torch.device("cpu"):
                assert torch.ones(2).is_cpu
    finally:
        torch.set_default_device(None)
        torch.set_rng_state(before)


def scripted(device: str) -> None:
    model, x = nn.Linear(2, 2).to(device), torch.ones(2, 2, device=device)
    torch.jit.trace(model, x)(x)
    torch.jit.script(model)(x)
    torch.fx.symbolic_trace(model)(x)


@scenario()
def scripted_and_exported() -> None:
    scripted("cuda")


@scenario()
def modes_of_others() -> None:
    class Mode(_python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    with Mode(), torch.no_grad(), torch.inference_mode():
        torch.ones(2, device="cuda") + 1


def every_operator_named() -> None:
    """torch keeps a table of the operators that were named so far."""
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, operator = name.partition("::")
        if namespace == "aten":
            getattr(torch.ops.aten, operator.partition(".")[0], None)


def wait_for_threads(number: int) -> None:
    """A loader's feeder ends by itself, soon after the loader."""
    deadline = time.monotonic() + 10
    while threading.active_count() > number and time.monotonic() < deadline:
        time.sleep(0.01)


def main() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    # What torch loads and fills when it is first used, without virtual CUDA.
    train("cpu")
    with contextlib.suppress(Exception):
        torch.ones(1).cuda()
    every_operator_named()
    scripted("cpu")
    next(iter(DataLoader(TensorDataset(torch.ones(2)), num_workers=1, persistent_workers=True)))
    wait_for_threads(1)
    for kind in OPTIMIZERS:
        kind([nn.Parameter(torch.ones(2))], lr=0.1)
    report = {}
    torch.manual_seed(0)
    seeded, held_before, before = torch.get_rng_state(), state(), snapshot(owners())
    for name in sys.argv[1:] or SCENARIOS:
        try:
            SCENARIOS[name]()
            failure: list[str] = []
        except BaseException as error:
            failure = [f"{type(error).__name__}: {error}"]
        torch.set_rng_state(seeded)
        wait_for_threads(len(held_before["threads"]))
        held_after, after = state(), snapshot(owners())
        changed = [f"{k}: {v} became {held_after[k]}" for k, v in held_before.items() if held_after[k] != v]
        # What a scenario imports for the first time is new with all that it holds.
        known = {owner for owner, _ in before}
        report[name] = failure + changed + differences(before, {k: v for k, v in after.items() if k[0] in known})
        held_before, before = held_after, after
    print(json.dumps(report))


if __name__ == "__main__":
    main()
