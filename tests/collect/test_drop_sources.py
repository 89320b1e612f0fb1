"""Drops heard by either way, and nothing left behind however the process ends."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.collect import drop_sources, tracefs
from podpath.collect.bpf import BpfError
from podpath.collect.drop_sources import (
    _EVENT,
    PREFIX,
    ProgramSource,
    TraceSource,
    open_source,
    remove_stale_instances,
)
from podpath.net.errors import PodpathError

MOUNTED = Path("/sys/kernel/tracing")
HOLD = """
import signal, sys, time
from podpath.collect import tracefs
from podpath.collect.drop_sources import TraceSource
if sys.argv[1:] == ["unmounted"]:
    tracefs.MOUNTS = ()
signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts the tests may ignore it
source = TraceSource()
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture
def tracing() -> Iterator[Path]:
    """Provide a mounted tracefs."""
    mounted = (MOUNTED / "instances").is_dir()
    if not mounted:
        subprocess.run(("mount", "-t", "tracefs", "none", str(MOUNTED)), check=True)
    yield MOUNTED
    if not mounted:
        subprocess.run(("umount", "-l", str(MOUNTED)), check=True)


def send() -> None:
    """Send a datagram that nobody wants."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", ("127.0.0.1", 9))


def instances(top: Path, process: int) -> list[Path]:
    """Return the trace instances of a process."""
    return list((top / "instances").glob(f"{PREFIX}{process}-*"))


@pytest.mark.kernel
def test_the_program_names_its_functions() -> None:
    """What frees a datagram without a socket is in UDP's receiving."""
    source = ProgramSource(100)
    try:
        send()
        source.wait(1)
        heard = [drop for drop in source.read() if drop.key.dport == 9]
        assert [drop.key.reason for drop in heard][:1] == ["NO_SOCKET"]
        assert "udp" in source.name(heard[0].key)
        assert any(one.key.dport == 9 for one in source.take_flows())
        assert source.count_losses().seen > 0
    finally:
        source.close()


@pytest.mark.kernel
def test_the_trace_event_tells_reason_and_function(tracing: Path) -> None:
    """Without BPF the kernel's word and function are told, and that addresses are not."""
    source = TraceSource()
    try:
        send()
        source.wait(1)
        time.sleep(0.1)
        heard = [drop for drop in source.read() if drop.key.reason == "NO_SOCKET"]
        assert any("udp" in source.name(drop.key) for drop in heard)
        assert source.lacks
        assert sum(one.packets for one in source.take_flows()) == source.count_losses().seen
        assert source.take_flows() == []
    finally:
        source.close()
    assert instances(tracing, os.getpid()) == []


@pytest.mark.parametrize("module", [b"", b" [nf_tables]"])
def test_a_function_of_a_module_hides_no_reason(module: bytes) -> None:
    """Since v6.7 rules free packets themselves, on most kernels in a module."""
    line = (
        b"  python-12 [001] b..1.  12.345678: kfree_skb: skbaddr=00f1 rx_sk=0000 protocol=2048 "
        b"location=nft_do_chain+0x1b0/0x5c0" + module + b" reason: NETFILTER_DROP"
    )
    found = _EVENT.search(line)

    assert found is not None
    assert (b"nft_do_chain+0x1b0/0x5c0", b"NETFILTER_DROP") == (found["location"], found["reason"])


def list_mounts() -> list[str]:
    """Return what is mounted, but for namespaces: other tests make and remove those."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="ascii").splitlines()
    return [line for line in lines if " - nsfs " not in line]


@pytest.mark.kernel
def test_where_tracefs_is_not_mounted_it_is_for_the_watch_alone(
    tracing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a node that is a set of namespaces, or in a container: nothing is mounted in any
    tree.
    """
    monkeypatch.setattr(tracefs, "MOUNTS", ())
    before = list_mounts()
    source = TraceSource()
    try:
        assert list_mounts() == before
        send()
        source.wait(1)
        time.sleep(0.1)
        assert any(drop.key.reason == "NO_SOCKET" for drop in source.read())
    finally:
        source.close()
    assert instances(tracing, os.getpid()) == []


@pytest.mark.kernel
@pytest.mark.parametrize("where", ["mounted", "unmounted"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_watch_leaves_no_instance(
    tracing: Path, number: signal.Signals, where: str
) -> None:
    """The child that waits for its end removes the instance."""
    with subprocess.Popen(
        (sys.executable, "-c", HOLD, where), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as held:
        assert held.stdout is not None
        assert held.stdout.readline() == b"ready\n"
        assert len(instances(tracing, held.pid)) == 1
        held.send_signal(number)
        held.wait()
    end = time.monotonic() + 60
    while instances(tracing, held.pid) and time.monotonic() < end:
        time.sleep(0.02)

    assert instances(tracing, held.pid) == []


def test_stale_instances_are_those_of_processes_that_are_gone(tmp_path: Path) -> None:
    """An instance of a process that runs stays, and so does what is not ours."""
    gone = subprocess.Popen(("true",))
    gone.wait()
    names = [f"{PREFIX}{gone.pid}-1a", f"{PREFIX}{os.getpid()}-1a", f"{PREFIX}x", "other"]
    for name in names:
        (tmp_path / "instances" / name).mkdir(parents=True)
    remove_stale_instances(tmp_path)

    assert sorted(path.name for path in (tmp_path / "instances").iterdir()) == sorted(names[1:])


def test_where_neither_way_is_open_both_refusals_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A machine without BTF and without tracefs says so of both."""

    def refuse() -> int:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(drop_sources, "BTF", tmp_path / "absent")
    monkeypatch.setattr(tracefs, "MOUNTS", (tmp_path,))
    monkeypatch.setattr(tracefs, "_mount", refuse)
    with pytest.raises(PodpathError, match=r"absent.*tracefs"):
        open_source("auto", 1)
    with pytest.raises(PodpathError, match="absent"):
        open_source("bpf", 1)
    with pytest.raises(PodpathError, match="tracefs"):
        open_source("tracefs", 1)


@pytest.mark.kernel
def test_where_bpf_is_refused_the_trace_event_is_read(
    monkeypatch: pytest.MonkeyPatch, tracing: Path
) -> None:
    """A kernel that does not allow BPF has tracefs instead."""
    del tracing

    def refuse(budget: int) -> ProgramSource:
        raise BpfError(f"load {budget}", 1)

    monkeypatch.setattr(drop_sources, "ProgramSource", refuse)
    source = open_source("auto", 1)
    try:
        assert isinstance(source, TraceSource)
    finally:
        source.close()
