"""A bundle's `bundle.json`: the node, when it was taken, the roles of its namespaces, and which
veth ends are a pair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from podpath.evidence.formats import CERTAIN, NO, Format
from podpath.evidence.node_records import BundleRecord, VethPairRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.net.addresses import IfName
from podpath.net.provenance import Source


def recognise_manifest(source: Source) -> int:
    """Recognize a manifest by its keys."""
    head = "\n".join(source.lines[:60])
    if not head.lstrip().startswith("{") or not re.search(
        r'"(?:podpath/bundle|netns|veths?)"|podpath/bundle', head
    ):
        return NO
    manifest = load_manifest("\n".join(source.lines).encode("utf-8", "replace"))
    return (
        CERTAIN
        if isinstance(manifest.get("netns"), dict)
        or str(manifest.get("format")).startswith("podpath/bundle")
        else NO
    )


def read_manifest(source: Source) -> Reading:
    """Read a manifest; what is of another type than expected is left out with a gap."""
    ledger = Ledger(source)
    last = len(source.lines) - 1
    manifest = load_manifest("\n".join(source.lines).encode("utf-8", "replace"))
    if not manifest:
        ledger.gap(0, "expected a bundle's manifest in JSON", max(last, 0))
        return ledger.close("a manifest")
    netns = manifest.get("netns")
    spaces = (
        {str(name): about for name, about in netns.items() if isinstance(about, dict)}
        if isinstance(netns, dict)
        else {}
    )
    ledger.add(
        BundleRecord(
            span=ledger.span(0, last),
            node=_text(manifest.get("node")),
            kernel=_text(manifest.get("kernel")),
            taken_at=parse_time(manifest.get("time")),
            roles={name: str(about["role"]) for name, about in spaces.items() if "role" in about},
            pods={name: str(about["pod"]) for name, about in spaces.items() if "pod" in about},
            nsids={
                name: _texts(about["nsids"])
                for name, about in spaces.items()
                if isinstance(about.get("nsids"), dict)
            },
            veths=tuple(_pairs(manifest)),
        )
    )
    return ledger.close("a manifest")


def parse_time(value: object) -> float | None:
    """Read a time: seconds since the epoch, or ISO 8601 (UTC where no zone is given); None where it
    is neither.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _pairs(manifest: Mapping[str, object]) -> Iterator[VethPairRecord]:
    listed = manifest.get("veths", manifest.get("veth"))
    for pair in listed if isinstance(listed, list) else ():
        if not isinstance(pair, dict):
            continue
        ends = [_text(pair.get(key)) for key in ("netns", "link", "peer_netns")]
        peer = _text(pair.get("peer_link", pair.get("peer")))
        if ends[0] and ends[1] and ends[2] and peer:
            yield VethPairRecord(ends[0], IfName(ends[1]), ends[2], IfName(peer))


def load_manifest(data: bytes) -> Mapping[str, object]:
    """Return the members of a manifest; none where it is no JSON object."""
    try:
        value: object = json.loads(data) if data else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _texts(members: Mapping[object, object]) -> Mapping[str, str]:
    return {str(key): value for key, value in members.items() if isinstance(value, str) and value}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


FORMAT = Format("bundle.json", recognise_manifest, read_manifest)
