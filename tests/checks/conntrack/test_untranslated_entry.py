"""Entries that were made without their translation."""

from __future__ import annotations

from podpath.checks.conntrack.untranslated_entry import check
from tests.checks.pasted import found


def test_beside_one_that_is_translated() -> None:
    """Another container's packets to the same place are."""
    text = """
udp 17 24 src=10.9.0.7 dst=10.8.1.2 sport=3414 dport=812 [UNREPLIED] src=10.8.1.2 dst=10.9.0.7 sport=812 dport=3414
udp 17 3 src=10.9.0.9 dst=10.8.1.2 sport=5358 dport=812 [UNREPLIED] src=10.8.1.2 dst=10.8.9.9 sport=812 dport=5358
"""  # noqa: E501
    assert found(check, text) == [
        (
            1.0,
            (
                "udp 17 24 src=10.9.0.7 dst=10.8.1.2 sport=3414 dport=812 [UNREPLIED] src=10.8.1.2 "
                "dst=10.9.0.7 sport=812 dport=3414"
            ),
        )
    ]


def test_alone() -> None:
    """Nothing says that it should be."""
    text = """
udp 17 24 src=10.9.0.7 dst=10.8.1.2 sport=3414 dport=812 [UNREPLIED] src=10.8.1.2 dst=10.9.0.7 sport=812 dport=3414
"""  # noqa: E501
    assert found(check, text) == []
