"""The speech and non-speech segments of the evaluated audio: the trials of inferred-segment scoring (plan 004, 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.formats.kws.rttm import Rttm
from pipeline.formats.table import Table, recode
from pipeline.trials.adapted import Span, adapt
from pipeline.trials.decimals import to_decimals
from pipeline.trials.order import canonical_order, joint_codes
from pipeline.trials.schema import Excerpts, Occurrences
from pipeline.trials.spans import holding
from pipeline.trials.tiles import buckets_of, offsets_of, ranks_of


@dataclass(frozen=True)
class Segments:
    """Segments in order of excerpts and then of time, each with its recording, span and excerpt's source type."""

    spans: Excerpts
    speech: Bools
    """For each segment whether somebody speaks in it."""
    excerpt: Ints
    """For each segment the row of the excerpt it is part of."""
    holders: tuple[tuple[int, str, float], ...]
    """Segment, speaker, and how far the segment reached when a record of that speaker became part of it, seconds; in
    the order of the tool's passes over excerpts and records."""
    by_speaker: bool
    """Whether a word is in a segment only where its own speaker's record is (SPEAKER records)."""

    def __len__(self) -> int:
        return int(self.speech.size)


def find_segments(
    excerpts: Excerpts, rttm: Rttm, *, records: str = "speaker", partial_records: str = "drop"
) -> Segments:
    """The segments of every excerpt (KWSEval, RTTMList.pm 620-654).

    SPEAKER records that lie wholly inside an excerpt are speech, in order of begin: one that overlaps the speech before
    it and ends later extends it, one that abuts begins a segment of its own. What lies between is non-speech; so is an
    excerpt without records. Ends are rounded to four decimals, and a record that begins before the rounded end of the
    non-speech in front of it is lost, as in the tool.
    ``records``: ``speaker``, or ``speaker_or_segment``: SEGMENT records where the transcript has no SPEAKER record at
    all (plan 004, table C.2). ``partial_records``: ``drop`` as the tool, or ``clip`` them to the excerpt.
    """
    table = _records(rttm, "SPEAKER")
    by_speaker = bool(len(table)) or records != "speaker_or_segment"
    if not by_speaker:
        table = _records(rttm, "SEGMENT")
    file = recode(table.vocabularies["file"], excerpts.files)[table["file"]]
    channel = recode(table.vocabularies["channel"], excerpts.channels)[table["channel"]]
    end_s = to_decimals(table["begin_s"] + table["dur_s"], 4)
    touching = _overlapping if partial_records == "clip" else _inside
    rows, excerpt = touching(excerpts, file, channel, table["begin_s"], end_s)
    begin_s = np.maximum(table["begin_s"][rows], excerpts.begin_s[excerpt])
    end_s = np.minimum(end_s[rows], excerpts.end_s[excerpt])
    order = np.lexsort((rows, begin_s, excerpt))
    speakers = table.text("speaker")
    spoken: dict[int, list[tuple[float, float, str]]] = {}
    for at in order.tolist():
        record = (float(begin_s[at]), float(end_s[at]), speakers[rows[at]])
        spoken.setdefault(int(excerpt[at]), []).append(record)
    spans: list[tuple[int, Span]] = []
    holders: list[tuple[int, str, float]] = []
    for parent in range(excerpts.file.size):
        begin, end = float(excerpts.begin_s[parent]), float(excerpts.end_s[parent])
        found, held = _segmented(begin, end, spoken.get(parent, ()))
        holders += [(len(spans) + segment, speaker, reach) for segment, speaker, reach in held]
        spans += [(parent, span) for span in found]
    return _segments(excerpts, spans, tuple(holders), by_speaker=by_speaker)


def _records(rttm: Rttm, kind: str) -> Table:
    kinds = rttm.records.vocabularies["kind"]
    code = kinds.index(kind) if kind in kinds else -1
    return rttm.records.take(np.flatnonzero(rttm.records["kind"] == code))


def _inside(excerpts: Excerpts, file: Codes, channel: Codes, begin_s: Floats, end_s: Floats) -> tuple[Ints, Ints]:
    """All (row, excerpt) where the excerpt holds the row whole."""
    n_channels = max(len(excerpts.channels), 1)
    place = excerpts.file.astype(np.int64) * n_channels + excerpts.channel
    known = (file >= 0) & (channel >= 0)
    row_place = np.where(known, file.astype(np.int64) * n_channels + channel, -1)
    return holding(place, excerpts.begin_s, excerpts.end_s, row_place, begin_s, end_s)


def _overlapping(excerpts: Excerpts, file: Codes, channel: Codes, begin_s: Floats, end_s: Floats) -> tuple[Ints, Ints]:
    """All (row, excerpt) where the two share some time."""
    rows, parents = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for parent in range(excerpts.file.size):
        same = (file == excerpts.file[parent]) & (channel == excerpts.channel[parent])
        shared = (begin_s < excerpts.end_s[parent]) & (end_s > excerpts.begin_s[parent])
        rows.append(np.flatnonzero(same & shared))
        parents.append(np.full(rows[-1].size, parent))
    return np.concatenate(rows), np.concatenate(parents)


def _segmented(
    begin_s: float, end_s: float, records: Iterable[tuple[float, float, str]]
) -> tuple[list[Span], list[tuple[int, str, float]]]:
    """Segments of one excerpt, and per record the segment it belongs to, its speaker and the segment's end by then."""
    spans: list[Span] = []
    held: list[tuple[int, str, float]] = []
    last_s = begin_s
    for start, stop, speaker in records:
        if start > last_s:
            spans.append((last_s, round(last_s + (start - last_s), 4), False))
            last_s = spans[-1][1]
        if last_s == start:
            spans.append((start, stop, True))
            last_s = stop
        elif spans and spans[-1][2] and start < last_s < stop:
            spans[-1] = (spans[-1][0], stop, True)
            last_s = stop
        if spans:
            held.append((len(spans) - 1, speaker, last_s))
    if last_s < end_s:
        spans.append((last_s, end_s, False))
    return spans, held


def _segments(
    excerpts: Excerpts,
    spans: list[tuple[int, Span]],
    holders: tuple[tuple[int, str, float], ...],
    *,
    by_speaker: bool,
) -> Segments:
    parent = np.array([row for row, _ in spans], np.int64)
    begin_s = np.array([span[0] for _, span in spans], np.float64)
    end_s = np.array([span[1] for _, span in spans], np.float64)
    made = replace(
        excerpts,
        file=excerpts.file[parent],
        channel=excerpts.channel[parent],
        begin_s=begin_s,
        end_s=end_s,
        dur_s=to_decimals(end_s - begin_s, 4),
        source_type=tuple(excerpts.source_type[row] for row in parent.tolist()),
    )
    speech = np.array([span[2] for _, span in spans], np.bool_)
    return Segments(made, speech, parent, holders, by_speaker)


def adapt_segments(excerpts: Excerpts, segments: Segments, occurrences: Occurrences, *, crossing: str) -> Segments:
    """Segments changed so that no occurrence inside an excerpt spans two of them (plan 004, section 5.2.1).

    ``extend`` moves borders: the speech segment that holds most of the occurrence takes it in whole. ``merge`` makes
    one segment of all that the occurrence touches. Occurrences that overlap are taken as one.
    """
    place = (occurrences.files, occurrences.channels, occurrences.file, occurrences.channel)
    file, channel = recode(place[0], excerpts.files)[place[2]], recode(place[1], excerpts.channels)[place[3]]
    rows, excerpt = _inside(excerpts, file, channel, occurrences.begin_s, occurrences.end_s)
    order = np.lexsort((occurrences.end_s[rows], occurrences.begin_s[rows], excerpt))
    words: dict[int, list[tuple[float, float]]] = {}
    for row, parent in zip(rows[order].tolist(), excerpt[order].tolist(), strict=True):
        words.setdefault(parent, []).append((float(occurrences.begin_s[row]), float(occurrences.end_s[row])))
    changed = [
        (parent, span) for parent, own in _by_excerpt(segments) for span in adapt(own, words.get(parent, ()), crossing)
    ]
    return _segments(excerpts, changed, (), by_speaker=False)


def _by_excerpt(segments: Segments) -> Iterator[tuple[int, list[Span]]]:
    spans = zip(segments.spans.begin_s.tolist(), segments.spans.end_s.tolist(), segments.speech.tolist(), strict=True)
    grouped: dict[int, list[Span]] = {}
    for parent, span in zip(segments.excerpt.tolist(), spans, strict=True):
        grouped.setdefault(parent, []).append(span)
    yield from grouped.items()


def select_segments(segments: Segments, kept: Bools) -> Segments:
    """The segments that ``kept`` marks."""
    rows = np.flatnonzero(kept)
    position = {row: index for index, row in enumerate(rows.tolist())}
    columns = {name: getattr(segments.spans, name)[rows] for name in ("file", "channel", "begin_s", "end_s", "dur_s")}
    types = tuple(segments.spans.source_type[row] for row in rows.tolist())
    holders = tuple((position[row], speaker, s) for row, speaker, s in segments.holders if row in position)
    spans = replace(segments.spans, **columns, source_type=types)
    return replace(segments, spans=spans, speech=segments.speech[rows], excerpt=segments.excerpt[rows], holders=holders)


def target_segments(segments: Segments, occurrences: Occurrences, rttm: Rttm) -> Occurrences:
    """The target trials: one row per query and segment that holds an occurrence, spanning the segment.

    An occurrence is in the segment that both its first and its last word are in, others are in none. A word is in one
    segment that holds it: where ``by_speaker``, as the segment stood when a record of the word's own speaker became
    part of it, the last such one (RTTMList.pm 645-648: of excerpts that overlap, the later in the ECF); else the first.
    ``row`` is the segment.
    """
    spans = segments.spans
    segment, group, end_s = _holders(segments)
    n_speakers, speaker = _speakers(segments, occurrences, rttm)
    file = recode(occurrences.files, spans.files)[occurrences.file].astype(np.int64)
    channel = recode(occurrences.channels, spans.channels)[occurrences.channel]
    known = (file >= 0) & (channel >= 0) & (speaker >= 0)
    row_group = np.where(known, (file * len(spans.channels) + channel) * n_speakers + speaker, -1)

    def segment_of(word_begin_s: Floats, word_end_s: Floats) -> Ints:
        row, holder = holding(group, spans.begin_s[segment], end_s, row_group, word_begin_s, word_end_s)
        of = np.full(len(occurrences), -1, np.int64)
        wins = slice(None) if segments.by_speaker else slice(None, None, -1)
        of[row[wins]] = segment[holder[wins]]  # pairs ascend, and what is written last stays
        return of

    first = segment_of(occurrences.begin_s, occurrences.first_end_s)
    held = np.flatnonzero((first >= 0) & (first == segment_of(occurrences.last_begin_s, occurrences.end_s)))
    pairs = np.unique(np.stack([occurrences.query[held].astype(np.int64), first[held]]), axis=1)
    return _targets(spans, occurrences, pairs[0], pairs[1])


def _holders(segments: Segments) -> tuple[Ints, Ints, Floats]:
    """Segment, group (recording, channel, speaker) and end of everything that words may lie in."""
    spans = segments.spans
    place = spans.file.astype(np.int64) * len(spans.channels) + spans.channel
    if not segments.by_speaker:
        return np.arange(len(segments)), place, spans.end_s
    names = {name: code for code, name in enumerate(_names(segments))}
    segment = np.array([row for row, _, _ in segments.holders], np.int64)
    speaker = np.array([names[name] for _, name, _ in segments.holders], np.int64)
    reach_s = np.array([s for _, _, s in segments.holders], np.float64)
    return segment, place[segment] * max(len(names), 1) + speaker, reach_s


def _names(segments: Segments) -> tuple[str, ...]:
    return tuple(sorted({name for _, name, _ in segments.holders}))


def _speakers(segments: Segments, occurrences: Occurrences, rttm: Rttm) -> tuple[int, Ints]:
    """How many speakers segments tell apart, and which one speaks each occurrence (-1: one without a record)."""
    if not segments.by_speaker:
        return 1, np.zeros(len(occurrences), np.int64)
    names, records = _names(segments), rttm.records
    said = np.searchsorted(records["line"], occurrences.row)
    speaker = recode(records.vocabularies["speaker"], names)[records["speaker"][said]].astype(np.int64)
    return max(len(names), 1), speaker


def _targets(spans: Excerpts, occurrences: Occurrences, query: Ints, segment: Ints) -> Occurrences:
    file, channel = spans.file[segment], spans.channel[segment]
    begin_s, end_s = spans.begin_s[segment], spans.end_s[segment]
    rank = ranks_of(occurrences.queries)[query]
    place = joint_codes(rank, file, channel, (len(spans.files), len(spans.channels)))
    order = canonical_order(place, begin_s, lambda tied: [end_s[tied], segment[tied]])
    codes, segment = query[order].astype(np.int32), segment[order]
    begin_s, end_s = begin_s[order], end_s[order]
    return Occurrences(
        queries=occurrences.queries,
        files=spans.files,
        channels=spans.channels,
        query=codes,
        file=file[order],
        channel=channel[order],
        begin_s=begin_s,
        end_s=end_s,
        last_begin_s=begin_s,
        first_end_s=end_s,
        row=segment,
        offsets=offsets_of(buckets_of(occurrences.queries)[codes]),
    )
