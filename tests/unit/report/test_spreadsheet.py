from __future__ import annotations

import csv
import io
import math

import pytest
from made_grid import FORMULA, HOSTILE, make_grid

from pipeline.report.board import board_rows
from pipeline.report.spreadsheet import board_csv, guarded


def read(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_text_that_begins_like_a_formula_is_guarded(start):
    assert guarded(f"{start}1+1") == f"'{start}1+1"


@pytest.mark.parametrize("text", ["", "a=b", "gtts-fusion", "1-2", "'=1"])
def test_other_text_stays_as_it_is(text):
    assert guarded(text) == text


def test_no_field_of_the_table_begins_like_a_formula(made):
    for row in read(board_csv(made[0])):
        for name, field in row.items():
            assert not field.startswith(("=", "+", "@", "\t")), name


def test_every_text_column_is_guarded():
    names = ("=system", "+b", "-c", "@d", "\te", "f")
    grid, _ = make_grid(names)
    root = grid[""]
    root["team"][:] = "@team"
    root["failed"][0, 0, 0], root["failed_where"][0, 0, 0], root["failed_message"][0, 0, 0] = "-x", "+file:1", "=cmd"
    grid[""] = root.assign_coords(query_set=["=q", "r"], dataset=["@d", "e"], condition=["-T1", "all"])
    table = read(board_csv(grid))
    assert {row["system"] for row in table} == {"'=system", "'+b", "'-c", "'@d", "'\te", "f"}
    assert {row["team"] for row in table} == {"'@team"}
    assert {row["query_set"] for row in table} == {"'=q", "r"}
    assert {row["dataset"] for row in table} == {"'@d", "e"}
    assert {row["condition"] for row in table} == {"'-T1", "all"}
    (failed, *_) = [row for row in table if row["failed"] == "'-x"]
    assert (failed["failed_where"], failed["failed_message"]) == ("'+file:1", "'=cmd")


def test_figures_read_back_to_the_same_bits_and_negative_ones_are_numbers(made):
    grid = {**made[0], "": made[0][""].copy(deep=True)}
    grid[""]["value"].loc["gtts-fusion", "dev", "dev", "all", "atwv"] = -1 / 3
    first, rows = read(board_csv(grid)), board_rows(grid)
    assert first[0]["atwv"] == "-0.3333333333333333"
    for written, row in zip(first, rows, strict=True):
        for measure in ("atwv", "p_fa", "cnxe", "pl"):
            value = row[measure]
            assert written[measure] == "" if math.isnan(value) else float(written[measure]) == value


def test_infinities_undefined_figures_and_missing_ranks(made):
    table = read(board_csv(made[0]))
    place = ("dev", "dev", "all")
    by_system = {r["system"]: r for r in table if (r["query_set"], r["dataset"], r["condition"]) == place}
    assert by_system[guarded(HOSTILE[3])]["cnxe"] == "inf"
    assert by_system["cuhk-posteriors"]["mtwv_threshold"] == ""
    assert by_system["cuhk-posteriors"]["reasons"] == "mtwv_threshold:reject_all"
    assert by_system[f"'{FORMULA}"]["rank"] == "3"
    failed = [row for row in table if row["failed"]]
    assert {row["rank"] for row in failed} == {""}
    assert {row["failed"] for row in failed} == {"refused_input", "missing_output"}


def test_the_primary_measure_is_the_first_figure(made):
    header = board_csv(made[0]).decode().splitlines()[0].split(",")
    assert header[:8] == ["query_set", "dataset", "condition", "rank", "system", "team", "primary", "atwv"]


def test_a_lone_surrogate_in_a_name_does_not_stop_the_table():
    grid, _ = make_grid(("\ud800", "b", "c", "d", "e", "f"))
    assert read(board_csv(grid))[0]["system"] == "?"
