"""Resources that a system declares (plan 000 section 4.3), one YAML file for every protocol.

::

    index:                        # per dataset; or one phase for every dataset
      sws2013:
        wall_s: 50400             # with cores; or cpu_s alone
        cores: 16
        peak_memory_bytes: 2 GB   # the highest single value over steps and nodes; 10^9, or GiB for 2^30
        nodes:
          - {count: 2, brand: HP, cpu: Xeon E5, cores: 8, clock_ghz: 2.4, ram_bytes: 64 GB, os: Linux}
    search:                       # per query set and dataset; or one phase for every cell
      eval/sws2013:
        steps:                    # in place of a time and a peak of the phase: times add up, the highest peak counts
          - {name: lookup, cpu_s: 172800, peak_memory_bytes: 1 GB, nodes: [{count: 16, peak_memory_bytes: 900 MB}]}
          - {name: rescoring, wall_s: 60, cores: 4}
    eag: {wall_s: 3600, cores: 1} # making event agents (MED), per dataset as indexing
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO

import yaml

from pipeline.arrays import summed
from pipeline.errors import Finding, Problems
from pipeline.formats import numbers
from pipeline.formats.findings import quoted
from pipeline.formats.yamltree import Fields, fields_of, line_of, read_yaml, text_of
from pipeline.terms import Phase

EVERY = "*"
"""The key of a phase that holds for every dataset or cell without one of its own."""

USE_FIELDS = ("wall_s", "cores", "cpu_s", "peak_memory_bytes", "nodes")
PHASE_FIELDS = (*USE_FIELDS, "steps")
STEP_FIELDS = ("name", *USE_FIELDS)
NODE_FIELDS = ("count", "brand", "cpu", "cores", "clock_ghz", "ram_bytes", "os", "peak_memory_bytes")

_SIZE = re.compile(r"\s*([^\sA-Za-z]*(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*")
_UNITS = {
    "": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """Computers of one kind, as declared."""

    count: int = 1
    brand: str = ""
    cpu: str = ""
    cores: int | None = None
    clock_ghz: float | None = None
    ram_bytes: float | None = None
    os: str = ""
    peak_memory_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """One phase or step as declared: its figures, the computers it ran on, and of a phase its steps."""

    phase: Phase
    nodes: tuple[Node, ...] = ()
    name: str = ""
    steps: tuple[Use, ...] = ()

    def rows(self, phase: str) -> tuple[dict[str, float | str], ...]:
        """What was declared, one row a step and kind of computer; of several kinds the first has time and peak."""
        made = []
        for step in self.steps or (self,):
            own = {name: getattr(step.phase, name) for name in ("cpu_s", "wall_s", "peak_memory_bytes")}
            for at, node in enumerate(step.nodes or (None,)):
                kind = {name: getattr(node, name, None) for name in NODE_FIELDS[:-1]}
                numbers_ = {**(own if at == 0 else dict.fromkeys(own)), **kind}
                texts = {name: numbers_.pop(name) or "" for name in ("brand", "cpu", "os")}
                plain = {name: math.nan if value is None else float(value) for name, value in numbers_.items()}
                made.append({"phase": phase, "step": step.name, **plain, **texts})
        return tuple(made)


@dataclass(frozen=True, slots=True)
class Resources:
    """The declarations of one system: indexing by dataset, searching by ``QUERYSET/DATASET``."""

    index: Mapping[str, Use] = field(default_factory=dict)
    search: Mapping[str, Use] = field(default_factory=dict)
    eag: Mapping[str, Use] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def used(self, query_set: str, dataset: str) -> dict[str, Use]:
        """What was declared for a cell, by phase."""
        found = {
            "index": self.index.get(dataset, self.index.get(EVERY)),
            "search": self.search.get(f"{query_set}/{dataset}", self.search.get(EVERY)),
            "eag": self.eag.get(dataset, self.eag.get(EVERY)),
        }
        return {name: use for name, use in found.items() if use is not None}

    def only(self) -> dict[str, Use]:
        """By phase what was declared of it, where that is one entry."""
        every = {"index": self.index, "search": self.search, "eag": self.eag}
        return {name: next(iter(uses.values())) for name, uses in every.items() if len(uses) == 1}


def read_resources(stream: BinaryIO, where: str) -> Resources:
    """A resources file from a binary stream; ``where`` names it in messages.

    CPU seconds are ``cpu_s``, or ``wall_s`` times ``cores`` as if on a single CPU. Raises ``InputError`` with every
    problem: unknown or repeated fields, both times or neither half, negative or infinite values, anchors and aliases.
    """
    problems = Problems(where)
    root = read_yaml(stream, problems)
    resources = Resources()
    if root is not None:
        names = ("index", "search", "eag")
        fields = fields_of(root, "the file", names, problems)
        index, search, eag = (_uses(fields, name, problems) for name in names)
        resources = Resources(index, search, eag)
    problems.raise_if_any()
    return resources


def _uses(fields: Fields, name: str, problems: Problems) -> dict[str, Use]:
    node = fields.get(name)
    if node is None:
        return {}
    if isinstance(node, yaml.MappingNode) and any(key.value in PHASE_FIELDS for key, _ in node.value):
        return {EVERY: _use(node, name, problems)}
    uses = {}
    for key, value in fields_of(node, name, None, problems).items():
        if name == "search" and key != EVERY and "/" not in key:
            what = f"the key of search is {quoted(key)} (allowed: QUERYSET/DATASET, or {EVERY} for every cell)"
            problems.add("bad_key", line_of(value), what, "Name the query set and the dataset.")
        uses[key] = _use(value, f"{name} {quoted(key)}", problems)
    return uses


def _use(node: yaml.Node, what: str, problems: Problems) -> Use:
    fields = fields_of(node, what, PHASE_FIELDS, problems)
    if not fields:
        mend = f"Give some of {', '.join(PHASE_FIELDS)}."
        problems.add("empty_phase", line_of(node), f"{what} declares nothing", mend)
    if "steps" in fields:
        if isinstance(fields["steps"], yaml.SequenceNode) and not fields["steps"].value:
            problems.add("empty_phase", line_of(node), f"{what} has no step", "Give one, or leave steps out.")
        beside = [name for name in USE_FIELDS if name in fields]
        if beside:
            found = f"{what} has steps, and {', '.join(beside)} of its own"
            problems.add("two_times", line_of(node), found, "Give them step by step.")
        return _of_steps(_list(fields["steps"], "steps", "step", problems), what, problems)
    return _single(fields, what, line_of(node), problems)


def _single(fields: Fields, what: str, line: int, problems: Problems) -> Use:
    """A phase or step that is not parted: its highest peak is that of it and its nodes."""
    wall_s = _number(fields, "wall_s", problems)
    cpu_s, basis = _cpu_s(fields, wall_s, what, line, problems)
    nodes = tuple(_node(item, problems) for item in _list(fields.get("nodes"), "nodes", "kind of computer", problems))
    peak = _highest([_bytes(fields, "peak_memory_bytes", problems), *(one.peak_memory_bytes for one in nodes)])
    return Use(Phase(cpu_s, peak, basis, None if cpu_s is None else wall_s), nodes)


def _of_steps(items: Sequence[yaml.Node], what: str, problems: Problems) -> Use:
    """A phase of steps: times are the sum of theirs, unknown where one is; the peak is the highest declared (PMU)."""
    steps = []
    for at, item in enumerate(items, 1):
        own = f"step {at} of {what}"
        fields = fields_of(item, own, STEP_FIELDS, problems)
        name = (text_of(fields["name"], "name", problems) if "name" in fields else None) or f"step {at}"
        steps.append(replace(_single(fields, own, line_of(item), problems), name=name))
    phases = [step.phase for step in steps]
    bases = {phase.time_basis for phase in phases}
    basis = next(iter(bases)) if len(bases) == 1 else "mixed"
    cpu_s, wall_s = (_sum([getattr(phase, name) for phase in phases]) for name in ("cpu_s", "wall_s"))
    return Use(Phase(cpu_s, _highest([one.peak_memory_bytes for one in phases]), basis, wall_s), steps=tuple(steps))


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return summed(known) if known and len(known) == len(values) else None


def _highest(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _cpu_s(fields: Fields, wall_s: float | None, what: str, line: int, problems: Problems) -> tuple[float | None, str]:
    """Seconds as if on a single CPU, and what they were declared as."""
    cores, cpu_s = _count(fields, "cores", problems), _number(fields, "cpu_s", problems)
    if "cpu_s" in fields:
        if "wall_s" in fields:
            problems.add("two_times", line, f"{what} has both wall_s and cpu_s (allowed: one of them)", "Remove one.")
        return cpu_s, "cpu"
    if "wall_s" in fields and "cores" not in fields:
        problems.add("missing_cores", line, f"{what} has wall_s without cores", "Add the number of cores that ran.")
    return (None if wall_s is None or cores is None else wall_s * cores), "wall"


def _list(node: yaml.Node | None, name: str, kind: str, problems: Problems) -> Sequence[yaml.Node]:
    if node is None:
        return ()
    if not isinstance(node, yaml.SequenceNode):
        mend = f"Write one `- {{…}}` for each {kind}."
        problems.add("not_a_list", line_of(node), f"{name} is no list", mend)
        return ()
    return list(node.value)


def _node(item: yaml.Node, problems: Problems) -> Node:
    fields = fields_of(item, "an entry of nodes", NODE_FIELDS, problems)
    texts = {name: text_of(fields[name], name, problems) or "" for name in ("brand", "cpu", "os") if name in fields}
    count = _count(fields, "count", problems)
    return Node(
        count=1 if count is None else count,
        cores=_count(fields, "cores", problems),
        clock_ghz=_number(fields, "clock_ghz", problems),
        ram_bytes=_bytes(fields, "ram_bytes", problems),
        peak_memory_bytes=_bytes(fields, "peak_memory_bytes", problems),
        **texts,
    )


def _number(fields: Fields, name: str, problems: Problems) -> float | None:
    """A finite number, 0 or more; ``None`` where absent or refused."""
    text = text_of(fields[name], name, problems) if name in fields else None
    if text is None:
        return None
    return _checked(text, text, name, line_of(fields[name]), problems)


def _count(fields: Fields, name: str, problems: Problems) -> int | None:
    """A whole number, 1 or more; ``None`` where absent or refused."""
    value = _number(fields, name, problems)
    if value is None:
        return None
    if value < 1 or value != int(value):
        what = f"{name} is {quoted(fields[name].value)} (allowed: a whole number, 1 or more)"
        problems.add("bad_count", line_of(fields[name]), what, "Write the number.")
        return None
    return int(value)


def _bytes(fields: Fields, name: str, problems: Problems) -> float | None:
    """A size in bytes: a number, or a number with a unit; ``None`` where absent or refused."""
    text = text_of(fields[name], name, problems) if name in fields else None
    if text is None:
        return None
    parts = _SIZE.fullmatch(text)
    if parts is None or parts[2] not in _UNITS:
        units = ", ".join(unit for unit in _UNITS if unit)
        what = f"{name} is {quoted(text)} (allowed: bytes, or a number with {units})"
        problems.add("bad_size", line_of(fields[name]), what, "Write for example 2 GB (10^9 bytes) or 2 GiB (2^30).")
        return None
    value = _checked(parts[1], text, name, line_of(fields[name]), problems)
    return None if value is None else value * _UNITS[parts[2]]


def _checked(number: str, text: str, name: str, line: int, problems: Problems) -> float | None:
    before = problems.count
    value = numbers.decimal(number, name, line, problems)
    if value < 0:
        problems.add("negative_value", line, f"{name} is {quoted(text)} (allowed: 0 or more)", "Write its size.")
    return value if problems.count == before else None
