"""A season from its first day to its last, by the commands that an organiser and twelve teams would use."""

from __future__ import annotations

import contextlib
import io
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.demo.season import (
    DESCRIPTION,
    NAME,
    PHASES,
    QUERIES,
    RESOURCES,
    TEAMS,
    Occurrences,
    output,
    rttm,
    spoken,
    write,
    write_perfect,
    write_season,
)
from pipeline.errors import RescoreError

TRANSCRIPT = "season.txt"
_MONTHS = {"dry-run": "02", "dev": "04", "eval": "05"}
DISPUTED = ("word02", "r1", 153.0)
"""An occurrence that cobalt misses."""
_ORGANISER = ("--by", "R. Chair")


@dataclass(frozen=True)
class CommandOutput:
    """One command and what it printed."""

    command: str
    text: str


class PlayedSeason:
    """Plays a season in a folder. ``said`` are its commands in order; ``tell`` gets each of them, and remarks."""

    def __init__(self, folder: Path, tell: Callable[[str], None] = lambda _: None) -> None:
        self.folder, self.store, self.tell = folder, str(folder / "store"), tell
        self.said: list[CommandOutput] = []
        self.key_rows: Occurrences = spoken(2)
        self.staged = ""
        """The run that the second correction of the key made."""
        folder.mkdir(parents=True, exist_ok=True)

    def play(self) -> PlayedSeason:
        """The whole season; what was said is in ``season.txt``."""
        self.tell("# Twelve teams, three deadlines. The organiser's files:")
        write_season(self.folder)
        self.on("season", "open", self.folder / "season.yaml")
        for phase in PHASES:
            self.tell(f"# {phase}: the teams hand in what they have")
            self.collect(phase)
            if phase != "eval":
                self.decide("release", self.night(phase), "--reason", "the board of the night")
        self.eval_phase()
        self.on("season", "show")
        self.on("season", "packets")
        write(self.folder / TRANSCRIPT, "".join(f"$ {one.command}\n{one.text}\n" for one in self.said))
        return self

    def call(self, *arguments: str | Path, code: int = 0) -> str:
        """Run a command and return what it printed. Raises ``RescoreError`` where its exit code is another one."""
        from pipeline.cli import main

        out = io.StringIO()
        words = [str(argument) for argument in arguments]
        self.tell("$ " + (command := self._shown(words)))
        with contextlib.redirect_stdout(out):
            found = main(words)
        if found != code:
            raise RescoreError(f"{command}: exit code {found}, not {code}: {out.getvalue()}")
        self.said.append(CommandOutput(command, out.getvalue()))
        return out.getvalue()

    def _shown(self, words: list[str]) -> str:
        return shlex.join(["rescore", *(word.replace(f"{self.folder}/", "") for word in words)])

    def on(self, *arguments: str | Path, code: int = 0) -> str:
        """The output of a command on the season's store."""
        return self.call(*arguments, "--store", self.store, code=code)

    def collect(self, phase: str) -> None:
        """Every team hands in what it has: one late, one broken and mended, one replaced, one with a second system."""
        at, month = list(PHASES).index(phase), _MONTHS[phase]
        for rank, team in enumerate(TEAMS):
            if (phase, team) == ("dev", "dune"):
                continue  # it has a night off
            text = output(at, team, 3.2 - 0.2 * rank)
            received = f"2026-{month}-{10 + rank % 3:02d}T{8 + rank:02d}:15+02:00"
            if team == "ember":
                self.submit(team, phase, team, text.replace('score="', 'score="x', 1), received, code=1)
            if team == "heron":
                received = f"2026-{int(month) + 2:02d}-01T00:00Z"
            self.submit(team, phase, team, text, received)
        if phase == "eval":
            self.submit("basalt", phase, "basalt", output(at, "basalt again", 3.3), "2026-06-01T23:00-04:00")
            self.submit(
                "aurora", phase, "aurora-2", output(at, "aurora-2", 2.9), "2026-06-01T12:00-04:00", "--contrastive"
            )
            self.beside("aurora", phase, {"aurora.pdf": DESCRIPTION, "resources.yaml": RESOURCES})
            self.beside("basalt", phase, {"basalt.txt": b"A system.\n"})
            self.beside("cobalt", phase, {"cobalt.pdf": b"MZ, a program"})
        elif phase == "dev":
            self.tell("# of several submissions the best counts here: fjord tries again, with less luck")
            self.submit("fjord", phase, "fjord", output(at, "fjord again", 0.4), "2026-04-14T12:00+02:00")

    def beside(self, team: str, phase: str, files: Mapping[str, bytes]) -> None:
        """Hand in what stands beside an output."""
        folder = self.folder / "uploads" / f"{len(self.said):03d}"
        for name, data in files.items():
            write(folder / name, "").write_bytes(data)
        paths = [folder / name for name in files]
        at = ("--received", "2026-05-20T12:00+02:00")
        self.tell(self.on("submit", *paths, "--team", team, "--phase", phase, *at).rstrip())

    def submit(self, team: str, phase: str, system: str, text: str, received: str, *more: str, code: int = 0) -> None:
        """Hand in one file."""
        path = write(self.folder / "uploads" / f"{len(self.said):03d}" / f"{system}.words.{phase}.xml", text)
        told = self.on("submit", path, "--team", team, "--phase", phase, "--received", received, *more, code=code)
        if code:
            self.tell(told.rstrip())

    def night(self, phase: str) -> str:
        """Score a phase as the nightly run does, in this process; the run's id."""
        from flows.steps import finish, score_here
        from pipeline.config import load_evaluation
        from pipeline.engine.plan import missing, plan
        from pipeline.store.blobs import Store

        self.tell(f"# the night: rescore run {phase}.yaml --store store")
        store = Store(self.store)
        work = plan(load_evaluation(str(self.folder / f"{phase}.yaml")), store)
        return finish(store, work, score_here(store, work, missing(work.jobs, store))).id

    def decide(self, command: str, run: str, *more: str) -> None:
        """A person decides."""
        self.tell(self.on("season", command, run, *_ORGANISER, *more).rstrip())

    def eval_phase(self) -> None:
        """Sealed, preliminary, an appeal, official, a withdrawal, a second correction, corrected."""
        self.key("as transcribed")
        self.tell(self.call("plan", self.folder / "eval.yaml", "--store", self.store).rstrip())
        first = self.night("eval")
        self.tell(self.on("season", "staged").rstrip())
        self.decide("release", first, "--as", "preliminary", "--reason", "checked against the canaries")
        self.appeal()
        self.decide("release", self.night("eval"), "--as", "official", "--reason", "first correction of the key")
        why = "trained on the evaluation data by mistake"
        self.on("withdraw", "--team", "kelp", "--phase", "eval", "--reason", why)
        self.tell("# recording r2 turns out to have been cut short, and a query to be misspelt")
        self.correct(self.key_rows[:-9], "recording r2 was cut short")
        about = "author: R. Chair, date: 2026-06-20, reason: misspelt in the list"
        with (self.folder / "eval.yaml").open("a", encoding="utf-8") as file:
            file.write(f"overlays: [{{withdraw_queries: [{QUERIES[-1]}], {about}}}]\n")
        self.staged = self.night("eval")
        self.tell(self.on("season", "staged").rstrip())
        self.decide("release", self.staged, "--as", "corrected", "--reason", "second correction of the key")

    def appeal(self) -> None:
        """A team disputes an occurrence; what it moves is looked at, granted, and the key corrected."""
        self.tell("# cobalt appeals: a word is not said where the key has it")
        self.tell(self.on("explain", "words/eval/cobalt", *DISPUTED[:2], str(DISPUTED[2])).rstrip())
        patch = write(self.folder / "appeal.patch", f"# cobalt: the word is not said there\n-{rttm([DISPUTED])}")
        self.tell(self.on("whatif", self.folder / "eval.yaml", "--key", patch).rstrip())
        self.correct([row for row in self.key_rows if row != DISPUTED], "appeal of cobalt granted")

    def correct(self, rows: Occurrences, reason: str) -> None:
        """Another version of the key, and the canary that is made from it."""
        self.key_rows = rows
        write(self.folder / "eval" / "key.rttm", rttm(rows))
        write_perfect(self.folder, "eval", rows)
        self.key(reason)

    def key(self, reason: str) -> None:
        """Enter the key of the evaluation."""
        about = ("--role", "rttm", "--dataset", "eval", "--phase", "eval", "--by", "K. Annotator")
        self.on("season", "key", self.folder / "eval" / "key.rttm", *about, "--reason", reason)

    def pages(self) -> Iterator[Path]:
        """Every page that somebody is shown, the season's own first."""
        yield self.front
        for top in ("public", "packets"):
            yield from (path for path in sorted((Path(self.store) / top).rglob("*.html")) if path != self.front)

    @property
    def front(self) -> Path:
        """The season's own page."""
        return Path(self.store) / "public" / NAME / "index.html"
