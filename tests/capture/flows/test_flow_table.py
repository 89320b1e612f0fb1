"""Flows by their names: the numbers that a dictionary gives, however the table fills."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_capture.flows import flow_table
from podpath_capture.flows.flow_table import FlowTable

NAMES = st.tuples(st.integers(1, 6), st.integers(0, 6))


def ask(table: FlowTable, known: dict[tuple[int, int], int], batch: list[tuple[int, int]]) -> None:
    """Ask for some packets, and compare with a dictionary that numbered those before."""
    before = set(known)
    expected = [known.setdefault(name, len(known) + 1) for name in batch]
    words = [np.array([name[at] for name in batch], np.uint64) for at in (0, 1)]
    found, first = table.number(words)

    assert expected == found.tolist()
    assert [
        at for at, name in enumerate(batch) if name not in before and name not in batch[:at]
    ] == first.tolist()


@given(st.lists(st.lists(NAMES, max_size=20), max_size=6))
def test_numbers_are_those_of_a_dictionary(batches: list[list[tuple[int, int]]]) -> None:
    """Flows are numbered in the order of their first packets, over all that was asked before."""
    table, known = FlowTable(2), dict[tuple[int, int], int]()
    for batch in batches:
        ask(table, known, batch)


def test_full_table_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flows find their names again when many stand in each other's way, and after there was no room
    for them.
    """
    monkeypatch.setattr(flow_table, "SMALLEST", 2)
    draw = np.random.default_rng(3)
    table, known = FlowTable(2), dict[tuple[int, int], int]()
    for size in (1, 2, 3, 50, 400, 3, 2000):
        ask(
            table,
            known,
            list(
                zip(
                    draw.integers(1, 40, size).tolist(),
                    draw.integers(0, 40, size).tolist(),
                    strict=True,
                )
            ),
        )

    assert len(known) > 1000
