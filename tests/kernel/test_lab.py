"""The lab on the real kernel: it agrees on recorded nodes, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from podpath.lab.apply import require_lab
from tests.command import podpath

pytestmark = pytest.mark.kernel("iptables-nft-restore", "conntrack", "nft", "ipset")

EXAMPLES = Path(__file__).parents[2] / "examples" / "incidents"
STATE = ("ip netns list; ip -br link; ip rule; ip route show table all; sysctl -a 2>/dev/null | grep -E 'rp_filter|forward'; "
         "cat /proc/self/mounts; ls /sys/kernel/tracing/instances 2>/dev/null; iptables-save; iptables-legacy-save")  # fmt: skip


def host_state() -> str:
    """Give all of the host that a lab could have touched."""
    return subprocess.run(["sh", "-c", STATE], capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("name", ["rp-filter-reset", "br-netfilter-off", "kube-proxy-before-cilium"])
def test_the_twin_of_a_recorded_node_does_what_the_model_says(name: str) -> None:
    """A bundle rebuilt on the kernel fails as its node did: frame by frame, rule by rule."""
    require_lab()
    result = podpath("lab", "twin", str(EXAMPLES / name / "bundle"))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "They agree" in result.stdout


def test_an_incident_breaks_is_named_and_is_mended() -> None:
    """The life of a built-in incident: it works, is broken, diagnosed from its bundle alone, and works again."""
    result = podpath("lab", "incident", "rp-filter-reset")
    assert result.returncode == 0, result.stderr
    states = [line.split() for line in result.stdout.splitlines() if line.startswith("  ") and len(line.split()) == 2]
    assert ["works", "ok"] in states
    assert ["broken", "timeout"] in states
    assert ["mended", "ok"] in states
    assert "rp_filter" in result.stdout


def test_a_killed_lab_leaves_nothing_behind() -> None:
    """Whenever it is killed, no namespace, link, rule, sysctl or mount of the host is other than before."""
    before = host_state()
    for delay in (0.4, 0.8, 1.2):
        process = subprocess.Popen([sys.executable, "-m", "podpath", "lab", "agree", "--cases", "500", "--jobs", "2"],
                                   stdout=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    podpath("lab", "agree", "--cases", "1", "--jobs", "1")
    assert before == host_state()


def test_without_root_the_lab_says_so() -> None:
    """A user without root gets a sentence that says what to do, and exit code 2."""
    command = ["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-m", "podpath", "lab", "agree", "--cases", "1"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", env={**os.environ, "HOME": "/"})
    assert result.returncode == 2
    assert "needs root" in result.stderr
