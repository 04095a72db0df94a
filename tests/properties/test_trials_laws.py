"""Laws of trials, tiles and the reference search."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.formats.kws.ecf import Ecf, read_ecf
from pipeline.formats.kws.kwlist import KeywordList
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.formats.kws.rttm import Rttm
from pipeline.formats.table import Table
from pipeline.trials import columns
from pipeline.trials.dataset import from_dataset, to_dataset
from pipeline.trials.decimals import to_decimals
from pipeline.trials.keywords import SearchRules, find_occurrences
from pipeline.trials.layout import lay_out, t_audio_s, timeline
from pipeline.trials.noscore import without_noscore
from pipeline.trials.schema import N_BUCKETS, Occurrences, Timeline, Trials
from pipeline.trials.tiles import batches, bucket_of

Row = tuple[Any, ...]

times = st.integers(0, 4000).map(lambda centiseconds: centiseconds / 100)
scores = st.one_of(st.sampled_from([0.0, -0.0, 0.5, 1.0, float("inf"), float("-inf")]), st.floats(-10, 10))
detections = st.lists(
    st.tuples(
        st.sampled_from(["K1", "K2", "ключ", "Q9"]),
        st.sampled_from(["a", "a.sph", "b", "unknown"]),
        st.sampled_from(["1", "2"]),
        times,
        times,
        scores,
        st.booleans(),
    ),
    max_size=25,
)
words = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.just("1"),
        times,
        st.integers(0, 100).map(lambda centiseconds: centiseconds / 100),
        st.sampled_from(["x", "y", "X"]),
        st.sampled_from(["lex", "fp"]),
        st.sampled_from(["s1", "s2"]),
    ),
    max_size=30,
)
texts = st.lists(st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=3).map(" ".join), max_size=4)
searches = st.sampled_from(["kwseval", "stdeval", "stdeval_0.6", "plan"])


def table(names: str, rows: Sequence[Row], *, text: str) -> Table:
    """Rows as the readers return them: text as codes in order of first appearance, and a source line."""
    made: dict[str, Any] = {}
    vocabularies = {}
    for name, values in zip(names.split(), zip(*rows, strict=True) if rows else [()] * len(names.split()), strict=True):
        if name in text.split():
            vocabulary = {value: code for code, value in enumerate(dict.fromkeys(values))}
            vocabularies[name] = tuple(vocabulary)
            made[name] = np.array([vocabulary[value] for value in values], np.int32)
        else:
            made[name] = np.array(values, np.bool_ if name == "decision" else np.float64)
    made["line"] = np.arange(1, len(rows) + 1)
    return Table(made, vocabularies)


def output(rows: Sequence[Row]) -> SystemOutput:
    names = "query file channel begin_s dur_s score decision"
    blocks = [(query, 1.0, float("nan")) for query in sorted({row[0] for row in rows})]
    return SystemOutput(
        {},
        table("query search_time_s oov_count", blocks, text="query"),
        table(names, rows, text="query file channel"),
        (),
    )


def transcript(rows: Sequence[Row]) -> Rttm:
    names = "kind file channel begin_s dur_s token subtype speaker"
    kinds = [("LEXEME", *row) for row in rows]
    return Rttm(table(names, kinds, text="kind file channel token subtype speaker"), ())


def keyword_list(listed: Sequence[str]) -> KeywordList:
    rows = [(f"K{number}", text) for number, text in enumerate(listed)]
    return KeywordList({}, table("id text", rows, text="id text"), (), ())


def recordings() -> Ecf:
    excerpts = "".join(
        f'<excerpt audio_filename="{name}.sph" channel="{channel}" tbeg="0" dur="40" source_type="cts"/>'
        for name in "ab"
        for channel in "12"
    )
    return read_ecf(io.BytesIO(f"<ecf>{excerpts}</ecf>".encode()), "ecf")


LAID: Timeline = timeline(recordings(), files="kwseval")


def laid_out(rows: Sequence[Row]) -> Trials:
    return lay_out(output(rows), LAID, files="kwseval")


def contents(value: Trials | Occurrences, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Every field as bytes or text, so that NaN equals NaN and 0.0 differs from -0.0."""
    found = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in without}
    return {name: item.tobytes() if isinstance(item, np.ndarray) else repr(item) for name, item in found.items()}


@given(detections, st.randoms())
def test_the_order_of_the_output_plays_no_part(rows: list[Row], random: Any) -> None:
    shuffled = random.sample(rows, len(rows))
    assert contents(laid_out(rows), without=("row",)) == contents(laid_out(shuffled), without=("row",))


@given(detections)
def test_every_detection_is_a_trial_once(rows: list[Row]) -> None:
    trials = laid_out(rows)
    assert sorted(trials.row.tolist()) == list(range(1, len(rows) + 1))
    for at, line in enumerate(trials.row.tolist()):
        query, _, channel, begin_s, dur_s, score, decision = rows[line - 1]
        assert trials.queries[trials.query[at]] == query
        assert trials.channels[trials.channel[at]] == channel
        assert (trials.begin_s[at], trials.dur_s[at], trials.score[at]) == (begin_s, dur_s, score)
        assert trials.decision[at] == decision


@given(detections)
def test_buckets_cover_all_rows_in_order(rows: list[Row]) -> None:
    trials = laid_out(rows)
    assert trials.offsets[0] == 0
    assert trials.offsets[-1] == len(trials)
    parts = [trials.tiles(bucket, bucket + 1) for bucket in range(N_BUCKETS)]
    assert np.concatenate([part.row for part in parts]).tolist() == trials.row.tolist()
    for bucket, part in enumerate(parts):
        assert {bucket_of(part.queries[code]) for code in part.query.tolist()} <= {bucket}


@given(detections, st.sampled_from(["K1", "K2", "ключ", "Q9"]))
def test_withdrawing_a_query_changes_no_other_bucket(rows: list[Row], withdrawn: str) -> None:
    def said(trials: Trials) -> list[tuple[Any, ...]]:
        named = ((trials.queries[q], trials.files[f]) for q, f in zip(trials.query, trials.file, strict=True))
        return list(zip(named, trials.begin_s.tolist(), trials.score.tolist(), strict=True))

    everything = laid_out(rows)
    rest = laid_out([row for row in rows if row[0] != withdrawn])
    for bucket in set(range(N_BUCKETS)) - {bucket_of(withdrawn)}:
        assert said(everything.tiles(bucket, bucket + 1)) == said(rest.tiles(bucket, bucket + 1))


@given(detections, st.integers(0, N_BUCKETS), st.integers(0, N_BUCKETS))
@settings(deadline=None, max_examples=30)
def test_a_dataset_gives_back_its_trials(rows: list[Row], one: int, other: int) -> None:
    trials, (first, last) = laid_out(rows), sorted((one, other))
    dataset = to_dataset(trials, LAID, {"uri": "output"})
    wanted = contents(trials.tiles(first, last))
    assert contents(from_dataset(dataset, first, last)) == wanted
    assert contents(from_dataset(dataset, 0, N_BUCKETS).tiles(first, last)) == wanted


sizes = st.lists(st.integers(0, 9), min_size=N_BUCKETS, max_size=N_BUCKETS)


@given(sizes, sizes, st.integers(1, 40))
def test_batches_cover_all_buckets_within_the_limit(trials: list[int], references: list[int], limit: int) -> None:
    offsets = [np.concatenate([[0], np.cumsum(counts)]) for counts in (trials, references)]
    ranges = batches(offsets[0], offsets[1], limit)
    assert [first for first, _ in ranges] == [0, *(last for _, last in ranges[:-1])]
    assert ranges[-1][1] == N_BUCKETS
    for first, last in ranges:
        assert first < last
        rows = sum(trials[first:last]) + sum(references[first:last])
        assert rows <= limit or last == first + 1


@given(words, texts, searches)
def test_occurrences_read_as_their_keyword(rows: list[Row], listed: list[str], search: Any) -> None:
    found, _ = find_occurrences(keyword_list(listed), transcript(rows), SearchRules(search=search))
    spoken = {(row[0], row[2], row[4].lower()) for row in rows}
    for at in range(len(found)):
        text = listed[int(found.queries[found.query[at]][1:])]
        file, read = found.files[found.file[at]], text.split()
        assert (file, found.begin_s[at], read[0]) in spoken
        assert (file, found.last_begin_s[at], read[-1]) in spoken


@given(words, texts, searches)
def test_a_keyword_is_found_whatever_else_is_listed(rows: list[Row], listed: list[str], search: Any) -> None:
    rules = SearchRules(search=search)
    together, _ = find_occurrences(keyword_list(listed), transcript(rows), rules)
    for number in range(len(listed)):
        alone, _ = find_occurrences(keyword_list([*([""] * number), listed[number]]), transcript(rows), rules)
        mine = together.query == together.queries.index(f"K{number}")
        assert together.row[mine].tolist() == alone.row.tolist()
        assert together.end_s[mine].tolist() == alone.end_s.tolist()


def scanned(rows: list[Row], text: list[str], gap_s: float) -> list[tuple[int, float]]:
    """STDEval's search said plainly: one pass over each speaker's words, (line of the first word, end)."""
    chains: dict[Row, list[tuple[int, Row]]] = {}
    for line, row in enumerate(rows, 1):
        chains.setdefault((row[0], row[1], row[6]), []).append((line, row))
    found = []
    for chain in chains.values():
        held: list[tuple[int, Row]] = []
        for line, row in chain:
            _, _, begin_s, dur_s, token, *_ = row
            if held and token.lower() == text[len(held)]:
                last = held[-1][1]
                late = round(begin_s - round(last[2] + last[3], 4), 4) > gap_s
                held = [] if late else [*held, (line, row)]
            else:
                held = [(line, row)] if token.lower() == text[0] else []
            if len(held) == len(text):
                first_s = held[0][1][2]
                found.append((held[0][0], first_s + round(round(begin_s + dur_s, 4) - first_s, 4)))
                held = []
    return found


def in_turn(steps: list[tuple[str, float]]) -> list[Row]:
    """One speaker's words, each beginning the given pause after the one before it."""
    begins_s = np.cumsum([0.5 + pause_s for _, pause_s in steps]).tolist()
    return [("a", "1", begin_s, 0.5, word, "lex", "s1") for (word, _), begin_s in zip(steps, begins_s, strict=True)]


fluent = st.lists(st.tuples(st.sampled_from("xxxyX"), st.sampled_from([0.0, 0.0, 0.0, 2.0])), max_size=40).map(in_turn)
stutters = st.sampled_from(["x x", "x x y", "x y x", "x x x y", "x y x x", "y x"]).map(str.split)


@given(fluent | words, stutters, st.sampled_from([0.0, 0.5, 5.0]))
@settings(max_examples=300)
def test_stdeval_search_is_the_plain_scan(rows: list[Row], text: list[str], gap_s: float) -> None:
    rules = SearchRules(search="stdeval", word_gap_s=gap_s)
    found, _ = find_occurrences(keyword_list([" ".join(text)]), transcript(rows), rules)
    assert sorted(zip(found.row.tolist(), found.end_s.tolist(), strict=True)) == sorted(scanned(rows, text, gap_s))


def walked(rows: list[Row], text: list[str], gap_s: float) -> list[tuple[int, float]]:
    """KWSEval's search said plainly, with its rule that record i is followed by record i + 1 in order of time."""
    chains: dict[Row, list[int]] = {}
    for at, row in enumerate(rows):
        chains.setdefault((row[0], row[1], row[6]), []).append(at)
    following = {}
    for chain in chains.values():
        by_time = sorted(chain, key=lambda at: rows[at][2])
        following.update(zip(chain[:-1], by_time[1:], strict=True))
    found = []
    for first, row in enumerate(rows):
        if row[4] != text[0] or row[5] == "fp":
            continue
        at: int | None = first
        for word in text[1:]:
            end_s, at = round(rows[at][2] + rows[at][3], 4), following.get(at)
            if at is None or round(rows[at][2] - end_s, 4) > gap_s or rows[at][4].casefold() != word.casefold():
                break
        else:
            found.append((first + 1, round(rows[at][2] + rows[at][3], 4)))
    return found


@given(fluent | words, stutters, st.sampled_from([0.0, 0.5, 5.0]))
@settings(max_examples=300)
def test_kwseval_search_is_the_plain_walk(rows: list[Row], text: list[str], gap_s: float) -> None:
    rules = SearchRules(search="kwseval", word_gap_s=gap_s)
    found, _ = find_occurrences(keyword_list([" ".join(text)]), transcript(rows), rules)
    assert sorted(zip(found.row.tolist(), found.end_s.tolist(), strict=True)) == sorted(walked(rows, text, gap_s))


@given(words, texts, st.randoms())
def test_the_plan_reads_time_and_not_the_order_of_lines(rows: list[Row], listed: list[str], random: Any) -> None:
    rules = SearchRules(search="plan")
    one, _ = find_occurrences(keyword_list(listed), transcript(rows), rules)
    shuffled = random.sample(rows, len(rows))
    other, _ = find_occurrences(keyword_list(listed), transcript(shuffled), rules)
    assert contents(one, without=("row",)) == contents(other, without=("row",))


@given(words, texts, searches)
def test_occurrences_come_back_from_columns(rows: list[Row], listed: list[str], search: Any) -> None:
    found, _ = find_occurrences(keyword_list(listed), transcript(rows), SearchRules(search=search))
    assert contents(columns.occurrences(columns.to_columns(found))) == contents(found)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)), st.sampled_from([0, 3, 4]))
def test_rounding_is_that_of_formatting(values: list[float], places: int) -> None:
    assert to_decimals(np.array(values), places).tolist() == [float(f"{value:.{places}f}") for value in values]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("12"), st.integers(0, 50), st.integers(1, 20))))
def test_time_that_is_not_scored_is_taken_from_each_channel(regions: list[tuple[str, str, int, int]]) -> None:
    rows = [("NOSCORE", name, channel, begin, dur, "-", "-", "-") for name, channel, begin, dur in regions]
    names = "kind file channel begin_s dur_s token subtype speaker"
    rttm = Rttm(table(names, rows, text="kind file channel token subtype speaker"), ())
    covered = {(name, channel, s) for name, channel, begin, dur in regions for s in range(begin, min(begin + dur, 40))}
    left_s = 4 * 40 - len(covered)
    cut = without_noscore(LAID, rttm)
    assert cut.excerpts.dur_s.sum() == pytest.approx(left_s, abs=1e-9)
    if left_s:
        assert t_audio_s(cut, excerpt_sum="sum")[0] == pytest.approx(left_s, abs=1e-9)
