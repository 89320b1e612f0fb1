"""Tests for targets: what they do to packets, marks and connections. What the kernel does with them
stands in tests/kernel.
"""

from __future__ import annotations

import pytest

from podpath.datapath.conntrack.connection import Zone
from podpath.datapath.netfilter.verdicts import ACCEPT, Queued, Reject
from podpath.datapath.reasons.boundaries import TargetNotFollowed
from podpath.datapath.tracing.exploration import Choices, explore
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Listing
from podpath.node.node import Socket
from tests.datapath.given import Sender, echo, every_branch, given, given_rules, tcp, udp

SYN, ACK, RST = protocols.SYN, protocols.ACK, protocols.RST


def after(
    *rules: str, table: str = "mangle", packet: Packet | None = None, mark: int = 0
) -> tuple[Packet, int]:
    """Return packet and mark behind PREROUTING with these rules."""
    sender = Sender(given(given_rules(*(f"PREROUTING {rule}" for rule in rules), table=table)))
    skb = sender.skb(packet or tcp(), mark=mark)
    sender.send(skb, "PREROUTING")
    return skb.packet, skb.mark


def rejected(packet: Packet, answer: str) -> Reject:
    """Reject a packet in FORWARD."""
    sender = Sender(given(given_rules(f"FORWARD -j REJECT --reject-with {answer}")))
    verdict = sender.send(sender.skb(packet), "FORWARD")
    assert isinstance(verdict, Reject)
    return verdict


@pytest.mark.parametrize(
    ("operation", "mark"),
    [
        ("--set-xmark 0xff/0xf0", 0x12FB), ("--set-mark 0x1/0x1", 0x1235), ("--set-mark 0x7", 0x7), ("--xor-mark 0x3", 0x1237),  # noqa: E501
        ("--and-mark 0xff00", 0x1200), ("--or-mark 0x4000", 0x5234),
    ],
)  # fmt: skip
def test_marks_are_set_bit_by_bit(operation: str, mark: int) -> None:
    """Masked, replaced, and combined."""
    assert mark == after(f"-j MARK {operation}", mark=0x1234)[1]


def test_connection_marks_need_a_connection() -> None:
    """CONNMARK does nothing to a packet that conntrack does not know."""
    rules = ("-j CONNMARK --set-mark 0x7", "-j CONNMARK --restore-mark")

    assert 0x7 == after(*rules)[1]
    assert 0 == after(*rules, packet=tcp(flags=protocols.FIN | ACK))[1]


def test_header_fields_are_written() -> None:
    """TOS, DSCP and TTL; a TTL is kept between 0 and 255."""
    assert (0x50, 0xB9, 0x14, 0x00, 0x17) == tuple(
        after(f"-j {target}", packet=tcp()._replace(tos=tos))[0].tos
        for target, tos in (
            ("TOS --set-tos 0x10/0x3f", 0x41),
            ("DSCP --set-dscp-class EF", 0x01),
            ("TOS --or-tos 0x4", 0x10),
            ("TOS --and-tos 0x10", 0x0F),
            ("TOS --xor-tos 0x3", 0x14),
        )
    )
    assert (9, 255, 0, 70) == tuple(
        after(f"-j TTL --ttl-{option}")[0].ttl for option in ("set 9", "inc 255", "dec 65", "inc 6")
    )


@pytest.mark.parametrize(
    ("rule", "zone"),
    [
        ("-j CT --zone 5", Zone(5)),
        ("-j CT --zone-orig 5", Zone(5, reply=False)),
        ("-j CT --zone-reply 5", Zone(5, original=False)),
        ("-j CT --zone mark", Zone(9, from_mark=True)),
    ],
)
def test_ct_puts_connections_into_zones(rule: str, zone: Zone) -> None:
    """A number or the mark, in both directions or one."""
    sender = Sender(given(given_rules(f"PREROUTING {rule}", table="raw")))
    skb = sender.skb(tcp(), mark=0x70009)
    sender.send(skb, "PREROUTING")

    assert skb.connection is not None
    assert zone == skb.connection.zone


@pytest.mark.parametrize("rule", ["-j CT --notrack", "-j NOTRACK"])
def test_notrack_keeps_a_packet_from_conntrack(rule: str) -> None:
    """The step says which rule did it."""
    sender = Sender(
        given(
            given_rules(f"PREROUTING {rule}", table="raw"),
            given_rules("FORWARD -m conntrack --ctstate NEW"),
        )
    )
    skb = sender.skb(tcp())
    sender.send(skb, "PREROUTING")

    assert ("UNTRACKED", ["untracked"]) == (
        skb.ctinfo,
        [step.decision for step in sender.walk.trace.steps],
    )


def test_a_reset_answers_what_was_acknowledged() -> None:
    """A SYN is acknowledged; a segment with ACK gets its own number back."""
    syn, ack = (
        rejected(tcp(), "tcp-reset").packet,
        rejected(tcp(flags=ACK)._replace(ack=77), "tcp-reset").packet,
    )
    assert syn is not None
    assert ack is not None

    assert (RST | ACK, 1, "tcp 198.51.100.7:80 > 10.244.0.5:40000 [RST,ACK]") == (
        syn.flags,
        syn.ack,
        str(syn),
    )
    assert (RST, 77) == (ack.flags, ack.seq)


@pytest.mark.parametrize(
    ("packet", "answer"),
    [
        (tcp(flags=RST), "tcp-reset"),
        (tcp()._replace(bad_checksum=True), "tcp-reset"),
        (udp()._replace(fragment=True), "icmp-port-unreachable"),
        (echo()._replace(icmp_type=3), "icmp-port-unreachable"),
    ],
)
def test_some_packets_are_rejected_without_a_word(packet: Packet, answer: str) -> None:
    """No reset for a reset or a broken segment, no error about a fragment or an error."""
    assert Reject("", None) == rejected(packet, answer)


def test_an_error_quotes_the_packet() -> None:
    """Type and code are the rule's, the precedence is that of network control, the source is for
    routing to choose.
    """
    error = rejected(udp()._replace(tos=0x1C), "host-prohib").packet
    assert error is not None

    assert (3, 10, 0xDC, True, udp()._replace(tos=0x1C)) == (
        error.icmp_type,
        error.icmp_code,
        error.tos,
        error.src.is_unspecified,
        error.quoted,
    )


def test_ipv6_has_answers_of_its_own() -> None:
    """The default is its port unreachable."""
    packet = tcp("fd00::5", "fd00::7")
    for option, code in (
        ("", 4),
        (" --reject-with icmp6-adm-prohibited", 1),
        (" --reject-with no-route", 0),
    ):
        sender = Sender(given(given_rules(f"FORWARD -j REJECT{option}"), family=6))
        verdict = sender.send(sender.skb(packet), "FORWARD")

        assert isinstance(verdict, Reject)
        assert verdict.packet is not None
        assert (1, code) == (verdict.packet.icmp_type, verdict.packet.icmp_code)


def test_a_queue_forks() -> None:
    """The program in userspace accepts or drops."""
    assert {"Accept", "Drop"} == every_branch(
        given(given_rules("FORWARD -j NFQUEUE --queue-num 3")), tcp(), "FORWARD"
    )


@pytest.mark.parametrize(
    ("bypass", "verdicts"),
    [("", ["Accept", "Drop"]), (" --queue-bypass", ["Accept", "Drop", "Accept"])],
)
def test_a_queue_may_let_go_on_where_no_program_listens(bypass: str, verdicts: list[str]) -> None:
    """It accepts; it drops; and with the bypass what nobody takes goes on."""
    node = given(given_rules(f"FORWARD -j NFQUEUE --queue-num 3{bypass}"))

    def run(choices: Choices) -> str:
        sender = Sender(node, choices)
        return type(sender.send(sender.skb(tcp()), "FORWARD")).__name__

    assert verdicts == list(explore(run, deviations=2).results)


def test_a_syn_proxy_ends_undecided() -> None:
    """What comes after is not modeled, and the walk says so."""
    node = given(given_rules("FORWARD -p tcp -j SYNPROXY --mss 1460"))
    sender = Sender(node)
    verdict = sender.send(sender.skb(tcp()), "FORWARD")

    assert isinstance(verdict, Queued)
    assert isinstance(verdict.reason, TargetNotFollowed)
    assert "SYNPROXY" == verdict.reason.target


def proxies(
    local: Address | None = None, *transparent: bool | None, state: str = "LISTEN"
) -> Listing[Socket]:
    """List sockets of TCP at one address, and nothing else."""
    held = (
        Socket(protocol=6, local=local, port=15001, state=state, transparent=each)
        for each in transparent
    )
    return Listing(tuple(held), True, "ss")


@pytest.mark.parametrize(
    ("sockets", "outcomes"),
    [
        (proxies(None, True), [("Accept", 0x200)]),
        (proxies(None, False), [("Drop", 0)]),
        (proxies(None, None), [("Accept", 0x200), ("Drop", 0)]),
        (proxies(None, True, False), [("Accept", 0x200), ("Drop", 0)]),
        (proxies(None, True, state="ESTAB"), [("Drop", 0)]),
        (proxies(Address.parse("0.0.0.0"), True), [("Accept", 0x200)]),
        (proxies(Address.parse("::"), True), [("Drop", 0)]),
        (proxies(Address.parse("10.0.0.1"), True), [("Drop", 0)]),
        (Listing((), True, "ss"), [("Drop", 0)]),
        (Listing((), False, "ss"), [("Accept", 0x200), ("Drop", 0)]),
    ],
)
def test_tproxy_needs_a_listener(sockets: Listing[Socket], outcomes: list[tuple[str, int]]) -> None:
    """With a transparent one the packet is marked for it; without, it is dropped; where that is
    unknown, or only one of several is transparent, both are walked.
    """
    rule = "PREROUTING -p tcp -j TPROXY --on-port 15001 --on-ip 127.0.0.1 --tproxy-mark 0x200/0xf00"
    node = given(given_rules(rule, table="mangle"), sockets=sockets)

    def run(choices: Choices) -> tuple[str, int]:
        sender = Sender(node, choices)
        skb = sender.skb(tcp())
        return type(sender.send(skb, "PREROUTING")).__name__, skb.mark

    assert outcomes == list(explore(run).results)


def test_a_network_is_mapped_host_by_host() -> None:
    """NETMAP keeps the host's part of the address."""
    packet, _ = after(
        "-d 203.0.113.0/24 -j NETMAP --to 198.51.100.0/24",
        table="nat",
        packet=tcp(dst="203.0.113.77"),
    )

    assert "198.51.100.77" == str(packet.dst)


def test_logging_changes_nothing() -> None:
    """The next rule decides."""
    sender = Sender(given(given_rules("FORWARD -j LOG", "FORWARD -j NFLOG", "FORWARD -j TRACE")))

    assert sender.send(sender.skb(tcp()), "FORWARD") is ACCEPT
    assert [1, 2, 3] == [hit.rule.position for hit in sender.walk.trace.matched]
