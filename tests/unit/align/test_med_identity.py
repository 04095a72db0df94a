"""Trials and key by identity: what is mapped, omitted, without a key, or outside the condition."""

from __future__ import annotations

import numpy as np

from pipeline.align.identity import identify
from pipeline.trials.clips import LEFT_OUT, NONTARGET, TARGET, UNKEYED, ClipKey, ClipTrials, index_of, key_of, trials_of

INDEX, ORDER = index_of([f"{clip}.{event}" for clip in "dcba" for event in ("E1", "E2")], ["E1", "E2"] * 4)


def _key(**labels: int) -> ClipKey:
    """Label of each trial by ``a_E1``; others are non-targets."""
    label = [labels.get(trial.replace(".", "_"), NONTARGET) for trial in INDEX.trial_ids]
    return key_of(INDEX, np.array(label, np.int8), {})


def _trials(*scored: str, submitted: tuple[bool, bool] = (True, True)) -> ClipTrials:
    place = np.array([INDEX.trial_ids.index(trial) for trial in scored], np.int64)
    nothing = np.full(2, np.nan)
    by_name = dict(zip(("E1", "E2"), submitted, strict=True))
    declared = {"submitted": np.array([by_name[e] for e in INDEX.events]), "threshold": nothing, "hours": nothing}
    n = place.size
    return trials_of(INDEX, place, np.linspace(0, 1, n), np.ones(n, bool), np.arange(n), declared)


def _counts(values: np.ndarray) -> dict[str, int]:
    return dict(zip(INDEX.events, values.tolist(), strict=True))


def test_the_index_is_sorted_by_id_inside_an_event():
    assert len(INDEX.events) == 2
    for event, begin in zip(INDEX.events, INDEX.first.tolist(), strict=False):
        assert INDEX.trial_ids[begin : begin + 4] == tuple(f"{clip}.{event}" for clip in "abcd")
    assert sorted(ORDER.tolist()) == list(range(8))


def test_scored_and_missing_trials_of_events_that_were_processed():
    key = _key(a_E1=TARGET, b_E1=TARGET, d_E2=TARGET)
    found = identify(_trials("a.E1", "c.E1", "b.E2"), key, keep_unkeyed=True)
    assert (found.kept.size, int(found.target.sum())) == (3, 1)
    assert _counts(found.n_missing_target) == {"E1": 1, "E2": 1}
    assert _counts(found.n_missing_nontarget) == {"E1": 1, "E2": 2}
    events = np.searchsorted(key.first, found.omitted, side="right") - 1
    assert sorted(INDEX.events[event] for event in events) == ["E1", "E2"]


def test_an_event_that_was_not_processed_misses_nothing():
    found = identify(_trials("a.E1", submitted=(True, False)), _key(d_E2=TARGET), keep_unkeyed=True)
    assert _counts(found.n_missing_target) == {"E1": 0, "E2": 0}
    assert _counts(found.n_missing_nontarget) == {"E1": 3, "E2": 0}


def test_trials_without_a_key_count_as_the_caller_says():
    trials, key = _trials("a.E1", "b.E1"), _key(a_E1=UNKEYED)
    kept = identify(trials, key, keep_unkeyed=True)
    assert (kept.kept.size, bool(kept.target.any()), _counts(kept.n_unkeyed)["E1"]) == (2, False, 1)
    assert identify(trials, key, keep_unkeyed=False).kept.size == 1


def test_trials_outside_the_condition_take_no_part():
    found = identify(_trials("a.E1"), _key(a_E1=LEFT_OUT, b_E1=LEFT_OUT), keep_unkeyed=True)
    assert found.kept.size == 0
    assert _counts(found.n_missing_nontarget)["E1"] == 2


def test_a_tile_holds_its_events_and_says_the_same_of_them():
    trials, key = _trials("a.E1", "b.E2", "c.E2"), _key(a_E1=TARGET, b_E2=TARGET)
    whole = identify(trials, key, keep_unkeyed=True)
    n_targets = 0
    for bucket in range(64):
        tile = identify(trials.tiles(bucket, bucket + 1), key.tiles(bucket, bucket + 1), keep_unkeyed=True)
        n_targets += int(tile.target.sum())
    assert n_targets == int(whole.target.sum()) == 2
