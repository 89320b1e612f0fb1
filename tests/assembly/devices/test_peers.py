"""The other ends of veth pairs, and what stacked devices sit on."""

from __future__ import annotations

import json
from collections.abc import Mapping

from podpath.assembly.case import assemble_case
from podpath.evidence.bundle import assemble_bundle
from podpath.evidence.recognition import read
from podpath.net.addresses import IfName
from podpath.net.provenance import Known
from podpath.node.case import Case
from podpath.node.links import Macvlan, MacvlanMode, Peer
from podpath.node.node import HOST
from tests.assembly.evidence_text import (
    Output,
    case_of,
    known,
    link_of,
)


def test_veth_pairs(recorded: Case) -> None:
    """The ends of a pair find each other, within a namespace by name and across namespaces by
    index.
    """
    host, pod = recorded.node.host, recorded.node.namespaces["cni-5ad1"]
    assert known(link_of(host, "lxcab12").peer) == Peer(
        netns="cni-5ad1", link=link_of(pod, "eth0").name
    )
    assert known(link_of(pod, "eth0").peer) == Peer(netns=HOST, link=link_of(host, "lxcab12").name)
    assert known(link_of(host, "vethbb").peer) == Peer(
        netns=HOST, link=link_of(host, "vethaa").name
    )


def test_uplink_has_no_peer(recorded: Case) -> None:
    """A veth that carries the node's own address leads out of the node, also where its other end is
    not shown.
    """
    assert link_of(recorded.node.host, "ens4").peer is None


def test_stacked_devices_name_their_lower_one() -> None:
    """The device behind `@` of a VLAN is what it sits on, not a peer."""
    text = """
    2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
        link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    3: eth0.7@eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
        link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    """
    vlan = link_of(case_of(Output("ip link", text)).node.host, "eth0.7")
    assert (vlan.lower, vlan.peer) == ("eth0", None)


LINKS = {
    "host": [
        "2: veth0@if2: <UP> mtu 1500 link-netnsid 0",
        "3: veth1@if2: <UP> mtu 1500 link-netnsid 1",
        "9: eth0@if2: <UP> mtu 1500 link-netnsid 2",
    ],
    "web-0": ["2: eth0@if2: <UP> mtu 1500 link-netnsid 0"],
    "web-1": ["2: eth0@if3: <UP> mtu 1500 link-netnsid 0"],
    "stranger": [
        "2: eth0@if9: <UP> mtu 1500 link-netnsid 0", "4: eth1@if2: <UP> mtu 1500 link-netnsid 0",
    ],
}  # fmt: skip


def read_numbered(
    nsids: Mapping[str, Mapping[str, str]], links: Mapping[str, list[str]] = LINKS
) -> Case:
    """Read a bundle of several namespaces whose manifest says whom their numbers stand for."""
    manifest = {"netns": {name: {"nsids": numbers} for name, numbers in nsids.items()}}
    files = {"bundle.json": json.dumps({"format": "podpath/bundle/v1", **manifest})}
    files |= {f"netns/{name}/ip-link.txt": "\n".join(lines) for name, lines in links.items()}
    evidence = assemble_bundle((name, name, text.encode()) for name, text in files.items())
    readings = ((source, read(source)) for source in evidence.sources)
    return assemble_case([(source, found) for source, found in readings if found is not None])


def peers_of(case: Case) -> dict[tuple[str, str], Peer]:
    """Return the other ends that are known, in namespaces that are shown."""
    shown = {netns.name for netns in case.node.namespaces.values() if not netns.inferred}
    return {
        (name, link.name): link.peer.value
        for name in shown
        for link in case.node.namespaces[name].links.items
        if isinstance(link.peer, Known) and link.peer.value.netns in shown
    }


def test_numbers_that_the_kernel_gave_decide_alone() -> None:
    """Of namespaces with devices of one index each end has its own; a number that stands for nobody
    in the bundle leads out of it, though another namespace's device points back.
    """
    stated = {
        "host": {"0": "web-0", "1": "web-1"},
        "web-0": {"0": "host"},
        "web-1": {"0": "host"},
        "stranger": {},
    }
    assert peers_of(read_numbered(stated)) == {
        ("host", "veth0"): Peer(netns="web-0", link=IfName("eth0")),
        ("host", "veth1"): Peer(netns="web-1", link=IfName("eth0")),
        ("web-0", "eth0"): Peer(netns=HOST, link=IfName("veth0")),
        ("web-1", "eth0"): Peer(netns=HOST, link=IfName("veth1")),
    }


def test_without_numbers_a_device_that_points_back_is_the_peer() -> None:
    """So older bundles read as before, with what that guesses wrong."""
    assert peers_of(read_numbered({})).get(("host", "eth0")) == Peer(
        netns="stranger", link=IfName("eth0")
    )


def test_a_macvlan_whose_number_is_anothers_sits_on_no_device_of_its_own_namespace() -> None:
    """The index that it names is the other namespace's."""
    listed = (
        "2: mac0@if3: <UP> mtu 1500 link-netnsid 0\n    macvlan mode bridge\n"
        "3: other: <UP> mtu 1500"
    )
    files = {
        "bundle.json": '{"netns": {"pod": {"nsids": {"0": "host"}}}}',
        "netns/pod/ip-link.txt": listed,
        "netns/host/ip-link.txt": "3: eth0: <UP> mtu 1500",
    }
    evidence = assemble_bundle((name, name, text.encode()) for name, text in files.items())
    readings = ((source, read(source)) for source in evidence.sources)
    case = assemble_case([(source, found) for source, found in readings if found is not None])
    assert link_of(case.node.namespaces["pod"], "mac0").lower is None


def test_a_macvlan_device_names_whose_wire_it_shares() -> None:
    """Within a namespace by name, across namespaces by the numbers that a bundle states; without
    its mode, or in one that goes by a list of senders, it is not known whom it reaches.
    """
    shown = {
        "host": ["2: eth0: <UP> mtu 1500", "3: mv0@eth0: <UP> mtu 1500\n    macvlan mode vepa"],
        "pod": ["2: net1@if2: <UP> mtu 1500 link-netnsid 0\n    macvlan mode bridge"],
        "bare": ["2: net1@if2: <UP> mtu 1500 link-netnsid 0\n    macvlan"],
        "picky": ["2: net1@if2: <UP> mtu 1500 link-netnsid 0\n    macvlan mode source"],
    }
    node = read_numbered({key: {"0": "host"} for key in ("pod", "bare", "picky")}, shown).node
    parent = Peer(netns=HOST, link=IfName("eth0"))

    assert Macvlan(parent=parent, mode=MacvlanMode.VEPA) == link_of(node.host, "mv0").macvlan
    found = link_of(node.namespaces["pod"], "net1").macvlan
    assert Macvlan(parent=parent, mode=MacvlanMode.BRIDGE) == found
    assert link_of(node.namespaces["bare"], "net1").macvlan is None
    assert link_of(node.namespaces["picky"], "net1").macvlan is None
