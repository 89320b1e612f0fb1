"""What captures show, narrowed to the connections that somebody asks about, with all that belongs
to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from podpath.capture.connections import CapturedFlow, Endpoint, Traffic, gather_traffic
from podpath.capture.frames import is_error
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.node.case import Case, Sighting

_SPELLING = re.compile(
    r"(?:(?P<protocol>tcp|udp|sctp|icmp)\s+)?(?P<one>(?!(?:tcp|udp|sctp|icmp)\s)\S+?)"
    r"(?:\s*(?:->|<->|>|,)\s*|\s+)"
    r"(?P<other>\S+)|(?:(?P<alone_protocol>tcp|udp|sctp|icmp)\s+)?(?P<alone>\S+)",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<four>\d+\.\d+\.\d+\.\d+))?"
    r"(?:(?:^|[:.])(?P<port>\d{1,5}))?|(?P<bare>[0-9a-fA-F:.]+)"
)


class FilterEnd(NamedTuple):
    """One end that is asked about."""

    address: Address | None
    """None: any."""
    port: int
    """0: any."""

    def fits(self, end: Endpoint) -> bool:
        """Tell whether an end of a connection is this one."""
        return (self.address is None or self.address == end[0]) and self.port in (0, end[1])


class ConnectionFilter(NamedTuple):
    """The connections that are asked about: one between both ends, in either direction."""

    protocol: int | None
    one: FilterEnd
    other: FilterEnd

    def fits(self, flow: CapturedFlow[Sighting]) -> bool:
        """Tell whether a connection is asked about, as one point shows it."""
        if self.protocol not in (None, flow.protocol):
            return False
        forth = self.one.fits(flow.client) and self.other.fits(flow.server)
        return forth or (self.one.fits(flow.server) and self.other.fits(flow.client))

    def fits_words(self, words: str) -> bool:
        """Tell whether a connection is asked about, by its words: `tcp 10.0.0.1:1024 >
        10.0.0.2:80`.
        """
        name, near, _, far = words.split(" ")
        if self.protocol not in (None, protocols.protocol_number(name)):
            return False
        ends = [
            (end.address, end.port)
            for end in (parse_end(near), parse_end(far))
            if end.address is not None
        ]
        first, second = ends
        return (self.one.fits(first) and self.other.fits(second)) or (
            self.one.fits(second) and self.other.fits(first)
        )


class Wanted(Protocol):
    """What says which connections are asked about."""

    @property
    def one(self) -> FilterEnd:
        """An end of each of them."""

    @property
    def other(self) -> FilterEnd:
        """The other end."""

    def fits(self, flow: CapturedFlow[Sighting]) -> bool:
        """Tell whether a connection is asked about, as one point shows it."""

    def fits_words(self, words: str) -> bool:
        """Tell whether a connection is asked about, by its words."""


ANY = FilterEnd(None, 0)


def parse_wanted(text: str) -> ConnectionFilter:
    """Read `tcp 10.0.0.1:1024 > 10.0.0.2:80`, or less: an address, a port (`:80`), two ends;
    `UsageError` where it is none.
    """
    found = _SPELLING.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"expected a connection such as 'tcp 10.0.0.1:1024 > 10.0.0.2:80', saw {text!r}"
        )
    name = found["protocol"] or found["alone_protocol"]
    ends = [parse_end(part) for part in (found["one"], found["other"], found["alone"]) if part]
    return ConnectionFilter(
        protocols.protocol_number(name) if name else None,
        ends[0],
        ends[1] if len(ends) > 1 else ANY,
    )


def parse_end(text: str) -> FilterEnd:
    """Read an address, `ADDRESS:PORT`, tcpdump's `ADDRESS.PORT`, or `:PORT`."""
    found = _END.fullmatch(text)
    try:
        if found is not None and (found["six"] or found["four"] or found["port"]):
            address = found["six"] or found["four"]
            port = int(found["port"] or 0)
            if port < 1 << 16:
                return FilterEnd(Address.parse(address) if address else None, port)
        return FilterEnd(Address.parse(text), 0)
    except ValueError:
        raise UsageError(f"expected an address with or without a port, saw {text!r}") from None


def narrow(case: Case, wanted: Sequence[Wanted]) -> Case:
    """Keep what belongs to the connections: at every point, under every address, with ARP and ICMP
    errors about their ends; what was lost of one that fits also where no packet of it is shown.

    `UsageError` where no connection fits one of the words.
    """
    traffic = gather_traffic(case.sightings)
    chosen = list(traffic.flows)
    for one in wanted:
        chosen = [flow for flow in chosen if one.fits(flow)]
    chosen = _with_kin(chosen, traffic)
    words = {flow.words for flow in chosen}
    lost = tuple(
        one
        for one in case.lost
        if one.connection in words or _is_asked_about(one.connection, wanted)
    )
    if not chosen and not lost:
        shown = _examples(traffic.flows)
        raise UsageError(f"no connection in the captures fits; they show {shown}")
    frames = {id(seen) for flow in chosen for seen in (*flow.forward, *flow.backward)}
    ends = {end[0] for flow in chosen for end in (flow.client, flow.server)}
    kept = tuple(
        seen
        for seen in case.sightings
        if id(seen) in frames or (is_error(seen.packet) and seen.packet.dst in ends)
    )
    return replace(
        case,
        sightings=kept,
        arps=tuple(arp for arp in case.arps if arp.sender in ends or arp.target in ends),
        lost=lost,
    )


def _is_asked_about(words: str, wanted: Iterable[Wanted]) -> bool:
    """Tell whether a connection fits all that is asked about, by its words."""
    return all(each.fits_words(words) for each in wanted)


def _with_kin(
    chosen: Sequence[CapturedFlow[Sighting]], traffic: Traffic[Sighting]
) -> list[CapturedFlow[Sighting]]:
    """Add the same connections under other addresses, and what answers their clients in somebody
    else's name.
    """
    wanted = {id(flow) for flow in chosen}
    known = set(wanted)
    for connection in traffic.connections:
        members = {id(flow) for flow in connection.flows}
        if members & wanted:
            known |= members
    tcp = [flow for flow in traffic.flows if flow.protocol == protocols.TCP]
    clients = {flow.client for flow in tcp if id(flow) in known}
    known |= {id(flow) for flow in tcp if flow.client in clients}
    return [flow for flow in traffic.flows if id(flow) in known]


def _examples(flows: Iterable[CapturedFlow[Sighting]]) -> str:
    words = list(dict.fromkeys(flow.words for flow in flows))
    if not words:
        return "none"
    return ", ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else "")
