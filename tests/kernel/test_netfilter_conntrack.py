"""What conntrack makes of segments: the kernel's states, verdicts and entries are the model's,
packet by packet.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from tests.datapath.given import echo, given_rules, tcp, udp
from tests.kernel.agreement import Both

SYN, ACK, FIN, RST, PSH, URG = (
    protocols.SYN,
    protocols.ACK,
    protocols.FIN,
    protocols.RST,
    protocols.PSH,
    protocols.URG,
)
POD, SERVER = "10.244.0.5", "198.51.100.7"
TRACKING = given_rules(
    *(
        f"FORWARD -m conntrack --ctstate {state}"
        for state in ("INVALID", "NEW", "ESTABLISHED", "RELATED", "UNTRACKED")
    )
)

Way = tuple[str, Packet, str]
ATTEMPT = pytest.mark.kernel("iptables-nft-restore", "conntrack")


def out(flags: int, seq: int = 1, ack: int = 1, payload: int = 0) -> Way:
    """Make a segment of the client, a pod."""
    return (
        "cni0",
        tcp(POD, SERVER, flags=flags)._replace(seq=seq, ack=ack, payload=payload),
        "original",
    )


def back(flags: int, seq: int = 1, ack: int = 1, payload: int = 0) -> Way:
    """Make a segment of the server."""
    return (
        "eth0",
        tcp(SERVER, POD, 80, 40000, flags=flags)._replace(seq=seq, ack=ack, payload=payload),
        "reply",
    )


OPEN, ANSWER, CONFIRM = out(SYN, 0, 0), back(SYN | ACK, 0, 1), out(ACK)
HANDSHAKE = [OPEN, ANSWER, CONFIRM]
CLOSE = [out(FIN | ACK), back(FIN | ACK, 1, 2), out(ACK, 2, 2)]

SEQUENCES: Mapping[str, list[Way]] = {
    "whole connection": [
        *HANDSHAKE, out(ACK | PSH, payload=78), back(ACK, 1, 79), back(ACK | PSH, 1, 79, 100),
        out(ACK, 79, 101), out(FIN | ACK, 79, 101), back(FIN | ACK, 101, 80), out(ACK, 80, 102),
    ],
    "SYN-ACK passes by": [OPEN, CONFIRM, out(ACK | PSH, payload=78), out(RST)],
    "retransmitted SYN": [OPEN, OPEN, ANSWER, ANSWER, CONFIRM, OPEN],
    "refused": [OPEN, back(RST | ACK, 0, 1)],
    "reset": [*HANDSHAKE, back(RST, 1, 0), OPEN],
    "reset behind the window": [
        *HANDSHAKE, back(ACK | PSH, payload=100), out(ACK, 1, 101), back(RST, 50, 0),
    ],
    "reset ahead of the window": [*HANDSHAKE, back(RST, 500, 0), out(ACK)],
    "picked up in its middle": [out(ACK | PSH, payload=78), back(ACK, 1, 79), out(ACK, 79, 1)],
    "picked up from the reply": [back(ACK | PSH, payload=78), out(ACK, 1, 79)],
    "only the SYN-ACK": [ANSWER, CONFIRM, OPEN],
    "FIN first": [out(FIN | ACK)],
    "reset first": [out(RST), out(RST | ACK)],
    "impossible flags": [
        OPEN, ANSWER, out(0), out(FIN | PSH | URG), out(SYN | FIN), out(SYN | RST),
    ],
    "simultaneous open": [OPEN, back(SYN, 0, 0), out(SYN | ACK, 0, 1), back(ACK)],
    "simultaneous open, both answer": [
        OPEN, back(SYN, 0, 0), out(SYN | ACK, 0, 1), back(SYN | ACK, 0, 1), CONFIRM, back(ACK),
    ],
    "answers pass by": [
        *HANDSHAKE, out(ACK | PSH, payload=78), out(ACK, 79, 1000), back(ACK, 1000, 79),
    ],
    "opened anew": [*HANDSHAKE, *CLOSE, OPEN, ANSWER],
    "challenge ACK": [OPEN, back(ACK), out(RST, 1, 0), OPEN],
    "client's SYN-ACK": [*HANDSHAKE, out(SYN | ACK, 0, 1)],
    "server's SYN": [*HANDSHAKE, back(SYN, 0, 0)],
    "half closed": [
        *HANDSHAKE, out(FIN | ACK), back(ACK, 1, 2), back(ACK | PSH, 1, 2, 10), out(ACK, 2, 11),
    ],
    "bad checksums": [
        ("cni0", tcp()._replace(bad_checksum=True), "original"),
        ("cni0", udp()._replace(bad_checksum=True), "original"),
    ],
    "UDP": [
        ("cni0", udp(), "original"), ("eth0", udp(SERVER, POD, 53, 40000), "reply"),
        ("cni0", udp(), "original"),
    ],
    "echo": [
        ("cni0", echo(), "original"), ("eth0", echo(SERVER, POD, reply=True), "original"),
        ("cni0", echo(), "original"),
    ],
    "echo reply alone": [("eth0", echo(SERVER, POD, reply=True), "original")],
    "GRE": [("cni0", Packet(Address.parse(POD), Address.parse(SERVER), protocols.GRE), "original")],
}  # fmt: skip


def _agree(both: Both, sequence: list[Way]) -> None:
    for number, (link, packet, way) in enumerate(sequence):
        kernel, model = both.pass_through(link, packet, way)
        assert kernel == model, f"packet {number}: {packet}"
    kernel_counts, model_counts = both.counters()
    assert kernel_counts == model_counts
    kernel_entries, model_entries = both.conntrack()
    assert kernel_entries == model_entries


@ATTEMPT
@pytest.mark.parametrize("name", SEQUENCES)
def test_states_are_the_kernels(name: str) -> None:
    """Each segment is NEW, ESTABLISHED or INVALID as in the kernel, and leaves the same entry."""
    with Both(TRACKING) as both:
        _agree(both, SEQUENCES[name])


@ATTEMPT
@pytest.mark.parametrize(
    ("name", "sysctl", "value"),
    [
        ("picked up in its middle", "tcp_loose", "0"),
        ("answers pass by", "tcp_be_liberal", "1"),
        ("SYN-ACK passes by", "tcp_be_liberal", "1"),
        ("reset behind the window", "tcp_be_liberal", "1"),
        ("reset behind the window", "tcp_ignore_invalid_rst", "1"),
        ("bad checksums", "checksum", "0"),
    ],
)
def test_sysctls_change_states_as_in_the_kernel(name: str, sysctl: str, value: str) -> None:
    """Loose pick-up, liberal windows, resets and checksums follow the namespace's settings."""
    with Both(TRACKING, sysctls={f"net.netfilter.nf_conntrack_{sysctl}": value}) as both:
        _agree(both, SEQUENCES[name])


@ATTEMPT
def test_a_dropped_first_packet_leaves_no_entry() -> None:
    """An entry is confirmed when its first packet has got through: a drop on the way leaves none,
    and a retry is NEW again.
    """
    with Both(TRACKING, given_rules("FORWARD -j DROP", table="security")) as both:
        _agree(both, [OPEN, OPEN])

        assert both.conntrack()[1] == []


@ATTEMPT
@pytest.mark.parametrize(
    ("rules", "tracks"),
    [
        (given_rules("FORWARD -p tcp", "FORWARD -m mark --mark 0x1"), False),
        (given_rules((
            "POSTROUTING -s 203.0.113.1/32 -j "
            "RETURN"
        ), "POSTROUTING -j ACCEPT", table="nat"), False),
        (given_rules("POSTROUTING -s 203.0.113.1/32 -j MASQUERADE", table="nat"), True),
        (given_rules("FORWARD -s 203.0.113.1/32 -m conntrack --ctstate NEW"), True),
        (given_rules("FORWARD -s 203.0.113.1/32 -m state --state NEW"), True),
        (given_rules("FORWARD -s 203.0.113.1/32 -m connmark --mark 0x1"), True),
        (given_rules("FORWARD -s 203.0.113.1/32 -j CONNMARK --save-mark", table="mangle"), True),
        (given_rules("PREROUTING -s 203.0.113.1/32 -j CT --zone 3", table="raw"), True),
        (given_rules("FORWARD -s 203.0.113.1/32 -m connbytes --connbytes 1 --connbytes-dir both "
            "--connbytes-mode bytes"), True),
        (given_rules("FORWARD -s 203.0.113.1/32 -m connlimit --connlimit-above 3"), True),
        (given_rules("FORWARD -s 203.0.113.1/32 -m helper --helper ftp"), True),
        (given_rules("PREROUTING -s 203.0.113.1/32 -j CT --notrack", table="raw"), False),
        (given_rules("INPUT -s 203.0.113.1/32 -m socket", (
            "PREROUTING -s 203.0.113.1/32 -m "
            "socket"
        ), table="mangle"), False),
    ],
)  # fmt: skip
def test_conntrack_is_on_where_a_rule_needs_it(rules: str, tracks: bool) -> None:  # noqa: FBT001  # a case
    """A loaded rule switches conntrack on, whether it matches or not; a nat table without
    translations does not.
    """
    with Both(rules) as both:
        _agree(both, [OPEN])

        assert bool(both.conntrack()[0]) is tracks


@ATTEMPT
@pytest.mark.parametrize(
    "rules",
    [
        ("PREROUTING -i cni0 -j CT --zone 5", "PREROUTING -i eth0 -j CT --zone 6"),
        ("PREROUTING -i cni0 -j CT --zone 5", "PREROUTING -i eth0 -j CT --zone 5"),
        ("PREROUTING -i cni0 -j CT --zone-orig 5",),
        ("PREROUTING -i eth0 -j CT --zone-reply 5",),
        ("PREROUTING -j MARK --set-mark 0x70009", "PREROUTING -j CT --zone mark"),
        ("PREROUTING -i cni0 -s 10.244.0.5/32 -j CT --notrack",),
        ("PREROUTING -i eth0 -j NOTRACK",),
    ],
)
def test_zones_keep_connections_apart(rules: tuple[str, ...]) -> None:
    """Zones of both directions, of one, and from the mark find the same entries as in the
    kernel.
    """
    with Both(given_rules(*rules, table="raw"), TRACKING) as both:
        _agree(both, [*HANDSHAKE, ("cni0", tcp("10.244.0.6", SERVER), "original")])
