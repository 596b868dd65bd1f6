"""Below autograd: every operator, backward included, is seen here with the storages it works on.

All tensors of an operator must be on one device, as on CUDA; what it returns is then on that device. An operator whose
tensors are all on the CPU goes straight through. This is the code that decides what virtual CUDA costs, so its common
path is one loop over the arguments, one dictionary lookup and one comparison for each result.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.virtual_cuda.core import gradients, lower_precision, rules
from course_lib.virtual_cuda.core.operators import (
    ALSO_ON_CPU,
    ALWAYS,
    BITS,
    IMPLICIT,
    INDEXES,
    KEEPS,
    LAZY,
    LEARNED,
    MOVES,
    ONLY_WIDENS,
    QUIET,
    READING,
    READS,
    SEEDED,
    TAKES_DEVICE,
    TAKES_GENERATOR,
    WIDENS,
    classify,
    log_indices,
    moved_bytes,
)
from course_lib.virtual_cuda.core.runtime import CPU, Runtime
from course_lib.virtual_cuda.core.storage import ON_CPU, Pending, index_of, mark_of, put, storage_of

Tensor = torch.Tensor
Generator = torch._C.Generator
Key = torch._C.DispatchKey
Excluded = torch._C._SetExcludeDispatchKeyGuard
NONE, PENDING = -3, -2
"""no tensor among the arguments; only such as were made without saying where"""


def call_resolving(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call what is made of others. Inside a mode C++ forgets that a conjugate or negative is still to be computed."""
    with Excluded(Key.Conjugate, False), Excluded(Key.Negative, False):
        return func(*args, **kwargs)


INTERNAL = {__file__, torch._ops.__file__}
"""files whose frames stand between the program and C++; whoever wraps a dispatched call adds their own"""


def calling_instruction() -> tuple[int, int]:
    """The Python instruction that called into C++: all that one composite operator does happens in one of these.

    `loss = F.nll_loss(x, y)` in `train.py` is one instruction; the zeros that its backward formula makes in between and
    the operators that use them all find the same frame and position here, and the next line of the program another.
    """
    frame = sys._getframe(1)
    while frame.f_code.co_filename in INTERNAL and frame.f_back is not None:
        frame = frame.f_back
    return id(frame), frame.f_lasti


class Dispatch(TorchDispatchMode):
    """The mode; each thread has its own."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        self.runtime = runtime
        self.here = runtime.here
        self.ledgers = runtime.ledgers
        self.launches = runtime.log.launch_counter()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Skipping wraps every call in another one; torch.compile runs eagerly while this is on, so nothing is skipped.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operator with its devices checked and its results marked."""
        # `x @ w`, both on cuda:0: device 0, not mixed, no special bits; it runs, is counted, and the result's storage
        # gets a Mark for cuda:0. With `w` on the CPU: mixed, and the rules raise CUDA's error before anything runs.
        # Both on the CPU: device -1, and the call goes straight through at the first `return`.
        device, mixed = NONE, False
        for value in args if not kwargs else (*args, *kwargs.values()):
            if isinstance(value, Tensor):
                try:
                    index = storage_of(value)._vcuda.index
                except NotImplementedError:  # sparse, or one of functorch's wrappers: its parts have storages
                    index = mark_of(value).index
                if index != device:
                    if device != NONE:
                        mixed = True
                    device = index
            elif type(value) is list or type(value) is tuple:
                for one in value:
                    if isinstance(one, Tensor):
                        index = mark_of(one).index
                        if index != device:
                            if device != NONE:
                                mixed = True
                            device = index
        bits = BITS.get(func) or classify(func)  # 0 means not met yet: every operator met has LEARNED
        if device == -1 and not mixed and not bits & ALSO_ON_CPU:
            return func(*args, **kwargs) if kwargs else func(*args)
        if bits & IMPLICIT:  # made of other operators, each of which comes by here
            if bits & LAZY and device == -1 and not mixed:
                return call_resolving(func, *args, **(kwargs or {}))
            return self._run_parts(func, Key.CompositeImplicitAutograd, args, kwargs or {})
        if mixed or bits & ALWAYS:
            device = self._agree_on_device(func, args, kwargs or {})
            if device == rules.UNKNOWN:
                return self._run_without_rule(func, args, kwargs or {})
        if bits == ONLY_WIDENS and device >= 0:
            out = lower_precision.run(func, args, kwargs or {})
        elif device < 0 or bits > LEARNED:
            return self._run_special(func, args, kwargs or {}, device, bits)
        else:
            try:
                out = func(*args, **kwargs) if kwargs else func(*args)
            except RuntimeError as error:
                self.ledgers[device].reword(error)
                raise
        self.launches[func] += 1
        if isinstance(out, Tensor):
            try:
                storage = storage_of(out)
                if storage._vcuda.index != device:  # not for views and in-place results: theirs is marked already
                    storage._vcuda = self.ledgers[device].mark(storage.nbytes())
            except NotImplementedError:
                put(out, self.ledgers[device])
        else:
            self._mark(out, device)
        return out

    def _run_parts(self, func: Any, key: Any, args: Any, kwargs: Any) -> Any:
        """Run the C++ of a composite operator; the operators that it calls are seen here."""
        # Not `func.decompose`: it prefers Python decompositions, whose last bits differ.
        with self:
            return call_resolving(func._op_dk, key, *args, **kwargs)

    def _mark(self, out: Any, device: int) -> None:
        """Everything that an operator returned is on `device`."""
        if isinstance(out, Tensor):
            put(out, self.ledgers[device])
        elif isinstance(out, (list, tuple)):
            for one in out:
                self._mark(one, device)

    def _agree_on_device(self, func: Any, args: Any, kwargs: Any) -> int:
        """The device of a mixture, helpers of unsaid device first. Raises what CUDA raises; UNKNOWN without a rule."""
        given = list(rules.tensors(func, args, kwargs))
        marks = [mark_of(g.tensor) for g in given]
        if any(type(m) is Pending for m in marks):
            call = (self.runtime.number, *calling_instruction())
            sure = [m.index for m in marks if m.index >= 0]
            for one, mark in zip(given, marks, strict=True):
                if type(mark) is Pending:
                    put(one.tensor, self.ledgers[sure[0]] if sure and mark.call == call else None)
            marks = [mark_of(g.tensor) for g in given]
        indices = {m.index for m in marks}
        if len(indices) == 1 and func._schema.name not in rules.ALWAYS:
            return indices.pop()
        device = rules.common_device(func, args, kwargs)
        for one in given:
            if one.at < 0 <= device and one.tensor.requires_grad and not one.tensor.dim():
                gradients.send_gradient_home(one.tensor)
        return device

    def _run_without_rule(self, func: Any, args: Any, kwargs: Any) -> Any:
        """A mixture that no rule is known for: look at the parts of the operator if it has any, else let it through."""
        for key in (Key.CompositeExplicitAutograd, Key.CompositeExplicitAutogradNonFunctional):
            if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key):
                return self._run_parts(func, key, args, kwargs)
        self.runtime.log.unchecked[func.name()] += 1
        out = func(*args, **kwargs)
        device = max(g.at for g in rules.tensors(func, args, kwargs))
        if not any(a.alias_info is not None for a in func._schema.arguments):
            self._mark(out, device)
        return out

    def _run_special(self, func: Any, args: Any, kwargs: Any, device: int, bits: int) -> Any:
        """What the common path leaves: no tensors, copies, random numbers, reads by the host, views."""
        here, log = self.here, self.runtime.log
        wanted = kwargs.get("device") if bits & TAKES_DEVICE else None
        if wanted is not None and wanted.type == "meta":
            # C++ asks about shapes so. Such tensors are on no device.
            return func(*args, **kwargs)
        if wanted is not None and wanted.type == "cuda":
            # Not by way of the replaced factories: whoever took `torch.zeros` before they were replaced, for one.
            device, kwargs = self.runtime.resolve(wanted), {**kwargs, "device": CPU}
        elif bits & MOVES and here.moving is not None:
            device = here.moving
        elif device == NONE and here.asked is not None:
            device = here.asked
        call = (self.runtime.number, *calling_instruction()) if device in (NONE, PENDING) else None
        if bits & READS and device >= 0 and not here.quiet:
            log.sync(READING[func._schema.name.rpartition("::")[2]], device)
        if bits & INDEXES and device >= 0 and not here.quiet:
            log_indices(log, func, args, device, index_of)
        began = log.now()
        run = lower_precision.widened(func) if bits & WIDENS and device >= 0 else func
        if bits & LAZY:
            run = functools.partial(call_resolving, func)
        try:
            out = self._draw_numbers(run, args, kwargs, device, bits) if bits & SEEDED else run(*args, **kwargs)
        except RuntimeError as error:
            if device >= 0:
                self.ledgers[device].reword(error)
            raise
        # Data that comes from elsewhere is moved by the copy engine, not by a kernel.
        copied = bits & KEEPS and self._log_copy(func, args, kwargs, began)
        if device >= 0:
            if not bits & QUIET and not copied and not (bits & MOVES and here.moving is not None):
                self.launches[func] += 1
            if not bits & KEEPS:
                # The second result of those that are always checked stays on the host: the batch sizes.
                self._mark(out[:1] if bits & ALWAYS else out, device)
        elif call is not None:
            self._mark_pending(out, call)
        return out

    def _mark_pending(self, out: Any, call: tuple[int, int, int]) -> None:
        for one in out if isinstance(out, (list, tuple)) else (out,):
            if isinstance(one, Tensor):
                try:
                    storage = storage_of(one)
                except NotImplementedError:
                    continue
                if storage._vcuda is ON_CPU:
                    device = gradients.device_of_backward()
                    if device is None:
                        storage._vcuda = Pending(call)
                    elif device >= 0:
                        put(one, self.ledgers[device])

    def _draw_numbers(self, func: Any, args: Any, kwargs: Any, device: int, bits: int) -> Any:
        """Random numbers: on the device from its own generator, unless the CPU's are wanted."""
        given = kwargs.get("generator")
        if given is not None:
            wanted = "cuda" if device >= 0 else "cpu"
            found = "cuda" if given._cdata in self.runtime.generator_addresses else given.device.type
            if wanted != found and device != NONE:
                raise RuntimeError(f"Expected a '{wanted}' device type for generator but found '{found}'")
            return func(*args, **kwargs)
        if device < 0 or self.runtime.same_numbers:
            return func(*args, **kwargs)
        own = self.runtime.generators[device]
        if bits & TAKES_GENERATOR:
            return func(*args, **{**kwargs, "generator": own})
        default = torch.default_generator
        before = default.get_state()
        default.set_state(Generator.get_state(own))
        try:
            return func(*args, **kwargs)
        finally:
            Generator.set_state(own, default.get_state())
            default.set_state(before)

    def _log_copy(self, func: Any, args: Any, kwargs: Any, began: float) -> bool:
        """`copy_` and its kin: note copies between devices; whether they were all, with no kernel to convert them."""
        log, found = self.runtime.log, False
        if func._schema.name == "aten::set_":
            return False
        targets, sources = args[0], args[1]
        asked = bool(args[2] if len(args) > 2 else kwargs.get("non_blocking", False))
        if isinstance(targets, Tensor):
            targets, sources = [targets], [sources]
        for target, source in zip(targets, sources, strict=False):
            to, start = index_of(target), index_of(source)
            if to == start:
                continue
            found = not (asked and target.dtype != source.dtype)
            if not self.here.quiet:
                host = target if to < 0 else source
                free = (asked and host.is_pinned()) or (to >= 0 and start >= 0)
                size, took = moved_bytes(target, source, start >= 0, asked), log.now() - began
                log.copy(start, to, size, blocking=not free, non_blocking=asked, took_s=took)
                began = log.now()
        return found
