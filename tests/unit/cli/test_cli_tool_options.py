"""Every option in the help of KWSEval, STDEval, DEVA and sclite is taken, told to have no effect, or refused."""

from __future__ import annotations

import argparse
import re
from typing import Any

import pytest

from pipeline.cli import MaskingParser, main
from pipeline.cli.inputs import add_inputs, add_settings, roles_of, settings_of
from pipeline.errors import UsageError
from pipeline.protocols import find

IGNORED, REFUSED = "ignored", "refused"
KWSEVAL: dict[str, Any] = {
    "-e URL": {"ecf": "URL"},
    "-r URL": {"rttm": "URL"},
    "-s URL": {"output": "URL"},
    "-t URL": {"kwlist": "URL"},
    "-F 2": {"word_gap_s": "2"},
    "-S 2": {"tolerance_s": "2"},
    "-T A:K1,K2": {"condition": "query A:K1,K2"},
    "-T K1": {"condition": "query K1:K1"},
    "-Y A:cts,bnews": {"condition": "source_type A:cts,bnews"},
    "-G": {"condition": "has_targets"},
    "-N f1/1": {"namefile": "f1/1"},
    "-q Level": {"condition": "attribute Level"},
    "-w": {"condition": "oov"},
    "-k 2": {"c_fa": "2"},
    "-K 2": {"c_miss": "2"},
    "-n 2": {"trials_per_s": "2"},
    "-p 0.5": {"p_target": "0.5"},
    "-P": {"pooled": "true"},
    "-inc": {"include_no_targets": "true"},
    "-j": {"just_system_terms": "true"},
    "-x charSplit": {"character_split": "all"},
    "--zprefilterText charSplit": {"character_split": "all"},
    "-I NAME": IGNORED,
    "-a": IGNORED,
    "-X": IGNORED,
    "-C": IGNORED,
    "-x notASCII": IGNORED,
    "--zIsoRatioDAF": IGNORED,
    "--zGlobalMeasures MAP": IGNORED,
    "-zG MAP": IGNORED,
    "--ExcludePNGFileFromTxtTable": IGNORED,
    **dict.fromkeys(
        (
            *("-g", "-path PATH", "-f ROOT", "-o", "-b", "-O", "-B", "-i", "-i 1,2", "-d", "-D", "-c", "-y TXT"),
            *("-m true", "--ExcludeCountsFromReports", "--zincludeRowTotals"),
        ),
        REFUSED,
    ),
}
STDEVAL: dict[str, Any] = {
    "-e URL": {"ecf": "URL"},
    "-r URL": {"rttm": "URL"},
    "-s URL": {"output": "URL"},
    "-t URL": {"kwlist": "URL"},
    "-F 2": {"word_gap_s": "2"},
    "-S 2": {"tolerance_s": "2"},
    "-E": {"ecf_filter": "whole"},
    "-T A:K1,K2": {"condition": "query A:.*(?:K1).*,.*(?:K2).*"},
    "-Y A:cts": {"condition": "source_type A:.*(?:cts).*"},
    "-q Level": {"condition": "attribute Level"},
    "-w": {"condition": "oov"},
    "-k 2 -K 3": {"c_fa": "2", "c_miss": "3"},
    "-n 2": {"trials_per_s": "2"},
    "-number-trials-per-sec=2": {"trials_per_s": "2"},
    "-p 0.5": {"p_target": "0.5"},
    "-A": IGNORED,
    "-I NAME": IGNORED,
    **dict.fromkeys(
        ("-N f1/1", "-a", "-o F", "-O", "-d F", "-D F", "-P", "-C", "-H F", "-Q F", "-c F"),
        REFUSED,
    ),
}
DEVA: dict[str, Any] = {
    "--refcsv URL": {"ref": "URL"},
    "-r URL": {"ref": "URL"},
    "--syscsv URL": {"detection": "URL"},
    "-s URL:detection -s B:threshold": {"detection": "URL", "threshold": "B"},
    "--UsedMetricParameters CostMiss=2": {"c_miss": "2"},
    "-U CostFA=2 -U Ptarg=0.5 -U m=3": {"c_fa": "2", "p_target": "0.5", "ro_weight": "3"},
    "--quickConfig": IGNORED,
    "--quickConfig 5": IGNORED,
    "--blockName EventID": IGNORED,
    "--taskName T": IGNORED,
    **dict.fromkeys(
        (
            *("--man", "--outdir D", "-o D", "--profile MED11", "-p MED11", "--KsaveProfile", "--configSkip", "-c"),
            *("--CreateDBSkip", "--filterSkip", "--DETScoreSkip", "--wREFcfg F", "--WSYScfg F", "--VMDcfg F"),
            *("--KqSys F", "--KwSys F", "--derivedSys F", "--KexactlyXderivedSys 2", "--KQderivedSys F"),
            *("--KWderivedSys F", "--KSysConstraints F", "--KMDConstraints F", "--NULLfields", "--RefDBfile F"),
            *("--SysDBfile F", "--MetadataDBfile F", "--iFilterDBfile F", "--FilterCMDfile F", "--PrintedBlock T"),
            *("--AdditionalFilterDB F:N", "--GetTrialsDB", "--usedMetric M", "--TrialsParameters TOTALTRIALS=5"),
            *("--listParameters", "--xmin 1", "--Xmax 1", "--ymin 1", "--Ymax 1", "--zusedXscale nd"),
            *("--ZusedYscale nd", "--BlockAverage", "--additionalResDBfile F", "--judgementThreshold 0.5"),
            *("--JudgementThresholdPerBlock F", "--KjUseRankForScores", "--KdecisionThreshold 5"),
            "--KzSuppressMetricScores",
        ),
        REFUSED,
    ),
}
SCLITE: dict[str, Any] = {
    "-r URL": {"stm": "URL"},
    "-r URL stm": {"stm": "URL"},
    "-h URL": {"ctm": "URL"},
    "-h URL ctm": {"ctm": "URL"},
    "-e utf-8": {},
    "-e utf-8 babel_turkish": {"fold": "turkish"},
    "-e utf-8 ukranian": {"fold": "ukrainian"},
    "-s": {"case_sensitive": "true"},
    "-s -D": {"case_sensitive": "true", "optional_deletion": "true"},
    "-F": {"fragments": "true"},
    "-D": {"optional_deletion": "true"},
    "-c": {"variant": "cer", "keep_ascii": "false", "drop_hyphens": "false"},
    "-c NOASCII": {"variant": "cer", "keep_ascii": "true", "drop_hyphens": "false"},
    "-c NOASCII DH -F": {"variant": "cer", "keep_ascii": "true", "drop_hyphens": "true", "fragments": "true"},
    "-h URL ctm TITLE": IGNORED,
    "-i spu_id": IGNORED,
    "-f 0": IGNORED,
    "-l 100": IGNORED,
    **dict.fromkeys(
        (
            *("-P", "-e gb", "-e euc", "-d", "-L LM", "-S algo1 LEX", "-S algo2 LEX ASCIITOO", "-T", "-w unity", "-m"),
            *("-m ref hyp", "-O DIR", "-p", "-o pra rsum", "-C det", "-n NAME", "-r URL trn", "-h URL tmk", "-c X"),
        ),
        REFUSED,
    ),
}
HELPS = {"openkws13": KWSEVAL, "sws2013": STDEVAL, "med11": DEVA, "stt13": SCLITE}
CASES = [(protocol, words, wanted) for protocol, table in HELPS.items() for words, wanted in table.items()]


def parsed(protocol: str, words: str) -> argparse.Namespace:
    parser = MaskingParser(exit_on_error=False)
    parser.add_argument("--protocol", required=True)
    add_inputs(parser)
    add_settings(parser)
    return parser.parse_args(["--protocol", protocol, *words.split()])


@pytest.mark.parametrize(("protocol", "words", "wanted"), CASES)
def test_every_option_of_a_tools_help(protocol: str, words: str, wanted: Any) -> None:
    args = parsed(protocol, words)
    name = words.split(maxsplit=1)[0]
    if wanted == REFUSED:
        with pytest.raises(UsageError) as error:
            settings_of(args)
        told = str(error.value)
        assert f"{name} " in told
        assert re.search(r"not taken here: [A-Z-].*\.$|not taken here|-c takes|reads stm|own here\. Use", told)
        return
    settings, notes = settings_of(args)
    find(protocol, overrides=settings)
    told = [note.message for note in notes]
    if wanted == IGNORED:
        assert not settings
        assert len(told) == 1
        assert told[0].startswith(name)
        assert "no effect" in told[0]
        return
    assert {**roles_of(args, find(protocol)), **settings} == wanted
    assert told == []


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("-x charsplit -x notASCII", {"character_split": "not_ascii"}),
        ("-x notASCII -x charsplit", {"character_split": "not_ascii"}),
        ("-x deleteHyphens -x charsplit", {"character_split": "all", "delete_hyphens": "true"}),
        ("-N f1/1 -N f2/1", {"namefile": "f1/1\nf2/1"}),
        (r"-N f\d{1,2}/1", {"namefile": r"f\d{1,2}/1"}),
        ("-T A:K1 -T B:K2", {"condition": "query A:K1\nquery B:K2"}),
        ("--Similarity-threshold 2 -Find-threshold=3", {"tolerance_s": "2", "word_gap_s": "3"}),
    ],
)
def test_options_that_go_together(words: str, settings: dict[str, str]) -> None:
    assert settings_of(parsed("openkws13", words)) == (settings, [])


@pytest.mark.parametrize(
    ("protocol", "words", "told"),
    [
        *(("openkws13", f"-Y A:cts {other}", "one kind of condition") for other in ("-T A:K1", "-q L", "-w", "-G")),
        ("openkws13", "-w -G", "one kind of condition a run (got -w and -G)"),
        ("openkws13", "-N f1/1,f2/1", "-N takes one FILE/CHAN"),
        ("openkws13", "-x charsplit --set character_split=none", "setting character_split is given twice"),
        ("openkws13", "-x upper", "-x takes charsplit, notASCII or deleteHyphens"),
        ("openkws13", "-g", "Use --protocol openkws13-segments"),
        ("openkws13-segments", "-g -P -inc", "-P with -inc is not taken here"),
        ("openkws13-segments", "-j -inc", "-j with -inc is not taken here"),
        ("openkws13", "-o -b", "KWSEval's -b is not taken here"),
        ("sws2013", "-Y A:cts -w", "every group of -Y with every group of -w"),
        ("sws2013", "-q A -q B", "STDEval crosses several -q"),
        ("med11", "-U APpct=true", "-U APpct is not taken here (allowed: CostMiss, CostFA, Ptarg, m)"),
        ("stt-trn", "-r ref.stm stm", "stt-trn reads trn"),
        ("quesst", "-S 1", "quesst has no setting tolerance_s"),
        ("albayzin-lre12", "-k 1", "albayzin-lre12 has no setting c_fa"),
    ],
)
def test_what_does_not_go_together(protocol: str, words: str, told: str) -> None:
    with pytest.raises(UsageError) as error:
        settings_of(parsed(protocol, words))
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("protocol", "words", "told"),
    [
        ("openkws13", "-P -G", "KWSEval puts every query into NoTargets"),
        ("sws2013", "-k 2", "-k is given without -K, which is 100 in sws2013 and 1 in STDEval"),
        ("sws2013", "-K 2", "-K is given without -k, which is 1 in sws2013 and 0.1 in STDEval"),
    ],
)
def test_what_is_odd_together_is_told(protocol: str, words: str, told: str) -> None:
    _, notes = settings_of(parsed(protocol, words))
    assert [told in note.message for note in notes] == [True]


def test_segments_are_a_protocol_and_its_g_is_no_news() -> None:
    assert settings_of(parsed("openkws13-segments", "-g")) == ({}, [])


def test_sclites_h_names_a_file_and_help_stays(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--protocol", "stt13", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "options of sclite" in shown
    assert "-h URL" in shown
    assert main(["score", "--protocol", "openkws13", "-h"]) == 0
    assert "options of KWSEval" in capsys.readouterr().out


def test_a_refused_option_ends_with_2_and_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--protocol", "openkws13", "-o", "-f", "root"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("rescore: KWSEval's -o is not taken here: Use --sum FILE.csv or FILE.txt.\n")
    assert "--bsum" in told
    assert "usage:" not in told
