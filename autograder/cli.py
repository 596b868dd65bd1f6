"""The command line: parse, call one function, print."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from autograder.assignment import known_assignments, load_assignment, on_device
from autograder.errors import AutograderError, WrongUse
from autograder.records import Report

OUT = Console(highlight=False)
ERR = Console(stderr=True, highlight=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status: 0 done, 1 something could not be graded, 2 wrong use."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except AutograderError as error:
        ERR.print(f"autograder: {error}", markup=False, soft_wrap=True)
        return error.exit_status
    except KeyboardInterrupt:
        ERR.print("\nautograder: stopped. What is graded is kept; the same command goes on from here.", markup=False)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing is wrong, and nobody listens.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        ERR.print(f"autograder: {where}{error.strerror or error}", markup=False, soft_wrap=True)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autograder", description="Grade notebooks: verdicts that code cannot talk into."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    grade = commands.add_parser("grade", help="grade what a class handed in")
    grade.add_argument(
        "assignment", help="a name under notebooks/assignments/, or the path of a folder of nbgrader sources"
    )
    grade.add_argument(
        "submissions", type=Path, help="a folder (STUDENT/ASSIGNMENT/*.ipynb or STUDENT.ipynb), notebook or zip"
    )
    grade.add_argument("--out", type=Path, help="the run folder (default: runs/ASSIGNMENT)")
    grade.add_argument("--workers", type=_positive, help="submissions at once (default: one for each core)")
    grade.add_argument("--seed-file", type=Path, help="the secret of an earlier run, for the same hidden inputs")
    grade.add_argument(
        "--only", action="append", default=[], metavar="STUDENT", help="grade this student only; repeatable"
    )
    grade.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="STUDENT",
        help="a student of the last run who left the class; repeatable. Others who are no longer there are an error",
    )
    grade.add_argument(
        "--device",
        choices=["auto", "virtual", "cpu"],
        default="auto",
        help="auto: virtual CUDA if the assignment wants CUDA; virtual CUDA is the CPU under CUDA's rules",
    )
    grade.add_argument("--regrade", action="store_true", help="grade again what is already graded; prints what changed")
    grade.add_argument(
        "--log-level",
        choices=["debug", "info", "warning", "error"],
        default="info",
        help="the least that is written to run.log in the run folder",
    )
    grade.set_defaults(command=_grade)

    release = commands.add_parser("release", help="build what students open from the instructor's sources")
    release.add_argument("assignments", nargs="*", metavar="ASSIGNMENT")
    release.add_argument("--publish", type=Path, metavar="DIR", help="write the whole student repository to DIR")
    release.set_defaults(command=_release)

    verify = commands.add_parser("verify-release", help="refuse a release that holds what students must not see")
    verify.add_argument("assignments", nargs="*", metavar="ASSIGNMENT")
    verify.add_argument("--folder", type=Path, help="a published repository (default: notebooks/release)")
    verify.set_defaults(command=_verify_release)

    selftest = commands.add_parser("selftest", help="grade the bank of known submissions")
    selftest.add_argument("assignments", nargs="*", metavar="ASSIGNMENT")
    selftest.add_argument("--workers", type=_positive)
    selftest.add_argument(
        "--out", type=Path, help="a folder for journals, so that nothing is graded twice (default: runs/selftest)"
    )
    selftest.add_argument(
        "--fresh", action="store_true", help="grade all entries again, on other hidden inputs; else those that changed"
    )
    selftest.add_argument(
        "--device",
        choices=["auto", "cuda"],
        default="auto",
        help="cuda: run the bank, which is trusted, on this host's GPU, in one process without a sandbox",
    )
    selftest.set_defaults(command=_selftest)

    export = commands.add_parser("export", help="write the scores of a run for another program")
    export.add_argument("run", type=Path, metavar="RUN", help="the run folder")
    export.add_argument("--to", required=True, choices=["csv", "canvas", "moodle", "gradescope", "junit"])
    export.add_argument("--out", type=Path, help="the file or folder to write")
    export.set_defaults(command=_export)

    doctor = commands.add_parser("doctor", help="what this host can promise")
    doctor.set_defaults(command=_doctor)
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1 is needed")
    return number


def project_root() -> Path:
    """The nearest folder upwards that holds notebooks/assignments; else the working folder."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "notebooks" / "assignments").is_dir():
            return folder
    return here


# -- commands ----------------------------------------------------------------------------------------------------


def _grade(options: argparse.Namespace) -> int:
    from autograder.report import below_full, reasons, summary_table
    from autograder.runs.pool import default_workers
    from autograder.runs.run import Options, grade_class

    root = project_root()
    assignment = on_device(load_assignment(options.assignment, root), options.device)
    out = options.out or Path("runs") / assignment.name
    workers, only = options.workers or default_workers(), tuple(options.only)
    without = tuple(options.without)
    run = Options(out, workers, options.seed_file, only, without, options.regrade, options.log_level)
    with _progress(f"grading {assignment.name}") as update:
        outcome = grade_class(assignment, root, options.submissions, run, update)
    OUT.print(summary_table(outcome.reports))
    if outcome.reused:
        OUT.print(f"{outcome.reused} of {len(outcome.reports)} were graded before and are unchanged.")
    if outcome.outdated:
        names = ", ".join(outcome.outdated)
        OUT.print(f"Graded before, but changed since and left out by --only: {names}. Their old grades stand.")
    for name, why in outcome.left_out.items():
        OUT.print(f"left out: {name} {why}", markup=False, soft_wrap=True)
    for change in outcome.changed:
        OUT.print(f"changed: {change}", markup=False)
    ungraded = reasons(outcome.reports)
    for line in [*ungraded, *below_full(outcome.reports)]:
        OUT.print(line, soft_wrap=True)
    OUT.print(f"\nresults   {out / 'results.json'}\nreport    {out / 'report.html'}", markup=False, soft_wrap=True)
    OUT.print(f"feedback  {out / 'feedback'}/STUDENT/{assignment.name}/feedback.html", markup=False, soft_wrap=True)
    return 1 if ungraded else 0


def _release(options: argparse.Namespace) -> int:
    from autograder.release import publish, release

    root = project_root()
    for name in _named(options.assignments, root):
        OUT.print(f"released {release(load_assignment(name, root), root / 'notebooks' / 'release')}", markup=False)
    if options.publish:
        OUT.print(f"published {publish(root, options.publish)}", markup=False)
    return 0


def _verify_release(options: argparse.Namespace) -> int:
    from autograder.release import check_published, check_release

    root = project_root()
    assignments = [load_assignment(name, root) for name in _named(options.assignments, root)]
    if options.folder:
        check_published(options.folder, assignments)
    else:
        for assignment in assignments:
            check_release(root / "notebooks" / "release" / assignment.name, assignment)
    where = options.folder or root / "notebooks" / "release"
    OUT.print(f"{where}: fresh, and nothing in it that students must not see", markup=False, soft_wrap=True)
    return 0


def _selftest(options: argparse.Namespace) -> int:
    from autograder.kernels.zygote import ONE_THREAD
    from autograder.report import bank_table, confusion_table, demand_table, margin_table
    from autograder.runs.pool import default_workers
    from autograder.selftest import selftest, selftest_here
    from autograder.sentences import demands

    os.environ.update(ONE_THREAD)  # part of it runs here: the same numbers as in a kernel, and no waiting for threads
    root, failed, on_gpu = project_root(), False, options.device == "cuda"
    if on_gpu:
        _require_gpu()
    for name in _named(options.assignments, root):
        assignment = load_assignment(name, root)
        if on_gpu and assignment.device != "cuda":
            continue  # it wants none
        with _progress(f"testing {name}") as update:
            if on_gpu:
                found = selftest_here(on_device(assignment, "cuda"), lambda n, of: update(n, of, None))
            else:
                workers = options.workers or default_workers()
                out = (options.out or Path("runs") / "selftest") / assignment.name
                found = selftest(
                    assignment, root, workers, lambda n, of: update(n, of, None), out=out, fresh=options.fresh
                )
        OUT.print(bank_table(found.rows))
        OUT.print(confusion_table(found.confusion()))
        OUT.print(demand_table(demands(assignment, found.entries, found.reports)))
        if margins := found.margins():
            OUT.print(margin_table(margins))
        correct = [e for e in found.entries if e.kind == "correct"]
        wrong = [e for e in found.entries if e.kind != "correct"]
        OUT.print(
            f"{name}: {len(correct)} correct and {len(wrong)} wrong submissions, {len(found.rows)} verdicts, "
            f"{len(found.wrong)} not as expected"
        )
        if found.reused:
            OUT.print(f"{found.reused} submissions are unchanged and were graded before; --fresh grades them again.")
        if found.unnamed:
            OUT.print(f"faults that no bank entry plants: {', '.join(found.unnamed)}", markup=False)
        failed = failed or bool(found.wrong)
    return 1 if failed else 0


def _require_gpu() -> None:
    import torch

    if not torch.cuda.is_available():
        raise WrongUse(
            "--device cuda: PyTorch finds no CUDA device on this host. Without the option, virtual CUDA is used."
        )


def _export(options: argparse.Namespace) -> int:
    from autograder.gradebook import export

    OUT.print(f"wrote {export(options.run, options.to, options.out)}", markup=False, soft_wrap=True)
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from autograder.doctor import describe_installation

    OUT.print(describe_installation(), markup=False, soft_wrap=True)
    return 0


def _named(names: Sequence[str], root: Path) -> list[str]:
    found = list(names) or known_assignments(root)
    if not found:
        raise WrongUse(f"{root / 'notebooks' / 'assignments'} holds no assignment. Run this inside the project.")
    return found


@contextlib.contextmanager
def _progress(title: str) -> Iterator[Callable[[int, int, Report | None], None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=ERR, transient=True) as bar:
        task = bar.add_task(title, total=None)

        def update(done: int, total: int, report: Report | None) -> None:
            bar.update(task, completed=done, total=total)

        yield update


if __name__ == "__main__":
    sys.exit(main())
