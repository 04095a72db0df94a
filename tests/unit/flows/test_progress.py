"""How far a run is, told in words, and which cells took most."""

from __future__ import annotations

from flows.progress import lines, rate
from flows.takes import Takes, heaviest, most_rows, slowest
from pipeline.engine.work import Work
from pipeline.store.meter import Cost
from pipeline.terms import Cell


def test_a_line_comes_every_half_minute_and_says_how_long_the_rest_takes() -> None:
    now_s, said = [0.0], list[str]()
    reached = lines(240, said.append, lambda: now_s[0])
    for at_s in range(1, 101):
        now_s[0] = float(at_s)
        reached(at_s * 2)
    assert said == [
        "60 of 240 cells, 120 a minute, 90 s to go",
        "120 of 240 cells, 120 a minute, 60 s to go",
        "180 of 240 cells, 120 a minute, 30 s to go",
    ]


def test_before_the_first_cell_nobody_knows_how_long_it_takes() -> None:
    assert rate(0, 10, 30.0) == ""
    assert rate(1, 1001, 60.0) == ", 1 a minute, 16.7 h to go"
    assert rate(1, 11, 60.0) == ", 1 a minute, 10 min to go"


SLOWEST_HEAD = ("slowest cells", "tasks' time", "memory", "worker's peak")


def takes(name: str, wall_s: float, rise: int) -> Takes:
    """A cell on a worker that is large whatever it works on."""
    costs = {"ingest": Cost(1, 0.1, wall_s - 0.5, 0, 0, 5000, 5), "conclude": Cost(1, 0.2, 0.5, 0, 0, 9000, rise)}
    return Takes.of(Cell("q", "d", name), Work(costs=costs))


def test_the_slowest_and_the_heaviest_cells_are_named() -> None:
    found = [takes(f"s{number}", 1.0 + number, 1000 - number) for number in range(9)]
    assert found[0] == Takes("q/d/s0", 0.3, 1.0, 9000, 1000)
    assert [one["cell"] for one in slowest(found)] == [f"q/d/s{number}" for number in (8, 7, 6, 5, 4)]
    assert [one["cell"] for one in heaviest(found)] == [f"q/d/s{number}" for number in range(5)]
    slow, heavy = most_rows({"slowest": slowest(found), "heaviest": heaviest(found)})
    assert slow[:2] == [SLOWEST_HEAD, ("q/d/s8", "9.0 s", "+992 B", "9.0 kB")]
    assert heavy[1] == ("q/d/s0", "1.0 s", "+1.0 kB", "9.0 kB")
    assert most_rows({}) == most_rows({"slowest": slowest(found[:1]), "heaviest": []}) == []
