"""What can be known of Python code without running it: the names it defines, what it imports, whether it was changed.

The text is hostile: it may be huge, nested deep, full of magics or no Python at all. Every function here answers
something for every text, in linear time, and never raises.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

MAX_PARSED_CHARS = 100_000
"""longer cells are looked at by pattern only: a syntax tree takes a hundred times the memory of its text"""
_MAX_TOKENS_CHARS = 20_000
"""longer cells are compared word by word: Python's own tokenizer is slow"""

_PYTHON_MAGICS = frozenset(
    {"time", "timeit", "capture", "prun", "memit", "mprun", "debug", "python", "python3", "pypy"}
)
_CELL_MAGIC = re.compile(r"\s*%%(\w*)[^\n]*")
# Possessive repeats (`*+`): a line of a hundred thousand blanks must not be tried a hundred thousand times.
_LINE_MAGIC = re.compile(r"^([ \t]*+)(?:[%!?][^\n]*|[^\n#'\"]*\?{1,2}[ \t]*)$", re.MULTILINE)
_ASSIGNED_MAGIC = re.compile(r"^([ \t]*+[\w.,\[\] \t]++=[ \t]*+)[%!][^\n]*$", re.MULTILINE)
_BLANK_TOKENS = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER})
_IMPORT_CALLS = frozenset({"__import__", "import_module", "find_spec", "find_loader", "reload", "import_optional"})
_RUN_CALLS = frozenset({"exec", "eval", "compile", "run_cell", "run_line_magic", "run_code", "ex"})


def parse(source: str) -> ast.Module | None:
    """The syntax tree of a cell, its magics blanked; None if it has none."""
    if len(source) > MAX_PARSED_CHARS:
        return None
    tree = _parse_plain(source)
    if tree is not None:
        return tree
    plain = without_magics(source)
    return None if plain is None or plain == source else _parse_plain(plain)


def _parse_plain(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():  # the student's invalid escapes are not our warnings
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deep
        return None


def without_magics(source: str) -> str | None:
    """Plain Python with IPython's magics replaced; None if a cell magic makes it another language."""
    head = _CELL_MAGIC.match(source)
    if head:
        if head[1] not in _PYTHON_MAGICS:
            return None
        source = source[head.end() :]
    return _ASSIGNED_MAGIC.sub(r"\1None", _LINE_MAGIC.sub(r"\1pass", source))


@dataclass(frozen=True)
class ProgramFacts:
    """What one look at a cell tells."""

    defined: frozenset[str] = frozenset()
    """functions, classes and variables defined at the top level; no imports"""
    modules: frozenset[str] = frozenset()
    """modules that are imported or fetched, dotted"""
    bound: tuple[tuple[str, str], ...] = ()
    """(name, module that it stands for), of imports"""
    used: frozenset[str] = frozenset()
    """names that are read"""


@lru_cache(maxsize=512)
def program_facts(source: str) -> ProgramFacts:
    """Everything that is asked of a cell's syntax tree, found in one go."""
    tree = parse(source)
    if tree is None:
        return ProgramFacts(modules=frozenset(_modules_by_pattern(source)))
    modules: set[str] = set()
    bound: set[tuple[str, str]] = set()
    used: set[str] = set()
    for node in ast.walk(tree):
        modules.update(_modules_of(node))
        if isinstance(node, ast.Import):
            bound.update((alias.asname or alias.name.split(".")[0], alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            bound.update((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used.add(node.id)
    return ProgramFacts(_defined(tree), frozenset(modules), tuple(sorted(bound)), frozenset(used))


def defined_names(source: str) -> frozenset[str]:
    """The functions, classes and variables that a cell defines at its top level; no imports, no `_x`."""
    return frozenset(name for name in program_facts(source).defined if not name.startswith("_"))


def _defined(tree: ast.Module) -> frozenset[str]:
    names: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            targets = [node for target in statement.targets for node in _flat(target)]
            names.update(node.id for node in targets if isinstance(node, ast.Name))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names.add(statement.target.id)
    return frozenset(names)


def remembers_calls(sources: Iterable[str]) -> bool:
    """Whether a call of a program's functions may change what a later call gives, read off its text: rather too often.

    `seen = []` that a function uses, a generator of random numbers, `global`, `def f(x, seen=[])`, a cache.
    """
    kept: set[str] = set()
    used: set[str] = set()
    for tree in filter(None, map(parse, sources)):
        kept.update(_names_of_objects(tree))
        for statement in tree.body:
            nodes = list(ast.walk(statement))
            if any(isinstance(node, ast.Global) or _keeps_objects(node) for node in nodes):
                return True
            if any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) for node in nodes):
                used.update(node.id for node in nodes if isinstance(node, ast.Name))
    return not kept.isdisjoint(used)


def _keeps_objects(node: ast.AST) -> bool:
    """A class or function that has an object of its own, not one for each call."""
    if isinstance(node, ast.ClassDef):
        return bool(_names_of_objects(node))
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if any(default and _makes_object(default) for default in (*node.args.defaults, *node.args.kw_defaults)):
        return True
    decorators = [part for decorator in node.decorator_list for part in ast.walk(decorator)]
    return any("cache" in (getattr(part, "attr", "") or getattr(part, "id", "")) for part in decorators)


def _names_of_objects(body: ast.Module | ast.ClassDef) -> set[str]:
    """What is set, not inside a function, to an object that code can change."""
    found: set[str] = set()
    for statement in body.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value and _makes_object(statement.value):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found.update(n.id for target in targets for n in _flat(target) if isinstance(n, ast.Name))
    return found


def _makes_object(value: ast.expr) -> bool:
    displays = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.Call)
    return isinstance(value, displays)


def _flat(target: ast.expr) -> Iterator[ast.expr]:
    """The targets of an assignment, one level of tuple unpacked."""
    yield from target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,)


def same_program(one: str, other: str) -> bool:
    """Whether two texts are the same program: comments and layout aside. Texts that do not parse are not."""
    left, right = parse(one), parse(other)
    if left is None or right is None:
        return False
    try:
        return ast.dump(left) == ast.dump(right)
    except RecursionError:
        return False


@lru_cache(maxsize=512)
def essence(source: str, kind: str) -> tuple[str, ...]:
    """What is left of a cell when layout, and in code comments, are taken away; empty if nothing was written."""
    if kind != "code" or len(source) > _MAX_TOKENS_CHARS:
        return tuple(source.split())
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source.strip()).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        lines = (line.strip() for line in source.splitlines())
        return tuple(word for line in lines if not line.startswith("#") for word in line.split())
    return tuple(token.string.strip() for token in tokens if token.type not in _BLANK_TOKENS)


def forbidden_imports(source: str, forbidden: tuple[str, ...]) -> tuple[str, ...]:
    """Which of the `forbidden` modules a cell imports or fetches, sorted. Static: it can be hidden from."""
    if not any(name.split(".")[0] in source for name in forbidden):
        return ()
    found = (_forbidden_root(module, forbidden) for module in program_facts(source).modules)
    return tuple(sorted({bad for bad in found if bad}))


def forbidden_names(source: str, forbidden: tuple[str, ...]) -> dict[str, str]:
    """Names by which a cell makes forbidden modules known to later ones -> the module."""
    if not any(name.split(".")[0] in source for name in forbidden):
        return {}
    found = ((name, _forbidden_root(module, forbidden)) for name, module in program_facts(source).bound)
    return {name: bad for name, bad in found if bad}


def _forbidden_root(module: str, forbidden: tuple[str, ...]) -> str:
    return next((bad for bad in forbidden if module == bad or module.startswith(bad + ".")), "")


def _modules_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call):
        yield from _modules_in_call(node)
    elif isinstance(node, ast.Subscript) and _name(node.value) == "modules":  # sys.modules["torch"]
        yield from _strings([node.slice])


def _modules_in_call(call: ast.Call) -> Iterator[str]:
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    name = _name(call.func)
    if name in _IMPORT_CALLS:
        yield from _strings(arguments)
    elif name in _RUN_CALLS:
        for text in _strings(arguments):
            yield from _modules_by_pattern(text)
    elif name in ("get", "pop") and isinstance(call.func, ast.Attribute) and _name(call.func.value) == "modules":
        yield from _strings(arguments)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _strings(nodes: list[ast.expr]) -> Iterator[str]:
    yield from (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _modules_by_pattern(text: str) -> Iterator[str]:
    """For text that does not parse: lines that read like an import."""
    for match in re.finditer(r"(?:^|;)[ \t]*(?:from[ \t]+([\w.]+)|import[ \t]+([\w., \t]+))", text, re.MULTILINE):
        yield from (match[1],) if match[1] else (part.split()[0] for part in match[2].split(",") if part.split())
