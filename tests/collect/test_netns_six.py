"""IPv6 routes and rules, from the listing of both families and from the kernel's dump."""

from __future__ import annotations

import json

import pytest

from podpath.collect.netns_files import ProgramOutput
from podpath.collect.netns_six import SixListings, cut_six

FOUR = '{"dst":"10.0.0.0/8","dev":"eth0","flags":[]}'
SIX = '{"dst":"default","gateway":"fe80::1","dev":"eth0","metric":1024,"flags":[],"pref":"medium"}'
LOCAL = '{"dst":"::1","dev":"lo","flags":[],"pref":"medium"}'


def listing(*routes: str) -> bytes:
    """Return a listing as `ip -j route` prints it."""
    return f"[{','.join(routes)}]\n".encode()


def outputs(both: bytes, six: bytes) -> dict[str, ProgramOutput]:
    """Return what was printed in a namespace where both families were asked for."""
    printed = {"ip-route.json": both, "ip6-route.json": six, "ip6-rule.json": b"[ ]\n"}
    return {name: ProgramOutput(0, text, b"") for name, text in printed.items()}


def test_the_routes_of_ipv6_are_the_end_of_the_listing() -> None:
    """As they stand there."""
    assert listing(SIX, LOCAL) == cut_six(listing(FOUR, SIX, LOCAL))
    assert listing(LOCAL) == cut_six(listing(LOCAL))


@pytest.mark.parametrize(
    "text",
    [
        listing(),
        listing(FOUR),
        listing(SIX, FOUR),
        b"",
        b"[ ]\n",
        b"{}",
        b"[" + SIX.encode(),
        b"[{broken",
        b"\xff[",
    ],
)
def test_what_does_not_end_in_them_has_to_be_asked_for(text: bytes) -> None:
    """Nothing is guessed."""
    assert cut_six(text) is None


def test_nothing_is_derived_before_it_was_seen() -> None:
    """And from then on for the same rules only."""
    known = SixListings()
    seen = outputs(listing(FOUR, SIX), listing(SIX))
    both = {"ip-route.json": ProgramOutput(0, listing(FOUR, LOCAL), b"")}

    assert known.derive(both, b"rules") is None
    known.learn(seen, b"rules")
    derived = known.derive(both, b"rules")

    assert derived is not None
    assert listing(LOCAL) == derived["ip6-route.json"].printed
    assert json.loads(derived["ip6-rule.json"].printed) == []
    assert known.derive(both, b"others") is None
    assert known.derive({}, b"rules") is None


def test_a_program_that_prints_them_otherwise_is_always_asked() -> None:
    """Once seen, whatever comes after."""
    known = SixListings()
    known.learn(outputs(listing(FOUR, SIX), listing(LOCAL)), b"rules")
    known.learn(outputs(listing(FOUR, SIX), listing(SIX)), b"rules")

    assert known.derive({"ip-route.json": ProgramOutput(0, listing(SIX), b"")}, b"rules") is None
