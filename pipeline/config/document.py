"""The evaluation file's YAML as plain values with the line of every field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import yaml

from pipeline.errors import ConfigError, InputError, Problems
from pipeline.formats.yamltree import line_of, read_yaml

Path = tuple[str | int, ...]

_NULL = "tag:yaml.org,2002:null"
_BOOL = "tag:yaml.org,2002:bool"


@dataclass(frozen=True)
class Document:
    """A YAML file as mappings, lists, text, booleans and None.

    Numbers stay text exactly as written, so that ``1e-4`` means the same here and on the command line.
    """

    value: Any
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int:
        """The line of the field at ``path``, or of the nearest field around it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return 1


def dotted(path: Path) -> str:
    """``systems.alpha.outputs``, as messages name a field."""
    return ".".join(str(part) for part in path)


def read_document(stream: BinaryIO, problems: Problems) -> Document:
    """The YAML document in ``stream``. Repeated fields are noted in ``problems`` and the first is kept.

    Raises ``ConfigError`` for what is no YAML, and for anchors, tags, and sizes and depths beyond reason.
    """
    try:
        node = read_yaml(stream, problems)
    except InputError as error:
        raise ConfigError(error.findings, error.count) from error
    lines: dict[Path, int] = {(): 1}
    return Document(_plain(node, (), lines, problems), lines)


def _plain(node: yaml.Node | None, path: Path, lines: dict[Path, int], problems: Problems) -> Any:
    """The plain value of a node; fills ``lines`` by path."""
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, lines, problems)
    if isinstance(node, yaml.SequenceNode):
        values = []
        for index, item in enumerate(node.value):
            lines[*path, index] = line_of(item)
            values.append(_plain(item, (*path, index), lines, problems))
        return values
    if node is None or node.tag == _NULL:
        return None
    if node.tag == _BOOL and node.value.lower() in ("true", "false"):
        return node.value.lower() == "true"
    return node.value


def _mapping(node: yaml.MappingNode, path: Path, lines: dict[Path, int], problems: Problems) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, item in node.value:
        line = line_of(key)
        if not isinstance(key, yaml.ScalarNode):
            problems.add("wrong_type", line, f"`{dotted(path) or 'the file'}`: a field name must be text")
            continue
        inside = (*path, key.value)
        if key.value in values:
            first = lines[inside]
            problems.add("duplicate_key", line, f"`{dotted(inside)}` is given twice (first in line {first})")
            continue
        lines[inside] = line
        values[key.value] = _plain(item, inside, lines, problems)
    return values
