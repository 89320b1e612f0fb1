"""The ports of a bond or of an Open vSwitch bridge in a twin: they lead to one switch that learns
MACs, as a rack's does.

Where Open vSwitch is installed it runs here, with its userspace datapath, which needs no module of
the kernel. Its kernel datapath takes every frame that a port receives before the host's IP stack
sees it; the userspace one leaves them to both, so the ports' receive side is closed to the stack by
a chain of the netdev family. Where it is not installed, and for bonds, which this kernel may lack,
the host's own device is plugged into the switch, and the ports beside it are held by a bridge that
is down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from podpath.datapath.devices.openvswitch import is_internal
from podpath.net.addresses import IfName, Mac
from podpath.net.provenance import Known, Listing
from podpath.node.links import Bridge, BridgePort, Link, OvsBridge, Peer
from podpath.node.node import HOST, Netns, NetnsRole, Node
from podpath_lab.script import RUNNING, ScriptCommand

SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,14}")
"""Names that are handed to ovs-vsctl: it takes a leading dash for an option."""


class SwitchSegment(NamedTuple):
    """Devices of the host that lead to one switch."""

    name: str
    ports: tuple[IfName, ...]
    """The slaves."""
    inside: tuple[IfName, ...]
    """The devices by which the host itself speaks over them."""
    bridge: OvsBridge | None = None
    """The Open vSwitch bridge; None for a bond."""


def find_segments(node: Node) -> Iterator[SwitchSegment]:
    """Yield the bonds and Open vSwitch bridges whose ports the evidence shows."""
    links = {link.name: link for link in node.host.links.items}
    taken: set[str] = set()
    for bridge in node.ovs:
        named = [name for names in bridge.ports.values() for name in names]
        shown = [links[name] for name in named if name in links and _NAME.fullmatch(name)]
        inside = tuple(link.name for link in shown if is_internal(bridge, link))
        ports = tuple(link.name for link in shown if link.name not in inside)
        taken |= {*ports, *inside}
        if ports and _NAME.fullmatch(bridge.name):
            yield SwitchSegment(bridge.name, ports, inside, bridge)
    bonds = dict.fromkeys(
        link.bond_slave_of
        for link in links.values()
        if link.bond_slave_of and link.name not in taken
    )
    for bond in bonds:
        slaves = tuple(link.name for link in links.values() if link.bond_slave_of == bond)
        yield SwitchSegment(bond, slaves, (IfName(bond),) if bond in links else ())


def make_switch(name: str, number: int, plugs: tuple[tuple[str, IfName], ...]) -> Netns:
    """Make the namespace of a switch: a bridge that learns, with a port for each (namespace,
    device) that is plugged in.
    """
    links = [
        Link(name=IfName("lo"), mtu=65536),
        Link(name=IfName("br0"), kind="bridge", mac=_mac(number, 0), bridge=Bridge()),
    ]
    links += [
        Link(
            name=port_of(place),
            kind="veth",
            mac=_mac(number, place + 1),
            master=IfName("br0"),
            port=BridgePort(),
            peer=Known(Peer(netns=netns, link=device)),
        )
        for place, (netns, device) in enumerate(plugs)
    ]
    return Netns(
        name=name,
        role=NetnsRole.OTHER,
        links=Listing(tuple(links), True, "ip link"),
        addresses=Listing((), True, "ip addr"),
        routes=Listing((), True, "ip route"),
    )


def port_of(place: int) -> IfName:
    """Name a switch's port."""
    return IfName(f"swp{place + 1}")


def _mac(number: int, place: int) -> Mac:
    return Mac(f"02:77:01:00:{number:02x}:{place:02x}")


def emit_openvswitch(node: Node, segments: tuple[SwitchSegment, ...]) -> tuple[ScriptCommand, ...]:
    """Write what starts Open vSwitch in the host's namespace and makes its bridges; nothing where
    there is none.
    """
    configured = [word for segment in segments for word in _configure(node, segment)]
    if not configured:
        return ()
    env = ("env", f"OVS_RUNDIR={RUNNING}")
    quiet = ("-vsyslog:off", "-vconsole:off")
    database, socket = f"{RUNNING}/conf.db", f"{RUNNING}/db.sock"
    ports = [name for segment in segments if segment.bridge for name in segment.ports]
    closed = "".join(
        (
            f'  chain port{place} {{ type filter hook ingress device "{name}" priority 0; '
            f"policy drop; }}\n"
        )
        for place, name in enumerate(ports)
    )
    return (
        ScriptCommand(("mkdir", "-p", RUNNING)),
        ScriptCommand(("ovsdb-tool", "create", database, SCHEMA)),
        ScriptCommand(
            (*env, "ovsdb-server", *quiet, f"--remote=punix:{socket}", database), stays=True
        ),
        ScriptCommand((*env, "ovs-vswitchd", *quiet, f"unix:{socket}"), "", HOST, stays=True),
        ScriptCommand(
            (*env, "ovs-vsctl", f"--db=unix:{socket}", "--retry", "--timeout=30", *configured)
        ),
        ScriptCommand(
            ("nft", "-f", "-"), f"table netdev taken_by_openvswitch {{\n{closed}}}\n", HOST
        ),
    )


def _configure(node: Node, segment: SwitchSegment) -> Iterator[str]:
    """Yield ovs-vsctl's words for one bridge (ovs-vsctl(8)); its flows are those of a switch that
    learns, action NORMAL.
    """
    bridge = segment.bridge
    if bridge is None:
        return
    macs = {link.name: link.mac for link in node.host.links.items}
    yield from (
        "--",
        "add-br",
        bridge.name,
        "--",
        "set",
        "bridge",
        bridge.name,
        "datapath_type=netdev",
    )
    if macs.get(IfName(bridge.name)):
        yield f'other-config:hwaddr="{macs[IfName(bridge.name)]}"'
    for port, interfaces in bridge.ports.items():
        slaves = [name for name in interfaces if name in segment.ports]
        if port == bridge.name or not _NAME.fullmatch(port):
            continue
        if port in segment.inside:
            yield from (
                "--",
                "add-port",
                bridge.name,
                port,
                "--",
                "set",
                "interface",
                port,
                "type=internal",
            )
            yield from (f'mac="{macs[IfName(port)]}"',) if macs.get(IfName(port)) else ()
        elif len(slaves) > 1:
            mode = (f"bond_mode={bridge.bond_mode}",) if bridge.bond_mode else ()
            yield from ("--", "add-bond", bridge.name, port, *slaves, *mode)
        elif slaves:
            yield from ("--", "add-port", bridge.name, slaves[0])
