"""What resolvers say, and programs that ask one: CoreDNS, nodelocaldns, dnsmasq, systemd-resolved,
Go's resolver.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_ADDRESS = r"\[?[0-9a-fA-F:.]+\]?"

ROWS: tuple[MessagePattern, ...] = (
    make_row(
        MessageKind.FORWARDING_LOOP,
        "plugin/loop: ",
        r"plugin/loop: (?:Loop|Forwarding loop).*?detected",
    ),
    make_row(MessageKind.UPSTREAM_SILENT, "Maximum number of concurrent DNS queries reached"),
    make_row(
        MessageKind.UPSTREAM_SILENT,
        "i/o timeout",
        r"(?:plugin/errors|unreachable backend|\[ERROR\]).*?read (?P<protocol>udp|tcp) "
        rf"(?P<src>{_ADDRESS}):\d+->(?P<server>{_ADDRESS}):(?P<port>53|5353): i/o timeout",
    ),
    make_row(
        MessageKind.UPSTREAM_SILENT,
        "i/o timeout",
        (
            rf"plugin/errors.*?dial (?P<protocol>tcp|udp) (?P<server>{_ADDRESS}):(?P<port>53|5353|"
            r"853): i/o timeout"
        ),
    ),
    make_row(
        MessageKind.UPSTREAM_REFUSES,
        ":53: ",
        r"(?:plugin/errors|unreachable backend|\[ERROR\]).*?(?:->|dial (?:tcp|udp) )"
        rf"(?P<server>{_ADDRESS}):53: (?:read: |write: |connect: )?(?P<error>connection refused|"
        r"no route to host|network is unreachable|operation not permitted)",
    ),
    make_row(
        MessageKind.UPSTREAM_REFUSES,
        "unreachable backend: no upstream host",
    ),
    make_row(
        MessageKind.RESOLVER_IS_LOOPBACK,
        " on ",
        r"(?:lookup (?P<name>[\w.-]+) )?on (?P<server>\[::1\]|127\.0\.0\.1|127\.0\.0\.53|"
        r"127\.0\.0\.11|127\.0\.1\.1):53: .*?(?P<error>connection refused|i/o timeout|"
        r"server misbehaving|no such host|operation not permitted)",
    ),
    make_row(
        MessageKind.NAME_SERVER_NOT_BOUND,
        ":53: bind: ",
        rf"listen (?:udp|tcp)[46]? (?P<address>{_ADDRESS}|):53: bind: (?P<error>[\w ]+)",
    ),
    make_row(
        MessageKind.NAME_SERVER_NOT_BOUND,
        "failed to create listening socket for ",
        r"failed to create listening socket for (?P<address>\S+): (?P<error>[\w ]+)",
    ),
    make_row(
        MessageKind.NAME_SERVER_NOT_BOUND,
        "aardvark-dns",
        r"aardvark-dns.*?(?:failed|unable) to (?:start|bind)",
    ),
    make_row(
        MessageKind.NAME_FAILS,
        "ould not resolve host",
        r"ould not resolve host(?:name)?:? (?P<name>[\w.-]+)",
    ),
    make_row(
        MessageKind.NAME_FAILS,
        "Name or service not known",
        r"(?P<name>[\w-]+(?:\.[\w-]+)+)?[^\w.]*Name or service not known",
    ),
    make_row(
        MessageKind.NAME_FAILS,
        "emporary failure in name resolution",
        r"(?P<name>[\w-]+(?:\.[\w-]+)+)?[^\w.]*[Tt]emporary failure in name res",
    ),
    make_row(MessageKind.NAME_FAILS, "unknown host", r"unknown host (?P<name>[\w.-]+)"),
    make_row(MessageKind.NAME_FAILS, "bad address '", r"bad address '(?P<name>[\w.-]+)'"),
    make_row(
        MessageKind.NAME_FAILS,
        "server can't find ",
        r"server can't find (?P<name>[\w.-]+?)\.?: (?:NXDOMAIN|SERVFAIL|REFUSED)",
    ),
    make_row(
        MessageKind.NAME_FAILS,
        "no such host",
        r"lookup (?P<name>[\w.-]+?)\.?(?: on \S+)?: no such host",
    ),
    make_row(
        MessageKind.NAME_FAILS,
        "getaddrinfo E",
        r"getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (?P<name>[\w.-]+)",
    ),
    make_row(
        MessageKind.ANSWERED_BY_CLUSTER,
        "ns.dns.",
        r"\bIN\s+SOA\s+ns\.dns\.(?P<name>[\w.-]+?)\.? hostmaster\.",
    ),
    make_row(
        MessageKind.RESOLV_CONF_LIMIT,
        "imits were exceeded",
        (
            r"(?P<limit>Nameserver|Search Line|Search line) limits were exceeded.*?"
            r"(?:applied \w+ line is:? (?P<applied>[^\"]+))?$"
        ),
    ),
    make_row(
        MessageKind.RESOLV_CONF_MISSING,
        "resolv.conf: no such file",
        r"open (?P<file>/\S*resolv\.conf): no such file",
    ),
)
