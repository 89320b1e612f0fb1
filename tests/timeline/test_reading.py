"""Several logs read together."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from podpath.net.provenance import Source
from podpath.timeline.reading import read_logs
from tests.timeline.samples import CLOCK, MESSAGES, at, logs, source

CHINA = timezone(timedelta(hours=8))


def test_a_log_that_names_the_year_places_one_that_does_not() -> None:
    """A container's log of 2022 beside /var/log/messages says which year the latter is of."""
    container = "2022-03-12T03:13:59Z stderr F dial tcp 10.9.0.1:443: i/o timeout"
    read = logs(MESSAGES, container)

    assert {"2022"} == {
        str(1970 + int(time // 31_556_952)) for reading in read.readings for time in reading.times
    }


def test_a_history_of_packages_does_not_say_when_a_log_was_taken() -> None:
    """The last upgrade may be years before the log: it places nothing."""
    read = logs(MESSAGES, "2021-01-12 09:48:58 upgrade polkitd:amd64 1 2")

    assert at("03:10:01") == read.readings[0].times[0]


def test_stamps_within_messages_tell_the_zone() -> None:
    """A line of containerd in syslog has a stamp with its zone: so the stamp before it is of that
    zone, without being told.
    """
    text = (
        'Mar 12 11:13:45 kn-04 containerd[99]: time="2025-03-12T03:13:45.123456789Z" level=info '
        'msg="a"\n'
        "Mar 12 11:13:46 kn-04 systemd[1]: Started Dynamic System Tuning Daemon."
    )
    read = logs(text)

    assert [at("03:13:45"), at("03:13:46")] == list(read.readings[0].times)
    assert "UTC+08:00" in read.notes[0]


def test_the_nodes_zone_is_that_of_its_other_logs() -> None:
    """What the node itself writes without a zone is of the zone that one of its logs tells; a
    container's klog is not.
    """
    read = logs(
        'Mar 12 11:13:45 kn-04 containerd[99]: time="2025-03-12T03:13:45Z" level=info msg="a"',
        "2025-03-12 11:13:40 upgrade polkitd:amd64 1 2",
        "I0312 03:13:39.000000 1 a.go:1] b",
        "[Wed Mar 12 11:13:41 2025] eth0: link is down",
    )

    assert [at("03:13:45"), at("03:13:40"), at("03:13:39"), at("03:13:41")] == [
        reading.times[0] for reading in read.readings
    ]


@pytest.mark.parametrize(
    ("lines", "hours"),
    [
        (("2025-03-12T09:49:03+0200 node-7 sshd[7]: a",), 2),
        (("2025-03-12T09:49:03-05:00 node-7 sshd[7]: a",) * 2, -5),
        (("Wed 2025-03-12 09:49:03 CEST node-7 sshd[7]: a",), 2),
        (("2025-03-12T09:49:03Z node-7 sshd[7]: a",), None),
        (("2025-03-12T09:49:03 node-7 sshd[7]: a",), None),
        (("2025-03-12T09:49:03+0200 node-7 sshd[7]: a", "2025-03-12T07:49:03Z n a[7]: b"), None),
        (("2025-03-12T09:49:03+0200 n a[7]: a", "2025-03-12T09:49:03+0100 n a[7]: b"), None),
    ],
)
def test_the_zone_that_all_stamps_state(lines: tuple[str, ...], hours: int | None) -> None:
    """Moments that people give are of the zone that the logs state, where it is one."""
    read = logs(*(f"{line}\n" for line in lines))
    apart = None if read.zone is None else datetime.now(read.zone).utcoffset()

    assert apart == (None if hours is None else timedelta(hours=hours))


def test_a_zone_of_one_log() -> None:
    """The caller gives single logs zones of their own, which go before anything that is
    inferred.
    """
    clock = replace(CLOCK, zones=(("messages", CHINA),))
    read = read_logs(
        [source(MESSAGES, "var/messages"), source("I0312 03:13:39.000000 1 a.go:1] b", "app.log")],
        clock,
    )

    assert [at("19:10:01", "2025-03-11"), at("03:13:39")] == [
        read.readings[0].times[0],
        read.readings[1].times[0],
    ]


def test_syslog_places_the_ring_buffer() -> None:
    """A message of the kernel that stands in syslog too says when the kernel booted."""
    ring = (
        "[  100.000000] eth0: link is up\n[  160.500000] eth0: link is down\n"
        "[  200.000000] repeated\n[  201.000000] repeated"
    )
    read = logs(
        (
            "Mar 12 03:13:20 kn-04 kernel: [  160.500000] eth0: link is down\n"
            "Mar 12 03:14:00 kn-04 kernel: repeated"
        ),
        ring,
    )

    assert [at("03:12:19.500000"), at("03:13:20")] == list(read.readings[1].times)[:2]


def test_each_boot_has_its_place() -> None:
    """Of a ring buffer with two boots each is placed by its own messages."""
    ring = "[  100.000000] first boot\n[    0.000000] Linux version 6\n[   10.000000] second boot"
    read = logs("Mar 11 03:00:00 n kernel: first boot\nMar 12 03:00:00 n kernel: second boot", ring)

    assert [at("03:00:00", "2025-03-11"), at("02:59:50"), at("03:00:00")] == list(
        read.readings[1].times
    )


def test_what_is_no_log_is_left_out() -> None:
    """Other outputs give no readings, and no reach."""
    read = read_logs([Source(name="x", lines=("net.ipv4.ip_forward = 1",))], CLOCK)

    assert ((), None) == (read.readings, read.reach)


def test_the_reach_of_logs() -> None:
    """Logs reach from their first placed event to their last."""
    reach = logs(MESSAGES).reach

    assert (at("03:10:01"), at("03:20:01")) == (
        reach.first if reach else 0,
        reach.last if reach else 0,
    )


def test_a_day_that_no_month_has_beside_a_stamp_with_its_zone() -> None:
    """A line whose own stamp is no moment tells nothing of the zone, and the log is read all the
    same.
    """
    lines = MESSAGES.replace(
        "Mar 12 03:20:01 kn-04", "Mar 32 03:20:01 kn-04 x[1]: 2025-03-12T03:20:01.123456789Z"
    )

    assert 9 == sum(len(reading.events) + len(reading.gaps) for reading in logs(lines).readings)


def test_a_stamp_within_a_message_tells_the_year() -> None:
    """What a line states goes before the year that is guessed: HAProxy's stamp behind that of
    syslog, containerd's with its zone, in a log that goes on for months.
    """
    haproxy = (
        "Feb 25 16:20:09 lb haproxy[7]: 10.0.0.9:15564 [25/Feb/2019:16:20:06.321] in web/s1 503\n"
        "Jun  1 08:00:00 lb haproxy[7]: Proxy in stopped."
    )
    containerd = (
        'Dec 31 23:59:59 n7 containerd[99]: time="2020-12-31T15:59:59Z" level=info msg="a"\n'
        "Jan  1 00:00:10 n7 systemd[1]: Started tuned."
    )
    first, second = (logs(text).readings[0].times for text in (haproxy, containerd))

    assert [at("16:20:09", "2019-02-25"), at("08:00:00", "2019-06-01")] == list(first)
    assert [at("15:59:59", "2020-12-31"), at("16:00:10", "2020-12-31")] == list(second)


def test_a_heading_of_journalctl_tells_year_and_zone() -> None:
    """It names both; where several zones have its zone's name, the year alone, and headings of two
    zones tell no zone.
    """
    heading = (
        "-- Logs begin at Thu 2019-10-31 04:57:54 EDT, end at Thu 2019-10-31 20:20:53 EDT. --\n"
    )
    newer = (
        "-- Journal begins at Tue 2021-08-31 13:24:33 CEST, "
        "ends at Wed 2021-09-01 09:02:11 CEST. --\n"
    )
    lines = (
        "Oct 31 20:09:02 n7 systemd[1]: Started tuned.\n"
        "Oct 31 20:09:03 n7 systemd[1]: Started polkit.\n"
    )
    read = logs(heading + lines)
    shared = logs(heading.replace("EDT", "CST") + lines)
    both = logs(heading + heading.replace("EDT", "CET") + lines + lines)
    of_newer = logs(newer + lines.replace("Oct 31 20", "Sep  1 08"))

    assert at("00:09:02", "2019-11-01") == read.readings[0].times[0]
    assert timedelta(hours=-4) == (read.zone.utcoffset(None) if read.zone is not None else None)
    assert at("06:09:02", "2021-09-01") == of_newer.readings[0].times[0]
    assert at("20:09:02", "2019-10-31") == shared.readings[0].times[0]
    assert (("log-0", "CST"),) == shared.shared
    assert at("20:09:02", "2019-10-31") == both.readings[0].times[0]


def test_stamps_of_other_moments_tell_no_year() -> None:
    """What a message says of a certificate's beginning is no stamp of the line."""
    read = logs('Mar 12 09:49:03 n7 kubelet[9]: cert "time":"2019-01-01T00:00:00Z"')

    assert [at("09:49:03")] == list(read.readings[0].times)


def test_lines_behind_prefixes_tell_no_zone() -> None:
    """Containers write in UTC: that says nothing of the node's own logs."""
    pods = '[pod/etcd-n7/etcd] {"ts":"2025-03-12T03:13:45Z","msg":"slow"}'
    read = logs(MESSAGES, pods, clock=replace(CLOCK, zone=CHINA))

    assert None is read.zone
    assert at("19:10:01", "2025-03-11") == read.readings[0].times[0]


def test_a_zone_of_several_is_asked_for() -> None:
    """CST is America's or China's: who says neither is asked, who gives one of them is not, nor is
    it asked where another log shows it.
    """
    line = "2025-03-12 11:13:45.250 CST [7] ERROR: canceled"
    nested = 'Mar 12 11:13:45 n7 containerd[9]: time="2025-03-12T03:13:45Z" level=info msg="a"'
    told = logs(line, clock=replace(CLOCK, zone=CHINA))
    shown = logs(line, nested)

    assert (("log-0", "CST"),) == logs(line).shared
    assert () == told.shared == shown.shared
    assert at("03:13:45") + 0.25 == told.readings[0].times[0] == shown.readings[0].times[0]
