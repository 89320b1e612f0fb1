"""Bridges and br_netfilter held against the real kernel."""

from __future__ import annotations

import pytest

from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node
from tests.datapath.given import given_rules, given_tables
from tests.kernel.kernel_twin import Agreed, agree

pytestmark = pytest.mark.kernel("ip", "bridge", "sysctl", "iptables-nft-restore")

WORKS = Agreed("ALWAYS", "", "")
SERVICE = "tcp 10.1.0.2:40000 > 10.96.0.10:80 from pod1"
DIRECT = "tcp 10.1.0.2:40000 > 10.1.0.3:80 from pod1"
DNAT = (
    "PREROUTING -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.1.0.3:80",
)
HAIRPIN = (
    "PREROUTING -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.1.0.2:80",
)
MASQUERADE = "POSTROUTING -s 10.1.0.2/32 -d 10.1.0.2/32 -j MASQUERADE"


def given(
    *nat: str, port: str = "", call: str = "1", rules: tuple[str, ...] = (), **sysctls: str
) -> Node:
    """Return two pods on a bridge; `port` holds words of the first pod's port, `rules` those of
    filter.
    """
    settings = {**forwarding(rp_filter="0"), "net.bridge.bridge-nf-call-iptables": call}
    settings |= {key.replace("__", "."): value for key, value in sysctls.items()}
    texts = [given_rules(*nat, table="nat")] if nat else []
    texts += [given_rules(*rules)] if rules else []
    tables = tuple(table for text in texts for table in given_tables(text))
    host = given_netns(
        "host", "cni0 bridge 10.1.0.1/24 mac 02:00:00:00:00:fe",
            f"veth1 peer pod1:eth0 master cni0 mac 02:00:00:00:01:01 {port}",
        "veth2 peer pod2:eth0 master cni0 mac 02:00:00:00:02:01", sysctls=settings,
        netns={"netfilter": {4: Netfilter(tables=tables, complete=True, sets_complete=True)}},
    )  # fmt: skip
    pods = [
        given_netns(
            f"pod{number}", f"eth0 10.1.0.{number + 1}/24 mac 02:00:00:00:0{number}:02 peer "
                            f"host:veth{number}",
            routes=["default via 10.1.0.1 dev eth0"],
        )
        for number in (1, 2)
    ]  # fmt: skip
    return given_node(host, *pods)


def test_pods_reach_each_other_over_the_bridge() -> None:
    """Frames between two ports are bridged."""
    assert WORKS == agree(given(), DIRECT)


@pytest.mark.parametrize(
    ("call", "expected"), [("1", WORKS), ("0", Agreed("NEVER", "reply not translated", ""))]
)
def test_a_reply_on_the_same_bridge_is_translated_back_by_br_netfilter_alone(
    call: str, expected: Agreed
) -> None:
    """Without br_netfilter the reply of a pod on the same bridge keeps its own source, and the
    client resets.
    """
    assert expected == agree(given(*DNAT, call=call), SERVICE)


def test_bridged_dnat_needs_forwarding() -> None:
    """A frame that is translated to another port of its bridge goes up and ends there without
    ip_forward.
    """
    node = given(*DNAT, net__ipv4__ip_forward="0")

    assert Agreed("NEVER", "dropped", "IP_INADDRERRORS") == agree(node, SERVICE)


def test_rules_see_the_bridge_as_the_device() -> None:
    """FORWARD sees a bridged packet with the bridge as both devices, and its ports by `-m
    physdev`.
    """
    rules = (
        "FORWARD -i veth1 -j DROP",
        "FORWARD -i cni0 -o cni0 -m physdev --physdev-in veth1 --physdev-out veth2 -j ACCEPT",
        "FORWARD -m physdev --physdev-is-bridged -j ACCEPT",
        "FORWARD -j DROP",
    )

    assert WORKS == agree(given(rules=rules), DIRECT)


@pytest.mark.parametrize("call", ["0", "1"])
def test_filter_rules_count_for_bridged_packets_only_with_br_netfilter(call: str) -> None:
    """A DROP in FORWARD stops pods of one bridge from each other only if br_netfilter shows it
    their packets.
    """
    expected = Agreed("NEVER", "dropped", "NETFILTER_DROP") if call == "1" else WORKS

    assert expected == agree(given(call=call, rules=("FORWARD -j DROP",)), DIRECT)


@pytest.mark.parametrize(
    ("port", "nat", "expected"),
    [
        ("", (*HAIRPIN, MASQUERADE), "NEVER"),
        ("hairpin", (*HAIRPIN, MASQUERADE), "ALWAYS"),
        ("hairpin", HAIRPIN, "NEVER"),
    ],
)
def test_a_pod_reaches_itself_through_a_service_with_hairpin_and_masquerade(
    port: str, nat: tuple[str, ...], expected: str
) -> None:
    """Hairpin: the port must send back what came from it, and the source must not be the pod's
    own.
    """
    assert expected == agree(given(*nat, port=port), SERVICE).verdict


def test_hairpin_is_not_needed_where_the_host_routes() -> None:
    """With br_netfilter off the frame goes up, and the host sends it back down without a hairpin
    port.
    """
    assert "ALWAYS" == agree(given(*HAIRPIN, MASQUERADE, call="0"), SERVICE).verdict


def test_prerouting_runs_once() -> None:
    """A packet that goes up from the bridge runs through PREROUTING once: the rule counters
    agree.
    """
    node = given(*DNAT, rules=("INPUT -p tcp -j ACCEPT",))

    assert WORKS == agree(node, "tcp 10.1.0.2:40000 > 10.1.0.1:80 from pod1")


@pytest.mark.parametrize(
    ("chain", "to"), [("INPUT", "10.1.0.1"), ("FORWARD", "10.1.0.3"), ("INPUT", "10.96.0.10")]
)
def test_a_reset_about_a_bridged_packet_leaves_by_its_port(chain: str, to: str) -> None:
    """The reset about a packet that br_netfilter saw goes out by the port itself, between the two
    MACs of what it answers: the bridge, OUTPUT and POSTROUTING never see it.
    """
    reject = f"{chain} -p tcp -j REJECT --reject-with tcp-reset"
    local = "PREROUTING -d 10.96.0.10/32 -p tcp -j DNAT --to-destination 10.1.0.1:80"
    node = given(local, rules=(reject, "OUTPUT -p tcp -j ACCEPT"))

    assert Agreed("NEVER", "rejected", "tcp-reset") == agree(
        node, f"tcp 10.1.0.2:40000 > {to}:80 from pod1"
    )


def test_a_reset_about_what_no_rule_saw_on_the_bridge_leaves_by_the_bridge() -> None:
    """Without br_netfilter the packet has no port any more: its reset passes OUTPUT and the
    bridge.
    """
    reject = "INPUT -p tcp -j REJECT --reject-with tcp-reset"
    node = given(rules=(reject, "OUTPUT -p tcp -j ACCEPT"), call="0")

    assert Agreed("NEVER", "rejected", "tcp-reset") == agree(
        node, "tcp 10.1.0.2:40000 > 10.1.0.1:80 from pod1"
    )


def test_an_error_about_a_bridged_packet_leaves_by_the_bridge() -> None:
    """An ICMP error, unlike a reset, is routed like any packet of the host."""
    node = given(rules=("INPUT -p tcp -j REJECT", "OUTPUT -p icmp -j ACCEPT"))

    assert Agreed("NEVER", "rejected", "icmp-port-unreachable") == agree(
        node, "tcp 10.1.0.2:40000 > 10.1.0.1:80 from pod1"
    )
