"""Connections that the conntrack table shows to hang."""

from __future__ import annotations

import pytest

from tests.assembly.evidence_text import Output, case_of

ENTRY = (
    "tcp 6 118 {} src=10.9.1.4 dst=10.96.7.7 sport={} dport=80 {}src=10.9.1.9 dst=10.9.1.4 "
    "sport=80 dport={}{}"
)
HANGING = ENTRY.format("SYN_SENT", 53084, "[UNREPLIED] ", 53084, "")
ESTABLISHED = ENTRY.format("ESTABLISHED", 53086, "", 53086, " [ASSURED]")
LATER = HANGING.replace("53084", "53099")


@pytest.mark.parametrize("command", ["conntrack -L | grep 10.96.7.7", "conntrack -L -d 10.96.7.7"])
def test_entry_that_was_looked_for(command: str) -> None:
    """A SYN without a reply among the entries of one address is a connection that fails, once for
    each pair of ends.
    """
    case = case_of(Output(command, f"{HANGING}\n{ESTABLISHED}\n{LATER}"))
    assert [(str(item.probe), item.result) for item in case.attempts] == [
        ("tcp 10.9.1.4:53084 > 10.96.7.7:80", "timeout")
    ]


def test_entry_of_a_whole_table() -> None:
    """In a whole table such an entry is nothing that anybody complains of."""
    assert case_of(Output("conntrack -L", f"{HANGING}\n{ESTABLISHED}")).attempts == ()


def test_capture_tells_more() -> None:
    """A capture of the same connection says how it fails; the entry adds nothing."""
    capture = """
    10:00:00.1 IP 10.9.1.4.53084 > 10.96.7.7.80: Flags [S], seq 100, win 64240, length 0
    10:00:00.2 IP 10.9.1.9.80 > 10.9.1.4.53084: Flags [S.], seq 900, ack 101, win 64240, length 0
    10:00:00.3 IP 10.9.1.4.53084 > 10.9.1.9.80: Flags [R], seq 101, win 0, length 0
    """
    case = case_of(
        Output("conntrack -L | grep 10.96.7.7", HANGING), Output("tcpdump -ni br0", capture)
    )
    assert [item.result for item in case.attempts] == ["reset"]
