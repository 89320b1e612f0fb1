"""What each flow carried, how long it took, and what of it was sent again, for all flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.net.protocols import ACK, FIN, RST, SYN, TCP, UDP
from podpath_capture.arrays.segments import distinct
from podpath_capture.columns import PacketColumns
from podpath_capture.flows.flows import Flows
from podpath_capture.flows.tcp import (
    DUPLICATE_ACK,
    GAP,
    OUT_OF_ORDER,
    RETRANSMISSION,
    ZERO_WINDOW,
    analyse_segments,
)
from podpath_capture.flows.tcp_states import find_tcp_states

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
NAMES, DNS_HEADER = 53, 12
_SECOND = 1_000_000_000
_NEVER = np.iinfo(np.int64).max
_ECHO_REPLIES = (0, 129)


class FlowMeasures(NamedTuple):
    """One entry for each flow; arrays of pairs are of what the client sends, and the server."""

    turned: Mask
    """True where the flow's first packet is the server's."""
    state: tuple[str, ...]
    history: tuple[str, ...]
    first: Counts
    """Nanoseconds since the epoch, as in `duration`, `rtt` and `dns_latency`."""
    duration: Counts
    packets: Counts
    payload: Counts
    said: tuple[Counts, ...]
    """Retransmissions, out of order, duplicate ACKs, zero windows: pairs."""
    rtt: Counts
    """-1 where it is not known."""
    dns: Counts
    """Queries, answers, and those of them that say that the lookup failed."""
    dns_latency: Counts
    """-1 where no query is answered."""


def measure_flows(columns: PacketColumns, flows: Flows, data: Bytes | None) -> FlowMeasures:
    """Measure all flows; `data` is the file, where DNS can be read from it."""
    states = find_tcp_states(columns, flows)
    turned = _find_turned(columns, flows, states.tcp & ~states.client_is_first)
    rows = np.flatnonzero(flows.number >= 0)
    number = flows.number[rows]
    way = number * 2 + (flows.forward[rows] == turned[number])
    count = 2 * len(flows)

    def each(values: NDArray[np.generic] | None = None) -> Counts:
        weights = None if values is None else values.astype(np.float64)
        return np.bincount(way, weights, minlength=count).astype(np.int64).reshape(-1, 2)

    said = analyse_segments(columns, flows).said[rows]
    time = columns.time[rows]
    begin, end = np.full(len(flows), _NEVER), np.full(len(flows), -_NEVER)
    np.minimum.at(begin, number, time)
    np.maximum.at(end, number, time)
    signs = _find_signs(columns, rows, said)
    firsts = {letter: _find_first(mask, way, count) for letter, mask in signs.items()}
    once = (states.syns == 1) & (states.syn_acks == 1)
    dns, latency = _measure_names(columns, flows, data)
    return FlowMeasures(
        turned=turned,
        state=tuple(
            state if tcp else "" for state, tcp in zip(states.state, states.tcp, strict=True)
        ),
        history=tuple(_spell(firsts, turned)),
        first=begin,
        duration=end - begin,
        packets=each(),
        payload=each(columns.payload[rows]),
        said=tuple(
            each(said & np.uint8(bit) != 0)
            for bit in (RETRANSMISSION, OUT_OF_ORDER, DUPLICATE_ACK, ZERO_WINDOW)
        ),
        rtt=_measure_handshake(firsts, time, once),
        dns=dns,
        dns_latency=latency,
    )


def _find_turned(columns: PacketColumns, flows: Flows, known: Mask) -> Mask:
    """Tell which flows begin with a packet of the server: where no handshake tells, of two ports
    the lower one is the server's.
    """
    first = flows.first
    sport, dport = columns.sport[first], columns.dport[first]
    opens = columns.flags[first] & (SYN | ACK | RST | FIN) == SYN
    ports = np.isin(columns.protocol[first], (TCP, UDP)) & ~opens & (sport < dport)
    replies = ~np.isin(columns.protocol[first], (TCP, UDP)) & np.isin(
        columns.icmp_type[first], _ECHO_REPLIES
    )
    handshake = (columns.protocol[first] == TCP) & (columns.flags[first] & SYN != 0)
    turned: Mask = known | (~handshake & (ports | replies))
    return turned


def _find_signs(columns: PacketColumns, rows: Counts, said: NDArray[np.uint8]) -> dict[str, Mask]:
    """Tell which packets have which letter of a history."""
    flags, payload = columns.flags[rows], columns.payload[rows] > 0
    protocol = columns.protocol[rows]
    tcp = protocol == TCP
    opening = flags & (SYN | ACK | RST)
    again = said & np.uint8(RETRANSMISSION) != 0
    return {
        "S": tcp & (opening == SYN),
        "H": tcp & (opening == SYN | ACK),
        "A": tcp & (flags & (SYN | ACK | FIN | RST) == ACK) & ~payload,
        "D": payload & (flags & (SYN | RST) == 0),
        "F": tcp & (flags & FIN != 0),
        "R": tcp & (flags & RST != 0),
        "T": again & payload,
        "W": said & np.uint8(ZERO_WINDOW) != 0,
        "G": said & np.uint8(GAP) != 0,
    }


def _find_first(mask: Mask, way: Counts, count: int) -> Counts:
    """Return the place of the first such packet of each way; a number too large where there is
    none.
    """
    places = np.flatnonzero(mask)
    first = np.full(count, _NEVER)
    first[way[places][::-1]] = places[::-1]  # what is written last, stays
    return first


def _spell(firsts: dict[str, Counts], turned: Mask) -> Iterator[str]:
    """Spell the history of each flow."""
    letters = [(letter, lower) for letter in firsts for lower in (False, True)]
    places = np.stack([firsts[letter][lower::2] for letter, lower in letters], axis=1)
    spelled = [letter.lower() if lower else letter for letter, lower in letters]
    order = np.argsort(places, axis=1, kind="stable")
    known = (places < _NEVER).sum(axis=1)
    for mine, shown, begins in zip(order.tolist(), known.tolist(), turned.tolist(), strict=True):
        yield "^" * begins + "".join(spelled[at] for at in mine[:shown])


def _measure_handshake(firsts: dict[str, Counts], time: Counts, once: Mask) -> Counts:
    """Return the time from the SYN to the client's first ACK of the SYN-ACK."""
    asked, answered = firsts["S"][0::2], firsts["H"][1::2]
    taken = np.minimum(firsts["A"][0::2], firsts["D"][0::2])
    found = once & (asked < answered) & (answered < taken) & (taken < _NEVER)
    rtt = np.full(len(once), -1)
    rtt[found] = time[taken[found]] - time[asked[found]]
    return rtt


def _measure_names(
    columns: PacketColumns, flows: Flows, data: Bytes | None
) -> tuple[Counts, Counts]:
    """Count the queries, answers and failures of each flow, and time the answers."""
    counts, latency = np.zeros((len(flows), 3), np.int64), np.full(len(flows), -1)
    asks = (columns.sport == NAMES) | (columns.dport == NAMES)
    whole = columns.caplen >= columns.data_at.astype(np.uint32) + DNS_HEADER
    rows = np.flatnonzero(
        asks & whole & (columns.protocol == UDP) & (flows.number >= 0) & (columns.payload > 0)
    )
    if data is None or not len(data) or not len(rows):
        return counts, latency
    at = columns.offset[rows] + columns.data_at[rows]
    answers, failed = data[at + 2] & 0x80 != 0, data[at + 3] & 0x0F != 0
    number = flows.number[rows].astype(np.int64)
    for place, mask in enumerate((~answers, answers, answers & failed)):
        counts[:, place] = np.bincount(number[mask], minlength=len(flows))
    words = number << 16 | data[at].astype(np.int64) << 8 | data[at + 1]
    time = columns.time[rows]
    asked, first = np.unique(words[~answers], return_index=True)
    given, reply = np.unique(words[answers], return_index=True)
    both = distinct(np.concatenate((asked, given)))
    both = both[np.isin(both, asked) & np.isin(both, given)]
    waited = (
        time[answers][reply[given.searchsorted(both)]]
        - time[~answers][first[asked.searchsorted(both)]]
    )
    np.maximum.at(latency, both >> 16, waited)
    return counts, latency
