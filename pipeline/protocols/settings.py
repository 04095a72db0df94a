"""Named settings: one frozen dataclass field each, with its meaning, what it may be and where it comes from.

The same name serves ``--set``, the evaluation file, the signature and the documentation.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, Literal, TypeVar

from pipeline.errors import UsageError
from pipeline.metrics.bounds import Bounds

S = TypeVar("S")


@cache
def _hints_of(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _hints(settings: Any) -> dict[str, Any]:
    """The types of all settings by name."""
    kind: Any = type(settings)
    return _hints_of(kind)


def setting(
    default: Any,
    meaning: str,
    *,
    source: str,
    within: str | None = None,
    only: Mapping[str, tuple[Any, ...]] = types.MappingProxyType({}),
) -> Any:
    """A dataclass field that is a setting. ``within`` bounds numbers, in interval notation: ``(0, 1]``.

    It has an effect ``only`` where the other settings named have one of the values named; no value stands for any but
    an empty one.
    """
    about = {"meaning": meaning, "source": source, "within": within, "only": only}
    return dataclasses.field(default=default, metadata=about)


def override(settings: S, overrides: Mapping[str, Any], *, owner: str) -> S:
    """``settings`` with fields replaced by checked values; strings are read as the field's type.

    Raises ``UsageError`` that names every wrong field with what is allowed.
    """
    hints = _hints(settings)
    fields = {field.name: field for field in dataclasses.fields(settings)}  # type: ignore[arg-type]
    values, wrong = {}, []
    for name, value in overrides.items():
        if name not in fields:
            wrong.append(f"{owner} has no setting {name!r} (allowed: {', '.join(sorted(fields))})")
            continue
        try:
            values[name] = _read(value, hints[name], fields[name].metadata.get("within"))
        except ValueError as error:
            wrong.append(f"setting {name}: {error}")
    if wrong:
        raise UsageError(". ".join(wrong) + ".")
    return dataclasses.replace(settings, **values)  # type: ignore[type-var]


def idle(settings: Any, defaults: Any, no_part: Collection[str] = ()) -> Iterator[str]:
    """A message for every setting that is not at its default and changes no figure: it has ``no_part`` at all, or none
    beside the others as they are."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if value == getattr(defaults, field.name):
            continue
        if field.name in no_part:
            yield f"{field.name}={_shown(value)} has no effect: it plays no part here."
            continue
        for other, values in field.metadata["only"].items():
            present = getattr(settings, other)
            if present not in values if values else not present:
                wanted = " or ".join(f"{other}={_shown(one)}" for one in values) or other
                yield f"{field.name}={_shown(value)} has no effect without {wanted} ({other} is {_shown(present)})."
                break


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else f"{value}" or "empty"


def describe(settings: Any) -> list[dict[str, Any]]:
    """Every setting with its value, meaning, what is allowed and source, in the order of the dataclass."""
    hints = _hints(settings)
    return [
        {
            "name": field.name,
            "value": getattr(settings, field.name),
            "meaning": field.metadata["meaning"],
            "allowed": _allowed(hints[field.name], field.metadata.get("within")),
            "source": field.metadata["source"],
        }
        for field in dataclasses.fields(settings)
    ]


def _options(hint: Any) -> tuple[Any, ...]:
    return (
        typing.get_args(hint)
        if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
        else (hint,)
    )


def _allowed(hint: Any, within: str | None) -> str:
    words = []
    for option in _options(hint):
        if typing.get_origin(option) is Literal:
            words += [str(choice) for choice in typing.get_args(option)]
        elif option is bool:
            words.append("true | false")
        elif option is float:
            words.append(f"a number in {within}" if within else "a number")
        elif option is type(None):
            words.append("none")
        else:
            words.append("text")
    return " | ".join(words)


def _read(value: Any, hint: Any, within: str | None) -> Any:
    for option in _options(hint):
        found, result = _try(value, option, within)
        if found:
            return result
    raise ValueError(f"the value is {value!r}, allowed: {_allowed(hint, within)}")


def _try(value: Any, option: Any, within: str | None) -> tuple[bool, Any]:
    text = str(value).strip()
    if typing.get_origin(option) is Literal:
        return text in typing.get_args(option), text
    if option is bool:
        return text.lower() in {"true", "false"}, text.lower() == "true"
    if option is type(None):
        return text.lower() in {"none", "null"}, None
    if option is float and not isinstance(value, bool):
        try:
            number = float(text)
        except ValueError:
            return False, None
        inside = within is None or Bounds(within).holds(number)
        return "_" not in text and math.isfinite(number) and inside, number
    return option is str, text
