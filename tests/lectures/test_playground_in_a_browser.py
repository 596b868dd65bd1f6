"""The playground's controls in JupyterLab: a real browser chooses data, presses Play, and sees other pictures."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
LECTURE = ROOT / "notebooks" / "lectures" / "03_playground.ipynb"
PATIENCE_S = 180

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("playground in a browser")]


def _until(found: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    """The first true value of `found()`; what the page is still building counts as not yet there."""
    from selenium.common.exceptions import WebDriverException

    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        try:
            if value := found():
                return value
        except (WebDriverException, urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.2)
    pytest.fail(f"within {patience_s:.0f} s not seen: {what}")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab on the lecture's cells down to the controls."""
    folder = tmp_path_factory.mktemp("lab")
    notebook = nbformat.read(LECTURE, as_version=4)
    last = next(i for i, cell in enumerate(notebook.cells) if "controls" in cell.metadata.get("tags", []))
    notebook.cells = notebook.cells[: last + 1]
    nbformat.write(notebook, folder / "board.ipynb")
    root = ("--allow-root",) if os.name == "posix" and os.geteuid() == 0 else ()
    options = ("--no-browser", "--port=0", "--IdentityProvider.token=", *root)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "JUPYTER_RUNTIME_DIR": str(folder / "runtime"), "HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        lab = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], cwd=folder, env=env, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        served = r"http://(?:localhost|127\.0\.0\.1):(\d+)/lab"
        said = _until(lambda: re.search(served, (folder / "log").read_text(encoding="utf-8")), "JupyterLab's address")
        port = said[1]
        _until(lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/api").status == 200, "JupyterLab answering")
        yield f"http://127.0.0.1:{port}/lab/tree/board.ipynb"
    finally:
        lab.terminate()
        try:
            lab.wait(30)
        except subprocess.TimeoutExpired:
            lab.kill()


class Page:
    """The controls as a reader finds them: by their labels."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser

    def all(self, selector: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", selector))

    def press(self, selector: str, label: str) -> bool:
        for element in self.all(selector):
            if element.text.strip() == label:
                element.click()
                return True
        return False

    def choose(self, label: str, value: str) -> bool:
        from selenium.webdriver.support.ui import Select

        for box in self.all(".widget-dropdown"):
            if box.find_element("css selector", "label").text.strip() == label:
                Select(box.find_element("css selector", "select")).select_by_visible_text(value)
                return True
        return False

    def epoch(self) -> int | None:
        """Where the board says it is."""
        said = [found for e in self.all(".widget-html-content") if (found := re.match(r"epoch (\d+),", e.text))]
        return int(said[0][1]) if said else None

    def pictures(self) -> list[str]:
        """What the browser was given to show."""
        return [image.get_attribute("src") for image in self.all("img.widget-image")]


@pytest.fixture(scope="module")
def page(browser: Any, address: str) -> Page:
    page = Page(browser)
    browser.get(address)
    _until(lambda: page.all(".jp-NotebookPanel .jp-Cell"), "the notebook")
    # JupyterLab drops what is run before it has a kernel, without a word.
    _until(lambda: page.all(".jp-Notebook-ExecutionIndicator[data-status='idle']"), "an idle kernel")
    _until(lambda: page.press(".lm-MenuBar-itemLabel", "Run"), "the menu")
    _until(lambda: page.press(".lm-Menu-itemLabel", "Run All Cells"), "the menu's entry")
    _until(lambda: len(page.pictures()) >= 2 and page.epoch() == 0, "the board")
    page.press("button", "No")  # JupyterLab asks whether to fetch news
    return page


def test_other_data_make_another_picture_and_a_step_is_one_epoch(page: Page) -> None:
    before = page.pictures()
    _until(lambda: page.choose("data", "spiral"), "the choice of data")
    _until(lambda: page.pictures() != before, "another picture")
    assert page.epoch() == 0
    before = page.pictures()
    page.press("button", "Step")
    _until(lambda: page.epoch() == 1 and page.pictures() != before, "one epoch and its picture")


def test_a_further_layer_brings_a_choice_of_its_units(page: Page) -> None:
    _until(lambda: page.choose("hidden layers", "3"), "the choice of layers")
    _until(lambda: page.choose("units in 3", "6"), "the third layer's choice")
    assert page.choose("units in 2", "8")


def test_play_trains_pause_stops_at_once_and_reset_goes_back_to_the_first_weights(page: Page) -> None:
    start = page.epoch() or 0
    page.all(".widget-play button")[0].click()
    _until(lambda: (page.epoch() or 0) >= start + 5, "five epochs")
    page.all(".widget-play button")[0].click()  # it says pause now
    time.sleep(1.5)  # for ticks that were on their way
    stopped = page.epoch()
    time.sleep(1.5)
    assert page.epoch() == stopped
    page.press("button", "Reset")
    _until(lambda: page.epoch() == 0, "epoch 0")
