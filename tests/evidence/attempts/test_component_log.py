"""Log lines that tell of a failed connection."""

from __future__ import annotations

import pytest

from podpath.evidence.attempts.component_log import read_log, recognise_log
from podpath.evidence.recognition import read
from podpath.evidence.records import HeadingRecord
from podpath.net.provenance import GapKind
from tests.evidence.attempted import attempted
from tests.evidence.consoles import block

KLOG = (
    "W0211 01:12:52.815335       1 leader.go:286] Get https://10.9.0.1:443/api?timeout=10s: "
    "context deadline exceeded."
)
KUBELET = (
    "Feb 11 09:49:03 n1 kubelet[123]: E0211 09:49:03.1 1 prober.go:1] Get "
    '"http://10.4.0.1:80/": connect: connection refused'
)


def test_a_container_log() -> None:
    """A line of klog from an unknown program is taken for a container's."""
    source = block(KLOG)
    assert recognise_log(source)
    assert [("tcp", "10.9.0.1:443", "timeout", "container log", "pod")] == attempted(
        read_log(source)
    )


def test_a_component_of_the_node() -> None:
    """The kubelet runs in the host's namespace."""
    assert [("tcp", "10.4.0.1:80", "refused", "log", "host")] == attempted(read_log(block(KUBELET)))


def test_logs_of_kubectl() -> None:
    """`kubectl logs` shows a container's log, whatever its lines look like."""
    text = "2026-11-21T10:00:00Z ERROR cannot connect: dial tcp 10.9.0.1:5432: i/o timeout"
    assert ["pod"] == [one[4] for one in attempted(read_log(block(text, "kubectl logs web-0")))]


def test_other_lines_become_one_heading() -> None:
    """A run of lines that tell of nothing costs one record."""
    quiet = "\n".join(f"I0211 01:12:5{i}.815335       1 a.go:286] fine" for i in range(5))
    reading = read_log(block(f"{quiet}\n{KLOG}\n{quiet}"))
    assert 2 == sum(isinstance(record, HeadingRecord) for record in reading.records)
    assert 1 == len(attempted(reading))


def test_prose_is_no_log() -> None:
    """A sentence with an address is not recognised."""
    assert not recognise_log(
        block(
            "We see that the pod cannot reach the service at 10.9.0.1 since the upgrade of last "
            "week."
        )
    )


@pytest.mark.parametrize(
    "line",
    [
        "type=SERVICE_STOP msg=audit(1741744143.120:421): pid=1 uid=0 msg='unit=tuned res=success'",
        "<34>1 2025-03-12T09:49:03.003+01:00 node-7 su - ID47 - failed",
        "[Wed Mar 12 09:49:03 2025] eth0: link is down",
        (
            "Start-Date: 2025-03-12  09:48:58\nUpgrade: polkitd:amd64 (1, 2)\n"
            "End-Date: 2025-03-12  09:49:10"
        ),
        "polkit-0.112-26.el7_9.1.x86_64                Wed 12 Mar 2025 09:48:58 PM CST",
        "Wed 2025-03-12 09:49:03 UTC node-7 systemd[1]: Reloading.",
        '{"__REALTIME_TIMESTAMP":"1741744143500000","MESSAGE":"x"}',
        "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1741744143500000\nMESSAGE=applied",
    ],
)
def test_logs_of_the_whole_system(line: str) -> None:
    """Logs that tell of no connection are logs all the same: other parts look at what happened in
    them.
    """
    source = block(line)
    reading = read_log(source)

    assert recognise_log(source)
    assert () == reading.gaps


def test_a_long_line_of_dashes_is_no_log() -> None:
    """What it starts like is told in one look at it: looking for every way to cut it took half a
    minute.
    """
    assert not recognise_log(block("-" * 2000))


UNKNOWN = (
    "Jan 07 10:00:01 n1 frobnicated[611]: peer table rebuilt",
    "Jan 07 10:00:02 n1 frobnicated[611]: stale",
)
FAILED = "Jan 07 10:00:03 n1 frobnicated[611]: dial tcp 10.0.0.9:443: connect: connection refused"


@pytest.mark.parametrize(
    ("lines", "told"),
    [(UNKNOWN, [(1, 2)]), ((UNKNOWN[0], FAILED, UNKNOWN[1]), [(1, 1), (3, 3)]), ((FAILED,), [])],
)
def test_what_no_line_is_known_of_is_said_to_be_unread(
    lines: tuple[str, ...], told: list[tuple[int, int]]
) -> None:
    """One gap for each run, of the sort that decides nothing."""
    reading = read(block("\n".join(lines)))
    assert reading is not None
    assert told == [(gap.span.line, gap.span.last_line) for gap in reading.gaps]
    assert {GapKind.ASIDE} >= {gap.kind for gap in reading.gaps}
