"""Every code of findings, reasons and statuses in the source, found by reading it.

A code is a word for programs (``unknown_file``). It is what stands where a parameter or a field named ``code``,
``reason``, ``failed`` or ``status`` is given a value: in calls (of whatever has such a parameter, so that a new wrapper
is known at once), in assignments, and in what a few functions return. It is followed through conditions, ``or``, loops
over tuples, mappings and constants. One that is put together at run time is given as it is written: ``pattern_{}``.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGES = ("pipeline", "flows", "rescore")
PROBLEM, WARNING, FINDING, REASON, STATUS, WAIT = "problem", "warning", "finding", "reason", "status", "wait"
"""What is said with a code. A ``FINDING`` is a problem or a warning, by what its caller makes of it."""

NAMES: Mapping[str, str] = {
    "code": FINDING,
    "reason": REASON,
    "reasons": REASON,
    "reason_p_fa": REASON,
    "failed": REASON,
    "otherwise": REASON,
    "status": STATUS,
}
"""Parameters, fields and variables that hold codes."""
KINDS: Mapping[tuple[str, str], str] = {
    ("problems", "add"): PROBLEM,
    ("notices", "add"): WARNING,
    ("place", "note"): PROBLEM,
    ("self", "note"): PROBLEM,
    ("place", "tell"): WARNING,
    ("remarks", "error"): PROBLEM,
    ("remarks", "warning"): WARNING,
    ("remarks", "note"): WARNING,
    ("", "refuse"): PROBLEM,
    ("", "_custom"): PROBLEM,
    ("", "_tell"): PROBLEM,
    ("", "_some"): WARNING,
    ("", "_note"): WARNING,
    ("", "Trip"): WAIT,
}
"""Of which kind a ``code`` is, by the end of what stands before the dot, and the function."""
RETURNING: Mapping[str, str] = {
    "_code": PROBLEM,
    "_figures_in": REASON,
    "_no_time": REASON,
    "_without_curve": REASON,
    "fault_of": PROBLEM,
    "reason": REASON,
    "status_of": STATUS,
    "without_targets": REASON,
}
"""Functions that give a code; besides these, those that give something or the reason why not (``Sample | str``)."""
OTHER_WORDS = frozenset({("pipeline/align/labels.py", "otherwise"), ("flows/clusters/versions.py", "reason")})
"""Where a name of ``NAMES`` holds something else, by file."""

_CODE = re.compile(r"[a-z]+(_([a-z0-9]+|\{\}))*")


def codes_in(root: Path) -> dict[str, dict[str, set[str]]]:
    """By code: the kinds in which it is said, each with its places (``file:line``)."""
    files = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
    source = _Source({path.relative_to(root).as_posix(): ast.parse(path.read_text("utf-8")) for path in files})
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in source.files:
        for kind, expression in _places(source, name):
            for code in source.values(name, expression):
                if _CODE.fullmatch(code):
                    found[code][kind].add(f"{name}:{expression.lineno}")
    return {code: dict(kinds) for code, kinds in found.items()}


@dataclass(frozen=True)
class _Source:
    """The parsed files, what their constants are, and which functions take codes."""

    files: Mapping[str, ast.Module]

    @cached_property
    def nodes(self) -> dict[str, list[ast.AST]]:
        """Every node of each file."""
        return {name: list(ast.walk(tree)) for name, tree in self.files.items()}

    @cached_property
    def constants(self) -> dict[tuple[str, str], ast.expr]:
        """Values of the names that a module assigns, by file and name."""
        found = {}
        for name, tree in self.files.items():
            for node in tree.body:
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                for target in targets:
                    value = getattr(node, "value", None)
                    if isinstance(target, ast.Name) and value is not None:
                        found[name, target.id] = value
                    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                        found |= {(name, ast.unparse(t)): v for t, v in zip(target.elts, value.elts, strict=True)}
        return found

    @cached_property
    def imported(self) -> dict[tuple[str, str], tuple[str, str]]:
        """What a name of a file is elsewhere: the file, and its name there ("" for the module itself)."""
        found = {}
        for name, nodes in self.nodes.items():
            for node in (node for node in nodes if isinstance(node, ast.ImportFrom)):
                module = str(node.module).replace(".", "/")
                for alias in node.names:
                    inside = f"{module}/{alias.name}.py"
                    there = f"{module}.py" if f"{module}.py" in self.files else f"{module}/__init__.py"
                    elsewhere = (inside, "") if inside in self.files else (there, alias.name)
                    found[name, alias.asname or alias.name] = elsewhere
        return found

    @cached_property
    def takers(self) -> dict[str, set[tuple[int, str, int]]]:
        """By function or class: positions and names of parameters that are codes, and how many must be given."""
        found = defaultdict(set)
        for name, nodes in self.nodes.items():
            for node in nodes:
                if isinstance(node, ast.FunctionDef):
                    listed = [arg.arg for arg in node.args.args if arg.arg not in ("self", "cls")]
                    needed = len(listed) - len(node.args.defaults)
                elif isinstance(node, ast.ClassDef):
                    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
                    listed = [ast.unparse(part.target) for part in fields]
                    needed = sum(part.value is None for part in fields)
                else:
                    continue
                for at, parameter in enumerate(listed):
                    if parameter in NAMES and (name, parameter) not in OTHER_WORDS:
                        found[node.name].add((at, parameter, needed))
        return found

    def values(self, name: str, expression: ast.expr | None) -> Iterator[str]:
        """The texts that an expression of a file may be."""
        match expression:
            case ast.Constant(value=str(text)):
                yield text
            case ast.IfExp(body=one, orelse=other):
                yield from (*self.values(name, one), *self.values(name, other))
            case ast.BoolOp(values=listed) | ast.Dict(values=listed):
                for part in listed:
                    yield from self.values(name, part)
            case ast.JoinedStr(values=parts):
                yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in parts)
            case ast.Call(func=ast.Attribute(value=mapping, attr="get"), args=[_, *rest]):
                yield from (*self.values(name, mapping), *(text for one in rest for text in self.values(name, one)))
            case ast.Call(func=ast.Attribute(attr="where"), args=[_, one, other]):
                yield from (*self.values(name, one), *self.values(name, other))
            case ast.Call(func=ast.Attribute(attr="astype", value=inner)):
                yield from self.values(name, inner)
            case ast.Name(id=own) | ast.Attribute(attr=own) if own.strip("_").isupper():
                module = expression.value.id if _is_dotted(expression) else ""
                where = self.imported.get((name, module), (name, ""))[0]
                where, own = self.imported.get((where, own), (where, own))
                yield from self.values(where, self.constants.get((where, own)))


def _is_dotted(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name)


def _places(source: _Source, name: str) -> Iterator[tuple[str, ast.expr]]:
    """The expressions of a file that are codes, with their kinds."""
    for node in source.nodes[name]:
        if isinstance(node, ast.Call):
            yield from _in_call(source, node)
        elif isinstance(node, ast.keyword | ast.AnnAssign | ast.NamedExpr | ast.Assign):
            yield from _assigned(name, node)
        elif isinstance(node, ast.For):
            yield from _looped(source, name, node)
        elif isinstance(node, ast.FunctionDef):
            yield from _returned(node)


def _in_call(source: _Source, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    function = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if function not in source.takers:
        return
    before = ast.unparse(call.func).rpartition(".")[0]
    kinds = [kind for (end, known), kind in KINDS.items() if function == known and before.endswith(end)]
    for at, parameter, needed in sorted(source.takers[function]):
        given = len(call.args) + len(call.keywords)
        if at < len(call.args) and given >= needed:
            yield (kinds or [NAMES[parameter]])[0] if parameter == "code" else NAMES[parameter], call.args[at]


def _assigned(
    name: str, node: ast.keyword | ast.AnnAssign | ast.NamedExpr | ast.Assign
) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.keyword):
        targets = [str(node.arg)]
    else:
        targets = [_name_of(target) for target in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    for target in targets:
        if target in NAMES and node.value is not None and (name, target) not in OTHER_WORDS:
            yield NAMES[target], node.value


def _name_of(target: ast.expr) -> str:
    """The name that is assigned to, ``reason`` for ``reason[k]`` and ``failed.values[k]`` too."""
    while isinstance(target, ast.Subscript | ast.Attribute):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _looped(source: _Source, name: str, loop: ast.For) -> Iterator[tuple[str, ast.expr]]:
    """Codes of a loop over a tuple of tuples, or over the items of a constant."""
    targets = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
    for at, target in enumerate(targets):
        held = _name_of(target)
        if held not in NAMES:
            continue
        match loop.iter:
            case ast.Tuple(elts=rows):
                yield from ((NAMES[held], row.elts[at]) for row in rows if isinstance(row, ast.Tuple))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=mapping), attr="items")) if at == 0:
                made = source.constants.get((name, mapping))
                yield from ((NAMES[held], key) for key in getattr(made, "keys", ()))


def _returned(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    gives = ast.unparse(function.returns) if function.returns else ""
    kind = RETURNING.get(function.name) or (REASON if re.fullmatch(r"(Sample|OpenCell) \| str", gives) else None)
    for node in ast.walk(function) if kind else ():
        if isinstance(node, ast.Return) and node.value is not None:
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            yield str(kind), parts[-1] if function.name == "_figures_in" else parts[0]
