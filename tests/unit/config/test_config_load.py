from __future__ import annotations

import os
from pathlib import Path

import fsspec
import pytest
from evaluation_files import FOUND, HEAD, Folder

from pipeline.config import load_evaluation
from pipeline.config.discover import LINK_OUT
from pipeline.terms import Cell


def test_systems_found_by_a_pattern(folder: Folder) -> None:
    folder.add("outputs/alpha/resources.yaml")
    evaluation = load_evaluation(
        folder.write(HEAD + FOUND + "  primary: [beta]\n  resources: outputs/{system}/resources.yaml\n")
    )
    root = folder.root
    assert (evaluation.name, evaluation.protocol, evaluation.mode) == ("sws-demo", "sws2013", "official")
    assert [d.rttm for d in evaluation.datasets] == [f"{root}/keys/african.rttm", f"{root}/keys/indian.rttm"]
    assert [(s.name, s.primary, s.resources) for s in evaluation.systems] == [
        ("alpha", False, f"{root}/outputs/alpha/resources.yaml"),
        ("beta", True, None),
        ("gamma", False, None),
    ]
    alpha, _, gamma = evaluation.systems
    assert alpha.outputs["eval", "indian"] == f"{root}/outputs/alpha/eval/indian.kwslist.xml"
    assert dict(gamma.outputs) == {("dev", "african"): f"{root}/outputs/gamma/dev/african.kwslist.xml"}
    assert len(evaluation.cells()) == 12
    assert Cell("eval", "indian", "gamma") in evaluation.cells()


def test_systems_listed_by_name(folder: Folder) -> None:
    text = (
        HEAD
        + """\
systems:
  alpha:
    outputs: outputs/{system}/{query_set}/{dataset}.kwslist.xml
    team: North
    disclosure: external audio
  two:
    outputs: {dev/african: somewhere/{system}.xml, eval/indian: "s3://bucket/x.xml"}
    primary: false
    resources: two.yaml
""".replace("somewhere/{system}.xml", '"somewhere/{system}.xml"')
    )
    alpha, two = load_evaluation(folder.write(text)).systems
    assert (alpha.team, alpha.primary, alpha.disclosure, len(alpha.outputs)) == ("North", True, "external audio", 4)
    assert dict(two.outputs) == {
        ("dev", "african"): f"{folder.root}/somewhere/two.xml",
        ("eval", "indian"): "s3://bucket/x.xml",
    }
    assert (two.primary, two.resources) == (False, f"{folder.root}/two.yaml")


def test_a_listed_system_joins_what_the_pattern_finds(folder: Folder) -> None:
    text = (
        HEAD
        + FOUND
        + """\
  exclude: [beta]
  gamma: {team: South, outputs: {eval/african: late/gamma.xml}}
  delta: {team: East}
"""
    )
    gamma, delta, alpha = load_evaluation(folder.write(text)).systems
    assert [gamma.name, delta.name, alpha.name] == ["gamma", "delta", "alpha"]
    assert set(gamma.outputs) == {("dev", "african"), ("eval", "african")}
    assert (delta.team, dict(delta.outputs)) == ("East", {})


def test_the_words_of_discovery_are_no_systems_but_found_names_may_be_anything(folder: Folder) -> None:
    folder.add("outputs/primary/dev/african.kwslist.xml")
    names = [system.name for system in load_evaluation(folder.write(HEAD + FOUND)).systems]
    assert names == ["alpha", "beta", "gamma", "primary"]


def test_settings_are_kept_as_written(folder: Folder) -> None:
    text = HEAD + "mode: plan\nsettings: {p_target: 1.50e-4, include_no_targets: True, t_audio: header}\n" + FOUND
    evaluation = load_evaluation(folder.write(text))
    assert evaluation.mode == "plan"
    assert evaluation.overrides == (("p_target", "1.50e-4"), ("include_no_targets", "true"), ("t_audio", "header"))


def test_keys_may_differ_by_query_set(folder: Folder) -> None:
    folder.add("keys/dev/african.rttm", "keys/eval/african.rttm")
    text = HEAD.replace("rttm: keys/african.rttm", "rttm: 'keys/{query_set}/{dataset}.rttm'") + FOUND
    assert load_evaluation(folder.write(text)).datasets[0].rttm == f"{folder.root}/keys/{{query_set}}/african.rttm"


def test_the_file_may_be_named_from_anywhere(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    absolute = load_evaluation(folder.write(HEAD + FOUND))
    monkeypatch.chdir(folder.root.parent)
    assert load_evaluation(os.path.join(folder.root.name, "evaluation.yaml")) == absolute  # noqa: PTH118
    assert load_evaluation(f"file://{folder.root}/evaluation.yaml") == absolute


def test_the_file_may_be_a_url(folder: Folder) -> None:
    memory = fsspec.filesystem("memory")
    for path in Path(folder.root).rglob("*.*"):
        if path.is_file():
            memory.pipe_file(f"/loaded/{path.relative_to(folder.root)}", b"")
    memory.pipe_file("/loaded/e.yaml", (HEAD + FOUND).encode())
    evaluation = load_evaluation("memory://loaded/e.yaml")
    assert evaluation.datasets[0].ecf == "memory://loaded/keys/african.ecf.xml"
    assert [system.name for system in evaluation.systems] == ["alpha", "beta", "gamma"]


def test_links_out_of_the_folder_spoil_a_cell_unless_they_are_followed(folder: Folder) -> None:
    folder.add("away/secret.xml")
    (folder.root / "outputs/gamma/dev/indian.kwslist.xml").symlink_to(folder.root / "away/secret.xml")
    (folder.root / "outputs/delta").symlink_to(folder.root / "outputs/alpha")
    (folder.root / "outputs/zeta").symlink_to(folder.root / "away")
    (folder.root / "outputs/alpha/resources.yaml").symlink_to(folder.root / "away/secret.xml")
    folder.add("outputs/beta/resources.yaml")
    text = HEAD + FOUND + "  resources: outputs/{system}/resources.yaml\n"
    evaluation = load_evaluation(folder.write(text))
    systems = {system.name: system for system in evaluation.systems}
    assert list(systems) == ["alpha", "beta", "delta", "gamma", "zeta"]
    assert {name: len(system.outputs) for name, system in systems.items()} == {
        "alpha": 4,
        "beta": 4,
        "delta": 4,
        "gamma": 1,
        "zeta": 0,
    }
    assert systems["gamma"].faults == {("dev", "indian"): LINK_OUT}
    assert systems["zeta"].faults == dict.fromkeys(evaluation.pairs, LINK_OUT)
    assert [one.code for one in evaluation.findings] == ["link_out", "link_out"]
    assert (systems["alpha"].resources, systems["beta"].resources) == (
        None,
        str(folder.root / "outputs/beta/resources.yaml"),
    )
    followed = load_evaluation(folder.write(text + "  follow_links: true\n"))
    assert followed.findings == ()
    assert all(not system.faults for system in followed.systems)
    assert next(system for system in followed.systems if system.name == "alpha").resources is not None


def test_links_of_other_roles_may_not_lead_out_either(tmp_path: Path) -> None:
    made = Folder(tmp_path)
    made.add("keys/ref.csv", "keys/index.csv", "out/a.detection.csv", "out/b.detection.csv", "out/b.threshold.csv")
    made.add("away.csv")
    (tmp_path / "out/a.threshold.csv").symlink_to(tmp_path / "away.csv")
    pattern = "{detection: 'out/{system}.detection.csv', threshold: 'out/{system}.threshold.csv'}"
    evaluation = load_evaluation(
        made.write(
            "name: med\nprotocol: med12\ndatasets:\n  test: {ref: keys/ref.csv, index: keys/index.csv}\n"
            f"query_sets: {{events: {{}}}}\nsystems:\n  pattern: {pattern}\n"
        )
    )
    a, b = evaluation.systems
    assert (a.faults, b.faults) == ({("events", "test"): LINK_OUT}, {})
