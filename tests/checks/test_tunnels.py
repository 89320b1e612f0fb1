"""Faults of tunnels: each is found where it is, and nothing where it only seems to be."""

from __future__ import annotations

import pytest

from podpath.net.addresses import Address
from podpath.node.links import Vxlan
from tests.checks.made_captures import (
    CLIENT,
    SERVER,
    case_of,
    faults,
    found,
    tcp,
)
from tests.checks.nodes import address, link, netns, node
from tests.checks.scenes import findings


@pytest.mark.parametrize(("mtu", "count"), [(1500, 1), (1450, 0)])
def test_a_vxlan_device_must_leave_room_for_its_outer_headers(mtu: int, count: int) -> None:
    """Fifty bytes over IPv4."""
    tunnel = link(
        "flannel.1",
        kind="vxlan",
        mtu=mtu,
        vxlan=Vxlan(vni=1, port=8472, local=Address.parse("10.0.0.1"), dev="eth0"),  # type: ignore[arg-type]
    )
    found = findings(node(netns(links=[tunnel, link("eth0", mtu=1500)])), "vxlan-mtu")
    assert count == len(found)


def test_a_vxlan_device_without_a_lower_device_stands_on_its_local_address() -> None:
    """As flannel makes them; where neither is known nothing is said."""
    tunnel = link(
        "vx0",
        kind="vxlan",
        mtu=1500,
        vxlan=Vxlan(vni=1, port=8472, local=Address.parse("10.0.0.1")),
    )
    uplink = link("bond0", mtu=1500)
    stands = netns(links=[tunnel, uplink], addresses=[address("bond0", "10.0.0.1")])
    assert [found.evidence[0].text for found in findings(node(stands), "vxlan-mtu")] == [
        tunnel.span.text if tunnel.span else ""
    ]
    assert findings(node(netns(links=[tunnel, uplink])), "vxlan-mtu") == []


def tunnelled(direction: str, cksum: str) -> str:
    """Write an outer packet of VXLAN, as -vv prints it."""
    return (
        f"10:00:00.000000 eth0  {direction} IP (tos 0x0, ttl 64, id 7, offset 0, flags [none], "
        "proto UDP (17), length 110)\n"
        f"    192.0.2.4.50111 > 192.0.2.5.8472: {cksum}OTV, flags [I] (0x08), overlay 0, instance 1"
    )


def test_wrong_checksum_of_a_tunnel_counts_where_it_comes_in() -> None:
    """On the sending side the card sets it later, which is noise; on the receiving side it is what
    is dropped.
    """
    bad = "[bad udp cksum 0x58ad -> 0x2ab4!] "
    incoming = case_of(*tunnelled("In ", bad).split("\n"), command="tcpdump -vvnni any")
    outgoing = case_of(*tunnelled("Out", bad).split("\n"), command="tcpdump -vvnni any")

    assert ["vxlan-outer"] == faults(incoming)
    assert faults(outgoing) == []
    assert ["risk"] == [finding.severity for finding in found(incoming, "vxlan-outer")]
    assert ["note"] == [finding.severity for finding in found(outgoing, "checksum-offload")]


def test_wrong_checksum_of_a_tunnel_is_a_fault_where_nothing_in_it_is_answered() -> None:
    """What the tunnel carries tells: an answer means that the sum was only not finished yet."""
    bad = "[bad udp cksum 0x58ad -> 0x2ab4!] "
    inner = "IP (tos 0x0, ttl 64, id 7, offset 0, flags [DF], proto TCP (6), length 60)"
    carried = f"    {CLIENT} > {SERVER}: Flags [S], seq 7, win 5, length 0"
    asked = (*tunnelled("In ", bad).split("\n"), inner, carried)
    answer = tcp(0.1, f"{SERVER} > {CLIENT}", "S.", 9, 8, where="cni0  In ")
    unanswered, answered = (
        case_of(*lines, command="tcpdump -vvnni any") for lines in (asked, (*asked, answer))
    )

    assert ["fault"] == [finding.severity for finding in found(unanswered, "vxlan-outer")]
    assert found(answered, "vxlan-outer") == []
