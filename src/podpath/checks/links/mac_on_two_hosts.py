"""mac-on-two-hosts: two hosts have the same MAC on their cards.

What it is
    `ip link`, `ip addr` or ifconfig of two hosts shows the same MAC on a card of each, with
    different addresses: machines that were cloned with their configuration, or whose hypervisor was
    told to keep the MAC. Or the configurations of two guests have one MAC, or a neighbor table has
    two addresses of which people complain with one.

Why it breaks
    A switch learns a MAC at one port at a time: frames for one host go to the other until it sends
    again. A DHCP server gives both the same lease. Connections to either host hang, break off, or
    end up on the other one.

How to confirm
    ip link show dev DEVICE                 # on each host
    bridge fdb show | grep MAC              # on the hypervisor: the port changes
    arping -D -I DEVICE ADDRESS

How to fix
    Give one of them its own MAC: in the hypervisor (a new network card for the clone), or with `ip
    link set dev DEVICE address MAC` and in its configuration.

References
    IEEE 802.1D, the learning process; ip-link(8)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.told import list_failing, list_failing_addresses
from podpath.net.clashes import Clash, ClashKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.DUPLICATE_ADDRESS,)
NAME = "mac-on-two-hosts"
_GUEST = re.compile(
    r"\b(?:domiflist|config)\s+(?:--\w+\s+)*(?P<guest>[\w.-]+)|(?P<file>[\w-]+)\.conf\b"
)
"""What a command that shows a guest's cards calls the guest."""
_VIRTUAL = re.compile(r"00:00:(?:5e:00:0[12]|0c:)|(?:00:){5}00|(?:ee:){5}ee")
"""How MACs begin that several addresses have on purpose."""


def check(case: Case) -> Iterator[Finding]:
    """Report each MAC that cards of two named hosts have in common."""
    failing = any(True for _ in list_failing(case))
    for clash in case.clashes:
        if clash.kind is ClashKind.MAC:
            yield _report(clash, sure=failing and clash.near)
    yield from _find_guests(case)


def _find_guests(case: Case) -> Iterator[Finding]:
    """Report the first MAC of two guests' configurations, or of two neighbors that fail."""
    guests: dict[str, dict[str, Span]] = {}
    for one in find_said(case, MessageKind.GUEST_CARD):
        guest = name_guest(one)
        if guest:
            guests.setdefault(one.values["mac"].casefold(), {}).setdefault(guest, one.span)
    near = _list_neighbours(case)
    both = any("both" in one.spoken for one in list_failing(case))
    for mac, held in guests.items():
        if len(held) > 1:
            shown = near.get(mac, {})
            spans = (*held.values(), *shown.values())
            names = [f"the guest {guest}" for guest in held]
            yield _report_twice(mac, names, spans, sure=both or len(shown) > 1)
            return
    failing = {str(address) for address in list_failing_addresses(case)}
    for mac, shown in near.items():
        if len(failing & shown.keys()) > 1 and mac not in guests:
            yield _report_twice(mac, [*shown], (*shown.values(),), sure=False)
            return


def name_guest(card: Message) -> str:
    """Return whose card a line shows: its own words say it, or the command's; empty where neither
    does.
    """
    found = _GUEST.search(card.span.source.command or "")
    named = (found["guest"] or found["file"]) if found is not None else ""
    return card.values.get("guest") or named


def _list_neighbours(case: Case) -> Mapping[str, Mapping[str, Span]]:
    """Return the IPv4 neighbors behind each MAC of a device, without a router's."""
    host = case.node.host
    routers = {hop.gateway for route in host.routes.items for hop in route.nexthops}
    found: dict[tuple[str, str], dict[str, Span]] = {}
    proxies: set[str] = set()
    for one in host.neighbours.items:
        mac = str(one.mac or "")
        if one.address in routers:
            proxies.add(mac)
        elif mac and _VIRTUAL.match(mac) is None and one.address.family == 4 and one.span:
            found.setdefault((mac, str(one.link)), {})[str(one.address)] = one.span
    return {mac: shown for (mac, _), shown in found.items() if mac not in proxies}


def _report_twice(mac: str, names: list[str], spans: tuple[Span, ...], *, sure: bool) -> Finding:
    ask = FollowUp(
        "whether two machines have it, and run",
        f"ip link | grep -i {mac} (on both); bridge fdb show | grep -i {mac} (on the hypervisor)",
        "both have it: a switch sends frames for either to only one of them",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{names[0][0].upper()}{' and '.join(names[:2])[1:]} have the same MAC, {mac}.",
        evidence=spans,
        reasoning=("A switch sends frames for this MAC to only one of them at a time.",),
        breaks=("connections to either of them",),
        prevention="Let the hypervisor generate a new MAC for each clone.",
        certainty=1.0 if sure else 0.7,
        marks=(mac, mac.upper()),
        asks=() if sure else (ask,),
    )


def _report(clash: Clash, *, sure: bool) -> Finding:
    ask = FollowUp(
        "whether both hosts are on the same layer 2 network",
        f"bridge fdb show | grep -i {clash.key} (on the hypervisor or switch)",
        "the port changes: each host takes the other's frames",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The cards of {' and '.join(clash.hosts)} ({' and '.join(clash.values)}) have the "
            f"same MAC, {clash.key}."
        ),
        evidence=clash.spans,
        reasoning=("A switch sends frames for this MAC to only one of them at a time.",),
        breaks=("connections to either of these hosts",),
        prevention="Let the hypervisor generate a new MAC for each clone.",
        certainty=1.0 if sure else 0.7,
        marks=(clash.key,),
        asks=() if sure else (ask,),
    )
