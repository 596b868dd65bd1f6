"""Write `op_rules.json`: how each CUDA operator of PyTorch checks the devices of its arguments.

    python -m course_lib.virtual_cuda.core.make_rules

The source is `native_functions.yaml`, which every torch wheel ships for `torchgen`, and torchgen's own naming of the
wrappers it generates, because those names are in the error messages. For each operator overload one of

- the wrapper's name: generated code refuses any tensor argument on another device, 0-dimensional ones included;
- `"iterator"`: TensorIterator checks, and lets 0-dimensional CPU tensors pass.

Operators in neither group check for themselves or call others; `rules.py` knows those that matter.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

RULES = Path(__file__).with_name("op_rules.json")
ITERATOR = "iterator"


def rules() -> dict[str, str]:
    """`{"addmm": "wrapper_CUDA_addmm", "add.Tensor": "iterator", ...}` of the installed torch."""
    import torchgen
    from torchgen.api.types import DispatcherSignature, NativeSignature
    from torchgen.gen import get_grouped_native_functions, parse_native_yaml
    from torchgen.model import DeviceCheckType, DispatchKey, NativeFunctionsGroup

    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    source = folder / "native_functions.yaml"
    parsed = parse_native_yaml(str(source), str(folder / "tags.yaml"))
    iterators = _marked_as_iterators(source.read_text(encoding="utf-8"))
    index = parsed.backend_indices[DispatchKey.CUDA]
    found = {}
    for entry in get_grouped_native_functions(parsed.native_functions):
        grouped = isinstance(entry, NativeFunctionsGroup)
        for function in entry.functions() if grouped else [entry]:
            name = str(function.func.name)
            structured = grouped and entry.structured
            unchecked = function.device_check is DeviceCheckType.NoCheck
            inherits = entry.out.structured_inherits if grouped and structured else None
            if name in iterators or (unchecked and inherits == "TensorIteratorBase"):
                found[name] = ITERATOR
            elif unchecked:
                continue
            elif index.has_kernel(entry if structured else function):
                if structured:
                    found[name] = NativeSignature(function.func, prefix="wrapper_CUDA_", symint=False).name()
                else:
                    prefix = f"wrapper_CUDA_{function.func.name.overload_name}_"
                    found[name] = DispatcherSignature.from_schema(function.func, prefix=prefix).name()
    return dict(sorted(found.items()))


def _marked_as_iterators(text: str) -> set[str]:
    """Names whose `device_check` is off because TensorIterator checks, as the comment beside it says."""
    found = set()
    for entry in re.split(r"^- func: ", text, flags=re.MULTILINE)[1:]:
        if re.search(r"device_check:\s*NoCheck\s*#\s*TensorIterator", entry):
            found.add(entry.split("(", 1)[0].strip())
    return found


if __name__ == "__main__":
    import torch

    made = rules()
    stored = {"torch": str(torch.__version__).partition("+")[0], "checks": made}
    RULES.write_text(json.dumps(stored, indent=0) + "\n", encoding="utf-8")
    print(f"{len(made)} operators in {RULES}")
