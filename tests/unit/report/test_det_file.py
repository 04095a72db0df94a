"""DET curves as files: SVG that stands alone, PDF with its fonts, and refusals by name."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from flows.rescore import run_evaluation
from flows.steps import finish, score_here
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.errors import UsageError
from pipeline.grid import latest
from pipeline.report.det_file import check_forms
from pipeline.store.blobs import Store
from tests.unit.cli.kws_files import RTTM, UNIT_COSTS, write_cell
from tests.unit.engine import grid_of_cells as cells

SVG = "{http://www.w3.org/2000/svg}"
MANY = "".join(f"LEXEME f1 1 {at} 0.5 alpha lex spk <NA>\n" for at in range(60, 90, 2))


def draw(folder: Path, name: str, *options: str) -> bytes:
    cell = write_cell(folder, rttm=RTTM + MANY)
    assert main(["score", "--protocol", "openkws13", *cell, *UNIT_COSTS, "--det", str(folder / name), *options]) == 0
    return (folder / name).read_bytes()


@pytest.fixture
def cairo(require: Callable[[str, object, str], None]) -> None:
    try:
        check_forms(["pdf"])
    except UsageError as missing:
        require("cairo", None, str(missing))


def parsed(data: bytes) -> ElementTree.Element:
    return ElementTree.fromstring(data)  # noqa: S314 - our own drawing


def texts(data: bytes) -> list[str]:
    return ["".join(node.itertext()) for node in parsed(data).iter(f"{SVG}text")]


def test_a_drawing_has_axes_points_lines_of_equal_cost_and_a_name(tmp_path: Path) -> None:
    data = draw(tmp_path, "d.svg", "--system", "<Ω> & sons")
    said = texts(data)
    assert said[0] == "<Ω> & sons"
    # K1 finds 1 of 17 with one false alarm in 83, K2 its only one: 1 - (16/17 + 1/83) / 2.
    assert said[1].startswith("ATWV 0.5234 at P_miss 0.4706, P_fa 0.0060")
    assert said[2].startswith("MTWV 0.5234")
    assert {"False-alarm probability (%)", "Miss probability (%)", "TWV 0.4", "1", "40"} <= set(said)
    root = parsed(data)
    assert len([c for c in root.iter(f"{SVG}circle") if c.get("r") == "4.5"]) == 2  # in the head, and in the plot
    assert not [node for node in root.iter() if node.get("class") or node.get("style")]  # nothing needs a style sheet
    assert draw(tmp_path, "again.svg", "--system", "<Ω> & sons") == data


def test_the_name_is_that_of_the_output(tmp_path: Path) -> None:
    assert texts(draw(tmp_path, "d.svg"))[0] == "output"
    assert texts(draw(tmp_path, "d.svg", "--system", "x" * 200))[0] == "x" * 59 + "…"
    assert "\N{REPLACEMENT CHARACTER}" in texts(draw(tmp_path, "d.svg", "--system", "a\ufffe\x1b"))[0]


@pytest.mark.usefixtures("cairo")
def test_a_pdf_is_vectors_with_fonts_of_its_own_and_no_time(tmp_path: Path) -> None:
    data = draw(tmp_path, "d.PDF", "--system", "Ω")
    assert data.startswith(b"%PDF")
    assert b"/FontFile2" in data
    assert b"/Subtype /Image" not in data
    page = zlib.decompress(re.search(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL)[1])
    n_ends = len(re.findall(rb" [lc]\s", page))
    assert n_ends > 100  # lines of axes, curve and equal cost
    assert draw(tmp_path, "again.pdf", "--system", "Ω") == data


@pytest.mark.parametrize("name", ["d.png", "d", "d.svgz", ".svg"])
def test_another_ending_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    options = [*write_cell(tmp_path), "--det", str(tmp_path / name)]
    assert main(["score", "--protocol", "openkws13", *options]) == 2
    assert "a DET file is FILE.svg or FILE.pdf" in capsys.readouterr().err


def test_a_pdf_without_what_draws_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    options = [*write_cell(tmp_path), "--det", str(tmp_path / "d.pdf")]
    assert main(["score", "--protocol", "openkws13", *options]) == 2
    assert "Install rescore[pdf] and Cairo" in capsys.readouterr().err
    assert texts(draw(tmp_path, "d.svg"))


@pytest.mark.parametrize(
    ("protocol", "said"), [("stt13", "stt13 has no DET curve"), ("albayzin-lre12", "no DET curve")]
)
def test_families_without_a_curve_refuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str, said: str
) -> None:
    assert main(["score", "--protocol", protocol, "--det", str(tmp_path / "d.svg")]) == 2
    assert said in capsys.readouterr().err


def test_a_cell_without_a_curve_is_told_and_not_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = write_cell(tmp_path, rttm="LEXEME f1 1 10.0 1.0 nothing lex spk <NA>\n")
    assert main(["score", "--protocol", "openkws13", *cell, "--det", str(tmp_path / "d.svg")]) == 0
    assert "'output' has no curve" in capsys.readouterr().err
    assert not (tmp_path / "d.svg").exists()


def test_a_run_draws_every_cell_that_has_a_curve(tmp_path: Path) -> None:
    evaluation, store = str(cells.write(tmp_path)), Store(str(tmp_path / "store"))
    planned = plan(load_evaluation(evaluation), store)
    plain = finish(store, planned, score_here(store, planned, planned.jobs))
    summary = run_evaluation(evaluation, store=store.root, quiet=True, det=("svg",))
    assert (summary.n_reused, summary.run_id != plain.id) == (8, True)
    run = latest(store, "grid")
    drawn = [name for name in run.reports if name.endswith("/det.svg")]
    assert len(drawn) == 8
    assert summary.paths["det"].rpartition("/")[2].startswith(run.id)
    assert "alignments" not in summary.paths
    assert texts(store.get(run.reports["p/d/good/det.svg"]))[:2] == ["good", "p × d"]
    assert run_evaluation(evaluation, store=store.root, quiet=True, det=("svg",)).run_id == run.id
    with pytest.raises(UsageError, match=r"svg or pdf \(got png\)"):
        run_evaluation(evaluation, store=store.root, quiet=True, det=("png",))
