"""`python -m course_lib doctor [NOTEBOOK]`: what a student asks a machine before asking a person."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from course_lib.student import doctor, handin
from course_lib.student.findings import healthy, table


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, call, print. Returns 0 if nothing has to be mended first, else 1; wrong use exits with 2."""
    parser = argparse.ArgumentParser(prog="python -m course_lib", description="The student's side of the course.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("doctor", help="check the set-up or, with NOTEBOOK, whether it is fit to hand in")
    check.add_argument("notebook", nargs="?", type=Path, metavar="NOTEBOOK")
    check.add_argument(
        "--release", type=Path, metavar="PATH", help="the notebook as it was handed out (default: found by name)"
    )
    check.add_argument("--imports", action="store_true", help="also import torch and TensorFlow (takes seconds)")
    options = parser.parse_args(arguments)
    if options.notebook is None:
        findings = doctor.environment(imports=options.imports)
    else:
        findings = handin.inspect(options.notebook, options.release)
    print(table(findings))
    if not healthy(findings):
        print("Mend the lines marked `stop` first.")
        return 1
    print("Fit to hand in." if options.notebook else doctor.one_line(findings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
