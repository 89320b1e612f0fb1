"""What the kernel logged before it dropped it."""

from __future__ import annotations

from podpath.checks.netfilter.logged_drop import check
from tests.checks.pasted import found


def test_a_containers_packet() -> None:
    """The device is a bridge of containers."""
    text = """
[UFW BLOCK] IN=docker0 OUT= SRC=172.17.0.2 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432
"""
    assert found(check, text) == [
        (
            1.0,
            "[UFW BLOCK] IN=docker0 OUT= SRC=172.17.0.2 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432",
        )
    ]


def test_the_worlds_noise() -> None:
    """Somebody outside tries the host's ports."""
    text = """
[UFW BLOCK] IN=eth0 OUT= SRC=203.0.113.9 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432
"""
    assert found(check, text) == []


def test_between_private_addresses() -> None:
    """It may be a node's packet."""
    text = """
[UFW BLOCK] IN=eth0 OUT= SRC=172.17.0.2 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432
"""
    assert found(check, text) == [
        (
            0.6,
            "[UFW BLOCK] IN=eth0 OUT= SRC=172.17.0.2 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432",
        )
    ]


def test_an_audit_line() -> None:
    """A rule that logs what it accepts."""
    text = """
[UFW ALLOW] IN=docker0 OUT= SRC=172.17.0.2 DST=10.3.3.3 PROTO=TCP SPT=45360 DPT=5432
"""
    assert found(check, text) == []
