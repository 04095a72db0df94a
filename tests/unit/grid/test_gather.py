"""The grid of a small run: ranks, reasons, summaries, and that it is what was stored."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pipeline.engine.plan import Job, Plan
from pipeline.engine.result import Result
from pipeline.errors import Finding
from pipeline.grid import gather, latest, publish
from pipeline.grid.opened import open_grid
from pipeline.protocols import find
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Figure, Source, System

PROTOCOL = find("sws2013")
ATWV = {"a": 0.5, "b": 0.75, "c": 0.5, "d": math.nan, "e": math.nan}
ISF = {"a": 1.0, "b": 3.0, "c": 8.0, "d": 2.0, "e": 5.0}


COMMON = {"protocol": PROTOCOL.name, "edition": 1, "mode": "official", "primary": "atwv"}


def result(system: str, failed: str | None = None) -> Result:
    figures = {m.name: Figure.undefined("no_scores") for m in PROTOCOL.measures}
    figures["atwv"] = Figure(ATWV[system]) if not math.isnan(ATWV[system]) else Figure.undefined("no_queries")
    figures["isf"] = Figure(ISF[system])
    if failed:
        problem = Finding("bad_score", "the score is NaN.", "output:7")
        return Result(
            **COMMON, signature=f"signature of {system}", cell=Cell("q", "d", system), failed=failed,
            findings=(problem,), n_findings=1,
        )  # fmt: skip
    counts = {"n_target": 2, "n_hit": 1, "n_miss": 1, "n_fa": 0, "p_miss": 0.5, "p_fa": 0.0, "twv": ATWV[system]}
    curve = {"threshold": [1.0, math.nan], "p_miss": [0.5, 1.0], "p_fa": [0.0, 0.0], "twv": [0.5, 0.0]}
    return Result(
        **COMMON, signature=f"signature of {system}", cell=Cell("q", "d", system), figures=figures,
        blocks=({"id": "q1", "text": "one", **counts},), curve=curve,
    )  # fmt: skip


@pytest.fixture
def plan() -> Plan:
    jobs = tuple(
        Job(Cell("q", "d", s), f"{n:064x}", "r", {"output": Source(f"/x/{s}.xml", "output", "0" * 64, 1)})
        for n, s in enumerate("abcde")
    )
    systems = tuple(System(s, team=f"team {s}", primary=s != "c") for s in "abcde")
    return Plan(
        "tiny", "sws2013", "official", (), systems, jobs, {f"/x/{s}.xml": f"{s}.xml" for s in "abcde"}, "p" * 64
    )


@pytest.fixture
def results() -> list[Result]:
    return [*(result(s) for s in "abcd"), result("e", failed="refused_input")]


def test_equal_figures_share_a_rank_and_what_has_none_has_rank_zero(plan: Plan, results: list[Result]) -> None:
    grid = gather(plan, results)[""]
    assert grid["rank"].sel(query_set="q", dataset="d", condition="all").values.tolist() == [2, 1, 0, 0, 0]
    systems = tuple(replace(one, primary=True) for one in plan.systems)
    grid = gather(replace(plan, systems=systems), results)[""]
    assert grid["rank"].sel(query_set="q", dataset="d", condition="all").values.tolist() == [2, 1, 2, 0, 0]


def test_who_has_no_rank_keeps_its_figures(plan: Plan, results: list[Result]) -> None:
    watched = replace(plan, systems=tuple(replace(one, canary=one.name == "b") for one in plan.systems))
    grid = gather(watched, results)[""].sel(query_set="q", dataset="d", condition="all")
    assert grid["rank"].values.tolist() == [1, 0, 0, 0, 0]
    systems = tuple(replace(one, replaced_by="b" if one.name == "a" else "") for one in plan.systems)
    later = gather(replace(plan, systems=systems), results)[""]
    assert later["rank"].sel(query_set="q", dataset="d", condition="all").values.tolist() == [0, 1, 0, 0, 0]
    assert later["replaced_by"].values.tolist() == ["b", "", "", "", ""]
    assert grid["value"].sel(measure="atwv").values[:3].tolist() == [0.5, 0.75, 0.5]


def test_undefined_and_failed_figures_keep_their_reasons(plan: Plan, results: list[Result]) -> None:
    grid = gather(plan, results)[""].sel(query_set="q", dataset="d", condition="all")
    assert math.isnan(float(grid["value"].sel(system="d", measure="atwv")))
    assert str(grid["reason"].sel(system="d", measure="atwv").values) == "no_queries"
    assert str(grid["reason"].sel(system="e", measure="atwv").values) == "refused_input"
    assert bool((np.isnan(grid["value"]) == (grid["reason"] != "")).all())
    assert grid["failed"].values.tolist() == ["", "", "", "", "refused_input"]


def test_load_is_summed_up_over_the_systems_that_have_it(plan: Plan, results: list[Result]) -> None:
    load = gather(plan, results)["load"].sel(query_set="q", dataset="d", load_measure="isf")
    summary = {str(name): float(load["summary_value"].sel(summary=name)) for name in load["summary"].values}
    assert summary == {"n": 4, "min": 1, "median": 2.5, "mean": 3.5, "max": 8}


def test_curves_are_found_by_their_cell(plan: Plan, results: list[Result]) -> None:
    curves = gather(plan, results)["curves"]
    place = {"system": "b", "query_set": "q", "dataset": "d"}
    points = slice(int(curves["first"].sel(place)), int(curves["last"].sel(place)))
    assert curves["p_miss"].isel(point=points).values.tolist() == [0.5, 1.0]
    assert int(curves["first"].sel({**place, "system": "e"})) == int(curves["last"].sel({**place, "system": "e"}))


def test_what_is_published_is_what_is_loaded(tmp_path: object, plan: Plan, results: list[Result]) -> None:
    store = Store(str(tmp_path))
    for job in plan.jobs:
        store.put_sealed(job.path, b"{}")
    store.put_sealed(f"plans/{plan.address}.json", b"{}")
    run = publish(store, plan, results)
    assert latest(store, "tiny") == run
    assert publish(store, plan, results) == run
    assert (run.n_scored, run.n_failed) == (4, 1)
    loaded = {name: open_grid(store, run, name) for name in gather(plan, results)}
    for name, group in gather(plan, results).items():
        assert (
            loaded[name]
            .drop_attrs()
            .drop_vars("failed_where", errors="ignore")
            .equals(group.drop_attrs().drop_vars("failed_where", errors="ignore"))
        ), name
    # People see the file's name where results name the role.
    assert loaded[""]["failed_where"].sel(system="e").item() == "e.xml:7"
