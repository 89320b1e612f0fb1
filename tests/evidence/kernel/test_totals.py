"""Numbers of which only the command says what was counted."""

from __future__ import annotations

import pytest

from podpath.evidence.kernel.totals import FORMAT, TRACKED
from podpath.evidence.node_records import SysctlRecord
from podpath.evidence.records import StatementRecord
from podpath.net.statements import NeighbourCount
from tests.evidence.consoles import block, read


@pytest.mark.parametrize(
    "command",
    [
        "conntrack -C",
        "sudo conntrack --count",
        "conntrack -L 2>/dev/null | wc -l",
        "cat /proc/net/nf_conntrack | wc -l",
        "wc -l /proc/net/nf_conntrack",
    ],
)
def test_entries_of_conntrack(command: str) -> None:
    """It is what the kernel shows as a sysctl, too."""
    text = "65536 /proc/net/nf_conntrack" if command.startswith("wc") else "65536"
    (record,) = read(block(text, command)).records

    assert isinstance(record, SysctlRecord)
    assert (TRACKED, "65536") == (record.key, record.value)


@pytest.mark.parametrize(
    "command",
    ["ip neigh | wc -l", "ip -4 n | wc -l", "ip neighbour show | wc -l", "arp -an | wc -l"],
)
def test_entries_of_the_neighbor_table(command: str) -> None:
    """As people count them."""
    (record,) = read(block("1024", command)).records

    assert isinstance(record, StatementRecord)
    assert NeighbourCount(1024) == record.statement


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("1024", "ip neigh show dev eth0 | wc -l"),
        ("1024", "ip neigh | grep FAILED | wc -l"),
        ("1024", "ip link | wc -l"),
        ("1024", "conntrack -L -p udp | wc -l"),
        ("1024", "ls /etc/cni/net.d | wc -l"),
        ("1024", "arp -n 10.0.0.1 | wc -l"),
        ("1024 entries", "conntrack -C"),
        ("1024", None),
    ],
)
def test_a_count_of_a_part_or_of_anything_else_is_none(text: str, command: str | None) -> None:
    """Nor is a number whose command nobody shows."""
    assert FORMAT.recognise(block(text, command)) == 0
