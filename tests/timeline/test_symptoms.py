"""When it failed, by the logs themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.net.provenance import Span
from podpath.timeline.symptoms import find_failures, find_lines, find_window, read_failure
from tests.timeline.samples import CLIENT, at, event, logs


def test_the_window_of_a_clients_log() -> None:
    """The first failure, its timeout and the last success of the same writer make the window, each
    with its line.
    """
    window = find_window(logs(CLIENT).readings)
    assert window is not None

    assert (10.0, 2, 1) == (
        window.timeout,
        window.failed_by and window.failed_by.line,
        window.ok_by and window.ok_by.line,
    )
    assert (at("03:13:59.815335"), at("03:13:39.100000")) == (
        round(window.failed_at, 6),
        round(window.last_ok or 0, 6),
    )


def test_a_single_failure_long_before_is_another_matter() -> None:
    """The run of failures that has most of them is the incident, not one that failed once the day
    before.
    """
    early = "W0311 09:00:00.000000       1 l.go:1] Get https://10.9.0.1:443/api: i/o timeout\n"
    window = find_window(logs(early + CLIENT).readings)

    assert at("03:13:59.815335") == (round(window.failed_at, 6) if window else None)


def test_failures_in_question_come_first() -> None:
    """Where other evidence names the failing lines, others do not count."""
    other = "".join(
        f"Mar 12 02:00:0{second} n app: connect to 10.0.0.9:80 timed out\n" for second in range(9)
    )
    read = logs(CLIENT, other).readings
    asked = read[0].events[2].span
    window = find_window(read, [Span(asked.source, asked.line, asked.last_line)])

    assert at("03:14:10.815335") == (round(window.failed_at, 6) if window else None)


def test_an_event_that_tells_of_many_failures_tells_of_the_first() -> None:
    """`(x43 over 7m9s)` failed for the first time seven minutes before it was printed."""
    failure = read_failure(
        event("kubelet", "Readiness probe failed: Get http://10.4.0.1:80/: timeout")._replace(
            since=77.0
        )
    )

    assert 77.0 == (failure.first if failure else None)


def test_other_timeouts_are_no_failed_connections() -> None:
    """A unit that took too long to start, a network card's watchdog or a disk are no failed
    connections.
    """
    messages = [
        "foo.service: start operation timed out. Terminating.",
        "NETDEV WATCHDOG: eth0: transmit queue 0 timed out",
        "nvme0: I/O timeout",
    ]

    assert [None] * 3 == [read_failure(event("kernel", message)) for message in messages]


SETTINGS = (
    'FLAG: --runtime-request-timeout="2m0s"',
    "streamingConnectionIdleTimeout: 4h0m0s",
    'level=info msg="Configuration loaded" timeout=30s server=10.0.0.1',
    "Setting connection timeout to 5s for peer 10.0.0.2",
    "using request timeout 30s for https://10.0.0.1:6443",
    "renewing lease with timeout of 10s",
    "dial_timeout = 10s, request_timeout = 30s",
    'Activating service requested by (comm="gdbus call --system --timeout 30 --dest org.free")',
    "couldn't read 4 bytes from control socket: Connection reset by peer",
    "Registration of the rkt container factory failed: dial tcp [::1]:15441: connection refused",
)
MET = (
    "connection timeout=10s exceeded for 10.0.0.1",
    "HTTPSConnectionPool(host='10.0.0.1', port=443): Read timed out. (read timeout=10)",
    "connect to 10.0.0.1 port 80: Connection timeout",
    "Request timeout 30s reached",
    "Connection timeout after 5001 ms",
    "level=error msg=probe timeout=30s",
    "probe with --timeout 5: connection refused",
    'Get "https://10.96.0.1:443/api": dial tcp 10.96.0.1:443: i/o timeout',
)


@pytest.mark.parametrize(("message", "fails"), [(one, one in MET) for one in (*SETTINGS, *MET)])
def test_timeouts_that_are_set_are_no_failures(message: str, fails: bool) -> None:  # noqa: FBT001
    """Every kubelet and API server prints its flags as it starts; a timeout that is met is told
    with what failed.
    """
    assert fails is (read_failure(event("kubelet", message)) is not None)


def test_a_quiet_log_has_no_window() -> None:
    """A log without failures makes no window."""
    assert find_window(logs("Mar 12 03:13:20 kn-04 a: all is well").readings) is None


@given(
    st.lists(st.sampled_from(["a timeout", "nothing", "", "Timeout", "timed", "out"]), max_size=30)
)
def test_lines_with_signs_are_all_found(lines: list[str]) -> None:
    """Searching many lines at once finds what searching each would."""
    signs = ("timeout", "Timeout")

    assert [
        place for place, line in enumerate(lines) if any(sign in line for sign in signs)
    ] == find_lines(lines, signs)


def test_failures_of_a_log_of_events() -> None:
    """Failures are found in formats whose events span lines, too."""
    text = (
        "LAST SEEN   TYPE      REASON      OBJECT       MESSAGE\n"
        "4s   Warning   Unhealthy   pod/pg-0   Readiness probe failed: timeout"
    )
    reading = logs(text).readings[0]

    assert [] == list(find_failures(reading))


def test_the_first_of_many_failures() -> None:
    """Of thousands of failures, with others' chatter among them, the first one makes the window."""
    many = "".join(
        (
            f"Mar 12 04:{number // 60 % 60:02d}:{number % 60:02d} n app: connect to 10.0.0.9:80 "
            "timed out after 3s\n"
        )
        for number in range(3000)
    )
    chatter = "".join(
        f"Mar 12 01:00:{number % 60:02d} n sshd[1]: Timeout, client not responding\n"
        for number in range(5000)
    )
    window = find_window(logs(chatter + many).readings)

    assert (at("04:00:00"), 3.0, 5001) == (
        window and window.failed_at,
        window and window.timeout,
        window and window.failed_by and window.failed_by.line,
    )


def test_a_gateways_answers() -> None:
    """In an access log an answer of 200 is a success, one of 504 a failure."""
    text = "".join(
        f'10.4.0.9 - - [12/Mar/2025:03:13:{second} +0000] "GET / HTTP/1.1" {status} 167\n'
        for second, status in ((39, 200), (40, 200), (50, 504), (55, 502))
    )
    window = find_window(logs(text).readings)

    assert (at("03:13:50"), at("03:13:40")) == (
        window and window.failed_at,
        window and window.last_ok,
    )
