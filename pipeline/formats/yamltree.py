"""YAML as a small tree of nodes with their lines: no constructors, no aliases, bounded size and depth."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import BinaryIO

import yaml

from pipeline.errors import Problems
from pipeline.formats.findings import quoted, refuse

BYTES_AT_MOST = 1 << 18
DEPTH_AT_MOST = 16

Fields = dict[str, yaml.Node]


def read_yaml(stream: BinaryIO, problems: Problems) -> yaml.Node | None:
    """The one document of a YAML file as a node tree, ``None`` where it is empty.

    Raises ``InputError`` for files beyond ``BYTES_AT_MOST``, text that is not UTF-8, anchors and aliases (a few lines
    of them can stand for gigabytes), tags, nesting beyond ``DEPTH_AT_MOST`` and everything that is not YAML.
    """
    data = stream.read(BYTES_AT_MOST + 1)
    if len(data) > BYTES_AT_MOST:
        refuse(problems, "file_too_large", None, f"the file is larger than {BYTES_AT_MOST} bytes", "Keep it to facts.")
    text = _decoded(data, problems)
    try:
        _check_events(text, problems)
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        what = f"the file is not YAML: {error.problem or error.context}"
        refuse(problems, "yaml_malformed", line, what, "Check indentation, colons and quotes.")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        what = f"the file is not YAML: it has the character U+{ord(text[error.position]):04X}"
        refuse(problems, "yaml_malformed", line, what, "Remove it.")


def fields_of(node: yaml.Node, what: str, allowed: Collection[str] | None, problems: Problems) -> Fields:
    """The fields of a mapping by name; ``allowed`` names may be anything if ``None``.

    Notes a problem for a node that is no mapping, and for unknown and repeated fields; these are left out.
    """
    if not isinstance(node, yaml.MappingNode):
        mend = "Write its fields by name."
        problems.add("not_a_mapping", line_of(node), f"{what} is no mapping (allowed: `name: value` lines)", mend)
        return {}
    fields: Fields = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if name is None or not name.strip() or (allowed is not None and name not in allowed):
            known = "a name" if allowed is None else ", ".join(allowed)
            seen = "a field without a name" if name is None else f"the field {quoted(name)}"
            problems.add("unknown_field", line_of(key), f"{what} has {seen} (allowed: {known})", "Rename it.")
        elif name in fields:
            problems.add("duplicate_field", line_of(key), f"{what} has the field {quoted(name)} twice", "Keep one.")
        else:
            fields[name] = value
    return fields


def text_of(node: yaml.Node, what: str, problems: Problems) -> str | None:
    """The text of a scalar as written; ``None`` after noting that the node is none."""
    if isinstance(node, yaml.ScalarNode):
        text: str = node.value
        return text
    problems.add("not_a_value", line_of(node), f"{what} is a list or mapping (allowed: one value)", "Write one.")
    return None


def line_of(node: yaml.Node) -> int:
    """The source line of a node, from 1."""
    line: int = node.start_mark.line
    return line + 1


def _decoded(data: bytes, problems: Problems) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte 0x{data[error.start]:02X} is not UTF-8"
        refuse(problems, "not_utf8", line, what, "Save the file as UTF-8.")


def _check_events(text: str, problems: Problems) -> None:
    depth, loader = 0, yaml.SafeLoader(text)
    for event in _events(loader, problems):
        line = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            refuse(problems, "yaml_alias", line, "anchors (&name) and aliases (*name) are refused", "Write values out.")
        tag: str | None = getattr(event, "tag", None)
        if tag is not None:
            refuse(problems, "yaml_tag", line, f"the tag {quoted(tag)} is refused", "Write the plain value.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEPTH_AT_MOST:
            refuse(problems, "yaml_too_deep", line, f"values nest deeper than {DEPTH_AT_MOST}", "Make it flatter.")


def _events(loader: yaml.SafeLoader, problems: Problems) -> Iterator[yaml.Event]:
    try:
        while loader.check_event():
            yield loader.get_event()  # type: ignore[no-untyped-call]
    except (ValueError, OverflowError) as error:
        # Besides its own errors, PyYAML lets those of chr() and int() out for out-of-range escapes and versions.
        what = f"the file is not YAML: {quoted(str(error))}"
        refuse(problems, "yaml_malformed", loader.line + 1, what, "Correct the escape or the version.")
