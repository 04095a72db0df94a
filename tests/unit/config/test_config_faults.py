from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from evaluation_files import FOUND, HEAD, Folder

from pipeline.config import load_evaluation
from pipeline.errors import ConfigError, InputError, UsageError

Faults = Callable[[str], list[tuple[str, int, str]]]


def test_every_fault_of_form_is_told_at_once_by_line_and_field(faults: Faults) -> None:
    found = faults("""\
        name: ../out
        protocol: sws2103
        mode: draft
        datasets:
          african: {ecf: a.xml}
          "a/b": {ecf: a.xml, rttm: "{sytem}.rttm"}
        query_sets:
          dev: {kwlist: [a.xml], colour: red}
        systems:
          alpha: {outputs: [a.xml], primary: yes}
        sytems: {}
        """)
    assert sorted((line, code) for code, line, _ in found) == [
        (1, "bad_name"),
        (3, "wrong_type"),
        (5, "missing_field"),
        (6, "bad_name"),
        (6, "bad_placeholder"),
        (8, "unknown_field"),
        (8, "wrong_type"),
        (10, "wrong_type"),
        (10, "wrong_type"),
        (11, "unknown_field"),
    ]
    told = {message for _, _, message in found}
    assert "`datasets.african.rttm` is missing." in told
    assert "`query_sets.dev.colour` is unknown (allowed: kwlist, queries)." in told
    assert "`systems.alpha.primary` must be true or false (got the text 'yes')." in told
    assert "`systems.alpha.outputs` must be text (got a list)." in told
    assert "`mode` must be official or plan (got the text 'draft')." in told
    assert any(m.startswith("`sytems` is unknown (allowed: name, protocol, mode, publication,") for m in told)


def test_unknown_protocol_names_the_known_ones(faults: Faults) -> None:
    ((code, line, message),) = faults(HEAD.replace("sws2013", "sws2103") + FOUND)
    assert (code, line) == ("unknown_protocol", 2)
    assert "sws2013" in message


def test_each_wrong_setting_is_told_at_its_own_line(faults: Faults) -> None:
    found = faults(HEAD + FOUND + "settings:\n  tolerence_s: 1\n  word_gap_s: 0.5\n  p_target: 2\n")
    assert [(code, line) for code, line, _ in found] == [("bad_setting", 12), ("bad_setting", 14)]
    assert "tolerance_s" in found[0][2]


def test_settings_are_single_values(faults: Faults) -> None:
    found = faults(HEAD + FOUND + "settings: {tolerance_s: [1, 2], word_gap_s: }\n")
    assert sorted((code, line) for code, line, _ in found) == [("bad_setting", 11), ("wrong_type", 11)]


def test_missing_files_of_the_organiser_are_told_before_anything_runs(faults: Faults, folder: Folder) -> None:
    os.remove(folder.root / "keys/indian.rttm")  # noqa: PTH107
    found = faults(HEAD.replace("queries/eval.xml", "queries/evla.xml") + FOUND)
    assert [(code, line) for code, line, _ in found] == [("no_such_file", 5), ("no_such_file", 8)]
    assert str(folder.root / "keys/indian.rttm") in found[0][2]


def test_a_pattern_that_fits_nothing_is_named(faults: Faults, folder: Folder) -> None:
    ((code, line, message),) = faults(HEAD + FOUND.replace("outputs/", "output/"))
    assert (code, line) == ("no_match", 10)
    assert f"{folder.root}/output/{{system}}/{{query_set}}/{{dataset}}.kwslist.xml" in message


def test_an_unknown_query_set_or_dataset_leaves_out_a_file_and_is_told_with_the_allowed_names(folder: Folder) -> None:
    folder.add("outputs/alpha/dve/african.kwslist.xml", "outputs/beta/dev/indain.kwslist.xml")
    evaluation = load_evaluation(uri := folder.write(HEAD + FOUND))
    assert [len(system.outputs) for system in evaluation.systems] == [4, 4, 1]
    found = evaluation.findings
    assert [(one.code, one.where) for one in found] == [
        ("unknown_query_set", f"{uri}:10"),
        ("unknown_dataset", f"{uri}:10"),
    ]
    assert "finds 'outputs/alpha/dve/african.kwslist.xml', which is left out: query set 'dve'" in found[0].message
    assert "is unknown (allowed: dev, eval)" in found[0].message
    assert "dataset 'indain' is unknown (allowed: african, indian)" in found[1].message


def test_where_no_file_is_of_any_cell_the_evaluation_is_refused_with_all_that_is_told(
    faults: Faults, folder: Folder
) -> None:
    folder.add("others/alpha/dve/african.xml", "others/beta/dev/indain.xml")
    found = faults(HEAD + "systems:\n  pattern: others/{system}/{query_set}/{dataset}.xml\n")
    assert [code for code, _, _ in found] == ["no_match", "unknown_query_set", "unknown_dataset"]


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "x" * 200, "-rf", "a\\b", "a\u202eb", "\udcff"])
def test_a_hostile_system_name_is_left_out_alone_and_shown_harmlessly(folder: Folder, name: str) -> None:
    folder.add(f"outputs/{name}/dev/african.kwslist.xml")
    evaluation = load_evaluation(folder.write(HEAD + FOUND))
    assert [system.name for system in evaluation.systems] == ["alpha", "beta", "gamma"]
    (told,) = evaluation.findings
    assert told.code == "bad_name"
    assert told.message.isprintable()


def test_twins_are_left_out_but_for_the_one_that_the_file_lists(folder: Folder) -> None:
    folder.add("outputs/ALPHA/dev/african.kwslist.xml", "outputs/Beta/dev/african.kwslist.xml")
    evaluation = load_evaluation(folder.write(HEAD + FOUND + "  alpha: {team: A}\n"))
    assert [system.name for system in evaluation.systems] == ["alpha", "gamma"]
    assert [one.code for one in evaluation.findings] == ["bad_name"] * 3
    for one, (left, twin) in zip(
        evaluation.findings, [("ALPHA", "alpha"), ("Beta", "beta"), ("beta", "Beta")], strict=True
    ):
        assert f"finds 'outputs/{left}/" in one.message
        assert f"differs from '{twin}' by case or Unicode form alone" in one.message


def test_a_hostile_name_may_be_excluded(folder: Folder) -> None:
    folder.add("outputs/-rf/dev/african.kwslist.xml")
    evaluation = load_evaluation(folder.write(HEAD + FOUND + "  exclude: ['-*']\n"))
    assert [system.name for system in evaluation.systems] == ["alpha", "beta", "gamma"]


def test_two_files_for_one_cell_spoil_that_cell(folder: Folder) -> None:
    folder.add("outputs/alpha/dev/african.v2.xml", "outputs/alpha/dev/african.v1.xml", "outputs/beta/dev/indian.v1.xml")
    pattern = "systems:\n  pattern: outputs/{system}/{query_set}/{dataset}.v?.xml\n"
    alpha, beta = load_evaluation(folder.write(HEAD + pattern)).systems
    why = "there are two outputs for dev/african: 'african.v1.xml' and 'african.v2.xml'. Remove one."
    assert (alpha.faults, beta.faults) == ({("dev", "african"): why}, {})


def test_a_pattern_must_tell_cells_apart(faults: Faults) -> None:
    found = faults(HEAD + "systems:\n  pattern: outputs/{system}/{query_set}.xml\n")
    assert [(code, line) for code, line, _ in found] == [("bad_placeholder", 10)]
    assert "needs {dataset}, as there are 2 (african, indian)" in found[0][2]
    found = faults(HEAD + "systems:\n  pattern: outputs/{query_set}/{dataset}.xml\n")
    assert "needs {system}" in found[0][2]


def test_names_in_lists_must_exist(faults: Faults) -> None:
    found = faults(HEAD + FOUND + "  primary: [alhpa, gamma]\n  exclude: [betta, 'x*']\n  gamma: {primary: false}\n")
    assert [(code, line) for code, line, _ in found] == [
        ("unknown_system", 12),
        ("unknown_system", 12),
        ("unknown_system", 11),
        ("contradiction", 11),
    ]


def test_cells_named_by_hand_must_exist(faults: Faults) -> None:
    cells = "      dev/african: a.xml\n      dev/afrikan: b.xml\n      dev: c.xml\n"
    found = faults(f"{HEAD}systems:\n  alpha:\n    outputs:\n{cells}")
    assert [(code, line) for code, line, _ in found] == [("unknown_cell", 13), ("unknown_cell", 14)]
    assert "allowed: dev/african, dev/indian, eval/african, eval/indian" in found[0][2]


@pytest.mark.parametrize("text", ["", "[]", "just text", "systems: {}", "# only a comment\n"])
def test_files_that_are_no_evaluation(faults: Faults, text: str) -> None:
    assert faults(text)


def test_systems_must_come_from_somewhere(faults: Faults) -> None:
    assert [(code, line) for code, line, _ in faults(HEAD + "systems: {}\n")] == [("missing_field", 9)]
    assert [(code, line) for code, line, _ in faults(HEAD + "systems:\n  a: {team: x}\n")] == [("missing_field", 10)]


def test_credentials_are_refused_and_not_repeated(faults: Faults) -> None:
    ((code, line, message),) = faults(HEAD.replace("queries/dev.xml", "'s3://ID:HUSH@bucket/dev.xml'") + FOUND)
    assert (code, line) == ("secret_in_url", 7)
    assert "HUSH" not in message


def test_an_evaluation_file_is_not_read_with_credentials_in_its_url() -> None:
    with pytest.raises(UsageError, match="carries credentials") as caught:
        load_evaluation("s3://ID:HUSH@bucket/e.yaml")
    assert "HUSH" not in str(caught.value)


def test_more_problems_than_are_shown_are_counted(folder: Folder) -> None:
    folder.add(*(f"others/s{i}/x/african.xml" for i in range(50)))
    with pytest.raises(ConfigError) as caught:
        load_evaluation(folder.write(HEAD + "systems:\n  pattern: others/{system}/{query_set}/{dataset}.xml\n"))
    assert caught.value.count == 51


def test_a_missing_evaluation_file_is_refused_input(folder: Folder) -> None:
    with pytest.raises(InputError):
        load_evaluation(str(folder.root / "none.yaml"))
