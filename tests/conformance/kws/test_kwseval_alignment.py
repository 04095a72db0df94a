"""``alignment.csv``, ``sum`` and ``bsum`` against the tool's own files: rows as sets, tables byte for byte.

Where we differ on purpose (``DEVIATIONS``, by case and table: the lines that differ):

* A figure that does not exist is NA. The tool prints 0 for the PFA of a query whose segments are all targets (test6b),
  the first point of the sweep as the maximum of a condition without occurrences (cond_target), and NaN as a threshold
  where there is nothing to accept (test2b).
* A query's best threshold is NA where accepting nothing is best; the tool prints its highest score (bn_cts_mtg).
* Columns of a condition always stand in one order; the tool's order is random where no query counts (test2b).
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from kwseval_cases import arguments, index

from pipeline.cli import main
from pipeline.engine.cell import score_cell
from pipeline.engine.plan import Plan, plan
from pipeline.report.cell_tables import write_cell_tables
from pipeline.store.blobs import Store
from pipeline.terms import Dataset, Evaluation, QuerySet, System

DEVIATIONS = {
    ("cond_target", "cond.sum.csv"): 1,
    ("test2b", "cond.bsum.csv"): 3,
    ("test2b", "cond.sum.csv"): 1,
    ("test6b", "bsum.csv"): 2,
    ("bn_cts_mtg", "bsum.csv"): 1,
}
GENERATED = (
    "base ties collar unicode_lower unicode_nonorm multichan_holes duplicates dense_minmax just_system sws2012 sws2011 "
    "sws2013 cond_source cond_attr cond_oov cond_target namefile tps all_no medium segment_inc_holes segment_cond"
)
F4DE = (
    "test2b test6_plain test6a test6b test7b test7c test7e test9_occ test3 test3_scoring_ecf bn_cts_mtg "
    "bn_cts_mtg_cond bn_cts_mtg_seg bn_cts_mtg_noinc bn_cts_mtg_seginc bn_cts_mtg_just"
)
CASES = [("generated", name) for name in GENERATED.split()] + [("f4de", name) for name in F4DE.split()]


def _rows(path: Path) -> list[tuple[Any, ...]]:
    """Header and rows, sorted; times and scores as numbers."""
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.reader(handle))

    def cell(at: int, text: str) -> str:
        return str(float(text)) if 5 <= at <= 9 and text and text[0] in "-.0123456789" else text

    return sorted(tuple(cell(at, text) for at, text in enumerate(row)) for row in rows)


def _command(conformance: Path, family: str, case: dict[str, Any], folder: Path, suffix: str) -> list[str]:
    argv = arguments(conformance, family, case)
    if case["options"]["mode"] == "segment":
        argv = ["openkws13-segments" if part == "openkws13" else part for part in argv if part != "-g"]
    files = {"--alignment": "alignment.csv", "--sum": f"sum.{suffix}", "--bsum": f"bsum.{suffix}"}
    extras = ",".join(case["options"]["global_measures"])
    return [*argv, *(part for option, name in files.items() for part in (option, str(folder / name)))] + (
        ["--sum-columns", extras] if extras else []
    )


@pytest.mark.parametrize(("family", "name"), CASES)
def test_tables_are_the_tools(
    conformance: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, family: str, name: str
) -> None:
    [case] = [case for case in index(conformance, family) if case["case"] == name]
    suffix = "txt" if "sum.txt" in case["outputs"] else "csv"
    assert main(_command(conformance, family, case, tmp_path, suffix)) == 0
    capsys.readouterr()
    found, wrong = sorted(path.name for path in tmp_path.iterdir()), []
    expected = {entry: conformance / "kws" / family / path for entry, path in case["outputs"].items() if "sum" in entry}
    expected = {entry: path for entry, path in expected.items() if entry.endswith(suffix)}
    assert found == sorted([*expected, "alignment.csv"])
    assert _rows(tmp_path / "alignment.csv") == _rows(conformance / "kws" / family / case["outputs"]["alignment.csv"])
    for entry, path in expected.items():
        ours = (tmp_path / entry).read_text(encoding="utf-8").splitlines()
        tools = path.read_text(encoding="utf-8").splitlines()
        assert len(ours) == len(tools)
        differing = [pair for pair in zip(ours, tools, strict=True) if pair[0] != pair[1]]
        if len(differing) != DEVIATIONS.get((name, entry), 0):
            wrong.append((entry, differing))
    assert wrong == []


def test_every_case_of_both_families_is_listed(conformance: Path) -> None:
    for family in ("generated", "f4de"):
        assert {case["case"] for case in index(conformance, family)} == {
            name for owner, name in CASES if owner == family
        }


def test_a_comma_in_a_keyword_is_quoted_where_the_tool_breaks_the_row(
    conformance: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    [case] = [case for case in index(conformance, "edge") if case["case"] == "comma_kwtext_csv"]
    path = tmp_path / "alignment.csv"
    assert main([*arguments(conformance, "edge", case), "--alignment", str(path)]) == 0
    capsys.readouterr()
    assert path.read_text().splitlines()[1] == 'x,f1,1,K1,"a,c",10,10.5000,10,10.5,0.9,YES,CORR'


def _planned(conformance: Path, name: str, protocol: str, store: Store) -> Plan:
    """The id of a published run of one case, scored tile by tile in a store."""
    folder = conformance / "kws" / "generated" / name
    files = {role: str(folder / f"in.{role}") for role in ("ecf.xml", "rttm", "kwlist.xml", "kwslist.xml")}
    evaluation = Evaluation(
        name="tables",
        protocol=protocol,
        mode="official",
        overrides=(),
        datasets=(Dataset("d", files["ecf.xml"], files["rttm"]),),
        query_sets=(QuerySet("q", files["kwlist.xml"]),),
        systems=(System("s", outputs={("q", "d"): files["kwslist.xml"]}), System("none")),
    )
    work = plan(evaluation, store)
    for job in work.jobs:
        score_cell(store, work, job.cell)
    return work


@pytest.mark.parametrize(("name", "protocol"), [("ties", "openkws13"), ("segment_cond", "openkws13-segments")])
def test_a_run_writes_the_bytes_of_the_command_line(
    conformance: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, protocol: str
) -> None:
    folder, store = conformance / "kws" / "generated" / name, Store(str(tmp_path / "store"))
    work = _planned(conformance, name, protocol, store)
    written = write_cell_tables(store, work, "reports/tables/one")
    assert {entry.rsplit("/", 1)[0] for entry in written} == {"q/d/s"}  # a cell without an output has no tables
    argv = ["score", "--protocol", protocol]
    for option, role in (("-e", "ecf.xml"), ("-r", "rttm"), ("-t", "kwlist.xml"), ("-s", "kwslist.xml")):
        argv += [option, str(folder / f"in.{role}")]
    for table in ("alignment", "sum", "bsum"):
        argv += [f"--{table}", str(tmp_path / f"{table}.csv")]
    assert main(argv) == 0
    capsys.readouterr()
    for table in ("alignment", "sum", "bsum"):
        assert store.get(written[f"q/d/s/{table}.csv"]) == (tmp_path / f"{table}.csv").read_bytes()


def test_permuted_rows_and_blocks_give_the_same_bytes(
    conformance: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    [case] = [case for case in index(conformance, "generated") if case["case"] == "ties"]
    argv = _command(conformance, "generated", case, tmp_path, "txt")
    output = Path(argv[argv.index("-s") + 1])
    text = output.read_text()
    parts = text.split("  <detected_kwlist")
    last, tail = parts[-1].split("</kwslist>")
    permuted = tmp_path / output.name
    permuted.write_text("  <detected_kwlist".join([parts[0], *reversed([*parts[1:-1], last])]) + "</kwslist>" + tail)
    names, seen = ("alignment.csv", "sum.txt", "bsum.txt"), []
    for path in (output, permuted):
        assert main([str(path) if part == str(output) else part for part in argv]) == 0
        capsys.readouterr()
        seen.append([(tmp_path / name).read_bytes() for name in names])
    assert seen[0] == seen[1]


SEGMENT_PROBES = "grp_-g seg_4dec seg_cross seg_no_wins seg_noscore seg_overlap seg_spk_out".split()


@pytest.mark.parametrize("name", SEGMENT_PROBES)
def test_rows_of_a_segment_probe(
    conformance: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    [case] = [case for case in index(conformance, "edge") if case["case"] == name]
    assert main(_command(conformance, "edge", case, tmp_path, "csv")) == 0
    capsys.readouterr()
    tools = tmp_path / "tool.csv"
    tools.write_text("\n".join(case["alignment"]), encoding="utf-8")
    assert _rows(tmp_path / "alignment.csv") == _rows(tools)
