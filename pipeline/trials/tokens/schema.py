"""Words of an output and segments of a reference, in memory: what speech-to-text scoring aligns.

Rows are in a canonical order and vocabularies are sorted, so that equal contents are equal bytes. A *tile* is one
bucket of (file, channel) pairs; ``offsets`` says where it begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Codes, Floats, Ints
from pipeline.formats.stt.glm import Glm
from pipeline.formats.stt.lexicon import Lexicon

SCORED, MARKED, UNTIMED = 0, 1, 2
"""States of a segment: scored, marked as not to be scored, or without times."""


@dataclass(frozen=True)
class Words:
    """Words of one output, sorted by (bucket, file, channel, begin); words that begin together keep their order.

    ``file``, ``channel`` and ``word`` are codes into sorted vocabularies. Words are as spelled; the marks of
    alternations stand among them and move as one with the words between. ``confidence`` is NaN where there is none.
    ``row`` is the source line and takes no part in any digest or figure.
    """

    files: tuple[str, ...]
    channels: tuple[str, ...]
    words: tuple[str, ...]
    file: Codes
    channel: Codes
    word: Codes
    begin_s: Floats
    dur_s: Floats
    confidence: Floats
    row: Ints
    offsets: Ints

    def __len__(self) -> int:
        return int(self.word.size)

    def whole(self) -> Words:
        """These trials: they are laid out already."""
        return self

    def tiles(self, first: int, last: int) -> Words:
        """Buckets ``first`` up to ``last`` (exclusive) as words of their own; views, nothing is copied."""
        return _tiles(self, first, last)


@dataclass(frozen=True)
class TokenSegments:
    """Segments of one reference, sorted by (bucket, file, channel, begin); equal begins keep their order."""

    files: tuple[str, ...]
    channels: tuple[str, ...]
    speakers: tuple[str, ...]
    labels: tuple[str, ...]
    texts: tuple[str, ...]
    file: Codes
    channel: Codes
    speaker: Codes
    label: Codes
    text: Codes
    begin_s: Floats
    end_s: Floats
    state: NDArray[np.int8]
    row: Ints
    offsets: Ints

    def __len__(self) -> int:
        return int(self.text.size)

    def tiles(self, first: int, last: int) -> TokenSegments:
        """Buckets ``first`` up to ``last`` (exclusive) as segments of their own; views, nothing is copied."""
        return _tiles(self, first, last)


@dataclass(frozen=True)
class TokenTimeline:
    """The frame for laying out words of an output: the recordings of the reference, and lexicon and rules if any."""

    units: tuple[str, ...] = ()
    """Sorted ``file channel`` pairs of the reference."""
    lexicon: Lexicon = field(default_factory=lambda: Lexicon({}))
    glm: Glm | None = None


T = TypeVar("T", Words, TokenSegments)


def _tiles(value: T, first: int, last: int) -> T:
    begin, end = int(value.offsets[first]), int(value.offsets[last])
    rows: dict[str, Any] = {
        entry.name: column[begin:end]
        for entry in fields(value)
        if entry.name != "offsets" and isinstance(column := getattr(value, entry.name), np.ndarray)
    }
    return replace(value, offsets=np.clip(value.offsets - begin, 0, end - begin), **rows)
