"""A host is not called silent where nothing shows that its answers are missing."""

from __future__ import annotations

from dataclasses import replace

from podpath.node.case import ThinnedCapture
from podpath.report.claims import spell_claim
from tests.checks.made_captures import (
    CLIENT,
    SERVER,
    case_of,
    clock,
    exchange,
    found,
    handshake,
    tcp,
)

FORTH, BACK = f"{CLIENT} > {SERVER}", f"{SERVER} > {CLIENT}"
TIMES = (1.0, 2.0, 3.0, 4.0, 5.0)


def echo(after: float, ends: str, kind: str, number: int) -> str:
    """Write a line of a ping."""
    return f"{clock(after)} IP {ends}: ICMP echo {kind}, id 7, seq {number}, length 64"


def test_sender_that_goes_on_with_new_data_gets_its_acknowledgments() -> None:
    """Nothing is sent again, so nothing is missed: the acknowledgments were not captured."""
    new = tuple(
        tcp(after, FORTH, "P.", 81 + 100 * number, 401, 100) for number, after in enumerate(TIMES)
    )
    again = tuple(tcp(after, FORTH, "P.", 81, 401, 100) for after in TIMES)

    assert found(case_of(*handshake(), *exchange(0.1), *new), "one-way") == []
    assert len(found(case_of(*handshake(), *exchange(0.1), *again), "one-way")) == 1


def test_connection_whose_acknowledgments_are_never_captured_is_not_judged() -> None:
    """Another connection of the two hosts is answered; this one's answers take another path."""
    other = f"{CLIENT[:-5]}41001"
    again = tuple(tcp(after, f"{other} > {SERVER}", "P.", 1, 1, 100) for after in TIMES)

    assert found(case_of(*handshake(), *exchange(0.1), *again), "one-way") == []


def test_host_that_drops_pings_is_not_silent() -> None:
    """It answers TCP, which rests meanwhile, and no ping ever."""
    ends = ("10.7.0.5 > 198.18.4.9", "198.18.4.9 > 10.7.0.5")
    pings = tuple(echo(after, ends[0], "request", at) for at, after in enumerate(TIMES, 1))
    answered = (echo(0.5, ends[0], "request", 0), echo(0.51, ends[1], "reply", 0))

    assert found(case_of(*handshake(), *exchange(0.1), *pings), "one-way") == []
    assert len(found(case_of(*handshake(), *exchange(0.1), *answered, *pings), "one-way")) == 1


def test_silence_of_a_long_capture_begins_where_no_packet_is_left_out() -> None:
    """Another connection that works is not shown; this one hangs. Where its own next packet is not
    shown, nothing is known.
    """
    again = tuple(tcp(after, FORTH, "P.", 81, 401, 100) for after in TIMES)
    lines = (*handshake(), *exchange(0.1), *again)
    last = frozenset({1 + max(at for at, line in enumerate(lines) if BACK in line)})

    def claims(left_out: ThinnedCapture) -> list[str]:
        case = replace(case_of(*lines), thinned={"capture-0.txt": left_out})
        return [spell_claim(finding.claim) for finding in found(case, "one-way")]

    (claim,) = claims(ThinnedCapture())
    assert " on tcp" not in claim
    (claim,) = claims(ThinnedCapture(pairs=last))
    assert " on tcp 10.7.0.5:41000 > 198.18.4.9:443 from " in claim
    assert claims(ThinnedCapture(pairs=last, flows=last)) == []


def silent(*lines: str) -> bool:
    """Tell whether the server is called silent after the first exchange."""
    return bool(found(case_of(*handshake(), *exchange(0.1), *lines), "one-way"))


def data(after: float, seq: int, ack: int = 401, length: int = 1000) -> str:
    """Write a segment of the client."""
    return tcp(after, FORTH, "P.", seq, ack, length)


def test_data_that_is_acknowledged_was_received() -> None:
    """The capture was filtered by what packets hold: the server's own data is not in it."""
    again = tuple(data(after, 81) for after in TIMES)

    assert silent(*again)
    assert not silent(*again, data(6.0, 81, ack=901))


def test_sender_that_sends_again_what_is_not_its_oldest_got_acknowledgments() -> None:
    """A timer has the oldest segment sent first."""
    first, second = data(1.0, 81), data(1.1, 1081)

    assert silent(first, second, *(data(after, 81) for after in TIMES[1:]))
    assert not silent(first, second, *(data(after, 1081) for after in TIMES[1:]))


def test_sender_that_goes_on_after_a_timeout_got_acknowledgments() -> None:
    """After a timeout the window is one segment, which small writes may fill."""
    again = tuple(data(after, 81, length=100) for after in TIMES)

    assert silent(*again, data(6.0, 181, length=100))
    assert not silent(*again, *(data(6.0 + turn / 10, 181 + 1000 * turn) for turn in range(3)))
