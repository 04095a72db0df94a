"""A made-up spoken web search evaluation, the same for everyone, on which all parts of a run can be seen.

Two query sets on two datasets, six systems. Every system's scores start as true log-likelihood ratios: with separation
``d`` they are normal with mean ±d²/2 and variance d², which is what calibrated scores of that quality look like. What
each team then does to them shows which measure notices: a shift, a scale or a squashing leaves the ranking (MTWV, min
Cnxe) and spoils decisions (ATWV) or calibration (Cnxe).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEED = 2013
NAME = "made-up-2013"
DATASETS = ("dev", "eval")
QUERY_SETS = ("dev-q", "eval-q")
N_FILES = 30
FILE_S = 60.0
N_QUERIES = 20
BAYES_THRESHOLD = 4.2
"""-logit of the effective prior of SWS 2013: the right threshold for calibrated log-likelihood ratios."""


@dataclass(frozen=True)
class MadeUpTeam:
    """A system: how well it separates, what it does to its scores, where it decides, and what it costs."""

    name: str
    team: str
    remark: str
    draws: int
    """Systems with equal ``draws`` and ``d`` find the same things: they differ by their scores only."""
    d: float
    shift: float = 0.0
    scale: float = 1.0
    posterior: bool = False
    threshold: float = BAYES_THRESHOLD
    floor: float = -1.0
    """Log-likelihood ratio below which it submits nothing."""
    index_cpu_h: float = 1.0
    search_cpu_s: float = 600.0
    memory_gb: float = 4.0
    primary: bool = True

    def scored(self, llr: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores that the system submits for true log-likelihood ratios."""
        score = self.scale * llr + self.shift
        return 1.0 / (1.0 + np.exp(-score)) if self.posterior else score


TEAMS = (
    MadeUpTeam("aurora", "North Lab", "calibrated log-likelihood ratios", 1, 4.2, index_cpu_h=6.0, memory_gb=11.0),
    MadeUpTeam("basalt", "North Lab", "aurora, every score 2.5 too high: too many yes", 1, 4.2, shift=2.5,
         primary=False),
    MadeUpTeam("cobalt", "Harbour Institute", "scores on a scale of their own, decisions well tuned", 2, 3.8, scale=0.4,
         threshold=1.7, index_cpu_h=2.5, search_cpu_s=2400.0, memory_gb=6.5),
    MadeUpTeam("dune", "Valley University", "calibrated, but finds less", 3, 3.1, index_cpu_h=0.2, search_cpu_s=90.0,
         memory_gb=0.8),
    MadeUpTeam("ember", "Summit Group", "over-confident: scores nearly twice too large", 4, 3.6, scale=1.8,
         index_cpu_h=1.2, search_cpu_s=900.0, memory_gb=2.4),
    MadeUpTeam("fjord", "Coast College", "a first attempt: posteriors, cut at one half", 5, 2.3, posterior=True,
         shift=-3.0, threshold=0.5, floor=0.5, index_cpu_h=3.0, search_cpu_s=5200.0, memory_gb=7.9),
)  # fmt: skip


@dataclass(frozen=True)
class MadeUpEvaluation:
    """A made-up evaluation: equal ones write equal bytes."""

    name: str = NAME
    protocol: str = "sws2013"
    seed: int = SEED
    teams: tuple[MadeUpTeam, ...] = TEAMS
    prefix: str = ""
    """Begins the names of its recordings."""
    n_old_queries: int = 0
    """The first so many queries of each set are those of the evaluation that ``rescore demo`` makes."""
    malformed: tuple[str, str, str] | None = None
    """System, query set and dataset of an output with scores that are no numbers, and of one that is not there."""
    missing: tuple[str, str, str] | None = None


DEMO = MadeUpEvaluation(malformed=("fjord", "eval-q", "eval"), missing=("dune", "dev-q", "eval"))


@dataclass(frozen=True)
class Word:
    """A spoken word of the made-up recordings."""

    file: str
    begin_s: float
    dur_s: float
    text: str


def write_evaluation(folder: Path, made: MadeUpEvaluation = DEMO) -> Path:
    """Write an evaluation below ``folder`` and return the path of its evaluation file.

    Writing twice writes the same bytes. Raises ``OSError`` when the folder cannot be written.
    """
    queries = {name: _queries(made, index) for index, name in enumerate(QUERY_SETS)}
    for name, texts in queries.items():
        write_lines(folder / f"queries/{name}.tlist.xml", _tlist(name, texts))
        write_lines(folder / f"queries/{name}.examples.csv", _examples(made, name, texts))
    for index, dataset in enumerate(DATASETS):
        words = _recordings(made, dataset, index, [text for texts in queries.values() for text in texts])
        write_lines(folder / f"datasets/{dataset}.ecf.xml", _ecf(made, dataset))
        write_lines(folder / f"datasets/{dataset}.rttm", _rttm(words))
        for team in made.teams:
            for name, texts in queries.items():
                if (team.name, name, dataset) != made.missing:
                    lines = _stdlist(made, team, name, dataset, texts, words)
                    write_lines(folder / f"systems/{team.name}/{name}_{dataset}.stdlist.xml", lines)
    for team in made.teams:
        write_lines(folder / f"systems/{team.name}/resources.yaml", _resources(team))
    path = folder / "evaluation.yaml"
    write_lines(path, _evaluation(made))
    return path


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text file, its folders too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _generator(seed: int, *place: int) -> np.random.Generator:
    return np.random.default_rng([seed, *place])


def _spelled(random: np.random.Generator, syllables: int) -> str:
    """A word of no language."""
    return "".join("bdfgklmnprstvz"[random.integers(14)] + "aeiou"[random.integers(5)] for _ in range(syllables))


def _queries(made: MadeUpEvaluation, index: int) -> list[str]:
    """Query texts; four syllables, while words of the recordings have two or three, so none is there by chance."""
    old = _queries(DEMO, index)[: made.n_old_queries] if made.n_old_queries else []
    random = _generator(made.seed, 1, index)
    texts = dict.fromkeys([*old, *(_spelled(random, 4) for _ in range(2 * N_QUERIES))])
    return list(texts)[:N_QUERIES]


def _query_id(query_set: str, number: int) -> str:
    return f"{query_set}-{number + 1:02d}"


def _file(made: MadeUpEvaluation, dataset: str, number: int) -> str:
    return f"{made.prefix}{dataset}_{number + 1:03d}"


def _recordings(made: MadeUpEvaluation, dataset: str, index: int, texts: Sequence[str]) -> list[Word]:
    """All words of a dataset in time order: filler, and each query about five times; the last of each set never."""
    random = _generator(made.seed, 2, index)
    words = []
    for number in range(N_FILES):
        begin_s = 0.2
        while begin_s < FILE_S - 1.2:
            dur_s = round(float(random.uniform(0.25, 0.7)), 2)
            text = _spelled(random, int(random.integers(2, 4)))
            words.append(Word(_file(made, dataset, number), round(begin_s, 2), dur_s, text))
            begin_s += dur_s + float(random.uniform(0.02, 0.25))
    places = iter(random.permutation(len(words)).tolist())
    for number, text in enumerate(texts):
        spoken = 0 if number % N_QUERIES == N_QUERIES - 1 else 1 + int(random.poisson(4))
        for place in [next(places) for _ in range(spoken)]:
            words[place] = Word(words[place].file, words[place].begin_s, words[place].dur_s, text)
    return words


def _ecf(made: MadeUpEvaluation, dataset: str) -> Iterator[str]:
    yield f'<ecf source_signal_duration="{N_FILES * FILE_S:.3f}" language="made-up" version="1">'
    for number in range(N_FILES):
        place = f'audio_filename="{_file(made, dataset, number)}.wav" channel="1" tbeg="0.000" dur="{FILE_S:.3f}"'
        yield f'  <excerpt {place} source_type="bnews" language="made-up"/>'
    yield "</ecf>"


def _rttm(words: Iterable[Word]) -> Iterator[str]:
    yield ";; type file chan tbeg dur ortho stype name conf"
    for word in words:
        yield f"LEXEME {word.file} 1 {word.begin_s:.2f} {word.dur_s:.2f} {word.text} lex speaker <NA>"


def _tlist(query_set: str, texts: Sequence[str]) -> Iterator[str]:
    yield '<termlist ecf_filename="made-up.ecf.xml" language="made-up" version="1">'
    for number, text in enumerate(texts):
        yield f'  <term termid="{_query_id(query_set, number)}"><termtext>{text}</termtext></term>'
    yield "</termlist>"


def _examples(made: MadeUpEvaluation, query_set: str, texts: Sequence[str]) -> Iterator[str]:
    """The organiser's table of spoken examples: what Searching Speed is measured against."""
    random = _generator(made.seed, 3, QUERY_SETS.index(query_set))
    yield "query,example,dur_s"
    for number in range(len(texts)):
        for example in range(1 + number % 3):
            yield f"{_query_id(query_set, number)},{example + 1},{random.uniform(0.4, 1.1):.2f}"


def _stdlist(
    made: MadeUpEvaluation, team: MadeUpTeam, query_set: str, dataset: str, texts: Sequence[str], words: Sequence[Word]
) -> Iterator[str]:
    random = _generator(made.seed, 4, team.draws, QUERY_SETS.index(query_set), DATASETS.index(dataset))
    yield (
        f'<stdlist termlist_filename="{query_set}.tlist.xml" indexing_time="{team.index_cpu_h * 3600:.0f}" '
        f'language="made-up" index_size="1000000" system_id="{team.name}">'
    )
    for number, text in enumerate(texts):
        seconds = team.search_cpu_s / len(texts)
        query = _query_id(query_set, number)
        yield f'  <detected_termlist termid="{query}" term_search_time="{seconds:.2f}" oov_term_count="NA">'
        spoken = [word for word in words if word.text == text]
        for row, line in enumerate(_detections(made, team, dataset, spoken, random)):
            slip = (team.name, query_set, dataset) == made.malformed and number % 8 == 2 and row == 1
            yield _with_slip(line) if slip else line
        yield "  </detected_termlist>"
    yield "</stdlist>"


def _with_slip(line: str) -> str:
    """The line with the score that a mean over no frames gives."""
    head, _, tail = line.partition(' score="')
    return f'{head} score="nan"{tail[tail.index(chr(34)) + 1 :]}'


def _detections(
    made: MadeUpEvaluation, team: MadeUpTeam, dataset: str, spoken: Sequence[Word], random: np.random.Generator
) -> Iterator[str]:
    """Detections of one query: true ones near where it is spoken, false ones anywhere, all above the system's floor."""
    mean, d = team.d**2 / 2, team.d
    n_trials = int(N_FILES * FILE_S) - len(spoken)
    target_llr = random.normal(mean, d, len(spoken))
    jitter_s = random.uniform(-0.1, 0.1, len(spoken))
    false_llr = random.normal(-mean, d, n_trials)
    false_llr = false_llr[false_llr >= team.floor]
    files = random.integers(N_FILES, size=false_llr.size)
    begins_s = random.uniform(0.0, FILE_S - 1.0, false_llr.size)
    durs_s = random.uniform(0.3, 0.8, false_llr.size)
    found = [
        (word.file, max(0.0, word.begin_s + float(jitter)), word.dur_s, float(llr))
        for word, jitter, llr in zip(spoken, jitter_s, target_llr, strict=True)
        if llr >= team.floor
    ]
    columns = zip(files.tolist(), begins_s.tolist(), durs_s.tolist(), false_llr.tolist(), strict=True)
    found += [(_file(made, dataset, file), begin_s, dur_s, llr) for file, begin_s, dur_s, llr in columns]
    scores = team.scored(np.array([llr for *_, llr in found], np.float64)).tolist()
    for (file, begin_s, dur_s, _), score in sorted(zip(found, scores, strict=True)):
        decision = "YES" if score >= team.threshold else "NO"
        times = f'tbeg="{begin_s:.2f}" dur="{dur_s:.2f}"'
        yield f'    <term file="{file}" channel="1" {times} score="{score:.6f}" decision="{decision}"/>'


def _resources(team: MadeUpTeam) -> Iterator[str]:
    memory = math.floor(team.memory_gb * 1e9)
    node = '[{count: 1, brand: "made up", cpu: "made up", cores: 4, clock_ghz: 2.6, ram_bytes: 32000000000, os: Linux}]'
    yield f"# What {team.name} declares: processor time and peak memory, per dataset and per cell."
    yield "index:"
    for dataset in DATASETS:
        yield f"  {dataset}:"
        yield f"    wall_s: {team.index_cpu_h * 3600 / 4:.0f}"
        yield "    cores: 4"
        yield f"    peak_memory_bytes: {memory}"
        yield f"    nodes: {node}"
    yield "search:"
    for query_set in QUERY_SETS:
        for dataset in DATASETS:
            yield f"  {query_set}/{dataset}:"
            yield f"    wall_s: {team.search_cpu_s / 4:.1f}"
            yield "    cores: 4"
            yield f"    peak_memory_bytes: {memory // 4}"


def _evaluation(made: MadeUpEvaluation) -> Iterator[str]:
    yield f"""\
# A made-up evaluation, written by `rescore demo`. Score it (again) with: rescore run evaluation.yaml
name: {made.name}
protocol: {made.protocol}          # rescore protocols {made.protocol} lists roles, settings and measures
mode: official             # as the organisers' tool computes; plan: as the text says
# settings: {{c_fa: 2}}      # any setting of the protocol, by its name

# What was searched, and the key. Paths are relative to this file; any fsspec URL will do.
datasets:"""
    for dataset in DATASETS:
        yield f"  {dataset}: {{ecf: datasets/{dataset}.ecf.xml, rttm: datasets/{dataset}.rttm}}"
    yield """
# What was asked for. `queries` lists the spoken examples and their durations (for Searching Speed).
query_sets:"""
    for name in QUERY_SETS:
        yield f"  {name}: {{kwlist: queries/{name}.tlist.xml, queries: queries/{name}.examples.csv}}"
    yield """
systems:
  # Every file that fits is one system on one (query set, dataset). A cell that fits nothing is a cell with a reason.
  pattern: systems/{system}/{query_set}_{dataset}.stdlist.xml
  resources: systems/{system}/resources.yaml"""
    for team in made.teams:
        primary = "" if team.primary else ", primary: false"
        yield f"  {team.name}: {{team: {team.team}{primary}, disclosure: '{team.remark}'}}"
