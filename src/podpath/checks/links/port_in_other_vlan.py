"""port-in-other-vlan: a guest's bridge port is not in the VLAN in which the guest is said to be.

What it is
    `bridge vlan` lists the VLANs of each port. People say in which VLAN a guest is to be, another
    port and the uplink are in that VLAN, and the guest's own port (`virsh domiflist`, tap310i0 of
    guest 310) is not.

Why it breaks
    The bridge puts the guest's untagged frames into the port's own VLAN (PVID). Whoever is in the
    VLAN that is meant does not see them: ARP requests for its gateway stay without an answer.

How to confirm
    bridge vlan show dev PORT; virsh domiflist GUEST

How to fix
    bridge vlan del dev PORT vid OLD; bridge vlan add dev PORT vid VLAN pvid untagged; and the same
    in the guest's configuration (the tag of its card).

References
    br_allowed_ingress (net/bridge/br_vlan.c v6.12); bridge(8)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.links.mac_on_two_hosts import name_guest
from podpath.checks.said import find_said
from podpath.checks.told import LOSSES, list_failing
from podpath.net.complaints import Complaint
from podpath.net.failures import FailureKind
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.links import BridgePort, Link

CATEGORIES = (Category.VLAN, Category.BRIDGE_CONFIGURATION)
NAME = "port-in-other-vlan"
_VLAN = re.compile(r"\bvlan\W{0,2}(?:id\W{0,2})?(?P<number>\d{1,4})\b", re.IGNORECASE)
_MEANT = re.compile(
    r"\b(?:should|must|belongs?|supposed|meant|is|sits|stands|assigned|put)\b"
    r"(?:(?!reach|ping|connect|access|see|talk|server|gateway)[^.,;]){0,30}\bvlan\b",
    re.IGNORECASE,
)
"""That something is to be in a VLAN, and is not just asked for there."""
_TAP = re.compile(r"tap(?P<guest>\d+)i\d+")
"""How Proxmox calls the port of a guest's card."""
_CUT = frozenset({None, FailureKind.NO_ROUTE_TO_HOST, *LOSSES})


def check(case: Case) -> Iterator[Finding]:
    """Report the first port of a guest that fails which is not in the one VLAN that is told."""
    cards = {
        one.values["device"]: name_guest(one)
        for one in find_said(case, MessageKind.GUEST_CARD)
        if "device" in one.values
    }
    links = [one for one in case.node.host.links.items if one.port is not None]
    for one in list_failing(case):
        numbers = {int(found["number"]) for found in _VLAN.finditer(one.span.text)}
        meant = _MEANT.search(one.span.text) is not None
        if len(numbers) != 1 or not meant or one.failure not in _CUT:
            continue
        (wanted,) = numbers
        for link in links:
            port, others = link.port, [each for each in links if each.name != link.name]
            if port is None or port.vlan_span is None or not _is_of(one, str(link.name), cards):
                continue
            if wanted not in port.vlans and port.pvid is not None and _is_shared(others, wanted):
                yield _report(link, port, wanted, (port.vlan_span, one.span))
                return


def _is_of(complaint: Complaint, port: str, cards: dict[str, str]) -> bool:
    """Tell whether a port is of a guest that a sentence names."""
    tap = _TAP.fullmatch(port)
    guest = tap["guest"] if tap is not None else cards.get(port, "")
    named = rf"(?<![\w-]){re.escape(guest)}(?![\w-])"
    return bool(guest) and re.search(named, complaint.span.text) is not None


def _is_shared(others: list[Link], vlan: int) -> bool:
    """Tell whether another guest's port is in a VLAN untagged, and some port carries it tagged."""
    ports = [one.port for one in others if one.port is not None]
    tagged = any(vlan in port.vlans and port.pvid != vlan for port in ports)
    return tagged and any(port.pvid == vlan for port in ports)


def _report(link: Link, port: BridgePort, vlan: int, spans: tuple[Span, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{link.name} is in VLAN {port.pvid}, and its guest is to be in VLAN {vlan}.",
        evidence=spans,
        reasoning=("The bridge puts untagged frames of a port into the port's own VLAN (PVID).",),
        breaks=(f"frames of {link.name} to whoever is in VLAN {vlan}",),
        repairs=(
            Repair(
                title=f"put the port into VLAN {vlan}",
                commands=(
                    f"bridge vlan del dev {link.name} vid {port.pvid}",
                    f"bridge vlan add dev {link.name} vid {vlan} pvid untagged",
                ),
            ),
        ),
        prevention="Set the VLAN in the guest's configuration, which is applied at each start.",
        marks=(str(link.name), str(port.pvid)),
    )
