"""Tables of rules made by chance: extensions known and unknown, chains that jump to one another, in
circles too.
"""

from __future__ import annotations

from hypothesis import strategies as st

from podpath.net.provenance import Known
from podpath.node.netfilter import Chain, Rule, Table, Target
from podpath.xtables.legality import ChainPolicy, TableFlavour, TableName
from tests import netfilter_strategies

BASES = {
    "raw": ("PREROUTING", "OUTPUT"),
    "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
    "nat": ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"),
    "filter": ("INPUT", "FORWARD", "OUTPUT"),
    "security": ("INPUT", "FORWARD", "OUTPUT"),
}
USERS = ("A", "B", "C")


@st.composite
def rules(draw: st.DrawFn, table: str, chain: str, position: int) -> Rule:
    """Return a rule that matches often, and often leads to another chain."""
    rule = draw(netfilter_strategies.rules(table, chain, position))
    if draw(st.integers(0, 4)):
        rule = rule._replace(
            src=None, dst=None, in_link=None, out_link=None, protocol=None, fragment=None
        )
        rule = rule._replace(matches=rule.matches[: draw(st.integers(0, 1))])
    if draw(st.integers(0, 2)) == 0:
        rule = rule._replace(target=Target(draw(st.sampled_from(USERS)), (), draw(st.booleans())))
    return rule


@st.composite
def tables(draw: st.DrawFn, name: str) -> Table:
    """Return a table with all its base chains and some user chains."""
    chains: dict[str, Known[Chain]] = {}
    for chain in (*BASES[name], *USERS):
        count = draw(st.integers(0, 3))
        held = tuple(draw(rules(name, chain, position)) for position in range(1, count + 1))
        policy = (
            draw(st.sampled_from((ChainPolicy.ACCEPT, ChainPolicy.DROP, None)))
            if chain not in USERS
            else None
        )
        chains[chain] = Known(
            Chain(name=chain, rules=held, policy=policy, complete=draw(st.booleans()))
        )
    flavour = draw(st.sampled_from((TableFlavour.NFT, TableFlavour.LEGACY)))
    complete = draw(st.booleans())
    return Table(name=TableName(name), family=4, flavour=flavour, chains=chains, complete=complete)
