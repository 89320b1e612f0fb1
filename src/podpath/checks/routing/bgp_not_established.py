"""bgp-not-established: a BGP session between nodes is down.

What it is
    BIRD, kube-router, MetalLB or Cilium says that its session with a peer is not established.

Why it breaks
    Routes to the peer's pods are missing. TCP 179 is blocked between the nodes, the node announces a wrong address of
    its own (a bridge's or a VPN's, picked by autodetection), or AS number or password differ.

How to confirm
    calicoctl node status; nc -zv PEER 179; kubectl get nodes -o wide; calicoctl get node -o wide

How to fix
    Open TCP 179 between nodes; set IP_AUTODETECTION_METHOD (interface=, can-reach=, kubernetes-internal-ip) where an
    address is wrong.

References
    Calico, Troubleshooting: BGP; RFC 4271 section 8
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.ROUTE_DISTRIBUTION,
    Category.TUNNEL_ENDPOINT,
)
NAME = "bgp-not-established"
KINDS = (MessageKind.BGP_NOT_ESTABLISHED,)
ASK = Ask(
    "why the BGP session is down",
    "calicoctl node status; nc -zv PEER 179; calicoctl get nodes -o wide",
    (
        "refused or timeout: TCP 179 is blocked or BIRD does not run there; an address that is not the "
        "node's: autodetection took the wrong one"
    ),
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    peer = get_value(said, "peer")
    peer = f" ({peer})" if peer else ""
    meaning = Meaning(
        claim=f"The BGP session{peer} is not established, so routes to pods of other nodes are missing.",
        breaks="pods of the peers",
        cure="open TCP 179 between nodes, or set the right address of the node",
        commands=("calicoctl node status",),
        certainty=0.6,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)
