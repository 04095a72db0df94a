"""The table of ratios: its arithmetic, its words, and how its figures are taken."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from bench import measured
from bench.__main__ import main, without_paths, written
from bench.machine import head
from bench.measured import CPU, MEMORY, WALL, Measured, Way, measure
from bench.printed import printed
from bench.table import HEADS, Comparison, Group, Line, lines_of, markdown, ratios, reached, text

ROOT = Path(__file__).parents[2]
OURS = Measured("ours", 5, {CPU: 2.0, WALL: 2.5, MEMORY: 50.0}, found=[1, 2])
PEER = Measured("peer", 1, {CPU: 25.0, WALL: 30.0, MEMORY: 300.0}, found=[1, 2])


def line(comparison: Comparison, ours: Measured = OURS, peer: Measured = PEER) -> Line:
    [only] = lines_of(Group(1_000_000, "det", (), [comparison]), {"ours": ours, "peer": peer})
    return only


def test_a_ratio_says_how_many_times_less_the_subject_takes():
    assert ratios((CPU, MEMORY), OURS.figures, PEER.figures) == {CPU: 12.5, MEMORY: 6.0}
    assert ratios((CPU,), PEER.figures, OURS.figures) == {CPU: 0.08}
    assert ratios((CPU,), {CPU: 0.0}, PEER.figures) == {CPU: math.inf}


def test_an_aim_is_reached_where_every_ratio_is_at_least_what_is_wanted():
    assert reached({CPU: 10.0, MEMORY: 8.0}, {CPU: 10, MEMORY: 8}) is True
    assert reached({CPU: 12.0, MEMORY: 7.99}, {CPU: 10, MEMORY: 8}) is False
    assert reached({CPU: math.nan}, {CPU: 10}) is False
    assert reached({CPU: 0.1}, {}) is None


def test_a_line_tells_figures_ratios_runs_and_the_aim():
    cells = line(Comparison("ours", "peer", aims={CPU: 10})).cells
    assert cells["times less than the peer"] == "CPU 12.5, wall 12.0, memory 6.00"
    assert (cells["aim"], cells["met"], cells["runs"]) == ("CPU ≥ 10", "yes", "5/1")
    assert (cells["size"], cells["ns a row"], cells["peak MB"]) == ("1,000,000 det", "2,000", "50.0")
    assert (cells["peer CPU s"], cells["peer MB"]) == ("25.0", "300")
    missed = line(Comparison("ours", "peer", aims={CPU: 10, MEMORY: 8}))
    assert (missed.met, missed.cells["met"], missed.wrong) == (False, "no", False)


def test_a_limit_takes_the_place_of_a_peer():
    limited = line(Comparison("ours", "the limit", [MEMORY], {MEMORY: 1}, {MEMORY: 40.0}))
    assert (limited.met, limited.cells["times less than the peer"]) == (False, "memory 0.800")


def test_other_figures_or_a_failing_subject_are_wrong_and_a_failing_peer_is_told():
    alike = Comparison("ours", "peer", aims={CPU: 10}, alike=lambda one, other: one == other)
    assert line(alike).met
    other = line(alike, peer=Measured("peer", 1, PEER.figures, found=[1, 3]))
    assert other.wrong
    assert other.met is None
    assert "DIFFER" in other.cells["times less than the peer"]
    assert line(alike, ours=Measured("ours", failed="ended with 1: no")).wrong
    failing = line(alike, peer=Measured("peer", failed="ended with 2: no such file"))
    assert (failing.wrong, failing.met) == (False, None)
    assert failing.cells["times less than the peer"] == "peer ended with 2: no such file"
    assert line(Comparison("ours", "peer", absent="not given")).cells["times less than the peer"] == "not given"


def test_markdown_has_a_cell_for_every_head():
    lines = [line(Comparison("ours", "peer")), line(Comparison("ours", "peer", absent="a | b"))]
    rows = markdown(lines).splitlines()
    assert len(rows) == 4
    assert all(row.replace("\\|", "").count("|") == len(HEADS) + 1 for row in rows)
    assert "a \\| b" in rows[-1]
    assert text().split()[0] == "subject"


def test_ways_take_turns_and_the_least_time_and_highest_memory_count(tmp_path):
    def way(name, code="", times=None):
        return Way(
            name, (sys.executable, "-S", "-c", f"print({name!r}, file=open('../order', 'a'));{code}"), times=times
        )

    seconds_of_cpu = "import time\nwhile time.process_time() < 0.2: pass"
    found = measure([way("a"), way("b", seconds_of_cpu, 1), way("c", "raise SystemExit(3)")], tmp_path, 3)
    assert (tmp_path / "order").read_text().split() == ["a", "b", "c", "a", "a"]
    assert (found["a"].runs, found["b"].runs) == (3, 1)
    assert 0.2 <= found["b"].figures[CPU] < 5
    assert found["a"].figures[CPU] < found["b"].figures[CPU]
    assert found["c"].failed.startswith("ended with 3")
    best = measured.best(Measured("a", 1, {CPU: 1, WALL: 3, MEMORY: 5}), Measured("a", 1, {CPU: 2, WALL: 2, MEMORY: 6}))
    assert (best.runs, best.figures) == (2, {CPU: 1, WALL: 2, MEMORY: 6})
    assert (
        measured.best(OURS, Measured("ours", 1, OURS.figures, found=[1, 3])).failed == "brought out [1, 3] after [1, 2]"
    )


def test_the_memory_of_a_child_is_not_that_of_its_parent(tmp_path):
    held = np.ones(25_000_000)
    figures = measured.run(Way("small", ("true",)), tmp_path).figures
    assert figures[MEMORY] < 100 < held.nbytes / 1e6


def test_what_takes_too_long_or_cannot_start_is_told(tmp_path, monkeypatch):
    assert measured.run(Way("absent", (str(tmp_path / "no"),)), tmp_path).failed.startswith("does not start")
    monkeypatch.setattr(measured, "PATIENCE_S", 0.2)
    assert measured.run(Way("slow", ("sleep", "30")), tmp_path).failed == "took more than 0 s"


def test_results_name_no_place_of_the_machine():
    assert without_paths(["--write", "/srv/a/results.md", "--only", "reader"]) == [
        "--write",
        "results.md",
        "--only",
        "reader",
    ]
    told = head("python -m bench")
    assert str(ROOT) not in told
    assert "numpy " in told
    assert "cores" in told


def test_one_group_runs_for_real(tmp_path, capsys):
    assert main(["--only", "align", "--quick", "--write", str(tmp_path / "results.md")]) == 0
    written = (tmp_path / "results.md").read_text()
    rows = [row for row in written.splitlines() if row.startswith("| align detections | scipy")]
    assert len(rows) == 1
    cells = dict(zip(HEADS, (cell.strip() for cell in rows[0].split("|")[1:]), strict=False))
    assert 0 < float(cells["CPU s"]) < 10
    assert float(cells["peer MB"]) > 10
    assert cells["times less than the peer"].startswith("CPU ")
    assert str(tmp_path) not in written
    assert "0 of 0 aims met" in capsys.readouterr().out


def test_an_unknown_group_is_refused(capsys):
    assert main(["--only", "nosuch"]) == 2
    assert "nosuch" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--kwseval", "--stdeval", "--deva", "--kaldi", "--sclite", "--write", "--large"])
def test_help_names_every_option(option, capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert option in capsys.readouterr().out


def test_benches_that_print_tables_of_their_own_are_kept_in_the_results(capfd):
    shown, failing = printed("json.tool", "--help"), printed("bench.nosuch")
    assert "usage" in capfd.readouterr().out
    assert (shown.failed, failing.failed) == (False, True)
    told = written("- command\n", [], [shown, failing])
    assert "\n`python -m json.tool --help`\n" in told
    assert "usage: " in told
    assert "ended with 1" in told
