"""Stand-ins: far ends for wires, chains for BPF programs."""

from __future__ import annotations

from dataclasses import replace

from podpath.net.addresses import Address, IfName, Mac
from podpath.net.probe import Probe
from podpath.net.provenance import Known
from podpath.node.links import Link, Neighbour
from podpath.node.node import HOST, Cilium, Node
from podpath_lab.bpf_standin import emulate_programs
from podpath_lab.draft import Draft
from podpath_lab.standins import wire_outward_devices

PROBE = Probe.parse("tcp 10.1.0.2:40000 > 198.51.100.1:80 from pod1")


def node_with_uplink() -> Node:
    """Return a node with one pod behind lxc1 and a physical uplink eth0 whose gateway is known."""
    draft = Draft()
    host, pod = draft.add_netns(HOST), draft.add_netns("pod1")
    draft.connect("pod1", "eth0", HOST, "lxc1", 1)
    host.links.append(Link(name=IfName("eth0"), mac=Mac("02:00:00:00:09:09")))
    host.add_address("eth0", "172.31.0.10/24")
    host.add_route("default", "eth0", "172.31.0.1")
    host.neighbours.append(
        Neighbour(
            address=Address.parse("172.31.0.1"), link=IfName("eth0"), mac=Mac("02:00:00:00:08:08")
        )
    )
    pod.add_address("eth0", "10.1.0.2/32")
    return draft.freeze()


def test_a_device_that_leads_out_gets_a_far_end_with_the_gateways_mac() -> None:
    """The uplink becomes a veth, and who is behind it answers under the MAC that the node knows."""
    wired = wire_outward_devices(node_with_uplink())
    uplink = next(link for link in wired.node.host.links.items if link.name == "eth0")
    assert uplink.peer == Known(value=uplink.peer.value if isinstance(uplink.peer, Known) else None)
    assert wired.far_ends == ("wire-0",)
    assert wired.outward == ("eth0",)
    assert "02:00:00:00:08:08" in {link.mac for link in wired.node.namespaces["wire-0"].links.items}
    assert wired.notes == ("eth0 of host is a veth here; wire-0 stands for all that is behind it",)


def test_bpf_masquerade_becomes_chains_at_the_uplink() -> None:
    """The source is rewritten at egress, and the answer handed to the pod's device at ingress."""
    node = replace(
        node_with_uplink(), cilium=Cilium(options={"enable-bpf-masquerade": Known("true")})
    )
    (command,) = emulate_programs(node, PROBE, ("eth0",))
    assert 'hook egress device "eth0"' in command.stdin
    assert "ip saddr 10.1.0.2 ip saddr set 172.31.0.10" in command.stdin
    assert "fwd to lxc1" in command.stdin


def test_no_stand_in_without_cilium() -> None:
    """A node that nothing says has Cilium gets none of its programs."""
    assert emulate_programs(node_with_uplink(), PROBE, ("eth0",)) == ()
