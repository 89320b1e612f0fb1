"""Numbers that note which of their bits are looked at: they calculate as numbers do, and whatever
they say depends on noted bits alone.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.net.addresses import Address, PortRange, Prefix
from podpath.net.watched import Compared, Looked, Watched, is_any_watched, is_watched

PORTS = st.integers(0, 0xFFFF)
COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
QUESTIONS: dict[str, Callable[[Any, int], object]] = {
    **{one.__name__: one for one in COMPARISONS},
    "mask": lambda port, number: port & number == number & 0xFF00,
    "mask, other way": lambda port, number: number & port == 80,
    "upper bits": lambda port, number: port >> 8 == number >> 8,
    "network": lambda port, number: port >> 4 << 4 == number,
    "in a range": lambda port, number: port in PortRange(min(80, number), max(80, number)),
    "one of some": lambda port, number: port in {80, 443, number},
    "sum": lambda port, number: (port + number) % 7,
    "difference, other way": lambda port, number: number - port > 0,
    "truth": lambda port, number: bool(port) and bool(number),
    "text": lambda port, number: f"{port:x}" < f"{number:x}",
    "bytes": lambda port, number: struct.pack("!HH", port, number),
    "as an index": lambda port, number: "ab"[port & 1] + "cd"[number & 1],
    "bits": lambda port, number: port.bit_count() + number,
    "from the left": lambda port, number: number < port <= 60000,
    "as a key": lambda port, number: {80: "a", number: "b"}.get(port),
    "negative": lambda port, number: port > -number,
    "beyond its width": lambda port, number: port == number << 8 | 1 << 17,
}


def watch(number: int, width: int = 16) -> tuple[Any, Looked]:
    """Return a watched number, and what is noted of it."""
    looked = Looked()
    return Watched(number, width, 0, looked), looked


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
@given(port=PORTS, other=PORTS, number=PORTS)
def test_what_agrees_in_the_noted_bits_has_the_same_answer(
    question: Callable[[Any, int], object], port: int, other: int, number: int
) -> None:
    """A watched number answers as a number does, and so does every one that has its noted bits."""
    watched, looked = watch(port)
    answer = question(watched, number)
    like = other & ~looked.mask | port & looked.mask

    assert question(port, number) == answer
    assert question(like, number) == answer


@given(port=PORTS, numbers=st.lists(PORTS, max_size=6), other=PORTS)
def test_whoever_is_none_of_some_is_told_by_few_bits(
    port: int, numbers: list[int], other: int
) -> None:
    """What is noted tells whether a number is among others, no more than is needed for it."""
    watched, looked = watch(port)
    found = watched.is_one_of(sorted(numbers))
    like = other & ~looked.mask | port & looked.mask

    assert found is (port in numbers) is (like in numbers)
    assert not looked.mask or numbers


@given(one=PORTS, other=PORTS, like=PORTS, alike=PORTS)
def test_two_fields_are_told_apart_by_the_bits_down_to_the_first_that_differs(
    one: int, other: int, like: int, alike: int
) -> None:
    """Headers that agree in the noted bits have the same answer, and a bit of each tells of it."""
    looked = Looked()
    first: Any = Watched(one, 16, 16, looked)
    second: Any = Watched(other, 16, 0, looked)
    same = first == second
    header = (like << 16 | alike) & ~looked.mask | (one << 16 | other) & looked.mask

    assert same is (one == other)
    assert (header >> 16 == header & 0xFFFF) is same
    if one ^ other >= 1 << 15:
        assert looked.mask == 1 << 31 | 1 << 15


def test_equality_notes_the_bits_down_to_the_first_that_differs() -> None:
    """80 is told from 443 by the bit for 256 and those above it."""
    watched, looked = watch(80)

    assert watched != 443
    assert looked.mask == 0xFF00
    assert watched == 80
    assert looked.mask == 0xFFFF


def test_it_equals_itself_unseen() -> None:
    """Nothing is learned from a number by comparing it with itself."""
    watched, looked = watch(4711)

    assert watched == watched >> 0
    assert watched <= watched >> 0
    assert not watched < watched >> 0
    assert (looked.mask, watched.offset) == (0, 0)


def test_a_prefix_is_noted_to_its_length() -> None:
    """Whether an address is in a network depends on the network's bits."""
    watched, looked = watch(Address.parse("10.244.1.5").value, 32)

    assert Prefix.parse("10.244.0.0/16").covers(Address(4, watched))
    assert looked.mask == 0xFFFF0000


def test_it_passes_for_an_int_and_is_known_for_what_it_is() -> None:
    """`isinstance` takes it for a number; who keeps numbers apart can ask."""
    watched, _ = watch(80)

    assert isinstance(watched, int)
    assert is_watched(watched)
    assert not is_watched(80)
    assert is_any_watched(None, Address(4, watched))
    assert not is_any_watched(None, Address(4, 1))


def test_one_of_another_header_is_told_whole() -> None:
    """Two watched numbers that are not one field tell all of themselves."""
    (one, first), (two, second) = watch(80), watch(80)

    assert one == two
    assert (first.mask, second.mask) == (0xFFFF, 0xFFFF)


def test_keys_are_compared_without_a_look_at_more() -> None:
    """A mapping of watched keys finds its own without noting anything, and tells them from others
    by what nobody watches.
    """
    watched, looked = watch(40000)
    kept: Compared[tuple[object, ...], str] = Compared()
    kept["tcp", watched] = "a"
    kept["udp", 40000] = "b"

    assert kept["tcp", watched] == "a"
    assert looked.mask == 0
    assert (list(kept.values()), len(kept)) == (["a", "b"], 2)
    assert ("udp", watched) in kept
    assert looked.mask == 0xFFFF
    kept["tcp", watched] = "c"
    del kept["udp", 40000]
    assert dict(kept) == {("tcp", 40000): "c"}
    assert ("tcp",) not in kept
