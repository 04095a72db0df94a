"""Every figure of every family lies in its range, whatever the evaluation: measures, tables, conditions and curves."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from range_evaluations import documents, events, keyword_search, protocol_of, scored, segments, speech

from pipeline.engine.result import unplain
from pipeline.metrics.bounds import ANY, COST, FROM_0, PERCENT, SHARE, UP_TO_1, Bounds
from pipeline.metrics.kws.twv import best_twv
from pipeline.protocols import names
from pipeline.protocols.base import Protocol

RANGES: Mapping[str, Bounds] = {
    r"n_.*|.*_n_.*|t_audio_s|video_hours|corr|sub|del|ins|err|seg_err|forgiven_.*|n": FROM_0,
    r"n_censored_nontarget": ANY,  # below 0 where more was submitted than there are trials, as its status says
    r"(.*_)?p_miss(_optimum)?|(.*_)?p_md(_at_ter)?|consistent|submitted": SHARE,
    r"(.*_)?p_fa(_optimum)?": SHARE,
    r"score_.*|min_yes|max_no|llr.*|delta|offset.*|scale|prior_log_odds": ANY,
    r"twv|.*twv_optimum|nce|nce_plan": UP_TO_1,
    r"twv_supremum|average_precision|tied_mass|(p_target_effective|prior_empirical)|default_error_rate": SHARE,
    r"(min_)?error_rate|eer|min_cllr|min_cnxe.*|f_dis|p_correct|from|to|.*_rate|[A-Z][A-Za-z]+": SHARE,
    r"rate|ins_rate|wer": FROM_0,
    r"ap|ap_prime": PERCENT,
    r"ro|max_ro": Bounds("(-inf, 100]"),
    r"beta|ter|miss_weight|.*ndc.*|sum|rtf.*|hours|gamma|passes": FROM_0,
    r"newton_decrement|(ssf|pl).*_per_s": FROM_0,
    r"c_(mce|min|log)|f_(mce|min|act|cal)|c_eta|cllr": COST,
    r"c_def|f_def": FROM_0,
    r"ln_f_act|sum_log2_.*|(.*_)?threshold(_bayes)?": ANY,
}
"""Columns of tables, facts and companions of figures: a later line wins."""
OWN: Mapping[str, Mapping[str, Bounds]] = {
    "calibration": {"value": COST},
    "confusion": {".*": FROM_0},
    "sys": {"corr|sub|del|seg_err": PERCENT},
}
"""What the same names mean in some tables: segments instead of shares, percent instead of counts."""
KEYWORD_SEARCH = {r"(.*_)?p_fa(_optimum)?": FROM_0}
"""Trials per second are a convention: there may be more false alarms than that."""


def range_of(name: str, ranges: Mapping[str, Bounds]) -> Bounds:
    """The range of a column. Raises ``KeyError`` for one that nothing is said of."""
    found = [bounds for pattern, bounds in ranges.items() if re.fullmatch(pattern, name)]
    if not found:
        raise KeyError(f"what is the range of {name}?")
    return found[-1]


def outside(row: Mapping[str, Any], where: str, ranges: Mapping[str, Bounds]) -> Iterator[str]:
    """Numbers of a row, text left out, that lie outside their ranges."""
    for name, value in row.items():
        number = unplain(value)
        if isinstance(number, int | float) and not math.isnan(number) and not range_of(name, ranges).holds(number):
            yield f"{where}: {name} {number}"


def part_outside(
    protocol: Protocol, part: Mapping[str, Any], where: str, ranges: Mapping[str, Bounds]
) -> Iterator[str]:
    """All that lies outside its range in a document, or in one of its conditions."""
    known = {measure.name: measure for measure in protocol.measures}
    assert part["measures"].keys() == known.keys()
    for name, entry in part["measures"].items():
        value, reason = unplain(entry["value"]), entry["reason"]
        if math.isnan(value) != bool(reason):
            yield f"{where}: {name} {value} with reason {reason}"
        elif not math.isnan(value) and not known[name].bounds_under(protocol.settings).holds(value):
            yield f"{where}: {name} {value}"
        beside = {key: entry[key] for key in entry if key not in ("value", "unit", "reason", "status")}
        means = dict.fromkeys(("average", "pooled"), known[name].bounds_under(protocol.settings))
        yield from outside(beside, f"{where}: {name}", {**ranges, **means})
    yield from outside(part["facts"], f"{where} facts", ranges)
    for table in set(part) - {"facts", "measures", "conditions", "warnings", "alignment"}:
        for row in part[table] if isinstance(part[table], list) else ():
            own = {".*": FROM_0} if row.get("id") == "S.D." else OWN.get(table, {})
            yield from outside(row, f"{where} {table}", {**ranges, **own})
    for name, condition in part.get("conditions", {}).items():
        yield from part_outside(protocol, condition, f"{where} {name}", ranges)


def check(protocol: Protocol, files: Mapping[str, str], **ranges: Bounds) -> None:
    found = scored(protocol, {role: files[role] for role in files if role in {r.name for r in protocol.roles}})
    if found is not None:
        assert list(part_outside(protocol, found, protocol.name, {**RANGES, **ranges})) == []


MODES = ("official", "plan")
KWS = [n for n in names() if n.startswith(("openkws", "std", "sws"))]
MED = [n for n in names() if n.startswith("med")]
CONDITION = "source_type BN:bnews\nquery odd:q[13]\nhas_targets\noov"
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "trials_per_s": st.sampled_from(["0.5", "2"]),
        "pooled": st.just("true"),
        "include_no_targets": st.just("true"),
        "no_targets_trials": st.just("twice"),
        "reject_all_point": st.sampled_from(["true", "false"]),
        "skip_undefined_p_fa": st.just("true"),
        "censor": st.sampled_from(["query", "-10"]),
        "c_fa": st.sampled_from(["0.001", "1000"]),
        "condition": st.just(CONDITION),
    },
)


@pytest.mark.parametrize("name", KWS)
@given(files=keyword_search(), mode=st.sampled_from(MODES), overrides=SETTINGS)
def test_keyword_search(name: str, files: Mapping[str, str], mode: str, overrides: Mapping[str, str]) -> None:
    check(protocol_of(name, mode, overrides), files, **KEYWORD_SEARCH)


@given(files=documents(), censor=st.sampled_from(["error", "-10", "llr_min", "query", "0"]))
def test_documents(files: Mapping[str, str], censor: str) -> None:
    check(protocol_of("quesst", "official", {"censor": censor}), files)


@pytest.mark.parametrize("name", MED)
@given(files=events(), mode=st.sampled_from(MODES), missing=st.sampled_from(["drop", "miss"]))
def test_events(name: str, files: Mapping[str, str], mode: str, missing: str) -> None:
    overrides = {"missing_trials": missing, "conditions": "long: ClipMD.DURATION > 100; short: ClipMD.DURATION < 100"}
    check(protocol_of(name, mode, overrides), files)


@given(files=segments(), empty=st.sampled_from(["undefined", "leave_out"]), closed=st.sampled_from(["true", "false"]))
def test_languages(files: Mapping[str, str], empty: str, closed: str) -> None:
    overrides = {"empty_classes": empty, "also_closed": closed, "t_audio": "100"}
    check(protocol_of("albayzin-lre12", "official", overrides), files)


@given(
    files=speech(),
    mode=st.sampled_from(MODES),
    variant=st.sampled_from(["wer", "cer"]),
    denominator=st.sampled_from(["sclite", "plan", "longest"]),
)
def test_speech_to_text(files: Mapping[str, str], mode: str, variant: str, denominator: str) -> None:
    check(protocol_of("stt13", mode, {"variant": variant, "n_ref_rule": denominator, "alignment": "true"}), files)


@pytest.mark.parametrize("reject_all_point", [True, False])
def test_a_range_may_depend_on_settings(reject_all_point: bool) -> None:
    settings = protocol_of("sws2013", "official", {"reject_all_point": str(reject_all_point).lower()}).settings
    assert best_twv(settings) == (SHARE if reject_all_point else UP_TO_1)
