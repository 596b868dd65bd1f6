"""A playground in the spirit of the TensorFlow Playground: a small network that is watched while it learns.

`data` and `network` are plain NumPy, `board` holds an experiment, `picture` draws it, `controls` gives it buttons, and
`playground` puts them together.
Only `controls` needs ipywidgets.
"""

from course_lib.playground.board import Board, Settings
from course_lib.playground.data import FEATURES, PATTERNS, features, make_data
from course_lib.playground.network import ACTIVATIONS, Network
from course_lib.playground.playground import Playground, side_by_side

__all__ = [
    "ACTIVATIONS",
    "FEATURES",
    "PATTERNS",
    "Board",
    "Network",
    "Playground",
    "Settings",
    "features",
    "make_data",
    "side_by_side",
]
