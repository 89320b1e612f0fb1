"""A path that carries segments of a size is not said to lose that size."""

from __future__ import annotations

import pytest

from podpath.capture.connections import gather_traffic
from podpath.checks.captures.path_mtu import look
from tests.checks.made_captures import CLIENT, SERVER, case_of, exchange, found, handshake, tcp
from tests.checks.pasted import ticket_of

FORTH, BACK = f"{CLIENT} > {SERVER}", f"{SERVER} > {CLIENT}"


def stuck(first: int) -> tuple[str, ...]:
    """Write a full-sized segment that is sent four times and never acknowledged."""
    times = (0.3, 0.6, 1.2, 2.4)
    return tuple(tcp(after, BACK, ".", first, 81, 1460) for after in times)


def test_segment_that_is_lost_where_equal_ones_arrive_is_no_black_hole() -> None:
    """The same connection has a segment of the same size acknowledged before the host goes away."""
    large = (tcp(0.2, BACK, ".", 401, 81, 1460), tcp(0.21, FORTH, ".", 0, 1861))

    assert ["path-mtu-black-hole"] == [
        one.check
        for one in found(case_of(*handshake(), *exchange(0.1), *stuck(401)), "path-mtu-black-hole")
    ]
    assert (
        found(
            case_of(*handshake(), *exchange(0.1), *large, *stuck(1861)),
            "path-mtu-black-hole",
        )
        == []
    )


def test_larger_segment_of_another_connection_shows_that_the_path_carries_it() -> None:
    """Two connections of one pair of hosts take one path: what one carries, the other's loss is not
    about.
    """
    other = f"{CLIENT[:-5]}41001"
    answered = (
        *handshake(5.0, other),
        tcp(5.1, f"{SERVER} > {other}", ".", 1, 1, 2920),
        tcp(5.2, f"{other} > {SERVER}", ".", 0, 2921),
    )
    lines = (*handshake(), *exchange(0.1), *stuck(401), *answered)

    assert found(case_of(*lines), "path-mtu-black-hole") == []


def test_path_that_falls_silent_is_only_possibly_a_black_hole() -> None:
    """A host that is gone acknowledges large segments no more than a path that loses them."""
    silent = (*handshake(), *exchange(0.1), *stuck(401))
    (heard,) = found(case_of(*silent, tcp(2.5, FORTH, ".", 0, 401)), "path-mtu-black-hole")
    (gone,) = found(case_of(*silent), "path-mtu-black-hole")

    assert (1.0, ()) == (heard.certainty, heard.asks)
    assert gone.certainty < 1
    assert gone.asks


def test_path_that_loses_what_is_small_too_is_no_black_hole() -> None:
    """The FIN that follows the lost segment has no answer either."""
    closing = tcp(1.5, BACK, "F.", 1861, 81)
    silent = (*handshake(), *exchange(0.1), *stuck(401), closing)

    assert found(case_of(*sorted(silent)), "path-mtu-black-hole") == []
    heard = (*silent, tcp(1.6, FORTH, ".", 0, 401))
    assert len(found(case_of(*sorted(heard)), "path-mtu-black-hole")) == 1


SENT = "08:01:11.{} IP6 2001:db8:1::10.50871 > 2001:db8:7::20.443: Flags [.], seq 1429:{}, {}\n"
MORE = "ack 210, win 501, length {}"
REFUSES = (
    "08:01:11.{} IP6 2001:db8:ff::1 > 2001:db8:1::10: ICMP6, packet too big, mtu 1420, "
    "length 1240\n"
)
LARGE = SENT.format("{0}", 2857, MORE.format(1428))
SMALL = SENT.format("{0}", 2777, MORE.format(1348))
TO_ANOTHER = (
    "08:01:11.900000 IP6 2001:db8:1::10.50900 > 2001:db8:7::21.443: Flags [.], seq 1:1429, ack 1, "
    "win 501, length 1428\n"
)


@pytest.mark.parametrize(
    ("lines", "certainties"),
    [
        ((LARGE, REFUSES, LARGE, REFUSES), [0.6]),
        ((LARGE, REFUSES, LARGE), []),
        ((LARGE, REFUSES, SMALL, REFUSES), []),
        ((LARGE, LARGE, REFUSES, REFUSES), []),
        ((LARGE, REFUSES, LARGE, REFUSES, TO_ANOTHER), []),
    ],
    ids=["unheeded", "once", "heeded", "both-before", "of-whom"],
)
def test_a_sender_that_does_not_heed_what_fits_hangs(
    lines: tuple[str, ...], certainties: list[float]
) -> None:
    """The same size again after a router said that it does not fit, and that once more: one answer
    is how a path is learned, and what is cut by the card looks large. What else goes wrong there is
    not seen: it is possible.
    """
    text = "".join(line.format(f"{place}10000") for place, line in enumerate(lines, 1))
    said = f"Uploads to 2001:db8:7::20 stop.\n\n```\n{text}```\n"

    case = ticket_of(said)
    findings = look(case, gather_traffic(case.sightings))
    assert certainties == [one.certainty for one in findings]
