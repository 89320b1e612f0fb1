"""The network below a cluster: the wire between its nodes, what a node's CNI configuration says,
and the way to the pods of other nodes.
"""

from __future__ import annotations

import ipaddress
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from scripts.kubernetes.member import Member, MemberError
from scripts.kubernetes.plan import Plan
from scripts.kubernetes.programs import PLUGINS

WIRE = "wire"
"""The bridge in the control plane's namespace that stands for the switch."""
SECOND_WIRE = "wire2"
NETWORK = "pods"
FLANNEL, FLANNEL_VNI, FLANNEL_PORT = "flannel.1", 1, 8472
CALICO, CALICO_VNI, CALICO_PORT = "vxlan.calico", 4096, 4789
_ROUTED = Path(__file__).with_name("routed_plugin.py")


def lay_wire(control: Member) -> None:
    """Make the switch, with the control plane's address on it, and the machine's own way to it."""
    plan = control.plan
    control.run("ip", "link", "add", WIRE, "type", "bridge")
    control.run("ip", "addr", "add", f"{plan.control_address}/24", "dev", WIRE)
    control.run("ip", "link", "set", WIRE, "up")
    _run(
        "ip",
        "link",
        "add",
        plan.machine_link,
        "type",
        "veth",
        "peer",
        "machine",
        "netns",
        str(control.process),
    )
    control.run("ip", "link", "set", "machine", "master", WIRE, "up")
    _run("ip", "addr", "add", f"{plan.machine_address}/24", "dev", plan.machine_link)
    _run("ip", "link", "set", plan.machine_link, "up")


def plug_in(control: Member, node: Member) -> None:
    """Plug a node into the switch as eth0, with its address and its way out."""
    plan = control.plan
    _connect(control, node, "eth0", node.name, WIRE)
    node.run("ip", "addr", "add", f"{plan.node_address(node.name)}/24", "dev", "eth0")
    node.run("ip", "link", "set", "eth0", "up")
    node.run("ip", "route", "add", "default", "via", plan.control_address)
    node.run("sysctl", "-qw", "net.ipv4.ip_forward=1")


@contextmanager
def second_wire(control: Member, *nodes: Member) -> Iterator[None]:
    """Provide another switch that nodes are plugged into as eth1, which has no address yet."""
    control.run("ip", "link", "add", SECOND_WIRE, "type", "bridge")
    control.run("ip", "link", "set", SECOND_WIRE, "up")
    try:
        for node in nodes:
            _connect(control, node, "eth1", f"{node.name}-{SECOND_WIRE}", SECOND_WIRE)
            node.run("ip", "link", "set", "eth1", "up")
        yield
    finally:
        for name in (*(f"{node.name}-{SECOND_WIRE}" for node in nodes), SECOND_WIRE):
            control.run("ip", "link", "del", name, check=False)


def _connect(control: Member, node: Member, device: str, port: str, switch: str) -> None:
    """Lay a cable from a node's device to a port of a switch."""
    made = f"pp-{os.getpid()}"
    _run(
        *("ip", "link", "add", made, "netns", str(control.process), "type", "veth"),
        *("peer", device, "netns", str(node.process)),
    )
    control.run("ip", "link", "set", made, "name", port)
    control.run("ip", "link", "set", port, "master", switch, "up")


def configure_pods(node: Member, cidr: str) -> None:
    """Write the node's CNI configuration, and put the plugins where it looks for them."""
    folder = node.folder / "cni-bin"
    folder.mkdir(exist_ok=True)
    for plugin in PLUGINS.iterdir():
        (folder / plugin.name).unlink(missing_ok=True)
        (folder / plugin.name).symlink_to(plugin)
    shutil.copy(_ROUTED, folder / "routed")
    (folder / "routed").chmod(0o755)
    written = json.dumps(_list_plugins(node.plan, cidr), indent=1)
    node.run("tee", f"/etc/cni/net.d/10-{NETWORK}.conflist", given=written)
    if node.plan.plugin == "routed":
        node.run("ip", "route", "add", "blackhole", cidr, "proto", "80")


def _list_plugins(plan: Plan, cidr: str) -> Mapping[str, object]:
    ipam = {"type": "host-local", "ranges": [[{"subnet": cidr}]]}
    if plan.plugin == "routed":
        first: dict[str, object] = {"type": "routed", "mtu": plan.mtu, "ipam": ipam}
    else:
        first = {
            "type": "bridge",
            "bridge": "cni0",
            "isGateway": True,
            "hairpinMode": True,
            "ipMasq": False,
            "mtu": plan.mtu,
            "ipam": ipam | {"routes": [{"dst": "0.0.0.0/0"}]},
        }
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "0.4.0", "name": NETWORK, "plugins": [first, ports]}


def join_nodes(nodes: Mapping[str, Member], cidrs: Mapping[str, str]) -> None:
    """Lay each node's way to the pods of every other one, as flannel or Calico does."""
    plan = next(iter(nodes.values())).plan
    if plan.overlay == "host-gw":
        for node in nodes.values():
            for other in cidrs.keys() - {node.name}:
                address = plan.node_address(other)
                node.run("ip", "route", "add", cidrs[other], "via", address, "dev", "eth0")
        return
    routed = plan.plugin == "routed"
    device = CALICO if routed else FLANNEL
    macs = {
        node.name: _add_vxlan(node, device, cidrs[node.name], routed=routed)
        for node in nodes.values()
    }
    for node in nodes.values():
        for other in cidrs.keys() - {node.name}:
            end = _tunnel_address(cidrs[other])
            neighbor = ("lladdr", macs[other], "dev", device, "nud", "permanent")
            far = plan.node_address(other)
            node.run("ip", "neigh", "replace", end, *neighbor)
            node.run("bridge", "fdb", "replace", macs[other], "dev", device, "dst", far)
            node.run("ip", "route", "add", cidrs[other], "via", end, "dev", device, "onlink")


def _add_vxlan(node: Member, device: str, cidr: str, *, routed: bool) -> str:
    vni, port = (CALICO_VNI, CALICO_PORT) if routed else (FLANNEL_VNI, FLANNEL_PORT)
    tunnel = ("vxlan", "id", str(vni), "dstport", str(port), "dev", "eth0", "nolearning")
    local = node.plan.node_address(node.name)
    node.run("ip", "link", "add", device, "type", *tunnel, "local", local)
    node.run("ip", "link", "set", device, "mtu", str(node.plan.mtu))
    node.run("ip", "addr", "add", f"{_tunnel_address(cidr)}/32", "dev", device)
    node.run("ip", "link", "set", device, "up")
    return str(json.loads(node.run("ip", "-j", "link", "show", device))[0]["address"])


def _tunnel_address(cidr: str) -> str:
    return str(ipaddress.ip_network(cidr).network_address)


def free_net() -> int:
    """Choose the third byte of a nodes' network that no route of this machine leads to."""
    routes = _run("ip", "-4", "route", "show", "table", "all")
    for number in range(100):
        if f"10.199.{number}." not in routes:
            return number
    raise MemberError("no free network in 10.199.0.0/16")


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MemberError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout
