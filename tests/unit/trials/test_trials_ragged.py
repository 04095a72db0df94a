"""Clips and words in the form in which they are stored: nothing is lost, and each group's rows are one run."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from pipeline.formats.stt.lexicon import Lexicon
from pipeline.trials.clips import ClipIndex, ClipTrials, index_of, trials_of
from pipeline.trials.clipstore import from_dataset, to_dataset
from pipeline.trials.schema import N_BUCKETS
from pipeline.trials.tiles import bucket_of, offsets_of
from pipeline.trials.tokens.dataset import words_from_dataset, words_to_dataset
from pipeline.trials.tokens.layout import unit_name
from pipeline.trials.tokens.schema import TokenTimeline, Words

EVENTS = tuple(f"E{number:03d}" for number in range(12))
SILENT = "E005"
RANGES = [(0, N_BUCKETS), (3, 40), (N_BUCKETS // 2, N_BUCKETS), (64, 64)]


def clips() -> tuple[ClipTrials, ClipIndex]:
    pairs = [(f"c{clip:02d}.{event}", event) for event in EVENTS for clip in range(5)]
    index, _ = index_of([trial for trial, _ in pairs], [event for _, event in pairs])
    scored = np.array([at for at, trial in enumerate(index.trial_ids) if not trial.endswith(SILENT)], np.int64)
    scores = np.random.default_rng(5).normal(size=scored.size)
    scores[:3] = [-0.0, np.inf, 1e308]
    hours = np.where(np.arange(len(EVENTS)) % 2, np.nan, 0.1)
    declared = {"submitted": np.arange(len(EVENTS)) != 3, "threshold": hours + 1, "hours": hours}
    return trials_of(index, scored, scores, scores > 0, scored + 2, declared), index


def words() -> Words:
    places = sorted(
        ((file, channel) for file in range(6) for channel in range(2) if file != 4),
        key=lambda place: (bucket_of(unit_name(f"f{place[0]}", str(place[1] + 1))), place),
    )
    rows = [(*place, word) for place in places for word in range(4)]
    file, channel, word = (np.array(column, np.int32) for column in zip(*rows, strict=True))
    buckets = np.array([bucket_of(unit_name(f"f{one}", str(other + 1))) for one, other, _ in rows])
    begin_s = word * 0.1
    return Words(
        files=tuple(f"f{number}" for number in range(6)),
        channels=("1", "2"),
        words=("a", "b", "c", "д"),
        file=file,
        channel=channel,
        word=word,
        begin_s=begin_s,
        dur_s=np.full(word.size, 0.07),
        confidence=np.where(word == 2, np.nan, 0.3),
        row=np.arange(word.size, dtype=np.int64)[::-1].copy(),
        offsets=offsets_of(buckets),
    )


def same(one: Any, other: Any) -> bool:
    """Whether all fields are equal to the last bit, and of one type."""

    def bits(value: Any) -> Any:
        return (value.dtype, value.tobytes()) if isinstance(value, np.ndarray) else value

    return all(bits(getattr(one, entry.name)) == bits(getattr(other, entry.name)) for entry in fields(one))


@pytest.mark.parametrize(("first", "last"), RANGES)
def test_clips_come_back(first: int, last: int) -> None:
    trials, index = clips()
    assert same(from_dataset(to_dataset(trials, index, {}), first, last), trials.tiles(first, last))


@pytest.mark.parametrize(("first", "last"), RANGES)
def test_words_come_back(first: int, last: int) -> None:
    stored = words_to_dataset(words(), TokenTimeline(("f0 1",), Lexicon({})), {})
    assert same(words_from_dataset(stored, first, last), words().tiles(first, last))


def test_the_clips_of_an_event_are_one_run_of_rows() -> None:
    stored = to_dataset(*clips(), {})
    for event in EVENTS:
        first, n_rows = (int(stored[name].sel(event=event)) for name in ("first_row", "n_rows"))
        names = stored["trial_id"].values[first : first + n_rows].tolist()
        assert names == ([] if event == SILENT else [f"c{clip:02d}.{event}" for clip in range(5)])


def test_the_words_of_a_recording_are_one_run_of_rows() -> None:
    stored = words_to_dataset(words(), TokenTimeline((), Lexicon({})), {})
    assert stored.sizes["recording"] == 10
    for recording in stored["recording"].values.tolist():
        first, n_rows = (int(stored[name].sel(recording=recording)) for name in ("first_row", "n_rows"))
        run = stored.isel(trial=slice(first, first + n_rows))
        assert set(stored["file_name"].values[run["file"].values]) == {recording.split()[0]}
        assert run["begin"].values.tolist() == sorted(run["begin"].values.tolist())
        assert n_rows == 4


@pytest.mark.parametrize(
    "stored",
    [to_dataset(*clips(), {}), words_to_dataset(words(), TokenTimeline((), Lexicon({})), {})],
    ids=["clips", "words"],
)
def test_every_array_says_what_it_is(stored: Any) -> None:
    for name, array in stored.variables.items():
        assert {"units", "long_name", "source"} <= set(array.attrs), name
