"""Many connections at once, really made from one place of a test's cluster: a pod's network
namespace, a node's, or the machine outside.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from podpath.datapath.vocabulary import Reachability
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.image import WHO
from tests.cluster import datagrams, pods

_CLIENT = """\
import json, socket, sys
from concurrent.futures import ThreadPoolExecutor

def ask(address, port, filling):
    head = "GET %s HTTP/1.0\\r\\n" + ("X: " + "x" * filling + "\\r\\n" if filling else "")
    try:
        with socket.create_connection((address, port), 3) as client:
            client.sendall((head + "\\r\\n").encode())
            return client.makefile().read()
    except OSError:
        return ""

def ask_all(wanted):
    address, port, tries, filling = wanted
    said = [ask(address, port, filling)]
    while said[-1] and len(said) < tries:
        said.append(ask(address, port, filling))
    return said

with ThreadPoolExecutor(16) as pool:
    print(json.dumps(list(pool.map(ask_all, json.load(sys.stdin)))))
"""


class Target(NamedTuple):
    """What is connected to, how often (once where one server is behind it), and how many bytes the
    request has besides.
    """

    address: str
    port: int
    tries: int = 1
    filling: int = 0


CLIENT = "client"
"""Stands for the machine's address on the nodes' network."""


class Fact(NamedTuple):
    """What became of the connections to one target."""

    verdict: Reachability
    answers: frozenset[pods.Answer]


def enter(tried: Cluster, source: str) -> list[str]:
    """Return the words that run a program where the connections of `pod/NAMESPACE/NAME`,
    `node/NAME` or the client outside start.
    """
    kind, _, name = source.rpartition("/")
    if source == CLIENT:
        return []
    if kind == "node":
        return tried.nodes[name].enter()
    place = datagrams.find_pod(tried, kind.partition("/")[2], name)
    return place.node.enter("nsenter", f"--net={place.netns}")


def connect(entering: Sequence[str], targets: Sequence[Target]) -> list[Fact]:
    """Connect to each target from where these words enter; with one that does not answer, once."""
    program = _CLIENT % WHO
    done = subprocess.run(
        [*entering, sys.executable, "-c", program],
        input=json.dumps(targets),
        capture_output=True,
        text=True,
        check=True,
    )
    return [_judge([pods.read_answer(each) for each in said]) for said in json.loads(done.stdout)]


def _judge(answers: Sequence[pods.Answer | None]) -> Fact:
    heard = [answer for answer in answers if answer is not None]
    if not heard:
        return Fact(Reachability.NEVER, frozenset())
    works = len(heard) == len(answers)
    return Fact(Reachability.ALWAYS if works else Reachability.SOMETIMES, frozenset(heard))
