"""Random numbers of the virtual devices: generators that say they are on CUDA, and draw other numbers than the CPU's.

CUDA's generator is another algorithm than the CPU's, so the same seed gives other numbers there. Here it is the CPU's
algorithm from a seed that is scrambled first; with `same_numbers` it is not scrambled.
"""

from __future__ import annotations

import struct
import weakref
from typing import Any

import torch

from course_lib.virtual_cuda.core.patches import Patches
from course_lib.virtual_cuda.core.runtime import Runtime
from course_lib.virtual_cuda.torch_api.classes import class_of_session, stand_in

Base = torch._C.Generator
PHILOX_STATE = 16
"""bytes of the state of a real CUDA generator: seed and offset"""


def install(runtime: Runtime, patches: Patches) -> None:
    """Give each device its default generator, and `torch.Generator(device="cuda")` something to return."""
    runtime.generator_addresses = weakref.WeakValueDictionary()
    generator_class = class_of_session(Generator, Base.__module__, runtime=runtime)
    runtime.generators[:] = [generator_class(index) for index in range(runtime.devices)]
    for generator in runtime.generators:
        generator.manual_seed(torch.initial_seed())
        generator._draws_for_cpu = runtime.same_numbers

    def make(device: Any = "cpu") -> Any:
        index = runtime.resolve(device)
        return Base(device=device) if index < 0 else generator_class(index)

    set_state = torch.random.set_rng_state

    def set_rng_state(new_state: torch.Tensor) -> None:
        """As `torch.set_rng_state`, which wants a tensor on the CPU."""
        if isinstance(new_state, torch.Tensor) and new_state.is_cuda:
            raise TypeError("RNG state must be a torch.ByteTensor")
        set_state(new_state)

    patches.set(torch, "set_rng_state", set_rng_state)
    patches.set(torch.random, "set_rng_state", set_rng_state)
    patches.set(torch, "Generator", stand_in(Base, make))
    # Bound by name when it was imported, so that a generator of the wrong device would not be noticed there.
    patches.set(torch.utils.data.dataset, "randperm", torch.randperm)
    patches.set(torch.cuda, "default_generators", tuple(runtime.generators))
    patches.set(torch._C, "_accelerator_getDefaultGenerator", lambda index: runtime.generators[runtime.checked(index)])


class Generator(Base):
    """A generator of a virtual device."""

    runtime: Runtime
    """of the session: an attribute of the session's own subclass"""
    _draws_for_cpu = False
    """a device's default generator with `same_numbers`: what is drawn there comes from the CPU's"""

    def __new__(cls, index: int) -> Any:
        self = super().__new__(cls)
        self._index = index
        self._offset = 0
        cls.runtime.generator_addresses[self._cdata] = self
        self.manual_seed(super().initial_seed(self))
        return self

    def __init__(self, index: int) -> None:
        pass

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device whose numbers it draws."""
        return self.runtime.device(self._index)

    def manual_seed(self, seed: int) -> Any:
        """As `torch.Generator.manual_seed`."""
        self._seed = int(seed) % (1 << 64)
        self._offset = 0
        super().manual_seed(self._seed if self.runtime.same_numbers else scrambled(self._seed))
        return self

    def initial_seed(self) -> int:
        """The seed that was given."""
        return self._seed

    def seed(self) -> int:
        """A seed from the system's source of randomness."""
        self.manual_seed(super().seed() % (1 << 53))
        return self._seed

    def get_offset(self) -> int:
        """The offset last set. Numbers drawn do not move it."""
        return self._offset

    def set_offset(self, offset: int) -> Any:
        """Jump to another place of the stream that the seed began, the same one for the same offset."""
        if offset % 4:
            raise RuntimeError("offset must be a multiple of 4")
        self.manual_seed(self._seed)
        if offset:
            super().manual_seed(scrambled(self._seed ^ scrambled(offset)))
        self._offset = offset
        return self

    def get_state(self) -> torch.Tensor:
        """The state as a ByteTensor on the CPU."""
        state = torch.default_generator.get_state() if self._draws_for_cpu else super().get_state()
        head = struct.pack("<QQ", self._seed, self._offset)
        return torch.cat([torch.frombuffer(bytearray(head), dtype=torch.uint8), state])

    def set_state(self, state: torch.Tensor) -> Any:
        """Go back to a state of `get_state()`; one saved on a real GPU gives its seed and offset."""
        if not isinstance(state, torch.Tensor) or state.is_cuda or state.dtype is not torch.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        rest = state[PHILOX_STATE:]
        if len(rest) not in (0, len(super().get_state())):
            raise RuntimeError("RNG state is wrong size")
        seed, offset = struct.unpack("<QQ", bytes(state[:PHILOX_STATE].tolist()))
        self.manual_seed(seed)
        self.set_offset(offset // 4 * 4)
        if len(rest):
            super().set_state(rest.clone())
            if self._draws_for_cpu:
                torch.default_generator.set_state(rest.clone())
        return self

    def clone_state(self) -> Any:
        """Another generator in the same state."""
        return type(self)(self._index).set_state(self.get_state())

    def graphsafe_get_state(self) -> Any:
        """As `clone_state`: there are no graphs."""
        return self.clone_state()

    def graphsafe_set_state(self, other: Any) -> Any:
        """Go to the state of another generator."""
        return self.set_state(other.get_state())

    def __reduce__(self) -> Any:
        return torch.Generator, (str(self.device),), self.get_state()

    def __setstate__(self, state: torch.Tensor) -> None:  # type: ignore[override]
        self.set_state(state)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.clone_state()


def scrambled(seed: int) -> int:
    """Another seed for each seed; the CPU's generator uses its lower 32 bits only, so all bits must reach those."""
    seed = (seed + 0x9E3779B97F4A7C15) % (1 << 64)
    seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
    seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EB % (1 << 64)
    return (seed ^ (seed >> 31)) % (1 << 63)
