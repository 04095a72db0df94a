"""Attributes and texts of XML that read as what was given: white space too."""

from __future__ import annotations

from xml.sax.saxutils import escape

_IN_ATTRIBUTES = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_SPECIAL = frozenset('&<>"\n\r\t')


def quoted(value: str) -> str:
    """A value as it stands between the quotes of an attribute."""
    return value if _SPECIAL.isdisjoint(value) else escape(value, _IN_ATTRIBUTES)


def attribute(name: str, value: str) -> str:
    """`` name="value"``; nothing for an empty value."""
    return f' {name}="{quoted(value)}"' if value else ""


def text(value: str) -> str:
    """A value as it stands between tags, on one line."""
    return escape(value, {"\n": "&#10;", "\r": "&#13;"})
