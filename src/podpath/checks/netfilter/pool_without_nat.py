"""pool-without-nat: packets of pods leave an address pool without translation.

What it is
    With a Calico pool whose natOutgoing is false (the API's default; the installer's manifest sets
    true), packets from pods to the outside world leave with the pods' own addresses.

Why it breaks
    Routers outside the cluster have no route back to pods, so nothing comes back: pods reach each
    other and services, but connections to everything else time out.

How to confirm
    calicoctl get ippool -o yaml | grep -E 'cidr|natOutgoing'; tcpdump -ni UPLINK host POD

How to fix
    Set natOutgoing: true, or announce the pods' range to the routers with BGP.

References
    Calico's page "IP pool"; its guide on outgoing NAT
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.MASQUERADE_MISSING,)
NAME = "pool-without-nat"


def check(case: Case) -> Iterator[Finding]:
    """Report pools in use that do not translate, unless BGP peers are configured."""
    if see(case, "BGPPeer"):
        return
    for pool in see(case, "IPPool"):
        nat, cidr = pool.at("spec", "natOutgoing"), pool.at("spec", "cidr")
        if cidr is None or pool.text_at("spec", "disabled") == "true":
            continue
        if (nat is not None and nat.text == "false") or (
            nat is None and pool.at("apiVersion") is not None
        ):
            yield _report(pool, nat or cidr, cidr, stated=nat is not None)


def _report(pool: ObjectSightings, place: Tree, cidr: Tree, *, stated: bool) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"Calico's pool {pool.name} ({cidr.text}) does not translate traffic that leaves the "
            "cluster (natOutgoing)."
        ),
        evidence=(place.line, cidr.line),
        reasoning=("Without BGP peers, nobody outside has a route back to these addresses.",),
        breaks=("connections from pods to the outside world",),
        prevention="Set natOutgoing explicitly in every pool.",
        certainty=0.7 if stated else 0.4,
        marks=("natOutgoing",),
    )
