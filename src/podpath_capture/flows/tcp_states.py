"""How each TCP connection went, as one capture point shows it, in the vocabulary of Zeek's
`conn_state`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.capture.states import STATES, name_state
from podpath.net.protocols import ACK, FIN, RST, SYN, TCP
from podpath_capture.columns import PacketColumns
from podpath_capture.flows.flows import Flows

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
NOTHING, ASKED, ANSWERED, COMPLETE = 0, 1, 2, 3
"""How far a handshake came: no SYN, a SYN, a SYN-ACK too, the client's acknowledgement too."""
WORDS = tuple(STATES)
"""The words for the states."""
SLAB = 1 << 15
"""Packets that are looked at together: what is worked on stays in the processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpStates:
    """One row for each flow; flows that are no TCP are `OTH`."""

    tcp: NDArray[np.bool_]
    word: NDArray[np.uint8]
    """The place of its state in `WORDS`."""
    handshake: NDArray[np.uint8]
    client_is_first: NDArray[np.bool_]
    """True where the flow's first packet is the client's, as far as SYN and SYN-ACK tell."""
    syns: Counts
    syn_acks: Counts
    client_resets: Counts
    server_resets: Counts

    @property
    def state(self) -> tuple[str, ...]:
        """The state of each, by its word."""
        return tuple(WORDS[place] for place in self.word.tolist())


def find_tcp_states(columns: PacketColumns, flows: Flows) -> TcpStates:
    """Say of each flow how far it came and who ended it."""
    seen = _count_signs(columns, flows)
    asks, answers = seen.asks, seen.answers
    backward_client = (asks[:, 0] == 0) & ((asks[:, 1] > 0) | (answers[:, 0] > 0))
    ways = np.arange(0, 2 * len(flows), 2)
    client, server = ways + backward_client, ways + ~backward_client
    syns, syn_acks = asks.take(client), answers.take(server)
    client_resets, server_resets = seen.resets.take(client), seen.resets.take(server)
    asked, answered, ended = syns > 0, syn_acks > 0, seen.ends > 0
    acknowledged = answered & _acknowledging_ways(columns, flows).take(client)
    handshake = np.select(
        [asked & acknowledged, answered, asked], [COMPLETE, ANSWERED, ASKED], NOTHING
    )
    facts = (
        asked | acknowledged,
        answered,
        ended.take(client),
        ended.take(server),
        seen.aborts.take(client),
        seen.aborts.take(server),
    )
    place = sum(fact.astype(np.int64) << bit for bit, fact in enumerate(facts))
    return TcpStates(
        tcp=columns.protocol[flows.first] == TCP,
        word=_STATES.take(place),
        handshake=handshake.astype(np.uint8),
        client_is_first=~backward_client,
        syns=syns,
        syn_acks=syn_acks,
        client_resets=client_resets,
        server_resets=server_resets,
    )


class _SignCounts(NamedTuple):
    """How many packets of each flow do what: those the way of its first packet, and the others."""

    asks: Counts
    answers: Counts
    resets: Counts
    ends: Counts
    aborts: Mask
    """Whether a reset of that way ends the connection, instead of FINs of both sides."""


def _count_signs(columns: PacketColumns, flows: Flows) -> _SignCounts:
    """Count the packets that open, answer, reset and end, by their flow and way."""
    telling = columns.flags & (SYN | FIN | RST) != 0
    rows = np.flatnonzero(telling & (columns.protocol == TCP) & (flows.number >= 0))
    way = flows.number.take(rows) * 2 + ~flows.forward.take(rows)
    flags = columns.flags.take(rows)

    def each(mask: Mask) -> Counts:
        ways = way.take(np.flatnonzero(mask))
        return np.bincount(ways, minlength=2 * len(flows)).reshape(-1, 2)

    opening = flags & (SYN | ACK | RST)
    return _SignCounts(
        asks=each(opening == SYN),
        answers=each(opening == SYN | ACK),
        resets=each(flags & RST != 0),
        ends=each(flags & FIN != 0),
        aborts=_find_aborts(flags, way, rows, len(flows)),
    )


def _find_aborts(
    flags: NDArray[np.uint8], way: NDArray[np.int32], rows: Counts, count: int
) -> Mask:
    """Tell for both ways of each flow whether it resets the connection: a reset behind its own FIN
    does not where the other side sends a FIN, too, which no reset of its own comes before.
    """
    never = np.iinfo(np.int64).max
    ended, reset = (np.full(2 * count, never) for _ in range(2))
    for first, bit in ((ended, FIN), (reset, RST)):
        mine = np.flatnonzero(flags & (bit | RST) == bit)
        first[way[mine][::-1]] = rows[mine][::-1]  # what is written last, stays
    closed = (ended < reset).reshape(-1, 2)
    both = closed[:, 0] & closed[:, 1]
    aborts: Mask = (reset < never).reshape(-1, 2) & ~np.stack((both, both), axis=1)
    return aborts


def _acknowledging_ways(columns: PacketColumns, flows: Flows) -> Mask:
    """Tell for both ways of each flow whether it has a packet that acknowledges, and opens or
    resets nothing.
    """
    seen = np.zeros(2 * len(flows) + 2, np.bool_)
    for start in range(0, len(columns), SLAB):
        slab = slice(start, start + SLAB)
        says = (columns.flags[slab] & (ACK | SYN | RST) == ACK) & (columns.protocol[slab] == TCP)
        way = (flows.number[slab].astype(np.int64) + 1) * 2 + ~flows.forward[slab]
        way *= says
        # those that do not, and what is of no flow, are written before the first flow's
        seen[way] = True
    return seen[2:]


def _place_states() -> NDArray[np.uint8]:
    """Return the place in `WORDS` of the state that each combination of a flow's facts has, which
    are the bits of its number.
    """
    places: list[int] = []
    for number in range(1 << len(_FACTS)):
        facts = {name: bool(number >> bit & 1) for bit, name in enumerate(_FACTS)}
        places.append(WORDS.index(name_state(**facts)))
    return np.array(places, np.uint8)


_FACTS = (
    "asked",
    "answered",
    "client_ends",
    "server_ends",
    "client_resets",
    "server_resets",
)
_STATES = _place_states()
