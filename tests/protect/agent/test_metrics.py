"""Metrics are the text that Prometheus reads."""

from __future__ import annotations

import os
import re
import subprocess
import time

import pytest

from podpath_protect.agent.keeper import AgentFinding, KeeperStatus, Sample
from podpath_protect.agent.metrics import gather_samples, render_metrics

LINE = re.compile(
    r'[a-z_][a-z0-9_]*(?:\{[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z_]+="(?:[^"\\\n]|'
    r'\\[\\"n])*")*\})? -?[0-9.e+-]+'
)
FINDING = AgentFinding(
    check="sysctl-drifted", subject="net.ipv4.ip_forward", severity="error", claim="it is 0"
)


def test_samples_are_families() -> None:
    """Help and type once, counters with their ending, labels escaped."""
    samples = (
        Sample("writes", 3, (("state", 'do"n\\e\n'),), "counter", "Writes."),
        Sample("other", 0.5),
        Sample("writes", 1, (("state", "held"),), "counter", "Writes."),
    )

    assert render_metrics(samples).split("\n") == [
        "# HELP podpath_protect_writes_total Writes.",
        "# TYPE podpath_protect_writes_total counter",
        'podpath_protect_writes_total{state="do\\"n\\\\e\\n"} 3',
        'podpath_protect_writes_total{state="held"} 1',
        "# TYPE podpath_protect_other gauge",
        "podpath_protect_other 0.5",
        "",
    ]


def test_findings_are_counted_by_kind() -> None:
    """Labels hold kinds and never names, so that a thousand pods are no thousand series."""
    statuses = {
        "sysctl": KeeperStatus(ready=False, findings=(FINDING, FINDING)),
        "order": KeeperStatus(ready=True, degraded=True),
    }
    text = render_metrics(gather_samples(statuses))

    assert (
        'podpath_protect_findings{part="sysctl",check="sysctl-drifted",severity="error"} 2\n'
        in text
    )
    assert 'podpath_protect_part_ready{part="sysctl"} 0\n' in text
    assert 'podpath_protect_part_degraded{part="order"} 1\n' in text
    assert "ip_forward" not in text
    assert [] == [
        line
        for line in text.split("\n")[:-1]
        if not line.startswith("# ") and LINE.fullmatch(line) is None
    ]


def test_the_process_is_measured() -> None:
    """By the names that dashboards know."""
    text = render_metrics(gather_samples({}))

    for name in ("process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"):
        assert re.search(rf"^{name} [0-9.e+]+$", text, re.MULTILINE)


def test_the_processs_start_is_that_of_the_kernel() -> None:
    """As ps counts it: by the machine's start and the process's ticks, to a second."""
    samples = {each.name: each.value for each in gather_samples({})}
    done = subprocess.run(
        ["ps", "-o", "etimes=", "-p", str(os.getpid())], capture_output=True, check=True, text=True
    )

    assert abs(time.time() - samples["process_start_time_seconds"] - int(done.stdout)) < 3


def test_a_bad_name_is_a_bug() -> None:
    """A name that Prometheus would refuse is never written."""
    with pytest.raises(AssertionError, match="no name of a metric"):
        render_metrics((Sample("Bad-Name", 1),))
