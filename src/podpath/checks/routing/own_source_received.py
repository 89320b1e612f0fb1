"""own-source-received: a packet comes in with an address of the host itself as its source.

What it is
    A capture shows packets that come in on a device, and their source is an address that this host
    has.

Why it breaks
    The kernel takes no packet from outside whose source is its own (a martian source), whatever
    rp_filter says, and tells nobody unless log_martians is on. Programs that write packets into a
    tun device with the device's own address, balancers that probe from the address that the host
    holds, and loops do so.

How to confirm
    ip addr; tcpdump -eni any                   # In, with a source that `ip addr` lists
    nstat -az TcpExtIPReversePathFilter; sysctl net.ipv4.conf.all.log_martians

How to fix
    Let the sender use an address of its own: another one of the tunnel's network than the device's.
    Where it must be so, net.ipv4.conf.DEV.accept_local=1 with rp_filter off.

References
    __fib_validate_source, ip_handle_martian_source (net/ipv4/fib_frontend.c, route.c v6.12)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.topology import known_sysctl
from podpath.node.case import Case, Sighting
from podpath.node.links import InterfaceAddress
from podpath.node.node import HOST

CATEGORIES = (Category.REVERSE_PATH_FILTER, Category.SOURCE_ADDRESS)
NAME = "own-source-received"


def check(case: Case) -> Iterator[Finding]:
    """Report the first such packet."""
    held = {
        item.address: item
        for item in case.node.host.addresses.items
        if item.span is not None and not item.inferred and item.link != "lo"
    }
    for seen in case.sightings:
        own = held.get(seen.packet.src)
        if own is not None and _came_in(seen) and not _is_accepted(case, seen):
            yield _report(seen, own)
            return


def _came_in(seen: Sighting) -> bool:
    """Tell whether the host itself got a packet from a device that is not its own loop."""
    one = seen.packet.dst
    group = one.is_multicast or str(one).endswith(".255")
    place = seen.netns in {None, HOST} and seen.link not in {None, "lo"}
    return place and seen.direction == "in" and not group and not seen.tunnel


def _is_accepted(case: Case, seen: Sighting) -> bool:
    """Tell whether the host is said to take such packets."""
    keys = (f"net.ipv4.conf.{name}.accept_local" for name in ("all", seen.link))
    facts = (known_sysctl(case.node.host, key) for key in keys)
    return any(fact is not None and fact.value == "1" for fact in facts)


def _report(seen: Sighting, own: InterfaceAddress) -> Finding:
    packet = seen.packet
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Packets come in on {seen.link} from {packet.src}, an address of this host itself: "
            "the kernel drops them as martians."
        ),
        evidence=(seen.span, *((own.span,) if own.span is not None else ())),
        reasoning=("No packet from outside may have a source that is the host's own.",),
        breaks=(f"what is sent into {seen.link} with the source {packet.src}",),
        prevention="Give who sends by that device an address that the host does not have.",
        marks=(str(packet.src),),
    )
