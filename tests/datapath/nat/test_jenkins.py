"""Tests for the kernel's hash."""

from __future__ import annotations

import pytest

from podpath.datapath.nat.jenkins import jhash2, reciprocal_scale


@pytest.mark.parametrize("count", range(9))
def test_every_length_gives_a_word(count: int) -> None:
    """Blocks of three words are mixed, the rest is finished."""
    assert 0 <= jhash2(list(range(count)), 7) < 1 << 32


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, 0x90F53F03), (2, 0x57699551), (3, 0x25B509CC), (4, 0x55852FA9), (5, 0x2C6264EB),
        (6, 0x939EECE3), (7, 0xF4606D93), (8, 0x1D2BDDCD),
    ],
)  # fmt: skip
def test_words_hash_as_in_the_kernel(count: int, expected: int) -> None:
    """What the macros of include/linux/jhash.h, compiled as C, make of the same words."""
    words = [0x01020304 * number for number in range(1, count + 1)]

    assert expected == jhash2(words, 7)


def test_nothing_hashes_to_the_initial_value() -> None:
    """Without a word the hash is JHASH_INITVAL plus the seed."""
    assert 0xDEADBEEF + 5 == jhash2([], 5)


def test_order_and_seed_matter() -> None:
    """Source and destination cannot change places."""
    assert len({jhash2([1, 2], 0), jhash2([2, 1], 0), jhash2([1, 2], 1)}) == 3


def test_a_hash_is_scaled_evenly() -> None:
    """The upper bits pick the place."""
    assert (0, 4, 9) == (
        reciprocal_scale(0, 10),
        reciprocal_scale(0x7FFFFFFF, 10),
        reciprocal_scale(0xFFFFFFFF, 10),
    )
