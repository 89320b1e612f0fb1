"""A server that answers some source addresses and not others."""

from __future__ import annotations

import pytest

from podpath.checks.conntrack.source_unanswered import check
from tests.assembly.evidence_text import case_of_document

POD = (
    "udp      17 {left} src=10.24.12.40 dst=10.27.240.10 sport=57400 dport=53 {silent}"
    "src=10.24.9.31 dst=10.24.12.40 sport=53 dport=57400 mark=0 use=1"
)
NODE = (
    "udp      17 175 src=10.142.15.206 dst=10.27.240.10 sport=37337 dport=53 "
    "src=10.24.9.31 dst=10.142.15.206 sport=53 dport=37337 [ASSURED] mark=0 use=1"
)
AGAIN = (
    "udp      17 20 src=10.24.12.40 dst=10.27.240.10 sport=57444 dport=53 "
    "src=10.24.9.31 dst=10.24.12.40 sport=53 dport=57444 mark=0 use=1"
)


def ticket(*entries: str) -> str:
    """Make a ticket of entries."""
    listed = "\n".join(entries)
    return f"```\n$ conntrack -L\n{listed}\n```\n"


UNREPLIED = POD.format(left=26, silent="[UNREPLIED] ")


def test_a_source_that_is_not_answered_is_told() -> None:
    """The silent entry is quoted first, then the one that is answered; it is possible."""
    (found,) = check(case_of_document(ticket(UNREPLIED, NODE)))

    assert "10.24.9.31:53 answers UDP from 10.142.15.206, but not from 10.24.12.40." == (
        str(found.claim).replace("udp", "UDP")
    )
    assert "UNREPLIED" in found.evidence[0].text
    assert "ASSURED" in found.evidence[1].text
    assert 0.6 == found.certainty
    assert "10.24.12.40" in found.asks[0].command


@pytest.mark.parametrize(
    "entries",
    [
        (POD.format(left=29, silent="[UNREPLIED] "), NODE),
        (POD.format(left=26, silent=""), NODE),
        (UNREPLIED, AGAIN, NODE),
        (UNREPLIED,),
        (UNREPLIED, NODE.replace("10.24.9.31", "10.24.9.77")),
        (UNREPLIED, NODE.replace("dst=10.142.15.206", "dst=10.24.12.40")),
    ],
)
def test_what_only_looks_like_it_is_let_be(entries: tuple[str, ...]) -> None:
    """An answer that is under way, one that came, another server, and the same source."""
    assert [] == list(check(case_of_document(ticket(*entries))))


def test_a_hosts_own_timeout_tells_how_old_an_entry_is() -> None:
    """Where an answer is waited for during 10 s, one with 8 s left is under way."""
    stated = "```\n$ sysctl net.netfilter.nf_conntrack_udp_timeout\n{}\n```\n"
    key = "net.netfilter.nf_conntrack_udp_timeout"
    listed = ticket(POD.format(left=8, silent="[UNREPLIED] "), NODE)

    assert [] == list(check(case_of_document(stated.format(f"{key} = 10") + listed)))
    assert 1 == len(list(check(case_of_document(stated.format(f"{key} = 30") + listed))))
