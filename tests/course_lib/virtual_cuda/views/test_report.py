"""The report counts by line, says what a line costs, and gives advice only where it is due."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from course_lib.virtual_cuda import Log
from course_lib.virtual_cuda.views.report import Report, memory_growth, size


def busy(times: int = 100) -> Log:
    """A log of a loop that copies a batch and reads a loss each time."""
    log = Log()
    for _ in range(times):
        with log.step():
            log.copy(-1, 0, 4096)
            log.sync("item", 0)
    return log


def test_sizes_have_units() -> None:
    sizes = [size(nbytes) for nbytes in (0, 1023, 1024, 5 << 20, 3 << 30)]
    assert sizes == ["0 B", "1023 B", "1.0 KiB", "5.0 MiB", "3.0 GiB"]


def test_a_table_counts_by_line() -> None:
    report = Report.of(busy())
    [copy] = report.rows("copy")
    [sync] = report.rows("sync")
    assert copy[0] == "cpu to cuda:0" and copy[2:] == ("100", "400.0 KiB", "yes", "log.copy(-1, 0, 4096)")
    assert sync[0] == "item" and sync[2:] == ("100", 'log.sync("item", 0)')
    assert copy[1].startswith("test_report.py:") and copy[1] in str(report) and sync[1] in str(report)
    assert "100 copies of 400.0 KiB in all; the host waited for a device 200 times" in report.heading()


def test_a_copy_to_the_host_is_one_wait_not_two() -> None:
    log = Log()
    log.copy(0, -1, 8)
    assert "1 copy of 8 B in all; the host waited for a device 1 time." in Report.of(log).heading()


def test_advice_names_the_line_the_number_and_the_remedy() -> None:
    copy, read = sorted(Report.of(busy()).advice(), key=lambda word: "`.item()`" in word)
    assert "`.item()` at test_report.py:" in read and "makes the host wait 100 times" in read
    assert "Collect such values on the device and read them once." in read
    assert "`pin_memory=True`" in copy and "`non_blocking=True`" in copy


def test_lines_with_the_same_fault_share_their_advice() -> None:
    log = Log()
    for _ in range(20):
        log.sync("item")
        log.sync("item")
    [word] = Report.of(log).advice()
    assert " and test_report.py:" in word and "40 times" in word


def test_pinned_memory_forgotten_is_told_apart_from_non_blocking_forgotten() -> None:
    log = Log()
    for _ in range(20):
        log.copy(-1, 0, 4096, non_blocking=True)
    [word] = Report.of(log).advice()
    assert "in spite of `non_blocking=True`" in word and "not pinned" in word


def test_numbers_copied_one_by_one_should_be_made_on_the_device() -> None:
    log = Log()
    for _ in range(20):
        log.copy(-1, 0, 8)
    [word] = Report.of(log).advice()
    assert "Make them on the device" in word


def test_nothing_is_advised_where_nothing_is_wrong() -> None:
    log = busy(3)
    for _ in range(1000):
        log.copy(-1, 0, 4096, blocking=False, non_blocking=True)
        log.copy(0, 1, 4096, blocking=False)
    assert Report.of(log).advice() == []
    assert "nothing was copied, and the host never waited" in str(Report.of(Log()))


class Memory:
    """A device whose use grows by `growth` at each look."""

    def __init__(self, growth: int) -> None:
        self.used, self.growth = 0, growth

    def allocated(self) -> int:
        return self.used

    def take_high(self) -> int:
        self.used += self.growth
        return self.used


@pytest.mark.parametrize(("growth", "words"), [(0, False), (512, True)])
def test_memory_that_grows_in_every_step_is_told(growth: int, words: bool) -> None:
    log = Log()
    log.gauges = [Memory(growth)]
    for _ in range(8):
        with log.step():
            pass
    # Looked at twice in each step.
    assert memory_growth(log.steps) == 2 * growth
    assert any("Memory in use grows by 1.0 KiB in each step" in one for one in Report.of(log).advice()) == words


def test_memory_that_grew_once_is_no_leak() -> None:
    log, memory = Log(), Memory(0)
    log.gauges = [memory]
    for step in range(8):
        memory.growth = 512 if step == 3 else 0
        with log.step():
            pass
    assert not any("Memory in use grows" in one for one in Report.of(log).advice())


def test_a_part_of_a_log_is_reported_by_itself() -> None:
    log = busy(5)
    before = Report.of(log)
    log.sync("tolist")
    part = Report.of(log, before)
    assert part.rows("copy") == [] and [row[0] for row in part.rows("sync")] == ["tolist"]
    assert part.step_total == 0 and list(part.steps) == []


class Tags(HTMLParser):
    """Checks that tags close in order, and collects them and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_html_holds_the_same_tables_and_no_scripts() -> None:
    report = Report.of(busy())
    tags = Tags()
    tags.feed(report.html())
    assert not tags.open and {"table", "caption", "th", "td", "code"} <= tags.seen and "script" not in tags.seen
    for row in (*report.rows("copy"), *report.rows("sync")):
        assert all(value in tags.text for value in row)


def test_code_in_the_html_is_text() -> None:
    log = Log()
    log.sync("item" if 1 < 2 else "<b>")
    assert "&lt;b&gt;" in Report.of(log).html() and "<b>" not in Report.of(log).html()
