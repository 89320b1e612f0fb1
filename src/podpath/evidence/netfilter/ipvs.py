"""Reads `ipvsadm -Ln`, with statistics or without: virtual services and the real servers behind
each.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.net.addresses import Address
from podpath.net.firewall import ForwardingMethod, RealServer, VirtualServer
from podpath.net.provenance import Source

_END = r"(?:\[(?P<v6>[0-9a-fA-F:]+)\]|(?P<v4>\d+(?:\.\d+){3})):(?P<port>\d+)"
_VIRTUAL = re.compile(rf"\s*(?P<protocol>TCP|UDP|SCTP)\s+{_END}(?:\s.*)?")
_REAL = re.compile(
    rf"\s*->\s+{_END}\s+(?P<method>Masq|Route|Tunnel|Local)\s+(?P<weight>\d+)"
    r"(?:\s+(?P<active>\d+)\s+(?P<inactive>\d+))?(?:\s.*)?"
)
_REAL_PLAIN = re.compile(rf"\s*->\s+{_END}(?:\s.*)?")
_HEADING = re.compile(
    r"\s*(?:IP Virtual Server version.*|Prot LocalAddress:Port.*|->\s+RemoteAddress:Port.*)"
)


class _Open(NamedTuple):
    """A virtual service while its servers are read."""

    place: int
    protocol: str
    address: Address
    port: int
    weights: list[int]


def recognise(source: Source) -> int:
    """Recognize a virtual service, or the heading of the listing."""
    return (
        CERTAIN
        if any(_VIRTUAL.fullmatch(line) or _HEADING.fullmatch(line) for line in sample(source))
        else NO
    )


def read(source: Source) -> Reading:
    """Read each virtual service with the number and weight of its servers."""
    ledger = Ledger(source)
    current: _Open | None = None
    for index, line in enumerate(source.lines):
        virtual, real = (
            _VIRTUAL.fullmatch(line),
            _REAL.fullmatch(line) or _REAL_PLAIN.fullmatch(line),
        )
        if _HEADING.fullmatch(line):
            ledger.head(index)
        elif virtual is not None:
            _close(ledger, current)
            current = _Open(
                index, virtual["protocol"].lower(), _parse_end(virtual), int(virtual["port"]), []
            )
        elif real is not None and current is not None:
            found = _read_real(current, real)
            ledger.add(StatementRecord(span=ledger.span(index), statement=found))
            current.weights.append(1 if found.weight is None else found.weight)
    _close(ledger, current)
    return ledger.close("a virtual service or a real server")


FORMAT = Format("ipvsadm", recognise, read)


def _read_real(current: _Open, found: re.Match[str]) -> RealServer:
    cells = found.groupdict()
    counts = (
        int(text) if (text := cells.get(name)) else None
        for name in ("weight", "active", "inactive")
    )
    method = cells.get("method")
    return RealServer(
        current.protocol,
        current.address,
        current.port,
        _parse_end(found),
        int(found["port"]),
        ForwardingMethod(method) if method else None,
        *counts,
    )


def _parse_end(found: re.Match[str]) -> Address:
    try:
        return Address.parse(found["v6"] or found["v4"])
    except ValueError:
        return Address.parse("0.0.0.0")  # noqa: S104 - digits that are no address name none


def _close(ledger: Ledger, current: _Open | None) -> None:
    if current is not None:
        server = VirtualServer(
            current.protocol,
            current.address,
            current.port,
            len(current.weights),
            sum(current.weights),
        )
        ledger.add(StatementRecord(span=ledger.span(current.place), statement=server))
