"""A port that lost its listener."""

from __future__ import annotations

import pytest

from podpath.checks.services.listener_gone import check
from tests.checks.pasted import ticket_of

TICKET = """
{complaint}

Before the update:

```
root@web1:~# ss -lnt
State    Recv-Q   Send-Q     Local Address:Port      Peer Address:Port
LISTEN   0        128              0.0.0.0:22             0.0.0.0:*
LISTEN   0        511              0.0.0.0:8080           0.0.0.0:*
```

Now, since the update:

```
root@web1:~# ss -lnt
State    Recv-Q   Send-Q     Local Address:Port      Peer Address:Port
LISTEN   0        128              0.0.0.0:22             0.0.0.0:*
{row}```
"""
REFUSED = "Clients get connection refused on port 8080."


@pytest.mark.parametrize("complaint", [REFUSED, "Nobody can reach port 8080 of the host."])
def test_a_lost_listener_that_somebody_asks_for(complaint: str) -> None:
    """The row of the good state and the sentence are quoted."""
    (finding,) = check(ticket_of(TICKET.format(complaint=complaint, row="")))

    assert 1.0 == finding.certainty
    assert "0.0.0.0:8080" in finding.evidence[0].text


@pytest.mark.parametrize(
    ("complaint", "row"),
    [
        ("Clients get connection refused on port 443.", ""),
        (
            REFUSED,
            "LISTEN   0        511                 [::]:8080              [::]:*\n",
        ),
        (
            REFUSED,
            "LISTEN   0        511              0.0.0.0:8080           0.0.0.0:*\n",
        ),
        ("It works on port 8080.", ""),
    ],
)
def test_another_port_or_another_listener(complaint: str, row: str) -> None:
    """A port that nobody asks for, one that is served by another family, and a healthy twin."""
    assert not list(check(ticket_of(TICKET.format(complaint=complaint, row=row))))
