"""Settings: read, checked, described, and all of them in the signature."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from pipeline import protocols
from pipeline.errors import UsageError
from pipeline.protocols.kws.point import operating_point
from pipeline.terms import Source

SOURCES = (Source("k", "rttm", "ab" * 32, 10), Source("o", "output", "cd" * 32, 20))
OTHER = {
    "withdrawn": "q1", "excluded_files": "f",
    "trials_rule": "exact", "t_audio": 7.0, "excerpt_sum": "sum", "splitcts_sum": "per_channel", "ecf_filter": "none",
    "files": "stdeval", "search": "plan", "score_range": "keyword", "unknown_query": "error", "censor": -3.0,
    "p_target_effective": 0.25, "k_table": "african_dev_dev", "noscore": "cut", "character_split": "all",
    "no_targets_trials": "twice", "duplicate_blocks": "last", "namefile": "f/1", "namefile_detections": "all",
    "condition": "oov", "repeated_groups": "once", "repeated_texts": "again", "map_order": "number",
    "source_type_of": "first",
}  # fmt: skip


def test_strings_are_read_as_the_settings_type() -> None:
    found = protocols.find("sws2013", overrides={"tolerance_s": "0.25", "include_no_targets": "TRUE", "t_audio": "60"})
    assert (found.settings.tolerance_s, found.settings.include_no_targets, found.settings.t_audio) == (0.25, True, 60.0)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"tolerence_s": "1"}, "no setting 'tolerence_s'"),
        ({"p_target": "0"}, r"allowed: a number in \[1e-12, 1\)"),
        ({"p_target": "nan"}, "the value is 'nan'"),
        ({"c_fa": "1_0"}, "the value is '1_0'"),
        ({"include_no_targets": "1"}, r"allowed: true \| false"),
        ({"search": "kws"}, r"allowed: kwseval \| stdeval \| stdeval_0.6 \| plan"),
    ],
)
def test_a_wrong_setting_says_what_is_allowed(overrides: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        protocols.find("openkws13", overrides=overrides)


def test_unknown_names_and_modes_say_what_is_allowed() -> None:
    with pytest.raises(UsageError, match="openkws13"):
        protocols.find("openkws")
    with pytest.raises(UsageError, match="official"):
        protocols.find("sws2013", mode="text")


@pytest.mark.parametrize("field", fields(protocols.find("openkws13").settings), ids=lambda field: field.name)
def test_every_setting_is_in_the_signature(field: object) -> None:
    protocol = protocols.find("openkws13")
    value = getattr(protocol.settings, field.name)
    other = OTHER[field.name] if field.name in OTHER else not value if isinstance(value, bool) else value / 2
    changed = replace(protocol, settings=replace(protocol.settings, **{field.name: other}))
    assert protocols.signature(changed, SOURCES) != protocols.signature(protocol, SOURCES)


@pytest.mark.parametrize("field", ["name", "edition", "mode", "primary", "measures", "roles"])
def test_every_other_field_is_in_the_signature(field: str) -> None:
    protocol = protocols.find("openkws13")
    value = getattr(protocol, field)
    other = value[1:] if isinstance(value, tuple) else value + 1 if isinstance(value, int) else f"{value}x"
    changed = replace(protocol, **{field: other})
    assert protocols.signature(changed, SOURCES) != protocols.signature(protocol, SOURCES)


def test_every_input_is_in_the_signature_in_any_order() -> None:
    protocol = protocols.find("openkws13")
    line = protocols.signature(protocol, SOURCES)
    assert protocols.signature(protocol, SOURCES[::-1]) == line
    assert protocols.signature(protocol, (SOURCES[0], replace(SOURCES[1], sha256="ef" * 32))) != line
    assert "\n" not in line


def test_the_description_gives_every_setting_a_meaning_and_a_source() -> None:
    for name, mode in protocols.protocols():
        described = protocols.describe(protocols.find(name, mode=mode))
        assert described["settings"]
        for entry in described["settings"]:
            assert entry["meaning"]
            assert entry["allowed"]
            assert entry["source"]
        for measure in described["measures"]:
            assert measure["source"]
            assert measure["better"] in ("higher", "lower", "none")
        assert described["primary"] in [measure["name"] for measure in described["measures"]]


def test_the_operating_point_of_2013() -> None:
    point = operating_point(protocols.find("sws2013").settings, 1000.0, 3)
    assert point.beta == pytest.approx(0.99985 / 0.015, rel=1e-15)
    assert point.effective_prior == pytest.approx(0.014780509434891856, rel=1e-15)
    assert point.threshold == pytest.approx(4.19955506662880, rel=1e-14)


def test_what_has_no_effect_is_told_and_nothing_else() -> None:
    def told(name: str, mode: str = "official", **overrides: str) -> list[str]:
        found = protocols.idle(protocols.find(name, mode=mode, overrides=overrides))
        assert {finding.code for finding in found} <= {"ignored_setting"}
        return [finding.message for finding in found]

    for (name, mode), protocol in protocols.protocols().items():
        assert protocols.idle(protocol) == (), (name, mode)
    [hyphens] = told("openkws13", delete_hyphens="true")
    assert hyphens.startswith("delete_hyphens=true has no effect without character_split=all or character_split=not_")
    assert hyphens.endswith("(character_split is none).")
    assert told("openkws13", delete_hyphens="true", character_split="not_ascii") == []
    assert [
        text.split("=")[0] for text in told("sws2013", fa_per_miss="2", p_target="0.1", k_table="indian_dev_dev")
    ] == [
        "p_target",
        "fa_per_miss",
    ]
    assert told("openkws13", p_target="0.1", p_target_effective="0.2")[0].startswith("p_target=0.1 has no effect")
    assert told("openkws13", namefile_detections="all")[0].endswith("without namefile (namefile is empty).")
    assert told("openkws13", namefile_detections="all", namefile="f/1") == []
    assert told("openkws13-segments", tolerance_s="2") == ["tolerance_s=2.0 has no effect: it plays no part here."]
    assert len(told("openkws13-segments", just_system_terms="true")) == 1
    assert told("openkws13-segments", "plan", just_system_terms="true") == []
    assert told("stt13", keep_ascii="false")[0].startswith("keep_ascii=false has no effect without variant=cer")
    assert told("stt13", keep_ascii="false", variant="cer") == []
    assert told("stt13", fold="turkish", case_sensitive="true")[0].startswith("fold=turkish has no effect")
    assert told("med11", rank_limit="3")[0].startswith("rank_limit=3.0 has no effect without decisions=rank_limit")
    assert told("med15", rank_limit="3") == []
