r"""bridge-port-blocked: a bridge port does not forward: STP blocks it, or it is disabled.

What it is
    `bridge link` shows a port as blocking, listening, learning or disabled although its device is
    up.

Why it breaks
    Only a port in the forwarding state passes frames. With STP on, a new port listens and learns
    for twice the forward delay (30 s): longer than a pod's first connections or a DHCP client will
    wait. A port that stays in blocking is one that STP considers part of a loop.

How to confirm
    bridge -d link show; ip -d link show BRIDGE | grep -o 'stp_state [01]\|forward_delay [0-9]*'

How to fix
    Bridges for containers do not need STP: ip link set BRIDGE type bridge stp_state 0 forward_delay
    0. If there is a real loop, remove one of the two paths.

References
    br_set_state, br_stp_enable_port (net/bridge/br_stp.c v6.12); bridge(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.node.case import Case

CATEGORIES = (
    Category.BRIDGE_CONFIGURATION,
    Category.LINK_DOWN,
)
NAME = "bridge-port-blocked"
SHUT = ("blocking", "disabled")
"""States that last: a port is listening and learning for seconds only, and disabled while its
bridge is down.
"""


def check(case: Case) -> Iterator[Finding]:
    """Report each port that is listed as not forwarding, though it is up, and its bridge is not
    known to be down.
    """
    for namespace in case.node.namespaces.values():
        stopped = {
            link.name for link in namespace.links.items if link.span is not None and not link.up
        }
        for link in namespace.links.items:
            port = link.port
            if port is None or port.state not in SHUT or link.span is None:
                continue
            if not link.up or not link.carrier or link.master in stopped:
                continue
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"{link.name}, a port of {link.master or 'its bridge'}, is {port.state} and "
                    "passes no frames."
                ),
                evidence=(link.span,),
                reasoning=("A bridge forwards only between ports in the forwarding state.",),
                breaks=(f"everything behind {link.name}",),
                prevention="Turn STP off on bridges for containers.",
                certainty=0.8,
                marks=(port.state,),
            )
