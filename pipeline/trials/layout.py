"""From tables to the dataset's timeline: its recordings and excerpts, and an output's trials in canonical order."""

from __future__ import annotations

import math

import numpy as np

from pipeline.formats.ecf import Ecf
from pipeline.formats.kwslist import SystemOutput
from pipeline.formats.table import Table, canonical_codes, recode
from pipeline.trials.blocks import BlockRule, named_blocks
from pipeline.trials.decimals import to_decimals
from pipeline.trials.duration import declared, t_audio_s
from pipeline.trials.names import FileRule, ecf_file_name, output_file_name, renamed
from pipeline.trials.order import canonical_order, joint_codes
from pipeline.trials.schema import N_BUCKETS, Codes, Excerpts, Floats, Ints, Timeline, Trials
from pipeline.trials.tiles import buckets_of, ranks_of

__all__ = ["FileRule", "ecf_file_name", "lay_out", "output_file_name", "t_audio_s", "timeline"]


def timeline(ecf: Ecf, *, files: FileRule) -> Timeline:
    """The recordings of an ECF end to end, in sorted order, with their evaluated excerpts (sorted, seconds).

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
    order = np.lexsort((source_type, dur_s, end_s, begin_s, channel, file))
    excerpts = Excerpts(
        files=names,
        channels=channels,
        file=file[order],
        channel=channel[order],
        begin_s=begin_s[order],
        end_s=end_s[order],
        dur_s=dur_s,
        source_type=tuple(types[code] for code in source_type[order].tolist()),
    )
    extent_s = np.zeros(len(names))
    np.maximum.at(extent_s, file, end_s)
    offset_s = np.concatenate([[0.0], np.cumsum(extent_s)])
    return Timeline(names, offset_s, excerpts, ecf.source_signal_duration_s)


def lay_out(
    output: SystemOutput, timeline: Timeline, *, files: FileRule, duplicate_blocks: BlockRule = "merge"
) -> Trials:
    """The detections of one output as trials in canonical order, placed on the dataset's timeline.

    Rows are sorted by (bucket, query, file, channel, begin, duration, score, YES before NO); rows equal in all of these
    are interchangeable and keep the order of the input. Queries without detections stay in ``queries``.
    ``duplicate_blocks`` says what several blocks of one query stand for (``trials.blocks``).
    """
    blocks, table = named_blocks(output, duplicate_blocks)
    queries = tuple(sorted({*blocks.text("query"), *canonical_codes(table.vocabularies["query"], table["query"])[0]}))
    query = recode(table.vocabularies["query"], queries)[table["query"]]
    names, file = renamed(table.vocabularies["file"], table["file"], lambda name: output_file_name(name, files))
    channels, channel = canonical_codes(table.vocabularies["channel"], table["channel"])
    numbers, decision = {name: table[name] for name in ("begin_s", "dur_s", "score")}, table["decision"]
    place = joint_codes(ranks_of(queries)[query], file, channel, (len(names), len(channels)))
    ranks = _text_ranks(table)
    ties = (numbers["dur_s"], numbers["score"], ~decision, *(() if ranks is None else (ranks,)))
    order = canonical_order(place, numbers["begin_s"], *ties)
    del place, ties  # a large output's columns: memory is what bounds it
    begin_s, dur_s, score = (_without_negative_zeros(numbers.pop(name)[order]) for name in tuple(numbers))
    starts_s = np.append(timeline.offset_s[:-1], math.nan)[recode(names, timeline.files)]
    query, file = query[order], file[order]
    return Trials(
        queries=queries,
        files=names,
        channels=channels,
        query=query,
        file=file,
        channel=channel[order],
        begin_s=begin_s,
        dur_s=dur_s,
        time_s=starts_s[file] + begin_s,
        score=score,
        decision=decision[order],
        row=table["line"][order].astype(np.int64),
        offsets=_offsets(queries, query),
        score_range=_score_range(score),
        header_range=_header_range(output),
        blocks=_blocks(blocks),
        score_order=None if ranks is None else ranks[order],
    )


def _without_negative_zeros(values: Floats) -> Floats:
    """The values, with 0 for -0.0; in their own place."""
    return np.add(values, 0.0, out=values)


def _offsets(queries: tuple[str, ...], query: Codes) -> Ints:
    """Row where each bucket begins, as ``offsets_of`` finds it among sorted rows."""
    offsets = np.zeros(N_BUCKETS + 1, np.int64)
    np.add.at(offsets, buckets_of(queries) + 1, np.bincount(query, minlength=len(queries)))
    return np.cumsum(offsets)


def _text_ranks(table: Table) -> Codes | None:
    """Rank of each row's score among the distinct texts of scores, sorted by their characters; None without texts."""
    if "score_text" not in table.columns:
        return None
    texts = table.vocabularies["score_text"]
    ranks = np.empty(len(texts), np.int32)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts), dtype=np.int32)
    ranked: Codes = ranks[table["score_text"]]
    return ranked


def _score_range(score: Floats) -> tuple[float, float]:
    known = np.isfinite(score)
    finite = score if known.all() else score[known]
    return (float(finite.min()), float(finite.max())) if finite.size else (math.nan, math.nan)


def _header_range(output: SystemOutput) -> tuple[float, float] | None:
    low, high = (declared(output.attributes.get(name)) for name in ("min_score", "max_score"))
    return None if math.isnan(low) or math.isnan(high) else (low, high)


def _blocks(table: Table) -> dict[str, dict[str, float]]:
    """Attributes of each query's block; of several blocks of one name the last speaks."""
    rows = zip(table.text("query"), table["search_time_s"].tolist(), table["oov_count"].tolist(), strict=True)
    return {query: {"search_time_s": time_s, "oov_count": count} for query, time_s, count in rows}
