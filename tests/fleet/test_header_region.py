"""Sets of headers: what is taken out of them is gone, and what a walk was told is true of all that
is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.net.watched import Watched
from podpath_fleet.header_region import (
    HeaderRegion,
    LookedRanges,
    Ranges,
    count_numbers,
    intersect,
    join_ranges,
    subtract,
)
from tests.net.test_watched import QUESTIONS

PORTS = st.integers(0, 0xFFFF)
SMALL = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=5)
NUMBERS = range(80)
ANY = ((0, 0xFFFF),)


def ranges_of(drawn: list[tuple[int, int]]) -> Ranges:
    """Return ranges in order, of starts and lengths."""
    return join_ranges((first, first + more) for first, more in drawn)


def numbers_in(ranges: Ranges) -> set[int]:
    """Return all numbers of ranges."""
    return {number for number in NUMBERS for first, last in ranges if first <= number <= last}


@given(SMALL, SMALL)
def test_ranges_are_sets(one: list[tuple[int, int]], two: list[tuple[int, int]]) -> None:
    """Meeting, taking away and counting do what they do to sets of numbers."""
    left, right = ranges_of(one), ranges_of(two)

    assert numbers_in(intersect(left, right)) == numbers_in(left) & numbers_in(right)
    assert numbers_in(subtract(left, right)) == numbers_in(left) - numbers_in(right)
    assert count_numbers(left) == len(numbers_in(left))


@given(SMALL, SMALL, SMALL, SMALL)
def test_a_rest_and_its_part_are_the_whole(
    one: list[tuple[int, int]],
    two: list[tuple[int, int]],
    three: list[tuple[int, int]],
    four: list[tuple[int, int]],
) -> None:
    """No header is lost, and none is in two regions."""
    whole = HeaderRegion(ranges_of(one), ranges_of(two), ((1, 9),), ((0, 7),))
    part = whole.meet(HeaderRegion(ranges_of(three), ranges_of(four), ((3, 5),), ((7, 8),)))
    rest = list(whole.without(part)) if part else [whole]

    assert sum(region.size for region in rest) + part.size == whole.size
    assert all(not region.meet(part) for region in rest)
    assert all(not a.meet(b) for a in rest for b in rest if a is not b)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
@given(port=PORTS, other=PORTS, number=PORTS)
def test_all_numbers_that_are_left_have_the_same_answer(
    question: Callable[[Any, int], object], port: int, other: int, number: int
) -> None:
    """Whatever is asked of a watched number, it is answered alike for all of its ranges."""
    looked = LookedRanges({"dport": 0})
    watched: Any = Watched(port, 16, 0, looked)
    answer = question(watched, number)
    left = looked.narrow(HeaderRegion(ANY, ANY, ANY, ANY)).dport

    assert intersect(left, ((port, port),)) == ((port, port),)
    ends = {end for both in left for end in both}
    inner = intersect(left, ((other, other),))
    for like in ends | {first for first, _ in inner}:
        assert question(like, number) == answer


@given(port=PORTS, numbers=st.lists(PORTS, max_size=6, unique=True), shift=st.integers(0, 8))
def test_a_number_that_is_none_of_many_is_any_other(
    port: int, numbers: list[int], shift: int
) -> None:
    """One question, one set: what is left is all that is none of them."""
    looked = LookedRanges({"dport": 0})
    watched: Any = Watched(port, 16, 0, looked)
    part = watched >> shift
    known = sorted({number >> shift for number in numbers})
    inside = part.is_one_of(known)
    left = looked.narrow(HeaderRegion(ANY, ANY, ANY, ANY)).dport

    assert inside is (port >> shift in known)
    blocks = tuple((one << shift, (one + 1 << shift) - 1) for one in known)
    own = ((port >> shift << shift, (port >> shift << shift) + (1 << shift) - 1),)
    assert left == (own if inside else subtract(ANY, join_ranges(blocks)))


@pytest.mark.parametrize("sources", [((0, 255),), None], ids=["many sources", "one source"])
@given(src=st.integers(0, 255), dst=st.integers(0, 255))
def test_a_source_that_is_not_the_destination_is_none_of_the_left_ones(
    sources: Ranges | None, src: int, dst: int
) -> None:
    """Of many sources those are left that differ from every destination that is left; of one, all
    destinations but itself.
    """
    looked = LookedRanges({"dst": 0, "src": 8})
    one: Any = Watched(src, 8, 8, looked)
    other: Any = Watched(dst, 8, 0, looked)
    same = one == other
    own = ((src, src),)
    left = looked.narrow(HeaderRegion(sources or own, ((0, 255),), ANY, ANY))

    assert same is (src == dst)
    assert intersect(left.src, own) == own
    assert intersect(left.dst, ((dst, dst),)) == ((dst, dst),)
    if same:
        assert (left.src, left.dst) == (own, own)
        return
    assert not intersect(left.src, left.dst)
    if sources is None:
        assert count_numbers(left.dst) == 255


def test_a_port_of_a_range_keeps_the_range() -> None:
    """Comparisons say no more than they ask."""
    looked = LookedRanges({"dport": 0, "sport": 16})
    dport: Any = Watched(8080, 16, 0, looked)
    sport: Any = Watched(40000, 16, 16, looked)
    told = (1024 <= dport, dport < 9000, dport != 8443, sport != dport)

    assert told == (True, True, True, True)
    assert looked.narrow(HeaderRegion(ANY, ANY, ANY, ANY)) == HeaderRegion(
        ANY, ANY, ((1024, 8442), (8444, 8999)), ((40000, 40000),)
    )
