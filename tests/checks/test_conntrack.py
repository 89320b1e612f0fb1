"""Faults of connection tracking: each is found where it is, and nothing where it only seems to
be.
"""

from __future__ import annotations

import pytest

from tests.checks.nodes import netns, node
from tests.checks.scenes import findings, tracked


def test_an_entry_to_an_endpoint_that_is_gone_is_found() -> None:
    """An entry to a living endpoint is none."""
    (found,) = findings(tracked("10.0.0.66"), "stale-conntrack")
    assert found.repairs[0].commands == ("conntrack -D -p udp --orig-dst 10.96.0.10",)
    assert findings(tracked("10.0.0.7"), "stale-conntrack") == []


@pytest.mark.parametrize(
    ("count", "severities"),
    [("950", ["risk"]), ("1000", ["fault"]), ("990", ["fault"]), ("100", [])],
)
def test_a_connection_table_that_fills_up_is_told(count: str, severities: list[str]) -> None:
    """Nearly full is a risk, full a fault: of a full one some have just ended."""
    host = netns(
        sysctls={
            "net.netfilter.nf_conntrack_count": count,
            "net.netfilter.nf_conntrack_max": "1000",
        }
    )
    assert severities == [found.severity for found in findings(node(host), "conntrack-full")]
