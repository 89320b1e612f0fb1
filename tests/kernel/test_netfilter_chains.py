"""Chains that jump, go, return and end: random rulesets, walked by the kernel and by the model."""

from __future__ import annotations

import random

import pytest

from podpath.net import protocols
from podpath.net.packet import Packet
from tests.datapath.given import given_rules, tcp, udp
from tests.kernel.agreement import Both

USER_CHAINS = ("KUBE-A", "CALI-B", "CNI-C", "X-D", "Y-E")
CONDITIONS = (
    "", "", "-s 10.244.0.5/32", "! -s 10.244.0.5/32", "-d 198.51.100.0/24",
    "-p tcp -m tcp --dport 80", "-p tcp -m tcp ! --dport 80", "-p udp", "-i cni0", "! -i cni0",
    "-o eth0", "-m conntrack --ctstate NEW", "-m conntrack ! --ctstate NEW",
    "-m mark --mark 0x1/0x1", "-m mark ! --mark 0x1/0x1", "-m mark --mark 0x6/0x6",
    "-p tcp -m multiport --dports 80,443", "-m addrtype --dst-type LOCAL",
)  # fmt: skip
PLAIN_TARGETS = (
    "", "-j MARK --set-xmark 0x1/0x1", "-j MARK --set-xmark 0x6/0x6",
    "-j MARK --and-mark 0xfffffffe", "-j RETURN", "-j RETURN", "-j ACCEPT",
    "-j CONNMARK --save-mark --nfmask 0xff --ctmask 0xff",
    "-j CONNMARK --restore-mark --nfmask 0xff --ctmask 0xff", "-j MARK --xor-mark 0x3",
)  # fmt: skip
ENDING_TARGETS = (
    "-j DROP",
    "-j REJECT --reject-with icmp-host-prohibited",
    "-p tcp -j REJECT --reject-with tcp-reset",
)


def random_rules(seed: int, table: str, bases: tuple[str, ...]) -> str:
    """Write a table of rules that jump only onwards in the list of chains, so that the kernel takes
    it.
    """
    source = random.Random(seed)
    rules: list[str] = []
    for base in bases:
        rules += [_rule(source, base, USER_CHAINS, table) for _ in range(source.randint(2, 6))]
    for number, chain in enumerate(USER_CHAINS):
        rules += [
            _rule(source, chain, USER_CHAINS[number + 1 :], table)
            for _ in range(source.randint(1, 22))
        ]
    policy = source.choice(("ACCEPT", "ACCEPT", "DROP")) if table == "filter" else "ACCEPT"
    return given_rules(*rules, table=table, policy=policy, chains=USER_CHAINS)


def _rule(source: random.Random, chain: str, onwards: tuple[str, ...], table: str) -> str:
    absent = {"PREROUTING": " -o ", "POSTROUTING": " -i "}.get(chain, "\n")
    condition = source.choice([each for each in CONDITIONS if absent not in f" {each} "])
    kind = source.random()
    if onwards and kind < 0.45:
        target = f"-{source.choice('jjjg')} {source.choice(onwards)}"
    elif kind > 0.93 and table == "filter":
        target = source.choice(ENDING_TARGETS)
        condition = "" if target.startswith("-p") else condition
    else:
        target = source.choice(PLAIN_TARGETS)
    return f"{chain} {condition} {target}"


def packets(seed: int) -> list[tuple[str, Packet, str]]:
    """Make packets of a few connections in both directions."""
    source = random.Random(seed)
    made: list[tuple[str, Packet, str]] = []
    for number in range(12):
        pod, port, host = (
            f"10.244.0.{source.choice((5, 6))}",
            source.choice((80, 81, 443)),
            f"198.51.100.{source.choice((7, 8))}",
        )
        sport = 40000 + number
        if source.random() < 0.3:
            made.append(("cni0", udp(pod, host, sport, port), "original"))
            made.append(("eth0", udp(host, pod, port, sport), "reply"))
        else:
            made.append(("cni0", tcp(pod, host, sport, port), "original"))
            made.append(
                ("eth0", tcp(host, pod, port, sport, flags=protocols.SYN | protocols.ACK), "reply")
            )
            made.append(("cni0", tcp(pod, host, sport, port, flags=protocols.ACK), "original"))
    return made


@pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "conntrack")
@pytest.mark.parametrize("flavour", ["nft", "legacy"])
@pytest.mark.parametrize("seed", range(8))
def test_random_chains_are_walked_as_the_kernel_walks_them(seed: int, flavour: str) -> None:
    """Jump, goto, RETURN, policies and marks lead every packet of a random ruleset over the same
    rules to the same end.
    """
    mangle = random_rules(seed, "mangle", ("PREROUTING", "FORWARD", "POSTROUTING"))
    filtering = random_rules(seed + 100, "filter", ("FORWARD",))
    both = Both(mangle, filtering) if flavour == "nft" else Both(legacy=f"{mangle}\n{filtering}")

    with both:
        for number, (link, packet, way) in enumerate(packets(seed)):
            kernel, model = both.pass_through(link, packet, way)
            assert kernel == model, f"packet {number}: {packet}\n{mangle}\n{filtering}"
        kernel_counts, model_counts = both.counters()
        assert kernel_counts == model_counts
        kernel_entries, model_entries = both.conntrack()
        assert kernel_entries == model_entries
