"""Tests of vxlan and ipip: the outer packet takes its own way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.devices import tunnel
from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.reasons.devices import (
    NoRemoteEnd,
    TunnelFromOther,
    TunnelsNested,
    VniUnknown,
    WrappedForUnknownEnd,
)
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.trace import Delivered, Transmitted
from podpath.datapath.vocabulary import BoundaryName, DropCause
from podpath.net.addresses import Mac
from podpath.node.links import Geneve, TunnelEnds, Vxlan
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import (
    Fields,
    forwarding,
    given_cilium,
    given_netns,
    given_node,
    ip,
    probe,
)
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import last, packet, reason_at_end, reason_of, reasons

REMOTE = probe("tcp 10.244.0.1 > 10.244.1.7:80")
ROUTE = "10.244.1.0/24 via 10.244.1.0 dev flannel.1 onlink"
NEIGHBOUR = "10.244.1.0 dev flannel.1 lladdr 02:00:00:00:0f:01 PERMANENT"
ENTRY = "02:00:00:00:0f:01 dev flannel.1 dst 192.0.2.9"


def given(*, fdb: tuple[str, ...] = (ENTRY,), rules: str = "", complete: bool = True) -> Node:
    """Return a host with flannel's vxlan device."""
    fields: Fields = {"netfilter": {4: Netfilter(tables=given_tables(rules), complete=True)}}
    netns = given_netns(
        "host", "eth0 192.0.2.2/24", "flannel.1 vni 1 mtu 1450", "cni0 bridge 10.244.0.1/24",
        routes=[ROUTE], neighbours=[NEIGHBOUR], fdb=fdb, sysctls=forwarding(rp_filter="0"),
        complete=complete, netns=fields,
    )  # fmt: skip
    return given_node(netns)


def test_the_outer_packet_leaves_and_brings_the_inner_answer_back() -> None:
    """A packet for another node is wrapped towards the remote end that the forwarding entry names;
    the answer is unwrapped.
    """
    found = converse(given(), REMOTE)
    first, second = found.branches[0].traces[:2]
    outcome = first.outcome

    assert isinstance(outcome, Transmitted)
    assert (
        "eth0", "flannel.1", "udp 192.0.2.2:40000 > 192.0.2.9:8472",
        "tcp 10.244.0.1:40000 > 10.244.1.7:80 [SYN]",
    ) == (
        outcome.link, outcome.tunnel, str(outcome.outer), str(outcome.packet),
    )  # fmt: skip
    assert ("ALWAYS", True) == (found.verdict, "flannel.1 decapsulates it" in reasons(second))
    assert 110 == (outcome.outer.length if outcome.outer else 0)


def test_the_outer_packet_passes_the_hosts_rules() -> None:
    """A rule that drops the tunnel's port breaks what is inside."""
    found = converse(given(rules=given_rules("OUTPUT -p udp -m udp --dport 8472 -j DROP")), REMOTE)

    assert ("NEVER", "NETFILTER_DROP") == (found.verdict, reason_of(last(found).outcome))


def test_a_tunnel_without_a_remote_end() -> None:
    """Where the forwarding database is whole and has no entry the frame is dropped; where it is
    not, the inner packet leaves.
    """
    whole, cut = converse(given(fdb=()), REMOTE), converse(given(fdb=(), complete=False), REMOTE)

    nowhere = NoRemoteEnd("flannel.1", Mac("02:00:00:00:0f:01"))
    assert nowhere == reason_at_end(last(whole))
    assert reason_of(last(whole).outcome) == "NOT_SPECIFIED"
    assert drop_reason(DropCause.VXLAN_NO_REMOTE, "6.18.1") == "NO_TX_TARGET"
    assert cut.branches[0].works
    assert WrappedForUnknownEnd("flannel.1") == cut.branches[0].traces[0].steps[-2].reason


def test_an_external_device_has_no_use_for_forwarding_entries() -> None:
    """Cilium's programs say where a frame goes, whatever the forwarding database holds; what else
    might say it, nobody shows.
    """
    host = given(fdb=()).host
    details = Vxlan(vni=0, port=8472, external=True)
    items = tuple(
        replace(link, vxlan=details) if link.vxlan is not None else link
        for link in host.links.items
    )
    host = replace(host, links=host.links._replace(items=items))

    by_program = converse(given_node(host, cilium=given_cilium()), REMOTE)
    unknown = converse(given_node(host), REMOTE)

    assert by_program.branches[0].works
    assert WrappedForUnknownEnd("flannel.1") in [
        step.reason for step in by_program.branches[0].traces[0].steps
    ]
    assert "UNDECIDED" == unknown.verdict
    assert BoundaryMet(BoundaryName.TUNNEL, ("flannel.1", "vxlan external")) == reason_at_end(
        last(unknown)
    )


def test_both_ends_in_the_node() -> None:
    """Two namespaces with vxlan devices of one network reach each other through it."""
    ends = [
        given_netns(
            name, f"eth0 192.0.2.{own}/24 peer {other}:eth0",
            f"vx0 vni 7 10.9.0.{own}/24 mac 02:00:00:00:07:0{own}",
            neighbours=[f"10.9.0.{far} dev vx0 lladdr 02:00:00:00:07:0{far} PERMANENT"],
            fdb=[f"02:00:00:00:07:0{far} dev vx0 dst 192.0.2.{far}"],
        )
        for name, other, own, far in (("a", "b", 1, 2), ("b", "a", 2, 1))
    ]  # fmt: skip
    found = converse(given_node(*ends), probe("udp 10.9.0.1 > 10.9.0.2:53"))

    assert ("ALWAYS", Delivered) == (found.verdict, type(found.branches[0].traces[0].outcome))


def test_ipip_wraps_towards_the_gateway() -> None:
    """A tunnel without a remote end of its own sends to the gateway of the route (Calico's
    tunl0).
    """
    netns = given_netns(
        "host", "eth0 192.0.2.2/24", "tunl0 kind ipip 10.244.0.1/32",
        routes=["10.244.1.0/24 via 192.0.2.9 dev tunl0 onlink"], sysctls=forwarding(rp_filter="0"),
    )  # fmt: skip
    outcome = converse(given_node(netns), REMOTE).branches[0].traces[0].outcome

    assert "ipencap 192.0.2.2 > 192.0.2.9" == (
        str(outcome.outer) if isinstance(outcome, Transmitted) else ""
    )


def tunneled(kind: str, ends: TunnelEnds) -> Node:
    """Return a host with a tunnel of these ends for the other node's pods."""
    netns = given_netns(
        "host", "eth0 192.0.2.2/24", f"t0 kind {kind} to 192.0.2.9 10.244.0.1/32",
        routes=["10.244.1.0/24 via 192.0.2.9 dev t0 onlink"], sysctls=forwarding(rp_filter="0"),
    )  # fmt: skip
    links = tuple(
        replace(link, ends=ends) if link.ends is not None else link for link in netns.links.items
    )
    return given_node(replace(netns, links=netns.links._replace(items=links)))


@pytest.mark.parametrize(("own", "seen"), [(0, 7), (40, 40)])
@pytest.mark.parametrize("kind", ["ipip", "gre"])
def test_the_outer_ttl_is_the_inner_one_or_the_devices_own(kind: str, own: int, seen: int) -> None:
    """`ttl inherit`, as every such device has it that names none (`ip_tunnel_xmit`)."""
    node = tunneled(kind, TunnelEnds(remote=ip("192.0.2.9"), ttl=own))
    asked = REMOTE._replace(sending=REMOTE.sending._replace(ttl=7))
    outcome = converse(node, asked).branches[0].traces[0].outcome

    assert isinstance(outcome, Transmitted)
    assert outcome.outer is not None
    assert seen == outcome.outer.ttl


def test_gre_with_its_own_address_alone_is_left_open() -> None:
    """Without an entry of its neighbors it sends to its own address, whatever the route says."""
    node = tunneled("gre", TunnelEnds(local=ip("192.0.2.2")))

    assert BoundaryMet(BoundaryName.TUNNEL, ("t0", "gre without a remote end")) == reason_at_end(
        last(converse(node, REMOTE))
    )


def test_a_tunnel_drops_what_leads_into_itself() -> None:
    """A tunnel whose own packets are routed into it again drops them, as the kernel does
    (ELOOP).
    """
    netns = given_netns(
        "host",
        "eth0 192.0.2.2/24",
        "tunl0 kind ipip 10.244.0.1/32",
        routes=["10.0.0.0/8 via 10.9.9.9 dev tunl0 onlink"],
    )

    assert "NEVER" == converse(given_node(netns), REMOTE).verdict


def test_packets_of_one_socket_share_an_outer_connection() -> None:
    """The outer source port is a hash: the same for what a socket sends, another for an ICMP
    error.
    """
    node = given(rules=given_rules("INPUT -p tcp -j REJECT --reject-with icmp-host-unreachable"))
    branch = converse(node, REMOTE).branches[0]
    ports = {
        trace.name: [step.after.sport for step in trace.steps if step.decision == "encapsulate"]
        for trace in (*branch.traces, *branch.answers)
    }
    assert ports["SYN"] == [40000]
    assert ports["icmp-host-unreachable"] == [40001]


def test_tunnels_nest_three_deep() -> None:
    """An outer packet that is translated into its own tunnel is wrapped again, until the kernel
    takes it for a circle.
    """
    rules = given_rules(
        "OUTPUT -p udp -m udp --dport 8472 -j DNAT --to-destination 10.244.1.7", table="nat"
    )
    found = last(converse(given(rules=rules), REMOTE))
    assert 3 == sum(step.decision == "encapsulate" for step in found.steps)
    assert TunnelsNested("flannel.1", 2) == reason_at_end(found)


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("-p udp -m udp --sport 40000:50000", "SOMETIMES"),
        ("-p udp -m udp --sport 20000:30000", "ALWAYS"),
        ("-p udp -m udp --sport 1024:65535", "NEVER"),
        ("-p udp -m multiport --sports 53,60000", "SOMETIMES"),
    ],
)
def test_a_rule_may_meet_the_hash_that_is_the_outer_source_port(rule: str, verdict: str) -> None:
    """A range that holds some of the ports that the kernel may take breaks some flows."""
    rules = given_rules(f"OUTPUT {rule} -j DROP")

    assert verdict == converse(given(rules=rules), REMOTE).verdict


def test_a_network_that_no_geneve_device_has_is_told_by_the_first() -> None:
    """One that has the network, but another end, is nearer."""
    links = given_netns("host", "g1", "g2").links.items
    listening = [
        (link, Geneve(vni=vni, port=6081, remote=ip("192.0.2.9")))
        for vni, link in enumerate(links, 1)
    ]
    outer = packet("192.0.2.2", "192.0.2.1")

    assert (links[0], VniUnknown("g1", 9, 1)) == tunnel._other_geneve(outer, 9, listening)
    assert (links[1], TunnelFromOther("g2", ip("192.0.2.2"), ip("192.0.2.9"))) == (
        tunnel._other_geneve(outer, 2, listening)
    )
