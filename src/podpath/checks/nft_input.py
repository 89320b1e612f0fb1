"""What native base chains of nftables do with a new connection to a port: at the hook `input`, and
at any hook whose devices the caller tells (`nft_forward`).

Answers are of three kinds, as those of iptables' rules: a condition holds, does not hold, or cannot
be told without addresses and devices. Whatever may accept the connection leaves it open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from typing import NamedTuple

from podpath.net import nft, protocols
from podpath.net.provenance import Span
from podpath.node.nftables import NftChain, NftRule, NftTable
from podpath.node.node import Netns

Maybe = bool | None

DEEPEST = 16
_NUMBERS = {"tcp": protocols.TCP, "udp": protocols.UDP, "6": protocols.TCP, "17": protocols.UDP}
_TRANSPORTS = frozenset({"tcp", "udp", "th"})
_OTHERS = frozenset({"icmp", "icmpv6", "igmp", "sctp", "dccp", "udplite", "esp", "ah", "comp"})
_SILENT = (nft.Counter, nft.Log, nft.Mangle)
_PROTOCOL_KEYS = frozenset({
    nft.Meta("l4proto"), nft.Payload("ip", "protocol"), nft.Payload("ip6", "nexthdr"),
})  # fmt: skip
_INPUT_KEYS = frozenset({nft.Meta("iif"), nft.Meta("iifname")})
_DEVICE_KEYS = _INPUT_KEYS | {nft.Meta("oif"), nft.Meta("oifname")}


class NftFate(Enum):
    """What a chain does with the connection."""

    OPEN = auto()
    """It may be accepted."""
    PASSED = auto()
    """It comes to the end of the chain."""


class NftRefusal(NamedTuple):
    """What drops or rejects it."""

    span: Span
    target: str
    """`drop` or `reject`."""
    how: str = ""
    """How `reject` answers: `admin-prohibited`; empty for `drop`."""


def find_refusal(namespace: Netns, protocol: int, port: int) -> NftRefusal | None:
    """Return what refuses it at the hook `input`; None where nothing does for sure."""
    return find_refusal_at(namespace, "input", lambda table: PortWalk(table, protocol, port))


def find_refusal_at(
    namespace: Netns, hook: str, follow: Callable[[NftTable], PortWalk]
) -> NftRefusal | None:
    """Return what refuses at a hook, in the walk that `follow` makes for a table; None where
    nothing does for sure.
    """
    for table in namespace.nftables.items:
        for chain in table.chains.values():
            if not _is_at(hook, table, chain):
                continue
            fate = follow(table).judge(chain, DEEPEST)
            if isinstance(fate, NftRefusal):
                return fate
            if fate is NftFate.PASSED and chain.policy == "drop" and chain.span is not None:
                return NftRefusal(chain.span, "drop")
    return None


def _is_at(hook: str, table: NftTable, chain: NftChain) -> bool:
    shown = table.family in {"ip", "inet"} and table.is_active
    return shown and chain.hook == hook and chain.type == "filter"


class PortWalk:
    """Follows a new connection to a port through the chains of a table. Local to one call."""

    def __init__(self, table: NftTable, protocol: int, port: int) -> None:
        """Start at no chain."""
        self.table = table
        self.protocol = protocol
        self.port = port

    def match_device(self, left: nft.Expression, name: str) -> Maybe:
        """Tell whether the connection comes in or leaves by a device; None where that is open."""
        return False if left in _INPUT_KEYS and name == "lo" else None

    def judge(self, chain: NftChain | None, depth: int) -> NftRefusal | NftFate:
        """Say what becomes of it in a chain."""
        if chain is None or not chain.complete or depth == 0:
            return NftFate.OPEN
        for rule in chain.rules:
            fate = self._try(rule, depth)
            if fate is not NftFate.PASSED:
                return fate
        return NftFate.PASSED

    def _try(self, rule: NftRule, depth: int) -> NftRefusal | NftFate:
        """Say what becomes of it at a rule: passed where the rule is none of its."""
        held: Maybe = True
        if rule.unread:
            return NftFate.OPEN
        for statement in rule.statements:
            if isinstance(statement, nft.NftMatch):
                answer = self._match(statement)
                if answer is False:
                    return NftFate.PASSED
                held = held if answer else None
            elif isinstance(statement, nft.Limit):
                held = None
            elif not isinstance(statement, _SILENT):
                return self._act(rule, statement, held, depth)
        return NftFate.PASSED

    def _act(
        self, rule: NftRule, statement: nft.Statement, held: Maybe, depth: int
    ) -> NftRefusal | NftFate:
        """Say what a statement makes of it; one that only may be reached refuses nothing."""
        if isinstance(statement, nft.NftReject):
            refusal = NftRefusal(rule.span, "reject", statement.code or statement.kind or "port")
            return refusal if held else NftFate.PASSED
        if isinstance(statement, nft.NftVerdict):
            return self._follow(rule, statement, held, depth)
        if isinstance(statement, nft.Vmap):
            return self._look_up(rule, statement, depth)
        return NftFate.OPEN

    def _follow(
        self, rule: NftRule, verdict: nft.NftVerdict, held: Maybe, depth: int
    ) -> NftRefusal | NftFate:
        if verdict.kind == "drop":
            return NftRefusal(rule.span, "drop") if held else NftFate.PASSED
        if verdict.kind in {"jump", "goto"}:
            fate = self.judge(self.table.chains.get(verdict.chain), depth - 1)
            return NftFate.PASSED if isinstance(fate, NftRefusal) and not held else fate
        return NftFate.PASSED if verdict.kind in {"return", "continue"} else NftFate.OPEN

    def _look_up(self, rule: NftRule, vmap: nft.Vmap, depth: int) -> NftRefusal | NftFate:
        """Say what a map of verdicts makes of it: that of the element which holds for sure, else
        open where any that may hold lets it in.
        """
        for element in self._list_elements(vmap.data):
            answer = self._match(nft.NftMatch(nft.Comparison.EQUAL, vmap.key, element.key))
            if answer is False:
                continue
            if not isinstance(element.data, nft.NftVerdict):
                return NftFate.OPEN
            fate = self._follow(rule, element.data, answer, depth)
            if fate is not NftFate.PASSED:
                return fate
        return NftFate.PASSED

    def _list_elements(self, data: nft.Expression) -> Iterable[nft.Element]:
        if isinstance(data, nft.SetOf):
            return data.elements
        named = self.table.sets.get(data.name) if isinstance(data, nft.SetRef) else None
        if named is None or not named.complete:
            return (nft.Element(nft.OpaqueExpression("")),)
        return named.elements

    def _match(self, match: nft.NftMatch) -> Maybe:
        """Tell whether a condition holds; None where that depends on more than the port."""
        if match.op not in {"==", "!=", "in"}:
            return None
        answers = [self._equal(match.left, value) for value in self._list_values(match.right)]
        found: Maybe = False
        if True in answers:
            found = True
        elif None in answers:
            found = None
        return found if match.op != "!=" or found is None else not found

    def _list_values(self, right: nft.Expression) -> Iterator[nft.Expression]:
        if isinstance(right, nft.SetOf | nft.SetRef):
            yield from (element.key for element in self._list_elements(right))
        elif isinstance(right, nft.Flags):
            yield from right.items
        else:
            yield right

    def _equal(self, left: nft.Expression, value: nft.Expression) -> Maybe:
        text = value.text.strip('"') if isinstance(value, nft.Literal) else ""
        if left in _DEVICE_KEYS:
            return self.match_device(left, text)
        if isinstance(left, nft.Ct) and left.key == "state":
            return text == "new" if text else None
        if left in _PROTOCOL_KEYS:
            return _NUMBERS.get(text) == self.protocol if text else None
        if isinstance(left, nft.Payload) and left.protocol in _OTHERS:
            return False
        if isinstance(left, nft.Payload) and left.protocol in _TRANSPORTS:
            return self._equal_port(left, value)
        return None

    def _equal_port(self, left: nft.Payload, value: nft.Expression) -> Maybe:
        if left.protocol != "th" and _NUMBERS[left.protocol] != self.protocol:
            return False
        if left.field != "dport":
            return None
        if isinstance(value, nft.Interval):
            first, last = value.first.text, value.last.text
            if first.isdecimal() and last.isdecimal():
                return int(first) <= self.port <= int(last)
            return None
        if isinstance(value, nft.Literal) and value.text.isdecimal():
            return int(value.text) == self.port
        return None
