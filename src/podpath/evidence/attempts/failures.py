"""How programs say that a connection failed: the words of errno in the languages that tickets come
in, of Go's net package and of net/http, and the addresses within such a message.

`connect(2)` and `recv(2)` know few ways to fail, and resolvers four more; each has one name here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import ANSWERED, NAMES, FailureKind
from podpath.net.word_file import read_word_file


class ReportedFailure(NamedTuple):
    """A connection that a message says has failed."""

    protocol: int
    dst: Address
    dport: int
    result: FailureKind
    src: Address | None = None


_FILE = read_word_file("podpath.evidence.attempts", "failures.toml")
_WORDS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = tuple(
    (FailureKind[name], re.compile(words, re.IGNORECASE)) for name, words in _FILE["rows"]
)
"""The words for each way to fail, the more telling first: of a message that has several the first
counts.
"""
_HOST = r"(?:\[(?P<v6>[0-9a-fA-F:.]+)(?:%\w+)?\]|(?P<v4>\d{1,3}(?:\.\d{1,3}){3}))"
_DIAL = re.compile(
    rf"\b(?:dial|read|write) (?P<protocol>tcp|udp)[46]? (?:(?P<src>\S+?):\d+->)?{_HOST}:"
    r"(?P<port>\d+)"
)
_LOOKUP = re.compile(rf"\blookup \S+ on {_HOST}:(?P<port>\d+)")
_URL = re.compile(
    (
        r"\b(?P<scheme>https?|grpc|tcp|redis|postgres(?:ql)?|mysql|amqp|mongodb|nats|ldap)://"
        rf"(?:[^@/\s\"']*@)?{_HOST}(?::(?P<port>\d+))?"
    ),
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"\b(?:to|by|at|on|via|from|connect(?:ing|ion)?(?: to)?|host|server|address|endpoint|upstream|"
    rf"peer|target|refused|ECONN\w+|E(?:HOST|NET)UNREACH|ETIMEDOUT|timed out|information|connect:)"
    rf"[ =:\"'(/]+(?:[\w.-]+/)?{_HOST}"
    r"(?:[: ]|[\"']?,? (?:and accepting\s+TCP/IP connections on )?port[ =:]*|', port[ =:]+)"
    rf"(?:port )?(?P<port>\d{{1,5}})\b"
)
_MYSQL = re.compile(rf"MySQL server (?:on|at) '{_HOST}(?::(?P<port>\d+))?'")
_PATIENCE = re.compile(r"(?<=[?&])timeout(?:Seconds)?=\w+")
"""How long a request may take, which is no way to fail."""
_NAME_SERVER = 53
_OF_NAMES = NAMES | {FailureKind.NAME_NOT_RESOLVED}
SCHEME_PORTS: Mapping[str, int] = {
    "http": 80, "https": 443, "redis": 6379, "postgres": 5432, "postgresql": 5432, "mysql": 3306,
    "amqp": 5672, "mongodb": 27017, "nats": 4222, "ldap": 389,
}  # fmt: skip


def parse_result(message: str) -> FailureKind | None:
    """Say how the message says that it failed; None where it does not."""
    return next((kind for kind, words in _WORDS if words.search(message)), None)


def parse_failure(message: str) -> ReportedFailure | None:
    """Read a message that names an address and says that a connection to it failed; None where it
    lacks one of the two.

    A lookup that failed is a connection to the name server that the message names, if it names one.
    """
    result = parse_result(_PATIENCE.sub("", message))
    if result is None:
        return None
    found = _DIAL.search(message) or _LOOKUP.search(message)
    if found is None and result not in NAMES:
        found = _URL.search(message) or _PLAIN.search(message) or _MYSQL.search(message)
    if found is None:
        return None
    fields = found.groupdict()
    dst = parse_host(fields["v6"] or fields["v4"])
    port = int(fields["port"]) if fields["port"] else _usual_port(found)
    if dst is None or not 0 < port < 65536:
        return None
    protocol = (
        protocols.UDP if fields.get("protocol") == "udp" or found.re is _LOOKUP else protocols.TCP
    )
    return ReportedFailure(
        protocol,
        dst,
        port,
        _on_the_way(result, message, port),
        parse_host((fields.get("src") or "").strip("[]")),
    )


def _usual_port(found: re.Match[str]) -> int:
    scheme = "mysql" if found.re is _MYSQL else (found.groupdict().get("scheme") or "").lower()
    return SCHEME_PORTS.get(scheme, 0)


def _on_the_way(result: FailureKind, message: str, port: int) -> FailureKind:
    """Return how the connection itself failed: behind a lookup that got no answer stands an error
    of its own.
    """
    if result not in NAMES or (port == _NAME_SERVER and result in ANSWERED):
        return result
    errors = (kind for kind, words in _WORDS if kind not in _OF_NAMES and words.search(message))
    return next(errors, FailureKind.TIMEOUT)


def parse_host(text: str | None) -> Address | None:
    """Return the address that a host is spelled as; None where it is a name."""
    try:
        return Address.parse((text or "").strip("[]").partition("%")[0])
    except ValueError:
        return None
