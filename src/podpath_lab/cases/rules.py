"""Random iptables rules: every match and target whose outcome a packet alone decides, in random
tables and chains.
"""

from __future__ import annotations

from random import Random

from podpath.net import protocols
from podpath.net.addresses import Address, Prefix
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import (
    InterfaceMatch,
    IpSet,
    Match,
    MatchOption,
    PrefixMatch,
    ProtocolMatch,
    Rule,
    SetMember,
    Target,
)
from podpath.xtables import registry
from podpath.xtables.extension import MatchExtension
from podpath.xtables.legality import ALL_TABLES, ChainPolicy
from podpath.xtables.matches import mark
from podpath.xtables.targets.silent import LOGGED
from podpath_lab.cases.rare import draw_rare_match, draw_rare_protocol, draw_rare_target
from podpath_lab.draft import BASE_CHAINS, DraftNetns
from podpath_lab.topologies import Topology

VIP = Address.parse("10.96.0.10")
"""The service address that NAT rules translate; nobody owns it."""
_NOWHERE = Span(Source(name="generated", lines=("",)), 1, 1)


def make_rule(target: Target | None, **fields: object) -> Rule:
    """Make a rule that has no place yet."""
    return Rule("", "", 0, _NOWHERE, target, **fields)  # type: ignore[arg-type]  # fields of Rule


def draw_table(
    chance: Random, host: DraftNetns, topology: Topology, name: str, flavour: str
) -> None:
    """Fill the base chains and some user chains of a table."""
    table = host.table(name, flavour)
    user = [f"{name.upper()}-{letter}" for letter in "AB"[: chance.choice((0, 1, 2))]]
    for chain in user:
        table.chains[chain] = []
    for chain in (*BASE_CHAINS[name], *user):
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            below = user[user.index(chain) + 1 :] if chain in user else user
            table.chains[chain].append(_draw_rule(chance, topology, name, chain, tuple(below)))
        if chance.random() < 0.5:
            _insert_counting_rules(chance, topology, chain, table.chains[chain])
    if name == "filter" and chance.random() < 0.1:
        base = chance.choice(BASE_CHAINS[name])
        table.policies[base] = ChainPolicy.DROP
        if chance.random() < 0.4:
            table.chains[base].append(make_rule(Target("RETURN")))
    if user and chance.random() < 0.3:
        base = chance.choice(BASE_CHAINS[name])
        table.chains[base][:0] = [
            make_rule(Target(user[-1], (), chance.random() < 0.6)),
            make_rule(None),
        ]


def count_states(chance: Random, host: DraftNetns, flavour: str) -> None:
    """Count what conntrack says of a frame, and now and then drop what it calls invalid."""
    table = host.table("mangle", flavour)
    for word in ("INVALID", "NEW", "ESTABLISHED"):
        target = Target("DROP") if word == "INVALID" and chance.random() < 0.2 else None
        rule = make_rule(target, matches=(Match("conntrack", (MatchOption("ctstate", (word,)),)),))
        table.chains["PREROUTING"].append(rule)


def _insert_counting_rules(
    chance: Random, topology: Topology, chain: str, rules: list[Rule]
) -> None:
    """Put rules that decide nothing among the others: one condition each, whose counter tells how
    the packet looked there.
    """
    addresses = [address for _, address in topology.speakers]
    drawn = (draw(chance, addresses, chain) for draw in chance.sample(_MATCHES, 2))
    rules += [make_rule(None, matches=(match,)) for match in drawn if match is not None]
    chance.shuffle(rules)


def _draw_rule(
    chance: Random, topology: Topology, table: str, chain: str, user: tuple[str, ...]
) -> Rule:
    protocol = chance.choice((protocols.TCP, protocols.TCP, protocols.UDP, protocols.ICMP))
    fields = draw_fields(chance, topology, protocol, chain, table)
    target = _draw_target(chance, table, chain, user, fields)
    return make_rule(target, **fields)


def draw_fields(
    chance: Random, topology: Topology, protocol: int, chain: str, table: str = "nat"
) -> dict[str, object]:
    """Draw the typed fields and the extensions of a rule; user chains take only what every hook
    allows.
    """
    fields: dict[str, object] = {}
    addresses = [address for _, address in topology.speakers] + [VIP]
    if chance.random() < 0.3:
        fields["src"] = PrefixMatch(
            Prefix.of(chance.choice(addresses), chance.choice((16, 24, 32))), chance.random() < 0.2
        )
    if chance.random() < 0.3:
        fields["dst"] = PrefixMatch(
            Prefix.of(chance.choice(addresses), chance.choice((16, 24, 32))), chance.random() < 0.2
        )
    if chain in ("PREROUTING", "INPUT", "FORWARD") and chance.random() < 0.25:
        fields["in_link"] = _draw_interface(chance, topology)
    if chain in ("OUTPUT", "POSTROUTING", "FORWARD") and chance.random() < 0.25:
        fields["out_link"] = _draw_interface(chance, topology)
    if chance.random() < 0.5:
        fields["protocol"] = ProtocolMatch(protocol, chance.random() < 0.1)
    matches = []
    plain = "protocol" in fields and not fields["protocol"].negated  # type: ignore[attr-defined]  # a ProtocolMatch
    unspoken = draw_rare_protocol(chance)
    if unspoken is not None:
        protocol, plain = unspoken[0], True
        fields["protocol"] = ProtocolMatch(protocol)
        matches.append(unspoken[1])
    elif plain:
        matches += _draw_protocol_match(chance, protocol)
    rare = draw_rare_match(chance, table, chain, protocol if plain else 0)
    matches += [rare] if rare is not None else []
    for draw in _MATCHES:
        match = draw(chance, addresses, chain) if chance.random() < 0.1 else None
        if match:
            matches.append(match)
    fields["matches"] = tuple(matches)
    return fields


def _draw_interface(chance: Random, topology: Topology) -> InterfaceMatch:
    name = chance.choice((*topology.devices, "lo"))
    wildcard = chance.random() < 0.3
    return InterfaceMatch(name[:3] if wildcard else name, wildcard, chance.random() < 0.2)


def _draw_protocol_match(chance: Random, protocol: int) -> list[Match]:
    negated = chance.random() < 0.2
    if protocol == protocols.ICMP:
        return [
            Match("icmp", (MatchOption("icmp-type", (chance.choice(("8", "0", "3/1")),), negated),))
        ]
    name = protocols.protocol_name(protocol)
    if chance.random() < 0.3:
        ports = chance.choice(("80,443", "8080", "1:79,81:9000"))
        return [
            Match(
                "multiport",
                (MatchOption(chance.choice(("dports", "sports", "ports")), (ports,), negated),),
            )
        ]
    if name == "tcp" and chance.random() < 0.3:
        return [
            Match(
                "tcp",
                (
                    MatchOption(
                        "tcp-flags",
                        ("FIN,SYN,RST,ACK", chance.choice(("SYN", "ACK", "SYN,ACK"))),
                        negated,
                    ),
                ),
            )
        ]
    port = chance.choice(("80", "8080", "1024:65535", "1:100"))
    return [Match(name, (MatchOption(chance.choice(("dport", "sport")), (port,), negated),))]


_STATES = (
    "NEW",
    "ESTABLISHED",
    "INVALID",
    "RELATED,ESTABLISHED",
    "SNAT",
    "DNAT",
    "UNTRACKED",
    "INVALID,NEW",
)
_ADDRESS_TYPES = ("LOCAL", "UNICAST", "BROADCAST", "LOCAL,UNICAST")


def _draw_conntrack(chance: Random, addresses: list[Address], chain: str) -> Match | None:
    del chain
    kind = chance.choice(
        ("ctstate",) * 5 + ("ctorigdst", "ctdir", "ctstatus", "ctproto", "ctorigdstport")
    )
    values = {
        "ctstate": chance.choice(_STATES),
        "ctorigdst": str(chance.choice(addresses)),
        "ctdir": chance.choice(("ORIGINAL", "REPLY")),
        "ctstatus": chance.choice(("NONE", "SEEN_REPLY", "CONFIRMED", "ASSURED")),
        "ctproto": chance.choice(("6", "17", "1")),
        "ctorigdstport": chance.choice(("80", "8080")),
    }
    negated = kind != "ctdir" and chance.random() < 0.2
    return Match("conntrack", (MatchOption(kind, (values[kind],), negated),))


def _draw_mark(chance: Random, addresses: list[Address], chain: str) -> Match | None:
    del addresses, chain
    name = chance.choice(("mark", "mark", "connmark"))
    return Match(
        name,
        (
            MatchOption(
                "mark", (chance.choice(mark.MATCH.options["mark"].draws),), chance.random() < 0.2
            ),
        ),
    )


def _draw_addrtype(chance: Random, addresses: list[Address], chain: str) -> Match | None:
    del addresses, chain
    option = MatchOption(
        chance.choice(("src-type", "dst-type")),
        (chance.choice(_ADDRESS_TYPES),),
        chance.random() < 0.2,
    )
    return Match("addrtype", (option,))


def _draw_iprange(chance: Random, addresses: list[Address], chain: str) -> Match | None:
    del chain
    address = chance.choice(addresses)
    last = Address(4, address.value + chance.choice((0, 5, 200)))
    return Match(
        "iprange",
        (
            MatchOption(
                chance.choice(("src-range", "dst-range")),
                (f"{address}-{last}",),
                chance.random() < 0.2,
            ),
        ),
    )


def _draw_small(chance: Random, addresses: list[Address], chain: str) -> Match | None:
    del addresses, chain
    choices = [
        _match("comment", "comment", "a rule, with a comment"),
        _match("state", "state", chance.choice(("NEW", "RELATED,ESTABLISHED", "INVALID"))),
    ]
    drawn = [_draw_of_packet(chance, extension) for extension in _OF_PACKET]
    return chance.choice(choices + drawn)


def _is_of_packet(extension: MatchExtension) -> bool:
    plain = extension.compiler is None and extension.tables == ALL_TABLES
    return plain and any(option.draws for option in extension.options.values())


_OF_PACKET = tuple(filter(_is_of_packet, registry.MATCHES.values()))
"""Matches that the packet alone decides, and that every table takes."""


def _draw_of_packet(chance: Random, extension: MatchExtension) -> Match:
    name, option = chance.choice(
        [(name, option) for name, option in extension.options.items() if option.draws]
    )
    flip = option.negatable and chance.random() < 0.25
    return _match(extension.name, name, chance.choice(option.draws), negated=flip)


def _draw_hook_match(chance: Random, addresses: list[Address], chain: str) -> Match | None:
    """Draw a match that only some hooks allow."""
    del addresses
    flip = chance.random() < 0.25
    if chain == "FORWARD" and chance.random() < 0.5:
        return _match("ttl", "ttl-eq", chance.choice(("61", "62", "63", "64", "1")))
    if chain == "FORWARD":
        return Match(
            "physdev",
            (MatchOption(chance.choice(("physdev-is-bridged", "physdev-is-in")), (), flip),),
        )
    if chain in ("PREROUTING", "INPUT"):
        if chance.random() < 0.3:
            return Match("policy", (MatchOption("dir", ("in",)), MatchOption("pol", ("none",))))
        mac = f"02:00:00:00:{chance.choice((1, 2, 0x14, 0x15)):02x}:{chance.choice((0, 1)):02x}"
        return _match("mac", "mac-source", mac, negated=flip)
    if chain == "OUTPUT":
        return _match("owner", "uid-owner", chance.choice(("0", "1000")), negated=flip)
    return None


def _draw_set(chance: Random, addresses: list[Address], chain: str) -> Match | None:
    del addresses, chain
    name = chance.choice(("S-ip", "S-net", "S-ipport", "S-list"))
    directions = "dst,dst" if name == "S-ipport" else chance.choice(("src", "dst"))
    return Match("set", (MatchOption("match-set", (name, directions), chance.random() < 0.2),))


def _match(name: str, option: str, value: str, *, negated: bool = False) -> Match:
    return Match(name, (MatchOption(option, (value,), negated),))


def make_sets(addresses: list[Address]) -> dict[str, IpSet]:
    """Make the sets that rules may name: each holds some of the addresses."""
    first, second, *_ = (str(address) for address in addresses)
    net = str(Prefix.of(addresses[0], 16))
    members = {
        "S-ip": ("hash:ip", (SetMember((first,)),)),
        "S-net": (
            "hash:net",
            (SetMember((net,)), SetMember((str(Prefix.of(addresses[1], 24)),), nomatch=True)),
        ),
        "S-ipport": (
            "hash:ip,port",
            (SetMember((second, "tcp:80")), SetMember((first, "udp:8080"))),
        ),
        LOGGED: ("hash:ip", ()),
        "S-list": ("list:set", (SetMember(("S-net",)), SetMember(("S-ip",)))),
    }
    return {
        name: IpSet(name=name, type=kind, family=4, members=entries)
        for name, (kind, entries) in members.items()
    }


_MATCHES = (
    _draw_conntrack,
    _draw_conntrack,
    _draw_mark,
    _draw_addrtype,
    _draw_iprange,
    _draw_small,
    _draw_small,
    _draw_hook_match,
    _draw_hook_match,
    _draw_set,
)


def _draw_target(
    chance: Random, table: str, chain: str, user: tuple[str, ...], fields: dict[str, object]
) -> Target | None:
    rare = draw_rare_target(chance, table, chain, fields)
    if rare is not None:
        return rare
    choices: list[Target | None] = [
        Target("ACCEPT"),
        Target("RETURN"),
        None,
        Target("NFLOG", (MatchOption("nflog-group", ("9",)),)),
    ]
    if user:
        choices += [
            Target(chance.choice(user)),
            Target(chance.choice(user)),
            Target(chance.choice(user), (), True),
        ]
    if chance.random() < 0.25:
        choices = [Target("DROP")]
    elif table == "filter":
        choices.append(_draw_reject(chance, fields))
    elif table == "mangle":
        choices += [_draw_mark_target(chance)] * 3
        choices += [
            Target("TOS", (MatchOption("set-tos", (chance.choice(("0x10/0x3f", "0x08/0xff")),)),)),
            Target("DSCP", (MatchOption("set-dscp", (chance.choice(("0x0a", "0x04")),)),)),
            Target("CHECKSUM", (MatchOption("checksum-fill"),)),
        ]
        if chain == "PREROUTING":
            choices.append(
                Target(
                    "TTL", (MatchOption(chance.choice(("ttl-set", "ttl-dec", "ttl-inc")), ("9",)),)
                )
            )
        if chain == "POSTROUTING":
            choices.append(Target("CLASSIFY", (MatchOption("set-class", ("1:1",)),)))
    elif table == "raw":
        zone = Target(
            "CT", (MatchOption(chance.choice(("zone", "zone-orig", "zone-reply")), ("7",)),)
        )
        choices += [Target("CT", (MatchOption("notrack"),)), Target("NOTRACK"), zone]
    return chance.choice(choices)


def _draw_reject(chance: Random, fields: dict[str, object]) -> Target:
    protocol = fields.get("protocol")
    kinds = [
        "icmp-port-unreachable",
        "icmp-host-unreachable",
        "icmp-admin-prohibited",
        "icmp-net-unreachable",
    ]
    if isinstance(protocol, ProtocolMatch) and protocol == ProtocolMatch(protocols.TCP):
        kinds.append("tcp-reset")
    return Target("REJECT", (MatchOption("reject-with", (chance.choice(kinds),)),))


def _draw_mark_target(chance: Random) -> Target:
    marks = [
        (
            "MARK",
            "set-xmark",
            chance.choice(("0x1/0xffffffff", "0x4000/0x4000", "0x2/0xff", "0x4000/0x0")),
        ),
        (
            "MARK",
            chance.choice(("and-mark", "or-mark", "xor-mark", "set-mark")),
            chance.choice(("0x1", "0xff", "0x4002")),
        ),
        ("CONNMARK", "set-xmark", chance.choice(("0x1/0xffffffff", "0x2/0xff"))),
        ("CONNMARK", "save-mark", ""),
        ("CONNMARK", "restore-mark", ""),
    ]
    name, option, value = chance.choice(marks)
    return Target(name, (MatchOption(option, (value,) if value else ()),))
