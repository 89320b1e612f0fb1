"""Filters in the words of tcpdump (`host 10.0.0.1 and tcp port 443`), of whole connections.

A connection fits in both directions, so that what is kept can still be judged: `src` and `dst`,
which would leave one direction, are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from podpath.capture.connections import CapturedFlow, Endpoint
from podpath.diagnosis.capture_filter import ANY, FilterEnd, parse_end
from podpath.net import protocols
from podpath.net.addresses import Prefix
from podpath.net.errors import UsageError
from podpath.node.case import Sighting

Fits = Callable[[int, Endpoint, Endpoint], bool]
"""Tells of a protocol and two ends whether they fit."""
_WORD = re.compile(r"\s*(\(|\)|!|&&|\|\||[^\s()!&|]+)")
_KINDS = ("host", "net", "port", "portrange")
_SIGNS = {"&&": "and", "||": "or", "!": "not"}
_PROTOCOLS = ("tcp", "udp", "sctp", "icmp", "icmp6")
_FAMILIES = {"ip": 4, "ip6": 6}
_ENDS = ("src", "dst")
_WITH_PORTS = (protocols.TCP, protocols.UDP, protocols.SCTP)


class ExpressionFilter(NamedTuple):
    """The connections that an expression describes."""

    tree: Fits
    one: FilterEnd
    """An end that every such connection has; `ANY` where there is none."""
    other: FilterEnd = ANY

    def fits(self, flow: CapturedFlow[Sighting]) -> bool:
        """Tell whether a connection is described, as one point shows it."""
        return self.tree(flow.protocol, flow.client, flow.server)

    def fits_words(self, words: str) -> bool:
        """Tell whether a connection is described, by its words."""
        name, near, _, far = words.split(" ")
        ends = [(end.address, end.port) for end in (parse_end(near), parse_end(far))]
        known = [(address, port) for address, port in ends if address is not None]
        return self.tree(protocols.protocol_number(name), *known)


def parse_expression(text: str) -> ExpressionFilter:
    """Read an expression; `UsageError` says what was expected where."""
    reader = _ExpressionReader(text)
    tree = reader.read_or()
    if reader.word:
        raise reader.refuse("and, or")
    return ExpressionFilter(tree, reader.end)


class _ExpressionReader:
    """The words of an expression, from the first to the last. Local to `parse_expression`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = list(_split(text))
        self._at = 0
        self._kind = ""
        """What a value without a word before it is, as in `port 80 or 443`."""
        self._bound = True
        """Whether what is read now holds for every connection that fits."""
        self.end = ANY

    @property
    def word(self) -> str:
        """The word to read next; empty behind the last."""
        return self._words[self._at] if self._at < len(self._words) else ""

    def refuse(self, expected: str) -> UsageError:
        """Make the error that says what was expected here."""
        saw = repr(self.word) if self.word else "its end"
        return UsageError(f"filter {self._text!r}: expected {expected}, saw {saw}")

    def _take(self, *words: str) -> str:
        word = self.word
        if word not in words:
            return ""
        self._at += 1
        return word

    def read_or(self) -> Fits:
        parts = [self._read_and()]
        while self._take("or"):
            if self._bound:
                self.end, self._bound = ANY, False
            parts.append(self._read_and())
        return lambda *one: any(part(*one) for part in parts)

    def _read_and(self) -> Fits:
        parts = [self._read_not()]
        while self._take("and"):
            parts.append(self._read_not())
        return lambda *one: all(part(*one) for part in parts)

    def _read_not(self) -> Fits:
        bound = self._bound
        if self._take("not"):
            self._bound = False
            part = self._read_not()
            self._bound = bound
            return lambda *one: not part(*one)
        if self._take("("):
            self._bound = False
            part = self.read_or()
            self._bound = bound
            if not self._take(")"):
                raise self.refuse(")")
            return part
        return self._read_primitive()

    def _read_primitive(self) -> Fits:
        """Read `tcp`, `host ADDRESS`, `tcp port 443`, or a value of the kind before."""
        if self.word in _ENDS:
            raise self.refuse("host, net or port (a connection is kept in both directions)")
        name = self._take(*_PROTOCOLS, *_FAMILIES)
        kind = self._take(*_KINDS)
        if name and not kind:
            return _of(name)
        if not kind and (not self._kind or self.word in ("", "and", "or", ")")):
            raise self.refuse(f"{', '.join((*_KINDS, *_PROTOCOLS))} or (")
        self._kind = kind or self._kind
        value = self._read_value(self._kind)
        if not name:
            return value
        named = _of(name)
        return lambda *one: named(*one) and value(*one)

    def _read_value(self, kind: str) -> Fits:
        word = self.word
        try:
            found = self._parse_host(word) if kind in ("host", "net") else self._parse_port(word)
        except ValueError:
            raise self.refuse(f"the value of {kind}") from None
        self._at += 1
        return found

    def _parse_host(self, word: str) -> Fits:
        prefix = Prefix.parse(word)
        if self._bound and not self.end.address and prefix == Prefix.of(prefix.address):
            self.end = self.end._replace(address=prefix.address, port=0)
        return lambda _, near, far: prefix.covers(near[0]) or prefix.covers(far[0])

    def _parse_port(self, word: str) -> Fits:
        first, _, last = word.partition("-")
        ports = range(int(first), int(last or first) + 1)
        if not ports or ports[-1] >= 1 << 16:
            raise ValueError(word)
        if self._bound and self.end == ANY and len(ports) == 1:
            self.end = FilterEnd(None, ports[0])
        return lambda protocol, near, far: (
            protocol in _WITH_PORTS and (near[1] in ports or far[1] in ports)
        )


def _split(text: str) -> Iterator[str]:
    at = 0
    while text[at:].strip():
        found = _WORD.match(text, at)
        if found is None:
            raise UsageError(f"filter {text!r}: expected a word, saw {text[at:].strip()!r}")
        yield _SIGNS.get(found[1], found[1])
        at = found.end()


def _of(name: str) -> Fits:
    """Tell what is of a protocol, or of a family."""
    family = _FAMILIES.get(name)
    if family is not None:
        return lambda _, near, __: near[0].family == family
    number = protocols.ICMPV6 if name == "icmp6" else protocols.protocol_number(name)
    return lambda protocol, *_: protocol == number
