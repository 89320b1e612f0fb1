"""IPv6 addresses get one number each, whatever they are met with."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podpath_capture.arrays.addresses import AddressNumbers, place

HALVES = st.sampled_from([0, 1, 2, 1 << 32, (1 << 64) - 1, 0xFE80 << 48])


@given(st.lists(st.lists(st.tuples(HALVES, HALVES), max_size=6), max_size=5))
def test_equal_addresses_have_equal_numbers(batches: list[list[tuple[int, int]]]) -> None:
    """However they come, in batches or again, a number leads back to its address, and no address
    has two.
    """
    addresses = AddressNumbers()
    numbers: dict[tuple[int, int], int] = {}
    for batch in batches:
        high, low = (np.array([pair[half] for pair in batch], np.uint64) for half in (0, 1))
        given_numbers = addresses.number(high, low).tolist()
        for pair, number in zip(batch, given_numbers, strict=True):
            assert numbers.setdefault(pair, number) == number
    table = addresses.values()

    assert {high << 64 | low: number for (high, low), number in numbers.items()} == {
        address: number for number, address in enumerate(table)
    }


def test_addresses_with_one_place_are_told_apart() -> None:
    """Two addresses that are looked for in one place keep their own numbers, whichever was there
    last.
    """
    addresses = AddressNumbers()
    odd = 0x9E3779B97F4A7C15
    high, low = np.array([0, 1], np.uint64), np.array([odd, 0], np.uint64)

    assert len(set(place(high, low).tolist())) == 1
    numbers = addresses.number(high, low).tolist()
    assert sorted(numbers) == [0, 1]
    for _ in range(3):
        assert numbers[::-1] == addresses.number(high[::-1], low[::-1]).tolist()
        assert numbers[:1] * 2 == addresses.number(high[[0, 0]], low[[0, 0]]).tolist()


def test_thousands_of_addresses() -> None:
    """More addresses than have a place of their own are numbered too, each time alike."""
    addresses = AddressNumbers()
    low = np.arange(100_000, dtype=np.uint64)
    high = np.full(100_000, 0xFD00 << 48, np.uint64)
    first = addresses.number(high, low)

    assert len(set(first.tolist())) == 100_000
    assert (addresses.number(high, low) == first).all()
    assert [addresses.values()[number] for number in first[:3].tolist()] == [
        0xFD00 << 112,
        0xFD00 << 112 | 1,
        0xFD00 << 112 | 2,
    ]
