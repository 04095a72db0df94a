"""A published run's outputs under another protocol or other settings: a plan from a plan, no file hashed again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pipeline import protocols
from pipeline.engine.plan import Asked, Job, Plan, planned, save
from pipeline.engine.stored import references
from pipeline.engine.work import Work, total
from pipeline.errors import UsageError
from pipeline.meta.study import Study, Variant
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import Store

JOINT = "="
"""Between an evaluation's name and a variant's: no evaluation file may use it in a name, so neither meets the other."""

TOLERANCE = "tolerance_s-"
"""Begins the names of the variants that a study's tolerances make."""


def variants_of(study: Study) -> tuple[Variant, ...]:
    """The variants that a study names, and one for each tolerance that ranks are asked to survive."""
    names = tuple(entry.name for entry in study.entries)
    asked = [Variant(f"{TOLERANCE}{t}", names, settings={"tolerance_s": t}) for t in study.sensitivity.tolerance_s]
    return (*study.variants, *asked)


def applies(variant: Variant, plan: Plan) -> bool:
    """Whether a tolerance means anything to a protocol; a variant that a study names always applies."""
    return not variant.name.startswith(TOLERANCE) or hasattr(plan.protocol.settings, "tolerance_s")


def is_probe(name: str) -> bool:
    """Whether an evaluation is there for its figures at another tolerance only: without boards or pages of its own."""
    return name.partition(JOINT)[2].startswith(TOLERANCE)


def variant_name(evaluation: str, variant: str) -> str:
    """The name under which an evaluation scored in a variant is published."""
    return f"{evaluation}{JOINT}{variant}"


def replanned(store: Store, plan: Plan, variant: Variant) -> Plan:
    """The plan of the same cells and inputs in a variant, written to the store.

    Trials that the store holds are found again; what the variant does not align anew is only concluded. Raises
    ``UsageError`` where the protocol reads other files or lacks a setting, ``InputError`` where a key is refused.
    """
    overrides = {job.cell: _overrides(plan, job, variant) for job in plan.jobs}
    common = tuple(variant.settings.items()) if variant.protocol else (*plan.overrides, *variant.settings.items())
    made: dict[tuple[str, ...], Asked] = {}
    works: list[Work] = []
    jobs: list[Job] = []
    for job in plan.jobs:
        protocol = _protocol(plan, variant, dict(overrides[job.cell]))
        organisers = {role: s for role, s in job.inputs.items() if role not in protocol.family.outputs}
        organisers.pop("resources", None)
        settings = tuple(f"{name}={value}" for name, value in overrides[job.cell])
        place = (job.cell.query_set, job.cell.dataset, *settings)
        if place not in made:
            reference, work = references.derive(protocol, organisers, store)
            made[place] = Asked(protocol, reference, overrides[job.cell])
            works.append(work)
        jobs.append(planned(made[place], job.cell, job.inputs))
    whole = _protocol(plan, variant, dict(common))
    drafted = replace(
        plan,
        evaluation=variant_name(plan.evaluation, variant.name),
        protocol_name=whole.name,
        mode=whole.mode,
        overrides=tuple(dict(common).items()),
        jobs=tuple(jobs),
    )
    return replace(save(drafted, store), work=total(works))


def _overrides(plan: Plan, job: Job, variant: Variant) -> tuple[tuple[str, str], ...]:
    """The settings of a cell: its own and the variant's, or only those it keeps where the protocol is another one."""
    if not variant.protocol:
        return tuple({**dict(job.overrides), **variant.settings}.items())
    known = _values(plan.protocol_of(job))
    unknown = [name for name in variant.keep if name not in known]
    if unknown:
        raise UsageError(f"{plan.protocol_name} has no setting {', '.join(unknown)} to keep in {variant.name}.")
    return tuple({**{name: known[name] for name in variant.keep}, **variant.settings}.items())


def _values(protocol: Protocol) -> Mapping[str, str]:
    """The settings of a protocol as ``--set`` takes them."""
    values = protocols.fields(protocol)["settings"]
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items()}


def _protocol(plan: Plan, variant: Variant, overrides: Mapping[str, str]) -> Protocol:
    name, own = variant.protocol or plan.protocol_name, plan.protocol
    found = protocols.find(name, mode=variant.mode or plan.mode, overrides=overrides)
    given = {role.name: role.format for role in own.roles}
    lacking = [role.name for role in found.roles if role.required and given.get(role.name) != role.format]
    if found.family.outputs != own.family.outputs or lacking:
        raise UsageError(
            f"{plan.evaluation} was scored as {own.name}, whose files are not those of {name} "
            f"({', '.join(lacking) or ', '.join(found.family.outputs)}). Take it out of variant {variant.name}."
        )
    return found
