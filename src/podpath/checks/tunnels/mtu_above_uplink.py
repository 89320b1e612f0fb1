"""mtu-above-uplink: containers send larger packets than the host's uplink accepts.

What it is
    The MTU of the containers' bridge, of a container's own device or of its network (an option of
    Docker's), or the MSS that a container announces plus 40, is larger than that of the device that
    the host's default route uses, because the host itself is behind a tunnel (a cloud's or
    Proxmox's overlay, a VPN, PPPoE).

Why it breaks
    The container announces an MSS that fits its own MTU, so servers answer with packets that do not
    fit the path back. Routers on that path have to report it with ICMP; if ICMP is filtered, large
    answers are lost: TLS handshakes and downloads hang, small requests work.

How to confirm
    ip link | grep mtu
    ping -M do -s 1472 ADDRESS; tracepath ADDRESS

How to fix
    Set the containers' MTU to the uplink's: `mtu` in /etc/docker/daemon.json and
    com.docker.network.driver.mtu for each network; for a plugin, the uplink's MTU minus its
    overhead; or clamp the MSS: iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j
    TCPMSS --clamp-mss-to-pmtu.

References
    RFC 1191, RFC 4821, RFC 2923; docs.docker.com, com.docker.network.driver.mtu
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import see
from podpath.checks.stated import is_inner_bridge, uplinks
from podpath.checks.told import list_failing
from podpath.checks.topology import states_mtu
from podpath.net.addresses import Prefix
from podpath.net.complaints import Circumstance
from podpath.net.failures import FailureKind
from podpath.net.protocols import ACK, SYN
from podpath.net.provenance import Span, list_spans
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.links import Link

CATEGORIES = (Category.MTU,)
NAME = "mtu-above-uplink"


class Width(NamedTuple):
    """How large packets may be at a place, and the line that says so."""

    name: str
    mtu: int
    span: Span
    mark: str


def check(case: Case) -> Iterator[Finding]:
    """Report the widest thing of containers that is above the MTU of the host's uplink."""
    yield from _list_wide_tunnels(case)
    outer, inner = list(_list_outer(case)), list(_list_inner(case))
    if not outer or not inner:
        return
    narrow, wide = min(outer, key=lambda one: one.mtu), max(inner, key=lambda one: one.mtu)
    if wide.mtu <= narrow.mtu or narrow.mtu < LEAST:
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{wide.name} has an MTU of {wide.mtu}, and the host's uplink {narrow.name} only "
            f"{narrow.mtu}."
        ),
        evidence=(narrow.span, wide.span),
        reasoning=("The MSS that containers announce is too large for the path to them.",),
        breaks=(
            "large packets between containers and other hosts: TLS, downloads; small ones pass",
        ),
        prevention="Derive the MTU of container networks from the uplink's.",
        certainty=0.8,
        proves=frozenset({FailureKind.HANGS}),
        marks=(wide.mark, narrow.mark),
    )


def _list_outer(case: Case) -> Iterator[Width]:
    """Yield the devices by which packets leave the host: those of default routes, those that people
    name as the way out, else cards of the usual names.
    """
    leading = uplinks(case.node.host)
    told = [one.span.text for one in case.told if one.circumstance is Circumstance.LEAVES_BY]
    for link in case.node.host.links.items:
        named = any(re.search(rf"\b{re.escape(link.name)}\b", text) for text in told)
        if states_mtu(link) and (named or _is_uplink(link, leading)):
            yield from _widths((link,))


def _list_inner(case: Case) -> Iterator[Width]:
    """Yield what containers take for the size of packets: their bridges and devices, their
    network's option, and what they announce.
    """
    host = case.node.host
    yield from _widths(
        link for link in host.links.items if is_inner_bridge(link.name) and states_mtu(link)
    )
    for namespace in case.node.namespaces.values():
        if namespace.name != host.name:
            yield from _widths(
                link
                for link in namespace.links.items
                if link.name == "eth0" and states_mtu(link) and not link.inferred
            )
    for network in see(case, "Network"):
        option = network.at("Options", OPTION)
        if option is not None and option.text.isdecimal():
            yield Width(f"The network {network.name}", int(option.text), option.line, option.text)
    for seen in case.sightings:
        packet = seen.packet
        opens = packet.mss and packet.flags & SYN and not packet.flags & ACK
        within = is_inner_bridge(seen.link or "") or DOCKERS.covers(packet.src)
        if opens and within and packet.family == 4:
            yield Width(
                f"The container {packet.src}", packet.mss + HEADERS, seen.span, f"mss {packet.mss}"
            )


def _widths(links: Iterable[Link]) -> Iterator[Width]:
    for link in links:
        if link.span is not None:
            yield Width(str(link.name), link.mtu, link.span, f"mtu {link.mtu}")


OPTION = "com.docker.network.driver.mtu"
HEADERS = 40
"""The MSS is the MTU without the headers of IPv4 and TCP (RFC 9293, 3.7.1)."""
DOCKERS = Prefix.parse("172.17.0.0/16")
"""The network of docker0, unless somebody configures another."""


def _list_wide_tunnels(case: Case) -> Iterator[Finding]:
    """Report the first VXLAN device of a network plugin that leaves no room for its header in the
    one card that is shown. Where the listing says which card carries it (`ip -d link`), vxlan-mtu
    judges.
    """
    links = [link for link in case.node.host.links.items if states_mtu(link)]
    tunnels = [link for link in links if _VXLAN.fullmatch(link.name) and link.vxlan is None]
    cards = [link for link in links if _CARD.fullmatch(link.name) and link.mtu >= LEAST]
    if not tunnels or len(cards) != 1 or tunnels[0].mtu <= cards[0].mtu - OVERHEAD:
        return
    told = [one for one in list_failing(case) if Technology.LARGE in one.mentions]
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{tunnels[0].name} has an MTU of {tunnels[0].mtu}, and its packets with {OVERHEAD} "
            f"bytes of VXLAN do not fit {cards[0].name} with {cards[0].mtu}."
        ),
        evidence=(*list_spans((tunnels[0], cards[0])), *(one.span for one in told[:1])),
        reasoning=("The outer packet is larger than the card's MTU: it is fragmented or lost.",),
        breaks=("large packets between pods of different nodes; small ones pass",),
        prevention="Derive the MTU of the overlay from the uplink's, less 50 bytes.",
        certainty=1.0 if told else 0.7,
        proves=frozenset({FailureKind.HANGS}),
        marks=(f"mtu {tunnels[0].mtu}", f"mtu {cards[0].mtu}"),
    )


OVERHEAD = 50
"""What VXLAN adds over IPv4: 20 of IP, 8 of UDP, 8 of its own, 14 of the inner Ethernet."""
_VXLAN = re.compile(r"flannel\.\d+|vxlan\.calico")
_CARD = re.compile(r"(?:eth|en[opsx]|em|bond|team)\w*")
_USUAL = frozenset({"eth0", "ens3", "ens18", "enp1s0"})
_DIALED = re.compile(r"ppp\d+|pppoe-\w+")
LEAST = 576
"""A smaller MTU is a device of another sort."""


def _is_uplink(link: Link, leading: frozenset[str]) -> bool:
    usual = link.name in _USUAL or _DIALED.fullmatch(link.name) is not None
    plain = link.kind in {"", "veth", "ppp"}
    return link.name in leading or (not leading and usual and plain)
