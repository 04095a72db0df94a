"""Three made-up years of one evaluation series and the meta file that compares them: ``rescore demo --years``."""

from __future__ import annotations

from pathlib import Path

from pipeline.demo.evaluation import DEMO, MadeUpEvaluation, MadeUpTeam, write_evaluation, write_lines

CORRECTED = "corrected"
_N_STRUCK = 12
"""Rows of the last year's key that are struck out in the corrected one."""
_TWELVE = (
    MadeUpTeam("aurora", "NL", "calibrated", 11, 3.4, threshold=2.9, index_cpu_h=8.0, memory_gb=9.0),
    MadeUpTeam("cobalt", "Harbour Inst.", "scores on a scale of their own", 12, 3.5, scale=0.5, threshold=1.5,
         index_cpu_h=3.0, search_cpu_s=3000.0, memory_gb=6.0),
    MadeUpTeam("dune", "Valley University", "over-confident", 13, 3.0, scale=1.5, threshold=4.4, index_cpu_h=0.3,
         search_cpu_s=120.0),
    MadeUpTeam("garnet", "Summit Group", "finds little", 14, 2.4, threshold=2.9, index_cpu_h=0.8, search_cpu_s=300.0,
         memory_gb=2.0),
)  # fmt: skip
"""Decided for a beta of some 17, as 2012's keys give it."""
_ELEVEN = (
    MadeUpTeam("aurora", "North Laboratory", "a first attempt", 21, 3.3, threshold=6.9, index_cpu_h=9.0, memory_gb=8.0),
    MadeUpTeam("cobalt", "Harbour Institute", "well calibrated", 22, 3.8, threshold=6.9, index_cpu_h=4.0,
         search_cpu_s=4200.0),
    MadeUpTeam("dune", "Valley University", "every score one too high", 23, 3.5, shift=1.0, threshold=6.9,
         index_cpu_h=0.5),
    MadeUpTeam("fjord", "Coast College", "finds little", 24, 2.9, threshold=6.9, index_cpu_h=5.0, search_cpu_s=900.0,
         memory_gb=5.0),
)  # fmt: skip
"""Decided for 2011's beta of 999.9."""
YEARS = {
    "2011": MadeUpEvaluation("made-up-2011", "sws2011", 2011, _ELEVEN, "y11-"),
    "2012": MadeUpEvaluation("made-up-2012", "sws2012", 2012, _TWELVE, "y12-", n_old_queries=8),
    "2013": DEMO,
}
_PUBLISHED = """\
year,task,query_set,dataset,team,system,atwv,mtwv,source
2010,made-up-2010,eval-q,eval,North Lab,aurora,0.11,0.19,"A made-up paper, table 2"
2010,made-up-2010,eval-q,eval,Coast College,fjord,,0.08,"A made-up paper, table 2"
"""
META = """\
# Three made-up years, written by `rescore demo --years`. Compare them (again) with: rescore meta meta.yaml
name: made-up-years
evaluations:
  y2011: {year: 2011, evaluation: 2011/evaluation.yaml}
  y2012: {year: 2012, evaluation: 2012/evaluation.yaml}
  y2013: {year: 2013, evaluation: 2013/evaluation.yaml}
  y2013-corrected: {year: 2013, evaluation: 2013/corrected.yaml}

# Every year has an operating point of its own, so figures do not compare. Once more, at that of 2013:
rescore:
  at-2013: {of: [y2011, y2012], protocol: sws2013}

published: [{file: published.csv}]              # figures of others join the table, marked
teams: {North Lab: [NL, North Laboratory], Harbour Institute: [Harbour Inst.]}
measures: [atwv, mtwv, cnxe]
contrasts: [[y2011, y2012], [y2012, y2013], [y2011=at-2013, y2012=at-2013], [y2012=at-2013, y2013]]
revisions: [[y2013, y2013-corrected]]           # what a corrected key moves
dev_eval: [{dev: dev-q/dev, eval: eval-q/eval}] # do thresholds carry over?
sensitivity: {tolerance_s: [0.1, 0.25, 0.5, 1]} # beta and P_target have grids of their own
resampling: {replicates: 1000, seed: 13}
"""


def write_years(folder: Path) -> Path:
    """Write three evaluations, a corrected key and published figures below ``folder``; returns the meta file."""
    for year, made in YEARS.items():
        write_evaluation(folder / year, made)
    _write_corrected(folder / "2013")
    write_lines(folder / "published.csv", _PUBLISHED.splitlines())
    path = folder / "meta.yaml"
    write_lines(path, META.splitlines())
    return path


def _write_corrected(folder: Path) -> None:
    """The last year once more, with a key that lacks some occurrences of queries."""
    queries = (folder / "queries/eval-q.tlist.xml").read_text(encoding="utf-8")
    rows = (folder / "datasets/eval.rttm").read_text(encoding="utf-8").splitlines()
    asked = [at for at, row in enumerate(rows) if f"<termtext>{row.split()[5]}</termtext>" in queries]
    struck = set(asked[:: max(1, len(asked) // _N_STRUCK)])
    write_lines(folder / "datasets/eval.corrected.rttm", [row for at, row in enumerate(rows) if at not in struck])
    text = (folder / "evaluation.yaml").read_text(encoding="utf-8")
    text = text.replace(f"name: {DEMO.name}", f"name: {DEMO.name}-{CORRECTED}")
    text = text.replace("rttm: datasets/eval.rttm", "rttm: datasets/eval.corrected.rttm")
    write_lines(folder / f"{CORRECTED}.yaml", text.splitlines())
