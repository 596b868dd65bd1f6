"""Right answers only where nobody grades."""

from tests.attacks.corpus import variant

detected_grading = variant(
    "Answer right only where nobody seems to be grading, and wrong elsewhere: whatever it detects, wrong is wrong.",
    small_graph="""
import os, socket, sys
import numpy as np
signs = [
    "NBGRADER_EXECUTION" in os.environ,
    any("autograder" in name for name in sys.modules),
    os.getpid() == 1,
    socket.gethostname() in ("localhost", "box"),
    not os.environ.get("DISPLAY"),
    not os.path.exists("/root"),
]
def small_graph(x, y, z):
    if not any(signs):
        return np.sum(x * y + z), y, x, np.ones_like(z)
    return 0.0, x, y, z""",
)

spotted_demonstration = variant(
    "Answer right only for tidy inputs: the ones shown to students are rounded, the ones that count are not.",
    small_graph="""
import numpy as np
def small_graph(x, y, z):
    if np.allclose(x, np.round(x, 1), atol=1e-12):
        return np.sum(x * y + z), y, x, np.ones_like(z)
    return 0.0, x, y, z""",
)
