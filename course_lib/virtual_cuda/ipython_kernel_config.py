"""Switch virtual CUDA on in kernels whose environment asks for it. `make lab` puts this file where IPython looks."""

import os

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # IPython's, here by its own doing
if os.environ.get("COURSE_LIB_VIRTUAL_CUDA", "0") not in ("", "0"):
    c.InteractiveShellApp.extensions = [*c.InteractiveShellApp.get("extensions", []), "course_lib.virtual_cuda"]
