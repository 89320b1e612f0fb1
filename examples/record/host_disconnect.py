"""Stale link-local routes on the slaves of an Open vSwitch bond: an ARP request binds the host's
address to a slave's MAC.

Open vSwitch runs its userspace datapath, since that needs no kernel module. Its kernel datapath
takes every frame that a slave receives before the host's IP stack sees it; the userspace one leaves
them to both, so the slaves' receive side is closed to the stack here (a chain of the netdev family,
behind the tap that Open vSwitch reads from). Bundles leave that chain out.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from examples.record.bundle import collect_bundle
from examples.record.machine import Machine, Netns, capture, end, wait_until
from examples.record.ticket import transcript, write_ticket

NODE, PEER_NAME = "hv-07", "hv-08"
HOST, PEER, GATEWAY = "10.88.14.57", "10.88.14.58", "10.88.14.1"
METADATA = "169.254.169.254"
SLAVES = {"ens3f0": "3c:fd:fe:a2:40:10", "ens3f1": "3c:fd:fe:a2:40:11"}
HOST_MAC, PEER_MAC = "52:a1:0e:7d:9c:57", "3c:fd:fe:b8:11:58"
PROMPT = f"[root@{NODE} ~]# "
SECONDS = 48
"""How long the pings of the bad recording run: the loss starts after `QUIET` seconds and heals by
itself.
"""
QUIET = 9
"""Seconds of pings before the look-up: the host checks its own ARP entry after five, which would
heal the loss at once.
"""


def record(folder: Path) -> None:
    """Record the node with the two stale routes (ticket and bundle), then without them (the good
    twin).
    """
    with Machine() as machine:
        node, peer = build(machine)
        for metric, slave in enumerate(SLAVES, start=1002):
            node.ip(f"route add 169.254.0.0/16 dev {slave} scope link metric {metric}")
        outputs = look_up_metadata(node, peer, folder / "bundle", SECONDS)
        if "100% packet loss" in outputs["ping-in"] or " 0% packet loss" in outputs["ping-in"]:
            raise RuntimeError("the loss did not begin or did not end:\n" + outputs["ping-in"])
        outputs |= ask_around(node)
        files = ovs_files(node)
        collect_bundle(folder / "bundle", node, NODE, {}, files)
        write_ticket(folder / "ticket.md", "host-disconnect.md", outputs)

        for slave in SLAVES:
            node.ip(f"route del 169.254.0.0/16 dev {slave}")
        node.ip(f"neigh flush to {METADATA}")
        twin = look_up_metadata(node, peer, folder / "good", 16)
        if " 0% packet loss" not in twin["ping-in"] or "i-0" not in twin["curl"]:
            raise RuntimeError("the good twin is not good:\n" + twin["ping-in"] + twin["curl"])
        collect_bundle(folder / "good", node, NODE, {}, ovs_files(node))


def build(machine: Machine) -> tuple[Netns, Netns]:
    """Build the node with its bond, a switch, and another host behind the switch; give the node and
    the other host.
    """
    node, switch, peer = machine.node(), machine.named("tor-switch"), machine.named(PEER_NAME)
    node.sysctl(
        net__ipv4__ip_forward=1,
        net__ipv6__conf__all__disable_ipv6=1,
        net__ipv6__conf__default__disable_ipv6=1,
    )
    switch.ip("link add br0 address 44:4c:a8:00:0e:01 type bridge")
    for number, (slave, mac) in enumerate(SLAVES.items(), start=1):
        machine.veth(node, slave, switch, f"swp{number}", macs=(mac, f"44:4c:a8:00:0e:1{number}"))
        switch.ip(f"link set swp{number} master br0")
    machine.veth(peer, "eth0", switch, "swp8", macs=(PEER_MAC, "44:4c:a8:00:0e:18"))
    switch.ip("link set swp8 master br0")
    switch.ip(f"addr add {GATEWAY}/24 dev br0")
    switch.ip(f"addr add {METADATA}/32 dev br0")
    switch.ip("link set br0 up")
    machine.serve(switch, 80, "i-0c41f2")
    peer.ip(f"addr add {PEER}/24 dev eth0")
    # Switches and routers re-check an ARP entry later than Linux's five seconds.
    peer.sysctl(net__ipv4__neigh__eth0__delay_first_probe_time=18)
    start_ovs(machine, node)
    node.ip("link set mgmt0 up")
    node.ip(f"addr add {HOST}/24 dev mgmt0")
    node.ip(f"route add default via {GATEWAY} dev mgmt0")
    node.ip("route add 169.254.0.0/16 dev mgmt0 scope link metric 1006")
    chains = "".join(
        (
            f'  chain {slave} {{ type filter hook ingress device "{slave}" priority 0; '
            f"policy drop; }}\n"
        )
        for slave in SLAVES
    )
    node.feed(["nft", "-f", "-"], f"table netdev taken_by_ovs {{\n{chains}}}\n")
    return node, peer


def start_ovs(machine: Machine, node: Netns) -> None:
    """Start Open vSwitch in the node and make the bridge: a bond of the two slaves, and the host's
    own port.
    """
    node.run("mkdir", "-p", "/run/openvswitch")
    node.run("mount", "-t", "tmpfs", "tmpfs", "/run/openvswitch")
    database, socket = "/run/openvswitch/conf.db", "/run/openvswitch/db.sock"
    node.run("ovsdb-tool", "create", database, "/usr/share/openvswitch/vswitch.ovsschema")
    for command in (
        ["ovsdb-server", f"--remote=punix:{socket}", "--pidfile", database],
        ["ovs-vswitchd", "--pidfile", f"unix:{socket}"],
    ):
        daemon = subprocess.Popen(
            [*node.enter, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        machine.stack.callback(end, daemon)
        wait_until(
            lambda name=command[0]: node.shell(f"test -e /run/openvswitch/{name}.pid && echo up"),
            command[0],
        )
    for line in (
        "add-br br-uplink -- set bridge br-uplink datapath_type=netdev",
        "add-bond br-uplink bond-uplink ens3f0 ens3f1 bond_mode=balance-slb",
        f'add-port br-uplink mgmt0 -- set interface mgmt0 type=internal mac="{HOST_MAC}"',
    ):
        node.run("ovs-vsctl", *line.split())


def look_up_metadata(node: Netns, peer: Netns, folder: Path, seconds: int) -> dict[str, str]:
    """Ping both ways, and after a few seconds let something on the node look for the cloud's
    metadata service.
    """
    captures = folder / "captures"
    count = str(seconds // 2)
    with (
        capture(node, "ens3f0", captures / "host-ens3f0", "icmp", "or", "arp"),
        capture(node, "ens3f1", captures / "host-ens3f1", "icmp", "or", "arp"),
    ):
        pings = [
            subprocess.Popen(
                [*netns.enter, "ping", "-i", "2", "-c", count, "-W", "1", target],
                stdout=subprocess.PIPE,
                text=True,
            )
            for netns, target in ((peer, HOST), (node, PEER))
        ]
        node.run("sleep", str(QUIET))
        said = node.shell(f"curl -sS -m 5 http://{METADATA}/latest/meta-data/instance-id").rstrip()
        inbound, outbound = (ping.communicate(timeout=seconds + 30)[0].rstrip() for ping in pings)
    ping_out = f"{PROMPT}ping -i 2 -c {count} -W 1 {PEER}\n{outbound}"
    return {
        "ping-in": f"[root@{PEER_NAME} ~]# ping -i 2 -c {count} -W 1 {HOST}\n{inbound}",
        "ping-out": ping_out,
        "curl": f"{PROMPT}curl -sS -m 5 http://{METADATA}/latest/meta-data/instance-id\n{said}",
        "arp-dump": printed(node, captures / "host-ens3f0.pcap", "ens3f0", "arp"),
        "ens3f0-dump": printed(
            node, captures / "host-ens3f0.pcap", "ens3f0", f"icmp and host {PEER}"
        ),
        "ens3f1-dump": printed(
            node, captures / "host-ens3f1.pcap", "ens3f1", f"icmp and host {PEER}"
        ),
    }


def printed(node: Netns, file: Path, device: str, expression: str) -> str:
    """Print a part of a capture, as read back from the file."""
    text = node.run("tcpdump", "-nn", "-e", "-r", str(file), *expression.split())
    return f"{PROMPT}tcpdump -nn -e -r {device}.pcap {expression}\n{text.rstrip()}"


def ask_around(node: Netns) -> dict[str, str]:
    """Give the outputs that a tired person collects."""
    return {
        "route": transcript(PROMPT, node, "route -n"),
        "links": transcript(PROMPT, node, "ip l"),
        "address": transcript(PROMPT, node, "ip -4 addr show mgmt0"),
        "ovs": transcript(PROMPT, node, "ovs-vsctl show"),
        "bond": transcript(PROMPT, node, "ovs-appctl bond/show bond-uplink"),
    }


def ovs_files(node: Netns) -> dict[str, str]:
    """Give the bundle's node-wide files."""
    return {
        "node/ovs-vsctl.txt": node.run("ovs-vsctl", "show"),
        "node/bond-show.txt": node.run("ovs-appctl", "bond/show", "bond-uplink"),
    }
