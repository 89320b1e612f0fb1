"""Kube-proxy rejects a service without endpoints."""

from __future__ import annotations

from podpath.checks.services.service_rejected import check
from tests.checks.pasted import found


def test_a_quoted_rule_is_a_suspicion() -> None:
    """Nobody is shown to have tried it."""
    text = """
-A KUBE-SERVICES -d 10.96.7.7/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
"""  # noqa: E501
    assert found(check, text) == [
        (
            0.6,
            (
                '-A KUBE-SERVICES -d 10.96.7.7/32 -p tcp -m comment --comment "shop/web:http has '
                'no endpoints" -j REJECT'
            ),
        )
    ]


def test_somebody_tried() -> None:
    """The refused connection was to the same address."""
    text = """
-A KUBE-SERVICES -d 10.96.7.7/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
$ curl http://10.96.7.7/
curl: (7) Failed to connect to 10.96.7.7 port 80: Connection refused
"""  # noqa: E501
    assert found(check, text) == [
        (
            1.0,
            (
                '-A KUBE-SERVICES -d 10.96.7.7/32 -p tcp -m comment --comment "shop/web:http has '
                'no endpoints" -j REJECT'
            ),
        )
    ]


def test_many_are_normal() -> None:
    """A whole ruleset has them for services that nobody asks for."""
    text = """
-A KUBE-SERVICES -d 10.96.7.0/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
-A KUBE-SERVICES -d 10.96.7.1/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
-A KUBE-SERVICES -d 10.96.7.2/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
-A KUBE-SERVICES -d 10.96.7.3/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
-A KUBE-SERVICES -d 10.96.7.4/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
-A KUBE-SERVICES -d 10.96.7.5/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
-A KUBE-SERVICES -d 10.96.7.6/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
-A KUBE-SERVICES -d 10.96.7.7/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
-A KUBE-SERVICES -d 10.96.7.8/32 -p tcp -m comment --comment "shop/web:http has no endpoints" -j REJECT
"""  # noqa: E501
    assert found(check, text) == []
