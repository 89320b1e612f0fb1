"""service-address-old: a client sends to an address that used to be a service's.

What it is
    A capture shows packets to the port of a service, but to an address that the service no longer
    has. No service, endpoint or pod shown has that address.

Why it breaks
    A service that is recreated gets another ClusterIP. Programs that keep what a name resolved to
    (the JVM with networkaddress.cache.ttl=-1, long-lived pools, nginx's upstreams) still send to
    the old one; nothing translates that, and the packets leave by the default route.

How to confirm
    kubectl get svc -A -o wide | grep ADDRESS; nslookup SERVICE (in the client's pod)
    ss -unp; ss -tnp                          # what the program is connected to

How to fix
    Restart the client, or let it resolve the name again (networkaddress.cache.ttl); keep the
    ClusterIP of a service that is recreated.

References
    the documentation's page "Service"; java.security, networkaddress.cache.ttl
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import see
from podpath.checks.stated import statements_of
from podpath.checks.told import LOSSES, list_failing
from podpath.net import protocols
from podpath.net.addresses import Address, Prefix, read_address
from podpath.net.packet import endpoint
from podpath.net.provenance import Span
from podpath.net.statements import NothingFound
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.APPLICATION, Category.STALE_DNAT)
NAME = "service-address-old"
RANGE = 16
"""Bits that the addresses of one range of services have in common at least."""
LEAST = 2
"""Packets without an answer that show it."""
COMMON = frozenset({22, 53, 80, 443, 8080, 8443})
"""Ports that too many others have as well."""
CERTAINTY = 0.8
ASK = FollowUp(
    "whether the address that the client uses was the service's, and where the client got it",
    "kubectl get svc -A -o wide | grep ADDRESS; nslookup SERVICE; ss -tunp (in the client's pod)",
    "nothing has it and the name resolves to another address: the client keeps an old answer",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the first address that is asked at a service's port and is not the service's."""
    listed = list(_list_services(case))
    held = {address for address, _, _, _ in listed}
    held |= {item.address for one in case.node.namespaces.values() for item in one.addresses.items}
    answered = {seen.packet.src for seen in case.sightings}
    asked: dict[tuple[Address, int, int], list[Sighting]] = {}
    for seen in case.sightings:
        packet = seen.packet
        if packet.dst not in held | answered and packet.dport not in COMMON:
            asked.setdefault((packet.dst, packet.protocol, packet.dport), []).append(seen)
    for (address, protocol, port), packets in asked.items():
        range_ = Prefix.of(address, RANGE)
        for own, offered, number, span in listed:
            alike = (offered, number) == (protocol, port) and range_.covers(own)
            if alike and address.family == own.family and len(packets) >= LEAST:
                yield _report(packets[0], own, span, nobody=_is_held_by_none(case, address))
                return


def _list_services(case: Case) -> Iterator[tuple[Address, int, int, Span]]:
    for service in see(case, "Service"):
        address = read_address(service.text_at("spec", "clusterIP"))
        for port in service.items_at("spec", "ports"):
            name, number = port.text_at("protocol").lower() or "tcp", port.text_at("port")
            if address is not None and number.isdecimal() and name in protocols.NUMBERS:
                yield address, protocols.NUMBERS[name], int(number), service.span


def _is_held_by_none(case: Case, address: Address) -> bool:
    """Tell whether somebody looked for the address among all services or rules and found none,
    while people say that something gets no answer.
    """
    sought = [one for one, _ in statements_of(case, NothingFound) if one.sought == str(address)]
    services = {"svc", "service", "services"}
    everywhere = any(
        one.program.startswith(("iptables", "ipvsadm"))
        or (services & set(one.words) and {"-A", "--all-namespaces"} & set(one.words))
        for one in sought
    )
    return everywhere and any(one.failure in {None, *LOSSES} for one in list_failing(case))


def _report(seen: Sighting, own: Address, span: Span, *, nobody: bool) -> Finding:
    asked = endpoint(seen.packet.dst, seen.packet.dport)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{seen.packet.src} sends to {asked}, which nothing has; the service with that port "
            f"is {own}."
        ),
        evidence=(span, seen.span),
        reasoning=(
            (
                "An address of no service is not translated, so its packets leave by the "
                "default route."
            ),
        ),
        breaks=(f"traffic from {seen.packet.src} to {asked}",),
        prevention="Let programs resolve names again, and keep a service's address.",
        certainty=1.0 if nobody else CERTAINTY,
        asks=() if nobody else (ASK,),
        marks=(str(seen.packet.dst), str(own)),
    )
