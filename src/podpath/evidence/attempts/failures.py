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


class ReportedFailure(NamedTuple):
    """A connection that a message says has failed."""

    protocol: int
    dst: Address
    dport: int
    result: FailureKind
    src: Address | None = None


_WORDS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    (FailureKind.NAME_SERVER_SILENT, re.compile(
        r"resolving timed out|no servers could be reached|no (?:name ?)?servers? "
        r"(?:could be )?reached|lookup \S+(?: on \S+)?: .{0,300}(?:timeout|timed out|unreachable|"
        r"refused|no route|not permitted)|dns (?:query|request|lookup|resolution) (?:timed out|"
        r"timeout)|etimeout \S+$|querya+ etimeout|nslookup: (?:read|write to|can't connect to)|"
        r"resolver timeout", re.IGNORECASE)),
    (FailureKind.NAME_SERVER_FAILS, re.compile(
        r"servfail|server misbehaving|non-recoverable failure in name resolution|eservfail|"
        r"(?:query|status:) refused|can't find \S+: (?:SERVFAIL|REFUSED)", re.IGNORECASE)),
    (FailureKind.NAME_UNKNOWN, re.compile(
        r"nxdomain|no such host|name or service not known|nodename nor servname|enotfound|"
        r"name does not resolve|non-existent domain|no address associated with hostname|"
        r"name oder dienst nicht bekannt|nom ou service inconnu|nombre o servicio desconocido|"
        r"\u672a\u77e5\u7684\u540d\u79f0\u6216\u670d\u52a1", re.IGNORECASE)),
    (FailureKind.NAME_NOT_RESOLVED, re.compile(
        r"temporary failure (?:in )?name resolution|temporary failure resolving|"
        r"could(?:n't| not) resolve|cannot resolve|can't resolve|"
        r"unable to resolve|failed to resolve|eai_again|unknown ?host|bad address '|"
        r"name resolution (?:failed|failure)|host not found|resolution failed|lookup failed",
        re.IGNORECASE)),
    (FailureKind.NOT_PERMITTED, re.compile(
        r"operation not permitted|\beperm\b|vorgang nicht zul.ssig|op.ration non permise|"
        r"operaci.n no permitida|\u4e0d\u5141\u8bb8\u7684\u64cd\u4f5c", re.IGNORECASE)),
    (FailureKind.ACCESS_DENIED, re.compile(
        r"(?:connect|sendmsg|sendto|socket|dial)\b.{0,80}permission denied|do you want to ping "
        r"broadcast|\beacces\b",
        re.IGNORECASE)),
    (FailureKind.INVALID_ARGUMENT, re.compile(
        r"(?:connect|sendmsg|sendto|dial)\b.{0,80}invalid argument|\beinval\b", re.IGNORECASE)),
    (FailureKind.REFUSED, re.compile(
        r"connection (?:was |is )?refused|connectionrefused|actively refused|destination port "
        r"unreachable|port is unreachable|verbindungsaufbau abgelehnt|connexion refus|"
        r"conexi.n (?:rehusada|rechazada)|conex.o recusada|connessione rifiutata|"
        r"\u62d2\u7edd\u8fde\u63a5|\u8fde\u63a5\u88ab\u62d2\u7edd|\u63a5\u7d9a\u3092\u62d2\u5426|"
        r"\u0432 \u0441\u043e\u0435\u0434\u0438\u043d\u0435\u043d\u0438\u0438 "
        r"\u043e\u0442\u043a\u0430\u0437\u0430\u043d\u043e|econnrefused|"
        r"(?:errno[ :=]+|os error |mysql server on .{0,100}\()(?:111|61)\b", re.IGNORECASE)),
    (FailureKind.NO_ROUTE_TO_HOST, re.compile(
        r"no ?route ?to ?host|host (?:is )?unreachable|host is down|destination host "
        r"(?:unreachable|prohibited)|packet filtered|(?:communication|host) administratively "
        r"prohibited|time to live exceeded|keine route zum|aucun chemin|no hay ruta|"
        r"nessun instradamento|\u6ca1\u6709\u5230\u4e3b\u673a\u7684\u8def\u7531|"
        r"\u30db\u30b9\u30c8\u3078\u306e\u7d4c\u8def|\u043d\u0435\u0442 "
        r"\u043c\u0430\u0440\u0448\u0440\u0443\u0442\u0430|ehostunreach|ehostdown|"
        r"(?:errno[ :=]+|os error |mysql server on .{0,100}\()113\b", re.IGNORECASE)),
    (FailureKind.NETWORK_UNREACHABLE, re.compile(
        r"network (?:is )?unreachable|destination net(?:work)? (?:unreachable|prohibited)|"
        r"das netzwerk ist nicht erreichbar|r.seau n'est pas accessible|red (?:es )?inaccesible|"
        r"la rete non . raggiungibile|\u7f51\u7edc\u4e0d\u53ef\u8fbe|"
        r"\u0441\u0435\u0442\u044c \u043d\u0435\u0434\u043e\u0441\u0442\u0443\u043f\u043d\u0430|"
        r"enetunreach|(?:errno[ :=]+|os error |mysql server on .{0,100}\()101\b", re.IGNORECASE)),
    (FailureKind.UNREACHABLE, re.compile(r"destination (?:protocol )?unreachable", re.IGNORECASE)),
    (FailureKind.ERROR_ANSWER, re.compile(
        r"wrong version number|certificate (?:verify failed|has expired|signed by unknown|"
        r"is (?:not valid|valid for))|certificate problem|unable to get local issuer|"
        r"alert (?:handshake failure|protocol version|bad certificate)|"
        r"malformed http response|http response to https client", re.IGNORECASE)),
    (FailureKind.HANGS, re.compile(
        r"tls handshake (?:timeout|timed out)|ssl (?:connection|handshake) (?:timeout|timed out)|"
        r"handshake operation timed out|handshake timed out|operation timed out after [1-9]\d* "
        r"milliseconds with|timeout during banner exchange|"
        r"read timed out|reading initial communication packet.{0,100}\b110\b|"
        r"less than \d+ bytes/sec", re.IGNORECASE)),
    (FailureKind.RESET, re.compile(
        r"reset by peer|connection (?:was )?reset|connectionreset|unexpected eof|(?:^|[\s:])eof$|"
        r"empty reply|broken pipe|connection closed by remote host|closed by foreign host|"
        r"ssl_error_syscall|server closed the connection unexpectedly|"
        r"lost connection to mysql server|\u8fde\u63a5\u88ab\u91cd\u7f6e|"
        r"\u5bf9\u7b49\u65b9\u91cd\u7f6e|verbindung zur.ckgesetzt|connexion r.-?initialis|"
        r"econnreset|epipe|socket hang up|(?:errno[ :=]+|os error )104\b", re.IGNORECASE)),
    (FailureKind.TIMEOUT, re.compile(
        r"timed? ?out|deadline exceeded|waiting for connection|awaiting headers|zeit.berschreitung|"
        r"d.lai d.attente|expir. el tiempo|tempo (?:limite|esgotado)|\u8d85\u65f6|"
        r"\u30bf\u30a4\u30e0\u30a2\u30a6\u30c8|\u043f\u0440\u0435\u0432\u044b"
        r"\u0448\u0435\u043d\u043e \u0432\u0440\u0435\u043c\u044f|etimedout|request canceled|"
        r"(?:errno[ :=]+|os error |mysql server on .{0,100}\()110\b", re.IGNORECASE)),
)  # fmt: skip
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
    result = parse_result(message)
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
