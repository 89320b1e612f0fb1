"""`conntrack -S`."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.firewall import TrackingCount
from tests.evidence.consoles import block, read


def stated(text: str, command: str | None = None) -> list[object]:
    """Return what a block states; nothing of it is left over."""
    reading = read(block(text, command))
    assert not reading.gaps
    return [record.statement for record in reading.records if isinstance(record, StatementRecord)]


def test_processors_are_summed() -> None:
    """What is zero everywhere is left out."""
    text = """
cpu=0   \tfound=0 invalid=5 insert=0 insert_failed=3 drop=0 early_drop=0
cpu=1   \tfound=2 invalid=1 insert=0 insert_failed=4 drop=0 early_drop=0
"""
    assert set(stated(text)) == {
        TrackingCount("found", 2),
        TrackingCount("invalid", 6),
        TrackingCount("insert_failed", 7),
    }
