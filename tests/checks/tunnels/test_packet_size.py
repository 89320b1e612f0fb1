"""Two pings that may not be fragmented measure what a path carries."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.packet_size import check
from tests.checks.pasted import ticket_of

HANGS = "Connections from pods to 10.9.0.4:1521 hang after login."
LOST = (
    "pod$ ping -M do -s 1422 10.9.0.4 -c 1\n"
    "PING 10.9.0.4 (10.9.0.4) 1422(1450) bytes of data.\n"
    "--- 10.9.0.4 ping statistics ---\n"
    "1 packets transmitted, 0 received, 100% packet loss, time 0ms\n"
)
ANSWERED = (
    "pod$ ping -M do -s 1372 10.9.0.4 -c 1\n"
    "PING 10.9.0.4 (10.9.0.4) 1372(1400) bytes of data.\n"
    "1380 bytes from 10.9.0.4: icmp_seq=1 ttl=61 time=12.1 ms\n"
    "--- 10.9.0.4 ping statistics ---\n"
    "1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
)


def _certainties(said: str, shown: str) -> list[float]:
    return [one.certainty for one in check(ticket_of(f"{said}\n\n```\n{shown}```\n"))]


@pytest.mark.parametrize(
    ("said", "expected"), [(HANGS, 1.0), (HANGS.replace("hang after login", "fail"), 0.8)]
)
def test_it_is_certain_where_large_answers_hang(said: str, expected: float) -> None:
    """Otherwise something else may fail, too."""
    assert [expected] == _certainties(said, LOST + ANSWERED)


@pytest.mark.parametrize(
    "shown",
    [
        LOST,
        ANSWERED,
        LOST.replace("10.9.0.4", "10.9.0.9") + ANSWERED,
        LOST.replace("-M do ", "") + ANSWERED,
        LOST.replace("1422", "1672").replace("1450", "1700") + ANSWERED,
    ],
    ids=["large alone", "small alone", "another", "may be fragmented", "jumbo"],
)
def test_what_measures_nothing_is_let_be(shown: str) -> None:
    """One ping alone, another destination, fragments, and what no usual device sends."""
    assert [] == _certainties(HANGS, shown)
