"""mtu-above-uplink: containers send larger packets than the host's uplink accepts.

What it is
    The MTU of a bridge for containers, or of a container's own device, is larger than that of the
    device of the host's default route: the host is itself a guest on a tunnel (a cloud's or
    Proxmox's overlay, a VPN, PPPoE).

Why it breaks
    The container announces an MSS that fits its own MTU, so servers answer with packets that do not
    fit the path to it. Routers there have to report that with ICMP; if ICMP is filtered, large
    answers are lost: TLS handshakes and downloads hang, small requests work.

How to confirm
    ip link | grep mtu
    ping -M do -s 1472 ADDRESS; tracepath ADDRESS

How to fix
    Set the containers' MTU to the uplink's: `mtu` in /etc/docker/daemon.json and
    com.docker.network.driver.mtu of each network; the plugin's MTU minus its overhead; or clamp the
    MSS: iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu.

References
    RFC 1191, RFC 4821, RFC 2923; docs.docker.com, com.docker.network.driver.mtu
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import is_inner_bridge, uplinks
from podpath.net.failures import FailureKind
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.links import Link

CATEGORIES = (Category.MTU,)
NAME = "mtu-above-uplink"


def check(case: Case) -> Iterator[Finding]:
    """Report the first container's device whose MTU is above that of the host's uplink."""
    host = case.node.host
    leading = uplinks(host)
    outer = [
        link for link in host.links.items if _is_uplink(link, leading) and link.span is not None
    ]
    inner = [
        link for link in host.links.items if is_inner_bridge(link.name) and link.span is not None
    ]
    for namespace in case.node.namespaces.values():
        if namespace.name != host.name:
            inner += [
                link
                for link in namespace.links.items
                if link.name == "eth0" and link.span is not None and not link.inferred
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


LEAST = 576
"""A smaller MTU is a device of another sort."""


def _is_uplink(link: Link, leading: frozenset[str]) -> bool:
    return link.name in leading or (
        not leading
        and link.name in {"eth0", "ens3", "ens18", "enp1s0"}
        and link.kind in {"", "veth"}
    )
