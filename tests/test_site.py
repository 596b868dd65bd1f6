"""The course's site: every page is reached, reads offline, and can be read by everybody, on a phone too."""

from __future__ import annotations

import importlib.resources
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docutils.utils
import pytest
from docutils import nodes

from tests.executed import NOTEBOOKS, notebooks_in
from tests.sampling import sample

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    "docs/site/index.html",
    "docs/grading.html",
    "docs/lms.html",
    "docs/cluster.html",
    "notebooks/README.html",
    *(f"notebooks/{name.removesuffix('ipynb')}html" for folder in ("lectures", "extras", "release")
      for name in notebooks_in(folder)),
]  # fmt: skip
NOTEBOOK_PAGES = [page for page in PAGES if page.startswith(("notebooks/lectures", "notebooks/extras"))]
WINDOWS = [(1400, "light"), (400, "dark")]

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without outputs: the tests of lectures execute them. A warning, such as of a broken link, fails."""
    out = tmp_path_factory.mktemp("site")
    options = ("-q", "-W", "--keep-going", "-D", "nb_execution_mode=off", "-d", str(out / "doctrees"))
    command = [sys.executable, "-m", "sphinx", *options, "-c", "docs/site", "-b", "html", ".", str(out / "html")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-4000:]
    return out / "html"


def test_every_notebook_has_its_page_and_every_link_inside_the_site_leads_somewhere(site: Path) -> None:
    assert [page for page in PAGES if not (site / page).is_file()] == []
    missing = []
    for page in (page for page in site.rglob("*.html") if "_static" not in page.parts):  # templates of the theme
        for link in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text(encoding="utf-8")):
            if not re.match(r"\w+:|//|#", link) and not (page.parent / link).exists():
                missing.append((page.relative_to(site).as_posix(), link))
    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_loads_nothing_from_the_network(site: Path, page: str) -> None:
    text = (site / page).read_text(encoding="utf-8")
    loaded = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"(https?:[^\"]+)", text)
    loaded += [link for tag in re.findall(r"<link\b[^>]*>", text) if 'rel="canonical"' not in tag
               for link in re.findall(r'href="(https?:[^"]+)', tag)]  # fmt: skip
    assert loaded == []


@pytest.mark.parametrize("page", NOTEBOOK_PAGES)
def test_a_notebooks_page_opens_in_colab_downloads_the_notebook_and_leads_on(site: Path, page: str) -> None:
    text = (site / page).read_text(encoding="utf-8")
    source = page.removesuffix("html") + "ipynb"
    assert re.search(rf'href="https://colab\.research\.google\.com/github/\S+/blob/main/{source}"', text)
    [download] = re.findall(r'href="([^"]+)"[^>]*\s+class="[^"]*btn-download-source-button', text)
    assert ((site / page).parent / download).is_file()
    assert 'class="right-next"' in text and 'class="left-prev"' in text
    assert "minutes to read and do" in text or "/lectures/" not in page


@pytest.fixture
def page_in(browser: Any, site: Path) -> Iterator[Any]:
    """Open a page at a width, in the light or dark mode."""

    def open_page(page: str, width: int, mode: str = "light") -> Any:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False},
        )
        browser.get((site / page).as_uri())
        browser.execute_script("document.documentElement.dataset.theme = arguments[0]", mode)
        return browser

    yield open_page
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.long
@pytest.mark.parametrize(
    ("page", "width", "mode"), sample("pages of the site", [(p, *w) for p in PAGES for w in WINDOWS], 6, thin=2)
)
def test_a_page_has_no_serious_finding_of_accessibility_and_fits_its_window(
    page_in: Any, page: str, width: int, mode: str
) -> None:
    shown = page_in(page, width, mode)
    shown.set_script_timeout(120)
    axe = importlib.resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    shown.execute_script(axe)
    found = shown.execute_async_script("axe.run({resultTypes: ['violations']}).then(arguments[0])")["violations"]
    serious = [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
    assert serious == []
    root = "document.documentElement"
    assert shown.execute_script(f"return {root}.scrollWidth <= {root}.clientWidth")


@pytest.mark.long
def test_a_folded_answer_unfolds_and_formulas_are_drawn_without_a_network(page_in: Any) -> None:
    shown = page_in("notebooks/lectures/07_nn_and_optim.html", 1400)
    folded = shown.find_element("css selector", "article details")
    inside = folded.find_element("css selector", "p")
    assert not inside.is_displayed()
    folded.find_element("css selector", "summary").click()
    assert inside.is_displayed()
    drawn = "return document.querySelectorAll('mjx-container').length"
    wait = "var done = arguments[0]; MathJax.startup.promise.then(() => done())"
    shown.execute_async_script(wait)
    assert shown.execute_script(drawn) > 5


def test_the_front_page_of_the_address_leads_to_the_first_page(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    [target] = re.findall(r'href="([^"]+)"', text)
    assert target == PAGES[0] and (site / target).is_file()


@pytest.fixture
def conf(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of `conf.py`."""
    monkeypatch.setenv("PYTHONPATH", "")  # which it extends
    return runpy.run_path(str(ROOT / "docs" / "site" / "conf.py"))


def test_releases_which_nobody_has_solved_are_not_executed_and_everything_else_is(conf: dict[str, Any]) -> None:
    """As MyST-NB matches the patterns."""
    every = {name: any((NOTEBOOKS / name).match(pattern) for pattern in conf["nb_execution_excludepatterns"])
             for folder in ("lectures", "extras", "release") for name in notebooks_in(folder)}  # fmt: skip
    assert {name for name, excluded in every.items() if excluded} == set(notebooks_in("release"))


def test_the_window_on_a_server_that_is_gone_is_a_sentence(conf: dict[str, Any]) -> None:
    """TensorBoard's frame, as its notebook extension shows it; other raw HTML stays."""
    document = docutils.utils.new_document("page")
    frame = '<iframe id="tensorboard-frame-1" width="100%" height="600"></iframe>'
    document += [nodes.raw("", frame, format="html"), nodes.raw("", "<details>", format="html")]
    conf["_no_window_on_a_server"](None, document)
    assert [node.astext() for node in document.children] == [
        "(TensorBoard opens here when you run the notebook.)",
        "<details>",
    ]
