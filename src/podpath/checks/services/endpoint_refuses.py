"""endpoint-refuses: one endpoint of a service answers on its port, and another does not.

What it is
    Each endpoint of a service was queried directly: one answers, another refuses the connection or
    stays silent.

Why it breaks
    The service sends each new connection to one of them, so a share of the connections fails, the
    same for every client. The selector is so broad that it matches a pod of another kind, the
    program in that pod does not listen on the port, or the path to that pod's node is broken.

How to confirm
    kubectl get endpoints SERVICE -o yaml; kubectl get pods -A -o wide --show-labels
    kubectl exec POD -- ss -ltn

How to fix
    Give the service a selector that only its own pods match, or let that pod listen on the port.

References
    the documentation's page "Debug Services"
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.net.addresses import Address, read_address
from podpath.net.failures import Ending, FailureKind
from podpath.net.provenance import Span
from podpath.node.case import Attempt, Case

CATEGORIES = (Category.NO_LISTENER, Category.WRONG_PORT, Category.NO_ENDPOINTS)
NAME = "endpoint-refuses"
POSSIBLE = 0.7
"""Where it did not refuse by itself: the way there may be at fault."""
ASK = FollowUp(
    "whether the endpoint that does not answer listens on the port, and which pod it is",
    "kubectl get pods -A -o wide --show-labels; kubectl exec POD -- ss -ltn",
    "it does not listen: its labels should not match the selector; it does: look at the path to it",
)


def check(case: Case) -> Iterator[Finding]:
    """Report each endpoint that does not answer where another of the same service does."""
    for service in see(case, "Endpoints"):
        for port, listed in _list_ports(service):
            tried = [
                one
                for one in case.attempts
                if not one.good and one.probe.dst in listed and one.probe.dport == port
            ]
            bad = next((one for one in tried if one.failed), None)
            answers = next((one for one in tried if one.result == Ending.OK), None)
            steady = {one.probe.dst for one in tried if one.result == Ending.OK}
            if bad is None or answers is None or bad.probe.dst in steady:
                continue
            yield _report(service, (bad, answers), listed[bad.probe.dst])


def _list_ports(
    service: ObjectSightings,
) -> Iterator[tuple[int, dict[Address, Span]]]:
    """Yield the ports of a service's endpoints, each with the addresses that have it."""
    for subset in service.items_at("subsets"):
        listed: dict[Address, Span] = {}
        for item in subset.items_at("addresses"):
            address = read_address(item.text_at("ip"))
            if address is not None:
                listed[address] = item.line
        for port in subset.items_at("ports"):
            if port.text_at("port").isdecimal():
                yield int(port.text_at("port")), listed


def _report(service: ObjectSightings, tried: tuple[Attempt, Attempt], listed: Span) -> Finding:
    bad, answers = tried
    refused = bad.result == FailureKind.REFUSED
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Of the service {service.title}'s endpoints, {answers.probe.dst} answers on port "
            f"{bad.probe.dport}, and {bad.probe.dst} does not."
        ),
        evidence=tuple(dict.fromkeys((bad.span, listed, answers.span))),
        reasoning=("The service sends a share of its connections to each of its endpoints.",),
        breaks=(f"the share of connections that {bad.probe.dst} gets",),
        prevention="Give each service a selector that no other workload's pods match.",
        certainty=1.0 if refused else POSSIBLE,
        asks=() if refused else (ASK,),
        proves=frozenset({FailureKind.REFUSED}),
        marks=(str(bad.probe.dst),),
    )
