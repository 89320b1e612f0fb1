"""What ping prints says whether answers came."""

from __future__ import annotations

import pytest

from podpath.evidence.attempts.ping import read_ping
from podpath.evidence.records import AttemptRecord, StatementRecord
from podpath.net.statements import NameAnswer
from tests.evidence.attempted import attempted
from tests.evidence.consoles import FOLDER, block, load_console, read

RECORDED = [
    ("ping-ok", "10.77.0.2:0", "ok"),
    ("ping-lost", "10.77.0.9:0", "timeout"),
    ("ping-no-route", "10.99.0.1:0", "network unreachable"),
]


@pytest.mark.parametrize(("name", "target", "result"), RECORDED)
def test_recorded(name: str, target: str, result: str) -> None:
    """Real outputs are recognised and read."""
    assert [("icmp", target, result, "ping", "host")] == attempted(
        read(load_console(FOLDER / "clients" / f"{name}.txt"))
    )


def test_a_path_that_fails_at_times() -> None:
    """Answers and many losses make two attempts: one that worked and one that did not."""
    text = (
        "PING 10.8.0.7 (10.8.0.7) 56(84) bytes of data.\n"
        "64 bytes from 10.8.0.7: icmp_seq=1 ttl=64 time=0.2 ms\n\n"
    )
    text += (
        "--- 10.8.0.7 ping statistics ---\n"
        "18 packets transmitted, 7 received, 61% packet loss, time 3ms"
    )
    assert ["ok", "timeout"] == [one[2] for one in attempted(read_ping(block(text)))]


def test_errors_say_more_than_losses() -> None:
    """`Destination Host Unreachable` names the kind of failure."""
    text = (
        "PING 10.8.0.7 (10.8.0.7) 56(84) bytes of data.\n"
        "From 10.8.0.1 icmp_seq=1 Destination Host Unreachable\n\n"
    )
    text += (
        "--- 10.8.0.7 ping statistics ---\n"
        "1 packets transmitted, 0 received, +1 errors, 100% packet loss, time 0ms"
    )
    assert ["no route to host"] == [one[2] for one in attempted(read_ping(block(text)))]


def test_busybox() -> None:
    """Busybox words its sum otherwise."""
    text = (
        "PING 10.0.0.9 (10.0.0.9): 56 data bytes\n"
        "64 bytes from 10.0.0.9: seq=0 ttl=64 time=0.1 ms\n\n"
    )
    text += (
        "--- 10.0.0.9 ping statistics ---\n"
        "1 packets transmitted, 1 packets received, 0% packet loss"
    )
    assert [("icmp", "10.0.0.9:0", "ok", "ping", None)] == attempted(read_ping(block(text)))


WAYS = [
    ("From 10.0.0.1 icmp_seq=1 Destination Host Unreachable", "no route to host"),
    ("From 10.0.0.1 icmp_seq=1 Packet filtered", "no route to host"),
    ("From 10.0.0.1 icmp_seq=1 Destination Net Unreachable", "network unreachable"),
    ("From 10.0.0.1 icmp_seq=1 Destination Port Unreachable", "refused"),
    ("ping: sendmsg: Operation not permitted", "operation not permitted"),
    ("ping: connect: Network is unreachable", "network unreachable"),
    ("ping: sendto: Network is unreachable", "network unreachable"),
    ("ping: connect: Invalid argument", "invalid argument"),
    ("Request timeout for icmp_seq 0", "timeout"),
]


@pytest.mark.parametrize(("line", "result"), WAYS)
def test_ways_to_fail(line: str, result: str) -> None:
    """Each error of ping is the failure that the kernel reports, and none is an answer."""
    assert [result] == [
        one[2]
        for one in attempted(
            read_ping(block(f"PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\n{line}"))
        )
    ]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("^C", "interrupted"),
        (
            (
                "^C\n--- 10.0.0.9 ping statistics ---\n"
                "1 packets transmitted, 0 received, 100% packet loss, time 0ms"
            ),
            "interrupted",
        ),
        (
            (
                "^C\n--- 10.0.0.9 ping statistics ---\n"
                "9 packets transmitted, 0 received, 100% packet loss, time 8190ms"
            ),
            "timeout",
        ),
        (
            (
                "--- 10.0.0.9 ping statistics ---\n"
                "1 packets transmitted, 0 received, 100% packet loss, time 0ms"
            ),
            "timeout",
        ),
    ],
)
def test_a_person_stops_it(text: str, result: str) -> None:
    """A ping that was stopped at its first request neither failed nor worked; one that lost several
    failed.
    """
    assert [result] == [
        one[2]
        for one in attempted(
            read_ping(block(f"PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\n{text}"))
        )
    ]


LOST = (
    "PING 10.8.0.7 (10.8.0.7) 1400(1428) bytes of data.\n\n--- 10.8.0.7 ping statistics ---\n"
    "2 packets transmitted, 0 received, 100% packet loss, time 1001ms"
)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("-c 2 -M do -s 1400", "size 1428 df"),
        ("-s 1400 -M do", "size 1428 df"),
        ("-s 1400", ""),
        ("-M do", ""),
        ("-M dont -s 1400", ""),
        ("-M do -s 99999", ""),
    ],
)
def test_a_size_that_must_not_be_fragmented_is_part_of_the_attempt(
    options: str, words: str
) -> None:
    """So it is asked about as it was sent; any other size is left to fragments."""
    found = read_ping(block(LOST, f"ping {options} 10.8.0.7"))

    assert [str(one.sending) for one in found.records if isinstance(one, AttemptRecord)] == [words]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("packages.example.org.corp.example.com", ["packages.example.org.corp.example.com"]),
        ("packages.example.org", []),
        ("mirror.example.net", []),
    ],
)
def test_a_search_domain_behind_the_name(printed: str, expected: list[str]) -> None:
    """It is told only where the name that was typed stands before it."""
    line = f"PING {printed} (198.51.100.77): 56 data bytes"
    found = read_ping(block(line, "ping -c1 packages.example.org")).of(StatementRecord)
    answers = [one.statement for one in found if isinstance(one.statement, NameAnswer)]

    assert expected == [one.found for one in answers]
