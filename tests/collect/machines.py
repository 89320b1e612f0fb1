"""Nodes as network namespaces of one machine, for the tests of snapshots."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Self

PREFIX = f"pm{os.getpid()}"


def ip(*words: str, netns: str | None = None) -> None:
    """Run `ip`, in a namespace where one is named."""
    within = () if netns is None else ("-n", netns)
    subprocess.run(("ip", *within, *words), check=True)


class Machine:
    """Nodes on one wire, each with pods behind veth pairs of a bridge; pods of the same place have
    the same name, index, address and MAC on every node.
    """

    def __init__(self, nodes: Sequence[str] = ("a", "b"), pods: int = 2) -> None:
        """Plan for nodes of these names with so many pods each."""
        self.nodes = [f"{PREFIX}-{name}" for name in nodes]
        self.wire = f"{PREFIX}-wire"
        self._pods = pods
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Build it."""
        with ExitStack() as building:
            self._build(building)
            self._stack = building.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Take it all away."""
        self._stack.close()

    def _build(self, stack: ExitStack) -> None:
        add_netns(stack, self.wire)
        ip("link", "add", "switch", "up", "type", "bridge", netns=self.wire)
        for place, node in enumerate(self.nodes):
            add_netns(stack, node)
            ip(
                "link",
                "add",
                "eth0",
                "index",
                "2",
                "type",
                "veth",
                "peer",
                f"port{place}",
                "netns",
                self.wire,
                netns=node,
            )
            ip("link", "set", f"port{place}", "master", "switch", "up", netns=self.wire)
            ip("addr", "add", f"192.0.2.{place + 1}/24", "dev", "eth0", netns=node)
            ip("link", "set", "eth0", "up", netns=node)
            ip("route", "add", "default", "via", "192.0.2.254", netns=node)
            ip("link", "add", "cni0", "index", "3", "up", "type", "bridge", netns=node)
            for number in range(self._pods):
                self._add_pod(stack, node, number)

    def _add_pod(self, stack: ExitStack, node: str, number: int) -> None:
        """Add a pod, linked crosswise: the indices of one pod's ends are those of another's,
        too.
        """
        netns, outside = f"{node}-{number}", f"veth{number}"
        add_netns(stack, netns)
        ends = ("address", f"02:00:00:00:00:0{number}", "netns", netns, "index", "2")
        index = str(10 + number)
        ip(
            "link",
            "add",
            outside,
            "index",
            index,
            "type",
            "veth",
            "peer",
            "eth0",
            *ends,
            netns=node,
        )
        ip("link", "set", outside, "master", "cni0", "up", netns=node)
        ip("addr", "add", f"10.244.0.{number + 2}/24", "dev", "eth0", netns=netns)
        ip("link", "set", "eth0", "up", netns=netns)
        run_in(stack, netns, f"web-{number}")


def add_netns(stack: ExitStack, name: str) -> None:
    """Add a namespace, and take it away at the end of the stack."""
    ip("netns", "add", name)
    stack.callback(subprocess.run, ("ip", "netns", "del", name), check=False)


def run_in(stack: ExitStack, netns: str, host_name: str) -> subprocess.Popen[bytes]:
    """Have a process live in a namespace that sees a host name of its own, and wait until it
    does.
    """
    script = 'hostname "$1"; echo; exec sleep 600'
    words = ("nsenter", f"--net=/run/netns/{netns}", "unshare", "--uts", "sh", "-c", script, "sh")
    process = subprocess.Popen((*words, host_name), stdout=subprocess.PIPE)
    stack.callback(process.communicate)
    stack.callback(process.kill)
    assert process.stdout is not None
    process.stdout.readline()
    return process
