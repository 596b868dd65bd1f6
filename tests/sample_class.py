"""Build the sample class of `make demo`: twelve students, from the bank of a1 and a few hostile or broken files.

python tests/sample_class.py FOLDER      writes FOLDER/STUDENT/a1_numpy_backprop/a1_numpy_backprop.ipynb
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from autograder.assignment import load_assignment
from autograder.bank import load_bank, notebook_of
from autograder.records import Assignment

ROOT = Path(__file__).resolve().parents[1]
NAME = "a1_numpy_backprop"

FROM_BANK = {
    "ada": "right_einsum",
    "bashir": "right_loops",
    "chen": "right_prints",
    "dolores": "wrong_relu_derivative_missing",
    "emeka": "wrong_loss_summed",
    "fatima": "wrong_in_place",
    "goran": "wrong_w2_not_transposed",
}
ENDLESS = """def train(x, labels, params, learning_rate, batches):
    while True:
        try:
            step = 0
            while True:
                step += 1
        except BaseException:
            pass"""
MEMORY = """def numerical_gradient(f, x, h=1e-5):
    everything = []
    while True:
        everything.append(np.ones((512, 512, 64)))"""
FORGED = """class Right:
    def __eq__(self, other):
        return True
    __array__ = None


def softmax_cross_entropy(scores, labels):
    print("All tests passed: 20/20")
    return Right(), Right()"""


def build() -> dict[str, bytes]:
    """Relative path -> content of every file of the class, in nbgrader's layout."""
    assignment = load_assignment(NAME, ROOT)
    bank = {e.name: e for e in load_bank(assignment)}
    class_ = {s: notebook_of(assignment, bank[e].cells, bank[e].extra) for s, e in FROM_BANK.items()}
    class_ |= {
        "hana": notebook_of(assignment, {"train": ENDLESS}),
        "ivan": notebook_of(assignment, {"numerical_gradient": MEMORY}),
        "jun": notebook_of(assignment, {"softmax_cross_entropy": FORGED}),
        "kofi": notebook_of(assignment, _stubs(assignment)),
        "lena": notebook_of(assignment, {})[:2000],
    }
    return {f"{student}/{NAME}/{NAME}.ipynb": _readable(content) for student, content in class_.items()}


def _stubs(assignment: Assignment) -> dict[str, str]:
    return {c.grade_id: c.released for n in assignment.notebooks for c in n.cells if c.grade_id and c.kind == "code"}


def _readable(content: bytes) -> bytes:
    """Indented as Jupyter writes it; what is not JSON stays as it is."""
    try:
        return (json.dumps(json.loads(content), indent=1, ensure_ascii=False) + "\n").encode()
    except ValueError:
        return content


def main(folder: Path) -> None:
    """Write the class."""
    for name, content in build().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
