"""Log lines that tell of a failed connection."""

from __future__ import annotations

from podpath.evidence.component_log import read_log, recognise_log
from podpath.evidence.records import HeadingRecord
from tests.evidence.attempted import attempted
from tests.evidence.consoles import block

KLOG = "W0211 01:12:52.815335       1 leader.go:286] Get https://10.9.0.1:443/api?timeout=10s: context deadline exceeded."
KUBELET = (
    'Feb 11 09:49:03 n1 kubelet[123]: E0211 09:49:03.1 1 prober.go:1] Get "http://10.4.0.1:80/": connect: connection refused'
)


def test_a_container_log() -> None:
    """A line of klog from an unknown program is taken for a container's."""
    source = block(KLOG)
    assert recognise_log(source)
    assert [("tcp", "10.9.0.1:443", "timeout", "container log", "pod")] == attempted(read_log(source))


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
    assert not recognise_log(block("We see that the pod cannot reach the service at 10.9.0.1 since the upgrade of last week."))
