"""KWSEval's tables: layout, formats, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline.engine.alignments import Alignment
from pipeline.engine.result import Result
from pipeline.errors import UsageError
from pipeline.formats.table import Table
from pipeline.protocols.kws.explain import OUTCOMES
from pipeline.protocols.kws.settings import KwsSettings
from pipeline.report.kwseval.alignment import alignment_csv
from pipeline.report.kwseval.grid_text import GroupedTable, as_csv, as_text
from pipeline.report.kwseval.tables import number, p_miss, tables
from pipeline.terms import Figure

NAN = math.nan
BLOCK = {"n_correct_rejection": 1, "n_omitted": 0, "p_miss_optimum": 0.0, "p_fa_optimum": 0.0, "twv_optimum": 1.0}


def _block(name: str, text: str, counts: tuple[int, int, int, int], rates: tuple[float, float, float]) -> dict:
    named = dict(zip(("n_target", "n_hit", "n_miss", "n_fa"), counts, strict=True))
    named |= dict(zip(("p_miss", "p_fa", "twv"), rates, strict=True))
    return {"id": name, "text": text, **BLOCK, **named, "twv_supremum": 1.0, "average_precision": 0.5}


def _result(*blocks: dict, consistent: bool = True) -> Result:
    rates = {"p_miss": 0.25, "p_fa": 0.01}
    figures = {
        "atwv": Figure(-9.249),
        **{name: Figure(value) for name, value in rates.items()},
        "mtwv": Figure(0.75, detail=rates),
        "mtwv_threshold": Figure.undefined("reject_all"),
    }
    facts = {"t_audio_s": 100.5, "n_trials": 100.0, "beta": 999.9000000000001}
    facts |= {"score_min_yes": 0.6, "score_max_no": 0.5 if consistent else NAN}
    return Result("openkws13", 1, "official", "", "atwv", facts=facts, figures=figures, blocks=blocks)


ONE = _block("K1", "eins", (4, 3, 1, 1), (0.25, 0.01, -9.249))
NONE = _block("K2", "zwei, drei", (0, 0, 0, 2), (NAN, 0.02, NAN))


def test_one_evaluated_query_leaves_the_count_of_queries_out():
    main, conditions = tables(_result(ONE, NONE), KwsSettings(), by_query=False, text=False)
    assert conditions is None
    head, row = main.splitlines()
    assert "#Keyword" not in head
    counts, rates = '"4","2","6","3","1","1","1"', '"0.01000"," 0.250"'
    assert row == f'"Occurrence",{counts},{rates},"-9.2490","0.5500",{rates},"0.7500","NA"'


def test_queries_without_occurrences_have_empty_cells_unless_they_count():
    main, _ = tables(_result(ONE, NONE), KwsSettings(), by_query=True, text=False)
    assert '"Keyword|K2","zwei, drei",,,,,,,\n' in main
    counted, _ = tables(_result(ONE, NONE), KwsSettings(include_no_targets=True), by_query=True, text=False)
    assert '"Keyword|K2","zwei, drei","0","0","2","0","NA","0.02000","NA"\n' in counted
    assert '"Summary|Means",,"2","2","2","0",,"0.01000"," 0.250"\n' in counted


def test_text_has_the_parameters_above_the_table():
    main, _ = tables(_result(ONE), KwsSettings(), by_query=True, text=True)
    lines = main.splitlines()
    assert lines[0] == "|  Performance Summary Over and Ensemble of Subsets  |"
    assert "|                            Cost |           0.1000 |" in lines
    assert "|                            BETA |            999.9 |" in lines
    row = "Keyword  K1      |       eins |       4 |       3 |     1 |       1 |   -9.2490 |   0.01000 |    0.250 |"
    assert row in lines


def test_a_decision_threshold_stands_on_one_side_where_there_is_no_other():
    main, _ = tables(_result(ONE, consistent=False), KwsSettings(), by_query=False, text=False)
    assert '"0.6000"' in main


def test_other_protocols_have_no_such_tables():
    with pytest.raises(UsageError, match="keyword search"):
        tables(_result(ONE), object(), by_query=False, text=False)


def test_cells_with_quotes_are_doubled_and_empty_ones_bare():
    table = GroupedTable((("g", "a"), ("g", "b")), (('say "x"', ""),))
    assert as_csv(table) == '"g|a","g|b"\n"say ""x""",\n'


def test_a_wide_heading_widens_its_columns_and_the_last_one_most():
    table = GroupedTable((("a heading", "x"), ("a heading", "y")), (("1", "2"),), (("row", "1"),))
    assert as_text(table).splitlines() == [
        "        |  a heading  |",
        "        |  x   |  y   |",
        "--------+------+------+",
        "row  1  |    1 |    2 |",
    ]


@pytest.mark.parametrize(("value", "text"), [(0.125, " 0.125"), (1.0, " 1.000"), (NAN, "NA"), (None, "NA")])
def test_rates_as_the_tool_prints_them(value: float | None, text: str):
    assert p_miss(value) == text


def test_numbers_as_perl_prints_them():
    assert [number(value) for value in (999.9000000000001, 0.1 + 0.2, 50.0, 1e-4)] == ["999.9", "0.3", "50", "0.0001"]


def _rows() -> Table:
    codes = {name: np.zeros(3, np.int32) for name in ("query", "file", "channel")}
    times = {"ref_begin_s": [1.0, NAN, 7.25], "ref_end_s": [1.5, NAN, 7.5], "begin_s": [1.1, 0.1, NAN]}
    times |= {"end_s": [1.4, 0.1 + 0.2, NAN], "score": [0.5, -3.0, NAN]}
    columns = {name: np.array(column) for name, column in times.items()} | codes
    columns |= {"outcome": np.array([0, 2, 1], np.int32), "decision": np.array([True, True, False])}
    return Table(columns, {"query": ("K1",), "file": ("f",), "channel": ("1",), "outcome": OUTCOMES})


def test_alignment_rows_are_quoted_only_where_they_must_be():
    text = alignment_csv(Alignment(_rows(), {"K1": 'a "b", c'}, "x"))
    assert text.splitlines()[1:] == [
        'x,f,1,K1,"a ""b"", c",1,1.5000,1.1,1.4,0.5,YES,CORR',
        'x,f,1,K1,"a ""b"", c",,,0.1,0.3,-3,YES,FA',
        'x,f,1,K1,"a ""b"", c",7.25,7.5000,,,,,MISS',
    ]
