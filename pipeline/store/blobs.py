"""Objects on any fsspec URL: whole or absent, checked paths, one kind of error.

Local files go through ``local``; everything else through the one file system that fsspec caches per process.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from pipeline.errors import DamageError, Finding, InputError, StoreError, UsageError
from pipeline.store import local
from pipeline.store.address import digest_bytes
from pipeline.store.paths import checked_path
from pipeline.store.seal import seal, unseal

_LOCAL_SCHEMES = ("file", "local")
_LOST_RACE = {"PreconditionFailed", "ConditionalRequestConflict", "412", "409"}
"""S3's answers to a conditional write that came second."""


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
        with self._faults("write", path):
            if self._is_local:
                local.write(self._file(path), data)
            else:
                self._remote(path, "pipe_file", data)

    def create(self, path: str, data: bytes) -> bool:
        """Write an object unless there is one: True if this call made it, False if any other did."""
        with self._faults("create", path):
            if self._is_local:
                return local.create(self._file(path), data)
            try:
                self._remote(path, "pipe_file", data, mode="create")
            except FileExistsError:
                return False
            except OSError as error:
                # s3fs raises OSError(EINVAL) caused by botocore's answer.
                answer: dict[str, Any] = getattr(error.__cause__, "response", {})
                if answer.get("Error", {}).get("Code") in _LOST_RACE:
                    return False
                raise
            return True

    def get(self, path: str) -> bytes:
        """The bytes of an object; ``DamageError`` if there is none."""
        with self._faults("read", path):
            return self._file(path).read_bytes() if self._is_local else cast(bytes, self._remote(path, "cat_file"))

    def put_sealed(self, path: str, data: bytes) -> None:
        """Write ``data`` with its SHA-256 around it; sealed JSON stays JSON, with the document under ``body``."""
        self.put(path, seal(data))

    def get_sealed(self, path: str) -> bytes:
        """What ``put_sealed`` wrote; ``StoreError`` if it is missing or damaged."""
        return unseal(self.get(path), self.url(path))

    def describe(self, path: str) -> dict[str, str | int]:
        """``sha256`` and ``n_bytes`` of an object, as a manifest lists it; ``StoreError`` if there is none."""
        data = self.get(path)
        return {"sha256": digest_bytes(data), "n_bytes": len(data)}

    def exists(self, path: str) -> bool:
        """Whether there is an object (not a folder) at ``path``."""
        with self._faults("look up", path):
            if self._is_local:
                return self._file(path).is_file()
            try:
                return bool(self._remote(path, "info")["type"] == "file")
            except FileNotFoundError:
                return False

    def listing(self, prefix: str = "") -> dict[str, int]:
        """Path and size in bytes of every object below the folder ``prefix``, in order of path; ``""`` lists all."""
        with self._faults("list", prefix):
            if self._is_local:
                top = self._file(prefix) if prefix else Path(self.root)
                found = {path.relative_to(self.root).as_posix(): size for path, size in local.sizes(top)}
            else:
                fs, base = self._fs()
                objects = fs.find(f"{base}/{prefix}".rstrip("/"), detail=True)
                found = {name[len(base) + 1 :]: int(entry["size"]) for name, entry in objects.items()}
            below = f"{prefix}/" if prefix else ""
            return {path: found[path] for path in sorted(found) if path.startswith(below)}

    def times(self, prefix: str = "") -> dict[str, float]:
        """When every object below ``prefix`` was written, in seconds since 1970, by the store's own clock."""
        with self._faults("list", prefix):
            if self._is_local:
                top = self._file(prefix) if prefix else Path(self.root)
                return {path.relative_to(self.root).as_posix(): when for path, when in local.times(top)}
            fs, base = self._fs()
            objects = fs.find(f"{base}/{prefix}".rstrip("/"), detail=True)
            return {name[len(base) + 1 :]: _written(entry) for name, entry in objects.items()}

    def remove(self, path: str) -> None:
        """Remove an object; nothing happens if there is none."""
        with self._faults("remove", path):
            try:
                if self._is_local:
                    self._file(path).unlink()
                else:
                    self._remote(path, "rm_file")
            except FileNotFoundError:
                return

    def url(self, path: str) -> str:
        """Where an object is, for people and other tools: a local path or a full URL; ``""`` is the store itself."""
        return f"{self.root.rstrip('/')}/{checked_path(path)}" if path else self.root

    @property
    def _is_local(self) -> bool:
        return "://" not in self.root

    def _file(self, path: str) -> Path:
        return Path(self.root, checked_path(path))

    def _fs(self) -> tuple[Any, str]:
        """The process's file system and the root's path on it, without a slash at the end."""
        fs, base = _file_system(self.root)
        return fs, base.rstrip("/")

    def _remote(self, path: str, method: str, *args: Any, **options: Any) -> Any:
        fs, base = self._fs()
        return getattr(fs, method)(f"{base}/{checked_path(path)}", *args, **options)

    @contextmanager
    def _faults(self, verb: str, path: str) -> Iterator[None]:
        where = self.url(path)
        try:
            yield
        except StoreError:
            raise
        except FileNotFoundError as error:
            message = f"{where}: cannot {verb} the object (there is none). Run again to make it."
            raise (DamageError if verb == "read" else StoreError)(message) from error
        except Exception as error:  # drivers raise whatever their libraries raise, not only OSError
            raise StoreError(f"{where}: cannot {verb} the object ({_told(error)}).") from error


def open_input(uri: str) -> BinaryIO:
    """Open an input file at a local path or any fsspec URL for reading.

    Raises ``InputError`` where there is no such file, ``StoreError`` where the place cannot be reached or read.
    """
    where = redacted(uri)
    try:
        fs, path = _file_system(uri)
        if isinstance(fs, LocalFileSystem):
            return Path(path).open("rb")
        return cast(BinaryIO, fs.open(path, "rb"))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        if _is_outage(error.__cause__):
            raise StoreError(f"{where}: cannot reach the input ({type(error.__cause__).__name__}).") from error
        message = "there is no such file. Mend the path, or supply the file."
        raise InputError([Finding("missing_input", message, where)]) from error
    except (ValueError, ImportError) as error:
        message = f"this is not the place of a file ({_told(error)}). Mend the URL."
        raise InputError([Finding("unknown_place", message, where)]) from error
    except Exception as error:  # drivers raise whatever their libraries raise, not only OSError
        told = _told(error) if where == uri else type(error).__name__
        raise StoreError(f"{where}: cannot open the input ({told}).") from error


def _is_outage(cause: BaseException | None) -> bool:
    """Whether a file that is said to be missing could not be asked for: so fsspec's HTTP driver reports an outage."""
    if isinstance(cause, OSError):
        return not isinstance(cause, FileNotFoundError | IsADirectoryError | NotADirectoryError)
    return int(getattr(cause, "status", 0) or 0) >= 500


def redacted(uri: str) -> str:
    """``uri`` without what may be secret: a password before the host, and the query (signed URLs)."""
    return re.sub(r"(?<=://)[^/@]*:[^/@]*@", "", re.sub(r"(?<=://)([^?]*)\?.*", r"\1", uri))


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


def _file_system(url: str) -> tuple[Any, str]:
    # fsspec keeps one file system per process and arguments (and starts anew after a fork). Without its cache of
    # listings, which would hide what other processes wrote.
    return cast(tuple[Any, str], fsspec.core.url_to_fs(url, use_listings_cache=False))


def _written(entry: dict[str, Any]) -> float:
    """The time of writing in what a driver says about an object; now where it does not say."""
    for name in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = entry.get(name)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, int | float):
            return float(value)
    return time.time()


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
