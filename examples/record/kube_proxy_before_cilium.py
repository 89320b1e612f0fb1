"""FORWARD asks kube-proxy before Cilium, and conntrack never saw the SYN-ACK: the handshake's ACK
is INVALID and dropped.
"""

from __future__ import annotations

import json
from pathlib import Path

from bench.kube_proxy_ruleset import Service, emit_ruleset
from examples.record import cilium_node
from examples.record.bundle import collect_bundle
from examples.record.cilium_node import Built, Plan, Pod
from examples.record.machine import Machine, Netns, capture
from examples.record.ticket import transcript, write_ticket

SERVER = "198.51.100.25"
CLIENT = Pod(
    name="ingest/fetcher-5d8c7b9f44-k7wzn",
    netns="cni-91e3d0aa-6b57-4f0e-9c2f-0d84a7be1c66",
    device="lxc7b40e2d91ac5",
    address="10.142.3.88",
    mac="7a:31:0c:e4:03:58",
)
PLAN = Plan(
    node="rack4-node09",
    address="10.19.4.33",
    gateway="10.19.4.1",
    prefix="10.142.3.0/24",
    router="10.142.3.7",
    other_prefixes=("10.142.0.0/24", "10.142.1.0/24"),
    pods=(CLIENT,),
    outside=(SERVER,),
    bpf_masquerade=True,
    options={"kube-proxy-replacement": "probe"},
)
SERVICES = (
    Service(
        name="default/kubernetes:https",
        address="10.110.0.1",
        protocol="tcp",
        port=443,
        node_port=None,
        endpoints=("10.19.4.11:6443",),
    ),
    Service(
        name="ingest/fetcher:metrics",
        address="10.110.61.8",
        protocol="tcp",
        port=9102,
        node_port=None,
        endpoints=("10.142.3.88:9102",),
    ),
)
PROMPT = f"root@{PLAN.node}:~# "
IN_POD = f"nsenter --net=/var/run/netns/{CLIENT.netns}"


def record(folder: Path) -> None:
    """Record the node with the chains in the wrong order (ticket and bundle), then in the right one
    (the good twin).
    """
    with Machine() as machine:
        built = cilium_node.build(machine, PLAN)
        machine.serve(built.outside, 80, "feed 20481")
        node = built.node
        node.feed(["iptables-restore", "--noflush"], cilium_node.emit_rules(PLAN))
        node.feed(["iptables-restore", "--noflush"], emit_ruleset(SERVICES, "10.142.0.0/16"))
        node.run("iptables", "-A", "FORWARD", *cilium_node.FEEDER)
        files = {
            "node/cilium-config.json": json.dumps(cilium_node.config_map(PLAN), indent=2) + "\n"
        }

        outputs = fetch(built, folder / "bundle", expected="timed out")
        outputs |= ask_around(node)
        collect_bundle(folder / "bundle", node, PLAN.node, built.pods, files)

        node.run("iptables", "-D", "FORWARD", *cilium_node.FEEDER)
        node.run("iptables", "-I", "FORWARD", *cilium_node.FEEDER)
        node.run("iptables", "-Z")
        node.run("conntrack", "-F")
        fetch(built, folder / "good", expected="feed 20481")
        collect_bundle(folder / "good", node, PLAN.node, built.pods, files)
        outputs["forward-good"] = transcript(
            "root@rack4-node02:~# ", node, "iptables -t filter -nvL FORWARD"
        )
        write_ticket(folder / "ticket.md", "kube-proxy-before-cilium.md", outputs)


def fetch(built: Built, folder: Path, expected: str) -> dict[str, str]:
    """Ask the outside server from the pod, captured on both sides of the pod's veth pair."""
    captures = folder / "captures"
    pod = built.pods[CLIENT.name]
    with (
        capture(pod, "any", captures / f"{CLIENT.netns}-any", "host", SERVER),
        capture(built.node, "any", captures / "host-any", "host", SERVER),
    ):
        said = built.node.shell(f"{IN_POD} curl -sS -m 4 http://{SERVER}/feed").rstrip()
    if expected not in said:
        raise RuntimeError(f"expected {expected!r}, curl said {said!r}")
    return {
        "curl": f"{PROMPT}{IN_POD} curl -sS -m 4 http://{SERVER}/feed\n{said}",
        "pod-dump": (
            f"{PROMPT}{IN_POD} tcpdump -i any -nn host {SERVER}\n"
            f"{dump(pod, captures / f'{CLIENT.netns}-any.pcap')}"
        ),
        "host-dump": (
            f"{PROMPT}tcpdump -i any -nn host {SERVER}\n"
            f"{dump(built.node, captures / 'host-any.pcap')}"
        ),
    }


def dump(netns: Netns, file: Path) -> str:
    """Print a capture as a person sees it who did not ask for link-level headers."""
    return netns.run("tcpdump", "-nn", "-r", str(file)).rstrip()


def ask_around(node: Netns) -> dict[str, str]:
    """Give the outputs that a tired person collects on the bad node."""
    return {
        "drops": transcript(PROMPT, node, "iptables -S | grep -- '-j DROP'"),
        "forward": transcript(PROMPT, node, "iptables -t filter -nvL FORWARD"),
        "kube-forward": transcript(PROMPT, node, "iptables -t filter -nvL KUBE-FORWARD"),
        "cilium-forward": transcript(PROMPT, node, "iptables -t filter -nvL CILIUM_FORWARD"),
        "conntrack": transcript(PROMPT, node, f"conntrack -L -s {CLIENT.address} 2>/dev/null"),
        "routes": transcript(PROMPT, node, "ip route"),
    }
