"""Speech-to-text: aligned words → labels → counts, log sums, confusions and steps that add up."""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.align.labels import KEY, TEXT, TRIAL, Column, Labels
from pipeline.align.tokens.chop import Chopped, recordings_apart, units
from pipeline.align.tokens.rules import Token
from pipeline.align.tokens.steps import (
    CORRECT,
    DELETED,
    FORGIVEN_OUTPUT,
    FORGIVEN_REFERENCE,
    INSERTED,
    SUBSTITUTED,
    TokenAlignment,
)
from pipeline.arrays import Bools, Codes, Ints
from pipeline.metrics.stt.nce import clipped
from pipeline.partials.digits import N_LIMBS, whole
from pipeline.partials.exact import ExactSum, exact_sums_by_group
from pipeline.partials.stt_outcomes import (
    BINS,
    CONFIDENT,
    COUNTS,
    SttOutcomes,
    SttSegments,
    added_pairs,
    segment_order,
)
from pipeline.partials.tally import Tally
from pipeline.trials.tokens.schema import MARKED, SCORED, UNTIMED, TokenSegments, Words

ONLY_OUTPUT, ONLY_REFERENCE = "only_output/", "only_reference/"
"""Prefixes of the names that recordings are tallied under which only one side has."""


def outcomes(aligned: TokenAlignment, segments: TokenSegments, *, listed: bool) -> SttOutcomes:
    """The partial of aligned words. With ``listed`` it holds the words of every step, not only what each step is."""
    groups, group = _groups(segments)
    n = len(groups)
    counts = _counts(aligned, segments, group, n)
    step_group = group[aligned.segment]
    has_word = _believed(aligned) & ~np.isnan(aligned.confidence)
    right = np.isin(aligned.step, (CORRECT, FORGIVEN_OUTPUT))
    p = clipped(aligned.confidence)
    shown = tuple(token.shown for token in aligned.vocabulary)
    pairs = _pairs(aligned)
    kept = np.unique(np.concatenate([pairs[0], pairs[1], *((aligned.reference, aligned.output) if listed else ())]))
    vocabulary, onto = _words(shown, kept[kept >= 0])
    pair_reference, pair_output, pair_count = added_pairs(onto[pairs[0]], onto[pairs[1]], pairs[2])
    return SttOutcomes(
        groups=groups,
        counts=counts,
        log2_p=_sums(np.log2(p[has_word & right]), step_group[has_word & right], n),
        log2_1mp=_sums(np.log2(1.0 - p[has_word & ~right]), step_group[has_word & ~right], n),
        words=vocabulary,
        pair_reference=pair_reference,
        pair_output=pair_output,
        pair_count=pair_count,
        reliability=_reliability(aligned, has_word, right),
        units=_units(aligned, segments),
        segments=_segments(aligned, segments, groups, group, onto if listed else None),
    )


def labels_of(words: Words, segments: TokenSegments, aligned: TokenAlignment) -> Labels:
    """The steps of an alignment as labels. Each bucket has the tokens that occur in it, as they are shown, sorted."""
    by_step = np.searchsorted(aligned.segment, segments.offsets).astype(np.int64)
    every = np.arange(len(aligned.vocabulary), dtype=np.int32)
    shown, onto = _words(tuple(token.shown for token in aligned.vocabulary), every)
    bucket = np.repeat(np.arange(by_step.size - 1), np.diff(by_step)) * len(shown)
    sides = [np.where(codes < 0, -1, bucket + onto[codes]) for codes in (aligned.reference, aligned.output)]
    known = np.zeros((by_step.size - 1) * len(shown) + 1, np.bool_)
    for side in sides:
        known[side] = True
    tokens = np.flatnonzero(known[:-1])
    rows = np.append(np.cumsum(known[:-1], dtype=np.int32) - 1, np.int32(-1))
    columns = {
        "segment": Column(TRIAL, aligned.chopped.segment.astype(np.int32), KEY),
        "in_gap": Column(TRIAL, aligned.chopped.in_gap),
        "step_segment": Column("step", aligned.segment.astype(np.int32), KEY),
        "step": Column("step", aligned.step),
        "step_reference": Column("step", rows[sides[0]], "token"),
        "step_output": Column("step", rows[sides[1]], "token"),
        "step_word": Column("step", aligned.word.astype(np.int32), TRIAL),
        "n_longest": Column(KEY, aligned.n_longest.astype(np.int32)),
        "n_unknown_reference": Column(KEY, aligned.n_unknown[0].astype(np.int32)),
        "n_unknown_output": Column(KEY, aligned.n_unknown[1].astype(np.int32)),
        "token": Column("token", np.array(shown, TEXT)[tokens % max(len(shown), 1)]),
    }
    of_tokens = np.searchsorted(tokens, np.arange(by_step.size) * len(shown)).astype(np.int64)
    return Labels(columns, {TRIAL: words.offsets, KEY: segments.offsets, "step": by_step, "token": of_tokens})


def alignment_of(words: Words, segments: TokenSegments, labels: Labels) -> TokenAlignment:
    """The alignment in labels, as ``outcomes`` takes it. Tokens are known as they are shown, and no more."""
    row = labels["step_word"].astype(np.int64)
    confidence = np.where(row >= 0, words.confidence[row] if len(words) else np.nan, np.nan)
    segment = labels["segment"].astype(np.int64)
    shown: dict[str, int] = {}
    token = np.array([*(shown.setdefault(text, len(shown)) for text in labels["token"].tolist()), -1], np.int32)
    return TokenAlignment(
        vocabulary=tuple(Token(text, text) for text in shown),
        segment=labels["step_segment"].astype(np.int64),
        step=labels["step"],
        reference=token[labels["step_reference"]],
        output=token[labels["step_output"]],
        word=row,
        confidence=confidence,
        n_longest=labels["n_longest"].astype(np.int64),
        n_unknown=(labels["n_unknown_reference"].astype(np.int64), labels["n_unknown_output"].astype(np.int64)),
        n_confident=int(np.isfinite(words.confidence).sum()),
        chopped=Chopped(segment, labels["in_gap"], *recordings_apart(words, segments)),
    )


def _groups(segments: TokenSegments) -> tuple[tuple[str, ...], Codes]:
    """Sorted names ``file channel speaker label``, and the group of each segment."""
    sizes = [max(len(names), 1) for names in (segments.channels, segments.speakers, segments.labels)]
    key = segments.file.astype(np.int64)
    for size, column in zip(sizes, (segments.channel, segments.speaker, segments.label), strict=True):
        key = key * size + column
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    names = [
        f"{segments.files[segments.file[at]]} {segments.channels[segments.channel[at]]} "
        f"{segments.speakers[segments.speaker[at]]} {segments.labels[segments.label[at]]}"
        for at in first.tolist()
    ]
    order = sorted(range(len(names)), key=names.__getitem__)
    onto = np.empty(len(names), np.int32)
    onto[order] = np.arange(len(names), dtype=np.int32)
    return tuple(names[at] for at in order), onto[place.astype(np.int64)]


def _counts(aligned: TokenAlignment, segments: TokenSegments, group: Codes, n: int) -> Ints:
    """Counts of each group: (n_groups, len(COUNTS))."""

    def by(rows: Any) -> Ints:
        return np.bincount(group[rows], minlength=n).astype(np.int64)

    step, error = aligned.step, np.isin(aligned.step, (SUBSTITUTED, DELETED, INSERTED))
    wrong = np.bincount(aligned.segment[error], minlength=len(segments)) > 0
    right = np.isin(step, (CORRECT, FORGIVEN_REFERENCE, FORGIVEN_OUTPUT))
    given = aligned.chopped.segment
    own = given[given >= 0]
    dropped = segments.state[own] != SCORED
    missing = _believed(aligned) & np.isnan(aligned.confidence)
    known = _believed(aligned) & ~missing
    outside = known & ~((aligned.confidence >= 0.0) & (aligned.confidence <= 1.0))
    columns = {
        "n_segments": by(segments.state == SCORED),
        "n_segments_in_error": by(wrong),
        "correct": by(aligned.segment[right]),
        "substituted": by(aligned.segment[step == SUBSTITUTED]),
        "deleted": by(aligned.segment[step == DELETED]),
        "inserted": by(aligned.segment[step == INSERTED]),
        "forgiven_reference": by(aligned.segment[step == FORGIVEN_REFERENCE]),
        "forgiven_output": by(aligned.segment[step == FORGIVEN_OUTPUT]),
        "n_longest": np.bincount(group, weights=aligned.n_longest, minlength=n).astype(np.int64),
        "n_confidences": by(aligned.segment[known]),
        "n_out_of_range": by(aligned.segment[outside]),
        "n_missing_correct": by(aligned.segment[missing & right]),
        "n_missing_incorrect": by(aligned.segment[missing & ~right]),
        "n_segments_ignored": by(segments.state == MARKED),
        "n_segments_untimed": by(segments.state == UNTIMED),
        "n_words_ignored": by(own[dropped]),
        "n_words_gap": by(own[~dropped & aligned.chopped.in_gap[given >= 0]]),
    }
    return np.stack([columns[name] for name in COUNTS], axis=1)


def _believed(aligned: TokenAlignment) -> Bools:
    """Steps whose confidence is looked at: those with a word of the output, unless it is empty (sclite, scores.c)."""
    empty = np.array([not token.shown for token in aligned.vocabulary] or [False], np.bool_)
    return (aligned.output >= 0) & ~empty[np.maximum(aligned.output, 0)]


def _sums(values: Any, groups: Any, n: int) -> tuple[ExactSum, ...]:
    return tuple(ExactSum(whole(row[:N_LIMBS])) for row in exact_sums_by_group(values, groups, n))


def _pairs(aligned: TokenAlignment) -> tuple[Codes, Codes, Ints]:
    """Errors as pairs of vocabulary codes with how often each was made."""
    error = np.isin(aligned.step, (SUBSTITUTED, DELETED, INSERTED))
    ones = np.ones(int(error.sum()), np.int64)
    return added_pairs(aligned.reference[error], aligned.output[error], ones)


def _words(shown: tuple[str, ...], used: Codes) -> tuple[tuple[str, ...], Codes]:
    """The used tokens as sorted words, and the word of each token; index -1 stays -1."""
    words = tuple(sorted({shown[code] for code in used.tolist()}))
    place = {word: at for at, word in enumerate(words)}
    onto = np.full(len(shown) + 1, -1, np.int32)
    onto[used] = [place[shown[code]] for code in used.tolist()]
    return words, onto


def _reliability(aligned: TokenAlignment, has_word: Bools, right: Bools) -> Ints:
    """Words of the output by confidence, clipped to [0, 1]: (bins, correct and incorrect)."""
    confidence = np.clip(aligned.confidence[has_word], 0.0, 1.0)
    place = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    return np.stack([np.bincount(place[kind], minlength=BINS) for kind in (right[has_word], ~right[has_word])], axis=1)


def _units(aligned: TokenAlignment, segments: TokenSegments) -> Tally:
    """Recordings that one side lacks, by name: the output's words, and the reference's tokens that count as deleted.

    Beside them words that the lexicon lacks, and those of the output with a confidence.
    """
    tokens: dict[str, int] = {}
    lacking = set(aligned.chopped.only_reference)
    for unit, rows in units(segments.files, segments.channels, segments.file, segments.channel):
        if unit in lacking:
            tokens[f"{ONLY_REFERENCE}{unit}"] = int(aligned.n_longest[rows].sum())
    spoken = {f"{ONLY_OUTPUT}{unit}": count for unit, count in aligned.chopped.only_output.items()}
    unknown = {
        name: int(n.sum()) for name, n in zip(("unknown_reference", "unknown_output"), aligned.n_unknown, strict=True)
    }
    return Tally({**tokens, **spoken, **unknown, CONFIDENT: aligned.n_confident})


def _segments(
    aligned: TokenAlignment, segments: TokenSegments, groups: tuple[str, ...], group: Codes, onto: Codes | None
) -> SttSegments:
    """The scored segments with their steps; with the words of each step where ``onto`` maps tokens to words."""
    ordinal = np.zeros(len(segments), np.int32)
    for _, unit in units(segments.files, segments.channels, segments.file, segments.channel):
        ordinal[unit] = np.arange(unit.stop - unit.start)
    scored = np.flatnonzero(segments.state == SCORED)
    n_steps = np.bincount(aligned.segment, minlength=len(segments))[scored].astype(np.int32)
    order, by_step = segment_order(groups, group[scored], ordinal[scored], n_steps)
    rows = scored[order]
    listed: dict[str, Any] = {}
    if onto is not None:
        listed = {
            "reference": onto[aligned.reference][by_step],
            "output": onto[aligned.output][by_step],
            "confidence": aligned.confidence[by_step],
        }
    return SttSegments(
        group=group[rows],
        ordinal=ordinal[rows],
        begin_s=segments.begin_s[rows],
        end_s=segments.end_s[rows],
        n_steps=n_steps[order],
        step=aligned.step[by_step],
        **listed,
    )
