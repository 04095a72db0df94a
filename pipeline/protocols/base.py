"""What a protocol is: a frozen value that names how files become trials, outcomes, partials and figures.

A *family* holds the functions its protocols share; a *protocol* adds settings, operating point and measures.
The engine knows only these two types.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from typing import Protocol as Interface

from pipeline.align.labels import Labels
from pipeline.arrays import Ints
from pipeline.errors import Finding
from pipeline.formats.table import Table
from pipeline.metrics.measure import Measure, Scored
from pipeline.protocols.blocks import Blocks
from pipeline.protocols.disputes import Dispute
from pipeline.terms import Facts, Figure


@dataclass(frozen=True)
class Role:
    """An input of a protocol by its role, with the format that reads it."""

    name: str
    format: str
    required: bool = True
    option: str | None = None
    """The organisers' short option, an alias on the command line."""


class Sliced(Interface):
    """Rows of many buckets in one canonical order: trials, or the key that they are aligned with."""

    @property
    def offsets(self) -> Ints:
        """Row where each bucket begins, with the total at the end."""
        ...

    def tiles(self, first: int, last: int) -> Sliced:
        """Buckets ``first`` up to ``last`` (exclusive)."""
        ...

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Asked:
    """What is asked for of a cell."""

    measures: tuple[str, ...] | None = None
    """Figures of these names alone, without blocks, curves and tables; None for everything."""
    every_point: bool = True
    """Whether curves have all of their points, or those of maxima and of a drawing, which a run keeps."""


EVERYTHING, DRAWN = Asked(), Asked(every_point=False)


@dataclass(frozen=True)
class Reference:
    """The organiser's side of one (query set, dataset): everything an aligner or a measure needs but the output."""

    key: Any
    """What trials are aligned with, sliced like them (for detections: occurrences)."""
    timeline: Any
    """The dataset that trials are laid out on."""
    facts: Facts
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Conclusion:
    """What the totals of a cell say."""

    figures: Mapping[str, Figure]
    blocks: tuple[Mapping[str, Any], ...]
    curve: Mapping[str, Any]
    """Columns of equal length: lists or arrays."""
    facts: Mapping[str, float | str]
    findings: tuple[Finding, ...] = ()
    tables: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    """Further tables of the family by name, shown beside ``blocks``."""
    conditions: Mapping[str, Conclusion] = field(default_factory=dict)
    """What parts of the trials say, by the name of their condition; the whole is the condition "all"."""

    def figures_alone(self, names: Collection[str]) -> Conclusion:
        """The figures of these names, without blocks, curves and tables."""
        parts = {name: part.figures_alone(names) for name, part in self.conditions.items()}
        figures = {name: figure for name, figure in self.figures.items() if name in names}
        return replace(self, figures=figures, blocks=(), curve={}, tables={}, conditions=parts)


def _nothing(*_: Any) -> dict[str, Any]:
    return {}


def _no_reader(*_: Any) -> str | None:
    return None


def _no_findings(*_: Any) -> tuple[Finding, ...]:
    return ()


@dataclass(frozen=True)
class Kind:
    """How one kind of trials, and the key they are aligned with, is kept and named."""

    name: str
    to_dataset: Callable[[Any, Any, Mapping[str, str | int]], Any]
    """Trials, timeline and attributes → an array dataset with dimension ``trial`` (an ``xarray.Dataset``)."""
    from_dataset: Callable[[Any, int, int], Any]
    """Buckets ``first`` up to ``last`` (exclusive) of such a dataset, or of what is stored of it → trials."""
    timeline_parts: Callable[[Any, Any], Mapping[str, Any]]
    """Settings and timeline → what the layout of trials depends on beside the output's bytes."""
    key_columns: Callable[[Any], Mapping[str, Any]]
    key_from_columns: Callable[[Mapping[str, Any]], Any]
    timeline_columns: Callable[[Any], Mapping[str, Any]]
    timeline_from_columns: Callable[[Mapping[str, Any]], Any]
    survey: Callable[[Any], Mapping[str, Any]] = _nothing
    """Trials → what the output says beside them that figures need, as JSON may carry it."""


class Conclude(Interface):
    """From a cell's merged partial to its figures, and to what is asked for beside them."""

    def __call__(
        self, protocol: Protocol, partial: Any, facts: Facts, survey: Mapping[str, Any], asked: Asked = ..., /
    ) -> Conclusion:
        """All that is asked for, or more: ``Family.concluded`` leaves out the rest."""
        ...


@dataclass(frozen=True)
class Family:
    """The functions that the protocols of one family share. All are pure."""

    name: str
    kind: Kind
    outputs: tuple[str, ...]
    """The roles that a participant's trials are read from; the first is the one a cell cannot do without."""
    refer: Callable[[Protocol, Mapping[str, Any]], Reference]
    """Organiser's tables by role → reference."""
    lay_out: Callable[[Protocol, Mapping[str, Any], Any], tuple[Any, tuple[Finding, ...]]]
    """A system's tables by role → its trials on the dataset's timeline."""
    align: Callable[[Protocol, Any, Any, Reference], Labels]
    """Trials and key of any run of buckets → what every trial is."""
    count: Callable[[Protocol, Any, Labels, Any, Reference], Any]
    """Trials, labels and key of any run of buckets → their partial."""
    zero: Callable[[], Any]
    """The partial of no trials at all."""
    conclude: Conclude
    """Merged partial → figures. The mapping holds what the trials as a whole say (``n_rows``, …)."""
    lay_out_tiles: Callable[[Protocol, Mapping[str, Any], Any], tuple[Sliced, tuple[Finding, ...]]] | None = None
    """The trials of ``lay_out``, each tile laid out when asked for; None where a family has them all at once only."""
    blocks: Blocks | None = None
    """What its blocks are of; None where they are of nothing that maps show."""
    check: Callable[[Protocol, Mapping[str, Any]], tuple[Finding, ...]] = _no_findings
    """Tables by role, any subset → problems between them, for ``rescore validate``."""
    boards_apart: bool = False
    """Whether systems of different boards (a field of ``identify``) are not even ranked in one list."""
    primaries_only: bool = False
    """Whether contrastive systems are shown without a rank."""
    has_curve: bool = False
    """Whether cells have a curve of miss against false-alarm rate over thresholds."""
    compare: Callable[[Any, Any], dict[str, Figure]] | None = None
    """Merged partials of two outputs on one reference → p of paired tests by name, where the family has any."""
    identify: Callable[[str], Mapping[str, str]] = _nothing
    """A system's name → what its fields say, where it follows the evaluation's rule; coordinates of the grid."""
    name_slips: Callable[[str], tuple[Finding, ...]] = _no_findings
    """An output's name → warnings where it means to follow the evaluation's rule and does not."""
    reader: Callable[[Protocol, str], str | None] = _no_reader
    """Protocol and role → the format to read it with where settings ask for another one than the role's."""
    whole: Callable[[Protocol, Any, Facts, Mapping[str, Any]], Scored[Any]] | None = None
    """Merged partial → the cell as its measures see it, conditions left out; arguments as of ``conclude``."""
    explain: Callable[[Protocol, Any, Labels, Any, Reference], Table] | None = None
    """Trials, labels and key → what became of each of them, one row each; None where a family has no such table."""
    dispute: Dispute | None = None
    """How single trials are explained; None where the family's trials have no outcome of their own."""
    derivation: tuple[str, ...] | None = None
    """The settings that ``refer`` reads: no other one has a part in a reference's address. None: all of them."""
    conclusion: tuple[str, ...] = ()
    """The settings that ``align`` does not read, nor ``refer``: changing one aligns nothing."""
    no_part: tuple[str, ...] = ()
    """The settings that play no part in this family, which shares its settings with another."""

    def concluded(
        self, protocol: Protocol, partial: Any, facts: Facts, survey: Mapping[str, Any], asked: Asked = EVERYTHING
    ) -> Conclusion:
        """What is asked for of a cell, from its merged partial."""
        made = self.conclude(protocol, partial, facts, survey, asked)
        return made if asked.measures is None else made.figures_alone(asked.measures)

    def counted(self, protocol: Protocol, trials: Any, key: Any, reference: Reference) -> Any:
        """The partial of trials that are aligned for it."""
        return self.count(protocol, trials, self.align(protocol, trials, key, reference), key, reference)


@dataclass(frozen=True)
class Protocol:
    """A named protocol in one mode. Its fields enter the signature but where they say otherwise."""

    name: str
    edition: int
    mode: str
    title: str
    family: Family
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
