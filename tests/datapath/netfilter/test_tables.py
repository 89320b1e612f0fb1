"""Tests for compiled tables: chains compiled when reached, each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from podpath.datapath.netfilter.tables import CompiledTable
from podpath.datapath.sets.ipsets import Sets
from podpath.datapath.walk.compiled import Engine
from podpath.net.provenance import Known
from podpath.node.netfilter import Chain, Rule
from tests.datapath.given import Sender, given, given_rules, given_tables, tcp, with_chain


class Watched(Sequence[Rule]):
    """Rules that remember how often each was read."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        """Hold the rules, unread."""
        self.rules = rules
        self.reads = 0

    def __len__(self) -> int:
        """Count the rules without reading one."""
        return len(self.rules)

    @overload
    def __getitem__(self, place: int) -> Rule: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Rule]: ...
    def __getitem__(self, place: int | slice) -> Rule | Sequence[Rule]:
        """Read a rule."""
        self.reads += 1
        return self.rules[place]

    def __iter__(self) -> Iterator[Rule]:
        """Read all rules."""
        return (self[place] for place in range(len(self.rules)))


def watched_node() -> tuple[Watched, Sender]:
    """Return a node whose chain A watches its rules, and a packet's sender."""
    node = given(
        given_rules(
            "FORWARD -m conntrack --ctstate NEW -p tcp -j A",
            "A -p udp -j DROP",
            "A -j ACCEPT",
            chains=("A",),
        )
    )
    fact = node.netns.netfilter[4].tables[0].chains["A"]
    assert isinstance(fact, Known)
    rules = Watched(fact.value.rules)
    changed = with_chain(node, "A", Known(Chain(name="A", rules=rules)))
    return rules, Sender(changed, engine=Engine(changed.node))


def test_a_chain_is_read_when_a_packet_reaches_it() -> None:
    """A chain that no packet comes to is never read."""
    rules, sender = watched_node()
    sender.send(sender.skb(tcp()._replace(protocol=17)), "FORWARD")

    assert 0 == rules.reads


def test_a_rule_is_compiled_once() -> None:
    """Later packets find the chain compiled."""
    rules, sender = watched_node()
    for _ in range(3):
        sender.send(sender.skb(tcp()), "PREROUTING", "FORWARD")

    assert 2 == rules.reads


def test_a_users_chain_comes_before_an_extension_of_its_name() -> None:
    """A chain may have the name of a target; iptables takes the chain then."""
    table = given_tables(given_rules("FORWARD -j TRACE", "TRACE -j DROP", chains=("TRACE",)))[0]
    compiled = CompiledTable(table, "host", Sets({}), "iptables-save -c")
    chain = table.chains["FORWARD"]
    assert isinstance(chain, Known)

    assert compiled.compile(chain.value.rules[0]).act is None


def test_a_table_names_itself_for_facts() -> None:
    """The name says command, table, flavour and namespace, so that no other table's fact has it."""
    table = given_tables(given_rules("FORWARD -j DROP"), flavour="legacy")[0]

    assert (
        "iptables table filter (legacy) in netns pod-a"
        == CompiledTable(table, "pod-a", Sets({}), "").label
    )
