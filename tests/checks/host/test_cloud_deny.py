"""Security lists that let nothing in."""

from __future__ import annotations

from podpath.checks.host.cloud_deny import check
from tests.checks.pasted import found


def test_a_deny_for_all() -> None:
    """Only the virtual network is accepted."""
    text = """
| Priority | Name | Port | Protocol | Source | Destination | Action |
| --- | --- | --- | --- | --- | --- | --- |
| 65000 | AllowVnetInBound | Any | Any | VirtualNetwork | VirtualNetwork | Allow |
| 65500 | DenyAllInBound | Any | Any | Any | Any | Deny |
"""
    assert found(check, text) == [
        (0.7, "| 65500 | DenyAllInBound | Any | Any | Any | Any | Deny |")
    ]


def test_a_rule_for_the_internet() -> None:
    """It stands above."""
    text = """
| Priority | Name | Port | Protocol | Source | Destination | Action |
| --- | --- | --- | --- | --- | --- | --- |
| **500** | web | 80 | TCP | Internet | Any | Allow |
| 65000 | AllowVnetInBound | Any | Any | VirtualNetwork | VirtualNetwork | Allow |
| 65500 | DenyAllInBound | Any | Any | Any | Any | Deny |
"""
    assert found(check, text) == []


def test_a_connection_that_timed_out() -> None:
    """What failed fits."""
    text = """
| Priority | Name | Port | Protocol | Source | Destination | Action |
| --- | --- | --- | --- | --- | --- | --- |
| 65000 | AllowVnetInBound | Any | Any | VirtualNetwork | VirtualNetwork | Allow |
| 65500 | DenyAllInBound | Any | Any | Any | Any | Deny |
$ curl http://203.0.113.5/
curl: (28) Failed to connect to 203.0.113.5 port 80: Connection timed out
"""
    assert found(check, text) == [
        (1.0, "| 65500 | DenyAllInBound | Any | Any | Any | Any | Deny |")
    ]
