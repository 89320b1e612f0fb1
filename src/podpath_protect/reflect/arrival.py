"""By which device a datagram came, and whether that is one of a default route: an asker of this
node comes by none.

What a sender writes into a packet can be forged; the device by which it came cannot.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from pathlib import Path

_IP_PKTINFO = 8
"""IP_PKTINFO of include/uapi/linux/in.h, which Python does not name everywhere."""
_REJECT = 0x0200


def ask_for_device(listener: socket.socket) -> None:
    """Have the kernel say of each datagram by which device it came (ip(7), ipv6(7))."""
    if listener.family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    else:
        listener.setsockopt(socket.IPPROTO_IP, _IP_PKTINFO, 1)


def read_device(ancillary: Sequence[tuple[int, int, bytes]]) -> int:
    """Return the number of the device that the kernel said; 0 where it said none."""
    for level, kind, data in ancillary:
        if (level, kind) == (socket.IPPROTO_IP, _IP_PKTINFO):
            return int(struct.unpack_from("=i", data)[0])
        if (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO):
            return int(struct.unpack_from("=16xi", data)[0])
    return 0


def list_uplinks(proc_net: Path = Path("/proc/net")) -> frozenset[str]:
    """Name the devices of default routes, of both families; none where the kernel tells of none."""
    return frozenset((*_of_ipv4(proc_net / "route"), *_of_ipv6(proc_net / "ipv6_route")))


def _of_ipv4(path: Path) -> list[str]:
    rows = [line.split() for line in _read(path)[1:]]
    defaults = [row for row in rows if len(row) > 7 and row[1] == row[7] == "0" * 8]
    return [row[0] for row in defaults if not int(row[3], 16) & _REJECT]


def _of_ipv6(path: Path) -> list[str]:
    rows = [line.split() for line in _read(path)]
    defaults = [row for row in rows if len(row) > 9 and row[1] == "00"]
    return [row[9] for row in defaults if not int(row[8], 16) & _REJECT and row[9] != "lo"]


def _read(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
