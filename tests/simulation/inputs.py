"""A small evaluation whose files lie in memory and change: keys, outputs, systems, costs."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.terms import Dataset, Evaluation, QuerySet, System
from tests.unit.engine import grid_of_cells as cells

NAME = "grid"
PLACE = "memory://inputs/"
QUERY_SET = "p"
LATE_S = {0: 0.1, 1: 0.4, 2: 0.7}
REFUSED = "<stdlist>\n"
SYSTEMS = ("good", "poor", "late")
COSTS = ("1.0", "2.0", "0.5")


@dataclass
class Inputs:
    """The files as they are now, by URL, and what the evaluation file says."""

    files: dict[str, bytes] = field(default_factory=dict)
    n_systems: int = 1
    datasets: tuple[str, ...] = ("d",)
    cost: int = 0
    publication: str = "open"

    def __post_init__(self) -> None:
        self.files = dict(self.files)
        if self.files:
            return
        for dataset in cells.RECORDINGS:
            self.write(f"{dataset}.ecf.xml", cells.ecf(cells.RECORDINGS[dataset]))
            self.write(f"{dataset}.rttm", cells.rttm(dataset))
        self.write("p.tlist.xml", cells.termlist(*cells.LISTED[QUERY_SET]))
        for at, system in enumerate(SYSTEMS):
            self.submit(system, at)

    def copy(self) -> Inputs:
        """The same, which stays as it is."""
        return Inputs(self.files, self.n_systems, self.datasets, self.cost, self.publication)

    def write(self, name: str, text: str) -> None:
        """A file is there, or is another."""
        self.files[f"{PLACE}{name}"] = text.encode()

    def correct(self, to: int) -> None:
        """The key is corrected: ``to`` rows less than before the first correction."""
        rows = cells.rttm("d").splitlines(keepends=True)
        self.write("d.rttm", "".join(rows[: len(rows) - to]))

    def submit(self, system: str, variant: int) -> None:
        """Outputs of a system."""
        for dataset in cells.RECORDINGS:
            text = cells.output(dataset, cells.DETECTED[QUERY_SET], LATE_S[variant])
            self.write(f"{system}_{dataset}.xml", text)

    def replace(self, to: int) -> None:
        """A system hands in another output, or one that is refused."""
        if to == 2:
            self.write("good_d.xml", REFUSED)
        else:
            self.submit("good", to + 1)

    def evaluation(self) -> Evaluation:
        """As its file says now."""
        pairs = [(QUERY_SET, dataset) for dataset in self.datasets]
        return Evaluation(
            name=NAME,
            protocol="sws2013",
            mode="official",
            overrides=(("c_fa", COSTS[self.cost]),) if self.cost else (),
            datasets=tuple(Dataset(d, f"{PLACE}{d}.ecf.xml", f"{PLACE}{d}.rttm") for d in self.datasets),
            query_sets=(QuerySet(QUERY_SET, f"{PLACE}p.tlist.xml"),),
            systems=tuple(
                System(name, outputs={pair: f"{PLACE}{name}_{pair[1]}.xml" for pair in pairs})
                for name in SYSTEMS[: self.n_systems]
            ),
            publication=self.publication,
        )

    def snapshot(self) -> tuple[str, tuple[tuple[str, bytes], ...]]:
        """What names all of it."""
        return repr(self.evaluation()), tuple(sorted(self.files.items()))
