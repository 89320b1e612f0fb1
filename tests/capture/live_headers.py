"""Packets of many kinds on the real kernel, captured by tcpdump on a device and on `any`: VXLAN
over both families, fragments, ICMP errors, ARP, IPv6.

The script runs in mount and network namespaces of its own, which end with it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

TOOLS = ("ping", "tcpdump", "unshare")
SCRIPT = r"""
set -eu
OUT=$1
mkdir -p /run/netns
mount -t tmpfs none /run/netns
for ns in lhd1 lhd2; do ip netns add $ns; ip -n $ns link set lo up; done
ip link add wire netns lhd1 type veth peer name wire netns lhd2
for i in 1 2; do
  o=$((3 - i))
  ip -n lhd$i addr add 192.0.2.$i/24 dev wire
  ip -n lhd$i addr add 2001:db8::$i/64 dev wire nodad
  ip -n lhd$i link set wire mtu 1400 up
  ip -n lhd$i link add vx type vxlan id 6 remote 192.0.2.$o dstport 4789 dev wire
  ip -n lhd$i link add vx6 type vxlan id 16 remote 2001:db8::$o dstport 4790 dev wire
  number=11
  for device in vx vx6; do
    ip -n lhd$i link set $device up
    ip -n lhd$i addr add 10.$number.0.$i/24 dev $device
    number=$((number + 1))
  done
  ip -n lhd$i addr add 2001:db8:2::$i/64 dev vx nodad
done
ip netns exec lhd1 tcpdump -i wire -U --immediate-mode -w "$OUT/device.pcap" 2>"$OUT/device.err" &
FIRST=$!
ip netns exec lhd2 tcpdump -i any -U --immediate-mode -w "$OUT/any.pcap" 2>"$OUT/any.err" &
SECOND=$!
for name in device any; do
  for try in $(seq 200); do if grep -q listening "$OUT/$name.err"; then break; fi; sleep 0.05; done
done
for target in 192.0.2.2 2001:db8::2 10.11.0.2 10.12.0.2 2001:db8:2::2; do
  ip netns exec lhd1 ping -q -n -c 2 -i 0.2 -W 1 "$target" >/dev/null || true
done
for target in 192.0.2.2 2001:db8::2 10.11.0.2; do
  ip netns exec lhd1 ping -q -n -c 1 -s 4000 -W 1 "$target" >/dev/null || true
  ip netns exec lhd1 bash -c "echo closed >/dev/udp/$target/9" || true
  ip netns exec lhd1 bash -c "echo closed >/dev/tcp/$target/9" 2>/dev/null || true
done
ip netns exec lhd2 ping -q -n -c 1 -W 1 192.0.2.77 >/dev/null || true
sleep 0.3
kill -INT $FIRST $SECOND
wait $FIRST $SECOND || true
"""


def record(folder: Path) -> list[Path]:
    """Send the packets, and give the two captures."""
    done = subprocess.run(
        [
            "unshare", "--mount", "--net", "--propagation", "private", "bash", "-c", SCRIPT,
            "headers", str(folder),
        ],
        capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [folder / "device.pcap", folder / "any.pcap"]
