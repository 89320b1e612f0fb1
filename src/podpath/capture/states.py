"""How a TCP connection went, in the vocabulary of Zeek's `conn_state`: what each word means, and
which one fits.
"""

from __future__ import annotations

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


def name_state(
    *,
    asked: bool,
    answered: bool,
    client_ends: bool,
    server_ends: bool,
    client_resets: bool,
    server_resets: bool,
) -> str:
    """Name the state by what was seen: SYN and SYN-ACK, FINs and resets of either side.

    A SYN-ACK that the client acknowledges counts as asked for: its SYN came before the capture. A
    reset after FINs of both sides is none.
    """
    both, alone, unasked = asked and answered, asked and not answered, answered and not asked
    resets = client_resets or server_resets
    rules = (
        (both and client_resets, "RSTO"),
        (both and server_resets, "RSTR"),
        (both and client_ends and server_ends, "SF"),
        (both and client_ends, "S2"),
        (both and server_ends, "S3"),
        (both, "S1"),
        (alone and server_resets, "REJ"),
        (alone and client_resets, "RSTOS0"),
        (alone and client_ends, "SH"),
        (alone, "S0"),
        (unasked and server_resets, "RSTRH"),
        (unasked and server_ends, "SHR"),
        (not asked and not resets and client_ends and server_ends, "SF"),
    )
    return next((name for holds, name in rules if holds), "OTH")
