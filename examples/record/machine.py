"""Network namespaces to break things in: a node, its pods, and whatever stands around it.

The node is a namespace without a name, as a real node's own is: its pods then see an anonymous
peer, and the node sees its pods by the names that a container runtime gives to their namespaces.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType


@dataclass(frozen=True, slots=True)
class Netns:
    """One network namespace, and how a command is started in it."""

    name: str
    enter: tuple[str, ...]
    """The command line that another command is put behind."""
    handle: str
    """What `ip link set DEV netns` takes: a name or a process id."""

    def run(self, *command: str, check: bool = True, timeout: float = 60) -> str:
        """Run a command and give its standard output; an error ends the recording with what the
        command said.
        """
        done = subprocess.run(
            [*self.enter, *command],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if check and done.returncode != 0:
            raise RuntimeError(
                f"{self.name}: {shlex.join(command)}: {done.stderr.strip() or done.stdout.strip()}"
            )
        return done.stdout

    def shell(self, line: str, timeout: float = 60) -> str:
        """Run a line as a person types it, pipes and all, and give everything that the terminal
        would show.
        """
        done = subprocess.run(
            [*self.enter, "bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.stdout

    def feed(self, command: Sequence[str], text: str) -> None:
        """Run a command with text on its standard input (`iptables-restore`, `nft -f -`)."""
        done = subprocess.run(
            [*self.enter, *command], input=text, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {shlex.join(command)}: {done.stderr.strip()}")

    def ip(self, line: str) -> None:
        """Run `ip` with the arguments of the line."""
        self.run("ip", *shlex.split(line))

    def sysctl(self, **settings: str | int) -> None:
        """Set sysctls; `__` in a keyword stands for a dot."""
        for key, value in settings.items():
            self.run("sysctl", "-q", "-w", f"{key.replace('__', '.')}={value}")


@dataclass(slots=True)
class Machine:
    """Everything of one recording; leaving it ends every process and deletes every namespace that
    it made.
    """

    stack: ExitStack = field(default_factory=ExitStack)
    scratch: Path = field(init=False)
    """A folder for what programs leave behind."""

    def __enter__(self) -> Self:
        """Make the scratch folder."""
        self.scratch = Path(self.stack.enter_context(TemporaryDirectory(prefix="podpath-record-")))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take everything down, last made first."""
        self.stack.close()

    def node(self) -> Netns:
        """Make the node: a namespace without a name, with its own /sys."""
        separate = ("unshare", "--net", "--mount", "--propagation", "slave")
        hold = "mount -t sysfs sysfs /sys && echo up && exec sleep 3600"
        holder = subprocess.Popen(
            [*separate, "bash", "-c", hold], stdout=subprocess.PIPE, text=True
        )
        self.stack.callback(end, holder)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "up\n"
        netns = Netns(
            "node", ("nsenter", "--net", "--mount", "--target", str(holder.pid)), str(holder.pid)
        )
        netns.ip("link set lo up")
        return netns

    def named(self, name: str) -> Netns:
        """Make a namespace with a name: a pod, or something in the network around the node."""
        subprocess.run(["ip", "netns", "add", name], check=True)
        self.stack.callback(delete_netns, name)
        netns = Netns(name, ("ip", "netns", "exec", name), name)
        netns.ip("link set lo up")
        return netns

    @staticmethod
    def veth(
        one: Netns, device: str, other: Netns, peer: str, *, macs: tuple[str, str] | None = None
    ) -> None:
        """Join two namespaces by a veth pair whose ends are up, without checksum offload (captures
        then show true sums).
        """
        addresses = (f"address {macs[0]}", f"address {macs[1]}") if macs else ("", "")
        subprocess.run(
            shlex.split(
                f"ip link add {device} netns {one.handle} {addresses[0]} type veth "
                f"peer name {peer} netns {other.handle} {addresses[1]}"
            ),
            check=True,
        )
        for netns, name in ((one, device), (other, peer)):
            netns.run("ethtool", "-K", name, "tx", "off")
            netns.ip(f"link set {name} up")

    def serve(self, netns: Netns, port: int, answer: str) -> None:
        """Answer HTTP on every address of the namespace: the same text whatever is asked for."""
        command = ["python3", str(Path(__file__).with_name("answer.py")), str(port), answer]
        server = subprocess.Popen(
            [*netns.enter, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.stack.callback(end, server)
        wait_until(
            lambda: f":{port} " in netns.run("ss", "-tln"),
            f"the server on port {port} in {netns.name}",
        )


_RING = 32 * 1024
"""KiB for packets that tcpdump has not read yet. In immediate mode one takes as much as the snap
length, 256 KiB: the usual 2 MiB hold eight, and a busy machine loses the ninth.
"""


@contextmanager
def capture(netns: Netns, device: str, file: Path, *filters: str) -> Iterator[None]:
    """Capture a device into FILE.pcap while the block runs, then print it into FILE.txt, with MACs
    where it is one device.
    """
    pcap, text = file.with_suffix(".pcap"), file.with_suffix(".txt")
    pcap.parent.mkdir(parents=True, exist_ok=True)
    dump = subprocess.Popen(
        [
            *netns.enter,
            "tcpdump",
            "-Z",
            "root",
            "--immediate-mode",
            "-B",
            str(_RING),
            "-i",
            device,
            "-U",
            "-w",
            str(pcap),
            *filters,
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert dump.stderr is not None
    while "listening on" not in dump.stderr.readline():
        assert dump.poll() is None, "tcpdump did not start"
    yield
    time.sleep(0.3)
    end(dump)
    text.write_text(
        netns.run("tcpdump", "-nn", *(() if device == "any" else ("-e",)), "-r", str(pcap)),
        encoding="ascii",
    )


def end(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """End a process that this recording started, and close what it was read by."""
    with process:
        if process.poll() is None:
            process.send_signal(signal.SIGINT if "tcpdump" in str(process.args) else signal.SIGTERM)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()


def delete_netns(name: str) -> None:
    """Delete a named namespace and what still runs in it."""
    pids = subprocess.run(
        ["ip", "netns", "pids", name], capture_output=True, text=True, check=False
    ).stdout.split()
    if pids:
        subprocess.run(["kill", *pids], check=False)
    subprocess.run(["ip", "netns", "del", name], check=False)


def wait_until(ready: object, what: str, seconds: float = 10) -> None:
    """Wait for something to become true; a recording that would be wrong ends here."""
    assert callable(ready)
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.1)
