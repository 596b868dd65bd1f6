"""Virtual CUDA in kernels whose environment asks for it, from `import torch` on. `make lab` puts this file in place."""

import os

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # IPython's, here by its own doing
if os.environ.get("COURSE_LIB_VIRTUAL_CUDA", "0") not in ("", "0"):
    c.InteractiveShellApp.extensions = [
        *c.InteractiveShellApp.get("extensions", []),
        "course_lib.virtual_cuda.on_import",
    ]
