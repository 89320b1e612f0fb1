"""Records nodes on the real kernel on which everything works, as consoles show them: what the tests
of the verdict alter.

    python -m tests.incidents.healthy_nodes FOLDER

Two nodes: one whose rules iptables-legacy wrote, one with native nftables. The connections of
`PROBES` are tried on both, so that the kernel itself says that they work.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from podpath_lab.apply import enter_private_world
from tests.incidents.blind_world import connects, run_lines, standing

PROBES = (
    "tcp 10.244.1.5:41000 > 203.0.113.9:443 from web",
    "tcp 10.244.1.5:41000 > 10.96.44.7:80 from web",
)
"""From a pod to the world, and to a service."""
TRIED = ("web tcp 203.0.113.9 443", "web tcp 10.96.44.7 80")
SHOWN = ("host", "web", "api")
_SETTINGS = (
    r"'^net[.](bridge[.]bridge-nf-call-iptables|ipv4[.](ip_forward|conf[.].*[.]"
    r"(rp_filter|forwarding|accept_local|route_localnet|proxy_arp|arp_ignore|arp_filter)))$'"
)
STATE = (
    "ip -d link", "ip addr", "ip route show table all", "ip rule", "ip neigh", "bridge -d link",
    "bridge fdb", f"sysctl -a -r {_SETTINGS}", "ss -tulpn", "conntrack -L 2>/dev/null",
)  # fmt: skip
NATIVE = """
table inet filter {
  chain input {
    type filter hook input priority filter; policy accept;
    ct state established,related accept
    iifname "cni0" tcp dport { 6443, 10250 } accept
    tcp dport 9999 drop
  }
  chain forward {
    type filter hook forward priority filter; policy drop;
    ct state vmap { established : accept, related : accept, invalid : drop }
    iifname "cni0" ip saddr 10.244.0.0/16 jump pods
    oifname "cni0" ip daddr 10.244.1.0/24 accept
  }
  chain pods {
    ip daddr 192.0.2.0/24 drop
    meta l4proto { tcp, udp, icmp } counter accept
  }
}
table ip nat {
  chain prerouting {
    type nat hook prerouting priority dstnat; policy accept;
    ip daddr 10.96.44.7 tcp dport 80 dnat to 10.244.1.6:8080
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr 10.244.1.0/24 ip daddr != 10.244.0.0/16 masquerade
  }
}
"""


class Recorded(NamedTuple):
    """A node, and the outputs that show its rules."""

    name: str
    shape: str
    rules: tuple[tuple[str, tuple[str, ...]], ...]


NODES = (
    Recorded("legacy", "routed", (
        ("iptables-save", ("iptables-legacy-save",)),
        ("iptables-L",
         tuple(f"iptables-legacy -t {table} -L -n -v" for table in ("raw", "mangle", "nat", "filter"))),  # noqa: E501
    )),
    Recorded(
        "native", "bridge",
        (("nft", ("nft list ruleset",)), ("nft-json", ("nft -j list ruleset",))),
    ),
)  # fmt: skip
ALWAYS = ("iptables-save", "nft -j list ruleset")
"""What shows that a namespace has no other rules."""


def show(netns: str, command: str) -> str:
    """Return what a console shows of a command in a namespace."""
    typed = ("ip", "netns", "exec", netns, "sh", "-c", command)
    done = subprocess.run(
        typed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    within = "" if netns == "host" else f"ip netns exec {netns} "
    return f"root@worker-1:~# {within}{command}\n{done.stdout}"


def _record(node: Recorded) -> Iterator[tuple[str, str]]:
    native = node.name == "native"
    yield "state", "".join(show(name, command) for name in SHOWN for command in STATE)
    yield (
        "others",
        "".join(
            show(name, command)
            for name in SHOWN
            for command in ALWAYS[: 1 if native and name == "host" else 2]
        ),
    )
    for name, commands in node.rules:
        yield name, "".join(show("host", command) for command in commands)


def main() -> None:
    """Record both nodes."""
    folder = Path(sys.argv[1])
    enter_private_world()
    for node in NODES:
        with standing(node.shape, "legacy" if node.name == "legacy" else "nft"):
            if node.name == "native":
                run_lines(("in host: nft flush ruleset",))
                subprocess.run(
                    ("ip", "netns", "exec", "host", "nft", "-f", "-"),
                    input=NATIVE,
                    text=True,
                    check=True,
                )
            assert all(connects(tried) for tried in TRIED)
            (folder / node.name).mkdir(parents=True, exist_ok=True)
            for name, text in _record(node):
                (folder / node.name / f"{name}.txt").write_text(text)


if __name__ == "__main__":
    main()
