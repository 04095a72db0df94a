"""Good and bad submissions of each kind of evaluation, told before there is a key."""

from __future__ import annotations

import pytest
import season_files as files

from pipeline.cli import main
from pipeline.config.season import load_season
from pipeline.season.examine import examined
from pipeline.season.rules import SeasonPhase, SeasonRules
from pipeline.season.submit import Sender, submit

EXPID = "KWS13_north_babel101b-v0.4c_conv-eval_BaEval_KWS_FullLP_BaseLR_NTAR_p-main_1"
GOOD_KWS = files.stdlist(files.GOOD)


@pytest.fixture
def kws(tmp_path):
    return files.opened(
        tmp_path, names="expid", protocol="openkws13", pattern="",
        phase={"fields": {"partition": "conv-eval", "scase": "BaEval"}},
    )  # fmt: skip


def test_an_output_that_follows_the_rule_is_accepted(kws, tmp_path):
    one = files.hand_in(kws, tmp_path, "north", GOOD_KWS, name=f"{EXPID}.kwslist.xml")
    assert one.accepted, one.verdict
    [run] = one.runs
    assert (run.system, run.board, run.primary, run.version) == (EXPID, "FullLP+BaseLR+NTAR", True, 1)
    assert run.fields["partition"] == "conv-eval"


@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        (EXPID.replace("north", "south") + ".kwslist.xml", GOOD_KWS, ["wrong_team"]),
        (EXPID.replace("conv-eval_BaEval", "conv-dev_BaDev") + ".kwslist.xml", GOOD_KWS, ["wrong_field"] * 2),
        (EXPID.replace("KWS_Full", "STT_Full") + ".kwslist.xml", GOOD_KWS, ["wrong_field", "wrong_extension"]),
        (EXPID.replace("FullLP", "FullPack") + ".kwslist.xml", GOOD_KWS, ["identifier_slip"]),
        (EXPID.replace("p-main", "main") + ".kwslist.xml", GOOD_KWS, ["identifier_slip"]),
        (EXPID.replace("_1", "_0") + ".kwslist.xml", GOOD_KWS, ["identifier_slip"]),
        ("mine.kwslist.xml", GOOD_KWS, ["bad_file_name"]),
        (EXPID + ".kwslist.xml", GOOD_KWS.replace('"1.5"', '"nan"'), ["bad_number"] * 2),
        (EXPID + ".kwslist.xml", GOOD_KWS.replace('"alpha"', '"omega"'), ["unknown_query"]),
        (EXPID + ".kwslist.xml", "<kwslist>", None),
    ],
)
def test_a_keyword_search_submission_is_refused(kws, tmp_path, name, text, codes):
    one = files.hand_in(kws, tmp_path, "north", text, name=name)
    assert not one.accepted
    found = [finding.code for finding in one.verdict.of("error")]
    if codes is not None and codes[0] != "bad_number":
        assert found == codes


def test_the_slip_of_the_plans_own_commands_is_a_warning(kws, tmp_path):
    one = files.hand_in(kws, tmp_path, "north", GOOD_KWS, name=f"{EXPID}.kwslst.xml")
    assert one.accepted
    assert "identifier_slip" in [finding.code for finding in one.verdict.of("warning")]


def test_a_second_version_replaces_the_first_and_another_condition_does_not(kws, tmp_path):
    for name in (EXPID, EXPID.replace("_1", "_2"), EXPID.replace("FullLP", "LimitedLP")):
        assert files.hand_in(kws, tmp_path, "north", GOOD_KWS, name=f"{name}.kwslist.xml").accepted
    counting = [fate.run.system for fate in files.now(kws).counting("eval")]
    assert counting == [EXPID.replace("_1", "_2"), EXPID.replace("FullLP", "LimitedLP")]
    other = EXPID.replace("p-main", "p-other")
    again = files.hand_in(kws, tmp_path, "north", GOOD_KWS, name=f"{other}.kwslist.xml")
    assert [finding.code for finding in again.verdict.of("error")] == ["second_primary"]


def test_required_conditions_are_listed_by_team(tmp_path):
    required = [{"board": "FullLP+BaseLR+NTAR"}, {"board": "LimitedLP+BaseLR+NTAR", "of": "performers"}]
    store = files.opened(tmp_path, names="expid", protocol="openkws13", phase={"required": required})
    files.hand_in(store, tmp_path, "north", GOOD_KWS, name=f"{EXPID}.kwslist.xml")
    assert files.now(store).missing_boards("eval") == (
        ("east", "FullLP+BaseLR+NTAR"), ("north", "LimitedLP+BaseLR+NTAR"), ("south", "FullLP+BaseLR+NTAR"),
    )  # fmt: skip


def lre_line(segment: str, *scores: float, codes: str = "Plenty Closed") -> str:
    return " ".join([codes, segment, *map(str, scores or (1.5, 0.5, -1.0, 2.0, 0.25, 0.0, 0.0))]) + "\n"


LRE = "".join(lre_line(name) for name in ("s1", "s2", "s3"))


@pytest.fixture
def lre(tmp_path):
    store = files.opened(
        tmp_path, protocol="albayzin-lre12", pattern="",
        phase={"query_sets": ["PC", "PO"], "inputs": {"segments": "segments.txt"}},
    )  # fmt: skip
    (tmp_path / "segments.txt").write_text("s1\ns2\ns3\n")
    return store


def lre_submission(store, folder, **texts: str):
    for name, text in texts.items():
        (folder / f"{name}.out").write_text(text)
    paths = [folder / f"{name}.out" for name in texts]
    return submit(store, files.NAME, Sender("north"), paths, arrival=files.ENDS)


def test_language_recognition_in_two_tracks_is_accepted(lre, tmp_path):
    opened = LRE.replace("Closed", "Open")
    one = lre_submission(lre, tmp_path, north_PC_pri=LRE, north_PO_pri=opened, north_PO_con1=opened)
    assert one.accepted, one.verdict
    assert sorted((run.slot, run.board, run.primary, run.system) for run in one.runs) == [
        ("PC_pri", "PC", True, "north_pri"),
        ("PO_con1", "PO", False, "north_con1"),
        ("PO_pri", "PO", True, "north_pri"),
    ]


@pytest.mark.parametrize(
    ("texts", "codes"),
    [
        ({"north_PC_pri": LRE.replace("s3", "s4")}, {"unknown_segment", "missing_segment"}),
        ({"north_PC_pri": lre_line("s1")}, {"missing_segment"}),
        ({"north_PC_pri": LRE + lre_line("s1")}, {"duplicate_segment"}),
        ({"north_PC_pri": LRE.replace("2.0", "nan")}, {"not_finite"}),
        ({"north_PO_pri": LRE}, {"name_mismatch"}),
        ({"south_PC_pri": LRE}, {"wrong_team"}),
        ({"north_PC_pri1": LRE}, {"bad_file_name"}),
        ({"north_EC_pri": LRE}, {"wrong_field", "name_mismatch"}),
        ({"north_PO_pri": LRE.replace("Closed", "Open")}, {"mandatory_track"}),
        ({"north_PC_con1": LRE}, {"primary_systems"}),
    ],
)
def test_a_language_recognition_submission_is_refused(lre, tmp_path, texts, codes):
    one = lre_submission(lre, tmp_path, **texts)
    assert {finding.code for finding in one.verdict.of("error")} == codes


def test_what_was_handed_in_before_counts_towards_completeness(lre, tmp_path):
    assert lre_submission(lre, tmp_path, north_PC_pri=LRE).accepted
    assert lre_submission(lre, tmp_path, north_PC_con1=LRE).accepted


def examine(tmp_path, protocol, name, text, **settings):
    files.season(tmp_path)
    inputs = {"ecf": str(tmp_path / "ecf.xml"), "kwlist": str(tmp_path / "terms.xml")}
    if protocol == "stt13":
        del inputs["kwlist"]
    phase = SeasonPhase("p", "eval", "e", files.DEADLINE, "mark", ("q",), ("d",), inputs)
    rules = SeasonRules("s", protocol, "official", "pattern", (phase,), name, settings)
    (tmp_path / name).write_text(text)
    with examined(rules, phase, "north", [tmp_path / name]) as found:
        return found.verdict


def test_spoken_web_search_coverage_is_told(tmp_path):
    rows = {"alpha": [("a", 10, 1.0), ("zz", 1, 1.0)]}
    found = examine(tmp_path, "sws2013", "out.xml", files.stdlist(rows))
    assert found.accepted
    assert {"uncovered_query", "unknown_file"} <= {finding.code for finding in found.of("warning")}


def test_query_by_document_needs_every_pair_or_a_default(tmp_path):
    pairs = {query: [("a", 0, 1.0), ("b", 0, 0.5)] for query in files.QUERIES}
    assert examine(tmp_path, "quesst", "out.xml", files.stdlist(pairs)).accepted
    fewer = files.stdlist({**pairs, "alpha": pairs["alpha"][:1]})
    found = examine(tmp_path, "quesst", "out.xml", fewer)
    assert [finding.code for finding in found.of("error")] == ["missing_trials"]
    assert "1 pairs of 1 queries have no score ('alpha')" in found.of("error")[0].message
    assert examine(tmp_path, "quesst", "out.xml", fewer, censor="-10").accepted


def test_transcripts_are_read_and_compared_with_the_recordings(tmp_path):
    good = "a 1 1.0 0.5 hello 0.9\nb 1 1.0 0.5 there 0.9\n"
    assert examine(tmp_path, "stt13", "out.ctm", good) == examine(tmp_path, "stt13", "out.ctm", good)
    assert not examine(tmp_path, "stt13", "out.ctm", good).remarks
    assert [f.code for f in examine(tmp_path, "stt13", "out.ctm", "a 1 x 0.5 w\n").of("error")]
    found = examine(tmp_path, "stt13", "out.ctm", "a 1 1.0 0.5 hello\nzz 1 1 1 w\n")
    assert {"unknown_file", "uncovered_file"} <= {finding.code for finding in found.of("warning")}


def test_a_participant_validates_without_store_and_key(tmp_path, capsys):
    path = files.season(tmp_path)
    (tmp_path / "key.rttm").unlink()
    (tmp_path / "q_d.stdlist.xml").write_text(GOOD_KWS)
    call = ["validate", "--season", str(path), "--team", "north", "--json"]
    assert main([*call, str(tmp_path / "q_d.stdlist.xml")]) == 0
    (tmp_path / "other.xml").write_text("<stdlist")
    assert main([*call, str(tmp_path / "other.xml")]) == 1
    assert "does not fit" in capsys.readouterr().out
    assert load_season(str(path))[0].naming == "pattern"
