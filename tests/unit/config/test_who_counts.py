"""Who counts on the boards of an evaluation file: by its own word, by lists of patterns, by the names of systems."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.errors import ConfigError

ECF = '<ecf source_signal_duration="600" version="1"><excerpt audio_filename="r1.wav" channel="1" tbeg="0" dur="600" language="x" source_type="bnews"/></ecf>'  # noqa: E501
RTTM = "LEXEME r1 1 10.0 0.5 word lex speaker <NA>\nLEXEME r1 1 20.0 0.5 word lex speaker <NA>\n"
KWLIST = '<kwlist ecf_filename="e" language="x" encoding="UTF-8" compareNormalize="" version="1"><kw kwid="K1"><kwtext>word</kwtext></kw></kwlist>'  # noqa: E501
PLACE = "_babel101b-v0.4c_conv-dev_BaDev_KWS"
FULL, LIMITED = "FullLP_BaseLR_NTAR", "LimitedLP_BaseLR_NTAR"


def expid(team: str, conditions: str, sysid: str, version: int = 1) -> str:
    return f"KWS13_{team}{PLACE}_{conditions}_{sysid}_{version}"


def output(n_hits: int) -> str:
    rows = "".join(
        f'<kw file="r1" channel="1" tbeg="{10 * (at + 1)}.0" dur="0.5" score="1" decision="YES"/>'
        for at in range(n_hits)
    )
    detected = f'<detected_kwlist kwid="K1" search_time="1" oov_count="0">{rows}</detected_kwlist>'
    return f'<kwslist kwlist_filename="k" language="x" system_id="s">{detected}</kwslist>'


def write(folder: Path, systems: dict[str, int], more: str = "", protocol: str = "openkws13") -> Path:
    (folder / "out").mkdir(exist_ok=True)
    for name, text in {"ecf.xml": ECF, "key.rttm": RTTM, "kwlist.xml": KWLIST}.items():
        (folder / name).write_text(text)
    for name, n_hits in systems.items():
        (folder / "out" / f"{name}.xml").write_text(output(n_hits))
    head = f"""\
        name: kws
        protocol: {protocol}
        datasets: {{eval: {{ecf: ecf.xml, rttm: key.rttm}}}}
        query_sets: {{words: {{kwlist: kwlist.xml}}}}
        systems:
          pattern: 'out/{{system}}.xml'
        """
    path = folder / "e.yaml"
    path.write_text(textwrap.dedent(head) + textwrap.indent(more, "  "))
    return path


def standing(path: Path) -> dict[str, tuple[bool, str]]:
    return {system.name: (system.primary, system.replaced_by) for system in load_evaluation(str(path)).systems}


def faults(path: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_evaluation(str(path))
    return [finding.message for finding in caught.value.findings]


def test_names_say_who_is_primary_and_which_version_counts(tmp_path: Path) -> None:
    names = [
        expid("A", FULL, "p-a"), expid("A", FULL, "p-a", 2), expid("A", FULL, "p-a", 10), expid("A", LIMITED, "p-a"),
        expid("A", FULL, "c-b"), expid("B", FULL, "p-a"), "p-own", "c-own", "p-own_2", "other",
    ]  # fmt: skip
    path = write(tmp_path, dict.fromkeys(names, 1))
    ten = expid("A", FULL, "p-a", 10)
    assert standing(path) == {
        expid("A", FULL, "p-a"): (True, ten),
        expid("A", FULL, "p-a", 2): (True, ten),
        ten: (True, ""),
        expid("A", LIMITED, "p-a"): (True, ""),
        expid("A", FULL, "c-b"): (False, ""),
        expid("B", FULL, "p-a"): (True, ""),
        "p-own": (True, ""),
        "c-own": (False, ""),
        "p-own_2": (True, ""),
        "other": (True, ""),
    }


def test_lists_take_patterns_and_win_over_names_and_systems_over_lists(tmp_path: Path) -> None:
    systems = dict.fromkeys(("p-a", "c-b", "c-d", "x"), 1)
    assert standing(write(tmp_path, systems, "primary: ['c-*']\n")) == {
        "p-a": (False, ""), "c-b": (True, ""), "c-d": (True, ""), "x": (False, "")
    }  # fmt: skip
    assert standing(write(tmp_path, systems, "contrastive: ['?']\n")) == {
        "p-a": (True, ""), "c-b": (False, ""), "c-d": (False, ""), "x": (False, "")
    }  # fmt: skip
    found = standing(write(tmp_path, systems, "contrastive: ['c-*']\nc-d: {primary: true}\n"))
    assert found == {"p-a": (True, ""), "c-b": (False, ""), "c-d": (True, ""), "x": (True, "")}
    assert standing(write(tmp_path, systems, "exclude: ['c-*']\n")) == {"p-a": (True, ""), "x": (True, "")}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("contrastive: ['z*']\n", "`systems.contrastive.0` names no system"),
        ("primary: ['z*']\n", "`systems.primary.0` names no system"),
        ("primary: ['a*']\ncontrastive: [a1]\n", "`systems.contrastive.0` fits 'a1', which `primary` lists too"),
        ("contrastive: [a1]\na1: {primary: true}\n", "says `primary: true` itself"),
    ],
)
def test_lists_that_say_nothing_or_two_things_are_refused(tmp_path: Path, more: str, told: str) -> None:
    assert any(told in message for message in faults(write(tmp_path, {"a1": 1, "b": 1}, more)))


def test_the_ends_of_names_say_it_in_language_recognition(tmp_path: Path) -> None:
    from pipeline.protocols import find

    standing_of = find("albayzin-lre12").family.boards.standing
    assert [standing_of(name).primary for name in ("G_pri", "G_con1", "G_PC_con2", "G")] == [True, False, False, None]


def test_boards_rank_primary_systems_that_count_within_their_conditions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    systems = {
        expid("A", FULL, "p-a", 1): 2, expid("A", FULL, "p-a", 2): 1, expid("A", FULL, "c-b"): 2,
        expid("A", LIMITED, "p-a"): 2, expid("B", FULL, "p-x"): 0, "perfect": 2,
    }  # fmt: skip
    path = write(tmp_path, systems, "perfect: {canary: true}\n")
    store = str(tmp_path / "store")
    assert main(["run", str(path), "--store", store, "--cluster", "none", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    everybody = {row["system"]: row["rank"] for row in said["board"] if row["condition"] == "all"}
    assert everybody == {
        expid("A", FULL, "p-a", 2): 1,
        expid("B", FULL, "p-x"): 2,
        expid("A", LIMITED, "p-a"): 1,
        expid("A", FULL, "p-a", 1): 0,
        expid("A", FULL, "c-b"): 0,
    }
    full = {row["system"]: row["rank"] for row in said["board"] if row["condition"] == "FullLP+BaseLR+NTAR"}
    assert full == {name: rank for name, rank in everybody.items() if "FullLP" in name}
    replaced = {row["system"]: row["replaced_by"] for row in said["board"] if row["replaced_by"]}
    assert replaced == {expid("A", FULL, "p-a", 1): expid("A", FULL, "p-a", 2)}
    page = Path(said["paths"]["index.html"]).read_text()
    assert '<span class="badge">replaced</span> by' in page
    assert '<span class="badge">contrastive</span>' in page
    assert "systems are ranked within their conditions" in page
    for name in ("index.html", "board.csv", "boards.json", "board.tex", "results.json"):
        assert "perfect" not in Path(said["paths"][name]).read_text(), name
    assert main(["show", said["run_id"], "--store", store, "--json"]) == 0
    watched = [row for row in json.loads(capsys.readouterr().out)["board"] if row["system"] == "perfect"]
    assert [(row["rank"], row["atwv"]) for row in watched if row["condition"] == "all"] == [(0, 1.0)]
