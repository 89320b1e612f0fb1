"""Ranges of WireGuard's peers."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.allowed_twice import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

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


SHOWN = """{said}

```
# wg show
interface: wg0
  listening port: 51820

peer: aaa=
  allowed ips: 10.9.0.2/32
  latest handshake: 21 seconds ago

peer: bbb=
  allowed ips: (none)
```
"""


@pytest.mark.parametrize(
    ("said", "certainties"),
    [
        ("One of the two sites cannot be pinged.", [1.0]),
        ("Our web server on port 443 times out by WireGuard.", [1.0]),
        ("Our web server on port 443 times out.", [0.7]),
        ("Our web server on port 443 is refused.", []),
    ],
)
def test_a_peer_without_ranges(said: str, certainties: list[float]) -> None:
    """Whoever names a service and no tunnel may speak of another way; nothing refuses for it."""
    found = list(check(ticket_of(SHOWN.format(said=said))))

    assert certainties == [one.certainty for one in found]
