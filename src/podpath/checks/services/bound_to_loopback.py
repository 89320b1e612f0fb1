"""bound-to-loopback: a server is configured to listen only on loopback, so clients from elsewhere
are refused.

What it is
    A configuration says `listen 127.0.0.1:80`, `bind-address = 127.0.0.1`, `listen-on { 127.0.0.1;
    }` or similar, and a connection to another address of the same port is refused, or finds no
    listener.

Why it breaks
    A socket bound to loopback accepts packets only from its own network namespace. For everyone
    else the port is closed: TCP is refused. A kubelet's probe, a service and another container come
    from elsewhere.

How to confirm
    ss -lntup | grep PORT

How to fix
    Bind the server to the address that clients connect to, or to all (0.0.0.0, [::]), and let a
    firewall decide who may connect.

References
    ip(7); the program's manual
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.files import files_of
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import FailedConnection, failures
from podpath.net.addresses import read_address
from podpath.net.failures import FailureKind
from podpath.net.settings import Setting, SettingsFile
from podpath.node.case import Case

CATEGORIES = (Category.NO_LISTENER, Category.DNS_SERVER)
NAME = "bound-to-loopback"
BINDS = frozenset({
    "bind", "listen", "bind-address", "bind_address", "bindaddress", "listen_addresses",
    "listenaddress", "listen-address", "listen_address", "http.host", "network.host", "host",
    "http_addr", "address", "addr", "bind_addr", "net.bindip", "bindip", "healthzbindaddress",
    "metricsbindaddress", "server.address", "interface", "listen_addr",
})  # fmt: skip
PORTS = frozenset({"port", "listen_port", "http.port", "server.port", "net.port"})
_LOCAL = re.compile(
    r"(?:^|[/@])(?P<host>localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)(?::(?P<port>\d+))?$"
)
DNS = 53
_CLOSED = frozenset({FailureKind.REFUSED})


def check(case: Case) -> Iterator[Finding]:
    """Report servers that listen on loopback alone, where somebody was refused at another
    address.
    """
    refused = [one for one in failures(case) if one.result in _CLOSED and not one.dst.is_loopback]
    for file in case.files:
        for setting, port in _binds(file):
            asked = [one for one in refused if one.dport == port]
            if asked:
                yield _report(setting, asked[0], port)
    for file in files_of(case, "named", "unbound"):
        heads = (
            list(file.within("listen-on")) if file.kind == "named" else list(file.all("interface"))
        )
        words = [(one, one.name if file.kind == "named" else one.value) for one in heads]
        asked = [one for one in failures(case) if one.dport == DNS and not one.dst.is_loopback]
        if words and asked and all(_is_local(word) for _, word in words):
            yield _report(words[0][0], asked[0], DNS)


def _binds(file: SettingsFile) -> Iterator[tuple[Setting, int]]:
    """Yield settings that bind to loopback, with the port: their own, or the one that stands beside
    them.
    """
    ports = {one.path: one.value for one in file.settings if one.name.lower() in PORTS}
    for setting in file.settings:
        words = setting.words
        if setting.name.lower() not in BINDS or not words:
            continue
        found = [_LOCAL.search(word) for word in words[:3]]
        local = next((one for one in found if one is not None), None)
        if local is None or (
            len(words) > 1 and setting.name.lower() == "listen_addresses" and None in found
        ):
            continue
        port = local["port"] or ports.get(setting.path, "")
        if port.isdecimal():
            yield setting, int(port)


def _is_local(word: str) -> bool:
    address = read_address(word)
    return address is not None and address.is_loopback


def _report(setting: Setting, asked: FailedConnection, port: int) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The server on port {port} is configured for loopback only, but clients connect to "
            f"{asked.dst}."
        ),
        evidence=(setting.span, asked.span),
        reasoning=("A socket on loopback accepts nothing from another network namespace or host.",),
        breaks=(f"connections to port {port} from elsewhere",),
        prevention=(
            "State in the configuration which clients a server is for, and bind it accordingly."
        ),
        certainty=1.0,
        marks=(setting.value or setting.name,),
    )
