"""Incidents that were reported by people who lost days on them, rebuilt with stand-ins for what
this kernel lacks.
"""

from __future__ import annotations

import json
from dataclasses import replace

from podpath.node.node import HOST, NetnsRole
from podpath_lab.draft import Draft
from podpath_lab.incidents.incident import Incident, on_host, restore, within
from podpath_lab.script import ScriptCommand
from podpath_lab.topologies import routed_pods

_LXC, _POD, _NODE = "lxc1", "10.1.0.2", "172.31.0.10"
_TO_POD = "ether daddr set 02:00:00:00:01:00 ether saddr set 02:00:00:00:01:01"
_PROGRAMS = f"""table netdev programs {{
  chain to_netdev {{
    type filter hook egress device "eth0" priority 0; policy accept;
    ip saddr {_POD} ip saddr set {_NODE}
  }}
  chain from_netdev {{
    type filter hook ingress device "eth0" priority 0; policy accept;
    ip daddr {_NODE} tcp dport 32768-60999 ip daddr set {_POD} {_TO_POD} fwd to {_LXC}
  }}
}}
"""
_FORWARD = (
    "*filter\n:CILIUM_FORWARD - [0:0]\n:KUBE-FORWARD - [0:0]\n{}"
    "-A CILIUM_FORWARD -i lxc+ -j ACCEPT\n-A CILIUM_FORWARD -i cilium_net -j ACCEPT\n"
    "-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP\n"
    "-A KUBE-FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\nCOMMIT\n"
)
_CILIUM_FIRST = "-A FORWARD -j CILIUM_FORWARD\n-A FORWARD -j KUBE-FORWARD\n"
_KUBE_FIRST = "-A FORWARD -j KUBE-FORWARD\n-A FORWARD -j CILIUM_FORWARD\n"

_REDIRECT = """*nat
:PROXY_INIT_OUTPUT - [0:0]
:PROXY_INIT_REDIRECT - [0:0]
-A PREROUTING -j PROXY_INIT_REDIRECT
-A OUTPUT -j PROXY_INIT_OUTPUT
-A PROXY_INIT_OUTPUT -m owner --uid-owner 2102 -j RETURN
-A PROXY_INIT_OUTPUT -o lo -j RETURN
-A PROXY_INIT_OUTPUT -p tcp -j REDIRECT --to-ports 4140
-A PROXY_INIT_REDIRECT -p tcp -m multiport --dports 4190,4191 -j RETURN
-A PROXY_INIT_REDIRECT -p tcp -j REDIRECT --to-ports 4143
COMMIT
"""


def _conflist(name: str, *plugins: str) -> str:
    return json.dumps(
        {"cniVersion": "0.4.0", "name": name, "plugins": [{"type": plugin} for plugin in plugins]}
    )


def _pods() -> Draft:
    return routed_pods().draft


def _cilium() -> Draft:
    """Make a node whose pods Cilium connects: routed pods behind lxc devices."""
    return routed_pods(gateways=False).draft


def _switched() -> Draft:
    """Make a node with a management port and the slaves of a bond, all on one switch that learns
    MACs.
    """
    draft = Draft()
    host, switch, world = (
        draft.add_netns(HOST),
        draft.add_netns("switch", NetnsRole.OTHER),
        draft.add_netns("world", NetnsRole.OTHER),
    )
    switch.add_bridge("br0", "02:00:00:00:00:f0")
    host.add_bridge("br-bond", "02:00:00:00:00:f1")
    cables = ((HOST, "mgmt0", "port1"), (HOST, "eth1", "port2"), ("world", "eth0", "port3"))
    for serial, (netns, device, port) in enumerate(cables, 30):
        draft.connect(netns, device, "switch", port, serial)
        draft.enslave("switch", port, "br0")
    draft.enslave(HOST, "eth1", "br-bond")
    host.links[1] = replace(
        host.links[1], up=False
    )  # the bond's own bridge device is not used, and so takes nothing in
    host.sysctls["net.ipv4.ip_forward"] = "1"
    host.add_address("mgmt0", f"{_NODE}/24")
    host.add_route("169.254.0.0/16", "mgmt0", scope="link", metric=1007)
    world.add_address("eth0", "172.31.0.1/24")
    return draft


INCIDENTS: tuple[Incident, ...] = (
    Incident(
        name="kube-proxy-before-cilium",
        summary=(
            "kube-proxy put its chain before Cilium's, and drops the ACKs that BPF masquerade "
            "makes INVALID for conntrack."
        ),
        build=_cilium,
        probe=f"tcp {_POD} > 198.51.100.1:80 from pod1",
        checks=("chain-order",),
        prepared_by=(
            on_host("nft", "-f", "-", stdin=_PROGRAMS),
            restore(_FORWARD.format(_CILIUM_FIRST)),
        ),
        broken_by=(
            on_host("iptables", "-F", "FORWARD"),
            restore("*filter\n" + _KUBE_FIRST + "COMMIT\n"),
        ),
        mended_by=(
            on_host("iptables", "-F", "FORWARD"),
            restore("*filter\n" + _CILIUM_FIRST + "COMMIT\n"),
        ),
        hidden_files=("netns/host/nft.json", "netns/host/nft.txt"),
        files={
            "node/cilium-config.json": json.dumps(
                {
                    "kind": "ConfigMap",
                    "metadata": {"name": "cilium-config"},
                    "data": {
                        "enable-bpf-masquerade": "true",
                        "enable-ipv4-masquerade": "true",
                        "enable-policy": "never",
                        "kube-proxy-replacement": "probe",
                    },
                }
            )
        },
    ),
    Incident(
        name="host-disconnect",
        summary=(
            "A stale link-local route on a bond slave wins: its ARP request teaches all the "
            "slave's MAC for the host."
        ),
        build=_switched,
        probe=f"tcp 172.31.0.1 > {_NODE}:80 from world",
        checks=("foreign-arp", "enslaved-route"),
        broken_by=(
            on_host(
                "ip",
                "route",
                "add",
                "169.254.0.0/16",
                "dev",
                "eth1",
                "scope",
                "link",
                "metric",
                "1002",
            ),
            within("world", "sleep", "1.2"),
            on_host("bash", "-c", "echo > /dev/udp/169.254.169.254/80"),
        ),
        mended_by=(
            on_host("ip", "route", "del", "169.254.0.0/16", "dev", "eth1"),
            within("world", "ip", "neigh", "flush", "all"),
        ),
    ),
    Incident(
        name="cni-chain-race",
        summary=(
            "The CNI plugin wrote its file anew after the mesh had chained itself in: a pod starts "
            "without redirection."
        ),
        build=_pods,
        probe=f"tcp {_POD} > 192.0.2.2:1404 from pod1",
        ports=(80, 8080, 4140, 4143),
        checks=("cni-chain",),
        prepared_by=(ScriptCommand(("iptables-nft-restore", "--noflush"), _REDIRECT, "pod1"),),
        broken_by=(
            within("pod1", "iptables", "-t", "nat", "-F"),
            within("pod1", "iptables", "-t", "nat", "-X"),
        ),
        mended_by=(ScriptCommand(("iptables-nft-restore", "--noflush"), _REDIRECT, "pod1"),),
        files={
            "node/cni/10-calico.conflist": _conflist(
                "k8s-pod-network", "calico", "portmap", "linkerd-cni"
            )
        },
        changed_files={
            "node/cni/05-calico.conflist": _conflist("k8s-pod-network", "calico", "portmap"),
        },
    ),
)
