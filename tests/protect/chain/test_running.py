"""The runtime that a node runs is the one whose choice counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from podpath.cni.runtimes import CONTAINERD, CRIO
from podpath_protect.apply import Applier
from podpath_protect.chain.guard import ChainGuard
from podpath_protect.chain.options import ChainOptions
from podpath_protect.chain.running import LOOK_SECONDS, RunningRuntimes, find_runtimes
from tests.protect.folders import BRIDGE, MESH, listed


@pytest.fixture
def runs(tmp_path: Path) -> Callable[..., Path]:
    """Make a /proc in which programs of these names run, and no others."""

    def make(*names: str) -> Path:
        proc = tmp_path / "proc"
        proc.mkdir(exist_ok=True)
        (proc / "self").mkdir(exist_ok=True)
        for comm in proc.glob("[0-9]*/comm"):
            comm.unlink()
        for number, name in enumerate(names, 100):
            (proc / str(number)).mkdir(exist_ok=True)
            (proc / str(number) / "comm").write_bytes(f"{name}\n".encode())
        return proc

    return make


def test_runtimes_are_found_by_their_processes(runs: Callable[..., Path]) -> None:
    """By the whole name: a shim is no runtime, and what is no text is nobody."""
    assert {CONTAINERD} == find_runtimes(runs("containerd-shim", "containerd", "kubelet"))
    assert {CONTAINERD, CRIO} == find_runtimes(runs("crio", "containerd"))
    assert set() == find_runtimes(runs("containerd-shim", "conmon", "crio-x", "é"))


def test_a_runtime_that_restarts_is_the_same_one(runs: Callable[..., Path]) -> None:
    """While it is away the last answer stands; another that comes instead is seen within a
    minute.
    """
    now = 0.0
    watched = RunningRuntimes(lambda: now, runs("crio"))
    seen = [watched.look()]
    for names in ((), ("containerd",)):
        runs(*names)
        seen.append(watched.look())
        now += LOOK_SECONDS
        seen.append(watched.look())

    assert [*[frozenset({CRIO})] * 4, frozenset({CONTAINERD})] == seen


@pytest.mark.parametrize(
    ("running", "holds"),
    [((CONTAINERD,), True), ((CRIO,), False), ((CONTAINERD, CRIO), False), ((), False)],
)
def test_the_running_runtimes_choice_counts(
    tmp_path: Path,
    running: tuple[str, ...],
    holds: bool,  # noqa: FBT001  # parametrized
) -> None:
    """CRI-O passes over a network whose programs are not there, and containerd does not look: on a
    node that runs containerd the chain holds, and where CRI-O may run it does not.
    """
    folder, programs = tmp_path / "net.d", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    (folder / "10-net.conflist").write_text(listed(BRIDGE, MESH))
    (programs / "linkerd-cni").write_text("#!/bin/sh\n")
    (programs / "linkerd-cni").chmod(0o755)
    options = ChainOptions(type="linkerd-cni", conf_dir=str(folder), bin_dirs=(str(programs),))
    guard = ChainGuard(options, Applier(), running=lambda: frozenset(running))

    look = guard.look(0.0)

    assert holds == look.holds
    assert (len(running) == 1) == (len(look.verdicts) == 1)
