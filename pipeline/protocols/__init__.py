"""The named protocols. A new one is one file here or in a family's folder, with a tuple ``PROTOCOLS``.

Nothing else needs to know it.
"""

from __future__ import annotations

import hashlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

from pipeline.errors import Finding, UsageError
from pipeline.metrics import later
from pipeline.metrics.best import directed
from pipeline.metrics.measure import Measure
from pipeline.protocols import settings as _settings
from pipeline.protocols.base import Protocol
from pipeline.terms import Source

RANK_BY = "rank_by"
"""The override that is no setting of any family: the measure that ranks, in place of the protocol's."""
_found: dict[tuple[str, str], Protocol] = {}


def protocols() -> Mapping[tuple[str, str], Protocol]:
    """Every protocol by (name, mode), found in the modules of this package."""
    _search_all()
    return _found


def modes(name: str) -> Mapping[str, Protocol]:
    """The modes of a protocol, none where there is no such name.

    Places that the name begins with are searched first, and none after its own, so that scoring imports one family.
    """
    for place in sorted(_places(), key=lambda place: not name.startswith(place.rpartition(".")[2])):
        _search(place)
        if any(owner == name for owner, _ in _found):
            break
    return {mode: protocol for (owner, mode), protocol in _found.items() if owner == name}


@cache
def _places() -> tuple[str, ...]:
    """The files and folders of this package."""
    return tuple(f"{__name__}.{one.name}" for one in pkgutil.iter_modules(__path__))


@cache
def _search(place: str) -> tuple[tuple[str, str], ...]:
    """Find the protocols of a file, or of all files of a folder; their names and modes."""
    folder = getattr(import_module(place), "__path__", ())
    names = (place, *(f"{place}.{one.name}" for one in pkgutil.iter_modules(folder)))
    own = [protocol for name in names for protocol in getattr(import_module(name), "PROTOCOLS", ())]
    _found.update({(protocol.name, protocol.mode): _with_later(protocol) for protocol in own})
    return tuple((protocol.name, protocol.mode) for protocol in own)


@cache
def _search_all() -> None:
    """Find all protocols, in the order of the places whichever was searched first."""
    for key in [key for place in _places() for key in _search(place)]:
        _found[key] = _found.pop(key)


def _with_later(protocol: Protocol) -> Protocol:
    """The protocol with the measures of ``metrics/later`` for its family, which are no part of its edition."""
    modules = (import_module(f"{later.__name__}.{one.name}") for one in pkgutil.iter_modules(later.__path__))
    own = (m for module in modules if protocol.family.name in module.FAMILIES for m in module.MEASURES)
    return replace(protocol, measures=(*protocol.measures, *(replace(m, later=max(1, m.later)) for m in own)))


@cache
def measures() -> Mapping[str, Measure[Any]]:
    """Every measure that any protocol has, by name, in the order of the protocols; of several of a name the first."""
    found: dict[str, Measure[Any]] = {}
    for protocol in protocols().values():
        for measure in protocol.measures:
            found.setdefault(measure.name, measure)
    return found


def decided_and_best(names: Iterable[str]) -> tuple[str, str, str] | None:
    """Of measures by name: the first of submitted decisions, its best over thresholds, and where that is reached."""
    own = dict.fromkeys(names)
    for name in own:
        best = measures()[name].best if name in measures() else ""
        threshold = measures()[best].threshold if best in measures() else ""
        if best in own and threshold:
            return name, best, threshold
    return None


def names() -> tuple[str, ...]:
    """The protocol names, sorted."""
    return tuple(sorted({name for name, _ in protocols()}))


def find(name: str, *, mode: str = "official", overrides: Mapping[str, Any] | None = None) -> Protocol:
    """The named protocol in one mode, with settings overridden, and with ``rank_by`` the measure that ranks.

    Raises ``UsageError`` naming what is allowed for an unknown name, mode, setting, value or measure.
    """
    known = modes(name)
    if not known:
        raise UsageError(f"unknown protocol {name!r} (allowed: {', '.join(names())}).")
    if mode not in known:
        raise UsageError(f"protocol {name} has no mode {mode!r} (allowed: {', '.join(known)}).")
    return overridden(known[mode], overrides or {})


def overridden(protocol: Protocol, overrides: Mapping[str, Any]) -> Protocol:
    """A protocol with settings overridden, and with ``rank_by`` the measure that ranks.

    Raises ``UsageError`` for an unknown setting, value or measure.
    """
    given = dict(overrides)
    primary = ranking(protocol, str(given.pop(RANK_BY, protocol.primary)))
    made = _settings.override(protocol.settings, given, owner=protocol.name)
    return replace(protocol, settings=made, primary=primary)


def ranking(protocol: Protocol, measure: str) -> str:
    """``measure`` if systems can be ranked by it. Raises ``UsageError`` naming those that they can be."""
    allowed = sorted(one.name for one in protocol.measures if directed(one.better))
    if measure not in allowed:
        raise UsageError(f"{protocol.name} ranks by no measure {measure!r} (allowed: {', '.join(allowed)}).")
    return measure


def idle(protocol: Protocol) -> tuple[Finding, ...]:
    """A warning for every setting that was changed and has no effect, as far as the protocol is one that has a name."""
    named = modes(protocol.name).get(protocol.mode)
    if named is None:
        return ()
    told = _settings.idle(protocol.settings, named.settings, protocol.family.reads.nothing)
    return tuple(Finding("ignored_setting", message, "") for message in told)


def describe(protocol: Protocol) -> dict[str, Any]:
    """A protocol as ``rescore protocols NAME`` prints it: roles, settings and defaults, measures and sources."""
    return {
        "protocol": protocol.name,
        "edition": protocol.edition,
        "mode": protocol.mode,
        "modes": list(modes(protocol.name)),
        "title": protocol.title,
        "primary": protocol.primary,
        "roles": [asdict(role) for role in protocol.roles],
        "settings": _settings.describe(protocol.settings),
        "measures": [
            {
                "name": m.name,
                "label": str(m.label),
                "unit": m.unit,
                "better": m.better,
                "bounds": str(m.bounds_under(protocol.settings)),
                "source": m.source,
                "aggregation": m.aggregation,
                "resampled_by": None if m.resample is None else m.resample.unit,
                "heads_board": m.heads_board,
            }
            for m in protocol.measures
        ],
    }


def fields(protocol: Protocol) -> dict[str, Any]:
    """Every field of a protocol as plain values: what signatures and addresses are made of."""
    return {
        "protocol": protocol.name,
        "edition": protocol.edition,
        "mode": protocol.mode,
        "title": protocol.title,
        "family": protocol.family.name,
        "primary": protocol.primary,
        "measures": [[m.name, m.unit, m.better, m.source] for m in protocol.measures_of_edition],
        "roles": [asdict(role) for role in protocol.roles],
        "settings": asdict(protocol.settings),
    }


def editions(protocol: Protocol) -> dict[str, int]:
    """The editions above 1 of a protocol and of all that share trials with it, by ``name/mode``.

    They share because what is stored of one may be used for another. So whichever is raised, nothing that was stored
    before is used for any of them.
    """
    kind = protocol.family.kind.name
    sharing = [known for known in protocols().values() if known.family.kind.name == kind]
    every = {f"{known.name}/{known.mode}": known.edition for known in (*sharing, protocol)}
    return {name: edition for name, edition in every.items() if edition > 1}


def signature(protocol: Protocol, sources: Iterable[Source]) -> str:
    """One line that names every setting, every input by digest, and the version: equal lines, equal figures."""
    own = fields(protocol)
    words = (own["title"], own["family"], own["measures"], own["roles"])
    made_of = hashlib.sha256(repr(words).encode()).hexdigest()[:12]
    parts = [f"{protocol.name}.{protocol.edition}", protocol.mode, f"rank:{protocol.primary}"]
    parts += [f"{name}:{_word(value)}" for name, value in sorted(own["settings"].items())]
    parts += [f"measures:{made_of}"]
    parts += [f"{source.role}:{source.sha256[:12]}" for source in sorted(sources, key=lambda s: (s.role, s.sha256))]
    return "|".join([*parts, f"rescore:{rescore_version()}"])


def signature_short(long: str) -> str:
    """A signature as people cite it: protocol, edition, mode, the settings that were changed, eight digits of it all.

    ``openkws13.2|official|tolerance_s:0.25|#5e1f0c7a``. Equal digits are equal long ones, for all that is scored in a
    lifetime; the long one says what they stand for.
    """
    head, _, rest = long.partition("|")
    mode, *parts = rest.split("|")
    if not mode:
        return long
    usual = _usual(head.rpartition(".")[0], mode)
    changed = [part for part in parts if part != usual.get(part.partition(":")[0], part)]
    shown = [part if len(part) <= _SHORT else f"{part[:_SHORT]}…" for part in changed]
    return "|".join([head, mode, *shown, f"#{hashlib.sha256(long.encode()).hexdigest()[:8]}"])


@cache
def _usual(name: str, mode: str) -> Mapping[str, str]:
    """The settings of a protocol as they stand in its signature, by name; none of a protocol that there is not."""
    known = modes(name).get(mode)
    listed = {} if known is None else fields(known)["settings"]
    return {setting: f"{setting}:{_word(value)}" for setting, value in listed.items()}


_SHORT = 40
"""Characters of a setting that a short signature shows."""


def _word(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, str) and (not value.isprintable() or "|" in value or value[:1] in ("'", '"')):
        return ascii(value).replace("|", "\\x7c")  # a signature is one line of fields between bars
    return repr(value) if isinstance(value, float) else str(value)


@cache
def rescore_version() -> str:
    """The installed version: part of every signature and result address."""
    return version("rescore")
