"""A port that people say is refused, and the sockets of the host."""

from __future__ import annotations

import pytest

from podpath.checks.services.port_unheard import check
from podpath.library.given import Pasted
from podpath.library.reading import read_together

HEAD = "State   Recv-Q  Send-Q   Local Address:Port    Peer Address:Port\n"
SSH = "LISTEN  0       128            0.0.0.0:22           0.0.0.0:*\n"
REFUSED = "Port 9090 of this host cannot be opened from other machines, connection refused."


def certainty(said: str, *listening: str) -> float | None:
    """Return how certain the finding of a ticket is; None where there is none."""
    rows = "".join(f"LISTEN  0       128     {one}      0.0.0.0:*\n" for one in listening)
    text = f"{said}\n\n```\n$ ss -ltn\n{HEAD}{SSH}{rows}```\n"
    found = list(check(read_together([Pasted(text, "ticket.md")]).facts))
    assert all(one.evidence[0].text.startswith("LISTEN") for one in found)
    return found[0].certainty if found else None


@pytest.mark.parametrize(
    "said",
    [
        REFUSED,
        "Clients get connection refused at port 9090.",
        "From outside, port 9090 of the server is unreachable; on the server curl works.",
        "Prometheus cannot be reached from other hosts, connection refused.",
        "Everybody on the LAN is refused at port 9090.",
    ],
)
def test_loopback_alone_is_heard_by_nobody_else(said: str) -> None:
    """In many wordings, and by the program's name."""
    assert certainty(said, "127.0.0.1:9090") == 1
    assert certainty(said, "127.0.0.1:9090", "192.0.2.4:9090") is None
    assert certainty(said, "0.0.0.0:9090") is None


def test_nobody_listens() -> None:
    """Where the listing is whole, and the kernel's answer is what they get."""
    assert certainty(REFUSED) == 1
    assert certainty("Clients cannot open port 9090.") is None


@pytest.mark.parametrize(
    "said",
    [
        "Clients time out at port 9090.",
        "Outgoing connections to port 9090 are refused.",
        "On the host itself port 9090 is refused.",
        "Pods get connection refused from port 9090 of a service.",
        "Port 9090 works from outside.",
    ],
)
def test_what_a_closed_port_does_not_make_is_let_be(said: str) -> None:
    """Another symptom, another end, or none."""
    assert certainty(said, "127.0.0.1:9090") is None


def test_what_an_engine_publishes_is_doubted() -> None:
    """Its port is translated, or served elsewhere."""
    said = "The container's app is published. Port 9090 is refused from outside."

    assert certainty(said, "127.0.0.1:9090") == 0.7
    elsewhere = "The app on this host cannot connect to redis on the other machine: it is refused."
    assert certainty(elsewhere, "127.0.0.1:6379") == 0.7


DIAL = "dial tcp 127.0.0.1:2379: connect: connection refused"
LOGGED = f'W0312 03:48:55.984001       1 clientconn.go:1223] grpc: connection error: "{DIAL}"'
TRIED = (
    "$ curl http://127.0.0.1:2379/\n"
    "curl: (7) Failed to connect to 127.0.0.1 port 2379: Connection refused"
)


LOOPBACK = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    inet 127.0.0.1/8 scope host lo
"""


@pytest.mark.parametrize(("line", "expected"), [(LOGGED, 0.7), (TRIED, 1.0)])
def test_a_line_of_a_log_tells_of_its_own_moment(line: str, expected: float) -> None:
    """The listing of sockets may be of another one; a try beside it is of the same."""
    said = f"The API server does not start.\n\n```\n$ ip addr\n{LOOPBACK}```\n\n```\n{line}\n```"

    assert certainty(said) == expected


@pytest.mark.parametrize("line", [LOGGED, TRIED])
def test_loopback_is_heard_on_loopback(line: str) -> None:
    """Who asks at 127.0.0.1 is not refused by a listener there."""
    said = f"The API server does not start.\n\n```\n$ ip addr\n{LOOPBACK}```\n\n```\n{line}\n```"

    assert certainty(said, "127.0.0.1:2379") is None
