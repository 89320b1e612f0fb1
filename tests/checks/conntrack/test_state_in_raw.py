"""States in raw."""

from __future__ import annotations

from podpath.checks.conntrack.state_in_raw import check
from tests.checks.pasted import found


def test_a_drop_by_state() -> None:
    """It has taken packets that have no state."""
    text = """
$ iptables-save -c -t raw
*raw
:PREROUTING ACCEPT [1:60]
[9:540] -A PREROUTING -m conntrack --ctstate INVALID -j DROP
COMMIT
"""
    assert found(check, text) == [
        (1.0, "[9:540] -A PREROUTING -m conntrack --ctstate INVALID -j DROP")
    ]


def test_the_same_in_mangle() -> None:
    """There the state is known."""
    text = """
$ iptables-save -c -t mangle
*mangle
:PREROUTING ACCEPT [1:60]
[9:540] -A PREROUTING -m conntrack --ctstate INVALID -j DROP
COMMIT
"""
    assert found(check, text) == []
