"""The bundles that paths name: files, folders, folders of many, and object storage by fsspec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from podpath.net.errors import MissingExtra, UsageError

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


def load_fsspec() -> Any:  # noqa: ANN401 - a module that may be missing
    """Import fsspec; `MissingExtra` where it is not installed."""
    try:
        return import_module("fsspec")
    except ImportError as error:
        raise MissingExtra(
            "bundles in object storage need more: pip install 'podpath-fleet[remote]'"
        ) from error


def _list_remote(url: str) -> Iterator[BundlePath]:
    files, root = load_fsspec().core.url_to_fs(url)
    scheme = url.partition("://")[0]
    try:
        held = [files.info(root)] if files.isfile(root) else files.ls(root, detail=True)
    except (OSError, ValueError) as error:
        raise UsageError(f"{url}: {error}") from error
    for one in sorted(held, key=lambda each: str(each["name"])):
        if one["type"] == "file" and str(one["name"]).endswith((*PACKED, *TICKETS)):
            stamp = one.get("ETag") or one.get("etag") or one.get("mtime") or ""
            path = f"{scheme}://{one['name']}"
            yield BundlePath(path, f"{path} {one['size']} {stamp}")


def fetch_remote(path: str, folder: Path) -> Path:
    """Copy a bundle from object storage into a folder, and return where it is; one that is local
    stays where it is.
    """
    if "://" not in path:
        return Path(path)
    files, root = load_fsspec().core.url_to_fs(path)
    name = Path(root).name
    digest = blake2b(path.encode(), digest_size=4).hexdigest()
    target = folder / f"{digest}-{name}"
    files.get_file(root, str(target))
    return target
