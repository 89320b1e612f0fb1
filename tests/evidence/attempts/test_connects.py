"""What nc, wget and telnet print says whether they connected."""

from __future__ import annotations

import pytest

from podpath.evidence.attempts.connects import read_connect
from tests.evidence.attempted import attempted
from tests.evidence.consoles import FOLDER, block, load_console, read


@pytest.mark.parametrize(
    ("name", "target", "result"),
    [("wget-refused", "10.77.0.2:81", "refused"), ("wget-ok", "10.77.0.2:8080", "ok")],
)
def test_recorded(name: str, target: str, result: str) -> None:
    """Real outputs are recognised and read."""
    assert [("tcp", target, result, "wget", "host")] == attempted(
        read(load_console(FOLDER / "clients" / f"{name}.txt"))
    )


TEXTS = [
    (
        "nc -zv -w 3 10.0.0.1 80",
        "nc: connect to 10.0.0.1 port 80 (tcp) timed out: Operation now in progress",
        "tcp",
        "timeout",
    ),
    ("nc -zv 10.0.0.1 80", "Connection to 10.0.0.1 80 port [tcp/http] succeeded!", "tcp", "ok"),
    ("nc -zv 10.0.0.1 80", "Ncat: Version 7.50\nNcat: Connection timed out.", "tcp", "timeout"),
    ("nc -zvu 10.0.0.1 80", "10.0.0.1 (10.0.0.1:80) open", "udp", "ok"),
    ("nc -zv 10.0.0.1 80", "(UNKNOWN) [10.0.0.1] 80 (http) : Connection refused", "tcp", "refused"),
    (
        "wget -qO- -T 2 http://10.0.0.1",
        "Connecting to 10.0.0.1 (10.0.0.1:80)\nwget: download timed out",
        "tcp",
        "timeout",
    ),
    (
        "wget web",
        "Connecting to web (10.0.0.1:80)\nindex.html           100% |***|   612  0:00:00 ETA",
        "tcp",
        "ok",
    ),
    (
        "telnet 10.0.0.1 80",
        "Trying 10.0.0.1...\ntelnet: connect to address 10.0.0.1: No route to host",
        "tcp",
        "no route to host",
    ),
    (
        "nc -zv 10.0.0.1 80",
        "nc: connect to 10.0.0.1 port 80 (tcp) failed: Network is unreachable",
        "tcp",
        "network unreachable",
    ),
    ("nc -v 10.0.0.1 80", "^C", "tcp", "interrupted"),
    ("telnet 10.0.0.1 80", "Trying 10.0.0.1...\n^C", "tcp", "interrupted"),
    (
        "ssh 10.0.0.1",
        "ssh: connect to host 10.0.0.1 port 80: No route to host",
        "tcp",
        "no route to host",
    ),
    (
        "redis-cli -h 10.0.0.1 -p 80 ping",
        "Could not connect to Redis at 10.0.0.1:80: Connection refused",
        "tcp",
        "refused",
    ),
    (
        "psql -h 10.0.0.1 -p 80",
        'psql: error: connection to server at "10.0.0.1", port 80 failed: Connection timed out',
        "tcp",
        "timeout",
    ),
    (
        "grpcurl -plaintext 10.0.0.1:80 list",
        (
            'Failed to dial target host "10.0.0.1:80": dial tcp 10.0.0.1:80: connect: connection '
            "refused"
        ),
        "tcp",
        "refused",
    ),
    (
        "telnet 10.0.0.1 80",
        "Trying 10.0.0.1...\nConnected to 10.0.0.1.\nEscape character is '^]'.",
        "tcp",
        "ok",
    ),
]


@pytest.mark.parametrize(("command", "text", "protocol", "result"), TEXTS)
def test_other_outputs(command: str, text: str, protocol: str, result: str) -> None:
    """The outputs of OpenBSD's, nmap's and busybox's programs are read."""
    assert [(protocol, "10.0.0.1:80", result, command.partition(" ")[0], "host")] == attempted(
        read_connect(block(text, command))
    )
