"""What is said of the faults that pydantic finds, in the words of a file of settings."""

from __future__ import annotations

from pydantic_core import ErrorDetails

from pipeline.config.urls import shown

_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def said(fault: ErrorDetails) -> str:
    """What is wrong with a field, the value seen and what is allowed; without the field's name and a full stop."""
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == "fault":
        return str(context["message"])
    if kind == "value_error":
        return fault["msg"].removeprefix("Value error, ")
    if kind == "missing":
        return "is missing"
    if kind == "too_short" and context["min_length"] == 1:
        return "is empty. Give at least one"
    return f"must be {_allowed(fault)} (got {kind_of(fault['input'])})"


def _allowed(fault: ErrorDetails) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == "literal_error":
        return str(context["expected"]).replace("''", "nothing").replace("'", "")
    if kind in ("too_short", "too_long"):
        return f"a list of {context.get('min_length', context.get('max_length'))}"
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        return f"{words} {context[bound]:g}"
    return _EXPECTED.get(kind, f"something else: {fault['msg']}")


def kind_of(value: object) -> str:
    """A value, or what kind of value it is, as a message shows it."""
    if isinstance(value, str):
        return f"the text {shown(value)}"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    return "a mapping" if isinstance(value, dict) else "a list"
