"""Which namespaces belong to a node, and what they are called."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from podpath.assembly.case import assemble_case
from podpath.collect.namespaces import CollectError, find_namespaces
from podpath.collect.read import read_evidence
from podpath.collect.snapshot import collect_bundle
from podpath.evidence.recognition import read as read_source
from podpath.net.provenance import Known
from podpath.node.node import HOST, Node
from tests.collect.machines import PREFIX, Machine, add_netns, ip, run_in


def test_processes_tell_which_namespaces_there_are() -> None:
    """The host's namespace comes first, under the name that bundles use."""
    first, *others = find_namespaces().collected
    assert (first.name, first.role) == ("host", "host")
    assert len({namespace.name for namespace in others}) == len(others)


def test_a_folder_without_processes_is_refused(tmp_path: Path) -> None:
    """Where /proc is not what it should be, or there is no such node, the message says so."""
    with pytest.raises(CollectError, match="expected processes"):
        find_namespaces(tmp_path)
    with pytest.raises(CollectError, match="saw 'no-such-node'"):
        find_namespaces(node="no-such-node")


@pytest.mark.kernel("ip", "unshare")
@pytest.mark.parametrize("place", [0, 1])
def test_a_node_has_its_own_pods_and_their_peers(place: int, tmp_path: Path) -> None:
    """Of two nodes on one wire whose pods are alike in name, index, address and MAC, the snapshot
    of each has its own pods alone, and joins each with its own end.
    """
    with Machine() as machine:
        node = machine.nodes[place]
        found = find_namespaces(node=node)
        taken = {each.name: Path(each.path).stat().st_ino for each in found.collected}
        own = {"host": inode_of(node)}
        own |= {f"web-{number}": inode_of(f"{node}-{number}") for number in (0, 1)}
        assert sorted(taken.values()) == sorted(own.values())
        assert found.collected[0].name == "host"
        assert set(found.left_out) >= {machine.wire, machine.nodes[1 - place]}
        names = {inode: name for name, inode in taken.items()}
        collect_bundle(tmp_path / "node", found, now=0.0)
        links = {
            (netns.name, str(link.name)): link
            for netns in read_node(tmp_path / "node").namespaces.values()
            for link in netns.links.items
        }
        for number in (0, 1):
            pod = names[inode_of(f"{node}-{number}")]
            outside, inside_ = links[HOST, f"veth{number}"], links[pod, "eth0"]
            assert isinstance(outside.peer, Known)
            assert isinstance(inside_.peer, Known)
            assert (outside.peer.value.netns, outside.peer.value.link) == (pod, "eth0")
            assert (inside_.peer.value.netns, inside_.peer.value.link) == (HOST, f"veth{number}")
        assert links[HOST, "eth0"].peer is None


@pytest.mark.kernel("ip", "unshare")
def test_who_is_named_is_taken_though_no_link_leads_there() -> None:
    """By the name under /run/netns, by what it is called, or by a process; others are left out."""
    with Machine(nodes=("a",), pods=1) as machine, ExitStack() as stack:
        for name in ("x", "y", "z"):
            add_netns(stack, f"{PREFIX}-{name}")
        process = run_in(stack, f"{PREFIX}-y", "lonely-y")
        run_in(stack, f"{PREFIX}-z", "lonely-z")
        wanted = (f"{PREFIX}-x", str(process.pid))
        found = find_namespaces(node=machine.nodes[0], wanted=wanted)
        names = {Path(each.path).stat().st_ino: each.name for each in found.collected}
        pod = names.pop(inode_of(f"{machine.nodes[0]}-0"))
        assert pod.startswith("web-0")  # a number behind it where another test has one too
        assert set(names.values()) == {"host", f"{PREFIX}-x", "lonely-y"}
        assert "lonely-z" in found.left_out


@pytest.mark.kernel("ip", "unshare")
def test_nodes_side_by_side_on_one_cable_part_at_their_gateways() -> None:
    """Where the routes between nodes go over a cable that joins them, neither has the other's
    pods.
    """
    with ExitStack() as stack:
        nodes = [f"{PREFIX}-{name}" for name in ("p", "q")]
        for place, node in enumerate(nodes):
            add_netns(stack, node)
            add_netns(stack, f"{node}-0")
            ip(
                "link",
                "add",
                "veth0",
                "type",
                "veth",
                "peer",
                "eth0",
                "netns",
                f"{node}-0",
                netns=node,
            )
            ip("addr", "add", f"10.244.{place}.1/24", "dev", "veth0", netns=node)
            ip("link", "set", "veth0", "up", netns=node)
        ip("link", "add", "eth0", "type", "veth", "peer", "eth0", "netns", nodes[1], netns=nodes[0])
        for place, node in enumerate(nodes):
            ip("addr", "add", f"192.0.2.{place + 1}/24", "dev", "eth0", netns=node)
            ip("link", "set", "eth0", "up", netns=node)
        for place, node in enumerate(nodes):
            other = 1 - place
            ip("route", "add", f"10.244.{other}.0/24", "via", f"192.0.2.{other + 1}", netns=node)
        for node in nodes:
            found = find_namespaces(node=node)
            assert {each.name for each in found.collected} == {"host", f"{node}-0"}


@pytest.mark.kernel("ip", "unshare")
@pytest.mark.parametrize("switch", ["wire", "other"])
def test_a_second_uplink_that_no_gateway_is_on_leads_out_of_the_node(switch: str) -> None:
    """Whether it ends at the switch of the first one or at one of its own: what both nodes are
    plugged into belongs to neither, and nor does the other node.
    """
    with Machine() as machine, ExitStack() as stack:
        place = machine.wire if switch == "wire" else f"{PREFIX}-other"
        if place != machine.wire:
            add_netns(stack, place)
        ip("link", "add", "second", "up", "type", "bridge", netns=place)
        for number, node in enumerate(machine.nodes):
            peer = ("peer", "name", f"second{number}", "netns", place)
            ip("link", "add", "eth1", "type", "veth", *peer, netns=node)
            ip("link", "set", f"second{number}", "master", "second", "up", netns=place)
            ip("addr", "add", f"198.51.100.{number + 1}/24", "dev", "eth1", netns=node)
            ip("link", "set", "eth1", "up", netns=node)
        for node in machine.nodes:
            found = find_namespaces(node=node)
            taken = {Path(each.path).stat().st_ino for each in found.collected}
            assert taken == {inode_of(each) for each in (node, f"{node}-0", f"{node}-1")}


@pytest.mark.kernel("ip", "unshare")
@pytest.mark.parametrize("table", ["main", "100"])
def test_a_second_uplink_leads_out_by_the_second_hop_of_a_route_and_in_any_table(
    table: str,
) -> None:
    """What is behind it is no pod of the node's, though a switch of its own stands there."""
    with Machine(nodes=("a",)) as machine, ExitStack() as stack:
        node, place = machine.nodes[0], f"{PREFIX}-other"
        add_netns(stack, place)
        peer = ("peer", "name", "port", "netns", place)
        ip("link", "add", "eth1", "type", "veth", *peer, netns=node)
        ip("addr", "add", "198.51.100.1/24", "dev", "eth1", netns=node)
        ip("link", "set", "eth1", "up", netns=node)
        if table == "main":
            ip("route", "del", "default", netns=node)
            hops = ("nexthop", "via", "192.0.2.254", "nexthop", "via", "198.51.100.254")
            ip("route", "add", "default", *hops, netns=node)
        else:
            ip("route", "add", "default", "via", "198.51.100.254", "table", table, netns=node)
        assert list_taken(node) == [inode_of(each) for each in (node, f"{node}-0", f"{node}-1")]


@pytest.mark.kernel("ip", "unshare")
@pytest.mark.parametrize("kind", ["bridge", "macvlan"])
def test_uplinks_lead_out_under_a_bridge_and_under_what_sits_on_them(kind: str) -> None:
    """The device with the gateway has them below it; pods on the bridge are the node's still."""
    with Machine() as machine:
        for place, node in enumerate(machine.nodes):
            ip("addr", "flush", "dev", "eth0", netns=node)
            if kind == "macvlan":
                ip("link", "add", "link", "eth0", "name", "out", "type", kind, netns=node)
            else:
                ip("link", "add", "out", "type", kind, netns=node)
                for port in ("eth0", "veth0", "veth1"):
                    ip("link", "set", port, "master", "out", netns=node)
            ip("link", "set", "out", "up", netns=node)
            ip("addr", "add", f"192.0.2.{place + 1}/24", "dev", "out", netns=node)
            ip("route", "add", "default", "via", "192.0.2.254", netns=node)
        for node in machine.nodes:
            assert list_taken(node) == [inode_of(each) for each in (node, f"{node}-0", f"{node}-1")]


@pytest.mark.kernel("ip", "unshare")
def test_a_pod_on_a_macvlan_of_the_uplink_belongs_to_the_node() -> None:
    """It sits on the node's own device, though no veth leads there."""
    with Machine(nodes=("a",), pods=0) as machine, ExitStack() as stack:
        node, pod = machine.nodes[0], f"{PREFIX}-v"
        add_netns(stack, pod)
        ip("link", "add", "mac0", "link", "eth0", "netns", pod, "type", "macvlan", netns=node)
        assert [each.name for each in find_namespaces(node=node).collected] == ["host", pod]


def list_taken(node: str) -> list[int]:
    """Return what is collected of a node: itself, then its pods by their names."""
    collected = find_namespaces(node=node).collected
    first, *pods = sorted(collected, key=lambda each: (each.name != HOST, each.name))
    return [Path(each.path).stat().st_ino for each in (first, *pods)]


def inode_of(name: str) -> int:
    """Return what a namespace is known by, whatever it is called."""
    return Path(f"/run/netns/{name}").stat().st_ino


def read_node(bundle: Path) -> Node:
    """Assemble the node of a bundle."""
    evidence = read_evidence([str(bundle)])
    readings = [(source, read_source(source)) for source in evidence.sources]
    return assemble_case([(source, found) for source, found in readings if found is not None]).node


@pytest.mark.kernel("ip")
def test_who_came_later_names_no_namespace(tmp_path: Path) -> None:
    """Numbers of processes begin anew: a visitor with a smaller one is not taken for the first."""
    name = f"{PREFIX}visited"
    with ExitStack() as stack:
        add_netns(stack, name)
        for process, path, started in (
            (1, f"/proc/{os.getpid()}/ns/net", 1),
            (50, f"/run/netns/{name}", 900),
            (60, f"/run/netns/{name}", 100),
        ):
            folder = tmp_path / str(process) / "ns"
            folder.mkdir(parents=True)
            (folder / "net").symlink_to(path)
            words = " ".join(["S", *["0"] * 18, str(started), "0"])
            (folder.parent / "stat").write_text(f"{process} (a) b) {words}", encoding="ascii")

        found = find_namespaces(tmp_path, wanted=(name,))

    assert str(tmp_path / "60/ns/net") in {each.path for each in found.collected}
