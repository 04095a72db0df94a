"""What a language recognition cell says: sets, languages of the other task, confusion, weights, speed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from lre_files import key_of, key_text, output_text, write
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from pipeline.cli import main
from pipeline.engine.result import Result, document, from_bytes, to_bytes
from pipeline.engine.score import score_files
from pipeline.errors import InputError, UsageError
from pipeline.formats.lre.names import LANGUAGES, columns_of
from pipeline.protocols import find
from pipeline.protocols.lre.named import identify


def score(inputs: dict[str, str], **settings: str) -> Result:
    return score_files(find("albayzin-lre12", overrides=settings), inputs)


def by_hand(folder: Path, rows: list[tuple[str, str, str]], codes: str = "Empty Open") -> dict[str, str]:
    """Inputs from rows of segment, label and scores."""
    (folder / "key.txt").write_text("".join(f"{segment} {label}\n" for segment, label, _ in rows))
    (folder / "a.out").write_text("".join(f"{codes} {segment} {scores}\n" for segment, _, scores in rows))
    return {"key": str(folder / "key.txt"), "output": str(folder / "a.out")}


ROWS = [
    ("f1", "French", "9 0 0 0 0"),
    ("f2", "French", "0 9 0 0 0"),
    ("d1", "German", "0 9 0 0 0"),
    ("g1", "Greek", "0 0 9 0 0"),
    ("i1", "Italian", "0 0 0 9 0"),
    ("o1", "OOS", "0 0 0 0 9"),
    ("s1", "Spanish", "0 0 0 0 9"),
    ("s2", "Basque", "9 0 0 0 0"),
    ("x1", "-", "9 9 9 9 9"),
]


def test_decisions_are_counted_by_language(tmp_path: Path) -> None:
    shown = document(score(by_hand(tmp_path, ROWS)))
    blocks = {block["id"]: block for block in shown["blocks"]}
    assert list(blocks) == ["French", "German", "Greek", "Italian", "OOS"]
    assert (blocks["French"]["n_segments"], blocks["French"]["n_correct"], blocks["French"]["p_miss"]) == (2, 1, 0.5)
    # Half of the French segments and no other is taken for German, by four other classes.
    assert (blocks["German"]["n_decided"], blocks["German"]["p_fa"]) == (2, 0.125)
    assert shown["confusion"][0] == {"id": "French", "French": 1, "German": 1, "Greek": 0, "Italian": 0, "OOS": 0}
    right, wrong = math.exp(9) / (math.exp(9) + 4), 1 / (math.exp(9) + 4)
    soft = shown["soft_confusion"][0]
    assert (soft["French"], soft["Greek"]) == pytest.approx(((right + wrong) / 2, wrong))
    assert blocks["French"]["c_log"] == pytest.approx(-(math.log(right) + math.log(wrong)) / 2)


def test_costs_by_language_average_to_the_cross_entropy(tmp_path: Path) -> None:
    result = score(write(tmp_path, key_of(), "PO"))
    mean = math.fsum(block["c_log"] for block in result.blocks) / len(result.blocks)
    assert result.figures["c_mce"].value == pytest.approx(mean, rel=1e-14)


def test_ties_go_to_the_first_class(tmp_path: Path) -> None:
    rows = [(name, label, "1 1 1 1 1") for name, label, _ in ROWS]
    shown = document(score(by_hand(tmp_path, rows)))
    assert [row["French"] for row in shown["confusion"]] == [2, 1, 1, 1, 1]
    assert shown["measures"]["c_min"]["status"] == "degenerate"
    assert shown["measures"]["f_act"]["value"] == pytest.approx(1.0, rel=1e-15)


def test_languages_of_the_other_task_are_left_out_or_out_of_set(tmp_path: Path) -> None:
    inputs = by_hand(tmp_path, ROWS)
    left_out, oos = (score(inputs, other_task_languages=value) for value in ("exclude", "oos"))
    assert (left_out.facts["n_segments_scored"], oos.facts["n_segments_scored"]) == (6, 8)
    assert (left_out.facts["n_other_task"], left_out.facts["n_removed"]) == (2, 1)
    assert [block["n_segments"] for block in oos.blocks] == [2, 1, 1, 1, 3]
    assert oos.figures["c_mce"].value > left_out.figures["c_mce"].value
    assert oos.tables["pairs"] == left_out.tables["pairs"]


def test_an_open_output_is_scored_closed_on_request(tmp_path: Path) -> None:
    inputs = write(tmp_path, key_of(), "PO")
    opened = score(inputs, also_closed="true")
    text = Path(inputs["output"]).read_text().replace("Plenty Open", "Plenty Closed")
    place = tmp_path / "GTTS_PC_pri.out"
    place.write_text(text)
    closed = score({**inputs, "output": str(place)})
    assert opened.conditions["closed"].figures == closed.figures
    assert opened.conditions["closed"].blocks == closed.blocks
    assert opened.figures["f_def"].value == pytest.approx(6.0)
    assert closed.figures["f_def"].value == pytest.approx(5.0)
    assert "closed" not in score(inputs).conditions


def test_closed_figures_ignore_the_last_column(tmp_path: Path) -> None:
    inputs = write(tmp_path, key_of(), "EC")
    before = score(inputs)
    lines = Path(inputs["output"]).read_text().splitlines()
    Path(inputs["output"]).write_text(
        "".join(f"{line.rpartition(' ')[0]} {999 * at}\n" for at, line in enumerate(lines))
    )
    after = score(inputs)
    assert (after.figures, after.blocks, after.tables) == (before.figures, before.blocks, before.tables)


def test_the_order_of_lines_changes_no_bit(tmp_path: Path) -> None:
    inputs = write(tmp_path, key_of(), "EO")
    before = to_bytes(score(inputs))
    for role in ("key", "output"):
        lines = Path(inputs[role]).read_text().splitlines(keepends=True)
        Path(inputs[role]).write_text("".join(reversed(lines)))
    after = score(inputs)
    first = from_bytes(before)
    assert document(after)["measures"] == document(first)["measures"]
    assert document(after)["pairs"] == document(first)["pairs"]


def test_a_pair_is_the_multiclass_figure_of_two_classes(tmp_path: Path) -> None:
    key = key_of()
    both = {segment: label for segment, label in key.items() if label in ("French", "German")}
    whole = score(write(tmp_path, key, "EC"))
    lines = output_text(key, "EC").splitlines(keepends=True)
    kept = "".join(line for line in lines if line.split()[2] in both)
    (tmp_path / "key.txt").write_text(key_text(both))
    (tmp_path / "two.out").write_text(kept)
    inputs = {"key": str(tmp_path / "key.txt"), "output": str(tmp_path / "two.out")}
    alone = score(inputs, empty_classes="leave_out")
    pair = whole.conditions["French|German"]
    assert pair.figures == alone.figures
    assert alone.figures["f_def"].value == pytest.approx(1.0)
    assert whole.tables["pairs"][0]["scale"] == alone.figures["c_min"].detail["scale"]


@pytest.mark.parametrize("track", ["PO", "EC"])
def test_the_minimum_agrees_with_another_optimiser(tmp_path: Path, track: str) -> None:
    key = key_of(9)
    inputs = write(tmp_path, key, track, strength=0.7)
    result = score(inputs)
    task = "Plenty" if track[0] == "P" else "Empty"
    classes = columns_of(task) if track[1] == "O" else LANGUAGES[task]
    fields = [line.split() for line in Path(inputs["output"]).read_text().splitlines()]
    fields = [row for row in fields if key[row[2]] in classes]
    llh = np.array([list(map(float, row[3 : 3 + len(classes)])) for row in fields])
    truth = np.array([classes.index(key[row[2]]) for row in fields])
    weights = 1.0 / len(classes) / np.bincount(truth)[truth]

    def cost(place: np.ndarray) -> tuple[float, np.ndarray]:
        logits = place[0] * llh + place[1:]
        loss = logsumexp(logits, axis=1) - logits[np.arange(truth.size), truth]
        wrong = np.exp(log_softmax(logits, axis=1)) - np.eye(len(classes))[truth]
        wrong *= weights[:, None]
        return float(weights @ loss), np.concatenate([[(wrong * llh).sum()], wrong.sum(axis=0)])

    found = minimize(cost, np.zeros(1 + len(classes)), jac=True, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-11})
    minimum = result.figures["c_min"]
    assert minimum.status == "overlap"
    assert minimum.value == pytest.approx(found.fun, rel=1e-9)
    assert minimum.detail["scale"] == pytest.approx(found.x[0], rel=1e-5)
    assert result.figures["c_mce"].value == pytest.approx(cost(np.array([1.0, *[0.0] * len(classes)]))[0], rel=1e-12)


def test_equal_weights_are_the_scaled_error_rate(tmp_path: Path) -> None:
    result = score(by_hand(tmp_path, ROWS))
    # One class of five has an error rate of 1/2; the factor is K / (K - 1).
    assert result.figures["c_eta"].value == pytest.approx(0.1 * 5 / 4)


def test_weights_move_decisions_and_costs(tmp_path: Path) -> None:
    rows = [(name, label, "0 0.5 -9 -9 -9" if label == "French" else scores) for name, label, scores in ROWS]
    inputs = by_hand(tmp_path, rows)
    weights = "French=0.1,German=0.3,Greek=0.2,Italian=0.2,OOS=0.2"
    # French is the cheaper mistake to avoid: exp(0.5) < 3, so it is decided, and nothing is wrong.
    assert score(inputs, eta=weights).figures["c_eta"].value == 0.0
    swapped = "French=0.3,German=0.1,Greek=0.2,Italian=0.2,OOS=0.2"
    assert score(inputs, eta=swapped).figures["c_eta"].value == pytest.approx(1 / 0.3 / 4 / 5)
    others = score(inputs, eta="Basque=0.5,Catalan=0.5")
    assert others.figures["c_eta"].reason == "weights_of_other_classes"


@pytest.mark.parametrize("eta", ["French=0.5", "French=1.5,German=-0.5", "Klingon=1", "French=0.5,French=0.5", "0.5"])
def test_weights_that_are_none_are_refused(eta: str) -> None:
    with pytest.raises(UsageError, match="setting eta"):
        find("albayzin-lre12", overrides={"eta": eta})


def test_processing_speed_is_cpu_time_over_audio(tmp_path: Path) -> None:
    inputs = by_hand(tmp_path, ROWS)
    assert score(inputs).figures["rtf"].reason == "no_resources"
    (tmp_path / "use.yaml").write_text("index: {cpu_s: 100}\nsearch: {wall_s: 25, cores: 4}\n")
    inputs["resources"] = str(tmp_path / "use.yaml")
    assert score(inputs).figures["rtf"].reason == "no_audio_duration"
    assert score(inputs, t_audio="400").figures["rtf"].value == 0.5


def test_a_track_may_be_demanded(tmp_path: Path) -> None:
    inputs = by_hand(tmp_path, ROWS)
    assert score(inputs, track="EO").facts["track"] == "EO"
    with pytest.raises(InputError) as caught:
        score(inputs, track="EC")
    assert [finding.code for finding in caught.value.findings] == ["wrong_track"]


def test_segments_of_output_and_key_are_the_same(tmp_path: Path) -> None:
    inputs = by_hand(tmp_path, ROWS)
    lines = Path(inputs["output"]).read_text().splitlines(keepends=True)
    Path(inputs["output"]).write_text("".join(lines[2:]) + "Empty Open zz 0 0 0 0 0\n")
    with pytest.raises(InputError) as caught:
        score(inputs)
    assert [finding.code for finding in caught.value.findings] == ["unknown_segment", *["missing_segment"] * 2]
    assert all(finding.where.startswith(inputs["output"] + ":8") for finding in caught.value.findings)


def test_validate_holds_the_name_against_the_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = by_hand(tmp_path, ROWS)
    given = ["--input", f"key={inputs['key']}", "--input", f"output={inputs['output']}"]
    assert main(["validate", "--protocol", "albayzin-lre12", *given, "--json"]) == 1
    [error] = json.loads(capsys.readouterr().out)["errors"]
    assert error["code"] == "bad_file_name"
    assert "<GroupID>_<PC|PO|EC|EO>_" in error["message"]


@pytest.mark.parametrize(("high", "low"), [("1e100", "-1e100"), ("1e-300", "-1e-300"), ("5e-324", "0")])
def test_extreme_scores_are_scored(tmp_path: Path, high: str, low: str) -> None:
    swap = {"9": high, "0": low}
    rows = [(name, label, " ".join(swap[score] for score in scores.split())) for name, label, scores in ROWS]
    figures = score(by_hand(tmp_path, rows)).figures
    assert figures["c_min"].value <= min(figures["c_mce"].value, figures["c_def"].value)
    assert figures["f_dis"].value <= 1.0


def test_nothing_but_removed_segments(tmp_path: Path) -> None:
    result = score(by_hand(tmp_path, [("x1", "-", "1 2 3 4 5")]))
    assert result.figures["c_mce"].reason == "class_without_segments"
    assert result.facts["n_segments_scored"] == 0
    left = score(by_hand(tmp_path, [("x1", "Greek", "1 2 3 4 5")]), empty_classes="leave_out")
    assert left.figures["c_mce"].reason == "too_few_classes"
    assert document(from_bytes(to_bytes(left))) == document(left)


def test_names_of_systems_say_who_they_are() -> None:
    assert identify("L2F_UPV_con12") == {"team": "L2F_UPV", "system_id": "con12"}
    assert identify("GTTS_EO_pri") == {"team": "GTTS", "track": "EO", "system_id": "pri"}
    assert identify("anything") == {}
    assert identify("GTTS_con0") == {}
