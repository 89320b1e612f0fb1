"""A node as Cilium (tunnel mode) lays it out, with its BPF programs stood in for by nftables chains
on the same devices.

The kernel side is real: devices, routes, rules of Cilium's agent, conntrack. What Cilium's programs
at tc do is done by chains of the netdev family at the same places: pod to pod and host to pod are
redirected from device to device, past routing and netfilter; masquerading on the uplink rewrites
what leaves and redirects what returns. Bundles leave these chains out, as they leave programs out
on a real node.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from examples.record.machine import Machine, Netns

HOST_MAC, NET_MAC = "6e:1c:90:5f:aa:01", "6e:1c:90:5f:aa:02"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A pod to be put on the node."""

    name: str
    """`namespace/name`."""
    netns: str
    device: str
    """The host's end of its veth pair."""
    address: str
    mac: str

    @property
    def device_mac(self) -> str:
        """The MAC of the host's end, which the pod takes for its gateway's."""
        return f"ce:{self.mac[3:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The addresses and names of a node."""

    node: str
    address: str
    gateway: str
    prefix: str
    """The node's pods."""
    router: str
    """Cilium's own address on the node, on `cilium_host`."""
    other_prefixes: tuple[str, ...] = ()
    """Pods of other nodes."""
    pods: tuple[Pod, ...] = ()
    outside: tuple[str, ...] = ()
    """Addresses that answer beyond the gateway."""
    bpf_masquerade: bool = False
    options: dict[str, str] = field(default_factory=dict)
    """Further keys of the cilium-config ConfigMap."""


@dataclass(frozen=True, slots=True)
class Built:
    """The namespaces of a built node."""

    node: Netns
    outside: Netns
    pods: dict[str, Netns]


def build(machine: Machine, plan: Plan) -> Built:
    """Build the node, its pods and the world beyond its gateway."""
    node, outside = machine.node(), machine.named("uplink")
    machine.veth(node, "eth0", outside, "port1", macs=("02:1b:77:c0:35:09", "02:1b:77:c0:35:01"))
    outside.ip(f"addr add {plan.gateway}/24 dev port1")
    for address in plan.outside:
        outside.ip(f"addr add {address}/32 dev lo")
    node.ip(f"addr add {plan.address}/24 dev eth0")
    node.ip(f"route add default via {plan.gateway}")
    node.sysctl(net__ipv4__ip_forward=1, net__ipv4__conf__all__rp_filter=0)
    node.ip(
        f"link add cilium_net address {NET_MAC} type veth peer name cilium_host address {HOST_MAC}"
    )
    for device in ("cilium_net", "cilium_host"):
        node.ip(f"link set {device} arp off up")
        node.run("sysctl", "-q", "-w", f"net.ipv4.conf.{device}.rp_filter=0")
    node.ip("link add cilium_vxlan type vxlan external dstport 8472")
    node.ip("link set cilium_vxlan up")
    node.ip(f"addr add {plan.router}/32 dev cilium_host scope link")
    node.ip(f"route add {plan.router} dev cilium_host scope link")
    node.ip(f"route add {plan.prefix} via {plan.router} dev cilium_host src {plan.router}")
    for prefix in plan.other_prefixes:
        node.ip(f"route add {prefix} via {plan.router} dev cilium_host src {plan.router} mtu 1450")
    pods = {pod.name: add_pod(machine, node, pod, plan.router) for pod in plan.pods}
    node.feed(["nft", "-f", "-"], emit_programs(plan))
    return Built(node, outside, pods)


def add_pod(machine: Machine, node: Netns, pod: Pod, router: str) -> Netns:
    """Add a pod with a host address and a gateway that is not on its link, as Cilium's CNI plugin
    does.
    """
    netns = machine.named(pod.netns)
    machine.veth(node, pod.device, netns, "eth0", macs=(pod.device_mac, pod.mac))
    node.run("sysctl", "-q", "-w", f"net.ipv4.conf.{pod.device}.rp_filter=0")
    netns.ip(f"addr add {pod.address}/32 dev eth0")
    netns.ip(f"route add {router} dev eth0 scope link")
    netns.ip(f"route add default via {router} dev eth0 mtu 1450")
    netns.ip(f"neigh add {router} lladdr {pod.device_mac} dev eth0 nud permanent")
    return netns


def emit_programs(plan: Plan) -> str:
    """Give the chains that stand in for Cilium's programs, as `nft -f` takes them."""
    chains = []
    for pod in plan.pods:
        redirects = [redirect(other, pod.device_mac) for other in plan.pods if other != pod]
        chains.append(emit_chain(f"from_{pod.device}", "ingress", pod.device, redirects))
    chains.append(
        emit_chain(
            "to_host", "egress", "cilium_host", [redirect(pod, HOST_MAC) for pod in plan.pods]
        )
    )
    if plan.bpf_masquerade:
        leaving = [f"ip saddr {plan.prefix} ip saddr set {plan.address}"]
        returning = [
            f"ip saddr {address} ip daddr {plan.address} tcp dport 32768-60999 ip daddr set "
            f"{plan.pods[0].address} ether daddr set {plan.pods[0].mac} ether saddr set "
            f"{plan.pods[0].device_mac} fwd to {plan.pods[0].device}"
            for address in plan.outside
        ]
        chains += [
            emit_chain("to_netdev", "egress", "eth0", leaving),
            emit_chain("from_netdev", "ingress", "eth0", returning),
        ]
    return "table netdev programs {\n" + "".join(chains) + "}\n"


def redirect(pod: Pod, source: str) -> str:
    """Give the rule that hands a packet for a pod straight to the pod's device."""
    return (
        f"ip daddr {pod.address} ether daddr set {pod.mac} ether saddr set {source} fwd to "
        f"{pod.device}"
    )


def emit_chain(name: str, hook: str, device: str, rules: list[str]) -> str:
    """Give one base chain on a device."""
    body = "".join(f"    {rule}\n" for rule in rules)
    return (
        f'  chain {name} {{\n    type filter hook {hook} device "{device}" priority 0;\n'
        f"{body}  }}\n"
    )


def emit_rules(plan: Plan) -> str:
    """Give the rules that Cilium's agent keeps, as `iptables-restore --noflush` takes them, without
    the jump from FORWARD.
    """
    note = '-m comment --comment "cilium masquerade non-cluster"'
    masquerade = (
        f"-A CILIUM_POST_nat -s {plan.prefix} ! -d {plan.prefix} ! -o cilium_+ {note} -j "
        "MASQUERADE\n"
    )
    return f"""\
*raw
:CILIUM_PRE_raw - [0:0]
:CILIUM_OUTPUT_raw - [0:0]
-A PREROUTING -m comment --comment "cilium-feeder: CILIUM_PRE_raw" -j CILIUM_PRE_raw
-A OUTPUT -m comment --comment "cilium-feeder: CILIUM_OUTPUT_raw" -j CILIUM_OUTPUT_raw
-A CILIUM_PRE_raw -m mark --mark 0x200/0xf00 -m comment --comment "cilium: NOTRACK for proxy traffic" -j CT --notrack
-A CILIUM_OUTPUT_raw -o lxc+ -m mark --mark 0xa00/0xfffffeff \
-m comment --comment "cilium: NOTRACK for proxy return traffic" -j CT --notrack
COMMIT
*mangle
:CILIUM_PRE_mangle - [0:0]
:CILIUM_POST_mangle - [0:0]
-A PREROUTING -m comment --comment "cilium-feeder: CILIUM_PRE_mangle" -j CILIUM_PRE_mangle
-A POSTROUTING -m comment --comment "cilium-feeder: CILIUM_POST_mangle" -j CILIUM_POST_mangle
-A CILIUM_PRE_mangle ! -o lo -m socket --transparent \
-m comment --comment "cilium: any->pod redirect proxied traffic to host proxy" \
-j MARK --set-xmark 0x200/0xffffffff
COMMIT
*nat
:CILIUM_PRE_nat - [0:0]
:CILIUM_OUTPUT_nat - [0:0]
:CILIUM_POST_nat - [0:0]
-A PREROUTING -m comment --comment "cilium-feeder: CILIUM_PRE_nat" -j CILIUM_PRE_nat
-A OUTPUT -m comment --comment "cilium-feeder: CILIUM_OUTPUT_nat" -j CILIUM_OUTPUT_nat
-A POSTROUTING -m comment --comment "cilium-feeder: CILIUM_POST_nat" -j CILIUM_POST_nat
{"" if plan.bpf_masquerade else masquerade}\
-A CILIUM_POST_nat -m mark --mark 0xa00/0xe00 -m comment --comment "exclude proxy return traffic from masquerade" -j ACCEPT
-A CILIUM_POST_nat ! -s {plan.prefix} ! -d {plan.prefix} -o cilium_host -m comment --comment "cilium host->cluster masquerade" \
-j SNAT --to-source {plan.router}
-A CILIUM_POST_nat -s 127.0.0.1/32 -o cilium_host -m comment --comment "cilium host->cluster from 127.0.0.1 masquerade" \
-j SNAT --to-source {plan.router}
COMMIT
*filter
:CILIUM_INPUT - [0:0]
:CILIUM_FORWARD - [0:0]
:CILIUM_OUTPUT - [0:0]
-A INPUT -m comment --comment "cilium-feeder: CILIUM_INPUT" -j CILIUM_INPUT
-A OUTPUT -m comment --comment "cilium-feeder: CILIUM_OUTPUT" -j CILIUM_OUTPUT
-A CILIUM_INPUT -m mark --mark 0x200/0xf00 -m comment --comment "cilium: ACCEPT for proxy traffic" -j ACCEPT
-A CILIUM_FORWARD -o cilium_host -m comment --comment "cilium: any->cluster on cilium_host forward accept" -j ACCEPT
-A CILIUM_FORWARD -i cilium_host -m comment --comment "cilium: cluster->any on cilium_host forward accept (nodeport)" -j ACCEPT
-A CILIUM_FORWARD -i lxc+ -m comment --comment "cilium: cluster->any on lxc+ forward accept" -j ACCEPT
-A CILIUM_FORWARD -i cilium_net -m comment --comment "cilium: cluster->any on cilium_net forward accept (nodeport)" -j ACCEPT
-A CILIUM_OUTPUT -m mark --mark 0xa00/0xfffffeff -m comment --comment "cilium: ACCEPT for proxy return traffic" -j ACCEPT
-A CILIUM_OUTPUT -m mark ! --mark 0xe00/0xf00 -m mark ! --mark 0xd00/0xf00 -m mark ! --mark 0xa00/0xe00 \
-m comment --comment "cilium: host->any mark as from host" -j MARK --set-xmark 0xc00/0xf00
COMMIT
"""  # noqa: E501


FEEDER = ("-m", "comment", "--comment", "cilium-feeder: CILIUM_FORWARD", "-j", "CILIUM_FORWARD")
"""The jump from FORWARD; where it stands is what one incident is about."""


def config_map(plan: Plan) -> dict[str, object]:
    """Give the cilium-config ConfigMap as `kubectl get -o json` prints it."""
    data = {
        "bpf-lb-external-clusterip": "false",
        "cluster-name": "default",
        "enable-bpf-masquerade": str(plan.bpf_masquerade).lower(),
        "enable-endpoint-routes": "false",
        "enable-host-legacy-routing": "true",
        "enable-ipv4": "true",
        "enable-ipv4-masquerade": "true",
        "enable-ipv6": "false",
        "enable-l7-proxy": "true",
        "ipam": "cluster-pool",
        "kube-proxy-replacement": "disabled",
        "tunnel": "vxlan",
    }
    return {
        "apiVersion": "v1",
        "data": dict(sorted((data | plan.options).items())),
        "kind": "ConfigMap",
        "metadata": {"name": "cilium-config", "namespace": "kube-system"},
    }
