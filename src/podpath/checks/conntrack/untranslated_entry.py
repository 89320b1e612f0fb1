"""untranslated-entry: a conntrack entry forwards a pod's or a service's packets without the
translation that they need.

What it is
    An UNREPLIED entry of one of two kinds: its reply is expected at a container's private address
    although it goes to another network, while other entries to the same destination are translated;
    or it goes to a service's address, and the reply is expected from that very address.

Why it breaks
    NAT is decided once, for a connection's first packet. An entry created while the rules were
    missing (before Docker or kube-proxy wrote them, or after a flush) stays untranslated as long as
    packets refresh it: for UDP from one port (statsd, SIP, syslog, DNS over a long-lived socket,
    QUIC), that is forever. The packets leave with a source address that nobody can reply to.

How to confirm
    conntrack -L -p udp --orig-port-dst PORT | grep UNREPLIED
    tcpdump -ni DEVICE udp port PORT   # shows the container's address

How to fix
    conntrack -D -p udp --orig-port-dst PORT; the next packet is translated again. Whenever the
    rules were missing, flush the entries after the rules are written.

References
    nf_nat_inet_fn (net/netfilter/nf_nat_core.c); moby/libnetwork's clearing of UDP entries
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.told import LOSSES, SERVICES, list_failing
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import endpoint
from podpath.node.case import Case
from podpath.node.netfilter import ConntrackEntry

CATEGORIES = (Category.CONNTRACK_STALE, Category.MASQUERADE_MISSING)
NAME = "untranslated-entry"
POSSIBLE = 0.8
ASK = FollowUp(
    "whether the service's rules are there now",
    "iptables-save -t nat | grep ADDRESS; conntrack -L --orig-dst ADDRESS",
    "they are, and the entry stays: it is older than the rules, delete it",
)


def check(case: Case) -> Iterator[Finding]:
    """Report each unreplied, untranslated entry where others of the same service are translated, or
    a service is asked.
    """
    entries = case.node.host.conntrack.items
    translated: dict[tuple[object, ...], ConntrackEntry] = {}
    for entry in entries:
        if _is_translated(entry):
            translated.setdefault(_goal(entry), entry)
    services = {address for service in case.node.services for address in service.addresses}
    named, ports = frozenset(_list_named(case)), frozenset(_list_named_ports(case))
    told = set()
    for entry in entries:
        if entry.replied or _is_translated(entry) or entry.span is None:
            continue
        other = translated.get(_goal(entry))
        if _goal(entry) in told:
            continue
        if other is not None or entry.original.dst in services:
            told.add(_goal(entry))
            yield _report(entry, other)
        elif entry.original.protocol == protocols.UDP and (
            entry.original.dst in named or entry.original.dport in ports
        ):
            told.add(_goal(entry))
            yield _doubt(_report(entry, None))


def _list_named(case: Case) -> Iterator[Address]:
    """Yield the addresses that sentences about what fails call a service's."""
    for one in list_failing(case):
        if one.target in SERVICES or "service" in one.spoken:
            yield from one.addresses


def _list_named_ports(case: Case) -> Iterator[int]:
    """Yield the ports of what fails by a service, as sentences tell."""
    for one in list_failing(case):
        if one.target in SERVICES or "service" in one.spoken:
            yield from one.ports


def _doubt(finding: Finding) -> Finding:
    """Return it as possible, for nothing but prose says that the address is a service's, and no
    output that its rules are there now; requests without an answer are what it makes.
    """
    return replace(finding, certainty=POSSIBLE, repairs=(), asks=(ASK,), proves=LOSSES)


def _goal(entry: ConntrackEntry) -> tuple[object, ...]:
    return (entry.original.dst, entry.original.protocol, entry.original.dport)


def _is_translated(entry: ConntrackEntry) -> bool:
    return entry.reply.dst != entry.original.src or entry.reply.src != entry.original.dst


def _report(entry: ConntrackEntry, other: ConntrackEntry | None) -> Finding:
    goal = endpoint(entry.original.dst, entry.original.dport)
    name = protocols.protocol_name(entry.original.protocol)
    spans = (entry.span, other.span if other is not None else None)
    reasoning = [
        (
            "NAT is decided for a connection's first packet; as long as packets refresh the entry, "
            "it does not change."
        )
    ]
    if other is not None:
        reasoning.append(f"Another connection to {goal} is translated: the rules are there now.")
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"A conntrack entry sends {name} from "
        f"{endpoint(entry.original.src, entry.original.sport)} to {goal} untranslated, "
        "and nothing has answered.",
        evidence=tuple(span for span in spans if span is not None),
        reasoning=tuple(reasoning),
        breaks=(f"{name} from {entry.original.src} to {goal}",),
        repairs=(
            Repair(
                title="delete the entries, so the rules decide again",
                commands=(
                    (
                        f"conntrack -D -p {name} --orig-dst {entry.original.dst} --orig-port-dst "
                        f"{entry.original.dport}"
                    ),
                ),
            ),
        ),
        prevention="Flush such entries whenever the rules were missing or rewritten.",
        marks=("UNREPLIED",),
    )
