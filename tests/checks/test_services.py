"""Faults of services: each is found where it is, and nothing where it only seems to be."""

from __future__ import annotations

from dataclasses import replace

from tests.checks.nodes import netns, node
from tests.checks.scenes import described, findings


def test_a_service_without_endpoints_is_found() -> None:
    """One whose list was cut off may have some."""
    assert len(findings(replace(node(netns()), services=(described(),)), "no-endpoints")) == 1
    assert (
        findings(replace(node(netns()), services=(described(complete=False),)), "no-endpoints")
        == []
    )
