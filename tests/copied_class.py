"""A class in which some have copied: independent programs made from a bank's right answers, and copies in disguise.

Independent: for each exercise any right answer of the bank, rewritten here and there as another person might have
written it (other order of terms, other statements for the same thing, results named or not). A copy: the same program
with every own name changed, functions moved, comments and docstrings added, and the layout of another editor.
"""

from __future__ import annotations

import ast
import builtins
import random
from collections.abc import Mapping
from pathlib import Path

from autograder.bank import load_bank, notebook_of
from autograder.records import Assignment, Role
from autograder.submissions.python_text import defined_names

Cells = Mapping[str, str]
_HABITS = (
    "print({0})",
    "print({0}.shape, {0}.dtype)",
    "assert {0} is not None",
    "assert not np.isnan({0}).any()",
    "{0} = np.asarray({0})",
    "{0} = 1.0 * {0}",
    "before = {0}.copy()",
    "if np.any(np.isinf({0})):\n    print('infinite')",
)
"""what people write between two lines of a task"""
_COMMENTS = ("loop over everything", "this is the tricky part", "see the lecture", "shape (N, C)", "done")


def right_answers(assignment: Assignment) -> dict[str, list[str]]:
    """Solution cell -> what the bank holds for it, the reference first."""
    right = [entry for entry in load_bank(assignment) if entry.kind == "correct"]
    cells = [c for notebook in assignment.notebooks for c in notebook.cells if c.role is Role.SOLUTION and c.grade_id]
    return {c.grade_id: [c.source, *(e.cells[c.grade_id] for e in right if c.grade_id in e.cells)] for c in cells}


def independent(answers: Mapping[str, list[str]], seed: int) -> Cells:
    """One student's own work."""
    dice = random.Random(seed)
    return {
        grade_id: ast.unparse(ast.fix_missing_locations(_OtherWords(dice).visit(ast.parse(dice.choice(texts)))))
        for grade_id, texts in answers.items()
    }


def copied(cells: Cells, seed: int) -> Cells:
    """The same program in disguise; each cell still defines what it is asked for."""
    dice = random.Random(seed)
    made = {}
    for grade_id, text in cells.items():
        tree = ast.parse(text)
        names = _own_names(tree) - defined_names(text)
        new = {name: f"{dice.choice('abcdefgh')}{number}_" for number, name in enumerate(sorted(names))}
        _Renamed(new).visit(tree)
        dice.shuffle(tree.body)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.body.insert(0, ast.Expr(ast.Constant(f"Does the work ({dice.random():.3f}).")))
        lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
        made[grade_id] = "\n".join(
            line + (f"  # {dice.choice(_COMMENTS)}" if dice.random() < 0.4 else "") + "\n" * (dice.random() < 0.2)
            for line in lines
        )
    return dict(dice.sample(list(made.items()), len(made)))


def _own_names(tree: ast.AST) -> set[str]:
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return {*stored, *(n.arg for n in ast.walk(tree) if isinstance(n, ast.arg))} - set(dir(builtins))


class _Renamed(ast.NodeTransformer):
    def __init__(self, new: Mapping[str, str]) -> None:
        self.new = new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new.get(node.id, node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self.new.get(node.arg, node.arg))


class _OtherWords(ast.NodeTransformer):
    """Each rewriting with an even chance at each place, so that hardly two programs come out alike."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.count = 0

    def _wants(self) -> bool:
        return self.dice.random() < 0.5

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, (ast.Add, ast.Mult)) and self._wants():
            return ast.BinOp(node.right, node.op, node.left)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        flipped = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
        if len(node.ops) == 1 and type(node.ops[0]) in flipped and self._wants():
            return ast.Compare(node.comparators[0], [flipped[type(node.ops[0])]()], [node.left])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if self._wants():
            read = ast.parse(ast.unparse(node.target), mode="eval").body
            return ast.Assign([node.target], ast.BinOp(read, node.op, node.value), lineno=0)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`x.sum(...)` and `np.sum(x, ...)` are the same."""
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in ("sum", "max", "mean", "copy") and self._wants():
            if not (isinstance(function.value, ast.Name) and function.value.id == "np"):
                name = ast.Attribute(ast.Name("np", ast.Load()), function.attr, ast.Load())
                return ast.Call(name, [function.value, *node.args], node.keywords)
            if node.args:
                name = ast.Attribute(node.args[0], function.attr, ast.Load())
                return ast.Call(name, node.args[1:], node.keywords)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if node.value is not None and not isinstance(node.value, ast.Name) and self._wants():
            store = ast.Assign([ast.Name("answer", ast.Store())], node.value, lineno=0)
            return [store, ast.Return(ast.Name("answer", ast.Load()))]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        """A part of the right side gets a name of its own, or a line to check it follows."""
        self.generic_visit(node)
        made: list[ast.stmt] = [node]
        if isinstance(node.value, ast.BinOp) and self._wants():
            self.count += 1
            name = f"part{self.count}"
            made.insert(0, ast.Assign([ast.Name(name, ast.Store())], node.value.right, lineno=0))
            node.value.right = ast.Name(name, ast.Load())
        if isinstance(node.targets[0], ast.Name) and self.dice.random() < 0.3:
            made += ast.parse(self.dice.choice(_HABITS).format(node.targets[0].id)).body
        return made


def build(assignment: Assignment, students: int, copies: int, folder: Path) -> set[tuple[str, str]]:
    """Write a class in nbgrader's layout below `folder`; returns who copied from whom, each pair sorted."""
    answers = right_answers(assignment)
    class_ = {f"student{number:04}": independent(answers, number) for number in range(students - copies)}
    pairs = set()
    for number in range(copies):
        class_[f"copy{number:03}"] = copied(class_[f"student{number:04}"], number)
        pairs.add((f"copy{number:03}", f"student{number:04}"))
    for student, cells in class_.items():
        path = folder / student / assignment.name / f"{assignment.notebooks[0].name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(notebook_of(assignment, cells))
    return pairs
