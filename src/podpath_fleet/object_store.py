"""Bundles in object storage, by fsspec: what a store lists, and copies of what is to be read.

A bundle is one object (an archive, a ticket) or all that lie in one folder. What a store does not
give is said with the object's URL: of a folder, that object is a gap and the others are read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from podpath.evidence.gathered import make_gap
from podpath.net.errors import EvidenceError, MissingExtra, PodpathError, UsageError
from podpath.net.provenance import Gap

_ERRORS = (
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("aiohttp", "ClientError"),
    ("azure.core.exceptions", "AzureError"),
    ("gcsfs.retry", "HttpError"),
    ("google.auth.exceptions", "GoogleAuthError"),
)
"""What file systems of fsspec let through of the libraries that they are made of, besides
`OSError`.
"""
_STAMPS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")
"""What stores call that by which one content of an object differs from another."""
MOST_OBJECTS = 20_000
"""Objects of one bundle, as many as there may be files in a folder."""


class StoredEntry(NamedTuple):
    """An object, or a folder of objects."""

    url: str
    name: str
    """The last part of it."""
    is_folder: bool
    stamp: str
    """Its size with what tells its content from another; empty for a folder."""


class FetchedBundle(NamedTuple):
    """Where a bundle is read."""

    path: Path
    gaps: tuple[Gap, ...] = ()
    """The objects of it that the store did not give."""


def load_fsspec() -> Any:  # noqa: ANN401 - a module that may be missing
    """Import fsspec; `MissingExtra` where it is not installed."""
    try:
        return import_module("fsspec")
    except ImportError as error:
        raise MissingExtra(
            "bundles in object storage need more: pip install 'podpath-fleet[remote]'"
        ) from error


def list_store(url: str) -> tuple[StoredEntry, ...]:
    """Return the object that a URL names, or what lies in the folder that it names, by name;
    `UsageError` says what is in the way.
    """
    files, root = _open(url)
    try:
        if files.isfile(root):
            return (_make_entry(url, files.info(root)),)
        held = files.ls(root, detail=True)
    except _list_errors() as error:
        raise UsageError(f"{url}: {_spell(error)}") from error
    entries = (
        _make_entry(url, one) for one in held if str(one["name"]).strip("/") != root.strip("/")
    )
    return tuple(sorted(entries))


def stamp_folder(url: str) -> str:
    """Return a hash of the names, sizes and stamps of all objects of a folder."""
    files, root = _open(url)
    try:
        found = files.find(root, detail=True)
    except _list_errors() as error:
        raise UsageError(f"{url}: {_spell(error)}") from error
    lines = sorted(f"{name} {_stamp(one)}" for name, one in found.items())
    return blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def fetch(url: str, folder: Path) -> FetchedBundle:
    """Copy an object, or all objects of a folder, into a local folder; `EvidenceError` where the
    store gives none.
    """
    files, root = _open(url)
    name = PurePosixPath(root).name
    target = folder / f"{blake2b(url.encode(), digest_size=4).hexdigest()}-{name}"
    try:
        if files.isfile(root):
            files.get_file(root, str(target))
            return FetchedBundle(target)
        found = files.find(root, detail=True)
    except _list_errors() as error:
        raise EvidenceError(f"{url}: could not be read: {_spell(error)}") from error
    if len(found) > MOST_OBJECTS:
        raise EvidenceError(f"{url}: expected at most {MOST_OBJECTS} objects, saw {len(found)}")
    gaps = tuple(_copy_objects(files, url, PurePosixPath(root), sorted(found), target))
    if not any(path.is_file() for path in target.rglob("*")):
        why = f"{gaps[0].span.source.name}: {gaps[0].why}" if gaps else f"{url}: no such object"
        raise EvidenceError(why)
    return FetchedBundle(target, gaps)


def _copy_objects(
    files: Any,  # noqa: ANN401 - a file system of fsspec
    url: str,
    root: PurePosixPath,
    names: list[str],
    target: Path,
) -> Iterator[Gap]:
    """Copy objects to where they lie in their folder; yield those that cannot be."""
    for name in names:
        inner = PurePosixPath(name).relative_to(root)
        hidden = any(part.startswith(".") and part != ".." for part in inner.parts)
        if hidden or not inner.parts or name.endswith("/"):
            continue  # as local folders leave out what is hidden; the others are marks of folders
        shown = f"{url.rstrip('/')}/{inner}"
        if ".." in inner.parts or "\0" in name:
            yield make_gap(shown, "expected a name within the folder: left out")
            continue
        place = target.joinpath(*inner.parts)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            files.get_file(name, str(place))
        except _list_errors() as error:
            with suppress(OSError):
                place.unlink()
            yield make_gap(shown, f"could not be read: {_spell(error)}")


def _open(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and what the URL names in it."""
    try:
        files, root = load_fsspec().core.url_to_fs(url)
    except PodpathError:
        raise
    except ImportError as error:
        raise MissingExtra(f"{url}: {error}") from error
    except _list_errors() as error:
        raise UsageError(f"{url}: {_spell(error)}") from error
    return files, str(root)


def _make_entry(url: str, told: Mapping[str, Any]) -> StoredEntry:
    name = str(told["name"]).rstrip("/")
    whole = name if "://" in name else f"{url.partition('://')[0]}://{name}"
    is_folder = told["type"] == "directory"
    stamp = "" if is_folder else _stamp(told)
    return StoredEntry(whole, name.rpartition("/")[2], is_folder, stamp)


def _stamp(told: Mapping[str, Any]) -> str:
    mark = next((told[key] for key in _STAMPS if told.get(key)), "")
    return f"{told.get('size')} {mark}"


def _list_errors() -> tuple[type[Exception], ...]:
    """Return what the libraries that are loaded raise where a store does not give something."""
    modules = ((sys.modules.get(module), name) for module, name in _ERRORS)
    found = (getattr(module, name, None) for module, name in modules)
    return (OSError, ValueError, *(one for one in found if isinstance(one, type)))


def _spell(error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) else None
    if said is None and isinstance(error, FileNotFoundError):
        return "no such object"
    return said or str(error) or type(error).__name__
