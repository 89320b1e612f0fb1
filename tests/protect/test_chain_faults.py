"""Faults while a configuration is written: killed at every system call, a full disk, a read-only
file system.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path

import pytest

from podpath.cni.runtimes import RuntimeSettings, judge_containerd
from podpath_protect.apply import TEMPORARY, Applier, ApplyError
from podpath_protect.chain.folder import read_folder
from tests.protect.folders import BRIDGE, listed, single
from tests.protect.nodes import ENTRY, CniNode

MARK = "podpath-begins-here"
OLD, NEW = listed(BRIDGE), listed(*[BRIDGE] * 60)

WRITE = f"""
import os, sys
from pathlib import Path
from podpath_protect.apply import Applier
path, new = Path(sys.argv[1]) / "net.d" / "10-net.conflist", Path(sys.argv[1], "new").read_bytes()
applier = Applier()
try: os.stat("{MARK}")
except OSError: pass
applier.write_file(path, new)
os._exit(0)
"""
CHAIN = f"""
import os, sys
from pathlib import Path
from podpath_protect.apply import Applier
from podpath_protect.chain.guard import ChainGuard
from podpath_protect.chain.options import ChainOptions
from podpath_protect.chain.removal import remove
options = ChainOptions(entry=sys.argv[2], conf_dir=sys.argv[1] + "/net.d", bin_dirs=(sys.argv[1] + "/bin",))
guard = ChainGuard(options, Applier())
try: os.stat("{MARK}")
except OSError: pass
guard.look(1.0)
remove(options, Applier())
os._exit(0)
"""  # noqa: E501
CALL = re.compile(r"^(?:\d+ +)?(?P<name>\w+)\(")


def trace(program: str, *arguments: str, log: Path, inject: str = "") -> int:
    """Run a program under strace; `inject` kills it at a system call."""
    options = ["-e", f"inject={inject}"] if inject else []
    words = [
        "strace",
        "-f",
        "-qq",
        "-o",
        str(log),
        *options,
        sys.executable,
        "-c",
        program,
        *arguments,
    ]
    return subprocess.run(words, capture_output=True, check=False).returncode


def kill_points(log: Path, only: frozenset[str] | None = None) -> Iterator[tuple[str, int]]:
    """Yield each system call after the mark: its name, and how manieth of its name it is."""
    counted: Counter[str] = Counter()
    marked = False
    for line in log.read_text(errors="replace").splitlines():
        found = CALL.match(line)
        if found is not None:
            counted[found["name"]] += 1
            if marked and found["name"] != "exit_group" and (only is None or found["name"] in only):
                yield found["name"], counted[found["name"]]
            marked = marked or MARK in line


@pytest.mark.parity("L11")
@pytest.mark.kernel("strace")
def test_killed_at_every_system_call_of_a_write(tmp_path: Path) -> None:
    """Wherever a writer is killed the file is the old or the new one; what it leaves no runtime
    reads, and is swept up.
    """
    folder = tmp_path / "net.d"
    folder.mkdir()
    (tmp_path / "new").write_text(NEW)
    path, log = folder / "10-net.conflist", tmp_path / "log"
    path.write_text(OLD)
    assert trace(WRITE, str(tmp_path), log=log) == 0
    points = list(kill_points(log))
    seen: Counter[str] = Counter()
    for name, number in points:
        path.write_text(OLD)
        trace(WRITE, str(tmp_path), log=log, inject=f"{name}:signal=SIGKILL:when={number}")
        seen[
            "old" if path.read_text() == OLD else "new" if path.read_text() == NEW else "torn"
        ] += 1
        left = [other.name for other in folder.iterdir() if other.name != path.name]
        assert all(other.endswith(TEMPORARY) for other in left)
        assert (len(left), [path.name]) == (
            Applier().sweep(folder),
            [other.name for other in folder.iterdir()],
        )

    assert len(points) >= 15
    assert {"old", "new"} == set(seen), seen


@pytest.mark.parity("N2")
@pytest.mark.kernel("strace")
def test_a_write_survives_a_power_cut(tmp_path: Path) -> None:
    """The content is synchronised before it gets the name, and the directory after it."""
    (tmp_path / "net.d").mkdir()
    (tmp_path / "new").write_text(NEW)
    log = tmp_path / "log"
    trace(WRITE, str(tmp_path), log=log)

    assert ["fsync", "rename", "fsync"] == [
        name.removesuffix("at2").removesuffix("at")
        for name, _ in kill_points(log, CHANGING)
        if name.startswith(("fsync", "rename"))
    ]


CHANGING = frozenset(
    {
        "openat",
        "write",
        "fsync",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
        "unlinkat",
        "fchmod",
        "close",
        "flock",
    }
)


@pytest.mark.parity("G8")
@pytest.mark.kernel("strace")
def test_killed_while_a_single_configuration_is_wrapped_and_unwrapped(tmp_path: Path) -> None:
    """Wherever it is killed on the way from a single configuration to a list and back, containerd
    has a network, whole JSON.
    """
    node = CniNode(tmp_path / "node")
    text, log = single(name="my-net"), tmp_path / "log"
    node.write("10-net.conf", text)
    assert trace(CHAIN, str(node.root), ENTRY, log=log) == 0
    points = list(kill_points(log, CHANGING))
    states: Counter[tuple[str, ...]] = Counter()
    for name, number in points:
        for path in node.conf.iterdir():
            path.unlink()
        node.write("10-net.conf", text)
        trace(CHAIN, str(node.root), ENTRY, log=log, inject=f"{name}:signal=SIGKILL:when={number}")
        verdict = judge_containerd(read_folder(node.conf), RuntimeSettings())
        assert verdict.network is not None, (name, number, node.names())
        assert verdict.network.name == "my-net"
        states[verdict.network.types] += 1
        node.remove()
        assert ([("10-net.conf")], text) == (
            [name for name in node.names() if not name.endswith(TEMPORARY)],
            (node.conf / "10-net.conf").read_text(),
        )

    assert {("bridge",), ("bridge", "linkerd-cni")} == set(states)


@contextmanager
def small_disk(folder: Path, size: str = "64k") -> Iterator[Path]:
    """Mount a small file system."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "none", str(folder)], check=True
    )
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(file: RawIOBase) -> None:
    """Write until there is no space."""
    while True:
        file.write(b"x" * 4096)


@pytest.mark.kernel("mount")
def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """Without space the vendor's file stays as it was and it is told; when there is space again the
    plugin gets in.
    """
    with small_disk(tmp_path / "disk") as disk:
        node = CniNode(disk / "node")
        path = node.write("10-net.conflist", OLD)
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            fill(file)
        look = node.look()
        assert (OLD, False, "chain-refused") == (
            path.read_text(),
            look.holds,
            look.troubles[0].check,
        )
        assert "No space left on device" in look.troubles[0].claim
        assert ["10-net.conflist"] == [other.name for other in node.conf.iterdir()]

        filler.unlink()
        assert node.look().holds


@pytest.mark.kernel("mount")
def test_a_read_only_file_system_is_told(tmp_path: Path) -> None:
    """On a read-only file system nothing changes, it is told as that, and the keeper goes on."""
    with small_disk(tmp_path / "disk") as disk:
        node = CniNode(disk / "node")
        node.write("10-net.conflist", OLD)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        look = node.look()
        with pytest.raises(ApplyError) as caught:
            Applier().write_file(node.conf / "x", b"")

        assert "read-only" == caught.value.refusal
        assert "Read-only file system" in look.troubles[0].claim
        assert json.loads(OLD) == json.loads((node.conf / "10-net.conflist").read_text())
        with node.kept(poll=0.1) as kept:
            kept.wait_ready(ready=False)
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
            kept.wait_ready()


@pytest.mark.kernel
def test_foreign_files_are_refused(tmp_path: Path) -> None:
    """A configuration of a foreign owner, and a link, are not edited, and it is said whose they
    are.
    """
    node = CniNode(tmp_path / "node")
    path = node.write("10-net.conflist", OLD)
    os.chown(path, 65534, 65534)
    look = node.look()

    assert (OLD, False) == (path.read_text(), look.holds)
    assert "belongs to user 65534" in look.troubles[0].claim
