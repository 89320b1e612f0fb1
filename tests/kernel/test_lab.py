"""The lab on the real kernel: it agrees on recorded nodes, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from podpath_lab.apply import TRACING, require_lab
from podpath_lab.drops import PREFIX, is_running
from podpath_lab.incidents.registry import INCIDENTS
from tests.command import podpath

pytestmark = pytest.mark.kernel("iptables-nft-restore", "conntrack", "nft", "ipset", "ovs-vswitchd")

EXAMPLES = Path(__file__).parents[2] / "examples" / "incidents"
STATE = ("ip netns list; ip -br link; ip rule; ip route show table all; sysctl -a 2>/dev/null | "
         "grep -E 'rp_filter|forward'; grep -v ' nsfs ' /proc/self/mounts; iptables-save; "
         "iptables-legacy-save")  # fmt: skip
"""Mounts of namespaces are left out: those of other tests, copied when the world was made, go when
their tests end.
"""
KILLED = f"""
mount -t tmpfs none /run/netns
state() {{ {STATE}; }}
before=$(state)
for delay in 0.4 0.8 1.2; do
  setsid {sys.executable} -m podpath lab agree --cases 500 --jobs 2 >/dev/null 2>&1 &
  until ps -s $! >/dev/null; do sleep 0.1; done
  sleep $delay
  kill -s STOP -- -$!
  ps -o pid= -s $!
  kill -s KILL -- -$!
  wait
  while ps -o stat= -s $! | grep -qv Z; do sleep 0.1; done
done
{sys.executable} -m podpath lab agree --cases 1 --jobs 1 >/dev/null
test "$before" = "$(state)"
"""
"""Prints the processes that it kills: stopped first, so that none is born between, and waited for,
so that the last run finds all of them gone.
"""


def orphans(killed: set[str]) -> set[str]:
    """Return the processes that are gone and whose trace instances are not."""
    if not TRACING.is_dir():
        return set()
    instances = (TRACING / "instances").glob(f"{PREFIX}*")
    left = killed & {path.name.removeprefix(PREFIX) for path in instances}
    return {process for process in left if not is_running(int(process))}


@pytest.mark.parametrize(
    "name", ["rp-filter-reset", "br-netfilter-off", "kube-proxy-before-cilium", "host-disconnect"]
)
def test_the_twin_of_a_recorded_node_does_what_the_model_says(name: str) -> None:
    """A bundle rebuilt on the kernel fails as its node did: frame by frame, rule by rule."""
    require_lab()
    result = podpath("lab", "twin", str(EXAMPLES / name / "bundle"))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "They agree" in result.stdout


def test_a_twin_with_open_vswitch_teaches_the_wrong_mac() -> None:
    """The look-up that goes out by a slave of the bond teaches the switch's neighbours the slave's
    MAC, as it did on the node.
    """
    require_lab()
    probe = "udp 10.88.14.57 > 169.254.169.254:80 from host"
    result = podpath("lab", "twin", str(EXAMPLES / "host-disconnect/bundle"), "--probe", probe)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "wire-0 holds 10.88.14.57 at 3c:fd:fe:a2:40:10" in result.stdout


LEFTOVERS = {
    "conntrack-full": "its table takes half a minute to read and as long to write again",
    "cni-chain-race": (
        "entries of rules that are gone: the model takes conntrack to be on where there are any"
    ),
    "missing-masquerade": "as cni-chain-race",
}
"""Incidents whose twins are not compared here, and why."""


@pytest.mark.parametrize("name", sorted(INCIDENTS.keys() - LEFTOVERS.keys()))
def test_an_incidents_name_stands_for_its_broken_node(name: str) -> None:
    """The twin of a built-in incident, built from what its broken node's bundle shows, fails frame
    by frame as the model says.
    """
    require_lab()
    result = podpath("lab", "twin", name)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "They agree" in result.stdout


def test_an_incident_breaks_is_named_and_is_mended() -> None:
    """The life of a built-in incident: it works, is broken, diagnosed from its bundle alone, and
    works again.
    """
    result = podpath("lab", "incident", "rp-filter-reset")
    assert result.returncode == 0, result.stderr
    states = [
        line.split()
        for line in result.stdout.splitlines()
        if line.startswith("  ") and len(line.split()) == 2
    ]
    assert ["works", "ok"] in states
    assert ["broken", "timeout"] in states
    assert ["mended", "ok"] in states
    assert "rp_filter" in result.stdout


def test_a_killed_lab_leaves_nothing_behind() -> None:
    """Whenever it is killed, no namespace, link, rule, sysctl or mount of the host is other than
    before.

    The host is a network and mount namespace of the test's own, since other tests change the
    machine's meanwhile.
    """
    world = ["unshare", "--mount", "--net", "--propagation", "private", "sh", "-c", KILLED]
    done = subprocess.run(world, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    killed = set(done.stdout.split())
    assert len(killed) >= 3
    assert orphans(killed) == set()


def test_workers_end_with_the_process_that_started_them() -> None:
    """Where only the parent is killed, its workers go too, and with them their namespaces."""
    command = [sys.executable, "-m", "podpath", "lab", "agree", "--cases", "100000", "--jobs", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as parent:
        deadline = time.monotonic() + 90
        seen, lasting = set[int](), set[int]()
        while (
            len(lasting) < 3 and time.monotonic() < deadline
        ):  # programs that it calls end at once
            time.sleep(0.1)
            now = set(members(parent.pid))
            seen, lasting = now, now & seen
        os.kill(parent.pid, signal.SIGKILL)
    assert len(lasting) >= 3, "two workers were not started"
    while members(parent.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = members(parent.pid)
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert left == []


def members(session: int) -> list[int]:
    """Return the processes of a session that are alive."""
    found = subprocess.run(
        ["ps", "-o", "pid=,stat=", "-s", str(session)], capture_output=True, text=True, check=False
    ).stdout
    rows = [row.split() for row in found.splitlines()]
    return [int(process) for process, state in rows if not state.startswith("Z")]


def test_without_root_the_lab_says_so() -> None:
    """A user without root gets a sentence that says what to do, and exit code 2."""
    command = [
        "setpriv",
        "--reuid",
        "65534",
        "--clear-groups",
        sys.executable,
        "-m",
        "podpath",
        "lab",
        "agree",
        "--cases",
        "1",
    ]
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={**os.environ, "HOME": "/"},
    )
    assert result.returncode == 2
    assert "needs root" in result.stderr
