"""Two pods on one bridge, a service between them, and bridged replies that netfilter does not
see.
"""

from __future__ import annotations

from pathlib import Path

from bench.kube_proxy_ruleset import Service, emit_ruleset
from examples.record.bundle import collect_bundle
from examples.record.machine import Machine, Netns, capture
from examples.record.ticket import transcript, write_ticket

NODE = "edge-17"
CLUSTER, NODE_PODS, BRIDGE = "10.61.0.0/16", "10.61.9.0/24", "10.61.9.1"
CLIENT, CLIENT_ADDRESS = "cni-4b0c7f52-9a1e-4c55-8f0d-3d1be0a7c2f1", "10.61.9.14"
BACKEND, BACKEND_ADDRESS = "cni-d7a98e13-52c6-4f7b-b0a4-6e9f1c08d5ba", "10.61.9.31"
LEDGER = Service(
    name="billing/ledger:http",
    address="10.97.44.210",
    protocol="tcp",
    port=80,
    node_port=None,
    endpoints=(f"{BACKEND_ADDRESS}:8080", "10.61.4.12:8080"),
)
PODS = {"billing/invoice-api-7c9d4b6f5-x2lqh": CLIENT, "billing/ledger-0": BACKEND}
CURL = f"nsenter --net=/var/run/netns/{CLIENT} curl -sS -m 3"
SWITCH = "net.bridge.bridge-nf-call-iptables"

FLANNEL = f"""\
*filter
:FLANNEL-FWD - [0:0]
-A FORWARD -m comment --comment "flanneld forward" -j FLANNEL-FWD
-A FLANNEL-FWD -s {CLUSTER} -m comment --comment "flanneld forward" -j ACCEPT
-A FLANNEL-FWD -d {CLUSTER} -m comment --comment "flanneld forward" -j ACCEPT
COMMIT
*nat
:FLANNEL-POSTRTG - [0:0]
-A POSTROUTING -m comment --comment "flanneld masq" -j FLANNEL-POSTRTG
-A FLANNEL-POSTRTG -m mark --mark 0x4000/0x4000 -m comment --comment "flanneld masq" -j RETURN
-A FLANNEL-POSTRTG -s {NODE_PODS} -d {CLUSTER} -m comment --comment "flanneld masq" -j RETURN
-A FLANNEL-POSTRTG -s {CLUSTER} -d {NODE_PODS} -m comment --comment "flanneld masq" -j RETURN
-A FLANNEL-POSTRTG ! -s {CLUSTER} -d {NODE_PODS} -m comment --comment "flanneld masq" -j RETURN
-A FLANNEL-POSTRTG -s {CLUSTER} ! -d 224.0.0.0/4 -m comment --comment "flanneld masq" -j MASQUERADE --random-fully
-A FLANNEL-POSTRTG ! -s {CLUSTER} -d {CLUSTER} -m comment --comment "flanneld masq" -j MASQUERADE --random-fully
COMMIT
"""  # noqa: E501


def record(folder: Path) -> None:
    """Record the node with the switch off (ticket and bundle), then with it on (the good twin)."""
    with Machine() as machine:
        node = build(machine)
        pods = {
            name: Netns(netns, ("ip", "netns", "exec", netns), netns)
            for name, netns in PODS.items()
        }
        node.run("sysctl", "-q", "-w", f"{SWITCH}=0")
        outputs = break_it(node, folder / "bundle")
        outputs |= ask_around(node)
        collect_bundle(folder / "bundle", node, NODE, pods, {})
        write_ticket(folder / "ticket.md", "br-netfilter-off.md", outputs)

        node.run("sysctl", "-q", "-w", f"{SWITCH}=1")
        node.run("conntrack", "-F")
        until_local(node, folder / "good", "balance")
        collect_bundle(folder / "good", node, NODE, pods, {})


def build(machine: Machine) -> Netns:
    """Build the node with its bridge, its uplink, its overlay and its two pods."""
    node, router = machine.node(), machine.named("uplink")
    machine.veth(node, "eth0", router, "port17", macs=("06:5d:2a:91:c4:17", "06:5d:2a:00:00:01"))
    router.ip("addr add 10.20.30.1/24 dev port17")
    node.ip("addr add 10.20.30.43/24 dev eth0")
    node.ip("route add default via 10.20.30.1")
    node.ip("link add cni0 address 0a:6c:3d:09:00:01 type bridge")
    node.ip(f"addr add {BRIDGE}/24 dev cni0")
    node.ip("link set cni0 up")
    node.ip(
        "link add flannel.1 address 2e:91:04:7b:aa:17 type vxlan id 1 dev eth0 local 10.20.30.43 "
        "dstport 8472 nolearning"
    )
    node.ip("addr add 10.61.9.0/32 dev flannel.1")
    node.ip("link set flannel.1 up")
    node.ip("route add 10.61.4.0/24 via 10.61.4.0 dev flannel.1 onlink")
    node.ip("neigh add 10.61.4.0 lladdr 2e:91:04:7b:aa:04 dev flannel.1 nud permanent")
    node.run(
        "bridge",
        "fdb",
        "add",
        "2e:91:04:7b:aa:04",
        "dev",
        "flannel.1",
        "dst",
        "10.20.30.38",
        "self",
        "permanent",
    )
    node.sysctl(net__ipv4__ip_forward=1)
    add_pod(machine, node, CLIENT, "veth1f6b02da", CLIENT_ADDRESS, "0a:6c:3d:09:00:0e")
    backend = add_pod(machine, node, BACKEND, "vethc83e5a90", BACKEND_ADDRESS, "0a:6c:3d:09:00:1f")
    machine.serve(backend, 8080, '{"balance": 1204}')
    node.feed(["iptables-restore", "--noflush"], emit_ruleset([LEDGER], CLUSTER))
    node.feed(["iptables-restore", "--noflush"], FLANNEL)
    return node


def add_pod(machine: Machine, node: Netns, name: str, device: str, address: str, mac: str) -> Netns:
    """Add a pod to the bridge, as the CNI bridge plugin does."""
    pod = machine.named(name)
    machine.veth(node, device, pod, "eth0", macs=(f"c6:{mac[3:]}", mac))
    node.ip(f"link set {device} master cni0")
    node.run("bridge", "link", "set", "dev", device, "hairpin", "on")
    pod.ip(f"addr add {address}/24 dev eth0")
    pod.ip(f"route add default via {BRIDGE}")
    return pod


def break_it(node: Netns, bundle: Path) -> dict[str, str]:
    """Connect to the service until the local endpoint is drawn; give what the terminals showed."""
    prompt = f"root@{NODE}:~# "
    said = until_local(node, bundle, "timed out")
    dump = node.shell(f"tcpdump -nn -vv -r {bundle}/captures/cni0.pcap 2>/dev/null").rstrip()
    return {
        "curl-service": f"{prompt}{CURL} http://{LEDGER.address}/\n{said}",
        "tcpdump": f'{prompt}tcpdump -nn -vv -i cni0 "host {CLIENT_ADDRESS} or arp"\n{dump}',
        "conntrack": transcript(prompt, node, f"conntrack -L -d {LEDGER.address} 2>/dev/null"),
        "curl-pod": transcript(prompt, node, f"{CURL} http://{BACKEND_ADDRESS}:8080/"),
    }


def until_local(node: Netns, folder: Path, expected: str) -> str:
    """Capture a request on the bridge; kube-proxy's dice are thrown again until the endpoint on
    this node comes up.
    """
    for _ in range(20):
        with capture(
            node, "cni0", folder / "captures" / "cni0", "host", CLIENT_ADDRESS, "or", "arp"
        ):
            said = node.shell(f"{CURL} http://{LEDGER.address}/").rstrip()
        if f"> {BACKEND_ADDRESS}.8080" in (folder / "captures" / "cni0.txt").read_text(
            encoding="ascii"
        ):
            if expected not in said:
                raise RuntimeError(f"expected {expected!r}, curl said {said!r}")
            return said
        node.run("conntrack", "-F")
    raise RuntimeError("the local endpoint never came up")


def ask_around(node: Netns) -> dict[str, str]:
    """Give the outputs that a tired person collects."""
    prompt = f"root@{NODE}:~# "
    chains = "|".join(
        [LEDGER.chain("SVC"), *(LEDGER.chain("SEP", endpoint) for endpoint in LEDGER.endpoints)]
    )
    return {
        "rules": transcript(
            prompt,
            node,
            f"iptables-save -t nat | grep -E '{chains}|KUBE-POSTROUTING|KUBE-MARK-MASQ'",
        ),
        "portals": transcript(prompt, node, "iptables -t nat -S | grep 'service portals'"),
        "brctl": transcript(prompt, node, "brctl show"),
        "ip-addr": transcript(prompt, node, "ip -4 addr"),
        "route": transcript(prompt, node, "ip route"),
        "switch": transcript(prompt, node, f"sysctl {SWITCH}"),
    }
