"""Tests for a whole hook: the order of tables, what passes them, and that every ruleset comes to an
end.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st

from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Accept, Drop, Queued, Reject
from podpath.datapath.tracing.exploration import Choices
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Known
from podpath.node.netfilter import Chain, Netfilter, Table
from podpath.testing.nodes import given_netns
from podpath.xtables.legality import TableName
from tests.datapath import rulesets
from tests.datapath.given import Given, Sender, given, given_rules, tcp, udp, with_netfilter

TABLES = st.lists(
    st.sampled_from(("raw", "mangle", "nat", "filter", "security")).flatmap(rulesets.tables),
    max_size=2,
)
PACKETS = st.sampled_from(
    (
        tcp(),
        tcp(flags=protocols.ACK),
        tcp(flags=0),
        udp(),
        Packet(
            Address.parse("10.244.0.5"), Address.parse("198.51.100.7"), protocols.ICMP, icmp_type=3
        ),
        Packet(Address.parse("10.244.0.5"), Address.parse("198.51.100.7"), protocols.GRE),
        tcp()._replace(fragment=True),
    )
)


def test_an_empty_namespace_accepts() -> None:
    """Where nothing is registered, packets pass without a step."""
    sender = Sender(given())

    assert sender.send(sender.skb(tcp()), "PREROUTING", "FORWARD", "POSTROUTING") is ACCEPT
    assert [] == sender.walk.trace.steps


def test_tables_that_are_not_shown_are_one_assumption() -> None:
    """A packet passes tables that the evidence leaves out, and the branch says so once."""
    choices = Choices()
    sender = Sender(given(given_rules("FORWARD -p udp -j DROP"), complete=False), choices)
    sender.send(sender.skb(tcp()), "PREROUTING", "FORWARD")

    assert ["raw, mangle, nat, security: taken to be empty"] == [
        assumption.meaning for assumption in choices.made
    ]


def test_accept_ends_its_own_table_only() -> None:
    """A packet that mangle accepts is still dropped by filter."""
    node = given(given_rules("FORWARD -j ACCEPT", table="mangle"), given_rules("FORWARD -j DROP"))
    sender = Sender(node)

    assert DROP == sender.send(sender.skb(tcp()), "FORWARD")
    assert ["FORWARD mangle", "FORWARD filter"] == [step.stage for step in sender.walk.trace.steps]


def test_raw_keeps_a_packet_from_conntrack_and_nat() -> None:
    """raw runs before conntrack, so a packet of a NOTRACK rule has no connection and keeps its
    source.
    """
    raw = given_rules("PREROUTING -s 10.244.0.5/32 -j CT --notrack", table="raw")
    nat = given_rules("POSTROUTING -o eth0 -j MASQUERADE", table="nat")
    verdict, skb = Sender(given(raw, nat)).forward(tcp())

    assert (ACCEPT, "UNTRACKED", None, "10.244.0.5") == (
        verdict,
        skb.ctinfo,
        skb.connection,
        str(skb.packet.src),
    )


def test_a_new_mark_in_mangle_output_is_routed_again() -> None:
    """Only mangle's OUTPUT asks for another route, and says why."""
    mangle = Sender(given(given_rules("OUTPUT -j MARK --set-mark 0x1", table="mangle")))
    filtering = Sender(given(given_rules("OUTPUT -j MARK --set-mark 0x1")))

    assert Accept("a mangle rule changed the mark") == mangle.send(
        mangle.skb(tcp(), iif=None, oif="eth0"), "OUTPUT"
    )
    assert ACCEPT == filtering.send(filtering.skb(tcp(), iif=None, oif="eth0"), "OUTPUT")


def test_a_new_destination_in_output_is_routed_again() -> None:
    """DNAT in OUTPUT asks for another route, for every packet of the connection."""
    sender = Sender(
        given(
            given_rules("OUTPUT -d 10.96.0.10/32 -j DNAT --to-destination 10.244.0.5", table="nat")
        )
    )
    for flags in (protocols.SYN, protocols.SYN):
        skb = sender.skb(tcp("192.0.2.1", "10.96.0.10", flags=flags), iif=None, oif="eth0")
        assert Accept("NAT rewrote the destination") == sender.send(skb, "OUTPUT")
        sender.send(skb, "POSTROUTING")


def test_input_sees_the_translated_destination() -> None:
    """filter's INPUT is asked about the packet as nat's PREROUTING left it."""
    nat = given_rules(
        "PREROUTING -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 15001", table="nat"
    )
    node = given(nat, given_rules("INPUT -d 10.244.0.1/32 -p tcp -m tcp --dport 15001 -j DROP"))
    sender = Sender(node)

    assert DROP == sender.send(sender.skb(tcp(), iif="cni0"), "PREROUTING", "INPUT")


@settings(max_examples=60)
@hypothesis_given(TABLES, PACKETS, st.booleans())
def test_every_ruleset_comes_to_a_verdict(
    tables: list[Table],
    packet: Packet,
    complete: bool,  # noqa: FBT001
) -> None:  # drawn
    """Whatever rules, unknown matches and missing chains there are, a packet meets a verdict at
    every hook.
    """
    sender = Sender(with_netfilter(given(), Netfilter(tables=tuple(tables), complete=complete)))
    for hook in ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"):
        verdict = sender.send(sender.skb(packet, iif="cni0", oif="eth0"), hook)

        assert isinstance(verdict, Accept | Drop | Reject | Queued)


@settings(max_examples=60)
@hypothesis_given(rulesets.tables("filter"), st.integers(0, 5))
def test_a_rule_that_does_not_match_changes_nothing(table: Table, place: int) -> None:
    """Adding a rule for other packets leaves verdict and matches as they were."""

    def outcome(node: Given) -> tuple[object, ...]:
        sender = Sender(node)
        skb = sender.skb(tcp(), iif="cni0", oif="eth0")
        verdict = sender.send(skb, "FORWARD")
        hits = [hit.rule._replace(position=0) for hit in sender.walk.trace.matched]
        return verdict, skb.mark, hits

    fact = table.chains["FORWARD"]
    assert isinstance(fact, Known)
    rules = list(fact.value.rules)
    other = (
        given(given_rules("FORWARD -s 203.0.113.99/32 -j DROP"))
        .netns.netfilter[4]
        .tables[0]
        .chains["FORWARD"]
    )
    assert isinstance(other, Known)
    rules.insert(min(place, len(rules)), other.value.rules[0])
    more = Known(Chain(name="FORWARD", rules=tuple(rules), policy=fact.value.policy))
    grown = Table(
        name=TableName.FILTER,
        family=4,
        flavour=table.flavour,
        chains={**table.chains, "FORWARD": more},
    )
    before = with_netfilter(given(), Netfilter(tables=(table,), complete=True))
    after = with_netfilter(given(), Netfilter(tables=(grown,), complete=True))

    assert outcome(before) == outcome(after)


MARKED = given_rules("OUTPUT -j MARK --set-mark 0x1", table="mangle")
BY_MARK = ("default via 192.0.2.254 dev eth0", "unreachable default table 100")


def to(address: str) -> str:
    """Spell a rule that sends what leaves elsewhere."""
    return given_rules(f"OUTPUT -j DNAT --to-destination {address}", table="nat")


@pytest.mark.parametrize(
    ("tables", "routes", "verdict"),
    [
        ((MARKED,), BY_MARK, Accept("a mangle rule changed the mark")),
        ((MARKED,), BY_MARK[:1], DROP),
        ((to("9.9.9.9"),), ("unreachable 9.9.9.9",), Accept("NAT rewrote the destination")),
        ((to("9.9.9.9"),), (), DROP),
        ((MARKED, to("9.9.9.9")), ("unreachable 9.9.9.9",), None),
        ((MARKED, to("203.0.113.9")), ("unreachable 203.0.113.9",), None),
        ((MARKED, to("203.0.113.9")), (), DROP),
    ],
)
def test_what_has_no_route_any_more_meets_no_later_rule(
    tables: tuple[str, ...], routes: tuple[str, ...], verdict: object
) -> None:
    """Whoever changes mark or destination in OUTPUT looks for the new way at once."""
    node = given(*tables, given_rules("OUTPUT -j DROP"))
    shown = given_netns(
        "host",
        "eth0 192.0.2.1/24",
        "cni0 10.244.0.1/24",
        routes=[BY_MARK[0], *(route for route in routes if route != BY_MARK[0])],
        rules=["100: fwmark 0x1 lookup 100"],
    )
    host = replace(node.netns, routes=shown.routes, rules=shown.rules)
    sender = Sender(Given(node=replace(node.node, namespaces={"host": host})))
    found = sender.send(sender.skb(tcp(), iif=None, oif="eth0"), "OUTPUT")

    assert isinstance(found, Accept) if verdict is None else verdict == found
