"""Writes the golden SWS cases (JSON) as the files an organiser and a participant would have."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr


def write_detection_case(case: dict[str, Any], folder: Path) -> list[str]:
    """ECF, RTTM, term list and STDList of a detection case; returns the arguments of ``rescore score`` for it."""
    documents = sorted({row["doc"] for row in [*case["reference"], *case["detections"]]} | {"a"})
    params = case["params"]
    excerpts = "".join(
        f'<excerpt audio_filename={quoteattr(name + ".wav")} channel="1" tbeg="0.0" dur="{params["t_audio"]}" '
        'language="x" source_type="bnews"/>\n'
        for name in documents
    )
    (folder / "ecf.xml").write_text(
        f'<ecf source_signal_duration="{params["t_audio"]}" version="1">\n{excerpts}</ecf>\n'
    )
    (folder / "key.rttm").write_text(
        "".join(
            f"LEXEME {row['doc']} 1 {row['tbeg']} {row['dur']} {row['q']} lex SELF <NA>\n" for row in case["reference"]
        )
    )
    terms = "".join(f'<term termid="{q}"><termtext>{q}</termtext></term>\n' for q in case["queries"])
    (folder / "terms.xml").write_text(f'<termlist ecf_filename="e" language="x" version="1">\n{terms}</termlist>\n')
    (folder / "out.xml").write_text(_stdlist(case))
    protocol = "sws2012" if params.get("beta_mode") == "sws2012" else "sws2013"
    point = () if protocol == "sws2012" else ("p_target", "c_fa", "c_miss")  # in 2012 the key sets it
    return [
        *("--protocol", protocol, "--mode", "plan"),
        *(
            "-e",
            f"{folder}/ecf.xml",
            "-r",
            f"{folder}/key.rttm",
            "-t",
            f"{folder}/terms.xml",
            "-s",
            f"{folder}/out.xml",
        ),
        *("--set", f"t_audio={params['t_audio']}", "--set", f"trials_per_s={params['ntps']}"),
        *("--set", f"tolerance_s={params['tolerance']}"),
        *(part for name in point for part in ("--set", f"{name}={params[name]}")),
    ]


def _stdlist(case: dict[str, Any]) -> str:
    blocks = []
    for query in case["queries"]:
        rows = "".join(
            f'<term file="{row["doc"]}" channel="1" tbeg="{row["tbeg"]}" dur="{row["dur"]}" '
            f'score="{row["score"]}" decision="{row["decision"]}"/>\n'
            for row in case["detections"]
            if row["q"] == query
        )
        blocks.append(
            f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">{rows}</detected_termlist>\n'
        )
    head = '<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="case">\n'
    return head + "".join(blocks) + "</stdlist>\n"


def write_load_case(case: dict[str, Any], folder: Path) -> list[str]:
    """A Processing Load case beside a silent output; returns the arguments of ``rescore score`` for it."""
    p = case["params"]
    silent = {
        "queries": ["q1"],
        "reference": [{"q": "q1", "doc": "a", "tbeg": "1", "dur": "1"}],
        "detections": [],
        "params": {
            "t_audio": p["t_audio_s"],
            "ntps": "1",
            "tolerance": "0.5",
            "p_target": "0.00015",
            "c_fa": "1",
            "c_miss": "100",
        },
    }
    arguments = write_detection_case(silent, folder)
    with (folder / "queries.csv").open("w", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow(["query", "example", "dur_s"])
        for q, durations in enumerate(p["query_example_durations_s"], 1):
            rows.writerows([f"q{q}", f"e{e}", duration] for e, duration in enumerate(durations, 1))
    resources = {
        "index": {"o": _phase(p, "index")},
        "search": {"q/o": _phase(p, "search")},
    }
    (folder / "resources.yaml").write_text(json.dumps(resources))
    inputs = ["--input", f"queries={folder}/queries.csv", "--input", f"resources={folder}/resources.yaml"]
    return [*arguments, *inputs, "--set", f"load_lambda={p['lambda']}"]


def _phase(params: dict[str, Any], phase: str) -> dict[str, Any]:
    return {
        "wall_s": float(params[f"{phase}_wall_s"]),
        "cores": int(params[f"{phase}_cores"]),
        "peak_memory_bytes": float(params[f"pmu_{phase}_gb"]) * 1e9,
    }
