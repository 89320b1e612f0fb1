"""An ICMP error is about the connection that it quotes, and about no healthy one beside it."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding, Severity
from podpath.diagnosis.capture_answer import answer_captures
from podpath.report.claims import spell_claim
from tests.checks.made_captures import CLIENT, case_of, clock, exchange, found, handshake

HEALTHY = (*handshake(), *exchange(0.1))
NEAR6, FAR6 = "fd00:7::5", "fd00:9::5"


def error(after: float, text: str) -> str:
    """Write a line of an ICMP error to the client."""
    return f"{clock(after)} IP 192.0.2.1 > 10.7.0.5: ICMP {text}, length 68"


def ran_out(after: float, router: int = 1) -> str:
    """Write what a router says of an IPv6 packet that ran out of hops."""
    said = f"ICMP6, time exceeded in-transit for {FAR6}, length 68"
    return f"{clock(after)} IP6 fd00:1::{router} > {NEAR6}: {said}"


def turn6(line: str) -> str:
    """Have a line of the healthy connection speak IPv6."""
    line = line.replace(" IP ", " IP6 ").replace("10.7.0.5.", f"{NEAR6}.")
    return line.replace("198.18.4.9.", f"{FAR6}.")


def only(*lines: str) -> Finding:
    """Return the one thing that is found."""
    (finding,) = found(case_of(*lines), "icmp-error")
    return finding


@pytest.mark.parametrize("port", [33434, 44444])
def test_traceroute_blames_no_connection_to_its_destination(port: int) -> None:
    """A router on the way says that its datagram ran out of hops; TCP to the same host works."""
    healthy = map(turn6, HEALTHY)
    probe = f"{clock(1.0)} IP6 {NEAR6}.50000 > {FAR6}.{port}: UDP, length 32"
    finding = only(*healthy, probe, ran_out(1.01))

    assert finding.severity == Severity.NOTE
    assert "tcp" not in spell_claim(finding.claim)
    assert finding.breaks == ()


def test_error_without_ports_names_the_connection_that_waits() -> None:
    """Of two connections of one pair of hosts it is about the one that gets no answer."""
    asks = f"{clock(1.0)} IP 10.7.0.5.41001 > 198.18.4.9.5432: Flags [S], seq 9, win 1, length 0"
    text = "host 198.18.4.9 unreachable - admin prohibited"
    finding = only(*HEALTHY, asks, error(1.01, text))

    assert ("tcp 10.7.0.5:41001 > 198.18.4.9:5432",) == finding.breaks
    assert finding.severity == Severity.FAULT


def test_error_names_no_one_of_several_that_work() -> None:
    """Where all connections between two hosts are answered, it is about none that is named."""
    other = f"{CLIENT[:-5]}41001"
    more = (*handshake(3.0, other), *exchange(3.1, other))
    finding = only(*HEALTHY, *more, error(4.0, "host 198.18.4.9 unreachable"))

    assert finding.severity == Severity.NOTE
    assert "tcp" not in spell_claim(finding.claim)


def test_routers_that_answer_in_turn_are_a_traceroute() -> None:
    """Pings with growing hop limits, as mtr sends them, run out at one router after the other."""
    pings = tuple(
        f"{clock(after)} IP6 {NEAR6} > {FAR6}: ICMP6, echo request, id 7, seq {after}, length 64"
        for after in range(1, 5)
    )
    traced = tuple(ran_out(turn + 0.01, turn) for turn in range(1, 4))
    loop = tuple(ran_out(turn + 0.01) for turn in range(1, 4))

    severities = {one.severity for one in found(case_of(*pings, *traced), "icmp-error")}
    assert {Severity.NOTE} == severities
    assert only(*pings, *loop).severity == Severity.FAULT


def test_ping_that_is_answered_at_another_point_is_answered() -> None:
    """Another device of the same capture shows its reply."""
    place = "veth1 In  IP 10.7.0.5"
    ping = f"{clock(1.0)} {place} > 198.18.4.9: ICMP echo request, id 7, seq 1, length 64"
    reply = (
        f"{clock(1.1)} eth0  In  IP 198.18.4.9 > 10.7.0.5: ICMP echo reply, id 7, seq 1, length 64"
    )
    refused = f"{clock(1.2)} veth1 In  IP 192.0.2.1 > 10.7.0.5: ICMP host 198.18.4.9 unreachable"
    lines = (ping, reply, f"{refused}, length 92")
    (finding,) = found(case_of(*lines, command="tcpdump -nni any"), "icmp-error")

    assert finding.severity == Severity.NOTE


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("198.18.4.9 udp port 5000 unreachable", "undecided"),
        ("host 198.18.4.9 unreachable", "undecided"),
        ("198.18.4.9 udp port 33440 unreachable", "none"),
        ("198.18.4.9 unreachable - need to frag (mtu 1400)", "undecided"),
        ("time exceeded in-transit", "undecided"),
        ("redirect 198.18.4.9 to host 192.0.2.7", "none"),
    ],
)
def test_error_about_a_packet_that_is_not_seen_is_no_all_clear(text: str, verdict: str) -> None:
    """Somebody was refused, though the capture shows the error alone."""
    answer = answer_captures(case_of(error(1.0, text)))

    assert verdict == answer.verdict


def test_packet_that_ran_out_of_hops_may_be_another_connections() -> None:
    """Beside a connection that works, one that the capture does not show may fail in a loop; where
    the connection is shown, its answers tell that it works. A traceroute asks for such errors.
    """
    healthy = [*map(turn6, HEALTHY)]
    unseen = ran_out(5.0).replace(FAR6, "fd00:99::9")
    ping = f"{clock(4.0)} IP 10.7.0.5 > 198.18.4.9: ICMP echo request, id 7, seq 1, length 64"
    pong = f"{clock(4.1)} IP 198.18.4.9 > 10.7.0.5: ICMP echo reply, id 7, seq 1, length 64"
    unquoted = error(5.0, "time exceeded in-transit")

    assert "undecided" == answer_captures(case_of(*healthy, unseen)).verdict
    assert "undecided" == answer_captures(case_of(*HEALTHY, unquoted)).verdict
    assert "none" == answer_captures(case_of(*healthy, ran_out(5.0))).verdict
    assert "none" == answer_captures(case_of(*HEALTHY, ping, pong, unquoted)).verdict


def test_ping_that_gets_past_the_hop_is_a_traceroute() -> None:
    """The next request runs out further on; where a loop has it run out at the same hop, it is
    a fault.
    """
    pings = tuple(
        f"{clock(after)} IP6 {NEAR6} > {FAR6}: ICMP6, echo request, id 7, seq {number}, length 64"
        for number, after in enumerate((1.0, 1.1), 1)
    )
    later = HEALTHY[0].replace(clock(0.0), clock(3.0))
    traced = found(case_of(pings[0], ran_out(1.01), pings[1], later), "icmp-error")
    ends = found(case_of(pings[0], ran_out(1.01), pings[1]), "icmp-error")
    loops = found(case_of(pings[0], ran_out(1.01), pings[1], ran_out(1.11), later), "icmp-error")

    assert [Severity.NOTE] == [one.severity for one in traced]
    assert [Severity.FAULT] == [one.severity for one in ends]
    assert [Severity.FAULT] == [one.severity for one in loops]


ERRORS6 = "ICMP6, destination unreachable"


def refused6(after: float, text: str) -> str:
    """Write a line of an ICMPv6 error to the client."""
    return f"{clock(after)} IP6 {FAR6} > {NEAR6}: {ERRORS6}{text}"


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (refused6(1.0, ", length 8"), "undecided"),
        (f"{clock(1.0)} IP 192.0.2.1 > 10.7.0.5: ICMP type-#3, length 8", "undecided"),
        (f"{clock(1.0)} IP6 {FAR6} > {NEAR6}: ICMP6, packet too big, length 8", "none"),
        (f"{clock(1.0)} IP6 {FAR6} > {NEAR6}: ICMP6, parameter problem, length 8", "undecided"),
    ],
)
def test_error_that_quotes_nothing_is_no_all_clear(line: str, verdict: str) -> None:
    """Somebody was refused, and nobody can tell who; that a packet is too big refuses nobody."""
    assert verdict == answer_captures(case_of(*map(turn6, HEALTHY), line)).verdict


def refuse_answers(count: int) -> tuple[str, ...]:
    """Write DNS answers to a client, of which the last ones are refused over IPv6."""
    lines = []
    for number in range(6):
        port = 40_000 + number
        ends = f"{FAR6}.53 > {NEAR6}.{port}"
        lines += [
            f"{clock(number)} IP6 {NEAR6}.{port} > {FAR6}.53: {port}+ A? example.com. (29)",
            f"{clock(number + 0.1)} IP6 {ends}: {port} 1/0/0 A 192.0.2.7 (45)",
        ]
        if number >= 6 - count:
            said = f"unreachable port, {NEAR6} udp port {port}, length 93"
            lines += [
                f"{clock(number + 0.2)} IP6 {NEAR6} > {FAR6}: {ERRORS6}, {said}",
                f"    IP6 {ends}: {port} 1/0/0 A 192.0.2.7 (45)",
            ]
    return tuple(lines)


def test_client_that_refuses_one_answer_after_the_other_is_no_all_clear() -> None:
    """One that comes late is none that anybody waits for."""
    assert "undecided" == answer_captures(case_of(*refuse_answers(3))).verdict
    assert "none" == answer_captures(case_of(*refuse_answers(1))).verdict


def test_ports_of_a_client_that_refuse_late_answers_are_one_note() -> None:
    """With the first three, and how many more there are."""
    (note,) = found(case_of(*refuse_answers(5)), "icmp-error")

    assert Severity.NOTE == note.severity
    assert "4 more of its ports refuse the same sender that way." == note.reasoning[-1]
    assert 6 == len(note.evidence)


def test_one_port_that_is_refused_again_is_no_traceroute() -> None:
    """Whose packets go to one port after the other, and end at the host they ask for."""
    traced, stuck = (
        tuple(
            refused6(at, f", unreachable port, {FAR6} udp port {33434 + at * step}, length 80")
            for at in range(4)
        )
        for step in (1, 0)
    )

    assert "none" == answer_captures(case_of(*map(turn6, HEALTHY), *traced)).verdict
    assert "undecided" == answer_captures(case_of(*map(turn6, HEALTHY), *stuck)).verdict
