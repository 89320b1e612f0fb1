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
from podpath.checks.links.vlan_on_one_port import filters_no_vlan
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
_APART = r"(?:(?!reach|ping|connect|access|see|talk|server|gateway)[^.,;]){0,30}"
_MEANT = (
    rf"{_APART}\b(?:should|must|belongs?|supposed|meant|is|sits|stands|assigned|put)\b"
    rf"{_APART}\bvlan\b"
)
"""That the guest before it is to be in a VLAN: not that it asks for something there, nor that
something else is there.
"""
_ITS_CARD = r"\bits\s+(?:port|card|nic|interface)\b"
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
    devices = {str(one.name): one for one in case.node.host.links.items}
    links = [one for one in devices.values() if one.port is not None]
    for one in list_failing(case):
        numbers = {int(found["number"]) for found in _VLAN.finditer(one.span.text)}
        if len(numbers) != 1 or one.failure not in _CUT:
            continue
        (wanted,) = numbers
        for link in links:
            port, others = link.port, [each for each in links if _is_beside(each, link)]
            if port is None or port.vlan_span is None or not _is_told(one, str(link.name), cards):
                continue
            plain = filters_no_vlan(devices.get(str(link.master)))
            if wanted in port.vlans or port.pvid is None or plain:
                continue
            if _is_shared(others, wanted):
                yield _report(link, port, wanted, (port.vlan_span, one.span))
                return


def _is_beside(one: Link, link: Link) -> bool:
    """Tell whether two ports may be of one bridge."""
    return one.name != link.name and (
        None in {one.master, link.master} or one.master == link.master
    )


def _is_told(complaint: Complaint, port: str, cards: dict[str, str]) -> bool:
    """Tell whether a sentence says of a port's guest in which VLAN it is to be."""
    tap = _TAP.fullmatch(port)
    guest = tap["guest"] if tap is not None else cards.get(port, "")
    text, named = complaint.span.text, rf"(?<![\w-]){re.escape(guest)}(?![\w-])"
    told = re.compile(rf"(?:{named}|{_ITS_CARD}){_MEANT}", re.IGNORECASE)
    return bool(guest) and re.search(named, text) is not None and told.search(text) is not None


def _is_shared(others: list[Link], vlan: int) -> bool:
    """Tell whether another guest's port is in a VLAN untagged, and some port carries it tagged."""
    ports = [one.port for one in others if one.port is not None]
    tagged = any(vlan in port.vlans and port.pvid != vlan for port in ports)
    return tagged and any(port.pvid == vlan for port in ports)


def _report(link: Link, port: BridgePort, vlan: int, spans: tuple[Span, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{link.name} is in VLAN {port.pvid}, but its guest should be in VLAN {vlan}.",
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
