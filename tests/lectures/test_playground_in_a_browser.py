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
        said = self.browser.execute_script(
            "return [...document.querySelectorAll('.widget-html-content')].map(each => each.innerText)"
        )
        found = [match for words in said if (match := re.match(r"epoch (\d+),", words))]
        return int(found[0][1]) if found else None

    def hover_over(self, said: str) -> bool:
        """Move onto the button with this tooltip, where it can really be met: nothing may lie over it."""
        from selenium.webdriver import ActionChains

        for button in self.all(f"button[title^='{said}']"):
            ActionChains(self.browser).scroll_to_element(button).move_to_element(button).perform()
            return True
        return False

    def click_unit(self, said: str) -> bool:
        """Click into the middle of a unit's map."""
        from selenium.webdriver import ActionChains

        if not self.hover_over(said):
            return False
        ActionChains(self.browser).click().perform()
        return True

    def fields(self) -> dict[str, Any]:
        """What can be typed into, by labels."""
        return {
            box.find_element("css selector", "label").text.strip(): box.find_element("css selector", "input")
            for box in self.all(".widget-text, .jupyter-widgets.widget-inline-hbox")
            if box.find_elements("css selector", "input[type=number]")
        }

    def code(self) -> str:
        """The line of code under the board."""
        return "".join(e.text for e in self.all(".widget-html-content code"))

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
    _until(lambda: (page.epoch() or 0) >= start + 10, "ten epochs")
    page.all(".widget-play button")[0].click()  # it says pause now
    time.sleep(1.5)  # for ticks that were on their way
    stopped = page.epoch()
    time.sleep(1.5)
    assert page.epoch() == stopped
    page.press("button", "Reset")
    _until(lambda: page.epoch() == 0, "epoch 0")


def test_a_click_on_a_unit_shows_its_weights_and_a_typed_one_reaches_the_network(page: Page) -> None:
    _until(lambda: page.choose("hidden layers", "1"), "the choice of layers")
    # The buttons of the three layers before are replaced; a click on one that is about to go is lost.
    _until(lambda: not page.all("button[title^='layer 2']"), "the other layers' buttons gone")
    _until(lambda: page.all("button[title^='layer 1, unit 2']"), "a unit's button")
    whole = page.pictures()
    _until(lambda: page.click_unit("layer 1, unit 2"), "the unit")
    _until(lambda: "from x₁" in page.fields() and page.pictures() != whole, "its weights and its map")
    from selenium.webdriver.common.keys import Keys

    field = page.fields()["from x₁"]
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("2.5", Keys.TAB)
    _until(lambda: ".edit((1, 2), 1, 2.5)" in page.code(), "the edit in the line of code")
    _until(lambda: page.press("button", "Whole network"), "the way back")
    _until(lambda: "from x₁" not in page.fields(), "the whole network")


def test_each_button_lies_on_its_map_in_a_narrow_window_too(page: Page) -> None:
    """The map of a unit in the middle column, and of the output at the right, in parts of the picture's width."""
    try:
        for width in (1400, 600):
            page.browser.set_window_size(width, 1000)
            time.sleep(1)
            picture = page.all("img.widget-image")[0].rect
            for said, part in (("layer 1, unit 2", (84 + 588) / 2 / 640), ("output", 588 / 640)):
                button = page.all(f"button[title^='{said}']")[0].rect
                middle = button["x"] + button["width"] / 2 - picture["x"]
                assert abs(middle / picture["width"] - part) < 0.01, (width, said)
                assert abs(button["width"] / picture["width"] - 42 / 640) < 0.005, (width, said)
                assert abs(button["height"] / picture["height"] - 42 / 470) < 0.005, (width, said)
    finally:
        page.browser.set_window_size(1400, 1000)


def test_new_data_and_two_colors(page: Page) -> None:
    _until(lambda: page.press("button", "New data"), "the button")
    _until(lambda: "data_seed=1" in page.code(), "other points")
    before = page.pictures()
    [box] = [label for label in page.all(".widget-checkbox label") if label.text.strip() == "discretize output"]
    box.click()
    _until(lambda: page.pictures() != before, "two colors")
    assert page.all("a[href^='https://playground.tensorflow.org/#']")
