"""vtep-without-entry: a VXLAN device does not know where a neighbor's MAC is.

What it is
    `ip neigh` has a permanent entry on the tunnel's device with a MAC for which `bridge fdb show
    dev DEVICE`, shown in full, has no entry, nor one for all others (00:00:00:00:00:00).

Why it breaks
    A VXLAN device that does not learn asks its forwarding entries where a MAC is. Without one it
    drops the frame silently. An agent writes neighbor and forwarding entry together; when a node is
    set up again with another MAC and only one of the two is renewed, they do not match.

How to confirm
    ip neigh show dev DEVICE; bridge fdb show dev DEVICE
    ip -s -s link show DEVICE      # TX carrier or errors grow

How to fix
    Restart the plugin's agent on this node, or write the entry that is missing: bridge fdb replace
    MAC dev DEVICE dst NODE.

References
    vxlan_xmit (drivers/net/vxlan/vxlan_core.c v6.12); flannel pkg/backend/vxlan/vxlan_network.go
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import LOSSES
from podpath.node.case import Case
from podpath.node.links import FdbEntry, Neighbour

CATEGORIES = (Category.TUNNEL_ENDPOINT, Category.CNI_AGENT)
NAME = "vtep-without-entry"
ZEROS = "00:00:00:00:00:00"
LIKELY = 0.8
"""Somebody may have cut the listing where it cannot be seen."""
_OVERLAYS = ("flannel", "vxlan")
"""Devices whose agents write both entries; Cilium's have none."""


def check(case: Case) -> Iterator[Finding]:
    """Report each neighbor on a tunnel's device without the entry that belongs to it."""
    entries = [one for one in case.node.host.fdb.items if one.dst is not None and one.span]
    for neighbour in case.node.host.neighbours.items:
        on_tunnel = neighbour.link.startswith(_OVERLAYS) and neighbour.state == "PERMANENT"
        if not on_tunnel or neighbour.mac is None or neighbour.span is None:
            continue
        own = [one for one in entries if one.link == neighbour.link]
        known = any(one.mac in {neighbour.mac, ZEROS} for one in own)
        if own and not known and _is_whole(own):
            yield _report(neighbour, own)
            return


def _is_whole(entries: list[FdbEntry]) -> bool:
    """Tell whether nothing was taken out of the listing before it was pasted."""
    commands = [one.span.source.command or "" for one in entries if one.span is not None]
    return all("fdb" in command and "|" not in command for command in commands)


def _report(neighbour: Neighbour, own: list[FdbEntry]) -> Finding:
    listed = own[0].span
    spans = (neighbour.span, listed)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{neighbour.link} has no forwarding entry for {neighbour.mac}, the MAC of "
            f"{neighbour.address}: it does not know which node that is."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=("Without an entry, and without one for all MACs, it drops the frame.",),
        breaks=(f"traffic to the pods behind {neighbour.address}",),
        prevention="Have one agent write both entries, and restart it after changes of nodes.",
        certainty=LIKELY,
        proves=LOSSES,
        asks=(
            FollowUp(
                f"whether any entry is for {neighbour.mac}",
                f"bridge fdb show dev {neighbour.link} | grep -i {neighbour.mac}",
                "none: the device drops frames for it",
            ),
        ),
        marks=(str(neighbour.mac),),
    )
