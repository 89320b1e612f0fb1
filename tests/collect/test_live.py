"""This node asked at once, as `--live` does."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.collect.live import read_live
from tests.command import podpath

NAMESPACE = f"plv-{os.getpid()}"
ASKED = f"icmp 127.0.0.1 > 203.0.113.9 from {NAMESPACE}"


@pytest.fixture
def pod() -> Iterator[str]:
    """Make a namespace with a route that leads nowhere, and a process that lives in it."""
    commands = (
        f"ip netns add {NAMESPACE}",
        f"ip -n {NAMESPACE} link set lo up",
        f"ip -n {NAMESPACE} route add blackhole 203.0.113.0/24",
    )
    sleeper = None
    try:
        for command in commands:
            subprocess.run(command.split(), check=True)
        sleeper = subprocess.Popen(["ip", "netns", "exec", NAMESPACE, "sleep", "600"])
        yield NAMESPACE
    finally:
        if sleeper is not None:
            sleeper.kill()
            sleeper.wait()
        subprocess.run(["ip", "netns", "del", NAMESPACE], check=False)


@pytest.mark.kernel("ip", "nsenter")
def test_a_live_namespace_is_walked_by_its_own_lines(pod: str) -> None:
    """What decides is quoted from the output that was taken a moment ago."""
    done = podpath("trace", "--live", "--probe", ASKED, "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["verdict"]) == (1, "NEVER")
    decided = document["branches"][0]["packets"][0]["decided_by"]
    assert decided["source"] == f"live/netns/{pod}/ip-route.json"
    assert "203.0.113.0/24" in decided["text"]


@pytest.mark.kernel("ip", "nsenter")
def test_live_evidence_has_the_host_and_what_could_not_be_had() -> None:
    """Sources are named like those of a bundle; each thing that is missing is a gap."""
    evidence = read_live()
    names = {source.name for source in evidence.sources}
    assert {"live/netns/host/ip-link.json", "live/netns/host/sysctl.txt"} <= names
    assert all(gap.why for gap in evidence.gaps)


def test_evidence_or_the_live_node_is_needed() -> None:
    """With neither there is nothing to read, and the message says what is missing."""
    done = podpath("diagnose")
    assert done.returncode == 2
    assert "EVIDENCE" in done.stderr


def test_live_adds_to_other_evidence(tmp_path: Path) -> None:
    """Without root it says why it cannot."""
    ticket = tmp_path / "ticket.md"
    ticket.write_text("$ ip route\ndefault via 10.9.0.1 dev eth0\n", encoding="utf-8")
    done = podpath("diagnose", ticket, "--live")
    assert done.returncode in ((0, 1, 3) if os.geteuid() == 0 else (2,))
    assert os.geteuid() == 0 or "sudo" in done.stderr
