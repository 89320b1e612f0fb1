"""A pod and its node in network namespaces, redirect rules as the meshes write them, and the
validator run inside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

PREFIX = "pvt"
UNPRIVILEGED = (
    "setpriv",
    "--clear-groups",
    "--inh-caps=-all",
    "--ambient-caps=-all",
    "--bounding-set=-all",
    "--no-new-privs",
)
SOMEBODY = 65534


def run(*words: str, check: bool = True, stdin: str | None = None) -> str:
    """Run a program to its end and give what it printed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, input=stdin)
    assert not check or done.returncode == 0, (words, done.stderr)
    return done.stdout


@dataclass(frozen=True)
class Pod:
    """A pod's namespace behind a veth pair, and the node's."""

    name: str
    node: str

    def exec(self, *words: str) -> str:
        """Run a program inside, as root."""
        return run("ip", "netns", "exec", self.name, *words)

    def restore(self, *lines: str, families: str = "46", backend: str = "nft") -> None:
        """Load NAT rules by iptables-restore: `%P` is dropped."""
        for family in families:
            program = f"{'iptables' if family == '4' else 'ip6tables'}-{backend}-restore"
            run(
                "ip",
                "netns",
                "exec",
                self.name,
                program,
                stdin="\n".join(("*nat", *lines, "COMMIT", "")),
            )

    def start(
        self, *arguments: str, uid: int = SOMEBODY, netns: str | None = None
    ) -> subprocess.Popen[str]:
        """Start the validator inside, as a user without any capability."""
        user = (*UNPRIVILEGED, f"--reuid={uid}", f"--regid={uid}")
        words = (
            "ip",
            "netns",
            "exec",
            netns or self.name,
            *user,
            sys.executable,
            "-m",
            "podpath",
            "protect",
            "validate",
            *arguments,
        )
        return subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/"
        )

    def validate(self, *arguments: str, uid: int = SOMEBODY) -> Answer:
        """Run the validator inside to its end."""
        return finish(self.start("--json", *arguments, uid=uid))


@dataclass(frozen=True)
class Answer:
    """What the validator said."""

    code: int
    document: Any
    log: str

    def states(self, purpose: str) -> dict[int, str]:
        """Return the states of one purpose's checks, by family."""
        return {
            check["family"]: check["state"]
            for check in self.document["checks"]
            if check["purpose"] == purpose
        }

    def claims(self, state: str) -> str:
        """Return the claims of all checks in a state."""
        return "\n".join(
            check["claim"] + " " + check["rule"]
            for check in self.document["checks"]
            if check["state"] == state
        )


def finish(process: subprocess.Popen[str]) -> Answer:
    """Wait for a validator and read what it said."""
    out, log = process.communicate(timeout=60)
    return Answer(process.returncode, json.loads(out) if out else None, log)


@contextmanager
def pod(*, six: bool = True, addresses: bool = True) -> Iterator[Pod]:
    """Make a pod, 10.9.0.2 and fd00:9::2, whose node is 10.9.0.1 and fd00:9::1."""
    made = Pod(f"{PREFIX}{os.getpid()}p", f"{PREFIX}{os.getpid()}n")
    try:
        for name in (made.name, made.node):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run(
            "ip",
            "-n",
            made.node,
            "link",
            "add",
            "veth0",
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            made.name,
        )
        for name, device, last in ((made.node, "veth0", 1), (made.name, "eth0", 2)):
            run("ip", "-n", name, "link", "set", device, "up")
            if addresses:
                run("ip", "-n", name, "addr", "add", f"10.9.0.{last}/24", "dev", device)
            if six and addresses:
                run("ip", "-n", name, "addr", "add", f"fd00:9::{last}/64", "dev", device, "nodad")
        if addresses:
            run("ip", "-n", made.name, "route", "add", "default", "via", "10.9.0.1")
        if six and addresses:
            run("ip", "-n", made.name, "-6", "route", "add", "default", "via", "fd00:9::1")
        yield made
    finally:
        for name in (made.name, made.node):
            run("ip", "netns", "del", name, check=False)


def linkerd(*skip: int, inbound: bool = True, outbound: bool = True) -> Sequence[str]:
    """Write rules as linkerd-init does: the proxy's user and the loopback let go, skipped ports,
    the rest to 4140 and 4143.
    """
    lines = [":PROXY_INIT_OUTPUT - [0:0]", ":PROXY_INIT_REDIRECT - [0:0]"]
    if outbound:
        lines += [
            "-A PROXY_INIT_OUTPUT -m owner --uid-owner 2102 -j RETURN",
            "-A PROXY_INIT_OUTPUT -o lo -j RETURN",
        ]
        lines += [f"-A PROXY_INIT_OUTPUT -p tcp -m tcp --dport {port} -j RETURN" for port in skip]
        lines += [
            "-A PROXY_INIT_OUTPUT -p tcp -j REDIRECT --to-ports 4140",
            "-A OUTPUT -j PROXY_INIT_OUTPUT",
        ]
    if inbound:
        lines += [f"-A PROXY_INIT_REDIRECT -p tcp -m tcp --dport {port} -j RETURN" for port in skip]
        lines += [
            "-A PROXY_INIT_REDIRECT -p tcp -j REDIRECT --to-ports 4143",
            "-A PREROUTING -j PROXY_INIT_REDIRECT",
        ]
    return lines


def istio() -> Sequence[str]:
    """Write rules as istio-iptables does, for IPv4."""
    return (
        ":ISTIO_OUTPUT - [0:0]", ":ISTIO_REDIRECT - [0:0]", ":ISTIO_IN_REDIRECT - [0:0]",
        ":ISTIO_INBOUND - [0:0]",
        "-A PREROUTING -p tcp -j ISTIO_INBOUND", "-A ISTIO_INBOUND -p tcp -j ISTIO_IN_REDIRECT",
        "-A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports 15006",
        "-A ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports 15001",
        "-A OUTPUT -p tcp -j ISTIO_OUTPUT", "-A ISTIO_OUTPUT -s 127.0.0.6/32 -o lo -j RETURN",
        ("-A ISTIO_OUTPUT ! -d 127.0.0.1/32 -o lo -p tcp -m tcp ! --dport 15008 -m owner "
        "--uid-owner 1337 -j ISTIO_IN_REDIRECT"),
        "-A ISTIO_OUTPUT -o lo -m owner ! --uid-owner 1337 -j RETURN",
        "-A ISTIO_OUTPUT -m owner --uid-owner 1337 -j RETURN",
        "-A ISTIO_OUTPUT -d 127.0.0.1/32 -j RETURN", "-A ISTIO_OUTPUT -j ISTIO_REDIRECT",
    )  # fmt: skip


@contextmanager
def server(netns: str, family: int, port: int, *, says: str | None) -> Iterator[None]:
    """Be somebody else at 192.0.2.2 or fd00::1 on the node: says something and hangs up, or (None)
    stays silent.
    """
    address = "fd00::1" if family == 6 else "192.0.2.2"
    run(
        "ip",
        "-n",
        netns,
        "addr",
        "add",
        f"{address}/{128 if family == 6 else 32}",
        "dev",
        "lo",
        *(["nodad"] if family == 6 else []),
    )
    code = (
        "import socket, sys, time\n"
        f"s = socket.create_server(({address!r}, {port}), "
        f"family=socket.AF_INET{'6' if family == 6 else ''})\n"
        "print('up', flush=True)\n"
        "c, _ = s.accept()\n"
        f"says = {says!r}\n"
        "time.sleep(120) if says is None else c.sendall(says.encode())\n"
        "c.close()\n"
    )
    process = subprocess.Popen(
        ["ip", "netns", "exec", netns, sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_for(what: str, process: subprocess.Popen[str], seconds: float = 60.0) -> str:
    """Read a process's log until a word comes."""
    assert process.stderr is not None
    read, over = "", time.monotonic() + seconds
    while what not in read and time.monotonic() < over:
        line = process.stderr.readline()
        if not line:
            break
        read += line
    return read
