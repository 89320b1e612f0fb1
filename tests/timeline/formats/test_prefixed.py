"""Logs in which each line stands behind its writer's name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from podpath.timeline.clock import Clock
from podpath.timeline.documents import find_logs
from podpath.timeline.event import LogReading
from podpath.timeline.formats.table import read_log, recognise_log
from tests.timeline.samples import NOW, at, source

KLOG = "W0312 09:49:03.500000       1 proxier.go:286] dial tcp 10.0.0.1:443: i/o timeout"
ETCD = '{"level":"warn","ts":"2025-03-12T09:49:04.500Z","msg":"slow"}'


def read(text: str) -> LogReading:
    """Read a text as the log that it is recognized for."""
    (log,) = find_logs(source(text, "pods.txt"))
    reading = read_log(log, Clock(now=NOW))
    assert reading is not None
    return reading


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[pod/kube-proxy-x7k2p/kube-proxy] ", "[pod/etcd-n7/etcd] "),
        ("kube-proxy  | ", "etcd        | "),
        ("\x1b[36mkube-proxy  | \x1b[0m", "\x1b[33metcd        | \x1b[0m"),
        ("kube-proxy-x7k2p kube-proxy ", "etcd-n7 etcd "),
        ("kube-system kube-proxy-x7k2p kube-proxy ", "kube-system etcd-n7 etcd "),
    ],
    ids=["kubectl logs --prefix", "docker compose", "in color", "stern", "stern -A"],
)
def test_each_writer_has_its_own_format(first: str, second: str) -> None:
    """The prefix names the writer, and what stands behind it is read in that writer's format."""
    reading = read(f"{first}{KLOG}\n{second}{ETCD}\n{first}{KLOG}")

    assert [
        (at("09:49:03") + 0.5, "kube-proxy", "dial tcp 10.0.0.1:443: i/o timeout"),
        (at("09:49:04") + 0.5, "etcd", "slow"),
        (at("09:49:03") + 0.5, "kube-proxy", "dial tcp 10.0.0.1:443: i/o timeout"),
    ] == [(event.time, event.program, event.message) for event in reading.events]
    assert () == reading.gaps


def test_what_grep_found_in_several_logs() -> None:
    """Lines of grep are behind their file's name, with or without a number; the line's own writer
    goes before it.
    """
    reading = read(
        "/var/log/messages:Mar 12 09:49:03 n7 tuned[7]: applied\n"
        "/var/log/messages-20250309:17:Mar  8 09:49:03 n7 tuned[7]: applied\n"
        f"logs/kube-proxy.log:{KLOG}"
    )

    assert ["tuned", "tuned", "kube-proxy"] == [event.program for event in reading.events]
    assert ["03-12", "03-08", "03-12"] == [
        f"{datetime.fromtimestamp(time, UTC):%m-%d}" for time in reading.times
    ]


def test_lines_without_a_stamp_go_on_with_the_event_above() -> None:
    """A line whose message has no stamp belongs to the event above; the first ones are gaps, what
    the tool says of itself is a heading.
    """
    reading = read(
        "Attaching to web-1, redis-1\nweb-1  |  * Serving\n"
        "redis-1  | 7:M 12 Mar 2025 09:49:03.250 * Ready\nweb-1  |  * Debug mode: on\n"
        "redis-1  | 7:M 12 Mar 2025 09:49:04.250 * Saved"
    )

    assert [(3, 4), (5, 5)] == [(one.span.line, one.span.last_line) for one in reading.events]
    assert ([2], [1]) == (
        [gap.span.line for gap in reading.gaps],
        [span.line for span in reading.headings],
    )


@pytest.mark.parametrize(
    "text",
    [
        "web | running\ndb | running",
        "node-7 kubelet is down\nnode-8 kubelet is up",
        "/etc/sysctl.conf:net.ipv4.ip_forward = 1\n/etc/sysctl.conf:net.ipv4.tcp_mtu_probing = 1",
    ],
)
def test_tables_and_prose_are_no_logs(text: str) -> None:
    """A prefix alone makes no log: what stands behind it has to be one."""
    assert recognise_log(source(text)) is None
