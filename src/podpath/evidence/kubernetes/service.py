"""Ports and endpoints of a Service as kubectl spells them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from podpath.evidence.attempts.failures import parse_host
from podpath.evidence.kubernetes.records import ServicePortRecord
from podpath.net import protocols
from podpath.net.addresses import Address

NOT_LISTED = -1
"""How many endpoints a table of services leaves out: it shows none at all."""
_PORT = re.compile(r"(?P<name>\S+)?\s*(?P<port>\d+)/(?P<protocol>TCP|UDP|SCTP)", re.IGNORECASE)
_LISTED = re.compile(r"(?P<port>\d+)(?::(?P<node>\d+))?/(?P<protocol>TCP|UDP|SCTP)", re.IGNORECASE)
_ENDPOINT = re.compile(
    r"(?P<host>\[[0-9a-fA-F:.]+\]|\d+\.\d+\.\d+\.\d+|[0-9a-fA-F:]*:[0-9a-fA-F:]+):(?P<port>\d+)"
)
_MORE = re.compile(r"\+\s*(?P<more>\d+)\s+more")


def make_ports(
    rows: Iterable[tuple[str, str]],
) -> tuple[tuple[ServicePortRecord, ...], tuple[str, ...]]:
    """Put the `Port`, `TargetPort`, `NodePort` and `Endpoints` rows of a described Service
    together; give what is not read, too.
    """
    ports: list[ServicePortRecord] = []
    unread: list[str] = []
    for key, value in rows:
        if key == "Port":
            found = _PORT.search(value)
            if found is None:
                unread.append(value)
                continue
            name = found["name"] if found["name"] not in {None, "<unset>"} else None
            protocol = protocols.protocol_number(found["protocol"])
            ports.append(
                ServicePortRecord(name, protocol, int(found["port"]) & 0xFFFF, None, None, (), 0)
            )
        elif not ports:
            unread.append(value)
        else:
            ports[-1] = _amend(ports[-1], key, value)
    return tuple(ports), tuple(text for text in unread if text)


def _amend(port: ServicePortRecord, key: str, value: str) -> ServicePortRecord:
    if key == "TargetPort":
        return port._replace(target=value.partition("/")[0].split()[-1] if value.strip() else None)
    if key == "NodePort":
        found = _PORT.search(value)
        return port if found is None else port._replace(node_port=int(found["port"]))
    endpoints, more = parse_endpoints(value)
    return port._replace(endpoints=endpoints, more=more)


def parse_endpoints(text: str) -> tuple[tuple[tuple[Address, int], ...], int]:
    """Read `10.0.0.1:80,10.0.0.2:80 + 7 more...`: the endpoints, and how many are left out."""
    found = []
    for hit in _ENDPOINT.finditer(text):
        address = parse_host(hit["host"])
        if address is not None:
            found.append((address, int(hit["port"]) & 0xFFFF))
    more = _MORE.search(text)
    elided = 1 if more is None and text.rstrip().endswith(("...", "\u2026")) else 0
    return tuple(found), int(more["more"]) if more is not None else elided


def parse_listed_ports(text: str) -> Iterator[ServicePortRecord]:
    """Read the `PORT(S)` cell of `kubectl get svc`: `80:30080/TCP,443/TCP`."""
    for found in _LISTED.finditer(text):
        node = int(found["node"]) if found["node"] else None
        number = protocols.protocol_number(found["protocol"])
        yield ServicePortRecord(
            None, number, int(found["port"]) & 0xFFFF, None, node, (), NOT_LISTED
        )
