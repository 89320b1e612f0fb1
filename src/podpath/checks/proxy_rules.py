"""The rules that kube-proxy wrote for services, in iptables and in nftables: which address they
take, and where they send it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from podpath.checks.topology import find_chain
from podpath.net import nft
from podpath.net.addresses import WIDTH, Address, read_address
from podpath.net.protocols import NUMBERS
from podpath.net.provenance import Span
from podpath.node.netfilter import Chain, Rule, Table
from podpath.node.nftables import NftChain, NftTable
from podpath.node.node import Netns

SERVICES = "KUBE-SERVICES"
_INTO_ENDPOINT, _INTO_SERVICE = "KUBE-SEP-", ("KUBE-SVC-", "KUBE-SVL-")
_NATIVE = "kube-proxy"
Front = tuple[Address, int, int]
"""A service's address, protocol and port."""
Back = tuple[Address, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRules:
    """What the rules make of what is for a service's address and port."""

    span: Span
    """The line that takes it."""
    targets: Mapping[Back, Span]
    """Where it goes, each with the rule that rewrites it."""
    known: bool = True
    """False where a rule on the way is not shown, or not understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRules:
    """All of kube-proxy's rules on a node."""

    ask: str
    span: Span
    """A line of them."""
    services: Mapping[Front, ServiceRules] = field(default_factory=dict)


def find_proxy_rules(host: Netns) -> ProxyRules | None:
    """Return kube-proxy's rules, of whichever shape; None where they are not shown whole, stand in
    two places, or where IPVS does what they would.
    """
    tables = [*_iptables(host), *_native(host)]
    families = [family for family, _ in tables]
    if not tables or len(set(families)) < len(families):
        return None
    every = [rules for _, rules in tables]
    if any(one is None for one in every):
        return None
    shown = [one for one in every if one is not None]
    services: dict[Front, ServiceRules] = {}
    for one in shown:
        services |= one.services
    if not any(rules.targets for rules in services.values()) or _is_by_ipvs(host):
        return None
    return ProxyRules(ask=shown[0].ask, span=shown[0].span, services=services)


def _is_by_ipvs(host: Netns) -> bool:
    return any(link.name == "kube-ipvs0" for link in host.links.items)


def _iptables(host: Netns) -> Iterator[tuple[int, ProxyRules | None]]:
    """Yield the rules of each family's table of iptables that has some."""
    for family, filtered in host.netfilter.items():
        for table in filtered.tables:
            chain = find_chain(table, SERVICES) if table.name == "nat" else None
            if chain is not None and len(chain.rules):
                yield family, _read_table(filtered.tables, table, chain, filtered.ask)


def _read_table(tables: Sequence[Table], table: Table, chain: Chain, ask: str) -> ProxyRules | None:
    if not (chain.complete and table.complete) or chain.in_line is not None:
        return None
    services = {front: _follow(table, rule) for rule in chain.rules for front in _fronts(rule)}
    empty = {front: rule for rule in _refusing(tables, table) for front in _fronts(rule, "REJECT")}
    for front, rule in empty.items():
        services.setdefault(front, ServiceRules(span=rule.span, targets={}))
    return ProxyRules(ask=ask, span=chain.rules[0].span, services=services)


def _refusing(tables: Sequence[Table], nat: Table) -> Iterator[Rule]:
    """Yield the rules that refuse what is for services without endpoints."""
    for table in tables:
        if (table.name, table.flavour) == ("filter", nat.flavour):
            chain = find_chain(table, SERVICES)
            yield from chain.rules if chain is not None else ()


def _fronts(rule: Rule, *targets: str) -> Iterator[Front]:
    """Yield the service's address and port that a rule takes on the way to its endpoints."""
    name = rule.target.name if rule.target is not None else ""
    wanted = name in targets if targets else name.startswith(_INTO_SERVICE)
    if not wanted or rule.dst is None or rule.protocol is None or rule.dst.negated:
        return
    ports = [
        option.values[0]
        for match in rule.matches
        for option in match.options
        if option.name == "dport" and option.values and not option.negated
    ]
    if (
        len(ports) == 1
        and ports[0].isdecimal()
        and rule.dst.prefix.length == WIDTH[rule.dst.prefix.family]
    ):
        yield rule.dst.prefix.address, rule.protocol.number, int(ports[0])


def _follow(table: Table, taking: Rule) -> ServiceRules:
    """Follow a service's chain to its endpoints."""
    chain = find_chain(table, taking.target.name) if taking.target is not None else None
    if chain is None or not chain.complete:
        return ServiceRules(span=taking.span, targets={}, known=False)
    targets: dict[Back, Span] = {}
    known = True
    for rule in chain.rules:
        name = rule.target.name if rule.target is not None else ""
        if rule.unread:
            known = False
        if name.startswith(_INTO_ENDPOINT):
            back = _rewrite(find_chain(table, name))
            known = known and back is not None
            targets |= back or {}
    return ServiceRules(span=taking.span, targets=targets, known=known)


def _rewrite(chain: Chain | None) -> Mapping[Back, Span] | None:
    """Return where an endpoint's chain rewrites to; None where that is not understood."""
    for rule in chain.rules if chain is not None and chain.complete else ():
        if rule.target is None or rule.target.name != "DNAT" or rule.unread:
            continue
        for option in rule.target.options:
            back = _read_back(option.values[0]) if option.values else None
            if option.name == "to-destination" and back is not None:
                return {back: rule.span}
    return None


def _read_back(text: str) -> Back | None:
    host, sign, port = text.rpartition(":")
    address = read_address(host.strip("[]"))
    return (address, int(port)) if sign and address is not None and port.isdecimal() else None


def _native(host: Netns) -> Iterator[tuple[int, ProxyRules | None]]:
    """Yield the rules of kube-proxy's own tables of nftables."""
    for table in host.nftables.items:
        if table.name == _NATIVE and table.family in {"ip", "ip6"}:
            family = 4 if table.family == "ip" else 6
            yield family, _read_native(table, host.nftables.ask)


def _read_native(table: NftTable, ask: str) -> ProxyRules | None:
    taken = table.sets.get("service-ips")
    lines = [rule.span for chain in table.chains.values() for rule in chain.rules]
    if taken is None or not (taken.complete and table.complete) or not lines:
        return None
    services: dict[Front, ServiceRules] = {}
    for element in taken.elements:
        front = _read_key(element.key)
        if front is not None and isinstance(element.data, nft.NftVerdict):
            services[front] = _follow_native(table, element.data.chain, taken.span or lines[0])
    refused = table.sets.get("no-endpoint-services")
    for element in refused.elements if refused is not None else ():
        front = _read_key(element.key)
        if front is not None and refused is not None:
            services.setdefault(front, ServiceRules(span=refused.span or lines[0], targets={}))
    return ProxyRules(ask=ask, span=lines[0], services=services)


def _read_key(key: nft.Expression) -> Front | None:
    """Read `10.96.0.10 . tcp . 80`."""
    parts = key.parts if isinstance(key, nft.Concat) else ()
    texts = [part.text for part in parts if isinstance(part, nft.Literal)]
    if len(texts) != 3 or len(parts) != 3:  # address, protocol and port
        return None
    address, protocol = read_address(texts[0]), NUMBERS.get(texts[1])
    if address is None or protocol is None or not texts[2].isdecimal():
        return None
    return address, protocol, int(texts[2])


def _follow_native(table: NftTable, name: str, span: Span) -> ServiceRules:
    chain = table.chains.get(name)
    if chain is None or not chain.complete or not chain.rules:
        return ServiceRules(span=span, targets={}, known=False)
    targets: dict[Back, Span] = {}
    known = all(not rule.unread for rule in chain.rules)
    for goal in dict.fromkeys(_goals(chain)):
        back = _rewrite_native(table.chains.get(goal))
        known = known and back is not None
        targets |= back or {}
    return ServiceRules(span=chain.rules[-1].span, targets=targets, known=known)


def _goals(chain: NftChain) -> Iterator[str]:
    """Yield the chains of endpoints that a service's chain goes to."""
    for rule in chain.rules:
        for statement in rule.statements:
            if isinstance(statement, nft.Vmap) and isinstance(statement.data, nft.SetOf):
                verdicts = (element.data for element in statement.data.elements)
                yield from (one.chain for one in verdicts if isinstance(one, nft.NftVerdict))
            if isinstance(statement, nft.NftVerdict) and statement.chain.startswith("endpoint-"):
                yield statement.chain


def _rewrite_native(chain: NftChain | None) -> Mapping[Back, Span] | None:
    for rule in chain.rules if chain is not None and chain.complete else ():
        for statement in rule.statements:
            if isinstance(statement, nft.Nat) and statement.kind == "dnat":
                back = _read_nat(statement)
                return None if back is None or rule.unread else {back: rule.span}
    return None


def _read_nat(statement: nft.Nat) -> Back | None:
    host, port = statement.address, statement.port
    if not isinstance(host, nft.Literal) or not isinstance(port, nft.Literal):
        return None
    address = read_address(host.text.strip("[]"))
    if address is None or not port.text.isdecimal():
        return None
    return address, int(port.text)
