"""What participants can read of a season, byte by byte: nothing of an evaluation before its release, and afterwards
nothing that the disclosure of its dataset hides, in any family of protocols.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator

import pytest
import season_families as families
import season_files as files

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result
from pipeline.engine.plan import missing, plan
from pipeline.engine.result import document
from pipeline.protocols import find
from pipeline.report.seasons.packets import write_packets
from pipeline.report.seasons.public import publish_season
from pipeline.season import opening, releases
from pipeline.season.roster import RosterTeam
from pipeline.season.rules import SeasonPhase, SeasonRules
from pipeline.store.blobs import Store

PARTICIPANTS = ("public", "packets")
LEVELS = ("no_key", "[PRIMARY]", "held")


@pytest.fixture(scope="module", params=families.FAMILIES)
def family(request, tmp_path_factory):
    """A family's folder: what is scored there is scored once, for all levels."""
    folder = tmp_path_factory.mktemp(request.param)
    families.write(folder, request.param)
    return folder


def scored(folder, level):
    """Store, work and run of a sealed evaluation of a season of its own, whose systems are of two of three teams."""
    name = f"tiny-{level.strip('[]').lower().replace('_', '-')}"
    text = (folder / "evaluation.yaml").read_text().replace(files.EVALUATION, name)
    protocol = find(re.search(r"protocol: (\S+)", text)[1])
    path = folder / f"{name}.yaml"
    path.write_text(text.replace("everything", level.replace("PRIMARY", protocol.primary)))
    store = Store(str(folder / "store"))
    phase = SeasonPhase("eval", "eval", name, files.DEADLINE, query_sets=("q",), datasets=("d",))
    rules = SeasonRules(name, protocol.name, "official", "pattern", (phase,), "{system}")
    opening.enter(store, rules, [RosterTeam(team, f"Team {team}") for team in files.TEAMS], {}, at=files.ENDS)
    work = plan(load_evaluation(str(path)), store)
    return store, work, finish(store, work, score_here(store, work, missing(work.jobs, store)))


_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?!\w)")


def numbers(value) -> Iterator[float]:
    """Every number with many digits in a document: no two of them are the same by chance."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from numbers(one)
    elif isinstance(value, float) and len(repr(value).strip("-0.")) > 6:
        yield value


def texts(store, season):
    """Every object that a participant can read of a season, but for the style of pages."""
    places = [f"{top}/{season}" for top in PARTICIPANTS]
    found = {path: store.get(path).decode() for place in places for path in store.listing(place)}
    return {path: re.sub(r"(?s)<style>.*?</style>", "", text) for path, text in found.items()}


def hits(store, season, values):
    """Which of some figures stand anywhere, by path: with all digits, or rounded as pages and tables have them."""
    forms = {form for value in values for form in (repr(value), f"{value:.6f}", f"{value:.6g}") if len(form) > 6}
    return {path: found for path, text in texts(store, season).items() if (found := forms & set(_NUMBER.findall(text)))}


def publish(store, season):
    publish_season(store, season)
    write_packets(store, season)


def results(store, work):
    return [document(load_result(store, job.address), curve=True) for job in work.jobs]


def hidden(told, level, primary):
    """The numbers of a result that a level hides, those left out that it shows as well."""
    figures, facts = told["measures"], set(numbers(told["facts"]))
    if level == "no_key":
        shown = {name: figure["value"] for name, figure in figures.items() if not name.endswith("threshold")}
        shown = set(numbers(shown)) | facts
        for part in told.get("conditions", {}).values():
            shown |= set(numbers([one["value"] for one in part["measures"].values()])) | set(numbers(part["facts"]))
    elif level == "held":
        shown = set()
    else:
        shown = set(numbers(figures[primary]["value"]))
        for part in told.get("conditions", {}).values():
            shown |= set(numbers(part["measures"][primary]["value"]))
    rounded = {f"{value:.6g}" for value in shown}
    return {value for value in numbers(told) if f"{value:.6g}" not in rounded}


@pytest.mark.parametrize("level", LEVELS)
def test_no_participant_reads_what_is_not_released_or_not_disclosed(family, level):
    store, work, run = scored(family, level)
    season, primary = work.evaluation, work.protocol.primary
    told = results(store, work)
    everything = set(numbers(told))
    assert len(everything) > 10
    publish(store, season)
    assert {path.split("/")[0] for path in texts(store, season)} == set(PARTICIPANTS)
    assert hits(store, season, everything) == {}

    releases.release(store, season, "eval", run, "preliminary", by="A. Judge", reason="looked at")
    publish(store, season)
    secret = {value for one in told for value in hidden(one, level, primary)}
    assert len(secret) > 5
    assert hits(store, season, secret) == {}
    known = {one["measures"][primary]["value"] for one in told}
    board = store.get(f"public/{season}/eval/01-preliminary/board.csv").decode()
    rows = {float(row[primary] or "nan") for row in csv.DictReader(io.StringIO(board)) if row["condition"] == "all"}
    assert (rows == known) == (level != "held"), "what may be seen is seen"
    long_ones = set(numbers(list(known)))
    assert bool(hits(store, season, long_ones)) == (level != "held" and bool(long_ones)), "what is there is found"


def test_a_packet_holds_its_own_drill_down_and_nobody_elses(tmp_path):
    families.write(tmp_path, "detections")
    store, work, run = scored(tmp_path, "everything")
    season = work.evaluation
    releases.release(store, season, "eval", run, "preliminary", by="A. Judge", reason="looked at")
    publish(store, season)
    paths = {path.removeprefix(f"packets/{season}/") for path in store.listing(f"packets/{season}")}
    assert {path for path in paths if path.endswith("alignment.csv")} == {
        "north/eval/q/d/one/alignment.csv", "south/eval/q/d/two/alignment.csv",
    }  # fmt: skip
    [own] = json.loads(store.get(f"packets/{season}/north/eval/results.json"))["results"]
    assert own["cell"]["system"] == "one"
