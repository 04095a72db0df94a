"""Protocols and families: a frozen value that names how files become trials, outcomes, partials and figures.

A *family* holds the functions its protocols share; a *protocol* adds settings, operating point and measures.
The engine knows only these two types.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from typing import Protocol as Interface

from pipeline.align.labels import Labels
from pipeline.arrays import Ints
from pipeline.errors import Finding
from pipeline.formats.table import Table
from pipeline.metrics.measure import Measure, Scored
from pipeline.partials.merge import Partial
from pipeline.protocols.blocks import Blocks
from pipeline.protocols.disputes import Dispute
from pipeline.protocols.system_ids import SystemId
from pipeline.terms import Facts, Figure


@dataclass(frozen=True)
class Role:
    """An input of a protocol by its role, with the format that reads it."""

    name: str
    format: str
    required: bool = True
    option: str | None = None
    """The organisers' short option, an alias on the command line."""


Trials = TypeVar("Trials")
Key = TypeVar("Key", bound="Sliced[Any]")
Timeline = TypeVar("Timeline")
Totals = TypeVar("Totals", bound=Partial)
Rows_co = TypeVar("Rows_co", covariant=True)
Tables = Mapping[str, object]
"""Inputs as they were read, by role."""
Survey = Mapping[str, object]
"""What the trials as a whole say (``n_rows``, …)."""
Findings = tuple[Finding, ...]


class Sliced(Interface[Rows_co]):
    """Rows_co of many buckets in one canonical order: trials, or the key that they are aligned with."""

    @property
    def offsets(self) -> Ints:
        """Row where each bucket begins, with the total at the end."""
        ...

    def tiles(self, first: int, last: int) -> Rows_co:
        """Buckets ``first`` up to ``last`` (exclusive)."""
        ...

    def __len__(self) -> int: ...


class Laid(Sliced[Rows_co], Interface[Rows_co]):
    """Trials as they are laid out, maybe each tile when it is asked for."""

    def whole(self) -> Rows_co:
        """All of them at once."""
        ...


@dataclass(frozen=True)
class Scope:
    """How much of a conclusion is asked for."""

    measures: tuple[str, ...] | None = None
    """Figures of these names alone, without blocks, curves and tables; None for everything."""
    every_point: bool = True
    """Whether curves have all of their points, or those of maxima and of a drawing, which a run keeps."""


EVERYTHING, DRAWN = Scope(), Scope(every_point=False)


@dataclass(frozen=True)
class Reference(Generic[Key, Timeline]):
    """The organiser's side of one (query set, dataset): everything an aligner or a measure needs but the output."""

    key: Key
    """What trials are aligned with, sliced like them (for detections: occurrences)."""
    timeline: Timeline
    """The dataset that trials are laid out on."""
    facts: Facts
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Conclusion:
    """Everything that follows from a cell's totals: figures, blocks, curve, facts, tables."""

    figures: Mapping[str, Figure]
    blocks: Sequence[Mapping[str, Any]]
    curve: Mapping[str, Any]
    """Columns of equal length: lists or arrays."""
    facts: Mapping[str, float | str]
    findings: tuple[Finding, ...] = ()
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Further tables of the family by name, shown beside ``blocks``."""
    conditions: Mapping[str, Conclusion] = field(default_factory=dict)
    """Conclusions of parts of the trials, by the name of their condition; the whole is the condition "all"."""

    def figures_alone(self, names: Collection[str]) -> Conclusion:
        """The figures of these names, without blocks, curves and tables."""
        parts = {name: part.figures_alone(names) for name, part in self.conditions.items()}
        figures = {name: figure for name, figure in self.figures.items() if name in names}
        return replace(self, figures=figures, blocks=(), curve={}, tables={}, conditions=parts)


def _says_nothing(_: object) -> dict[str, object]:
    return {}


def _no_fields(_: str) -> Mapping[str, str]:
    return {}


def _no_standing(_: str) -> SystemId:
    return SystemId()


def _no_slips(_: str) -> Findings:
    return ()


def _no_reader(_: Protocol, __: str) -> str | None:
    return None


def _no_stand_ins(_: Protocol, __: Tables) -> Mapping[str, StandIn]:
    return {}


@dataclass(frozen=True)
class StandIn:
    """A file that stands in for one that is not there, so that outputs can be checked as if they were scored."""

    text: bytes
    voids: frozenset[str] = frozenset()
    """Codes of findings that mean nothing with it."""


@dataclass(frozen=True)
class Kind(Generic[Trials, Key, Timeline]):
    """How one kind of trials, and the key they are aligned with, is kept and named."""

    name: str
    to_dataset: Callable[[Trials, Timeline, Mapping[str, str | int]], Any]
    """Trials, timeline and attributes → an array dataset with dimension ``trial`` (an ``xarray.Dataset``)."""
    from_dataset: Callable[[Any, int, int], Trials]
    """Buckets ``first`` up to ``last`` (exclusive) of such a dataset, or of what is stored of it → trials."""
    timeline_parts: Callable[[Any, Timeline], Mapping[str, object]]
    """Settings and timeline → what the layout of trials depends on beside the output's bytes."""
    key_columns: Callable[[Key], Mapping[str, Any]]
    key_from_columns: Callable[[Mapping[str, Any]], Key]
    timeline_columns: Callable[[Timeline], Mapping[str, Any]]
    timeline_from_columns: Callable[[Mapping[str, Any]], Timeline]
    survey: Callable[[Trials], Survey] = _says_nothing
    """Any tile of the trials → what the output says beside them that figures need, as JSON may carry it."""


@dataclass(frozen=True)
class Reads:
    """Which settings a stage reads: changing another one makes nothing of it anew."""

    refer: tuple[str, ...] | None = None
    """The settings that have a part in a reference's address. None: all of them."""
    conclude: tuple[str, ...] = ()
    """The settings that neither ``align`` nor ``refer`` read."""
    nothing: tuple[str, ...] = ()
    """The settings that play no part in this family, which shares its settings with another."""


@dataclass(frozen=True)
class Boards:
    """How systems stand beside each other."""

    apart: bool = False
    """Whether systems of different boards (a field of ``identify``) are not even ranked in one list."""
    identify: Callable[[str], Mapping[str, str]] = _no_fields
    """A system's name → what its fields say, where it follows the evaluation's rule; coordinates of the grid."""
    standing: Callable[[str], SystemId] = _no_standing
    """A system's name → whether it is primary, and which version, as far as the evaluation's rule says so."""
    name_slips: Callable[[str], Findings] = _no_slips
    """An output's name → warnings where it means to follow the evaluation's rule and does not."""


@dataclass(frozen=True)
class Abilities(Generic[Trials, Key, Timeline, Totals]):
    """Capabilities that only some families have; None where one has not."""

    reader: Callable[[Protocol, str], str | None] = _no_reader
    """Protocol and role → the format to read it with where settings ask for another one than the role's."""
    stand_ins: Callable[[Protocol, Tables], Mapping[str, StandIn]] = _no_stand_ins
    """Tables by role, any subset → what may stand in for organisers' files that are not among them, by role."""
    refused: frozenset[str] = frozenset()
    """Codes of warnings that refuse an output before it is scored: who hands it in can still mend it."""
    by_buckets: Callable[[Protocol, Any], bool] | None = None
    """Protocol and a main output without its rows → whether ``lay_out`` gives the tiles of any buckets from such an
    output with the rows of these alone."""
    blocks: Blocks | None = None
    """The units that its blocks are of, for maps."""
    curve: bool = False
    """Whether cells have a curve of miss against false-alarm rate over thresholds."""
    whole: Callable[[Protocol, Totals, Facts, Survey], Scored[Any]] | None = None
    """Merged partial → the cell as its measures see it, conditions left out; arguments as of ``conclude``."""
    compare: Callable[[Totals, Totals], dict[str, Figure]] | None = None
    """Merged partials of two outputs on one reference → p of paired tests by name."""
    among: Callable[[Sequence[Totals]], dict[str, Figure]] | None = None
    """Merged partials of several outputs on one reference → p of tests of all of them by name."""
    explain: Callable[[Protocol, Trials, Labels, Key, Reference[Key, Timeline]], Table] | None = None
    """Trials, labels and key → what became of each of them, one row each."""
    dispute: Dispute | None = None
    """How single trials are explained."""


@dataclass(frozen=True)
class Family(Generic[Trials, Key, Timeline, Totals]):
    """The functions that the protocols of one family share, in the order in which a cell goes through them. All are
    pure."""

    name: str
    kind: Kind[Trials, Key, Timeline]
    outputs: tuple[str, ...]
    """The roles that a participant's trials are read from; the first is the one a cell cannot do without."""
    refer: Callable[[Protocol, Tables], Reference[Key, Timeline]]
    """Organiser's tables by role → reference."""
    lay_out: Callable[[Protocol, Tables, Timeline], tuple[Laid[Trials], Findings]]
    """A system's tables by role → its trials on the dataset's timeline, maybe each tile when it is asked for."""
    align: Callable[[Protocol, Trials, Key, Reference[Key, Timeline]], Labels]
    """Trials and key of any run of buckets → what every trial is."""
    count: Callable[[Protocol, Trials, Labels, Key, Reference[Key, Timeline]], Totals]
    """Trials, labels and key of any run of buckets → their partial."""
    zero: Callable[[], Totals]
    """The partial of no trials at all."""
    conclude: Callable[[Protocol, Totals, Facts, Survey, Scope], Conclusion]
    """Merged partial → all that is asked for, or more: ``concluded`` leaves out the rest."""
    reads: Reads = Reads()
    boards: Boards = Boards()
    can: Abilities[Trials, Key, Timeline, Totals] = Abilities()

    def concluded(
        self, protocol: Protocol, partial: Totals, facts: Facts, survey: Survey, asked: Scope = EVERYTHING
    ) -> Conclusion:
        """The conclusion of a merged partial, or the part of it that is asked for."""
        made = self.conclude(protocol, partial, facts, survey, asked)
        return made if asked.measures is None else made.figures_alone(asked.measures)

    def counted(self, protocol: Protocol, trials: Trials, key: Key, reference: Reference[Key, Timeline]) -> Totals:
        """The partial of trials that are aligned for it."""
        return self.count(protocol, trials, self.align(protocol, trials, key, reference), key, reference)


AnyFamily = Family[Any, Any, Any, Any]
AnyKind = Kind[Any, Any, Any]
AnyReference = Reference[Any, Any]


@dataclass(frozen=True)
class Protocol:
    """A named protocol in one mode. Its fields enter the signature but where they say otherwise."""

    name: str
    edition: int
    mode: str
    title: str
    family: AnyFamily
    roles: tuple[Role, ...]
    settings: Any
    """A frozen dataclass of the family: every difference between protocols and modes is one field of it."""
    measures: tuple[Measure[Any], ...]
    primary: str
    leads: tuple[str, ...] = ()
    """The measures that follow the primary one on a board, in this order; no part of a signature."""
    tool: str = ""
    """The organisers' tool whose options the command line takes. None where it has none; no part of a signature."""

    @property
    def measures_of_edition(self) -> tuple[Measure[Any], ...]:
        """The measures that results hold and addresses name; later ones lie beside results."""
        return tuple(measure for measure in self.measures if not measure.later)
