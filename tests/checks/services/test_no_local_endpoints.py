"""Kube-proxy drops for want of a local endpoint."""

from __future__ import annotations

from podpath.checks.services.no_local_endpoints import check
from tests.checks.pasted import found


def test_the_rule_says_so() -> None:
    """Its comment names the service."""
    text = """
-A KUBE-EXTERNAL-SERVICES -p tcp -m comment --comment "shop/web:http has no local endpoints" -j DROP
"""
    assert found(check, text) == [
        (
            0.8,
            (
                '-A KUBE-EXTERNAL-SERVICES -p tcp -m comment --comment "shop/web:http has no local '
                'endpoints" -j DROP'
            ),
        )
    ]


def test_a_counter_makes_it_sure() -> None:
    """Packets have met it."""
    text = """
[12:720] -A KUBE-EXTERNAL-SERVICES -p tcp -m comment --comment "shop/web:http has no local endpoints" -j DROP
"""  # noqa: E501
    assert found(check, text) == [
        (
            1.0,
            (
                '[12:720] -A KUBE-EXTERNAL-SERVICES -p tcp -m comment --comment "shop/web:http has '
                'no local endpoints" -j DROP'
            ),
        )
    ]


def test_another_comment() -> None:
    """A rule of another kind."""
    text = """
-A KUBE-EXTERNAL-SERVICES -p tcp -m comment --comment "shop/web:http loadbalancer IP" -j DROP
"""
    assert found(check, text) == []
