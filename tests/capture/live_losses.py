"""Fifty losses on the real kernel: a rule drops one packet between two of ten points on two nodes,
and each has to be found on its hop, with nothing else.

`python -m tests.capture.live_losses` plants all fifty and prints what was found; a test takes a
few. The script runs in mount and network namespaces of its own, which end with it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from podpath.library.captures import captures

TOOLS = ("bridge", "nft", "tcpdump", "unshare")
POINTS = (
    ("pod1", "pod1", "eth0"), ("veth1", "n1", "veth1"), ("cni1", "n1", "cni0"),
    ("flannel1", "n1", "flannel.1"), ("u1", "n1", "u1"), ("u2", "n2", "u2"),
    ("flannel2", "n2", "flannel.1"), ("cni2", "n2", "cni0"), ("veth2", "n2", "veth2"),
    ("pod2", "pod2", "eth0"),
)  # fmt: skip
"""The files, each with the namespace and device that it is taken in, on the way of a request."""


class Hop(NamedTuple):
    """A place where a rule drops packets, between two points."""

    near: str
    far: str
    netns: str
    family: str
    hook: str
    tunnel: bool = False
    """True where the packet stands in VXLAN there: it is told by what is in it."""
    ports: tuple[int, int] = (8080, 5353)
    """The server's ports of TCP and UDP there."""


FORTH = (
    Hop("cni1", "flannel1", "n1", "ip", "forward"),
    Hop("flannel1", "u1", "n1", "ip", "output", tunnel=True),
    Hop("u2", "flannel2", "n2", "ip", "input", tunnel=True),
    Hop("flannel2", "cni2", "n2", "ip", "forward"),
    Hop("cni2", "veth2", "n2", "bridge", "output"),
)
BACK = (
    Hop("veth2", "cni2", "n2", "bridge", "input"),
    Hop("cni2", "flannel2", "n2", "ip", "forward"),
    Hop("flannel2", "u2", "n2", "ip", "output", tunnel=True),
    Hop("u1", "flannel1", "n1", "ip", "input", tunnel=True),
    Hop("flannel1", "cni1", "n1", "ip", "forward"),
    Hop("cni1", "veth1", "n1", "bridge", "output", ports=(80, 53)),
)
FLAGS = {"SYN": 0x02, "SYN-ACK": 0x12, "ACK": 0x10, "data": 0x18, "FIN": 0x11}
KINDS = ("SYN", "ACK", "data", "FIN", "UDP"), ("SYN-ACK", "data", "FIN", "UDP")
"""What is dropped on the way there, and on the way back."""
INSIDE = 30
"""Bytes from the outer UDP header to the inner IP header: UDP, VXLAN, Ethernet."""


class Scenario(NamedTuple):
    """One loss: what is dropped, and where."""

    kind: str
    hop: Hop
    back: bool

    @property
    def name(self) -> str:
        """Name it as its files are called."""
        return f"{self.kind}-{self.hop.near}-{self.hop.far}"

    @property
    def rule(self) -> str:
        """Write the ruleset that drops the first such packet."""
        hop, port = self.hop, self.hop.ports[self.kind == "UDP"]
        end = "sport" if self.back else "dport"
        if hop.tunnel:
            at = (INSIDE + 20 + (0 if self.back else 2)) * 8
            protocol = 17 if self.kind == "UDP" else 6
            match = f"udp dport 8472 @th,{(INSIDE + 9) * 8},8 {protocol} @th,{at},16 {port}"
            if self.kind != "UDP":
                match += f" @th,{(INSIDE + 20 + 13) * 8},8 {FLAGS[self.kind]}"
        elif self.kind == "UDP":
            match = f"udp {end} {port}"
        else:
            match = f"tcp {end} {port} tcp flags == {FLAGS[self.kind]:#x}"
        hooked = f"type filter hook {hop.hook} priority 10;"
        drop = f"{match} numgen inc mod 100000 < 1 counter drop"
        return f"table {hop.family} planted {{ chain planted {{ {hooked} {drop}; }}; }}\n"


SCENARIOS = (
    *(Scenario(kind, hop, back=False) for hop in FORTH for kind in KINDS[0]),
    *(Scenario(kind, hop, back=True) for hop in BACK for kind in KINDS[1]),
    Scenario("ACK", BACK[1], back=True),
)
NAT = """
table ip nat {
  chain pre {
    type nat hook prerouting priority dstnat;
    ip daddr 10.96.0.100 tcp dport 80 dnat to 10.244.2.10:8080;
    ip daddr 10.96.0.100 udp dport 53 dnat to 10.244.2.10:5353;
  }
  chain post {
    type nat hook postrouting priority srcnat;
    ip saddr 10.244.1.0/24 oifname "flannel.1" masquerade;
  }
}
"""
SCRIPT = r"""
set -eu
OUT=$1 PYTHON=$2
mkdir -p /run/netns
mount -t tmpfs none /run/netns
for ns in n1 n2 pod1 pod2; do ip netns add $ns; ip -n $ns link set lo up; done
ip link add u1 netns n1 type veth peer name u2 netns n2
for i in 1 2; do
  o=$((3 - i))
  ip netns exec n$i sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
  ip -n n$i addr add 172.18.0.$((i + 1))/24 dev u$i
  ip -n n$i link add cni0 type bridge
  ip -n n$i addr add 10.244.$i.1/24 dev cni0
  ip link add veth$i netns n$i type veth peer name eth0 netns pod$i
  ip -n n$i link set veth$i master cni0
  ip -n n$i link add flannel.1 address 02:00:00:00:01:0$i type vxlan id 1 dstport 8472 nolearning \
    local 172.18.0.$((i + 1)) dev u$i
  ip -n n$i addr add 10.244.$i.0/32 dev flannel.1
  for device in u$i cni0 veth$i flannel.1; do ip -n n$i link set $device up; done
  ip -n n$i route add 10.244.$o.0/24 via 10.244.$o.0 dev flannel.1 onlink
  ip -n n$i neigh add 10.244.$o.0 lladdr 02:00:00:00:01:0$o dev flannel.1 nud permanent
  bridge -n n$i fdb add 02:00:00:00:01:0$o dst 172.18.0.$((o + 1)) dev flannel.1
  ip -n pod$i addr add 10.244.$i.10/24 dev eth0
  ip -n pod$i link set eth0 mtu 1450 up
  ip -n pod$i route add default via 10.244.$i.1
done
ip netns exec n1 nft -f "$OUT/nat.nft"
ip netns exec pod2 "$PYTHON" "$OUT/server.py" &
for try in $(seq 200); do if [ -n "$(ip netns exec pod2 ss -Hltn)" ]; then break; fi; sleep 0.05; done
while read -r scenario planted family; do
  folder="$OUT/$scenario"
  PIDS=
  while read -r name ns device; do
    ip netns exec "$ns" tcpdump -i "$device" -s 200 -B 4096 --immediate-mode -U -w "$folder/$name.pcap" ip 2>"$folder/$name.err" &
    PIDS="$PIDS $!"
  done <"$OUT/places"
  while read -r name ns device; do
    for try in $(seq 200); do if grep -q listening "$folder/$name.err"; then break; fi; sleep 0.02; done
  done <"$OUT/places"
  ip netns exec pod1 "$PYTHON" "$OUT/client.py" </dev/null
  ip netns exec "$planted" nft -f "$folder/rule.nft"
  ip netns exec pod1 "$PYTHON" "$OUT/client.py" </dev/null
  ip netns exec "$planted" nft list table "$family" planted >"$folder/counted"
  ip netns exec "$planted" nft delete table "$family" planted
  sleep 0.1
  ip netns exec pod1 "$PYTHON" "$OUT/client.py" </dev/null
  sleep 0.1
  kill -INT $PIDS
  wait $PIDS || true
done <"$OUT/scenarios"
kill $(jobs -p) || true
"""  # noqa: E501
SERVER = """
import socket, threading
def answer():
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("", 5353))
    while True:
        asked, who = names.recvfrom(2048)
        names.sendto(asked + b"answer", who)
def talk(connection):
    with connection:
        while connection.recv(100):
            connection.sendall(bytes(300))
threading.Thread(target=answer, daemon=True).start()
server = socket.create_server(("10.244.2.10", 8080))
while True:
    threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()
"""
CLIENT = """
import os, socket, time
with socket.create_connection(("10.96.0.100", 80), 20) as connection:
    for _ in range(3):
        connection.sendall(bytes(80))
        connection.recv(300)
        time.sleep(0.02)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as names:
    names.settimeout(0.15)
    for number in range(4):
        for _ in range(3):
            names.sendto(os.urandom(30), ("10.96.0.100", 53))
            try:
                names.recv(2048)
                break
            except TimeoutError:
                continue
time.sleep(0.25)
"""


class Found(NamedTuple):
    """What became of a scenario."""

    dropped: int
    """Packets, by the rule's own counter."""
    lost: tuple[tuple[str, str, str], ...]
    """What podpath calls lost: what, after which point, before which."""

    def is_right(self, scenario: Scenario) -> bool:
        """Tell whether every loss is on its hop, and as many as the rule dropped."""
        hops = [(near, far) for _, near, far in self.lost]
        return self.dropped == 1 and [(scenario.hop.near, scenario.hop.far)] == hops


def record(folder: Path, scenarios: Sequence[Scenario] = SCENARIOS) -> None:
    """Plant the losses one after the other, each captured at all points."""
    (folder / "places").write_text("".join(f"{' '.join(point)}\n" for point in POINTS))
    (folder / "nat.nft").write_text(NAT)
    (folder / "server.py").write_text(SERVER)
    (folder / "client.py").write_text(CLIENT)
    lines = []
    for scenario in scenarios:
        (folder / scenario.name).mkdir(mode=0o777)
        (folder / scenario.name).chmod(0o777)
        (folder / scenario.name / "rule.nft").write_text(scenario.rule)
        lines.append(f"{scenario.name} {scenario.hop.netns} {scenario.hop.family}\n")
    (folder / "scenarios").write_text("".join(lines))
    unshared = ["unshare", "--mount", "--net", "--propagation", "private"]
    done = subprocess.run(
        [*unshared, "bash", "-c", SCRIPT, "losses", str(folder), sys.executable],
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr


def judge(folder: Path, scenario: Scenario) -> Found:
    """Read a scenario's captures together."""
    own = folder / scenario.name
    counted = re.search(r"counter packets (\d+)", (own / "counted").read_text())
    result = captures([str(own / f"{name}.pcap") for name, _, _ in POINTS])
    lost = tuple(
        (one.what, one.seen[-1][0].partition(".pcap")[0], one.missing_at.partition(".pcap")[0])
        for one in result.case.facts.lost
    )
    return Found(int(counted[1]) if counted else 0, lost)


def main() -> int:
    """Plant all, print what was found of each; 1 where one is not on its hop."""
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        record(folder)
        for scenario in SCENARIOS:
            found = judge(folder, scenario)
            right = found.is_right(scenario)
            wrong += not right
            print(f"{scenario.name:<28} {'ok' if right else 'WRONG'} {found}")  # noqa: T201
    print(f"{len(SCENARIOS)} losses, {len(SCENARIOS) - wrong} found on their hop alone")  # noqa: T201
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
