"""The files of a made-up season: twelve teams, three phases, recordings, keys, queries, canaries and submissions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

NAME = "made-up-2026"
TEAMS = {
    "aurora": "North Lab", "basalt": "Harbour Institute", "cobalt": "Valley University", "dune": "Summit Group",
    "ember": "Coast College", "fjord": "Lakeside Laboratory", "garnet": "Plain Speech", "heron": "Old Town School",
    "indigo": "River Research", "jade": "Terrace Labs", "kelp": "Bay Acoustics", "lumen": "Hill & Sons <Speech>",
}  # fmt: skip
PHASES = {
    "dry-run": ("dry_run", "2026-03-01T24:00 Europe/Madrid"),
    "dev": ("dev", "2026-04-15T12:00+02:00"),
    "eval": ("eval", "2026-06-01T23:59:59-04:00"),
}
QUERIES = tuple(f"word{number:02d}" for number in range(1, 9))
DESCRIPTION = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n%%EOF\n"
)
RESOURCES = b"""\
index:
  steps:
    - name: features
      wall_s: 600
      cores: 4
      peak_memory_bytes: 2 GB
      nodes: [{brand: Made Up, cpu: M1, cores: 4, os: Linux}]
    - name: lattices
      cpu_s: 36000
      nodes: [{count: 16, cpu: M2, clock_ghz: 2.26, ram_bytes: 24 GB, peak_memory_bytes: 20 GB}]
search: {cpu_s: 12, peak_memory_bytes: 1 GB}
"""
"""What aurora used; its output says 1 s for each of 8 queries."""
N_SPOKEN, FILE_S, SAID_S = 60, 600, 0.8
THRESHOLD = 4.2
Occurrences = list[tuple[str, str, float]]
"""Query, recording, begin."""
Found = tuple[str, str, float, float]
"""Query, recording, begin, score."""


def write_season(folder: Path) -> None:
    """The organiser's files: roster, season, and for each phase recordings, key, evaluation and canaries."""
    teams = {
        team: {"name": team.title(), "institution": place, "contact": {"email": f"{team}@mail.example"}}
        for team, place in TEAMS.items()
    }
    write(folder / "roster.yaml", yaml.safe_dump({"teams": teams}))
    write(folder / "queries.xml", kwlist())
    phases = {}
    for at, (phase, (kind, deadline)) in enumerate(PHASES.items()):
        write(folder / phase / "ecf.xml", ecf())
        write(folder / phase / "key.rttm", rttm(spoken(at)))
        phases[phase] = {
            "kind": kind, "deadline": deadline, "evaluation": f"{NAME}-{phase}", "query_sets": ["words"],
            "datasets": [phase], "inputs": {"ecf": f"{phase}/ecf.xml", "kwlist": "queries.xml"}, "most_runs": 3,
            "counts": "best" if kind == "dev" else "last",
        }  # fmt: skip
        write(folder / f"{phase}.yaml", yaml.safe_dump(_evaluation(folder, phase, at), sort_keys=False))
    canaries = {"canary-perfect": 1, "canary-silent": 0, "canary-baseline": "same"}
    season = {
        "name": NAME, "protocol": "sws2013", "pattern": "{system}.{query_set}.{dataset}.xml",
        "roster": "roster.yaml", "phases": phases,
        "gate": {"canaries": canaries, "most_shrunk": 0.1, "most_changed": 0.3},
    }  # fmt: skip
    write(folder / "season.yaml", yaml.safe_dump(season, sort_keys=False))


def _evaluation(folder: Path, phase: str, at: int) -> dict[str, Any]:
    """A phase's evaluation file; its canaries are written."""
    systems: dict[str, Any] = {"ledger": {"store": "store", "season": NAME, "phase": phase}}
    write_perfect(folder, phase, spoken(at))
    write(folder / phase / "canary-silent.xml", stdlist([]))
    write(folder / phase / "canary-baseline.xml", output(at, "baseline", 1.0))
    for name in ("perfect", "silent", "baseline"):
        outputs = {f"words/{phase}": f"{phase}/canary-{name}.xml"}
        systems[f"canary-{name}"] = {"outputs": outputs, "canary": True, "team": "organiser", "primary": False}
    return {
        "name": f"{NAME}-{phase}", "protocol": "sws2013", "query_sets": {"words": {"kwlist": "queries.xml"}},
        "datasets": {phase: {"ecf": f"{phase}/ecf.xml", "rttm": f"{phase}/key.rttm"}}, "systems": systems,
    }  # fmt: skip


def write_perfect(folder: Path, phase: str, said: Occurrences) -> None:
    """The canary that finds all that is said and nothing else; it is made from the key, and anew with each version."""
    silence = [(query, "r1", 1.0 + at * 0.25, -20.0) for at, query in enumerate(QUERIES)]
    write(folder / phase / "canary-perfect.xml", stdlist([*((*row, 20.0) for row in said), *silence]))


def spoken(at: int) -> Occurrences:
    """Where the queries of a phase's recordings are said."""
    random = np.random.default_rng([2026, at])
    begins = np.sort(random.choice(np.arange(5, FILE_S - 5, 4), N_SPOKEN, replace=False)).tolist()
    rows = [
        (QUERIES[int(random.integers(len(QUERIES)))], f"r{1 + number % 2}", float(begin))
        for number, begin in enumerate(begins)
    ]
    return sorted(rows, key=lambda row: (row[1], row[2]))


def output(at: int, system: str, strength: float, n_false: int = 25) -> str:
    """Detections of a system of some strength: log-likelihood ratios, YES above the threshold."""
    random = np.random.default_rng([at, *system.encode()])
    rows: list[Found] = []
    for query, file, begin in spoken(at):
        score = float(random.normal(2.0 + strength, 1.5))
        if score > 0.5:
            rows.append((query, file, begin + float(random.uniform(-0.1, 0.1)), score))
    for number in range(n_false):
        query = QUERIES[int(random.integers(len(QUERIES)))]
        rows.append((query, f"r{1 + number % 2}", float(random.uniform(1, 590)), float(random.normal(1.5, 1.5))))
    return stdlist(rows)


def stdlist(rows: Iterable[Found]) -> str:
    """A detection file."""
    blocks: dict[str, list[str]] = {query: [] for query in QUERIES}
    for query, file, begin, score in rows:
        place = f'file="{file}" channel="1" tbeg="{begin:.2f}" dur="{SAID_S}"'
        decision = "YES" if score > THRESHOLD else "NO"
        blocks[query].append(f'<term {place} score="{score:.4f}" decision="{decision}"/>\n')
    begin_block = '<detected_termlist termid="{}" term_search_time="1" oov_term_count="0">'
    text = "".join(
        f"{begin_block.format(query)}\n{''.join(own)}</detected_termlist>\n" for query, own in blocks.items()
    )
    head = '<stdlist termlist_filename="q" indexing_time="1" language="x" index_size="1" system_id="s">'
    return f"{head}\n{text}</stdlist>\n"


def ecf() -> str:
    """Two recordings."""
    rows = "".join(
        f'<excerpt audio_filename="{file}.wav" channel="1" tbeg="0" dur="{FILE_S}" language="x" source_type="bnews"/>\n'
        for file in ("r1", "r2")
    )
    return f'<ecf source_signal_duration="{2 * FILE_S}" version="1">\n{rows}</ecf>\n'


def rttm(rows: Sequence[tuple[str, str, float]]) -> str:
    """A key."""
    return "".join(f"LEXEME {file} 1 {begin:.2f} {SAID_S} {query} lex speaker <NA>\n" for query, file, begin in rows)


def kwlist() -> str:
    """The queries."""
    terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>\n' for query in QUERIES)
    return f'<termlist ecf_filename="e" language="x" version="1">\n{terms}</termlist>\n'


def write(path: Path, text: str) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
