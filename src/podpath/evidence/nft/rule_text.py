"""Rules of nft's own language (nft(8)) to statements. What is not known is kept as it is
spelled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from podpath.evidence.nft.terms_text import (
    VERDICTS,
    parse_constant,
    parse_data,
    parse_expression,
    parse_set,
    parse_verdict,
)
from podpath.evidence.nft.tokens import TokenCursor
from podpath.net import nft

_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "!"})
_NAT_FLAGS = frozenset({"random", "fully-random", "persistent"})
_TARGET = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<first>[0-9.]+)(?:-(?P<last>[0-9.]+))?)?"
    r"(?::(?P<low>\d+)(?:-(?P<high>\d+))?)?"
)
_SIX = re.compile(
    r"(?P<first>[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*)(?:-(?P<last>[0-9A-Fa-f:.]+))?"
)
_BEFORE_PORT = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<four>[0-9.]+))?:(?P<word>[a-z]\w*)?")
"""An address before a port that a map says: `10.0.0.1:tcp dport map { 80 : 8080 }`."""
_BIT_FIELDS = frozenset({nft.Ct("state"), nft.Ct("status"), nft.Payload("tcp", "flags")})


class NftRuleText(NamedTuple):
    """A rule, read."""

    statements: tuple[nft.Statement, ...]
    comment: str = ""


def parse_rule(words: TokenCursor) -> NftRuleText:
    """Read a rule; from the first statement that is not understood on it is one unknown
    statement.
    """
    statements: list[nft.Statement] = []
    comment = ""
    while not words.is_done:
        place = words.place
        try:
            if words.accept("comment"):
                comment = words.take()
                continue
            statements.append(parse_statement(words))
        except (
            ValueError,
            RecursionError,
        ):  # brackets within brackets, deeper than any kernel takes them
            words.place = place
            statements.append(nft.OpaqueStatement(words.rest()))
    return NftRuleText(tuple(statements), comment)


def parse_statement(words: TokenCursor) -> nft.Statement:
    """Read one statement; `ValueError` where it is not understood."""
    if words.sees(*VERDICTS):
        return parse_verdict(words)
    for name, parser in _STATEMENTS.items():
        if words.sees(name):
            words.take()
            return parser(words)
    if words.sees("snat", "dnat", "redirect", "masquerade"):
        return _parse_nat(words.take(), words)
    if words.sees("add", "update", "delete") and words.peek(1).startswith("@"):
        return _parse_set_update(words)
    return _parse_relation(words)


def _parse_relation(words: TokenCursor) -> nft.Statement:
    left = parse_expression(words)
    if isinstance(left, nft.Literal | nft.PrefixLiteral | nft.Interval):
        return nft.OpaqueStatement(f"{left[0]} {words.rest()}".rstrip())
    if words.accept("vmap"):
        return nft.Vmap(left, parse_data(words))
    if words.accept("set"):
        return nft.Mangle(left, parse_expression(words))
    if left == nft.OpaqueExpression("ct count"):
        return nft.OpaqueStatement(
            f"ct count {'over ' if words.accept('over') else ''}{words.take()}"
        )
    sign = words.accept(*_COMPARISONS)
    right = _parse_right(words)
    if words.accept("/"):
        mask = _parse_right(words)
        masked = nft.Binary(nft.BitOperator.AND, left, mask)
        return nft.NftMatch(nft.Comparison(sign or "=="), masked, right)
    if sign:
        return nft.NftMatch(nft.Comparison(sign), left, right)
    if left in _BIT_FIELDS and not isinstance(right, nft.SetOf | nft.SetRef):
        # without a sign one common bit of a bit field is enough
        return nft.NftMatch(nft.Comparison.ANY_BIT, left, right)
    return nft.NftMatch(nft.Comparison.EQUAL, left, right)


def _parse_right(words: TokenCursor) -> nft.Expression:
    if words.sees("{"):
        return parse_set(words)
    if words.peek().startswith("@"):
        return parse_data(words)
    first = parse_constant(words)
    parts = [first]
    while words.accept("."):
        parts.append(parse_constant(words))
    if len(parts) > 1:
        return nft.Concat(tuple(parts))
    items = [first]
    while words.accept(",", "|"):
        items.append(parse_constant(words))
    if len(items) == 1:
        return first
    return nft.Flags(tuple(item for item in items if isinstance(item, nft.Literal)))


def _parse_nat(kind: str, words: TokenCursor) -> nft.Nat:
    family = words.accept("ip", "ip6")
    words.accept("prefix")
    if words.accept("addr"):
        words.expect(".")
        words.expect("port")
    address: nft.Expression | None = None
    port: nft.Expression | None = None
    if words.accept("to"):
        address, port = _parse_nat_target(words)
    flags: list[str] = []
    while words.sees(*_NAT_FLAGS):
        flags.append(words.take())
        words.accept(",")
    said = nft.NftFamily(family) if family else None
    return nft.Nat(kind, address, port, tuple(flags), said)


def _parse_nat_target(words: TokenCursor) -> tuple[nft.Expression | None, nft.Expression | None]:
    text = words.peek()
    found = _TARGET.fullmatch(text)
    if found is not None and text:
        words.take()
        address = _interval(found["six"] or found["first"], found["last"])
        if not found["low"] and words.accept(":"):
            return address, parse_expression(words)
        return address, _interval(found["low"], found["high"])
    before = _BEFORE_PORT.fullmatch(text)
    if before is not None:
        words.take_part(before["word"] or "")
        return _interval(before["six"] or before["four"], None), parse_expression(words)
    six = _SIX.fullmatch(text)
    if six is not None:
        words.take()
        return _interval(six["first"], six["last"]), None
    return parse_expression(words), None


def _interval(first: str | None, last: str | None) -> nft.Expression | None:
    if not first:
        return None
    return nft.Interval(nft.Literal(first), nft.Literal(last)) if last else nft.Literal(first)


def _parse_reject(words: TokenCursor) -> nft.Statement:
    if not words.accept("with"):
        return nft.NftReject()
    kind = words.take()
    if kind == "tcp":
        words.expect("reset")
        return nft.NftReject(nft.RejectKind.TCP_RESET)
    words.accept("type")
    return nft.NftReject(nft.RejectKind(kind), words.take())


def _parse_counter(words: TokenCursor) -> nft.Statement:
    if words.accept("name"):
        return nft.Counter(name=words.take())
    if not words.sees("packets"):
        return nft.Counter()
    words.take()
    packets = int(words.take())
    words.expect("bytes")
    return nft.Counter(packets, int(words.take()))


def _parse_limit(words: TokenCursor) -> nft.Statement:
    text = []
    words.expect("rate")
    over = bool(words.accept("over"))
    text = ["rate", *(("over",) if over else ()), words.take()]
    if "/" not in text[-1]:
        text.append(words.take())
    if words.accept("burst"):
        text += ["burst", words.take()]
        if words.sees("packets", "bytes", "kbytes", "mbytes"):
            text.append(words.take())
    return nft.Limit(" ".join(text), over)


def _parse_log(words: TokenCursor) -> nft.Statement:
    text = []
    while words.sees("prefix", "level", "group", "snaplen", "queue-threshold", "flags"):
        name = words.take()
        value = f'"{words.take()}"' if name == "prefix" else words.take()
        if name == "flags" and words.sees("sequence", "options"):
            value = f"{value} {words.take()}"
        while words.accept(","):
            value = f"{value},{words.take()}"
        text.append(f"{name} {value}")
    return nft.Log(" ".join(text))


def _parse_queue(words: TokenCursor) -> nft.Statement:
    text = []
    while words.sees("num", "to", "flags", "bypass", "fanout") or words.peek()[:1].isdigit():
        text.append(words.take())
        if words.accept(","):
            text[-1] += ","
    return nft.Queue(" ".join(text))


def _parse_set_update(words: TokenCursor) -> nft.Statement:
    op = nft.SetOperation(words.take())
    name = words.take()[1:]
    words.expect("{")
    key = parse_expression(words)
    depth, text = 1, []
    while depth:
        word = words.take()
        depth += {"{": 1, "}": -1}.get(word, 0)
        if depth:
            text.append(word)
    return nft.SetUpdate(op, key, name, " ".join(text))


def _parse_forward(words: TokenCursor) -> nft.Statement:
    words.expect("to")
    return nft.Forward(parse_constant(words))


def _parse_duplicate(words: TokenCursor) -> nft.Statement:
    words.expect("to")
    text = words.take()
    if words.accept("device"):
        text = f"{text} device {words.take()}"
    return nft.Duplicate(text)


def _parse_flow(words: TokenCursor) -> nft.Statement:
    words.accept("add", "offload")
    return nft.FlowOffload(words.take().removeprefix("@"))


def _parse_xt(words: TokenCursor) -> nft.Statement:
    return nft.OpaqueStatement(f"xt {words.take()} {words.take()}")


_STATEMENTS: Mapping[str, Callable[[TokenCursor], nft.Statement]] = {
    "reject": _parse_reject,
    "counter": _parse_counter,
    "limit": _parse_limit,
    "log": _parse_log,
    "queue": _parse_queue,
    "notrack": lambda _: nft.Notrack(),
    "fwd": _parse_forward,
    "dup": _parse_duplicate,
    "flow": _parse_flow,
    "xt": _parse_xt,
}
