"""A season from its first day to its last, played by the commands an organiser and twelve teams would use.

``python tests/end_to_end/season_script.py FOLDER`` plays it into a folder, to be looked at.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from flows.settings import prepare_environment
from pipeline.cli import main

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
QUERIES = tuple(f"word{number:02d}" for number in range(1, 13))
Occurrences = list[tuple[str, str, float]]
"""Query, recording, begin."""


class Script:
    """Plays the season in a folder; ``said`` are the documents that commands printed, in order."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, str(folder / "store")
        self.said: list[dict[str, Any]] = []
        folder.mkdir(parents=True, exist_ok=True)

    def call(self, *arguments: str | Path, code: int = 0) -> dict[str, Any]:
        """Run a command with ``--json`` and return its document."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            found = main([*map(str, arguments), "--json"])
        if found != code:
            raise AssertionError(f"{arguments}: exit code {found}, not {code}: {out.getvalue()}")
        self.said.append(json.loads(out.getvalue()) if out.getvalue().strip() else {})
        return self.said[-1]

    def on(self, *arguments: str | Path, code: int = 0) -> dict[str, Any]:
        """The same on the season's store."""
        return self.call(*arguments, "--store", self.store, code=code)

    def play(self) -> Script:
        """The whole season."""
        self.prepare()
        self.on("season", "open", self.folder / "season.yaml")
        for phase in PHASES:
            self.collect(phase)
            self.night(phase)
        self.publish_open_phases()
        self.eval_phase()
        self.on("season", "packets")
        return self

    def prepare(self) -> None:
        """The organiser's files: recordings, keys, queries, roster, season, evaluations and canaries."""
        teams = {
            team: {"name": team.title(), "institution": place, "contact": {"email": f"{team}@mail.example"}}
            for team, place in TEAMS.items()
        }
        self.write("roster.yaml", yaml.safe_dump({"teams": teams}))
        self.write("queries.xml", kwlist())
        phases = {}
        for at, (phase, (kind, deadline)) in enumerate(PHASES.items()):
            self.write(f"{phase}/ecf.xml", ecf())
            self.write(f"{phase}/key.rttm", rttm(spoken(at)))
            phases[phase] = {
                "kind": kind, "deadline": deadline, "evaluation": f"{NAME}-{phase}", "query_sets": ["words"],
                "datasets": [phase], "inputs": {"ecf": f"{phase}/ecf.xml", "kwlist": "queries.xml"}, "most_runs": "3",
            }  # fmt: skip
            self.evaluation(phase, at)
        gate = {"canaries": {"canary-perfect": "1", "canary-silent": "0", "canary-baseline": "same"}}
        season = {
            "name": NAME, "protocol": "sws2013", "pattern": "{system}.{query_set}.{dataset}.xml",
            "roster": "roster.yaml", "phases": phases, "gate": {**gate, "most_shrunk": "0.1", "most_changed": "0.3"},
        }  # fmt: skip
        self.write("season.yaml", yaml.safe_dump(season, sort_keys=False))

    def evaluation(self, phase: str, at: int) -> None:
        """A phase's evaluation file and its canaries."""
        systems: dict[str, Any] = {"ledger": {"store": "store", "season": NAME, "phase": phase}}
        canaries = {"perfect": output(at, "canary", 99.0, noise=0), "silent": output(at, "silent", -99.0, noise=0)}
        for name, text in {**canaries, "baseline": output(at, "baseline", 1.0)}.items():
            self.write(f"{phase}/canary-{name}.xml", text)
            outputs = {f"words/{phase}": f"{phase}/canary-{name}.xml"}
            systems[f"canary-{name}"] = {"outputs": outputs, "canary": True, "team": "the organiser", "primary": False}
        document = {
            "name": f"{NAME}-{phase}", "protocol": "sws2013", "query_sets": {"words": {"kwlist": "queries.xml"}},
            "datasets": {phase: {"ecf": f"{phase}/ecf.xml", "rttm": f"{phase}/key.rttm"}}, "systems": systems,
        }  # fmt: skip
        self.write(f"{phase}.yaml", yaml.safe_dump(document))

    def collect(self, phase: str) -> None:
        """Every team hands in what it has: one late, one broken and mended, one replaced, one withdrawn."""
        at, month = list(PHASES).index(phase), {"dry-run": "02", "dev": "04", "eval": "05"}[phase]
        for rank, team in enumerate(TEAMS):
            text = output(at, team, 3.2 - 0.2 * rank)
            received = f"2026-{month}-{10 + rank % 3:02d}T{8 + rank:02d}:15+02:00"
            if phase == "dev" and team == "dune":
                continue  # it has a night off
            if team == "ember":
                broken = self.upload(team, phase, text.replace('score="', 'score="x', 1))
                self.submit(team, phase, broken, received, code=1)
            if team == "heron":
                received = "2026-07-01T00:00Z"
            self.submit(team, phase, self.upload(team, phase, text), received)
        if phase == "eval":
            again = self.upload("basalt", phase, output(at, "basalt again", 3.3))
            self.submit("basalt", phase, again, "2026-06-01T23:00-04:00")
            second = self.upload("aurora-2", phase, output(at, "aurora-2", 2.9))
            self.submit("aurora", phase, second, "2026-06-01T12:00-04:00", "--contrastive")

    def submit(self, team: str, phase: str, path: Path, received: str, *more: str, code: int = 0) -> None:
        self.on("submit", path, "--team", team, "--phase", phase, "--received", received, *more, code=code)

    def upload(self, system: str, phase: str, text: str) -> Path:
        return self.write(f"uploads/{len(self.said):03d}/{system}.words.{phase}.xml", text)

    def night(self, phase: str) -> str:
        """Score a phase as the nightly run does, in this process; the run's id."""
        from flows.steps import finish, score_here
        from pipeline.config import load_evaluation
        from pipeline.engine.plan import missing, plan
        from pipeline.store.blobs import Store

        store = Store(self.store)
        work = plan(load_evaluation(str(self.folder / f"{phase}.yaml")), store)
        return finish(store, work, score_here(store, work, missing(work.jobs, store))).id

    def decide(self, command: str, run: str, *more: str) -> dict[str, Any]:
        return self.on("season", command, run, "--by", "R. Chair", *more)

    def key(self, reason: str) -> None:
        arguments = ("--role", "rttm", "--dataset", "eval", "--phase", "eval", "--by", "K. Annotator")
        self.on("season", "key", self.folder / "eval" / "key.rttm", *arguments, "--reason", reason)

    def publish_open_phases(self) -> None:
        for phase in ("dry-run", "dev"):
            self.decide("release", f"{NAME}-{phase}", "--reason", "the nightly board")

    def eval_phase(self) -> None:
        """Sealed, preliminary, an appeal, official, a withdrawal, a second correction, corrected."""
        self.key("as transcribed")
        first = self.night("eval")
        self.call("plan", self.folder / "eval.yaml", "--store", self.store)
        self.decide("release", first, "--as", "preliminary", "--reason", "checked against the canaries")
        self.appeal()
        second = self.night("eval")
        self.decide("release", second, "--as", "official", "--reason", "first correction of the key")
        self.on(
            "withdraw", "--team", "kelp", "--phase", "eval", "--reason", "trained on the evaluation data by mistake"
        )
        self.edit_key(drop=9)
        self.key("recording r2 was cut short")
        self.staged = self.night("eval")
        self.decide("release", self.staged, "--as", "corrected", "--reason", "second correction of the key")

    def appeal(self) -> None:
        """A team disputes an occurrence; what it moves is looked at, granted, and the key corrected."""
        [word, file, begin] = next(row for row in spoken(2) if row[0] == QUERIES[0])
        self.on("explain", "words/eval/cobalt", word, file, str(begin))
        row = lexeme(word, file, begin).strip()
        patch = self.write("appeal.patch", f"# cobalt: the word is not said there\n-{row}\n")
        self.on("whatif", self.folder / "eval.yaml", "--key", patch)
        key = self.folder / "eval" / "key.rttm"
        key.write_text(key.read_text().replace(row + "\n", ""))
        self.key("appeal of cobalt granted")

    def edit_key(self, drop: int) -> None:
        key = self.folder / "eval" / "key.rttm"
        key.write_text("".join(key.read_text().splitlines(keepends=True)[:-drop]))

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def spoken(at: int) -> Occurrences:
    """Where the queries of a phase's recordings are said."""
    random = np.random.default_rng([2026, at])
    begins = iter(np.sort(random.choice(np.arange(5, 595, 4), 60, replace=False)).tolist())
    rows = [
        (QUERIES[int(random.integers(len(QUERIES)))], f"r{1 + number % 2}", float(next(begins))) for number in range(60)
    ]
    return sorted(rows, key=lambda row: (row[1], row[2]))


def output(at: int, system: str, strength: float, noise: int = 25) -> str:
    """What a system of some strength finds: log-likelihood ratios, YES above the threshold."""
    random = np.random.default_rng([at, *system.encode()])
    rows: dict[str, list[str]] = {query: [] for query in QUERIES}
    for query, file, begin in spoken(at) if strength > -50 else ():
        found = 99.0 if strength > 50 else random.normal(2.0 + strength, 1.5)
        if found > 0.5:
            rows[query].append(term(file, begin + float(random.uniform(-0.1, 0.1)), found))
    for number in range(noise):
        query = QUERIES[int(random.integers(len(QUERIES)))]
        rows[query].append(term(f"r{1 + number % 2}", float(random.uniform(1, 590)), random.normal(1.5, 1.5)))
    begin = '<detected_termlist termid="{}" term_search_time="1" oov_term_count="0">'
    blocks = "".join(f"{begin.format(query)}\n{''.join(own)}</detected_termlist>\n" for query, own in rows.items())
    head = '<stdlist termlist_filename="q" indexing_time="1" language="x" index_size="1" system_id="s">'
    return f"{head}\n{blocks}</stdlist>\n"


def term(file: str, begin: float, score: float) -> str:
    place = f'file="{file}" channel="1" tbeg="{begin:.2f}" dur="0.8"'
    return f'<term {place} score="{score:.4f}" decision="{"YES" if score > 4.2 else "NO"}"/>\n'


def ecf() -> str:
    rows = "".join(
        f'<excerpt audio_filename="{file}.wav" channel="1" tbeg="0" dur="600" language="x" source_type="bnews"/>\n'
        for file in ("r1", "r2")
    )
    return f'<ecf source_signal_duration="1200" version="1">\n{rows}</ecf>\n'


def lexeme(query: str, file: str, begin: float) -> str:
    return f"LEXEME {file} 1 {begin:.2f} 0.8 {query} lex speaker <NA>\n"


def rttm(rows: Occurrences) -> str:
    return "".join(lexeme(*row) for row in rows)


def kwlist() -> str:
    terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>\n' for query in QUERIES)
    return f'<termlist ecf_filename="e" language="x" version="1">\n{terms}</termlist>\n'


def pages(folder: Path) -> Iterator[Path]:
    """Every page that somebody is shown."""
    for top in ("public", "packets"):
        yield from sorted((folder / "store" / top).rglob("*.html"))


if __name__ == "__main__":
    prepare_environment()
    played = Script(Path(sys.argv[1])).play()
    print("\n".join(map(str, pages(played.folder))))  # noqa: T201 - a script
