"""Full queues of listeners, and what the kernel counts as lost."""

from __future__ import annotations

from podpath.checks.host.queue_overrun import check
from tests.checks.pasted import found


def test_a_full_queue_convicts() -> None:
    """More wait than may."""
    text = """
$ ss -lnt
State    Recv-Q   Send-Q     Local Address:Port      Peer Address:Port
LISTEN   129      128              0.0.0.0:8080           0.0.0.0:*
LISTEN   0        128              0.0.0.0:22             0.0.0.0:*
"""
    assert found(check, text) == [(1.0, "LISTEN 129 128 0.0.0.0:8080 0.0.0.0:*")]


def test_queues_with_room_are_sound() -> None:
    """A full one would have more than its backlog."""
    assert (
        found(
            check, "$ ss -lnt\nLISTEN   128      128              0.0.0.0:8080           0.0.0.0:*"
        )
        == []
    )


def test_counters_since_the_start_leave_it_open() -> None:
    """They may be of a burst long ago."""
    text = """
$ netstat -s | grep -i listen
    103445 times the listen queue of a socket overflowed
    103445 SYNs to LISTEN sockets dropped
"""
    assert found(check, text) == [(0.7, "103445 times the listen queue of a socket overflowed")]


def test_counters_at_zero_are_sound() -> None:
    """Nothing was lost."""
    assert (
        found(check, "$ netstat -s\nTcpExt:\n    0 times the listen queue of a socket overflowed")
        == []
    )
