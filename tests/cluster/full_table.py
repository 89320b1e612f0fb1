#!/usr/bin/env python3
"""Fills the connection tracking table of the namespace that it runs in, with connections that seem
to be established, as many as the kernel takes, and keeps it full; `empty` deletes them again. With
a number it makes so many and keeps nothing full.

It runs by itself on a node: `python3 full_table.py [ENTRIES]`, `python3 full_table.py empty`.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

MARK = 0x70702D66
"""What the entries are known by."""
_NETFILTER, _NEW = 12, 1 << 8
"""Netlink's family, and the message that makes an entry of ctnetlink."""
_REQUEST, _CREATE = 0x1, 0x400
_NESTED = 0x8000
_ESTABLISHED, _ASSURED = 3, 0b1110
"""TCP's state, and what an entry is of which both sides were seen."""
_SECONDS = 3600
_KEEPER = Path("/run/full-table.pid")
_BATCH = 500


def main() -> int:
    """Fill the table, or empty it."""
    if sys.argv[1:] == ["empty"]:
        if _KEEPER.exists():
            os.kill(int(_KEEPER.read_text(encoding="ascii")), signal.SIGKILL)
            _KEEPER.unlink()
        mark = f"{MARK:#x}"
        done = subprocess.run(("conntrack", "-D", "-m", mark), capture_output=True, check=False)
        return done.returncode
    if sys.argv[1:]:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER) as kernel:
            entries = make_entries(int(sys.argv[1]))
            while batch := b"".join(islice(entries, _BATCH)):
                kernel.send(batch)
        return 0
    limit = int(Path("/proc/sys/net/netfilter/nf_conntrack_max").read_text(encoding="ascii"))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER) as kernel:
        entries = make_entries(2 * limit)
        for _ in range(limit // _BATCH + 1):
            kernel.send(b"".join(islice(entries, _BATCH)))
        if os.fork():
            return 0
        os.setsid()
        _KEEPER.write_text(str(os.getpid()), encoding="ascii")
        for more in entries:  # whenever one of the node's own ends
            kernel.send(more)
            time.sleep(0.005)
    return 0


def make_entries(count: int) -> Iterator[bytes]:
    """Yield the messages that make entries, each of another connection."""
    for number in range(count):
        client = socket.inet_aton("198.18.0.0")[:2] + struct.pack(">H", number >> 15)
        yield make_entry(client, 1024 + (number & 0x7FFF))


def make_entry(client: bytes, port: int) -> bytes:
    """Return the message that makes one entry."""
    server = socket.inet_aton("198.19.0.1")
    asked, answered = _tuple(client, server, port, 443), _tuple(server, client, 443, port)
    state = _attribute(1, bytes([_ESTABLISHED]))
    body = (
        struct.pack("=BBH", socket.AF_INET, 0, 0)
        + _attribute(1 | _NESTED, asked)
        + _attribute(2 | _NESTED, answered)
        + _attribute(3, struct.pack(">I", _ASSURED))
        + _attribute(4 | _NESTED, _attribute(1 | _NESTED, state))
        + _attribute(7, struct.pack(">I", _SECONDS))
        + _attribute(8, struct.pack(">I", MARK))
    )
    return struct.pack("=IHHII", 16 + len(body), _NEW, _REQUEST | _CREATE, 0, 0) + body


def _tuple(source: bytes, target: bytes, source_port: int, target_port: int) -> bytes:
    ports = _attribute(2, struct.pack(">H", source_port)) + _attribute(
        3, struct.pack(">H", target_port)
    )
    return _attribute(1 | _NESTED, _attribute(1, source) + _attribute(2, target)) + _attribute(
        2 | _NESTED, _attribute(1, bytes([socket.IPPROTO_TCP])) + ports
    )


def _attribute(kind: int, content: bytes) -> bytes:
    length = 4 + len(content)
    return struct.pack("=HH", length, kind) + content + bytes(-length % 4)


if __name__ == "__main__":
    sys.exit(main())
