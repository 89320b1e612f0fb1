"""`iptables-save | wc -l`."""

from __future__ import annotations

from podpath.evidence import recognition
from podpath.evidence.records import StatementRecord
from podpath.net.firewall import RuleCount
from tests.evidence.consoles import block, read


def stated(text: str, command: str | None = None) -> list[object]:
    """Return what a block states; nothing of it is left over."""
    reading = read(block(text, command))
    assert not reading.gaps
    return [record.statement for record in reading.records if isinstance(record, StatementRecord)]


def test_the_number_behind_the_command() -> None:
    """Without the command a number says nothing."""
    assert stated("99423", "sudo iptables -S | wc -l") == [RuleCount(99423)]
    assert recognition.read(block("99423", "who | wc -l")) is None
