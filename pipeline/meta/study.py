"""A meta-analysis as frozen values: the meta file, checked and with its paths resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.meta.intervals import Resampling


@dataclass(frozen=True)
class StudyEntry:
    """One evaluation: a published run in a store, or an evaluation file that is scored where need be."""

    name: str
    year: str = ""
    run: str = ""
    """As ``find_run`` takes it; "" where there is an evaluation file."""
    store: str = ""
    """Where the run is; "" is the study's own store."""
    evaluation: str = ""
    """URL of the evaluation file."""


@dataclass(frozen=True)
class Variant:
    """Evaluations scored once more under another protocol or other settings."""

    name: str
    of: tuple[str, ...]
    protocol: str = ""
    """"" keeps each evaluation's own protocol and settings."""
    mode: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    """Settings that stay as each evaluation has them when the protocol is another one."""


@dataclass(frozen=True)
class PublishedTable:
    """A table of published figures: which of its columns are what, and what is the same in every row."""

    url: str
    columns: Mapping[str, str] = field(default_factory=dict)
    """Column of the file by column of the long table, where the names differ."""
    measures: tuple[str, ...] = ()
    """Columns that hold a measure each; () is those whose names a protocol knows."""
    constants: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sensitivity:
    """Changes that ranks are tried against."""

    beta: tuple[float, ...] = ()
    p_target: tuple[float, ...] = ()
    tolerance_s: tuple[str, ...] = ()
    """As written: settings are text."""


@dataclass(frozen=True)
class Study:
    """A whole meta-analysis. Empty fields mean nothing is asked for; ``measures`` () is each protocol's primary one."""

    name: str
    entries: tuple[StudyEntry, ...]
    variants: tuple[Variant, ...] = ()
    published: tuple[PublishedTable, ...] = ()
    teams: Mapping[str, str] = field(default_factory=dict)
    """The name that a team goes by, by every other name it has had."""
    systems: Mapping[str, str] = field(default_factory=dict)
    """The name that a system goes by, by every other name, where it took part more than once."""
    measures: tuple[str, ...] = ()
    contrasts: tuple[tuple[str, str], ...] = ()
    """Pairs of evaluations (or variants, ``EVALUATION=VARIANT``) to compare; () is every two of them that follow."""
    dev_eval: tuple[tuple[str, str], ...] = ()
    """Pairs of cells ``QUERY_SET/DATASET``: tuned on the first, applied to the second."""
    revisions: tuple[tuple[str, str], ...] = ()
    """Pairs of evaluations that differ in their keys alone."""
    sensitivity: Sensitivity = field(default_factory=Sensitivity)
    resampling: Resampling = field(default_factory=Resampling)
    source: str = ""
    """SHA-256 of the meta file."""
