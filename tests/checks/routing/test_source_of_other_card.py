"""Packets that leave by one card with another one's address."""

from __future__ import annotations

import pytest

from podpath.checks.routing.source_of_other_card import check
from tests.checks.pasted import ticket_of

TICKET = """\
Node teak-2 does not reach the service 10.96.7.7.

```
# ip route
default via 198.18.0.1 dev eno1
10.199.3.0/24 via 10.7.7.3 dev eno2{source}
# ip -4 -br addr
eno1 UP 198.18.0.22/24
eno2 UP 10.7.7.2/24
# tcpdump -ni {device} tcp port 8080
{packets}
```
"""
ASKED = "IP 198.18.0.22.41200 > 10.199.3.15.8080: Flags [S], seq 1, win 64240, length 0"
ANSWERED = "IP 10.199.3.15.8080 > 198.18.0.22.41200: Flags [S.], seq 9, ack 2, win 6, length 0"
OWN = ASKED.replace("198.18.0.22", "10.7.7.2")
AGAIN = f"{ASKED}\n{ASKED}"


@pytest.mark.parametrize(
    ("source", "device", "packets", "expected"),
    [
        ("", "eno2", AGAIN, 1),
        ("", "eno2", ASKED, 0),
        ("", "eno2", f"{AGAIN}\n{ANSWERED}", 0),
        ("", "eno2", f"{OWN}\n{OWN}", 0),
        ("", "eno1", AGAIN, 0),
        (" src 198.18.0.22", "eno2", AGAIN, 0),
    ],
    ids=["again", "once", "answered", "own", "its-card", "meant"],
)
def test_a_source_that_was_chosen_for_another_way(
    source: str, device: str, packets: str, expected: int
) -> None:
    """Repeated, not answered, and by no route that asks for that source."""
    text = TICKET.format(source=source, device=device, packets=packets)
    found = list(check(ticket_of(text)))

    assert [0.8] * expected == [one.certainty for one in found]
