"""Plant small slips in an assignment's reference, one at a time, and print those that the hidden checks let pass.

    python tools/mutants.py a2_autograd_engine                every exercise
    python tools/mutants.py a2_autograd_engine backward modes     the solution cells of these names

A slip is an operator exchanged, a number moved, an argument, a condition or a statement left out, a call skipped or one
parameter in another's place. A bank holds the mistakes that somebody thought of; these are the ones that nobody did.
What is printed is for a person to read: many slips change nothing that the text asks for (a default that nobody uses,
a tuple that is a list). The others are gaps: a check and an entry of the bank belong there. A slip that raises or takes
longer than 20 s does not pass.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import difflib
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from autograder.assignment import load_assignment, on_device
from autograder.grading.items import item_of
from autograder.judge.judge import NO_CHECKS
from autograder.judge.run import Checks
from autograder.records import Cell, Notebook, Role, Verdict
from autograder.selftest import its_device

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 20.0
SECRET = b"the same hidden inputs for every slip"

EXCHANGED: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}


def slips(source: str) -> Iterator[str]:
    """Each program that is one slip away from `source`, as `ast.unparse` writes it, once."""
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    for place, node in enumerate(ast.walk(tree)):
        for new in _slips_of(node):
            other = copy.deepcopy(tree)
            old = next(n for i, n in enumerate(ast.walk(other)) if i == place)
            text = ast.unparse(ast.fix_missing_locations(_Exchange(old, new).visit(other)))
            if text not in seen:
                seen.add(text)
                yield text


class _Exchange(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: Any) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


def _slips_of(node: ast.AST) -> Iterator[Any]:
    """What may stand in the place of a node: another node, or the statements that were inside it."""
    for other in EXCHANGED.get(type(node), ()):
        yield other()
    match node:
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield ast.Constant(node.value + 1)
        case ast.Constant(value=float()):
            yield ast.Constant(1.5 * node.value or 1.0)
        case ast.BinOp():
            yield from (node.left, node.right)
        case ast.UnaryOp():
            yield node.operand
        case ast.IfExp():
            yield from (node.body, node.orelse)
        case ast.BoolOp():
            yield from (ast.BoolOp(node.op, rest) if rest[1:] else rest[0] for rest in _one_less(node.values))
        case ast.Subscript(slice=ast.Slice()):
            yield node.value
        case ast.comprehension():
            yield from (ast.comprehension(node.target, node.iter, rest, 0) for rest in _one_less(node.ifs))
        case ast.Call():
            yield from (ast.Call(node.func, node.args, rest) for rest in _one_less(node.keywords))
            if len(node.args) > 1:
                yield from (ast.Call(node.func, rest, node.keywords) for rest in _one_less(node.args))
            yield from node.args[:1]
            if isinstance(node.func, ast.Attribute):
                yield node.func.value
        case ast.If():
            yield from (node.body, node.orelse or ast.Pass())
        case ast.With() | ast.Try():
            yield node.body
        case ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Break() | ast.Continue() | ast.Delete():
            yield ast.Pass()
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.FunctionDef():
            yield from _parameters_exchanged(node)


def _one_less(items: list[Any]) -> Iterator[list[Any]]:
    yield from (items[:i] + items[i + 1 :] for i in range(len(items)))


def _parameters_exchanged(function: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    names = [a.arg for a in (*function.args.args, *function.args.kwonlyargs) if a.arg != "self"]
    for place, node in enumerate(ast.walk(function)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            for other in names:
                changed = copy.deepcopy(function)
                _Exchange(next(n for i, n in enumerate(ast.walk(changed)) if i == place), ast.Name(other)).visit(
                    changed
                )
                yield changed


def _stop(*_: object) -> NoReturn:
    raise TimeoutError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assignment")
    parser.add_argument("cells", nargs="*", help="names of solution cells; all if none is named")
    options = parser.parse_args()
    if options.assignment == "a8_keras":
        os.environ.setdefault("KERAS_BACKEND", "torch")
    assignment = on_device(load_assignment(options.assignment, ROOT))
    signal.signal(signal.SIGALRM, _stop)
    # A slip may take anything for the name of a file: what it writes goes with the folder.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), its_device(assignment):
        checks = Checks(assignment)
        checks.warm_up(SECRET, demonstrate=NO_CHECKS)
        for notebook in assignment.notebooks:
            for tests in (c for c in notebook.cells if c.role is Role.TESTS and c.grade_id):
                for cell in notebook.solutions_of(tests.grade_id or ""):
                    if cell.kind == "code" and (not options.cells or cell.grade_id in options.cells):
                        _print_those_that_pass(checks, notebook, tests, cell)


def _print_those_that_pass(checks: Checks, notebook: Notebook, tests: Cell, cell: Cell) -> None:
    tried = passed = 0
    for text in slips(cell.source):
        tried += 1
        if _passes(checks, notebook, tests, {cell.grade_id or "": text}):
            passed += 1
            print(f"{cell.grade_id}:{_difference(cell.source, text)}", flush=True)
    print(f"{cell.grade_id}: {passed} of {tried} slips pass", flush=True)


def _passes(checks: Checks, notebook: Notebook, tests: Cell, answers: dict[str, str]) -> bool:
    """Whether a part keeps its points; what raises or takes too long does not."""
    grade_id = tests.grade_id or ""
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        run = checks.run_on_reference(answers, SECRET, (grade_id,), demonstrate=NO_CHECKS)
        return item_of(notebook, tests, run.checks[grade_id]).verdict is Verdict.PASSED
    except Exception:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _difference(source: str, text: str) -> str:
    whole = ast.unparse(ast.parse(source))
    lines = list(difflib.unified_diff(whole.splitlines(), text.splitlines(), lineterm="", n=0))[2:]
    return "".join(f"\n  {line[0]} {line[1:].strip()}" for line in lines if line[0] in "+-")


if __name__ == "__main__":
    main()
