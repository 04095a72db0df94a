"""The steps of a study, without Prefect and Dask: what is to be scored, what is to be drawn, what is concluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from flows.steps import finish, is_small, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import Plan, load_plan, missing, plan
from pipeline.errors import DamageError
from pipeline.grid import Run, id_of, latest
from pipeline.grid.history import find_run
from pipeline.meta.analysis import Analysis, analyse, asked_of
from pipeline.meta.evaluated import Evaluated
from pipeline.meta.publish import publish
from pipeline.meta.published import read_published
from pipeline.meta.resamples import Draw, draws
from pipeline.meta.rows import Row
from pipeline.meta.study import Study
from pipeline.meta.variants import applies, is_probe, replanned, variant_name, variants_of
from pipeline.store.blobs import Store, open_input

MOST_DRAWN_HERE = 400
"""Tasks of drawing that are done in this process: beyond, a cluster is worth its start."""


@dataclass(frozen=True)
class Planned:
    """An evaluation or variant of a study, published or yet to be scored."""

    name: str
    year: str
    store: Store
    plan: Plan
    run: Run | None
    """None where its cells are to be scored, or found scored, in the study's store."""


def prepare(study: Study, store: Store) -> tuple[Planned, ...]:
    """Plans of everything that a study is of: runs are found, files are hashed, variants are planned from both.

    Raises ``UsageError`` for runs that do not exist and variants that do not fit, ``InputError`` for refused keys.
    """
    made: dict[str, Planned] = {}
    for entry in study.entries:
        own = Store(entry.store) if entry.store else store
        if entry.evaluation:
            made[entry.name] = Planned(
                entry.name, entry.year, store, plan(load_evaluation(entry.evaluation), store), None
            )
        else:
            run = find_run(own, entry.run)
            made[entry.name] = Planned(entry.name, entry.year, own, load_plan(own, run.plan), run)
    found = list(made.values())
    for variant in variants_of(study):
        for name in variant.of:
            base = made[name]
            if applies(variant, base.plan):
                # Published under the study's name for it: two entries may be runs of one evaluation.
                own_plan = replanned(store, replace(base.plan, evaluation=name), variant)
                found.append(Planned(variant_name(name, variant.name), base.year, store, own_plan, None))
    return tuple(found)


def lacking(planned: Sequence[Planned]) -> tuple[Planned, ...]:
    """Those whose run is not the latest of its evaluation yet."""
    return tuple(one for one in planned if one.run is None and _standing(one) is None)


def _standing(planned: Planned) -> Run | None:
    try:
        run = latest(planned.store, planned.plan.evaluation)
    except DamageError:
        return None
    if run is None or run.id != id_of(planned.plan) or missing(planned.plan.jobs, planned.store):
        return None
    return run


def is_light(planned: Planned) -> bool:
    """Whether a plan can be scored in this process in a moment."""
    return is_small(planned.store, planned.plan, missing(planned.plan.jobs, planned.store))


def finish_here(planned: Planned) -> Run:
    """Score what a plan lacks in this process, and publish it."""
    todo = missing(planned.plan.jobs, planned.store)
    return finish(planned.store, planned.plan, score_here(planned.store, planned.plan, todo))


def evaluations(planned: Sequence[Planned], runs: Mapping[str, Run]) -> tuple[Evaluated, ...]:
    """All of them, published; ``runs`` are those made just now, by name. Raises ``DamageError`` for a lost one."""
    found = []
    for one in planned:
        run = runs.get(one.name) or one.run or _standing(one)
        if run is None:
            raise DamageError(f"{one.name} is not published in {one.store.url('')}. Run the study again.")
        found.append(Evaluated.of(one.name, one.year, one.store, run))
    return tuple(found)


def wanted_draws(study: Study, evaluated: Evaluated) -> tuple[Draw, ...]:
    """The tasks that draw the replicates of one evaluation."""
    return () if is_probe(evaluated.name) else draws(evaluated.plan, asked_of(study, evaluated), study.resampling)


def conclude(study: Study, store: Store, found: Sequence[Evaluated]) -> tuple[Analysis, dict[str, str]]:
    """The analysis, written to the store with its page; paths by name."""
    published: list[Row] = []
    for table in study.published:
        with open_input(table.url) as stream:
            published += read_published(stream, table.url, table)
    analysis = analyse(study, found, published)
    from pipeline.report.meta.page import render_study  # with templates

    return analysis, publish(store, analysis, render_study)
