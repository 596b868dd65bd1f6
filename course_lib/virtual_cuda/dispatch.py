"""Below autograd: every operator, backward included, is seen here with the storages it works on.

All tensors of an operator must be on one device, as on CUDA; what it returns is then on that device. An operator whose
tensors are all on the CPU goes straight through. This is the code that decides what virtual CUDA costs, so its common
path is one loop over the arguments, one dictionary lookup and one comparison for each result.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.virtual_cuda import rules
from course_lib.virtual_cuda.runtime import Runtime
from course_lib.virtual_cuda.storage import ON_CPU, Mark, Pending, mark_of, put, storage_of

Tensor = torch.Tensor
NONE, PENDING = -3, -2
"""no tensor among the arguments; only such as were made without saying where"""

# What is special about an operator, as bits.
LEARNED, SEEDED, READS, ALWAYS, IMPLICIT, MOVES, QUIET, KEEPS, TAKES_GENERATOR = (1 << n for n in range(9))

READING = {
    "_local_scalar_dense": "item",
    "equal": "equal",
    "is_nonzero": "bool",
    "nonzero": "nonzero",
    "masked_select": "masked_select",
    "_unique2": "unique",
    "unique_consecutive": "unique",
    "unique_dim": "unique",
    "bincount": "bincount",
    "repeat_interleave": "repeat_interleave",
    "linalg_eigh": "linalg",
}
"""operators after which the host has to wait for the device, because what they return or its shape is needed at once"""

NO_KERNEL = {
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "detach",
    "detach_",
    "alias",
    "set_",
}
NO_KERNEL |= {
    "lift_fresh",
    "_unsafe_view",
    "resize_",
    "_reshape_alias",
    "is_pinned",
    "result_type",
    "_local_scalar_dense",
}

_facts: dict[Any, int] = {}


def learn(func: Any) -> int:
    """The bits of an operator, found once."""
    name = func._schema.name
    short = name.rpartition("::")[2]
    bits = LEARNED
    if torch.Tag.nondeterministic_seeded in func.tags:
        bits |= SEEDED
        if any(a.name == "generator" for a in func._schema.arguments):
            bits |= TAKES_GENERATOR
    if short in READING:
        bits |= READS
    if name in rules.ALWAYS:
        bits |= ALWAYS
    if short in ("clone", "_to_copy"):
        bits |= MOVES
    if short in NO_KERNEL or func.is_view:
        bits |= QUIET
    if short in ("copy_", "_foreach_copy_", "set_"):
        bits |= KEEPS
    # Without autograd (inference mode) composite operators arrive whole; their parts carry the checks.
    if name.startswith("aten::") and torch._C._dispatch_has_kernel_for_dispatch_key(
        func.name(), "CompositeImplicitAutograd"
    ):
        bits |= IMPLICIT
    _facts[func] = bits
    return bits


_INTERNAL = {__file__, torch._ops.__file__}


def instruction() -> tuple[int, int]:
    """The Python instruction that called into C++: all that one composite operator does happens in one of these."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename in _INTERNAL and frame.f_back is not None:
        frame = frame.f_back
    return id(frame), frame.f_lasti


class Dispatch(TorchDispatchMode):
    """The mode; each thread has its own."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        self.runtime = runtime
        self.here = runtime.here
        self.ledgers = runtime.ledgers
        self.launches = runtime.log.launches

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Skipping wraps every call in another one; torch.compile runs eagerly while this is on, so nothing is skipped.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operator with its devices checked and its results marked."""
        device, mixed = NONE, False
        for value in args if not kwargs else (*args, *kwargs.values()):
            if isinstance(value, Tensor):
                try:
                    index = storage_of(value)._vcuda.index
                except NotImplementedError:
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
        bits = _facts.get(func) or learn(func)
        if device == -1 and not mixed and not bits & (MOVES | SEEDED):
            return func(*args, **kwargs) if kwargs else func(*args)
        if bits & IMPLICIT:
            with self:
                return func.decompose(*args, **(kwargs or {}))
        if mixed or bits & ALWAYS:
            device = self._settle(func, args, kwargs or {})
            if device == rules.UNKNOWN:
                return self._unknown(func, args, kwargs or {})
        if device < 0 or bits > LEARNED:
            return self._unusual(func, args, kwargs or {}, device, bits)
        out = func(*args, **kwargs) if kwargs else func(*args)
        self.launches[func] += 1
        if isinstance(out, Tensor):
            try:
                storage = storage_of(out)
                if storage._vcuda.index != device:
                    storage._vcuda = Mark(self.ledgers[device], storage.nbytes())
            except NotImplementedError:
                put(out, self.ledgers[device])
        else:
            self._mark(out, device)
        return out

    def _mark(self, out: Any, device: int) -> None:
        """Everything that an operator returned is on `device`."""
        if isinstance(out, Tensor):
            put(out, self.ledgers[device])
        elif isinstance(out, (list, tuple)):
            for one in out:
                self._mark(one, device)

    def _settle(self, func: Any, args: Any, kwargs: Any) -> int:
        """The device of a mixture, helpers of unsaid device first. Raises what CUDA raises; UNKNOWN without a rule."""
        given = list(rules.tensors(func, args, kwargs))
        marks = [mark_of(g.tensor) for g in given]
        if any(type(m) is Pending for m in marks):
            call = instruction()
            sure = [m.index for m in marks if m.index >= 0]
            for one, mark in zip(given, marks, strict=True):
                if type(mark) is Pending:
                    put(one.tensor, self.ledgers[sure[0]] if sure and mark.call == call else None)
            marks = [mark_of(g.tensor) for g in given]
        indices = {m.index for m in marks}
        if len(indices) == 1 and func._schema.name not in rules.ALWAYS:
            return indices.pop()
        return rules.settle(func, args, kwargs)

    def _unknown(self, func: Any, args: Any, kwargs: Any) -> Any:
        """A mixture that no rule is known for: look at the parts of the operator if it has any, else let it through."""
        if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeExplicitAutograd"):
            with self:
                return func._op_dk(torch._C.DispatchKey.CompositeExplicitAutograd, *args, **kwargs)
        self.runtime.log.unchecked[func.name()] += 1
        out = func(*args, **kwargs)
        device = max(g.at for g in rules.tensors(func, args, kwargs))
        if not any(a.alias_info is not None for a in func._schema.arguments):
            self._mark(out, device)
        return out

    def _unusual(self, func: Any, args: Any, kwargs: Any, device: int, bits: int) -> Any:
        """What the common path leaves: no tensors, copies, random numbers, reads by the host, views."""
        here, log = self.here, self.runtime.log
        if bits & MOVES and here.moving is not None:
            device = here.moving
        elif device == NONE and here.asked is not None:
            device = here.asked
        call = instruction() if device in (NONE, PENDING) else None
        if bits & KEEPS:
            self._log_copy(func, args)
        if bits & READS and device >= 0 and not here.quiet:
            log.sync(READING[func._schema.name.rpartition("::")[2]])
        out = self._draw(func, args, kwargs, device, bits) if bits & SEEDED else func(*args, **kwargs)
        if device >= 0:
            if not bits & QUIET:
                self.launches[func] += 1
            if not bits & KEEPS:
                self._mark(out, device)
        elif call is not None:
            self._leave_open(out, call)
        return out

    def _leave_open(self, out: Any, call: tuple[int, int]) -> None:
        for one in out if isinstance(out, (list, tuple)) else (out,):
            if isinstance(one, Tensor):
                try:
                    storage = storage_of(one)
                except NotImplementedError:
                    continue
                if storage._vcuda is ON_CPU:
                    storage._vcuda = Pending(call)

    def _draw(self, func: Any, args: Any, kwargs: Any, device: int, bits: int) -> Any:
        """Random numbers: on the device from its own generator, unless the CPU's are wanted."""
        given = kwargs.get("generator")
        if given is not None:
            wanted, found = "cuda" if device >= 0 else "cpu", given.device.type
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
        default.set_state(own.get_state())
        try:
            return func(*args, **kwargs)
        finally:
            own.set_state(default.get_state())
            default.set_state(before)

    def _log_copy(self, func: Any, args: Any) -> None:
        """`copy_` and its kin between devices."""
        if self.here.quiet or func._schema.name == "aten::set_":
            return
        targets, sources = args[0], args[1]
        if isinstance(targets, Tensor):
            targets, sources = [targets], [sources]
        for target, source in zip(targets, sources, strict=False):
            to, start = mark_of(target).index, mark_of(source).index
            if max(to, -1) != max(start, -1):
                self.runtime.log.copy(start, to, source.numel() * source.element_size())
