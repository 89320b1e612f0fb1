"""What text and JSON of `ip link` and `ip addr` share: how the words of an address become its
record.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.evidence.node_records import AddressRecord
from podpath.evidence.text.scalars import parse_address, parse_interface_address
from podpath.net.addresses import IfName
from podpath.net.provenance import Span

ADDRESS_FLAGS = frozenset(
    {
        "secondary", "temporary", "nodad", "optimistic", "dadfailed", "home", "deprecated",
        "tentative", "permanent", "dynamic", "mngtmpaddr", "noprefixroute", "autojoin",
        "stable-privacy",
    }
)  # fmt: skip
"""Flags of an address as iproute2 spells them (`ifa_flag_names`)."""
LOWER_STATES = frozenset(
    {"UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING", "DORMANT", "UP"}
)
"""Operational states (RFC 2863) as `ip -br` prints them."""


def assemble_address(
    words: Mapping[str, str], flags: tuple[str, ...], link: IfName | None, span: Span
) -> AddressRecord:
    """Make the record of an address from `local` (with its length), `peer`, `brd` and `scope`.

    `ValueError` where an address cannot be read. With a peer the length stands behind the peer.
    """
    peer = words.get("peer")
    if peer:
        address = parse_interface_address(words["local"])[0]
        far, length = parse_interface_address(peer)
    else:
        address, length = parse_interface_address(words["local"])
        far = None
    broadcast = words.get("brd")
    return AddressRecord(
        span=span,
        link=link,
        address=address,
        length=length,
        peer=far,
        broadcast=parse_address(broadcast) if broadcast else None,
        scope=words.get("scope"),
        flags=tuple(flag for flag in flags if flag != "permanent"),
    )
