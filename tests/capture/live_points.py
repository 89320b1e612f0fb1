"""Two nodes on the real kernel, captured at six places by tcpdump: pods, bridges, VXLAN, a
translated service, masquerading.

The script runs in mount and network namespaces of its own, which end with it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from podpath.collect.captures import device_names
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture

TOOLS = ("bridge", "ethtool", "nft", "tcpdump", "unshare")
PLACES = (
    ("pod1", "pod1", "eth0"), ("n1-any", "n1", "any"), ("n1-u1", "n1", "u1"), ("n2-u2", "n2", "u2"),
    ("n2-flannel", "n2", "flannel.1"), ("pod2", "pod2", "eth0"),
)  # fmt: skip
"""The files, each with the namespace and device that it is taken in."""
DROP = """
table ip planted {
  chain forwarded {
    type filter hook forward priority 0;
    tcp dport 8080 tcp flags & (psh | ack) == (psh | ack) numgen inc mod 100000 < 1 counter drop;
  }
}
"""
NAT = """
table ip nat {
  chain pre {
    type nat hook prerouting priority dstnat;
    ip daddr 10.96.0.100 tcp dport 80 dnat to 10.244.2.10:8080;
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
  ip netns exec n$i sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
done
ip netns exec n1 nft -f "$OUT/nat.nft"
if [ -e "$OUT/drop.nft" ]; then ip netns exec n2 nft -f "$OUT/drop.nft"; fi
ip netns exec n1 ethtool -K u1 tso off gso off >/dev/null
ip -n n1 -j link >"$OUT/n1.json"
PIDS=
while read -r name ns device; do
  ip netns exec "$ns" tcpdump -i "$device" -s 200 -B 16384 --immediate-mode -U -w "$OUT/$name.pcap" ip 2>"$OUT/$name.err" &
  PIDS="$PIDS $!"
done <"$OUT/places"
while read -r name ns device; do
  for try in $(seq 200); do if grep -q listening "$OUT/$name.err"; then break; fi; sleep 0.05; done
done <"$OUT/places"
ip netns exec pod2 "$PYTHON" "$OUT/server.py" &
SERVER=$!
for try in $(seq 200); do if [ -n "$(ip netns exec pod2 ss -Hltn)" ]; then break; fi; sleep 0.05; done
ip netns exec pod1 "$PYTHON" "$OUT/client.py"
wait $SERVER
ip netns exec pod1 "$PYTHON" "$OUT/client.py" late
sleep 0.3
kill -INT $PIDS
wait $PIDS || true
if [ -e "$OUT/drop.nft" ]; then ip netns exec n2 nft list ruleset >"$OUT/counted"; fi
"""  # noqa: E501
SERVER = """
import socket
server = socket.create_server(("10.244.2.10", 8080))
for _ in range(3):
    connection, _ = server.accept()
    with connection:
        left = int(connection.recv(16))
        while left:
            left -= len(connection.recv(65536))
        connection.sendall(bytes(200_000))
"""
CLIENT = """
import socket, sys, time
if sys.argv[1:]:  # something that comes last, so that every capture goes on behind what is of interest
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as late:
        late.sendto(b"late", ("10.244.2.10", 9))
    sys.exit()
for size in (10, 300_000, 50):
    with socket.create_connection(("10.96.0.100", 80), 20) as connection:
        time.sleep(0.2)  # captures show that they had begun, by more than packets' times differ on a busy machine
        connection.sendall(b"%016d" % size)
        time.sleep(0.02)
        connection.sendall(bytes(size))
        while connection.recv(65536):
            pass
"""  # noqa: E501


class Recorded(NamedTuple):
    """What was captured, and how many packets the planted rule dropped."""

    files: tuple[CapturedFile, ...]
    dropped: int


def record(folder: Path, *, drop: bool) -> Recorded:
    """Build the nodes, let a pod ask the service three times, capture it all; with a rule that
    drops one packet if asked for.
    """
    (folder / "places").write_text("".join(f"{' '.join(place)}\n" for place in PLACES))
    (folder / "nat.nft").write_text(NAT)
    (folder / "server.py").write_text(SERVER)
    (folder / "client.py").write_text(CLIENT)
    if drop:
        (folder / "drop.nft").write_text(DROP)
    command = [
        "unshare",
        "--mount",
        "--net",
        "--propagation",
        "private",
        "bash",
        "-c",
        SCRIPT,
        "lab",
        str(folder),
        sys.executable,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
    counted = (
        re.search(r"counter packets (\d+)", (folder / "counted").read_text()) if drop else None
    )
    return Recorded(
        tuple(_read(folder, name) for name, _, _ in PLACES), int(counted[1]) if counted else 0
    )


def _read(folder: Path, name: str) -> CapturedFile:
    data = (folder / f"{name}.pcap").read_bytes()
    told = re.search(r"(\d+) packets? dropped by kernel", (folder / f"{name}.err").read_text())
    return CapturedFile(
        name=name,
        capture=read_capture(data),
        data=np.frombuffer(data, np.uint8),
        devices=device_names((folder / "n1.json").read_bytes()),
        dropped=int(told[1]) if told else None,
    )
