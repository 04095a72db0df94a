"""Checks that every XML reader makes of an element's attributes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pipeline.errors import Problems
from pipeline.formats.findings import Notices, quoted

_SCHEMA_PREFIXES = ("xmlns", "xsi:")


def note_missing(
    attributes: Mapping[str, str], required: Collection[str], tag: str, line: int, problems: Problems
) -> bool:
    """Note required attributes of <``tag``> that are absent or blank. Returns whether any was."""
    before = problems.count
    for name in required:
        if name not in attributes:
            problems.add("missing_attribute", line, f"<{tag}> has no attribute `{name}` (required)", "Add it.")
        elif not attributes[name].strip():
            problems.add("empty_attribute", line, f"attribute `{name}` of <{tag}> is empty", "Write its value.")
    return problems.count > before


def note_unknown(attributes: Collection[str], known: Collection[str], tag: str, line: int, notices: Notices) -> None:
    """Warn of attributes that no format description knows; they are passed over."""
    if all(name in known for name in attributes):
        return
    unknown = sorted(name for name in set(attributes).difference(known) if not name.startswith(_SCHEMA_PREFIXES))
    if unknown:
        what = f"<{tag}> has the unknown attribute {quoted(unknown[0])} (known: {', '.join(known)})"
        notices.add("unknown_attribute", line, f"{what}; it is passed over")
