"""Where messages come from: every place of a room's source that makes one or hands on to what does; which were reached.

A maker is a function that notes a problem or a warning, or raises a refusal, itself or through another maker. A site is
a call of one: ``decimal(text, "tbeg", …)`` and ``decimal(text, "dur", …)`` are two messages of two sites.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import pytest

from pipeline.errors import Finding, Problems, escaped
from pipeline.formats.findings import Notices

ROOT = Path(__file__).parents[4]
NOTED = ("problems", "notices", "unread")
"""What a problem or warning is added to is called."""
Place = tuple[str | int, ...]
"""A file, and the line and column at which a call ends; or those at which a statement begins and ends."""


@dataclass(frozen=True)
class Site:
    """A call that makes a message, in its function."""

    path: str
    function: str
    called: str
    line: int
    places: frozenset[Place]
    """Where the interpreter is when it is there."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line} in {self.function}: {self.called}"


Function = tuple[Path, str]


class Source:
    """A file: its calls with the function around each, and where what it imports is from."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.calls = list(_calls(self.tree, ""))
        self.loops: dict[int, ast.stmt | ast.expr] = {
            id(node.iter): node for node in ast.walk(self.tree) if isinstance(node, ast.For)
        }
        for node in ast.walk(self.tree):
            for made in getattr(node, "generators", ()):
                self.loops[id(made.iter)] = node
        self.listed = {id(outer.args[0]): outer for _, outer in self.calls if _is_list(outer)}
        self.imported = {
            (name.asname or name.name): _files(f"{node.module}", name.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        self.names = {*self.imported, *(node.name for node in self.tree.body if isinstance(node, ast.FunctionDef))}

    def places(self, call: ast.Call) -> frozenset[Place]:
        """Where the interpreter is in a call; for what a loop or a list is of, that is in the loop or the list."""
        spans = [(str(self.path), *_span(self.listed.get(id(call), call))[2:])]
        if id(call) in self.loops:
            spans.append((str(self.path), *_span(self.loops[id(call)])))
        return frozenset(spans)

    def functions(self, call: ast.Call) -> Iterator[Function]:
        """What a call may be of, and functions by name that it is given."""
        func = call.func
        for name in (func, *call.args):
            if isinstance(name, ast.Name) and name.id in self.names:
                yield self.imported.get(name.id, (self.path, self.path))[1], name.id
        if isinstance(func, ast.Attribute) and func.attr != "add":
            owner = func.value.id if isinstance(func.value, ast.Name) else ""
            module, _ = self.imported.get(owner, (None, None))
            if module is not None:
                yield module, func.attr
            elif owner == "self":
                yield self.path, func.attr
            else:
                yield from ((file, func.attr) for file in {self.path, *(file for _, file in self.imported.values())})


def _files(module: str, name: str) -> tuple[Path, Path]:
    """The file of ``name`` as a module of its own, and that of the module it is in."""
    folder = ROOT.joinpath(*module.split("."))
    return folder / f"{name}.py", folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def _calls(node: ast.AST, function: str) -> Iterator[tuple[str, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield function, child
        inside = child.name if isinstance(child, ast.FunctionDef) else function
        yield from _calls(child, "lambda" if isinstance(child, ast.Lambda) else inside)


def _is_list(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("list", "tuple") and len(call.args) == 1


def _span(node: ast.stmt | ast.expr) -> tuple[int, ...]:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def is_noted(call: ast.Call) -> bool:
    """Whether a call adds a problem or a warning, or is a finding."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr == "add" and ast.unparse(call.func.value).rpartition(".")[2] in NOTED
    return isinstance(call.func, ast.Name) and call.func.id == "Finding"


def sites(paths: list[Path]) -> list[Site]:
    """Every site of the files."""
    sources = [Source(path) for path in paths]
    makers: set[Function] = set()
    while True:
        found = [
            (source, function, call)
            for source in sources
            for function, call in source.calls
            if is_noted(call) or not makers.isdisjoint(source.functions(call))
        ]
        more = {(source.path, function) for source, function, _ in found}
        if more <= makers:
            break
        makers |= more
    return [
        Site(
            path=source.path.relative_to(ROOT).as_posix(),
            function=function,
            called=ast.unparse(call.func),
            line=call.lineno,
            places=source.places(call),
        )
        for source, function, call in found
    ]


@dataclass
class Recorder:
    """Messages as they are made, each with the places on the stack."""

    made: list[tuple[str, frozenset[Place]]] = field(default_factory=list)

    def reached(self, told: list[str]) -> set[Place]:
        """The places of messages that are in what was told; those that were made and dropped do not count."""
        return set().union(*(places for text, places in self.made if any(text in line for line in told)))

    def note(self, text: str) -> None:
        self.made.append((escaped(text.rstrip(".")), frozenset(_stack(sys._getframe(2)))))


def _stack(frame: FrameType | None) -> Iterator[Place]:
    while frame is not None:
        if frame.f_code.co_filename.startswith(str(ROOT / "pipeline")):
            line, end, column, end_column = list(frame.f_code.co_positions())[frame.f_lasti // 2]
            if None not in (line, end, column, end_column):
                yield frame.f_code.co_filename, end, end_column
                yield frame.f_code.co_filename, line, column, end, end_column
        frame = frame.f_back


@contextmanager
def recorded() -> Iterator[Recorder]:
    """Every message that is made meanwhile."""
    recorder = Recorder()
    add, warn, made = Problems.add, Notices.add, Finding.__post_init__

    def problem(self: Problems, code: str, line: int | None, what: str, mend: str = "") -> None:
        recorder.note(what)
        add(self, code, line, what, mend)

    def notice(self: Notices, code: str, line: int | None, message: str, count: int = 1) -> None:
        recorder.note(message)
        warn(self, code, line, message, count)

    def finding(self: Finding) -> None:
        made(self)
        recorder.note(self.message)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problems, "add", problem)
        patch.setattr(Notices, "add", notice)
        patch.setattr(Finding, "__post_init__", finding)
        yield recorder
