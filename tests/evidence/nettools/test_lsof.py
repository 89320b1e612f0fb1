"""`lsof -i`: which program has which socket."""

from __future__ import annotations

from podpath.evidence.node_records import SocketRecord
from tests.evidence.consoles import block, read

TEXT = """
COMMAND    PID   USER   FD   TYPE DEVICE SIZE/OFF NODE NAME
hyperkube 1704   root    6u  IPv6  21393      0t0  TCP *:10252 (LISTEN)
systemd-r  786 systemd-resolve   12u  IPv4  18032      0t0  UDP 127.0.0.53:domain
sshd      2210   root    3u  IPv4  40211      0t0  TCP 10.1.2.3:ssh->10.1.2.9:51234 (ESTABLISHED)
nginx     3001   root    4u  unix 0xffff8      0t0 12345 type=STREAM
"""


def test_each_row_of_a_socket_is_read_with_its_program() -> None:
    """Names of services are ports, states are those of ss; sockets of UNIX are left out."""
    reading = read(block(TEXT))
    rows = [
        (one.process, str(one.local or "*"), one.port, one.state)
        for one in reading.records
        if isinstance(one, SocketRecord)
    ]

    assert rows == [
        ("hyperkube", "*", 10252, "LISTEN"),
        ("systemd-r", "127.0.0.53", 53, "UNCONN"),
        ("sshd", "10.1.2.3", 22, "ESTAB"),
    ]
    assert not reading.gaps


def test_an_end_that_is_none_is_a_gap() -> None:
    """Nothing is guessed."""
    reading = read(block("nginx 3001 root 4u IPv4 40211 0t0 TCP nowhere-at-all (LISTEN)"))

    assert len(reading.gaps) == 1
