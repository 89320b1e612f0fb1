"""Bundles of a fleet that never was: nodes of a few pools, alike but for what is a node's own, and
one in a hundred with one of twenty planted faults.

    python -m bench.made_fleet FOLDER --nodes 1000 --pods 100

writes FOLDER/*.tar.gz and FOLDER/planted.csv (node, fault, and words that the report has to say).

    python -m bench.made_fleet FOLDER --check OUT

says which of them the run in OUT names (`podpath fleet FOLDER --out OUT`), and which other nodes.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import random
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from podpath_fleet.questions import FleetTables

POOLS = ("web", "batch", "db")
SYSCTLS = {
    "net.ipv4.ip_forward": "1",
    "net.ipv4.conf.all.rp_filter": "0",
    "net.ipv4.conf.default.rp_filter": "0",
    "net.ipv4.conf.eth0.rp_filter": "0",
    "net.ipv4.conf.all.forwarding": "1",
    "net.ipv4.conf.eth0.forwarding": "1",
    "net.ipv4.conf.all.arp_ignore": "0",
    "net.ipv4.tcp_keepalive_time": "7200",
    "net.ipv4.ip_local_port_range": "32768 60999",
    "net.ipv4.neigh.default.gc_thresh3": "4096",
    "net.bridge.bridge-nf-call-iptables": "1",
    "net.netfilter.nf_conntrack_max": "262144",
    "net.netfilter.nf_conntrack_tcp_be_liberal": "0",
    "net.netfilter.nf_conntrack_tcp_timeout_established": "86400",
    "net.core.somaxconn": "4096",
}
KERNEL = "6.8.0-45-generic"
SERVICES = 30

Node = dict[str, Any]
"""The parts of a node that faults change: kernel, sysctls, links, routes, chains."""


def draw_node(number: int, pods: int) -> Node:
    """Make a sound node."""
    high, low = divmod(number, 250)
    own = f"172.{16 + high // 256}.{high % 256}.{low + 2}"
    pool = POOLS[number % len(POOLS)]
    veths = [f"veth{number:04x}{pod:04x}" for pod in range(pods)]
    pod_net = f"10.{number // 256 % 256}.{number % 256}"
    return {
        "name": f"{pool}-{number:05d}",
        "kernel": KERNEL,
        "sysctls": dict(SYSCTLS),
        "own": own,
        "links": {"lo": 65536, "eth0": 1500} | dict.fromkeys(veths, 1500),
        "routes": [
            {"dst": "default", "gateway": "172.16.0.1", "dev": "eth0", "flags": []},
            {"dst": "172.16.0.0/12", "dev": "eth0", "scope": "link", "prefsrc": own, "flags": []},
            *(
                {"dst": f"{pod_net}.{pod + 2}", "dev": veth, "scope": "link", "flags": []}
                for pod, veth in enumerate(veths)
            ),
        ],
        "policies": {"INPUT": "ACCEPT", "FORWARD": "ACCEPT", "OUTPUT": "ACCEPT"},
        "forward": [
            "-A FORWARD -m comment --comment cni -j CNI-FORWARD",
            '-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD',
        ],
        "kube_forward": [
            "-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP",
            "-A KUBE-FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT",
            "-A KUBE-FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
        ],
        "masquerade": [f"-A POSTROUTING -s {pod_net}.0/24 ! -d 10.0.0.0/8 -j MASQUERADE"],
        "mangle": [],
        "rules": [],
        "pod_net": pod_net,
    }


def set_sysctl(key: str, value: str) -> Callable[[Node], str]:
    """Make a fault of one sysctl."""

    def plant(node: Node) -> str:
        node["sysctls"][key] = value
        return f"sysctl {key}"

    return plant


def _drop_route(node: Node) -> str:
    node["routes"] = node["routes"][1:]
    return "routes: IPv4 default"


def _add_route(node: Node) -> str:
    node["routes"].append(
        {"dst": "10.77.0.0/16", "gateway": "172.16.0.9", "dev": "eth0", "flags": []}
    )
    return "routes: IPv4 to /16 by a gateway"


def _add_blackhole(node: Node) -> str:
    node["routes"].append({"type": "blackhole", "dst": "10.96.0.0/12", "flags": []})
    return "routes: IPv4 blackhole"


def _drop_pod_routes(node: Node) -> str:
    node["routes"] = node["routes"][:-2]
    return "routes: IPv4 to /32"


def _set_metric(node: Node) -> str:
    node["routes"][0]["metric"] = 600
    return "metric 600"


def _shrink(node: Node) -> str:
    node["links"]["eth0"] = 1450
    return "mtu of eth0"


def _shrink_veths(node: Node) -> str:
    node["links"] |= {name: 1400 for name in node["links"] if name.startswith("veth")}
    return "mtu of veth devices"


def _set_kernel(node: Node) -> str:
    node["kernel"] = "6.8.0-31-generic"
    return "kernel"


def _turn_order(node: Node) -> str:
    node["forward"].reverse()
    return "filter FORWARD: order"


def _set_policy(node: Node) -> str:
    node["policies"]["FORWARD"] = "DROP"
    return "filter FORWARD: policy"


def _add_drop(node: Node) -> str:
    node["forward"].insert(0, "-A FORWARD -p tcp -m tcp --dport 443 -j DROP")
    return "filter FORWARD: order"


def _lose_rule(node: Node) -> str:
    node["kube_forward"].pop(1)
    return "filter KUBE-FORWARD: rules"


def _add_rule(node: Node) -> str:
    node["rules"].append({"priority": 100, "src": "10.0.0.0", "srclen": 8, "table": "100"})
    return "policy rules IPv4"


FAULTS: dict[str, Callable[[Node], str]] = {
    "forwarding off": set_sysctl("net.ipv4.ip_forward", "0"),
    "reverse path filter": set_sysctl("net.ipv4.conf.all.rp_filter", "1"),
    "br_netfilter off": set_sysctl("net.bridge.bridge-nf-call-iptables", "0"),
    "small conntrack table": set_sysctl("net.netfilter.nf_conntrack_max", "4096"),
    "conntrack liberal": set_sysctl("net.netfilter.nf_conntrack_tcp_be_liberal", "1"),
    "few neighbors": set_sysctl("net.ipv4.neigh.default.gc_thresh3", "128"),
    "few ports": set_sysctl("net.ipv4.ip_local_port_range", "32768 33000"),
    "no default route": _drop_route,
    "stray route": _add_route,
    "black hole": _add_blackhole,
    "pods without routes": _drop_pod_routes,
    "metric": _set_metric,
    "small MTU": _shrink,
    "small MTU of pods": _shrink_veths,
    "old kernel": _set_kernel,
    "order of rules": _turn_order,
    "policy DROP": _set_policy,
    "stray DROP": _add_drop,
    "rule lost": _lose_rule,
    "policy rule": _add_rule,
}
"""Faults by name: each changes a node, and returns words of the fact that has to be told."""


def emit_files(node: Node) -> dict[str, str]:
    """Return the bundle's files."""
    links = [
        {
            "ifindex": index, "ifname": name, "mtu": mtu, "operstate": "UP",
            "flags": ["LOOPBACK" if name == "lo" else "BROADCAST", "UP", "LOWER_UP"],
            "link_type": "loopback" if name == "lo" else "ether",
            "address": f"02:00:00:00:{index // 256:02x}:{index % 256:02x}",
            **({"linkinfo": {"info_kind": "veth"}} if name.startswith("veth") else {}),
        }
        for index, (name, mtu) in enumerate(node["links"].items(), 1)
    ]  # fmt: skip
    addresses = {"lo": ("127.0.0.1", 8, "host"), "eth0": (node["own"], 12, "global")}
    inet = [
        {
            **link,
            "addr_info": [{"family": "inet", "local": own, "prefixlen": length, "scope": scope}],
        }
        for link in links
        for own, length, scope in [addresses.get(link["ifname"], ("169.254.1.1", 32, "link"))]
    ]
    rules = [
        {"priority": 0, "src": "all", "table": "local"},
        *node["rules"],
        {"priority": 32766, "src": "all", "table": "main"},
        {"priority": 32767, "src": "all", "table": "default"},
    ]
    manifest = {
        "format": "podpath/bundle/v1", "node": node["name"], "kernel": node["kernel"],
        "time": "2026-11-20T12:00:00+00:00", "netns": {"host": {"role": "host"}},
    }  # fmt: skip
    sysctls = "".join(f"{key} = {value}\n" for key, value in node["sysctls"].items())
    return {
        "bundle.json": json.dumps(manifest),
        "netns/host/ip-link.json": json.dumps(links),
        "netns/host/ip-addr.json": json.dumps(inet),
        "netns/host/ip-route.json": json.dumps(node["routes"]),
        "netns/host/ip-rule.json": json.dumps(rules),
        "netns/host/sysctl.txt": sysctls,
        "netns/host/iptables-save.txt": "\n".join(_emit_tables(node)) + "\n",
    }  # fmt: skip


def _emit_tables(node: Node) -> list[str]:
    mangle = [
        "*mangle",
        ":PREROUTING ACCEPT [0:0]",
        ":FORWARD ACCEPT [0:0]",
        *node["mangle"],
        "COMMIT",
    ]
    bases = [f":{name} {policy} [0:0]" for name, policy in node["policies"].items()]
    chains = [":CNI-FORWARD - [0:0]", ":KUBE-FORWARD - [0:0]"]
    accepts = [f"-A CNI-FORWARD -s {node['pod_net']}.0/24 -j ACCEPT"]
    table = [
        "*filter",
        *bases,
        *chains,
        *node["forward"],
        *accepts,
        *node["kube_forward"],
        "COMMIT",
    ]
    nat = [
        "*nat",
        ":PREROUTING ACCEPT [0:0]",
        ":POSTROUTING ACCEPT [0:0]",
        ":KUBE-SERVICES - [0:0]",
    ]
    jumps = ["-A PREROUTING -j KUBE-SERVICES"]
    parts: list[str] = []
    for service in range(SERVICES):
        own, end = f"KUBE-SVC-{service:016X}", f"KUBE-SEP-{service:016X}"
        nat += [f":{own} - [0:0]", f":{end} - [0:0]"]
        asked = f"-d 10.96.0.{service + 1}/32 -p tcp -m tcp --dport 80"
        jumps.append(f"-A KUBE-SERVICES {asked} -j {own}")
        target = f"10.1.0.{service + 2}:8080"
        parts += [f"-A {own} -j {end}", f"-A {end} -p tcp -m tcp -j DNAT --to-destination {target}"]
    return [*mangle, *table, *nat, *node["masquerade"], *jumps, *parts, "COMMIT"]


def pack(node: Node) -> bytes:
    """Return a node's bundle as an archive."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, text in emit_files(node).items():
            data = text.encode()
            info = tarfile.TarInfo(f"{node['name']}/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(raw.getvalue(), 1, mtime=0)


def write_fleet(folder: Path, nodes: int, pods: int, share: float = 0.01, seed: int = 1) -> None:
    """Write so many nodes, and what was planted in which."""
    chance = random.Random(seed)  # noqa: S311 - a benchmark's input
    folder.mkdir(parents=True, exist_ok=True)
    count = max(round(nodes * share), 1)
    chosen = sorted(chance.sample(range(nodes), count))
    planted = dict(zip(chosen, list(FAULTS) * count, strict=False))
    with (folder / "planted.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("node", "fault", "words"))
        for number in range(nodes):
            node = draw_node(number, pods)
            if number in planted:
                writer.writerow((node["name"], planted[number], FAULTS[planted[number]](node)))
            (folder / f"{node['name']}.tar.gz").write_bytes(pack(node))


class PlantedCheck(NamedTuple):
    """What a run's outliers say of what was planted."""

    planted: int
    missed: tuple[str, ...]
    """The nodes whose fault no outlier names."""
    wrong: tuple[str, ...]
    """The nodes that are named though nothing was planted there."""


def check_planted(folder: Path, out: str) -> PlantedCheck:
    """Compare the outliers of a run with what was planted, of which no more than ten nodes of a
    pool have the same.
    """
    with (folder / "planted.csv").open(encoding="utf-8", newline="") as file:
        words = {row["node"]: row["words"] for row in csv.DictReader(file)}
    told: dict[str, str] = {}
    for one in FleetTables(out).list_outliers():
        for node in one.names.split(", "):
            told[node] = f"{told.get(node, '')}\n{one.fact} {one.value} {one.usual}"
    missed = [node for node, said in words.items() if said not in told.get(node, "")]
    return PlantedCheck(len(words), tuple(missed), tuple(sorted(told.keys() - words.keys())))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--nodes", type=int, default=1000)
    options.add_argument("--pods", type=int, default=100)
    options.add_argument("--share", type=float, default=0.01)
    options.add_argument("--check", metavar="OUT")
    given = options.parse_args()
    if given.check is None:
        write_fleet(given.folder, given.nodes, given.pods, given.share)
    else:
        found = check_planted(given.folder, given.check)
        print(f"{found.planted} planted, missed: {found.missed}, wrong: {found.wrong}")
