"""Installed scorers beside this project, on inputs made here: KWSEval, STDEval, DEVA, the QUESST jar, compute-atwv.

They run as their manuals say. None comes with this project, and none of their figures is looked at: the tests of
conformance compare those. Whole processes are measured on both sides, Python's and Perl's starts included. Sizes are
such that the slowest takes some ten seconds.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from bench.installed import DEVA, IN_ORDER, JAR, KALDI, KWSEVAL, STDEVAL, Installed, command
from bench.kws_files import audio_s, write_files
from bench.measured import Way
from bench.stages import INPUTS as STD_INPUTS
from bench.stages import write_inputs
from bench.table import Comparison, Group
from bench.whole import TWO, scored

N_EVENTS, TARGET_SHARE = 10, 0.02
JAR_PRIOR = "0.0741289"
"""The effective prior as the script of 2015 cuts it."""
N_DOCUMENTS = 1000
SLOW = 2
"""Runs of what takes long."""


def kws(place: Path, rows: int, path: str | None) -> Group:
    """KWSEval with its sweep, whose cost grows as detections times keywords."""
    inputs = write_files(place, rows, max(rows // 25, 2), max(rows // 5, 4))
    files = _words(inputs, {"-e": "ecf", "-r": "rttm", "-t": "kwlist", "-s": "output"})
    peer = _peer(KWSEVAL, path, (*files, *"-c -o -b -d -f out".split()))
    return _group(rows, "det", "XML to every figure, KWSEval's size", scored("openkws13", inputs), peer)


def std(place: Path, rows: int, path: str | None) -> Group:
    """STDEval with the costs of SWS 2013."""
    write_inputs(place, rows)
    inputs = {role: str(place / name) for role, name in STD_INPUTS.items()}
    files = _words(inputs, {"-s": "output", "-e": "ecf", "-r": "rttm", "-t": "kwlist"})
    rest = "-number-trials-per-sec=1 -A -o out.occ.txt -a out.ali.txt -d out.det -S 0.5 -F 0.5 -k 0.01 -K 1 -p 0.00015"
    peer = _peer(STDEVAL, path, (*files, *rest.split()))
    return _group(rows, "det", "XML to every figure, STD", scored("sws2013", inputs), peer)


def med(place: Path, rows: int, path: str | None) -> Group:
    """DEVA with the profile of MED 2011."""
    write_med(place, rows)
    inputs = {name: str(place / f"{name}.csv") for name in ("ref", "index", "detection", "threshold")}
    systems = [word for name in ("detection", "threshold") for word in ("-s", f"{inputs[name]}:{name}")]
    words = ("-o", ".", "-p", "MED11", "-r", inputs["ref"], *systems, f"{inputs['index']}:TrialIndex")
    return _group(rows, "trials", "rescore score, MED", scored("med11", inputs), _peer(DEVA, path, words))


def jar(place: Path, rows: int, path: str | None) -> Group:
    """The scoring tool of QUESST 2015, a score for every query and document, and the prior that its script gives."""
    inputs = write_documents(place, rows)
    words = (*(inputs[role] for role in ("output", "rttm", "ecf", "kwlist")), JAR_PRIOR)
    scoring = (*scored("quesst", inputs), "--set", f"p_target_effective={JAR_PRIOR}")
    return _group(rows, "pairs", "XML to every figure, QUESST", scoring, _peer(JAR, path, words))


def kaldi(place: Path, rows: int, path: str | None) -> Group:
    """Kaldi's approximate ATWV, STWV, MTWV and OTWV from lists that have been made of the XML for it."""
    inputs = write_files(place, rows)
    write_lists(place, inputs)
    lists = (str(audio_s(rows)), f"ark:{place / 'ref.list'}", f"ark:{place / 'hyp.list'}")
    scoring = (*scored("openkws13", inputs), "--measures", "atwv,mtwv")
    return _group(rows, "det", f"{TWO}, Kaldi's size", scoring, _peer(KALDI, path, lists))


def _words(inputs: dict[str, str], options: dict[str, str]) -> tuple[str, ...]:
    return tuple(word for option, role in options.items() for word in (option, inputs[role]))


def _group(rows: int, unit: str, subject: str, scoring: Sequence[str], peer: Way | str) -> Group:
    """``peer`` is why there is none where it is no way."""
    ours = Way(subject, (sys.executable, "-m", "pipeline.cli", *scoring))
    if isinstance(peer, str):
        name, absent = peer.split(": ", 1)
        return Group(rows, unit, [ours], [Comparison(subject, name, absent=absent)])
    return Group(rows, unit, [ours, peer], [Comparison(subject, peer.name)])


def _peer(tool: Installed, path: str | None, words: Sequence[str]) -> Way | str:
    """An installed program with its arguments, or its name and why it cannot be run."""
    start = command(tool, path)
    if isinstance(start, str):
        return f"{tool.name}: {start}"
    return Way(tool.name, (*start, *words), times=None if tool is KALDI else SLOW, environment=IN_ORDER)


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


def write_documents(place: Path, rows: int) -> dict[str, str]:
    """Queries and documents of QUESST with a score for each pair, one in a hundred of them a target."""
    random = np.random.default_rng(15)
    n_documents = min(N_DOCUMENTS, rows)
    queries = [f"quesst2015_dev_{number:04d}" for number in range(rows // n_documents)]
    documents = [f"quesst2015_{number:05d}" for number in range(n_documents)]
    target = random.random((len(queries), n_documents)) < TARGET_SHARE / 2
    target[:, 0] = True
    score = np.round(random.normal(size=target.shape) + 2 * target, 3)
    excerpts = "".join(
        f'<excerpt audio_filename="Audio/{name}.wav" channel="1" tbeg="0" dur="10" language="x" source_type="cts"/>\n'
        for name in documents
    )
    terms = "".join(f'<term termid="{name}"><termtext>{name}</termtext></term>\n' for name in queries)
    texts = {
        "ecf": f'<ecf source_signal_duration="{10 * n_documents}" version="1">\n{excerpts}</ecf>\n',
        "rttm": "".join(
            f"LEXEME {documents[document]} 1 0 10 {queries[query]} lex SELF <NA>\n"
            for query, document in np.argwhere(target).tolist()
        ),
        "kwlist": f'<termlist ecf_filename="e" language="x" version="1">\n{terms}</termlist>\n',
    }
    inputs = {role: str(place / name) for role, name in STD_INPUTS.items()}
    for role, text in texts.items():
        Path(inputs[role]).write_text(text)
    with Path(inputs["output"]).open("w") as out:
        out.write('<stdlist termlist_filename="a" indexing_time="1" language="x" index_size="1" system_id="a">\n')
        for query, scores in zip(queries, score.tolist(), strict=True):
            out.write(f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">\n')
            out.writelines(
                f'<term file="{name}" channel="1" tbeg="0" dur="10" score="{worth}" '
                f'decision="{"YES" if worth > 2 else "NO"}"/>\n'
                for name, worth in zip(documents, scores, strict=True)
            )
            out.write("</detected_termlist>\n")
        out.write("</stdlist>\n")
    return inputs


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
