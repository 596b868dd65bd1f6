"""Two languages for one device: the program says GPU:0, the runtime knows CPU:1.

Only C++ hears the second. With `cpus` logical CPUs and `gpus` virtual GPUs the runtime's CPU:0 to CPU:(cpus-1) are the
host, the next `gpus` are the GPUs. A CPU that the program asks for and that a real host would not have is moved behind
them, so that it stays unknown; the translation is therefore one-to-one, and can be used on whole messages.
"""

from __future__ import annotations

import functools
import re

LOCAL = "/job:localhost/replica:0/task:0"
_DEVICE = re.compile(r"device:([CG]PU):(\d+|\*)")
_LAST_DEVICE = re.compile(r"([CG]PU):(\d+|\*)$")


class Names:
    """The translation for one division into host and GPUs; `gpus=0` translates nothing."""

    def __init__(self, cpus: int = 1, gpus: int = 0) -> None:
        self.cpus = cpus
        """logical CPUs of the host"""
        self.gpus = gpus
        """virtual GPUs in sight"""
        # Asked several times for each operation, of a handful of names.
        self.runtime = functools.lru_cache(maxsize=1024)(self._runtime)
        self.program = functools.lru_cache(maxsize=1024)(self._program)
        self.kind = functools.lru_cache(maxsize=1024)(self._kind)

    def first_gpu(self) -> str:
        """The runtime's full name of GPU:0."""
        return f"{LOCAL}/device:CPU:{self.cpus}"

    def _runtime(self, text: str) -> str:
        """What the program calls its devices, in the runtime's words. `GPU:*` is the first GPU; `GPU:9` may stay."""

        def one(match: re.Match[str]) -> str:
            kind, number = match[1], match[2]
            if number == "*":
                return f"device:CPU:{self.cpus}" if kind == "GPU" else match[0]
            index = int(number)
            if kind == "GPU":
                return f"device:CPU:{self.cpus + index}" if index < self.gpus else match[0]
            return match[0] if index < self.cpus else f"device:CPU:{index + self.gpus}"

        return _DEVICE.sub(one, text) if self.gpus else text

    def _program(self, text: str) -> str:
        """What the runtime calls its devices, in the program's words."""

        def one(match: re.Match[str]) -> str:
            if match[1] == "GPU" or match[2] == "*" or int(match[2]) < self.cpus:
                return match[0]
            index = int(match[2]) - self.cpus
            return f"device:GPU:{index}" if index < self.gpus else f"device:CPU:{index - self.gpus + self.cpus}"

        return _DEVICE.sub(one, text) if self.gpus else text

    def _kind(self, name: str) -> str:
        """Whether the runtime's `name` is the `"host"`, a virtual `"gpu"`, or `"unknown"` to a host with such GPUs."""
        kind, _, index = short(name).partition(":")
        if kind != "CPU" or not index.isdigit() or int(index) >= self.cpus + self.gpus:
            return "unknown"
        return "host" if int(index) < self.cpus else "gpu"


@functools.lru_cache(maxsize=1024)
def short(name: str) -> str:
    """`"GPU:0"` from a full device name; `""` from one that names no device."""
    match = _LAST_DEVICE.search(name)
    return f"{match[1]}:{match[2]}" if match else ""
