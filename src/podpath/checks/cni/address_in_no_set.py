"""address-in-no-set: no IP set of the host holds the address of a pod that a policy allows.

What it is
    `ipset list | grep ADDRESS` prints nothing for the address of a pod that a NetworkPolicy selects
    by its labels, on a node with Calico.

Why it breaks
    Calico keeps what a policy selects in IP sets. A pod that it does not know (created before
    Calico was installed, set up by another plugin, or without its WorkloadEndpoint) is in none of
    them, so the rule that would allow it never matches.

How to confirm
    ipset list | grep ADDRESS
    calicoctl get workloadendpoint -A | grep ADDRESS

How to fix
    Recreate the pod, so that the plugin registers it: kubectl delete pod NAME.

References
    projectcalico/calico, felix/ipsets; docs.tigera.io, "Migrate a cluster to Calico"
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import see
from podpath.checks.stated import statements_of
from podpath.checks.told import list_lost
from podpath.net.addresses import read_address
from podpath.net.statements import NothingFound
from podpath.net.technologies import Technology
from podpath.node.case import Case

CATEGORIES = (Category.CNI_AGENT, Category.NETWORK_POLICY)
NAME = "address-in-no-set"
POSSIBLE = 0.7
"""A policy that selects nothing of the pod needs no set that holds it."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first address that no set holds, where policies are spoken of or shown."""
    policies = Technology.NETWORK_POLICY in case.mentions or bool(see(case, "NetworkPolicy"))
    if Technology.CALICO not in case.mentions or not policies or not list_lost(case):
        return
    for one, stated in statements_of(case, NothingFound):
        address = read_address(one.sought)
        if one.program != "ipset" or address is None:
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=f"No IP set of the host holds {address}: no policy's selector takes its pod.",
            evidence=(stated.span,),
            reasoning=("Calico puts the address of each pod that a policy selects into a set.",),
            breaks=(f"connections that policies allow {address} by its labels",),
            prevention="Recreate all pods after a change of the plugin.",
            certainty=POSSIBLE,
            asks=(
                FollowUp(
                    f"whether Calico knows the pod with {address}",
                    f"calicoctl get workloadendpoint -A | grep {address}; kubectl get pods -A -o "
                    "wide --sort-by=.status.startTime",
                    "it has no endpoint, or is older than Calico: delete the pod",
                ),
            ),
            marks=(str(address),),
        )
        return
