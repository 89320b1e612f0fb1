"""Scripts for nft -f: commands in their order, and by name what is not modeled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.nft.records import NftChainRecord, NftRuleRecord, NftSetRecord
from podpath.evidence.nft.script import NftCommandRecord, is_script, read_script
from podpath.evidence.records import HeadingRecord, Reading
from podpath.net.provenance import Source

WORDS = st.sampled_from(
    [
        "add", "flush", "delete", "insert", "ruleset", "table", "chain", "rule", "element", "inet",
        "t", "c", "{", "}", ";", "drop", "ip", "saddr", "1.2.3.4",
        "type filter hook input priority 0", "$x",
    ]
)  # fmt: skip


def read(*lines: str) -> Reading:
    """Read a script."""
    return read_script(Source(name="s", lines=lines))


def test_commands_and_blocks_keep_their_order() -> None:
    """A chain is made before its rule, whether a command or a block makes it."""
    reading = read(
        "flush ruleset",
        "table inet t {",
        "  chain c { type filter hook forward priority 0; policy drop; }",
        "}",
        "add rule inet t c tcp dport { 22, 80 } accept",
        "insert rule inet t c counter drop",
    )
    told = [record for record in reading.records if not isinstance(record, HeadingRecord)]

    assert reading.gaps == ()
    assert [
        "NftCommandRecord",
        "NftTableRecord",
        "NftChainRecord",
        "NftRuleRecord",
        "NftCommandRecord",
        "NftRuleRecord",
    ] == [type(record).__name__ for record in told]


def test_a_chain_and_a_set_by_command_have_their_properties() -> None:
    """Braces behind a command hold what they hold in a block."""
    reading = read(
        "add chain ip t c { type nat hook postrouting priority srcnat; policy accept; }",
        "add set ip t s { type ipv4_addr; elements = { 10.0.0.1 } }",
        "add element ip t s { 10.0.0.2, 10.0.0.3 }",
    )
    chain, made, more = reading.records

    assert isinstance(chain, NftChainRecord)
    assert ("postrouting", 100) == (chain.hook, chain.priority)
    assert isinstance(made, NftSetRecord)
    assert isinstance(more, NftCommandRecord)
    assert (1, 2) == (len(made.elements), len(more.elements))


def test_the_family_is_ip_where_none_is_named() -> None:
    """As nft takes it."""
    (record,) = read("add rule t c drop").records

    assert isinstance(record, NftRuleRecord)
    assert "ip" == record.family


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("delete rule inet t c index 4", "`delete rule` in this form"),
        ("delete rule inet t c drop", "`delete rule` in this form"),
        ("add rule inet t c handle four drop", "`add rule` in this form"),
        ("replace rule inet t c drop", "`replace rule` names less"),
        ("redefine x = 3", "`redefine`"),
        ("define x", "expected `define NAME = VALUE`"),
        ("add rule inet t c tcp dport $x drop", "defines the variable x"),
        ('include "other.nft"', "`include other.nft`"),
        ("add counter inet t n { packets 1 bytes 2 }", "`add counter`"),
        ("add rule inet t", "names less"),
        ("reset rules", "`reset rules`"),
    ],
)
def test_what_is_not_modeled_is_named(line: str, named: str) -> None:
    """It is a gap, and never passed over."""
    assert any(named in gap.why for gap in read(line).gaps)


@given(st.lists(st.lists(WORDS, max_size=8).map(" ".join), max_size=8))
def test_every_line_ends_as_a_record_or_a_gap(lines: list[str]) -> None:
    """Whatever stands in a script, no line is lost, and the reader never raises."""
    reading = read(*lines)
    spans = [one.span for one in reading.records] + [gap.span for gap in reading.gaps]
    told = {line for span in spans for line in range(span.line, span.last_line + 1)}

    assert {place for place, line in enumerate(lines, 1) if line.strip()} <= told


@pytest.mark.parametrize("number", ["9" * 5000, "\u00b2"])
def test_a_handle_that_is_no_number_is_refused(number: str) -> None:
    """No rule is placed by it."""
    reading = read(f"add rule ip t c handle {number} accept", f"flush ruleset # handle {number}")
    assert not [one for one in reading.records if isinstance(one, NftRuleRecord)]
    assert "in this form is not modeled" in reading.gaps[0].why


def test_a_script_is_told_from_other_text() -> None:
    """A table's heading or a command is enough."""
    assert is_script(Source(name="s", lines=("add rule inet t c drop",)))
    assert is_script(Source(name="s", lines=("table inet t {", "}")))
    assert not is_script(Source(name="s", lines=("add more rules to the firewall",)))
