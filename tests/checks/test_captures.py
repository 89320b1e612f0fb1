"""Faults that captures show by themselves: each is found where it is, and nothing where it only
seems to be.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.finding import Severity
from podpath.checks.looks import look_at_captures
from podpath.net.addresses import Address
from podpath.net.complaints import Complaint
from podpath.net.provenance import Known
from podpath.node.case import Case
from podpath.report.claims import spell_claim, spell_link
from tests.checks.made_captures import (
    CLIENT,
    SERVER,
    case_of,
    exchange,
    faults,
    found,
    handshake,
    tcp,
)
from tests.checks.nodes import span

FORTH, BACK = f"{CLIENT} > {SERVER}", f"{SERVER} > {CLIENT}"


SERVICE, ENDPOINT = "198.51.100.7.80", "10.7.0.9.8080"


def lost_ack() -> tuple[str, ...]:
    """Write a connection whose server waits for the ACK that the client sent."""
    return (
        *handshake(),
        tcp(0.03, FORTH, "P.", 1, 1, 78),
        tcp(0.25, FORTH, "P.", 1, 1, 78),
        tcp(0.7, FORTH, "P.", 1, 1, 78),
        tcp(1.04, BACK, "S.", 77_000, 1001),
        tcp(1.05, FORTH, ".", 0, 1),
    )


def test_lost_ack_is_found() -> None:
    """The repeated SYN-ACK is quoted first, then the ACK that was lost; nothing else is told of
    that connection.
    """
    case = case_of(*lost_ack())
    (finding,) = found(case, "lost-ack")

    assert ["capture-0.txt:7", "capture-0.txt:3"] == [str(span) for span in finding.evidence[:2]]
    assert finding.severity == Severity.FAULT
    assert ["lost-ack"] == faults(case)


def test_lost_ack_that_is_made_good_is_a_note() -> None:
    """A connection whose server answers in the end only lost a packet."""
    (finding,) = found(case_of(*lost_ack(), *exchange(1.1)), "lost-ack")

    assert finding.severity == Severity.NOTE


def test_ack_that_crosses_the_repetition_is_not_lost() -> None:
    """An ACK that is seen right before the SYN-ACK comes again may still have been on its way."""
    slow = (
        tcp(0, FORTH, "S", 1000),
        tcp(0.01, BACK, "S.", 7, 1001),
        tcp(1.0, FORTH, ".", 0, 1),
        tcp(1.01, BACK, "S.", 7, 1001),
    )

    assert found(case_of(*slow), "lost-ack") == []


def test_repetition_that_crosses_data_is_no_loss() -> None:
    """On a long way the SYN-ACK comes again before the ACK is there; the data arrives at once."""
    slow = (
        *handshake(),
        tcp(0.03, FORTH, "P.", 1, 1, 78),
        tcp(1.04, BACK, "S.", 77_000, 1001),
        tcp(1.05, BACK, ".", 0, 79),
    )

    assert list(look_at_captures(case_of(*slow))) == []


def test_syn_without_answer_is_found_once_for_all_points() -> None:
    """A SYN that passes two devices and is never answered is one finding, that says how far it
    came.
    """
    lines = [
        line
        for after in (0.0, 1.0, 3.0)
        for line in (
            tcp(after, FORTH, "S", 1000, where="veth7 In "),
            tcp(after + 0.0001, f"192.0.2.4.41000 > {SERVER}", "S", 1000, where="eth0  Out"),
        )
    ]
    (finding,) = found(case_of(*lines, command="tcpdump -nni any"), "handshake-repeated")

    assert "nothing comes back" in spell_claim(finding.claim)
    assert any("as far as eth0" in reason for reason in map(spell_link, finding.reasoning))


def test_syn_that_is_answered_the_second_time_is_a_note() -> None:
    """One lost packet is no fault."""
    (finding,) = found(
        case_of(tcp(-1.0, FORTH, "S", 1000), *handshake(), *exchange(0.1)), "handshake-repeated"
    )

    assert finding.severity == Severity.NOTE


def test_copies_of_one_syn_are_not_sent_again() -> None:
    """The same SYN within a moment is one that a capture shows twice on its way through."""
    copies = (tcp(-0.0001, FORTH, "S", 1000), *handshake(), *exchange(0.1))

    assert list(look_at_captures(case_of(*copies))) == []


def test_syn_ack_that_is_sent_again_without_ack_is_found() -> None:
    """Where no ACK of the client is seen, one of the two was lost."""
    lines = (
        tcp(0, FORTH, "S", 1000),
        *(tcp(after, BACK, "S.", 7, 1001) for after in (0.01, 1.01, 3.01)),
    )
    (finding,) = found(case_of(*lines), "handshake-repeated")

    assert "no ACK from the client is seen" in spell_claim(finding.claim)


def untranslated(*, reset: bool = True) -> tuple[str, ...]:
    """Write a connection to a service that its endpoint answers by itself."""
    return (
        tcp(0, f"{CLIENT} > {SERVICE}", "S", 1000),
        tcp(0.0001, f"{CLIENT} > {ENDPOINT}", "S", 1000),
        tcp(0.0002, f"{ENDPOINT} > {CLIENT}", "S.", 500, 1001),
        *((tcp(0.0003, f"{CLIENT} > {ENDPOINT}", "R", 1001),) if reset else ()),
        tcp(1.0, f"{CLIENT} > {SERVICE}", "S", 1000),
        tcp(1.0001, f"{CLIENT} > {ENDPOINT}", "S", 1000),
    )


@pytest.mark.parametrize("device", ["eth0", "cni0"])
def test_untranslated_reply_is_found_by_the_clients_reset(device: str) -> None:
    """The foreign SYN-ACK is quoted first, then the reset, on a bridge too."""
    case = case_of(*untranslated(), command=f"tcpdump -nn -i {device}")
    (finding,) = found(case, "untranslated-reply")

    assert ["capture-0.txt:3", "capture-0.txt:4"] == [str(span) for span in finding.evidence[:2]]
    assert ["untranslated-reply"] == faults(case)


def test_untranslated_reply_without_reset_counts_beside_a_bridge_alone() -> None:
    """Where no reset is seen the missing ACK confirms it, but not on a bridge."""
    assert found(
        case_of(*untranslated(reset=False), command="tcpdump -nn -i eth0"), "untranslated-reply"
    )
    assert not found(
        case_of(*untranslated(reset=False), command="tcpdump -nn -i cni0"), "untranslated-reply"
    )


def test_bridge_under_br_netfilter_is_not_believed() -> None:
    """Where netfilter is known to see bridged frames, a bridge shows packets halfway through their
    translation.
    """
    case = case_of(*untranslated(), command="tcpdump -nn -i cni0")
    host = replace(case.node.host, sysctls={"net.bridge.bridge-nf-call-iptables": Known("1")})
    seen = replace(case, node=replace(case.node, namespaces={**case.node.namespaces, "host": host}))

    assert found(seen, "untranslated-reply") == []


def test_halfway_translated_packets_of_a_connection_that_works_are_no_fault() -> None:
    """On cni0 under br_netfilter the SYN has its new destination already, and the SYN-ACK the
    service's address.
    """
    lines = (
        tcp(0, f"{CLIENT} > {ENDPOINT}", "S", 1000),
        tcp(0.0002, f"{SERVICE} > {CLIENT}", "S.", 500, 1001),
        tcp(0.0003, f"{CLIENT} > {ENDPOINT}", ".", 0, 1),
        tcp(0.0004, f"{CLIENT} > {ENDPOINT}", "P.", 1, 1, 80),
    )

    assert faults(case_of(*lines, command="tcpdump -nn -i cni0")) == []


def test_all_packets_before_and_after_translation_are_no_fault() -> None:
    """A capture of all devices shows the endpoint's SYN-ACK and the translated one."""
    lines = (
        tcp(0, f"{CLIENT} > {SERVICE}", "S", 1000, where="veth7 In "),
        tcp(0.0001, f"{CLIENT} > {ENDPOINT}", "S", 1000, where="eth0  Out"),
        tcp(0.0002, f"{ENDPOINT} > {CLIENT}", "S.", 500, 1001, where="eth0  In "),
        tcp(0.0003, f"{SERVICE} > {CLIENT}", "S.", 500, 1001, where="veth7 Out"),
        tcp(0.0004, f"{CLIENT} > {SERVICE}", ".", 0, 1, where="veth7 In "),
        tcp(0.0005, f"{CLIENT} > {ENDPOINT}", ".", 0, 1, where="eth0  Out"),
    )

    assert faults(case_of(*lines, command="tcpdump -nni any")) == []


def between(*later: str) -> Case:
    """Read a capture of two devices whose SYN passes both."""
    return case_of(
        tcp(0, FORTH, "S", 1000, where="veth7 In "),
        tcp(0.0001, f"192.0.2.4.41000 > {SERVER}", "S", 1000, where="eth0  Out"),
        tcp(0.01, f"{SERVER} > 192.0.2.4.41000", "S.", 7, 1001, where="eth0  In "),
        tcp(0.0102, FORTH, ".", 0, 1, where="veth7 In "),
        tcp(0.0103, FORTH, "P.", 1, 1, 80, where="veth7 In "),
        *later,
        command="tcpdump -nni any",
    )


def test_loss_between_two_devices_is_found() -> None:
    """What comes in by one device and does not leave by the one that the SYN left by is lost
    between them.
    """
    (finding,) = found(between(), "lost-between")

    assert ["capture-0.txt:4", "capture-0.txt:5"] == [str(span) for span in finding.evidence[:2]]
    assert "between veth7 and eth0" in spell_claim(finding.claim)


def test_what_passes_is_not_lost() -> None:
    """One packet that goes on is enough to claim no loss."""
    assert (
        found(
            between(tcp(0.0104, f"192.0.2.4.41000 > {SERVER}", "P.", 1, 1, 80, where="eth0  Out")),
            "lost-between",
        )
        == []
    )


def test_one_way_interval_has_its_start_and_end() -> None:
    """What is asked three times while nothing comes gives the time of the last frame before and of
    the first after.
    """
    asks = tuple(tcp(after, FORTH, "P.", 81, 401, 50) for after in (10.0, 10.3, 10.9, 12.1))
    back = (
        tcp(16.0, BACK, ".", 0, 131),
        tcp(16.1, FORTH, "P.", 131, 401, 10),
        tcp(16.2, BACK, ".", 0, 141),
    )
    (finding,) = found(case_of(*handshake(), *exchange(0.1), *asks, *back), "one-way")

    assert "from 10:00:00.120000 until 10:00:16.000000" in spell_claim(finding.claim)
    assert finding.severity == Severity.FAULT


def test_idle_connection_is_not_one_way() -> None:
    """Where nothing is asked, silence is none."""
    later = (tcp(60.0, FORTH, "P.", 81, 401, 50), tcp(60.01, BACK, ".", 0, 131))

    assert found(case_of(*handshake(), *exchange(0.1), *later), "one-way") == []


def test_icmp_error_is_tied_to_its_connection() -> None:
    """The error names the connection that it refuses; one that is answered all the same is a
    note.
    """
    error = (
        f"{'10:00:01.000000'} IP 192.0.2.1 > 10.7.0.5: ICMP host 198.18.4.9 unreachable - admin "
        "prohibited, length 68"
    )
    (refused,) = found(case_of(tcp(0, FORTH, "S", 1000), error), "icmp-error")
    (answered,) = found(case_of(*handshake(), *exchange(0.1), error), "icmp-error")

    assert "tcp 10.7.0.5:41000 > 198.18.4.9:443" in spell_claim(refused.claim)
    assert refused.severity == Severity.FAULT
    assert answered.severity == Severity.NOTE


@pytest.mark.parametrize(
    ("complained", "certainty"), [("198.18.4.9", 1.0), ("10.7.0.5", 1.0), ("192.0.2.77", 0.5)]
)
def test_icmp_error_is_certain_for_what_people_complain_of(
    complained: str, certainty: float
) -> None:
    """Refused is one connection; that another one fails it does not explain."""
    error = (
        "10:00:01.000000 IP 192.0.2.1 > 10.7.0.5: ICMP host 198.18.4.9 unreachable - admin "
        "prohibited, length 68"
    )
    sentence = Complaint(span=span("it hangs"), works=False, addresses=(Address.parse(complained),))
    seen = replace(case_of(tcp(0, FORTH, "S", 1000), error), complaints=(sentence,))
    (refused,) = found(seen, "icmp-error")

    assert (Severity.FAULT, certainty) == (refused.severity, refused.certainty)
    assert bool(refused.asks) == (certainty < 1)


OTHER = (
    "10:00:00.500000 IP 10.7.0.5.41001 > 198.18.4.10.5432: Flags [S], seq 1, win 64240, length 0"
)


@pytest.mark.parametrize(
    ("addresses", "sources", "ports", "certainty"),
    [
        (("198.18.4.9",), (), (443,), 1.0),
        (("10.7.0.5", "198.18.4.9"), ("10.7.0.5",), (), 1.0),
        (("198.18.4.9",), (), (5432,), 0.5),
        (("10.7.0.5",), (), (), 0.5),
        (("10.7.0.5", "198.18.4.10"), ("10.7.0.5",), (), 0.5),
        (("10.7.0.9", "198.18.4.9"), ("10.7.0.9",), (), 0.5),
    ],
)
def test_icmp_error_is_about_the_connection_complained_of(
    addresses: tuple[str, ...], sources: tuple[str, ...], ports: tuple[int, ...], certainty: float
) -> None:
    """Beside it stands another connection of the same client that nobody answers."""
    error = (
        "10:00:01.000000 IP 192.0.2.1 > 10.7.0.5: ICMP host 198.18.4.9 unreachable - admin "
        "prohibited, length 68"
    )
    sentence = Complaint(
        span=span("it hangs"),
        works=False,
        addresses=tuple(map(Address.parse, addresses)),
        sources=tuple(map(Address.parse, sources)),
        ports=ports,
    )
    seen = replace(case_of(tcp(0, FORTH, "S", 1000), OTHER, error), complaints=(sentence,))
    (refused,) = found(seen, "icmp-error")
    assert certainty == refused.certainty


def test_icmp_error_of_a_group_is_a_note() -> None:
    """What goes to a group nobody answers, refused or not."""
    asks = "10:00:00.000000 IP 10.7.0.5.41000 > 239.1.1.1.443: UDP, length 20"
    error = (
        "10:00:01.000000 IP 192.0.2.1 > 10.7.0.5: ICMP 239.1.1.1 udp port 443 unreachable, length "
        "68"
    )
    (refused,) = found(case_of(asks, error), "icmp-error")

    assert refused.severity == Severity.NOTE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("destination unreachable,  unreachable prohibited fd00:9::5", "it is prohibited"),
        (
            "destination unreachable, unreachable port, fd00:9::5 tcp port 443",
            "nobody listens on its port",
        ),
        ("time exceeded in-transit for fd00:9::5", "its hop limit ran out"),
    ],
)
def test_icmpv6_error_is_tied_to_its_connection(text: str, reason: str) -> None:
    """What tcpdump prints of an ICMPv6 error names the connection that it refuses, as of ICMP."""
    asks = (
        "10:00:00.000000 IP6 fd00:7::5.41000 > fd00:9::5.443: Flags [S], seq 1000, win 64240, "
        "length 0"
    )
    other = asks.replace("fd00:9::5", "fd00:9::6")
    error = f"10:00:01.000000 IP6 fd00:1::1 > fd00:7::5: ICMP6, {text}, length 68"
    (refused,) = found(case_of(asks, other, error), "icmp-error")

    assert f"refuses tcp [fd00:7::5]:41000 > [fd00:9::5]:443: {reason}" in spell_claim(
        refused.claim
    )
    assert ("fault", ("tcp [fd00:7::5]:41000 > [fd00:9::5]:443",)) == (
        refused.severity,
        refused.breaks,
    )


def test_size_that_fits_is_told() -> None:
    """An error that names an MTU is quoted with it."""
    error = (
        "10:00:01.000000 IP 192.0.2.1 > 10.7.0.5: ICMP 198.18.4.9 unreachable - need to frag (mtu "
        "1400), length 556"
    )
    (finding,) = found(case_of(*handshake(), error), "icmp-error")

    assert "MTU 1400" in spell_claim(finding.claim)
    assert finding.severity == Severity.NOTE


def stuck(*errors: str) -> Case:
    """Read a connection whose first full-sized segment never arrives."""
    full = tuple(tcp(after, BACK, ".", 401, 81, 1448) for after in (0.3, 0.6, 1.2, 2.4))
    return case_of(*handshake(), *exchange(0.1), *full, tcp(1.3, FORTH, ".", 0, 401), *errors)


def test_path_mtu_black_hole_is_found() -> None:
    """Full-sized segments that are sent again and again while small ones arrived fall into a
    hole.
    """
    (finding,) = found(stuck(), "path-mtu-black-hole")

    assert "Large packets from 198.18.4.9 to 10.7.0.5" in spell_claim(finding.claim)
    assert any("No ICMP error" in reason for reason in map(spell_link, finding.reasoning))


def test_path_mtu_black_hole_tells_what_would_fit() -> None:
    """An error that comes and is not believed is part of it."""
    error = (
        "10:00:02.000000 IP 192.0.2.1 > 198.18.4.9: ICMP 10.7.0.5 unreachable - need to frag (mtu "
        "1380), length 556"
    )
    (finding,) = found(stuck(error), "path-mtu-black-hole")

    assert any("1380 bytes would fit" in reason for reason in map(spell_link, finding.reasoning))


def test_small_data_that_is_lost_is_no_path_mtu() -> None:
    """Segments that every path carries say nothing of sizes."""
    again = tuple(tcp(after, FORTH, "P.", 81, 401, 60) for after in (0.3, 0.6, 1.2))

    assert found(case_of(*handshake(), *exchange(0.1), *again), "path-mtu-black-hole") == []


def test_reset_storm_is_found() -> None:
    """A dozen refused connections within a second are told once, with why."""
    lines = []
    for number in range(12):
        client = f"10.7.0.5.{42000 + number}"
        lines += [
            tcp(number * 0.05, f"{client} > {SERVER}", "S", 1000 + number),
            tcp(number * 0.05 + 0.001, f"{SERVER} > {client}", "R.", 0, 1001 + number),
        ]
    (finding,) = found(case_of(*lines), "reset-storm")

    assert "198.18.4.9:443 resets 12 connections" in spell_claim(finding.claim)
    assert "nothing listens" in spell_link(finding.reasoning[0])


def test_few_resets_are_no_storm() -> None:
    """Connections that end by a reset now and then are no fault."""
    lines = [
        line
        for number in range(9)
        for line in (tcp(number, f"10.7.0.5.{42000 + number} > {SERVER}", "R.", 7, 1),)
    ]

    assert found(case_of(*lines), "reset-storm") == []


def test_one_direction_alone_is_noted_where_the_other_arrives() -> None:
    """A client that acknowledges more and more gets its answers by another way."""
    lines = (
        tcp(0, FORTH, "S", 1000),
        tcp(0.02, FORTH, ".", 0, 1),
        tcp(0.03, FORTH, "P.", 1, 1, 80),
        tcp(0.05, FORTH, ".", 0, 401),
    )
    (finding,) = found(case_of(*lines), "asymmetric-path")

    assert "shows only what 10.7.0.5 sends" in spell_claim(finding.claim)
    assert (
        found(case_of(*lines, command="tcpdump -nn -i eth0 src host 10.7.0.5"), "asymmetric-path")
        == []
    )
