"""The numbers of text formats, by one strict grammar: what Python's ``float`` takes beyond it is refused.

A decimal is ``[+-] (digits [. [digits]] | . digits) [e [+-] digits]``, finite as a double. A score may also be
infinite: ``inf`` or ``infinity`` in any case, with or without a sign. Decimals too large for a double, underscores,
hexadecimal and blanks inside are refused, blanks around are not. Every decimal becomes the nearest double.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Sequence

from pipeline.errors import Problems
from pipeline.formats.findings import quoted

CHARACTERS_AT_MOST = 1000
"""No double needs more; the bound keeps conversion linear."""

_LARGEST = "1.7976931348623157e308"
_BLANKS = " \t\r\n"
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_NAN = re.compile(r"[+-]?nan", re.IGNORECASE)
_PLAIN = re.compile(r"[0-9eE+.\n-]*+")
"""Of these characters alone, ``float`` takes exactly the decimals."""
_PLAIN_LENGTH = 64


def decimal(text: str, what: str, line: int | None, problems: Problems) -> float:
    """The finite number that ``text`` is; else NaN, after noting a problem that names ``what``."""
    number = _decimal(text)
    if number is None:
        allowed = "a decimal number such as 12.5 or 1.25e1"
        problems.add("not_a_number", line, f"{what} is {quoted(text)} (allowed: {allowed})", "Write the plain number.")
    elif math.isinf(number):
        mend = "Write the number that is meant."
        problems.add("not_finite", line, f"{what} is {quoted(text)} (allowed: at most {_LARGEST} in size)", mend)
    else:
        return number
    return math.nan


def score(text: str, what: str, line: int | None, problems: Problems) -> float:
    """The number that ``text`` is, infinities included; else NaN, after noting a problem that names ``what``."""
    number = _decimal(text)
    if number is not None and math.isinf(number):
        mend = "Write inf or -inf where infinity is meant."
        problems.add("not_finite", line, f"{what} is {quoted(text)} (allowed: at most {_LARGEST} in size)", mend)
        return math.nan
    if number is not None:
        return number
    stripped = text.strip(_BLANKS)
    if _INFINITE.fullmatch(stripped):
        return float(stripped)
    if _NAN.fullmatch(stripped):
        mend = "NaN has no place in a ranking: leave the row out, or give it a score."
        problems.add("nan_score", line, f"{what} is {quoted(text)} (allowed: a decimal number, inf or -inf)", mend)
    else:
        allowed = "a decimal number such as -3.5 or 1e-3, inf or -inf"
        problems.add("not_a_number", line, f"{what} is {quoted(text)} (allowed: {allowed})", "Write the plain number.")
    return math.nan


def decimals(values: Sequence[str], what: str, lines: Sequence[int], problems: Problems) -> array[float]:
    """``decimal`` of each value, float64. ``lines`` holds the source line of each."""
    numbers = _plain(values)
    if numbers is not None and math.isfinite(sum(numbers)):
        return numbers
    return _one_by_one(decimal, values, what, lines, problems)


def scores(values: Sequence[str], what: str, lines: Sequence[int], problems: Problems) -> array[float]:
    """``score`` of each value, float64. ``lines`` holds the source line of each."""
    numbers = _plain(values)
    if numbers is not None and math.isfinite(sum(numbers)):
        return numbers
    return _one_by_one(score, values, what, lines, problems)


def _decimal(text: str) -> float | None:
    stripped = text.strip(_BLANKS)
    if len(stripped) > CHARACTERS_AT_MOST or not _DECIMAL.fullmatch(stripped):
        return None
    return float(stripped)


def _plain(values: Sequence[str]) -> array[float] | None:
    """All values at once if every one is a decimal without blanks (a fifth of the cost), else ``None``."""
    joined = "\n".join(values)
    if len(joined) > _PLAIN_LENGTH * len(values) or not _PLAIN.fullmatch(joined):
        return None
    try:
        return array("d", map(float, values))
    except ValueError:
        return None


def _one_by_one(
    read: Callable[[str, str, int | None, Problems], float],
    values: Sequence[str],
    what: str,
    lines: Sequence[int],
    problems: Problems,
) -> array[float]:
    return array("d", [read(text, what, line, problems) for text, line in zip(values, lines, strict=True)])
