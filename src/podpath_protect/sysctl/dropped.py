"""How many packets kube-proxy's rule against INVALID has dropped: the kernel's accounting object
that the rule counts in.

kube-proxy makes the object where the kernel has them (kubernetes pkg/proxy/metrics,
`ct_state_invalid_dropped_pkts`), and it keeps counting when the rules are rewritten, which resets
their own counters. Numbers are from include/uapi/linux/netfilter/nfnetlink.h and nfnetlink_acct.h
(v6.12).
"""

from __future__ import annotations

import os
import socket
import struct

from podpath_protect.netlink import ERROR, NETFILTER, parse_attributes, parse_messages

NAME = "ct_state_invalid_dropped_pkts"
_GET = 7 << 8 | 1
"""NFNL_MSG_ACCT_GET of NFNL_SUBSYS_ACCT."""
_NAME, _PACKETS = 1, 2
_HEADER = struct.Struct("=IHHII")
_REQUEST = 0x1
_BUFFER = 1 << 14


def read_dropped(name: str = NAME) -> int | None:
    """Return the packets that the accounting object counted; None where there is none, or it is not
    shown to us.
    """
    try:
        with socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETFILTER
        ) as channel:
            channel.send(emit_request(_GET, name))
            return parse_packets(channel.recv(_BUFFER))
    except OSError:
        return None


def emit_request(kind: int, name: str, flags: int = _REQUEST) -> bytes:
    """Write a request about an accounting object."""
    text = name.encode() + b"\0"
    attribute = struct.pack("=HH", 4 + len(text), _NAME) + text + b"\0" * (-len(text) % 4)
    body = struct.pack("=BBH", socket.AF_UNSPEC, 0, 0) + attribute
    return _HEADER.pack(_HEADER.size + len(body), kind, flags, 1, 0) + body


def parse_packets(data: bytes) -> int | None:
    """Read the packets from the kernel's answer; `OSError` with the error that it gave instead."""
    for message in parse_messages(data):
        if message.kind == ERROR:
            number = -int(struct.unpack_from("=i", message.body)[0])
            raise OSError(number, os.strerror(number))
        for kind, value in parse_attributes(message.body[4:]):
            if kind == _PACKETS and len(value) == 8:
                return int(struct.unpack("!Q", value)[0])
    return None
