"""service-withdrawn: MetalLB's speaker withdraws a service's announcement, and says why.

What it is
    A line of the speaker with `serviceWithdrawn` and a reason, and no later line that announces the
    same service.

Why it breaks
    Nobody answers for an address that no speaker announces: no ARP, no route at the peers. In layer
    2 mode, every speaker but one says `notOwner` of a healthy service. It is a fault only if all of
    them say it: no node is left to choose from (the label that keeps nodes from balancers, no ready
    endpoint, memberlist switched off).

How to confirm
    kubectl -n metallb-system logs -l component=speaker --prefix --tail=-1 | grep serviceA
    kubectl get endpointslices -A; kubectl get nodes --show-labels

How to fix
    Do what the reason asks for: give the service a ready endpoint (noEndpoints, noLocalEndpoints),
    a pool that holds its address (ipNotAllowed, noIPAllocated), take the label off a node
    (nodeLabeledExcludeBalancers).

References
    MetalLB, speaker/main.go and speaker/layer2_controller.go (ShouldAnnounce)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.told import list_failing
from podpath.net.complaints import Circumstance
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.LOAD_BALANCER, Category.NO_ENDPOINTS)
NAME = "service-withdrawn"
OTHERS = "notOwner"
POSSIBLE, OFTEN = 0.7, 0.4
_MEANINGS: Mapping[str, str] = {
    "noEndpoints": "it has no ready endpoint",
    "noLocalEndpoints": "no endpoint of it is on this node (externalTrafficPolicy: Local)",
    "noIPAllocated": "it has no address",
    "ipNotAllowed": "no pool holds its address",
    "nodeLabeledExcludeBalancers": "the node has the label that keeps it from balancers",
    "nodeNetworkUnavailable": "the node's network is said to be unavailable",
    OTHERS: "another node is to announce it, or none may",
}
"""The reasons for which a speaker takes a service back that is still there."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first service that is taken back and not announced after that."""
    if not any(True for _ in list_failing(case)):
        return
    announced = find_said(case, MessageKind.SERVICE_ANNOUNCED)
    for message in find_said(case, MessageKind.SERVICE_WITHDRAWN):
        known = message.values.get("reason") in _MEANINGS
        if known and not any(_is_of_same(one, message) for one in announced):
            yield _report(case, message)
            return


def _is_of_same(announced: Message, withdrawn: Message) -> bool:
    """Tell whether a service is announced, by whatever speaker, after it was taken back."""
    same = announced.values.get("service") == withdrawn.values.get("service")
    apart = announced.span.source.name != withdrawn.span.source.name
    return same and (apart or announced.span.last_line > withdrawn.span.line)


def _report(case: Case, message: Message) -> Finding:
    reason, service = message.values["reason"], message.values.get("service", "a service")
    alone = any(one.circumstance is Circumstance.ONE_NODE for one in case.told)
    rare = reason != OTHERS or alone
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(f"MetalLB's speaker does not announce {service}: {_MEANINGS[reason]} ({reason})."),
        evidence=(message.span,),
        reasoning=("No line shows that it is announced after that.",),
        breaks=(f"connections from outside to {service}",),
        prevention="Watch that one speaker at least announces each service.",
        certainty=POSSIBLE if rare else OFTEN,
        asks=(
            FollowUp(
                "whether another speaker announces it",
                (
                    "kubectl -n metallb-system logs -l component=speaker --prefix --tail=-1 | grep "
                    "-e serviceAnnounced -e serviceWithdrawn"
                ),
                "none does: this is why nobody answers for its address",
            ),
        ),
        marks=(reason,),
    )
