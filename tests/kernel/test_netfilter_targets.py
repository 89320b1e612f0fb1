"""Targets: what the kernel does to packets and marks, the model does."""

from __future__ import annotations

import pytest

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from tests.datapath.given import echo, given_rules, tcp, udp
from tests.kernel.agreement import Both

SYN, ACK, FIN, RST = protocols.SYN, protocols.ACK, protocols.FIN, protocols.RST
POD, SERVER = "10.244.0.5", "198.51.100.7"
KERNEL = pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "conntrack")
FLAVOURS = pytest.mark.parametrize("flavour", ["nft", "legacy"])

Way = tuple[str, Packet, str]


def pod(dport: int = 80, sport: int = 40000, flags: int = SYN) -> Way:
    """Make a segment of a pod."""
    return "cni0", tcp(POD, SERVER, sport, dport, flags=flags), "original"


def back(sport: int = 80, dport: int = 40000) -> Way:
    """Make the server's SYN-ACK."""
    return "eth0", tcp(SERVER, POD, sport, dport, flags=SYN | ACK), "reply"


def _agree(rules: tuple[str, ...], table: str, packets: list[Way], flavour: str) -> None:
    text = given_rules(*rules, table=table)
    with Both(text) if flavour == "nft" else Both(legacy=text) as both:
        for number, (link, packet, way) in enumerate(packets):
            kernel, model = both.pass_through(link, packet, way)
            assert kernel == model, f"packet {number}: {packet}"
        kernel_counts, model_counts = both.counters()
        assert kernel_counts == model_counts
        kernel_entries, model_entries = both.conntrack()
        assert kernel_entries == model_entries


@KERNEL
@FLAVOURS
def test_header_targets_write_what_the_kernel_writes(flavour: str) -> None:
    """TOS, DSCP and TTL with their operations and masks."""
    rules = (
        "PREROUTING -p tcp -j TOS --set-tos 0x10/0x3f", "PREROUTING -p udp -j DSCP --set-dscp 0x2e",
        "PREROUTING -p icmp -j TTL --ttl-set 9", "FORWARD -p tcp -j TTL --ttl-inc 3",
        "POSTROUTING -p udp -j TTL --ttl-dec 2", "POSTROUTING -p icmp -j TOS --or-tos 0x4",
        "POSTROUTING -p tcp -j TOS --and-tos 0x10", "POSTROUTING -p udp -j TOS --xor-tos 0x0c",
        "FORWARD -p udp -m dscp --dscp-class EF",
    )  # fmt: skip
    packets: list[Way] = [
        pod(),
        ("cni0", udp(POD, SERVER)._replace(tos=0x3), "original"),
        ("cni0", echo(POD, SERVER), "original"),
        ("cni0", tcp(POD, SERVER, 4, 5)._replace(tos=0xFC, ttl=253), "original"),
    ]
    _agree(rules, "mangle", packets, flavour)


@KERNEL
@FLAVOURS
@pytest.mark.parametrize(
    "operation",
    [
        "--set-xmark 0xff/0xf0", "--set-mark 0x3/0x1", "--xor-mark 0x3", "--and-mark 0xfe", "--or-mark 0x4000",  # noqa: E501
        "--set-mark 0x7",
    ],
)  # fmt: skip
def test_mark_operations_are_the_kernels(operation: str, flavour: str) -> None:
    """Every bit of the mark is as the kernel sets it, for each way of setting it."""
    rules = (
        "PREROUTING -j MARK --set-mark 0x1234", f"PREROUTING -j MARK {operation}",
        *(f"PREROUTING -m mark --mark {1 << bit:#x}/{1 << bit:#x}" for bit in range(16)),
    )  # fmt: skip
    _agree(rules, "mangle", [pod()], flavour)


@KERNEL
@FLAVOURS
@pytest.mark.parametrize(
    "save",
    [
        "--save-mark", "--save-mark --nfmask 0xff --ctmask 0xf0f",
        "--save-mark --nfmask 0xff --ctmask 0xff00 --left-shift-mark 8",
    ],
)  # fmt: skip
def test_connection_marks_are_saved_and_restored(save: str, flavour: str) -> None:
    """CONNMARK moves masked bits between packet and connection, shifted where a rule says so."""
    rules = (
        "PREROUTING -j CONNMARK --restore-mark --nfmask 0xffff --ctmask 0xffff",
        "PREROUTING -m mark ! --mark 0x0",
        "PREROUTING -p tcp -m tcp --dport 80 -j MARK --set-mark 0xa5",
        f"POSTROUTING -j CONNMARK {save}",
        "FORWARD -p tcp -m tcp --dport 443 -j CONNMARK --set-xmark 0x700/0xf00",
        "FORWARD -m connmark --mark 0x700/0xf00",
    )  # fmt: skip
    _agree(rules, "mangle", [pod(), back(), pod(443, 41000), back(443, 41000)], flavour)


@KERNEL
@FLAVOURS
def test_targets_without_effect_let_the_next_rule_decide(flavour: str) -> None:
    """Logging, classifying and clamping go on with the next rule."""
    rules = (
        "FORWARD -j LOG --log-prefix x", "FORWARD -j NFLOG",
        "FORWARD -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 1200",
        "FORWARD -j CLASSIFY --set-class 1:2", "FORWARD -j CHECKSUM --checksum-fill",
        "FORWARD -p tcp -j DROP",
    )  # fmt: skip
    _agree(rules, "mangle", [pod(), ("cni0", udp(), "original")], flavour)


@KERNEL
@FLAVOURS
@pytest.mark.parametrize(
    "answer",
    [
        "icmp-net-unreachable", "icmp-host-unreachable", "icmp-proto-unreachable", "icmp-port-unreachable",  # noqa: E501
        "icmp-net-prohibited", "icmp-host-prohibited", "icmp-admin-prohibited",
    ],
)  # fmt: skip
def test_rejected_packets_are_answered_as_by_the_kernel(answer: str, flavour: str) -> None:
    """The error has the rule's type, the host's address and the packet that it is about; errors get
    none.
    """
    error = Packet(
        Address.parse("198.51.100.1"),
        Address.parse(POD),
        1,
        icmp_type=3,
        icmp_code=1,
        quoted=tcp(POD, SERVER),
    )
    packets: list[Way] = [
        pod(), pod(flags=RST), ("cni0", udp()._replace(tos=0x18), "original"),
        ("cni0", echo(), "original"), ("eth0", error, "original"),
    ]  # fmt: skip
    _agree((f"FORWARD -j REJECT --reject-with {answer}",), "filter", packets, flavour)


@KERNEL
@FLAVOURS
def test_resets_answer_segments_but_not_resets(flavour: str) -> None:
    """A reset acknowledges what it refuses, or takes the sequence number that was acknowledged."""
    packets = [pod(), pod(flags=ACK), pod(flags=RST), pod(flags=FIN | ACK)]
    _agree(("FORWARD -p tcp -j REJECT --reject-with tcp-reset",), "filter", packets, flavour)
