"""Warnings, progress bars and logging on stderr, in cells and in calls."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
CELLS = {
    "small_graph": '''
import logging
import sys
import warnings

import numpy as np

def bar(values):
    """What tqdm does, which a student's machine may lack."""
    values = list(values)
    for number, value in enumerate(values, 1):
        sys.stderr.write(f"\\r{100 * number // len(values):3d}%|{'#' * (20 * number // len(values)):20}|")
        sys.stderr.flush()
        yield value


logging.basicConfig(level=logging.DEBUG)
log = logging.getLogger(__name__)


def small_graph(x, y, z):
    warnings.warn("nothing bad", stacklevel=2)
    log.info("shape %s", x.shape)
    print("to stderr", file=sys.stderr)
    np.log(np.zeros(1))  # a RuntimeWarning
    total = 0.0
    for value in bar(np.ravel(x * y + z)):
        total += value
    return total, y.copy(), x.copy(), np.ones_like(z)


for _ in bar(range(1000)):
    pass
small_graph(*np.ones((3, 2)))
''',
}
