from __future__ import annotations

import dataclasses
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from autograder.gradebook.course import student_id
from autograder.gradebook.nbgrader_db import write_gradebook
from autograder.release.prose import harmless
from tests.when_used import when_used

pytestmark = pytest.mark.slow

HTMLExporter = when_used("nbconvert.exporters.HTMLExporter")
markdown2html = when_used("nbconvert.filters.markdown2html")
handlers = when_used("nbgrader.server_extensions.formgrader.handlers")

NAME = "a9_demo"

HOSTILE_MARKDOWN = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "text <b onmouseover='alert(1)'>bold</b>",
    "<svg/onload=alert(1)>",
    "</div></div><iframe src='javascript:alert(1)'></iframe>",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt:alert(1))",
    "[click](&#106;avascript:alert(1))",
    "[click](java\tscript:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "![x](javascript:alert(1))",
    "[ref]\n\n[ref]: javascript:alert(1)",
    "<javascript:alert(1)>",
    '![x](http://a.example "onerror=alert(1) x=")',
    '![" onerror="alert(1)](x)',
    "$\\href{javascript:alert(1)}{x}$ $<img src=x onerror=alert(1)>$",
    "```\n````\n~~~\n[x](javascript:alert(1))\n```",
    "`<script>alert(1)</script>`\n\n```html\n<script>alert(1)</script>\n```",
]


class Active(HTMLParser):
    """Collects what a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "object", "embed", "svg", "form", "base", "meta", "link", "style"):
            self.found.append(tag)
        for name, value in attrs:
            text = "".join((value or "").split()).lower()
            if name.startswith("on") or text.startswith(("javascript:", "vbscript:", "data:text")):
                self.found.append(f"{tag} {name}={value}")


@pytest.mark.parametrize("kind", ["answer", "markdown", "raw", "printed", "reason"])
def test_nothing_of_a_student_is_active_in_the_page_that_a_grader_opens(
    kind: str, tmp_path: Path, students: Any, plain: list[str]
) -> None:
    text = "\n\n".join(HOSTILE_MARKDOWN)
    answers = {**students.right, "why": text} if kind == "answer" else students.right
    extra = ((kind, text),) if kind in ("markdown", "raw") else ()
    submission = students.submit("ada", answers, extra=extra)
    report = students.report(submission)
    if kind == "printed":
        report = dataclasses.replace(report, runs=tuple(dataclasses.replace(r, output=text) for r in report.runs))
    if kind == "reason":
        submission = dataclasses.replace(submission, rejected=text)
    write_gradebook(tmp_path, students.assignment, [submission], [report])
    assert active_in_formgrader(tmp_path, "ada") == plain


def test_own_files_lie_beside_the_autograded_notebook_if_nobody_runs_them_by_opening_it(
    tmp_path: Path, students: Any
) -> None:
    inert = {"mine.csv": b"1", "helper.py": b"x = 1", "data/fig.PNG": b"2", "README": b"3", "tools/deep/a.py": b""}
    active = ["page.html", "fig.svg", "x.xml", "other.ipynb", ".envrc", ".git2/config", "jupyter_lab_config.py"]
    active += ["nbgrader_config.py", "ipykernel_launcher.py", "zmq/__init__.py", f"{'a' * 250}.csv"]
    active += ["/".join(["a" * 190] * 8)]
    submission = students.submit("ada")
    folder = tmp_path / "autograded" / "ada" / NAME

    def write(files: dict[str, bytes]) -> None:
        handed_in = {"ada": {f"{NAME}.ipynb": b"{}", **files}, "bob": {"b.csv": b"of nobody who was graded"}}
        write_gradebook(tmp_path, students.assignment, [submission], [students.report(submission)], handed_in)

    def found() -> dict[str, tuple[bytes, int]]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    write({})
    before = found()
    write(inert | dict.fromkeys(active, b"active") | {"table.csv": b"not the instructor's"})
    after = found()
    assert {name: content for name, (content, _) in after.items()} == inert | {n: c for n, (c, _) in before.items()}
    assert before["table.csv"][0] == b"a,b\n1,2\n"
    write(inert)
    assert found() == after, "and nothing is written again"
    write({"mine.csv/x.csv": b"", "data": b"", "new.csv": b"4"})
    assert found() == after | {"new.csv": found()["new.csv"]}, "a file does not take a folder's place, nor the reverse"


@pytest.fixture(scope="module")
def plain(module_run: Path) -> list[str]:
    """What is active in formgrader's page of an ordinary submission."""
    return active_in_formgrader(module_run, "ada")


def active_in(page: str) -> list[str]:
    parser = Active()
    parser.feed(page)
    return parser.found


def active_in_formgrader(run: Path, student: str) -> list[str]:
    """Of the notebook as formgrader's handler renders it, with formgrader's own template."""
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    resources = {"index": 0, "total": 1, "base_url": "", "submission_id": "x", "notebook_id": NAME}
    resources |= {"assignment_id": NAME, "student": student, "notebook_path": "x", "last_name": "", "first_name": ""}
    path = run / "autograded" / student / NAME / f"{NAME}.ipynb"
    page, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources)
    return active_in(page)


@pytest.mark.parametrize("text", HOSTILE_MARKDOWN)
def test_each_hostile_text_is_passive_and_still_readable(text: str) -> None:
    assert active_in(markdown2html(harmless(text))) == []
    assert "alert(1)" not in text or "alert(1)" in harmless(text)


@pytest.mark.parametrize(
    "text",
    [
        "The mean $\\bar x$ is *pulled* by outliers & the median is not.",
        "[a page](https://example.org/a?b=1#c), <https://example.org> and me@example.org",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx < y\n```\n\n![plot](plot.png)",
        "[second](#part-2), [file](data.csv), [mail](mailto:ada@example.org)",
        "$$\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n$$",
    ],
)
def test_ordinary_prose_stays_as_it_was_written(text: str) -> None:
    assert harmless(text).replace("< https", "<https") == text


@pytest.mark.parametrize("name", ["ada", "Ada Lovelace", "o'hara", "b.c@d.org", "Ünal Öz", "李雷", "a,b (2)"])
def test_an_ordinary_name_is_its_own_id(name: str) -> None:
    assert student_id(name) == name


@pytest.mark.parametrize(
    "name", ["<script>", "../../etc", "=cmd()", "a\nb", "*", "[ab]", ".hidden", "", "x" * 300, '"', "a&b"]
)
def test_a_name_that_pages_or_paths_would_obey_is_replaced(name: str) -> None:
    safe = student_id(name)
    assert safe not in (name, student_id(name.replace("/", "_").replace("<", "(")) if set(name) & set("/<") else "")
    assert safe != name and not set(safe) & set('<>"&/\\*?[]\n=') and safe[0].isalnum() | (safe[0] == "_")
    assert len(safe.encode()) < 250
