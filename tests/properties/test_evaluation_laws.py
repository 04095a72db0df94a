"""Laws of whole evaluations, from files to figures, for every protocol: what figures may not depend on.

Each law is held by evaluations with nothing even in them (``evaluations.made``): 200 for each group of protocols in
``make test``, 10,000 in ``make soak``. Where a tool's own rule depends on an order, the law is held for the orders that
the tool does not tell apart, and ``test_evaluation_exceptions`` says what the tool's rule is.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import protocols
from pipeline.protocols.base import Protocol
from tests.properties.evaluations import made
from tests.properties.evaluations.model import (
    Evaluation,
    Names,
    document_renamed,
    in_decimals,
    joined,
    mapped,
    names_in,
    new_names,
    renamed,
    score,
    shifted,
    shuffled,
    told,
)

GROUPS: Mapping[str, tuple[str, ...]] = {
    "stdeval": ("std2006", "sws2011", "sws2012", "sws2013"),
    "kwseval": ("openkws13",),
    "segments": ("openkws13-segments",),
    "quesst": ("quesst",),
    "med": ("med11", "med12", "med13", "med13aladdin", "med14", "med15", "med16", "med17"),
    "stt": ("stt13",),
    "trn": ("stt-trn",),
    "lre": ("albayzin-lre12",),
    "labelled": ("detection",),
}
EXAMPLES = {"ci": 200, "soak": 10_000}
laws = settings(max_examples=EXAMPLES.get(os.environ.get("HYPOTHESIS_PROFILE", "ci"), 200))


def of(group: str) -> st.SearchStrategy[Protocol]:
    """A protocol of a group, in one of its modes."""
    return st.sampled_from([one for (name, _), one in sorted(protocols.protocols().items()) if name in GROUPS[group]])


sizes, seeds = st.integers(0, 4), st.integers(0, 2**32)


def every(*groups: str, plain: bool = False) -> Callable[[Any], Any]:
    """Run a test of an evaluation and a source of chance for each group; ``plain``: with the protocols' settings."""

    def wrap(law: Callable[[Evaluation, random.Random], None]) -> Any:
        @pytest.mark.parametrize("group", groups or tuple(GROUPS))
        @laws
        @given(data=st.data(), size=sizes, seed=seeds)
        def test(group: str, data: st.DataObject, size: int, seed: int) -> None:
            rng = random.Random(seed)
            law(made.make(data.draw(of(group)), size, rng, plain=plain), rng)

        test.__doc__ = law.__doc__
        return test

    return wrap


def test_every_protocol_is_in_one_group() -> None:
    listed = [name for group in GROUPS.values() for name in group]
    assert sorted(listed) == sorted(protocols.names())


# Order ----------------------------------------------------------------------------------------------------------------

BY_ORDER = ("min_cnxe_pav_input_order",)
"""Figures whose definition is an order: of the output, and of the ECF for pairs without a score (QUESST's tool)."""


def without(part: Any, names: tuple[str, ...]) -> Any:
    """A document without some figures, wherever they stand."""
    if not isinstance(part, dict):
        return part
    return {name: without(value, names) for name, value in part.items() if name not in names}


@every()
def test_the_order_of_rows_changes_nothing(evaluation: Evaluation, rng: random.Random) -> None:
    """Any order of the rows of any input, all inputs shuffled at once."""
    evaluation = other = in_decimals(evaluation)
    for role in evaluation.roles:
        other = shuffled(other, role, rng)
    assert without(told(score(other)), BY_ORDER) == without(told(score(evaluation)), BY_ORDER)


# Names ----------------------------------------------------------------------------------------------------------------

FIRST_CHANNEL = {"channel": {"1": "1"}}
"""STDEval adds up the excerpts of channel 1: that one keeps its name."""


def _new_names(evaluation: Evaluation, rng: random.Random) -> Names:
    own = made.settings_of(evaluation)
    names = new_names(
        names_in(evaluation, *made.names_of(evaluation)),
        rng,
        FIRST_CHANNEL if own.get("excerpt_sum") == "channel_1" else None,
    )
    if evaluation.protocol.family.name != "events":
        return names
    # DEVA ranks equal scores by TrialID: new ids stand in the order of the old ones.
    old = sorted(row.trial for row in evaluation.roles["index"])
    new = sorted(f"{rng.choice('abzABZ')}{n}" for n in range(len(old)))
    return {**names, "trial": dict(zip(old, new, strict=True))}


@every()
def test_names_change_nothing_but_names(evaluation: Evaluation, rng: random.Random) -> None:
    """Files, channels, queries, speakers, clips, events, segments under new names, however these sort."""
    evaluation = in_decimals(evaluation)
    own = made.settings_of(evaluation)
    if own.get("crossing") == "drop" and own["search"] == "plan":
        evaluation = evaluation.under(crossing="extend")  # else a word that two say at once stands by name
    names = _new_names(evaluation, rng)
    lower = str(own.get("case_sensitive")).lower() == "false"
    other = told(score(renamed(evaluation, names)), plainly=True)
    assert other == told(document_renamed(score(evaluation), names, lower=lower), plainly=True)


# Times ----------------------------------------------------------------------------------------------------------------


@every("stdeval", "kwseval", "segments", "quesst", "stt")
def test_a_shift_of_all_times_changes_nothing(evaluation: Evaluation, rng: random.Random) -> None:
    """All times with the excerpts. They are eighths below 2^11, which tools' decimals and single precision hold."""
    other = told(score(shifted(evaluation, rng.randint(1, 4000) / 8)), plainly=True)
    assert _unplaced(other) == _unplaced(told(score(evaluation), plainly=True))


def _unplaced(scored: dict[str, Any]) -> dict[str, Any]:
    """A document whose alignments do not say when."""
    listed = [
        (place[:2], {name: value for name, value in row.items() if name not in ("begin_s", "end_s")})
        for place, row in sorted(dict(scored.get("alignment", ())).items())
    ]
    return {**scored, "alignment": listed}


# Scores ---------------------------------------------------------------------------------------------------------------

BY_VALUE = (
    *(
        "cxe",
        "cxe_submitted",
        "cnxe",
        "cxe_prior",
        "calibration_loss",
        "min_cnxe_affine",
        "twv_bayes",
        "calibration",
        "ape",
        "pav",
    ),
    *("jar_threshold", "nce", "nce_plan", "reliability", "warnings"),
)
"""What takes scores for log-likelihood ratios or probabilities, lies between two scores, or has them in words."""
BY_TEXT = ("map", "average_precision")
"""Average precision where KWSEval ranks scores as text."""
SCORES = [n / 8 for n in range(-16, 17)]


def rising(rng: random.Random, low: float, high: float) -> dict[float, float]:
    """A strictly increasing map of all scores that evaluations have, to numbers between ``low`` and ``high``."""
    values = sorted(rng.sample(range(1, 4096), len(SCORES)))
    return {one: low + (high - low) * value / 4096 for one, value in zip(SCORES, values, strict=True)}


def hold_under(evaluation: Evaluation, change: Mapping[float, float]) -> None:
    """All that ranks scores is the same under a map of them, and thresholds are mapped."""
    own = made.settings_of(evaluation)
    other = mapped(evaluation, change.__getitem__)
    if "censor" in evaluation.settings and own["censor"] != "query":
        other = other.under(censor=str(change[float(own["censor"])]))
    left_out = (*BY_VALUE, *(BY_TEXT if own.get("map_order") == "text" else ()))
    ranks = own.get("scored_by") == "rank"  # whose thresholds are ranks
    expected = without(told(score(evaluation)), left_out)
    assert without(told(score(other)), left_out) == (expected if ranks else thresholds(expected, change))


def thresholds(part: Any, change: Mapping[float, float], *, named: bool = False) -> Any:
    """A document whose thresholds are mapped; ``named``: all of this part are some."""
    if isinstance(part, list):
        return [thresholds(one, change) for one in part]
    if isinstance(part, dict):
        return {name: thresholds(value, change, named=named or _is_score(str(name))) for name, value in part.items()}
    return change.get(part, part) if named and isinstance(part, float) else part


def _is_score(name: str) -> bool:
    return ("threshold" in name and name != "threshold_bayes") or name in _SCORES_NAMED


_SCORES_NAMED = ("min_yes", "max_no", "score_min_yes", "score_max_no", "llr_min")


@every("stdeval", "kwseval")
def test_a_line_through_scores_leaves_what_ranks_them(evaluation: Evaluation, rng: random.Random) -> None:
    """Detections that compete for one occurrence are chosen by where their scores lie in the range of scores."""
    slope, start = rng.choice((0.25, 2.0, 8.0)), rng.randint(-40, 40) / 8
    hold_under(evaluation, {one: slope * one + start for one in SCORES})


@every("stdeval", "kwseval")
def test_a_rising_map_leaves_what_ranks_scores_that_do_not_compete(evaluation: Evaluation, rng: random.Random) -> None:
    """One detection at most of a query in one file and channel: any strictly increasing map of scores will do."""

    def alone(block: Any) -> Any:
        return block._replace(rows=tuple({(row.file, row.channel): row for row in block.rows}.values()))

    blocks = tuple(map(alone, evaluation.roles["output"]))
    hold_under(evaluation.having(output=blocks), rising(rng, -40.0, 40.0))


@every("segments", "quesst", "med", "stt", "trn")
def test_a_rising_map_leaves_what_ranks_scores(evaluation: Evaluation, rng: random.Random) -> None:
    """No score is held against the range of others: any strictly increasing map will do."""
    if evaluation.protocol.family.name == "tokens":
        evaluation = evaluation.under(alignment="false")  # which shows every confidence
    low, high = (-40.0, 40.0) if evaluation.protocol.family.name in ("segments", "documents") else (0.0, 1.0)
    hold_under(evaluation, rising(rng, low, high))


@every("lre")
def test_a_segment_s_scores_count_up_to_a_constant(evaluation: Evaluation, rng: random.Random) -> None:
    """Scores of a segment are likelihoods up to a factor of its own."""

    def moved(row: Any) -> Any:
        more = rng.randint(-64, 64)
        return row._replace(values=tuple(value + more for value in row.values))

    other = evaluation.having(output=tuple(map(moved, evaluation.roles["output"])))
    assert told(score(other)) == told(score(evaluation))


# Blocks ---------------------------------------------------------------------------------------------------------------


TOLD = ("warnings", "n_warnings")
"""Blocks given twice are warned of."""


@every("stdeval", "kwseval", "segments", "quesst", plain=True)
def test_a_block_in_two_is_what_the_rule_says(evaluation: Evaluation, rng: random.Random) -> None:
    """Blocks given in two halves: one block (plans, QUESST), the last half alone (STDEval), or one more search for all
    occurrences (KWSEval).
    """
    blocks = evaluation.roles["output"]
    cuts = [rng.randint(0, len(block.rows)) for block in blocks]
    first = tuple(block._replace(rows=block.rows[:cut]) for block, cut in zip(blocks, cuts, strict=True))
    second = tuple(block._replace(rows=block.rows[cut:]) for block, cut in zip(blocks, cuts, strict=True))
    rule = getattr(evaluation.protocol.settings, "duplicate_blocks", "merge")
    halves = [score(evaluation.having(output=half)) for half in (first, second)]
    both = score(evaluation.having(output=first + second))
    if rule != "repeat":
        alone = halves[1] if rule == "last" else score(evaluation)
        assert without(told(both), (*BY_ORDER, *TOLD)) == without(told(alone), (*BY_ORDER, *TOLD))
        return
    given = {block.query for block in blocks}
    summed = _counts_of(halves, "blocks")
    assert {name: row for name, row in _counts_of([both], "blocks").items() if name in given} == {
        name: row for name, row in summed.items() if name in given
    }


def _counts_of(documents: list[dict[str, Any]], table: str) -> dict[str, dict[str, int]]:
    """The counts of tables' rows, added up by name."""
    found: dict[str, dict[str, int]] = {}
    for one in documents:
        for row in one[table]:
            into = found.setdefault(row["id"], {})
            for name, value in row.items():
                if isinstance(value, int):
                    into[name] = into.get(name, 0) + value
    return found


# Evaluations that share nothing ---------------------------------------------------------------------------------------

LONE: Mapping[str, Mapping[str, str]] = {"detections": {"t_audio": "100"}, "documents": {"censor": "-2"}}
"""Settings under which what is said of a query does not hang on other queries: T, which they share, is held."""
OPTIMUM = ("twv_optimum", "twv_optimum_threshold", "p_miss_optimum", "p_fa_optimum")
SHARED: Mapping[str, tuple[str, ...]] = {
    "segments": ("twv", "p_fa", *OPTIMUM),
    "documents": ("twv", "p_fa", *OPTIMUM, "n_correct_rejection", "average_precision"),
    "labelled": OPTIMUM,
    "events": ("rtf_metadata", "rtf_execution"),
}
"""What is said of a query that hangs on the segments, documents or clips of all: trials of another evaluation count. Of
labelled scores, there is no best threshold where no query has a target."""


def _hanging(protocol: Protocol, parts: tuple[dict[str, Any], ...]) -> tuple[str, ...]:
    """What in a block hangs on other blocks by rule.

    sws2012 makes beta of all occurrences. KWSEval accepts nothing of a query only at a score of another one, and there
    is no best threshold where no query is scored.
    """
    if protocol.family.name != "detections":
        return SHARED.get(protocol.family.name, ())
    by_beta = ("twv", *OPTIMUM) if protocol.name == "sws2012" else ()
    is_common = protocol.settings.reject_all_point and all(part["facts"]["n_queries_scored"] for part in parts)
    return by_beta if is_common else (*by_beta, *OPTIMUM)


@every(plain=True)
def test_evaluations_that_share_nothing_add_up(evaluation: Evaluation, rng: random.Random) -> None:
    """Counts of both together are those of each added up, and what is said of a query (event, speaker) stays."""
    protocol, family = evaluation.protocol, evaluation.protocol.family.name
    parts = [made.make(protocol, rng.randint(0, 3), rng, tag, plain=True) for tag in "xy"]
    if family == "language":  # both of one track
        codes = parts[0].roles["output"][0].codes
        rows = tuple(row._replace(codes=codes) for row in parts[1].roles["output"])
        parts[1] = parts[1].having(output=rows)
    parts = [_same_range(part).under(**LONE.get(family, {})) for part in parts]
    first, second, both = map(score, joined(*parts))
    if any("refused" in one for one in (first, second, both)):
        return
    left_out = _hanging(protocol, (first, second))
    own = without(told(both), left_out)["blocks"]
    if family == "language":
        assert _counts_of([both], "confusion") == _counts_of([first, second], "confusion")
    else:
        alone = {**dict(told(first)["blocks"]), **dict(told(second)["blocks"])}
        assert own == without(alone, left_out)
    summed = {name for name in both["facts"] if name.startswith("n_") and name not in _NOT_SUMMED}
    facts = [{name: one["facts"][name] for name in summed} for one in (first, second, both)]
    assert facts[2] == {name: facts[0][name] + facts[1][name] for name in summed}


_NOT_SUMMED = ("n_classes", "n_pairs", "n_default", "n_trials")


def _same_range(evaluation: Evaluation) -> Evaluation:
    """With the lowest and the highest score in every output: STDEval holds scores against the range of all of them."""
    if evaluation.protocol.family.name != "detections":
        return evaluation
    blocks = evaluation.roles["output"]
    if not any(block.rows for block in blocks):
        return evaluation
    low = next(row for block in blocks for row in block.rows)._replace(file="nowhere", score=-2.0)
    more = blocks[0]._replace(rows=(*blocks[0].rows, low, low._replace(score=2.0)))
    return evaluation.having(output=(more, *blocks[1:]))


@every("stdeval", "kwseval", "segments", plain=True)
def test_audio_of_evaluations_that_share_nothing_adds_up(evaluation: Evaluation, rng: random.Random) -> None:
    """T of both together, by every rule of excerpts; whole eighths add up exactly."""
    parts = [made.make(evaluation.protocol, rng.randint(0, 2), rng, tag, plain=True) for tag in "xy"]
    first, second, both = (score(one, measures=("p_miss",))["facts"] for one in joined(*parts))
    assert both["t_audio_s"] == first["t_audio_s"] + second["t_audio_s"]
