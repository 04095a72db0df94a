"""The field's nouns as frozen values. Nothing here reads, scores or stores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from pipeline.errors import Finding


@dataclass(frozen=True, slots=True)
class Source:
    """One input file as it was read: where, as what, and which bytes."""

    uri: str
    role: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One system on one query set and one dataset: the unit of scoring."""

    query_set: str
    dataset: str
    system: str

    def __str__(self) -> str:
        return f"{self.query_set}/{self.dataset}/{self.system}"


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """Costs and prior of an application (seed 000 eq 7, 22-23, 31).

    ``p_target_effective``, when given, wins over costs and prior: beta is then (1 - P_tar) / P_tar.
    """

    c_miss: float = 1.0
    c_fa: float = 1.0
    p_target: float = 0.5
    p_target_effective: float | None = None

    @property
    def beta(self) -> float:
        """Weight of the false-alarm rate against the miss rate, C_fa (1 - P) / (C_miss P)."""
        if self.p_target_effective is not None:
            return (1.0 - self.p_target_effective) / self.p_target_effective
        return self.c_fa / self.c_miss * (1.0 / self.p_target - 1.0)

    @property
    def effective_prior(self) -> float:
        """P_tar of the equivalent point with unit costs (seed 000 eq 23)."""
        if self.p_target_effective is not None:
            return self.p_target_effective
        return 1.0 / (1.0 + self.beta)

    @property
    def logit_prior(self) -> float:
        """log(P_tar / (1 - P_tar)), in nats; equals -log(beta)."""
        return -math.log(self.beta)

    @property
    def threshold(self) -> float:
        """Minimum-expected-cost threshold on log-likelihood ratios, -logit(P_tar) (seed 000 eq 31)."""
        return math.log(self.beta)


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure's outcome. ``value`` is NaN exactly where ``reason`` says why it is undefined.

    ``status`` qualifies a defined value (for example ``gamma_zero`` of an affine minimum);
    ``detail`` carries its companions by name (gamma, delta, …), in the same conventions.
    """

    value: float
    reason: str | None = None
    status: str | None = None
    detail: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def undefined(cls, reason: str) -> Figure:
        """A figure that does not exist, and why."""
        return cls(math.nan, reason)


@dataclass(frozen=True, slots=True)
class Phase:
    """Resources of one phase (indexing or searching) of one system."""

    cpu_s: float | None = None
    """Total time as if on a single CPU: wall-clock times cores, or CPU seconds as declared."""
    peak_memory_bytes: float | None = None
    """The single highest value over steps and nodes."""
    time_basis: str = "wall"
    """``wall`` (wall_s times cores), ``cpu`` (declared CPU seconds), or ``mixed`` where steps differ."""
    wall_s: float | None = None
    """Wall-clock time, where declared."""


@dataclass(frozen=True, slots=True)
class LoadFacts:
    """The terms of Processing Load (seed 000 section 4.3), per cell."""

    index: Phase | None = None
    search: Phase | None = None
    t_queries_s: float | None = None
    """Summed duration of every example of every query (eq 47)."""
    eag: Phase | None = None
    """Making event agents."""
    used: tuple[Mapping[str, float | str], ...] = ()
    """What was declared in steps or with nodes, one row a step and kind of computer."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A named part of a cell's trials, scored like the whole beside it: one condition of the grid.

    ``kind`` says what picks it (``source_type``, ``speaker``, ``query``, ``attribute``, ``oov``, ``has_targets``).
    Trials of the condition ``ledger`` count; of the listed ``queries`` where the kind fixes them before the output is
    known.
    """

    name: str
    kind: str
    t_audio_s: float
    n_trials: float
    n_trials_exact: float
    ledger: str = "all"
    queries: tuple[str, ...] | None = None
    places: tuple[tuple[str, str], ...] | None = None
    """The recordings and channels whose trials count, where the kind picks by place."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of a cell from key, dataset and query list; measures take them beside the totals."""

    t_audio_s: float
    n_trials: float
    """Trials per query as the protocol counts them for error rates (rounded where its rule rounds)."""
    n_trials_exact: float
    """Trials per second times audio seconds, not rounded: the trial set of the cross-entropy."""
    queries: tuple[str, ...] = ()
    """The query list, in its own order."""
    texts: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, float] = field(default_factory=dict)
    """Whatever else is worth showing beside the figures, by name."""
    load: LoadFacts = field(default_factory=LoadFacts)
    selections: tuple[Selection, ...] = ()
    """Conditions beside "all"."""
    places: tuple[tuple[str, str], ...] = ()
    """The recordings and channels of the whole dataset by their names, where there are any."""
    n_key_target: int = 0
    """Targets of the key as it was handed over."""
    n_key_lost: int = 0
    """Those of them that the dataset has no place for: nothing finds them, or they do not count."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Ω: the audio searched, and the key over it. URLs may hold ``{query_set}`` where the key differs by query set."""

    name: str
    ecf: str = ""
    rttm: str = ""
    settings: tuple[tuple[str, str, str], ...] = ()
    """Settings of its own as (query set, name, value), which win over the evaluation's; query set "" is any."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """URLs of other roles."""
    disclose: str = "everything"
    """What reports may show (``pipeline.grid.disclosure``)."""

    @property
    def urls(self) -> dict[str, str]:
        """URLs by role."""
        return {**_given(ecf=self.ecf, rttm=self.rttm), **self.inputs}


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Q: a query list and, where known, the table of query examples (``query,example,dur_s``)."""

    name: str
    kwlist: str = ""
    queries: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    """URLs of other roles."""

    @property
    def urls(self) -> dict[str, str]:
        """URLs by role."""
        return {**_given(kwlist=self.kwlist, queries=self.queries), **self.inputs}


def _given(**urls: str | None) -> dict[str, str]:
    return {role: url for role, url in urls.items() if url}


@dataclass(frozen=True, slots=True)
class System:
    """One participant's system: its outputs by (query set, dataset), and what it declared."""

    name: str
    team: str = ""
    primary: bool = True
    outputs: Mapping[tuple[str, str], str] = field(default_factory=dict)
    resources: str | None = None
    disclosure: str = ""
    others: Mapping[str, Mapping[tuple[str, str], str]] = field(default_factory=dict)
    """Outputs of roles beside the protocol's main one, by role."""
    canary: bool = False
    """Made by the organiser to watch the scoring; it has no rank."""
    description: Mapping[str, str] = field(default_factory=dict)
    """What its team wrote of it: ``uri``, ``sha256`` and ``name`` of the file; empty where there is none."""
    version_of: str = ""
    """The system that it is a version of, where the best of several versions counts on each board."""
    replaced_by: str = ""
    """The later version that counts in its place; "" where it counts itself."""
    faults: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By (query set, dataset) why what was found for it cannot be read as its output."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """A correction laid over an evaluation instead of an edited key: who made it, when and why.

    ``kind`` is ``withdraw_queries`` or ``exclude_files``, whose names are ``values``, or ``scoring_ecf``, whose one
    value is the URL of an ECF. Without ``query_sets`` or ``datasets`` it holds for all of them.
    """

    kind: str
    values: tuple[str, ...]
    author: str
    reason: str
    date: str
    """ISO 8601."""
    query_sets: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()

    def holds_for(self, query_set: str, dataset: str) -> bool:
        """Whether it has a part in the cells of a (query set, dataset)."""
        asked = ((query_set, self.query_sets), (dataset, self.datasets))
        return all(name in names or not names for name, names in asked)


@dataclass(frozen=True, slots=True)
class RankRule:
    """The measure that ranks some boards."""

    boards: str
    """``query_set/dataset`` or ``query_set/dataset/condition``, with wildcards; without a condition it is all of
    them."""
    measure: str

    def holds_for(self, query_set: str, dataset: str, condition: str = "all") -> bool:
        """Whether it ranks the board."""
        names = (query_set, dataset, condition)
        return all(fnmatchcase(name, part) for name, part in zip(names, self.boards.split("/", 2), strict=False))


_OVERLAID = {"withdraw_queries": "withdrawn", "exclude_files": "excluded_files"}
"""The setting, of names one a line, that a kind of overlay adds to."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything one run scores: the evaluation file, checked and with its patterns resolved to URLs."""

    name: str
    protocol: str
    mode: str
    overrides: tuple[tuple[str, str], ...]
    datasets: tuple[Dataset, ...]
    query_sets: tuple[QuerySet, ...]
    systems: tuple[System, ...]
    publication: str = "open"
    """What an unattended run may do with its results: ``open`` publishes them, ``staged`` and ``sealed`` keep them for
    a person to publish; where it is ``sealed`` nobody may tell it otherwise."""
    overlays: tuple[Overlay, ...] = ()
    """In the order in which they were made."""
    cells_of: tuple[tuple[str, str], ...] = ()
    """The (query set, dataset) pairs that are cells; empty: all are."""
    findings: tuple[Finding, ...] = ()
    """What was found and is not taken for an output."""
    rank_by: tuple[RankRule, ...] = ()
    """Boards that another measure ranks than the others; of several rules for one the first counts."""
    counts: str = ""
    """Which of several submissions of a system counts, where a season's ledger says so: last, best or chosen."""
    max_targets_lost: float = 0.5
    """Share of a key's targets that may be lost: beyond, nobody is scored."""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The (query set, dataset) pairs that are cells, by query set, then dataset, in the order of the file."""
        every = tuple((q.name, d.name) for q in self.query_sets for d in self.datasets)
        known = frozenset(self.cells_of)
        return tuple(pair for pair in every if pair in known) if known else every

    def inputs_of(self, query_set: str, dataset: str) -> dict[str, str]:
        """URLs of the organiser's files of one (query set, dataset) by role; the last scoring ECF counts."""
        q = next(entry for entry in self.query_sets if entry.name == query_set)
        d = next(entry for entry in self.datasets if entry.name == dataset)
        urls = {role: url.replace("{query_set}", q.name) for role, url in d.urls.items()}
        urls |= {role: url.replace("{dataset}", d.name) for role, url in q.urls.items()}
        restricted = [layer for layer in self.overlays if layer.kind == "scoring_ecf"]
        return urls | {layer.kind: layer.values[0] for layer in restricted if layer.holds_for(query_set, dataset)}

    def overrides_of(self, query_set: str, dataset: str) -> tuple[tuple[str, str], ...]:
        """Settings of one (query set, dataset): the evaluation's, the dataset's, those for the query set, and what the
        overlays add.
        """
        own = next(entry.settings for entry in self.datasets if entry.name == dataset)
        merged = {name: str(value) for name, value in self.overrides}
        for scope in ("", query_set):
            merged |= {name: value for where, name, value in own if where == scope}
        for layer in self.overlays:
            if layer.kind in _OVERLAID and layer.holds_for(query_set, dataset):
                name = _OVERLAID[layer.kind]
                merged[name] = "\n".join(dict.fromkeys([*merged.get(name, "").splitlines(), *layer.values]))
        ranked = next((rule.measure for rule in self.rank_by if rule.holds_for(query_set, dataset)), None)
        return tuple({**merged, **({"rank_by": ranked} if ranked else {})}.items())

    def cells(self) -> tuple[Cell, ...]:
        """Every (Q, Ω, system) that exists, submitted or not, in the order of the evaluation file."""
        pairs = self.pairs
        return tuple(Cell(*pair, system.name) for system in self.systems for pair in pairs)
