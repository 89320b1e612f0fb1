"""A card without a link, at half duplex, or far below its speed is a possible cause."""

from __future__ import annotations

import pytest

from podpath.checks.links.link_mode_poor import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
root@box:~# ethtool eth0
Settings for eth0:
        Supported ports: [ TP MII ]
        Supported link modes:   10baseT/Half 10baseT/Full
                                100baseT/Half 100baseT/Full
        Supports auto-negotiation: Yes
        Speed: {speed}
        Duplex: {duplex}
        Port: MII
        Auto-negotiation: on
        Link detected: {detected}
```
"""


@pytest.mark.parametrize(
    ("speed", "duplex", "detected", "word"),
    [
        ("Unknown!", "Unknown! (255)", "no", "no link"),
        ("100Mb/s", "Half", "yes", "half duplex"),
        ("10Mb/s", "Full", "yes", "10 Mbit/s"),
    ],
)
def test_a_poor_link(speed: str, duplex: str, detected: str, word: str) -> None:
    """What the card and its partner agreed on is told, and is never certain."""
    (found,) = check(case_of_document(TICKET.format(speed=speed, duplex=duplex, detected=detected)))
    assert word in str(found.claim)
    assert found.certainty < 1


def test_a_healthy_link() -> None:
    """A link at the card's own speed is nothing to tell of."""
    text = TICKET.format(speed="100Mb/s", duplex="Full", detected="yes")
    assert [] == list(check(case_of_document(text)))


def test_a_device_without_a_cable() -> None:
    """A veth pair or a bridge has no speed of its own."""
    text = TICKET.format(speed="10Mb/s", duplex="Half", detected="yes").replace("eth0", "docker0")
    assert [] == list(check(case_of_document(text)))
