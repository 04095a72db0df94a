"""A tiny season on disk: three queries, two recordings, teams that hand in what a test says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

from pipeline.config.season import load_roster, load_season
from pipeline.season import opening
from pipeline.season.standing import Standing, Submission, standing
from pipeline.season.submit import Sender, submit
from pipeline.store.blobs import Store

NAME = "tiny-2026"
EVALUATION = "tiny-eval"
DEADLINE = "2026-06-01T24:00+02:00"
ENDS = datetime(2026, 6, 1, 22, tzinfo=UTC)
TEAMS = ("north", "south", "east")
QUERIES = ("alpha", "beta", "gamma")
ECF = """<ecf source_signal_duration="100" version="1">
<excerpt audio_filename="a.wav" channel="1" tbeg="0" dur="60" language="x" source_type="bnews"/>
<excerpt audio_filename="b.wav" channel="1" tbeg="0" dur="40" language="x" source_type="bnews"/>
</ecf>
"""
KEY = """LEXEME a 1 10 1 alpha lex SELF <NA>
LEXEME a 1 30 1 beta lex SELF <NA>
LEXEME b 1 5 1 alpha lex SELF <NA>
LEXEME b 1 20 1 gamma lex SELF <NA>
"""
PERFECT = {"alpha": [("a", 10, 2.0), ("b", 5, 2.0)], "beta": [("a", 30, 2.0)], "gamma": [("b", 20, 2.0)]}
GOOD = {"alpha": [("a", 10, 2.0), ("b", 5, 1.5)], "beta": [("a", 30, 1.5), ("b", 9, 1.0)], "gamma": []}
POOR = {"alpha": [("a", 50, 1.0)], "beta": [], "gamma": [("b", 20, 1.0)]}
SILENT: dict[str, list[tuple[str, float, float]]] = {query: [] for query in QUERIES}
Detections = dict[str, list[tuple[str, float, float]]]


def kwlist(queries: tuple[str, ...] = QUERIES) -> str:
    terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>' for query in queries)
    return f'<termlist ecf_filename="e" language="x" version="1">{terms}</termlist>'


def stdlist(detections: Detections, decision: str = "YES") -> str:
    blocks = ""
    for query, rows in detections.items():
        terms = "".join(
            f'<term file="{file}" channel="1" tbeg="{begin}" dur="1" score="{score}" decision="{decision}"/>\n'
            for file, begin, score in rows
        )
        blocks += f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">\n{terms}'
        blocks += "</detected_termlist>\n"
    head = '<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">\n'
    return f"{head}{blocks}</stdlist>\n"


def season(folder: Path, **changed: object) -> Path:
    """The season file in ``folder``, with the organiser's files and a roster beside it; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"ecf.xml": ECF, "key.rttm": KEY, "terms.xml": kwlist()}.items():
        (folder / name).write_text(text)
    names = dict(zip(TEAMS, changed.pop("team_names", [f"Team {team}" for team in TEAMS]), strict=True))  # type: ignore[call-overload]
    teams = {
        team: {"name": names[team], "institution": "U", "contact": {"email": f"{team}@x.example"}} for team in TEAMS
    }
    teams["north"]["performer"] = True
    (folder / "roster.yaml").write_text(yaml.safe_dump({"teams": teams}))
    phase = {
        "kind": "eval",
        "evaluation": EVALUATION,
        "deadline": DEADLINE,
        "query_sets": ["q"],
        "datasets": ["d"],
        "inputs": {"ecf": "ecf.xml", "kwlist": "terms.xml"},
    }
    document = {
        "name": NAME,
        "protocol": "sws2013",
        "pattern": "{query_set}_{dataset}.stdlist.xml",
        "roster": "roster.yaml",
        "phases": {"eval": {**phase, **changed.pop("phase", {})}},  # type: ignore[dict-item]
        **changed,
    }
    path = folder / "season.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


def opened(folder: Path, **changed: object) -> Store:
    """A store with the season begun."""
    path = season(folder, **changed)
    store = Store(str(folder / "store"))
    rules, roster_url = load_season(str(path))
    roster = load_roster(roster_url)
    opening.enter(store, rules, roster.teams, roster.contacts, at=ENDS - timedelta(days=30))
    return store


def hand_in(
    store: Store,
    folder: Path,
    team: str,
    text: str,
    hours: float = -1.0,
    name: str = "q_d.stdlist.xml",
    **sender: object,
) -> Submission:
    """Submit one file, ``hours`` after the deadline."""
    place = folder / "uploads" / f"{team}-{abs(hash((team, text, hours, name)))}"
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(text)
    arrival = ENDS + timedelta(hours=hours)
    return submit(store, NAME, Sender(team, **sender), [place / name], arrival=arrival)  # type: ignore[arg-type]


def now(store: Store) -> Standing:
    return standing(store, NAME)


def evaluation(folder: Path, store: Store, **changed: object) -> Path:
    """The evaluation file whose systems are those of the ledger."""
    document = {
        "name": EVALUATION,
        "protocol": "sws2013",
        "datasets": {"d": {"ecf": "ecf.xml", "rttm": "key.rttm"}},
        "query_sets": {"q": {"kwlist": "terms.xml"}},
        "systems": {"ledger": {"store": store.root, "season": NAME, "phase": "eval"}},
        **changed,
    }
    path = folder / "evaluation.yaml"
    path.write_text(yaml.safe_dump(document))
    return path
