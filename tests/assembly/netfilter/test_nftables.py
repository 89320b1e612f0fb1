"""Listings of nft to tables of a namespace."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.assembly.netfilter.nftables import NftablesAssembly, assemble_nftables
from podpath.evidence.nft import json as nft_json
from podpath.evidence.nft import text as nft_text
from podpath.net.provenance import Known, Source
from podpath.node.netfilter import Chain, Netfilter, Table
from podpath.xtables.legality import ChainPolicy, TableFlavour, TableName

DATA = Path(__file__).parents[2] / "data" / "nftables"
RULE = "table ip t { chain c { type filter hook input priority 0; RULE }\n}"
OWNED = RULE.replace("ip t", "ip filter")


def assemble(
    *texts: str, tables: tuple[Table, ...] = (), command: str = "nft list ruleset"
) -> NftablesAssembly:
    """Assemble listings, JSON or text."""
    sources = [
        Source(name=f"{place}", lines=tuple(text.splitlines()), command=command)
        for place, text in enumerate(texts)
    ]
    readings = [
        (each, (nft_json if each.lines[0].startswith("{") else nft_text).read(each))
        for each in sources
    ]
    return assemble_nftables(readings, {4: Netfilter(tables=tables)})


def test_text_and_json_of_one_moment_are_one_listing() -> None:
    """Nothing is told twice, and the text's lines are quoted."""
    text, json = (
        (DATA / name).read_text(encoding="utf-8") for name in ("ruleset.txt", "ruleset.json")
    )
    found = assemble(json, text)

    assert [("ip", "kp"), ("inet", "x"), ("netdev", "nd")] == [
        (table.family, table.name) for table in found.listing.items
    ]
    assert {"not modeled: ct count over 10"} == {gap.why for gap in found.gaps}
    assert ("lo",) == found.listing.items[2].chains["i"].devices
    assert found.listing.complete


def test_a_table_of_iptables_is_left_to_its_own_output() -> None:
    """What iptables-save shows is not read again."""
    shown = Chain(name="c", rules=(), policy=ChainPolicy.ACCEPT)
    owned = Table(
        name=TableName.FILTER, family=4, flavour=TableFlavour.NFT, chains={"c": Known(shown)}
    )
    text = OWNED.replace("RULE", "counter accept")

    assert (0, 1) == (
        len(assemble(text, tables=(owned,)).listing.items),
        len(assemble(text).listing.items),
    )


def test_a_base_chain_that_iptables_does_not_show_is_walked() -> None:
    """A table of iptables' name may hold base chains of somebody else; iptables says only that
    there are some.
    """
    shown = Chain(name="INPUT", rules=(), policy=ChainPolicy.ACCEPT)
    owned = Table(
        name=TableName.FILTER, family=4, flavour=TableFlavour.NFT, chains={"INPUT": Known(shown)}
    )
    (table,) = assemble(OWNED.replace("RULE", "drop"), tables=(owned,)).listing.items

    assert ["c"] == list(table.chains)


def test_a_part_of_a_table_is_not_complete() -> None:
    """One chain of a table is shown whole, and says nothing of the others."""
    found = assemble(RULE.replace("RULE", "drop"), command="nft list chain ip t c")

    assert (False, False, True) == (
        found.listing.complete, found.listing.items[0].complete,
        found.listing.items[0].chains["c"].complete,
    )  # fmt: skip


def test_two_outputs_that_differ_leave_a_gap() -> None:
    """The first one counts, and the other is named."""
    found = assemble(
        RULE.replace("RULE", "counter packets 3 bytes 9 drop"), RULE.replace("RULE", "accept")
    )

    assert ["another output shows another table ip t: this one is passed over"] == [
        gap.why for gap in found.gaps
    ]


def test_counters_make_no_difference() -> None:
    """Packets that were counted in between are no contradiction."""
    found = assemble(
        RULE.replace("RULE", "counter packets 3 bytes 9 drop"),
        RULE.replace("RULE", "counter packets 4 bytes 12 drop"),
    )

    assert () == found.gaps


@pytest.mark.parametrize(
    ("flags", "dormant", "unread"),
    [
        ('"dormant"', True, ()), ('["owner", "dormant"]', True, ()), ('"owner"', False, ()),
        ('"ip"', False, ("ip",)),
    ],
)  # fmt: skip
def test_flags_of_json_stand_in_an_array_or_alone(
    flags: str,
    dormant: bool,  # noqa: FBT001
    unread: tuple[str, ...],
) -> None:
    """nft before 1.0.7 prints other words where a single one should stand: such a table may be
    dormant.
    """
    text = f'{{"nftables": [{{"table": {{"family": "ip", "name": "t", "flags": {flags}}}}}]}}'
    (table,) = assemble(text, command="nft -j list ruleset").listing.items

    assert (dormant, unread) == (table.dormant, table.unread_flags)
    assert table.is_active is not (dormant or bool(unread))
