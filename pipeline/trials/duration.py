"""How long the audio searched is: the rules of the organisers' tools and of the plans."""

from __future__ import annotations

import math

import numpy as np

from pipeline.arrays import summed
from pipeline.errors import Finding, InputError, UsageError
from pipeline.trials.schema import Excerpts, Timeline

LONGEST_S = 1e10
"""More than three centuries of audio are a slip of the unit; trial counts stay far from the limits of integers."""
HEADER_AGREES_WITHIN = 1e-3
"""Relative difference between an ECF's header and its excerpts above which a warning is given."""


def t_audio_s(
    timeline: Timeline,
    *,
    t_audio: float | str = "excerpts",
    excerpt_sum: str = "kwseval",
    splitcts_sum: str = "per_file",
) -> tuple[float, tuple[Finding, ...]]:
    """Duration of the audio searched, seconds, with a warning where header and excerpts differ by more than 0.1 %.

    ``t_audio``: ``excerpts``, ``header`` (``source_signal_duration``) or seconds.
    ``excerpt_sum``: ``kwseval`` (per file over all channels, each excerpt cut where the next begins, splitcts half;
    KWSecf.pm:102-141), ``channel_1`` (durations on channel 1; STDAlignment.pm:514) or ``sum`` (every duration).
    ``splitcts_sum``: whether ``kwseval`` takes splitcts excerpts ``per_file`` over all channels (the tool) or
    ``per_channel`` (plan 004, 5.1.2.1).

    Raises ``UsageError`` for another setting, ``InputError`` where there is no such duration or it is not above zero.
    """
    summed_s = excerpts_s(timeline.excerpts, excerpt_sum, splitcts_sum)
    if t_audio == "header":
        chosen_s = timeline.header_s
        if math.isnan(chosen_s):
            mend = "Add source_signal_duration to the ECF or choose t_audio=excerpts."
            raise InputError([Finding("no_header_duration", f"the ECF's header declares no duration. {mend}", "ecf")])
    elif t_audio == "excerpts":
        chosen_s = summed_s
    elif isinstance(t_audio, str):
        raise UsageError(f"setting t_audio: the value is {t_audio!r}, allowed: excerpts | header | seconds.")
    else:
        chosen_s = t_audio
    if not 0.0 < chosen_s <= LONGEST_S:
        allowed = f"above 0 s, at most {LONGEST_S:g} s"
        message = f"the evaluated audio lasts {chosen_s} s, allowed: {allowed}. Check the excerpts or t_audio."
        raise InputError([Finding("no_audio", message, "ecf")])
    return chosen_s, _disagreement(timeline, summed_s, chosen_s)


def _disagreement(timeline: Timeline, summed_s: float, chosen_s: float) -> tuple[Finding, ...]:
    """A header that states the plain sum agrees too: halved splitcts channels are no fault of the file."""
    header_s = timeline.header_s
    sums_s = (summed_s, excerpts_s(timeline.excerpts, "sum", "per_file"))
    if math.isnan(header_s) or any(abs(header_s - sum_s) <= HEADER_AGREES_WITHIN * header_s for sum_s in sums_s):
        return ()
    message = (
        f"the header declares {header_s:.10g} s of audio, the excerpts add up to {summed_s:.10g} s; "
        f"{chosen_s:.10g} s are used. Set t_audio to choose."
    )
    return (Finding("duration_mismatch", message, "ecf"),)


def excerpts_s(excerpts: Excerpts, excerpt_sum: str, splitcts_sum: str) -> float:
    """The sum of excerpts by the two rules of ``t_audio_s``, seconds; 0 without any."""
    if excerpt_sum == "kwseval":
        return _kwseval_s(excerpts, splitcts_sum)
    if excerpt_sum == "channel_1":
        first = np.array([declared(name) == 1.0 for name in excerpts.channels] + [False])
        return summed(excerpts.dur_s[first[excerpts.channel]].tolist())
    if excerpt_sum == "sum":
        return summed(excerpts.dur_s.tolist())
    raise UsageError(f"setting excerpt_sum: the value is {excerpt_sum!r}, allowed: kwseval | channel_1 | sum.")


def _kwseval_s(excerpts: Excerpts, splitcts_sum: str) -> float:
    """Each excerpt up to where the next one of its group begins, splitcts counted half.

    Of excerpts with the same span the last of the ECF is counted: the others end where it begins.
    """
    if splitcts_sum not in {"per_file", "per_channel"}:
        raise UsageError(f"setting splitcts_sum: the value is {splitcts_sum!r}, allowed: per_file | per_channel.")
    split = np.array([name == "splitcts" for name in excerpts.source_type], np.bool_)
    group = excerpts.file.astype(np.int64) * (len(excerpts.channels) + 1)
    if splitcts_sum == "per_channel":
        group = group + np.where(split, excerpts.channel + 1, 0)
    order = np.lexsort((excerpts.end_s, excerpts.begin_s, group))
    begin_s, end_s, group = excerpts.begin_s[order], excerpts.end_s[order], group[order]
    followed = np.flatnonzero(group[1:] == group[:-1])
    end_s[followed] = np.minimum(end_s[followed], begin_s[followed + 1])
    return summed(((end_s - begin_s) * np.where(split[order], 0.5, 1.0)).tolist())


def declared(text: str | None) -> float:
    """A number declared in a header, NaN where it is absent or not one."""
    try:
        return math.nan if text is None else float(text)
    except ValueError:
        return math.nan
