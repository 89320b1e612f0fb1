"""Two machines answer for one address only where two machines are heard."""

from __future__ import annotations

from tests.checks.made_captures import case_of, clock, found

OWN, RIVAL, ASKER = "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:77"
ADDRESS = "10.22.0.1"


def answer(after: float, source: str, mac: str) -> str:
    """Write a line of an ARP reply: the frame's own source, and the MAC that it tells."""
    head = f"{clock(after)} {source} > {ASKER}, ethertype ARP (0x0806), length 42"
    return f"{head}: Reply {ADDRESS} is-at {mac}, length 28"


def duplicates(*lines: str) -> list[float]:
    """Return the certainty of each finding."""
    case = case_of(*lines, command="tcpdump -enn -i eth0")
    return [finding.certainty for finding in found(case, "duplicate-address")]


def test_answer_that_comes_from_the_owner_is_damaged() -> None:
    """A second machine sends from its own MAC."""
    first, again = answer(0, OWN, OWN), answer(9, OWN, OWN)

    assert duplicates(first, answer(0.5, OWN, RIVAL), again) == []
    assert duplicates(first, answer(0.5, RIVAL, RIVAL), again) == [1.0]


def test_answer_that_is_heard_once_is_no_second_owner() -> None:
    """One frame may be damaged; where two answer at once, there are two."""
    once = (answer(0, OWN, OWN), answer(50, RIVAL, RIVAL), answer(100, OWN, OWN))
    defended = (answer(0, OWN, OWN), answer(50, RIVAL, RIVAL), answer(50.1, OWN, OWN))

    assert duplicates(*once) == []
    assert duplicates(*once, answer(150, RIVAL, RIVAL)) == [1.0]
    assert duplicates(*defended) == [1.0]


def test_many_macs_that_answer_once_are_damage() -> None:
    """Frames of a fuzzed capture tell a MAC each."""
    damaged = [answer(10.0 + turn, RIVAL, f"02:00:00:00:01:{turn:02x}") for turn in range(3)]
    pair = [answer(turn / 10, (OWN, RIVAL)[turn % 2], (OWN, RIVAL)[turn % 2]) for turn in range(4)]

    assert duplicates(*pair) == [1.0]
    assert duplicates(*pair, *damaged) == []
