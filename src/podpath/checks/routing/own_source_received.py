"""own-source-received: a packet comes in with an address of the host itself as its source.

What it is
    A capture, or the kernel's line on a martian source, shows packets that come in on a device, and
    their source is an address that this host has.

Why it breaks
    The kernel drops a packet from outside whose source is one of its own addresses (a martian
    source), whatever rp_filter says, and does so silently unless log_martians is on. Such packets
    come from programs that write packets into a tun device with the device's own address, load
    balancers that probe from an address that the host has, and loops.

How to confirm
    ip addr; tcpdump -eni any                   # In, with a source that `ip addr` lists
    nstat -az TcpExtIPReversePathFilter; sysctl net.ipv4.conf.all.log_martians

How to fix
    Let the sender use an address of its own: one in the tunnel's network other than the device's.
    If it has to be the same address, set net.ipv4.conf.DEV.accept_local=1 with rp_filter off.

References
    __fib_validate_source, ip_handle_martian_source (net/ipv4/fib_frontend.c, route.c v6.12)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.stated import may_be_of_one_host
from podpath.checks.topology import find_link, known_sysctl
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case, Sighting
from podpath.node.links import InterfaceAddress
from podpath.node.node import HOST

CATEGORIES = (Category.REVERSE_PATH_FILTER, Category.SOURCE_ADDRESS)
NAME = "own-source-received"
LOGGED = 0.8
"""The line does not tell whether a loop or another host sends them."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first such packet: certain where its device is no Ethernet's, and the same session
    shows both. A frame may come back by a loop of switches, and the capture be another host's.
    """
    held = {
        item.address: item
        for item in case.node.host.addresses.items
        if item.span is not None and not item.inferred and item.link != "lo"
    }
    for seen in case.sightings:
        own = held.get(seen.packet.src)
        if own is not None and _came_in(seen) and not _is_accepted(case, seen):
            yield _report(seen, own, sure=_is_sure(case, seen, own))
            return
    for message in find_said(case, MessageKind.MARTIAN_SOURCE):
        if is_own(case, message):
            yield _report_logged(message)
            return


def is_own(case: Case, message: Message) -> bool:
    """Tell whether the source of a martian is an address of the host itself: an output lists it, or
    a ping from here to the same destination was told by it that it is not reached.
    """
    src, dst = message.values["src"], message.values["dst"]
    held = any(
        str(item.address) == src and item.span is not None and not item.inferred
        for item in case.node.host.addresses.items
    )
    told = (
        str(one.probe.dst) == dst
        and one.result is FailureKind.NO_ROUTE_TO_HOST
        and one.span.text.strip().startswith(f"From {src} ")
        for one in case.attempts
    )
    return held or any(told)


def _came_in(seen: Sighting) -> bool:
    """Tell whether the host itself got a packet from a device that is not its own loop."""
    one = seen.packet.dst
    group = one.is_multicast or str(one).endswith(".255")
    place = seen.netns in {None, HOST} and seen.link not in {None, "lo"}
    return place and seen.direction == "in" and not group and not seen.tunnel


def _is_sure(case: Case, seen: Sighting, own: InterfaceAddress) -> bool:
    """Tell whether a device that carries packets alone hands it in, on the host that is known to
    hold the address.
    """
    link = find_link(case.node.host, str(seen.link))
    plain = link is not None and link.noarp and link.mac is None
    listed = own.span is not None and own.span.source.name == seen.span.source.name
    together = listed and may_be_of_one_host((own.span, seen.span))
    return plain and together and own.link == seen.link and _is_its_own(case, seen)


def _is_its_own(case: Case, seen: Sighting) -> bool:
    """Tell whether no other address of the capture is the host's own: it was taken here, and the
    packet does not go to it.
    """
    return all(item.address != seen.packet.dst for item in case.node.host.addresses.items)


def _is_accepted(case: Case, seen: Sighting) -> bool:
    """Tell whether the host is said to take such packets."""
    keys = (f"net.ipv4.conf.{name}.accept_local" for name in ("all", seen.link))
    facts = (known_sysctl(case.node.host, key) for key in keys)
    return any(fact is not None and fact.value == "1" for fact in facts)


def _report_logged(message: Message) -> Finding:
    device, src = message.values["device"], message.values["src"]
    ask = FollowUp(
        f"who sends packets from {src} into {device}",
        f"ip -br addr; tcpdump -eni {device} src {src}; bridge fdb show; ip -s link show {device}",
        "this host's own MAC as the sender: a loop of bridges or a broken datapath brings its "
        "frames back; another MAC: a second host has the address",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Packets come in on {device} from {src}, an address of this host itself: the kernel "
            "drops them as martians, whatever rp_filter says."
        ),
        evidence=(message.span,),
        reasoning=(
            "No packet from outside may have one of the host's own addresses as its source.",
        ),
        breaks=(f"what {src} and {message.values['dst']} send each other through {device}",),
        prevention="Break the loop, or give the second host an address of its own.",
        certainty=LOGGED,
        asks=(ask,),
        marks=(src, device),
    )


def _report(seen: Sighting, own: InterfaceAddress, *, sure: bool) -> Finding:
    packet = seen.packet
    ask = FollowUp(
        f"whether the host that holds {packet.src} is the one that captured it",
        f"ip -br addr; tcpdump -eni {seen.link} src {packet.src}; ip route get {packet.dst} from "
        f"{packet.src} iif {seen.link}; ip -s link show {seen.link}",
        "`Invalid cross-device link` or `Invalid argument`: the kernel drops it; its own MAC as "
        "the sender: a switching loop brings its frames back",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Packets come in on {seen.link} from {packet.src}, an address of this host itself: "
            "the kernel drops them as martians."
        ),
        evidence=(seen.span, *((own.span,) if own.span is not None else ())),
        reasoning=(
            "No packet from outside may have one of the host's own addresses as its source.",
        ),
        breaks=(f"packets sent into {seen.link} with the source {packet.src}",),
        prevention="Give the sender behind that device an address that the host does not have.",
        certainty=1.0 if sure else 0.6,
        asks=() if sure else (ask,),
        marks=(str(packet.src),),
    )
