"""CTM, STM and TRN tables → words and segments in canonical order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pipeline.arrays import Ints
from pipeline.formats.stt.ctm import ALT, ALT_BEGIN, ALT_END, MARKS, Ctm
from pipeline.formats.stt.stm import Stm
from pipeline.formats.stt.tags import TAGS, is_in_no_scored_segment
from pipeline.formats.stt.transcripts import Words as Transcript
from pipeline.formats.stt.transcripts import words_of_text
from pipeline.formats.stt.trn import Trn
from pipeline.formats.table import Array, Table, canonical_codes
from pipeline.trials.tiles import bucket_of, offsets_of
from pipeline.trials.tokens.schema import MARKED, SCORED, UNTIMED, TokenSegments, Words

IGNORED = ("IGNORE_TIME_SEGMENT_IN_SCORING", "IGNORETIMESEGMENTINSCORING")
"""Text that marks a segment as not to be scored, in any case (sclite)."""
_MARKS = tuple(mark.lower().encode() for mark in IGNORED)
_TRN_CHANNEL = "1"


def lower_ascii(text: str) -> str:
    """``text`` with A-Z as a-z, other letters as they are."""
    return text.translate(_LOWER)


_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def unit_name(file: str, channel: str) -> str:
    """The name of a (file, channel) pair: neither holds a blank."""
    return f"{file} {channel}"


def words_of(source: Ctm | Trn, *, case_sensitive: bool) -> Words:
    """Words of an output by recording and time. File and channel names lose their case unless told otherwise.

    Raises ``ValueError`` for transcripts whose braces cannot be read: check them first.
    """
    table = source.words if isinstance(source, Ctm) else _spoken(source.utterances)
    names = _names(table, ("file", "channel"), case_sensitive=case_sensitive)
    words, word = canonical_codes(table.vocabularies["word"], table["word"])
    begin_s = np.asarray(table["begin_s"], np.float64)
    order, buckets = _order(names, _moving_together(words, word, begin_s))
    return Words(
        files=names["file"][0],
        channels=names["channel"][0],
        words=words,
        file=names["file"][1][order],
        channel=names["channel"][1][order],
        word=word[order],
        begin_s=begin_s[order],
        dur_s=np.asarray(table["dur_s"], np.float64)[order],
        confidence=np.asarray(table["confidence"], np.float64)[order],
        row=np.asarray(table["line"], np.int64)[order],
        offsets=offsets_of(buckets),
    )


def segments_of(source: Stm | Trn, *, case_sensitive: bool, tags: bool = False) -> TokenSegments:
    """Segments of a reference by recording and time. Names lose their case unless told otherwise.

    With ``tags`` those that hold ``<overlap>``, ``(())``, ``<prompt>`` or ``<untranscribed>`` are marked as not to be
    scored, and what stands in a label's place is the first word where it is a tag.
    """
    table = source.segments if isinstance(source, Stm) else _uttered(source.utterances)
    if tags:
        table = _with_first_words(table)
    names = _names(table, ("file", "channel", "speaker", "label"), case_sensitive=case_sensitive)
    texts, text = canonical_codes(table.vocabularies["text"], table["text"])
    begin_s, end_s = (np.asarray(table[name], np.float64) for name in ("begin_s", "end_s"))
    order, buckets = _order(names, _filled(begin_s))
    columns: dict[str, Any] = {name: codes[order] for name, (_, codes) in names.items()}
    marked = np.array([_is_marked(text) or (tags and is_in_no_scored_segment(text)) for text in texts], np.bool_)
    state = np.full(text.size, SCORED, np.int8)
    state[np.isnan(begin_s) | np.isnan(end_s)] = UNTIMED
    if text.size:
        state[marked[text]] = MARKED
    return TokenSegments(
        files=names["file"][0],
        channels=names["channel"][0],
        speakers=names["speaker"][0],
        labels=names["label"][0],
        texts=texts,
        text=text[order],
        begin_s=begin_s[order],
        end_s=end_s[order],
        state=state[order],
        row=np.asarray(table["line"], np.int64)[order],
        offsets=offsets_of(buckets),
        **columns,
    )


def _is_marked(text: str) -> bool:
    lowered = text.encode().lower()
    return any(mark in lowered for mark in _MARKS)


def _with_first_words(table: Table) -> Table:
    """The table with labels that are tags of the transcription put before the text."""
    labels = [label if label.lower() in TAGS else "" for label in table.vocabularies["label"]]
    first = np.array([bool(label) for label in labels] or [False])[table["label"]]
    if not first.any():
        return table
    known = table.vocabularies["text"]
    places = {text: at for at, text in enumerate(known)}
    text, label = table["text"].copy(), table["label"].copy()
    for row in np.flatnonzero(first).tolist():
        whole = f"{labels[label[row]]} {known[text[row]]}".rstrip()
        text[row] = places.setdefault(whole, len(places))
    names = dict.fromkeys((*table.vocabularies["label"], ""))
    label[first] = list(names).index("")
    return Table(
        {**table.columns, "text": text, "label": label},
        {**table.vocabularies, "text": tuple(places), "label": tuple(names)},
    )


def _names(table: Table, columns: tuple[str, ...], *, case_sensitive: bool) -> dict[str, tuple[tuple[str, ...], Array]]:
    """Sorted names and codes of text columns, folded where case plays no part."""
    result = {}
    for name in columns:
        folded = [text if case_sensitive else lower_ascii(text) for text in table.vocabularies[name]]
        place = {text: at for at, text in enumerate(dict.fromkeys(folded))}
        onto = np.array([place[text] for text in folded] or [0], np.int32)
        spelled, codes = tuple(place), onto[table[name]]
        result[name] = canonical_codes(spelled, codes)
    return result


def _order(names: dict[str, tuple[tuple[str, ...], Array]], key_s: Array) -> tuple[Ints, Ints]:
    """Rows by (bucket, file, channel, time), stable; and the bucket of each row in that order."""
    files, file = names["file"]
    channels, channel = names["channel"]
    pair = file.astype(np.int64) * max(len(channels), 1) + channel
    units, unit = np.unique(pair, return_inverse=True)
    of_unit = np.array([bucket_of(unit_name(files[p // len(channels)], channels[p % len(channels)])) for p in units])
    bucket = of_unit.astype(np.int64)[unit] if units.size else np.zeros(0, np.int64)
    order = np.lexsort((key_s, channel, file, bucket))
    return order, bucket[order]


def _moving_together(words: tuple[str, ...], word: Array, begin_s: Array) -> Array:
    """The time each row is sorted by: an alternation's marks and words share that of its first timed word."""
    marks = [words.index(mark) if mark in words else -2 for mark in (ALT_BEGIN, ALT, ALT_END)]
    if marks == [-2, -2, -2]:
        return _filled(begin_s)
    opens, closes = word == marks[0], word == marks[2]
    depth = np.cumsum(opens.astype(np.int64) - closes)
    inside = (depth > 0) | closes
    group = np.cumsum(opens & (depth == 1))
    key_s = begin_s.copy()
    timed = np.flatnonzero(inside & ~np.isnan(begin_s))
    first = np.full(int(group.max(initial=0)) + 1, np.nan)
    first[group[timed[::-1]]] = begin_s[timed[::-1]]
    key_s[inside] = first[group[inside]]
    return _filled(key_s)


def _filled(key_s: Array) -> Array:
    """Rows without a time stay behind the row before them."""
    missing = np.isnan(key_s)
    if not missing.any():
        return key_s
    last = np.maximum.accumulate(np.where(missing, -1, np.arange(key_s.size)))
    return np.where(last < 0, -np.inf, key_s[np.maximum(last, 0)])


def _uttered(utterances: Table) -> Table:
    """Utterances as segments of recordings of their own.

    The speaker is the name up to its first ``-``, else up to its first ``_`` (spu_id), else its first three
    characters (wsj).
    """
    names = utterances.vocabularies["utterance"]
    n = len(utterances)
    zero = np.zeros(n, np.int32)
    speakers = tuple(map(_speaker, names))
    return Table(
        {
            "file": utterances["utterance"],
            "channel": zero,
            "speaker": utterances["utterance"],
            "label": zero,
            "text": utterances["text"],
            "begin_s": np.zeros(n),
            "end_s": np.ones(n),
            "line": utterances["line"],
        },
        {
            "file": names,
            "channel": (_TRN_CHANNEL,),
            "speaker": speakers,
            "label": ("",),
            "text": utterances.vocabularies["text"],
        },
    )


def _speaker(name: str) -> str:
    parts = (name.partition(mark) for mark in "-_")
    return next((head for head, mark, _ in parts if head and mark), name[:3])


def _spoken(utterances: Table) -> Table:
    """Transcripts as words of recordings of their own, alternations by the marks of CTM."""
    vocabulary: dict[str, int] = {}
    rows = [
        [vocabulary.setdefault(word, len(vocabulary)) for word in _flat(words_of_text(text)[0])]
        for text in utterances.text("text")
    ]
    counts = [len(row) for row in rows]
    word = np.array([code for row in rows for code in row], np.int32)
    nothing = np.full(word.size, np.nan)
    return Table(
        {
            "file": np.repeat(utterances["utterance"], counts),
            "channel": np.zeros(word.size, np.int32),
            "word": word,
            "begin_s": np.zeros(word.size),
            "dur_s": np.zeros(word.size),
            "confidence": nothing,
            "line": np.repeat(utterances["line"], counts),
        },
        {
            "file": utterances.vocabularies["utterance"],
            "channel": (_TRN_CHANNEL,),
            "word": tuple(vocabulary),
        },
    )


def _flat(words: Transcript) -> Iterator[str]:
    """Words with alternatives between the marks ``<ALT_BEGIN> … <ALT> … <ALT_END>``."""
    for word in words:
        if isinstance(word, str):
            yield f"{word};" if word in MARKS else word  # an empty tag keeps a word apart from the mark it looks like
            continue
        for at, branch in enumerate(word):
            yield ALT if at else ALT_BEGIN
            yield from _flat(branch)
        yield ALT_END
