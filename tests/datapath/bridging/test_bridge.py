"""Tests of bridges: where a frame goes, what br_netfilter makes of it, which port a host outside is
behind.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.bridging import bridge
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.reasons.bridges import (
    FloodedForNobody,
    NotTakenIn,
    PortState,
    TakesNoUntagged,
)
from podpath.datapath.tracing.paths import EMIT
from podpath.datapath.tracing.trace import Delivered, Dropped, Transmitted
from podpath.datapath.vocabulary import BoundaryName
from podpath.datapath.walk.learned import FdbKey
from podpath.net.addresses import Mac
from podpath.net.provenance import Listing
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.report.sentences import spell_failure
from podpath.testing.nodes import Fields, forwarding, given_netns, given_node, probe
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import (
    branch_where,
    decisions,
    given_skb,
    given_walk,
    host,
    last,
    packet,
    reason_at_end,
    reasons,
)
from tests.nftables import native_tables

DNAT = given_rules(
    "PREROUTING -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.1.0.3:80",
    table="nat",
)
SERVICE = probe("tcp 10.1.0.2 > 10.96.0.10:80")
KEY = "net.bridge.bridge-nf-call-iptables"


def given(call: str | None = "1", *ports: str, rules: str = DNAT, **more: object) -> Node:
    """Return two pods on a bridge; `call` None leaves the sysctl out of incomplete evidence."""
    sysctls = forwarding(rp_filter="0") | ({KEY: call} if call is not None else {})
    devices = ports or ("veth1 peer pod1:eth0 master cni0", "veth2 peer pod2:eth0 master cni0")
    fields: Fields = {
        "netfilter": {4: Netfilter(tables=given_tables(rules), complete=True)},
        "sysctls_complete": call is not None,
    }
    fields["links"] = given_netns("host", "cni0 bridge 10.1.0.1/24", *devices).links
    host_netns = given_netns(
        "host", "cni0 bridge 10.1.0.1/24", *devices, sysctls=sysctls, netns=fields
    )
    pods = [
        given_netns(
            f"pod{number}",
            f"eth0 10.1.0.{number + 1}/24 peer host:veth{number}",
            routes=["default via 10.1.0.1 dev eth0"],
        )
        for number in (1, 2)
    ]
    return given_node(host_netns, *pods, **more)


def test_frames_between_ports_are_bridged() -> None:
    """A frame for another port's MAC goes there, and its TTL stays."""
    trace = converse(given(), probe("tcp 10.1.0.2 > 10.1.0.3:80")).branches[0].traces[0]

    assert "host bridge: bridge" in decisions(trace)
    assert 64 == trace.steps[-1].after.ttl
    assert isinstance(trace.outcome, Delivered)


def test_without_br_netfilter_the_reply_is_not_translated_back() -> None:
    """The SYN is routed and translated, its answer is bridged past netfilter, and the client does
    not know it.
    """
    found = converse(given("0"), SERVICE)
    branch = found.branches[0]

    assert ("NEVER", "reply not translated") == (found.verdict, branch.kind)
    assert f"iptables does not see frames that cni0 bridges: {KEY} is 0" in reasons(branch.last)
    assert ["RST"] == [trace.name for trace in branch.answers]
    assert spell_failure(branch.failure).startswith("SYN-ACK not translated back: ")


def test_with_br_netfilter_it_is() -> None:
    """The bridged frame runs through the hooks, is translated, and stays on its bridge."""
    found = converse(given("1"), SERVICE)

    assert "ALWAYS" == found.verdict
    assert "its new destination 10.1.0.3 is behind cni0 too: it stays on the bridge" in reasons(
        found.branches[0].traces[0]
    )


@pytest.mark.parametrize("target", ["10.1.0.3", "10.1.0.2"])
def test_a_chain_ends_what_passes_the_bridge_itself_for_a_while_only(target: str) -> None:
    """The first frame to a next hop does, and each to one that is known by its own request: that is
    asked after five seconds, and the client's fourth SYN is answered (seen on 6.18).
    """
    masqueraded = given_rules(
        "PREROUTING -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.1.0.3:80",
        "POSTROUTING -p tcp -m tcp --dport 80 -j MASQUERADE",
        table="nat",
    )
    chains = native_tables(f"""table netdev t {{
	chain c {{
		type filter hook egress device "cni0" priority 0; policy accept;
		ip daddr {target} drop
	}}
}}
""")
    node = given("1", rules=masqueraded)
    main = replace(node.host, nftables=Listing(items=chains, complete=True, ask=""))
    found = converse(replace(node, namespaces={**node.namespaces, "host": main}), SERVICE)

    assert "UNDECIDED" == found.verdict
    assert BoundaryMet(BoundaryName.BRIDGE_DETOUR) == reason_at_end(found.branches[0].last)


def test_an_unknown_switch_forks_the_walk() -> None:
    """Where the evidence does not show whether br_netfilter is on, both are walked, on being the
    likelier.
    """
    found = converse(given(None), SERVICE)
    fact = f"{KEY} in netns host"

    assert "SOMETIMES" == found.verdict
    assert [(fact, "1")] == [(made.fact, made.value) for made in found.branches[0].assumptions]
    assert [(fact, "0")] == [
        (made.fact, made.value) for made in branch_where(found, works=False).assumptions
    ]
    assert "NEVER" == converse(given(None), SERVICE, settled={fact: "0"}).verdict


def test_no_rules_no_question() -> None:
    """Without a single table it does not matter whether br_netfilter is on."""
    assert (
        ()
        == converse(given(None, rules=""), probe("tcp 10.1.0.2 > 10.1.0.3:80"))
        .branches[0]
        .assumptions
    )


@pytest.mark.parametrize(
    ("port", "why"),
    [
        (
            "veth2 peer pod2:eth0 master cni0 state blocking",
            "cni0 does not send it out of veth2: veth2 is in state blocking",
        ),
        (
            "veth2 peer pod2:eth0 master cni0 isolated",
            "cni0 does not send it out of veth2: veth1 and veth2 are both isolated",
        ),
    ],
)
def test_ports_that_hold_frames_back(port: str, why: str) -> None:
    """A port that is blocked or isolated gets no frame, and the step says why."""
    settled = ["10.1.0.3 dev eth0 lladdr 02:00:00:00:02:02 PERMANENT"]
    node = given("1", "veth1 peer pod1:eth0 master cni0 isolated", port, rules="")
    pods = {
        "pod1": given_netns("pod1", "eth0 10.1.0.2/24 peer host:veth1", neighbours=settled),
        "pod2": given_netns("pod2", "eth0 10.1.0.3/24 mac 02:00:00:00:02:02 peer host:veth2"),
    }
    found = converse(
        replace(node, namespaces={**node.namespaces, **pods}), probe("tcp 10.1.0.2 > 10.1.0.3:80")
    )

    assert ("NEVER", True) == (
        found.verdict,
        any(
            why in text
            for text in (*reasons(last(found)), spell_failure(found.branches[0].failure))
        ),
    )


def test_a_port_that_is_not_forwarding_takes_nothing() -> None:
    """A frame that comes in on a blocked port ends there."""
    node = given(
        "1",
        "veth1 peer pod1:eth0 master cni0 state blocking",
        "veth2 peer pod2:eth0 master cni0",
        rules="",
    )
    pod = given_netns(
        "pod1",
        "eth0 10.1.0.2/24 peer host:veth1",
        neighbours=["10.1.0.3 dev eth0 lladdr 02:00:00:00:02:02 PERMANENT"],
    )
    found = converse(
        replace(node, namespaces={**node.namespaces, "pod1": pod}),
        probe("tcp 10.1.0.2 > 10.1.0.3:80"),
    )

    assert isinstance(last(found).outcome, Dropped)
    assert NotTakenIn("cni0", PortState("veth1", "blocking")) == reason_at_end(last(found))


def test_a_filtering_bridge_takes_no_untagged_frame_without_pvid() -> None:
    """A port without PVID drops untagged frames."""
    netns = given_netns(
        "host",
        "br0 bridge filtering 10.1.0.1/24",
        "veth1 peer pod:eth0 master br0",
        sysctls=forwarding(),
    )
    links = tuple(
        replace(link, port=replace(link.port, pvid=None)) if link.port is not None else link
        for link in netns.links.items
    )
    settled = ["10.1.0.1 dev eth0 lladdr 02:00:00:00:00:fe PERMANENT"]
    node = given_node(
        replace(netns, links=Listing(links, True, "ip link")),
        given_netns("pod", "eth0 10.1.0.2/24 peer host:veth1", neighbours=settled),
    )

    found = converse(node, probe("tcp 10.1.0.2 > 10.1.0.1:80"))

    assert NotTakenIn("br0", TakesNoUntagged("veth1")) == reason_at_end(last(found))


def test_a_mac_that_nobody_has() -> None:
    """A frame for a MAC behind no port is flooded, and nobody takes it."""
    pod = given_netns(
        "pod1",
        "eth0 10.1.0.2/24 peer host:veth1",
        neighbours=["10.1.0.3 dev eth0 lladdr 02:00:00:00:99:99 PERMANENT"],
    )
    node = given(rules="")
    found = converse(
        replace(node, namespaces={**node.namespaces, "pod1": pod}),
        probe("tcp 10.1.0.2 > 10.1.0.3:80"),
    )

    nobody = FloodedForNobody("cni0", Mac("02:00:00:00:99:99"))
    assert nobody == reason_at_end(last(found))


OUTSIDE = (
    "cni0 bridge mac 02:00:00:00:00:fe 10.1.0.1/24",
    "eth0 master cni0",
    "veth1 kind veth master cni0",
    "veth2 kind veth master cni0",
)


def test_pods_outside_the_model_talk_over_the_bridge() -> None:
    """Of two pods only the bridge's ports are known: the translated SYN leaves to one, the reply is
    bridged to the other.
    """
    netns = given_netns("host", *OUTSIDE, sysctls=forwarding(rp_filter="0"),
                        netns={"netfilter": {4: Netfilter(
                            tables=given_tables(DNAT), complete=True,
                        )}})  # fmt: skip
    found = converse(given_node(netns), SERVICE)
    traces = found.branches[0].traces

    assert ("NEVER", "reply not translated") == (found.verdict, found.branches[0].kind)
    assert [("SYN", "veth2"), ("SYN-ACK", "veth1")] == [
        (trace.name, trace.outcome.link)
        for trace in traces
        if isinstance(trace.outcome, Transmitted)
    ]


def reset_about(chain: str, *, call: str, answer: str = "tcp-reset") -> list[str]:
    """Return what becomes of the answer to a rejected SYN from a pod to the host."""
    text = given_rules(f"{chain} -p tcp -j REJECT --reject-with {answer}", "OUTPUT -j DROP")
    conversation = converse(given(call, rules=text), probe("tcp 10.1.0.2 > 10.1.0.1:80"))
    (told,) = conversation.branches[0].answers
    return decisions(told)


def test_a_reset_leaves_by_the_port_where_br_netfilter_saw_the_packet() -> None:
    """The reset passes by OUTPUT, whose rule would drop it, and by the bridge."""
    seen, unseen = (reset_about("INPUT", call=call) for call in "10")

    assert ["host route output: route", "host device transmit: hop"] == seen[:2]
    assert "pod1 route input: local" in seen
    assert "host OUTPUT filter: drop" == unseen[-1]


def test_an_error_passes_output_wherever_its_packet_came_from() -> None:
    """An ICMP error is routed and filtered like any packet of the host."""
    told = reset_about("INPUT", call="1", answer="icmp-port-unreachable")

    assert "host OUTPUT filter: drop" == told[-1]


def test_a_bridge_has_learned_what_it_lists_and_what_it_saw() -> None:
    """A table that is not shown whole may hold any address."""
    entry, strange, seen = (Mac(f"02:00:00:00:00:0{last}") for last in (1, 2, 3))
    made = given(rules="")
    listed = given_netns("host", fdb=[f"{entry} dev veth1 master cni0"]).fdb
    for complete, expected in ((True, [True, False, True]), (False, [True, True, True])):
        fdb = listed._replace(complete=complete)
        walk = given_walk(given_node(replace(made.host, fdb=fdb)))
        walk.learned.fdb[FdbKey("host", "cni0", seen)] = host(walk).link("veth2")
        over = host(walk).link("cni0")

        assert expected == [
            bridge._is_learned(walk, host(walk), over, mac) for mac in (entry, strange, seen)
        ]


def test_a_frame_that_leaves_by_a_port_is_the_bridges_no_more() -> None:
    """Whatever the port hands it to begins anew."""
    walk = given_walk(given("0"))
    skb = given_skb(walk, packet("10.1.0.2", "10.1.0.3"), "veth1")
    skb.port = host(walk).link("veth2")
    skb.bridged = skb.prerouted = True

    assert EMIT is bridge.postrouting(walk, skb)
    assert (False, False, skb.port) == (skb.bridged, skb.prerouted, skb.link)
