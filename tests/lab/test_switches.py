"""Switches: bonds and Open vSwitch bridges as a twin has them."""

from __future__ import annotations

from dataclasses import replace

from podpath.net.addresses import IfName
from podpath.net.provenance import Known
from podpath.node.links import Peer
from podpath.node.node import HOST, Node
from podpath.testing.nodes import given_netns, given_node, given_ovs
from podpath_lab.script import ScriptCommand, emit_shell, emit_twin
from podpath_lab.standins import wire_outward_devices
from podpath_lab.switches import emit_openvswitch, find_segments, make_switch

DEVICES = (
    "mgmt0 kind tun mac 02:00:00:00:00:0a 10.0.0.1/24",
    "p1 slave bond",
    "p2 slave bond",
    "up0 10.9.0.1/24",
)


def switched(*more: str) -> Node:
    """Return a host with an Open vSwitch bridge over a bond of two devices, and one device beside
    it.
    """
    return given_node(
        given_netns(HOST, *DEVICES, *more),
        ovs=(given_ovs("sw", "sw", "bond: p1 p2", "mgmt0", active="p2"),),
    )


def test_ports_and_the_hosts_own_devices_are_told_apart() -> None:
    """Of an Open vSwitch bridge by its ports, of a bond by who is its slave."""
    (segment,) = find_segments(switched())
    assert (segment.name, segment.ports, segment.inside) == ("sw", ("p1", "p2"), ("mgmt0",))
    bonded = given_node(
        given_netns(HOST, "bond0 kind bond 10.0.0.1/24", "e1 slave bond0", "e2 slave bond0")
    )
    (segment,) = find_segments(bonded)
    assert (segment.ports, segment.inside, segment.bridge) == (("e1", "e2"), ("bond0",), None)


def test_names_that_a_program_would_take_for_options_are_left_out() -> None:
    """Names come from the evidence, and ovs-vsctl reads a leading dash as an option."""
    evil = given_ovs("--no-wait", "bond: p1 p2")
    assert list(find_segments(given_node(given_netns(HOST, *DEVICES[1:3]), ovs=(evil,)))) == []


def test_a_switch_has_a_port_for_each_plug() -> None:
    """Each port is a veth in its bridge."""
    switch = make_switch("switch-0", 0, ((HOST, IfName("p1")), ("wire-0", IfName("eth0"))))
    ports = [link for link in switch.links.items if link.master == "br0"]
    assert [link.peer for link in ports] == [
        Known(Peer(netns=HOST, link=IfName("p1"))),
        Known(Peer(netns="wire-0", link=IfName("eth0"))),
    ]
    assert len({link.mac for link in switch.links.items if link.mac}) == 3


def test_open_vswitch_is_configured_as_the_evidence_shows_it() -> None:
    """The bond with its slaves, the internal port with its MAC; the daemons stay."""
    commands = emit_openvswitch(switched(), tuple(find_segments(switched())))
    words = " ".join(
        next(command for command in commands if "ovs-vsctl" in command.arguments).arguments
    )
    assert "add-bond sw bond p1 p2" in words
    assert 'add-port sw mgmt0 -- set interface mgmt0 type=internal mac="02:00:00:00:00:0a"' in words
    assert [command.arguments[2] for command in commands if command.stays] == [
        "ovsdb-server",
        "ovs-vswitchd",
    ]


def test_with_open_vswitch_the_ports_lead_to_a_switch() -> None:
    """The internal port is what Open vSwitch makes; one far end stands behind all ports, another
    behind the other device.
    """
    wired = wire_outward_devices(switched(), openvswitch=True)
    links = {str(link.name): link for link in wired.node.host.links.items}
    assert links["p1"].peer == Known(Peer(netns="switch-0", link=IfName("swp1")))
    assert wired.given == {(HOST, "mgmt0")}
    assert {wired.behind[name] for name in ("p1", "p2", "mgmt0")} == {"wire-0"}
    assert wired.behind["up0"] == "wire-1"


def test_without_open_vswitch_a_bridge_that_is_down_holds_the_ports() -> None:
    """What the ports receive goes nowhere, and the host's own device is plugged into the switch."""
    wired = wire_outward_devices(switched())
    links = {str(link.name): link for link in wired.node.host.links.items}
    assert (links["p1"].master, links["held0"].up) == ("held0", False)
    assert isinstance(links["mgmt0"].peer, Known)
    assert links["mgmt0"].peer.value.netns == "switch-0"
    assert (wired.given, wired.switches) == (frozenset(), ())


def test_a_script_starts_daemons_and_ends_them() -> None:
    """What stays is started in the background, and the trap kills it."""
    node = switched()
    twin = emit_twin(
        node, (ScriptCommand(("sleep", "9"), "", HOST, stays=True),), frozenset({(HOST, "mgmt0")})
    )
    script = emit_shell(replace(twin, left_out=()))
    assert 'ip netns exec host sleep 9 &\ndaemons="$daemons $!"' in script
    assert "kill $daemons" in script
    assert all("mgmt0" not in note for note in twin.left_out)
