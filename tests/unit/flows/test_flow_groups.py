"""How cells become tasks, and which faults deserve another try."""

from __future__ import annotations

import pytest
from prefect.states import Failed

from flows.overnight import BYTES_A_TASK, FEW_CELLS, grouped, tasks_for
from flows.tasks import is_platform_fault
from pipeline.engine.plan import Job
from pipeline.errors import Finding, InputError, PlatformError, StoreError, UsageError
from pipeline.terms import Cell, Source


def jobs(*systems: str) -> list[Job]:
    return [Job(Cell(q, "dev", system), f"{system}-{q}", "", {}) for system in systems for q in ("q1", "q2")]


def test_a_run_of_ordinary_size_has_one_cell_a_task():
    groups = grouped(jobs("b", "a"), most=4)
    assert {label: [job.address for job in group] for label, group in groups.items()} == {
        "q1/dev/b": ["b-q1"],
        "q2/dev/b": ["b-q2"],
        "q1/dev/a": ["a-q1"],
        "q2/dev/a": ["a-q2"],
    }


def test_a_large_run_has_one_system_a_task():
    groups = grouped(jobs("b", "a"), most=3)
    assert {label: [job.address for job in group] for label, group in groups.items()} == {
        "a": ["a-q1", "a-q2"],
        "b": ["b-q1", "b-q2"],
    }


def test_more_systems_than_tasks_share_them():
    groups = grouped(jobs("b", "a", "c", "e", "d"), most=2)
    assert {label: [job.address for job in group] for label, group in groups.items()} == {
        "a … c": ["a-q1", "a-q2", "b-q1", "b-q2", "c-q1", "c-q2"],
        "d … e": ["d-q1", "d-q2", "e-q1", "e-q2"],
    }
    assert all(len(grouped(jobs(*map(str, range(n))), most=7)) <= 7 for n in range(1, 60))


def sized(n_jobs: int, n_bytes: int) -> list[Job]:
    return [
        Job(Cell("q", "d", f"s{at:03d}"), f"a{at}", "", {"output": Source("file:///o", "output", "", n_bytes)})
        for at in range(n_jobs)
    ]


def test_large_cells_have_a_task_each_and_so_have_few_small_ones():
    assert tasks_for(sized(150, BYTES_A_TASK), most=200) == 150
    assert tasks_for(sized(1000, BYTES_A_TASK), most=200) == 200
    assert all(tasks_for(sized(n, 100), most=200) >= n for n in range(1, FEW_CELLS + 1))


def test_small_cells_of_a_large_run_share_tasks():
    small = sized(200, BYTES_A_TASK // 50)
    assert tasks_for(small, most=200) == FEW_CELLS
    groups = grouped(small, tasks_for(small, most=200))
    assert {len(group) for group in groups.values()} <= {4, 7}
    assert sorted(job.address for group in groups.values() for job in group) == sorted(job.address for job in small)
    assert tasks_for(small, most=10) == 10


@pytest.mark.parametrize("error", [StoreError("lost"), PlatformError("gone"), ConnectionResetError(), TimeoutError()])
def test_faults_of_the_platform_are_tried_again(error):
    assert is_platform_fault(None, None, Failed(data=error))


@pytest.mark.parametrize("error", [UsageError("no"), InputError([Finding("x", "y", "z")]), KeyError("bug")])
def test_what_would_fail_again_is_not(error):
    assert not is_platform_fault(None, None, Failed(data=error))
