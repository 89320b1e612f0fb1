"""The one module of the lab that changes a system: a private world of namespaces, and commands run
in it.

`enter_private_world` moves this process into mount and network namespaces of its own and mounts an
empty /run/netns there, so that `ip netns add` makes names that nobody else sees. Nothing of the
host is touched, and when the process ends, however it ends, the kernel takes everything down: there
is nothing to clean up (mount_namespaces(7), network_namespaces(7)).
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from podpath.collect import netns as netns_file
from podpath.net.errors import PodpathError
from podpath_lab.script import WRITE_SYSCTLS, ScriptCommand
from podpath_lab.switches import SCHEMA

NETNS_DIRECTORY = Path("/run/netns")
SYSCTLS = Path("/proc/sys")
TRACING = Path("/sys/kernel/tracing")
TOOLS = {
    "ip": "iproute2", "bridge": "iproute2", "sysctl": "procps", "iptables-nft-restore": "iptables",
    "iptables-legacy-restore": "iptables", "conntrack": "conntrack", "ipset": "ipset",
    "nft": "nftables",
}  # fmt: skip
"""Programs that the lab runs, and the Debian package of each."""
LEARNER_TOOLS = {
    "tcpdump": "tcpdump", "curl": "curl", "ping": "iputils-ping", "nsenter": "util-linux",
    "unshare": "util-linux",
}  # fmt: skip
"""What a learner finds faults with, besides."""

COMMAND_SECONDS = 900
"""How long a command may take: one hangs, or the machine is emulated and busy."""

_CLONE_NEWNS, _CLONE_NEWNET = 0x20000, 0x40000000
_PR_SET_PDEATHSIG, _PR_GET_PDEATHSIG = 1, 2
_daemons: list[subprocess.Popen[bytes]] = []
_worlds: list[subprocess.Popen[bytes]] = []
_libc = ctypes.CDLL(None, use_errno=True)


class LabError(PodpathError):
    """The lab cannot be set up here, or a command of it failed. The message says what is missing or
    what it printed.
    """


def require_lab(needed: Iterable[str] = TOOLS) -> None:
    """Check that the lab can run here; `LabError` says what is missing."""
    tools = {**LEARNER_TOOLS, **TOOLS}
    if os.geteuid() != 0:
        raise LabError(
            "the lab builds network namespaces and needs root; run it with sudo, or print the "
            "script: podpath lab script"
        )
    missing = sorted({tools[tool] for tool in needed if shutil.which(tool) is None})
    if missing:
        raise LabError(
            "the lab needs programs that are not installed; on Debian: apt-get install "
            f"{' '.join(missing)}"
        )


def enter_private_world() -> None:
    """Move this process into its own mount and network namespaces; once in a process, before it
    starts threads.
    """
    if _libc.unshare(_CLONE_NEWNS | _CLONE_NEWNET) != 0:
        error = os.strerror(ctypes.get_errno())
        raise LabError(f"expected to make namespaces, the kernel said: {error}")
    NETNS_DIRECTORY.mkdir(parents=True, exist_ok=True)
    mounts = [("--make-rprivate", "/"), ("-t", "tmpfs", "none", str(NETNS_DIRECTORY))]
    if not (
        TRACING / "events"
    ).is_dir():  # where the machine has it mounted already, a second mount is refused as busy
        mounts.append(("-t", "tracefs", "none", str(TRACING)))
    for arguments in mounts:
        run(ScriptCommand(("mount", *arguments)))
    load_bridge_filter()


def load_bridge_filter() -> None:
    """Load br_netfilter where it is a module: without it its sysctls, which a twin sets, do not
    exist.
    """
    if not Path("/proc/sys/net/bridge").is_dir() and shutil.which("modprobe") is not None:
        subprocess.run(("modprobe", "-q", "br_netfilter"), check=False)  # as above


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, however that ends (prctl(2),
    PR_SET_PDEATHSIG).

    A worker that outlived its parent would keep its namespaces, and wait for a reader that is gone.
    `parent` is the process that forked this one: where it ended before the request was made, this
    process ends at once.
    """
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


@contextmanager
def as_user(uid: int) -> Iterator[None]:
    """Act as a user for the length of a block. The kernel forgets with a change of user that this
    process is to end with its parent (commit_creds, v6.12), so it is told again.
    """
    parent, asked = os.getppid(), ctypes.c_int(0)
    _libc.prctl(_PR_GET_PDEATHSIG, ctypes.byref(asked), 0, 0, 0)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        if asked.value:
            die_with_parent(parent)


def run(command: ScriptCommand) -> str:
    """Run one command to its end and give what it printed; `LabError` with its error output where
    it fails.
    """
    with inside(command.netns):
        if command.arguments == WRITE_SYSCTLS:
            return _write_sysctls(command)
        if command.stays:
            return _start(command)
        done = subprocess.run(
            command.arguments,
            input=command.stdin or None,
            stdin=None if command.stdin else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_SECONDS,
        )
    if done.returncode != 0:
        shown = f"\nit read:\n{command.stdin}" if command.stdin else ""
        raise LabError(f"{_name(command)} failed: {done.stderr.strip()}{shown}")
    return done.stdout


def _start(command: ScriptCommand) -> str:
    """Start a daemon that the kernel ends with this process, however that ends."""
    bound = ("setpriv", "--pdeathsig", "KILL", *command.arguments)
    nothing = subprocess.DEVNULL
    _daemons.append(subprocess.Popen(bound, stdin=nothing, stdout=nothing, stderr=nothing))
    return ""


def start_world(command: Sequence[str]) -> str:
    """Start a process that lives on by itself, as the first of a process namespace, and return the
    first line that it says.

    Whatever ends it ends all that runs in its namespace, and whatever ends the `unshare` above it
    ends it, too (unshare(1), --kill-child).
    """
    words = ("unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--", *command)
    nothing = subprocess.DEVNULL
    world = subprocess.Popen(
        words, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing, start_new_session=True
    )
    if world.stdout is None:
        raise AssertionError("its output is a pipe")
    with world.stdout as out:
        said = out.readline().decode("utf-8", "replace").strip()
    _worlds.append(world)  # for whoever starts it, it lives on
    return said


def enter_world(process: int, command: Sequence[str]) -> int:
    """Run a command inside the namespaces of a world's process, on this terminal, and return its
    exit code.
    """
    words = ("nsenter", f"--target={process}", "--mount", "--net", "--pid", "--", *command)
    return subprocess.run(words, check=False).returncode


def stop_daemons() -> None:
    """End what was started to stay."""
    while _daemons:
        daemon = _daemons.pop()
        daemon.kill()
        daemon.wait()


def _name(command: ScriptCommand) -> str:
    return f"`{' '.join(command.arguments)}` in {command.netns or 'the lab'}"


def _write_sysctls(command: ScriptCommand) -> str:
    """Do what sysctl(8) does, without a process of its own for each namespace of each twin: it
    takes a tenth of the time.
    """
    for line in command.stdin.splitlines():
        key, _, value = line.partition(" = ")
        try:
            (SYSCTLS / key).write_text(value)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise LabError(f"{_name(command)} failed: {line}: {error.strerror}") from error
    return ""


def apply(commands: Iterable[ScriptCommand]) -> None:
    """Run commands in order; the first that fails ends it with `LabError`."""
    for command in commands:
        run(command)


def list_tunnels(kinds: Iterable[str]) -> frozenset[str]:
    """Return which kinds of tunnel devices this kernel makes; in a private world."""
    return frozenset(kind for kind in kinds if _makes(kind))


def _makes(kind: str) -> bool:
    name = f"podpath-{kind}"
    more = ("id", "1", "remote", "127.0.0.2") if kind == "geneve" else ("remote", "127.0.0.2")
    try:
        run(ScriptCommand(("ip", "link", "add", name, "type", kind, *more)))
    except LabError:
        return False
    run(ScriptCommand(("ip", "link", "del", name)))
    return True


def read_neighbours(netns: str) -> Iterator[tuple[str, str]]:
    """Yield the (address, MAC) pairs that a namespace holds."""
    for entry in json.loads(run(ScriptCommand(("ip", "-n", netns, "-j", "neigh"))) or "[]"):
        if "lladdr" in entry:
            yield entry["dst"], entry["lladdr"]


def has_openvswitch() -> bool:
    """Tell whether Open vSwitch is installed, with the schema that its database is made from."""
    return (
        shutil.which("ovs-vswitchd") is not None
        and shutil.which("ovsdb-tool") is not None
        and Path(SCHEMA).is_file()
    )


@contextmanager
def inside(netns: str | None) -> Iterator[None]:
    """Be in a namespace of the lab, by its name, for the length of a block; None stays where the
    lab itself is.
    """
    if netns is None:
        yield
        return
    with netns_file.inside(str(NETNS_DIRECTORY / netns)):
        yield
