"""Nothing that a submission says is run or fetched by a page: seen by a parser, and by a browser that would run it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.records import CellRun, CheckResult, Flag, Item, Report, Submission, Verdict
from autograder.report.class_report import class_report, write_class_report
from autograder.report.feedback import feedback_page, write_feedback
from autograder.report.similarity_page import similarity_page, write_similarity_page
from autograder.similarity import Answer, Comparison, Pair, Program, measure_baseline
from course_lib.compare import Difference
from tests.autograder.report import build
from tests.autograder.report.build import A1, REPORTS, Page

pytestmark = pytest.mark.slow

RUN = "window.ran=(window.ran||0)+1"
PAYLOADS = {
    "script": f"<script>{RUN}</script>",
    "image that fails": f"<img src=x onerror='{RUN}'>",
    "svg": f"<svg onload='{RUN}'></svg>",
    "svg script": f"<svg><script>{RUN}</script></svg>",
    "details": f"<details open ontoggle='{RUN}'>x</details>",
    "focus": f"<input autofocus onfocus='{RUN}'>",
    "frame": f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    "object": f"<object data='data:text/html,<script>{RUN}</script>'></object>",
    "refresh": f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    "base": "<base href='http://evil.example/'>",
    "form": f"<form action='javascript:{RUN}'><button autofocus>go</button></form>",
    "link": f"<a href='javascript:{RUN}'>click</a>",
    "markdown link": f'[click](javascript:{RUN}) ![x](x" onerror="{RUN})',
    "double quote": f'"><script>{RUN}</script>',
    "double quote attribute": f'" autofocus tabindex=0 onfocus="{RUN}',
    "single quote": f"'><script>{RUN}</script>",
    "end of style": f"</style><script>{RUN}</script>",
    "end of title": f"</title><script>{RUN}</script>",
    "end of code": f"</code></pre><script>{RUN}</script>",
    "end of svg": f"</text></svg><script>{RUN}</script>",
    "end of comment": f"--><script>{RUN}</script><!--",
    "end of cdata": f"]]><script>{RUN}</script>",
    "backticks": f"`</code><script>{RUN}</script>`",
    "backtick attribute": f'`x" onmouseover="{RUN}`',
    "mutation by math": f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img onerror={RUN}&gt;'>",
    "mutation by noscript": f"<noscript><p title='</noscript><img src=x onerror={RUN}>'>",
    "template of jinja": "{{ 7 * 7 }}{% for x in range(3) %}!{% endfor %}{{ self.__init__.__globals__ }}",
    "style": "<style>body{display:none}</style><link rel=stylesheet href=http://evil.example/x.css>",
    "tracking image": "<img src='http://evil.example/t.gif'>",
    "entities": "&lt;script&gt;&#x3c;script&#x3e;",
    "other charset": "+ADw-script+AD4-" + RUN,
    "nul": f"<scr\x00ipt>{RUN}</script>",
    "escape": f"\x1b[31m<script>{RUN}</script>",
    "direction": f"\u202e<script>{RUN}</script>",
    "half a character": f"\ud800<script>{RUN}</script>",
}

OUR_TAGS = """
    html head meta title style body header main footer section article h1 h2 h3 p a bdi strong span div br code pre
    table caption thead tbody tfoot tr th td ul ol li dl dt dd details summary figure figcaption abbr mark sup
    svg g path rect defs use clippath text
"""
FILTER_TAGS = "label input select option output script"
"""of the class report, once: its own script, named in the policy by its digest, and what it filters by"""
OUR_ATTRIBUTES = """
    lang charset http-equiv content name class id href scope aria-label aria-labelledby aria-hidden role tabindex open
    title style viewbox xmlns:xlink xlink:href d transform clip-path x y width height
    data-keys hidden type value
"""


def everywhere(evil: str) -> tuple[Report, Submission]:
    """A report and a submission in which every text that a student has a hand in is `evil`."""
    difference = Difference(evil, evil, evil, (0, 1), evil, evil, evil)
    bad = CheckResult("test_x", Verdict.FAILED, evil, 2.0, fault=evil, message=evil, difference=difference)
    other = replace(bad, fault=None, message=f"{evil} again")
    items = tuple(replace(i, checks=(bad, other), fault=evil, message=f"{evil} in the item") for i in build.GOOD_ITEMS)
    items = (*items, Item(evil, evil, 0, 1, Verdict.FAILED, evil, f"{evil} in a foreign item"))
    cells = [name for name, _ in build.ANSWERS]
    runs = tuple(CellRun(build.NOTEBOOK, name, "student", Verdict.FAILED, evil, f"Error: {evil}") for name in cells)
    runs = (*runs, CellRun(evil, evil, "extra", Verdict.FAILED, evil, evil))
    flags = tuple(Flag(kind, evil, evil) for kind in ("renamed", "duplicate-cell", "forbidden-import", evil))
    report = build.report(
        evil, items, runs=runs, flags=flags, device=evil, sandbox=evil, reason=evil, digest=evil, state=Verdict.PARTIAL
    )
    return report, build.submission(evil, tuple((name, evil) for name in cells))


def pages_with(evil: str) -> dict[str, str]:
    report, submission = everywhere(evil)
    rejected = replace(report, state=Verdict.REJECTED)
    info = {"submissions": evil, "engine": evil, "seed_file": evil}
    return {
        "feedback": feedback_page(report, A1, submission),
        "rejected": feedback_page(rejected, A1, replace(submission, rejected=evil)),
        "class": class_report(info, A1, [report, rejected, build.report("ada")]),
        "similarity": similarity_page(A1, similar(evil)),
    }


def similar(evil: str) -> Comparison:
    one, other = (Program(evil + mark, (Answer("train", f"{build.TRAIN}\n{evil}"), Answer("", evil))) for mark in "12")
    pair = Pair(one, other, 0.9, 1.0)
    return Comparison(measure_baseline(A1, ()), (one, other), (evil,), (pair,), ((pair,),))


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_parser_finds_only_our_own_tags_and_attributes(name: str) -> None:
    for kind, html in pages_with(PAYLOADS[name]).items():
        page = Page(html)
        ours = f"{OUR_TAGS} {FILTER_TAGS}" if kind == "class" else OUR_TAGS
        assert {tag for tag, _ in page.tags} <= set(ours.split())
        assert len(list(page.all("script"))) == (kind == "class")
        assert {attribute for _, attributes in page.tags for attribute in attributes} <= set(OUR_ATTRIBUTES.split())
        assert all(re.match(r"#|feedback/", a["href"]) for a in page.all("a"))
        assert [m.get("http-equiv") for m in page.all("meta") if "http-equiv" in m] == ["Content-Security-Policy"]
        html.encode("utf-8")


@pytest.mark.parametrize("name", ["script", "double quote attribute", "template of jinja", "entities", "backticks"])
def test_the_text_is_still_there_for_the_reader(name: str) -> None:
    text = Page(pages_with(PAYLOADS[name])["feedback"]).text
    assert PAYLOADS[name].strip("`") in text


def test_pages_allow_nothing_from_outside_and_no_script_but_the_class_reports_own() -> None:
    for kind, html in pages_with("harmless").items():
        head = html[: html.index("<title>")]
        assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in head
        allowed = re.findall("script-src 'sha256-(.*?)'", head)
        scripts = re.findall("<script>(.*?)</script>", html, re.DOTALL)
        digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
        assert allowed == digests and len(digests) == (kind == "class")
        assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", html)


# -- in a browser ------------------------------------------------------------------------------------------------------


def opened(browser: Any, html: str | Path) -> tuple[int, list[str]]:
    """How often a payload ran in the page, and what the console complained of."""
    encoded = "" if isinstance(html, Path) else base64.b64encode(html.encode()).decode()
    address = html.as_uri() if isinstance(html, Path) else f"data:text/html;base64,{encoded}"
    browser.get_log("browser")
    browser.get(address)
    browser.execute_script("for (const e of document.querySelectorAll('details')) e.open = true;")
    browser.execute_script("for (const e of document.querySelectorAll('a, summary, [tabindex], input')) e.focus();")
    browser.execute_async_script("setTimeout(arguments[arguments.length - 1], 60)")
    return browser.execute_script("return window.ran || 0"), [entry["message"] for entry in browser.get_log("browser")]


def test_the_browser_does_run_such_a_payload_where_nothing_stops_it(browser: Any) -> None:
    for name in ("script", "image that fails", "svg", "focus"):
        assert opened(browser, f"<!doctype html><body>{PAYLOADS[name]}</body>")[0] >= 1, name


@pytest.mark.long
def test_a_browser_runs_nothing_and_has_nothing_to_refuse(browser: Any, tmp_path: Path) -> None:
    """All payloads at once, in every field. No refusal in the console: the policy was never needed."""
    reports, submissions = zip(*(everywhere(evil) for evil in PAYLOADS.values()), strict=True)
    # Names that are not plain are one folder; a real run has told them apart before.
    reports = [replace(r, student=f"{r.student} {n}") for n, r in enumerate(reports)]
    submissions = [replace(s, student=r.student) for s, r in zip(submissions, reports, strict=True)]
    pages = write_feedback(tmp_path, A1, submissions, reports)
    for page in [*pages, write_class_report(tmp_path, {}, A1, reports)]:
        assert opened(browser, page) == (0, []), page


def test_escaping_alone_would_do_without_the_policy(browser: Any, tmp_path: Path) -> None:
    """The policy is a second lock; the first must hold by itself, for a mail client or portal may drop the `meta`."""
    evil = "".join(PAYLOADS.values())
    for name, html in pages_with(evil).items():
        bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
        assert bare != html
        path = tmp_path / f"{name}.html"
        path.write_text(bare, encoding="utf-8")
        assert opened(browser, path) == (0, []), name


def test_pages_fit_a_phone(browser: Any, tmp_path: Path) -> None:
    long = build.report("x" * 100, flags=(Flag("renamed", "y" * 300),))
    reports = [*REPORTS, long]
    pages = write_feedback(tmp_path, A1, [build.submission(r.student) for r in reports], reports)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        alike = write_similarity_page(tmp_path / "similarity.html", A1, similar("z" * 300))
        for page in [*pages, write_class_report(tmp_path, {}, A1, reports), alike]:
            browser.get(page.as_uri())
            assert browser.execute_script("return document.documentElement.scrollWidth") <= 360, page
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


CHOOSE = """
const label = [...document.querySelectorAll('.filters label')].find(e => e.textContent.startsWith(arguments[0]));
const select = label.querySelector('select');
select.value = [...select.options].find(option => option.text === arguments[1]).value;
select.dispatchEvent(new Event('input', {bubbles: true}));
"""


def test_the_table_of_students_is_filtered_and_sorted_and_is_whole_without_scripts(
    browser: Any, tmp_path: Path
) -> None:
    sections = {report.student: "AB"[n % 2] for n, report in enumerate(REPORTS)}
    page = write_class_report(tmp_path, {"people": {"sections": sections}}, A1, REPORTS).as_uri()
    shown = "return [...document.querySelectorAll('.marks tbody tr:not([hidden]) th')].map(e => e.textContent)"
    everybody = sorted(report.student for report in REPORTS)
    browser.get(page)
    assert browser.execute_script(shown) == everybody
    click = "document.querySelectorAll('.marks thead button')[arguments[0]].click()"
    browser.execute_script(click, 1)
    scores = [report.score for report in sorted(REPORTS, key=lambda r: everybody.index(r.student))]
    ranked = browser.execute_script(shown)
    graded = [scores[everybody.index(student)] for student in ranked if student not in ("emil.zatopek", "frida")]
    assert graded == sorted(graded) and sorted(ranked) == everybody
    for label, words in (("Known mistake", "relu-derivative-missing"), ("Section", "A")):
        browser.execute_script(CHOOSE, label, words)
    named = {r.student for r in REPORTS if any(i.fault == "relu-derivative-missing" for i in r.items)}
    assert set(browser.execute_script(shown)) == {name for name in named if sections[name] == "A"}
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get("about:blank")
        browser.get(page)
        rows = browser.find_elements("css selector", ".marks tbody tr")
        assert [row.is_displayed() for row in rows] == [True] * len(REPORTS)
        assert not browser.find_element("css selector", ".filters").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
