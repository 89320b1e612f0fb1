"""Evidence of any size: for every format that podpath reads, the output of a node with so many
links, routes, rules or lines.

Each row of the table is one format's: what stands before, and what one more thing adds. What comes
out has the shape that the tool prints, and nothing in it says what is wrong with a node.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Made(NamedTuple):
    """One format's output of any size."""

    format: str
    """The reader's name in the table of formats."""
    command: str
    """The command that prints it."""
    row: Callable[[int], str]
    """What one more thing adds, by its number."""
    head: str = ""
    tail: str = ""

    def text(self, size: int) -> str:
        """Return the output of a node with `size` such things."""
        return self.head + "".join(self.row(number) for number in range(size)) + self.tail


def address(number: int) -> str:
    """Return the address of a pod."""
    return f"10.{number >> 16 & 63}.{number >> 8 & 255}.{number & 255}"


def mac(number: int) -> str:
    """Return a MAC address."""
    return ":".join(f"{octet:02x}" for octet in (0x02 << 40 | number).to_bytes(6, "big"))


def made_json(command: str, name: str, thing: Callable[[int], object]) -> Made:
    """Return a listing in JSON, one object for each thing."""

    def row(number: int) -> str:
        return ("" if number == 0 else ",\n") + json.dumps(thing(number))

    return Made(name, command, row, "[", "]\n")


def _ip_link(number: int) -> str:
    return (
        f"{number + 3}: veth{number}@if2: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue "
        "master cni0 state UP mode DEFAULT group default\n"
        f"    link/ether {mac(number)} brd ff:ff:ff:ff:ff:ff link-netnsid {number}\n"
    )


def _ip_addr(number: int) -> str:
    return (
        f"{number + 3}: veth{number}@if2: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue "
        "state UP group default\n"
        f"    link/ether {mac(number)} brd ff:ff:ff:ff:ff:ff link-netnsid {number}\n"
        f"    inet {address(number)}/32 scope global veth{number}\n"
        "       valid_lft forever preferred_lft forever\n"
    )


def _link_object(number: int) -> dict[str, object]:
    return {
        "ifindex": number + 3, "link_index": 2, "ifname": f"veth{number}", "link_netnsid": number,
        "mtu": 1500, "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], "operstate": "UP",
        "link_type": "ether", "address": mac(number), "linkinfo": {"info_kind": "veth"},
    }  # fmt: skip


def _address_object(number: int) -> dict[str, object]:
    local = {"family": "inet", "local": address(number), "prefixlen": 32, "scope": "global"}
    return _link_object(number) | {"addr_info": [local]}


def _conntrack(number: int) -> str:
    pod, port = address(number), 1024 + number % 60_000
    return (
        f"tcp      6 86399 ESTABLISHED src={pod} dst=10.96.0.10 sport={port} dport=53 "
        f"src=10.244.0.9 dst={pod} sport=5353 dport={port} [ASSURED] mark=0 use=1\n"
    )


def _packet(number: int) -> str:
    port = 1024 + number % 60_000
    return (
        f"12:00:{number // 1000 % 60:02}.{number % 1000:03}000 IP {address(number)}.{port} > "
        f"10.96.0.1.443: Flags [S], seq {number}, win 64240, options [mss 1460], length 0\n"
    )


def _nft_object(number: int) -> str:
    return ",\n" + json.dumps({
        "rule": {
            "family": "ip", "table": "t", "chain": "c", "handle": number + 10,
            "expr": [
                {"match": {
                    "op": "==", "left": {"payload": {"protocol": "ip", "field": "daddr"}},
                    "right": address(number),
                }},
                {"accept": None},
            ],
        }
    })  # fmt: skip


def _event(number: int) -> str:
    return (
        f"5m          Warning   Unhealthy   pod/web-{number}   Readiness probe failed: Get "
        f'"http://{address(number)}:8080/": dial tcp {address(number)}:8080: i/o timeout\n'
    )


def _bond(number: int) -> str:
    return (
        f"---- bond{number} ----\nbond_mode: active-backup\n"
        f"active slave mac: {mac(number)}(eth{number})\n\nslave eth{number}: enabled\n"
        "  active slave\n  may_enable: true\n\n"
    )


def _curl(number: int) -> str:
    return f"curl: (7) Failed to connect to {address(number)} port 80: Connection refused\n"


def _ping(number: int) -> str:
    return f"64 bytes from 10.0.0.1: icmp_seq={number + 1} ttl=64 time=0.04 ms\n"


def _bridge_port(number: int) -> dict[str, object]:
    return {
        "ifindex": number + 3,
        "ifname": f"veth{number}",
        "master": "cni0",
        "state": "forwarding",
        "hairpin": True,
    }


def _log(number: int) -> str:
    return (
        f'E0101 12:00:{number % 60:02}.000000       1 proxier.go:{number}] "Failed to execute '
        'iptables-restore" err="exit status 1"\n'
    )


def _describe(number: int) -> str:
    return (
        f"Name:             web-{number}\nNamespace:        default\n"
        "Node:             node1/10.0.0.5\nStatus:           Running\n"
        f"IP:               {address(number)}\n\n\n"
    )


ROWS: tuple[Made, ...] = (
    Made("a typed command", "", lambda n: f"ip route add {address(n)} dev veth{n}\n"),
    Made("ip link", "ip link", _ip_link),
    Made("ip addr", "ip addr", _ip_addr),
    made_json("ip -j link", "ip -j link", _link_object),
    made_json("ip -j addr", "ip -j addr", _address_object),
    Made("ip -br link", "ip -br link", lambda n: f"veth{n}@if2       UP             {mac(n)} "
                                                 "<BROADCAST,MULTICAST,UP,LOWER_UP>\n"),
    Made(
        "ip -br addr", "ip -br addr",
        lambda n: f"veth{n}@if2       UP             {address(n)}/32\n",
    ),
    Made("ip route", "ip route", lambda n: f"{address(n)} dev veth{n} scope link\n"),
    made_json(
        "ip -j route", "ip -j route",
        lambda n: {"dst": address(n), "dev": f"veth{n}", "scope": "link", "flags": []},
    ),
    Made(
        "ip rule", "ip rule", lambda n: f"{n % 32_000}:\tfrom {address(n)} lookup {n % 250 + 1}\n",
    ),
    made_json(
        "ip -j rule", "ip -j rule",
        lambda n: {"priority": n % 32_000, "src": address(n), "table": str(n % 250 + 1)},
    ),
    Made("rt_tables", "cat /etc/iproute2/rt_tables", lambda n: f"{n + 1}\ttable{n}\n"),
    Made("ip neigh", "ip neigh", lambda n: f"{address(n)} dev veth{n} lladdr {mac(n)} REACHABLE\n"),
    made_json(
        "ip -j neigh", "ip -j neigh",
        lambda n: {"dst": address(n), "dev": f"veth{n}", "lladdr": mac(n), "state": ["STALE"]},
    ),
    Made("arp", "arp -n", lambda n: f"{address(n):24} ether   {mac(n)}   C                     "
                                    f"veth{n}\n",
         "Address                  HWtype  HWaddress           Flags Mask            Iface\n"),
    Made("route", "route -n", lambda n: f"{address(n):15} 0.0.0.0         255.255.255.255 UH    0  "
                                        f"    0        0 veth{n}\n",
         "Kernel IP routing table\n"
         "Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n"),
    Made("bridge link", "bridge link", lambda n: f"{n + 3}: veth{n}@if2: "
                                                 "<BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 "
                                                 "master cni0 state forwarding priority 32 cost "
                                                 "2\n"),
    made_json("bridge -j link", "bridge -j link", _bridge_port),
    Made("bridge fdb", "bridge fdb", lambda n: f"{mac(n)} dev veth{n} master cni0\n"),
    made_json(
        "bridge -j fdb", "bridge -j fdb",
        lambda n: {"mac": mac(n), "ifname": f"veth{n}", "flags": [], "master": "cni0", "state": ""},
    ),
    Made(
        "bridge vlan", "bridge vlan", lambda n: f"veth{n}            1 PVID Egress Untagged\n",
        "port              vlan-id\n",
    ),
    made_json(
        "bridge -j vlan", "bridge -j vlan",
        lambda n: {"ifname": f"veth{n}", "vlans": [{"vlan": 1, "flags": ["PVID"]}]},
    ),
    Made("brctl show", "brctl show", lambda n: f"\t\t\t\t\t\t\tveth{n}\n",
         "bridge name\tbridge id\t\tSTP enabled\tinterfaces\n"
         "cni0\t\t8000.0a580af40001\tno\t\tvethx\n"),
    Made(
        "brctl showmacs", "brctl showmacs cni0",
        lambda n: f"  {n % 1000 + 1}\t{mac(n)}\tno\t\t   1.00\n",
        "port no\tmac addr\t\tis local?\tageing timer\n",
    ),
    Made("ss", "ss -tln", lambda n: f"LISTEN 0      4096   {address(n)}:{n % 60_000 + 1}       "
                                    "0.0.0.0:*\n",
         "State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n"),
    Made("sysctl", "sysctl -a", lambda n: f"net.ipv4.conf.veth{n}.rp_filter = 1\n"),
    Made(
        "lsmod", "lsmod", lambda n: f"module{n}              16384  0\n",
        "Module                  Size  Used by\n",
    ),
    Made("nstat", "nstat -as", lambda n: f"IpCounter{n}                     {n}                  "
                                         "0.0\n", "#kernel\n"),
    Made("uname", "uname -a", lambda n: f"Linux node{n} 6.1.0-18-amd64 #1 SMP Debian 6.1.76-1 "
                                        "x86_64 GNU/Linux\n"),
    Made("iptables-save", "iptables-save", lambda n: f'-A FORWARD -s {address(n)}/32 -p tcp -m tcp '
                                                     f'--dport {n % 60_000 + 1} -m comment '
                                                     f'--comment "pod {n}" -j ACCEPT\n',
         "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n", "COMMIT\n"),
    Made("iptables -L", "iptables -L -n", lambda n: f"ACCEPT     tcp  --  {address(n):20} "
                                                    "0.0.0.0/0            tcp "
                                                    f"dpt:{n % 60_000 + 1}\n",
         "Chain FORWARD (policy ACCEPT)\ntarget     prot opt source               destination\n"),
    Made("nft list ruleset", "nft list ruleset", lambda n: f"\t\tip daddr {address(n)} tcp dport "
                                                           f"{n % 60_000 + 1} accept\n",
         "table ip t {\n\tchain c {\n\t\ttype filter hook forward priority filter; "
         "policy accept;\n", "\t}\n}\n"),
    Made("nft -j list ruleset", "nft -j list ruleset", _nft_object,
         '{"nftables": [{"metainfo": {"json_schema_version": 1}}, {"table": {"family": "ip", '
         '"name": "t", "handle": 1}}, {"chain": {"family": "ip", "table": "t", "name": "c", '
         '"handle": 2, "type": "filter", "hook": "forward", "prio": 0, "policy": "accept"}}',
         "]}\n"),
    Made("ovs-vsctl show", "ovs-vsctl show", lambda n: f"        Port veth{n}\n"
                                                       f"            tag: {n % 4000 + 1}\n"
                                                       f"            Interface veth{n}\n",
         "a2b1c0d0-0000-0000-0000-000000000000\n    Bridge br-int\n"),
    Made("ovs-appctl bond/show", "ovs-appctl bond/show", _bond),
    Made("bundle.json", "",
         lambda n: ("" if n == 0 else ",") + json.dumps({"netns": "host", "link": f"veth{n}", "peer_netns": f"pod-{n}", "peer": "eth0"}) + "\n",
         '{"format": "podpath/bundle/v1", "node": "n", "netns": {"host": {"role": "host"}}, '
         '"veth": [', "]}\n"),
    Made(
        "CNI configuration", "cat /etc/cni/net.d/10-x.conflist",
        lambda n: ("" if n == 0 else ",\n") + json.dumps({"type": f"plugin{n}", "mtu": 1450}),
        '{"cniVersion": "0.4.0", "name": "x", "plugins": [\n', "\n]}\n",
    ),
    Made("cilium-config", "kubectl -n kube-system get cm cilium-config -o yaml",
         lambda n: f'  option-{n}: "true"\n',
         'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cilium-config\n'
         '  namespace: kube-system\ndata:\n  kube-proxy-replacement: "true"\n'),
    Made("cilium status", "cilium status", lambda n: f"Feature {n}:            Enabled\n",
         "KVStore:                 Ok   Disabled\n"
         "Kubernetes:              Ok   1.27 (v1.27.3) [linux/amd64]\n"
         "KubeProxyReplacement:    True   [eth0 10.0.0.5]\nCilium:                  Ok   1.14.1\n"),
    Made("kubectl describe", "kubectl describe pod", _describe),
    Made(
        "Kubernetes events", "kubectl get events", _event,
        "LAST SEEN   TYPE      REASON      OBJECT      MESSAGE\n",
    ),
    Made("kubectl get", "kubectl get pods -o wide", lambda n:
        f"web-{n}   1/1     Running   0          5m    {address(n)}   node1   <none>           "
        "<none>\n",
         "NAME    READY   STATUS    RESTARTS   AGE   IP            NODE    NOMINATED NODE   "
         "READINESS GATES\n"),
    Made("tcpdump", "tcpdump -nn -i eth0", _packet),
    Made("curl", "curl http://10.0.0.1/", _curl),
    Made("ping", "ping 10.0.0.1", _ping, "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n"),
    Made("nc, wget or telnet", "nc -zv 10.0.0.1 80", lambda n:
        f"nc: connect to {address(n)} port 80 (tcp) failed: Connection refused\n"),
    Made("nslookup or dig", "nslookup kubernetes", lambda n:
        f";; connection timed out; no servers could be reached {n}\n",
         "Server:    10.96.0.10\nAddress 1: 10.96.0.10\n\n"),
    Made("component log", "", _log),
    Made("ipset", "ipset save", lambda n: f"add pods {address(n)}\n",
        "create pods hash:ip family inet hashsize 1024 maxelem 1000000\n"),
    Made("conntrack", "conntrack -L", _conntrack),
)  # fmt: skip
"""One for each reader, in the order of the table of formats."""

MADE: Mapping[str, Made] = {made.format: made for made in ROWS}
