"""Make the course's picture of the playground: `python -m course_lib.playground docs/images/playground.png`."""

from __future__ import annotations

import argparse
from pathlib import Path

from PIL import Image

from course_lib.playground import Playground
from course_lib.playground.picture import SCALE, Picture


def spiral() -> Picture:
    """The spiral, nearly learned, as wide as a web page shows it."""
    board = Playground(data="spiral", hidden=(8, 8, 6), lr=0.1, seed=2).run(300)
    picture = board.picture()
    width, height = picture.image.size
    small = picture.image.resize((width // SCALE, height // SCALE), Image.Resampling.LANCZOS)
    return Picture(small, picture.description)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw the playground with the spiral nearly learned.")
    parser.add_argument("out", type=Path)
    parser.parse_args().out.write_bytes(spiral().png())
