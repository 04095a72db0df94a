"""URLs of the evaluation file: secrets, placeholders, and what a relative path is relative to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping
from pathlib import Path

LONGEST_URL = 4096

_PLACE = r"(?:abfss?|wasbs?)://[^\s/?#@:]*@"
"""Azure writes ``container@account``: there, and nowhere else, what stands before the ``@`` is a place."""
_USERINFO = re.compile(rf"(?i)\b(?!{_PLACE})([a-z][a-z0-9+.-]*://)[^\s/?#]*@")
_BESIDE = re.compile(r"(?i)([a-z][a-z0-9+.-]*://[^\s?#'\"]*)([?#])(?!\*\*\*)[^\s'\"]+")
"""A query or a fragment: tokens, signatures and sessions stand there under any name."""
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def masked(text: str) -> str:
    """``text`` with the credentials of every URL in it replaced by ``***``."""
    return _BESIDE.sub(r"\1\2***", _USERINFO.sub(r"\1***@", text)) if "://" in text else text


def has_secret(url: str) -> bool:
    """Whether a URL carries a user, a query or a fragment: any may be a secret, and plans are kept."""
    return _USERINFO.search(url) is not None or _BESIDE.search(url) is not None


def placeholders(url: str) -> list[str]:
    """The names in braces, in order."""
    return _PLACEHOLDER.findall(url)


def filled(url: str, names: Mapping[str, str]) -> str:
    """``url`` with the placeholders found in ``names`` replaced, the others left."""
    return _PLACEHOLDER.sub(lambda found: names.get(found[1], found[0]), url)


def fault_of(url: str, allowed: Collection[str]) -> tuple[str, str] | None:
    """Code and message of what is wrong with a path or URL, None when nothing is.

    ``allowed`` are the placeholders that mean something in this field.
    """
    if not url or url != url.strip() or len(url) > LONGEST_URL or not url.isprintable():
        what = f"must be a path or URL of 1 to {LONGEST_URL} printable characters without blanks around it"
        return "bad_url", f"{what} (got {shown(url)})"
    if has_secret(url):
        what = f"carries credentials, a query or a fragment ({masked(url)})"
        mend = "Name the place alone; keep what opens it in the environment or in the fsspec configuration"
        return "secret_in_url", f"{what}. {mend}"
    unknown = [name for name in placeholders(url) if name not in allowed]
    stray = "{" in _PLACEHOLDER.sub("", url) or "}" in _PLACEHOLDER.sub("", url)
    if unknown or stray:
        seen = ", ".join(f"{{{name}}}" for name in unknown) or "a brace that is not part of one"
        names = ", ".join(f"{{{name}}}" for name in allowed) or "none here"
        return "bad_placeholder", f"unknown placeholder (got {seen}, allowed: {names})"
    return None


def shown(value: object) -> str:
    """A value as a message shows it: quoted, cut to 80 characters, without credentials."""
    text = masked(value) if isinstance(value, str) else str(value)
    return repr(text if len(text) <= 80 else text[:79] + "…")


def folder_of(uri: str) -> str:
    """The folder of a file, as the base of ``resolved``: an absolute local path or a URL."""
    if _is_local(uri):
        return str(Path(uri.removeprefix("file://")).absolute().parent)
    head, chain, tail = uri.partition("::")
    scheme, _, path = head.partition("://")
    if scheme in ("http", "https"):
        path = re.split(r"[?#]", path, maxsplit=1)[0]
    return f"{scheme}://{posixpath.dirname(path)}{chain}{tail}"


def resolved(folder: str, url: str) -> str:
    """``url`` as it is when it is absolute, else the file it names seen from ``folder``.

    Local results are plain absolute paths. Raises ``ValueError`` when ``..`` would leave a bucket or host.
    """
    if url.startswith("file://"):
        return str(Path(url.removeprefix("file://")))
    if "://" in url or "::" in url:
        return url
    if _is_local(folder) or url.startswith("/"):
        return str(Path(folder) / url)
    head, chain, tail = folder.partition("::")
    scheme, _, path = head.partition("://")
    root, _, inside = path.partition("/")
    joined = posixpath.normpath(posixpath.join(inside, url) if root else url)
    if joined.startswith(".."):
        raise ValueError(f"leaves {masked(scheme)}://{masked(root)} (got {shown(url)})")
    return f"{scheme}://{posixpath.join(root, joined)}{chain}{tail}"


def _is_local(url: str) -> bool:
    return url.startswith("file://") or not ("://" in url or "::" in url)
