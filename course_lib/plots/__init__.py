"""The course's figures: one function for each kind, one style for all, a description for whoever cannot see them.

Every function draws what it is given (arrays, measured times, the records of a tape) and returns a
`Canvas`: a matplotlib figure that a notebook shows by itself, with its description as alternative text.
"""

from __future__ import annotations

from course_lib.plots.autograd import autograd_graph
from course_lib.plots.curves import descent, loss_curves, scaling, step_errors
from course_lib.plots.graphs import graph
from course_lib.plots.series import lines
from course_lib.plots.style import Canvas, canvas

__all__ = ["Canvas", "autograd_graph", "canvas", "descent", "graph", "lines", "loss_curves", "scaling", "step_errors"]
