"""Grade a small class over and over, kill processes of the run at random, and compare with an undisturbed run.

    python tests/kill_harness.py --grades 100 --seed 7

A grade is a fresh run folder and the command, begun again until it has finished. At a random time a signal is sent to
a process of a random kind. Then the results must be those of the undisturbed run but for times, and after one more
command no process, no folder and no half-written file is left. Prints a table; exit status 1 if anything differed.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from autograder.sandbox import probe
from tests.autograder.small_class import PROGRAM, RIGHT, hand_in, make_course, without_times

KINDS = ("main", "judge zygote", "kernel zygote", "judge", "supervisor", "kernel")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
PATIENCE_S = 240
"""for one command; whoever takes longer hangs"""
SLOW = f"import time; time.sleep(0.7)\n{RIGHT}"
CLASS = {
    "dan": {"square": SLOW},
    "eve": {"square": "import os\ndef square(x):\n    os._exit(3)"},
    "fay": {"square": SLOW.replace("** 2", "* 2")},
    "gus": {"square": f"print('working')\n1 / 0\n{RIGHT}"},
}
"""beside ann, bob and cid"""


@dataclasses.dataclass
class Kill:
    """What was sent, and what came of it."""

    kind: str
    number: signal.Signals
    at_s: float
    differences: list[str] = dataclasses.field(default_factory=list)


class Harness:
    """A class to grade, and what an undisturbed run makes of it."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.folder, self.dice, self.grades = folder, dice, 0
        small = make_course(folder / "course")
        for student, cells in CLASS.items():
            hand_in(folder / "course" / "submitted", student, small.notebook(cells))
        (folder / "seed").write_text("5eed" * 16)
        (folder / "tmp").mkdir()
        began = time.monotonic()
        self.undisturbed = self.folder / "undisturbed"
        with self.command(self.undisturbed) as process:
            process.wait(PATIENCE_S)
        self.lasts_s = time.monotonic() - began
        self.expected = _of_the_class(self.undisturbed)

    def command(self, out: Path) -> subprocess.Popen[bytes]:
        words = ["grade", "small", "submitted", "--out", out, "--workers", "2", "--seed-file", self.folder / "seed"]
        with open(self.folder / "said", "ab") as said:
            return subprocess.Popen(
                [sys.executable, "-c", PROGRAM, *map(str, words)],
                cwd=self.folder / "course",
                env={**os.environ, "TMPDIR": str(self.folder / "tmp")},
                stdout=said,
                stderr=said,
            )

    def grade(self, kind: str, number: signal.Signals) -> Kill | None:
        """One grade with one kill; None if there was nobody of this kind to kill before the run had finished."""
        self.grades += 1
        out = self.folder / f"run{self.grades}"
        before, kill = self._left(), Kill(kind, number, round(self.dice.uniform(0, self.lasts_s), 2))
        began, process = time.monotonic(), self.command(out)
        victim = self._victim(process, kind, kill.at_s)
        if victim is None:
            self.lasts_s = time.monotonic() - began
        else:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.send_signal(number)
        try:
            process.wait(PATIENCE_S)
            for _ in range(3):
                if (out / "results.json").exists():
                    break
                self.command(out).wait(PATIENCE_S)
            kill.differences += self._differences(out)
            if self._left_soon(before, 2):
                # What the killed command left is cleared by the next one, even if that has nothing to grade.
                self.command(out).wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            kill.differences.append("it hangs")
            psutil.Process(process.pid).kill()
        kill.differences += [f"left behind: {one}" for one in sorted(self._left_soon(before, 10))]
        return kill if victim else None

    def _left_soon(self, before: set[str], within_s: float) -> set[str]:
        """What is left when everything had some seconds to end."""
        deadline = time.monotonic() + within_s
        while (left := self._left() - before) and time.monotonic() < deadline:
            time.sleep(0.2)
        return left

    def _victim(self, process: subprocess.Popen[bytes], kind: str, at_s: float) -> psutil.Process | None:
        time.sleep(at_s)
        while process.poll() is None:
            with contextlib.suppress(psutil.Error):
                if found := processes_of(psutil.Process(process.pid), kind):
                    return self.dice.choice(found)
            time.sleep(0.02)
        return None

    def _differences(self, out: Path) -> Iterator[str]:
        if not (out / "results.json").exists():
            yield "no results after three more commands"
            return
        found = _of_the_class(out)
        for student in sorted(found.keys() | self.expected.keys()):
            if found.get(student) != self.expected.get(student):
                one, should = found.get(student) or {}, self.expected.get(student) or {}
                changed = sorted(key for key in one.keys() | should.keys() if one.get(key) != should.get(key))
                yield f"{student}: {', '.join(f'{key} is {str(one.get(key))[:80]}' for key in changed)}"
        names = {str(path.relative_to(out)) for path in out.rglob("*")}
        for name in sorted(names ^ {str(path.relative_to(self.undisturbed)) for path in self.undisturbed.rglob("*")}):
            if not name.startswith("history"):
                yield f"{'more' if name in names else 'less'} in the run folder: {name}"

    def _left(self) -> set[str]:
        """Processes of any run of ours, and folders and control groups whose makers have ended."""
        found = {str(path) for path in (self.folder / "tmp").iterdir()}
        found |= {str(path) for path in Path("/dev/shm").glob("*")}
        groups = {Path(group) for group in (probe().groups.memory, probe().groups.pids) if group}
        for path in [*Path("/var/tmp").glob("box-*-*-*"), *(one for group in groups for one in group.glob("*-*"))]:
            number = path.name.split("-")[2 if path.name.startswith("box-") else 1]
            with contextlib.suppress(ValueError):
                if not psutil.pid_exists(int(number, 16 if path.name.startswith("box-") else 10)):
                    found.add(str(path))
        for process in psutil.process_iter(["cmdline", "status"]):
            ours = any(str(self.folder) in word for word in process.info["cmdline"] or ())
            if ours and process.pid != os.getpid() and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.add(f"process {process.pid}: {' '.join(process.info['cmdline'])[:200]}")
        return found


def processes_of(main: psutil.Process, kind: str) -> list[psutil.Process]:
    """The living processes of one kind of a run."""
    if kind == "main":
        return [main]
    function = "judge_child" if kind.startswith("judge") else "kernel_child"
    found = [p for p in main.children() if any(word.endswith(f":{function}") for word in p.cmdline())]
    for _ in range({"judge": 1, "supervisor": 1, "kernel": 2}.get(kind, 0)):
        found = [child for one in found for child in one.children()]
    return found


def _of_the_class(out: Path) -> dict[str, dict[str, object]]:
    return {one["student"]: one for one in without_times(out / "results.json")["submissions"]}


def table(kills: Sequence[Kill]) -> str:
    """Kind of process, signal, kills, and those after which something differed."""
    rows = collections.Counter((kill.kind, kill.number) for kill in kills)
    lines = [f"{'process':<14} {'signal':<8} kills  differing"]
    for kind in KINDS:
        for number in SIGNALS:
            bad = sum(1 for k in kills if (k.kind, k.number) == (kind, number) and k.differences)
            lines.append(f"{kind:<14} {number.name:<8} {rows[kind, number]:5}  {bad:9}")
    return "\n".join([*lines, f"{'together':<14} {'':<8} {len(kills):5}  {sum(1 for k in kills if k.differences):9}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grades", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", choices=KINDS)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    dice, kills = random.Random(options.seed), list[Kill]()
    with tempfile.TemporaryDirectory(prefix="kill") as folder:
        harness = Harness(Path(folder).resolve(), dice)
        print(f"an undisturbed run lasts {harness.lasts_s:.1f} s", flush=True)
        for number in range(1, options.grades + 1):
            kill = harness.grade(options.only or dice.choice(KINDS), dice.choice(SIGNALS))
            said = (
                f"{kill.kind} {kill.number.name} at {kill.at_s} s {kill.differences or ''}" if kill else "nobody there"
            )
            print(f"{number:4} {said}", flush=True)
            kills += [kill] if kill else []
    print(f"{options.grades} grades\n{table(kills)}")
    return 1 if any(kill.differences for kill in kills) else 0


if __name__ == "__main__":
    sys.exit(main())
