"""Tables back to text: what nft reads again."""

from __future__ import annotations

from pathlib import Path

from podpath.net import nft
from podpath.node.nftables import NftChain, NftTable
from podpath.node.nftables_text import emit_expression, emit_rule, emit_statement, emit_table
from tests.nftables import native_tables

RULESET = (Path(__file__).parents[1] / "data" / "nftables" / "ruleset.txt").read_text(
    encoding="utf-8"
)


def test_what_is_emitted_reads_the_same() -> None:
    """emit and read are inverse."""
    tables = native_tables(RULESET)
    again = native_tables("".join(map(emit_table, tables)))
    for one, other in zip(tables, again, strict=True):
        assert one.sets == {name: _at(one.sets[name].span, other.sets[name]) for name in one.sets}
        for name, chain in one.chains.items():
            assert [rule.statements for rule in chain.rules] == [
                rule.statements for rule in other.chains[name].rules
            ]


def _at(span: object, item: object) -> object:
    from dataclasses import replace  # noqa: PLC0415  # only here

    return replace(item, span=span)  # type: ignore[type-var]  # a dataclass


def test_a_base_chain_says_where_it_stands() -> None:
    """Only base chains have a hook."""
    chain = NftChain(
        name="c",
        type=nft.NftChainType.FILTER,
        hook=nft.NftHook.INGRESS,
        priority=3,
        devices=("eth0",),
    )
    text = emit_table(
        NftTable(
            family=nft.NftFamily.NETDEV, name="t", chains={"c": chain, "d": NftChain(name="d")}
        )
    )

    assert (True, False) == (chain.is_base, NftChain(name="d").is_base)
    assert 'type filter hook ingress device "eth0" priority 3; policy accept;' in text


def test_bit_fields_keep_their_sign() -> None:
    """`ct state == new` and `ct state new` are two conditions."""
    same = nft.NftMatch(nft.Comparison.EQUAL, nft.Ct("state"), nft.Literal("new"))
    assert ("ct state == new", "ct state new") == (
        emit_statement(same),
        emit_statement(same._replace(op=nft.Comparison.ANY_BIT)),
    )


def test_rules_name_their_chain() -> None:
    """A rule's place is its family, table and chain."""
    rule = (
        native_tables('table ip t { chain c { counter comment "hi"; }\n}')[0].chains["c"].rules[0]
    )

    assert ("ip t c", 'counter comment "hi"') == (rule.place, emit_rule(rule))


def test_prefixes_keep_their_length() -> None:
    """Expressions are spelled as nft does."""
    assert "fib saddr . iif oif" == emit_expression(nft.Fib(("saddr", "iif"), nft.NftFibResult.OIF))
