"""What differs between two nodes in netfilter: rules of iptables' chains, their policies, sets, and
native nftables tables.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.diagnosis.difference.chains import ChainDifference, compare_chains
from podpath.diagnosis.difference.difference import (
    ChainPlace,
    Difference,
    inside,
    paired_namespaces,
    spans_of,
)
from podpath.diagnosis.repairs_rules import name_tool
from podpath.net.provenance import Fact, Unknown
from podpath.node.change import DeleteNftTable, PutNftTable, PutSet, SetPolicy
from podpath.node.netfilter import Chain, IpSet, Netfilter, Table
from podpath.node.netfilter_text import emit_rule
from podpath.node.nftables import NftTable
from podpath.node.nftables_text import emit_table
from podpath.node.node import Netns, Node
from podpath.xtables.legality import ChainPolicy


def compare_netfilter(bad: Node, good: Node) -> Iterator[Difference]:
    """Compare all tables of all namespaces that both nodes have."""
    for here, there in paired_namespaces(bad, good):
        for family, theirs in there.netfilter.items():
            mine = here.netfilter.get(family, Netfilter())
            for table in theirs.tables:
                twin = next(
                    (
                        own
                        for own in mine.tables
                        if (own.name, own.flavour) == (table.name, table.flavour)
                    ),
                    None,
                )
                if twin is not None or mine.complete:
                    yield from _tables(bad, here.name, twin, table)
            yield from _sets(here.name, mine, theirs)
        yield from _native_tables(here, there)


def _tables(bad: Node, netns: str, mine: Table | None, theirs: Table) -> Iterator[Difference]:
    """Compare the chains that both tables have, and the base chains that only the good one has."""
    for name, fact in theirs.chains.items():
        there, here = (
            _likeliest(fact),
            _likeliest(mine.chains.get(name)) if mine is not None else None,
        )
        if there is None or (
            here is None and (there.policy is None or (mine is not None and name in mine.chains))
        ):
            continue  # a user chain that is missing comes along with the rule that calls it
        here = here or Chain(
            name=name,
            rules=(),
            policy=ChainPolicy.ACCEPT,
            complete=mine is None or mine.complete,
        )
        if here.complete and there.complete:
            place = ChainPlace(
                netns=netns,
                family=theirs.family,
                flavour=theirs.flavour,
                table=theirs.name,
                here=here,
                there=there,
                theirs=theirs,
                ours=mine,
            )
            yield from (_rule(bad, place, each) for each in compare_chains(here, there))
        if here.policy is not None and there.policy is not None and here.policy != there.policy:
            yield _policy(bad, netns, theirs, here, there)


def _likeliest(fact: Fact[Chain] | None) -> Chain | None:
    """Return a chain as a line shows it; the likeliest where outputs disagree, as a walk takes it
    too.
    """
    if isinstance(fact, Unknown):
        return fact.options[0].value if fact.options[0].span is not None else None
    return fact.value if fact is not None else None


def _rule(bad: Node, place: ChainPlace, difference: ChainDifference) -> Difference:
    tool = name_tool(place.ours or place.theirs, bad, place.netns)
    commands: list[str] = []
    if difference.kind != "missing":
        commands.append(f"{tool} -t {place.table} {emit_rule(difference.rule, '-D')}")
    if difference.kind != "extra":
        rule = difference.other or difference.rule
        commands.append(f"{tool} -t {place.table} {emit_rule(rule, '-I', position=rule.position)}")
    mine = () if difference.kind == "missing" else (difference.rule.span,)
    other = difference.other or (difference.rule if difference.kind == "missing" else None)
    return Difference(
        kind="rule",
        netns=place.netns,
        words=difference.words,
        here=mine,
        there=(other.span,) if other is not None else (),
        commands=tuple(inside(place.netns, command) for command in commands),
        place=place,
        rule=difference,
    )


def _policy(bad: Node, netns: str, table: Table, here: Chain, there: Chain) -> Difference:
    tool = name_tool(table, bad, netns)
    policy = there.policy or ChainPolicy.ACCEPT
    return Difference(
        kind="chain policy",
        netns=netns,
        words=(
            f"the policy of {here.name} in {table.name} is {here.policy} here, and {policy} where "
            "it works"
        ),
        here=spans_of(here.span),
        there=spans_of(there.span),
        commands=(inside(netns, f"{tool} -t {table.name} -P {here.name} {policy}"),),
        changes=(
            SetPolicy(
                netns=netns,
                family=table.family,
                flavour=table.flavour,
                table=table.name,
                chain=here.name,
                policy=policy,
            ),
        ),
    )


def _sets(netns: str, mine: Netfilter, theirs: Netfilter) -> Iterator[Difference]:
    for name, there in theirs.sets.items():
        here = mine.sets.get(name)
        if here is None or not here.complete or not there.complete:
            continue
        ours, others = _members(here), _members(there)
        if ours != others:
            lacks, more = len(others - ours), len(ours - others)
            parts = [
                text
                for count, text in (
                    (lacks, f"lacks {lacks} member{'' if lacks == 1 else 's'}"),
                    (more, f"has {more} extra"),
                )
                if count
            ]
            yield Difference(
                kind="set",
                netns=netns,
                words=f"compared with where it works, the set {name} {' and '.join(parts)}",
                here=spans_of(here.span),
                there=spans_of(there.span),
                changes=(PutSet(netns=netns, members=there),),
            )


def _members(each: IpSet) -> frozenset[tuple[object, ...]]:
    return frozenset((member.parts, member.nomatch) for member in each.members)


def _native_tables(here: Netns, there: Netns) -> Iterator[Difference]:
    mine = {(table.family, table.name): table for table in here.nftables.items}
    theirs = {(table.family, table.name): table for table in there.nftables.items}
    for key, table in {**theirs, **mine}.items():
        ours, other = mine.get(key), theirs.get(key)
        if (ours is None and not here.nftables.complete) or (
            other is None and not there.nftables.complete
        ):
            continue
        if ours is None or other is None or emit_table(ours) != emit_table(other):
            yield _native(here.name, table, ours, other)


def _native(
    netns: str, table: NftTable, ours: NftTable | None, other: NftTable | None
) -> Difference:
    what = f"the nftables table {table.family} {table.name}"
    if ours is None:
        words = f"{what} is missing here and present where it works"
    else:
        words = (
            f"{what} is absent where it works"
            if other is None
            else f"{what} is different where it works"
        )
    return Difference(
        kind="nft table",
        netns=netns,
        words=words,
        here=spans_of(ours.span if ours else None),
        there=spans_of(other.span if other else None),
        commands=(inside(netns, f"nft delete table {table.family} {table.name}"),)
        if other is None
        else (),
        changes=(
            DeleteNftTable(netns=netns, table=table)
            if other is None
            else PutNftTable(netns=netns, table=other),
        ),
    )
