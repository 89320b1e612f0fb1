"""ip-families: a service requests an address family that the pods or the cluster do not have.

What it is
    A service's ipFamilies names IPv6 (or IPv4), while the pods that it selects have addresses only
    of the other family. With ipFamilyPolicy SingleStack only the first family of the cluster is
    served.

Why it breaks
    Endpoints are kept per family: a service has none in a family that its pods lack, and its
    address refuses connections. Clients that resolve the name to the missing family fail, while
    others work.

How to confirm
    kubectl get service NAME -o jsonpath='{.spec.ipFamilies} {.spec.ipFamilyPolicy}'
    kubectl get pods -o jsonpath='{.items[*].status.podIPs}'; kubectl get endpointslices

How to fix
    Set ipFamilyPolicy: PreferDualStack, or the family that the pods have; enable dual stack in the
    plugin, too.

References
    the documentation's page "IPv4/IPv6 dual-stack"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import FailedConnection, ObjectSightings, PodView, chosen, failures, see
from podpath.net.addresses import Address, read_address
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.IPV6,)
NAME = "ip-families"
_API_CALL = re.compile(r"/apis?/[a-z0-9.]+/")
"""A request for objects: `/api/v1/namespaces/...`."""


def check(case: Case) -> Iterator[Finding]:
    """Report families of a service that none of its pods has."""
    yield from _find_mixed(case)
    for service in see(case, "Service"):
        chosen_pods = [pod for pod in chosen(case, service) if _families(pod)]
        if not chosen_pods:
            continue
        have = {family for pod in chosen_pods for family in _families(pod)}
        for wanted in service.items_at("spec", "ipFamilies"):
            family = {"IPv4": 4, "IPv6": 6}.get(wanted.text)
            whole = all(pod.seen.items_at("status", "podIPs") for pod in chosen_pods)
            only = len(service.items_at("spec", "ipFamilies")) == 1
            if family is not None and family not in have and (whole or only):
                yield _report(service, wanted.text, chosen_pods[0], (wanted.line,))


def _find_mixed(case: Case) -> Iterator[Finding]:
    """Report Endpoints that hold addresses of both families, where a connection to their service by
    IPv6 fails.
    """
    for endpoints in see(case, "Endpoints"):
        places: dict[int, Span] = {}
        held: set[Address] = set()
        for subset in endpoints.items_at("subsets"):
            for item in subset.items_at("addresses"):
                address = read_address(item.text_at("ip"))
                if address is not None:
                    places.setdefault(address.family, item.line)
                    held.add(address)
        failed = [one for one in failures(case) if one.dst.family == 6]
        own = [one for one in failed if one.dst in held or _is_of(case, endpoints, one)]
        if len(places) > 1 and own:
            yield _report_mixed(endpoints, places, own[0])


def _is_of(case: Case, endpoints: ObjectSightings, failed: FailedConnection) -> bool:
    """Tell whether a connection went to the service that endpoints belong to: its address is known,
    or it asks for objects of the API server.
    """
    for service in case.node.services:
        if service.name == endpoints.name and failed.dst in service.addresses:
            return True
    called = _API_CALL.search(failed.span.text) is not None
    return called and endpoints.name == "kubernetes"


def _report_mixed(
    endpoints: ObjectSightings, places: Mapping[int, Span], failed: FailedConnection
) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Some endpoints of {endpoints.title} are IPv4 and others IPv6: not every server has "
            "an address of the family that its clients use."
        ),
        evidence=(places[6], places[4], failed.span),
        reasoning=(
            (
                "A connection stays within its family: for each address of such a service, only "
                "the endpoints of one family serve it."
            ),
        ),
        breaks=(f"connections to {endpoints.title} over the family that few endpoints serve",),
        prevention="Give all servers the same families, and advertise one address of each.",
    )


def _families(pod: PodView) -> set[int]:
    words = [
        pod.seen.text_at("status", "podIP"),
        *(item.text_at("ip") for item in pod.seen.items_at("status", "podIPs")),
    ]
    return {address.family for word in words if (address := read_address(word)) is not None}


def _report(
    service: ObjectSightings, family: str, pod: PodView, evidence: tuple[Span, ...]
) -> Finding:
    place = pod.seen.at("status", "podIP")
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"The service {service.title} is {family}, but its pod {pod.seen.name} has no {family} "
            "address."
        ),
        evidence=(*evidence, *((place.line,) if place is not None else ())),
        reasoning=("A service's endpoints are only pods with an address of its family.",),
        breaks=(f"connections to {service.title} over {family}",),
        prevention="Leave ipFamilies to the API server unless pods have addresses of the family.",
        certainty=0.9,
        marks=(family,),
    )
