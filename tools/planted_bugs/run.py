"""Plant small bugs, one at a time, in a copy of the tree, and see which test catches each.

    python tools/planted_bugs/run.py                       every bug, against its tests, all of them
    python tools/planted_bugs/run.py --size test           against the samples that `make test` asks
    python tools/planted_bugs/run.py --only NAME --only NAME
    python tools/planted_bugs/run.py --verify              only read: does every bug still fit the tree?

The bugs are the tables of the .toml files beside this one. A table's name is the bug's name, and it has
`breaks` (what goes wrong, for whom), `file`, `old` (text that occurs once in it), `new` and `tests`: what may catch it,
as arguments of pytest, narrow enough to take seconds. Without `tests` it is the test module that mirrors the file.

The copy has an interpreter of its own, which finds the copy's packages before any installed ones, so that kernels and
other child processes run them too. A bug counts as caught only if the test that failed passes without it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 900
"""for one bug"""
NO_TEST, WRONG_USE = 5, 4
"""exit statuses of pytest"""
CAUGHT, AT_IMPORT, SURVIVED, ERROR = "caught", "import", "survived", "error"
"""import: nothing could be collected any more"""


@dataclass(frozen=True)
class Bug:
    """One edit that a test should notice."""

    name: str
    breaks: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def package(self) -> str:
        """Where it is counted: `autograder/judge`, `autograder`, `notebooks/assignments`."""
        return "/".join(Path(self.file).parts[:2]) if self.file.count("/") > 1 else self.file.partition("/")[0]

    def planted(self, root: Path) -> str:
        """The file's text with this bug in it."""
        return (root / self.file).read_text(encoding="utf-8").replace(self.old, self.new)


@dataclass(frozen=True)
class Result:
    """What became of one bug."""

    bug: Bug
    outcome: str
    by: str = ""
    """the test that caught it, or what went wrong"""
    seconds: float = 0.0


def main(arguments: Sequence[str] | None = None, root: Path = ROOT, data: Path = Path(__file__).parent) -> int:
    """Exit status: 0 all caught, 1 some survived or could not be tried."""
    options = _parser().parse_args(arguments)
    bugs = load(data, root)
    if unknown := set(options.only) - {bug.name for bug in bugs}:
        sys.exit(f"no such bug: {', '.join(sorted(unknown))}")
    part, parts = map(int, options.shard.split("/"))
    bugs = [b for b in bugs if (not options.only or b.name in options.only) and b.file.startswith(options.package)]
    bugs = bugs[part - 1 :: parts]
    if options.verify:
        problems = [f"{bug.name}: {problem}" for bug in bugs for problem in misfits(bug, root)]
        print("\n".join(problems) or f"{len(bugs)} bugs fit the tree")
        return bool(problems)
    results = []
    with copied(root) as copy:
        for result in tried(bugs, copy, options.size, options.limit):
            results.append(result)
            row = f"{len(results):3}/{len(bugs)} {result.outcome:8} {result.seconds:6.1f} s"
            print(f"{row}  {result.bug.name}  {result.by}", flush=True)
            if options.report:
                _write_report(options.report, options.size, results)
    print(table(results))
    return any(result.outcome in (SURVIVED, ERROR) for result in results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=["check", "test", "all"], default="all")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--package", default="", help="only files whose path begins so: autograder/judge")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="try the I-th of N parts")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="SECONDS", help="for one bug")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--report", type=Path, metavar="FILE.json")
    return parser


def load(data: Path, root: Path) -> list[Bug]:
    """The bugs of all .toml files in `data`."""
    bugs = []
    for path in sorted(data.glob("*.toml")):
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            tests = tuple(entry.pop("tests", ())) or (mirrored(entry["file"], root),)
            bugs.append(Bug(name, tests=tests, **entry))
    if doubled := {b.name for b in bugs if [other.name for other in bugs].count(b.name) > 1}:
        raise ValueError(f"two bugs of one name: {', '.join(sorted(doubled))}")
    return bugs


def mirrored(file: str, root: Path) -> str:
    """The test module of a source file; else the folder of tests that mirrors its folder."""
    path = Path("tests", file)
    module = path.with_name(f"test_{path.name}")
    return str(module if (root / module).exists() else path.parent)


def misfits(bug: Bug, root: Path) -> Iterator[str]:
    """Why a bug cannot be planted or caught in this tree."""
    for test in _paths(bug.tests):
        if not (root / test).exists():
            yield f"there is no {test}"
    text = (root / bug.file).read_text(encoding="utf-8") if (root / bug.file).is_file() else ""
    if text.count(bug.old) != 1:
        others = [path for path in _sources(root) if bug.old in path.read_text(encoding="utf-8")]
        hint = f"; it is in {', '.join(str(p.relative_to(root)) for p in others[:5])}" if others else ""
        yield f"its old text occurs {text.count(bug.old)} times in {bug.file}{hint}"
    elif bug.file.endswith(".py"):
        try:
            compile(bug.planted(root), bug.file, "exec")
        except SyntaxError as error:
            yield f"{bug.file} is no Python any more: {error}"
    if bug.old == bug.new:
        yield "it changes nothing"


def _paths(tests: Sequence[str]) -> list[str]:
    """Of pytest's arguments those that name files; `-k` and `-m` take one that does not."""
    words = [word for test in tests for word in shlex.split(test)]
    follow = [False, *(word in ("-k", "-m") for word in words)]
    return [w.partition("::")[0] for w, is_value in zip(words, follow, strict=False) if not (w[0] == "-" or is_value)]


def _sources(root: Path) -> Iterator[Path]:
    for folder in ("autograder", "course_lib", "notebooks/assignments"):
        yield from (path for path in (root / folder).rglob("*") if path.suffix in (".py", ".j2", ".css", ".json"))


# The copy -------------------------------------------------------------------------------------------------------------


class copied:
    """A copy of the working tree with an interpreter of its own, removed at the end. Yields its folder.

    A clone, because samples are drawn by the commit, with what is not committed yet on top. In /var/tmp, because a
    sandbox has a /tmp of its own, and readable for every user, because it may have a user of its own.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def __enter__(self) -> Path:
        place = "/var/tmp" if os.access("/var/tmp", os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(prefix="planted-", dir=place)).resolve()
        self.folder.chmod(0o755)
        copy = self.folder / self.root.name
        try:
            _copy_tree(self.root, copy)
            _make_interpreter(copy)
        except BaseException:
            self.__exit__()
            raise
        return copy

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _copy_tree(root: Path, copy: Path) -> None:
    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True)
        return [name for name in done.stdout.split("\0") if name]

    git("clone", "--quiet", "--shared", str(root), str(copy))
    for name in git("diff", "--name-only", "--no-renames", "-z", "HEAD") + git(
        "ls-files", "--others", "--exclude-standard", "-z"
    ):
        if (root / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, copy / name)
        else:
            (copy / name).unlink(missing_ok=True)


def _make_interpreter(copy: Path) -> None:
    """A virtual environment that sees the copy first and then the packages of the running one."""
    environment = copy / ".venv"
    venv.create(environment, symlinks=True, with_pip=False)
    packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (site,) = environment.glob("lib/*/site-packages")
    (site / "copy.pth").write_text("\n".join([str(copy), *packages]) + "\n")
    for script in (Path(sys.prefix) / "bin").iterdir():
        made = environment / "bin" / script.name
        # A script names its interpreter in its first line.
        if script.is_file() and not made.exists() and script.read_bytes()[:2] == b"#!":
            made.write_bytes(script.read_bytes().replace(sys.prefix.encode(), str(environment).encode(), 1))
            made.chmod(0o755)
    for name in ("share", "etc"):
        if (Path(sys.prefix) / name).is_dir() and not (environment / name).exists():
            (environment / name).symlink_to(Path(sys.prefix) / name)


# Trying ---------------------------------------------------------------------------------------------------------------


def tried(bugs: Sequence[Bug], copy: Path, size: str, limit_s: float) -> Iterator[Result]:
    """Each bug's result. `copy` is as it was afterwards."""
    sound: dict[str, bool] = {}
    for bug in bugs:
        began = time.monotonic()
        if problems := list(misfits(bug, copy)):
            yield Result(bug, ERROR, "; ".join(problems))
            continue
        path = copy / bug.file
        whole = path.read_text(encoding="utf-8")
        try:
            _write(path, bug.planted(copy))
            outcome, by = _caught(bug, copy, size, limit_s)
        finally:
            _write(path, whole)
        if outcome in (CAUGHT, AT_IMPORT):
            if by not in sound:
                sound[by] = _pytest(copy, [by], size, limit_s)[0] == 0
            if not sound[by]:
                outcome, by = ERROR, f"{by} fails without the bug, too"
        yield Result(bug, outcome, by, round(time.monotonic() - began, 1))


def _caught(bug: Bug, copy: Path, size: str, limit_s: float) -> tuple[str, str]:
    """What became of a bug that is planted, and the test that says so."""
    # Of several `-k` in one call pytest takes the last for all.
    plain = [test for test in bug.tests if " -" not in test]
    runs = [plain] * bool(plain) + [shlex.split(test) for test in bug.tests if test not in plain]
    outcome, by = ERROR, "it names no tests"
    for arguments in runs:
        outcome, by = _reading(*_pytest(copy, arguments, size, limit_s))
        if outcome != SURVIVED:
            break
    return outcome, by


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    # Compiled code is taken for fresh if size and second are the same.
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()


def _pytest(copy: Path, arguments: Sequence[str], size: str, limit_s: float) -> tuple[int | None, str]:
    """Exit status and output; None: it took too long."""
    python = copy / ".venv" / "bin" / "python"
    plugins = ["-p", "no:cacheprovider", "--timeout", str(limit_s / 2)]
    command = [str(python), "-m", "pytest", "-x", "-q", "-n", "0", "--size", size, *plugins, *arguments]
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["PATH"] = f"{python.parent}{os.pathsep}{environment.get('PATH', '')}"
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command, cwd=copy, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            status: int | None = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        return status, output.read()


def _reading(status: int | None, printed: str) -> tuple[str, str]:
    """What a run of pytest says of the bug, and the test that says it."""
    if status is None:
        return ERROR, "out of time"
    if status in (0, NO_TEST):
        return SURVIVED, "" if status == 0 else "no test ran"
    if found := re.search(r"^(?:FAILED|ERROR) ((?:\[[^\n]*?\]|[^\n])+?)(?: - .*)?$", printed, re.MULTILINE):
        return (CAUGHT if "::" in found[1] else AT_IMPORT), found[1]
    if status == WRONG_USE and (found := re.search(r"while loading conftest '([^']+)'", printed)):
        return AT_IMPORT, str(Path(found[1]).parent)
    return ERROR, f"pytest ended with {status}: {printed.strip()[-300:]}"


# Telling --------------------------------------------------------------------------------------------------------------


def _write_report(path: Path, size: str, results: Sequence[Result]) -> None:
    rows = [{**dataclasses.asdict(r), "bug": r.bug.name, "file": r.bug.file} for r in results]
    path.write_text(json.dumps({"size": size, "results": rows}, indent=1) + "\n", encoding="utf-8")


def table(results: Sequence[Result]) -> str:
    """By package how many were caught, then those that were not."""
    lines = [f"\n{'package':28} bugs  caught"]
    for package in [*sorted({r.bug.package for r in results}), ""]:
        own = [r for r in results if not package or r.bug.package == package]
        caught = sum(r.outcome in (CAUGHT, AT_IMPORT) for r in own)
        lines.append(f"{package or 'all':28} {len(own):4}  {caught:6}")
    for result in results:
        if result.outcome in (SURVIVED, ERROR):
            said = f" ({result.by})" if result.by else ""
            lines += [f"\n{result.outcome}: {result.bug.name}{said}", f"  {result.bug.file}: {result.bug.breaks}"]
    return "\n".join(lines)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the copy goes, and what runs in it
    sys.exit(main())
