"""The bundles that paths name: files, folders, folders of many, and object storage by fsspec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from podpath.net.errors import UsageError
from podpath_fleet.object_store import FetchedBundle, fetch, list_store, stamp_folder

MARKS = ("bundle.json", "netns", "node")
"""What a folder has that is a bundle, and no folder of many."""
PACKED = (".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar", ".zip")
TICKETS = (".md", ".txt", ".log")


class BundlePath(NamedTuple):
    """One bundle to read."""

    path: str
    identity: str
    """The path with size and time: another one stands for another bundle."""


def list_bundles(paths: Iterable[str]) -> Iterator[BundlePath]:
    """Yield every bundle once, in the order in which they are named, those of a folder by name;
    `UsageError` where a path is not there.
    """
    seen: set[str] = set()
    for path in paths:
        found = _list_remote(path) if "://" in path else _list_local(Path(path))
        for bundle in found:
            if bundle.path not in seen:
                seen.add(bundle.path)
                yield bundle


def _list_local(path: Path) -> Iterator[BundlePath]:
    if not path.exists():
        raise UsageError(f"{path}: no such file or directory")
    if path.is_file() or _is_bundle(path):
        yield _identify(path)
        return
    for inner in sorted(path.iterdir()):
        if inner.name.startswith("."):
            continue
        if inner.is_dir() or inner.name.endswith((*PACKED, *TICKETS)):
            yield _identify(inner)


def _is_bundle(path: Path) -> bool:
    return any((path / mark).exists() for mark in MARKS)


def _identify(path: Path) -> BundlePath:
    """Say which bundle it is; one that vanishes meanwhile is told of when it is read."""
    try:
        held = path.stat()
    except OSError:
        return BundlePath(str(path), str(path))
    size = held.st_size if path.is_file() else 0
    return BundlePath(str(path), f"{path} {size} {held.st_mtime_ns}")


def _list_remote(url: str) -> Iterator[BundlePath]:
    held = list_store(url)
    if any(one.name in MARKS for one in held):
        yield BundlePath(url, f"{url} {stamp_folder(url)}")
        return
    for one in held:
        if one.name.startswith("."):
            continue
        if one.is_folder:
            yield BundlePath(one.url, f"{one.url} {stamp_folder(one.url)}")
        elif one.name.endswith((*PACKED, *TICKETS)):
            yield BundlePath(one.url, f"{one.url} {one.stamp}")


@contextmanager
def fetch_bundle(path: str) -> Iterator[FetchedBundle]:
    """Say where a bundle is read, for a block: one that is local stays where it is, one in object
    storage is copied.
    """
    if "://" not in path:
        yield FetchedBundle(Path(path))
        return
    with TemporaryDirectory(prefix="podpath-fleet-") as folder:
        yield fetch(path, Path(folder))
