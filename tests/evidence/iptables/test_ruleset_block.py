"""One table block, and which of its chains are shown whole."""

from __future__ import annotations

from podpath.evidence.iptables.command import IptablesCommand
from podpath.evidence.iptables.ruleset_block import RulesetBlock
from podpath.evidence.iptables.ruleset_lines import Wrap
from podpath.net.provenance import Source

SOURCE = Source(name="rules", first_line=10, lines=("",) * 20)
LISTED = IptablesCommand(program="iptables", family=4, action="S")


def whole(block: RulesetBlock, command: IptablesCommand) -> dict[str, bool]:
    """Say which chains are whole."""
    return {name: chain.whole for name, chain in block.record(command, 4, None).chains.items()}


def test_a_block_reaches_over_its_content() -> None:
    """From the first to the last line that states something."""
    block = RulesetBlock(SOURCE, 2, None)
    block.add_rule("A", 7)
    block.add_rule("A", 5)
    block.wrap(7, Wrap(8, " "))
    record = block.record(LISTED, 4, "nft")

    assert (record.span.line, record.span.last_line) == (15, 18)
    assert [rule.span.line for rule in record.chains["A"].rules] == [15, 17]


def test_a_block_with_both_ends_is_whole() -> None:
    """`*table`, its chains, COMMIT."""
    block = RulesetBlock(SOURCE, 0, "nat")
    block.declare("PREROUTING", 1, saved=True)
    block.commit(3)

    assert block.record(IptablesCommand(), 4, None).whole
    assert whole(block, IptablesCommand()) == {"PREROUTING": True}


def test_an_ellipsis_among_declarations_hides_chains_only() -> None:
    """The rules come below, so those of the chains that are there are all there."""
    block = RulesetBlock(SOURCE, 0, "nat")
    block.declare("A", 1, saved=True)
    block.elisions.append(2)
    block.declare("B", 3, saved=True)
    block.add_rule("A", 4)
    block.commit(5)

    assert not block.record(IptablesCommand(), 4, None).whole
    assert whole(block, IptablesCommand()) == {"A": True, "B": True}


def test_one_rule_of_a_chain_is_not_the_chain() -> None:
    """`iptables -S CHAIN 3` prints one."""
    block = RulesetBlock(SOURCE, 0, None)
    block.add_rule("A", 1)

    assert whole(block, LISTED._replace(chain="A", number=3)) == {"A": False}
    assert whole(block, LISTED._replace(chain="A")) == {"A": False}
    block.declare("A", 0, saved=False)
    assert whole(block, LISTED._replace(chain="A")) == {"A": True}
    assert whole(block, LISTED._replace(filtered=True)) == {"A": False}


def test_a_chain_that_is_listed_alone_may_be_empty() -> None:
    """`iptables -S CHAIN` prints `-N CHAIN` of a chain without rules; among others of the table, of
    whose rules none is shown, such a line says nothing.
    """
    block = RulesetBlock(SOURCE, 0, None)
    block.declare("A", 0, saved=False)

    assert whole(block, LISTED._replace(chain="A")) == {"A": True}
    assert whole(block, LISTED) == {"A": False}


def test_an_empty_block_is_none() -> None:
    """Nothing was stated."""
    block = RulesetBlock(SOURCE, 0, None)

    assert block.is_empty
