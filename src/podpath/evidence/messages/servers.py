"""What servers say when they refuse, and clients and proxies of it: names, databases, RPC, TLS,
limits of their own.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_IP = r"[0-9a-fA-F]*[.:][0-9a-fA-F.:]+"
_REFUSED = MessageKind.CLIENT_REFUSED
_TLS = MessageKind.PEER_SPEAKS_TLS

ROWS: tuple[MessagePattern, ...] = (
    # Name servers
    make_row(
        MessageKind.NAMES_REFUSED,
        "denied",
        (
            rf"client (?:@0x\w+ )?(?P<client>{_IP})#\d+[^\n]*?: (?:view \S+: )?query"
            r"(?: \(cache\))? '(?P<name>[^'/]+)[^']*' denied"
        ),
    ),
    make_row(
        MessageKind.NAMES_NOT_VALIDATED,
        "DNSSEC validation failed",
        r"DNSSEC validation failed for question (?P<name>\S+) IN \w+: (?P<error>[\w-]+)",
    ),
    make_row(
        MessageKind.NAMES_NOT_VALIDATED,
        "no valid RRSIG",
        r"(?P<error>no valid RRSIG)\)? resolving '(?P<name>[^'/]+)",
    ),
    make_row(
        MessageKind.NAMES_NOT_VALIDATED,
        "insecurity proof failed",
        r"(?P<error>insecurity proof failed)\)? resolving '(?P<name>[^'/]+)",
    ),
    make_row(
        MessageKind.NAMES_NOT_VALIDATED,
        "broken trust chain",
        r"(?P<error>broken trust chain)\)? resolving '(?P<name>[^'/]+)",
    ),
    make_row(
        MessageKind.REBIND_REFUSED,
        "ossible DNS-rebind attack detected",
        r"[Pp]ossible DNS-rebind attack detected: (?P<name>\S+)",
    ),
    make_row(MessageKind.NAME_QUERIES_EXHAUSTED, "no more recursive clients"),
    make_row(
        MessageKind.NAME_QUERIES_EXHAUSTED,
        "concurrent queries exceeded maximum",
        r"concurrent queries exceeded maximum (?P<size>\d+)",
    ),
    make_row(
        MessageKind.NAME_SERVER_CONFIGURATION_INVALID,
        "Error during parsing",
        r"(?P<file>\S*Corefile\S*?):(?P<line>\d+) - Error during parsing: (?P<error>[^\n]+)",
    ),
    make_row(
        MessageKind.NAME_SERVER_CONFIGURATION_INVALID,
        "not loaded due to errors",
        r"zone (?P<zone>\S+)/IN(?:/\S+)?: (?P<error>not loaded due to errors)",
    ),
    make_row(
        MessageKind.NAME_SERVER_CONFIGURATION_INVALID,
        "loading from master file",
        r"zone (?P<zone>\S+)/IN(?:/\S+)?: loading from master file \S+ failed: (?P<error>[\w ]+)",
    ),
    make_row(
        MessageKind.NAME_SERVER_CONFIGURATION_INVALID,
        "plugin/",
        (
            r"plugin/(?P<plugin>\w+): (?P<error>(?:unknown property|not a valid|unable to parse|"
            r"invalid)[^\n]*)"
        ),
    ),
    make_row(
        MessageKind.UPSTREAM_NAME_UNKNOWN,
        "host not found in upstream",
        r"host not found in upstream \"(?P<name>[^\":]+)",
    ),
    make_row(
        MessageKind.UPSTREAM_NAME_UNKNOWN,
        "could not be resolved (",
        r"(?P<name>[\w.-]+) could not be resolved \((?P<error>[^)]+)\)",
    ),
    make_row(
        MessageKind.UPSTREAM_NAME_UNKNOWN,
        "could not resolve address",
        r"server (?P<backend>\S+)[^\n]*could not resolve address '(?P<name>[^']+)'",
    ),
    # Limits of servers
    make_row(
        MessageKind.CONNECTIONS_EXHAUSTED,
        "erver reached ",
        (
            r"server reached (?P<limit>MaxRequestWorkers setting|MaxClients setting|"
            r"pm\.max_children setting(?: \(\d+\))?)"
        ),
    ),
    make_row(MessageKind.CONNECTIONS_EXHAUSTED, "reached MaxRequestWorkers"),
    make_row(
        MessageKind.CONNECTIONS_EXHAUSTED,
        "Too many connections",
        (
            r"(?:ERROR 1040|\(08004\)|error|Error|SQLSTATE|mysql\w*)[^\n]*(?P<limit>Too many "
            r"connections)"
        ),
    ),
    make_row(
        MessageKind.CONNECTIONS_EXHAUSTED,
        "too many clients already",
        r"(?P<limit>sorry, too many clients already)",
    ),
    make_row(
        MessageKind.CONNECTIONS_EXHAUSTED,
        "remaining connection slots are reserved",
        r"(?P<limit>remaining connection slots are reserved)",
    ),
    make_row(
        MessageKind.CONNECTIONS_EXHAUSTED,
        "max number of clients reached",
        r"(?P<limit>ERR max number of clients reached)",
    ),
    make_row(
        MessageKind.CONNECTIONS_EXHAUSTED,
        "too many open connections",
        r"connection refused because (?:there are )?(?P<limit>too many open connections)",
    ),
    make_row(
        MessageKind.CONNECTIONS_EXHAUSTED,
        "MaxStartups throttling",
        r"(?P<limit>beginning MaxStartups throttling)",
    ),
    make_row(
        MessageKind.CONNECTIONS_EXHAUSTED,
        "ResourceExhausted",
        r"code = (?P<limit>ResourceExhausted) desc = (?!grpc: received message)(?P<error>[^\n\"]+)",
    ),
    make_row(MessageKind.CONNECTIONS_EXHAUSTED, "toomanyrequests", r"(?P<limit>toomanyrequests): "),
    make_row(
        MessageKind.MESSAGE_TOO_LARGE,
        "received message larger than max",
        r"received message larger than max \((?P<size>\d+) vs\. (?P<most>\d+)\)",
    ),
    make_row(
        MessageKind.MESSAGE_TOO_LARGE,
        "upstream sent too big header",
        r"upstream sent too big header while reading response header",
    ),
    make_row(
        MessageKind.MESSAGE_TOO_LARGE,
        "client intended to send too large body",
        r"client intended to send too large (?:chunked )?body(?:: (?P<size>\d+) bytes)?",
    ),
    make_row(MessageKind.PINGS_REFUSED, "too_many_pings"),
    make_row(
        MessageKind.METHOD_UNKNOWN,
        "code = Unimplemented",
        r"code = Unimplemented desc = (?P<error>unknown (?:service|method) \S+)",
    ),
    # Servers that know their clients
    make_row(
        _REFUSED,
        "no pg_hba.conf entry for host",
        r"no pg_hba\.conf entry for host [\\\"]*(?P<client>[\da-fA-F.:]+)",
    ),
    make_row(
        _REFUSED,
        "is not allowed to connect to this",
        (
            r"Host '(?P<client>[^']+)' is not allowed to connect to this (?P<server>MySQL|MariaDB) "
            r"server"
        ),
    ),
    make_row(
        _REFUSED,
        "is blocked because of many connection errors",
        r"Host '(?P<client>[^']+)' is blocked because of many connection errors",
    ),
    make_row(_REFUSED, "protected mode is enabled", r"DENIED Redis is running in protected mode"),
    make_row(
        _REFUSED, "running in protected mode", r"(?P<server>Redis) is running in protected mode"
    ),
    make_row(
        _REFUSED,
        "refused connect from",
        rf"refused connect from (?P<name>\S+)(?: \((?P<client>{_IP})\))?",
    ),
    make_row(
        _REFUSED, "rejected by access-list", rf"(?P<client>{_IP})[^\n]*rejected by access-list"
    ),
    make_row(_REFUSED, "AH01630", r"AH01630: client denied by server configuration"),
    make_row(_REFUSED, "client denied by server configuration"),
    make_row(
        _REFUSED,
        "access forbidden by rule",
        rf"access forbidden by rule, client: (?P<client>{_IP})",
    ),
    make_row(
        _REFUSED,
        "cluster ID mismatch",
        r"request (?:sent )?was ignored \((?P<error>[^)]*cluster ID mismatch[^)]*)\)",
    ),
    make_row(_REFUSED, "not in the whitelist", rf"(?P<client>{_IP})[^\n]*not in the whitelist"),
    make_row(
        MessageKind.ACCESS_DENIED,
        "ermission denied",
        (
            r"connect\(\) to (?P<dst>[\d.]+):(?P<port>\d+) failed \(13: Permission denied\) while "
            r"connecting to upstream"
        ),
    ),
    make_row(
        MessageKind.ACCESS_DENIED,
        "(13)Permission denied",
        r"\(13\)Permission denied: (?:AH\d+: )?(?:HTTP|HTTPS|FCGI|AJP|proxy): attempt to connect "
        r"to (?P<dst>[\d.]+):(?P<port>\d+)",
    ),
    # One end speaks TLS, the other does not
    make_row(
        _TLS,
        "lient sent an HTTP request to an HTTPS server",
        r"[Cc]lient sent an HTTP request to an HTTPS server",
    ),
    make_row(
        _TLS,
        "malformed HTTP response",
        r"malformed HTTP (?:response|status code|version) [\\\"]*\\x1[56]\\x03",
    ),
    make_row(
        _TLS,
        "Invalid character found in method name",
        r"Invalid character found in method name \[0x16 ?0x03",
    ),
    make_row(
        _TLS,
        "Bad request version",
        r"Bad (?:request version|HTTP/0\.9 request type) \([\\'\"]*(?:\\x16|\\x03)",
    ),
    make_row(
        _TLS, "oversized record received with length", r"tls: oversized record received with length"
    ),
    make_row(_TLS, "unexpected HTTP/1.x request", r"unexpected HTTP/1\.x request: "),
    make_row(_TLS, "\\x16\\x03\\x01", r"\"(?:GET |POST )?\\x16\\x03[\\\w]*\S*[^\"]*\" 400"),
    make_row(_TLS, "packet length too long", r"SSL\w*:?[^\n]*packet length too long"),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "tls: bad certificate",
        r"remote error: (?P<error>tls: bad certificate)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "tls: unknown certificate",
        r"remote error: (?P<error>tls: unknown certificate(?: authority)?)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "tls: expired certificate",
        r"remote error: (?P<error>tls: expired certificate)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "PKIX path building failed",
        r"(?P<error>PKIX path building failed)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "DEPTH_ZERO_SELF_SIGNED_CERT",
        r"(?P<error>DEPTH_ZERO_SELF_SIGNED_CERT)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "self signed certificate",
        r"(?P<error>self signed certificate(?: in certificate chain)?)",
    ),
    make_row(
        MessageKind.CERTIFICATE_REFUSED,
        "self-signed certificate",
        r"(?P<error>self-signed certificate(?: in certificate chain)?)",
    ),
)
