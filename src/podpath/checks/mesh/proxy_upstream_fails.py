"""proxy-upstream-fails: a mesh's proxy cannot connect to its upstream, or has none.

What it is
    Envoy's flags: UF (the connection failed), UH (no healthy upstream), UO (a circuit breaker is open), NR and NC (no
    route or cluster).

Why it breaks
    The flag says how, not why: mutual TLS towards a pod without a sidecar, an address that no pod has any more, no
    ready endpoint, limits of connections, or a host name that no VirtualService knows.

How to confirm
    istioctl proxy-config endpoints POD --cluster CLUSTER; istioctl proxy-config cluster POD -o json | grep -A3
      transportSocket

How to fix
    Mend what the flag points to: mTLS settings, endpoints, limits in the DestinationRule, hosts in the
    VirtualService.

References
    Envoy, Access logging, %RESPONSE_FLAGS%
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.MESH_POLICY,
    Category.NO_ENDPOINTS,
    Category.MESH_REDIRECT,
    Category.STALE_DNAT,
    Category.NO_LISTENER,
    Category.RESOURCE_LIMIT,
)
NAME = "proxy-upstream-fails"
KINDS = (
    MessageKind.UPSTREAM_FAILED,
    MessageKind.NO_HEALTHY_UPSTREAM,
    MessageKind.UPSTREAM_OVERFLOW,
    MessageKind.ROUTE_UNKNOWN,
)
ASK = Ask(
    "whether the upstream's address is a pod's, and whether that pod speaks the mesh's TLS",
    (
        "istioctl proxy-config endpoints POD; kubectl get endpoints -A; istioctl x describe pod POD; kubectl "
        "get destinationrule,peerauthentication -A"
    ),
    "an address that no pod has: stale; a pod without a sidecar under mutual TLS: the policy",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    upstream = get_value(said, "upstream")
    upstream = f" ({upstream})" if upstream else ""
    meaning = Meaning(
        claim=f"The proxy's connection to its upstream{upstream} fails.",
        breaks="requests through that proxy",
        cure="mend what the response flag points to",
        certainty=0.4,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)
