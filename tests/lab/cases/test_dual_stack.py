"""A node of IPv4 given the same of IPv6: its words are those that ip6tables and nft take."""

from __future__ import annotations

import pytest

from podpath.net import nft, protocols
from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import Rule
from podpath.node.netfilter_text import emit_rule
from podpath.node.nftables import NftChain, NftRule, NftSet, NftTable
from podpath.node.node import HOST
from podpath_lab.cases.crafted import encode_frame
from podpath_lab.cases.dual_stack import counterpart, give_both, move_frame, move_probe
from podpath_lab.cases.generate import generate_case
from podpath_lab.draft import link_local
from podpath_lab.frames import decode_frame
from podpath_lab.topologies import routed_pods, two_uplinks
from tests.datapath.given import given_rules, given_tables

OUT = Address.parse("203.0.113.9")


def translate(rule: str, table: str) -> str:
    """Return the rule of IPv6 for one of IPv4."""
    draft = routed_pods().draft
    host = draft.namespaces[HOST]
    (given,) = given_tables(given_rules(rule, table=table))
    ((chain, rules),) = (
        (name, fact.value.rules) for name, fact in given.chains.items() if fact.value.rules  # type: ignore[union-attr]  # known
    )  # fmt: skip
    host.table(table, "nft").chains[chain] += rules
    give_both(draft)
    made: list[Rule] = host.tables6["nft", table].chains[chain]
    return emit_rule(made[0])


@pytest.mark.parametrize(
    ("table", "rule", "six"),
    [
        ("filter", "INPUT -s 10.1.0.0/16 -p icmp -m icmp --icmp-type 8 -j DROP",
         "-A INPUT -s fd00::a01:0/112 -p ipv6-icmp -m icmp6 --icmpv6-type 128 -j DROP"),
        ("nat", "PREROUTING -p tcp -j DNAT --to-destination 10.1.0.2:80",
         '-A PREROUTING -p tcp -j DNAT --to-destination "[fd00::a01:2]:80"'),
        ("filter", "FORWARD -m ttl --ttl-eq 63 -j REJECT --reject-with icmp-host-unreachable",
         "-A FORWARD -m hl --hl-eq 63 -j REJECT --reject-with icmp6-addr-unreachable"),
        ("mangle", "PREROUTING -m set --match-set S-ip src",
         "-A PREROUTING -m set --match-set S-ip6 src"),
        ("raw", "PREROUTING -m addrtype --dst-type BROADCAST",
         "-A PREROUTING -m addrtype --dst-type MULTICAST"),
    ],
)  # fmt: skip
def test_rules_say_the_same_of_ipv6(table: str, rule: str, six: str) -> None:
    """Addresses, types, answers and the names of matches are those of IPv6."""
    assert six == translate(rule, table)


def test_a_probe_goes_between_the_counterparts() -> None:
    """Ports stay, an echo is one of ICMPv6, and special addresses have special counterparts."""
    probe = move_probe(Probe.parse("icmp 10.1.0.2 > 127.0.0.1 from pod1"))

    assert (protocols.ICMPV6, "fd00::a01:2", "::1") == (
        probe.protocol, str(probe.src), str(probe.dst),
    )  # fmt: skip
    assert "fd00::cb00:7109" == str(counterpart(OUT))


def test_every_device_has_its_link_local_address_and_the_kernels_routes() -> None:
    """They are part of the node, so that nothing has to be guessed."""
    draft = routed_pods().draft
    give_both(draft)
    host = draft.freeze().host
    routes = {
        (route.type, str(route.prefix), hop.link)
        for route in host.routes.items
        if route.prefix.family == 6
        for hop in route.nexthops
    }

    link = next(each for each in host.links.items if each.name == "eth0")
    assert any(item.address == link_local(link.mac) for item in host.addresses.items)
    assert {
        ("unicast", "fd00::ac1f:0/120", "eth0"), ("local", "fd00::ac1f:a", "eth0"),
        ("anycast", "fd00::ac1f:0", "eth0"), ("unicast", "fe80::/64", "eth0"),
        ("multicast", "ff00::/8", "eth0"),
    } <= routes  # fmt: skip


def test_where_a_proxy_answers_ipv6_names_the_device() -> None:
    """169.254.1.1 has no counterpart: the gateway is the link-local address behind the cable."""
    draft = two_uplinks(gateways=False).draft
    give_both(draft)
    pod, host = draft.namespaces["pod1"], draft.namespaces[HOST]
    gateways = {hop.gateway for route in pod.routes for hop in route.nexthops} - {None}

    assert link_local(host.link("lxc1").mac) in gateways


def test_a_frame_is_one_of_ipv6() -> None:
    """What is encoded is decoded again, with its hop limit, its class and its length."""
    case = next(
        each for each in map(generate_case, range(100))
        if each.frame is not None and each.frame.protocol == protocols.UDP
    )  # fmt: skip
    assert case.frame is not None
    frame = move_frame(case.frame)

    packet, _ = decode_frame(encode_frame(frame))

    assert packet is not None
    names = ("src", "dst", "protocol", "sport", "dport", "ttl", "tos", "length", "smac")
    assert [getattr(frame, name) for name in names] == [getattr(packet, name) for name in names]


def test_native_tables_say_the_same_of_ipv6() -> None:
    """Expressions of a set made with `typeof` and a frame's protocol are those of IPv6, and what is
    the same in both stays.
    """
    draft = routed_pods().draft
    host = draft.namespaces[HOST]
    pair = nft.Concat((nft.Payload("ip", "ttl"), nft.Payload("tcp", "dport")))
    statements = (
        nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("protocol"), nft.Literal("ip")),
        nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("l4proto"), nft.Literal("tcp")),
        nft.NftMatch(nft.Comparison.EQUAL, pair, nft.SetRef("ends")),
    )
    span = Span(Source(name="given", lines=("",)), 1, 1)
    rule = NftRule(nft.NftFamily.IP, "early", "first", 1, span, statements)
    chain = NftChain(
        name="first",
        type=nft.NftChainType.FILTER,
        hook=nft.NftHook.OUTPUT,
        priority=0,
        rules=(rule,),
    )
    held = NftSet(name="ends", types=("ip ttl", "tcp dport"), typeof=True)
    host.nftables.append(
        NftTable(
            family=nft.NftFamily.IP, name="early", chains={"first": chain}, sets={"ends": held}
        )
    )

    give_both(draft)

    made = host.nftables[-1]
    assert made.sets["ends"].types == ("ip6 hoplimit", "tcp dport")
    (six,) = made.chains["first"].rules
    assert six.statements == (
        nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("protocol"), nft.Literal("ip6")),
        nft.NftMatch(nft.Comparison.EQUAL, nft.Meta("l4proto"), nft.Literal("tcp")),
        nft.NftMatch(
            nft.Comparison.EQUAL,
            nft.Concat((nft.Payload("ip6", "hoplimit"), nft.Payload("tcp", "dport"))),
            nft.SetRef("ends"),
        ),
    )


def test_only_whoever_asks_has_both_families() -> None:
    """A seed means the same node without, and most probes of those with both go by IPv6."""
    pairs = [(generate_case(seed), generate_case(seed, both_families=True)) for seed in range(60)]

    assert all(6 not in plain.node.host.netfilter for plain, _ in pairs)
    assert all(both.topology == plain.topology for plain, both in pairs)
    assert 35 < sum(both.probe.src.family == 6 for _, both in pairs) < 60
