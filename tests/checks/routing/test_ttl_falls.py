"""Packets that come round."""

from __future__ import annotations

import pytest

from podpath.checks.routing.ttl_falls import check
from tests.checks.pasted import case_of

PING = """\
12:26:27.93030{n} {link} IP (tos 0x0, ttl {ttl}, id 24964, offset 0, flags [none], proto ICMP (1), length 84)
    10.0.1.2 > 10.0.0.2: ICMP echo reply, id 47463, seq {seq}, length 64
"""  # noqa: E501
UDP = """\
12:26:27.93030{n} {link} IP (tos 0x0, ttl {ttl}, id 7, offset 0, flags [DF], proto UDP (17), length 60)
    10.0.1.2.5000 > 10.0.0.2.53: [udp sum ok] 1+ A? a.example. (32)
"""  # noqa: E501


def capture(
    ttls: tuple[int, ...], *, form: str = PING, seqs: tuple[int, ...] = (), link: str = ""
) -> str:
    """Return a capture of one packet with these times to live."""
    numbers = seqs or (1,) * len(ttls)
    lines = [
        form.format(n=place, ttl=ttl, seq=seq, link=link)
        for place, (ttl, seq) in enumerate(zip(ttls, numbers, strict=True))
    ]
    return "# tcpdump -vni any\n" + "".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        capture((44, 43, 42, 41, 40), link="lo    In "),
        capture((64, 63, 62, 61)),
        capture((9, 8, 7, 6, 5, 4, 3, 2, 1)),
        capture((64, 63, 62, 61), form=UDP),
        capture((60, 64, 63, 62, 61)),
    ],
)
def test_one_packet_with_less_and_less_time(text: str) -> None:
    """Of whatever protocol, on one device or on any; the first lines are quoted."""
    (found,) = check(case_of(text))

    assert (1.0, 4) == (found.certainty, len(found.evidence))


@pytest.mark.parametrize(
    "text",
    [
        capture((64, 64, 64, 64, 64)),
        capture((64, 63, 62)),
        capture((64, 63, 62, 61), seqs=(1, 2, 3, 4)),
        capture((44, 43, 64, 63)),
        capture((61, 62, 63, 64)),
    ],
)
def test_packets_that_only_look_like_it(text: str) -> None:
    """Repeats, a bridge with two routers, other packets, two directions, and another order."""
    assert not list(check(case_of(text)))
