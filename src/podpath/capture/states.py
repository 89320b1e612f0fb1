"""How a TCP connection went, in the vocabulary of Zeek's `conn_state`: what each word means, and
which one fits a talk.
"""

from __future__ import annotations

from podpath.capture.observations import F, Talk
from podpath.net import protocols

STATES: dict[str, str] = {
    "OTH": "no SYN seen",
    "S0": "a SYN, and no answer",
    "REJ": "a SYN, reset by the server",
    "RSTOS0": "a SYN, then a reset of the client, and no SYN-ACK",
    "SH": "a SYN, then a FIN of the client, and no SYN-ACK",
    "RSTRH": "a SYN-ACK, then a reset of the server, and no SYN",
    "SHR": "a SYN-ACK, then a FIN of the server, and no SYN",
    "S1": "established, not ended",
    "S2": "established, ended by the client alone",
    "S3": "established, ended by the server alone",
    "SF": "established and ended",
    "RSTO": "established, reset by the client",
    "RSTR": "established, reset by the server",
}
"""What each state means."""


def state_of(talk: Talk[F]) -> str:
    """Name the state of a TCP connection as one point shows it."""
    asked, answered = bool(talk.syns), bool(talk.syn_acks)
    by_client, by_server = (
        _have(frames, protocols.RST) for frames in (talk.forward, talk.backward)
    )
    client_ends, server_ends = (
        _have(frames, protocols.FIN) for frames in (talk.forward, talk.backward)
    )
    both, alone, unasked = asked and answered, asked and not answered, answered and not asked
    rules = (
        (both and by_client, "RSTO"),
        (both and by_server, "RSTR"),
        (both and client_ends and server_ends, "SF"),
        (both and client_ends, "S2"),
        (both and server_ends, "S3"),
        (both, "S1"),
        (alone and by_server, "REJ"),
        (alone and by_client, "RSTOS0"),
        (alone and client_ends, "SH"),
        (alone, "S0"),
        (unasked and by_server, "RSTRH"),
        (unasked and server_ends, "SHR"),
    )
    return next((name for holds, name in rules if holds), "OTH")


def _have(frames: list[F], flag: int) -> bool:
    return any(seen.packet.flags & flag for seen in frames)
