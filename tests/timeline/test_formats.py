"""Each format of logs: lines as the tools print them, to events with their times, writers and
messages.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LogEvent, LogReading
from podpath.timeline.formats.table import LOG_FORMATS, read_log, recognise_log

NOW = datetime(2025, 3, 20, 12, tzinfo=UTC).timestamp()
CHINA = timezone(timedelta(hours=8))


def read(
    text: str, *, name: str = "log", clock: Clock | None = None, command: str | None = None
) -> LogReading:
    """Read a text as the log that it is recognised for."""
    reading = read_log(
        Source(name=name, lines=tuple(text.strip("\n").split("\n")), command=command),
        clock or Clock(now=NOW),
    )
    assert reading is not None
    return reading


def only(
    text: str, *, name: str = "log", clock: Clock | None = None, command: str | None = None
) -> LogEvent:
    """Read a log of one event."""
    reading = read(text, name=name, clock=clock, command=command)
    assert (1, ()) == (len(reading.events), reading.gaps)
    return reading.events[0]


def at(event: LogEvent) -> str:
    """Spell an event's time in UTC."""
    return datetime.fromtimestamp(event.time, UTC).isoformat()


@pytest.mark.parametrize(
    ("format_name", "text", "time", "program", "message"),
    [
        ("syslog", "Mar  2 09:49:03 node-7 systemd[1]: Stopping Dynamic System Tuning Daemon...",
         "2025-03-02T09:49:03+00:00", "systemd", "Stopping Dynamic System Tuning Daemon..."),
        ("syslog", (
            "<30>Mar 12 09:49:03 node-7 polkitd[812]: "
            "Started"
        ), "2025-03-12T09:49:03+00:00", "polkitd", "Started"),
        ("syslog", "Mar 12 09:49:03.250000 node-7 kernel: [ 812.1] eth0: link is down",
         "2025-03-12T09:49:03.250000+00:00", "kernel", "eth0: link is down"),
        ("syslog with ISO stamps", (
            "2025-03-12T09:49:03.250000+08:00 node-7 tuned[77]: static tuning "
            "applied"
        ),
         "2025-03-12T01:49:03.250000+00:00", "tuned", "static tuning applied"),
        ("syslog with ISO stamps", "2025-03-12T09:49:03+0800 node-7 tuned[77]: done",
         "2025-03-12T01:49:03+00:00", "tuned", "done"),
        ("journalctl -o short-full", "Wed 2025-03-12 09:49:03 UTC node-7 systemd[1]: Reloading.",
         "2025-03-12T09:49:03+00:00", "systemd", "Reloading."),
        ("syslog (RFC 5424)", (
            '<34>1 2025-03-12T09:49:03.003+01:00 node-7 su - ID47 [x@1 a="b ] c" d="\\"e"] failed '
            'for root'
        ),
         "2025-03-12T08:49:03.003000+00:00", "su", "failed for root"),
        ("klog", "W0312 01:12:52.815335       1 leader.go:286] get leader info failed",
         "2025-03-12T01:12:52.815335+00:00", "", "get leader info failed"),
        ("CRI container log", (
            "2025-03-12T01:49:03.123456789Z stderr F dial tcp 10.0.0.1:443: i/o "
            "timeout"
        ),
         "2025-03-12T01:49:03.123457+00:00", "", "dial tcp 10.0.0.1:443: i/o timeout"),
        ("logfmt", 'time="2025-03-12T01:49:03Z" level=info msg="starting \\"cri\\"" subsys=daemon',
         "2025-03-12T01:49:03+00:00", "daemon", 'starting "cri" subsys=daemon'),
        ("log of JSON lines", (
            '{"level":"error","ts":1741744143.5,"logger":"etcd","msg":"lost",'
            '"error":"timeout"}'
        ),
         "2025-03-12T01:49:03.500000+00:00", "etcd", "lost: timeout"),
        ("log of JSON lines", '{"log":"hello\\n","stream":"stdout","time":"2025-03-12T01:49:03Z"}',
         "2025-03-12T01:49:03+00:00", "", "hello"),
        ("log of JSON lines", '{"@timestamp":1741744143500,"message":"in milliseconds"}',
         "2025-03-12T01:49:03.500000+00:00", "", "in milliseconds"),
        ("journalctl -o json", (
            '{"__REALTIME_TIMESTAMP":"1741744143500000","SYSLOG_IDENTIFIER":"tuned","MESSAGE":[104,'
            '105]}'
        ),
         "2025-03-12T01:49:03.500000+00:00", "tuned", "hi"),
        ("audit log", (
            "type=SERVICE_STOP msg=audit(1741744143.120:421): pid=1 uid=0 msg='unit=tuned "
            "res=success'"
        ),
         "2025-03-12T01:49:03.120000+00:00", "audit", (
             "SERVICE_STOP pid=1 uid=0 msg='unit=tuned "
             "res=success'"
         )),
        ("audit log", (
            "type=EXECVE msg=audit(03/12/2025 01:49:03.120:421) : argc=2 a0=sysctl "
            "a1=--system"
        ),
         "2025-03-12T01:49:03.120000+00:00", "audit", "EXECVE argc=2 a0=sysctl a1=--system"),
        ("dpkg log", "2025-03-12 09:48:58 upgrade polkitd:amd64 122-3 122-3+deb12u1",
         "2025-03-12T09:48:58+00:00", "dpkg", "upgrade polkitd:amd64 122-3 122-3+deb12u1"),
        ("dpkg log", "update-alternatives 2025-03-12 09:48:58: link group iptables updated",
         "2025-03-12T09:48:58+00:00", "update-alternatives", "link group iptables updated"),
        ("yum log", "Mar 12 09:48:58 Updated: polkit-0.112-26.el7_9.1.x86_64",
         "2025-03-12T09:48:58+00:00", "yum", "Updated: polkit-0.112-26.el7_9.1.x86_64"),
        ("dnf log", "2025-03-12T09:48:58+0800 SUBDEBUG Upgrade: polkit-0.117-11.el9.x86_64",
         "2025-03-12T01:48:58+00:00", "dnf", "Upgrade: polkit-0.117-11.el9.x86_64"),
        ("rpm -qa --last", (
            "polkit-0.112-26.el7_9.1.x86_64                Wed 12 Mar 2025 09:48:58 "
            "PM CST"
        ),
         "2025-03-12T21:48:58+00:00", "rpm", "Installed: polkit-0.112-26.el7_9.1.x86_64"),
        ("rpm -qa --last", "polkit-0.112-26.el7_9.1.x86_64                Wed Mar 12 09:48:58 2025",
         "2025-03-12T09:48:58+00:00", "rpm", "Installed: polkit-0.112-26.el7_9.1.x86_64"),
        ("dmesg -T", "[Wed Mar 12 09:49:03 2025] eth0: link is down",
         "2025-03-12T09:49:03+00:00", "kernel", "eth0: link is down"),
        ("dmesg --time-format iso", "2025-03-12T09:49:03,500000+00:00 eth0: link is down",
         "2025-03-12T09:49:03.500000+00:00", "kernel", "eth0: link is down"),
        ("log with a date", "2025-03-12 09:49:03,250 ERROR pool: connection lost",
         "2025-03-12T09:49:03.250000+00:00", "pool", "ERROR pool: connection lost"),
        ("log with a date", (
            "2025-03-12 09:49:03,250 INFO     tuned.plugins.plugin_sysctl: "
            "reapplying"
        ),
         "2025-03-12T09:49:03.250000+00:00", "tuned.plugins.plugin_sysctl", (
             "INFO     tuned.plugins.plugin_sysctl: "
             "reapplying"
         )),
        ("log with date(1)", "Wed Mar 12 09:49:03 UTC 2025 curl: (28) timed out",
         "2025-03-12T09:49:03+00:00", "", "curl: (28) timed out"),
        ("log with date(1)", (
            "Wed Mar 12 09:49:03 PM CST 2025: "
            "ok"
        ), "2025-03-12T21:49:03+00:00", "", "ok"),
        ("access log", (
            '10.4.0.9 - - [12/Mar/2025:09:49:03 +0800] "GET / HTTP/1.1" 504 167 "-" '
            '"curl"'
        ),
         "2025-03-12T01:49:03+00:00", "", '10.4.0.9 "GET / HTTP/1.1" 504 167 "-" "curl"'),
        ("log with a date", "2025/03/12 09:49:03 [error] 7#7: upstream timed out",
         "2025-03-12T09:49:03+00:00", "", "[error] 7#7: upstream timed out"),
    ],
)  # fmt: skip
def test_a_line_of_each_format(
    format_name: str, text: str, time: str, program: str, message: str
) -> None:
    """Each format is recognised by one line, and the line taken apart."""
    found = recognise_log(Source(name="log", lines=(text,)))
    event = only(text)

    assert (format_name, time, program, message) == (
        found.name if found else None,
        at(event),
        event.program,
        event.message,
    )


def test_a_zone_is_an_argument() -> None:
    """Stamps that name no zone are of the zone that the caller gives."""
    clock = Clock(now=NOW, zone=CHINA)

    assert "2025-03-12T01:49:03+00:00" == at(only("Mar 12 09:49:03 node-7 x: y", clock=clock))
    assert "2025-03-12T01:49:03+00:00" == at(only("I0312 09:49:03.000000 1 a.go:1] y", clock=clock))
    assert "2025-03-12T01:49:03+00:00" == at(
        only("2025-03-12 09:49:03 upgrade a:amd64 1 2", clock=clock)
    )


def test_years_turn_within_a_log() -> None:
    """A stamp without a year is of the latest year that is not in the future, and December is of
    the year before January's.
    """
    reading = read(
        "Nov 30 10:00:00 n a: b\nDec 31 23:59:59 n a: b\nJan  1 00:00:01 n a: b\n"
        "Mar 19 10:00:00 n a: b"
    )
    late = read("Oct  1 10:00:00 n a: b")

    assert ["2024-11-30", "2024-12-31", "2025-01-01", "2025-03-19"] == [
        at(event)[:10] for event in reading.events
    ]
    assert "2024-10-01" == at(late.events[0])[:10]


def test_lines_out_of_order_keep_their_year() -> None:
    """A line of December after one of January is of the old year."""
    reading = read(
        "Dec 31 23:59:58 n a: b\nJan  1 00:00:01 n a: b\nDec 31 23:59:59 n a: b\n"
        "Jan  1 00:00:02 n a: b"
    )

    assert ["2024-12-31", "2025-01-01", "2024-12-31", "2025-01-01"] == [
        at(event)[:10] for event in reading.events
    ]


def test_the_29th_of_february_needs_a_leap_year() -> None:
    """A log that ends on a 29th of February is of the last leap year."""
    assert "2024-02-29" == at(only("Feb 29 10:00:00 n a: b"))[:10]
    assert "2024-02-29" == at(only("I0229 10:00:00.000000 1 a.go:1] b"))[:10]


def test_repeated_messages() -> None:
    """What rsyslog folds is the message before it, so many times."""
    reading = read(
        "Mar 12 09:49:03 n kernel: nf_conntrack: table full, dropping packet\n"
        "Mar 12 09:49:08 n rsyslogd: last message repeated 17 times\n"
        "Mar 12 09:49:09 n kernel: message repeated 4 times: [ nf_conntrack: table full, dropping "
        "packet]"
    )

    assert [("kernel", 1), ("kernel", 17), ("kernel", 4)] == [
        (event.program, event.repeats) for event in reading.events
    ]
    assert {"nf_conntrack: table full, dropping packet"} == {
        event.message for event in reading.events
    }


def test_events_of_kubectl_by_their_ages() -> None:
    """An age counts back from the moment it was printed, and `(x43 over 7m9s)` says how often and
    since when.
    """
    text = (
        "LAST SEEN   TYPE      REASON      OBJECT       MESSAGE\n"
        "4s (x43 over 7m9s)   Warning   Unhealthy   pod/pg-0   Readiness probe failed: timeout\n"
        "20m   Normal   Killing   pod/cilium-x   Stopping container cilium-agent"
    )
    reading = read(text, clock=Clock(now=NOW, printed=NOW))
    first, second = reading.events

    assert (NOW - 4, 43, NOW - 429) == (first.time, first.repeats, first.since)
    assert (NOW - 1200, "Killing pod/cilium-x: Stopping container cilium-agent") == (
        second.time,
        second.message,
    )
    assert 1 == len(reading.headings)


def test_ages_without_a_clock_have_no_place() -> None:
    """Where nobody says when the ages were printed, and for `<invalid>`, the event is kept without
    a time.
    """
    text = "Warning  Unhealthy  4s  kubelet  Readiness probe failed: timeout"
    invalid = (
        "Warning  Unhealthy  <invalid> (x11 over <invalid>)  kubelet  Readiness probe failed: "
        "timeout"
    )

    assert not only(text).placed
    assert (False, 11) == (
        only(invalid, clock=Clock(now=NOW, printed=NOW)).placed,
        only(invalid).repeats,
    )


EVENT = {
    "apiVersion": "v1", "kind": "Event", "count": 3, "reason": "Killing",
    "message": "Stopping container kube-proxy", "firstTimestamp": "2025-03-12T01:40:00Z",
    "lastTimestamp": "2025-03-12T01:49:03Z",
    "involvedObject": {"kind": "Pod", "name": "kube-proxy-7x"},
    "source": {"component": "kubelet", "host": "n7"},
}  # fmt: skip


def test_events_of_kubectl_in_json() -> None:
    """A list of events, or one alone, in JSON, each with the lines that it stands in."""
    listing = json.dumps(
        {"apiVersion": "v1", "items": [EVENT, {**EVENT, "count": 1}], "kind": "List"}, indent=4
    )
    reading = read(listing)
    first = reading.events[0]

    assert 2 == len(reading.events)
    assert ("2025-03-12T01:49:03+00:00", "kubelet", 3) == (at(first), first.program, first.repeats)
    assert ("Killing pod/kube-proxy-7x: Stopping container kube-proxy", 543.0) == (
        first.message,
        first.time - (first.since or 0),
    )
    assert first.span.text.lstrip().startswith("{")
    assert 1 == len(read(json.dumps(EVENT, indent=1)).events)


def test_events_of_kubectl_in_yaml() -> None:
    """The same in YAML, messages that are folded included."""
    text = (
        "apiVersion: v1\nitems:\n- apiVersion: v1\n  count: 3\n  involvedObject:\n    kind: Pod\n"
        "    name: kube-proxy-7x\n"
        '  lastTimestamp: "2025-03-12T01:49:03Z"\n  message: Stopping container\n    kube-proxy\n'
        "  metadata:\n    name: x\n"
        "  reason: Killing\n  source:\n    component: kubelet\n  type: Normal\nkind: List\n"
    )
    event = only(text)

    assert ("2025-03-12T01:49:03+00:00", 3) == (at(event), event.repeats)
    assert "Killing pod/kube-proxy-7x: Stopping container kube-proxy" == event.message


def test_a_description_gives_its_events() -> None:
    """Of `kubectl describe` the events are read, and the fields are headings."""
    text = (
        "Name:         pg-0\nNamespace:    db\nNode:         n7/10.0.0.7\nLabels:       app=pg\n"
        "Priority:     0\nEvents:\n  Type     Reason     Age   From     Message\n"
        "  ----     ------     ----  ----     -------\n"
        "  Warning  Unhealthy  4s    kubelet  Readiness probe failed: timeout\n"
    )
    event = only(text, clock=Clock(now=NOW, printed=NOW))

    assert (NOW - 4, "Unhealthy pod/pg-0: Readiness probe failed: timeout") == (
        event.time,
        event.message,
    )


def test_runs_of_apt() -> None:
    """A run of apt is an event for each of its packages, at the line that lists them."""
    reading = read(
        "Start-Date: 2025-03-12  09:48:58\nCommandline: apt upgrade\nRequested-By: ann (1000)\n"
        "Upgrade: polkitd:amd64 (122-3, 122-3+deb12u1), tuned:all (2.20, 2.21)\n"
        "Remove: ufw:all (0.36)\nEnd-Date: 2025-03-12  09:49:10\n\n"
        "Start-Date: 2025-03-13  01:00:00\nCommandline: apt-get check\n"
        "End-Date: 2025-03-13  01:00:01"
    )

    assert [
        "upgrade polkitd 122-3, 122-3+deb12u1",
        "upgrade tuned 2.20, 2.21",
        "remove ufw 0.36",
        "apt-get check",
    ] == [event.message for event in reading.events]
    assert [4, 4, 5, 9] == [event.span.line for event in reading.events]
    assert ((), "2025-03-12T09:48:58+00:00") == (reading.gaps, at(reading.events[0]))


def test_the_history_of_yum() -> None:
    """A row of `yum history` is an event, its title a heading."""
    reading = read(
        "ID     | Command line             | Date and time    | Action(s)      | Altered\n"
        + "-" * 70
        + "\n    42 | update polkit            | 2025-03-12 09:48 | Update         |    1"
    )

    assert ["run: update polkit (Update)"] == [event.message for event in reading.events]
    assert ((), 2) == (reading.gaps, len(reading.headings))


def test_the_export_of_the_journal() -> None:
    """Entries of `journalctl -o export` stand between blank lines; one without a time is a gap."""
    reading = read(
        "__REALTIME_TIMESTAMP=1741744143500000\nSYSLOG_IDENTIFIER=tuned\nMESSAGE=applied\n\n"
        "SYSLOG_IDENTIFIER=x\nMESSAGE=no time"
    )

    assert [("tuned", "applied")] == [(event.program, event.message) for event in reading.events]
    assert [5] == [gap.span.line for gap in reading.gaps]


def test_boots_of_the_ring_buffer() -> None:
    """Seconds since the boot are placed by the boot they are of; those of a boot that nobody knows
    are not.
    """
    text = (
        "[  900.000000] eth0: link is up\n[    0.000000] Linux version 6.1.0\n"
        "[   12.500000] eth0: link is down"
    )
    events = read(text, clock=Clock(now=NOW, boots=(NOW - 1000,))).events

    assert [False, True, True] == [event.placed for event in events]
    assert (NOW - 987.5, "eth0: link is down") == (events[2].time, events[2].message)
    assert not any(event.placed for event in read(text).events)


def test_a_log_is_named_after_its_container() -> None:
    """Who wrote lines that do not say so is told by the file, or by the command."""
    line = "W0312 01:12:52.815335       1 leader.go:286] failed"

    assert (
        "cilium-agent"
        == only(
            line, name="/var/log/containers/cilium-x1_kube-system_cilium-agent-" + 64 * "a" + ".log"
        ).program
    )
    assert "kubelet" == only(line, name="logs/kubelet.log.1").program
    assert (
        "coredns"
        == only(
            line, name="ticket.md", command="kubectl -n kube-system logs coredns-5dd5756b68-abcde"
        ).program
    )
    assert "" == only(line, name="ticket.md").program


def test_a_trace_of_a_stack_belongs_to_its_event() -> None:
    """Lines without a stamp go on with the event above them, in formats whose messages do that."""
    event = only(
        "E0312 01:12:52.815335       1 a.go:286] panic\ngoroutine 1 [running]:\n\tmain.main()"
    )

    assert (1, 3) == (event.span.line, event.span.last_line)


def test_a_line_without_a_stamp_is_a_gap() -> None:
    """Of syslog every line has its stamp: another one is a gap with its number, a heading of
    journalctl is none.
    """
    reading = read(
        "-- Logs begin at Mon 2025-03-10 08:00:00 UTC, end at Wed. --\nMar 12 09:49:03 n a: b\n"
        "rm: cannot remove x\nMar 12 09:49:04 n a: b\n"
        "-- Reboot --\nMar 12 09:59:04 n a: b"
    )

    assert (3, [3], [1, 5]) == (
        len(reading.events),
        [gap.span.line for gap in reading.gaps],
        [span.line for span in reading.headings],
    )


def test_a_line_of_another_format_is_read_as_such() -> None:
    """A log with lines of another one pasted into it is read as both."""
    reading = read(
        "Mar 12 09:49:03 n a: b\nW0312 09:49:03.500000 1 x.go:1] klog within\n"
        "type=AVC msg=audit(1741772943.700:1): denied\n"
        "Mar 12 09:49:04 n a: last"
    )

    assert ["b", "klog within", "AVC denied", "last"] == [event.message for event in reading.events]
    assert [0.0, 0.5, 0.7, 1.0] == [
        round(event.time - reading.events[0].time, 3) for event in reading.events
    ]


def test_names_of_formats_differ() -> None:
    """No two formats have one name."""
    assert len(LOG_FORMATS) == len({row.name for row in LOG_FORMATS})


@pytest.mark.parametrize(
    "text",
    ["", "hello world\nthis is no log", "net.ipv4.ip_forward = 1\nnet.ipv4.conf.all.rp_filter = 1"],
)
def test_other_texts_are_no_logs(text: str) -> None:
    """A text without stamps is not taken for a log."""
    assert recognise_log(Source(name="x", lines=tuple(text.split("\n")))) is None


@pytest.mark.skipif(
    not Path("/var/log/dpkg.log").is_file(), reason="no /var/log/dpkg.log on this machine"
)
def test_this_machines_dpkg_log() -> None:
    """The log of dpkg of the machine that the test runs on is read without a gap."""
    reading = read(Path("/var/log/dpkg.log").read_text(encoding="utf-8"))

    assert len(reading.events) > 0
    assert reading.gaps == ()


@pytest.mark.skipif(
    not Path("/var/log/apt/history.log").is_file(),
    reason="no /var/log/apt/history.log on this machine",
)
def test_this_machines_history_of_apt() -> None:
    """The history of apt of the machine that the test runs on is read without a gap."""
    reading = read(Path("/var/log/apt/history.log").read_text(encoding="utf-8"))

    assert len(reading.events) > 0
    assert reading.gaps == ()


@pytest.mark.skipif(shutil.which("dmesg") is None, reason="no dmesg on this machine")
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-T",),
        ("-x",),
        ("-d",),
        ("--reltime",),
        ("--time-format", "iso"),
    ],
    ids=" ".join,
)
def test_this_machines_ring_buffer(options: tuple[str, ...]) -> None:
    """What dmesg prints on the machine that the test runs on is read, each line with a stamp as an
    event.
    """
    done = subprocess.run(("dmesg", *options), capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        pytest.skip("dmesg prints nothing here")
    reading = read(done.stdout)

    assert len(reading.events) > 0
    assert len(reading.gaps) <= 0.01 * len(reading.events)
