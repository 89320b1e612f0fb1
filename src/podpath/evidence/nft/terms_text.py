"""Expressions of nft's own language (nft(8)) to the terms of `net.nft`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from podpath.evidence.nft.tokens import TokenCursor
from podpath.net import nft

HEADERS = frozenset(
    {
        "ip", "ip6", "tcp", "udp", "th", "sctp", "udplite", "dccp", "icmp", "icmpv6", "ether",
        "arp", "vlan", "esp", "ah", "comp", "igmp",
    }
)  # fmt: skip
BARE_META = frozenset(
    {
        "mark", "iif", "oif", "iifname", "oifname", "iiftype", "oiftype", "iifgroup", "oifgroup",
        "skuid", "skgid", "nftrace", "rtclassid", "pkttype", "cpu", "cgroup", "l4proto", "nfproto",
        "length", "protocol", "priority",
    }
)  # fmt: skip
"""Keys of meta that may stand without the word."""
VERDICTS = frozenset({"accept", "drop", "continue", "return", "jump", "goto"})
_FIB_FLAGS = frozenset({"saddr", "daddr", "mark", "iif", "oif"})
_OPERATORS: Mapping[str, tuple[nft.BitOperator, int]] = {
    "|": (nft.BitOperator.OR, 1),
    "or": (nft.BitOperator.OR, 1),
    "^": (nft.BitOperator.XOR, 2),
    "xor": (nft.BitOperator.XOR, 2),
    "&": (nft.BitOperator.AND, 3),
    "and": (nft.BitOperator.AND, 3),
    "<<": (nft.BitOperator.LEFT_SHIFT, 4),
    ">>": (nft.BitOperator.RIGHT_SHIFT, 4),
}
"""The operators with how tightly each binds."""
_NETWORK = re.compile(r"(?P<address>[0-9A-Fa-f.:]+)/(?P<length>\d+)")
_INTERVAL = re.compile(
    r"(?P<first>[0-9A-Fa-f][0-9A-Fa-f.:x]*|::[0-9A-Fa-f:]*)-(?P<last>[0-9A-Fa-f:][0-9A-Fa-f.:x]*)"
)
_OPAQUE = frozenset(
    {"socket", "osf", "ipsec", "exthdr", "rt0", "frag", "hbh", "dst", "mh", "tunnel"}
)


def parse_expression(words: TokenCursor, tightness: int = 0) -> nft.Expression:
    """Read an expression that has a value for each packet, up to the first word that cannot go on
    with it.
    """
    left = _parse_concat(words)
    while not words.is_done and words.peek() in _OPERATORS and words.sees(words.peek()):
        sign, strength = _OPERATORS[words.peek()]
        if strength <= tightness:
            break
        words.take()
        left = nft.Binary(sign, left, parse_expression(words, strength))
    if words.accept("map"):
        return nft.MapOf(left, parse_data(words))
    return left


def _parse_concat(words: TokenCursor) -> nft.Expression:
    first = _parse_primary(words)
    if not words.sees("."):
        return first
    parts = [first]
    while words.accept("."):
        parts.append(_parse_primary(words))
    return nft.Concat(tuple(parts))


def _parse_primary(words: TokenCursor) -> nft.Expression:  # one arm for each kind of expression
    if words.sees("("):
        words.take()
        inner = parse_expression(words)
        words.expect(")")
        return _as_flags(inner)
    if words.sees("{"):
        return parse_set(words)
    word = words.peek()
    if words.sees(*HEADERS):
        return _parse_header(words)
    if words.sees(*_OPAQUE):
        return nft.OpaqueExpression(f"{words.take()} {words.take()}")
    if words.sees(*BARE_META):
        return nft.Meta(words.take())
    if words.sees(*_NAMED):
        return _NAMED[words.take()](words)
    if words.sees("jhash", "symhash"):
        return _parse_hash(words)
    if word.startswith("@"):
        return _parse_reference(words)
    return parse_constant(words)


def _as_flags(expression: nft.Expression) -> nft.Expression:
    """Take `fin | syn`, an operation on constants, for the several values that it is."""
    match expression:
        case nft.Binary(nft.BitOperator.OR, left, nft.Literal() as last):
            first = _as_flags(left) if isinstance(left, nft.Binary) else left
            if isinstance(first, nft.Literal):
                return nft.Flags((first, last))
            if isinstance(first, nft.Flags):
                return nft.Flags((*first.items, last))
            return expression
        case _:
            return expression


def _parse_header(words: TokenCursor) -> nft.Expression:
    protocol = words.take()
    field = words.take()
    if (protocol, field) == ("tcp", "option"):
        option = words.take()
        asks = words.sees("exists", "missing")
        return nft.TcpOption(option, "" if asks else words.take())
    if field == "option":
        raise ValueError(f"an option of the {protocol} header")
    return nft.Payload(protocol, field)


def _parse_reference(words: TokenCursor) -> nft.Expression:
    name = words.take()[1:]
    if words.sees(","):
        parts = [name]
        while words.accept(","):
            parts.append(words.take())
        return nft.OpaqueExpression(f"@{','.join(parts)}")
    return nft.SetRef(name)


def _parse_ct(words: TokenCursor) -> nft.Expression:
    direction = nft.CtDirection(words.accept("original", "reply"))
    key = words.take()
    if key in {"ip", "ip6"}:
        key = f"{key} {words.take()}"
    if key == "count":
        return nft.OpaqueExpression("ct count")
    return nft.Ct(key, direction)


def _parse_fib(words: TokenCursor) -> nft.Fib:
    flags = [words.take()]
    while words.accept("."):
        flags.append(words.take())
    if not set(flags) <= _FIB_FLAGS:
        raise ValueError(f"expected what fib looks up, saw {flags}")
    return nft.Fib(tuple(flags), nft.NftFibResult(words.take()))


def _parse_numgen(words: TokenCursor) -> nft.Numgen:
    mode = nft.NumgenMode(words.take())
    words.expect("mod")
    mod = int(words.take(), 0)
    return nft.Numgen(mode, mod, int(words.take(), 0) if words.accept("offset") else 0)


def _parse_hash(words: TokenCursor) -> nft.Hash:
    kind = nft.HashKind(words.take())
    key = None if words.sees("mod") else parse_expression(words)
    words.expect("mod")
    mod = int(words.take(), 0)
    seed = int(words.take(), 0) if words.accept("seed") else None
    return nft.Hash(kind, mod, int(words.take(), 0) if words.accept("offset") else 0, seed, key)


def _parse_rt(words: TokenCursor) -> nft.Rt:
    family = words.accept("ip", "ip6")
    return nft.Rt(f"{family} {words.take()}".lstrip())


_NAMED: Mapping[str, Callable[[TokenCursor], nft.Expression]] = {
    "meta": lambda words: nft.Meta(words.take()),
    "ct": _parse_ct,
    "fib": _parse_fib,
    "rt": _parse_rt,
    "numgen": _parse_numgen,
}
"""What reads the rest of an expression, by the word that begins it."""


def parse_data(words: TokenCursor) -> nft.SetRef | nft.SetOf:
    """Read what `map` and `vmap` look into."""
    if words.sees("{"):
        return parse_set(words)
    name = words.take()
    if not name.startswith("@"):
        raise ValueError(f"expected a map, saw {name!r}")
    return nft.SetRef(name[1:])


def parse_set(words: TokenCursor) -> nft.SetOf:
    """Read `{ ... }`."""
    words.expect("{")
    elements = []
    while not words.sees("}"):
        elements.append(_parse_element(words))
        if not words.accept(","):
            break
    words.expect("}")
    return nft.SetOf(tuple(elements))


def _parse_element(words: TokenCursor) -> nft.Element:
    parts = [parse_constant(words)]
    while words.accept("."):
        parts.append(parse_constant(words))
    key = parts[0] if len(parts) == 1 else nft.Concat(tuple(parts))
    timeout = comment = ""
    data: nft.Expression | None = None
    while not words.is_done and not words.sees(",", "}"):
        word = words.take()
        if word == "timeout":
            timeout = words.take()
        elif word == "comment":
            comment = words.take()
        elif word == ":":
            data = _parse_element_data(words)
        elif word not in {"expires", "counter", "packets", "bytes"} and not word[:1].isdigit():
            raise ValueError(f"expected a property of an element, saw {word!r}")
    return nft.Element(key, data, timeout, comment)


def _parse_element_data(words: TokenCursor) -> nft.Expression:
    if words.sees(*VERDICTS):
        return parse_verdict(words)
    parts = [parse_constant(words)]
    while words.accept("."):
        parts.append(parse_constant(words))
    return parts[0] if len(parts) == 1 else nft.Concat(tuple(parts))


def parse_verdict(words: TokenCursor) -> nft.NftVerdict:
    """Read a verdict."""
    kind = words.take()
    return nft.NftVerdict(kind, words.take()) if kind in {"jump", "goto"} else nft.NftVerdict(kind)


def parse_constant(words: TokenCursor) -> nft.Expression:
    """Read a constant: a value, a prefix or a range."""
    quoted = not words.is_done and words.tokens[words.place].kind == "quoted"
    if not quoted and words.sees("{", "}", ",", ")", "(", ";"):
        raise ValueError(f"expected a value, saw {words.peek()!r}")
    text = words.take()
    if quoted:
        return nft.Literal(text)
    network = _NETWORK.fullmatch(text)
    if network is not None:
        return nft.PrefixLiteral(network["address"], int(network["length"]))
    interval = _INTERVAL.fullmatch(text)
    if interval is not None:
        return nft.Interval(nft.Literal(interval["first"]), nft.Literal(interval["last"]))
    return nft.Literal(text)
