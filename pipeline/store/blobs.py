"""Objects on any fsspec URL: whole or absent, checked paths, one kind of error.

Local files go through ``local``, buckets through ``s3``, everything else through what fsspec has for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from pipeline.errors import DamageError, Finding, InputError, StoreError, UsageError
from pipeline.store import elsewhere, faults, s3
from pipeline.store.address import digest_bytes
from pipeline.store.entries import Entry
from pipeline.store.local import Folder
from pipeline.store.meter import BYTES
from pipeline.store.paths import checked_path
from pipeline.store.regular import UnreadableError, open_regular
from pipeline.store.seal import seal, unseal

_LOCAL_SCHEMES = ("file", "local")
_CREDENTIALS = re.compile(r"((?:^|[^a-z0-9])s3a?://)(?:[^/?#@]*|(?!arn:)[^/?#@:]*:[^?#]*)@|(://)[^/@]*:[^/@]*@")
"""Before a host or a bucket. A secret key of S3 may have slashes; a bucket's name has neither ``:`` nor ``@``."""
_USER = re.compile(r"(\b(?!abfs|wasb)[a-z][a-z0-9+.-]*://)[^/?#@]*@")
"""A name before a host, or a token; Azure's places alone are written so."""


class ObjectPlace(Protocol):
    """A kind of place for objects. ``FileNotFoundError`` where there is none, else whatever goes wrong."""

    def put(self, path: str, data: bytes) -> None:
        """Write an object as a whole."""

    def create(self, path: str, data: bytes) -> bool:
        """Write an object unless there is one."""

    def get(self, path: str) -> bytes:
        """The bytes of an object."""

    def get_range(self, path: str, begin: int, end: int) -> bytes:
        """Bytes ``begin`` up to ``end`` (exclusive) of an object."""

    def get_tail(self, path: str, n_bytes: int) -> bytes:
        """The last ``n_bytes`` of an object, all of one that has fewer."""

    def exists(self, path: str) -> bool:
        """Whether there is an object."""

    def present(self, paths: Collection[str]) -> set[str]:
        """Those paths at which there is an object."""

    def entries(self, prefix: str) -> Iterable[Entry]:
        """Every object below the folder ``prefix``, in any order."""

    def remove(self, path: str) -> None:
        """Remove an object."""


@dataclass(frozen=True)
class Store:
    """A place for immutable objects: a local folder or any fsspec URL. Cheap to make, to copy and to send.

    ``root`` is the URL as given, with local ones made absolute. Raises ``UsageError`` if it cannot be a store;
    credentials belong to the environment. Every method raises ``StoreError`` on a path that is not harmless and
    where the place cannot be reached, read or written.
    """

    root: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", _normal(self.root))

    def put(self, path: str, data: bytes) -> None:
        """Write an object as a whole, replacing what is there; writing equal contents again changes nothing."""
        with self._faults("write", path) as place:
            place.put(path, data)
        BYTES.wrote(len(data))

    def create(self, path: str, data: bytes) -> bool:
        """Write an object unless there is one: True if this call made it, False if any other did."""
        with self._faults("create", path) as place:
            return place.create(path, data)

    def get(self, path: str) -> bytes:
        """The bytes of an object; ``DamageError`` if there is none."""
        with self._faults("read", path) as place:
            data = place.get(path)
        BYTES.read(len(data))
        return data

    def get_range(self, path: str, begin: int, end: int) -> bytes:
        """Bytes ``begin`` up to ``end`` (exclusive), fewer where the object ends; ``DamageError`` if there is none."""
        with self._faults("read", path) as place:
            data = place.get_range(path, begin, end)
        BYTES.read(len(data))
        return data

    def get_tail(self, path: str, n_bytes: int) -> bytes:
        """The last ``n_bytes`` of an object, all of one that has fewer; ``DamageError`` if there is none."""
        with self._faults("read", path) as place:
            data = place.get_tail(path, n_bytes)
        BYTES.read(len(data))
        return data

    def put_sealed(self, path: str, data: bytes) -> None:
        """Write ``data`` with its SHA-256 around it; sealed JSON stays JSON, with the document under ``body``."""
        self.put(path, seal(data))

    def get_sealed(self, path: str) -> bytes:
        """The bytes that ``put_sealed`` wrote; ``StoreError`` if it is missing or damaged."""
        return unseal(self.get(path), self.url(path))

    def describe(self, path: str) -> dict[str, str | int]:
        """``sha256`` and ``n_bytes`` of an object, as a manifest lists it; ``StoreError`` if there is none."""
        data = self.get(path)
        return {"sha256": digest_bytes(data), "n_bytes": len(data)}

    def exists(self, path: str) -> bool:
        """Whether there is an object (not a folder) at ``path``."""
        with self._faults("look up", path) as place:
            return place.exists(path)

    def present(self, paths: Collection[str]) -> set[str]:
        """Those of some paths at which there is an object: asked together, which takes a bucket few requests."""
        for path in paths:
            checked_path(path)
        with self._faults("list", "") as place:
            return place.present(paths)

    def listing(self, prefix: str = "") -> dict[str, int]:
        """Path and size in bytes of every object below the folder ``prefix``, in order of path; ``""`` lists all."""
        return {entry.path: entry.n_bytes for entry in self.entries(prefix)}

    def times(self, prefix: str = "") -> dict[str, float]:
        """When every object below ``prefix`` was written, in seconds since 1970, by the store's own clock."""
        return {entry.path: entry.written_s for entry in self.entries(prefix)}

    def remove(self, path: str) -> None:
        """Remove an object; nothing happens if there is none."""
        with self._faults("remove", path) as place, suppress(FileNotFoundError):
            place.remove(path)

    def leftovers(self) -> list[Entry]:
        """Temporary files of a local folder, in order of path: only writers at work or killed ones have any."""
        with self._faults("list", "") as place:
            return sorted(place.leftovers()) if isinstance(place, Folder) else []

    def remove_leftover(self, entry: Entry) -> None:
        """Remove one of ``leftovers``; nothing happens if it is gone."""
        with self._faults("list", "") as place, suppress(FileNotFoundError):
            place.remove(entry.path)

    def url(self, path: str) -> str:
        """Where an object is, for people and other tools: a local path or a full URL; ``""`` is the store itself."""
        return f"{self.root.rstrip('/')}/{checked_path(path)}" if path else self.root

    def entries(self, prefix: str = "") -> list[Entry]:
        """Every object below the folder ``prefix`` with size and time, in order of path."""
        with self._faults("list", prefix) as place:
            below = f"{prefix}/" if prefix else ""
            return sorted(entry for entry in place.entries(prefix) if entry.path.startswith(below))

    @contextmanager
    def _faults(self, verb: str, path: str) -> Iterator[ObjectPlace]:
        where = self.url(path)
        if verb != "list":
            checked_path(path)
        try:
            yield _place(self.root)
        except (StoreError, UsageError):
            raise
        except FileNotFoundError as error:
            if faults.code_of(error) == faults.NO_BUCKET:
                raise StoreError(f"{where}: cannot {verb} the object ({faults.told(error)}).") from error
            self._raise_homeless(verb, error)
            message = f"{where}: cannot {verb} the object (there is none). Run again to make it."
            raise (DamageError if verb == "read" else StoreError)(message) from error
        except Exception as error:  # drivers raise whatever their libraries raise, not only OSError
            self._raise_homeless(verb, error)
            raise StoreError(f"{where}: cannot {verb} the object ({faults.told(error)}).") from error

    def _raise_homeless(self, verb: str, error: Exception) -> None:
        """Say so where it is the store itself that cannot be made, and not the one object."""
        if verb in ("write", "create") and "://" not in self.root and not Path(self.root).is_dir():
            told = getattr(error, "strerror", None) or faults.told(error)
            message = f"{self.root}: no store can be made here ({told}). Give a folder that can be written as --store."
            raise StoreError(message) from error


def open_input(uri: str) -> BinaryIO:
    """Open an input file at a local path or any fsspec URL for reading.

    Raises ``InputError`` where there is no such file, or none that can be read, ``StoreError`` where the place cannot
    be reached or does not let it be read, and ``UsageError`` for a URL with credentials: it would stand in results.
    """
    where = redacted(uri)
    if _CREDENTIALS.search(uri):
        raise UsageError(
            f"{where}: a URL of an input holds no credentials (seen: some before the place's name). Take them out, "
            "and give them in the environment or fsspec's configuration."
        )
    try:
        if s3.is_s3(uri):
            return s3.open_file(uri)
        fs, path = elsewhere.file_system(uri)
        return open_regular(Path(path)) if isinstance(fs, LocalFileSystem) else cast(BinaryIO, fs.open(path, "rb"))
    except UnreadableError as error:
        raise unreadable(where, str(error)) from error
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        if faults.code_of(error) == faults.NO_BUCKET:
            raise StoreError(f"{where}: cannot reach the input ({faults.told(error)}).") from error
        if _is_outage(error.__cause__):
            raise StoreError(f"{where}: cannot reach the input ({type(error.__cause__).__name__}).") from error
        message = "there is no such file. Mend the path, or supply the file."
        raise InputError([Finding("missing_input", message, where)]) from error
    except (StoreError, UsageError):
        raise
    except (ValueError, ImportError) as error:
        message = f"this is not the place of a file ({faults.told(error)}). Mend the URL."
        raise InputError([Finding("unknown_place", message, where)]) from error
    except Exception as error:  # drivers raise whatever their libraries raise, not only OSError
        told = faults.told(error) if where == uri else type(error).__name__
        raise StoreError(f"{where}: cannot open the input ({told}).") from error


def unreadable(where: str, why: str) -> InputError:
    """The refusal of something that stands where a file should, and cannot be read."""
    message = f"the file cannot be read: {why} (allowed: a regular file that may be read). Supply the file itself."
    return InputError([Finding("unreadable_input", message, where)])


def _is_outage(cause: BaseException | None) -> bool:
    """Whether a file that is said to be missing could not be asked for: so fsspec's HTTP driver reports an outage."""
    if isinstance(cause, OSError):
        return not isinstance(cause, FileNotFoundError | IsADirectoryError | NotADirectoryError)
    return int(getattr(cause, "status", 0) or 0) >= 500


def redacted(uri: str) -> str:
    """``uri`` without what may be secret: who stands before the host or bucket, the query and the fragment."""
    plain = _CREDENTIALS.sub(r"\1\2", re.sub(r"(?<=://)([^?#]*)[?#].*", r"\1", uri))
    return _USER.sub(r"\1", plain)


def _normal(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if separator and scheme not in _LOCAL_SCHEMES:
        if "?" in rest or "::" in url or redacted(url) != url or scheme not in fsspec.available_protocols():
            raise UsageError(
                f"{redacted(url)}: this URL cannot be a store (allowed: a local path or SCHEME://PLACE of fsspec, "
                "without credentials and options, which belong to the environment)."
            )
        return f"{scheme}://{rest.rstrip('/')}"
    path = rest if separator else url
    if not path or "\0" in path:
        raise UsageError("a store needs a path or URL (seen: an empty one).")
    return str(Path(path).expanduser().absolute())


def _place(root: str) -> ObjectPlace:
    if "://" not in root:
        return Folder(root)
    return s3.Bucket(root) if s3.is_s3(root) else elsewhere.Elsewhere(root)
