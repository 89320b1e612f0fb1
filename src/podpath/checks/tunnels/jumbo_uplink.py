"""jumbo-uplink: the host's uplink has an MTU above 1500, which the path to other networks may not
support.

What it is
    The device of the default route, or a bridge for containers, is set to jumbo frames (9000).

Why it breaks
    Every device in the same network has to accept such frames, and routers to other networks have
    to fragment them or report with ICMP that they do not fit. A single switch, virtual switch or
    peer with 1500 drops them silently: connections open, then hang at the first large packet.

How to confirm
    ping -M do -s 8972 GATEWAY; tracepath ADDRESS
    ip link | grep 'mtu 9'

How to fix
    Set 1500 (8950 for an overlay's device on 9000), or set the same MTU across the whole network.

References
    RFC 4821; ip-link(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import is_inner_bridge, uplinks
from podpath.node.case import Case

CATEGORIES = (Category.MTU,)
NAME = "jumbo-uplink"


USUAL = 1500
CLOUD = (8896, 9001)
"""What Google's and Amazon's networks have on every machine, and handle."""


def check(case: Case) -> Iterator[Finding]:
    """Report the uplink or the containers' bridge with jumbo frames."""
    host = case.node.host
    leading = uplinks(host)
    for link in host.links.items:
        ours = link.name in leading or is_inner_bridge(link.name)
        if (
            not ours
            or link.span is None
            or link.mtu <= USUAL
            or link.mtu in CLOUD
            or link.mtu > 9500
            or link.name.startswith("ppp")
        ):
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{link.name} sends packets of up to {link.mtu} bytes, which the path to other "
                "networks may not carry."
            ),
            evidence=(link.span,),
            reasoning=("A device on the path with an MTU of 1500 silently drops larger frames.",),
            breaks=("large packets: TLS, pulls, uploads",),
            prevention="Set one MTU across the whole network.",
            certainty=0.4,
            marks=(f"mtu {link.mtu}", str(link.mtu)),
        )
        return
