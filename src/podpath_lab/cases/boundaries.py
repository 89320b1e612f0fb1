"""Values at boundaries, put into what was drawn: intervals that end on a probe's ports, masks of
all and of no bits, every code of REJECT, every value of the sysctls that have more than two,
verdict maps without an element for the packet.

They are drawn by a chance of their own, so that no other draw of a case changes.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from podpath.net import nft
from podpath.node.netfilter import Match, MatchOption, Rule, Target
from podpath.node.nftables import NftChain, NftRule, NftTable
from podpath.xtables.targets.reject import ANSWERS, TCP_RESET
from podpath_lab.draft import DraftNetns
from podpath_lab.topologies import Topology

SHARE = 0.4
"""How many cases have values at boundaries."""
HIGHEST = 65535
_SETTINGS = {
    "arp_ignore": ("0", "1", "2", "3", "4", "8"),
    "arp_announce": ("0", "1", "2"),
    "arp_filter": ("0", "1"),
    "rp_filter": ("0", "1", "2"),
    "proxy_arp": ("0", "1"),
}
_MATCHED_MARKS = ("0x0/0x0", "0x0", "0x1/0xffffffff", "0x80000000/0x80000000", "0x1/0x4001",
                  "0xffffffff")  # fmt: skip
_SET_MARKS = ("0x0/0x0", "0x0/0xffffffff", "0xffffffff/0xffffffff", "0x80000000/0x80000000",
              "0x1/0x0", "0x1/0x1")  # fmt: skip
_MASKS = ("0x0", "0x1", "0xffffffff", "0x80000000", "0xff")


def draw_settings(chance: Random, host: DraftNetns, topology: Topology) -> None:
    """Give some sysctls any of their values, on one device or on all."""
    for key, values in _SETTINGS.items():
        if chance.random() < 0.25:
            scope = chance.choice(("all", *topology.devices))
            host.sysctls[f"net.ipv4.conf.{scope}.{key}"] = chance.choice(values)


def move_to_boundaries(chance: Random, host: DraftNetns, ports: tuple[int, ...]) -> None:
    """Give rules values at which they just match, or just do not."""
    for table in host.tables.values():
        for chain in table.chains.values():
            chain[:] = [
                _move(chance, rule, ports) if chance.random() < 0.5 else rule for rule in chain
            ]
    host.nftables[:] = [_move_table(chance, table, ports) for table in host.nftables]


def _move(chance: Random, rule: Rule, ports: tuple[int, ...]) -> Rule:
    matches = tuple(_move_match(chance, match, ports) for match in rule.matches)
    target = rule.target
    return rule._replace(
        matches=matches, target=_move_target(chance, target) if target is not None else None
    )


def _move_match(chance: Random, match: Match, ports: tuple[int, ...]) -> Match:
    options = match.options
    if len(options) != 1:
        return match
    option = options[0]
    if match.name in {"tcp", "udp"} and option.name in {"dport", "sport"}:
        option = option._replace(values=(_range(chance, ports),))
    elif match.name == "multiport":
        first, _, last = _range(chance, ports).partition(":")
        some = first if first == last else f"{first}:{last}"
        option = option._replace(values=(f"{some},{chance.choice(ports)}",))
    elif match.name in {"mark", "connmark"} and option.name == "mark":
        option = option._replace(values=(chance.choice(_MATCHED_MARKS),))
    return match._replace(options=(option,))


def _range(chance: Random, ports: tuple[int, ...]) -> str:
    """Spell a range of ports that ends on one that is spoken, or beside it."""
    port = chance.choice(ports)
    first, last = chance.choice(
        (
            (port, port),
            (0, port),
            (port, HIGHEST),
            (0, port - 1),
            (port + 1, HIGHEST),
            (port - 1, port),
            (port, port + 1),
            (0, HIGHEST),
        )
    )
    return f"{first}:{last}"


def _move_target(chance: Random, target: Target) -> Target:
    option = target.options[0] if target.options else None
    if option is None:
        return target
    if target.name == "REJECT" and option.values != (TCP_RESET,):
        answer = chance.choice(sorted(ANSWERS[4]))
        return target._replace(options=(option._replace(values=(answer,)),))
    if target.name in {"MARK", "CONNMARK"} and option.name == "set-xmark":
        return target._replace(options=(option._replace(values=(chance.choice(_SET_MARKS),)),))
    if target.name == "CONNMARK" and option.name in {"save-mark", "restore-mark"}:
        masks = (MatchOption(name, (chance.choice(_MASKS),)) for name in ("nfmask", "ctmask"))
        return target._replace(options=(option, *masks))
    return target


def _move_table(chance: Random, table: NftTable, ports: tuple[int, ...]) -> NftTable:
    chains = {name: _move_chain(chance, chain, ports) for name, chain in table.chains.items()}
    return replace(table, chains=chains)


def _move_chain(chance: Random, chain: NftChain, ports: tuple[int, ...]) -> NftChain:
    return replace(chain, rules=tuple(_move_rule(chance, rule, ports) for rule in chain.rules))


def _move_rule(chance: Random, rule: NftRule, ports: tuple[int, ...]) -> NftRule:
    statements = tuple(_move_statement(chance, each, ports) for each in rule.statements)
    return rule._replace(statements=statements)


def _move_statement(
    chance: Random, statement: nft.Statement, ports: tuple[int, ...]
) -> nft.Statement:
    match statement:
        case nft.NftMatch(left=nft.Payload(field="dport" | "sport"), right=nft.Interval()):
            first, _, last = _range(chance, ports).partition(":")
            if first == last:
                return statement._replace(right=nft.Literal(first))
            return statement._replace(right=nft.Interval(nft.Literal(first), nft.Literal(last)))
        case nft.Vmap(data=nft.SetOf(elements=(_, *_) as elements)):
            return statement._replace(data=nft.SetOf((chance.choice(elements),)))
        case nft.NftReject(kind=nft.RejectKind.ICMP):
            codes = (
                "net-unreachable",
                "prot-unreachable",
                "port-unreachable",
                "net-prohibited",
                "host-prohibited",
                "admin-prohibited",
            )
            return statement._replace(code=chance.choice(codes))
        case _:
            return statement
