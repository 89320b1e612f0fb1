"""mtu-above-uplink: containers send larger packets than the host's uplink accepts.

What it is
    The MTU of the containers' bridge, or of a container's own device, is larger than that of the
    device that the host's default route uses, because the host itself is behind a tunnel (a cloud's
    or Proxmox's overlay, a VPN, PPPoE).

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
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import is_inner_bridge, uplinks
from podpath.checks.told import list_failing
from podpath.checks.topology import states_mtu
from podpath.net.failures import FailureKind
from podpath.net.provenance import list_spans
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.links import Link

CATEGORIES = (Category.MTU,)
NAME = "mtu-above-uplink"


def check(case: Case) -> Iterator[Finding]:
    """Report the first container's device whose MTU is above that of the host's uplink."""
    host = case.node.host
    leading = uplinks(host)
    yield from _list_wide_tunnels(case)
    outer = [link for link in host.links.items if _is_uplink(link, leading) and states_mtu(link)]
    inner = [link for link in host.links.items if is_inner_bridge(link.name) and states_mtu(link)]
    for namespace in case.node.namespaces.values():
        if namespace.name != host.name:
            inner += [
                link
                for link in namespace.links.items
                if link.name == "eth0" and states_mtu(link) and not link.inferred
            ]
    if not outer or not inner:
        return
    narrow, wide = min(outer, key=lambda link: link.mtu), max(inner, key=lambda link: link.mtu)
    if wide.mtu <= narrow.mtu or narrow.mtu < LEAST:
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{wide.name} has an MTU of {wide.mtu}, and the host's uplink {narrow.name} only "
            f"{narrow.mtu}."
        ),
        evidence=list_spans((narrow, wide)),
        reasoning=("The MSS that containers announce is too large for the path to them.",),
        breaks=(
            "large packets between containers and other hosts: TLS, downloads; small ones pass",
        ),
        prevention="Derive the MTU of container networks from the uplink's.",
        certainty=0.8,
        proves=frozenset({FailureKind.HANGS}),
        marks=(f"mtu {wide.mtu}", f"mtu {narrow.mtu}"),
    )


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
LEAST = 576
"""A smaller MTU is a device of another sort."""


def _is_uplink(link: Link, leading: frozenset[str]) -> bool:
    return link.name in leading or (
        not leading
        and link.name in {"eth0", "ens3", "ens18", "enp1s0"}
        and link.kind in {"", "veth"}
    )
