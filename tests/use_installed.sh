#!/usr/bin/env bash
# use_installed.sh PYTHON student|instructor: what each of them does first with the installed wheel, far from a checkout.
set -euo pipefail
python=$(realpath --no-symlinks "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$python" -m course_lib doctor
"$python" - <<'END'
import sys
import course_lib
from course_lib.data import load_digits
from course_lib.checks import a1_numpy_backprop

assert course_lib.__file__.startswith(sys.prefix), course_lib.__file__
assert load_digits().x_train.shape == (1500, 8, 8)
heavy = {"torch", "tensorflow", "IPython", "nbgrader", "autograder", "keras"} & set(sys.modules)
assert not heavy, heavy
END

if [ "$2" = instructor ]; then
  "$(dirname "$python")/autograder" --help >/dev/null
  "$(dirname "$python")/autograder" doctor
fi
