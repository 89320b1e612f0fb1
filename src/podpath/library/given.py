"""What a caller gives: evidence as paths, pasted text or the node that this runs on, and probes to
ask about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath

from podpath.net.probe import Probe
from podpath.node.node import Node
from podpath.node.probe_names import names_ends, resolve_probe

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Pasted:
    """Text as somebody pasted it: an output, a ticket, a log."""

    text: str
    name: str = "pasted"
    """What answers call it where they quote it."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A bundle in memory, packed as `podpath snapshot -o -` prints it."""

    data: bytes = field(repr=False)
    name: str = "bundle.tar.gz"
    """What answers call it where they quote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThisNode:
    """The node that this runs on, asked live. Needs root."""

    logs: bool = False
    """True: the ends of its logs too."""
    netns: tuple[str, ...] = ()
    """Network namespaces to ask too, though no link leads to them."""
    node: str | None = None
    """The node's own namespace, where that is not the one of process 1: a name, a process or a
    file.
    """


Piece = str | PathLike[str] | Pasted | Packed | ThisNode
"""One piece of evidence. A path names a file, a folder or an archive; `-` is standard input."""
Given = Piece | Sequence[Piece]
"""All evidence of one case."""
Asked = str | Probe
"""A probe, or its text: `tcp 10.244.1.5 > 10.96.0.1:443`."""


def list_pieces(evidence: Given) -> tuple[Piece, ...]:
    """Return the pieces of the evidence, also where it is a single one."""
    if isinstance(evidence, (str, PathLike, Pasted, Packed, ThisNode)):
        return (evidence,)
    return tuple(evidence)


def name_piece(piece: Piece) -> str:
    """Name a piece of evidence as errors do."""
    match piece:
        case Pasted(name=name) | Packed(name=name):
            return name
        case ThisNode():
            return "this node"
        case _:
            if (path := fspath(piece)) == STDIN:
                return "standard input"
            return path


def list_paths(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Return the pieces that are paths."""
    return tuple(fspath(piece) for piece in pieces if isinstance(piece, (str, PathLike)))


def parse_probes(probes: Sequence[Asked]) -> tuple[Probe, ...]:
    """Parse the probes that can be read without evidence; `UsageError` says which part of one is
    wrong.
    """
    parsed: list[Probe] = []
    for probe in probes:
        if isinstance(probe, Probe):
            parsed.append(probe)
        elif not names_ends(probe):
            parsed.append(Probe.parse(probe))
    return tuple(parsed)


def place_probes(probes: Sequence[Asked], node: Node) -> tuple[Probe, ...]:
    """Return all probes, names in them resolved with the evidence; `UsageError` lists the names
    that there are.
    """
    return tuple(
        probe if isinstance(probe, Probe) else resolve_probe(probe, node) for probe in probes
    )
