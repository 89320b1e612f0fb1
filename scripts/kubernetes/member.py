"""One member of a cluster: a set of namespaces of its own (network, mounts, processes, host name,
IPC), held by its first process.

That process is called after the cluster and the member, so that whoever comes later finds it, and
does nothing but reap. When it ends the kernel ends every process of the set, unmounts its mounts
and deletes its devices.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.kubernetes.plan import Plan

_FIRST = """\
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp("sleep", [sys.argv[1], "infinity"])
"""
"""Where SIGCHLD is ignored the kernel reaps, across execve(2) as well (wait(2))."""
_MOUNTS = """\
set -e
mount -t proc proc /proc
mkdir -p "$1"/disk/cgroup "$1"/disk/kubelet "$1"/disk/containerd "$1"/disk/log
for folder in etc var; do
  mkdir -p "$1/disk/$folder/upper" "$1/disk/$folder/work"
done
mount --rbind /sys/fs/cgroup "$1/disk/cgroup"
mount -t sysfs sysfs /sys
mount --rbind "$1/disk/cgroup" /sys/fs/cgroup
umount -l "$1/disk/cgroup"
mount -t overlay -o "lowerdir=/etc,upperdir=$1/disk/etc/upper,workdir=$1/disk/etc/work" overlay /etc
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/cluster /run/netns /run/lock
mount --rbind "$2" /run/cluster
mount -t overlay -o "lowerdir=/var,upperdir=$1/disk/var/upper,workdir=$1/disk/var/work" overlay /var
rm -rf /etc/cni /var/lib/cni /var/log/pods /var/log/containers
mkdir -p /etc/cni/net.d /var/lib/kubelet /var/lib/containerd /var/lib/cni /var/log/pods
mount --bind "/run/cluster/$3/disk/kubelet" /var/lib/kubelet
mount --bind "/run/cluster/$3/disk/containerd" /var/lib/containerd
mount --bind "/run/cluster/$3/disk/log" /var/log/pods
for key in $4; do
  mkdir -p "/run/sysctl/$(dirname "$key")"
  cat "/proc/sys/$key" >"/run/sysctl/$key"
  mount --bind "/run/sysctl/$key" "/proc/sys/$key"
done
mount --make-rshared /
"""
"""The member's mounts, shared among its own processes alone, as systemd has them on a machine: pods
ask for volumes that follow the host's mounts.
"""
_MACHINE_WIDE = (
    "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
    "vm/overcommit_memory", "vm/panic_on_oom",
)  # fmt: skip
"""Sysctls that the kubelet sets and that have no namespaces: it gets files of its own to write
to.
"""
INSIDE = Path("/run/cluster")
"""Where a member sees the cluster's folder."""
_PATIENCE = 20.0


class MemberError(Exception):
    """A member does not come up, or a command in it failed. The message has what was printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member that runs."""

    plan: Plan
    name: str
    process: int
    """Its first process, as the machine numbers it."""

    @property
    def folder(self) -> Path:
        """Its folder, as the machine sees it."""
        return self.plan.folder(self.name)

    @property
    def inside(self) -> Path:
        """Its folder, as it sees it itself."""
        return INSIDE / self.name

    @property
    def netns(self) -> str:
        """The file of its network namespace."""
        return f"/proc/{self.process}/ns/net"

    def enter(self, *command: str | Path) -> list[str]:
        """Return the command that runs another one in the member."""
        path = f"PATH={self.inside}/bin:{os.environ['PATH']}"
        entering = ("nsenter", "--target", str(self.process), "--all", "--wdns=/")
        return [*entering, "env", path, *(str(word) for word in command)]

    def run(self, *command: str | Path, given: str | None = None, check: bool = True) -> str:
        """Run a command in the member, and return what it prints."""
        done = subprocess.run(
            self.enter(*command), input=given, capture_output=True, text=True, check=False
        )
        if check and done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise MemberError(f"{self.name}: {' '.join(map(str, command))}: {said}")
        return done.stdout

    def start(self, name: str, *command: str | Path) -> None:
        """Start a program that goes on by itself, with its log in the member's folder."""
        script = 'log=$1; shift; setsid "$@" >>"$log" 2>&1 </dev/null &'
        self.run("sh", "-c", script, "sh", self.inside / f"{name}.log", *command)

    def log(self, name: str) -> str:
        """Return the end of a program's log."""
        path = self.folder / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace")[-3000:] if path.exists() else ""


def launch(plan: Plan, name: str) -> Member:
    """Make the namespaces of a member and start its first process."""
    folder = plan.folder(name)
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    unshare = (
        "setsid",
        "--fork",
        "unshare",
        "--net",
        "--mount",
        "--uts",
        "--ipc",
        "--pid",
        "--fork",
        "--kill-child",
    )
    log = (folder / "unshare.log").open("ab")
    with log:
        subprocess.run(
            [*unshare, sys.executable, "-I", "-c", _FIRST, plan.marker(name)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=True,
        )
    until = time.monotonic() + _PATIENCE
    while (found := find(plan, name)) is None:
        if time.monotonic() > until:
            said = (folder / "unshare.log").read_text(encoding="utf-8").strip()
            raise MemberError(f"{name}: namespaces cannot be made here: {said}")
        time.sleep(0.02)
    entering = ("nsenter", "--target", str(found.process), "--all", "--wdns=/")
    keys = " ".join(_MACHINE_WIDE)
    done = subprocess.run(
        [*entering, "sh", "-c", _MOUNTS, "sh", str(folder), str(plan.home), name, keys],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise MemberError(f"{name}: mounts: {done.stderr.strip()}")
    found.run("sh", "-c", 'hostname "$1" && echo "$1" >/etc/hostname', "sh", name)
    found.run("ip", "link", "set", "lo", "up")
    return found


def find(plan: Plan, name: str) -> Member | None:
    """Find a member that runs."""
    marker = plan.marker(name)
    for process, words in _list_processes():
        if words[0] == marker:
            return Member(plan=plan, name=name, process=process)
    return None


def list_running(name: str) -> Iterator[tuple[int, str]]:
    """Yield the first processes of a cluster's members, and those that wait for them, each with
    its marker.
    """
    marker = Plan(name=name).marker()
    for process, words in _list_processes():
        for word in words:
            if word.startswith(marker):
                yield process, word
                break


def kill(name: str) -> None:
    """End every member of a cluster, and wait until its processes are gone."""
    until = time.monotonic() + _PATIENCE
    while running := [process for process, _ in list_running(name)]:
        if time.monotonic() > until:
            raise MemberError(f"processes {running} of {name} do not end")
        for process in running:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.05)


def _list_processes() -> Iterator[tuple[int, Sequence[str]]]:
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_text(encoding="utf-8", errors="replace").split("\0")
        except OSError:
            continue
        yield int(entry.name), words
