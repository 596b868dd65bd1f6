"""The picture of a storage says what the tensors say: whose memory, which places, in which order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from course_lib import plots
from course_lib.plots.tensors import _memories
from tests.when_used import when_used

torch = when_used("torch")
pytestmark = pytest.mark.slow


def _matrix() -> Any:
    return torch.arange(0, 120, 10).view(3, 4)


def test_views_stand_under_one_storage_and_say_how_they_read_it() -> None:
    x = _matrix()
    figure = plots.storage({"x": x, "x.T": x.T, "x[:, 1]": x[:, 1]})
    assert figure.description == (
        "A storage of 12 int64 elements on cpu, 0 10 20 30 40 50 60 70 80 90 100 110. "
        "x: shape (3, 4), strides (4, 1), offset 0, reads places 0 1 2 3 / 4 5 6 7 / 8 9 10 11; "
        "x.T: shape (4, 3), strides (1, 4), offset 0, reads places 0 4 8 / 1 5 9 / 2 6 10 / 3 7 11; "
        "x[:, 1]: shape (3,), strides (4,), offset 1, reads places 1 5 9."
    )
    assert sum(isinstance(patch, Rectangle) for patch in figure.axes[0].patches) == 12 + 12 + 12 + 3


def test_a_copy_and_the_same_bytes_as_another_dtype_are_drawn_apart() -> None:
    x = _matrix()
    description = plots.storage({"x": x, "copy": x.T.reshape(12)}).description
    assert description.count("A storage of 12") == 2 and "0 40 80 10 50 90" in description
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    description = plots.storage({"w": w, "bits": w.detach().view(torch.int32)}).description
    assert "2 float32 elements on cpu, 1 2" in description and "2 int32 elements" in description
    [axes] = plots.storage({"rows": torch.tensor([5.0, 6.0, 7.0]).expand(4, 3)}).axes
    assert len(axes.lines) == 3, "each place that is read, once"


@pytest.mark.parametrize("text", [
    "torch.arange(24.0).view(2, 3, 4)", "torch.arange(24.0).view(2, 3, 4).permute(2, 0, 1)", "torch.arange(24)[5:17:3]",
    "torch.arange(12).view(3, 4)[1:, ::2]", "torch.tensor([1.0, 2.0]).expand(3, 2)",
    "torch.arange(6.0).as_strided((4, 3), (1, 1))", "torch.tensor(7)", "torch.zeros(0, 3)",
    "torch.tensor([True, False])",
])  # fmt: skip
def test_the_places_are_those_where_the_memory_holds_the_entries(text: str) -> None:
    tensor = eval(text)
    [memory] = _memories({"t": tensor})
    [view] = memory.views
    read = [memory.values[place] for place in view.places.reshape(-1)]
    assert np.array_equal(np.array(read).reshape(tuple(tensor.shape)), tensor.numpy())
    assert len(plots.storage({"t": tensor}).png()) > 2000


@pytest.mark.parametrize(("shapes", "words"), [
    ({"big": (25,)}, "big has 1 axes and a storage of 25 elements"), ({"slice": (1000,)}, "storage of 1000 elements"),
    ({"deep": (1, 1, 2, 2)}, "deep has 4 axes"), ({}, "0 tensors"),
    ({str(n): (1,) for n in range(6)}, "between 1 and 5"),
])  # fmt: skip
def test_what_does_not_fit_on_a_page_is_refused(shapes: dict[str, tuple[int, ...]], words: str) -> None:
    tensors = {name: torch.zeros(shape)[:2] for name, shape in shapes.items()}
    with pytest.raises(ValueError, match=words):
        plots.storage(tensors)


def test_nothing_is_drawn_beyond_the_page() -> None:
    x = _matrix()
    views = {"x": x, "x.T": x.T, "a slice with a long name[1:, ::2]": x[1:, ::2], "flat": x.view(12)}
    figure = plots.storage(views)
    [axes] = figure.axes
    right = max(patch.get_x() + patch.get_width() for patch in axes.patches)
    low = min(patch.get_y() for patch in axes.patches)
    assert right <= axes.get_xlim()[1] and low >= axes.get_ylim()[0]
