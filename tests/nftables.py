"""Native tables for tests: rules as nft(8) reads them, to the node's tables."""

from __future__ import annotations

from podpath.assembly.netfilter.nftables import assemble_nftables
from podpath.evidence.nft import text as nft_text
from podpath.net.provenance import Source
from podpath.node.nftables import NftTable


def native_tables(text: str, command: str = "nft -a list ruleset") -> tuple[NftTable, ...]:
    """Read tables from text; every line of it has to be understood."""
    source = Source(name="nft.txt", lines=tuple(text.splitlines()), command=command)
    reading = nft_text.read(source)
    assembled = assemble_nftables([(source, reading)], {})
    assert () == reading.gaps
    return assembled.listing.items
