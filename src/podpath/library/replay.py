"""A drop that a watch has kept, asked again: the node as it was saved, the packet as it was freed,
and what the model says of it now.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.freed import DropExplanation, explain_drop
from podpath.drops.events import DropKey, HeardDrop
from podpath.drops.headers import parse_packet, skip_tags
from podpath.library.given import Given
from podpath.library.progress import Progress, silent
from podpath.library.reading import read
from podpath.net.addresses import Address
from podpath.net.errors import EvidenceError
from podpath.net.packet import Packet
from podpath.node.node import Node

BUNDLE, DROP = "bundle", "drop.json"
"""What a watch writes into the folder of a disagreement (`podpath watch --save`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDrop:
    """A drop as it was kept."""

    heard: HeardDrop
    netns: str
    function: str
    """The kernel's function that freed it."""
    said: str
    """What the model said of it then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedDrop:
    """What the model says of it now, of the node as it was saved."""

    kept: KeptDrop
    node: Node
    explanation: DropExplanation


def read_kept(document: bytes) -> KeptDrop:
    """Read the packet of a kept drop; `EvidenceError` where that is no line of `podpath/drops/v1`
    with one.
    """
    try:
        return _parse(json.loads(document))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(
            f"{DROP}: expected a drop of podpath/drops/v1, as `podpath watch --save` writes it: "
            f"{type(error).__name__} {error}"
        ) from error


def _parse(document: Mapping[str, Any]) -> KeptDrop:
    data = bytes.fromhex(document["packet"] or "")
    ethertype, inner = skip_tags(int(document["ethertype"]), data)
    packet = parse_packet(ethertype, inner)
    if packet is None:
        raise ValueError("no IP packet stands in it")
    key = DropKey(
        reason=str(document["reason"]),
        location=0,
        inode=1,
        ifindex=int(document["ifindex"]),
        input=int(document["input_ifindex"]),
        ethertype=ethertype,
        protocol=packet.protocol,
        flags=packet.flags,
        sport=packet.sport,
        dport=packet.dport,
        src=packet.src,
        dst=packet.dst,
    )
    original = document.get("original")
    heard = HeardDrop(
        key=key,
        time=0,
        packet=packet,
        mark=int(document.get("mark") or 0),
        original=None if original is None else _rewind(packet, original),
        data=data,
    )
    return KeptDrop(
        heard=heard,
        netns=str(document["netns"]),
        function=str(document["function"]),
        said=str(document["said"]),
    )


def _rewind(packet: Packet, original: Mapping[str, Any]) -> Packet:
    """Return the packet as its connection began, before NAT changed it."""
    return packet._replace(
        src=Address.parse(original["src"]),
        dst=Address.parse(original["dst"]),
        sport=int(original["sport"]),
        dport=int(original["dport"]),
    )


def replay(bundle: Given, document: bytes, progress: Progress = silent) -> ReplayedDrop:
    """Ask the model again about a kept drop, of the node as it was saved; `EvidenceError` where the
    document is none, or the bundle has no such namespace.
    """
    kept = read_kept(document)
    node = read(bundle, progress=progress).node
    if kept.netns not in node.namespaces:
        raise EvidenceError(
            f"{BUNDLE}: expected the namespace {kept.netns!r}, saw "
            f"{', '.join(sorted(node.namespaces))}"
        )
    found = explain_drop(Engine(node), kept.netns, kept.heard, kept.function)
    return ReplayedDrop(kept=kept, node=node, explanation=found)
