"""What is told of evaluation files."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

from pipeline.protocols import find, names
from pipeline.season.standing import COUNTS
from tests.unit.config.messages.rows import row

TOP = "name: x\nprotocol: sws2013\n"
SIDES = "datasets:\n  d: {ecf: e.xml, rttm: r.rttm}\nquery_sets:\n  q: {kwlist: k.xml}\n"
FOUND = "systems:\n  pattern: 'out/{system}/{query_set}_{dataset}.xml'\n"
BASE = (
    "name: x\n"
    "protocol: sws2013\n"
    "datasets:\n"
    "  d: {ecf: e.xml, rttm: r.rttm}\n"
    "query_sets:\n"
    "  q: {kwlist: k.xml}\n"
    "systems:\n"
    "  pattern: 'out/{system}/{query_set}_{dataset}.xml'\n"
)
TWO = (
    "name: x\n"
    "protocol: sws2013\n"
    "datasets:\n"
    "  d: {ecf: e.xml, rttm: r.rttm}\n"
    "  e: {ecf: e.xml, rttm: r.rttm}\n"
    "query_sets:\n"
    "  q: {kwlist: k.xml}\n"
    "  p: {kwlist: k.xml}\n"
)
MED = "name: x\nprotocol: med11\ndatasets:\n  d: {ref: r.rttm, index: e.xml}\nquery_sets:\n  q: {}\n"
STANDING = "pipeline.config.ledger.standing"


def ledger(*runs: tuple[str, str]) -> Any:
    """A ledger in which these systems count, each with an output of one cell."""
    fates = [
        SimpleNamespace(
            state=COUNTS,
            submission=SimpleNamespace(team="t", number=number),
            run=SimpleNamespace(
                slot=system,
                system=system,
                version="1",
                primary=True,
                outputs=[_output(*cell.split("/"))],
            ),
        )
        for number, (system, cell) in enumerate(runs)
    ]
    phase = SimpleNamespace(name="eval", counts="last")
    rules = SimpleNamespace(phase=lambda _: phase, protocol="sws2013")
    return lambda *_: SimpleNamespace(rules=rules, competing=lambda _: fates, beside=lambda *_: {})


def _output(query_set: str, dataset: str) -> Any:
    name = f"{query_set}_{dataset}.xml"
    return SimpleNamespace(query_set=query_set, dataset=dataset, role="output", path=name, name=name)


PROTOCOLS = ", ".join(names())
SETTINGS = ", ".join(sorted(field.name for field in fields(find("sws2013").settings)))
MEASURES = ", ".join(sorted(measure.name for measure in find("sws2013").measures))

ROWS = (
    # evaluation: form
    row(
        "evaluation",
        "- name\n",
        "f.yaml:1: `the file` must be a mapping (got a list).",
    ),
    row(
        "evaluation",
        "",
        "f.yaml:1: `the file` must be a mapping (got nothing).",
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems: {}\n? [a]\n: 1\nname: y\n"),
        "f.yaml:8: `the file`: a field name must be text.",
        "f.yaml:10: `name` is given twice (first in line 1).",
    ),
    row(
        "evaluation",
        "name: ../out\n"
        "protocol: [x]\n"
        "mode: draft\n"
        "publication: closed\n"
        "max_targets_lost: 2\n"
        "settings: {tolerance_s: [], ecf_filter: {a: 1}}\n"
        "datasets: {}\n"
        "query_sets: [q]\n"
        "systems: a\n"
        "sytems: {}\n"
        "key: x\n",
        "f.yaml:1: `name` must be a short plain name (got '../out', allowed: 1 to 100 letters, "
        "digits, '.', '_' and '-' without '..', the first a letter or digit).",
        "f.yaml:2: `protocol` must be text (got a list).",
        "f.yaml:3: `mode` must be official or plan (got the text 'draft').",
        "f.yaml:4: `publication` must be open, staged or sealed (got the text 'closed').",
        "f.yaml:6: `settings.tolerance_s` must be a number, text, true or false (got a list).",
        "f.yaml:6: `settings.ecf_filter` must be a number, text, true or false (got a mapping).",
        "f.yaml:5: `max_targets_lost` must be a share, 0 to 1 (got the text '2').",
        "f.yaml:7: `datasets` is empty. Give at least one.",
        "f.yaml:8: `query_sets` must be a mapping (got a list).",
        "f.yaml:9: `systems` must be a mapping (got the text 'a').",
        "f.yaml:10: `sytems` is unknown (allowed: name, protocol, mode, publication, settings, "
        "max_targets_lost, rank_by, overlays, pairs, datasets, query_sets, systems).",
        "f.yaml:11: `key` is refused: credentials, endpoints and storage options belong to the "
        "environment or to fsspec.",
    ),
    row(
        "evaluation",
        "protocol: sws2013\n"
        "name: x\n"
        "datasets:\n"
        "  'a/b': {ecf: e.xml, rttm: '{sytem}.rttm', disclose: all, colour: red, query_sets: 3}\n"
        "  d: {ecf: ' e.xml', rttm: 'r{.rttm', secret: x}\n"
        "query_sets:\n"
        "  q: {kwlist: [k.xml], colour: red}\n"
        "  p: 5\n"
        "systems:\n"
        "  alpha: {outputs: [a.xml], primary: yes, team: [x], colour: red}\n"
        "  pattern: 'http://u:p@h/{system}/x?token=1'\n"
        "  resources: '{query_set}'\n",
        "f.yaml:4: `datasets.a/b` is not usable as a name (got 'a/b', allowed: 1 to 128 printable "
        "characters, not starting with '.' or '-', no blanks around and none of \" * / : ? \\ { }).",
        "f.yaml:4: `datasets.a/b.rttm` unknown placeholder (got {sytem}, allowed: {dataset}, {query_set}).",
        "f.yaml:4: `datasets.a/b.disclose` must be everything, no_key, held, or a list of measures "
        "(got the text 'all').",
        "f.yaml:4: `datasets.a/b.colour` is unknown (allowed: ecf, rttm, scoring_ecf, settings, disclose, query_sets).",
        "f.yaml:5: `datasets.d.ecf` must be a path or URL of 1 to 4096 printable characters "
        "without blanks around it (got ' e.xml').",
        "f.yaml:5: `datasets.d.rttm` unknown placeholder (got a brace that is not part of one, "
        "allowed: {dataset}, {query_set}).",
        "f.yaml:5: `datasets.d.secret` is refused: credentials, endpoints and storage options "
        "belong to the environment or to fsspec.",
        "f.yaml:7: `query_sets.q.kwlist` must be text (got a list).",
        "f.yaml:7: `query_sets.q.colour` is unknown (allowed: kwlist, queries).",
        "f.yaml:8: `query_sets.p` must be a mapping (got the text '5').",
        "f.yaml:11: `systems.pattern` carries credentials, a query or a fragment "
        "(http://***@h/{system}/x?***). Name the place alone; keep what opens it in the "
        "environment or in the fsspec configuration.",
        "f.yaml:12: `systems.resources` unknown placeholder (got {query_set}, allowed: {system}).",
        "f.yaml:10: `systems.alpha.outputs` must be text (got a list).",
        "f.yaml:10: `systems.alpha.team` must be text (got a list).",
        "f.yaml:10: `systems.alpha.primary` must be true or false (got the text 'yes').",
        "f.yaml:10: `systems.alpha.colour` is unknown (allowed: outputs, team, primary, resources, "
        "disclosure, canary).",
        "f.yaml:4: `datasets.a/b.query_sets` must be a list of query sets. Leave the field out "
        "where every query set is asked for on every dataset.",
    ),
    row(
        "evaluation",
        TOP + ("datasets:\n  d: {}\nquery_sets:\n  q:\nsystems:\n  a: {outputs: {out: a.xml}}\n"),
        "f.yaml:4: `datasets.d.ecf` is missing.",
        "f.yaml:4: `datasets.d.rttm` is missing.",
        "f.yaml:6: `query_sets.q.kwlist` is missing.",
        "f.yaml:8: `systems.a.outputs.out` is unknown (allowed: output).",
        "f.yaml:8: `systems.a.outputs` lacks output. Give a mapping {output: …}.",
    ),
    row(
        "evaluation",
        MED + ("systems:\n  pattern: 'out/{system}/{query_set}_{dataset}.xml'\n"),
        "f.yaml:8: `systems.pattern` lacks threshold. Give a mapping {detection: …, threshold: …}.",
    ),
    row(
        "evaluation",
        MED
        + (
            "systems:\n"
            "  a: {outputs: {detection: a.xml, thresholds: b.xml}}\n"
            "  pattern: {detection: 'out/{system}/{query_set}_{dataset}.xml', threshold: 'out/{system}/*.csv'}\n"
        ),
        "f.yaml:8: `systems.a.outputs.thresholds` is unknown (allowed: detection, threshold).",
        "f.yaml:8: `systems.a.outputs` lacks threshold. Give a mapping {detection: …, threshold: …}.",
    ),
    row(
        "evaluation",
        MED
        + (
            "systems:\n"
            "  pattern: {detection: 'out/{system}/{query_set}_{dataset}.xml', threshold: 'out/{system}/*.csv'}\n"
        ),
        "f.yaml:8: `systems.pattern.threshold` may hold no wildcard: it takes the names that the main output has.",
    ),
    row(
        "evaluation",
        MED
        + (
            "systems:\n"
            "  pattern: {detection: 'out/{system}/{query_set}_{dataset}.xml', threshold: 'thr/{system}.csv'}\n"
        ),
        files={"@thr/a.csv": "../q.csv"},
    ),
    row(
        "evaluation",
        BASE.replace("sws2013", "sws2103"),
        f"f.yaml:2: `protocol` is refused: unknown protocol 'sws2103' (allowed: {PROTOCOLS}).",
    ),
    row(
        "evaluation",
        BASE + "settings: {tolerence_s: 1, p_target: 2}\n",
        f"f.yaml:9: `settings.tolerence_s` is refused: sws2013 has no setting 'tolerence_s' (allowed: {SETTINGS}).",
        "f.yaml:9: `settings.p_target` is refused: setting p_target: the value is '2', allowed: a "
        "number in [1e-12, 1) | empirical.",
    ),
    row(
        "evaluation",
        BASE + "settings: {trials_rule: kwseval, tolerance_s: x}\n",
        "f.yaml:9: `settings.tolerance_s` is refused: setting tolerance_s: the value is 'x', "
        "allowed: a number in [0, inf).",
    ),
    row(
        "evaluation",
        TOP
        + (
            "datasets:\n"
            "  d: {ecf: e.xml, rttm: r.rttm, settings: {tolerance: 1, p_target: {q: 7, z: 1}}}\n"
            "query_sets:\n"
            "  q: {kwlist: k.xml}\n"
        )
        + FOUND,
        "f.yaml:4: `datasets.d.settings.tolerance` is refused: sws2013 has no setting 'tolerance' "
        f"(allowed: {SETTINGS}).",
        "f.yaml:4: `datasets.d.settings.p_target.q` is refused: setting p_target: the value is "
        "'7', allowed: a number in [1e-12, 1) | empirical.",
        "f.yaml:4: `datasets.d.settings.p_target.z` names no query set (allowed: q).",
    ),
    row(
        "evaluation",
        TWO.replace(
            "  e: {ecf: e.xml, rttm: r.rttm}",
            "  e: {ecf: e.xml, rttm: r.rttm, settings: {tolerance_s: {p: 1}}, disclose: [atwv, mtvw]}",
        )
        + FOUND
        + "pairs: [[q, d], [p, d], [q, e]]\n",
        "f.yaml:5: `datasets.e.settings.tolerance_s.p` is set for 'p', which is not asked for on "
        "'e' (allowed: q). Remove it.",
        f"f.yaml:5: `datasets.e.disclose` names 'mtvw', which is no measure of sws2013 (allowed: {MEASURES}).",
        files={"out/a/q_e.xml": ""},
    ),
    row(
        "evaluation",
        BASE.replace("e.xml", "x.xml").replace("k.xml", "y.xml"),
        "f.yaml:4: `datasets.d.ecf` names no file (/x.xml). Check the path.",
        "f.yaml:6: `query_sets.q.kwlist` names no file (/y.xml). Check the path.",
    ),
    row(
        "evaluation",
        BASE.replace("  q: {", "  Q: {kwlist: k.xml}\n  q: {"),
        "f.yaml:5: `query_sets` 'q' differs from 'Q' by case or Unicode form alone. Rename one of them.",
    ),
    row(
        "evaluation",
        BASE,
        "f*/f.yaml:1: `name` stands in the folder '/f*', whose name holds * ? { or }.",
        "f*/f.yaml:4: `datasets.d.ecf` names no file (/f*/e.xml). Check the path.",
        "f*/f.yaml:4: `datasets.d.rttm` names no file (/f*/r.rttm). Check the path.",
        "f*/f.yaml:6: `query_sets.q.kwlist` names no file (/f*/k.xml). Check the path.",
        "f*/f.yaml:8: `systems.pattern` fits no file (/f*/out/{system}/{query_set}_{dataset}.xml). "
        "Check the path and the placeholders.",
        name="f*/f.yaml",
    ),
    row(
        "evaluation",
        TWO + FOUND + "pairs: 3\n",
        "f.yaml:11: `pairs` must be a list of pairs [query set, dataset]. Leave the field out "
        "where every query set is asked for on every dataset.",
        "f.yaml:7: `query_sets.q` has no dataset left: no pair names it. Give it a pair, or remove it.",
        "f.yaml:8: `query_sets.p` has no dataset left: no pair names it. Give it a pair, or remove it.",
        "f.yaml:4: `datasets.d` has no query set left: no pair names it. Give it a pair, or remove it.",
        "f.yaml:5: `datasets.e` has no query set left: no pair names it. Give it a pair, or remove it.",
    ),
    row(
        "evaluation",
        TWO + FOUND + "pairs: [[q, d], [q], [z, d], [q, w], [q, d]]\n",
        "f.yaml:11: `pairs.1` must be a pair [query set, dataset] (got \"['q']\").",
        "f.yaml:11: `pairs.2` names no query set (got 'z', allowed: q, p).",
        "f.yaml:11: `pairs.3` names no dataset (got 'w', allowed: d, e).",
        "f.yaml:11: `pairs.4` is given twice: [q, d] (first in line 11). Remove one.",
        "f.yaml:8: `query_sets.p` has no dataset left: no pair names it. Give it a pair, or remove it.",
        "f.yaml:5: `datasets.e` has no query set left: no pair names it. Give it a pair, or remove it.",
    ),
    row(
        "evaluation",
        TWO.replace("r.rttm}\n  e", "r.rttm, query_sets: [q]}\n  e") + FOUND + "pairs: [[p, e]]\n",
        "f.yaml:11: `pairs` and `datasets.d.query_sets` in line 4 both say which cells exist. Keep one of the two.",
    ),
    row(
        "evaluation",
        TWO.replace("r.rttm}\n  e", "r.rttm, query_sets: []}\n  e").replace(
            "r.rttm}\nq", "r.rttm, query_sets: [q, q, [p], z]}\nq"
        )
        + FOUND,
        "f.yaml:4: `datasets.d.query_sets` leaves the dataset no query set. Give at least one, or remove the dataset.",
        "f.yaml:5: `datasets.e.query_sets.1` is given twice: 'q'. Remove one.",
        "f.yaml:5: `datasets.e.query_sets.2` must be the name of a query set (got \"['p']\").",
        "f.yaml:5: `datasets.e.query_sets.3` names no query set (got 'z', allowed: q, p).",
        "f.yaml:8: `query_sets.p` has no dataset left: no pair names it. Give it a pair, or remove it.",
    ),
    row(
        "evaluation",
        TWO.replace("r.rttm}\n  e", "r.rttm, query_sets: q}\n  e") + FOUND,
        "f.yaml:4: `datasets.d.query_sets` must be a list of query sets. Leave the field out where "
        "every query set is asked for on every dataset.",
    ),
    row(
        "evaluation",
        TOP + SIDES + "systems: {}\n",
        "f.yaml:7: `systems` lists no system and has no `pattern` to find them by.",
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  a: {}\n"),
        "f.yaml:8: `systems.a` has no `outputs`, and there is no `pattern`.",
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  pattern: 'out/a/{query_set}_{dataset}.xml'\n"),
        "f.yaml:8: `systems.pattern` needs {system}: it tells the systems apart.",
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  pattern: 'on/{system}/{query_set}_{dataset}.xml'\n"),
        "f.yaml:8: `systems.pattern` fits no file (/on/{system}/{query_set}_{dataset}.xml). Check "
        "the path and the placeholders.",
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  pattern: 'out/**/{system}_{query_set}_{dataset}.xml'\n"),
        "f.yaml:8: `systems.pattern` may not hold **: name every folder, * stands for one.",
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  pattern: 'out/{system}{query_set}_{dataset}.xml'\n"),
        "f.yaml:8: `systems.pattern` needs a character between two placeholders or wildcards.",
    ),
    row(
        "evaluation",
        TWO + ("systems:\n  pattern: 'out/{system}/{query_set}.xml'\n  b: {outputs: 'out/b.xml'}\n"),
        "f.yaml:10: `systems.pattern` needs {dataset}, as there are 2 (d, e). List a file that "
        "serves several cells by `outputs: {Q/D: URL}`.",
        "f.yaml:11: `systems.b.outputs` needs {query_set}, as there are 2 (q, p). List a file that "
        "serves several cells by `outputs: {Q/D: URL}`.",
    ),
    row(
        "evaluation",
        BASE,
        "f.yaml:7: `systems` leads to no output of any system. Mend the names that are told of.",
        "f.yaml:8: `systems.pattern` finds 'out/-b/q_d.xml', which is left out: the system's name "
        "is not usable as a name (got '-b', allowed: 1 to 128 printable characters, not starting "
        "with '.' or '-', no blanks around and none of \" * / : ? \\ { }). Rename or exclude it.",
        "f.yaml:8: `systems.pattern` finds 'out/A/q_d.xml', which is left out: the system's name "
        "differs from 'a' by case or Unicode form alone. Rename or exclude it.",
        "f.yaml:8: `systems.pattern` finds 'out/a/q_d.xml', which is left out: the system's name "
        "differs from 'A' by case or Unicode form alone. Rename or exclude it.",
        "f.yaml:8: `systems.pattern` finds 'out/c/q_z.xml', which is left out: dataset 'z' is "
        "unknown (allowed: d). Rename the file, or exclude its system.",
        files={"out/-b/q_d.xml": "", "out/A/q_d.xml": "", "out/a/z_d.xml": "", "out/c/q_z.xml": ""},
    ),
    row(
        "evaluation",
        BASE,
        "f.yaml:8: `systems.pattern` finds 'out/a/z_d.xml', which is left out: query set 'z' is "
        "unknown (allowed: q). Rename the file, or exclude its system.",
        files={"out/b/q_d.xml": "", "@out/c": "nowhere", "@out/a/z_d.xml": "/dev/null"},
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  pattern: 'out/{system}_{query_set}_{dataset}.xml'\n"),
        "f.yaml:8: `systems.pattern` finds 'out/a_b_c_d.xml', which is left out: the name "
        "'a_b_c_d.xml' can be read in two ways: give each name its own folder. Rename it.",
        files={"out/a_b_c_d.xml": "", "out/a_q_d.xml": ""},
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  pattern: 'out/{system}_{query_set}.xml'\n"),
        "f.yaml:7: `systems` leads to no output of any system. Mend the names that are told of.",
        "f.yaml:8: `systems.pattern` finds 'out/a_b_c.xml', which is left out: the name "
        "'a_b_c.xml' can be read in two ways: give each name its own folder. Rename it.",
        "f.yaml:8: `systems.pattern` finds 'out/a_z.xml', which is left out: query set 'z' is "
        "unknown (allowed: q). Rename the file, or exclude its system.",
        files={"out/a_b_c.xml": "", "out/a_z.xml": ""},
    ),
    row(
        "evaluation",
        TWO + FOUND + "pairs: [[q, d], [p, e]]\n",
        "f.yaml:10: `systems.pattern` finds 'out/a/q_e.xml', which is left out: q/e is no cell of "
        "this evaluation. Remove the file, or add the pair.",
        files={"out/a/q_e.xml": "", "out/a/p_e.xml": ""},
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND + ("  exclude: [w-*, a]\n  primary: [b]\n  resources: res/r.yaml\n"),
        "f.yaml:9: `systems.exclude.0` excludes nothing (got 'w-*', systems: a). Correct or remove it.",
        "f.yaml:10: `systems.primary.0` names no system (got 'b', allowed: ). List a system "
        "without outputs yet as `NAME: {}`.",
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND + ("  a: {primary: false}\n  primary: [a]\n  resources: 'res/{system}.yaml'\n"),
        "f.yaml:11: `systems.resources` fits no file of any system (/res/{system}.yaml). Check the path.",
        "f.yaml:10: `systems.primary.0` lists 'a', which says `primary: false` itself.",
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND + "  resources: 'res/{system}.yaml'\n",
        "f.yaml:9: `systems.resources` finds 'res/a.yaml', which is left out: a link leads out of "
        "the folder of outputs. Supply the file, or set `follow_links: true` in `systems`.",
        files={"@res/a.yaml": "../q.csv"},
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  a: {outputs: {q/d: out/a/q_d.xml, q/z: x.xml}}\n"),
        "f.yaml:8: `systems.a.outputs.q/z` is no query_set/dataset pair (allowed: q/d).",
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  pattern: 'out/{system}/{query_set}_{dataset}.xml'\n"),
        "f.yaml:8: `systems.pattern` finds 'out/a/p_d.xml', which is left out: query set 'p' is "
        "unknown (allowed: q). Rename the file, or exclude its system.",
        files={"out/a/q_d.xml": "", "@out/a/p_d.xml": "../../q.csv"},
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  ledger: {store: store, season: s, phase: eval}\n"),
        "f.yaml:8: `systems.ledger` cannot be read: season s has no rules. Begin it with `rescore season open`.",
    ),
    row(
        "evaluation",
        BASE + "overlays: 3\n",
        "f.yaml:9: `overlays` names no file (/3). Check the path.",
    ),
    row(
        "evaluation",
        BASE + "overlays: 'o{.yaml'\n",
        "f.yaml:9: `overlays` unknown placeholder (got a brace that is not part of one, allowed: none here).",
    ),
    row(
        "evaluation",
        BASE + "overlays: o.yaml\n",
        "f.yaml:9: `overlays` names no file (/o.yaml). Check the path.",
    ),
    row(
        "evaluation",
        BASE + "overlays: o.yaml\n",
        "/o.yaml:1: `the file` must be a list of overlays, or the path of a file with one (got \"{'a': '1'}\").",
        files={"o.yaml": "a: 1\n"},
    ),
    row(
        "evaluation",
        BASE + "overlays: o.yaml\n",
        "/o.yaml:3: anchors (&name) and aliases (*name) are refused. Write values out.",
        files={"o.yaml": "- {withdraw_queries: [q1], author: A, date: 2013-9-1, reason: ''}\n- 5\n- &x {}\n"},
    ),
    row(
        "evaluation",
        BASE + "overlays: o.yaml\n",
        "/o.yaml:1: `0.reason` must be text that is not empty. Say who corrected what, when and why.",
        "/o.yaml:1: `0.date` must be a day as YYYY-MM-DD (got '2013-9-1').",
        "/o.yaml:2: `1` must be a mapping (got '5').",
        files={"o.yaml": "- {withdraw_queries: [q1], author: A, date: 2013-9-1, reason: ''}\n- 5\n"},
    ),
    row(
        "evaluation",
        BASE
        + (
            "overlays:\n"
            "- {author: A}\n"
            "- {withdraw_queries: [], scoring_ecf: e.xml}\n"
            "- {withdraw_queries: [' q'], author: A, date: 2013-09-01, reason: R, colour: red, query_sets: "
            "[z], datasets: d}\n"
            "- {scoring_ecf: [e.xml], author: A, date: 2013-09-01, reason: R}\n"
            "- {scoring_ecf: 's3://u:p@h/e.xml', author: A, date: 2013-09-01, reason: R}\n"
            "- {scoring_ecf: x.xml, author: A, date: 2013-09-01, reason: R}\n"
        ),
        "f.yaml:10: `overlays.0` must have one of withdraw_queries, exclude_files, scoring_ecf "
        "(got none). Write one overlay for each.",
        "f.yaml:11: `overlays.1` must have one of withdraw_queries, exclude_files, scoring_ecf "
        "(got withdraw_queries, scoring_ecf). Write one overlay for each.",
        "f.yaml:12: `overlays.2.colour` is unknown (allowed: withdraw_queries, exclude_files, "
        "scoring_ecf, author, date, reason, query_sets, datasets).",
        "f.yaml:12: `overlays.2.withdraw_queries` must be a list of one or more names, without blanks around them.",
        "f.yaml:12: `overlays.2.query_sets.0` names none of the evaluation (got 'z', allowed: q).",
        "f.yaml:12: `overlays.2.datasets` must be a list of one or more names, without blanks around them.",
        "f.yaml:13: `overlays.3.scoring_ecf` must be a path (got \"['e.xml']\").",
        "f.yaml:14: `overlays.4.scoring_ecf` carries credentials, a query or a fragment "
        "(s3://***@h/e.xml). Name the place alone; keep what opens it in the environment or in the "
        "fsspec configuration.",
        "f.yaml:15: `overlays.5.scoring_ecf` names no file (/x.xml). Check the path.",
    ),
    row(
        "evaluation",
        MED
        + (
            "systems:\n"
            "  pattern: {detection: 'out/{system}/{query_set}_{dataset}.xml', threshold: "
            "'out/{system}/{query_set}.csv'}\n"
            "overlays: [{scoring_ecf: e.xml, author: A, date: 2013-09-01, reason: R}]\n"
        ),
        "f.yaml:9: `overlays.0.scoring_ecf` is nothing that med11 knows. Leave it out.",
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND + "rank_by: 3\n",
        "f.yaml:9: `rank_by` is refused: sws2013 ranks by no measure '3' (allowed: atwv, atwv_all, "
        "c_det, c_norm, calibration_loss, cnxe, cxe, cxe_submitted, isf, map, min_cnxe_affine, "
        "min_cnxe_pav, mtwv, mtwv_all, p_fa, p_miss, pl, pmu_index, pmu_search, ssf, twv_bayes, "
        "twv_optimum, twv_supremum).",
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND + ("rank_by: {q/d: atvw, x: atwv, z/w: atwv}\nsettings: {rank_by: atwv}\n"),
        "f.yaml:10: `settings.rank_by` is no setting. It is a field of the evaluation, beside `settings`.",
        "f.yaml:9: `rank_by.q/d` is refused: sws2013 ranks by no measure 'atvw' (allowed: atwv, "
        "atwv_all, c_det, c_norm, calibration_loss, cnxe, cxe, cxe_submitted, isf, map, "
        "min_cnxe_affine, min_cnxe_pav, mtwv, mtwv_all, p_fa, p_miss, pl, pmu_index, pmu_search, "
        "ssf, twv_bayes, twv_optimum, twv_supremum).",
        "f.yaml:9: `rank_by.x` names no board (got 'x'). Give a measure, or measures by board: "
        "{QUERY_SET/DATASET: MEASURE, QUERY_SET/DATASET/CONDITION: MEASURE}.",
        "f.yaml:9: `rank_by.z/w` fits no query set (got 'z', allowed: q).",
        "f.yaml:9: `rank_by.z/w` fits no dataset (got 'w', allowed: d).",
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND + ("  a: {primary: true}\n  contrastive: [a, b]\n"),
        "f.yaml:10: `systems.contrastive.0` lists 'a', which says `primary: true` itself.",
        "f.yaml:10: `systems.contrastive.1` names no system (got 'b', allowed: a, c). List a "
        "system without outputs yet as `NAME: {}`.",
        files={"out/c/q_d.xml": ""},
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND + ("  primary: [c]\n  contrastive: [c*]\n"),
        "f.yaml:10: `systems.contrastive.0` fits 'c', which `primary` lists too. Keep one.",
        files={"out/c/q_d.xml": ""},
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  pattern: 'out/{system}/{query_set}_{dataset}.xml'\n  primary: [b]\n"),
        "f.yaml:9: `systems.primary.0` names no system (got 'b', allowed: a). List a system "
        "without outputs yet as `NAME: {}`.",
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND.replace("out/", "out/{dataset}/"),
        "f.yaml:7: `systems` leads to no output of any system. Mend the names that are told of.",
        "f.yaml:8: `systems.pattern` finds 'out/d', which is left out: the folder cannot be looked "
        "into: it is a link that leads nowhere. Rename it.",
        files={"@out/d": "nowhere"},
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  pattern: 'out/{system}/x/{query_set}_{dataset}.xml'\n"),
        files={"@out/b/x": "nowhere", "out/a/x/q_d.xml": ""},
    ),
    row(
        "evaluation",
        "name: x\n",
        "f.yaml:1: `protocol` is missing.",
        "f.yaml:1: `datasets` is missing.",
        "f.yaml:1: `query_sets` is missing.",
        "f.yaml:1: `systems` is missing.",
        name="f.yaml",
    ),
    row(
        "evaluation",
        TOP
        + (
            "datasets:\n"
            "  d: {ecf: ../e.xml, rttm: r.rttm}\n"
            "query_sets:\n"
            "  q: {kwlist: ../k.xml}\n"
            "systems:\n"
            "  pattern: '../{system}/{query_set}.xml'\n"
            "  resources: '../{system}.yaml'\n"
            "  a: {outputs: {q/d: ../a.xml}, resources: ../r.yaml}\n"
            "  ledger: {store: ../store, season: s, phase: eval}\n"
            "overlays: ../o.yaml\n"
        ),
        "memory://b/f.yaml:11: `systems.ledger.store` leaves memory://b (got '../store').",
        "memory://b/f.yaml:4: `datasets.d.ecf` leaves memory://b (got '../e.xml').",
        "memory://b/f.yaml:4: `datasets.d.rttm` names no file (memory://b/r.rttm). Check the path.",
        "memory://b/f.yaml:6: `query_sets.q.kwlist` leaves memory://b (got '../k.xml').",
        "memory://b/f.yaml:8: `systems.pattern` leaves memory://b (got '../{system}/{query_set}.xml').",
        "memory://b/f.yaml:9: `systems.resources` leaves memory://b (got '../{system}.yaml').",
        "memory://b/f.yaml:10: `systems.a.outputs.q/d` leaves memory://b (got '../a.xml').",
        "memory://b/f.yaml:10: `systems.a.resources` leaves memory://b (got '../r.yaml').",
        "memory://b/f.yaml:12: `overlays` leaves memory://b (got '../o.yaml').",
        name="memory://b/f.yaml",
    ),
    row(
        "evaluation",
        TOP
        + (
            "datasets:\n"
            "  d: {ecf: ../e.xml, rttm: r.rttm}\n"
            "query_sets:\n"
            "  q: {kwlist: ../k.xml}\n"
            "systems:\n"
            "  a: {outputs: {q/d: a.xml}}\n"
            "overlays: [{scoring_ecf: ../e.xml, author: A, date: 2013-09-01, reason: R}]\n"
        ),
        "memory://b/f.yaml:4: `datasets.d.ecf` leaves memory://b (got '../e.xml').",
        "memory://b/f.yaml:4: `datasets.d.rttm` names no file (memory://b/r.rttm). Check the path.",
        "memory://b/f.yaml:6: `query_sets.q.kwlist` leaves memory://b (got '../k.xml').",
        "memory://b/f.yaml:9: `overlays.0.scoring_ecf` leaves memory://b (got '../e.xml').",
        name="memory://b/f.yaml",
    ),
    row(
        "evaluation",
        "name: x\n"
        "protocol: med11\n"
        "datasets:\n"
        "  d: {ref: r.csv, index: r.csv}\n"
        "query_sets:\n"
        "  q: {}\n"
        "systems:\n"
        "  pattern: {detection: 'out/{system}.csv', threshold: '../{system}.csv'}\n"
        "  a: {outputs: {detection: r.csv, threshold: '../{dataset}.csv'}}\n",
        "memory://b/f.yaml:9: `systems.a.outputs.threshold` leaves memory://b (got '../d.csv').",
        "memory://b/f.yaml:8: `systems.pattern.threshold` leaves memory://b (got '../c.csv').",
        name="memory://b/f.yaml",
        files={"memory://b/out/c.csv": "", "memory://b/r.csv": ""},
    ),
    row(
        "evaluation",
        TOP
        + ("datasets:\n  d: {ecf: e.xml, ecf: f.xml, rttm: r.rttm}\nquery_sets:\n  q: {kwlist: k.xml}\n")
        + FOUND
        + ("overlays:\n- {author: A, author: B}\n"),
        "f.yaml:4: `datasets.d.ecf` is given twice (first in line 4).",
        "f.yaml:10: `overlays.0.author` is given twice (first in line 10).",
    ),
    row(
        "evaluation",
        TWO
        + FOUND
        + (
            "pairs: [[q, d], [p, e]]\n"
            "overlays:\n"
            "- {withdraw_queries: [x], query_sets: [q], datasets: [e], author: A, date: 2013-09-01, reason: R}\n"
        ),
        "f.yaml:13: `overlays.0` holds for no cell: none of its pairs is asked for. Remove it.",
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND + "rank_by: {}\n",
        "f.yaml:9: `rank_by` must be a measure or a mapping from boards to measures. Give a "
        "measure, or measures by board: {QUERY_SET/DATASET: MEASURE, QUERY_SET/DATASET/CONDITION: "
        "MEASURE}.",
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND + "  resources: res/r.yaml\n",
        "f.yaml:9: `systems.resources` needs {system}: each system has its own file.",
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  a: {outputs: 'out/a/{query_set}_{dataset}.xml'}\n"),
        "f.yaml:8: `systems.a.outputs` finds 'out/a/z_d.xml', which is left out: query set 'z' is "
        "unknown (allowed: q). Rename the file, or exclude its system.",
        files={"out/a/z_d.xml": ""},
    ),
    row(
        "evaluation",
        TOP + SIDES + ("systems:\n  ledger: {store: store, season: s, phase: eval}\n"),
        "f.yaml:8: `systems.ledger` has no submission that counts in phase eval.",
        given={STANDING: ledger()},
    ),
    row(
        "evaluation",
        TOP + SIDES + FOUND + "  ledger: {store: store, season: s, phase: eval}\n",
        "f.yaml:9: `systems.ledger` has an output of q/z (q_z.xml), which is no cell of this evaluation.",
        "f.yaml:7: `systems.a` stands in the ledger of s too.",
        given={STANDING: ledger(("a", "q/d"), ("b", "q/z"))},
    ),
    row(
        "evaluation",
        TOP
        + SIDES
        + ("systems:\n  ledger: {store: store, season: s, phase: eval}\n  resources: 'res/{system}.yaml'\n"),
        "f.yaml:9: `systems.resources` fits no file of any system (/res/{system}.yaml). Check the path.",
        given={STANDING: ledger(("a", "q/d"))},
    ),
)
