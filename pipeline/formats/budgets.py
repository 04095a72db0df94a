"""What one input may take at most: a file beyond it is refused before it costs more.

Each is set by an environment variable, on every machine that reads inputs. A file within the budgets is read the same
whatever they are.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from pipeline.errors import Finding, InputError, UsageError

BUDGETS = {
    "RESCORE_INPUT_BYTES": (1 << 36, "bytes of a file as it lies"),
    "RESCORE_INPUT_UNPACKED_BYTES": (1 << 36, "bytes that a compressed file unpacks to"),
    "RESCORE_INPUT_LINES": (1 << 29, "lines of a text file"),
    "RESCORE_INPUT_SHORT_LINES": (1 << 19, "lines where they have fewer than 8 bytes each, and unknown elements"),
    "RESCORE_INPUT_NAMES": (1 << 24, "different names in one column"),
    "RESCORE_INPUT_CPU_S": (3600, "seconds of processor time to read a file"),
}
"""Default and meaning of every budget, by its environment variable."""
SHORT_LINE_BYTES = 8
"""No format has rows as short as that: where the mean of a piece of 64 KiB is less, its lines are counted as short."""


def budget(name: str) -> int:
    """The budget in force. Raises ``UsageError`` where the environment holds no whole number above 0."""
    default, _ = BUDGETS[name]
    text = os.environ.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or int(text) == 0:
        raise UsageError(f"{name} is {text!r} (allowed: a whole number above 0). Correct or unset it.")
    return int(text)


def refusal(name: str, where: str) -> InputError:
    """The refusal of a file that is beyond a budget."""
    _, meaning = BUDGETS[name]
    code = "over_budget"
    message = f"the file is over a budget (allowed: {budget(name)} {meaning}). Hand in a smaller one, or raise {name}."
    return InputError([Finding(code, message, where)])


@dataclass
class Spent:
    """What reading a file has taken so far: lines of a text, or bytes and processor time of a stream."""

    where: str
    n_lines: int = 0
    n_short: int = 0
    began_s: float = field(default_factory=time.thread_time)
    _lines: int = field(default_factory=lambda: budget("RESCORE_INPUT_LINES"))
    _short: int = field(default_factory=lambda: budget("RESCORE_INPUT_SHORT_LINES"))
    _bytes: int = field(default_factory=lambda: budget("RESCORE_INPUT_BYTES"))
    _cpu_s: int = field(default_factory=lambda: budget("RESCORE_INPUT_CPU_S"))

    def lines(self, n_lines: int, n_bytes: int) -> None:
        """A piece of a text with so many lines. Raises ``InputError`` where there are too many."""
        self.n_lines += n_lines
        if n_lines * SHORT_LINE_BYTES > n_bytes:
            self.n_short += n_lines
        if self.n_lines > self._lines:
            raise refusal("RESCORE_INPUT_LINES", self.where)
        if self.n_short > self._short:
            raise refusal("RESCORE_INPUT_SHORT_LINES", self.where)

    def idle(self) -> None:
        """One element that no format knows, inside another one. Raises ``InputError`` where there are too many."""
        self.n_short += 1
        if self.n_short > self._short:
            raise refusal("RESCORE_INPUT_SHORT_LINES", self.where)

    def stream(self, n_bytes: int) -> None:
        """A stream of which so many bytes are read or said to be. Raises ``InputError`` where that is too much."""
        if n_bytes > self._bytes:
            raise refusal("RESCORE_INPUT_BYTES", self.where)
        if time.thread_time() - self.began_s > self._cpu_s:
            raise refusal("RESCORE_INPUT_CPU_S", self.where)
