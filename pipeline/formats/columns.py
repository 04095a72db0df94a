"""Growing columns: numbers in ``array.array``, text as int32 codes. A table is made of them once, at the end."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pipeline.formats.budgets import budget, refusal
from pipeline.formats.table import Table


class Vocabulary(dict[str, int]):
    """Codes of names, in order of first appearance: ``vocabulary[name]`` gives a new name the next code.

    Raises ``InputError`` for more names than the budget allows; who reads the file says which one it is.
    """

    __slots__ = ("_most",)

    def __init__(self) -> None:
        super().__init__()
        self._most = budget("RESCORE_INPUT_NAMES")

    def __missing__(self, name: str) -> int:
        code = self[name] = len(self)
        if code >= self._most:
            raise refusal("RESCORE_INPUT_NAMES", "")
        return code


class TextColumn:
    """A text column as it grows: codes and the vocabulary they point into."""

    __slots__ = ("codes", "vocabulary")

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary
        self.codes = array("i")

    def append(self, name: str) -> None:
        """Add one name."""
        self.codes.append(self.vocabulary[name])

    def extend(self, names: Iterable[str]) -> None:
        """Add names in order."""
        self.codes.extend(map(self.vocabulary.__getitem__, names))


class BytesColumn(TextColumn):
    """A text column that grows by names in UTF-8, each of which is decoded once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        super().__init__()
        self._known = _Decoded(self.vocabulary)

    def extend_bytes(self, names: Iterable[bytes]) -> None:
        """Add names in order."""
        self.codes.extend(map(self._known.__getitem__, names))


class _Decoded(dict[bytes, int]):
    """Codes of a vocabulary by the bytes of names."""

    __slots__ = ("_vocabulary",)

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, name: bytes) -> int:
        code = self[name] = self._vocabulary[name.decode()]
        return code


def table(columns: Mapping[str, TextColumn | array[Any] | bytearray]) -> Table:
    """The finished table: text as int32, ``bytearray`` as bool, ``array`` by its type code. Numbers are not copied."""
    finished = {name: _finished(column) for name, column in columns.items()}
    texts = {name: tuple(column.vocabulary) for name, column in columns.items() if isinstance(column, TextColumn)}
    return Table(finished, texts)


def _finished(column: TextColumn | array[Any] | bytearray) -> np.ndarray[Any, Any]:
    if isinstance(column, TextColumn):
        return np.asarray(column.codes)
    if isinstance(column, bytearray):
        return np.asarray(memoryview(column)).view(np.bool_)
    return np.asarray(column)
