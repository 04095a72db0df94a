"""Points in time as a plan and a mail header write them: with their zone, always."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MIDNIGHT = re.compile(r"(?P<date>\d{4}-\d\d-\d\d)[T ]24:00(?::00)?(?P<rest>.*)")
_NAMED = re.compile(r"(?P<time>.+?)\s+(?P<zone>[A-Za-z_]+(?:/[A-Za-z_+-]+)*(?:[+-]\d+)?)")
FORM = "allowed: 2012-09-24T24:00+01:00, or 2012-09-24T23:59 Europe/Madrid"


def parse(text: str) -> datetime:
    """A time with its zone: ISO 8601 with an offset or followed by a zone's name; ``24:00`` ends the day.

    Raises ``ValueError`` for what is no time, and for a time without a zone, which means another moment to everybody.
    """
    named = _NAMED.fullmatch(text.strip())
    plain = named["time"] if named else text.strip()
    midnight = _MIDNIGHT.fullmatch(plain)
    try:
        moment = datetime.fromisoformat(f"{midnight['date']}T00:00{midnight['rest']}" if midnight else plain)
    except ValueError as error:
        raise ValueError(f"{text!r} is no time ({FORM})") from error
    if named:
        try:
            moment = moment.replace(tzinfo=ZoneInfo(named["zone"])) if moment.tzinfo is None else moment
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError(f"no time zone is called {named['zone']!r} ({FORM})") from error
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone ({FORM})")
    return moment + timedelta(days=1) if midnight else moment


def stamp(moment: datetime) -> str:
    """A moment as the ledger keeps it: ISO 8601 with its offset, to the microsecond."""
    return moment.isoformat()


def now() -> datetime:
    """This moment, UTC."""
    return datetime.now(UTC)


def utc(text: str) -> str:
    """A time as the ledger keeps it, for pages: ``2026-06-01 22:00 UTC``."""
    return f"{parse(text).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
