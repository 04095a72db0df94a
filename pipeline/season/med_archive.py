"""The checks of a MED submission's archive and names (MED 2011 plan, appendix B; spec of F4DE's submission checker).

All problems are told at once. Beyond the official checker: values are compared as text and not as patterns, a lone
run must be the primary one, MEDPart means fewer events than there are, a description says something, times are
numbers and thresholds probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.formats.findings import quoted
from pipeline.protocols.med.names import GRAMMARS, Grammar
from pipeline.season import med_tables
from pipeline.season.archives import EXTENSIONS, extension_of
from pipeline.season.naming import Piece
from pipeline.season.verdict import Remarks

MOST_RUNS = 4
_SUFFIXES = {"description": ".txt", "detection": ".detection.csv", "threshold": ".threshold.csv"}
_DATA = ("data", "search")
"""The names that the years give the field of the test collection."""


@dataclass(frozen=True)
class ArchiveName:
    """``MED11_<TEAM>_<DATA>_<SUB-NUM>``; from 2013 on with the event set before the number."""

    team: str
    data: str


def grammar_of(protocol: str) -> Grammar:
    """The rule of names of a protocol's year; 2014, which has none that works, takes that of 2013."""
    year = protocol.removeprefix("med")[:2]
    known = {grammar.year: grammar for grammar in GRAMMARS}
    return known.get(year, known["13"])


def check_name(grammar: Grammar, name: str, remarks: Remarks) -> ArchiveName | None:
    """Read an archive's name, noting everything that breaks the rule."""
    extension = extension_of(name)
    if not extension:
        last = name.partition(".")[2] or "none"
        what = f"the file extension is {quoted(last)} (allowed: {', '.join(EXTENSIONS)})"
        remarks.error("archive_extension", name, what, "Pack it as one of these.")
    stem = name[: -len(extension) - 1] if extension else name.partition(".")[0]
    parts, wanted = stem.split("_"), ["tag", "team", "data", "number"]
    form = f"{grammar.fields['tag']}_<TEAM>_<DATA>_<SUB-NUM>"
    if int(grammar.year) >= 13:
        wanted.insert(3, "eventset")
        form = f"{grammar.fields['tag']}_<TEAM>_<SEARCH>_<EVENTSET>_<SUB-NUM>"
    if len(parts) != len(wanted):
        what = f"the archive's name {quoted(stem)} has {len(parts)} fields (allowed: {form})"
        remarks.error("archive_name", name, what, "No field holds an underscore.")
        return None
    fields = dict(zip(wanted, parts, strict=True))
    data_rule = next(grammar.fields[field] for field in _DATA if field in grammar.fields)
    rules = {**grammar.fields, "data": data_rule, "number": r"[1-9]\d*"}
    for fault in Grammar(grammar.year, {field: rules[field] for field in wanted}).faults(stem):
        remarks.error("archive_name", name, f"the archive's name is not of the form {form}: {fault}", "Rename it.")
    return ArchiveName(fields["team"], fields["data"])


def check_archive(
    protocol: str,
    name: str,
    files: Mapping[str, Path],
    index: Path | None,
    remarks: Remarks,
    most_runs: int | None = None,
) -> tuple[Piece, ...]:
    """Everything that is wrong with an archive's content; returns the runs of those experiments that have files.

    ``files`` are the members by name, folders with a ``/`` at the end. Without an ``index`` what depends on trials is
    not checked, and that is noted. ``most_runs`` makes more than that many an error; more than four are a warning.
    """
    grammar = grammar_of(protocol)
    read = check_name(grammar, name, remarks)
    experiments = _folders(name, files, remarks)
    _check_runs(name, experiments, most_runs, remarks)
    pieces, primary = list[Piece](), ""
    for experiment in sorted(experiments):
        faults = list(_name_faults(grammar, experiment, read))
        fields = grammar.read(experiment)
        if _is_primary(grammar, experiment):
            if primary:
                faults.append(f"there can be one primary run only (the other is {primary})")
            primary = primary or experiment
        if faults:
            form = "_".join(f"<{field.upper()}>" for field in grammar.fields)
            what = f"the EXP-ID {quoted(experiment)} is not of the form {form}: {'; '.join(faults)}"
            remarks.error("bad_exp_id", experiment, what, "Rename folder and files.")
        found = _check_folder(experiment, experiments[experiment], remarks)
        if {"detection", "threshold"} <= found.keys() and fields:
            tables = {role: files[found[role]] for role in ("detection", "threshold")}
            med_tables.check(protocol, experiment, fields, tables, index, remarks)
        pieces += [
            Piece(experiment, experiment, role, member, _is_primary(grammar, experiment), fields)
            for role, member in found.items()
        ]
    _check_lone(grammar, name, list(experiments), remarks)
    return tuple(pieces)


def _folders(name: str, files: Mapping[str, Path], remarks: Remarks) -> dict[str, list[str]]:
    """The members of every experiment's folder, by experiment."""
    tops = {member.split("/")[0] for member in files}
    loose = sorted(member for member in files if "/" not in member)
    if loose:
        what = f"files stand beside the folder `output` ({', '.join(map(quoted, loose[:3]))})"
        remarks.error("archive_layout", name, what, "Pack output/<EXP-ID>/<EXP-ID>.… and nothing else.")
    others = sorted(tops - {"output"} - set(loose))
    if "output" not in tops or others:
        what = f"the archive has the top folders {', '.join(map(quoted, others)) or 'none'} (allowed: output alone)"
        remarks.error("archive_layout", name, what, "Pack the folder `output` itself.")
    inside = [
        member.removeprefix("output/") for member in files if member.startswith("output/") and member != "output/"
    ]
    stray = sorted(member for member in inside if "/" not in member)
    if stray:
        what = f"`output` holds more than folders ({', '.join(map(quoted, stray[:3]))})"
        remarks.error("archive_layout", name, what, "Put every file into its experiment's folder.")
    experiments: dict[str, list[str]] = {}
    for member in inside:
        experiment, slash, rest = member.partition("/")
        if slash:
            experiments.setdefault(experiment, [])
            if rest:
                experiments[experiment].append(f"output/{member}")
    if "output" in tops and not experiments:
        remarks.error("archive_layout", name, "`output` holds no folder of an experiment", "Name one by its EXP-ID.")
    return experiments


def _check_runs(name: str, experiments: Mapping[str, object], most: int | None, remarks: Remarks) -> None:
    n = len(experiments)
    if most is not None and n > most:
        remarks.error("too_many_runs", name, f"the archive holds {n} runs (allowed: {most})", "Leave some out.")
    elif n > MOST_RUNS:
        remarks.warning("too_many_runs", name, f"the archive holds {n} runs (the plan allows {MOST_RUNS})")


def _name_faults(grammar: Grammar, experiment: str, read: ArchiveName | None) -> Iterator[str]:
    yield from grammar.faults(experiment)
    parts = dict(zip(grammar.fields, experiment.split("_"), strict=False))
    if len(experiment.split("_")) != len(grammar.fields) or read is None:
        return
    if parts["team"] != read.team:
        yield f"<TEAM> is {parts['team']!r}, and the archive's is {read.team!r}"
    data = next(parts[field] for field in _DATA if field in parts)
    if data != read.data:
        yield f"<DATA> is {data!r}, and the archive's is {read.data!r}"


def _is_primary(grammar: Grammar, experiment: str) -> bool:
    """Whether a name is of a primary run; where the year has no such field, every run is one."""
    fields = list(grammar.fields)
    parts = experiment.split("_")
    return "sysid" in fields and len(parts) > fields.index("sysid") and parts[fields.index("sysid")].startswith("p-")


def _check_lone(grammar: Grammar, name: str, experiments: list[str], remarks: Remarks) -> None:
    if "sysid" in grammar.fields and len(experiments) == 1 and not _is_primary(grammar, experiments[0]):
        parts = experiments[0].split("_")
        if len(parts) == len(grammar.fields) and parts[list(grammar.fields).index("sysid")].startswith("c-"):
            what = "the only run is contrastive (plan, appendix B: a single run must be the primary one)"
            remarks.error("no_primary", name, what, "Name its SYSID p-….")


def _check_folder(experiment: str, members: list[str], remarks: Remarks) -> dict[str, str]:
    """The member of each role, everything wrong noted."""
    base = f"output/{experiment}/"
    names = sorted({member.removeprefix(base) for member in members})
    folders = [name for name in names if "/" in name]
    if folders:
        what = f"the folder holds more than files ({', '.join(map(quoted, folders[:3]))})"
        remarks.error("folder_content", experiment, what, "Remove the folders in it.")
    plain = [name for name in names if "/" not in name]
    texts, sheets = ([name for name in plain if name.endswith(end)] for end in (".txt", ".csv"))
    odd = sorted(set(plain) - set(texts) - set(sheets))
    if odd:
        what = f"the folder holds more than .txt and .csv files ({', '.join(map(quoted, odd[:3]))})"
        remarks.error("folder_content", experiment, what, "Remove them.")
    if len(texts) > 1:
        remarks.error("description", experiment, f"the folder holds {len(texts)} .txt files (allowed: one)")
    if len(sheets) != 2:
        what = f"the folder holds {len(sheets)} .csv files (allowed: 2, detection and threshold)"
        remarks.error("csv_files", experiment, what, "Give the two and no other.")
    found = {}
    for role, suffix in _SUFFIXES.items():
        if f"{experiment}{suffix}" in plain:
            found[role] = f"{base}{experiment}{suffix}"
        else:
            seen = ", ".join(map(quoted, texts if role == "description" else sheets)) or "none"
            what = f"the file {quoted(experiment + suffix)} is not there (seen: {seen})"
            remarks.error("description" if role == "description" else "csv_files", experiment, what, "Name it so.")
    return found
