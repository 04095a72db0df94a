"""Wheels of the packages that run here, made from what is installed: no network, and no other version than this one."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

_LEFT_OUT = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
_STAMP = (1980, 1, 1, 0, 0, 0)


def closure(name: str) -> dict[str, Distribution]:
    """A package and all that it needs here, by normalised name, extras that are asked for included."""
    found: dict[str, Distribution] = {}
    waiting: list[tuple[str, frozenset[str]]] = [(name, frozenset())]
    seen = set[tuple[str, frozenset[str]]]()
    while waiting:
        one, extras = waiting.pop()
        if (normal(one), extras) in seen:
            continue
        seen.add((normal(one), extras))
        try:
            dist = distribution(one)
        except PackageNotFoundError:
            continue  # an optional part of another platform
        found[normal(one)] = dist
        for text in dist.requires or ():
            requirement = Requirement(text)
            if _is_needed(requirement, extras):
                waiting.append((requirement.name, frozenset(requirement.extras)))
    return dict(sorted(found.items()))


def _is_needed(requirement: Requirement, extras: frozenset[str]) -> bool:
    if requirement.marker is None:
        return True
    return any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras))


def normal(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pack(dist: Distribution, folder: Path) -> Path:
    """The wheel of an installed package in ``folder``. Its files are those installed, byte by byte."""
    wheel = (dist.read_text("WHEEL") or "").splitlines()
    tags = [line.partition(":")[2].strip() for line in wheel if line.startswith("Tag:")] or ["py3-none-any"]
    parts = list(zip(*(tag.split("-") for tag in tags), strict=True))
    tag = "-".join(".".join(dict.fromkeys(part)) for part in parts)
    name = re.sub(r"[-_.]+", "_", dist.metadata["Name"])
    path = folder / f"{name}-{dist.version}-{tag}.whl"
    info = f"{name}-{dist.version}.dist-info"
    rows = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for member, source in _members(dist, info):
            data = source.read_bytes()
            rows.append(f"{_quoted(member)},sha256={_digest(data)},{len(data)}\n")
            entry = zipfile.ZipInfo(member, _STAMP)
            entry.external_attr = (source.stat().st_mode & 0o777 | 0o100000) << 16
            archive.writestr(entry, data)
        rows.append(f"{info}/RECORD,,\n")
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", _STAMP), "".join(rows))
    return path


def _members(dist: Distribution, info: str) -> Iterator[tuple[str, Path]]:
    """Names in the wheel and files here; what an installer made itself is left out, as it makes it again."""
    files = [(str(file), Path(str(dist.locate_file(file)))) for file in dist.files or ()]
    if any(name.endswith(".pth") and "editable" in name for name, _ in files) or _is_redirected(files):
        files = [file for file in files if ".dist-info/" in file[0]]
        files += _sources(dist)
    for name, path in files:
        parts = PurePosixPath(name).parts
        if "__pycache__" in parts or not path.is_file():
            continue
        if parts[0].endswith(".dist-info"):
            if parts[-1] not in _LEFT_OUT or len(parts) > 2:
                yield "/".join((info, *parts[1:])), path
        elif ".." in parts:
            kind = parts[next(at for at, part in enumerate(parts) if part != "..")]
            rest = "/".join(parts[parts.index(kind) + 1 :])
            if kind != "bin":
                yield f"{info.removesuffix('.dist-info')}.data/data/{kind}/{rest}", path
            elif not _is_entry_point(dist, PurePosixPath(rest).name):
                yield f"{info.removesuffix('.dist-info')}.data/scripts/{rest}", path
        else:
            yield name, path


def _is_redirected(files: Iterable[tuple[str, Path]]) -> bool:
    """Whether a package is installed by a path to its sources."""
    return any(name.endswith(".pth") and name.startswith("_") for name, _ in files) and not any(
        name.endswith(".py") for name, _ in files
    )


def _sources(dist: Distribution) -> Iterator[tuple[str, Path]]:
    """The packages of our own distribution, from where they are imported."""
    root = Path(__file__).parents[2]
    for room in ("pipeline", "flows"):
        for path in sorted((root / room).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and dist.metadata["Name"] == "rescore":
                yield path.relative_to(root).as_posix(), path


def _is_entry_point(dist: Distribution, name: str) -> bool:
    return any(point.name == name for point in dist.entry_points if point.group.endswith("_scripts"))


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name
