"""Flow tables on Open vSwitch and on the model: the same flows take a packet, and the same packets
leave the same ports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.kernel.openflow import Switch, compare, draw
from tests.seeds import fresh_seed

pytestmark = pytest.mark.kernel("ovsdb-server", "ovs-vswitchd", "ovs-ofctl", "ovs-vsctl")

TABLES = 40
"""Sets of tables, with six packets each."""


def test_fresh_tables_agree(say: Callable[[str], None]) -> None:
    """Tables that nobody has seen before do on the model what they do on the switch; the model is
    hardly ever without an answer.
    """
    first = fresh_seed()
    say(f"python -m tests.kernel.openflow --cases {TABLES} --seed {first}")
    agree, opened, differ = 0, Counter[str](), list[str]()

    with Switch() as switch:
        for seed in range(first, first + TABLES):
            found = compare(switch, draw(seed))
            agree, opened = agree + found.agree, opened + found.open
            differ += found.differ

    assert not differ, differ[0]
    assert agree > 0.9 * TABLES * 6, opened
