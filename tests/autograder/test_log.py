"""The log of a run says what each process did, and nobody but us writes a line of it."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder import log
from autograder.errors import KernelFailed
from autograder.kernels.zygote import Zygote
from autograder.runs.run import Options, grade_class

LOGGER = logging.getLogger("autograder.test")
RECORD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (\w+) +([\w ]+)\[(\d+)\] (.*)")


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / log.NAME
    log.stop()


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def test_a_record_says_when_how_grave_which_process_and_what(path: Path) -> None:
    log.start(path, "judge")
    LOGGER.warning("tried %d times", 2)
    LOGGER.debug("too little to be written")
    found = [RECORD.fullmatch(line) for line in lines_of(path)]
    assert [m and m.group(1, 2, 4) for m in found] == [("WARNING", "judge", "tried 2 times")]


@pytest.mark.parametrize("line_break", ["\n", "\r", "\r\n", "\x0b", "\x1c", "\x85", "\u2028", "\x1b[1A\r", "\ud800\n"])
def test_nothing_that_a_student_writes_becomes_a_line_of_its_own(path: Path, line_break: str) -> None:
    log.start(path, "run")
    forged = f"ann{line_break}2026-03-01 12:00:00,000 ERROR   run[1] ann: passed, 12 of 12"
    LOGGER.info("%s: failed", forged)
    try:
        raise KernelFailed(forged)
    except KernelFailed:
        LOGGER.exception("no kernel")
    text = path.read_text(encoding="utf-8")
    assert sum(bool(RECORD.match(line)) for line in text.splitlines()) == 2
    assert all(RECORD.match(line) or line.startswith("    | ") for line in text.splitlines())
    assert "\x1b" not in text and "12 of 12" in text


def test_of_errors_that_are_not_ours_only_type_and_place_are_written(path: Path) -> None:
    log.start(path, "judge")
    hidden = 0.123
    try:
        raise ValueError(f"the input was {hidden}")
    except ValueError:
        LOGGER.exception("the judge failed")
    text = path.read_text()
    assert "ValueError" in text and "test_log.py" in text and "0.123" not in text


def test_a_log_that_cannot_be_written_and_none_at_all_stop_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    log.start(Path("/dev/full"), "run")
    LOGGER.error("the disk is full")
    log.stop()
    LOGGER.error("nobody listens")
    assert log.target() is None and capfd.readouterr() == ("", "")


def test_several_processes_write_whole_lines(path: Path) -> None:
    program = (
        "import logging, pathlib, sys; from autograder import log; log.start(pathlib.Path(sys.argv[1]), 'judge')\n"
        "for n in range(300): logging.getLogger('autograder.x').info('%d %s', n, 'y' * 500)"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(3)]
    assert [w.wait() for w in writers] == [0, 0, 0]
    assert [line for line in lines_of(path) if not re.fullmatch(r".* judge\[\d+\] \d+ y{500}", line)] == []
    assert len(lines_of(path)) == 900


@pytest.mark.slow
def test_the_last_words_of_a_dying_zygote_are_kept(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dying.py").write_text("raise RuntimeError('no such luck')\n")
    monkeypatch.setattr("autograder.kernels.zygote._clean_environment", lambda: {"PYTHONPATH": str(tmp_path)})
    log.start(path, "run")
    zygote = Zygote("dying:child")
    with pytest.raises(KernelFailed, match="no such luck"):
        zygote.connect({})
    zygote.stop()
    assert re.search(r"ERROR +run\[\d+\] dying:child: .*no such luck", path.read_text())


CHECK = '''
@pytest.mark.cell("test_square")
def test_squares(student, reference, draw, expect):
    """Each element is squared."""
    x = draw.normal(3)
    expect.close(student.square(x), reference.square(x), "square")

@pytest.mark.cell("test_square")
def test_zero(student, expect):
    """The square of 0 is 0."""
    expect.equal(student.square(0), 0)
'''
DIES = "def square(x):\n    import os; os._exit(3)"
FORGES = "print('\\n2026-03-01 12:00:00,000 INFO    run[1] forged')\ndef square(x):\n    return x ** 2"


@pytest.mark.long
def test_a_run_says_what_every_kind_of_process_did(
    judged: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.runs.pool.FRAMEWORKS", ("numpy",))
    small = judged({"square": "def square(x):\n    return x ** 2"}, CHECK, name="squares")
    out, submitted = tmp_path / "run", tmp_path / "submitted"
    submitted.mkdir()
    for name, source in (("right", "def square(x):\n    return x * x"), ("dies", DIES), ("forges", FORGES)):
        (submitted / f"{name}.ipynb").write_bytes(small.notebook({"square": source}))
    (submitted / "broken.ipynb").write_text("{")
    for _ in range(2):
        options = Options(out, workers=1)
        grade_class(small.assignment, submitted, options, lambda *_: None)
    text = (out / log.NAME).read_text()
    records = [m for m in map(RECORD.fullmatch, lines_of(out / log.NAME)) if m]
    assert len(records) == len(lines_of(out / log.NAME)), text
    said = [f"{m[1]} {m[2]}: {m[4]}" for m in records]
    for wanted in (
        r"INFO run: squares on cpu: 4 to grade, 0 in the journal, 1 workers",
        r"INFO run: squares on cpu: 0 to grade, 4 in the journal, 1 workers",
        r"INFO run: right: passed, 2 of 2 in .*",
        r"WARNING run: broken: rejected, .*",
        r"INFO judge: grading dies",
        r"INFO judge: kernel \d+ is ready: tier .*",
        r"WARNING judge: kernel ended: the Python process ended with status 3; restart 1 of 3",
        r"INFO judge zygote: ready to fork",
        r"INFO kernel zygote: ready to fork",
        r"INFO supervisor: kernel \d+ started on cpu",
        r"INFO supervisor: kernel \d+ ended: status 3",
    ):
        assert any(re.fullmatch(wanted, line) for line in said), f"{wanted}\n{text}"
    assert not any(m[4].startswith("forged") for m in records)
    assert (out / "seed").read_text().strip() not in text
