"""Healthy conversations of ten kinds that look broken to whoever counts packets: datagrams that
nobody answers one by one, connections that rest, segments that overtake each other, a way back that
is not the way there. None of their captures may show a fault.

`python -m tests.capture.live_ways` records all and prints what they show; a test takes them too.
The script runs in mount and network namespaces of its own, which end with it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.capture.live_corpus import list_faults

TOOLS = ("ethtool", "nft", "tcpdump", "unshare")
KINDS = (
    "quic", "keepalive", "dnstcp", "privacy", "notso", "reorder", "halfclose", "gateways", "ecn",
    "idle", "oneway", "slow",
)  # fmt: skip
SCRIPT = r"""
set -eu
OUT=$1 PYTHON=$2
mkdir -p /run/netns
mount -t tmpfs none /run/netns
for ns in c r1 r2 s x; do ip netns add $ns; ip -n $ns link set lo up; done
for ns in c s r1 r2; do
  ip netns exec $ns sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
    net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.default.send_redirects=0 net.ipv6.conf.all.accept_dad=0 \
    net.ipv6.conf.default.accept_dad=0
done
for r in 1 2; do
  ip netns exec r$r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
  ip link add c$r netns c type veth peer name in netns r$r
  ip link add s$r netns s type veth peer name out netns r$r
  ip -n c addr add 10.1.$r.2/24 dev c$r
  ip -n c addr add fd01:$r::2/64 dev c$r nodad
  ip -n r$r addr add 10.1.$r.1/24 dev in
  ip -n r$r addr add fd01:$r::1/64 dev in nodad
  ip -n s addr add 10.2.$r.2/24 dev s$r
  ip -n s addr add fd02:$r::2/64 dev s$r nodad
  ip -n r$r addr add 10.2.$r.1/24 dev out
  ip -n r$r addr add fd02:$r::1/64 dev out nodad
  for end in "c c$r" "s s$r" "r$r in" "r$r out"; do set -- $end; ip -n $1 link set $2 up; done
done
for n in 21 22; do ip -n c addr add fd01:1::$n/64 dev c1 nodad preferred_lft 0; done
ip -n c route add 10.2.1.0/24 via 10.1.1.1
ip -n c route add fd02:1::/64 via fd01:1::1
ip -n s route add fd01:1::/64 via fd02:1::1
ip -n r2 route add 10.2.1.0/24 via 10.2.2.2
ip -n s route add 10.1.1.0/24 via 10.2.1.1
ip link add c3 netns c type veth peer name in netns x
ip link add s3 netns s type veth peer name out netns x
for end in "c c3 10.3.0.1" "s s3 10.3.0.2"; do
  set -- $end
  ip -n $1 addr add $3/24 dev $2
  ip -n $1 link set $2 up
  ip netns exec $1 ethtool -K $2 tx off tso off gso off gro off >/dev/null
done
for end in in out; do ip -n x link set $end up; ip netns exec x ethtool -K $end gro off >/dev/null; done
ip netns exec r1 nft -f - <<RULES
table ip nat {
  chain post {
    type nat hook postrouting priority srcnat;
    ip saddr 10.1.1.0/24 oifname "out" masquerade;
  }
}
RULES
ip netns exec s "$PYTHON" "$OUT/talk.py" serve &
ip netns exec x "$PYTHON" "$OUT/talk.py" shuffle &
for try in $(seq 200); do if [ -n "$(ip netns exec s ss -Hltn)" ]; then break; fi; sleep 0.05; done
while read -r kind places; do
  pids=
  for place in $places; do
    IFS=. read -r ns device <<<"$place"
    ip netns exec $ns tcpdump -i $device --immediate-mode -U -s 262144 -w "$OUT/$kind-$ns-$device.pcap" 2>"$OUT/err-$kind-$ns-$device" &
    pids="$pids $!"
    for try in $(seq 200); do if grep -q listening "$OUT/err-$kind-$ns-$device"; then break; fi; sleep 0.05; done
  done
  case $kind in
    notso) for ns in c s; do ip netns exec $ns ethtool -K ${ns}1 tso off gso off gro off >/dev/null; done ;;
    ecn) for ns in c s; do ip netns exec $ns sysctl -qw net.ipv4.tcp_ecn=1; done ;;
    gateways)
      ip netns exec r1 nft flush ruleset
      ip -n s route change 10.1.1.0/24 via 10.2.2.1
      ip -n r2 route add 10.1.1.0/24 via 10.1.2.2 ;;
  esac
  ip netns exec c "$PYTHON" "$OUT/talk.py" "$kind"
  if [ $kind = gateways ]; then
    ip -n s route change 10.1.1.0/24 via 10.2.1.1
  fi
  sleep 0.3
  kill -INT $pids
  wait $pids || true
done <"$OUT/places"
kill $(jobs -p) || true
"""  # noqa: E501
PLACES = """
quic c.c1 r1.out
keepalive c.c1 r1.out s.s1
dnstcp c.c1 s.s1
privacy c.c1 r1.in s.s1
notso c.c1 s.s1
reorder c.c3 s.s3
halfclose c.c1 r1.in s.s1
ecn c.c1 s.s1
idle c.c1 r1.any s.s1
oneway c.c1 s.any
slow c.c1 s.s1
gateways c.any r1.out r2.in s.any
"""
TALK = """
import os, selectors, socket, struct, sys, threading, time

def take(connection, size):
    got = b""
    while len(got) < size:
        part = connection.recv(min(size - len(got), 65536))
        if not part:
            break
        got += part
    return got

def serve():
    def echo(connection):
        with connection:
            while (head := take(connection, 8)):
                size = int(head)
                take(connection, size)
                connection.sendall(bytes(size))
    def stream(connection):
        with connection:
            while connection.recv(65536):
                pass
            for _ in range(10):
                connection.sendall(bytes(3000))
                time.sleep(0.2)
    def slow(connection):
        with connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            time.sleep(1.5)
            while connection.recv(4096):
                time.sleep(0.002)
    def names(connection):
        with connection:
            while (head := take(connection, 2)):
                asked = take(connection, *struct.unpack(">H", head))
                answer = asked[:2] + bytes.fromhex("8180") + asked[4:] + bytes(900)
                connection.sendall(struct.pack(">H", len(answer)) + answer)
    def listen(port, talk):
        server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
        def accept():
            while True:
                threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
    def datagrams(port, answer):
        bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        bound.bind(("", port))
        def work():
            count = 0
            while True:
                data, who = bound.recvfrom(65536)
                count += 1
                for _ in range(answer(count, data)):
                    time.sleep(0.0005)
                    bound.sendto(os.urandom(1200), who)
        threading.Thread(target=work, daemon=True).start()
    datagrams(443, lambda count, data: 3 if count % 4 == 0 and len(data) > 100 else 0)
    for port in (514, 2055, 6343, 8125):
        datagrams(port, lambda count, data: 0)
    truncated = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    truncated.bind(("", 53))
    def truncate():
        while True:
            data, who = truncated.recvfrom(2048)
            truncated.sendto(data[:2] + bytes.fromhex("8380") + data[4:], who)
    threading.Thread(target=truncate, daemon=True).start()
    listen(53, names)
    listen(81, stream)
    listen(82, slow)
    listen(80, echo)
    threading.Event().wait()

def shuffle():
    ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) for _ in range(2)]
    watch = selectors.DefaultSelector()
    for end, name in zip(ends, ("in", "out")):
        end.setsockopt(263, 23, 1)
        end.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE: nothing gets lost
        end.bind((name, 0))
        watch.register(end, 1)
    held, count = None, 0
    while True:
        ready = watch.select(0.01)
        if not ready and held is not None:
            ends[0].send(held)
            held = None
        for key, _ in ready:
            data = key.fileobj.recv(65536)
            if key.fileobj is ends[0]:
                ends[1].send(data)
                continue
            count += len(data) > 1000
            if held is None and len(data) > 1000 and count % 9 == 0:
                held, after = data, 0
                continue
            ends[0].send(data)
            if held is not None:
                after += 1
                if after == 4:
                    ends[0].send(held)
                    held = None

def ask(connection, size):
    connection.sendall(b"%08d" % size + bytes(size))
    take(connection, size)

QUERY = bytes.fromhex("01000001000000000000076578616d706c6503636f6d0000100001")
def main(kind):
    there = "10.2.1.2"
    if kind == "quic":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.connect((there, 443))
            one.settimeout(0.05)
            for number in range(60):
                one.send(b"\\x40" + os.urandom(1200 if number % 5 else 700))
                try:
                    while True:
                        one.recv(2048)
                except TimeoutError:
                    pass
            for _ in range(3):
                one.send(b"\\x40" + os.urandom(30))
    elif kind in ("keepalive", "idle"):
        with socket.create_connection((there, 80)) as one:
            if kind == "keepalive":
                one.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL):
                    one.setsockopt(socket.IPPROTO_TCP, option, 1)
            ask(one, 500)
            time.sleep(5)
            ask(one, 500)
            if kind == "idle":
                two = socket.create_connection((there, 80))
                ask(two, 10)
                ask(two, 10)
                two.detach()
                time.sleep(4)
    elif kind == "dnstcp":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.connect((there, 53))
            for number in range(5):
                query = number.to_bytes(2, "big") + QUERY
                one.send(query)
                one.recv(2048)
                with socket.create_connection((there, 53)) as two:
                    two.sendall(struct.pack(">H", len(query)) + query)
                    take(two, *struct.unpack(">H", take(two, 2)))
    elif kind == "privacy":
        for near in ("fd01:1::21", "fd01:1::22", "fd01:1::2"):
            for _ in range(3):
                with socket.create_connection(("fd02:1::2", 80), source_address=(near, 0)) as one:
                    ask(one, 3000)
    elif kind == "halfclose":
        for _ in range(2):
            with socket.create_connection((there, 81)) as one:
                one.sendall(bytes(2000))
                one.shutdown(socket.SHUT_WR)
                while one.recv(65536):
                    pass
    elif kind == "oneway":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            for number in range(40):
                one.sendto(b"<13>Nov 30 01:49:15 node app: message %d" % number, (there, 514))
                one.sendto(b"requests:1|c", (there, 8125))
                one.sendto(os.urandom(1400), (there, 2055))
                one.sendto(os.urandom(600), (there, 6343))
                time.sleep(0.05)
    elif kind == "slow":
        with socket.create_connection((there, 82)) as one:
            one.sendall(bytes(1_500_000))
    else:
        for _ in range(3):
            with socket.create_connection(("10.3.0.2" if kind == "reorder" else there, 80)) as one:
                for _ in range(4):
                    ask(one, 400_000)

if sys.argv[1] in ("serve", "shuffle"):
    globals()[sys.argv[1]]()
else:
    main(sys.argv[1])
"""


def record(folder: Path, kinds: tuple[str, ...] = KINDS) -> dict[str, list[Path]]:
    """Build the network, let its hosts talk in each way, and return the files of each kind."""
    rows = [row for row in PLACES.split("\n") if row.partition(" ")[0] in kinds]
    (folder / "places").write_text("".join(f"{row}\n" for row in rows if row))
    (folder / "talk.py").write_text(TALK)
    unshared = ["unshare", "--mount", "--net", "--propagation", "private"]
    done = subprocess.run(
        [*unshared, "bash", "-c", SCRIPT, "ways", str(folder), sys.executable],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return {kind: sorted(folder.glob(f"{kind}-*.pcap")) for kind in kinds}


def main() -> int:
    """Record all, print what each shows; 1 where one of them shows a fault."""
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        for kind, files in record(Path(name)).items():
            faults = list_faults(files)
            bad += bool(faults)
            print(f"{kind:<9} {'ok' if not faults else 'FAULT'}")  # noqa: T201
            for fault in faults:
                print(f"    {fault}")  # noqa: T201
    print(f"{len(KINDS)} kinds of healthy conversations, {bad} of them show a fault")  # noqa: T201
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
