"""A drafted node of IPv4 given the same of IPv6, and a probe moved to it: every address `a.b.c.d`
has its counterpart `fd00::a.b.c.d`, with the routes, policy rules, sets and rulesets that name it.

What only one family has (TOS of routes, broadcast, reverse path filters) is left out of the
counterpart; what only its words tell apart (`ttl` and `hl`, the answers of REJECT) is translated.
The rules of IPv4 stay, so that a chain of family inet and a table of the wrong family are met, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from podpath.net import nft, protocols
from podpath.net.addresses import Address, Prefix
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.links import InterfaceAddress
from podpath.node.netfilter import (
    IpSet,
    Match,
    MatchOption,
    PrefixMatch,
    ProtocolMatch,
    Rule,
    SetMember,
    Target,
)
from podpath.node.nftables import NftChain, NftTable
from podpath.node.routing import Nexthop, PolicyRule, Route
from podpath_lab.draft import Draft, DraftNetns, DraftTable, link_local

PROBED = 0.8
"""How many probes of nodes with both families are sent by IPv6."""
NETWORK = Address.parse("fd00::").value
USUAL_METRIC = 1024
"""Of an IPv6 route that names none (`IP6_RT_PRIO_USER`)."""
PROXY = Address.parse("169.254.1.1")
_SAME = {
    Address.parse(four): Address.parse(six)
    for four, six in (("127.0.0.1", "::1"), ("0.0.0.0", "::"), ("224.0.0.5", "ff02::5"),  # noqa: S104
                      ("255.255.255.255", "ff02::1"))
}  # fmt: skip
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
_NETWORK = re.compile(r"(\d+\.\d+\.\d+\.\d+)/(\d+)")
_ENDPOINT = re.compile(r"(\d+\.\d+\.\d+\.\d+(?:-\d+\.\d+\.\d+\.\d+)?):([\d-]+)")
_ANSWERS = {
    "icmp-net-unreachable": "icmp6-no-route", "icmp-host-unreachable": "icmp6-addr-unreachable",
    "icmp-proto-unreachable": "icmp6-policy-fail",
    "icmp-port-unreachable": "icmp6-port-unreachable",
    "icmp-net-prohibited": "icmp6-reject-route", "icmp-host-prohibited": "icmp6-adm-prohibited",
    "icmp-admin-prohibited": "icmp6-adm-prohibited",
}  # fmt: skip
_NATIVE_ANSWERS = {
    "net-unreachable": "no-route", "host-unreachable": "addr-unreachable",
    "prot-unreachable": "policy-fail", "net-prohibited": "reject-route",
    "host-prohibited": "admin-prohibited",
}  # fmt: skip
_ERRORS = {(3, 1): (1, 3), (3, 3): (1, 4), (3, 4): (2, 0), (11, 0): (3, 0)}
_ICMP_TYPES = {"8": "128", "0": "129", "3/1": "1/3"}
_NATIVE_FIELDS = {"ttl": "hoplimit"}


def give_both(draft: Draft) -> None:
    """Give every namespace of a draft IPv6 beside its IPv4."""
    for netns in draft.namespaces.values():
        _give_addresses(netns)
    for netns in draft.namespaces.values():
        netns.routes += _routes(draft, netns)
        netns.rules += [_policy_rule(rule) for rule in netns.rules]
        netns.sysctls |= _sysctls(netns)
        netns.sets |= {f"{name}6": _ipset(each) for name, each in netns.sets.items()}
        for (flavour, name), table in netns.tables.items():
            netns.tables6[flavour, name] = _table(table)
        netns.nftables += list(map(_native_table, netns.nftables))


def move_probe(probe: Probe) -> Probe:
    """Return a probe between the counterparts of its ends."""
    protocol = protocols.ICMPV6 if probe.protocol == protocols.ICMP else probe.protocol
    return probe._replace(src=counterpart(probe.src), dst=counterpart(probe.dst), protocol=protocol)


def move_frame(frame: Packet) -> Packet:
    """Return a crafted frame with the same between the same ends, of IPv6."""
    moved = frame._replace(
        src=counterpart(frame.src),
        dst=counterpart(frame.dst),
        length=frame.length + 20,
        dont_fragment=False,
    )
    if frame.protocol != protocols.ICMP:
        return moved
    if frame.quoted is not None:
        kind, code = _ERRORS.get((frame.icmp_type, frame.icmp_code), (4, 0))
        return moved._replace(
            protocol=protocols.ICMPV6,
            icmp_type=kind,
            icmp_code=code,
            length=moved.length + 20,
            quoted=move_frame(frame.quoted),
        )
    return moved._replace(protocol=protocols.ICMPV6, icmp_type=int(_ICMP_TYPES["0"]))


def counterpart(address: Address) -> Address:
    """Return the IPv6 address that stands for one of IPv4."""
    return _SAME.get(address) or Address(6, NETWORK | address.value)


def _prefix(prefix: Prefix) -> Prefix:
    if prefix.length == 0:
        return Prefix(6, 0, 0)
    return Prefix.of(counterpart(Address(4, prefix.network)), prefix.length + 96)


def _give_addresses(netns: DraftNetns) -> None:
    netns.six = True
    netns.addresses += [  # the last one that was given is listed first
        InterfaceAddress(link=each.link, address=counterpart(each.address), length=each.length + 96)
        for each in reversed(netns.addresses)
    ]


def _routes(draft: Draft, netns: DraftNetns) -> list[Route]:
    found: dict[tuple[object, ...], Route] = {}
    for route in netns.routes:
        if route.prefix == Prefix.of(PROXY) or _leads_to_port(netns, route):
            continue
        made = replace(
            route,
            prefix=_prefix(route.prefix),
            nexthops=_nexthops(draft, netns, route),
            metric=route.metric or USUAL_METRIC,
            tos=0,
            scope="global",
            prefsrc=counterpart(route.prefsrc) if route.prefsrc else None,
        )
        found.setdefault((made.prefix, made.metric, made.table), made)
    return list(found.values())


def _leads_to_port(netns: DraftNetns, route: Route) -> bool:
    """Tell whether a route leads to a bridge's port: the answer to a solicitation from there comes
    in on the bridge, which forwards it, and the model does not follow that.
    """
    return any(hop.link is not None and netns.link(hop.link).master for hop in route.nexthops)


def _nexthops(draft: Draft, netns: DraftNetns, route: Route) -> tuple[Nexthop, ...]:
    """Return the same hops: of several each needs a gateway in IPv6, so it is the device at the
    other end; where one has none, the first hop is the only one.
    """
    hops = route.nexthops
    if len(hops) < 2:
        return tuple(_nexthop(draft, netns, hop) for hop in hops)
    ends = [netns.link(hop.link).peer for hop in hops if hop.link is not None]
    if None in ends or any(netns.link(hop.link or "").master for hop in hops):
        return (replace(hops[0], weight=1),)
    return tuple(_nexthop(draft, netns, replace(hop, gateway=PROXY)) for hop in hops)


def _nexthop(draft: Draft, netns: DraftNetns, hop: Nexthop) -> Nexthop:
    """Return the same hop of IPv6: where a proxy answers for IPv4's gateway, IPv6 names the device
    at the other end of the cable.
    """
    if hop.gateway is None:
        return hop
    if hop.gateway != PROXY or hop.link is None:
        return replace(hop, gateway=counterpart(hop.gateway))
    peer = netns.link(hop.link).peer.value  # type: ignore[union-attr]  # drafts know peers
    far = draft.namespaces[peer.netns].link(peer.link)
    return replace(hop, gateway=link_local(far.mac))


def _policy_rule(rule: PolicyRule) -> PolicyRule:
    made: PolicyRule = _map(replace(rule, family=6))
    prefixes = made.suppress_prefixlength
    if prefixes:
        made = replace(made, suppress_prefixlength=prefixes + 96)
    return replace(made, protocol=_protocol(rule.protocol) if rule.protocol else None)


def _protocol(number: int) -> int:
    if number == protocols.ICMP:
        return protocols.ICMPV6
    return number


def _sysctls(netns: DraftNetns) -> dict[str, str]:
    made = {"net.ipv6.conf.all.forwarding": netns.sysctls.get("net.ipv4.ip_forward", "0")}
    called = netns.sysctls.get("net.bridge.bridge-nf-call-iptables")
    if called is not None:
        made["net.bridge.bridge-nf-call-ip6tables"] = called
    for key, value in netns.sysctls.items():
        if key.startswith("net.ipv4.conf.") and key.endswith(".forwarding"):
            made[key.replace("ipv4", "ipv6")] = value
    return made


def _table(table: DraftTable) -> DraftTable:
    chains = {name: _rules(rules) for name, rules in table.chains.items()}
    return DraftTable(table.name, table.flavour, chains, dict(table.policies))


def _rules(rules: list[Rule]) -> list[Rule]:
    return [_rule(rule) for rule in rules if _has_counterpart(rule)]


def _has_counterpart(rule: Rule) -> bool:
    """Tell whether ip6tables has everything that a rule names."""
    return rule.target is None or rule.target.name != "ECN"


def _rule(rule: Rule) -> Rule:
    protocol = rule.protocol
    return rule._replace(
        src=_prefix_match(rule.src),
        dst=_prefix_match(rule.dst),
        protocol=ProtocolMatch(_protocol(protocol.number), protocol.negated) if protocol else None,
        matches=tuple(map(_match, rule.matches)),
        target=_target(rule.target) if rule.target else None,
    )


def _prefix_match(held: PrefixMatch | None) -> PrefixMatch | None:
    if held is not None:
        return held._replace(prefix=_prefix(held.prefix))
    return None


def _match(match: Match) -> Match:
    name, options = match.name, tuple(map(_option, match.options))
    if name == "icmp":
        (option,) = options
        return Match("icmp6", (_renamed(option, "icmpv6-type", _ICMP_TYPES),))
    if name == "ttl":
        return Match("hl", tuple(each._replace(name=f"hl-{each.name[4:]}") for each in options))
    if name == "addrtype":
        return Match(name, tuple(_substituted(each, "BROADCAST", "MULTICAST") for each in options))
    if name == "conntrack":
        return Match(name, tuple(map(_conntrack_option, options)))
    if name == "set":
        return Match(
            name, tuple(_of_six(each) if each.name == "match-set" else each for each in options)
        )
    if name == "connlimit":
        return Match(name, tuple(_renamed(each, each.name, {"32": "128"}) for each in options))
    return Match(name, options)


def _conntrack_option(option: MatchOption) -> MatchOption:
    if option.name == "ctproto":
        return _renamed(option, option.name, {"1": "58"})
    return option


def _of_six(option: MatchOption) -> MatchOption:
    """Name the set of IPv6 addresses that stands beside the one of IPv4."""
    return option._replace(values=(f"{option.values[0]}6", *option.values[1:]))


def _renamed(option: MatchOption, name: str, values: dict[str, str]) -> MatchOption:
    words = tuple(values.get(value, value) for value in option.values)
    return option._replace(name=name, values=words)


def _substituted(option: MatchOption, old: str, new: str) -> MatchOption:
    return option._replace(values=tuple(value.replace(old, new) for value in option.values))


def _option(option: MatchOption) -> MatchOption:
    return option._replace(values=tuple(map(_text, option.values)))


def _target(target: Target) -> Target:
    options = tuple(map(_option, target.options))
    if target.name == "REJECT":
        return target._replace(
            options=tuple(_renamed(each, each.name, _ANSWERS) for each in options)
        )
    if target.name == "TTL":
        renamed = tuple(each._replace(name=f"hl-{each.name[4:]}") for each in options)
        return target._replace(name="HL", options=renamed)
    if target.name == "SET":
        return target._replace(options=tuple(map(_of_six, options)))
    return target._replace(options=options)


def _text(text: str) -> str:
    """Translate the addresses in a word of a rule."""
    found = _ENDPOINT.fullmatch(text)
    if found is not None:
        return f"[{_text(found[1])}]:{found[2]}"
    text = _NETWORK.sub(lambda each: f"{each[1]}/{int(each[2]) + 96}", text)
    return _ADDRESS.sub(lambda each: str(counterpart(Address.parse(each[0]))), text)


def _map(value: Any) -> Any:  # noqa: ANN401 - whatever a draft holds
    """Translate a value of a draft with everything in it."""
    special = _SPECIAL.get(type(value))
    if special is not None:
        return special(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple):
        parts = [_map(each) for each in value]
        if hasattr(value, "_fields"):
            return type(value)(*parts)
        return tuple(parts)
    if isinstance(value, dict):
        return {key: _map(each) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{each.name: _map(getattr(value, each.name)) for each in fields(value) if each.init},
        )
    return value


def _ipset(held: IpSet) -> IpSet:
    named = held.type == "list:set"
    members = tuple(_member(each, named=named) for each in held.members)
    return replace(held, name=f"{held.name}6", family=6, members=members)


def _member(member: SetMember, *, named: bool) -> SetMember:
    """Translate a member: a set by its name, or addresses."""
    if named:
        return member._replace(parts=tuple(f"{part}6" for part in member.parts))
    return member._replace(parts=tuple(map(_text, member.parts)))


def _native_table(table: NftTable) -> NftTable:
    """Return a table of IPv6 beside one of IPv4; one of family inet stands twice."""
    family, name = table.family, f"{table.name}6"
    if family is nft.NftFamily.IP:
        family = nft.NftFamily.IP6
    chains = {key: _native_chain(chain, family, name) for key, chain in table.chains.items()}
    sets = {
        key: replace(each, types=_types(each.types), elements=_map(each.elements))
        for key, each in table.sets.items()
    }
    return replace(table, family=family, name=name, chains=chains, sets=sets)


def _native_chain(chain: NftChain, family: nft.NftFamily, table: str) -> NftChain:
    rules = tuple(
        rule._replace(family=family, table=table, statements=_map(rule.statements))
        for rule in chain.rules
    )
    return replace(chain, rules=rules)


def _types(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_type, words))


def _type(word: str) -> str:
    """Return one of a set's datatypes or, after `typeof`, of the expressions it was made with."""
    if word == "ipv4_addr":
        return "ipv6_addr"
    family, _, field = word.partition(" ")
    if family == "ip":
        return f"ip6 {_NATIVE_FIELDS.get(field, field)}"
    return word


def _payload(field: nft.Payload) -> nft.Payload:
    if field.protocol != "ip":
        return field
    return nft.Payload("ip6", _NATIVE_FIELDS.get(field.field, field.field))


def _native_match(match: nft.NftMatch) -> nft.NftMatch:
    if match.left == nft.Meta("nfproto"):
        return match._replace(right=nft.Literal("ipv6"))
    if match.left == nft.Meta("protocol") and match.right == nft.Literal("ip"):
        return match._replace(right=nft.Literal("ip6"))
    return nft.NftMatch(match.op, _map(match.left), _map(match.right))


def _ct(key: nft.Ct) -> nft.Ct:
    return key._replace(key=key.key.replace("ip ", "ip6 "))


def _nat(nat: nft.Nat) -> nft.Nat:
    family = nft.NftFamily.IP6 if nat.family is nft.NftFamily.IP else nat.family
    return nat._replace(address=_map(nat.address), family=family)


def _native_reject(reject: nft.NftReject) -> nft.NftReject:
    if reject.kind is not nft.RejectKind.ICMP:
        return reject
    return nft.NftReject(nft.RejectKind.ICMPV6, _NATIVE_ANSWERS.get(reject.code, reject.code))


_SPECIAL: dict[type, Callable[[Any], Any]] = {
    Address: counterpart,
    Prefix: _prefix,
    Span: lambda span: span,
    nft.PrefixLiteral: lambda each: nft.PrefixLiteral(_text(each.address), each.length + 96),
    nft.Payload: _payload,
    nft.NftMatch: _native_match,
    nft.Ct: _ct,
    nft.Nat: _nat,
    nft.NftReject: _native_reject,
}
