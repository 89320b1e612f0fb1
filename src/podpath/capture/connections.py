"""How each TCP connection went, as one capture point shows it, in the vocabulary of Zeek's `conn_state`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import Columns
from podpath.capture.flows import Flows
from podpath.net.protocols import ACK, FIN, RST, SYN, TCP

Counts = NDArray[np.int64]
NOTHING, ASKED, ANSWERED, COMPLETE = 0, 1, 2, 3
"""How far a handshake came: no SYN, a SYN, a SYN-ACK too, the client's acknowledgement too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """One row for each flow; flows that are no TCP are `OTH`."""

    tcp: NDArray[np.bool_]
    state: tuple[str, ...]
    handshake: NDArray[np.uint8]
    client_is_first: NDArray[np.bool_]
    """True where the flow's first packet is the client's, as far as SYN and SYN-ACK tell."""
    syns: Counts
    syn_acks: Counts
    client_resets: Counts
    server_resets: Counts


def follow_connections(columns: Columns, flows: Flows) -> Connections:
    """Say of each flow how far it came and who ended it."""
    count = len(flows)
    tcp = (columns.protocol == TCP) & (flows.number >= 0)
    rows = np.flatnonzero(tcp)
    flow, forward, flags = flows.number[rows], flows.forward[rows], columns.flags[rows]

    def each(mask: NDArray[np.bool_]) -> Counts:
        return np.bincount(flow[mask], minlength=count)

    opening = flags & (SYN | ACK | RST)
    asks, answers = opening == SYN, opening == SYN | ACK
    backward_client = (each(asks & forward) == 0) & ((each(asks & ~forward) > 0) | (each(answers & forward) > 0))
    client = forward != backward_client[flow]
    syns, syn_acks = each(asks & client), each(answers & ~client)
    acked = np.zeros(count, np.bool_)
    acked[flow[client & (flags & (ACK | SYN | RST) == ACK)]] = True
    resets, ends = flags & RST != 0, flags & FIN != 0
    facts = _Facts(syns > 0, syn_acks > 0, each(ends & client) > 0, each(ends & ~client) > 0, each(resets & client) > 0,
                   each(resets & ~client) > 0)  # fmt: skip
    handshake = np.where(
        facts.syn & facts.answer & acked, COMPLETE, np.where(facts.answer, ANSWERED, np.where(facts.syn, ASKED, 0))
    )
    return Connections(
        tcp=each(np.ones(len(rows), np.bool_)) > 0,
        state=facts.states(),
        handshake=handshake.astype(np.uint8),
        client_is_first=~backward_client,
        syns=syns,
        syn_acks=syn_acks,
        client_resets=each(resets & client),
        server_resets=each(resets & ~client),
    )


@dataclass(frozen=True, slots=True)
class _Facts:
    """What was seen of each flow. Local to `follow_connections`."""

    syn: NDArray[np.bool_]
    answer: NDArray[np.bool_]
    client_fin: NDArray[np.bool_]
    server_fin: NDArray[np.bool_]
    client_reset: NDArray[np.bool_]
    server_reset: NDArray[np.bool_]

    def states(self) -> tuple[str, ...]:
        """Name the state of each flow."""
        both, alone, unasked = self.syn & self.answer, self.syn & ~self.answer, ~self.syn & self.answer
        ended = self.client_fin & self.server_fin
        rules = [
            (both & self.client_reset, "RSTO"), (both & self.server_reset, "RSTR"), (both & ended, "SF"),
            (both & self.client_fin, "S2"), (both & self.server_fin, "S3"), (both, "S1"),
            (alone & self.server_reset, "REJ"), (alone & self.client_reset, "RSTOS0"), (alone & self.client_fin, "SH"),
            (alone, "S0"), (unasked & self.server_reset, "RSTRH"), (unasked & self.server_fin, "SHR"),
        ]  # fmt: skip
        return tuple(np.select([mask for mask, _ in rules], [name for _, name in rules], "OTH").tolist())
