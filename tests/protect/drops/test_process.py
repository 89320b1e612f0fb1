"""Tests of `protect.drops.process`: its lines, its end, and what it says where it fails."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import pytest

from podpath_protect.drops.options import DropOptions
from podpath_protect.drops.process import WatchingError, WatchingProcess, command

SHELL = ("sh", "-c")


def read(process: WatchingProcess) -> list[bytes]:
    """Wait for lines."""
    select.select([process], [], [], 10)
    return process.read_lines()


def test_lines_come_whole() -> None:
    """Half a line waits for the rest of it."""
    process = WatchingProcess((*SHELL, "printf 'one\\ntw'; sleep 0.3; printf 'o\\n'; cat"), 256)
    try:
        found = read(process)
        while len(found) < 2:
            found += read(process)
    finally:
        process.close()
    assert found == [b"one", b"two"]


def test_its_end_says_why() -> None:
    """What it wrote to standard error is the reason."""
    process = WatchingProcess((*SHELL, "echo no BPF here >&2; exit 2"), 256)
    try:
        with pytest.raises(WatchingError, match="no BPF here"):
            read(process)
    finally:
        process.close()


def test_it_ends_when_its_input_does() -> None:
    """So it ends with the agent, however that ends; one that does not is killed."""
    for line in ("cat", "trap '' TERM; sleep 60"):
        process = WatchingProcess((*SHELL, line), 256)
        process.close()
        assert not Path(f"/proc/{process.pid}").exists()


def test_a_program_that_is_not_there_is_said() -> None:
    """And no descriptor stays open."""
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208  # only counted
    with pytest.raises(WatchingError, match="No such file"):
        WatchingProcess(("/nowhere/podpath",), 256)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208  # as above


def test_the_command_is_the_watch() -> None:
    """JSON lines, until its input ends, of the node that is asked for."""
    words = command(DropOptions(every=3.0, node_netns="node1"))
    assert words[0] == sys.executable
    assert words[-5:] == ("--until-eof", "--every", "3", "--node-netns", "node1")
