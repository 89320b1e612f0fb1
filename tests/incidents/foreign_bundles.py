"""Bundles as other tools make them, of a node on the real kernel: the tools' own commands, in the
files of their layouts.

Where a tool asks the kernel itself (kubeskoop over netlink) what `ip -j` prints is written in its
form.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import podpath
from podpath.checks.finding import WEIGHTY
from podpath.library.case import NodeCase
from podpath.library.diagnosis import diagnose
from podpath.report.style import Style
from podpath_lab.apply import enter_private_world, run
from podpath_lab.script import ScriptCommand
from tests.incidents.blind_faults import FAULTS
from tests.incidents.blind_world import PODS, run_lines, standing

HOST = "host"
Build = Callable[[Path, str], None]
"""Writes a bundle into a folder, of the node that it gives a name."""


def printed(command: str, netns: str = HOST) -> str:
    """Return what a command prints in a namespace; what fails prints its error, as collectors keep
    it.
    """
    return run(ScriptCommand(("sh", "-c", f"{command} 2>&1 || true"), netns=netns))


def write(path: Path, text: str) -> None:
    """Write a file of a bundle."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_outputs(folder: Path, files: Iterable[tuple[str, str]], netns: str = HOST) -> None:
    """Write what commands print, each into its file."""
    for name, command in files:
        write(folder / name, printed(command, netns))


def build_eks(folder: Path, node: str) -> None:
    """Write the EKS log collector's files: a count stands below each table, two outputs are in one
    file.
    """
    write(folder / "system/instance-id.txt", "i-0123456789abcdef0\n")
    write(
        folder / "kernel/uname.txt",
        f"Linux {node} 6.1.92-99.174.amzn2023.x86_64 #1 SMP x86_64 GNU/Linux\n",
    )
    write(folder / "system/ps.txt", "USER PID %CPU %MEM\nroot 1 0.0 0.1 /sbin/init\n")
    for six in ("ip", "ip6"):
        for table in ("mangle", "filter", "nat", ""):
            chosen = f" --table {table}" if table else ""
            rules = printed(f"{six}tables --wait 1 --numeric --verbose --list{chosen}")
            name = f"{six}tables-{table}.txt" if table else f"{six}tables.txt"
            write(
                folder / "networking" / name,
                f"{rules}=======\nTotal Number of Rules: {rules.count(chr(10))}\n",
            )
        write(folder / f"networking/{six}tables-save.txt", printed(f"{six}tables-save"))
    tracked = printed("conntrack -S"), printed("conntrack -L 2>/dev/null")
    write(
        folder / "networking/conntrack.txt",
        (
            f"*** Output of conntrack -S *** \n{tracked[0]}*** Output of conntrack -L ***\n"
            f"{tracked[1]}"
        ),
    )
    sets = printed("ipset --list"), printed("ipset --save")
    write(folder / "networking/ipset.txt", f"{sets[0]}-e \n\n{sets[1]}")
    write_outputs(folder / "networking", (
        ("iprule.txt", "ip rule show"), ("ip6rule.txt", "ip -6 rule show"),
        ("iproute.txt", "ip route show table all"), ("ip6route.txt", "ip -6 route show table all"),
        ("ifconfig.txt", "ifconfig"),
    ))  # fmt: skip
    write(folder / "sysctls/sysctl_all.txt", printed("sysctl --all 2>/dev/null"))
    write(folder / "system/netstat.txt", printed("netstat -plant"))


def build_sosreport(folder: Path, node: str) -> None:
    """Write a sosreport: a file for each command, and a folder for each namespace."""
    write(folder / "sos_commands/host/hostname", f"{node}\n")
    write(folder / "version.txt", "sosreport: 4.8.2\n")
    write(
        folder / "sos_commands/systemd/systemctl_list-units", "UNIT LOAD ACTIVE SUB DESCRIPTION\n"
    )
    write_outputs(folder / "sos_commands/networking", (
        ("ip_-o_addr", "ip -o addr"), ("ip_route_show_table_all", "ip route show table all"),
        ("ip_-6_route_show_table_all", "ip -6 route show table all"),
        ("ip_-4_rule_list", "ip -4 rule list"), ("ip_-6_rule_list", "ip -6 rule list"),
        ("ip_-s_-d_link", "ip -s -d link"), ("ip_-d_address", "ip -d address"),
        ("ip_-s_-s_neigh_show", "ip -s -s neigh show"),
        ("bridge_-d_vlan_show", "bridge -d vlan show 2>/dev/null"),
        ("bridge_-s_-s_-d_-t_fdb_show", "bridge -s -s -d -t fdb show"),
        ("nstat_-zas", "nstat -zas"), ("ss_-peaonmi", "ss -peaonmi"),
        ("netstat_-W_-neopa", "netstat -W -neopa"),
        ("bridge_-s_-s_-d_link_show", "bridge -s -s -d link show"),
    ))  # fmt: skip
    write_outputs(folder / "sos_commands/firewall_tables", (
        ("nft_-a_list_ruleset", "nft -a list ruleset"), ("iptables_-vnxL", "iptables -vnxL"),
        *((
            f"iptables_-t_{table}_-nvL", f"iptables -t {table} -nvL",
        ) for table in ("mangle", "filter", "nat")),
    ))  # fmt: skip
    write_outputs(folder / "sos_commands/kernel", (("sysctl_-a", "sysctl -a 2>/dev/null"),))
    for name in PODS:
        inside = folder / "sos_commands/networking/namespaces" / name
        write_outputs(inside, (
            (
                f"ip_netns_exec_{name}_{command.replace(' ', '_')}", f"{command} 2>/dev/null",
            ) for command in (
                "ip -d address show", "ip route show table all", "ip -s -s neigh show", "ip -4 rule list", "ip -6 rule list",  # noqa: E501
                "sysctl -a", "netstat -W -neopa", "nstat -zas", "iptables-save", "ip6tables-save", "ss -peaonmi",  # noqa: E501
            )
        ), name)  # fmt: skip


def build_bugtool(folder: Path, node: str) -> None:
    """Write a cilium-bugtool's folder: the agent sees the host's namespace alone."""
    write(folder / "cmd/hostname.md", f"{node}\n")
    write(folder / "cmd/ps-auxfw.md", "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n")
    commands = (
        "ip a", "ip -4 r", "ip -6 r", "ip -d -s l", "ip -4 n", "ip -6 n", "ip rule", "sysctl -a",
        "iptables-save -c", "iptables -S", "ip6tables -S", "ip -4 route show table 254",
        "ip -4 route show table 255", "ss -t -p -a -i -s", "iptables-nft-save -c",
        "iptables-legacy-save -c",
    )  # fmt: skip
    write_outputs(
        folder / "cmd",
        (
            (f"{each.replace('/', ' ').replace(' ', '-')}.md", f"{each} 2>/dev/null")
            for each in commands
        ),
    )


def build_calico_node(folder: Path, node: str) -> None:
    """Write what `calicoctl node diags` writes."""
    write(folder / "diagnostics/hostname", f"{node}\n")
    write(
        folder / "diagnostics/logs/calico-node.log",
        "2026-11-22 10:00:00.000 [INFO][71] felix/summary.go 100: Summarising\n",
    )
    write_outputs(folder / "diagnostics", (
        ("ipv4_route", "ip -4 route"), ("ipv6_route", "ip -6 route"), ("ipv4_addr", "ip -4 addr"),
        ("ipv6_addr", "ip -6 addr"), ("nft_ruleset", "nft -n -a list ruleset"),
        ("ipv4_tables", "iptables-save -c"), ("ipv6_tables", "ip6tables-save -c"),
        ("ipsets", "ipset list"), ("netstat", "netstat -a -n"),
    ))  # fmt: skip


def build_calico_cluster(folder: Path, node: str) -> None:
    """Write a node's folder of `calicoctl cluster diags`, beside those of other nodes."""
    write(folder / "cluster/nodes.txt", "NAME STATUS ROLES AGE VERSION\n")
    write_outputs(folder / "nodes" / node, (
        ("iptables-legacy-save.txt", "iptables-legacy-save -c"),
        ("iptables-nft-save.txt", "iptables-nft-save -c"),
        ("nft-ruleset.txt", "nft -n -a list ruleset"), ("ip-route.txt", "ip route show table all"),
        ("ip-route-v6.txt", "ip -6 route show table all"), ("ip-rule.txt", "ip rule"),
        ("ip-addr.txt", "ip addr"), ("ip-link.txt", "ip link"), ("ip-neigh.txt", "ip neigh"),
        ("ipset-list.txt", "ipset list"),
        ("tc-qdisc.txt", "echo qdisc noqueue 0: dev lo root refcnt 2"),
    ))  # fmt: skip


def build_aks(folder: Path, node: str) -> None:
    """Write an AKS node's bundle; the rules of nft in a namespace's folder are the host's."""
    write(folder / "etc/hostname", f"{node}\n")
    write(folder / "proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1\n")
    for name in (HOST, *PODS):
        place = folder / "collect" / ("" if name == HOST else f"ip_netns_{name}")
        write_outputs(place, (
            ("ip_4_addr.json", "ip -4 -d -j addr show"),
            ("ip_4_neighbor.json", "ip -4 -d -j neighbor show"),
            ("ip_4_route.json", "ip -4 -d -j route show"),
            ("ip_6_addr.json", "ip -6 -d -j addr show"),
            ("ip_6_route.json", "ip -6 -d -j route show table all"),
            ("ip_link.json", "ip -d -j link show"), ("ip_netconf.json", "ip -d -j netconf show"),
            ("ip_rule.json", "ip -d -j rule show"),
            ("iptables.txt", "iptables -L -vn --line-numbers"),
            ("ip6tables.txt", "ip6tables -L -vn --line-numbers"),
            ("ss.txt", "ss -anoempiO --cgroup"), ("conntrack.txt", "conntrack -L 2>/dev/null"),
        ), name)  # fmt: skip
        write(place / "nftables.txt", printed("nft -n list ruleset"))
    write(folder / "collect/sysctl.txt", printed("sysctl -a 2>/dev/null"))


def build_retina(folder: Path, node: str) -> None:
    """Write a Retina capture's metadata: several outputs in a file, each under its command; copies
    of kernel folders.
    """
    place = folder / f"capture-{node}-20261122100000UTC"
    _write_together(place / "ip-resources.txt", (
        ("/sbin/ip -d -j addr show", "IP address configuration"),
        ("/sbin/ip -d -j neighbor show", "IP neighbor status"),
        ("/sbin/ip rule list", "Policy routing list"),
        ("/sbin/ip route show table all", "Routes of all route tables"),
    ))  # fmt: skip
    tool = "/usr/sbin/iptables-nft"
    _write_together(place / "iptables-rules.txt", (
        (f"{tool}-save", "IPtables rules"),
        (f"{tool} -vnx -L", "IPtables rules and stats in filter table"),
        (f"{tool} -vnx -L -t nat", "IPtables rules and stats in nat table"),
        (f"{tool} -vnx -L -t mangle", "IPtables rules and stats in mangle table"),
    ))  # fmt: skip
    _write_together(place / "socket-stats.txt", (
        ("/usr/bin/ss -s", "Socket statistics summary"),
        ("/usr/bin/ss -tapionume", "Socket statistics details"),
    ))  # fmt: skip
    write_outputs(
        place / "proc-net", ((name, f"cat /proc/net/{name}") for name in ("route", "dev", "arp"))
    )
    for line in printed(
        "sysctl -a -r '^net.ipv4.(ip_forward|conf.*(rp_filter|forwarding))' 2>/dev/null"
    ).splitlines():
        key, _, value = line.partition(" = ")
        write(place / "proc-sys-net" / key.removeprefix("net.").replace(".", "/"), f"{value}\n")


def _write_together(path: Path, commands: Iterable[tuple[str, str]]) -> None:
    asked = [*commands]
    summary = "".join(f"{command}({about})\n" for command, about in asked)
    outputs = "".join(f"{command}\n\n{printed(command)}" for command, _ in asked)
    write(path, f"Summary:\n\n{summary}\nExecute:\n\n{outputs}")


def build_gke(folder: Path, node: str) -> None:
    """Write a node's folder of a snapshot: files named after their commands."""
    write_outputs(folder / "nodes" / node / "commands", (
        ("sudo_iptables-save_--counters", "iptables-save --counters"), ("sudo_ip_addr", "ip addr"),
        ("sudo_ip_route_list_table_all", "ip route list table all"), ("sudo_ip_neigh", "ip neigh"),
        ("sudo_sysctl_-a", "sysctl -a -r '^net' 2>/dev/null"), ("uptime", "uptime"),
    ))  # fmt: skip


def build_must_gather(folder: Path, node: str) -> None:
    """Write what must-gather has of a node whose pods are OVN's or the SDN's, beside objects of the
    cluster.
    """
    place = folder / "quay-io-must-gather-sha256-1"
    write(place / "version", "openshift/must-gather\n4.8\n")
    pod = f"{node}_ovnkube-node-x7k2p"
    write_outputs(place / "network_logs", (
        (f"{pod}_iptables", "iptables-save -c"), (f"{pod}_ip_addr", "ip addr"),
        (f"{pod}_ip_route", "ip route"), (f"{pod}_ip_6_route", "ip -6 route"),
        (f"{pod}_ip_-s_-d_link", "ip -s -d link"),
    ))  # fmt: skip
    write(place / "nodes" / node / "ethtool_features", printed("ethtool -k eth0", "web"))
    write(
        place / f"cluster-scoped-resources/core/nodes/{node}.yaml",
        f"apiVersion: v1\nkind: Node\nmetadata:\n  name: {node}\n",
    )


def build_kubeskoop(folder: Path, node: str) -> None:
    """Write the collector's JSON: the host's namespace and those of pods."""
    pods = [
        {
            "id": name * 4,
            "n": name,
            "ns": "shop",
            "u": "",
            "pid": 0,
            "net": "",
            "hn": False,
            "nm": "none",
        }
        for name in PODS
    ]
    spaces = [_dump_netns(name, number) for number, name in enumerate((HOST, *PODS), 1)]
    write(
        folder / node / "collector.json",
        json.dumps({"p": pods, "n": spaces}, separators=(",", ":")),
    )


def _dump_netns(name: str, number: int) -> dict[str, Any]:
    links = json.loads(printed("ip -d -j addr", name))
    sysctls = dict(
        line.split(" = ", 1)
        for line in printed("sysctl -a 2>/dev/null", name).splitlines()
        if " = " in line
    )
    neighbours = json.loads(printed("ip -4 -j neigh", name) or "[]")
    numbers = {link["ifname"]: link["ifindex"] for link in links}
    return {
        "n": f"/proc/{number}/ns/net", "i": str(4026531840 + number), "p": number,
        "k": "" if name == HOST else f"shop/{name}",
        "if": [_dump_link(link, sysctls, neighbours, numbers) for link in links],
        "s": sysctls,
        "r": [_dump_route(route) for route in json.loads(printed("ip -4 -d -j route show table all", name) or "[]")],  # noqa: E501
        "ru": [_dump_rule(rule) for rule in json.loads(printed("ip -4 -j rule", name))],
        "it": printed("iptables-save | iptables-xml", name), "is": [], "vs": {},
        "c": [*_dump_sockets(name)],
    }  # fmt: skip


def _dump_link(
    link: dict[str, Any], sysctls: dict[str, str], neighbours: list[Any], numbers: dict[str, int]
) -> dict[str, Any]:
    up = link["operstate"] == "UP" or (link["operstate"] == "UNKNOWN" and "UP" in link["flags"])
    return {
        "n": link["ifname"], "i": link["ifindex"], "m": link["mtu"],
        "d": link.get("linkinfo", {}).get("info_kind", "device"),
        "a": [_dump_net(
            f"{each['local']}/{each['prefixlen']}", host=True,
        ) for each in link["addr_info"]],
        "st": 1 if up else 2,
        "s": {key: value for key, value in sysctls.items() if f".{link['ifname']}." in key},
        "ne": [_dump_neighbour(
            each, link,
        ) for each in neighbours if each.get("dev") == link["ifname"]],
        "f": None, "p": link.get("link_index", 0), "mi": numbers.get(link.get("master", ""), 0),
    }  # fmt: skip


def _dump_neighbour(entry: dict[str, Any], link: dict[str, Any]) -> dict[str, Any]:
    states = {
        "INCOMPLETE": 1,
        "REACHABLE": 2,
        "STALE": 4,
        "DELAY": 8,
        "PROBE": 16,
        "FAILED": 32,
        "NOARP": 64,
        "PERMANENT": 128,
    }
    mac = base64.b64encode(bytes.fromhex(entry.get("lladdr", "").replace(":", ""))).decode()
    state = sum(states[each] for each in entry["state"])
    return {
        "Family": 2,
        "LinkIndex": link["ifindex"],
        "State": state,
        "Type": 1,
        "Flags": 0,
        "IP": entry["dst"],
        "HardwareAddr": mac,
    }


def _dump_net(text: str, *, host: bool = False) -> dict[str, str]:
    found = ipaddress.ip_interface(text)
    shown = found.ip if host else found.network.network_address
    return {"IP": str(shown), "Mask": base64.b64encode(found.network.netmask.packed).decode()}


def _dump_route(route: dict[str, Any]) -> dict[str, Any]:
    types = {
        "unicast": 1,
        "local": 2,
        "broadcast": 3,
        "multicast": 5,
        "blackhole": 6,
        "unreachable": 7,
        "prohibit": 8,
    }
    tables = {"local": 255, "main": 254, "default": 253}
    table = str(route.get("table", "main"))
    protocols, scopes = (
        {"kernel": 2, "boot": 3, "static": 4},
        {"global": 0, "link": 253, "host": 254},
    )
    dst = "0.0.0.0/0" if route["dst"] == "default" else route["dst"]
    return {
        "f": 2, "o": route.get("dev", ""), "i": "",
        "sc": scopes.get(route.get("scope", "global"), 0), "d": _dump_net(dst),
        "s": route.get("prefsrc", ""), "g": route.get("gateway", ""),
        "p": protocols.get(route.get("protocol", "boot"), 3), "pr": route.get("metric", 0),
        "tb": tables.get(table) or int(table), "t": types[route.get("type", "unicast")], "tos": 0,
        "fl": 0,
    }  # fmt: skip


def _dump_rule(rule: dict[str, Any]) -> dict[str, Any]:
    tables = {"local": 255, "main": 254, "default": 253}
    table = str(rule.get("table", "0"))
    src = None if rule["src"] == "all" else _dump_net(f"{rule['src']}/{rule.get('srclen', 32)}")
    return {
        "p": rule["priority"], "f": 2, "tb": tables.get(table) or int(table), "m": -1, "ma": -1,
        "tos": 0, "ti": 0, "gt": -1, "s": src, "d": None, "fl": -1, "i": rule.get("iif", ""),
        "o": rule.get("oif", ""),
    }  # fmt: skip


def _dump_sockets(name: str) -> Iterator[dict[str, Any]]:
    for line in printed("ss -4Hltn", name).splitlines():
        found = re.search(r"(?P<address>[\d.]+):(?P<port>\d+)\s+0\.0\.0\.0:\*", line)
        if found is not None:
            yield {
                "l": found["address"],
                "lp": int(found["port"]),
                "r": "0.0.0.0",
                "rp": 0,
                "p": "tcp",
                "st": 0,
            }


BUILDERS: dict[str, Build] = {
    "eks": build_eks, "sosreport": build_sosreport, "bugtool": build_bugtool,
    "calico-node": build_calico_node, "calico-cluster": build_calico_cluster, "aks": build_aks,
    "retina": build_retina, "gke": build_gke, "must-gather": build_must_gather,
    "kubeskoop": build_kubeskoop,
}  # fmt: skip


def build_sysdump(folder: Path, node: str) -> None:
    """Write a sysdump's objects, and the bugtool's folder of one agent: each agent's is a bundle of
    its own node.
    """
    stamp = "20261122-101500"
    top = folder / f"cilium-sysdump-{stamp}"
    build_bugtool(top / f"cilium-bugtool-cilium-{node}-{stamp}", node)
    for kind in ("nodes", "pods", "services"):
        write(
            top / f"k8s-{kind}-{stamp}.yaml",
            f"apiVersion: v1\nitems: []\nkind: {kind.title()[:-1]}List\nmetadata: {{}}\n",
        )
    write(top / f"cilium-configmap-{stamp}.yaml", _CONFIGURATION)


_CONFIGURATION = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: cilium-config
  namespace: kube-system
data:
  enable-ipv4-masquerade: "true"
  tunnel-protocol: vxlan
"""
BUILDERS["sysdump"] = build_sysdump


class Planted(NamedTuple):
    """A kind of bundle with the fault that is planted in it, by its name among the blind ones."""

    kind: str
    fault: str
    nodes: tuple[str, ...] = ("node-1",)
    """With a second node, that one is the fault's twin."""


PLANTED = (
    Planted("eks", "forwarding-off-on-bridge"),
    Planted("retina", "forwarding-off-on-bridge"),
    Planted("sosreport", "strict-source-check"),
    Planted("bugtool", "masquerade-lost"),
    Planted("sysdump", "forwarding-off-on-bridge", ("node-1", "node-2")),
    Planted("calico-node", "blackhole-for-services"),
    Planted("calico-cluster", "dns-dropped", ("node-1", "node-2")),
    Planted("gke", "dns-dropped"),
    Planted("must-gather", "dns-dropped", ("node-1", "node-2")),
    Planted("aks", "tunnel-too-large"),
    Planted("kubeskoop", "forward-drop-on-top"),
)


class Seen(TypedDict):
    """What a bundle was read to, and what its answer says."""

    first: str
    """The first lines of the answer of each node, the one with the fault first."""
    named: bool
    verdict: str
    faults: list[str]
    """The checks that name a cause or a fault."""
    addresses: dict[str, dict[str, list[str]]]
    """Those of each namespace that an output shows, by node."""


_SETTLED = (
    "for each in $(seq 40); do ip -br link show eth0 | grep -q ' UP ' && break; sleep 0.1; done"
)
"""Waits for the kernel to tell that a device is up, up to a second later
(net/core/link_watch.c:linkwatch_add_event v6.12).
"""


def build_all(folder: Path) -> None:
    """Build every kind of bundle, with its fault in `bad` and with the twin in `good`; a second
    node is a twin in both.
    """
    for name in dict.fromkeys(planted.fault for planted in PLANTED):
        fault = next(fault for fault in FAULTS if fault.name == name)
        for state, lines in (("bad", fault.broken_by), ("good", fault.twin)):
            with standing(fault.shape, fault.backend):
                run_lines(lines)
                for name_of_netns in (HOST, *PODS):
                    printed(_SETTLED, name_of_netns)
                for planted in (each for each in PLANTED if each.fault == name):
                    BUILDERS[planted.kind](folder / state / planted.kind, planted.nodes[0])
                    for node in planted.nodes[1:] if state == "good" else ():
                        BUILDERS[planted.kind](folder / "bad" / planted.kind, node)
                        BUILDERS[planted.kind](folder / "good" / planted.kind, node)


def judge(bundle: Path, named: str) -> Seen:
    """Read and diagnose a bundle, asked nothing."""
    answer = diagnose(bundle)
    first = " ".join(line.strip() for line in answer.text(Style(width=100)).splitlines()[:6])
    nodes = podpath.read(bundle).nodes
    return Seen(
        first=first,
        named=re.search(named, first) is not None,
        verdict=answer.verdict,
        faults=[finding.check for finding in answer.findings if finding.severity in WEIGHTY],
        addresses={node.name: _list_addresses(node) for node in nodes},
    )


def _list_addresses(node: NodeCase) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, netns in node.facts.node.namespaces.items():
        if netns.inferred is None:
            own = [
                str(each.address)
                for each in netns.addresses.items
                if not each.address.is_loopback and each.address.family == 4
            ]
            found[name] = sorted(own)
    return found


def main() -> None:
    """Build all bundles in the folder that is named, and print what came of each."""
    folder = Path(sys.argv[1])
    enter_private_world()
    build_all(folder)
    wanted = {fault.name: fault.named for fault in FAULTS}
    seen = {
        planted.kind: {
            state: judge(folder / state / planted.kind, wanted[planted.fault])
            for state in ("bad", "good")
        }
        for planted in PLANTED
    }
    sys.stdout.write(json.dumps(seen, indent=1) + "\n")


if __name__ == "__main__":
    main()
