"""service-unpinged: a service's address does not answer pings, but works.

What it is
    Somebody pings the address of a service and gets no answer, while connections to its ports work.

Why it breaks
    Nothing breaks. A ClusterIP is not an address of any host: kube-proxy's rules translate the
    service's ports, and an ICMP echo has none. In iptables mode, the ping leaves the node by its
    default route and is lost or loops; in IPVS mode, the node itself answers.

How to confirm
    curl -v http://ADDRESS:PORT/; kubectl get svc NAME

How to fix
    Test services on their ports. To ping, use a pod's own address.

References
    the documentation's page "Virtual IPs and Service Proxies"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import see
from podpath.checks.told import list_failing
from podpath.net import protocols
from podpath.net.addresses import Address, read_address
from podpath.net.failures import Ending
from podpath.net.provenance import Span
from podpath.node.case import Attempt, Case

CATEGORIES = (Category.OTHER,)
NAME = "service-unpinged"
PING = frozenset({protocols.ICMP, protocols.ICMPV6})
POSSIBLE = 0.3
"""Where people say that something fails, and do not speak of pings."""
ASK = FollowUp(
    "whether anything but a ping fails",
    "curl -v --max-time 3 http://ADDRESS:PORT/ (several times)",
    "the ports work each time: nothing is wrong; otherwise the ping says nothing about it",
)
SERVICE = ".svc."
"""What stands in the full name of every service."""


def check(case: Case) -> Iterator[Finding]:
    """Report a ping of a service that fails, where connections to the service work and nothing else
    fails.
    """
    others = [one for one in case.attempts if one.failed and not _is_ping(one)]
    if others or case.unplaced:
        return
    listed = dict(_list_services(case))
    for ping in case.attempts:
        address = ping.probe.dst
        if not ping.failed or not _is_ping(ping):
            continue
        named = SERVICE in ping.span.source.lines[0] if ping.span.source.lines else False
        works = next((one for one in case.attempts if _works(one, address)), None)
        if works is not None and (named or address in listed):
            found = _report(ping, works, listed.get(address))
            meant = all(one.protocol in PING for one in list_failing(case))
            yield found if meant else replace(found, certainty=POSSIBLE, asks=(ASK,))
            return


def _is_ping(one: Attempt) -> bool:
    return one.probe.protocol in PING


def _works(one: Attempt, address: Address) -> bool:
    return one.probe.dst == address and one.result == Ending.OK and not _is_ping(one)


def _list_services(case: Case) -> Iterator[tuple[Address, Span]]:
    for service in see(case, "Service"):
        address = read_address(service.text_at("spec", "clusterIP"))
        if address is not None:
            yield address, service.span


def _report(ping: Attempt, works: Attempt, listed: Span | None) -> Finding:
    shown = (ping.span, works.span) if listed is None else (ping.span, works.span, listed)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{ping.probe.dst} is a service's address: it answers on its ports, but not to pings."
        ),
        evidence=tuple(dict.fromkeys(shown)),
        reasoning=("Only the service's ports are translated, and a ping has no port.",),
        breaks=("pings alone",),
        prevention="Test services on their ports.",
        marks=(str(ping.probe.dst),),
    )
