"""A pod's device with ARP off."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.links.arp_off import check
from podpath.net.addresses import Mac
from podpath.net.provenance import Listing, Source, Span
from podpath.node.links import Link, Neighbour
from podpath.node.node import Node
from tests.diagnosis.scenes import bridged_node, case

SPAN = Span(Source(name="ip-link.txt", lines=("2: eth0@if3: <BROADCAST,NOARP,UP>",)), 1, 1)


def silent(*neighbours: Neighbour) -> Node:
    """Return two pods on a bridge, of which the first's device has ARP off."""
    made = bridged_node("1")
    pod = made.namespaces["pod-1"]
    links = tuple(_silenced(link) for link in pod.links.items)
    pod = replace(
        pod, links=pod.links._replace(items=links), neighbours=Listing(neighbours, True, "ip neigh")
    )
    return replace(made, namespaces={**made.namespaces, "pod-1": pod})


def _silenced(link: Link) -> Link:
    return replace(link, noarp=True, span=SPAN, kind="veth") if link.name == "eth0" else link


def test_the_fault_is_told_with_its_line() -> None:
    """The line with NOARP is quoted, and the cure switches it on."""
    found = next(check(case(silent())))
    assert (SPAN,) == found.evidence
    assert "ip netns exec pod-1 ip link set eth0 arp on" == found.repairs[0].commands[0]


def test_entries_put_in_by_hand_do_without_arp() -> None:
    """A permanent neighbour with a MAC of its own is reached."""
    mac = Mac("02:00:00:00:00:01")
    address = bridged_node("1").host.addresses.items[0].address
    entry = Neighbour(
        address=address,
        link=silent().namespaces["pod-1"].links.items[0].name,
        mac=mac,
        state="PERMANENT",
    )
    assert [] == list(check(case(silent(entry))))


def test_a_sound_pod_is_let_be() -> None:
    """No flag, no fault."""
    assert [] == list(check(case(bridged_node("1"))))
