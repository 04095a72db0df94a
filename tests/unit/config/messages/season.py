"""What is told of season files and of rosters."""

from __future__ import annotations

from pipeline.protocols import names
from tests.unit.config.messages.rows import row

SEASON = (
    "name: s\n"
    "protocol: sws2013\n"
    "pattern: '{query_set}_{dataset}.xml'\n"
    "phases:\n"
    "  eval:\n"
    "    kind: eval\n"
    "    evaluation: x\n"
    "    deadline: 2026-06-01\n"
    "    query_sets: [q]\n"
    "    datasets: [d]\n"
)
DATED = (
    "name: s\n"
    "protocol: sws2013\n"
    "pattern: '{query_set}_{dataset}.xml'\n"
    "phases:\n"
    "  eval:\n"
    "    kind: eval\n"
    "    evaluation: x\n"
    "    deadline: 2026-06-01T24:00 Europe/Madrid\n"
    "    query_sets: [q]\n"
    "    datasets: [d]\n"
)
PROTOCOLS = ", ".join(names())

ROWS = (
    row(
        "season",
        "- x\n",
        "f.yaml:1: `the file` must be a mapping (got a list).",
    ),
    row(
        "season",
        "name: s s\n"
        "protocol: sws2103\n"
        "phases:\n"
        "  eval: {kind: test, deadline: soon, most_runs: 0, query_sets: [], inputs: [x], colour: red}\n"
        "gate: {tolerance: wide, most_shrunk: 2, canaries: {a: inf}}\n",
        "f.yaml:1: `name` must be a short plain name (got 's s', allowed: 1 to 100 letters, "
        "digits, '.', '_' and '-' without '..', the first a letter or digit).",
        "f.yaml:4: `phases.eval.kind` must be dry_run, dev or eval (got the text 'test').",
        "f.yaml:4: `phases.eval.evaluation` is missing.",
        "f.yaml:4: `phases.eval.deadline` 'soon' is no time (allowed: 2012-09-24T24:00+01:00, or "
        "2012-09-24T23:59 Europe/Madrid).",
        "f.yaml:4: `phases.eval.query_sets` is empty. Give at least one.",
        "f.yaml:4: `phases.eval.datasets` is missing.",
        "f.yaml:4: `phases.eval.inputs` must be a mapping (got a list).",
        "f.yaml:4: `phases.eval.most_runs` must be a count of at least 1 (got the text '0').",
        "f.yaml:4: `phases.eval.colour` is unknown.",
        "f.yaml:5: `gate.canaries.a` must be a finite number (got the text 'inf').",
        "f.yaml:5: `gate.tolerance` must be a finite number (got the text 'wide').",
        "f.yaml:5: `gate.most_shrunk` must be a share, 0 to 1 (got 2).",
    ),
    row(
        "season",
        DATED.replace("sws2013", "sws2103").replace("pattern: '{query_set}_{dataset}.xml'\n", ""),
        f"f.yaml:2: `protocol` is refused: unknown protocol 'sws2103' (allowed: {PROTOCOLS}).",
        "f.yaml:1: `pattern` is missing: the names of files must say what they are of.",
    ),
    row(
        "season",
        DATED.replace("sws2013", "sws2103"),
        f"f.yaml:2: `protocol` is refused: unknown protocol 'sws2103' (allowed: {PROTOCOLS}).",
    ),
    row(
        "season",
        DATED.replace("{dataset}", "{query_set}"),
        "f.yaml:3: `pattern` names a placeholder twice.",
    ),
    row(
        "season",
        DATED.replace("{dataset}", "{lang}"),
        "f.yaml:3: `pattern` unknown placeholder (got {lang}, allowed: {team}, {system}, {query_set}, {dataset}).",
    ),
    row(
        "season",
        SEASON.replace("2026-06-01", "2026-06-01T24:00 Europe/Madrid")
        + (
            "    inputs: {rttm: r.rttm, colour: x, ecf: '{system}'}\n"
            "    pairs: [[q, z]]\n"
            "  late:\n"
            "    kind: eval\n"
            "    evaluation: x\n"
            "    deadline: 2026-06-01T12:00Z\n"
            "    query_sets: [q]\n"
            "    datasets: [d]\n"
            "    pairs: []\n"
        ),
        "f.yaml:11: `phases.eval.inputs.rttm` is a key: participants see what stands here. Leave it out.",
        "f.yaml:11: `phases.eval.inputs.colour` is unknown (allowed: ecf, kwlist, output, queries, "
        "resources, scoring_ecf, segments).",
        "f.yaml:11: `phases.eval.inputs.ecf` unknown placeholder (got {system}, allowed: {query_set}, {dataset}).",
        "f.yaml:12: `phases.eval.pairs.0` names no dataset (got 'z', allowed: d).",
        "f.yaml:9: `phases.eval.query_sets.q` has no dataset left: no pair names it. Give it a pair, or remove it.",
        "f.yaml:10: `phases.eval.datasets.d` has no query set left: no pair names it. Give it a pair, or remove it.",
        "f.yaml:19: `phases.late.pairs` must be a list of pairs [query set, dataset]. Leave the "
        "field out where every query set is asked for on every dataset.",
        "f.yaml:17: `phases.late.query_sets.q` has no dataset left: no pair names it. Give it a pair, or remove it.",
        "f.yaml:18: `phases.late.datasets.d` has no query set left: no pair names it. Give it a pair, or remove it.",
        "f.yaml:15: `phases.late.evaluation` is the evaluation of phase eval too. Give each phase its own.",
    ),
    row(
        "roster",
        "teams: {}\n",
        "f.yaml:1: `teams` is empty. Give at least one.",
    ),
    row(
        "roster",
        "teams:\n  'a b': {name: [x], performer: maybe, contact: x}\n  c: 5\n",
        "f.yaml:2: `teams.a b` must be a short plain name (got 'a b', allowed: 1 to 100 letters, "
        "digits, '.', '_' and '-' without '..', the first a letter or digit).",
        "f.yaml:2: `teams.a b.name` must be text (got a list).",
        "f.yaml:2: `teams.a b.performer` must be true or false (got the text 'maybe').",
        "f.yaml:2: `teams.a b.contact` must be a mapping (got the text 'x').",
        "f.yaml:3: `teams.c` must be a mapping (got the text '5').",
    ),
    row(
        "roster",
        "team: {}\n",
        "f.yaml:1: `teams` is missing.",
        "f.yaml:1: `team` is unknown.",
    ),
    row(
        "season",
        DATED.replace("Europe/Madrid", "Mars/Olympus"),
        "f.yaml:8: `phases.eval.deadline` no time zone is called 'Mars/Olympus' (allowed: "
        "2012-09-24T24:00+01:00, or 2012-09-24T23:59 Europe/Madrid).",
    ),
    row(
        "season",
        DATED.replace("24:00 Europe/Madrid", "12:00"),
        "f.yaml:8: `phases.eval.deadline` '2026-06-01T12:00' has no time zone (allowed: "
        "2012-09-24T24:00+01:00, or 2012-09-24T23:59 Europe/Madrid).",
    ),
    row(
        "season",
        DATED + ("    inputs: {ecf: ../e.xml}\nroster: ../r.yaml\n"),
        "memory://b/f.yaml:11: `phases.eval.inputs.ecf` leaves memory://b (got '../e.xml').",
        "memory://b/f.yaml:12: `roster` leaves memory://b (got '../r.yaml').",
        name="memory://b/f.yaml",
    ),
    row(
        "season",
        DATED + "name: t\n",
        "f.yaml:11: `name` is given twice (first in line 1).",
    ),
    row(
        "season",
        DATED + "    inputs: {ecf: 's3://u:p@h/e.xml'}\n",
        "f.yaml:11: `phases.eval.inputs.ecf` carries credentials, a query or a fragment "
        "(s3://***@h/e.xml). Name the place alone; keep what opens it in the environment or in the "
        "fsspec configuration.",
    ),
    row(
        "season",
        DATED + "    counts: best\n",
        "f.yaml:11: `phases.eval.counts` is best, and its boards are not public: who may try again "
        "must see what came of it. Give last or chosen.",
    ),
)
