"""`net.ipv4.conf.all.rp_filter` back at 1 under Cilium: what comes from a pod's device to the
host's routing is dropped.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.kube_proxy_ruleset import Service, emit_ruleset
from examples.record import cilium_node
from examples.record.bundle import collect_bundle
from examples.record.cilium_node import Built, Plan, Pod
from examples.record.machine import Machine, Netns, capture
from examples.record.ticket import transcript, write_ticket

API_SERVER = "192.168.77.11"
DATABASE = Pod(
    name="orders/pg-main-0",
    netns="cni-2f6ab8c1-08d4-4e39-a7c5-51b3f9d20e74",
    device="lxcd25f81c07be3",
    address="10.88.5.61",
    mac="d6:04:9b:71:05:3d",
)
CONSUMER = Pod(
    name="orders/consumer-6bb9f5d86c-9tq4r",
    netns="cni-b3790de5-c41f-4a8b-93d6-7fe2a0c81b95",
    device="lxc08c3f7ea6d12",
    address="10.88.5.174",
    mac="d6:04:9b:71:05:ae",
)
PLAN = Plan(
    node="db-host-3",
    address="192.168.77.40",
    gateway="192.168.77.1",
    prefix="10.88.5.0/24",
    router="10.88.5.203",
    other_prefixes=("10.88.2.0/24", "10.88.7.0/24"),
    pods=(DATABASE, CONSUMER),
    outside=(API_SERVER,),
)
SERVICES = (
    Service(
        name="default/kubernetes:https",
        address="10.100.0.1",
        protocol="tcp",
        port=443,
        node_port=None,
        endpoints=(f"{API_SERVER}:6443",),
    ),
)
PROMPT = f"[root@{PLAN.node} ~]# "
STRICT = "net.ipv4.conf.all.rp_filter"
IN_POD = f"nsenter --net=/var/run/netns/{DATABASE.netns}"
IN_OTHER = f"nsenter --net=/var/run/netns/{CONSUMER.netns}"


def record(folder: Path) -> None:
    """Record the node with strict reverse-path filtering (ticket and bundle), then without (the
    good twin).
    """
    with Machine() as machine:
        built = cilium_node.build(machine, PLAN)
        node = built.node
        built.outside.ip("route add 192.168.77.11/32 dev lo")
        machine.serve(built.outside, 6443, "ok")
        machine.serve(built.pods[DATABASE.name], 9187, "pg_up 1")
        node.feed(["iptables-restore", "--noflush"], emit_ruleset(SERVICES, "10.88.0.0/16"))
        node.feed(["iptables-restore", "--noflush"], cilium_node.emit_rules(PLAN))
        node.run("iptables", "-I", "FORWARD", *cilium_node.FEEDER)
        files = {
            "node/cilium-config.json": json.dumps(cilium_node.config_map(PLAN), indent=2) + "\n"
        }

        node.run("sysctl", "-q", "-w", f"{STRICT}=1")
        outputs = try_all(built, folder / "bundle", works=False)
        outputs |= ask_around(node) | story_times()
        collect_bundle(folder / "bundle", node, PLAN.node, built.pods, files)
        write_ticket(folder / "ticket.md", "rp-filter-reset.md", outputs)

        node.run("sysctl", "-q", "-w", f"{STRICT}=0")
        node.run("conntrack", "-F")
        try_all(built, folder / "good", works=True)
        collect_bundle(folder / "good", node, PLAN.node, built.pods, files)


def try_all(built: Built, folder: Path, *, works: bool) -> dict[str, str]:
    """Try the four ways: host to pod, pod to the API server, to its service address, and pod to
    pod.
    """
    tries = {
        "probe": f"curl -sS -m 3 http://{DATABASE.address}:9187/metrics",
        "outside": f"{IN_POD} curl -sS -m 3 http://{API_SERVER}:6443/healthz",
        "service": f"{IN_POD} curl -sS -m 3 http://10.100.0.1:443/healthz",
        "pods": f"{IN_OTHER} curl -sS -m 3 http://{DATABASE.address}:9187/metrics",
    }
    outputs: dict[str, str] = {}
    with capture(
        built.node,
        "any",
        folder / "captures" / "host-any",
        "host",
        DATABASE.address,
        "or",
        "host",
        API_SERVER,
    ):
        for name, line in tries.items():
            said = built.node.shell(line).rstrip()
            if ("timed out" in said) == (works or name == "pods"):
                raise RuntimeError(f"{line}: {said}")
            outputs[name] = f"{PROMPT}{line}\n{said}"
    text = built.node.run(
        "tcpdump", "-nn", "-r", str(folder / "captures" / "host-any.pcap"), "host", API_SERVER
    )
    outputs["dump"] = f"{PROMPT}tcpdump -nn -i any host {API_SERVER}\n{text.rstrip()}"
    return outputs


def ask_around(node: Netns) -> dict[str, str]:
    """Give the outputs that a tired person collects."""
    return {
        "routes": transcript(PROMPT, node, "ip route"),
        "links": transcript(PROMPT, node, "ip -4 addr"),
        "pod-routes": transcript(PROMPT, node, f"{IN_POD} ip route"),
        "sysctl": transcript(PROMPT, node, "sysctl -a -r '^net.ipv4.conf.*\\.rp_filter'"),
        "nstat": transcript(PROMPT, node, "nstat -asz TcpExtIPReversePathFilter"),
    }


def story_times() -> dict[str, str]:
    """Give the times of the story, seven minutes before the recording: it began with a restart that
    nobody recorded.
    """
    restarted = datetime.now(UTC) - timedelta(minutes=7)
    moments = {"restarted": 0, "last-good": -4, "first-bad": 11}
    times = {
        name: f"{restarted + timedelta(seconds=seconds):%H:%M:%S}"
        for name, seconds in moments.items()
    }
    return times | {"began": f"{restarted:%H:%M}"}
