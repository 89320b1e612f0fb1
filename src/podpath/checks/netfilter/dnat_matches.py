"""dnat-matches: a DNAT rule matches other packets than those that people speak of.

What it is
    A DNAT rule for the port that fails is for packets that come in by one device, or that go to one
    address, and what fails comes by another device or goes to another address. Or a DNAT rule names
    no port at all, so that it takes whatever else is for the host.

Why it breaks
    A rule with `-i wan` is never met by clients of the LAN, nor by the host itself (its packets
    pass OUTPUT alone). A rule with the address that the world knows is not met where a router or a
    cloud has already put another one in its place. A rule without a port takes ssh and the answers
    to nobody, too: all of it ends up at the container.

How to confirm
    iptables -t nat -nvL PREROUTING      # the rule's counter stays at 0 while the client tries
    tcpdump -ni any port PORT            # by which device, and to which address

How to fix
    Narrow or widen the match: -d the address that packets really have, no -i (with a MASQUERADE for
    clients of the same network), --dport for a rule that has none.

References
    iptables(8); nf_nat_inet_fn (net/netfilter/nf_nat_core.c)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.asked_ports import holds_port
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import port_of, tables_named
from podpath.checks.told import WORKLOADS, list_failing
from podpath.checks.topology import dnat_destinations
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.complaints import Circumstance, Complaint
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.xtables.rule import Rule

CATEGORIES = (Category.HAIRPIN, Category.SERVICE_RULES_MISSING, Category.HOST_FIREWALL)
NAME = "dnat-matches"
LIKELY = 0.8
POSSIBLE = 0.5
_DEVICE = re.compile(r"\b(?:device|interface|card|nic|port)\s+`?(?P<name>[A-Za-z][\w.-]*)")
_CLAUSE = re.compile(r"[;.,]\s")
_WORD = re.compile(r"[\w.-]*\w")
_CONDITIONS = frozenset({"tcp", "udp", "comment"})
"""Matches that leave a rule open for every packet of its protocol."""


class UnservedPort(NamedTuple):
    """A port that people say cannot be reached."""

    port: int
    address: Address | None
    devices: frozenset[str]
    """Devices that the sentence names."""
    span: Span


def check(case: Case) -> Iterator[Finding]:
    """Report the first DNAT rule that is for other packets than those that fail."""
    asked = list(_list_asked(case))
    for table in tables_named(case.node.host, "nat"):
        rules = [
            (rule, destination)
            for rule, destination, _ in dnat_destinations(table)
            if rule.chain == "PREROUTING" and rule.src is None and not rule.unread
        ]
        for one in asked:
            for_port = [rule for rule, _ in rules if _is_for(rule, one.port)]
            missed = [rule for rule in for_port if _misses(case, rule, one)]
            if missed and len(missed) == len(for_port):
                yield _report_narrow(missed[0], one)
                return
        for rule, destination in rules:
            taken = next((one for one in asked if _is_taken(rule, one)), None)
            if taken is not None:
                yield _report_wide(rule, destination, taken)
                return


def _list_asked(case: Case) -> Iterator[UnservedPort]:
    for one in list_failing(case):
        if one.source in WORKLOADS or Circumstance.OUTGOING in one.circumstances:
            continue
        asked = next((each for each in one.addresses if each not in one.sources), None)
        for port in one.ports:
            yield UnservedPort(port, asked, _list_devices(case, one), one.span)


def _list_devices(case: Case, complaint: Complaint) -> frozenset[str]:
    """Return the devices of the clause that fails: a clause of what works names the others."""
    text = _CLAUSE.split(complaint.span.text)[0]
    shown = {str(link.name) for link in case.node.host.links.items}
    named = {found["name"] for found in _DEVICE.finditer(text)}
    return frozenset(named | shown.intersection(_WORD.findall(text)))


def _is_for(rule: Rule, port: int) -> bool:
    spelled = port_of(rule)
    return bool(spelled) and holds_port(spelled, port)


def _misses(case: Case, rule: Rule, asked: UnservedPort) -> bool:
    """Tell whether what fails may not meet a rule: by its device, or since no card of the host has
    its address, so that packets may arrive with another.
    """
    device = rule.in_link
    if device is not None and not device.negated and not device.wildcard:
        return bool(asked.devices - {device.name})
    return _is_of_nobody(case, rule) and not rule.packets


def _is_of_nobody(case: Case, rule: Rule) -> bool:
    """Tell whether a rule is for one address, which a whole listing shows on no card."""
    listed = case.node.host.addresses
    if rule.dst is None or rule.dst.negated or not listed.complete or rule.packets is None:
        return False
    prefix = rule.dst.prefix
    shown = [one for one in listed.items if one.span is not None]
    known = any(not one.address.is_loopback and one.address.family == 4 for one in shown)
    single = prefix.length == 32 and known
    return single and not any(prefix.covers(one.address) for one in shown)


def _is_taken(rule: Rule, asked: UnservedPort) -> bool:
    """Tell whether a rule takes every port of its protocol, and so the one that fails."""
    plain = all(match.name in _CONDITIONS and not match.options for match in rule.matches)
    tcp = rule.protocol is None or rule.protocol.number == protocols.TCP
    whole = rule.dst is None or (
        asked.address is not None and rule.dst.prefix.covers(asked.address)
    )
    return plain and tcp and whole and not port_of(rule) and rule.in_link is None


def _report_narrow(rule: Rule, asked: UnservedPort) -> Finding:
    if rule.in_link is not None:
        what = f"for packets that come in on {rule.in_link.name} alone"
        decides = "they come in on another device: the rule does not match"
    else:
        prefix = rule.dst.prefix if rule.dst is not None else ""
        what = f"for packets to {prefix} alone, which no card of the host has"
        decides = "they arrive with another address: the rule does not match"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The DNAT rule of port {asked.port} is {what}.",
        evidence=(rule.span, asked.span),
        reasoning=("No other rule that is shown is for that port.",),
        breaks=(f"connections to port {asked.port} that the rule does not match",),
        prevention=(
            "Match the address that packets have when they arrive, not the one that clients use."
        ),
        certainty=LIKELY,
        asks=(
            FollowUp(
                f"on which device packets for port {asked.port} arrive, and for which address",
                f"tcpdump -ni any port {asked.port}; iptables -t nat -nvL PREROUTING",
                decides,
            ),
        ),
        marks=(str(asked.port),),
    )


def _report_wide(rule: Rule, destination: Address, asked: UnservedPort) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A DNAT rule without a port takes whatever comes in, including port {asked.port}, "
            f"and sends it to {destination}."
        ),
        evidence=(rule.span, asked.span),
        reasoning=("It matches on no destination port and no device.",),
        breaks=("connections to programs of the host itself",),
        prevention="Give each DNAT rule the port that it is for.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                f"whether {destination} should serve port {asked.port}",
                f"iptables -t nat -nvL PREROUTING; ss -ltnp | grep :{asked.port}",
                "the host itself should: the rule takes the port away from it",
            ),
        ),
        marks=(str(destination),),
    )
