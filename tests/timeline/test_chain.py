"""Known chains of causes: their files, and what a bad one is told."""

from __future__ import annotations

import pytest

from podpath.checks.registry import find_check
from podpath.timeline.chain import ChainError, parse_chain
from podpath.timeline.chain_files import load_chains
from podpath.timeline.marks import WEIGHTS

GOOD = """
title = "A leads to B"
prevention = "Keep
 it"
sources = ["https://example.org/1"]
[[link]]
says = "A happens"
kind = "package"
[[leads_to]]
check = "rp-filter"
says = "it is on"
ask = "sysctl x"
""".replace('"Keep\n it"', '"""Keep\n it"""')


def test_there_are_a_dozen_chains_and_more() -> None:
    """The chains that are installed are read, each with where it was reported and what it leads
    to.
    """
    chains = load_chains()

    assert len(chains) >= 12
    assert all(
        chain.sources and all(source.startswith("https://") for source in chain.sources)
        for chain in chains
    )
    assert len({chain.name for chain in chains}) == len(chains)
    assert all(chain.title.isprintable() for chain in chains)
    assert all(link.says.isprintable() for chain in chains for link in chain.links)


@pytest.mark.parametrize("chain", load_chains(), ids=lambda chain: chain.name)
def test_chains_speak_of_what_exists(chain: object) -> None:
    """A chain leads to faults that `podpath explain` knows, by events of kinds that are marked."""
    known = next(one for one in load_chains() if one is chain)

    assert [] == [lead.check for lead in known.leads if find_check(lead.check) is None]
    assert {kind for link in known.links for kind in link.kinds} <= set(WEIGHTS)


def test_a_chain_is_read() -> None:
    """A file gives a chain; white space in its prose is folded."""
    chain = parse_chain("a-b", GOOD)

    assert ("a-b", "Keep it", 300.0) == (chain.name, chain.prevention, chain.links[0].within)


@pytest.mark.parametrize(
    "text",
    ["", "title =", GOOD.replace("sources", "source"), GOOD.replace("https://example.org/1", "").replace('[""]', "[]"),  # noqa: E501
     GOOD.replace('kind = "package"', "optional = true"), GOOD.replace('kind = "package"', 'subject = "("'),  # noqa: E501
     "link = 3\n" + GOOD[:60]],
)  # fmt: skip
def test_a_bad_chain_is_told(text: str) -> None:
    """What is missing in a chain's file, or wrong with it, is an error that names the file."""
    with pytest.raises(ChainError, match="a-b"):
        parse_chain("a-b", text)
