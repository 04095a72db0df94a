"""What is told of files of studies, and of tables that others published."""

from __future__ import annotations

from dataclasses import fields

from pipeline.meta import rows
from pipeline.protocols import find, names
from tests.unit.config.messages.rows import row

STUDY = "name: y\nevaluations:\n  old: {run: x}\n"
PROTOCOLS = ", ".join(names())
SETTINGS = ", ".join(sorted(field.name for field in fields(find("sws2013").settings)))
COLUMNS = ", ".join(rows.COLUMNS)

ROWS = (
    row(
        "study",
        "- x\n",
        "f.yaml:1: `the file` must be a mapping (got a list).",
    ),
    row(
        "study",
        "name: a b\n"
        "evaluations: {}\n"
        "rescore: {v: {mode: x, colour: red}}\n"
        "contrasts: [[old]]\n"
        "dev_eval: [{dev: x, eval: q/d}]\n"
        "sensitivity: {beta: [x, -1], p_target: [2], tolerance_s: [1 s]}\n"
        "resampling: {replicates: 10, seed: 1.5, level: nan, method: best, strata: ' s.csv'}\n"
        "measures: atwv\n",
        "f.yaml:1: `name` must be a short plain name (got 'a b', allowed: 1 to 100 letters, "
        "digits, '.', '_' and '-' without '..', the first a letter or digit).",
        "f.yaml:2: `evaluations` is empty. Give at least one.",
        "f.yaml:3: `rescore.v.mode` must be official, plan or nothing (got the text 'x').",
        "f.yaml:3: `rescore.v.colour` is unknown (`rescore meta --help` lists the fields).",
        "f.yaml:8: `measures` must be a list (got the text 'atwv').",
        "f.yaml:4: `contrasts.0` must be a list of 2 (got a list).",
        "f.yaml:5: `dev_eval.0.dev` must be QUERY_SET/DATASET (got 'x').",
        "f.yaml:6: `sensitivity.beta.0` must be a number (got 'x').",
        "f.yaml:6: `sensitivity.beta.1` must be more than 0 (got the text '-1').",
        "f.yaml:6: `sensitivity.p_target.0` must be less than 1 (got the text '2').",
        "f.yaml:6: `sensitivity.tolerance_s.0` must be seconds, as 0.5 (got '1 s').",
        "f.yaml:7: `resampling.replicates` must be at least 100 (got the text '10').",
        "f.yaml:7: `resampling.seed` must be a whole number (got '1.5').",
        "f.yaml:7: `resampling.level` must be a number (got 'nan').",
        "f.yaml:7: `resampling.method` must be percentile or bca (got the text 'best').",
        "f.yaml:7: `resampling.strata` must be a path or URL of 1 to 4096 printable characters "
        "without blanks around it (got ' s.csv').",
    ),
    row(
        "study",
        "evaluations:\n  old: {run: x, evaluation: e.yaml, store: st}\n  new: {}\n",
        "f.yaml:1: `name` is missing.",
    ),
    row(
        "study",
        "name: y\n"
        "evaluations:\n"
        "  old: {run: x, evaluation: e.yaml, store: st}\n"
        "  new: {}\n"
        "rescore:\n"
        "  tolerance_s-1: {settings: {c_fa: 2}}\n"
        "  a: {of: [odl]}\n"
        "  b: {protocol: sws2103}\n"
        "  c: {protocol: sws2013, settings: {tolerence_s: 1}}\n"
        "contrasts: [[old, nwe]]\n"
        "revisions: [[odl, new]]\n"
        "measures: [atvw]\n"
        "published: [{file: t.csv, columns: {sytem: x}, set: {yaer: 2022}}]\n"
        "teams: {A: [x], B: [x]}\n"
        "systems: {A: [x], B: [x]}\n",
        "f.yaml:3: `evaluations.old` needs `run` or `evaluation`, and not both.",
        "f.yaml:3: `evaluations.old.store` goes with `run`: files are scored in the study's store.",
        "f.yaml:4: `evaluations.new` needs `run` or `evaluation`, and not both.",
        "f.yaml:6: `rescore.tolerance_s-1` must not begin with `tolerance_s-`: `sensitivity` makes such names.",
        "f.yaml:7: `rescore.a.of.0` names no evaluation (got 'odl', allowed: new, old).",
        "f.yaml:7: `rescore.a` needs `protocol` or `settings`.",
        f"f.yaml:8: `rescore.b` is refused: unknown protocol 'sws2103' (allowed: {PROTOCOLS}).",
        f"f.yaml:9: `rescore.c` is refused: sws2013 has no setting 'tolerence_s' (allowed: {SETTINGS}).",
        "f.yaml:10: `contrasts.0` names no evaluation (got 'nwe', allowed: new, new=b, new=c, "
        "new=tolerance_s-1, odl=a, old, old=b, old=c, old=tolerance_s-1).",
        "f.yaml:11: `revisions.0` names no evaluation (got 'odl', allowed: new, new=b, new=c, "
        "new=tolerance_s-1, odl=a, old, old=b, old=c, old=tolerance_s-1).",
        "f.yaml:12: `measures.0` names no measure of any protocol (got 'atvw').",
        f"f.yaml:13: `published.0` names no column (got 'sytem', allowed: {COLUMNS}).",
        f"f.yaml:13: `published.0` names no column (got 'yaer', allowed: {COLUMNS}).",
        "f.yaml:14: `teams.B` claims 'x', which 'A' has already.",
        "f.yaml:15: `systems.B` claims 'x', which 'A' has already.",
    ),
    row(
        "study",
        "name: y\nevaluations:\n  old: {evaluation: f.yml}\npublished: [{file: u.csv}]\nresampling: {strata: s.csv}\n",
        "f.yaml:3: `evaluations.old.evaluation` names no file (/f.yml). Check the path.",
        "f.yaml:4: `published.0.file` names no file (/u.csv). Check the path.",
        "f.yaml:5: `resampling.strata` cannot be read: /s.csv: there is no such file. Mend the "
        "path, or supply the file.",
    ),
    row(
        "study",
        "name: y\nevaluations:\n  old: {run: x}\nresampling: {strata: t.csv}\n",
        "f.yaml:4: `resampling.strata` must be a CSV of at most 16000000 bytes with columns unit, stratum.",
    ),
    row(
        "study",
        "name: y\nevaluations:\n  old: {run: x}\nresampling: {strata: s.csv}\n",
        "f.yaml:4: `resampling.strata` is no CSV (field larger than field limit (131072)).",
        "f.yaml:4: `resampling.strata` must be a CSV of at most 16000000 bytes with columns unit, stratum.",
        files={"s.csv": "unit,stratum\n" + "x" * 140000 + ",a\n"},
    ),
    row(
        "published",
        "system,atwv,measure,value\n",
        name="t.csv",
    ),
    row(
        "published",
        "system,colour\na,red\n",
        "t.csv:1: no column holds a figure (seen: system, colour; allowed: columns `measure` and "
        "`value`, or one that names a measure). Name the column, or say in the study what it is "
        "called.",
        name="t.csv",
    ),
    row(
        "published",
        "system,atwv\na,high\nb\nc,1,2\n",
        "t.csv:2: `atwv` is 'high' (allowed: a number, or nothing). Correct it.",
        "t.csv:3: the line has another number of fields than the header (2). Quote fields that contain a comma.",
        "t.csv:4: the line has another number of fields than the header (2). Quote fields that contain a comma.",
        name="t.csv",
    ),
    row(
        "published",
        "system,measure,value,threshold\na,atwv,high,low\n",
        "t.csv:2: `value` is 'high' (allowed: a number, or nothing). Correct it.",
        name="t.csv",
    ),
    row(
        "published",
        "system,atwv,mtwv,year\na,1,2,x\n",
        name="t.csv",
    ),
    row(
        "published",
        "x" * 140000 + (",atwv\n1,2\n"),
        "t.csv:1: the line is no CSV (field larger than field limit (131072)). Quote or correct it.",
        name="t.csv",
    ),
    row(
        "published",
        "system,atwv\n" + "x" * 140000 + ",1\n",
        "t.csv:2: the line is no CSV (field larger than field limit (131072)). Quote or correct it.",
        name="t.csv",
    ),
    row(
        "published",
        "system,atwv\n" + "x,1\n" * 100,
        "t.csv: the table has more than 300 bytes. Split it.",
        given={"pipeline.meta.published.MOST_BYTES": 300},
        name="t.csv",
    ),
    row(
        "study",
        STUDY + "published: [{file: 'f{.csv'}]\n",
        "f.yaml:4: `published.0.file` unknown placeholder (got a brace that is not part of one, allowed: none here).",
    ),
    row(
        "study",
        STUDY + "name: z\n",
        "f.yaml:4: `name` is given twice (first in line 1).",
    ),
    row(
        "study",
        "name: y\n"
        "evaluations:\n"
        "  old: {run: x, store: ../st}\n"
        "  new: {evaluation: ../e.yaml}\n"
        "published: [{file: ../t.csv}]\n"
        "resampling: {strata: ../s.csv}\n",
        "memory://b/f.yaml:3: `evaluations.old.store` leaves memory://b (got '../st').",
        "memory://b/f.yaml:4: `evaluations.new.evaluation` leaves memory://b (got '../e.yaml').",
        "memory://b/f.yaml:5: `published.0.file` leaves memory://b (got '../t.csv').",
        "memory://b/f.yaml:6: `resampling.strata` leaves memory://b (got '../s.csv').",
        name="memory://b/f.yaml",
    ),
    row(
        "published",
        "system,measure,value,low\na,atwv,1,deep\n",
        "t.csv:2: `low` is 'deep' (allowed: a number, or nothing). Correct it.",
        name="t.csv",
    ),
)
