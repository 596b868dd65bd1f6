"""What `autograder similarity` costs and finds, on a class with copies in disguise (`tests/copied_class.py`).

    python benchmarks/similarity.py [--assignment a1_numpy_backprop] [--students 1000] [--copies 20]

Programs that share no author are independent here only as far as rewriting makes them so: of each exercise the bank
has about nine right answers, so in a large class many start from the same one.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

from autograder.assignment import load_assignment
from autograder.bank import load_bank
from autograder.report.similarity_page import write_similarity_page
from autograder.similarity import compare
from autograder.submissions.intake import find_submissions

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.copied_class import build  # noqa: E402


def main() -> None:
    """Build the class, compare it, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignment", default="a1_numpy_backprop")
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--copies", type=int, default=20)
    options = parser.parse_args()
    assignment = load_assignment(options.assignment, ROOT)
    with tempfile.TemporaryDirectory() as folder:
        planted = build(assignment, options.students, options.copies, Path(folder, "class"))
        clock, cpu = time.perf_counter(), time.process_time()
        submissions = [one.read(assignment) for one in find_submissions(Path(folder, "class"), assignment).students]
        read = time.process_time()
        found = compare(assignment, load_bank(assignment), submissions)
        page = write_similarity_page(Path(folder, "similarity.html"), assignment, found)
        end, size = time.process_time(), page.stat().st_size
    told = {(pair.left.student, pair.right.student) for pair in found.pairs}
    pairs = options.students * (options.students - 1) // 2
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{assignment.name}, {options.students} submissions, {pairs:,} pairs")
    print(f"planted {len(planted)}, found {len(planted & told)}; told beside them {len(told - planted)}")
    print(
        f"CPU {end - cpu:.1f} s, of which reading {read - cpu:.1f} s; by the clock {time.perf_counter() - clock:.1f} s"
    )
    print(f"page {size / 1000:.0f} KB, memory at most {peak} MiB")


if __name__ == "__main__":
    main()
