"""Recording names: how the file names of ECF and output are reduced so that they meet those of the transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from pipeline.arrays import Codes
from pipeline.errors import UsageError
from pipeline.formats.table import recode, used_codes

FileRule = Literal["kwseval", "stdeval"]
"""Whose rules reduce file names to recording names."""


def ecf_file_name(name: str, files: FileRule) -> str:
    """The recording that an ECF's ``audio_filename`` names.

    ``kwseval``: directories and the last extension, whatever it is, are stripped if the name holds a dot; a name
    without any dot is taken verbatim, directories included (KWSecf_excerpt.pm:43-50).
    ``stdeval``: the directory and one extension ``.flac``, ``.sph`` or ``.wav`` are stripped (STDEval).
    """
    if _checked(files) == "stdeval":
        return _stdeval_name(name)
    if "." not in name:
        return name
    base = _base(name)
    return base.rpartition(".")[0] or base


def output_file_name(name: str, files: FileRule) -> str:
    """The recording that a detection's ``file`` names.

    ``kwseval``: directories are stripped, then ``.sph`` if it is all that follows the first dot (KWSList.pm:358-363).
    ``stdeval``: as for the ECF.
    """
    if _checked(files) == "stdeval":
        return _stdeval_name(name)
    base = _base(name)
    stem, _, rest = base.partition(".")
    return stem if stem and rest == "sph" else base


def _checked(files: str) -> str:
    if files not in {"kwseval", "stdeval"}:
        raise UsageError(f"setting files: the value is {files!r}, allowed: kwseval | stdeval.")
    return files


def _base(name: str) -> str:
    return name.rpartition("/")[2] or name


def _stdeval_name(name: str) -> str:
    base = _base(name)
    for extension in (".flac", ".sph", ".wav"):
        if base.endswith(extension) and base != extension:
            return base.removesuffix(extension)
    return base


def renamed(names: tuple[str, ...], codes: Codes, rule: Callable[[str], str]) -> tuple[tuple[str, ...], Codes]:
    """Sorted names after ``rule``, and the codes into them; names that become equal are merged."""
    merged, onto = renaming(names, used_codes(names, codes), rule)
    return merged, onto[codes]


def renaming(names: tuple[str, ...], used: Iterable[int], rule: Callable[[str], str]) -> tuple[tuple[str, ...], Codes]:
    """Sorted names after ``rule`` of those that are used, and what translates the codes into ``names`` to them."""
    changed = tuple(rule(name) for name in names)
    merged = tuple(sorted({changed[code] for code in used}))
    return merged, recode(changed, merged)
