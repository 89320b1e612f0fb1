"""Security lists of clouds, as tables."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.firewall import CloudRule
from tests.evidence.consoles import block, read


def stated(text: str, command: str | None = None) -> list[object]:
    """Return what a block states; nothing of it is left over."""
    reading = read(block(text, command))
    assert not reading.gaps
    return [record.statement for record in reading.records if isinstance(record, StatementRecord)]


def test_columns_are_known_by_their_titles() -> None:
    """Blanks part the cells of `az ... -o table`."""
    text = """
Name        Priority  SourceAddressPrefixes  Access  Direction  DestinationPortRanges
DenyAll     65500     *                      Deny    Inbound    *
"""
    assert stated(text) == [
        CloudRule(allowed=False, priority=65500, name="DenyAll", source="*", port="*", inbound=True)
    ]


def test_cells_between_bars() -> None:
    """Marks of Markdown are none of the cell."""
    text = """
| Priority | Name | Port | Source | Action |
| -------- | ---- | ---- | ------ | ------ |
| **500** | web | **80** | Internet | **Allow** |
"""
    assert stated(text) == [
        CloudRule(allowed=True, priority=500, name="web", source="Internet", port="80")
    ]
