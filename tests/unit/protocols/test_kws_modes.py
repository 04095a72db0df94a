"""Where KWSEval and the OpenKWS13 plan differ (official and plan mode): one case each, worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from kws_inputs import codes, ecf, kwlist, kwslist, lexeme, score, write

from pipeline.errors import InputError

BETA = 999.9
ONE_FILE = ecf(("f.sph", "1", 0, 100))
HIT = ("f", "1", 10.0, 1.0, 0.9, "YES")


def test_two_splitlet_channels(tmp_path: Path) -> None:
    inputs = write(
        tmp_path,
        ecf=ecf(("f.sph", "1", 0, 100), ("f.sph", "2", 0, 100), source_type="splitcts"),
        rttm=lexeme("a", 10),
        kwlist=kwlist(K="a"),
        output=kwslist(("K", [HIT, ("f", "2", 50.0, 1.0, 0.8, "YES")])),
    )
    official, plan = score(inputs), score(inputs, mode="plan")
    # The tool halves the file's 100 s; the plan takes half of each channel's.
    assert (official.facts["t_audio_s"], plan.facts["t_audio_s"]) == (50.0, 100.0)
    assert official.figures["atwv"].value == pytest.approx(1 - BETA * 1 / 49, rel=1e-14)
    assert plan.figures["atwv"].value == pytest.approx(1 - BETA * 1 / 99, rel=1e-14)


def test_a_noscore_region(tmp_path: Path) -> None:
    rows = [
        HIT,
        ("f", "1", 50.0, 1.0, 0.8, "YES"),
        ("f", "1", 55.0, 1.0, 0.7, "YES"),
        ("f", "1", 39.0, 1.5, 0.6, "YES"),
    ]
    inputs = write(
        tmp_path,
        ecf=ONE_FILE,
        rttm=lexeme("a", 10) + lexeme("a", 50) + "NOSCORE f 1 40 20 <NA> <NA> <NA> <NA>\n",
        kwlist=kwlist(K="a"),
        output=kwslist(("K", rows)),
    )
    official, plan = score(inputs), score(inputs, mode="plan")
    # The tool scores all 100 s: 2 hits, 2 false alarms. Warned about.
    assert (official.facts["t_audio_s"], official.figures["p_miss"].value) == (100.0, 0.0)
    assert official.figures["p_fa"].value == pytest.approx(2 / 98, rel=1e-15)
    assert "noscore_in_excerpts" in codes(official)
    # The plan leaves out 20 s, the occurrence in them and the detections with their mid points in them;
    # the one at 39.0-40.5 has its mid point before.
    assert (plan.facts["t_audio_s"], plan.blocks[0]["n_target"]) == (80.0, 1)
    assert plan.figures["p_fa"].value == pytest.approx(1 / 79, rel=1e-15)
    assert "noscore_in_excerpts" not in codes(plan)


@pytest.mark.parametrize("mode", ["official", "plan"])
def test_segment_records_change_no_occurrence(tmp_path: Path, mode: str) -> None:
    words = lexeme("a", 10) + lexeme("a", 60)
    segments = "SEGMENT f 1 0 50 <NA> eval s <NA>\nSEGMENT f 1 50 50 <NA> eval s <NA>\n"
    figures = []
    for name, rttm in (("without", words), ("with", segments + words)):
        (tmp_path / name).mkdir()
        inputs = write(
            tmp_path / name, ecf=ONE_FILE, rttm=rttm, kwlist=kwlist(K="a"), output=kwslist(("K", [HIT, HIT]))
        )
        figures.append(score(inputs, mode=mode).figures["atwv"].value)
    # One of two occurrences missed; the repeated detection is a false alarm among 98 trials.
    assert figures == [pytest.approx(1 - (1 / 2 + BETA / 98), rel=1e-14)] * 2


@pytest.mark.parametrize(
    ("rttm", "text", "normalize"),
    [
        (lexeme("um", 10, kind="fp"), "um", "lowercase"),
        (lexeme("new", 10, who="a") + lexeme("york", 11, who="b"), "new york", "lowercase"),
        (lexeme("york", 20) + lexeme("new", 10) + lexeme("city", 11), "new city", "lowercase"),
        (lexeme("Bill", 10), "bill", ""),
    ],
    ids=["filled pause", "two speakers", "not in order of time", "case of the first word"],
)
def test_search_rules(tmp_path: Path, rttm: str, text: str, normalize: str) -> None:
    inputs = write(tmp_path, ecf=ONE_FILE, rttm=rttm, kwlist=kwlist(normalize, K=text), output=kwslist(("K", [HIT])))
    official, plan = score(inputs), score(inputs, mode="plan")
    assert [result.blocks[0]["n_target"] for result in (official, plan)] == [0, 1]
    assert official.figures["atwv"].reason == "no_targets"
    assert plan.figures["atwv"].value == 1.0


def test_the_range_of_scores(tmp_path: Path) -> None:
    group = [("f", "1", 10.0, 1.0, 0.5, "NO"), ("f", "1", 11.2, 0.2, 0.505, "YES")]
    others = [("g", "1", 50.0, 1.0, 0.0, "NO"), ("g", "1", 60.0, 1.0, 1.0, "YES")]
    inputs = write(
        tmp_path,
        ecf=ecf(("f.sph", "1", 0, 50), ("g.sph", "1", 0, 100)),
        rttm=lexeme("a", 10),
        kwlist=kwlist(K="a"),
        output=kwslist(("K", group + others)),
    )
    # Within the file 0.5 and 0.505 are the whole range: the score decides, the YES is the hit. Within the query the
    # difference is 0.005 of it, 5e-9, and the overlap of 1 against -0.2 weighs 1.2e-8: the NO takes the occurrence.
    official, plan = score(inputs).blocks[0], score(inputs, mode="plan").blocks[0]
    assert (official["n_hit"], official["n_miss"], official["n_fa"]) == (1, 0, 1)
    assert (plan["n_hit"], plan["n_miss"], plan["n_fa"]) == (0, 1, 2)


@pytest.mark.parametrize(("mode", "n_trials"), [("official", 50.0), ("plan", 200.8)])
def test_trials_per_second(tmp_path: Path, mode: str, n_trials: float) -> None:
    inputs = write(
        tmp_path,
        ecf=ecf(("f.sph", "1", 0, 100.4)),
        rttm=lexeme("a", 10),
        kwlist=kwlist(K="a"),
        output=kwslist(("K", [("f", "1", 50.0, 1.0, 0.8, "YES")])),
    )
    result = score(inputs, mode=mode, trials_per_s=2)
    assert result.facts["n_trials"] == n_trials
    assert result.figures["p_fa"].value == pytest.approx(1 / (n_trials - 1), rel=1e-14)


@pytest.mark.parametrize(("mode", "denominator"), [("official", 98), ("plan", 96)])
def test_queries_without_occurrences(tmp_path: Path, mode: str, denominator: int) -> None:
    false = ("f", "1", 50.0, 1.0, 0.8, "YES")
    inputs = write(
        tmp_path,
        ecf=ONE_FILE,
        rttm=lexeme("a", 10) + lexeme("a", 20),
        kwlist=kwlist(K="a", L="b"),
        output=kwslist(("K", [HIT, false]), ("L", [false])),
    )
    result = score(inputs, mode=mode)
    # Half of the occurrences missed; K' = 2, and the text takes N_true off twice: (100 - 2) - 2.
    wanted = 1 - (1 / 2 + BETA * (1 / denominator + 1 / 100) / 2)
    assert result.figures["atwv_all"].value == pytest.approx(wanted, rel=1e-14)
    assert result.figures["p_fa"].value == pytest.approx(1 / 98, rel=1e-15)


@pytest.mark.parametrize(
    ("mode", "mtwv", "reason"), [("official", 1 - (1 + BETA / 99), None), ("plan", 0, "reject_all")]
)
def test_the_system_that_outputs_nothing(tmp_path: Path, mode: str, mtwv: float, reason: str | None) -> None:
    inputs = write(
        tmp_path,
        ecf=ONE_FILE,
        rttm=lexeme("a", 10),
        kwlist=kwlist(K="a"),
        output=kwslist(("K", [("f", "1", 50.0, 1.0, 0.8, "NO")])),
    )
    result = score(inputs, mode=mode)
    assert result.figures["atwv"].value == 0.0
    assert result.figures["mtwv"].value == pytest.approx(mtwv, rel=1e-14)
    assert result.figures["mtwv_threshold"].reason == reason


@pytest.mark.parametrize(("mode", "atwv"), [("official", None), ("plan", 1.0)])
def test_a_path_without_extension(tmp_path: Path, mode: str, atwv: float | None) -> None:
    inputs = write(
        tmp_path,
        ecf=ecf(("audio/x/f", "1", 0, 100)),
        rttm=lexeme("a", 10),
        kwlist=kwlist(K="a"),
        output=kwslist(("K", [HIT])),
    )
    result = score(inputs, mode=mode)
    assert result.figures["atwv"].reason == ("no_targets" if atwv is None else None)
    assert ("unknown_file" in codes(result)) == (atwv is None)


@pytest.mark.parametrize("mode", ["official", "plan"])
@pytest.mark.parametrize(
    ("role", "text", "said"),
    [
        (
            "kwlist",
            (
                '<kwlist version="1" language="x" encoding="UTF-8" compareNormalize="lowercase">\n'
                '<kw kwid="K"><kwtext>a</kwtext></kw><kwinfo/></kw></kwlist>'
            ),
            "</kw>",
        ),
        (
            "output",
            (
                '<kwlist kwlist_filename="k" language="x" system_id="s">\n'
                '<detected_kwlist kwid="K" search_time="1" oov_count="0"></detected_kwlist></kwlist>'
            ),
            "Name it <kwslist>",
        ),
    ],
    ids=["stray </kw> of A.4", "root kwlist of A.5"],
)
def test_slips_of_the_plans_examples_are_named(tmp_path: Path, mode: str, role: str, text: str, said: str) -> None:
    texts = {"ecf": ONE_FILE, "rttm": lexeme("a", 10), "kwlist": kwlist(K="a"), "output": kwslist(("K", [HIT]))}
    inputs = write(tmp_path, **{**texts, role: text})
    with pytest.raises(InputError, match=said):
        score(inputs, mode=mode)


@pytest.mark.parametrize(("mode", "n_target"), [("official", 2), ("plan", 1)])
def test_two_blocks_of_one_query(tmp_path: Path, mode: str, n_target: int) -> None:
    inputs = write(
        tmp_path,
        ecf=ONE_FILE,
        rttm=lexeme("a", 10),
        kwlist=kwlist(K="a"),
        output=kwslist(("K", [HIT]), ("K", [])),
    )
    # KWSEval searches each block for all occurrences, a silent one too.
    result = score(inputs, mode=mode)
    assert (result.blocks[0]["n_target"], result.blocks[0]["n_hit"]) == (n_target, 1)
    assert "duplicate_block" in codes(result)


def test_lists_in_gb2312(tmp_path: Path) -> None:
    inputs = write(tmp_path, ecf=ONE_FILE, rttm=lexeme("中国", 10), output=kwslist(("K", [HIT])))
    text = kwlist(K="中国").replace("UTF-8", "GB2312")
    (tmp_path / "kwlist").write_bytes(text.encode("gb2312"))
    result = score({**inputs, "kwlist": str(tmp_path / "kwlist")})
    assert (result.blocks[0]["text"], result.figures["atwv"].value) == ("中国", 1.0)


def test_characters_of_unsegmented_text(tmp_path: Path) -> None:
    inputs = write(
        tmp_path,
        ecf=ONE_FILE,
        rttm=lexeme("大中国", 10, dur=1.5),
        kwlist=kwlist(K="中国"),
        output=kwslist(("K", [("f", "1", 10.5, 1.0, 0.9, "YES")])),
    )
    # The word is no occurrence; of its characters, half a second each, the last two are one.
    assert score(inputs).figures["atwv"].reason == "no_targets"
    assert score(inputs, character_split="all").figures["atwv"].value == 1.0


def test_decisions_without_a_common_threshold_are_scored(tmp_path: Path) -> None:
    rows = [("f", "1", 10.0, 1.0, 0.4, "YES"), ("f", "1", 50.0, 1.0, 0.8, "NO")]
    inputs = write(tmp_path, ecf=ONE_FILE, rttm=lexeme("a", 10), kwlist=kwlist(K="a"), output=kwslist(("K", rows)))
    result = score(inputs)
    assert result.figures["atwv"].value == 1.0
    assert result.facts["decisions_consistent"] == "no"
    assert "inconsistent_decisions" in codes(result)


def test_false_alarms_of_queries_without_occurrences_alone(tmp_path: Path) -> None:
    inputs = write(
        tmp_path,
        ecf=ONE_FILE,
        rttm=lexeme("a", 10),
        kwlist=kwlist(K="a", L="b"),
        output=kwslist(("L", [("f", "1", 50.0, 1.0, 0.8, "YES")])),
    )
    part = score(inputs, include_no_targets=True, condition="has_targets").conditions["NoTargets"]
    # No miss rate and no TWV, but a false-alarm rate: 1 of 100 trials.
    assert (part.figures["atwv"].reason, part.figures["p_miss"].reason) == ("no_targets", "no_targets")
    assert part.figures["p_fa"].value == pytest.approx(1 / 100, rel=1e-15)
