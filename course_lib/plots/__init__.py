"""The course's figures: one function for each kind, one style for all, a description for whoever cannot see them.

Every function draws what it is given (arrays, measured times, the records of a tape) and returns a
`Canvas`: a matplotlib figure that a notebook shows by itself, with its description as alternative text.
"""

from __future__ import annotations

from course_lib.plots.agreement import agreement
from course_lib.plots.autograd import autograd_graph
from course_lib.plots.bars import bars, dots
from course_lib.plots.circuits import circuit
from course_lib.plots.classification import confusion, line_panels, scored_images, weight_images
from course_lib.plots.convolutions import channel_sum, image_grid, kernel_steps, receptive_fields
from course_lib.plots.curves import descent, loss_curves, scaling, step_errors
from course_lib.plots.dense import dense_network
from course_lib.plots.distributed import pipeline, ring_steps, schedule
from course_lib.plots.exported import exported_graph, onnx_graph
from course_lib.plots.graphs import graph
from course_lib.plots.hardware import Life, four_steps, launches, lifelines, roofline
from course_lib.plots.histograms import histograms
from course_lib.plots.layers import layer_graph
from course_lib.plots.loading import class_counts, color_row, timeline
from course_lib.plots.modules import image_row, module_tree, shape_flow
from course_lib.plots.photos import photos
from course_lib.plots.plane import plane_maps, plane_points
from course_lib.plots.series import lines
from course_lib.plots.style import Canvas, canvas
from course_lib.plots.surfaces import surface_paths
from course_lib.plots.tensorflow_graph import tensorflow_graph
from course_lib.plots.tensors import storage
from course_lib.plots.traced import traced_graph
from course_lib.plots.trials import verdicts

__all__ = [
    "Canvas",
    "Life",
    "agreement",
    "autograd_graph",
    "bars",
    "canvas",
    "channel_sum",
    "circuit",
    "class_counts",
    "color_row",
    "confusion",
    "dense_network",
    "descent",
    "dots",
    "exported_graph",
    "four_steps",
    "graph",
    "histograms",
    "image_grid",
    "image_row",
    "kernel_steps",
    "launches",
    "layer_graph",
    "lifelines",
    "line_panels",
    "lines",
    "loss_curves",
    "module_tree",
    "onnx_graph",
    "photos",
    "pipeline",
    "plane_maps",
    "plane_points",
    "receptive_fields",
    "ring_steps",
    "roofline",
    "scaling",
    "schedule",
    "scored_images",
    "shape_flow",
    "step_errors",
    "storage",
    "surface_paths",
    "tensorflow_graph",
    "timeline",
    "traced_graph",
    "verdicts",
    "weight_images",
]
