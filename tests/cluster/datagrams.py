"""UDP between pods of a test's cluster, by programs that are put into the pods' own network
namespaces: the pods' image has none.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.member import Member

_SERVER = """\
import select, socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("0.0.0.0", int(sys.argv[1])))
print("ready", flush=True)
while True:
    if sys.stdin in select.select([server, sys.stdin], [], [])[0]:
        break
    data, client = server.recvfrom(2048)
    server.sendto(sys.argv[2].encode(), client)
"""
_CLIENT = """\
import socket, sys
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.bind(("0.0.0.0", int(sys.argv[3])))
client.connect((sys.argv[1], int(sys.argv[2])))
client.settimeout(2)
for line in sys.stdin:
    try:
        client.send(b"who")
        print(client.recv(2048).decode(), flush=True)
    except OSError:
        print("", flush=True)
"""
_FIND = """\
for netns in /run/netns/*; do
  nsenter --net=$netns ip -4 -o addr show | grep -q " $1/" && echo $netns && exit 0
done
exit 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A pod, as the place where a program can run."""

    node: Member
    name: str
    netns: str
    """The file of its network namespace on the node."""

    def run(self, script: str, *arguments: str) -> subprocess.Popen[str]:
        """Start a Python program there."""
        entering = self.node.enter("nsenter", f"--net={self.netns}", sys.executable, "-c", script)
        return subprocess.Popen(
            [*entering, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )


def find_pod(tried: Cluster, space: str, name: str) -> Place:
    """Find a pod's network namespace."""
    found = tried.read("pod", name, "-n", space)
    node = tried.nodes[found["spec"]["nodeName"]]
    netns = node.run("sh", "-c", _FIND, "sh", found["status"]["podIP"]).strip()
    return Place(node=node, name=name, netns=netns)


@contextmanager
def serve(place: Place, port: int) -> Iterator[None]:
    """Answer each datagram with the pod's name, for as long as it is asked to."""
    with place.run(_SERVER, str(port), place.name) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        try:
            yield
        finally:
            server.communicate()


class Talker:
    """A client that goes on with one socket, as a resolver does."""

    def __init__(self, place: Place, address: str, port: int, own_port: int = 0) -> None:
        """Open the socket."""
        self._client = place.run(_CLIENT, address, str(port), str(own_port))

    def ask(self) -> str:
        """Send a datagram, and return who answers; empty where nobody does."""
        assert self._client.stdin is not None
        assert self._client.stdout is not None
        print(file=self._client.stdin, flush=True)
        return self._client.stdout.readline().strip()

    def close(self) -> None:
        """End the client."""
        self._client.communicate()


def ask(place: Place, address: str, port: int) -> bool:
    """Ask once, and tell whether somebody answers."""
    talker = Talker(place, address, port)
    try:
        return talker.ask() != ""
    finally:
        talker.close()
