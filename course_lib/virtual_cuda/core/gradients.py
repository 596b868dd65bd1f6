"""On which device a gradient belongs, where C++ would have asked the tensor whose gradient it is.

The derivative of a function that is flat, or of an argument that was not used, is made as zeros "on the device of
self", which C++ takes for the CPU; the graph knows better. And the gradient of a 0-dimensional CPU tensor that took
part in an operation on the device is brought home by the engine.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import torch
from torch.utils.hooks import unserializable_hook
from torch.utils.weak import WeakIdKeyDictionary

from course_lib.virtual_cuda.core.storage import index_of

TRANSFER = ("ToCopyBackward0", "ToDeviceCopy")
"""names of the function that copies between devices, here and inside transforms; behind it gradients are elsewhere"""


def device_of_backward() -> int | None:
    """Where the backward formula that is running in this thread sends its gradients; None if none is running.

    The graph is followed from there to the nearest leaf or copy between devices.
    """
    if torch._C._current_graph_task_id() < 0:
        return None
    node = torch._C._current_autograd_node()
    waiting: deque[Any] = deque() if node is None else deque([node])
    seen = set()
    while waiting:
        for after, _ in waiting.popleft().next_functions:
            if after is None or after in seen:
                continue
            if hasattr(after, "variable"):
                return index_of(after.variable)
            if after.name().startswith(TRANSFER) and hasattr(after, "target"):
                return int(after.target)
            seen.add(after)
            waiting.append(after)
    return None


_watched: Any = WeakIdKeyDictionary()


def send_gradient_home(tensor: torch.Tensor) -> None:
    """See to it that the gradient of this 0-dimensional CPU tensor is on the CPU."""
    if tensor not in _watched:
        _watched[tensor] = True
        tensor.register_hook(_to_host)


@unserializable_hook  # type: ignore[untyped-decorator]
def _to_host(gradient: torch.Tensor) -> torch.Tensor:
    return gradient.cpu()
