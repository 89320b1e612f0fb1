"""Formats of the table: a line of each, as its program prints it, to time, writer and message."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from math import isnan

import pytest

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.formats.stamped import EARLY, FORMATS, SHOWN
from podpath.timeline.formats.table import read_log, recognise_log
from podpath.timeline.reading import read_logs
from tests.timeline.samples import NOW, source

CLOCK = Clock(now=NOW)
LINES: tuple[tuple[str, str, str, str, str], ...] = (
    ("Apache error log", "[Wed Mar 12 09:49:03.250000 2025] [core:error] [pid 7] (111)refused",
     "2025-03-12T09:49:03.250000", "", "[core:error] [pid 7] (111)refused"),
    ("journalctl -o short-monotonic", "[  812.532110] node-7 systemd[1]: Started tuned.",
     "", "systemd", "Started tuned."),
    ("journalctl -o short-unix", "1741772943.250000 node-7 systemd[1]: Started tuned.",
     "2025-03-12T09:49:03.250000", "systemd", "Started tuned."),
    ("Redis' signal handler", "1:signal-handler (1741772943) Received SIGTERM",
     "2025-03-12T09:49:03", "signal-handler", "Received SIGTERM"),
    ("Android logcat", "03-12 09:49:03.250  1702  2395 D WindowManager: opening",
     "2025-03-12T09:49:03.250000", "WindowManager", "opening"),
    ("Android logcat", "03-12 09:49:03.250 E/NetworkStats( 123): timed out",
     "2025-03-12T09:49:03.250000", "NetworkStats", "timed out"),
    ("log of a supercomputer",
     "- 1741772943 2025.03.12 dn228 Mar 12 09:49:03 dn228/dn228 crond(pam_unix)[2915]: opened",
     "2025-03-12T09:49:03", "crond(pam_unix)", "opened"),
    ("log of a supercomputer",
     "APPREAD 1741772943 2025.03.12 R02-M1 2025-03-12-09.49.03.675872 R02-M1 RAS KERNEL INFO x",
     "2025-03-12T09:49:03", "", "2025-03-12-09.49.03.675872 R02-M1 RAS KERNEL INFO x"),
    ("log of a cluster's events",
     "134681 node-246 unix.hw state_change.unavailable 1741772943 1 Component State Change",
     "2025-03-12T09:49:03", "unix.hw", "Component State Change"),
    ("log4j with a short date", "25/03/12 09:49:03 INFO spark.SecurityManager: Changing acls",
     "2025-03-12T09:49:03", "spark.SecurityManager", "Changing acls"),
    ("log4j with a short date", "250312 094903 148 INFO dfs.DataNode$Responder: terminating",
     "2025-03-12T09:49:03", "dfs.DataNode$Responder", "terminating"),
    ("MySQL error log", "250312  9:49:03 [Warning] IP address could not be resolved",
     "2025-03-12T09:49:03", "", "[Warning] IP address could not be resolved"),
    ("Cisco syslog", "<189>73: sw1: *Mar 12 09:49:03.250: %LINK-3-UPDOWN: Interface Gi1/0/1, down",
     "2025-03-12T09:49:03.250000", "", "%LINK-3-UPDOWN: Interface Gi1/0/1, down"),
    ("Cisco syslog", "Mar 12 2024 09:49:03 CET: %SYS-5-RESTART: System restarted",
     "2024-03-12T08:49:03", "", "%SYS-5-RESTART: System restarted"),
    ("syslog with a year", "<34>Mar  2 2025 09:49:03 node-7 tuned[77]: done",
     "2025-03-02T09:49:03", "tuned", "done"),
    ("java.util.logging", "Mar 12, 2025 9:49:03 PM org.example.Pool connect",
     "2025-03-12T21:49:03", "", "org.example.Pool connect"),
    ("Redis log", "7:M 12 Mar 2025 09:49:03.250 * Connection with replica lost.",
     "2025-03-12T09:49:03.250000", "", "* Connection with replica lost."),
    ("Redis log", "[7] 12 Mar 09:49:03.250 # Connection with replica lost.",
     "2025-03-12T09:49:03.250000", "", "# Connection with replica lost."),
    ("log with the day first", "12-Mar-2025 09:49:03.250 queries: info: client @0x7f",
     "2025-03-12T09:49:03.250000", "", "queries: info: client @0x7f"),
    ("log with the day first", "Wed, 12 Mar 2025 09:49:03 +0800 fetched",
     "2025-03-12T01:49:03", "", "fetched"),
    ("log with a numeric date", "3/12/2025 9:49:03 PM service stopped",
     "2025-03-12T21:49:03", "", "service stopped"),
    ("log with a numeric date", "12.03.2025 09:49:03 service stopped",
     "2025-03-12T09:49:03", "", "service stopped"),
    ("log with a numeric date", "[25/03/2025 09:49:03] service stopped",
     "2025-03-25T09:49:03", "", "service stopped"),
    ("log with a compact date", "20250312-9:49:3:250|Step_LSC|30002312|onStandStepChanged 3579",
     "2025-03-12T09:49:03.250000", "", "Step_LSC|30002312|onStandStepChanged 3579"),
    ("log with a compact date", "20250312T094903Z retry", "2025-03-12T09:49:03", "", "retry"),
    ("log with month and day", "[03.12 09:49:03] chrome.exe - proxy:80 error",
     "2025-03-12T09:49:03", "", "chrome.exe - proxy:80 error"),
    ("log with month and day", "Mar-12 09:49:03.250 [main] DEBUG nextflow.cli - run",
     "2025-03-12T09:49:03.250000", "", "[main] DEBUG nextflow.cli - run"),
    ("Ruby's logger", "I, [2025-03-12T09:49:03.250000 #7]  INFO -- web: Completed 200 OK",
     "2025-03-12T09:49:03.250000", "web", "Completed 200 OK"),
    ("log of epochs in columns", "1741772943.250000\tCwFs1P2\t10.0.0.1\t52026\t10.0.0.2\t80",
     "2025-03-12T09:49:03.250000", "", "CwFs1P2\t10.0.0.1\t52026\t10.0.0.2\t80"),
    ("strace", "10000 1741772943.250000 connect(3, {sa_family=AF_INET}, 16) = -1 ETIMEDOUT",
     "2025-03-12T09:49:03.250000", "", "connect(3, {sa_family=AF_INET}, 16) = -1 ETIMEDOUT"),
    ("log with a time of day", "09:49:03.250 [main] INFO  org.example.Pool - connected",
     "", "", "[main] INFO  org.example.Pool - connected"),
    ("log of logrus", "INFO[0012] Using 10.0.0.1 as the address", "", "",
     "Using 10.0.0.1 as the address"),
    ("CoreDNS log", '[INFO] 10.244.0.5:43421 - 17 "A IN example.org. udp 29 false 512" NOERROR',
     "", "", '10.244.0.5:43421 - 17 "A IN example.org. udp 29 false 512" NOERROR'),
    ("access log with more columns", "10.0.1.2:33317 [12/Mar/2025:09:49:03.250] in web/s1 503",
     "2025-03-12T09:49:03.250000", "", "10.0.1.2:33317 [12/Mar/2025:09:49:03.250] in web/s1 503"),
    ("log with a stamp inside", "Thread-1::DEBUG::2025-03-12 09:49:03,250::vm::Starting",
     "2025-03-12T09:49:03.250000", "", "Thread-1::DEBUG::2025-03-12 09:49:03,250::vm::Starting"),
    ("log with date(1) inside", "[pid: 7] 10.0.0.1 () [Wed Mar 12 09:49:03 2025] GET /",
     "2025-03-12T09:49:03", "", "[pid: 7] 10.0.0.1 () [Wed Mar 12 09:49:03 2025] GET /"),
    ("glog with a year", "W20250312 09:49:03.250000  7 master.cc:12] lost",
     "2025-03-12T09:49:03.250000", "", "lost"),
    ("log with a compact date", "2025.3.12 9:49:03 retry", "2025-03-12T09:49:03", "", "retry"),
    ("log with the month in words", "2025-Mar-12 09:49:03.250000 retry",
     "2025-03-12T09:49:03.250000", "", "retry"),
    ("log with the weekday first", "Wed Mar 12 2025 09:49:03 GMT+0800 retry",
     "2025-03-12T01:49:03", "", "retry"),
    ("log with the weekday first", "[Wed Mar 12 09:49:03] retry",
     "2025-03-12T09:49:03", "", "retry"),
    ("syslog in another language", "M\u00e4r 12 09:49:03 node-7 systemd[1]: Reloading.",
     "2025-03-12T09:49:03", "systemd", "Reloading."),
    ("syslog in another language", "3\u6708 12 09:49:03 node-7 systemd[1]: Reloading.",
     "2025-03-12T09:49:03", "systemd", "Reloading."),
    ("syslog in another language", "janv. 12 09:49:03 node-7 systemd[1]: Reloading.",
     "2025-01-12T09:49:03", "systemd", "Reloading."),
    ("log with TAI64N", "@4000000067d158990ee6b280 retry",
     "2025-03-12T09:49:03.250000", "", "retry"),
    ("shell history with times", "#1741772943", "2025-03-12T09:49:03", "", ""),
    ("W3C extended log",
     "#Date: 2025-03-12 09:40:00\n#Fields: time c-ip\n09:49:03 10.0.0.1 GET /",
     "2025-03-12T09:49:03", "", "10.0.0.1 GET /"),
    ("log of epochs in columns", "1741772943250000 retry",
     "2025-03-12T09:49:03.250000", "", "retry"),
    ("log of epochs in columns", "1741772943250000000 retry",
     "2025-03-12T09:49:03.250000", "", "retry"),
    ("log with minutes", "[2025-03-12 09:49] [PACMAN] upgraded iptables (1.8.10-2 -> 1.8.11-1)",
     "2025-03-12T09:49:00", "PACMAN", "upgraded iptables (1.8.10-2 -> 1.8.11-1)"),
    ("log with a compact date", "2025-03-12,09:49:03,retry", "2025-03-12T09:49:03", "", "retry"),
    ("logcat -v brief", "E/NetworkStats( 123): timed out", "", "NetworkStats", "timed out"),
    ("log of TCF", "TCF 49:03.250: channel server connected",
     "", "TCF", "channel server connected"),
    ("log with numbered lines", "118:2025-03-12 09:49:03 retry",
     "2025-03-12T09:49:03", "", "retry"),
    ("log with numbered lines", "   118\t2025-03-12T09:49:03.250Z retry",
     "2025-03-12T09:49:03.250000", "", "retry"),
    ("log of epochs in columns", "1741772943250| retry", "2025-03-12T09:49:03.250000", "", "retry"),
    ("log with a time of day", "[09:49:03] retry", "", "", "retry"),
    ("log with a numeric date", "03/25/25 09:49:03 retry", "2025-03-25T09:49:03", "", "retry"),
    ("log with minutes", "2025/03/12 09:49 retry", "2025-03-12T09:49:00", "", "retry"),
    ("log with minutes", "12 Mar 2025 09:49 retry", "2025-03-12T09:49:00", "", "retry"),
    ("log with minutes", "Wed Mar 12 09:49 retry", "2025-03-12T09:49:00", "", "retry"),
    ("log with the day of the year", "2025-071T09:49:03.250Z retry",
     "2025-03-12T09:49:03.250000", "", "retry"),
    ("log with the day of the year", "2024-366T09:49:03+0100 retry",
     "2024-12-31T08:49:03", "", "retry"),
    ("log with a short year", "25-03-12T09:49:03,250Z retry",
     "2025-03-12T09:49:03.250000", "", "retry"),
    ("log with a short year", "12/Mar/25 09:49:03 retry", "2025-03-12T09:49:03", "", "retry"),
    ("log with a short year", "250312 09:49:03 retry", "2025-03-12T09:49:03", "", "retry"),
    ("log with a short year", "250312 094903 retry", "2025-03-12T09:49:03", "", "retry"),
    ("log with the month in words", "2025 Mar 12 Wed 09:49:03.250 retry",
     "2025-03-12T09:49:03.250000", "", "retry"),
    ("log with month and day", "03/12 09:49:03 retry", "2025-03-12T09:49:03", "", "retry"),
    ("log with month and day", "0312 09:49:03.250 retry",
     "2025-03-12T09:49:03.250000", "", "retry"),
    ("java.util.logging", "####<Mar 12, 2025 9:49:03 AM UTC> <Info> <Server> retry",
     "2025-03-12T09:49:03", "", "<Info> <Server> retry"),
    ("XML of log4j", '<log4j:event logger="a.B" timestamp="1741772943250" level="WARN">',
     "2025-03-12T09:49:03.250000", "",
     '<log4j:event logger="a.B" timestamp="1741772943250" level="WARN">'),
    ("log of the JVM", "[0.123s][info][gc] Using G1", "", "", "Using G1"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "text", "time", "program", "message"), LINES)
def test_a_line_of_each_format(name: str, text: str, time: str, program: str, message: str) -> None:
    """Each format is recognized by one line, and the line taken apart; a line without a date has no
    time of its own.
    """
    found = recognise_log(source(text, "log"))
    reading = read_log(source(text, "log"), CLOCK)
    assert found is not None
    assert reading is not None
    event = reading.events[0]
    said = datetime.fromtimestamp(event.time, UTC).isoformat()[:-6] if event.placed else ""

    assert (name, time, program, message) == (found.name, said, event.program, event.message)


def test_every_format_has_a_line() -> None:
    """No row of the table is untested, and each says in the manual what it reads."""
    assert {row.name for row in (*EARLY, *FORMATS)} == {name for name, *_ in LINES}
    assert len(SHOWN) == len(EARLY) + len(FORMATS)


def test_a_day_that_the_year_does_not_have_is_no_time() -> None:
    """The 366th day of a common year, and a year before the first, are not read as dates."""
    for text in ("2025-366T09:49:03Z a", "0000-001T09:49:03Z a"):
        reading = read_log(source(f"2025-071T09:49:02Z b\n{text}"), CLOCK)
        assert reading is not None
        assert [(event.message, event.span.last_line) for event in reading.events] == [("b", 2)]


def test_a_month_and_a_day_are_told_apart_by_the_log() -> None:
    """A line whose first number can only be a day tells that of all lines of its log."""
    reading = read_log(source("03/04/2025 09:49:03 a\n25/04/2025 09:49:03 b"), CLOCK)
    assert reading is not None

    assert ["2025-04-03", "2025-04-25"] == [
        str(datetime.fromtimestamp(time, UTC).date()) for time in reading.times
    ]


def test_times_of_day_are_of_the_day_that_the_caller_tells() -> None:
    """Without a date, the last line is of the day of --now and earlier lines count back over each
    midnight.
    """
    text = "23:59:58.000 [main] INFO a\n00:00:01.000 [main] INFO b\n09:49:03.000 [main] INFO c"
    reading = read_logs([source(text)], replace(CLOCK, printed=NOW)).readings[0]

    assert ["2025-03-19T23:59:58", "2025-03-20T00:00:01", "2025-03-20T09:49:03"] == [
        datetime.fromtimestamp(time, UTC).isoformat()[:19] for time in reading.times
    ]


def test_zones_are_read_by_their_names() -> None:
    """CET, CEST, EDT are what they are, whatever zone the caller gives; CST, which America and
    China share, is the caller's.
    """
    china = Clock(now=NOW, zone=timezone(timedelta(hours=8)))

    def hour_of(text: str, clock: Clock = CLOCK) -> int:
        reading = read_log(source(text), clock)
        assert reading is not None
        return datetime.fromtimestamp(reading.times[0], UTC).hour

    assert 8 == hour_of("2025-03-12 09:49:03.250 CET [1329108] ERROR: syntax error", china)
    assert 7 == hour_of("Wed Mar 12 09:49:03 CEST 2025 timed out", china)
    assert 13 == hour_of("Wed 2025-03-12 09:49:03 EDT node-7 systemd[1]: Reloading.", china)
    assert 1 == hour_of("Wed 2025-03-12 09:49:03 CST node-7 systemd[1]: Reloading.", china)
    assert 9 == hour_of("2025-03-12 09:49:03 GET /healthz 200")


@pytest.mark.parametrize(
    "text",
    [
        "1741772943.250000 IP 10.0.0.1.40000 > 10.0.0.2.80: Flags [S], seq 1",
        "09:49:03.250000 IP 10.0.0.1.40000 > 10.0.0.2.80: Flags [S], seq 1",
        "-rw-r--r-- 1 root root 12 2025-03-12 09:49:03.250000000 +0800 resolv.conf",
        "[1741772943.250000]     [NEW] tcp      6 120 SYN_SENT src=10.0.0.1 dst=10.0.0.2",
        " ID | name | state\n 42 | web | ok",
    ],
)
def test_other_outputs_with_times_are_no_logs(text: str) -> None:
    """Packets, connections, listings of files and tables are not taken for logs."""
    assert recognise_log(source(text)) is None


def test_lines_below_a_stamp_and_comments_do_not_count_against_a_log() -> None:
    """A log whose messages are long statements, and one with a header of comments, are recognized,
    but no text with a date at its top.
    """
    statement = "2025-03-12 09:49:03 CET [7] STATEMENT:  create table x (\n" + "\tid int,\n" * 20
    dated = "Wed Mar 12 09:49:03 UTC 2025\n" + "    inet 10.0.0.1/24\n" * 20

    assert recognise_log(source(statement * 2)) is not None
    assert (
        recognise_log(source("#Fields: date time\n#Version: 1\n2025-03-12 09:49:03 GET /"))
        is not None
    )
    assert recognise_log(source(dated)) is None


def test_loose_formats_read_no_line_of_another_log() -> None:
    """A date within what a message goes on with starts no event."""
    text = "E0312 09:49:03.500000 1 x.go:1] object:\nmetadata: created 2020-01-01T00:00:00Z by x"
    reading = read_log(source(text), CLOCK)
    assert reading is not None

    assert [2] == [event.span.last_line for event in reading.events]


def test_reading_never_raises() -> None:
    """Whatever stands where a stamp's digits do, a line is read or refused."""
    for _, text, *_ in LINES:
        for digits in ("0", "9"):
            spoiled = source(re.sub(r"\d", digits, text))
            reading = read_log(spoiled, CLOCK)
            assert reading is None or all(isnan(time) or abs(time) < 1e12 for time in reading.times)


def test_a_source_without_lines() -> None:
    """An empty text is no log."""
    assert recognise_log(Source(name="x", lines=())) is None
