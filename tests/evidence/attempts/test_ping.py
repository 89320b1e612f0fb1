"""What ping prints says whether answers came."""

from __future__ import annotations

import pytest

from podpath.evidence.attempts.ping import read_ping
from tests.evidence.attempted import attempted
from tests.evidence.consoles import FOLDER, block, load_console, read

RECORDED = [
    ("ping-ok", "10.77.0.2:0", "ok"),
    ("ping-lost", "10.77.0.9:0", "timeout"),
    ("ping-no-route", "10.99.0.1:0", "unreachable"),
]


@pytest.mark.parametrize(("name", "target", "result"), RECORDED)
def test_recorded(name: str, target: str, result: str) -> None:
    """Real outputs are recognised and read."""
    assert [("icmp", target, result, "ping", "host")] == attempted(read(load_console(FOLDER / "clients" / f"{name}.txt")))


def test_a_path_that_fails_at_times() -> None:
    """Answers and many losses make two attempts: one that worked and one that did not."""
    text = "PING 10.8.0.7 (10.8.0.7) 56(84) bytes of data.\n64 bytes from 10.8.0.7: icmp_seq=1 ttl=64 time=0.2 ms\n\n"
    text += "--- 10.8.0.7 ping statistics ---\n18 packets transmitted, 7 received, 61% packet loss, time 3ms"
    assert ["ok", "timeout"] == [one[2] for one in attempted(read_ping(block(text)))]


def test_errors_say_more_than_losses() -> None:
    """`Destination Host Unreachable` names the kind of failure."""
    text = "PING 10.8.0.7 (10.8.0.7) 56(84) bytes of data.\nFrom 10.8.0.1 icmp_seq=1 Destination Host Unreachable\n\n"
    text += "--- 10.8.0.7 ping statistics ---\n1 packets transmitted, 0 received, +1 errors, 100% packet loss, time 0ms"
    assert ["unreachable"] == [one[2] for one in attempted(read_ping(block(text)))]


def test_busybox() -> None:
    """Busybox words its sum otherwise."""
    text = "PING 10.0.0.9 (10.0.0.9): 56 data bytes\n64 bytes from 10.0.0.9: seq=0 ttl=64 time=0.1 ms\n\n"
    text += "--- 10.0.0.9 ping statistics ---\n1 packets transmitted, 1 packets received, 0% packet loss"
    assert [("icmp", "10.0.0.9:0", "ok", "ping", None)] == attempted(read_ping(block(text)))
