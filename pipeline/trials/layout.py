"""From tables to the dataset's timeline: its recordings and excerpts, and an output's trials in canonical order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pipeline.arrays import Codes, Floats, Ints
from pipeline.formats.kws.ecf import Ecf
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.formats.table import Array, Table, canonical_codes, recode
from pipeline.trials.blocks import BlockRule, named_blocks
from pipeline.trials.decimals import to_decimals
from pipeline.trials.duration import declared, t_audio_s
from pipeline.trials.excerpt_order import excerpt_order
from pipeline.trials.names import FileRule, ecf_file_name, output_file_name, renamed, renaming
from pipeline.trials.order import canonical_order, joint_codes
from pipeline.trials.schema import N_BUCKETS, ROWS, Excerpts, Timeline, Trials
from pipeline.trials.tiles import batches, buckets_of, ranks_of

__all__ = ["FileRule", "Layout", "ecf_file_name", "lay_out", "output_file_name", "t_audio_s", "timeline"]

_ROWS_AT_ONCE = 1 << 18


def timeline(ecf: Ecf, *, files: FileRule) -> Timeline:
    """The recordings of an ECF end to end, in sorted order, with their evaluated excerpts (seconds, ``excerpt_order``).

    With ``kwseval`` an excerpt ends at ``tbeg + dur`` rounded to four decimals, as KWSEval writes its TEND
    (KWSecf_excerpt.pm:38); with ``stdeval`` at the unrounded sum.
    """
    table = ecf.excerpts
    names, file = renamed(table.vocabularies["file"], table["file"], lambda name: ecf_file_name(name, files))
    channels, channel = canonical_codes(table.vocabularies["channel"], table["channel"])
    types, source_type = canonical_codes(table.vocabularies["source_type"], table["source_type"])
    begin_s, dur_s = table["begin_s"] + 0.0, table["dur_s"] + 0.0
    end_s = begin_s + dur_s
    if files == "kwseval":
        end_s = to_decimals(end_s, 4)
    order = excerpt_order(file, channel, begin_s, end_s, dur_s, source_type)
    excerpts = Excerpts(
        files=names,
        channels=channels,
        file=file,
        channel=channel,
        begin_s=begin_s,
        end_s=end_s,
        dur_s=dur_s,
        source_type=tuple(types[code] for code in source_type.tolist()),
    ).take(order)
    extent_s = np.zeros(len(names))
    np.maximum.at(extent_s, file, end_s)
    offset_s = np.concatenate([[0.0], np.cumsum(extent_s)])
    return Timeline(names, offset_s, excerpts, ecf.source_signal_duration_s)


def lay_out(
    output: SystemOutput, timeline: Timeline, *, files: FileRule, duplicate_blocks: BlockRule = "merge"
) -> Trials:
    """The detections of one output as trials in canonical order, placed on the dataset's timeline.

    Rows are sorted by (bucket, query, file, channel, begin, duration, score, YES before NO, 0 before -0, which differs
    from it nowhere else but is shown as written); rows equal in all of these are interchangeable and keep the order of
    the input. Queries without detections stay in ``queries``.
    ``duplicate_blocks`` says what several blocks of one query stand for (``trials.blocks``).
    """
    return Layout.of(output, timeline, files=files, duplicate_blocks=duplicate_blocks).whole()


@dataclass(frozen=True, eq=False)
class Layout:
    """The trials that ``lay_out`` gives, each tile sorted when it is asked for: less memory than all of them take."""

    detections: Table
    queries: tuple[str, ...]
    files: tuple[str, ...]
    channels: tuple[str, ...]
    file_codes: Codes
    """From the codes of files in ``detections`` to those of the trials; ``channel_codes`` likewise."""
    channel_codes: Codes
    rank: Ints
    """Of each query in the order of tiles."""
    query: Codes
    """Of each of the ``detections``, as a position in ``queries``."""
    starts_s: Floats
    """Where each file begins on the timeline."""
    order: Codes
    """Rows of ``detections`` by bucket, in the order of the input."""
    offsets: Ints
    text_ranks: Codes | None
    score_range: tuple[float, float]
    header_range: tuple[float, float] | None
    blocks: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(
        cls, output: SystemOutput, timeline: Timeline, *, files: FileRule, duplicate_blocks: BlockRule = "merge"
    ) -> Layout:
        """The layout that tiles have in common; arguments as of ``lay_out``. Of an output with some of its rows, the
        tiles that have all of theirs are those of the whole."""
        blocks, table = named_blocks(output, duplicate_blocks)
        texts = table.vocabularies
        queries = tuple(sorted({*blocks.text("query"), *(texts["query"][code] for code in _used(table, "query"))}))
        query = recode(texts["query"], queries)[table["query"]]
        of_all = output.score_range is not None
        used = {name: range(len(texts[name])) if of_all else _used(table, name) for name in ("file", "channel")}
        names, file = renaming(texts["file"], used["file"], lambda name: output_file_name(name, files))
        channels, channel = renaming(texts["channel"], used["channel"], str)
        bucket = buckets_of(queries).astype(np.uint8)[query]
        n_rows = np.bincount(bucket, minlength=N_BUCKETS)
        return cls(
            detections=table,
            queries=queries,
            files=names,
            channels=channels,
            file_codes=file,
            channel_codes=channel,
            rank=ranks_of(queries),
            query=query,
            starts_s=np.append(timeline.offset_s[:-1], math.nan)[recode(names, timeline.files)],
            order=np.argsort(bucket, kind="stable").astype(np.int32),
            offsets=np.concatenate([[0], np.cumsum(n_rows)]),
            text_ranks=_text_ranks(table),
            score_range=output.score_range or score_range_of(table["score"]),
            header_range=_header_range(output),
            blocks=_blocks(blocks),
        )

    def __len__(self) -> int:
        return int(self.order.size)

    def tiles(self, first: int, last: int) -> Trials:
        """Buckets ``first`` up to ``last`` (exclusive) as trials of their own."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        rows = self.order[begin:end].astype(np.int64)
        table, sizes = self.detections, (len(self.files), len(self.channels))
        query, file = self.query[rows], self.file_codes[table.at("file", rows)]
        channel = self.channel_codes[table.at("channel", rows)]
        joint, begin_s = joint_codes(self.rank[query], file, channel, sizes), table.at("begin_s", rows)
        order = canonical_order(joint, begin_s, lambda tied: self._ties(rows[tied]))
        rows = rows[order]
        file, begin_s = file[order], begin_s[order]
        return Trials(
            queries=self.queries,
            files=self.files,
            channels=self.channels,
            query=query[order],
            file=file,
            channel=channel[order],
            begin_s=begin_s,
            dur_s=table.at("dur_s", rows),
            time_s=self.starts_s[file] + begin_s,
            score=table.at("score", rows),
            decision=table.at("decision", rows),
            row=table.at("line", rows).astype(np.int64),
            offsets=np.clip(self.offsets - begin, 0, end - begin),
            score_range=self.score_range,
            header_range=self.header_range,
            blocks=self.blocks,
            score_order=None if self.text_ranks is None else self.text_ranks[rows],
        )

    def _ties(self, rows: Ints) -> list[Array]:
        """Columns that rows of one place and begin are sorted by."""
        table = self.detections
        times = [table.at(name, rows) for name in ("begin_s", "dur_s", "score")]
        zeros = [np.signbit(column) & (column == 0.0) for column in times]
        ties = [*times[1:], ~table.at("decision", rows), *zeros]
        return ties if self.text_ranks is None else [*ties, self.text_ranks[rows]]

    def whole(self) -> Trials:
        """All trials, sorted a few tiles at a time: in a processor's caches, and with little memory beside."""
        some = self.tiles(0, 0)
        names = [name for name in ROWS if getattr(some, name) is not None]
        columns: dict[str, Any] = {name: np.empty(len(self), getattr(some, name).dtype) for name in names}
        for first, last in batches(self.offsets, np.zeros_like(self.offsets), _ROWS_AT_ONCE):
            part, rows = self.tiles(first, last), slice(int(self.offsets[first]), int(self.offsets[last]))
            for name, column in columns.items():
                column[rows] = getattr(part, name)
        return replace(some, offsets=self.offsets, **columns)


def _used(table: Table, name: str) -> list[int]:
    """The codes of a text column that occur, ascending, as ``used_codes`` finds them in a column that is there."""
    seen = np.zeros(len(table.vocabularies[name]), np.bool_)
    for begin in range(0, len(table), _ROWS_AT_ONCE):
        seen[table.at(name, slice(begin, begin + _ROWS_AT_ONCE))] = True
    found: list[int] = np.flatnonzero(seen).tolist()
    return found


def _text_ranks(table: Table) -> Codes | None:
    """Rank of each row's score among the distinct texts of scores, sorted by their characters; None without texts."""
    if "score_text" not in table.columns:
        return None
    texts = table.vocabularies["score_text"]
    ranks = np.empty(len(texts), np.int32)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts), dtype=np.int32)
    ranked: Codes = ranks[table["score_text"]]
    return ranked


def score_range_of(score: Floats) -> tuple[float, float]:
    """The lowest and the highest finite one of scores; NaN where there is none."""
    known = np.isfinite(score)
    finite = score if known.all() else score[known]
    return (float(finite.min()) + 0.0, float(finite.max()) + 0.0) if finite.size else (math.nan, math.nan)


def _header_range(output: SystemOutput) -> tuple[float, float] | None:
    low, high = (declared(output.attributes.get(name)) for name in ("min_score", "max_score"))
    return None if math.isnan(low) or math.isnan(high) else (low, high)


def _blocks(table: Table) -> dict[str, dict[str, float]]:
    """Attributes of each query's block; of several blocks of one name the last speaks."""
    rows = zip(table.text("query"), table["search_time_s"].tolist(), table["oov_count"].tolist(), strict=True)
    return {query: {"search_time_s": time_s, "oov_count": count} for query, time_s, count in rows}
