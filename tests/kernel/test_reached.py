"""What is told of a class of flows is what the kernel does to one of them that nobody walked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kernel.reached import send_headers
from tests.seeds import fresh_seed

pytestmark = pytest.mark.kernel(
    "iptables-nft-restore", "iptables-legacy-restore", "ipset", "bridge", "nft"
)

CASES, WHOLE = 24, 3


def test_a_header_of_a_class_goes_the_way_of_its_class(say: Callable[[str], None]) -> None:
    """On nodes that nobody has seen before, from a seed that is new each time."""
    first = fresh_seed()
    say(f"python -m tests.kernel.reached --cases {CASES} --seed {first}")

    tally = send_headers(range(first, first + CASES), 2)

    say(str(tally))
    assert tally.wrong == []
    assert tally.headers


def test_a_header_of_each_class_goes_the_way_of_its_class(say: Callable[[str], None]) -> None:
    """All classes around the probes of a few nodes, from a seed that is new each time."""
    first = fresh_seed()
    say(f"python -m tests.kernel.reached --cases {WHOLE} --seed {first} --every")

    tally = send_headers(range(first, first + WHOLE), 2, every=True)

    say(str(tally))
    assert tally.wrong == []
