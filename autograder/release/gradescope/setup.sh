#!/usr/bin/env bash
# Gradescope runs this once, as root, while it builds the image: a Python of the right age, and the grader in it.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# Outside root's home, which students' processes cannot read.
export UV_PYTHON_INSTALL_DIR=$root/python DEBIAN_FRONTEND=noninteractive
apt-get install -y python3-venv
python3 -m venv "$root/uv"
"$root/uv/bin/pip" install uv
"$root/uv/bin/uv" venv --python 3.12 "$root/venv"
"$root/uv/bin/uv" pip install --python "$root/venv" --constraints "$root/source/requirements.lock" \
  "$root/source[autograder,frameworks]"
