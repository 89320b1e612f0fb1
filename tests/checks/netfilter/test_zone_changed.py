"""A zone that lost what it let in."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.zone_changed import check
from tests.checks.pasted import ticket_of

TICKET = """
{complaint}

{first}

```
# firewall-cmd --list-all --zone=docker
docker (active)
  target: ACCEPT
  icmp-block-inversion: no
  interfaces: docker0{had}
  sources:
  services: ssh
  ports:
  forward: no
  masquerade: no
```

{second}

```
# firewall-cmd --list-all --zone=docker
docker (active)
  target: ACCEPT
  icmp-block-inversion: no
  interfaces: docker0{has}
  sources:
  services: ssh
  ports:
  forward: no
  masquerade: no
```
"""
FAILS = "Containers of the second network cannot reach anything after a reload."


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Before:", "After the reload:"),
        ("While it works:", "When it does not work:"),
        ("Normally:", "Once firewalld has been reloaded:"),
    ],
)
def test_a_lost_device_is_the_cause(first: str, second: str) -> None:
    """The words say which listing is of the state that fails."""
    text = TICKET.format(complaint=FAILS, first=first, second=second, had=" br-1", has="")
    (finding,) = check(ticket_of(text))

    assert (1.0, ("br-1",)) == (finding.certainty, finding.marks)
    assert "interfaces: docker0" == finding.evidence[0].text.strip()


@pytest.mark.parametrize(
    ("complaint", "had", "has", "second"),
    [
        (FAILS, "", " br-1", "After the reload:"),
        (FAILS, " br-1", " br-1", "After the reload:"),
        ("All is well.", " br-1", "", "After the reload:"),
    ],
)
def test_what_was_added_or_stays_is_none(complaint: str, had: str, has: str, second: str) -> None:
    """Nor does anything count where nobody complains."""
    text = TICKET.format(complaint=complaint, first="Before:", second=second, had=had, has=has)
    assert not list(check(ticket_of(text)))
