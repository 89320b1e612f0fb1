"""ipset: sets of every type hold the packets that the kernel finds in them."""

from __future__ import annotations

import pytest

from podpath.net.addresses import Address
from podpath.net.packet import Packet
from tests.datapath.given import echo, given_rules, tcp, udp
from tests.kernel.agreement import Both

SETS = """
create ip hash:ip family inet
add ip 10.244.0.5
add ip 198.51.100.7
create masked hash:ip family inet netmask 28
add masked 10.244.0.0
create net hash:net family inet
add net 198.51.100.0/24
add net 198.51.100.8/30 nomatch
add net 198.51.100.9
create ipport hash:ip,port family inet
add ipport 198.51.100.7,tcp:80
add ipport 198.51.100.7,udp:53
add ipport 198.51.100.7,icmp:8/0
add ipport 198.51.100.7,gre:0
create netport hash:net,port family inet
add netport 198.51.100.0/24,tcp:443
add netport 198.51.100.8/29,tcp:443 nomatch
create ipportip hash:ip,port,ip family inet
add ipportip 198.51.100.7,tcp:80,10.244.0.5
create ipportnet hash:ip,port,net family inet
add ipportnet 198.51.100.7,tcp:80,10.244.0.0/24
add ipportnet 198.51.100.7,tcp:80,10.244.0.6/32 nomatch
create netiface hash:net,iface family inet
add netiface 10.244.0.0/24,cni0
add netiface 0.0.0.0/1,eth0
create ipmac bitmap:ip,mac range 10.244.0.0/24
add ipmac 10.244.0.5,02:00:00:00:00:0a
add ipmac 10.244.0.6,02:00:00:00:00:0f
create bitip bitmap:ip range 10.244.0.0/24
add bitip 10.244.0.5
create bitport bitmap:port range 0-1024
add bitport 80
add bitport 53
create both list:set size 8
add both ip
add both net
create empty hash:ip family inet
"""

CONDITIONS = (
    "-m set --match-set ip src", "-m set --match-set ip dst", "-m set ! --match-set ip src",
    "-m set --match-set masked src", "-m set --match-set net dst", "-m set ! --match-set net dst",
    "-m set --match-set net dst --return-nomatch", "-m set --match-set ipport dst,dst",
    "-m set --match-set ipport src,src", "-m set --match-set netport dst,dst",
    "-m set --match-set ipportip dst,dst,src", "-m set --match-set ipportip src,dst,dst",
    "-m set --match-set ipportnet dst,dst,src", "-m set --match-set netiface src,src",
    "-m set --match-set netiface dst,dst", "-m set --match-set ipmac src,src",
    "-m set --match-set bitip src", "-m set --match-set bitport dst",
    "-m set --match-set bitport src", "-m set --match-set both src", "-m set --match-set both dst",
    "-m set ! --match-set both src,src", "-m set --match-set empty src",
    "-m set ! --match-set empty src",
)  # fmt: skip

PACKETS = [
    ("cni0", tcp()), ("cni0", tcp("10.244.0.6")), ("cni0", tcp(dport=443)),
    ("cni0", tcp(dst="198.51.100.9", dport=443)), ("cni0", tcp(dst="198.51.100.10")),
    ("cni0", tcp("10.244.0.9", "203.0.113.1", 80, 1000)), ("cni0", udp()), ("cni0", echo()),
    ("cni0", Packet(Address.parse("10.244.0.5"), Address.parse("198.51.100.7"), 47)),
    ("eth0", tcp("198.51.100.7", "10.244.0.5", 80, 40000, flags=0x12)),
    ("eth0", udp("192.0.2.9", "10.244.0.6", 53, 53)),
]  # fmt: skip


@pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "ipset")
@pytest.mark.parametrize("flavour", ["nft", "legacy"])
@pytest.mark.parametrize("hook", ["PREROUTING", "FORWARD"])
def test_sets_hold_what_the_kernel_finds_in_them(flavour: str, hook: str) -> None:
    """Every dimension, `nomatch` exceptions, masks, devices, marks and lists of sets match the same
    packets.
    """
    mark = "-s 10.244.0.5/32 -j MARK --set-mark 0x7"
    rules = given_rules(
        f"{hook} {mark}", *(f"{hook} {condition}" for condition in CONDITIONS), table="mangle"
    )
    both = (
        Both(rules, sets=SETS.strip() + "\n")
        if flavour == "nft"
        else Both(legacy=rules, sets=SETS.strip() + "\n")
    )
    with both:
        for link, packet in PACKETS:
            kernel, model = both.pass_through(link, packet)
            assert kernel == model
        names = ("mark", *CONDITIONS)
        kernel_counts, model_counts = (
            {names[position - 1]: count for (_, _, _, position), count in counts.items()}
            for counts in both.counters()
        )
        assert kernel_counts == model_counts
