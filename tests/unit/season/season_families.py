"""A tiny evaluation of every family of protocols, on disk: two systems of two teams."""

from __future__ import annotations

import runpy
from pathlib import Path

import season_files as files

_MADE = Path(__file__).parent.parent / "protocols"
STM = """\
f1 1 Ann 0 10 <o,f0> one two three four
f1 1 Bob 10 20 ignore_time_segment_in_scoring
f2 1 Ann 0 10 (uh) seven eight
"""
CTM = {
    "one": "f1 1 1 1 one 0.95\nf1 1 2 1 two 0.85\nf1 1 3 1 tree 0.25\nf1 1 4 1 oh 0.3\nf1 1 5 1 four 0.35\n"
    "f2 1 1 1 seven 0.9\n",
    "two": "f1 1 1 1 one 0.9\nf1 1 2 1 too 0.2\nf2 1 1 1 seven 0.8\nf2 1 2 1 eight 0.7\n",
}
FAMILIES = ("detections", "documents", "events", "language", "tokens")


def write(folder: Path, family: str, disclose: str = "everything") -> Path:
    """The evaluation file of a family, with all that it names; its one dataset is disclosed as said."""
    texts, head = {"detections": _detections, "documents": _documents, "events": _events,
                   "language": _language, "tokens": _tokens}[family](folder)  # fmt: skip
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    systems = "".join(f"  {name}: {{team: {team}}}\n" for name, team in (("one", "north"), ("two", "south")))
    path = folder / "evaluation.yaml"
    path.write_text(f"name: {files.EVALUATION}\n{head.replace('DISCLOSE', f'disclose: {disclose}')}{systems}")
    return path


def _detections(_: Path) -> tuple[dict[str, str], str]:
    texts = {"ecf.xml": files.ECF, "key.rttm": files.KEY, "terms.xml": files.kwlist()}
    texts |= {"out/one.xml": files.stdlist(files.GOOD), "out/two.xml": files.stdlist(files.POOR)}
    head = "protocol: sws2013\ndatasets: {d: {ecf: ecf.xml, rttm: key.rttm, DISCLOSE}}\n"
    return texts, f"{head}query_sets: {{q: {{kwlist: terms.xml}}}}\nsystems:\n  pattern: out/{{system}}.xml\n"


def _documents(folder: Path) -> tuple[dict[str, str], str]:
    made = runpy.run_path(str(_MADE / "quesst_files.py"))
    documents, targets = [f"d{n}" for n in range(8)], [("q1", "d0"), ("q1", "d1"), ("q2", "d2")]
    texts = {}
    for name, best in (("one", 3.0), ("two", 1.1)):
        rows = [
            (
                q,
                d,
                round((best if (q, d) in targets else -2.0) + 0.7 * ((n * 5) % 8 - 3), 2),
                "YES" if n < 2 else "NO",
            )
            for q in ("q1", "q2", "q3")
            for n, d in enumerate(documents[:-1])
        ]
        made["write"](folder, ("q1", "q2", "q3"), documents, targets, rows)
        texts[f"out/{name}.xml"] = made["stdlist"](rows)
    head = "protocol: quesst\nsettings: {censor: -10}\ndatasets: {d: {ecf: ecf.xml, rttm: rttm.xml, DISCLOSE}}\n"
    return texts, f"{head}query_sets: {{q: {{kwlist: kwlist.xml}}}}\nsystems:\n  pattern: out/{{system}}.xml\n"


def _events(_: Path) -> tuple[dict[str, str], str]:
    made = runpy.run_path(str(_MADE / "med_tiny.py"))
    texts = {f"{role}.csv": text for role, text in made["files"](resources=None).items()}
    weaker = {
        event: {clip: round(1 - score, 2) for clip, score in own.items()} for event, own in made["SCORES"].items()
    }
    texts |= {f"out/{name}.threshold.csv": texts["threshold.csv"] for name in ("one", "two")}
    texts |= {"out/one.detection.csv": texts["detection.csv"], "out/two.detection.csv": made["detection"](weaker)}
    head = (
        "protocol: med11\nsettings: {conditions: ['short: ClipMD.DURATION < 1000']}\n"
        "datasets:\n  d: {ref: ref.csv, index: index.csv, clipmd: clipmd.csv, eventdb: eventdb.csv, DISCLOSE}\n"
    )
    pattern = "{detection: 'out/{system}.detection.csv', threshold: 'out/{system}.threshold.csv'}"
    return texts, f"{head}query_sets: {{q: {{}}}}\nsystems:\n  pattern: {pattern}\n"


def _language(_: Path) -> tuple[dict[str, str], str]:
    made = runpy.run_path(str(_MADE / "lre_files.py"))
    key = made["key_of"](3)
    texts = {f"out/{name}.out": made["output_text"](key, "PC", seed=seed) for seed, name in enumerate(("one", "two"))}
    head = "protocol: albayzin-lre12\ndatasets: {d: {key: key.txt, DISCLOSE}}\nquery_sets: {q: {}}\n"
    return {"key.txt": made["key_text"](key), **texts}, f"{head}systems:\n  pattern: out/{{system}}.out\n"


def _tokens(_: Path) -> tuple[dict[str, str], str]:
    texts = {"d.stm": STM, **{f"out/{name}.ctm": text for name, text in CTM.items()}}
    head = "protocol: stt13\ndatasets: {d: {stm: d.stm, DISCLOSE}}\nquery_sets: {q: {}}\n"
    return texts, f"{head}systems:\n  pattern: out/{{system}}.ctm\n"
