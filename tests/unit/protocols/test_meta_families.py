"""MED, language recognition and speech-to-text in one study with keyword search: one table, intervals, tests."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from lre_files import key_of, key_text, output_text
from med_tiny import CLIPMD, EVENTDB, INDEX, REF, SCORES, THRESHOLD, detection

from flows.studies import conclude, evaluations, finish_here, lacking, prepare
from pipeline.config.meta_file import load_study
from pipeline.engine.cell import load_result
from pipeline.meta.analysis import Analysis
from pipeline.meta.cells import OpenCell
from pipeline.meta.evaluated import Evaluated
from pipeline.metrics.statistics.draws import weights
from pipeline.metrics.statistics.resampling import Ratios
from pipeline.partials.score_rows import ScoreRows
from pipeline.store.blobs import Store

MED = """\
name: med
protocol: med11
datasets:
  test: {ref: ref.csv, index: index.csv, clipmd: clipmd.csv, eventdb: eventdb.csv}
query_sets: {events: {}}
systems:
  pattern: {detection: '{system}.detection.csv', threshold: '{system}.threshold.csv'}
"""
LRE = """\
name: lre
protocol: albayzin-lre12
datasets: {kalaka3: {key: key.txt}}
query_sets: {PC: {}}
systems: {pattern: '{system}.{query_set}.out', primary: [GTTS_pri, L2F_pri]}
"""
STT = """\
name: talk
protocol: stt13
datasets: {dev: {stm: dev.stm}}
query_sets: {all: {}}
systems: {pattern: '{system}.ctm'}
"""
STUDY = """\
name: families
evaluations:
  med: {year: 2011, evaluation: med/evaluation.yaml}
  lre: {year: 2012, evaluation: lre/evaluation.yaml}
  stt: {year: 2013, evaluation: stt/evaluation.yaml}
resampling: {replicates: 200}
"""
SPEAKERS = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")


def words(system: int) -> str:
    """A recogniser that gets every (3 + system)-th word wrong."""
    rows = ((f, w) for f in range(len(SPEAKERS)) for w in range(12))
    return "".join(
        f"f{f} 1 {w}.1 0.5 {'wrong' if (f * 12 + w) % (3 + 2 * system) == 0 else f'word{w}'} 0.9\n" for f, w in rows
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Analysis, tuple[Evaluated, ...], Store, dict[str, str]]:
    root = tmp_path_factory.mktemp("families")
    texts = {"med/evaluation.yaml": MED, "lre/evaluation.yaml": LRE, "stt/evaluation.yaml": STT, "meta.yaml": STUDY}
    texts |= {"med/ref.csv": REF, "med/index.csv": INDEX, "med/clipmd.csv": CLIPMD, "med/eventdb.csv": EVENTDB}
    other = copy.deepcopy(SCORES)
    other["E1"] = {clip: 1.0 - score for clip, score in other["E1"].items()}
    for system, scores in (("one", SCORES), ("two", other)):
        texts |= {f"med/{system}.detection.csv": detection(scores), f"med/{system}.threshold.csv": THRESHOLD}
    key = key_of(6)
    texts["lre/key.txt"] = key_text(key)
    for seed, (system, strength) in enumerate({"GTTS_pri": 3.0, "L2F_pri": 0.5}.items()):
        texts[f"lre/{system}.PC.out"] = output_text(key, "PC", strength=strength, seed=seed)
    said = " ".join(f"word{w}" for w in range(12))
    texts["stt/dev.stm"] = "".join(f"f{at} 1 {name} 0 20 <o> {said}\n" for at, name in enumerate(SPEAKERS))
    texts |= {f"stt/{name}.ctm": words(at) for at, name in enumerate(("worse", "better"))}
    for name, text in texts.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    store, asked = Store(str(root / "store")), load_study(str(root / "meta.yaml"))
    planned = prepare(asked, store)
    found = evaluations(planned, {one.name: finish_here(one) for one in lacking(planned)})
    analysis, paths = conclude(asked, store, found)
    return analysis, found, store, paths


def cells(evaluated: Evaluated) -> dict[str, OpenCell]:
    (place,) = evaluated.boards
    found = evaluated.cells(place)
    assert all(isinstance(cell, OpenCell) for cell in found.values()), found
    return found  # type: ignore[return-value]


def test_all_families_are_in_one_table(study):
    analysis, _, store, paths = study
    primary = {"med": "ndc", "lre": "f_act", "stt": "wer"}
    for name, measure in primary.items():
        rows = [row for row in analysis.rows if (row.evaluation, row.measure, row.condition) == (name, measure, "all")]
        assert len(rows) == 2
        assert all(not math.isnan(row.value) and row.key and row.n > 1 for row in rows)
        assert all(row.low <= row.value <= row.high or row.interval == "constant" for row in rows)
    units = {board.evaluation: board.intervals.unit for board in analysis.boards}
    assert units == {"med": "event", "lre": "segment", "stt": "speaker"}
    page = store.get(paths["index.html"]).decode()
    assert all(f"{name}, " in page for name in primary)


@pytest.mark.parametrize(
    ("at", "measures"),
    [
        (0, "p_md p_fa ndc min_ndc mean_min_ndc mean_ndc_at_ter ap ap_prime ro max_ro"),
        (1, "c_mce f_mce f_act ln_f_act"),
        (2, "wer"),
    ],
)
def test_a_figure_of_all_units_once_is_that_of_the_result(study, at, measures):
    evaluated = study[1][at]
    for system, cell in cells(evaluated).items():
        result = load_result(evaluated.store, cell.job.address)
        for measure in measures.split():
            sample = cell.sample(measure)
            figure = result.figures[measure]
            if isinstance(sample, str):
                assert math.isnan(figure.value), (system, measure, sample)
                continue
            assert sample.values(np.ones((1, len(sample.units)), np.int64))[0] == pytest.approx(figure.value, rel=1e-9)


def test_a_replicate_of_segments_is_the_cost_of_repeated_segments(study):
    cell = cells(study[1][1])["GTTS_pri"]
    sample = cell.sample("f_act")
    assert isinstance(sample, Ratios)
    trials, key = cell.rows()
    drawn = weights(3, range(2), sample.strata)
    family = cell.protocol.family
    for counts, value in zip(drawn, sample.values(drawn), strict=True):
        times = dict(zip(sample.units, counts.tolist(), strict=True))
        rows = np.array([row for row, name in enumerate(trials.segments) for _ in range(times.get(name, 0))])
        total = ScoreRows.of(trials.classes, key.labels, key.label[rows], trials.scores[rows])
        scored = family.can.whole(
            cell.protocol, total, cell.reference.facts, {"task": trials.task, "set": trials.chosen_set}
        )
        figure = next(m for m in cell.protocol.measures if m.name == "f_act").of(scored)
        assert value == pytest.approx(figure.value, rel=1e-9)


def test_speech_to_text_is_told_apart_by_mapsswe(study):
    board = next(board for board in study[0].boards if board.evaluation == "stt")
    (pair,) = board.intervals.comparisons
    assert (pair.first, pair.second, pair.test) == ("better", "worse", "mapsswe")
    first, second = (cells(study[1][2])[name] for name in (pair.first, pair.second))
    expected = first.protocol.family.can.compare(first.partial, second.partial)["mapsswe"].value
    assert pair.p == expected
    assert pair.difference < 0


def test_segments_are_drawn_class_by_class(study):
    sample = cells(study[1][1])["GTTS_pri"].sample("f_act")
    assert isinstance(sample, Ratios)
    drawn = weights(1, range(5), sample.strata)
    for code in np.unique(sample.strata):
        assert (drawn[:, sample.strata == code].sum(axis=1) == (sample.strata == code).sum()).all()
