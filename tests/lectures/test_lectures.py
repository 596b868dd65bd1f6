"""Lectures say what is so: every number and claim of their text is asked again, in their own kernels.

`facts/NN_topic.toml` holds what is asked of `notebooks/lectures/NN_topic.ipynb`:

    shorthand     code that runs in the lecture's kernel after its last cell; what facts and checks need besides the
                  lecture's own names and those of `in_kernel.py`
    figures       a part of the description of each figure, in order
    [facts]       a piece of the text, word for word = an expression that is True after the last cell
    [stated]      a piece of the text that nothing can be computed for = why, or its source
    [checks]      what holds though no sentence says it = an expression that is True
    [failures]    a piece of a cell with `on_purpose` = what the cell shows; there are no other such cells
    [shows]       the same for cells without
    [[exercises]] in the lecture's order: `answers`, first the reply to the right one, then others, each its reply, and
                  either a whole answer, or pieces of the right one that occur once, each followed by what stands
                  there instead. The right one is the folded solution; lectures that have none name it as `right`

A block of `shorthand`, or of an answer, that is one statement stands behind its colon.

Numbers that stand in no fact are found. Of times only directions and orders of magnitude are asked: they are those of
the machine.
"""

from __future__ import annotations

import ast
import base64
import functools
import io
import itertools
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests import sampling
from tests.executed import NOTEBOOKS, ExecutedNotebook, notebooks_in
from tests.lectures import contents

HERE = Path(__file__).parent
LECTURES = notebooks_in("lectures")
EXTRAS = notebooks_in("extras")
CHEAPEST = "lectures/06_pytorch_autograd.ipynb"
VOCABULARY = {"shorthand", "figures", "facts", "stated", "checks", "failures", "shows", "exercises"}
CPU_LIMIT_S = {"16_one_model_every_framework": 120}
"""of the kernel and the processes it started and awaited, on a core of its own; all others: 60"""
MODULES = "contextlib, inspect, io, itertools, json, subprocess, sys, types, unittest.mock, urllib.error, warnings"
"""what facts may use besides the names of their lecture and of `in_kernel.py`"""
CROWDED = 2.0
"""how much longer the same work may take where other work shares caches and the core's second thread"""


def _facts_file(name: str) -> Path:
    return HERE / "facts" / f"{Path(name).stem}.toml"


def _files(name: str) -> list[Path]:
    return [NOTEBOOKS / name, _facts_file(name)]


def _executed_in_this_run() -> list[str]:
    """A sample of the lectures, and those whose notebook or facts were changed."""
    return [CHEAPEST] if sampling.size == "check" else sampling.sample("lectures", LECTURES + EXTRAS, 2, _files)


in_its_text = pytest.mark.parametrize("name", LECTURES + EXTRAS)
in_its_kernel = pytest.mark.parametrize("executed", _executed_in_this_run(), indirect=True)


@functools.cache
def facts_of(name: str) -> Mapping[str, Any]:
    """What `facts/NN_topic.toml` says of a lecture; every part is there, though it may be empty."""
    found = tomllib.loads(_facts_file(name).read_text(encoding="utf-8"))
    assert found.keys() <= VOCABULARY, f"{_facts_file(name).name}: {found.keys() - VOCABULARY}"
    return {"shorthand": "", "figures": [], "exercises": [], **{key: {} for key in VOCABULARY}, **found}


@functools.cache
def cells_of(name: str) -> list[nbformat.NotebookNode]:
    """The cells as they are stored."""
    return list(nbformat.read(NOTEBOOKS / name, as_version=4).cells)


def text_of(name: str) -> str:
    """All text cells, with their line ends."""
    return "\n\n".join(cell.source for cell in cells_of(name) if cell.cell_type == "markdown")


@functools.cache
def prose_of(name: str) -> str:
    """All text cells in one line, so that a sentence is found wherever it is wrapped."""
    return re.sub(r"\s+", " ", text_of(name).replace("\n> ", "\n"))


def unchecked_numbers(name: str) -> list[str]:
    """Numbers in the text that stand in no fact and in nothing stated, each with its surroundings.

    Formulas are left out, and whole numbers of one digit, the numbers of sections, lectures and list items, and the
    line about time and what comes before.
    """
    text, known = prose_of(name), facts_of(name)
    for sentence in sorted([*known["facts"], *known["stated"]], key=len, reverse=True):
        text = text.replace(sentence, " ")
    uninteresting = r"\*Before this: .*?\*|\$\$.*?\$\$|\$.*?\$|\]\(\S*\)|<[^>]*>|[Ll]ectures? \d+|# \d+ ·"
    text = re.sub(uninteresting, " ", text)
    found = re.finditer(r"(?<![\w.])(\d[\d,]*(\.\d+)?(e[+-]?\d+)?( ?%)?)", text)
    return [text[max(0, m.start() - 30) : m.end() + 30] for m in found if not re.fullmatch(r"\d,*", m.group().strip())]


@in_its_text
def test_no_number_in_the_text_goes_unchecked(name: str) -> None:
    assert unchecked_numbers(name) == []


@in_its_text
def test_every_sentence_of_the_facts_stands_in_the_text_and_every_fact_can_fail(name: str) -> None:
    """A sentence that nothing can be computed for belongs into `stated`, with the reason or the source."""
    known = facts_of(name)
    assert [sentence for sentence in known["facts"] | known["stated"] if sentence not in prose_of(name)] == []
    assert all(known["stated"].values()), "why, or its source"
    parsed = {text: ast.parse(f"({text})", mode="eval").body for text in (known["facts"] | known["checks"]).values()}
    assert [text for text, expression in parsed.items() if isinstance(expression, ast.Constant)] == []


MORE = "## If you want more"
YOUR_TURN = re.compile(r"\*\*Your turn\*\* \((●○○|●●○|●●●), \d+ min\)")
FOLDED = re.compile(r"<details><summary>(Hint \d|Hint|Solution)</summary>\n(.*?)\n</details>", re.DOTALL)


def core_of(name: str) -> str:
    """The text cells but for what stands under "If you want more"; the closing cell belongs to the core."""
    cells = [cell.source for cell in cells_of(name) if cell.cell_type == "markdown"]
    ends = next((place for place, source in enumerate(cells[:-1]) if source.startswith(MORE)), len(cells) - 1)
    return "\n\n".join([*cells[:ends], cells[-1]])


def words_in(text: str) -> int:
    """Without the code of folded solutions."""
    return len(re.sub(r"```.*?```", " ", text, flags=re.DOTALL).split())


def solutions_in(text: str) -> list[str]:
    """The folded solutions, in order."""
    folded = [body for kind, body in FOLDED.findall(text) if kind == "Solution"]
    return [code for body in folded for code in re.findall(r"```python\n(.*?)\n```", body, re.DOTALL)]


def _stubs(name: str) -> list[str]:
    cells = (cell.source for cell in cells_of(name) if cell.cell_type == "code")
    return [source for source in cells if "raise NotImplementedError" in source]


@pytest.mark.parametrize("name", LECTURES)
def test_the_core_has_3300_words_at_most_and_six_to_eight_predictions_wait_for_their_answer(name: str) -> None:
    core = core_of(name)
    assert words_in(core) <= 3300
    assert 6 <= core.count("**Predict.**") <= 8
    cells = cells_of(name)
    for place, cell in enumerate(cells):
        for asked in re.findall(r"\*\*Predict\.\*\*.*(?:\n>.*)*((?:\n.*)*)", cell.source):
            folded = asked.strip().startswith("<details>")
            assert folded or (not asked.strip() and cells[place + 1].cell_type == "code"), cell.source


@pytest.mark.parametrize("name", LECTURES)
def test_the_reader_types_forty_lines_in_three_exercises_or_more_with_hints_and_a_folded_solution(name: str) -> None:
    """A line of a solution counts if the stub does not have it."""
    core, stubs = core_of(name), _stubs(name)
    turns = [core[match.end() :].split("**Your turn**")[0] for match in YOUR_TURN.finditer(core)]
    assert len(turns) == core.count("**Your turn**") >= 3
    for turn in turns:
        kinds = [kind for kind, _ in FOLDED.findall(turn)]
        assert kinds.count("Solution") == 1 and 2 <= len(kinds) <= 4, f"one to three hints and a solution: {turn[:80]}"
    solutions = solutions_in(text_of(name))
    assert len(solutions) == len(stubs)
    typed = 0
    for solution, stub in zip(solutions_in(core), stubs, strict=False):
        there = set(map(str.strip, stub.splitlines()))
        typed += sum(bool(line.strip()) and line.strip() not in there for line in solution.splitlines())
    assert typed >= 40


@pytest.mark.parametrize("name", LECTURES)
def test_the_lecture_continues_with_the_very_solution_that_is_folded(name: str) -> None:
    """`course_lib/lectures/TOPIC.py` of `NN_TOPIC.ipynb` has it as its source."""
    module = NOTEBOOKS.parent / "course_lib" / "lectures" / f"{Path(name).stem[3:]}.py"
    source = module.read_text(encoding="utf-8")
    assert [solution for solution in solutions_in(text_of(name)) if solution not in source] == []


@pytest.mark.parametrize("name", LECTURES)
def test_questions_have_one_right_answer_each_and_a_reply_to_every_one(name: str) -> None:
    questions = text_of(name).split("**Check yourself.**")[1:]
    right = []
    for question in questions:
        answers = question.split("<details><summary>")[1:]
        choices, replies = zip(*(re.split("</summary>", answer, maxsplit=1) for answer in answers), strict=True)
        assert [choice[:3] for choice in choices] == ["A ·", "B ·", "C ·"], question[:80]
        yes = [reply.strip().startswith("Yes") for reply in replies]
        assert yes.count(True) == 1, question[:80]
        right.append("ABC"[yes.index(True)])
        assert all(len(reply.partition("</details>")[0].strip()) > 30 for reply in replies), question[:80]
    # Whoever always answers B should not come through the course.
    if len(right) < 3:
        return
    assert len(set(right)) > 1
    assert max(right.count(letter) for letter in "ABC") <= 0.5 * len(right) + 0.5, "".join(right)


def test_the_table_is_what_the_lectures_say() -> None:
    made = (NOTEBOOKS / "README.md").read_text(encoding="utf-8")
    assert made == contents.table(), "run: python tests/lectures/contents.py --out notebooks/README.md"
    assert "(notebooks/README.md)" in (NOTEBOOKS.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LECTURES)
def test_a_lecture_says_how_long_it_takes_and_what_comes_before_it(name: str) -> None:
    """30 words a minute, with code, predictions and exercises: what fresh readers counted, on average."""
    found = contents.lecture(NOTEBOOKS / name)
    assert found.minutes % 15 == 0 and abs(found.minutes - words_in(core_of(name)) / 30) <= 15
    assert all(number < found.number for number in re.findall(r"\d\d", found.before))


def _tags(cell: nbformat.NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def _shown(cell: nbformat.NotebookNode) -> str:
    """What a code cell printed and showed, as text."""
    return "".join(o.text if o.output_type == "stream" else _data(o).get("text/plain", "") for o in cell.outputs)


def _data(output: nbformat.NotebookNode) -> dict[str, Any]:
    return dict(output.get("data", {}))


def _figures(executed: ExecutedNotebook) -> list[nbformat.NotebookNode]:
    return [output for output in executed.outputs if "image/png" in _data(output)]


@in_its_kernel
def test_it_runs_from_top_to_bottom(executed: ExecutedNotebook) -> None:
    assert executed.errors() == {}


@in_its_kernel
def test_it_takes_less_than_a_minute_of_one_core(executed: ExecutedNotebook, record_property: Any) -> None:
    """Processor time, since a crowded machine takes any wall time; two minutes where CPU_LIMIT_S says so."""
    cpu_s = float(executed.run("print(sum(__import__('os').times()[:4]))"))
    name, cells = executed.path.stem, executed.notebook.cells
    questions = prose_of(executed.name).count("**Check yourself.**")
    record_property("lecture", (name, cpu_s, executed.wall_s, len(cells), len(_figures(executed)), questions))
    assert cpu_s < CROWDED * CPU_LIMIT_S.get(name, 60)


@in_its_kernel
def test_nothing_is_written_to_the_error_stream(executed: ExecutedNotebook) -> None:
    """A warning in a lecture is either explained or removed."""
    assert [output.text for output in executed.outputs if output.get("name") == "stderr"] == []


@in_its_kernel
def test_nothing_is_written_outside_a_temporary_folder(executed: ExecutedNotebook) -> None:
    assert executed.run("import os; print(*sorted(os.listdir()))").split() in ([], [".ipython"])


@in_its_kernel
def test_every_figure_is_drawn_and_says_in_words_what_it_shows(executed: ExecutedNotebook) -> None:
    """Ink on at least a hundredth of the picture, in more than two shades: axes alone have less."""
    import matplotlib.image
    import numpy as np

    figures = _figures(executed)
    said = [figure.metadata["image/png"]["alt"] for figure in figures]
    assert len(figures) >= (4 if executed.name in LECTURES else 1)
    for figure, description in zip(figures, said, strict=True):
        assert len(description) > 40
        assert f'<img alt="{description.split(chr(39))[0][:20]}' in figure.data["text/html"]
        pixels = matplotlib.image.imread(io.BytesIO(base64.b64decode(figure.data["image/png"])))[..., :3]
        assert np.mean(np.abs(pixels - pixels[0, 0]).max(axis=-1) > 0.1) > 0.01, description
        assert len(np.unique(pixels.mean(axis=-1).round(2))) > 2, description
    drawn = re.compile(r'<img[^>]* alt="[^"]{40,}"')
    for cell in executed.code_cells:
        shown = map(_data, cell.outputs)
        seen = any("image/png" in data or drawn.search(data.get("text/html", "")) for data in shown)
        assert seen or "figure" not in _tags(cell), cell.source
    if parts := facts_of(executed.name)["figures"]:
        pairs = itertools.zip_longest(parts, said, fillvalue="")
        assert [pair for pair in pairs if (pair[0] or "none more") not in pair[1]] == []


@in_its_kernel
def test_what_fails_on_purpose_shows_what_the_text_explains(executed: ExecutedNotebook) -> None:
    """White space aside; and nothing else fails on purpose."""
    known, wrong = facts_of(executed.name), {}
    on_purpose = [cell for cell in executed.code_cells if "with on_purpose" in cell.source]
    others = [cell for cell in executed.code_cells if cell not in on_purpose]
    for cells, pieces in ((on_purpose, known["failures"]), (others, known["shows"])):
        for piece, shows in pieces.items():
            found = [" ".join(_shown(cell).split()) for cell in cells if piece in cell.source + "\n"]
            missing = [words for words in shows if len(found) != 1 or " ".join(words.split()) not in found[0]]
            if missing:
                wrong[piece] = found, missing
    assert wrong == {}
    named = [cell for cell in on_purpose if any(piece in cell.source + "\n" for piece in known["failures"])]
    assert [cell.source for cell in on_purpose if cell not in named] == []


def _told(cell: nbformat.NotebookNode) -> dict[str, Any]:
    """A code cell, as `in_kernel.Lecture` has it."""
    data = [_data(output) for output in cell.outputs]
    html = "".join(d.get("text/html", "") for d in data if "image/png" not in d)
    figures = [o.metadata["image/png"]["alt"] for o in cell.outputs if "image/png" in _data(o)]
    seen = {"source": cell.source, "tags": _tags(cell), "text": _shown(cell)}
    return seen | {"html": html, "figures": figures, "kinds": [kind for d in data for kind in d]}


def _request(executed: ExecutedNotebook, function: str, asked: Any) -> Any:
    """What a function of `in_kernel.py` answers."""
    call = f"in_kernel.{function}(globals(), json.loads({json.dumps(asked)!r}))"
    code = f"import json; print('\\nANSWER', json.dumps({call}))"
    return json.loads(executed.run(code).rpartition("\nANSWER ")[2])


def _listed(wrong: Mapping[str, str]) -> str:
    return "".join(f"\n- {said}\n  {why}" for said, why in wrong.items())


@pytest.fixture(scope="session")
def asked(executed: ExecutedNotebook) -> ExecutedNotebook:
    """The executed lecture, with the names that facts and checks use."""
    told = json.dumps([str(executed.path), prose_of(executed.name), [_told(cell) for cell in executed.code_cells]])
    source = (HERE / "in_kernel.py").read_text(encoding="utf-8")
    executed.run(
        f"import {MODULES}\nin_kernel = types.ModuleType('in_kernel')\nexec({source!r}, vars(in_kernel))\n"
        "raised, printed_by, unwarned = in_kernel.raised, in_kernel.printed_by, in_kernel.unwarned\n"
        f"lecture = in_kernel.Lecture(globals(), *json.loads({told!r}))"
    )
    executed.run(facts_of(executed.name)["shorthand"])
    return executed


@in_its_kernel
def test_what_the_text_says_is_so_and_what_no_sentence_says_too(
    asked: ExecutedNotebook, executed: ExecutedNotebook
) -> None:
    known = facts_of(asked.name)
    wrong = _request(asked, "ask", known["facts"] | known["checks"])
    assert not wrong, _listed(wrong)


def _exercises(executed: ExecutedNotebook) -> list[tuple[str, str, str]]:
    """For each exercise what stands there for the reader, its check, and what that showed.

    A check has a cell of its own, with the tag `check`, or stands below the stub in the same cell.
    """
    stubs = [cell for cell in executed.code_cells if "raise NotImplementedError" in cell.source]
    checks = [cell for cell in executed.code_cells if "check" in _tags(cell)] or stubs
    found = []
    for stub, check in zip(stubs, checks, strict=True):
        end = max(n.end_lineno for n in ast.parse(stub.source).body if "NotImplementedError" in ast.unparse(n))
        lines = stub.source.splitlines()
        below = "\n".join(lines[end:]) if check is stub else check.source
        found.append(("\n".join(lines[:end]), below, _shown(check)))
    return found


def answers_of(exercise: Mapping[str, Any], right: str) -> list[tuple[str, str]]:
    """The right answer and all others, each with the reply that it must get."""
    found = []
    for reply, *changes in exercise["answers"]:
        answer = changes.pop() if len(changes) == 1 else right
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            assert answer.count(old) == 1, f"{old!r} does not occur once in\n{answer}"
            answer = answer.replace(old, new)
        found.append((answer, reply))
    return found


@in_its_kernel
def test_a_check_waits_for_whoever_has_not_begun(asked: ExecutedNotebook, executed: ExecutedNotebook) -> None:
    exercises = _exercises(asked)
    said = _request(asked, "replies", [(stub, check) for stub, check, _ in exercises])
    assert said == [shown for *_, shown in exercises]
    assert [
        shown for shown in said if not re.fullmatch(r".+: waits for you\.\n(Until it is right, .+\n)?", shown)
    ] == []


@in_its_kernel
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(
    asked: ExecutedNotebook, executed: ExecutedNotebook
) -> None:
    exercises = facts_of(asked.name)["exercises"]
    solutions = solutions_in(text_of(asked.name)) or [exercise["right"] for exercise in exercises]
    tries, wanted = [], []
    for exercise, right, (stub, check, _) in zip(exercises, solutions, _exercises(asked), strict=True):
        assert all(name in stub for name in re.findall(r"^(?:def|class) (\w+)", right, re.MULTILINE)[-1:])
        for answer, reply in answers_of(exercise, right):
            tries.append((answer, check))
            wanted.append(reply)
    said = _request(asked, "replies", tries)
    wrong = {
        answer: f"wanted {reply!r}, got {got!r}"
        for (answer, _), reply, got in zip(tries, wanted, said, strict=True)
        if reply not in " ".join(got.split())
    }
    assert not wrong, _listed(wrong)
