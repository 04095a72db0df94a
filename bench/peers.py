"""Installed scorers beside this project, on inputs made here: KWSEval, STDEval, DEVA and Kaldi's compute-atwv.

They run as their manuals say. None comes with this project, and none of their figures is looked at: the tests of
conformance compare those. Whole processes are measured on both sides, Python's and Perl's starts included. Sizes are
such that the slowest takes some ten seconds.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from bench.kws_files import audio_s, write_files
from bench.measured import Way
from bench.stages import INPUTS as STD_INPUTS
from bench.stages import write_inputs
from bench.table import Comparison, Group
from bench.whole import TWO, scored

IN_ORDER = {"PERL_PERTURB_KEYS": "0", "PERL_HASH_SEED": "0"}
"""What F4DE's programs want of Perl."""
PLACES = {
    "KWSEval": ("KWSEval", "KWSEval.pl", "bin/KWSEval", "KWSEval/tools/KWSEval/KWSEval.pl"),
    "STDEval": ("STDEval.pl", "src/STDEval.pl"),
    "DEVA": ("DEVA_cli", "DEVA_cli.pl", "bin/DEVA_cli", "DEVA/tools/DEVA_cli/DEVA_cli.pl"),
    "Kaldi": ("compute-atwv", "src/kwsbin/compute-atwv", "kwsbin/compute-atwv"),
}
"""Where the program of an installation is, from its folder."""
N_EVENTS, TARGET_SHARE = 10, 0.02
SLOW = 2
"""Runs of what takes long."""


def kws(place: Path, rows: int, path: str | None) -> Group:
    """KWSEval with its sweep, whose cost grows as detections times keywords."""
    inputs = write_files(place, rows, max(rows // 25, 2), max(rows // 5, 4))
    files = _words(inputs, {"-e": "ecf", "-r": "rttm", "-t": "kwlist", "-s": "output"})
    peer = _peer("KWSEval", "--kwseval", path, (*files, *"-c -o -b -d -f out".split()))
    return _group(rows, "det", "XML to every figure, KWSEval's size", scored("openkws13", inputs), peer)


def std(place: Path, rows: int, path: str | None) -> Group:
    """STDEval with the costs of SWS 2013."""
    write_inputs(place, rows)
    inputs = {role: str(place / name) for role, name in STD_INPUTS.items()}
    files = _words(inputs, {"-s": "output", "-e": "ecf", "-r": "rttm", "-t": "kwlist"})
    rest = "-number-trials-per-sec=1 -A -o out.occ.txt -a out.ali.txt -d out.det -S 0.5 -F 0.5 -k 0.01 -K 1 -p 0.00015"
    peer = _peer("STDEval", "--stdeval", path, (*files, *rest.split()))
    return _group(rows, "det", "XML to every figure, STD", scored("sws2013", inputs), peer)


def med(place: Path, rows: int, path: str | None) -> Group:
    """DEVA with the profile of MED 2011."""
    write_med(place, rows)
    inputs = {name: str(place / f"{name}.csv") for name in ("ref", "index", "detection", "threshold")}
    systems = [word for name in ("detection", "threshold") for word in ("-s", f"{inputs[name]}:{name}")]
    words = ("-o", ".", "-p", "MED11", "-r", inputs["ref"], *systems, f"{inputs['index']}:TrialIndex")
    return _group(rows, "trials", "rescore score, MED", scored("med11", inputs), _peer("DEVA", "--deva", path, words))


def kaldi(place: Path, rows: int, path: str | None) -> Group:
    """Kaldi's approximate ATWV, STWV, MTWV and OTWV from lists that have been made of the XML for it."""
    inputs = write_files(place, rows)
    write_lists(place, inputs)
    lists = (str(audio_s(rows)), f"ark:{place / 'ref.list'}", f"ark:{place / 'hyp.list'}")
    scoring = (*scored("openkws13", inputs), "--measures", "atwv,mtwv")
    return _group(rows, "det", f"{TWO}, Kaldi's size", scoring, _peer("Kaldi", "--kaldi", path, lists))


def _words(inputs: dict[str, str], options: dict[str, str]) -> tuple[str, ...]:
    return tuple(word for option, role in options.items() for word in (option, inputs[role]))


def _group(rows: int, unit: str, subject: str, scoring: Sequence[str], peer: Way | str) -> Group:
    """``peer`` is why there is none where it is no way."""
    ours = Way(subject, (sys.executable, "-m", "pipeline.cli", *scoring))
    if isinstance(peer, str):
        name, absent = peer.split(": ", 1)
        return Group(rows, unit, [ours], [Comparison(subject, name, absent=absent)])
    return Group(rows, unit, [ours, peer], [Comparison(subject, peer.name)])


def _peer(name: str, option: str, path: str | None, words: Sequence[str]) -> Way | str:
    """An installed program with its arguments, or its name and why it cannot be run."""
    if path is None:
        return f"{name}: not given ({option} PATH)"
    program = program_in(Path(path).expanduser().absolute(), PLACES[name])
    if program is None:
        return f"{name}: not found where {option} says"
    perl = ("perl", "-I", str(program.parent)) if program.suffix == ".pl" else ()
    return Way(name, (*perl, str(program), *words), times=None if name == "Kaldi" else SLOW, environment=IN_ORDER)


def program_in(path: Path, places: Sequence[str]) -> Path | None:
    """The program itself, or the first of its usual places in a folder."""
    for candidate in [path] if not path.is_dir() else [path / place for place in places]:
        if candidate.is_file() and (candidate.suffix == ".pl" or os.access(candidate, os.X_OK)):
            return candidate
    return None


def write_med(place: Path, rows: int) -> None:
    """A submission for ten events in the columns of MED 2011: every trial, two in a hundred of them targets."""
    random = np.random.default_rng(11)
    n_clips = max(rows // N_EVENTS, 1)
    trials = [(f"{clip:06d}.E{event:03d}", clip, event) for event in range(1, N_EVENTS + 1) for clip in range(n_clips)]
    target = random.random(len(trials)) < TARGET_SHARE
    score = np.where(target, random.beta(4, 2, len(trials)), random.beta(1, 6, len(trials)))
    _csv(place / "index.csv", "TrialID,ClipID,EventID", (f"{t},{clip:06d},E{event:03d}" for t, clip, event in trials))
    _csv(place / "ref.csv", "TrialID,Targ",
         (f"{t},{'y' if yes else 'n'}" for (t, _, _), yes in zip(trials, target.tolist(), strict=True)))  # fmt: skip
    _csv(place / "detection.csv", "TrialID,Score",
         (f"{t},{worth:.6f}" for (t, _, _), worth in zip(trials, score.tolist(), strict=True)))  # fmt: skip
    _csv(place / "threshold.csv", "EventID,DetectionThreshold,DetectionTPT",
         (f"E{event:03d},0.5000,1.00" for event in range(1, N_EVENTS + 1)))  # fmt: skip


def _csv(path: Path, head: str, rows: Iterable[str]) -> None:
    with path.open("w") as out:
        for row in (head, *rows):
            out.write(",".join(f'"{field}"' for field in row.split(",")) + "\n")


_TERM = re.compile(r'file="FILE_(\d+)_inLine" channel="1" tbeg="([\d.]+)" dur="([\d.]+)" score="([\d.]+)"')


def write_lists(place: Path, inputs: dict[str, str]) -> None:
    """``KEYWORD RECORDING FIRST-FRAME LAST-FRAME SCORE`` of key and output: recordings by number, frames of 10 ms."""
    with Path(inputs["rttm"]).open() as rttm, (place / "ref.list").open("w") as out:
        for line in rttm:
            _, file, _, begin, dur, word, *_ = line.split()
            number = file.removeprefix("FILE_").removesuffix("_inLine")
            first = round(float(begin) * 100)
            out.write(f"KW-{word.removeprefix('word')} {int(number)} {first} {first + round(float(dur) * 100)} 1.0\n")
    with Path(inputs["output"]).open() as xml, (place / "hyp.list").open("w") as out:
        keyword = ""
        for line in xml:
            if "kwid=" in line:
                keyword = line.split('"', 2)[1]
            elif found := _TERM.search(line):
                number, begin, dur, score = found.groups()
                first = round(float(begin) * 100)
                out.write(f"{keyword} {int(number)} {first} {first + round(float(dur) * 100)} {score}\n")
