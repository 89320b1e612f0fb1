"""Entries that were made without their translation."""

from __future__ import annotations

import pytest

from podpath.checks.conntrack.untranslated_entry import check
from tests.checks.pasted import found, ticket_of


def test_beside_one_that_is_translated() -> None:
    """Another container's packets to the same place are."""
    text = """
udp 17 24 src=10.9.0.7 dst=10.8.1.2 sport=3414 dport=812 [UNREPLIED] src=10.8.1.2 dst=10.9.0.7 sport=812 dport=3414
udp 17 3 src=10.9.0.9 dst=10.8.1.2 sport=5358 dport=812 [UNREPLIED] src=10.8.1.2 dst=10.8.9.9 sport=812 dport=5358
"""  # noqa: E501
    assert found(check, text) == [
        (
            1.0,
            (
                "udp 17 24 src=10.9.0.7 dst=10.8.1.2 sport=3414 dport=812 [UNREPLIED] src=10.8.1.2 "
                "dst=10.9.0.7 sport=812 dport=3414"
            ),
        )
    ]


def test_alone() -> None:
    """Nothing says that it should be."""
    text = """
udp 17 24 src=10.9.0.7 dst=10.8.1.2 sport=3414 dport=812 [UNREPLIED] src=10.8.1.2 dst=10.9.0.7 sport=812 dport=3414
"""  # noqa: E501
    assert found(check, text) == []


SAID = """\
{said}

```
# conntrack -L
udp      17 29 src=10.120.1.150 dst=192.168.0.10 sport=49660 dport=53 {state}
```
"""
BARE = "[UNREPLIED] src=192.168.0.10 dst=10.120.1.150 sport=53 dport=49660"
REPLIED = BARE.removeprefix("[UNREPLIED] ")
FAILS = "UDP requests to the service with 192.168.0.10 run into a timeout."


def test_prose_may_name_the_service() -> None:
    """It is possible, and the question is whether the rules are there now."""
    (possible,) = check(ticket_of(SAID.format(said=FAILS, state=BARE)))

    assert (0.8, (), 1) == (possible.certainty, possible.repairs, len(possible.asks))


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("UDP requests to the machine 192.168.0.10 run into a timeout.", BARE),
        ("UDP requests to the service with 192.168.0.10 are answered.", BARE),
        (FAILS, REPLIED),
        (FAILS.replace("0.10", "0.11"), BARE),
    ],
    ids=["machine", "works", "replied", "another"],
)
def test_what_only_looks_like_it_is_let_be(said: str, state: str) -> None:
    """Machines need no translation, and an entry that was answered harms nobody."""
    assert [] == list(check(ticket_of(SAID.format(said=said, state=state))))
