"""One join of names: what only one side has, and what was probably meant.

Names are compared as the protocol reads them: who asks has reduced them by its rules. What is said here changes no
figure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice

from pipeline.errors import Finding

SHOWN = 5
_MOST_MEANT = 50_000
"""Names of the other side that are looked at for a guess."""
_LETTERS = {letter: str(number) for number, letter in enumerate("abcdefgh", start=1)}
_EXTENSION = re.compile(r"(?<=[^/.])(\.[A-Za-z][A-Za-z0-9]{0,7}){1,2}(?= |$)")
_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
_CHANNEL = re.compile(r"(?<= )[^ ]+$|^[A-Ha-h]$")

Pair = tuple[str, str]


def at(file: str, channel: str) -> str:
    """The name of a channel of a recording."""
    return f"{file} {channel}"


def _lettered(name: str) -> str:
    """The channel at the end of a name, or that is the name, as a number where it is a letter."""
    return _CHANNEL.sub(lambda found: _LETTERS.get(found[0].lower(), found[0]), name)


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).split())


_FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("Unicode form or blanks", _plain),
    ("case", str.casefold),
    ("the folder", lambda name: name.rpartition("/")[2]),
    ("the extension", partial(_EXTENSION.sub, "")),
    ("leading zeros", partial(_ZEROS.sub, "")),
    ("letter or number of the channel", _lettered),
)
"""How names that mean the same are told apart, and what takes the difference away."""


def _folded(name: str, but: int = -1) -> str:
    """A name without all of these differences, or all but one."""
    for position, (_, fold) in enumerate(_FOLDS):
        name = name if position == but else fold(name)
    return name


def _differences(one: str, other: str) -> str:
    """The differences that two names of the same folded form cannot be brought together without."""
    needed = [what for position, (what, _) in enumerate(_FOLDS) if _folded(one, position) != _folded(other, position)]
    return " and ".join(needed) or "spelling"


@dataclass(frozen=True)
class Join:
    """Two sides' names, each side with what people call it."""

    one: str
    of_one: Collection[str]
    other: str
    of_other: Collection[str]

    @cached_property
    def only_one(self) -> list[str]:
        """The names that the first side alone has, sorted."""
        return sorted(set(self.of_one) - set(self.of_other))

    @cached_property
    def only_other(self) -> list[str]:
        """The names that the second side alone has, sorted."""
        return sorted(set(self.of_other) - set(self.of_one))

    def guesses(self) -> list[Pair]:
        """Pairs of one name of each side alone that probably mean the same, of the first names that have one."""
        by_form: dict[str, str] = {}
        for name in islice(chain(self.only_other, self.of_other), _MOST_MEANT):
            by_form.setdefault(_folded(name), name)
        found: list[Pair] = []
        for name in self.only_one[:_MOST_MEANT]:
            meant = by_form.get(_folded(name))
            if meant is not None:
                found.append((name, meant))
            if len(found) == SHOWN:
                break
        return found

    def told(self, of_other: str = "alone has") -> str:
        """Both sides' own names, the first five of each, those with a guess first, and a guess with its reason."""
        guesses = self.guesses()
        only_other = self.only_other
        own = _named(self.only_one, [name for name, _ in guesses])
        others = _named(only_other, [name for _, name in guesses if name in set(only_other)])
        text = f"{self.one} alone has {own}; {self.other} {of_other} {others}"
        if not guesses:
            return text
        name, meant = guesses[0]
        shown = ascii if _plain(name) == _plain(meant) else repr
        return f"{text} ({shown(name)} may mean {shown(meant)}: they differ in {_differences(name, meant)})"


def _named(names: list[str], first: Iterable[str]) -> str:
    """Names for people: five of them, and how many more there are."""
    if not names:
        return "no other"
    ordered = list(dict.fromkeys([*first, *names[: 2 * SHOWN]]))[:SHOWN]
    more = f" and {len(names) - len(ordered)} more" if len(names) > len(ordered) else ""
    return f"{', '.join(map(repr, ordered))}{more}"


@dataclass(frozen=True)
class PlacedRows:
    """Rows of one side that are to be found among another side's names."""

    owner: str
    role: str
    """The input that findings are about."""
    unit: str
    """What a row is, in the plural."""
    effect: str
    """What becomes of rows that are not found."""


def file_finding(rows: PlacedRows, n_rows: int, join: Join) -> tuple[Finding, ...]:
    """A finding where rows are in recordings that the other side lacks."""
    if not n_rows:
        return ()
    what = f"{n_rows} {rows.unit} name recordings that {join.other} lacks; {rows.effect}: {join.told()}"
    return (Finding("unknown_file", f"{what}. Compare the spelling, case and extension.", rows.role),)


def channel_finding(
    rows: PlacedRows, odd: Mapping[Pair, int], listed: Collection[Pair], other: str
) -> tuple[Finding, ...]:
    """A finding where rows are on channels that the other side has not for their recordings."""
    lacking = {place: n for place, n in odd.items() if place not in set(listed)}
    if not lacking:
        return ()
    files = {file for file, _ in lacking}
    theirs = [at(*place) for place in listed if place[0] in files]
    told = Join(rows.owner, [at(*place) for place in lacking], other, theirs).told(of_other="has")
    what = f"{sum(lacking.values())} {rows.unit} name a channel that {other} lacks for their recording"
    mend = "Compare the spelling of `channel` (01 is not 1)."
    return (Finding("unknown_channel", f"{what}; {rows.effect}: {told}. {mend}", rows.role),)


def silent_finding(rows: PlacedRows, join: Join) -> tuple[Finding, ...]:
    """A finding where one side has no row in recordings of the other."""
    silent = join.only_other
    if not silent:
        return ()
    what = f"{len(silent)} of {len(set(join.of_other))} recordings of {join.other} have no {rows.unit} in {rows.owner}"
    return (Finding("missing_file", f"{what}; {rows.effect}: {join.told()}. Compare the spelling.", rows.role),)


def query_finding(
    names: Collection[str], listed: Collection[str], effect: str, role: str = "output"
) -> tuple[Finding, ...]:
    """A finding where an output has queries that the query list lacks; ``effect`` is a sentence."""
    join = Join("the output", names, "the query list", listed)
    unknown = join.only_one
    if not unknown:
        return ()
    what = f"{len(unknown)} queries of the output are not in the query list"
    return (Finding("unknown_query", f"{what}: {join.told()}. {effect}", role),)
