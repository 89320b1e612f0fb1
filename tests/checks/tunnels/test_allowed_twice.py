"""Ranges of WireGuard's peers."""

from __future__ import annotations

from podpath.checks.tunnels.allowed_twice import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
$ cat /etc/wireguard/wg0.conf
[Interface]
Address = 10.8.0.1/24
ListenPort = 51820
[Peer]
PublicKey = aaa=
AllowedIPs = {first}
[Peer]
PublicKey = bbb=
AllowedIPs = {second}
```
"""


def test_one_range_for_two_peers() -> None:
    """Both lines are quoted."""
    (found,) = check(
        case_of_document(TICKET.format(first="10.8.0.0/24", second="10.8.0.0/24, 192.168.7.0/24"))
    )

    assert ["AllowedIPs = 10.8.0.0/24", "AllowedIPs = 10.8.0.0/24, 192.168.7.0/24"] == [
        span.text for span in found.evidence
    ]


def test_a_range_within_another_is_right() -> None:
    """The longer one wins, as in a routing table."""
    assert not list(
        check(case_of_document(TICKET.format(first="10.8.0.0/24", second="10.8.0.7/32")))
    )
