"""Each line of a file for iptables-restore is a command, or a gap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.planned.restore import RestoreRecord, RestoreVerb, read_restore
from podpath.net.provenance import Source


def read(*lines: str) -> tuple[list[RestoreRecord], list[str]]:
    """Return the commands of a block, and why lines are none."""
    source = Source(name="r", lines=("*filter", *lines, "COMMIT"))
    reading = read_restore(source, 4, "nft")
    return list(reading.of(RestoreRecord))[1:], [gap.why for gap in reading.gaps]


@pytest.mark.parametrize(
    ("line", "verb", "chain", "number", "policy"),
    [
        (":A - [0:0]", RestoreVerb.DECLARE, "A", None, "-"),
        (":INPUT DROP [5:6]", RestoreVerb.DECLARE, "INPUT", None, "DROP"),
        ("[1:2] -A A -s 10.0.0.1 -j DROP", RestoreVerb.APPEND, "A", None, ""),
        ("  -I A -j DROP", RestoreVerb.INSERT, "A", None, ""),
        ("--insert A 3 -j DROP", RestoreVerb.INSERT, "A", 3, ""),
        ("-R A 2 -j DROP", RestoreVerb.REPLACE, "A", 2, ""),
        ("-D A 2", RestoreVerb.DELETE, "A", 2, ""),
        ("--delete A -j DROP", RestoreVerb.DELETE, "A", None, ""),
        ("-C A -j DROP", RestoreVerb.CHECK, "A", None, ""),
        ("--new-chain A", RestoreVerb.CREATE, "A", None, ""),
        ("-X", RestoreVerb.REMOVE, "", None, ""),
        ("-F A", RestoreVerb.FLUSH, "A", None, ""),
        ("-P INPUT DROP -c 1 2", RestoreVerb.POLICY, "INPUT", None, "DROP"),
        ("-Z", RestoreVerb.ZERO, "", None, ""),
    ],
)
def test_every_command_is_read(
    line: str, verb: RestoreVerb, chain: str, number: int | None, policy: str
) -> None:
    """In its long and its short spelling, with what it names."""
    records, gaps = read(line)

    assert [] == gaps
    assert [(verb, chain, number, policy)] == [
        (one.verb, one.chain, one.number, one.policy) for one in records
    ]


@pytest.mark.parametrize(
    "line",
    [
        "-A",
        "-A A -t nat -j DROP",
        "-A A -j DROP # why",
        "-D A 2 -j DROP",
        "-E A",
        "-E A B C",
        "-F A -F B",
        "-N",
        "-P INPUT",
        "-R A -j DROP",
        "-A A -s 10.0.0.1,10.0.0.2 -j DROP",
        ":A",
        "*nat",
        "-s 10.0.0.1 -A A -j DROP",
        "what is this",
    ],
)
def test_what_the_program_does_not_take_is_a_gap(line: str) -> None:
    """And so is what is not modeled; no line is lost."""
    records, gaps = read(line)

    assert ([], 1) == (records, len(gaps))


def test_a_comment_may_hold_what_looks_like_an_option() -> None:
    """Words in quotes are no options."""
    (record,), gaps = read('-A A -m comment --comment "use -t nat" -j DROP')

    assert [] == gaps
    assert record.rule is not None
    assert "use -t nat" == record.rule.matches[0].options[0].values[0]


def test_a_block_has_to_be_committed() -> None:
    """Without COMMIT the program changes nothing; behind it, a line belongs to no table."""
    cut = read_restore(Source(name="r", lines=("*filter", "-A A -j DROP")), 4, None)
    behind = read_restore(Source(name="r", lines=("*filter", "COMMIT", "-A A -j DROP")), 4, None)

    assert [1] == [gap.span.line for gap in cut.gaps]
    assert [3] == [gap.span.line for gap in behind.gaps]


WORDS = st.sampled_from(
    ["-A", "-I", "-D", "-R", "-X", ":A", "*filter", "COMMIT", "A", "2", "-j", "DROP", "#", "!", '"']
)


@given(st.lists(st.lists(WORDS, max_size=5).map(" ".join), max_size=6))
def test_no_line_is_lost(lines: list[str]) -> None:
    """Every line that is not blank ends in a record or a gap."""
    reading = read_restore(Source(name="r", lines=tuple(lines)), 4, None)

    spans = [*(one.span for one in reading.records), *(gap.span for gap in reading.gaps)]
    shown = {number for span in spans for number in range(span.line, span.last_line + 1)}
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= shown
