"""Pods on macvlan devices of the uplink, and probes from and to them.

They are drawn by a chance of their own, so that no other draw of a case changes.
"""

from __future__ import annotations

from random import Random

from podpath.net.addresses import Address, IfName, Mac
from podpath.net.probe import Probe
from podpath.node.links import Link, Macvlan, MacvlanMode, Peer
from podpath.node.node import HOST
from podpath_lab.topologies import Topology

SHARE = 0.05
"""How many cases have such pods."""
MODES = (MacvlanMode.BRIDGE, MacvlanMode.BRIDGE, MacvlanMode.PRIVATE, MacvlanMode.VEPA)
_UPLINK, _GATEWAY = IfName("eth0"), "172.31.0.1"


def draw_macvlans(chance: Random, topology: Topology, probe: Probe) -> Probe:
    """Put two pods on the uplink, now and then; return the probe, which starts or ends there."""
    if chance.random() >= SHARE or "world" not in topology.draft.namespaces:
        return probe
    mode, added = chance.choice(MODES), []
    for number in (1, 2):
        pod = topology.draft.add_netns(f"shared{number}")
        shared = Macvlan(parent=Peer(netns=HOST, link=_UPLINK), mode=mode)
        mac = Mac(f"02:00:00:00:77:0{number}")
        pod.links.append(
            Link(
                name=IfName("net1"),
                ifindex=2,
                kind="macvlan",
                mac=mac,
                macvlan=shared,
                mtu=topology.draft.namespaces[HOST].link(_UPLINK).mtu,
            )
        )
        pod.add_address("net1", f"172.31.0.5{number}/24")
        pod.add_route("default", "net1", _GATEWAY)
        added.append((pod.name, Address.parse(f"172.31.0.5{number}")))
    one = chance.choice(added)
    other = chance.choice([each for each in (*topology.speakers, *added) if each[0] != one[0]])
    source, end = (one, other) if chance.random() < 0.5 else (other, one)
    return probe._replace(netns=source[0], src=source[1], dst=end[1])
