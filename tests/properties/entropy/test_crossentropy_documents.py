"""Laws of the document protocol's figures over small random outputs with many ties."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.formats.columns import TextColumn, table
from pipeline.formats.kws.ecf import Ecf
from pipeline.formats.kws.kwlist import KeywordList
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.formats.kws.rttm import Rttm
from pipeline.metrics.kws.det import thinned
from pipeline.partials.merge import merge_tree
from pipeline.protocols import find
from pipeline.protocols.base import DRAWN
from pipeline.trials.schema import N_BUCKETS
from tests.partial_bits import sent
from tests.properties.few_rows import few_rows_at_once

QUERIES, DOCUMENTS = ("a", "b", "c"), ("w", "x", "y", "z")
PAIRS = [(q, d) for q in QUERIES for d in DOCUMENTS]
QUESST = find("quesst", overrides={"censor": "-3"})
ROUNDING = 1e-12


def texts(values):
    column = TextColumn()
    column.extend(values)
    return column


def numbers(n, value=0.0):
    return np.full(n, value)


def reference_of(targets):
    n, m = len(DOCUMENTS), len(targets)
    excerpts = table(
        {
            "file": texts(f"{d}.wav" for d in DOCUMENTS),
            "channel": texts("1" * n),
            "begin_s": numbers(n),
            "dur_s": numbers(n, 10.0),
            "line": np.arange(n),
            "source_type": texts(["cts"] * n),
            "language": texts(["x"] * n),
        }
    )
    records = table(
        {
            "kind": texts(["LEXEME"] * m),
            "file": texts(d for _, d in targets),
            "channel": texts("1" * m),
            "begin_s": numbers(m),
            "dur_s": numbers(m),
            "token": texts(q for q, _ in targets),
            "subtype": texts(["lex"] * m),
            "speaker": texts(["SELF"] * m),
            "line": np.arange(m),
        }
    )
    keywords = table({"id": texts(QUERIES), "text": texts(QUERIES), "line": np.arange(len(QUERIES))})
    tables = {
        "ecf": Ecf({}, excerpts),
        "rttm": Rttm(records),
        "kwlist": KeywordList({}, keywords, ({},) * len(QUERIES)),
    }
    return QUESST.family.refer(QUESST, tables)


def output_of(rows):
    """Rows of query, document, score and decision in the order of the file."""
    n = len(rows)
    seen = list(dict.fromkeys(row[0] for row in rows))
    blocks = table(
        {
            "query": texts(seen),
            "search_time_s": numbers(len(seen)),
            "oov_count": numbers(len(seen)),
            "line": np.arange(len(seen)),
        }
    )
    detections = table(
        {
            "query": texts(row[0] for row in rows),
            "file": texts(row[1] for row in rows),
            "channel": texts("1" * n),
            "begin_s": numbers(n),
            "dur_s": numbers(n, 10.0),
            "score": np.array([row[2] for row in rows], float),
            "decision": np.array([row[3] for row in rows], bool),
            "line": np.arange(n) + 2,
            "block": np.array([seen.index(row[0]) for row in rows], np.int32),
        }
    )
    return SystemOutput({}, blocks, detections)


def tiles_of(targets, rows, ranges):
    reference = reference_of(targets)
    laid, _ = QUESST.family.lay_out(QUESST, {"output": output_of(rows)}, reference.timeline)
    trials = laid.whole()
    parts = [(trials.tiles(*cut), reference.key.tiles(*cut)) for cut in ranges]
    return [QUESST.family.counted(QUESST, *part, reference) for part in parts], reference.facts


def conclude(partial, facts, protocol=QUESST):
    return protocol.family.conclude(protocol, partial, facts, {})


def score(targets, rows, protocol=QUESST):
    [whole], facts = tiles_of(targets, rows, [(0, N_BUCKETS)])
    return conclude(whole, facts, protocol)


def bits(conclusion, *, without=()):
    figures = {
        name: (float(f.value).hex(), f.reason, f.status, {k: float(v).hex() for k, v in f.detail.items()})
        for name, f in conclusion.figures.items()
        if name not in without
    }
    curve = {name: np.asarray(column).tolist() for name, column in conclusion.curve.items()}
    return figures, repr(conclusion.blocks), repr(curve), repr(conclusion.tables)


GRID = st.integers(-4, 4).map(float)
SCORES = st.one_of(GRID, st.floats(-20, 20, width=32), st.sampled_from([math.inf, -math.inf]))
TARGETS = st.lists(st.sampled_from(PAIRS), max_size=8, unique=True)


def outputs(scores):
    rows = st.lists(st.sampled_from(PAIRS), max_size=len(PAIRS), unique=True)
    return rows.flatmap(
        lambda pairs: st.tuples(*(st.tuples(st.just(q), st.just(d), scores, st.booleans()) for q, d in pairs))
    )


@given(TARGETS, outputs(SCORES), st.sets(st.integers(1, N_BUCKETS - 1), max_size=6))
def test_any_tiles_give_the_same_bits_also_through_the_store(targets, rows, cuts):
    edges = [0, *sorted(cuts), N_BUCKETS]
    parts, facts = tiles_of(targets, rows, list(pairwise(edges)))
    merged = merge_tree([sent(part) for part in parts], QUESST.family.zero())
    assert bits(conclude(merged, facts)) == bits(score(targets, rows))


@given(
    TARGETS,
    outputs(SCORES),
    st.sets(st.integers(1, N_BUCKETS - 1), max_size=6),
    st.sampled_from(["-3", "0", "llr_min", "query"]),
    st.sampled_from(["0.0008", "0.5"]),
)
def test_figures_do_not_know_of_blocks(targets, rows, cuts, censor, prior):
    protocol = find("quesst", overrides={"censor": censor, "p_target_effective": prior})
    parts, facts = tiles_of(targets, rows, list(pairwise([0, *sorted(cuts), N_BUCKETS])))
    given = protocol, merge_tree(parts, QUESST.family.zero()), facts, {}
    whole = QUESST.family.concluded(*given)
    with few_rows_at_once(3):
        found = QUESST.family.concluded(*given, DRAWN)
        every = QUESST.family.concluded(*given)
    assert bits(found) == bits(replace(whole, curve=thinned(whole.curve)))
    assert bits(every) == bits(whole)
    assert repr((found.facts, found.findings)) == repr((whole.facts, whole.findings))


@given(TARGETS, outputs(SCORES), st.randoms(use_true_random=False))
def test_the_order_of_the_output_shows_in_one_figure_only(targets, rows, random):
    shuffled = random.sample(rows, len(rows))
    only = ("min_cnxe_pav_input_order",)
    assert bits(score(targets, rows), without=only) == bits(score(targets, shuffled), without=only)


@given(TARGETS, outputs(SCORES))
def test_minima_are_ordered(targets, rows):
    found = score(targets, rows).figures
    assume(found["cnxe"].reason is None)
    value = {name: figure.value for name, figure in found.items()}
    assert value["min_cnxe_pav"] <= value["min_cnxe_affine"] + ROUNDING
    assert value["min_cnxe_affine"] <= min(1.0, value["cnxe"])
    assert value["min_cnxe_pav_input_order"] <= value["min_cnxe_pav"] + ROUNDING
    assert value["lb_cnxe"] <= value["min_cnxe_pav"] + ROUNDING
    assert found["mtwv"].reason == found["ub_twv"].reason
    assert math.isnan(value["mtwv"]) or value["mtwv"] <= value["ub_twv"] + ROUNDING
    assert value["calibration_loss"] == value["cnxe"] - value["min_cnxe_pav"]


@given(TARGETS, outputs(st.integers(-40, 40).map(float)), st.sampled_from([0.25, 3.0, 64.0]), st.integers(-9, 9))
def test_minima_do_not_see_rising_affine_maps(targets, rows, scale, shift):
    moved = [(q, d, scale * s + shift, decision) for q, d, s, decision in rows]
    default = replace(QUESST, settings=replace(QUESST.settings, censor=scale * -3 + shift))
    before, after = score(targets, rows).figures, score(targets, moved, default).figures
    for name in ("min_cnxe_affine", "min_cnxe_pav", "min_cnxe_pav_input_order", "lb_cnxe", "ub_twv", "mtwv"):
        assert after[name].reason == before[name].reason
        assert after[name].value == pytest.approx(before[name].value, abs=1e-11, nan_ok=True)
    affine = [figures["min_cnxe_affine"] for figures in (before, after)]
    assert affine[0].status == affine[1].status
    if affine[0].status == "ok":
        assert affine[1].detail["gamma"] * scale == pytest.approx(affine[0].detail["gamma"], rel=1e-6)


@given(TARGETS, outputs(st.floats(-20, 20, width=32)))
def test_cnxe_at_even_prior_is_cllr(targets, rows):
    even = replace(QUESST, settings=replace(QUESST.settings, p_target_effective=0.5))
    found = score(targets, rows, even)
    assume(found.figures["cnxe"].reason is None)
    table = {row["id"]: row["value"] for row in found.tables["calibration"]}
    assert found.figures["cnxe"].value == pytest.approx(table["cllr"], rel=1e-14)
    assert found.figures["min_cnxe_pav"].value == pytest.approx(table["min_cllr"], rel=1e-13, abs=1e-15)


SCRIPT = """
import hashlib, numpy as np, test_crossentropy_documents as laws
rng = np.random.default_rng(3)
targets = [pair for pair in laws.PAIRS if rng.random() < 0.3]
found = []
for _ in range(25):
    mean = [2.0 if pair in targets else -1.0 for pair in laws.PAIRS]
    rows = [(*pair, float(s), True) for pair, s in zip(laws.PAIRS, np.round(rng.normal(mean, 2.0), 3))]
    found.append(laws.bits(laws.score(targets, rows)))
from tests.plain_entropies import calibrate
labels = rng.integers(0, 4, 4000)
llh = rng.normal(size=(4000, 4)) + 2.0 * np.eye(4)[labels]
found.append(repr(calibrate(llh, labels, (0.4, 0.3, 0.2, 0.1))))
from pipeline.metrics.entropy import affine
score = np.sort(rng.normal(size=20000))
hits = (rng.random(20000) < 0.5 + score / 10).astype(float)
minimum = affine.minimise(score, hits, 1.0 - hits, 0.1, -2.2)
assert minimum.status == "ok"
found.append(repr(minimum))
print(hashlib.sha256(repr(found).encode()).hexdigest())
"""
WIDE = "X86_V4 AVX512_ICL AVX512_SPR"


def test_digests_do_not_depend_on_the_processors_vector_units():
    digests = set()
    for features in ("", WIDE):
        code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n{SCRIPT}"
        environment = {"NPY_DISABLE_CPU_FEATURES": features, "PYTHONPATH": str(Path(__file__).parents[3]), "PATH": ""}
        command = [sys.executable, "-W", "ignore", "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        digests.add(done.stdout)
    assert len(digests) == 1
