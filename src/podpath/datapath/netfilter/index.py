"""Long chains, indexed: which rules of a chain can match a packet, found by a few dictionary
lookups.

Rules fall into groups by which fields they pin down (tuple space search, Srinivasan, Suri and
Varghese 1999): all rules with a destination prefix of one length, a protocol and a destination port
are one group, keyed by those values. A packet looks each group up once; the rest of a rule is
checked as ever. So a chain of 20,000 services costs what its few groups cost.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from podpath.datapath.netfilter.state import HookState
from podpath.datapath.tracing.drawn_port import DrawnPort
from podpath.net.addresses import WIDTH, Family
from podpath.net.watched import is_watched
from podpath.node.netfilter import InterfaceMatch, Match, PrefixMatch, Rule
from podpath.xtables.values import parse_mark

SHORTEST = 16
"""Chains with fewer rules are walked rule by rule."""
MOST_GROUPS = 24
"""With more groups than this, rules are grouped by fewer fields."""
PORTED_MATCHES = frozenset({"tcp", "udp", "sctp", "udplite", "dccp"})
PORT_OPTIONS = frozenset({"dport", "destination-port"})


class Signature(NamedTuple):
    """Which fields the rules of a group pin down."""

    dst: int = 0
    """Length of the destination prefix; 0 where any destination will do."""
    src: int = 0
    protocol: bool = False
    dport: bool = False
    in_link: bool = False
    out_link: bool = False
    mark: int = 0
    """The bits of the mark that are looked at."""


Key = tuple[int, int, int, int, str, str, int]
COARSER: tuple[Signature, ...] = (
    Signature(1, 1, True, True, True, True, 1),
    Signature(1, 0, True, True, True, True, 1),
    Signature(1, 0, True, True, True, False, 0),
    Signature(1, 0, False, True, False, False, 0),
    Signature(1, 0, False, False, False, False, 0),
    Signature(0, 0, True, True, True, True, 0),
)
"""Fields to group by, in the order in which they are tried: the first with few enough groups is
taken.
"""


class _SignatureGroup(NamedTuple):
    signature: Signature
    dst_shift: int
    src_shift: int
    positions: dict[Key, list[int]]


class ChainIndex:
    """The rules of a chain by what they pin down."""

    __slots__ = ("_numbers", "by_mark", "groups", "length")

    def __init__(self, rules: Sequence[Rule], family: Family) -> None:
        """Group the rules. Takes time in proportion to their number, once."""
        pinned = [_pin(rule, family) for rule in rules]
        groups: dict[Signature, dict[Key, list[int]]] = {}
        for wanted in COARSER:
            groups = _group(pinned, wanted)
            if len(groups) <= MOST_GROUPS:
                break
        else:
            groups = {Signature(): {_NOTHING: list(range(len(rules)))}}
        width = WIDTH[family]
        self.groups = tuple(
            _SignatureGroup(signature, width - signature.dst, width - signature.src, positions)
            for signature, positions in groups.items()
        )
        self._numbers: list[_GroupNumbers] | None = None
        """What each group pins down, in order, for whoever watches a walk."""
        self.length = len(rules)
        self.by_mark = any(group.signature.mark for group in self.groups)
        """True where the mark is a key: after a change of the mark the candidates are other
        ones.
        """

    def candidates(self, state: HookState) -> Sequence[int]:
        """Return the positions of the rules that can match the packet, in order; none that matches
        is left out.
        """
        skb = state.skb
        packet = skb.packet
        if isinstance(packet.dport, DrawnPort):
            return range(self.length)
        dst, src, mark = packet.dst.value, packet.src.value, skb.mark
        port = packet.dport
        if is_watched(dst) or is_watched(src) or is_watched(port):
            dst, src, port = self._note(dst, src, port)
        hits: list[list[int]] = []
        for signature, dst_shift, src_shift, positions in self.groups:
            _, __, protocol, dport, in_link, out_link, mask = signature
            found = positions.get(
                (
                    dst >> dst_shift,
                    src >> src_shift,
                    packet.protocol if protocol else 0,
                    port if dport else 0,
                    state.in_name if in_link else "",
                    state.out_name if out_link else "",
                    mark & mask,
                )
            )
            if found is not None:
                hits.append(found)
        if len(hits) == 1:
            return hits[0]
        return sorted(position for found in hits for position in found)

    def _note(self, *fields: Any) -> list[int]:  # noqa: ANN401 - numbers, watched or not
        """Note of watched fields (destination, source, destination port) what says which groups
        have rules for them; return them as numbers.
        """
        if self._numbers is None:
            self._numbers = [_GroupNumbers(group) for group in self.groups]
        for group, numbers in zip(self.groups, self._numbers, strict=True):
            dst, src = fields[0] >> group.dst_shift, fields[1] >> group.src_shift
            numbers.note(dst, src, fields[2] if group.signature.dport else 0)
        return [field.peek() if is_watched(field) else field for field in fields]


class _GroupNumbers:
    """What the rules of a group pin down, in order, for whoever watches a walk."""

    __slots__ = ("_dst", "_dst_of", "_port", "_src")

    def __init__(self, group: _SignatureGroup) -> None:
        keys = group.positions
        self._dst = sorted({key[0] for key in keys})
        self._src = sorted({key[1] for key in keys})
        self._port = sorted({key[3] for key in keys})
        found: dict[tuple[int, int], set[int]] = {}
        for key in keys:
            found.setdefault((key[1], key[3]), set()).add(key[0])
        self._dst_of = {rest: sorted(numbers) for rest, numbers in found.items()}
        """The destinations that stand with a source and port."""

    def note(self, dst: Any, src: Any, port: Any) -> None:  # noqa: ANN401 - numbers, watched or not
        """Note what says whether the group has a rule for a header: one field that is none of its
        numbers says so for all others; where each is one of them, which destinations stand with
        that source and port.
        """
        for part, known in ((dst, self._dst), (src, self._src), (port, self._port)):
            if is_watched(part) and not _holds(known, part.peek()):
                part.is_one_of(known)
                return
        for part in (src, port):
            if is_watched(part):
                part.note()
        if is_watched(dst):
            rest = (_peek(src), _peek(port))
            dst.is_one_of(self._dst_of.get(rest, ()))


def _holds(numbers: Sequence[int], number: int) -> bool:
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number


def _peek(number: Any) -> int:  # noqa: ANN401 - watched or not
    plain: int = number.peek() if is_watched(number) else number
    return plain


_NOTHING: Key = (0, 0, 0, 0, "", "", 0)


class _Pinned(NamedTuple):
    """What one rule pins down: prefixes as (length, number), the others as their value or None."""

    dst: tuple[int, int]
    src: tuple[int, int]
    protocol: int | None
    dport: int | None
    in_link: str | None
    out_link: str | None
    mark: tuple[int, int]
    """Mask and value."""


def _pin(rule: Rule, family: Family) -> _Pinned:
    protocol = rule.protocol
    mask, mark = _pinned_mark(rule.matches)
    return _Pinned(
        _pinned_prefix(rule.dst, family),
        _pinned_prefix(rule.src, family),
        protocol.number
        if protocol is not None and protocol.number and not protocol.negated
        else None,
        _pinned_port(rule.matches),
        _pinned_link(rule.in_link),
        _pinned_link(rule.out_link),
        (mask, mark),
    )


def _group(pinned: Iterable[_Pinned], wanted: Signature) -> dict[Signature, dict[Key, list[int]]]:
    groups: dict[Signature, dict[Key, list[int]]] = {}
    for position, pin in enumerate(pinned):
        signature, key = _sign(pin, wanted)
        groups.setdefault(signature, {}).setdefault(key, []).append(position)
    return groups


def _sign(pin: _Pinned, wanted: Signature) -> tuple[Signature, Key]:
    """Return what of the wanted a rule pins down, and to which values."""
    dst, dst_value = pin.dst if wanted.dst else (0, 0)
    src, src_value = pin.src if wanted.src else (0, 0)
    protocol = pin.protocol if wanted.protocol else None
    dport = pin.dport if wanted.dport else None
    in_link = pin.in_link if wanted.in_link else None
    out_link = pin.out_link if wanted.out_link else None
    mask, mark = pin.mark if wanted.mark else (0, 0)
    signature = Signature(
        dst,
        src,
        protocol is not None,
        dport is not None,
        in_link is not None,
        out_link is not None,
        mask,
    )
    key = (dst_value, src_value, protocol or 0, dport or 0, in_link or "", out_link or "", mark)
    return signature, key


def _pinned_prefix(match: PrefixMatch | None, family: Family) -> tuple[int, int]:
    if match is None or match.negated or match.mask is not None or match.prefix.family != family:
        return 0, 0
    return match.prefix.length, match.prefix.network >> (WIDTH[family] - match.prefix.length)


def _pinned_link(match: InterfaceMatch | None) -> str | None:
    if match is not None and not match.negated and not match.wildcard:
        return match.name
    return None


def _pinned_port(matches: tuple[Match, ...]) -> int | None:
    for match in matches:
        if match.name in PORTED_MATCHES:
            for option in match.options:
                if (
                    option.name in PORT_OPTIONS
                    and not option.negated
                    and option.values
                    and option.values[0].isdigit()
                ):
                    return int(option.values[0])
    return None


def _pinned_mark(matches: tuple[Match, ...]) -> tuple[int, int]:
    for match in matches:
        if match.name == "mark" and len(match.options) == 1 and match.options[0].name == "mark":
            option = match.options[0]
            if not option.negated and len(option.values) == 1:
                try:
                    value, mask = parse_mark(option.values[0])
                except ValueError:
                    return 0, 0
                return (mask, value) if value & mask == value else (0, 0)
    return 0, 0
