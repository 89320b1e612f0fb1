"""vlan-on-one-port: the VLAN of one bridge port is not allowed on any other, or not untagged on it.

What it is
    `bridge vlan` lists the VLANs of each port. A port puts untagged frames into a VLAN (PVID) that
    no other listed port of the bridge is a member of. Or a guest's port is a tagged member of the
    VLAN that people want it in, but still puts untagged frames into another one (VLAN 1, the
    default).

Why it breaks
    A bridge that filters by VLAN forwards a frame only to ports that are members of the frame's
    VLAN. Frames of a guest or container in that VLAN leave by no other port, the uplink included.
    A guest that does not tag sends into the VLAN of its port's PVID, and gets frames of the wanted
    VLAN with a tag that it does not know.

How to confirm
    bridge vlan show
    ip -d link show BRIDGE | grep vlan_filtering

How to fix
    bridge vlan add dev UPLINK vid VLAN, and the same on the switch's port; or give the guest's
    port the VLAN that the uplink carries: bridge vlan add dev PORT vid VLAN pvid untagged; bridge
    vlan del dev PORT vid 1.

References
    br_allowed_egress (net/bridge/br_vlan.c v6.12); bridge(8)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import spans_of
from podpath.checks.told import list_failing
from podpath.node.case import Case
from podpath.node.links import Link

CATEGORIES = (Category.VLAN, Category.BRIDGE_CONFIGURATION)
NAME = "vlan-on-one-port"
_DETAILS = re.compile(r"\bip\b.* -(?:d|details)\b")
"""What `ip` is told to print a bridge's own options, too."""
_SPOKEN = re.compile(r"\bvlan[- ]?(?:id |number |no\. ?)?(?P<id>\d{1,4})\b", re.IGNORECASE)
_GUEST = re.compile(r"(?:vnet|veth|tap|lxc|vif|fwpr|fwln)\w*")
LIKELY = 0.8
"""A guest may tag its frames itself."""
POSSIBLE = 0.6
"""Where no output shows that the bridge filters, or that people complain of this VLAN."""


def check(case: Case) -> Iterator[Finding]:
    """Report each port whose VLAN no other port of its bridge takes, where anything fails."""
    if not any(True for _ in list_failing(case)):
        return
    spoken = frozenset(_list_spoken(case))
    for namespace in case.node.namespaces.values():
        links = {str(link.name): link for link in namespace.links.items}
        bridges: dict[str, list[Link]] = {}
        for link in links.values():
            if link.master is not None and link.port is not None:
                bridges.setdefault(link.master, []).append(link)
        for bridge, ports in bridges.items():
            yield from _check_bridge(bridge, ports, links)
        ports = [link for link in links.values() if _is_of_guest(link)]
        tagged = [link for link in ports if _is_tagged(link, spoken)]
        for link in tagged if len(ports) == 1 else ():
            yield _report_tagged(link, min(spoken & link.port.vlans if link.port else spoken))


def _list_spoken(case: Case) -> Iterator[int]:
    """Yield the VLANs of which people say that something fails in them."""
    for one in list_failing(case):
        yield from (int(found["id"]) for found in _SPOKEN.finditer(one.span.text))


def _is_of_guest(link: Link) -> bool:
    """Tell whether a listed port is that of a guest or a container, by its kind or its name."""
    inner = link.kind in {"veth", "tun"} or _GUEST.match(link.name) is not None
    return link.port is not None and link.port.vlan_span is not None and inner


def _is_tagged(link: Link, spoken: frozenset[int]) -> bool:
    """Tell whether a port carries one of these VLANs with a tag, and takes frames without one into
    another.
    """
    port = link.port
    return port is not None and port.pvid is not None and bool(spoken & (port.vlans - {port.pvid}))


def _check_bridge(bridge: str, ports: list[Link], links: Mapping[str, Link]) -> Iterator[Finding]:
    own = any(link.lower == bridge for link in links.values())
    if own or filters_no_vlan(links.get(bridge)):
        return
    for link in ports:
        pvid = link.port.pvid if link.port is not None else None
        others = [one for one in ports if one.name != link.name]
        if pvid in {None, 1} or not others:
            continue
        shared = any(one.port is not None and pvid in one.port.vlans for one in others)
        if not shared:
            yield _report(bridge, link, pvid, others)


def filters_no_vlan(bridge: Link | None) -> bool:
    """Tell whether a listing with details shows that a bridge does not filter by VLAN."""
    if bridge is None or bridge.bridge is None or bridge.span is None:
        return False
    command = bridge.span.source.command or ""
    return not bridge.bridge.vlan_filtering and _DETAILS.search(command) is not None


def _report_tagged(link: Link, vlan: int) -> Finding:
    assert link.port is not None  # noqa: S101  # `check` takes no other
    pvid, span = link.port.pvid, link.port.vlan_span
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{link.name} carries VLAN {vlan} only tagged, and puts untagged frames into VLAN "
            f"{pvid}."
        ),
        evidence=(span,) if span is not None else (),
        reasoning=("What is behind the port sends and expects untagged frames.",),
        breaks=(f"frames between what is behind {link.name} and VLAN {vlan}",),
        repairs=(
            Repair(
                title="make it the port's own VLAN",
                commands=(
                    f"bridge vlan add dev {link.name} vid {vlan} pvid untagged",
                    f"bridge vlan del dev {link.name} vid {pvid}",
                ),
            ),
        ),
        prevention="Set the VLANs of uplinks and guests in one place.",
        certainty=LIKELY,
        asks=(
            FollowUp(
                f"whether what is behind {link.name} tags its frames itself",
                f"tcpdump -eni {link.name}; ip -d link show (inside)",
                f"frames without a tag: they go into VLAN {pvid}",
            ),
        ),
        marks=(link.name,),
    )


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
