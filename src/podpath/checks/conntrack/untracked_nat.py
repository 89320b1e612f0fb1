"""untracked-nat: a rule exempts packets from connection tracking that need to be translated.

What it is
    A NOTRACK rule (raw PREROUTING of iptables, `notrack` of nft) matches what a DNAT rule
    translates, or an IPVS service with masquerading while net.ipv4.vs.conntrack is 1; or it matches
    ports, whatever the destination, on a host whose containers connect to those ports.

Why it breaks
    NAT works only on tracked connections: an untracked packet passes every NAT rule unchanged, and
    no rule for established connections matches it. Containers' packets leave with their own
    addresses, a published port is not forwarded, and with IPVS only one direction is tracked.

How to confirm
    iptables -t raw -nvL; nft list ruleset | grep -n -B3 notrack
    conntrack -L | grep PORT          # nothing, while packets pass

How to fix
    Limit the rule to the host's own addresses (-d ADDRESS, `ip daddr ADDRESS`; `ip saddr ADDRESS`
    for replies), or delete it.

References
    nf_nat_inet_fn (net/netfilter/nf_nat_core.c v6.12): no entry, no translation; xt_CT.c;
    iptables-extensions(8), CT
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.coverage import chains_in, ports_of
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import tables_named
from podpath.checks.stated import statements_of
from podpath.checks.told import LOSSES, list_lost
from podpath.net import nft, protocols
from podpath.net.addresses import Prefix
from podpath.net.firewall import ForwardingMethod, RealServer
from podpath.net.provenance import Known, Span
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.netfilter import Rule
from podpath.node.nftables import NftRule
from podpath.xtables.legality import DESTINATION_NAT

CATEGORIES = (Category.CONNTRACK_INVALID, Category.HOST_FIREWALL, Category.MASQUERADE_MISSING)
NAME = "untracked-nat"
POSSIBLE = 0.6
"""Where nothing shows which connections of containers use the port."""
IPVS_TRACKS = "net.ipv4.vs.conntrack"
_ENDS = frozenset({"ACCEPT", "RETURN"})
_PLAIN = frozenset({"comment", "tcp", "udp", "multiport"})
"""Matches that ask for no more than ports."""
_FLAGS = frozenset({"syn", "tcp-flags"})
"""What rules of SYNPROXY ask for, which answers such packets itself."""
_CONTAINERS = frozenset({Technology.DOCKER, Technology.PODMAN, Technology.KUBERNETES})
_LOCAL = frozenset({53, 67, 68})
"""Ports of which such rules mean a server on the host itself: names and leases."""
_FAMILIES = {"ip": 4, "ip6": 6}


class _Traffic(NamedTuple):
    """What a rule takes, as far as its port tells it apart."""

    family: int
    """4 or 6; 0 for both."""
    protocol: int | None
    dst: Prefix | None
    ports: tuple[tuple[int, int], ...]
    span: Span
    narrow: bool = False
    """True where it asks for more than ports, a destination and a device."""
    partial: bool = False
    """True where it takes a part: what comes in on one device, or what earlier rules leave."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first rule for what is translated, else the first for ports of whomever."""
    rules = [one for one in (*_list_in_tables(case), *_list_in_nftables(case)) if not one.narrow]
    for rule in rules:
        for wanted in _list_translated(case):
            if _takes(rule, wanted):
                yield _report(rule, wanted)
                return
    if not case.mentions & _CONTAINERS or not list_lost(case):
        return
    for rule in rules:
        wide = rule.dst is None and not rule.partial
        if wide and any(first not in _LOCAL for first, _ in rule.ports):
            yield _report(rule, None)
            return


def _takes(rule: _Traffic, wanted: _Traffic) -> bool:
    """Tell whether a rule takes all that is to be translated."""
    first, last = wanted.ports[0]
    named = any(low <= first and last <= high for low, high in rule.ports)
    to_it = rule.dst is None or (wanted.dst is not None and rule.dst.covers(wanted.dst))
    return (
        named and to_it and rule.family in {0, wanted.family} and rule.protocol == wanted.protocol
    )


def _list_in_tables(case: Case) -> Iterator[_Traffic]:
    for table in tables_named(case.node.host, "raw"):
        chain = chains_in(table).get("PREROUTING")
        ended = False
        for rule in chain.rules if chain is not None else ():
            ended = ended or (rule.target is not None and rule.target.name in _ENDS)
            if _untracks(rule):
                taken = _read_rule(rule, table.family)
                yield taken._replace(partial=taken.partial or ended)


def _read_rule(rule: Rule, family: int) -> _Traffic:
    options = {option.name for match in rule.matches for option in match.options}
    odd = any(match.name not in _PLAIN for match in rule.matches) or bool(options & _FLAGS)
    device = rule.in_link is not None or bool(rule.hidden)
    negated = any(one is not None and one.negated for one in (rule.dst, rule.protocol))
    return _Traffic(
        family,
        rule.protocol.number if rule.protocol is not None else None,
        rule.dst.prefix if rule.dst is not None else None,
        ports_of(rule) or (),
        rule.span,
        odd or negated or rule.src is not None or bool(rule.unread and not rule.hidden),
        device,
    )


def _untracks(rule: Rule) -> bool:
    target = rule.target
    if target is None:
        return False
    options = {option.name for option in target.options}
    return target.name == "NOTRACK" or (target.name == "CT" and "notrack" in options)


def _list_in_nftables(case: Case) -> Iterator[_Traffic]:
    for table in case.node.host.nftables.items:
        for chain in table.chains.values():
            for rule in chain.rules if chain.hook == "prerouting" else ():
                if any(isinstance(one, nft.Notrack) for one in rule.statements):
                    yield _read_native(rule)


def _read_native(rule: NftRule) -> _Traffic:
    ports: tuple[tuple[int, int], ...] = ()
    protocol: int | None = None
    narrow = bool(rule.unread)
    for one in rule.statements:
        if not isinstance(one, nft.NftMatch):
            continue
        left, right = one.left, one.right
        if not isinstance(left, nft.Payload) or not isinstance(right, nft.Literal):
            narrow = True
        elif left.field == "dport" and right.text.isdecimal() and one.op == "==":
            ports = ((int(right.text), int(right.text)),)
            protocol = _PROTOCOLS.get(left.protocol)
        else:
            narrow = True
    return _Traffic(_FAMILIES.get(rule.family, 0), protocol, None, ports, rule.span, narrow)


_PROTOCOLS = {"tcp": protocols.TCP, "udp": protocols.UDP}


def _list_translated(case: Case) -> Iterator[_Traffic]:
    """Yield what rules of the host or IPVS translate; the latter only where it asks conntrack."""
    for table in tables_named(case.node.host, "nat"):
        for chain in chains_in(table).values():
            for rule in chain.rules:
                target = rule.target.name if rule.target is not None else ""
                if target in DESTINATION_NAT and len(ports_of(rule) or ()) == 1:
                    yield _read_rule(rule, table.family)
    tracks = case.node.host.sysctls.get(IPVS_TRACKS)
    if isinstance(tracks, Known) and tracks.value == "1":
        for server, stated in statements_of(case, RealServer):
            if server.method is ForwardingMethod.MASQUERADING:
                port = ((server.service_port, server.service_port),)
                dst = Prefix.of(server.service)
                protocol = _PROTOCOLS.get(server.protocol.lower())
                yield _Traffic(server.service.family, protocol, dst, port, stated.span, narrow=True)


def _report(rule: _Traffic, translated: _Traffic | None) -> Finding:
    ports = ", ".join(_name_range(*one) for one in rule.ports)
    taken = f"A rule takes packets to port {ports} out of connection tracking"
    if translated is not None:
        claim = f"{taken}, but NAT needs it to translate them."
    else:
        claim = f"{taken}, containers' connections to other machines included."
    ask = FollowUp(
        f"whether what fails goes to port {ports}",
        f"tcpdump -ni any port {rule.ports[0][0]}; conntrack -L | grep {rule.ports[0][0]}",
        "packets pass untranslated, and there is no entry: the rule exempts them",
    )
    sure = translated is not None and not translated.narrow and not rule.partial
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=claim,
        evidence=(rule.span, *((translated.span,) if translated is not None else ())),
        reasoning=("An untracked packet is not translated, and its answer matches no entry.",),
        breaks=(f"connections to port {ports} that have to be translated",),
        prevention="Limit NOTRACK to the host's own addresses.",
        certainty=1.0 if sure else POSSIBLE,
        proves=LOSSES if translated is not None and not rule.partial else frozenset(),
        asks=() if sure else (ask,),
        marks=("notrack", "NOTRACK"),
    )


def _name_range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
