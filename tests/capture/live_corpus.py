"""A small cluster in network namespaces, in which everything works: captured in the ten ways that
mislead whoever reads captures, under three loads. None of the thirty may show a fault.

`python -m tests.capture.live_corpus` records all thirty and prints what they show; a test takes one
load. The script runs in mount and network namespaces of its own, which end with it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from podpath.collect.read import read_evidence
from podpath.library.captures import CapturesResult, captures
from podpath.net.provenance import GapKind

TOOLS = ("bridge", "ethtool", "nft", "tcpdump", "unshare", "ping")
LOADS = ("short", "bulk", "mixed")
"""Requests on connections of their own; a few MB both ways; datagrams, pings, names, and a
connection that rests.
"""


class Place(NamedTuple):
    """Where a file of one kind is taken, and how."""

    kind: str
    name: str
    netns: str
    device: str
    options: str = ""
    late: bool = False
    """True where it starts in the middle of the load."""
    stopped: bool = False
    """True where tcpdump is stopped for a while, so that the kernel drops packets of the
    capture.
    """


PLACES = (
    Place("nat", "pod1", "pod1", "eth0"), Place("nat", "u1", "n1", "u1"),
    Place("vxlan", "flannel1", "n1", "flannel.1"), Place("vxlan", "u2", "n2", "u2"),
    Place("bridge", "cni0", "n1", "cni0"), Place("bridge", "veth1", "n1", "veth1"),
    Place("bridge", "veth1b", "n1", "veth1b"),
    Place("any", "n1-any", "n1", "any"), Place("any", "n2-any", "n2", "any", "-y LINUX_SLL"),
    Place("tso", "pod2", "pod2", "eth0"), Place("tso", "plain-u1", "n1", "u1"),
    Place("late", "late-u2", "n2", "u2", late=True),
    Place("late", "late-pod1", "pod1", "eth0", late=True),
    Place("snap", "snap-veth1", "n1", "veth1", "-s 64"),
    Place("snap", "snap-u1", "n1", "u1", "-s 96"),
    Place("drops", "drops-pod1", "pod1", "eth0", "-B 4 -s 2000", stopped=True),
    Place("ptp", "ptp-any", "n3", "any"), Place("ptp", "vp1", "n3", "vp1"),
    Place("ptp", "vp2", "n3", "vp2"),
    Place("gateways", "host", "host", "eth0"),
)  # fmt: skip
"""All files, each of one of the ten kinds: those of a kind are read together and one by one."""
KINDS = tuple(dict.fromkeys(place.kind for place in PLACES))
NAT = """
table ip nat {
  chain pre {
    type nat hook prerouting priority dstnat;
    ip daddr 10.96.0.100 tcp dport 80 dnat to 10.244.2.10:8080;
    ip daddr 10.96.0.10 udp dport 53 dnat to 10.244.2.10:5353;
    ip daddr 10.96.0.200 tcp dport 80 dnat to 10.244.1.11:8080;
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
shift 2
mkdir -p /run/netns
mount -t tmpfs none /run/netns
for ns in n1 n2 n3 pod1 pod1b pod2 p1 p2 host gw1 gw2 far switch; do ip netns add $ns; ip -n $ns link set lo up; done
for ns in n1 n2 n3 gw1 gw2 host far; do
  ip netns exec $ns sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.default.send_redirects=0
done
for ns in host far; do ip netns exec $ns sysctl -qw net.ipv4.ip_forward=0; done
ip link add u1 netns n1 type veth peer name u2 netns n2
pod() {  # pod NAME NODE ADDRESS VETH
  ip link add "$4" netns "$2" type veth peer name eth0 netns "$1"
  ip -n "$2" link set "$4" master cni0
  ip -n "$2" link set "$4" up
  ip -n "$1" addr add "$3/24" dev eth0
  ip -n "$1" link set eth0 mtu 1450 up
  ip -n "$1" route add default via "${3%.*}.1"
}
for i in 1 2; do
  o=$((3 - i))
  ip -n n$i addr add 172.18.0.$((i + 1))/24 dev u$i
  ip -n n$i link add cni0 type bridge
  ip -n n$i addr add 10.244.$i.1/24 dev cni0
  ip -n n$i link set cni0 up
  ip -n n$i link set u$i up
  ip -n n$i link add flannel.1 address 02:00:00:00:01:0$i type vxlan id 1 dstport 8472 nolearning \
    local 172.18.0.$((i + 1)) dev u$i
  ip -n n$i addr add 10.244.$i.0/32 dev flannel.1
  ip -n n$i link set flannel.1 up
  ip -n n$i route add 10.244.$o.0/24 via 10.244.$o.0 dev flannel.1 onlink
  ip -n n$i neigh add 10.244.$o.0 lladdr 02:00:00:00:01:0$o dev flannel.1 nud permanent
  bridge -n n$i fdb add 02:00:00:00:01:0$o dst 172.18.0.$((o + 1)) dev flannel.1
done
ip netns exec n1 sysctl -qw net.bridge.bridge-nf-call-iptables=1
pod pod1 n1 10.244.1.10 veth1
pod pod1b n1 10.244.1.11 veth1b
pod pod2 n2 10.244.2.10 veth2
ip netns exec n1 nft -f "$OUT/nat.nft"
for i in 1 2; do
  ip link add vp$i netns n3 type veth peer name eth0 netns p$i
  ip -n n3 addr add 10.22.0.1/32 dev vp$i
  ip -n n3 link set vp$i up
  ip -n n3 route add 10.22.0.1$i/32 dev vp$i
  ip -n p$i addr add 10.22.0.1$i/32 dev eth0
  ip -n p$i link set eth0 up
  ip -n p$i route add 10.22.0.1 dev eth0
  ip -n p$i route add default via 10.22.0.1
done
ip -n switch link add br0 type bridge
ip -n switch link set br0 up
for ns in host gw1 gw2; do
  ip link add $ns netns switch type veth peer name eth0 netns $ns
  ip -n switch link set $ns master br0
  ip -n switch link set $ns up
  ip -n $ns link set eth0 up
done
ip -n host addr add 192.0.2.10/24 dev eth0
for i in 1 2; do
  ip -n gw$i addr add 192.0.2.$i/24 dev eth0
  ip link add far netns gw$i type veth peer name gw$i netns far
  ip -n gw$i addr add 198.51.100.$((i * 16 + 1))/28 dev far
  ip -n gw$i link set far up
  ip -n far addr add 198.51.100.$((i * 16 + 2))/28 dev gw$i
  ip -n far link set gw$i up
  ip -n gw$i route add 203.0.113.9 via 198.51.100.$((i * 16 + 2))
done
ip -n far addr add 203.0.113.9/32 dev lo
ip -n host route add default via 192.0.2.1
ip -n far route add 192.0.2.0/24 via 198.51.100.33
ip -n n1 -j link >"$OUT/n1.json"
for ns in pod2 pod1b p2 far; do
  ip netns exec $ns "$PYTHON" "$OUT/server.py" &
done
for ns in pod2 pod1b p2 far; do
  for try in $(seq 200); do if [ -n "$(ip netns exec $ns ss -Hltn)" ]; then break; fi; sleep 0.05; done
done
start() {  # start FOLDER LATE: the captures that begin then
  while read -r name ns device late stopped options; do
    if [ "$late" = "$2" ]; then
      # shellcheck disable=SC2086
      ip netns exec "$ns" tcpdump -i "$device" --immediate-mode -U $options -w "$1/$name.pcap" not ip6 2>"$1/$name.err" &
      echo $! >>"$1/pids"
      if [ "$stopped" = 1 ]; then echo $! >"$1/stopped"; fi
    fi
  done <"$OUT/places"
  while read -r name ns device late stopped options; do
    if [ "$late" = "$2" ]; then
      for try in $(seq 200); do if grep -q listening "$1/$name.err"; then break; fi; sleep 0.05; done
    fi
  done <"$OUT/places"
}
for load in "$@"; do
  folder="$OUT/$load"
  mkdir -p "$folder"
  start "$folder" 0
  CLIENTS=
  for each in pod1:10.96.0.100:80 pod1:10.96.0.200:80 p1:10.22.0.12:8080 host:203.0.113.9:8080; do
    IFS=: read -r ns address port <<<"$each"
    ip netns exec "$ns" "$PYTHON" "$OUT/client.py" "$load" "$address" "$port" &
    CLIENTS="$CLIENTS $!"
  done
  sleep 0.4
  start "$folder" 1
  kill -STOP "$(cat "$folder/stopped")"
  sleep 0.5
  kill -CONT "$(cat "$folder/stopped")"
  wait $CLIENTS
  sleep 0.3
  kill -INT $(cat "$folder/pids")
  wait $(cat "$folder/pids") || true
done
kill $(jobs -p) || true
"""  # noqa: E501
SERVER = """
import socket, threading
def talk(connection):
    with connection:
        while True:
            head = b""
            while len(head) < 16:
                part = connection.recv(16 - len(head))
                if not part:
                    return
                head += part
            left = int(head)
            while left:
                left -= len(connection.recv(min(left, 65536)))
            connection.sendall(bytes(int(head)))
def answer():
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("", 5353))
    while True:
        asked, who = names.recvfrom(2048)
        names.sendto(asked[:2] + bytes.fromhex("8180") + asked[4:], who)
threading.Thread(target=answer, daemon=True).start()
server = socket.create_server(("", 8080), backlog=128)
while True:
    threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()
"""
CLIENT = """
import socket, subprocess, sys, time
load, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
def ask(connection, size):
    connection.sendall(b"%016d" % size + bytes(size))
    left = size
    while left:
        left -= len(connection.recv(65536))
def connect():
    return socket.create_connection((address, port), 20)
if load == "short":
    for number in range(30):
        with connect() as connection:
            ask(connection, 100 * number + 1)
        time.sleep(0.05)
elif load == "bulk":
    with connect() as connection:
        for _ in range(8):
            ask(connection, 600_000)
            time.sleep(0.2)
else:
    resting = connect()
    ask(resting, 50)
    if address.startswith("10.22") or address.startswith("203"):
        subprocess.run(["ping", "-q", "-n", "-c", "5", "-i", "0.2", address], stdout=subprocess.DEVNULL, check=False)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as names:
        names.settimeout(5)
        server = ("10.96.0.10", 53) if address.startswith("10.96") else (address, 5353)
        for number in range(20):
            names.sendto(number.to_bytes(2, "big") + bytes.fromhex("01000001000000000000076578616d706c6503636f6d0000010001"), server)
            names.recv(2048)
            time.sleep(0.05)
    with connect() as connection:
        ask(connection, 200_000)
    ask(resting, 50)
    resting.close()
"""  # noqa: E501


def record(folder: Path, loads: tuple[str, ...] = LOADS) -> dict[tuple[str, str], list[Path]]:
    """Build the cluster, put the loads on it one after the other, and return the files of each load
    and kind.
    """
    lines = (
        f"{place.name} {place.netns} {place.device} {int(place.late)} {int(place.stopped)} "
        f"{place.options or '-s 262144'}\n"
        for place in PLACES
    )
    (folder / "places").write_text("".join(lines))
    (folder / "nat.nft").write_text(NAT)
    (folder / "server.py").write_text(SERVER)
    (folder / "client.py").write_text(CLIENT)
    unshared = ["unshare", "--mount", "--net", "--propagation", "private"]
    done = subprocess.run(
        [*unshared, "bash", "-c", SCRIPT, "corpus", str(folder), sys.executable, *loads],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    found: dict[tuple[str, str], list[Path]] = {}
    for load in loads:
        for place in PLACES:
            path = folder / load / f"{place.name}.pcap"
            found.setdefault((load, place.kind), []).append(path)
    return found


def read_ways(files: list[Path]) -> list[list[Path]]:
    """Return the ways to read a kind's files: all of them together, and each by itself."""
    return [files, *([file] for file in files if len(files) > 1)]


def list_faults(files: list[Path]) -> list[str]:
    """Return what files show that is worse than a note, read in each way."""
    found: list[str] = []
    for some in read_ways(files):
        result = captures([str(path) for path in some])
        assert result.answer.points, files
        names = "+".join(path.stem for path in some)
        found += [f"{names}: {one}" for one in _spell(result)]
    return found


def list_false_doubts(files: list[Path]) -> list[str]:
    """Return what is said to be missing from files of which tcpdump counted no dropped packet."""
    found: list[str] = []
    for path in files:
        if "\n0 packets dropped by kernel" in path.with_suffix(".err").read_text():
            gaps = read_evidence([str(path)]).gaps
            found += [f"{path.stem}: {gap.why}" for gap in gaps if gap.kind is GapKind.SELECTED]
    return found


def _spell(result: CapturesResult) -> list[str]:
    return [
        f"{one.severity} {one.certainty} {one.check}: {one.claim}"
        for one in result.findings
        if one.severity != "note"
    ]


def main() -> int:
    """Record all, print what each of the thirty shows; 1 where one of them shows a fault, or is
    said to lack what it has.
    """
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        for (load, kind), files in record(Path(name)).items():
            faults = [*list_faults(files), *list_false_doubts(files)]
            bad += bool(faults)
            print(f"{load:<6} {kind:<9} {'ok' if not faults else 'FAULT'}")  # noqa: T201
            for fault in faults:
                print(f"    {fault}")  # noqa: T201
    print(f"{len(LOADS) * len(KINDS)} healthy captures, {bad} of them show a fault")  # noqa: T201
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
