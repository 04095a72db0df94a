"""The plan of a run, settled before anything is scored: every input by digest, every result by address.

A plan is content-addressed itself. It holds no credentials and, but for the URLs that workers read from, nothing
that depends on where the files lie.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from pipeline import protocols
from pipeline.engine import editions
from pipeline.engine.digests import Digests, digests
from pipeline.engine.inputs import format_of
from pipeline.engine.labels import labels, relabel
from pipeline.engine.stored import cuts, pieces, references
from pipeline.engine.work import Work, total
from pipeline.errors import Finding, InputError, StoreError, UsageError
from pipeline.protocols.base import Protocol
from pipeline.store.address import address
from pipeline.store.blobs import Store
from pipeline.store.faults import is_read_only
from pipeline.terms import Cell, Evaluation, Overlay, RankRule, Source, System

WORKER_DIED = "worker_died"
"""Reason of a cell that took its workers with it."""
SYSTEMS_AT_MOST = 40
"""Systems that are compared in pairs when a run is published: beyond, it takes longer than the rest of publishing, and
``rescore analyze`` has it."""
_PLAIN = ("disclose", "overlays", "pieces", "counts", "alignments", "datasets", "det")
"""Fields of a plan that are stored as they are, where they hold anything."""
_DAMAGED = "a plan in the store is damaged. Run `rescore run` again to write it anew."


@dataclass(frozen=True)
class Job:
    """One cell of a plan: its inputs by role, where its reference lies and where its result belongs."""

    cell: Cell
    address: str
    reference: str
    inputs: Mapping[str, Source]
    failed: str | None = None
    overrides: tuple[tuple[str, str], ...] = ()
    """Settings that differ from the protocol's, those of the cell's dataset included."""
    later: Mapping[str, int] = field(default_factory=dict)
    """The measures that came after the protocol's edition, with their own editions."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """By role why a file of the participant's cannot be read."""

    @property
    def path(self) -> str:
        """The result's object in the store."""
        return f"results/{self.address}.json"

    @property
    def supplements(self) -> dict[str, str]:
        """By later measure, where what it says of the cell belongs: beside the result."""
        names = {name: name if edition == 1 else f"{name}.{edition}" for name, edition in self.later.items()}
        return {name: f"results/{self.address}/{file}.json" for name, file in names.items()}


@dataclass(frozen=True)
class Plan:
    """All jobs of one evaluation. ``labels`` are the names of input files as results show them, by URL."""

    evaluation: str
    protocol_name: str
    mode: str
    overrides: tuple[tuple[str, str], ...]
    systems: tuple[System, ...]
    jobs: tuple[Job, ...]
    labels: Mapping[str, str]
    address: str = ""
    disclose: Mapping[str, str] = field(default_factory=dict)
    """What reports may show, by dataset; of those that are not named everything."""
    overlays: tuple[Mapping[str, Any], ...] = ()
    """What was laid over the evaluation, with author, date and reason; files by digest."""
    pieces: Mapping[str, cuts.Pieces] = field(default_factory=dict)
    """The pieces that large outputs are read in, by the SHA-256 of the file."""
    alignments: bool = False
    """Whether reports include the organisers' tables of every cell, alignment.csv among them."""
    datasets: tuple[str, ...] = ()
    """All of them in the order of the evaluation file, where not every (query set, dataset) pair is a cell: jobs do not
    tell it then."""
    det: tuple[str, ...] = ()
    """Forms in which reports include the DET curve of every cell: svg, pdf."""
    findings: tuple[Finding, ...] = ()
    """What was found and is not taken for an output; places are those of the evaluation file."""
    counts: str = ""
    """Which of several submissions of a system counts, where a season has a rule."""
    rank_by: tuple[RankRule, ...] = ()
    """Boards that another measure ranks than the protocol's primary one."""
    work: Work = field(default_factory=Work, compare=False)
    """The objects that planning made and found: references. Not part of what is stored."""

    @cached_property
    def is_compared(self) -> bool:
        """Whether the run's page has intervals and ties: all pairs of its systems are soon compared."""
        return len({job.cell.system for job in self.jobs}) <= SYSTEMS_AT_MOST

    @property
    def protocol(self) -> Protocol:
        """The protocol with the evaluation's overrides."""
        return protocols.find(self.protocol_name, mode=self.mode, overrides=dict(self.overrides))

    def protocol_of(self, job: Job) -> Protocol:
        """The protocol with the settings of the job's (query set, dataset)."""
        return protocols.find(self.protocol_name, mode=self.mode, overrides=dict(job.overrides))

    def ranked_by(self, query_set: str, dataset: str, condition: str) -> str:
        """The measure that ranks a board."""
        rules = (rule.measure for rule in self.rank_by if rule.holds_for(query_set, dataset, condition))
        return next(rules, self.protocol.primary)

    @cached_property
    def by_cell(self) -> Mapping[Cell, Job]:
        """The jobs by their cells."""
        return {job.cell: job for job in self.jobs}


def plan(evaluation: Evaluation, store: Store, *, alignments: bool = False, det: Sequence[str] = ()) -> Plan:
    """Hash every input, derive the references, and write the plan to the store.

    Raises ``UsageError`` for ``alignments`` or ``det`` of a protocol that has none.
    Raises ``InputError`` when an organiser's file is missing or refused, or a key loses more of its targets than the
    evaluation allows: nothing can be scored without it.
    A participant's missing file makes a cell with a reason.
    """
    overrides = tuple((name, str(value)) for name, value in evaluation.overrides)
    protocol = protocols.find(evaluation.protocol, mode=evaluation.mode, overrides=dict(overrides))
    if alignments and protocol.family.can.explain is None:
        raise UsageError(f"{protocol.name} has no alignment table. Leave --alignments out.")
    if det and not protocol.family.can.curve:
        raise UsageError(f"{protocol.name} has no DET curve. Leave --det out.")
    organisers = _organisers(evaluation)
    uris = {uri for inputs in organisers.values() for uri in inputs.values()}
    outputs = {uri for s in evaluation.systems for urls in (s.outputs, *s.others.values()) for uri in urls.values()}
    resources = {system.resources for system in evaluation.systems if system.resources}
    names = labels([*uris, *outputs, *resources])
    main = protocol.family.outputs[0]
    cut = {uri for s in evaluation.systems for uri in s.outputs.values()}
    is_cut = format_of(protocol, main) in pieces.FORMATS and protocol.family.can.by_buckets is not None
    cut = cut if is_cut else set()
    found = digests(uris, optional=outputs | resources, cut=cut)
    known = found.sources
    made, works = _references(evaluation, organisers, known, store)
    asked = {
        pair: Asked(_protocol_of(evaluation, *pair), made[pair], evaluation.overrides_of(*pair)) for pair in organisers
    }
    jobs = tuple(
        _job(asked[pair], Cell(*pair, system.name), system, organisers[pair], found)
        for system in evaluation.systems
        for pair in organisers
    )
    drafted = Plan(
        evaluation.name,
        protocol.name,
        protocol.mode,
        overrides,
        evaluation.systems,
        jobs,
        names,
        disclose={d.name: d.disclose for d in evaluation.datasets if d.disclose != "everything"},
        overlays=tuple(_overlay_document(layer, known) for layer in evaluation.overlays),
        pieces=found.pieces,
        alignments=alignments,
        datasets=tuple(entry.name for entry in evaluation.datasets) if evaluation.cells_of else (),
        det=tuple(det),
        findings=tuple(replace(one, where=one.where.rpartition("/")[2]) for one in evaluation.findings),
        rank_by=evaluation.rank_by,
        counts=evaluation.counts,
    )
    return replace(save(drafted, store), work=total(works))


def _references(
    evaluation: Evaluation,
    organisers: Mapping[tuple[str, str], Mapping[str, str]],
    known: Mapping[str, Source],
    store: Store,
) -> tuple[dict[tuple[str, str], str], list[Work]]:
    """The reference of every (query set, dataset), all of them made before any is refused for what its key loses."""
    made, works, lost = dict[tuple[str, str], str](), list[Work](), list[Finding]()
    for pair, inputs in organisers.items():
        sources, protocol = {role: known[uri] for role, uri in inputs.items()}, _protocol_of(evaluation, *pair)
        made[pair], work = references.derive(protocol, sources, store)
        works.append(work)
        found = references.lost_targets(store, protocol, made[pair], "/".join(pair), evaluation.max_targets_lost)
        lost += relabel(found, inputs)
    if lost:
        raise InputError(dict.fromkeys(lost))
    return made, works


def told(made: Plan, store: Store) -> tuple[Finding, ...]:
    """What the organiser should hear before anything is scored: files that are no outputs, and what is odd about keys
    and lists, each once, under the names that reports have for files.
    """
    found = list(made.findings)
    for job in {job.reference: job for job in made.jobs}.values():
        names = {role: made.labels.get(source.uri, role) for role, source in job.inputs.items()}
        found += relabel(references.findings(store, made.protocol_of(job), job.reference), names)
    return tuple(dict.fromkeys(found))


def given_up(made: Plan, cells: Iterable[Cell], store: Store) -> Plan:
    """The plan of a run without the results of some cells, whose workers died: written to the store like any other.

    Those cells' results have addresses of their own. So nothing stands where the plan as it was made looks for a
    result, and the next run tries those cells again.
    """
    lost = frozenset(cells)
    jobs = tuple(
        replace(job, failed=WORKER_DIED, address=given_up_address(job), later={}) if job.cell in lost else job
        for job in made.jobs
    )
    return replace(save(replace(made, jobs=jobs), store), work=made.work)


def given_up_address(job: Job) -> str:
    """Where the result of a job lies whose workers died."""
    return address("result", given_up=job.address)


def load_plan(store: Store, plan_address: str) -> Plan:
    """The plan at an address."""
    stored = json.loads(store.get_sealed(f"plans/{plan_address}.json"))
    return Plan(
        evaluation=stored["evaluation"],
        protocol_name=stored["protocol"],
        mode=stored["mode"],
        overrides=tuple((name, value) for name, value in stored["overrides"]),
        systems=tuple(System(**entry) for entry in stored["systems"]),
        jobs=tuple(_job_from(entry) for entry in stored["jobs"]),
        labels=stored["labels"],
        address=plan_address,
        disclose=stored.get("disclose", {}),
        overlays=tuple(stored.get("overlays", ())),
        pieces={file: tuple((int(at), str(sha)) for at, sha in cut) for file, cut in stored.get("pieces", {}).items()},
        alignments=stored.get("alignments", False),
        datasets=tuple(stored.get("datasets", ())),
        det=tuple(stored.get("det", ())),
        findings=tuple(Finding(**one) for one in stored.get("findings", ())),
        counts=stored.get("counts", ""),
        rank_by=tuple(RankRule(**one) for one in stored.get("rank_by", ())),
    )


def _organisers(evaluation: Evaluation) -> dict[tuple[str, str], dict[str, str]]:
    """The organiser's files by (query set, dataset) and role."""
    return {pair: evaluation.inputs_of(*pair) for pair in evaluation.pairs}


def _protocol_of(evaluation: Evaluation, query_set: str, dataset: str) -> Protocol:
    overrides = dict(evaluation.overrides_of(query_set, dataset))
    return protocols.find(evaluation.protocol, mode=evaluation.mode, overrides=overrides)


@dataclass(frozen=True)
class Asked:
    """What all cells of one (query set, dataset) have in common."""

    protocol: Protocol
    reference: str
    overrides: tuple[tuple[str, str], ...]
    """Settings that differ from the protocol's own."""

    @cached_property
    def result_of(self) -> Callable[..., str]:
        """The address of a cell's result, by its parts."""
        fields, version = protocols.fields(self.protocol), protocols.rescore_version()
        return editions.naming("figures", "result", self.protocol, protocol=fields, version=version)


def _job(asked: Asked, cell: Cell, system: System, organisers: Mapping[str, str], found: Digests) -> Job:
    pair, known = (cell.query_set, cell.dataset), found.sources
    main = asked.protocol.family.outputs[0]
    own = {role: urls[pair] for role, urls in {main: system.outputs, **system.others}.items() if pair in urls}
    if system.resources:
        own["resources"] = system.resources
    unreadable = {role: found.unreadable[uri] for role, uri in own.items() if uri in found.unreadable}
    if pair in system.faults:
        unreadable[main] = system.faults[pair]
    inputs = {
        role: Source(uri, role, known[uri].sha256, known[uri].n_bytes)
        for role, uri in {**organisers, **own}.items()
        if uri in known and role not in unreadable
    }
    return planned(asked, cell, inputs, unreadable)


def planned(asked: Asked, cell: Cell, inputs: Mapping[str, Source], unreadable: Mapping[str, str] | None = None) -> Job:
    """The job of a cell whose reference is made. ``unreadable``: by role why a participant's file cannot be read."""
    protocol, unread = asked.protocol, unreadable or {}
    failed = "missing_output" if _missing(protocol, inputs) else None
    failed = "unreadable_output" if set(unread) & set(protocol.family.outputs) else failed
    return Job(
        cell=cell,
        address=asked.result_of(
            cell=asdict(cell),
            inputs={role: source.sha256 for role, source in inputs.items()},
            **({"unreadable": unread} if unread else {}),
        ),
        reference=asked.reference,
        inputs=inputs,
        failed=failed,
        overrides=asked.overrides,
        unreadable=unread,
        later={} if failed else {measure.name: measure.later for measure in protocol.measures if measure.later},
    )


def _missing(protocol: Protocol, inputs: Mapping[str, Source]) -> list[str]:
    """The roles of a system's outputs that a cell cannot do without and has not."""
    required = {role.name for role in protocol.roles if role.required}
    return [role for role in protocol.family.outputs if role in required and role not in inputs]


def save(drafted: Plan, store: Store) -> Plan:
    """Write the plan under the digest of its own bytes."""
    stored = {
        "evaluation": drafted.evaluation,
        "protocol": drafted.protocol_name,
        "mode": drafted.mode,
        "overrides": drafted.overrides,
        "systems": [_system_document(system) for system in drafted.systems],
        "jobs": [_job_document(job) for job in drafted.jobs],
        "labels": drafted.labels,
        **{name: kept for name in _PLAIN if (kept := getattr(drafted, name))},
        **({"findings": [asdict(one) for one in drafted.findings]} if drafted.findings else {}),
        **({"rank_by": [asdict(one) for one in drafted.rank_by]} if drafted.rank_by else {}),
    }
    plan_address = address("plan", **stored)
    path = f"plans/{plan_address}.json"
    try:
        store.put_sealed(path, json.dumps(stored, sort_keys=True).encode())
    except StoreError as error:
        if not (is_read_only(error) and store.exists(path)):
            raise
    return Plan(**{**drafted.__dict__, "address": plan_address})


def _job_document(job: Job) -> dict[str, Any]:
    """A job as plans have it: later measures and files that cannot be read only where there are any."""
    inputs = {role: asdict(source) for role, source in job.inputs.items()}
    stored = {**vars(job), "cell": asdict(job.cell), "inputs": inputs}
    return {name: value for name, value in stored.items() if value or name not in ("later", "unreadable")}


def _overlay_document(layer: Overlay, known: Mapping[str, Source]) -> dict[str, Any]:
    """An overlay as plan and reports have it: without empty fields, and files named by their bytes."""
    stored = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(layer).items()}
    if layer.kind == "scoring_ecf":
        stored["values"] = [known[url].sha256 for url in layer.values if url in known]
    return {name: value for name, value in stored.items() if value}


def _system_document(system: System) -> dict[str, object]:
    """A system without its URLs, which stand in the jobs."""
    rare = {name: getattr(system, name) for name in ("canary", "replaced_by", "version_of", "description")}
    return {
        "name": system.name,
        "team": system.team,
        "primary": system.primary,
        "disclosure": system.disclosure,
        **{name: value for name, value in rare.items() if value},
    }


def _job_from(entry: Mapping[str, Any]) -> Job:
    inputs = entry["inputs"]
    cell, overrides = entry["cell"], entry["overrides"]
    later, unreadable = entry.get("later", {}), entry.get("unreadable", {})
    if not all(isinstance(one, dict) for one in (inputs, cell, later, unreadable)):
        raise StoreError(_DAMAGED)
    if not isinstance(overrides, list):
        raise StoreError(_DAMAGED)
    return Job(
        cell=Cell(**cell),
        address=str(entry["address"]),
        reference=str(entry["reference"]),
        inputs={role: Source(**source) for role, source in inputs.items()},
        failed=None if entry["failed"] is None else str(entry["failed"]),
        overrides=tuple((name, value) for name, value in overrides),
        later=later,
        unreadable=unreadable,
    )


def missing(jobs: Iterable[Job], store: Store) -> tuple[Job, ...]:
    """The jobs whose results, or supplements of them, are not in the store yet."""
    asked = [(job, {job.path, *job.supplements.values()}) for job in jobs]
    there = store.present([path for _, paths in asked for path in sorted(paths)])
    return tuple(job for job, paths in asked if not paths <= there)
