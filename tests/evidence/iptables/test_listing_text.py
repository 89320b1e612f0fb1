"""The text column of `iptables -L`."""

from __future__ import annotations

import time

import pytest

from podpath.evidence.iptables.listing_text import ListedText, parse_listed_text
from podpath.evidence.iptables.ruleset import ExtensionText
from podpath.xtables.rule import MatchOption


def comment(text: str) -> ExtensionText:
    """Make the match of a comment."""
    return ExtensionText("comment", (MatchOption("comment", (text,)),))


NEW = ExtensionText("conntrack", (MatchOption("ctstate", ("NEW",)),))


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", ()),
        ("/* plain */", (comment("plain"),)),
        ("/*  */", (comment(""),)),
        ("/* first */ /* second */ ctstate NEW", (comment("first"), comment("second"), NEW)),
        ("ctstate NEW /* last */", (NEW, comment("last"))),
        ("/* holds */ its own end */ ctstate NEW", (comment("holds */ its own end"), NEW)),
        (
            "/* to:10.0.0.1 reject-with tcp-reset */",
            (comment("to:10.0.0.1 reject-with tcp-reset"),),
        ),
        ("ctstate  NEW", (NEW,)),
    ],
)
def test_matches_are_read_in_their_order(text: str, matches: tuple[ExtensionText, ...]) -> None:
    """A comment ends at the first `*/` behind which the rest still makes sense."""
    assert parse_listed_text("ACCEPT", text) == ListedText(matches, ExtensionText("ACCEPT"))


def test_the_target_ends_the_text() -> None:
    """What the target prints is told from a match by the target's name."""
    read = parse_listed_text("DNAT", "ctstate NEW to:10.0.0.1:80 random persistent")

    assert read.matches == (NEW,)
    assert read.target == ExtensionText(
        "DNAT",
        (
            MatchOption("to-destination", ("10.0.0.1:80",)),
            MatchOption("random"),
            MatchOption("persistent"),
        ),
    )


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("icmptype 8", MatchOption("icmp-type", ("8",))),
        ("icmp type 8", MatchOption("icmp-type", ("8",))),
        ("icmp !type 8 code 0", MatchOption("icmp-type", ("8/0",), negated=True)),
        ("icmp echo-request", MatchOption("icmp-type", ("echo-request",))),
        ("ipv6-icmp type 128", MatchOption("icmpv6-type", ("128",))),
        ("ipv6-icmp !type 128", MatchOption("icmpv6-type", ("128",), negated=True)),
        ("MARK match 0x1", MatchOption("mark", ("0x1",))),
        ("mark match ! 0x1/0xf", MatchOption("mark", ("0x1/0xf",), negated=True)),
    ],
)
def test_wordings_of_older_versions_are_read(text: str, option: MatchOption) -> None:
    """1.4 had a blank before `type` that 1.8.9 lost, and marks in capitals."""
    assert [match.options for match in parse_listed_text("ACCEPT", text).matches] == [(option,)]


def test_goto_is_seen() -> None:
    """`[goto]` stands before everything else."""
    assert parse_listed_text("CHAIN", "[goto]  ctstate NEW") == ListedText(
        (NEW,), ExtensionText("CHAIN"), goto=True
    )


def test_options_of_one_conntrack_match_stay_together() -> None:
    """conntrack words each option apart; two matches of the same option stay two."""
    read = parse_listed_text("ACCEPT", "ctstate NEW ctdir ORIGINAL")
    twice = parse_listed_text("ACCEPT", "ctstate NEW ctstate NEW")

    assert [len(match.options) for match in read.matches] == [2]
    assert twice.matches == (NEW, NEW)


def test_what_was_understood_is_kept() -> None:
    """A rule with strange words is unread, with the matches before them."""
    read = parse_listed_text("ACCEPT", "ctstate NEW of another world")

    assert read.matches == (NEW,)
    assert read.unread == "expected the words of a match or target, saw 'of another world'"


def test_a_target_without_its_options_is_unread() -> None:
    """REJECT and MARK always print theirs: here they were cut."""
    assert parse_listed_text("MARK", "").unread == "iptables -L shows no options of MARK"
    assert not parse_listed_text("MASQUERADE", "").unread


@pytest.mark.parametrize(
    "text", ["/* " + "*/ " * 900, "/* a */ " * 400, "ctstate NEW " * 300 + "x", "tcp " * 1000]
)
def test_no_text_takes_long(text: str) -> None:
    """Trying ways is bounded, whatever the text repeats."""
    started = time.process_time()
    parse_listed_text("ACCEPT", text)

    assert time.process_time() - started < 2
