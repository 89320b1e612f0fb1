"""How programs say that a connection failed: the words of errno in the languages that tickets come in, of Go's net package and
of net/http, and the addresses within such a message.

`connect(2)` and `recv(2)` know few ways to fail; each has one name here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address


class Failure(NamedTuple):
    """A connection that a message says has failed."""

    protocol: int
    dst: Address
    dport: int
    result: str
    """`timeout`, `refused`, `reset` or `unreachable`."""
    src: Address | None = None


_RESULTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("refused", re.compile(
        r"connection refused|actively refused|verbindungsaufbau abgelehnt|connexion refus|conexi.n rehusada|conex.o recusada|"
        r"\u62d2\u7edd\u8fde\u63a5|\u8fde\u63a5\u88ab\u62d2\u7edd|\u63a5\u7d9a\u3092\u62d2\u5426|\u0432 \u0441\u043e\u0435\u0434"
        r"\u0438\u043d\u0435\u043d\u0438\u0438 \u043e\u0442\u043a\u0430\u0437\u0430\u043d\u043e|econnrefused", re.IGNORECASE)),
    ("unreachable", re.compile(
        r"no route to host|network is unreachable|host is unreachable|host is down|destination (?:host|net(?:work)?|"
        r"port) unreachable|"
        r"keine route zum|das netzwerk ist nicht erreichbar|aucun chemin|no hay ruta|"
        r"\u6ca1\u6709\u5230\u4e3b\u673a\u7684\u8def\u7531|"
        r"\u7f51\u7edc\u4e0d\u53ef\u8fbe|\u30db\u30b9\u30c8\u3078\u306e\u7d4c\u8def|"
        r"\u043d\u0435\u0442 \u043c\u0430\u0440\u0448\u0440"
        r"\u0443\u0442\u0430|ehostunreach|enetunreach", re.IGNORECASE)),
    ("reset", re.compile(
        r"reset by peer|connection reset|unexpected eof|(?:^|[\s:])eof$|empty reply|broken pipe|\u8fde\u63a5\u88ab\u91cd\u7f6e|"
        r"\u5bf9\u7b49\u65b9\u91cd\u7f6e|verbindung zur.ckgesetzt|connexion r.-?initialis|econnreset", re.IGNORECASE)),
    ("timeout", re.compile(
        r"timed? ?out|deadline exceeded|waiting for connection|awaiting headers|zeit.berschreitung|d.lai d.attente|"
        r"expir. el tiempo|tempo (?:limite|esgotado)|\u8d85\u65f6|\u30bf\u30a4\u30e0\u30a2\u30a6\u30c8|"
        r"\u043f\u0440\u0435\u0432\u044b"
        r"\u0448\u0435\u043d\u043e \u0432\u0440\u0435\u043c\u044f|etimedout|request canceled", re.IGNORECASE)),
)  # fmt: skip
_HOST = r"(?:\[(?P<v6>[0-9a-fA-F:.]+)(?:%\w+)?\]|(?P<v4>\d{1,3}(?:\.\d{1,3}){3}))"
_DIAL = re.compile(rf"\b(?:dial|read|write) (?P<protocol>tcp|udp)[46]? (?:(?P<src>\S+?):\d+->)?{_HOST}:(?P<port>\d+)")

_URL = re.compile(
    rf"\b(?P<scheme>https?|grpc|tcp|redis|postgres(?:ql)?|mysql)://(?:[^@/\s\"']*@)?{_HOST}(?::(?P<port>\d+))?", re.IGNORECASE
)
_PLAIN = re.compile(
    rf"\b(?:to|connect(?:ing|ion)?(?: to)?|host|server|address|endpoint|upstream|peer|"
    rf"connect:)[ =:\"']+{_HOST}(?:[: ](?:port )?(?P<port>\d{{1,5}}))"
)
SCHEME_PORTS: Mapping[str, int] = {"http": 80, "https": 443, "redis": 6379, "postgres": 5432, "postgresql": 5432, "mysql": 3306}


def parse_result(message: str) -> str | None:
    """Say how the message says that it failed; None where it does not."""
    return next((result for result, words in _RESULTS if words.search(message)), None)


def parse_failure(message: str) -> Failure | None:
    """Read a message that names an address and says that a connection to it failed; None where it lacks one of the two."""
    result = parse_result(message)
    if result is None:
        return None
    found = _DIAL.search(message) or _URL.search(message) or _PLAIN.search(message)
    if found is None:
        return None
    fields = found.groupdict()
    dst = parse_host(fields["v6"] or fields["v4"])
    port = int(fields["port"]) if fields["port"] else SCHEME_PORTS.get((fields.get("scheme") or "").lower(), 0)
    if dst is None or not 0 < port < 65536:
        return None
    protocol = protocols.UDP if fields.get("protocol") == "udp" else protocols.TCP
    return Failure(protocol, dst, port, result, parse_host((fields.get("src") or "").strip("[]")))


def parse_host(text: str | None) -> Address | None:
    """Return the address that a host is spelled as; None where it is a name."""
    try:
        return Address.parse((text or "").strip("[]").partition("%")[0])
    except ValueError:
        return None
