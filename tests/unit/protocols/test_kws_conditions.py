"""Conditions, recordings by pattern, pooling and names of submissions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kws_inputs import codes, ecf, kwlist, kwslist, lexeme, score, write

from pipeline.cli import main
from pipeline.engine.result import document, from_bytes, to_bytes
from pipeline.errors import InputError, UsageError
from pipeline.protocols.kws.conditions import Condition, parse_conditions
from pipeline.protocols.kws.identifiers import identify

BETA = 999.9
ID = "KWS13_IBM_babel101b-v0.4c_conv-eval_BaEval_KWS_FullLP_BaseLR_NTAR_p-one_2"


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, str]:
    """Two recordings of 100 s; K once in each, L in g only, M nowhere and not in the output."""
    return write(
        tmp_path,
        ecf=ecf(("f.sph", "1", 0, 100)).replace("</ecf>", "")
        + ecf(("g.sph", "1", 0, 50), source_type="cts").partition("\n")[2],
        rttm=lexeme("a", 10) + lexeme("a", 10, place="g 1") + lexeme("b", 20, place="g 1"),
        kwlist=kwlist(K="a", L="b", M="c"),
        output=kwslist(
            ("K", [("f", "1", 10.0, 1.0, 0.9, "YES"), ("f", "1", 50.0, 1.0, 0.8, "YES")]),
            ("L", [("g", "1", 20.0, 1.0, 0.7, "YES"), ("f", "1", 70.0, 1.0, 0.6, "NO")]),
        ),
    )


def test_source_types_have_trials_of_their_own(inputs: dict[str, str]) -> None:
    result = score(inputs, condition="source_type news:bnews\nsource_type both:cts,bnews")
    news, both = result.conditions["news"], result.conditions["both"]
    assert (news.facts["t_audio_s"], both.facts["t_audio_s"]) == (100.0, 150.0)
    # bnews: K hit once, one false alarm of 99 trials; L has only a rejected detection there, no occurrence.
    assert news.figures["atwv"].value == pytest.approx(1 - BETA / 99, rel=1e-14)
    assert both.figures["atwv"].value == result.figures["atwv"].value
    assert [block["id"] for block in news.blocks] == ["K", "L", "M"]


def test_queries_by_pattern_occurrence_and_vocabulary(inputs: dict[str, str]) -> None:
    result = score(inputs, condition="query ks:[k]\nhas_targets\noov")
    assert set(result.conditions) == {"ks", "HasTargets", "NoTargets", "OOV", "IV"}
    assert [block["id"] for block in result.conditions["HasTargets"].blocks] == ["K", "L"]
    assert result.conditions["NoTargets"].figures["atwv"].reason == "no_targets"
    assert result.conditions["ks"].figures["p_miss"].value == 0.5
    assert result.conditions["IV"].figures["atwv"].value == result.figures["atwv"].value
    assert result.conditions["OOV"].blocks == ()


def test_conditions_survive_the_store(inputs: dict[str, str]) -> None:
    result = score(inputs, condition="source_type news:bnews")
    kept = from_bytes(to_bytes(result))
    assert document(kept, curve=True)["conditions"] == document(result, curve=True)["conditions"]
    assert "conditions" not in document(score(inputs))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("channel x:1", "source_type NAME"),
        ("oov yes", "allowed"),
        ("source_type", "allowed"),
        ("query q:(", "no regular expression"),
        ("query q:a\nsource_type q:cts", "'q' is taken"),
        ("query all:a", "'all' is taken"),
    ],
)
def test_malformed_conditions_are_refused_where_they_are_given(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_conditions(text)


def test_conditions_are_read_as_the_tool_reads_them() -> None:
    assert parse_conditions("source_type confmtg") == (Condition("source_type", "confmtg", ("confmtg",)),)
    assert parse_conditions("attribute A:regex=^1 && B") == (
        Condition("attribute", attributes=(("A", "^1"), ("B", ""))),
    )


def test_namefile_keeps_detections_only_the_tool_does(inputs: dict[str, str]) -> None:
    tool = score(inputs, namefile="G/1", c_fa=1, c_miss=1, p_target=0.5)
    strict = score(inputs, namefile="G/1", namefile_detections="all", c_fa=1, c_miss=1, p_target=0.5)
    assert tool.facts["t_audio_s"] == strict.facts["t_audio_s"] == 50.0
    # In f, K has an occurrence: its detections there are dropped. L has none there: its NO stays, unscored by TWV.
    by_id = [{block["id"]: block for block in result.blocks} for result in (tool, strict)]
    assert [blocks["K"]["n_fa"] for blocks in by_id] == [0, 0]
    assert [blocks["L"]["n_correct_rejection"] for blocks in by_id] == [1, 0]
    assert [blocks["K"]["n_target"] for blocks in by_id] == [1, 1]


def test_pooling(inputs: dict[str, str]) -> None:
    result = score(inputs, pooled=True)
    # 3 occurrences, 2 hits, 1 false alarm, 150 - 3 non-target trials.
    assert result.figures["atwv"].value == pytest.approx(1 - (1 / 3 + BETA / 147), rel=1e-14)
    assert [block["id"] for block in result.blocks] == ["Pooled"]


def test_queries_without_a_block_may_be_left_out(inputs: dict[str, str]) -> None:
    (Path(inputs["rttm"])).write_text(lexeme("a", 10) + lexeme("c", 20))
    assert score(inputs).figures["p_miss"].value == 0.5
    assert score(inputs, just_system_terms=True).figures["p_miss"].value == 0.0


def test_a_query_the_list_lacks(inputs: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    Path(inputs["kwlist"]).write_text(kwlist(K="a"))
    kept = score(inputs)
    assert "unknown_query" in codes(kept)
    assert kept.facts["n_queries_unknown"] == 1
    with pytest.raises(InputError, match="'L'"):
        score(inputs, unknown_query="error")
    assert main(["validate", "-t", inputs["kwlist"], "-s", inputs["output"], "--json"]) == 1
    [error] = json.loads(capsys.readouterr().out)["errors"]
    assert (error["code"], error["where"]) == ("unknown_query", inputs["output"])
    assert main(["validate", "-s", inputs["output"], "--json"]) == 0


def test_warnings_about_places_and_repeats(inputs: dict[str, str]) -> None:
    row = ("f", "1", 10.0, 1.0, 0.9, "YES")
    Path(inputs["output"]).write_text(
        kwslist(
            ("K", [row, ("f", "01", 10.0, 1.0, 0.9, "YES"), ("h", "1", 1.0, 1.0, 0.1, "NO"), row, (*row[:5], "NO")])
        )
    )
    found = codes(score(inputs))
    for code in ("identical", "unknown_channel", "unknown_file", "outside_ecf", "decision_ties"):
        assert code in found


def test_a_signature_is_one_line(inputs: dict[str, str]) -> None:
    result = score(inputs, condition="oov\nquery a:b|c")
    assert "\n" not in result.signature
    assert all(":" in field or field in ("official", "plan") for field in result.signature.split("|")[1:])


def test_the_fields_of_an_identifier() -> None:
    fields = identify(ID + ".kwslist.xml")
    assert (fields["team"], fields["corpus"], fields["sysid"], fields["version"]) == (
        "IBM", "babel101b-v0.4c", "p-one", "2",
    )  # fmt: skip
    assert fields["board"] == "FullLP+BaseLR+NTAR"
    assert identify(ID.replace("p-one", "p-o_e")) == identify("demo") == {}


def _typed_ecf(*excerpts: tuple[float, float, str]) -> str:
    """Excerpts of recording f, channel 1: begin, duration, source type."""
    parts = [ecf(("f.sph", "1", begin, dur), source_type=kind) for begin, dur, kind in excerpts]
    rows = "".join(part.partition("\n")[2].removesuffix("</ecf>\n") for part in parts)
    return f'<ecf version="1" language="x">\n{rows}</ecf>\n'


@pytest.mark.parametrize(
    ("excerpts", "trials", "group"),
    [
        (((0, 60, "bnews"), (0, 60, "cts")), {"A": 60, "B": 60}, "A"),
        (((0, 60, "cts"), (0, 60, "bnews")), {"A": 60, "B": 60}, "B"),
        (((0, 60, "cts"), (5, 60, "bnews")), {"A": 60, "B": 60}, "B"),
        (((5, 60, "bnews"), (0, 60, "cts")), {"A": 60, "B": 60}, "A"),
    ],
)
def test_a_row_has_the_type_of_the_first_excerpt_that_holds_it(
    tmp_path: Path, excerpts: tuple[tuple[float, float, str], ...], trials: dict[str, float], group: str
) -> None:
    rows = [("f", "1", 10.0, 1.0, 0.9, "YES"), ("f", "1", 30.0, 1.0, 0.8, "YES")]
    files = {"rttm": lexeme("a", 10) + lexeme("a", 20), "kwlist": kwlist(K="a"), "output": kwslist(("K", rows))}
    inputs = write(tmp_path, ecf=_typed_ecf(*excerpts), **files)
    found = score(inputs, condition="source_type A:bnews\nsource_type B:cts")
    assert {name: part.facts["n_trials"] for name, part in found.conditions.items()} == trials
    counts = {name: [block["n_target"] + block["n_fa"] for block in part.blocks] for name, part in
              found.conditions.items()}  # fmt: skip
    assert counts == {group: [3], "B" if group == "A" else "A": []}


def test_a_hit_has_the_type_of_its_occurrence(tmp_path: Path) -> None:
    """The detection lies in the excerpt before."""
    rows = [("f", "1", 49.0, 0.9, 0.9, "YES")]
    files = {"rttm": lexeme("a", 50), "kwlist": kwlist(K="a"), "output": kwslist(("K", rows))}
    inputs = write(tmp_path, ecf=_typed_ecf((0, 50, "bnews"), (50, 50, "cts")), **files)
    found = score(inputs, condition="source_type A:bnews\nsource_type B:cts", tolerance_s=1.0)
    assert [block["n_hit"] for block in found.conditions["B"].blocks] == [1]
    assert found.conditions["A"].blocks == ()


def test_in_stdeval_a_channel_has_the_type_of_its_last_excerpt(tmp_path: Path) -> None:
    rows = [("f", "1", 10.0, 1.0, 0.9, "YES")]
    files = {"rttm": lexeme("a", 10), "kwlist": kwlist(K="a"), "output": kwslist(("K", rows))}
    inputs = write(tmp_path, ecf=_typed_ecf((0, 50, "bnews"), (60, 40, "cts")), **files)
    found = score(inputs, "std2006", condition="source_type A:bnews\nsource_type B:cts")
    assert {name: part.facts["t_audio_s"] for name, part in found.conditions.items()} == {"A": 0, "B": 90}
    assert [block["n_hit"] for block in found.conditions["B"].blocks] == [1]


def test_terms_of_one_text_are_told_where_stdeval_adds_them_up(tmp_path: Path) -> None:
    rows = [("f", "1", 10.0, 1.0, 0.9, "YES")]
    files = {"rttm": lexeme("a", 10), "kwlist": kwlist(K="a", L="a"), "output": kwslist(("K", rows))}
    inputs = write(tmp_path, ecf=ecf(("f.sph", "1", 0, 100)), **files)
    assert "repeated_text" in codes(score(inputs, "std2006"))
    assert "repeated_text" not in codes(score(inputs, "openkws13"))
