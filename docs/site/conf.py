"""The course's site: every lecture, extra and assignment as a page, with its outputs. `make site` builds it.

The source folder is the repository itself, so that the links between notebooks and documents are those of the site.
Whatever a page needs is part of it: it can be read offline.
"""

from __future__ import annotations

import os
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from autograder.release.address import repository_of

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = repository_of(ROOT)
BADGE = "https://colab.research.google.com/assets/colab-badge.svg"

project = "Deep-learning frameworks"
author = "the course's authors"
copyright = "code MIT, notebooks CC BY 4.0"
language = "en"

extensions = ["myst_nb", "sphinx-mathjax-offline"]
root_doc = "docs/site/index"
include_patterns = [
    "docs/site/index.md",
    "docs/*.md",
    "notebooks/README.md",
    "notebooks/lectures/*.ipynb",
    "notebooks/extras/*.ipynb",
    "notebooks/release/*/*.ipynb",
    "data/README.md",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # an exercise below a section of another level

nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "build" / "jupyter_cache")
nb_execution_excludepatterns = ["notebooks/release/*/*.ipynb"]  # students have not solved them yet
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_ipywidgets_js = {}  # a page shows the static run; its widgets' scripts would come from the network
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))

html_extra_path = ["root"]  # the address without a page leads to the first
html_theme = "sphinx_book_theme"
html_title = project
html_baseurl = "https://{}.github.io/{}/".format(*REPOSITORY.split("/"))
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "repository_url": f"https://github.com/{REPOSITORY}",
    "repository_branch": "main",
    "launch_buttons": {"colab_url": "https://colab.research.google.com"},
    "use_download_button": True,
    "use_repository_button": True,
    "show_toc_level": 2,
    "navbar_persistent": [],  # the search stands in the sidebar
}


def _badge_of_ours(app: Sphinx, name: str, source: list[str]) -> None:
    source[0] = source[0].replace(BADGE, "/docs/images/open_in_colab.svg")


def _no_window_on_a_server(app: Sphinx, doctree: nodes.document) -> None:
    """TensorBoard's frame shows a server that ran while the page was made."""
    for frame in [node for node in doctree.findall(nodes.raw) if "tensorboard-frame" in node.astext()]:
        frame.replace_self(nodes.paragraph(text="(TensorBoard opens here when you run the notebook.)"))


def setup(app: Sphinx) -> None:
    app.connect("source-read", _badge_of_ours)
    app.connect("doctree-read", _no_window_on_a_server)
