"""What every kernel has at hand: the modules that a zygote imports ahead, and the folders that a box shows."""

from __future__ import annotations

from pathlib import Path

FRAMEWORKS = (
    "numpy",
    "numpy.random",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
    "torch",
    # Before TensorFlow: torch's optimizers import it at their first step, and with the libraries of TensorFlow 2.21
    # loaded that import ends the process (torch 2.14, SIGSEGV).
    "torch._dynamo",
    "tensorflow",
)
"""imported in this order, once, in the zygote; a submission that needs none of them loses nothing"""


def public_folders() -> tuple[Path, ...]:
    """What kernels may read beyond Python: the helper package and the public data."""
    import course_lib

    package = Path(course_lib.__file__).resolve().parent
    data = package.parent / "data"
    return (package, data) if data.is_dir() else (package,)
