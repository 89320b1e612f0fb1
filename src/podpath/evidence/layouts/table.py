"""The table of all layouts, and the bundles that a set of files is.

A layout is recognized by the paths of files below a root, wherever that root is: an archive may
hold several bundles, one of another even. A file is of the bundle whose root is the longest that it
stands below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from podpath.evidence.layouts import (
    aks,
    calico,
    cilium,
    cluster_info,
    eks,
    gke,
    kubeskoop,
    must_gather,
    retina,
    sosreport,
    troubleshoot,
)
from podpath.evidence.layouts.layout import BundleLayout, HostRule, LaidOutFile, compiled, place

LAYOUTS: tuple[BundleLayout, ...] = (
    sosreport.LAYOUT,
    must_gather.LAYOUT,
    cilium.BUGTOOL,
    cilium.SYSDUMP,
    calico.CLUSTER,
    calico.NODE,
    eks.LAYOUT,
    aks.LAYOUT,
    troubleshoot.LAYOUT,
    retina.LAYOUT,
    cluster_info.LAYOUT,
    gke.LAYOUT,
    kubeskoop.LAYOUT,
)
"""All layouts; where two claim one root, the earlier row has it."""
_HEAD = 1 << 20


class Bundle(NamedTuple):
    """A bundle that was recognized among files."""

    layout: BundleLayout
    root: str
    """What the paths of its files begin with; empty, or ending in `/`."""
    host: str | None = None
    """The node that it says it was made on."""


class NamedFile(NamedTuple):
    """A file by its name within what was given."""

    name: str
    data: bytes


def find_bundles(files: Sequence[NamedFile]) -> tuple[Bundle, ...]:
    """Return the bundles that files make, the innermost first."""
    claimed: dict[str, BundleLayout] = {}
    for layout in LAYOUTS:
        for root in _find_roots(layout, files):
            claimed.setdefault(root, layout)
    known = {file.name: file.data for file in files}
    found = [
        Bundle(layout, root, _name_host(layout.hosts, root, known))
        for root, layout in claimed.items()
    ]
    nameless = sum(bundle.layout.of_node and bundle.host is None for bundle in found) > 1
    named = [
        bundle._replace(host=_name_by_root(bundle)) if nameless else bundle for bundle in found
    ]
    return tuple(sorted(named, key=lambda bundle: -len(bundle.root)))


def _name_by_root(bundle: Bundle) -> str | None:
    """Name a node after its bundle's folder or file, where several bundles name no node: they are
    of different ones.
    """
    return bundle.host or (bundle.root.rstrip("/") if bundle.layout.of_node else None) or None


def _find_roots(layout: BundleLayout, files: Iterable[NamedFile]) -> Iterator[str]:
    if layout.knows is not None:
        yield from (file.name for file in files if layout.knows(file.data[:_HEAD]))
        return
    seen: dict[str, set[str]] = {}
    for file in files:
        for mark in layout.marks:
            found = compiled(rf"(?P<root>(?:.*?/)??){mark}").fullmatch(file.name)
            if found is not None:
                seen.setdefault(found["root"], set()).add(mark)
    yield from (root for root, marks in seen.items() if len(marks) >= layout.needed)


def _name_host(rules: Iterable[HostRule], root: str, files: Mapping[str, bytes]) -> str | None:
    """Return the node's name, from the first file that states it."""
    for rule in rules:
        for name, data in files.items():
            if (
                not name.startswith(root)
                or compiled(rule.path).fullmatch(name[len(root) :]) is None
            ):
                continue
            lines = data[:4096].decode("utf-8", "replace").split("\n")
            found = next(
                (match for match in map(compiled(rule.pattern).match, lines) if match is not None),
                None,
            )
            if found is not None:
                return found["host"]
    return None


def place_file(bundles: Iterable[Bundle], name: str) -> tuple[Bundle, LaidOutFile | None] | None:
    """Say of which bundle a file is, and what its row says of it; None for a file of no bundle."""
    bundle = next((bundle for bundle in bundles if name.startswith(bundle.root)), None)
    return (
        None
        if bundle is None
        else (bundle, place(bundle.layout, name[len(bundle.root) :], bundle.host))
    )


def is_single(data: bytes) -> bool:
    """Tell whether a file is a bundle all by itself."""
    return any(layout.knows is not None and layout.knows(data[:_HEAD]) for layout in LAYOUTS)
