"""Laws of keyword search with conditions: neither the order of detections nor the cut into tiles shows anywhere."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.engine.result import to_bytes
from pipeline.engine.score import scored, survey
from pipeline.formats import READERS
from pipeline.partials.merge import merge_tree
from pipeline.protocols import find
from pipeline.trials.tiles import bucket_of
from tests.partial_bits import bits_of, sent

QUERIES = tuple(f"q{n}" for n in range(12))
CONDITION = (
    "source_type BN:bnews\nsource_type both:bnews,cts\nspeaker female:adult_female\nspeaker other:.*male\n"
    "query odd:q[13579]\nattribute Kind\noov\nhas_targets"
)
NAMES = {"BN", "both", "female", "other", "odd", "Kind-0", "Kind-1", "OOV", "IV", "HasTargets", "NoTargets"}
CONFIGURATIONS = [
    ("official", {"condition": CONDITION, "trials_per_s": "10"}),
    ("plan", {"condition": CONDITION, "tolerance_s": "1", "c_fa": "1", "include_no_targets": "true"}),
]

ROWS = st.lists(
    st.tuples(
        st.sampled_from(QUERIES),
        st.sampled_from("fg"),
        st.integers(0, 60).map(lambda n: n / 4),
        st.integers(-4, 4).map(lambda n: n / 2),
        st.sampled_from(("YES", "NO")),
    ),
    min_size=1,
    max_size=40,
)
KEY = st.sets(st.tuples(st.sampled_from(QUERIES), st.sampled_from("fg"), st.integers(0, 15)), min_size=1, max_size=20)


def _read(role: str, text: str) -> Any:
    return READERS[role](io.BytesIO(text.encode()), role)


def _tables(key: set[tuple[str, str, int]], rows: list[tuple[str, str, float, float, str]]) -> dict[str, Any]:
    excerpts = "".join(
        f'<excerpt audio_filename="{file}.sph" channel="1" tbeg="0" dur="60" source_type="{kind}"/>'
        for file, kind in (("f", "bnews"), ("g", "cts"))
    )
    words = "".join(
        f'<kw kwid="{query}"><kwtext>{query}</kwtext><kwinfo><attr><name>Kind</name><value>{n % 2}</value></attr>'
        "</kwinfo></kw>"
        for n, query in enumerate(QUERIES)
    )
    speakers = (
        "SPKR-INFO f 1 <NA> <NA> <NA> adult_female s <NA>\nSPKR-INFO g 1 <NA> <NA> <NA> adult_male s <NA>\n"
        "NOSCORE g 1 3 2 <NA> <NA> <NA> <NA>\n"
    )
    in_time = sorted(key, key=lambda occurrence: (occurrence[2], occurrence))
    blocks: dict[str, str] = {}
    for query, file, begin, score, decision in rows:
        place = f'file="{file}" channel="1" tbeg="{begin}" dur="1"'
        blocks[query] = blocks.get(query, "") + f'<kw {place} score="{score}" decision="{decision}"/>'
    detected = "".join(
        f'<detected_kwlist kwid="{query}" oov_count="{int(query[1:]) % 3}">{kws}</detected_kwlist>'
        for query, kws in blocks.items()
    )
    head = '<kwlist ecf_filename="e" language="x" encoding="UTF-8" compareNormalize="" version="1">'
    return {
        "ecf": _read("ecf", f'<ecf source_signal_duration="120" language="x" version="1">{excerpts}</ecf>'),
        "rttm": _read("rttm", speakers + "".join(f"LEXEME {f} 1 {b} 1 {q} lex s <NA>\n" for q, f, b in in_time)),
        "kwlist": _read("kwlist", f"{head}{words}</kwlist>"),
        "output": _read("kwslist", f'<kwslist kwlist_filename="k" language="x" system_id="s">{detected}</kwslist>'),
    }


def _result(mode: str, overrides: dict[str, str], tables: dict[str, Any], edges: list[int]) -> tuple[bytes, bytes, Any]:
    """Merged partial and result as bytes, and the names of conditions, from tiles between these buckets."""
    protocol = find("openkws13", mode=mode, overrides=overrides)
    family = protocol.family
    reference = family.refer(protocol, tables)
    laid, _ = family.lay_out(protocol, tables, reference.timeline)
    trials = laid.whole()
    parts = [
        sent(family.counted(protocol, trials.tiles(a, b), reference.key.tiles(a, b), reference))
        for a, b in pairwise(edges)
    ]
    total = merge_tree(parts, family.zero())
    concluded = family.conclude(protocol, total, reference.facts, survey(family, trials))
    made = replace(scored(protocol, concluded, (), (), None), sources=())
    return bits_of(total), to_bytes(made), set(made.conditions)


@pytest.mark.parametrize(("mode", "overrides"), CONFIGURATIONS, ids=["official", "plan"])
@settings(max_examples=15)
@given(key=KEY, rows=ROWS, seed=st.integers(0, 1000))
def test_order_and_tiles_change_no_condition_and_no_figure(
    mode: str,
    overrides: dict[str, str],
    key: set[tuple[str, str, int]],
    rows: list[tuple[str, str, float, float, str]],
    seed: int,
) -> None:
    tables = _tables(key, rows)
    whole = _result(mode, overrides, tables, [0, 64])
    assert whole[2] == NAMES
    assert _result(mode, overrides, tables, list(range(65))) == whole
    assert _result(mode, overrides, tables, [0, 9, 18, 27, 36, 45, 54, 64]) == whole
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert _result(mode, overrides, _tables(key, shuffled), [0, 64]) == whole


def test_the_queries_lie_in_several_batches() -> None:
    assert len({min(bucket_of(query) // 9, 6) for query in QUERIES}) >= 4
