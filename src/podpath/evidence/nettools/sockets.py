"""`ss` and `netstat`: sockets, listening or connected, by the words of their lines.

`netstat` prints service names without `-n`; the few that matter here are read back, another one
leaves the port unknown.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample, share
from podpath.evidence.node_records import SocketRecord
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_address, parse_number
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.provenance import Source
from podpath.net.statements import ListenQueue

_SS_HEADING = re.compile(
    r"\s*(?:Netid\s+)?State\s+Recv-Q\s+Send-Q\s+Local Address:Port\s+Peer Address:Port"
)
_NETSTAT_HEADING = re.compile(r"\s*Proto\s+Recv-Q\s+Send-Q\s+Local Address\s+Foreign Address")
_TITLE = re.compile(
    r"\s*Active (?:Internet connections|UNIX domain sockets)|\s*Proto\s+RefCnt\s+Flags|"
    r"\s*RTNETLINK answers: "
)
_SUMMARY = re.compile(
    r"\s*(?:Total: \d+(?: \(kernel \d+\))?|TCP:\s+\d+ \(.*|Transport\s+Total\s+IP\s+IPv6|"
    r"(?:\*|RAW|UDP|TCP|INET|FRAG)(?:\s+[\d-]+){3})\s*$"
)
"""`ss -s`: how many sockets of each kind there are, which says nothing about a path."""
_SS_STATES = (
    "LISTEN|UNCONN|ESTAB|SYN-SENT|SYN-RECV|FIN-WAIT-1|FIN-WAIT-2|TIME-WAIT|CLOSE-WAIT|LAST-ACK|"
    "CLOSING|CLOSED|UNKNOWN"
)
_NETSTAT_STATES = (
    "LISTEN|ESTABLISHED|SYN_SENT|SYN_RECV|FIN_WAIT[12]|TIME_WAIT|CLOSE|CLOSE_WAIT|LAST_ACK|CLOSING|"
    "UNKNOWN|[0-9]"
)
_END = r"(?:\[[^\]\s]*\]|[^\s\[\]]*?)(?:%[^\s:]+)?:(?:\*|[\w-]+)"
_SS = re.compile(
    rf"\s*(?:(?P<netid>tcp|udp|udpl|sctp|dccp|raw|icmp6)\s+)?(?P<state>{_SS_STATES})\s+"
    rf"(?P<waiting>\d+)\s+(?P<backlog>\d+)\s+(?P<local>{_END})(?:\s*|\s+(?P<rest>.*))$"
)
_NETSTAT = re.compile(
    r"\s*(?P<netid>tcp|udp|udplite|sctp|raw)(?P<six>6?)\s+\d+\s+\d+\s+(?P<local>\S+)\s+"
    rf"(?P<peer>\S+)(?:\s+(?P<state>{_NETSTAT_STATES}))?"
    r"(?=\s|$)\s*(?P<rest>.*)$"
)
_OTHER = re.compile(r"\s*(?:u_str|u_dgr|u_seq|nl|p_raw|p_dgr|v_str|v_dgr|ti_\w+|xdp|mptcp|unix)\s")
_DETAIL = re.compile(
    r"\s+(?:users:\(|uid:\d|ino:\d|skmem:|timer:|cgroup:|cubic|bbr|reno|ts sack|rto:|v6only:"
    r"|inet-sockopt:)"
)
_OPTIONS = re.compile(r"inet-sockopt: \((?P<set>[^)]*)\)")
"""The options that are set on a socket (`ss --inet-sockopt`)."""
_LOCAL = re.compile(r"(?:\[(?P<v6>[^\]]*)\]|(?P<bare>.*?))(?:%(?P<link>[^\s:]+))?:(?P<port>[^:]+)")
_TELLS_FAMILIES = re.compile(r"\s0\.0\.0\.0(?:%[^\s:]+)?:")
"""What only those versions of ss print that tell a socket of both families (`*`) from one of IPv6
alone (`[::]`): older ones print `*` for IPv4, and some of them `[::]` for either (CentOS 7's).
"""
_PROCESS = re.compile(r'users:\(\("(?P<ss>[^"]*+)"|(?<!\S)\d++/(?P<netstat>\S.*)')
_STATES = {
    "ESTABLISHED": "ESTAB", "SYN_SENT": "SYN-SENT", "SYN_RECV": "SYN-RECV",
    "FIN_WAIT1": "FIN-WAIT-1", "FIN_WAIT2": "FIN-WAIT-2", "TIME_WAIT": "TIME-WAIT",
    "CLOSE": "CLOSED", "CLOSE_WAIT": "CLOSE-WAIT", "LAST_ACK": "LAST-ACK",
}  # fmt: skip
"""netstat's names for what ss calls otherwise."""
_SERVICES = {
    "ssh": 22, "telnet": 23, "smtp": 25, "domain": 53, "bootps": 67, "bootpc": 68, "http": 80,
    "kerberos": 88, "sunrpc": 111, "ntp": 123, "snmp": 161, "bgp": 179, "ldap": 389, "https": 443,
    "syslog": 514, "ldaps": 636, "mysql": 3306, "postgresql": 5432, "mdns": 5353, "http-alt": 8080,
}  # fmt: skip
"""Names of /etc/services (IANA)."""
_IDENTIFIERS = {"udpl": "udplite", "icmp6": "icmpv6", "raw": "all"}
_EXPECTED = "a socket"


class SocketAddress(NamedTuple):
    """One end of a socket."""

    address: Address | None
    port: int | None
    link: str | None


def recognise(source: Source) -> int:
    """Recognize a heading of ss or netstat, or rows of theirs."""
    lines = sample(source)
    if any(_SS_HEADING.match(line) or _NETSTAT_HEADING.match(line) for line in lines[:12]):
        return CERTAIN
    if any(_SUMMARY.match(line) for line in lines[:2]) and share(lines, _SUMMARY) >= 0.5:
        return CERTAIN
    if max(share(lines, _SS), share(lines, _NETSTAT)) < 0.5:
        return NO
    return CERTAIN if parse_command(source.command).program in {"ss", "netstat"} else LIKELY + 20


def read(source: Source) -> Reading:
    """Read sockets of IP protocols; others are listed as headings, since they say nothing about a
    path.
    """
    ledger = Ledger(source)
    asked = _asked_protocol(source)
    apart = any(_TELLS_FAMILIES.search(line) for _, line in plain_lines(source))
    last: int | None = None
    for index, line in plain_lines(source):
        if any(
            pattern.match(line)
            for pattern in (_SS_HEADING, _NETSTAT_HEADING, _TITLE, _SUMMARY, _OTHER)
        ):
            ledger.head(index)
            last = None
        elif (found := _SS.match(line) or _NETSTAT.match(line)) is not None:
            last = index if _add(ledger, index, found, asked, apart=apart) else None
        elif last is not None and _DETAIL.match(line):
            ledger.replace_span(ledger.span(last, index))
            _add_options(ledger, line)
        elif line.strip():
            last = None
            ledger.title(index)
    return ledger.close(_EXPECTED)


def _asked_protocol(source: Source) -> int | None:
    """Return the protocol that the command asks for: `ss -t` does not print it."""
    letters = "".join(
        word
        for word in parse_command(source.command).arguments
        if re.fullmatch(r"-[a-zA-Z0-9]+|--(?:tcp|udp|sctp)", word)
    )
    shown = {
        number
        for letter, number in (("t", protocols.TCP), ("u", protocols.UDP), ("S", protocols.SCTP))
        if letter in letters
    }
    return shown.pop() if len(shown) == 1 else None


def _add(
    ledger: Ledger, index: int, found: re.Match[str], asked: int | None, *, apart: bool
) -> bool:
    state = found["state"] or "UNCONN"
    try:
        protocol = _protocol(found["netid"], state, asked)
        local = found["local"]
        if "six" in found.groupdict() or not apart:  # netstat without -n has brackets as well
            local = local.replace("[::]", "::")
        end = read_end(local)
    except ValueError as error:
        ledger.gap(index, str(error))
        return False
    process = _PROCESS.search(found["rest"] or "")
    if (
        state == "LISTEN"
        and int(found.groupdict().get("waiting", "0")[:9])
        and end.port is not None
    ):
        queue = ListenQueue(end.port, int(found["waiting"][:9]), int(found["backlog"][:9]))
        ledger.add(StatementRecord(span=ledger.span(index), statement=queue))
    ledger.add(
        SocketRecord(
            span=ledger.span(index),
            protocol=protocol,
            state=read_state(state),
            local=end.address,
            port=end.port,
            link=end.link,
            process=(process["ss"] or process["netstat"].rstrip()) if process is not None else None,
        )
    )
    return True


def _add_options(ledger: Ledger, line: str) -> None:
    """Note on the last socket what its options say."""
    found, socket = _OPTIONS.search(line), ledger.records[-1]
    if found is not None and isinstance(socket, SocketRecord):
        shown = "transparent" in found["set"].split()
        ledger.records[-1] = replace(socket, transparent=shown)


def _protocol(netid: str | None, state: str, asked: int | None) -> int:
    if netid is not None:
        return protocols.protocol_number(_IDENTIFIERS.get(netid, netid))
    if asked is not None:
        return asked
    if state == "UNCONN":
        raise ValueError(
            "expected the protocol of the socket (Netid), saw none, and the command does not tell"
        )
    return protocols.TCP


def read_state(name: str) -> str:
    """Return a state in the words of ss."""
    return _STATES.get(name, name)


def read_end(text: str) -> SocketAddress:
    """Read `10.0.0.1:80`, `[::]:80`, `:::80`, `*:80`, `127.0.0.53%lo:53`; any address of either
    family is None.
    """
    found = _LOCAL.fullmatch(text)
    if found is None:
        raise ValueError(f"expected ADDRESS:PORT, saw {text[:60]!r}")
    host = found["v6"] if found["v6"] is not None else found["bare"]
    address = None if host in {"*", ""} else parse_address(host)
    if host == "::" and found["v6"] is None:
        # What netstat and older versions of ss print for a socket of both families as well.
        address = None
    name = found["port"]
    port = parse_number(name) if name.isdigit() else _SERVICES.get(name)
    return SocketAddress(address, port if port is None or port <= 65535 else None, found["link"])


FORMAT = Format("ss", recognise, read)
