"""Twenty and more disputes, one for every way in which an alignment can be decided: the right rule is named."""

from __future__ import annotations

import io

import pytest

from pipeline import protocols
from pipeline.errors import UsageError
from pipeline.formats import READERS
from pipeline.protocols.kws import dispute as kws_dispute
from pipeline.protocols.kws.dispute import RULES, explain_query

Word = tuple[str, float, float]
"""File, begin, duration."""
Detection = tuple[str, float, float, float, str]
"""File, begin, duration, score, decision."""


def explained(words: list[Word], detections: list[Detection], *, head: str = "", texts: str = "a", **settings: str):
    """Every row of query ``a``; files f, g of 100 s in one excerpt and h of 50 s in two that abut."""
    excerpts = [("f", 0, 100), ("g", 0, 100), ("h", 0, 25), ("h", 25, 25)]
    ecf = "".join(
        f'<excerpt audio_filename="{file}" channel="1" tbeg="{at}" dur="{dur}" language="x" source_type="bnews"/>'
        for file, at, dur in excerpts
    )
    spoken = [
        (file, begin + at * dur / len(texts.split()), dur / len(texts.split()), word)
        for file, begin, dur in words
        for at, word in enumerate(texts.split())
    ]
    rttm = "".join(f"LEXEME {file} 1 {begin} {dur} {word} lex s <NA>\n" for file, begin, dur, word in sorted(spoken))
    kws = "".join(
        f'<kw file="{file}" channel="1" tbeg="{begin}" dur="{dur}" score="{score}" decision="{decision}"/>\n'
        for file, begin, dur, score, decision in detections
    )
    files = {
        "ecf": f'<ecf version="1" language="x" source_signal_duration="250">{ecf}</ecf>',
        "rttm": rttm,
        "kwlist": '<kwlist ecf_filename="e" version="1" language="x" encoding="UTF-8" compareNormalize="lowercase">'
        f'<kw kwid="a"><kwtext>{texts}</kwtext></kw></kwlist>',
        "output": f'<kwslist kwlist_filename="k" language="x" system_id="s" {head}>'
        f'<detected_kwlist kwid="a" search_time="1" oov_count="0">{kws}</detected_kwlist></kwslist>',
    }
    protocol = protocols.find("openkws13", overrides=settings)
    formats = {role.name: role.format for role in protocol.roles}
    tables = {role: READERS[formats[role]](io.BytesIO(text.encode()), role) for role, text in files.items()}
    reference = protocol.family.refer(protocol, tables)
    trials, _ = protocol.family.lay_out(protocol, tables, reference.timeline)
    return explain_query(protocol, trials, reference.key, reference, "a")


W = [("f", 10.0, 1.0)]
TWO = [("f", 10.0, 1.0), ("f", 11.5, 1.0)]
DISPUTES: dict[str, tuple[dict, list[tuple[str, float, str, str]]]] = {
    # (kind, begin) → (outcome, rule)
    "a hit with nothing beside it": (
        {"words": W, "detections": [("f", 10.1, 1.0, 0.9, "YES")]},
        [("detection", 10.1, "CORR", "only"), ("occurrence", 10.0, "CORR", "only")],
    ),
    "a mapped NO is a miss": (
        {"words": W, "detections": [("f", 10.1, 1.0, 0.9, "NO")]},
        [("detection", 10.1, "MISS", "only"), ("occurrence", 10.0, "MISS", "only")],
    ),
    "the border of the tolerance belongs to it": (
        {"words": W, "detections": [("f", 11.0, 1.0, 0.9, "YES")]},
        [("detection", 11.0, "CORR", "only")],
    ),
    "a mid point beyond the tolerance": (
        {"words": W, "detections": [("f", 11.1, 1.0, 0.9, "YES")]},
        [("detection", 11.1, "FA", "out_of_reach"), ("occurrence", 10.0, "MISS", "none_in_reach")],
    ),
    "a long overlap does not help a mid point out of reach": (
        {"words": W, "detections": [("f", 10.0, 5.0, 0.9, "YES")]},
        [("detection", 10.0, "FA", "out_of_reach")],
    ),
    "another recording": (
        {"words": W, "detections": [("g", 10.0, 1.0, 0.9, "YES")]},
        [("detection", 10.0, "FA", "no_occurrence"), ("occurrence", 10.0, "MISS", "no_detection")],
    ),
    "a NO where nothing is": (
        {"words": W, "detections": [("g", 10.0, 1.0, 0.9, "NO")]},
        [("detection", 10.0, "CORR!DET", "no_occurrence")],
    ),
    "the higher score takes the occurrence": (
        {"words": W, "detections": [("f", 10.0, 1.0, 0.5, "YES"), ("f", 10.2, 1.0, 0.9, "YES")]},
        [("detection", 10.0, "FA", "score"), ("detection", 10.2, "CORR", "score"),
         ("occurrence", 10.0, "CORR", "score")],
    ),
    "a NO with the higher score takes it from a YES": (
        {"words": W, "detections": [("f", 10.0, 1.0, 0.5, "YES"), ("f", 10.2, 1.0, 0.9, "NO")]},
        [("detection", 10.0, "FA", "score"), ("detection", 10.2, "MISS", "score"),
         ("occurrence", 10.0, "MISS", "score")],
    ),
    "of equal scores the larger overlap": (
        {"words": W, "detections": [("f", 10.0, 1.0, 0.5, "YES"), ("f", 10.4, 1.0, 0.5, "YES")]},
        [("detection", 10.0, "CORR", "overlap"), ("detection", 10.4, "FA", "overlap")],
    ),
    "a wide header makes a small difference of scores less than overlap": (
        {
            "words": W, "detections": [("f", 10.0, 1.0, 0.5, "YES"), ("f", 10.4, 1.0, 0.503, "YES")],
            "head": 'min_score="0" max_score="1"',
        },
        [("detection", 10.0, "CORR", "overlap"), ("detection", 10.4, "FA", "overlap")],
    ),
    "without a header the same scores decide": (
        {"words": W, "detections": [("f", 10.0, 1.0, 0.5, "YES"), ("f", 10.4, 1.0, 0.503, "YES")]},
        [("detection", 10.0, "FA", "score"), ("detection", 10.4, "CORR", "score")],
    ),
    "more pairs before better ones": (
        {"words": TWO, "detections": [("f", 9.2, 1.0, 0.1, "YES"), ("f", 10.6, 1.0, 0.9, "YES")]},
        [("detection", 9.2, "CORR", "most_pairs"), ("detection", 10.6, "CORR", "most_pairs")],
    ),
    "the sum of all pairs before one of them": (
        {"words": [("f", 10.0, 1.0), ("f", 11.0, 1.0)], "detections": [
            ("f", 10.0, 1.9, 0.5, "YES"), ("f", 10.1, 1.0, 0.5, "YES")]},
        [("detection", 10.0, "CORR", "largest_sum"), ("occurrence", 11.0, "CORR", "largest_sum")],
    ),
    "an equal worth: the earlier begin": (
        {"words": W, "detections": [("f", 9.8, 1.0, 0.5, "YES"), ("f", 10.2, 1.0, 0.5, "NO")]},
        [("detection", 9.8, "CORR", "tie_begin"), ("detection", 10.2, "CORR!DET", "tie_begin")],
    ),
    "an equal worth: the shorter one": (
        {"words": W, "detections": [("f", 9.75, 1.5, 0.5, "YES"), ("f", 9.75, 1.75, 0.5, "NO")]},
        [("detection", 9.75, "CORR", "tie_duration"), ("detection", 9.75, "CORR!DET", "tie_duration")],
    ),
    "an equal worth: YES before NO": (
        {"words": W, "detections": [("f", 10.0, 1.0, 0.5, "NO"), ("f", 10.0, 1.0, 0.5, "YES")]},
        [("detection", 10.0, "CORR", "tie_decision"), ("detection", 10.0, "CORR!DET", "tie_decision")],
    ),
    "the same row twice": (
        {"words": W, "detections": [("f", 10.0, 1.0, 0.5, "YES")] * 2},
        [("detection", 10.0, "CORR", "identical"), ("detection", 10.0, "FA", "identical")],
    ),
    "one detection in reach of two occurrences": (
        {"words": TWO, "detections": [("f", 10.6, 1.0, 0.9, "YES")]},
        [
            ("detection", 10.6, "CORR", "overlap"), ("occurrence", 10.0, "CORR", "overlap"),
            ("occurrence", 11.5, "MISS", "overlap"),
        ],
    ),
    "one detection halfway between two": (
        {"words": TWO, "detections": [("f", 10.75, 1.0, 0.9, "YES")]},
        [("detection", 10.75, "CORR", "tie_reference")],
    ),
    "a detection across two excerpts that abut": (
        {"words": [("h", 24.0, 0.5)], "detections": [("h", 24.5, 1.0, 0.9, "YES")]},
        [("detection", 24.5, "dropped", "outside_ecf"), ("occurrence", 24.0, "MISS", "no_detection")],
    ),
    "a detection that ends a bit behind its excerpt": (
        {"words": W, "detections": [("f", 99.5, 0.6, 0.9, "YES")]},
        [("detection", 99.5, "dropped", "outside_ecf")],
    ),
    "an occurrence whose first word lies inside": (
        {"words": [("h", 24.0, 2.0)], "detections": [], "texts": "a b"},
        [("occurrence", 24.0, "MISS", "no_detection")],
    ),
    "an occurrence whose first word lies across": (
        {"words": [("h", 24.5, 2.0)], "detections": [], "texts": "a b"},
        [("occurrence", 24.5, "dropped", "outside_ecf")],
    ),
    "a recording that is not asked for": (
        {"words": [("f", 10.0, 1.0), ("g", 10.0, 1.0)], "detections": [("f", 10.0, 1.0, 0.9, "YES")],
         "namefile": "g/1"},
        [("detection", 10.0, "dropped", "outside_namefile"), ("occurrence", 10.0, "dropped", "outside_namefile")],
    ),
    "a tolerance of the season's own": (
        {"words": W, "detections": [("f", 11.1, 1.0, 0.9, "YES")], "tolerance_s": "2"},
        [("detection", 11.1, "CORR", "only")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DISPUTES)
def test_the_right_rule_is_named(name):
    given, wanted = DISPUTES[name]
    rows = explained(**given)
    found = [(row.kind, row.begin_s, row.outcome, row.rule) for row in rows]
    assert set(wanted) <= set(found), found
    assert all(row.rule in RULES for row in rows)


def test_there_are_twenty_disputes_and_every_rule_but_one_decides_one():
    assert len(DISPUTES) >= 20
    named = {rule for _, wanted in DISPUTES.values() for *_, rule in wanted}
    assert set(RULES) - named == {"tie_score"}, "scores that differ have another worth unless infinite"


def test_pairs_have_their_kernel_values():
    rows = explained(W, [("f", 10.0, 1.0, 0.5, "YES"), ("f", 10.4, 1.0, 0.9, "YES")])
    [occurrence] = [row for row in rows if row.kind == "occurrence"]
    by_begin = {pair.begin_s: pair for pair in occurrence.pairs}
    assert by_begin[10.0].time_congruence == pytest.approx(1.0)
    assert by_begin[10.4].time_congruence == pytest.approx(0.6)
    assert (by_begin[10.0].score_congruence, by_begin[10.4].score_congruence) == pytest.approx((0.0, 1.0))
    assert by_begin[10.4].kernel == pytest.approx(1 + 0.6e-8 + 1e-6, abs=1e-15)
    assert [pair.mapped for pair in occurrence.pairs] == [pair.begin_s == 10.4 for pair in occurrence.pairs]


def test_more_pairs_than_anybody_reads_are_refused_and_not_listed(monkeypatch):
    detections = [("f", 10.5 + at / 100, 1.0, 0.5, "YES") for at in range(3)]
    assert sum(len(row.pairs) for row in explained(TWO, detections) if row.kind == "detection") == 6
    monkeypatch.setattr(kws_dispute, "PAIRS_AT_MOST", 5)
    with pytest.raises(UsageError, match=r"6 pairs .* \(allowed: 5\)"):
        explained(TWO, detections)
