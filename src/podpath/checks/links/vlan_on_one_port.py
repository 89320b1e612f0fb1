"""vlan-on-one-port: the VLAN of one bridge port is not allowed on any other.

What it is
    `bridge vlan` lists the VLANs of each port. A port takes untagged frames into a VLAN (PVID)
    that no other listed port of the bridge is a member of.

Why it breaks
    A bridge that filters by VLAN forwards a frame only to ports that are members of the frame's
    VLAN. Frames of a guest or container in that VLAN leave by no other port, the uplink included.

How to confirm
    bridge vlan show
    ip -d link show BRIDGE | grep vlan_filtering

How to fix
    bridge vlan add dev UPLINK vid VLAN, and the same on the switch's port; or give the guest's
    port the VLAN that the uplink carries.

References
    br_allowed_egress (net/bridge/br_vlan.c v6.12); bridge(8)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import spans_of
from podpath.checks.told import list_failing
from podpath.node.case import Case
from podpath.node.links import Link

CATEGORIES = (Category.VLAN, Category.BRIDGE_CONFIGURATION)
NAME = "vlan-on-one-port"
_DETAILS = re.compile(r"\bip\b.* -(?:d|details)\b")
"""What `ip` is told to print a bridge's own options, too."""
POSSIBLE = 0.6
"""Where no output shows that the bridge filters, or that people complain of this VLAN."""


def check(case: Case) -> Iterator[Finding]:
    """Report each port whose VLAN no other port of its bridge takes, where anything fails."""
    if not any(True for _ in list_failing(case)):
        return
    for namespace in case.node.namespaces.values():
        links = {str(link.name): link for link in namespace.links.items}
        bridges: dict[str, list[Link]] = {}
        for link in links.values():
            if link.master is not None and link.port is not None:
                bridges.setdefault(link.master, []).append(link)
        for bridge, ports in bridges.items():
            yield from _check_bridge(bridge, ports, links)


def _check_bridge(bridge: str, ports: list[Link], links: Mapping[str, Link]) -> Iterator[Finding]:
    own = any(link.lower == bridge for link in links.values())
    if own or _is_plain(links.get(bridge)):
        return
    for link in ports:
        pvid = link.port.pvid if link.port is not None else None
        others = [one for one in ports if one.name != link.name]
        if pvid in {None, 1} or not others:
            continue
        shared = any(one.port is not None and pvid in one.port.vlans for one in others)
        if not shared:
            yield _report(bridge, link, pvid, others)


def _is_plain(bridge: Link | None) -> bool:
    """Tell whether a listing with details shows that a bridge does not filter by VLAN."""
    if bridge is None or bridge.bridge is None or bridge.span is None:
        return False
    command = bridge.span.source.command or ""
    return not bridge.bridge.vlan_filtering and _DETAILS.search(command) is not None


def _report(bridge: str, link: Link, pvid: int | None, others: list[Link]) -> Finding:
    names = ", ".join(sorted(one.name for one in others)[:3])
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{link.name} puts its frames into VLAN {pvid}, but no other port of {bridge} is a "
            f"member of it ({names})."
        ),
        evidence=spans_of((link, *others)),
        reasoning=("The bridge forwards a frame only to ports that are members of its VLAN.",),
        breaks=(f"frames of {link.name} to anything beyond the bridge",),
        prevention="Set the VLANs of uplinks and guests in one place.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                f"whether {bridge} filters, and its uplink carries VLAN {pvid}",
                f"bridge vlan show; ip -d link show {bridge}",
                f"vlan_filtering 1, and no uplink in VLAN {pvid}: the bridge drops the frames",
            ),
        ),
        marks=(link.name,),
    )
