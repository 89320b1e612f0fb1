"""The bundles that paths name: files, folders, folders of many, object storage by fsspec, and the
nodes of a live cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import NamedTuple

from podpath.net.errors import MissingExtra, UsageError
from podpath_fleet.object_store import FetchedBundle, fetch, list_store, stamp_folder

MARKS = ("bundle.json", "netns", "node")
"""What a folder has that is a bundle, and no folder of many."""
LIVE = "cluster://"
"""What a path begins with that names a cluster by its context (`cluster://` is the current one's),
or a node of one.
"""
PACKED = (".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar", ".zip")
TICKETS = (".md", ".txt", ".log")


class BundlePath(NamedTuple):
    """One bundle to read."""

    path: str
    identity: str
    """The path with size and time: another one stands for another bundle. A node of a cluster has
    none, since its snapshot is taken when it is read.
    """


def list_bundles(paths: Iterable[str]) -> Iterator[BundlePath]:
    """Yield every bundle once, in the order in which they are named, those of a folder by name;
    `UsageError` where a path is not there.
    """
    seen: set[str] = set()
    for path in paths:
        for bundle in _list(path):
            if bundle.path not in seen:
                seen.add(bundle.path)
                yield bundle


def _list(path: str) -> Iterator[BundlePath]:
    if path.startswith(LIVE):
        return _list_live(path.removeprefix(LIVE))
    if "://" in path:
        return _list_remote(path)
    return _list_local(Path(path))


def _list_live(context: str) -> Iterator[BundlePath]:
    for node in _load_live_nodes().list_nodes(context):
        path = f"{LIVE}{context}/{node}"
        yield BundlePath(path, path)


def _load_live_nodes() -> ModuleType:
    """Import what asks clusters; `MissingExtra` where its libraries are not installed."""
    try:
        return import_module("podpath_fleet.live_nodes")
    except ImportError as error:
        raise MissingExtra(
            f"bundles of {LIVE} need an extra: pip install 'podpath[k8s]'"
        ) from error


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
    storage is copied, and of a node of a cluster a snapshot is taken.
    """
    if "://" not in path:
        yield FetchedBundle(Path(path))
        return
    with TemporaryDirectory(prefix="podpath-fleet-") as folder:
        if path.startswith(LIVE):
            context, _, node = path.removeprefix(LIVE).rpartition("/")
            yield FetchedBundle(_load_live_nodes().fetch_snapshot(context, node, Path(folder)))
        else:
            yield fetch(path, Path(folder))
