"""Packets in a few words, as engineers call them: `SYN-ACK`, `data 1:1449`, `echo request 3`."""

from __future__ import annotations

from podpath.net.protocols import ACK, FIN, ICMP, ICMPV6, RST, SYN, TCP, protocol_name
from podpath_capture.matching.joined import Joined

ECHOES = {8: "echo request", 128: "echo request", 0: "echo reply", 129: "echo reply"}


def name_packet(joined: Joined, row: int, begin: int = 0, end: int = 0) -> str:
    """Name a packet, or bytes of one."""
    file, at = joined.place(row)
    columns = joined.columns[file]
    protocol, payload = int(columns.protocol[at]), int(columns.payload[at])
    if protocol == TCP:
        return _name_segment(int(columns.flags[at]), payload, begin, end)
    if protocol in {ICMP, ICMPV6}:
        return f"{ECHOES.get(int(columns.icmp_type[at]), 'ICMP')} {int(columns.seq[at])}"
    return f"{protocol_name(protocol).upper()} {payload}"


def _name_segment(flags: int, payload: int, begin: int, end: int) -> str:
    if flags & RST:
        return "RST"
    if flags & SYN:
        return "SYN-ACK" if flags & ACK else "SYN"
    if flags & FIN and end - begin <= 1:
        return "FIN"
    return f"data {begin}:{end}" if payload else "ACK"
