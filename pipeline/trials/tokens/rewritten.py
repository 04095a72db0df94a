"""Transcripts and words as the rules of a GLM rewrite them before they are scored (SCTK csrfilt)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.errors import Finding, Problems
from pipeline.formats.stt.ctm import ALT, ALT_BEGIN, ALT_END, MARKS
from pipeline.formats.stt.glm import RewriteRules
from pipeline.formats.table import Table

_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_HYPHEN = re.compile(r"([^( ])-(?=[^) ])")
_NEXT_OF_GROUP = re.compile(r"(\(\s+[^()\s]+\s+)([^()\s]+)", re.ASCII)
_OPENING, _CLOSING = re.compile(r"\(\s+", re.ASCII), re.compile(r"\s+\)", re.ASCII)
_GROUP = re.compile(r"\s\([^()]+\)", re.ASCII)
_NUMBER = re.compile(r"[0-9.-]*")


@dataclass(frozen=True)
class Rewriting:
    """Rules of one side with how they are applied."""

    rules: RewriteRules
    upper: bool = True
    """Whether letters a-z are made capitals first, as rules are written in capitals (csrfilt without -s)."""
    split_hyphens: bool = False
    """Whether words are split at hyphens afterwards, fragments apart (csrfilt -dh)."""

    def __call__(self, text: str, margin: str) -> str:
        """A transcript or word rewritten, with single blanks. A group ``(a b)`` becomes ``(a) (b)``.

        ``margin`` is what rules find on either side: csrfilt puts two blanks around a transcript, one around a word.
        """
        if self.upper:
            text = text.translate(_UPPER)
        apart = text.replace("(", "( ").replace(")", " )")
        line = self.rules.rewritten(f"{margin}{apart}{margin}")
        if self.split_hyphens:
            line = _HYPHEN.sub(r"\1 ", line)
        line = _each_in_brackets(line)
        line = _CLOSING.sub(")", _OPENING.sub("(", line))
        return " ".join(re.split(r"[ \t]+", line.strip(" \t")))


def _each_in_brackets(line: str) -> str:
    found = _NEXT_OF_GROUP.search(line)
    while found:
        line = f"{line[: found.start()]}{found[1]}) ( {line[found.start(2) :]}"
        found = _NEXT_OF_GROUP.search(line, found.start() + len(found[1]))
    return line


def are_brackets_sound(text: str) -> bool:
    """Whether brackets are closed and hold no others: csrfilt refuses a file where they are not."""
    apart = f" {text.replace('(', '( ').replace(')', ' )')} ".replace("(", "   (")
    left = _GROUP.sub("", apart)
    return "(" not in left and ")" not in left


def segments_rewritten(table: Table, rewriting: Rewriting, passed: Callable[[str], bool]) -> Table:
    """Segments with their transcripts rewritten, those apart that are ``passed`` over.

    Raises ``InputError`` naming the lines whose brackets are not sound. What then begins with ``<`` where there was no
    label is one, as sclite reads it.
    """
    known, label_names = table.vocabularies["text"], list(table.vocabularies["label"])
    problems, texts, label, text = Problems("stm"), dict[str, int](), table["label"].copy(), table["text"].copy()
    made = [spoken if passed(spoken) else rewriting(spoken, "  ") for spoken in known]
    for row, (own, code) in enumerate(zip(table["text"].tolist(), table["label"].tolist(), strict=True)):
        if not passed(known[own]) and not are_brackets_sound(known[own]):
            what = "brackets of the transcript are not closed, or hold others: rules cannot be applied (as in csrfilt)"
            problems.add("bad_brackets", int(table["line"][row]), what, "Write (word) around each optional word.")
        spoken = made[own]
        if spoken.startswith("<") and not label_names[code]:
            first, _, spoken = spoken.partition(" ")
            if first not in label_names:
                label_names.append(first)
            label[row] = label_names.index(first)
        text[row] = texts.setdefault(spoken, len(texts))
    problems.raise_if_any()
    names = {**table.vocabularies, "text": tuple(texts), "label": tuple(label_names)}
    return Table({**table.columns, "text": text, "label": label}, names)


def words_rewritten(table: Table, rewriting: Rewriting) -> tuple[Table, tuple[Finding, ...]]:
    """Words of an output rewritten: several share the time of the one, alternatives stand between marks.

    Times of rows that are written anew, those with a confidence or of several words, are rounded to milliseconds. A
    word that becomes nothing is left out, where csrfilt leaves its confidence standing as a word.
    """
    known = table.vocabularies["word"]
    _check_words(table)
    made = [[name] if name in MARKS else rewriting(name, " ").split(" ") for name in known]
    rows = [
        new
        for row, (word, begin_s, dur_s, confidence) in enumerate(
            zip(*(table[name].tolist() for name in ("word", "begin_s", "dur_s", "confidence")), strict=True)
        )
        for new in _row(row, made[word], known[word] in MARKS, begin_s, dur_s, confidence)
    ]
    source = np.array([row for row, *_ in rows], np.int64)
    words = {word: at for at, word in enumerate(dict.fromkeys(word for _, word, *_ in rows))}
    columns = {name: column[source] for name, column in table.columns.items()}
    columns["word"] = np.array([words[word] for _, word, *_ in rows], np.int32)
    for at, name in enumerate(("begin_s", "dur_s", "confidence"), 2):
        columns[name] = np.array([row[at] for row in rows], np.float64)
    gone = sum(words == [""] for words in (made[code] for code in table["word"].tolist()))
    message = (
        f"{gone} words become nothing by the rules and are left out. csrfilt would leave their confidences as words."
    )
    findings = (Finding("word_rewritten_to_nothing", message, "ctm"),) if gone else ()
    return Table(columns, {**table.vocabularies, "word": tuple(words)}), findings


def _check_words(table: Table) -> None:
    """Raise ``InputError`` naming the lines of words whose brackets are not sound."""
    problems = Problems("ctm")
    unsound = np.array([not are_brackets_sound(name) for name in table.vocabularies["word"]] or [False], np.bool_)
    for row in np.flatnonzero(unsound[table["word"]]).tolist():
        what = f"brackets of {table.text('word')[row]!r} are not closed, or hold others: rules cannot be applied"
        problems.add("bad_brackets", int(table["line"][row]), what, "Write (word) around an optional word.")
    problems.raise_if_any()


Row = tuple[int, str, float, float, float]
"""The row it comes from, word, begin and duration in seconds, confidence."""


def _row(
    row: int, words: Sequence[str], is_mark: bool, begin_s: float, dur_s: float, confidence: float
) -> Iterator[Row]:
    stated = not math.isnan(confidence)
    words = words if is_mark else " ".join(words).replace("{", " { ").replace("}", " } ").split()
    if is_mark or (len(words) == 1 and not stated):
        yield row, words[0], begin_s, dur_s, confidence
        return
    if len(words) > 1 and not stated and _NUMBER.fullmatch(words[-1]):
        words, confidence = words[:-1], _float(words[-1])  # csrfilt takes it for the row's confidence
    branches = " ".join(words).rstrip("/ ").split("/")
    for at, branch in enumerate(branches):
        if len(branches) > 1:
            yield row, ALT if at else ALT_BEGIN, np.nan, np.nan, np.nan
        spoken = branch.replace("{", "").replace("}", "").split()
        share_s = dur_s / max(len(spoken), 1)
        for place, word in enumerate(spoken):
            yield row, word, _milliseconds(begin_s + share_s * place), _milliseconds(share_s), confidence
    if len(branches) > 1:
        yield row, ALT_END, np.nan, np.nan, np.nan


def _milliseconds(time_s: float) -> float:
    return float(f"{time_s:.3f}")


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan
