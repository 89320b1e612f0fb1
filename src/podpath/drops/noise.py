"""Which drops are the daily life of a healthy node, so that they are left out unless asked for.

A drop is left out only where the kernel's reason, with the packet that it freed, is how a protocol
ends or repeats something. Whatever is not listed here is shown; what is left out is counted.
"""

from __future__ import annotations

from podpath.drops.events import UNNAMED, DropKey
from podpath.net import protocols

DAILY: dict[str, str] = {
    "SKB_CONSUMED": "it was used up, not lost",
    "SOCKET_CLOSE": "a socket was closed with data unread",
    "SOCKET_FILTER": "a packet socket's filter did not want its copy",
    "UNIX_DISCONNECT": "a local socket was disconnected",
    "UNIX_SKIP_OOB": "a local socket skipped urgent data",
    "QUEUE_PURGE": "a queue was emptied",
    "TCP_CLOSE": "the connection is closed",
    "TCP_OLD_DATA": "a repetition of data that had come",
    "TCP_OLD_ACK": "a repetition of an acknowledgment",
    "TCP_OLD_SEQUENCE": "a repetition of data that had come",
    "TCP_OFOMERGE": "data that came twice",
    "TCP_RESET": "a reset took effect",
    "IPV6DISABLED": "IPv6 is off there",
}
"""Reasons that are always left out, and why."""
_NOBODY = frozenset({"NO_SOCKET", UNNAMED, "OTHERHOST"})
_UNWANTED_PROTOCOL = "UNHANDLED_PROTO"


def is_daily(key: DropKey) -> bool:
    """Tell whether a drop is left out by default."""
    if key.reason in DAILY or not key.ethertype:
        return True
    if key.reason == _UNWANTED_PROTOCOL:
        return True
    if key.reason in _NOBODY and _is_for_many(key):
        return True
    if key.reason == "NO_SOCKET" and key.protocol in protocols.ECHO_REPLIES:
        # a raw socket took its copy (ping), and the answer itself has no other use
        return key.sport >> 8 == protocols.ECHO_REPLIES[key.protocol]
    ends = key.protocol == protocols.TCP and key.flags & (protocols.FIN | protocols.RST)
    if key.reason == UNNAMED and ends:
        return True
    # what comes after a connection's end: only its beginning finds nobody for a cause
    late = key.protocol == protocols.TCP and not _begins(key)
    return key.reason == "NO_SOCKET" and late


def _begins(key: DropKey) -> bool:
    return key.flags & (protocols.SYN | protocols.ACK) == protocols.SYN


def _is_for_many(key: DropKey) -> bool:
    """Tell whether a packet is for more than one host: of those most have no use for it."""
    if key.dst is None:
        return False
    return key.dst.is_multicast or key.dst.value == (1 << 32) - 1
