# PYTHON_ARGCOMPLETE_OK
"""The command line: parse, call one function, print."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import dataclasses
import gc
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.logging import RichHandler
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from autograder.assignment import find_folder, known_assignments, load_assignment, on_device
from autograder.errors import AutograderError, WrongUse
from autograder.records import CUDA, Report

if TYPE_CHECKING:
    from autograder.gradebook import Course
    from autograder.runs.cluster import Cluster

OUT = Console(highlight=False)
ERR = Console(stderr=True, highlight=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status: 0 done, 1 something could not be graded, 2 wrong use."""
    # A class of 1,000 is a million small objects that live to the end: to look through them for cycles again and again,
    # and once more at the exit, takes longer than all the work on them.
    gc.set_threshold(100_000, 20, 20)
    atexit.register(gc.freeze)
    parser = _parser()
    if "_ARGCOMPLETE" in os.environ:  # the shell asks, once for every Tab
        import argcomplete

        argcomplete.autocomplete(parser)
    options = parser.parse_args(arguments)
    OUT.quiet = options.quiet or options.json
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
    parser.add_argument("--version", action="version", version=f"autograder {version('frameworks-course')}")
    parser.set_defaults(json=False, quiet=False, verbose=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(
        name: str, function: Callable[[argparse.Namespace], int], what: str, example: str
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name,
            help=what,
            description=f"{what[0].upper()}{what[1:]}.",
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(command=function)
        return made

    grade = command(
        "grade",
        _grade,
        "grade what a class handed in",
        "autograder grade a1_numpy_backprop submitted/ --out runs/a1",
    )
    _add_assignment(
        grade, "assignment", help="a name under notebooks/assignments/, or the path of a folder of nbgrader sources"
    )
    grade.add_argument(
        "submissions", type=Path, help="a folder (STUDENT/ASSIGNMENT/*.ipynb or STUDENT.ipynb), notebook or zip"
    )
    grade.add_argument("--out", type=Path, help="the run folder (default: runs/ASSIGNMENT)")
    grade.add_argument("--workers", type=_positive, help="submissions at once (default: one for each core)")
    grade.add_argument(
        "--engine", choices=["local", "dask"], default="local", help="dask: on the workers of a Dask cluster"
    )
    of_dask = grade.add_mutually_exclusive_group()
    of_dask.add_argument(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        help="of a Dask cluster, or its scheduler file (default: what Dask's configuration names)",
    )
    of_dask.add_argument(
        "--dask-workers", type=_positive, metavar="N", help="start N Dask workers on this machine instead"
    )
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
        choices=["auto", "virtual", "cuda", "cpu"],
        default="auto",
        help="auto: virtual CUDA if the assignment wants CUDA; virtual CUDA is the CPU under CUDA's rules. "
        "cuda: a real GPU, in a sandbox that promises less (docs/security.md)",
    )
    _add_roster(grade)
    grade.add_argument("--regrade", action="store_true", help="grade again what is already graded; prints what changed")
    grade.add_argument(
        "--dry-run", action="store_true", help="print who handed in what and what would be graded; write nothing"
    )
    grade.add_argument(
        "--log-level",
        choices=["debug", "info", "warning", "error"],
        default="info",
        help="the least that is written to run.log in the run folder",
    )
    grade.add_argument("-v", "--verbose", action="store_true", help="print each submission when it is graded")
    _add_quiet(grade)
    _add_json(grade)

    listed = command("list", _list, "the assignments: points, exercises, device, known submissions", "autograder list")
    _add_json(listed)

    release = command(
        "release",
        _release,
        "build what students open from the instructor's sources",
        "autograder release --repository ada/frameworks --publish ../student-repository",
    )
    _add_assignment(release, "assignments", nargs="*", metavar="ASSIGNMENT")
    release.add_argument(
        "--repository",
        metavar="NAME/REPOSITORY",
        help="first set the student repository's address on GitHub in every badge and set-up cell",
    )
    release.add_argument("--publish", type=Path, metavar="DIR", help="write the whole student repository to DIR")
    _add_quiet(release)

    verify = command(
        "verify-release",
        _verify_release,
        "refuse a release that holds what students must not see",
        "autograder verify-release --folder ../student-repository",
    )
    _add_assignment(verify, "assignments", nargs="*", metavar="ASSIGNMENT")
    verify.add_argument("--folder", type=Path, help="a published repository (default: notebooks/release)")
    _add_quiet(verify)

    selftest = command(
        "selftest", _selftest, "grade the bank of known submissions", "autograder selftest a1_numpy_backprop --fresh"
    )
    _add_assignment(selftest, "assignments", nargs="*", metavar="ASSIGNMENT")
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
    _add_quiet(selftest)

    export = command(
        "export",
        _export,
        "write the scores of a run for another program",
        "autograder export runs/a1 --to canvas --roster people.csv --out grades.csv",
    )
    export.add_argument("run", type=Path, metavar="RUN", help="the run folder")
    forms: Any = _Later("autograder.gradebook.exports", "FORMS")
    export.add_argument("--to", required=True, choices=forms, metavar="FORM", help="%(choices)s")
    export.add_argument("--out", type=Path, help="the file or folder to write")
    _add_roster(export)
    export.add_argument("--section", default="", help="of the roster, to export it alone")
    _add_quiet(export)

    totals = command(
        "totals",
        _totals,
        "one table over assignments: weights, best n of m, missing and late work",
        "autograder totals runs/a1 runs/a2 --roster people.csv",
    )
    totals.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="the run folder of an assignment")
    totals.add_argument(
        "--out", type=Path, default=Path("runs/totals"), help="the folder to write (default: runs/totals)"
    )
    _add_roster(totals)
    totals.add_argument("--section", default="", help="of the roster, to see it alone")
    _add_quiet(totals)
    feedback = command(
        "feedback",
        _feedback,
        "bring marks and comments from formgrader into the pages of a run, and pack the pages to return them",
        "autograder feedback runs/a1 --to moodle",
    )
    feedback.add_argument("run", type=Path, metavar="RUN", help="the run folder")
    ways: Any = _Later("autograder.gradebook.returning", "WAYS")
    feedback.add_argument(
        "--to",
        choices=ways,
        metavar="PLACE",
        help="%(choices)s: also write the archive that the platform takes back, or a folder for each student and a "
        "table for a mail merge",
    )
    feedback.add_argument("--out", type=Path, help="the archive or folder to write")
    _add_roster(feedback)
    _add_quiet(feedback)
    similarity = command(
        "similarity",
        _similarity,
        "show whose answers are more alike than independent work explains; no score changes",
        "autograder similarity a1_numpy_backprop submitted/ --out runs/a1/similarity.html",
    )
    _add_assignment(similarity, "assignment", help="as for grade")
    similarity.add_argument("submissions", type=Path, help="as for grade; a run folder too")
    similarity.add_argument("--out", type=Path, help="the page (default: runs/ASSIGNMENT/similarity.html)")
    _add_quiet(similarity)

    gradescope = command(
        "gradescope",
        _gradescope,
        "build the zip that makes Gradescope grade as this program does; it holds solutions and hidden checks",
        "autograder gradescope a1_numpy_backprop --out autograder.zip",
    )
    _add_assignment(gradescope, "assignment", help="as for grade")
    gradescope.add_argument("--out", type=Path, default=Path("autograder.zip"), help="the zip (default: %(default)s)")
    _add_quiet(gradescope)

    command("doctor", _doctor, "what this host can promise", "autograder doctor")
    return parser


class _Later:
    """Choices read from a module when somebody asks for them: to import it takes longer than all that is done here."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __iter__(self) -> Iterator[str]:
        return iter(getattr(importlib.import_module(self._module), self._name))


def _add_assignment(parser: argparse.ArgumentParser, name: str, **options: Any) -> None:
    """An argument that names assignments, which the shell completes."""
    action = parser.add_argument(name, **options)
    action.completer = lambda **_: known_assignments(project_root())  # type: ignore[attr-defined]  # argcomplete's


def _add_roster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--roster",
        type=Path,
        metavar="CSV",
        help="who is who: a list of people, such as the platform itself exports (default: [tool.course] roster)",
    )


def _add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only; the exit status says the rest")


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object in place of tables")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def project_root() -> Path:
    """The nearest folder upwards that holds notebooks/assignments; else the working folder."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "notebooks" / "assignments").is_dir():
            return folder
    return here


# -- commands ----------------------------------------------------------------------------------------------------


def _grade(options: argparse.Namespace) -> int:
    from autograder.kernels.zygote import forking_works, started_ahead
    from autograder.runs.pool import first_imports

    folder = find_folder(options.assignment, project_root())
    here = options.engine == "local" and not options.dry_run and forking_works()
    news = here and not _looks_unchanged(options.submissions, options.out or Path("runs") / folder.name)
    # They import while this process reads the assignment and the class.
    with started_ahead(first_imports(folder) if news else {}):
        return _grade_class(options)


def _looks_unchanged(submissions: Path, out: Path) -> bool:
    """Whether no file came there after the last run: a guess that costs or saves a second, and decides nothing."""
    try:
        # When it was put there: what is unpacked keeps the time at which it was last edited.
        newest = max(path.stat().st_ctime for path in (submissions, *submissions.rglob("*")))
        return newest < (out / "results.json").stat().st_ctime
    except OSError:
        return False


def _grade_class(options: argparse.Namespace) -> int:
    from autograder.report import below_full, reasons, summary_table
    from autograder.runs.pool import default_workers
    from autograder.runs.run import Options, grade_class, plan_class

    root = project_root()
    assignment = on_device(load_assignment(options.assignment, root), options.device)
    out = options.out or Path("runs") / assignment.name
    if options.device == CUDA and options.engine == "local":
        _require_gpu()
    workers, only = options.workers or default_workers(assignment.device), tuple(options.only)
    without = tuple(options.without)
    run = Options(
        *(out, workers, options.seed_file, only, without, options.regrade, options.log_level),
        course=_course(options, root),
        cluster=_cluster(options),
    )
    if options.dry_run:
        plan = plan_class(assignment, options.submissions, run)
        _print_json(options, plan)
        for student, what in plan["students"].items():
            OUT.print(f"{student}: {what}", markup=False, soft_wrap=True)
        _print_left_out(plan["left_out"])
        counts = f"{plan['to_grade']} to grade, {len(plan['students']) - plan['to_grade']} not"
        OUT.print(f"\n{assignment.name} on {assignment.device}: {counts}; nothing was run or written.", markup=False)
        return 0
    with _progress(f"grading {assignment.name}", options) as update:
        outcome = grade_class(assignment, options.submissions, run, update)
    if not OUT.quiet:  # a thousand rows take as long as all else where nothing has changed
        OUT.print(summary_table(outcome.reports, outcome.graded))
    if reused := len(outcome.reports) - len(outcome.graded):
        OUT.print(f"{reused} of {len(outcome.reports)} were graded before and are unchanged.")
    if outcome.outdated:
        names = ", ".join(outcome.outdated)
        OUT.print(f"Graded before, but changed since and left out by --only: {names}. Their old grades stand.")
    _print_left_out(outcome.left_out)
    for sentence in outcome.told:
        OUT.print(sentence, markup=False, soft_wrap=True)
    for change in outcome.changed:
        OUT.print(f"changed: {change}", markup=False)
    ungraded = reasons(outcome.reports)
    for line in [*ungraded, *below_full(outcome.reports)]:
        OUT.print(line, soft_wrap=True)
    OUT.print(f"\nresults   {out / 'results.json'}\nreport    {out / 'report.html'}", markup=False, soft_wrap=True)
    OUT.print(f"feedback  {out / 'feedback'}/STUDENT/{assignment.name}/feedback.html", markup=False, soft_wrap=True)
    if options.json:
        _print_json(options, json.loads((out / "results.json").read_text(encoding="utf-8")))
    return 1 if ungraded else 0


def _cluster(options: argparse.Namespace) -> Cluster | None:
    if options.engine == "local":
        if options.scheduler or options.dask_workers:
            raise WrongUse("--scheduler and --dask-workers belong to --engine dask; give that too.")
        return None
    if options.workers:
        raise WrongUse(
            "--workers belongs to the local engine. A Dask worker grades as many submissions at once as it has threads "
            "(`dask worker --nthreads`); --dask-workers starts workers on this machine."
        )
    try:
        from autograder.runs.cluster import LOGGER, Cluster
    except ModuleNotFoundError as error:
        raise WrongUse(
            f"--engine dask needs Dask, and {error.name} is not installed. Install it with the project: "
            'python -m pip install -e ".[autograder,cluster]"'
        ) from error
    least = "WARNING" if options.quiet else "INFO"
    notices = RichHandler(least, ERR, show_time=False, show_level=False, show_path=False)
    LOGGER.handlers = [notices]
    return Cluster(options.scheduler, options.dask_workers or 0)


def _print_left_out(left_out: Mapping[str, str]) -> None:
    for name, why in left_out.items():
        OUT.print(f"left out: {name} {why}", markup=False, soft_wrap=True)


def _print_json(options: argparse.Namespace, data: Any) -> None:
    if options.json:
        print(json.dumps(data, indent=1))


def _list(options: argparse.Namespace) -> int:
    from rich.table import Table

    from autograder.bank import load_bank

    root = project_root()
    rows = []
    for assignment in (load_assignment(name, root) for name in _named((), root)):
        graded = [cell for notebook in assignment.notebooks for cell in notebook.graded()]
        points, known = sum(cell.points for cell in graded), len(load_bank(assignment))
        rows.append(
            {
                "name": assignment.name,
                "points": points,
                "exercises": len(graded),
                "device": assignment.device,
                "known_submissions": known,
            }
        )
    table = Table(*(key.replace("_", " ") for key in rows[0]))
    for row in rows:
        table.add_row(*(f"{value:g}" if isinstance(value, float) else str(value) for value in row.values()))
    OUT.print(table)
    _print_json(options, {"assignments": rows})
    return 0


def _release(options: argparse.Namespace) -> int:
    from autograder.release import publish, release, set_repository

    root = project_root()
    if options.repository:
        changed = set_repository(root, options.repository)
        OUT.print(f"{options.repository}: written into {len(changed)} files", markup=False)
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
        with _progress(f"testing {name}", options) as update:
            if on_gpu:
                found = selftest_here(on_device(assignment, "cuda"), lambda n, of: update(n, of, None))
            else:
                workers = options.workers or default_workers()
                out = (options.out or Path("runs") / "selftest") / assignment.name
                found = selftest(assignment, workers, lambda n, of: update(n, of, None), out=out, fresh=options.fresh)
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
    from autograder.sandbox import gpu

    # In another process: what has asked for a GPU once cannot be forked into something that uses it.
    asked = [sys.executable, "-c", "import torch; raise SystemExit(not torch.cuda.is_available())"]
    if not gpu.count() or subprocess.run(asked, capture_output=True).returncode != 0:
        raise WrongUse(
            "--device cuda: PyTorch finds no CUDA device on this host. Without the option, virtual CUDA is used."
        )


def _export(options: argparse.Namespace) -> int:
    from autograder.gradebook import export

    course = _course(options, project_root())
    told: list[str] = []
    written = export(options.run, options.to, options.out, course.roster, options.section, course.digits, told.append)
    for sentence in (f"wrote {written}", *told):
        OUT.print(sentence, markup=False, soft_wrap=True)
    return 0


def _totals(options: argparse.Namespace) -> int:
    from autograder.totals import totals, write_totals

    table = totals(options.runs, _course(options, project_root()), options.section)
    for sentence in (*table.rules(), *table.told, *(f"wrote {path}" for path in write_totals(options.out, table))):
        OUT.print(sentence, markup=False, soft_wrap=True)
    return 0


def _feedback(options: argparse.Namespace) -> int:
    from autograder.gradebook import pack_feedback
    from autograder.report import reasons, summary_table
    from autograder.report.words import plural
    from autograder.runs.feedback import update_feedback

    if options.to is None and (options.out or options.roster):
        raise WrongUse("--out and --roster are of the archive; say which with --to.")
    course = _course(options, project_root())
    run = update_feedback(options.run)
    OUT.print(summary_table(run.reports))
    for line in reasons(run.reports):
        OUT.print(line, soft_wrap=True)
    comments = sum(len(report.comments) for report in run.reports)
    by_hand = sum(any(item.mark for item in report.items) for report in run.reports)
    told = [f"changed: {change}" for change in run.changed]
    told.append(
        f"{plural(len(run.pages), 'page')} written; {by_hand} with marks, {plural(comments, 'comment')} by people"
    )
    for sentence in told:
        OUT.print(sentence, markup=False, soft_wrap=True)
    if options.to:
        for sentence in pack_feedback(options.run, options.to, run.pages, options.out, course.roster, course.digits):
            OUT.print(sentence, markup=False, soft_wrap=True)
    return 0


def _course(options: argparse.Namespace, root: Path) -> Course:
    """What the course decides about grades; the options have the last word."""
    from autograder.gradebook import read_course, read_roster

    course = read_course(root)
    if options.roster:
        course = dataclasses.replace(course, roster=read_roster(options.roster))
    if getattr(options, "section", "") and course.roster is None:
        raise WrongUse("--section: sections stand in a list of people; give --roster too.")
    return course


def _similarity(options: argparse.Namespace) -> int:
    from autograder.bank import load_bank
    from autograder.report.similarity_page import write_similarity_page
    from autograder.report.words import plural
    from autograder.similarity import compare
    from autograder.submissions.intake import find_submissions

    assignment = load_assignment(options.assignment, project_root())
    handed_in = find_submissions(options.submissions, assignment)
    submissions = [one.read(assignment) for one in handed_in.students]
    found = compare(assignment, load_bank(assignment), [s for s in submissions if not s.rejected])
    page = write_similarity_page(options.out or Path("runs") / assignment.name / "similarity.html", assignment, found)
    _print_left_out(handed_in.left_out)
    for one in submissions:
        if one.rejected:
            OUT.print(f"not compared: {one.student}: {one.rejected}", markup=False, soft_wrap=True)
    if found.empty:
        OUT.print(f"no code to compare: {', '.join(found.empty)}", markup=False, soft_wrap=True)
    pairs, groups = plural(len(found.pairs), "pair"), plural(len(found.clusters), "group")
    OUT.print(f"{plural(len(found.programs), 'submission')} compared; {pairs} to look at, in {groups}.")
    OUT.print(f"Likeness is no proof, and no score has changed.\npage {page}", markup=False, soft_wrap=True)
    return 0


def _gradescope(options: argparse.Namespace) -> int:
    from autograder.release import write_gradescope_zip

    root = project_root()
    written = write_gradescope_zip(root, load_assignment(options.assignment, root), options.out)
    OUT.print(
        f"wrote {written}. It holds the solutions, the hidden checks and their seed: upload it to Gradescope and give "
        "it to nobody else.",
        markup=False,
        soft_wrap=True,
    )
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
def _progress(title: str, options: argparse.Namespace) -> Iterator[Callable[[int, int, Report | None], None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=ERR, transient=True, disable=options.quiet) as bar:
        task = bar.add_task(title, total=None)

        def update(done: int, total: int, report: Report | None) -> None:
            bar.update(task, completed=done, total=total)
            if options.verbose and report:
                score = f"{report.score:g} of {report.max_score:g}"
                line = f"{done}/{total} {report.student}: {report.state}, {score}, {report.seconds:.1f} s"
                ERR.print(line, markup=False, soft_wrap=True)

        yield update


if __name__ == "__main__":
    sys.exit(main())
