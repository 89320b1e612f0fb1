"""Tests of `sources.drops`: a real agent streams real drops of its node through a real API server's
pod proxy, to who may have them and no longer than anybody reads.
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest

from podpath.collect.netns import inside
from podpath.kube import access
from podpath.kube.client import Client
from podpath.kube.grants import ServiceAccountName
from podpath.sources.agents import AgentAccess, ServingAgent, find_agents, open_drops
from podpath.sources.drops import DropRequest, DropStreams, NodeEnd, NodeLine, WatchedNodes
from podpath.sources.objects import SourceError, read_objects
from tests import kube_objects as kube
from tests.apiserver import ADMIN, AGENT, NOBODY, PROGRAMS, ApiServer, free_port
from tests.command import podpath
from tests.kube.following import until
from tests.protect.snapshot.endpoints import make_certificate, own_address

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
SPACE, NODE, POD = "podpath", "dropping-node", "podpath-agent-d7r0p"
NETNS = f"drop{os.getpid()}"
CLIENT = f"{NETNS}c"
POD_IP, HOST_IP = "10.9.1.2", "10.9.1.1"
CONFIG = """\
[health]
listen = "127.0.0.1:{health}"
[kubernetes]
kubeconfig = "{kubeconfig}"
taint = false
events = false
[snapshot]
listen = "{address}:{port}"
certificate = "{certificate}"
key = "{key}"
node_netns = "{netns}"
[drops]
watchers = 1
every = "1s"
node_netns = "{netns}"
"""


class Served(NamedTuple):
    """A node whose drops an agent streams."""

    server: ApiServer
    agent: ServingAgent
    process: subprocess.Popen[bytes]
    health: int

    def metrics(self) -> str:
        """Return what Prometheus would scrape."""
        with urlopen(f"http://127.0.0.1:{self.health}/metrics", timeout=30) as answer:
            return str(answer.read(), "utf-8")

    def listeners(self) -> set[int]:
        """Return the watching processes that the agent has."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        threads = children.parents[1].glob("*/children")
        return {int(word) for each in threads for word in each.read_text().split()}


@pytest.fixture(scope="module")
def node() -> Iterator[None]:
    """Provide a node with a pod, whose datagrams to port 53 a rule of the node drops."""
    subprocess.run(("ip", "netns", "add", NETNS), check=True)
    subprocess.run(("ip", "netns", "add", CLIENT), check=True)
    try:
        for netns, words in (
            (NETNS, f"link add v1 type veth peer name eth0 netns {CLIENT}"),
            (NETNS, "link set lo up"),
            (NETNS, "link set v1 up"),
            (NETNS, f"addr add {HOST_IP}/24 dev v1"),
            (CLIENT, "link set eth0 up"),
            (CLIENT, f"addr add {POD_IP}/24 dev eth0"),
        ):
            subprocess.run(("ip", "-n", netns, *words.split()), check=True)
        rule = "iptables -A INPUT -p udp --dport 53 -j DROP"
        subprocess.run(("ip", "netns", "exec", NETNS, *rule.split()), check=True)
        yield
    finally:
        for netns in (NETNS, CLIENT):
            subprocess.run(("ip", "netns", "del", netns), check=False)


@pytest.fixture
def traffic(node: None) -> Iterator[None]:  # noqa: ARG001  # it is there
    """Provide datagrams from the pod to the node, which the rule drops."""
    stop = threading.Event()

    def send() -> None:
        with inside(f"/run/netns/{CLIENT}"):
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with sender:
            while not stop.wait(0.1):
                sender.sendto(b"secret", (HOST_IP, 53))

    thread = threading.Thread(target=send)
    thread.start()
    yield
    stop.set()
    thread.join()


@pytest.fixture(scope="module")
def served(
    api_server: ApiServer,
    node: None,  # noqa: ARG001  # it is there
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Served]:
    """Provide an agent as deploy/drops has it, of a node that is a network namespace; it has one
    place for a watch, which the tests take one after another without waiting.
    """
    server = api_server
    server.apply(kube.node(NODE))
    for name in ("base/namespace", "base/access", "snapshot/access", "drops/access", "why/access"):
        server.kubectl("apply", "-f", DEPLOY / f"{name}.yaml")
    folder, address = tmp_path_factory.mktemp("agent"), own_address()
    port, health = free_port(), free_port()
    certificate, key = make_certificate(folder)
    config = CONFIG.format(
        kubeconfig=server.kubeconfig(AGENT), address=address, port=port, certificate=certificate,
        key=key, netns=NETNS, health=health,
    )  # fmt: skip
    (folder / "agent.toml").write_text(config, encoding="utf-8")
    pod = kube.pod(POD, namespace=SPACE, node=NODE)
    pod["metadata"]["labels"] = {"app.kubernetes.io/name": "podpath-agent"}
    pod["spec"]["containers"][0]["ports"] = [{"name": "snapshot", "containerPort": port}]
    server.apply(pod)
    status = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}
    server.set_status("pod", SPACE, POD, status)
    server.apply(kube.pod("web-0", namespace="default", node=NODE))
    status = {"phase": "Running", "podIP": POD_IP, "podIPs": [{"ip": POD_IP}]}
    server.set_status("pod", "default", "web-0", status)
    command = (str(PROGRAMS / "podpath"), "protect", "agent", "--config", folder / "agent.toml")
    log_of = folder / "log"
    try:
        with log_of.open("wb") as log:
            running = subprocess.Popen(command, stderr=log, env=os.environ | {"NODE_NAME": NODE})
        until(
            lambda: running.poll() is not None or b"snapshots are served" in log_of.read_bytes(),
            "it serves",
        )
        assert running.poll() is None, log_of.read_text(encoding="utf-8")
        yield Served(server, ServingAgent(NODE, SPACE, POD, port), running, health)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
    finally:
        running.kill()
        running.wait()
        for name, space in ((POD, SPACE), ("web-0", "default")):
            server.kubectl("-n", space, "delete", "pod", name, "--force", "--grace-period=0")


@pytest.fixture
def granted(served: Served) -> Iterator[None]:
    """Let nobody have the shipped roles of people for a while."""
    server = served.server
    words = ("--user=nobody",)
    server.kubectl("create", "clusterrolebinding", "why-drops", "--clusterrole=podpath-why", *words)
    server.kubectl(
        "-n", SPACE, "create", "rolebinding", "ask-drops", "--role=podpath-ask-agents", *words
    )
    yield
    server.kubectl("delete", "clusterrolebinding", "why-drops")
    server.kubectl("-n", SPACE, "delete", "rolebinding", "ask-drops")


def watch(
    served: Served, request: DropRequest, enough: Callable[[list[NodeLine]], bool]
) -> list[NodeLine]:
    """Watch the node as a user with the shipped roles, until there is enough."""
    lines: list[NodeLine] = []
    with Client(access.find(served.server.kubeconfig(NOBODY))) as client:
        watched = WatchedNodes(nodes=(NODE,), agents=find_agents(read_objects(client)))
        with DropStreams(client, watched, request) as streams:

            def look() -> bool:
                for news in streams.read(0.5):
                    assert not isinstance(news, NodeEnd), news.why
                    lines.append(news)
                return enough(lines)

            until(look, "lines")
    return lines


def kinds(lines: list[NodeLine]) -> set[str]:
    """Return the kinds of lines."""
    return {line.document["kind"] for line in lines}


@pytest.mark.kernel("openssl", "iptables")
@pytest.mark.usefixtures("granted", "traffic")
def test_a_real_drop_comes_with_its_line(served: Served) -> None:
    """By the shipped roles: the pod's drop, the rule that did it, then rates; no byte of it."""
    request = DropRequest(addresses=frozenset({POD_IP}))
    lines = watch(served, request, lambda lines: kinds(lines) >= {"drop", "flows"})
    drop = next(line.document for line in lines if line.document["kind"] == "drop")

    assert (drop["reason"], drop["src"], drop["dport"]) == ("NETFILTER_DROP", POD_IP, 53)
    assert (drop["agreement"], drop["packet"]) == ("named", None)
    assert "--dport 53 -j DROP" in drop["evidence"][0]["text"]
    assert {line.node for line in lines} == {NODE}


@pytest.mark.kernel("openssl", "iptables")
@pytest.mark.usefixtures("granted", "traffic")
def test_the_command_prints_it(served: Served) -> None:
    """`podpath watch default/web-0` with a kubeconfig: the pod's drops, with the node."""
    path = str(served.server.kubeconfig(NOBODY))
    words = ("watch", "pod/default/web-0", "--kubeconfig", path, "--for", "12")
    told = podpath(*words, "--json")
    assert told.returncode == 0, told.stderr
    lines = [json.loads(line) for line in told.stdout.splitlines()]

    assert f"watching {NODE}" in told.stderr
    assert any(line["kind"] == "drop" and line["dport"] == 53 for line in lines)
    assert {line["node"] for line in lines} == {NODE}
    refused = podpath(*words[:1], "pod/default/nobody", *words[2:])
    assert refused.returncode == 2
    assert "saw 'pod/default/nobody'" in refused.stderr
    refused = podpath(*words[:4], "--port", "53")
    assert refused.returncode == 2
    assert "--port: only for watching this node" in refused.stderr


@pytest.mark.kernel("openssl", "iptables")
@pytest.mark.usefixtures("granted", "traffic")
def test_another_pods_drops_are_not_told(served: Served) -> None:
    """The agent filters: of a pod that lost nothing no line comes, while the node counts."""
    request = DropRequest(pods=frozenset({"default/other"}), seconds=3.0)
    news: list[Any] = []
    with Client(access.find(served.server.kubeconfig(NOBODY))) as client:
        watched = WatchedNodes(nodes=(NODE,), agents={NODE: served.agent})
        with DropStreams(client, watched, request) as streams:

            def look() -> bool:
                news.extend(streams.read(0.5))
                return any(isinstance(one, NodeEnd) for one in news)

            until(look, "the end")

    assert [one for one in news if isinstance(one, NodeEnd)] == [
        NodeEnd(NODE, "its time is over", failed=False)
    ]
    assert {one.document["kind"] for one in news if isinstance(one, NodeLine)} <= {"listening"}


@pytest.mark.kernel("openssl", "iptables")
@pytest.mark.usefixtures("granted", "traffic")
def test_drops_are_counted_for_prometheus(served: Served) -> None:
    """By the kernel's reason and function, and by the kind of line that decides."""
    counted = re.compile(r'drops_total\{reason="NETFILTER_DROP",function="[a-z]\w+"\} [1-9]')
    until(lambda: counted.search(served.metrics()) is not None, "a count")
    until(lambda: 'drops_decided_total{line="iptables-save"}' in served.metrics(), "its kind")

    text = served.metrics()
    assert "podpath_protect_drops_listening 1" in text
    assert POD_IP not in text


@pytest.mark.kernel("openssl", "iptables")
@pytest.mark.usefixtures("granted", "traffic")
def test_who_goes_leaves_nothing(served: Served) -> None:
    """Of two who watch the second is refused; who breaks off and starts again is not."""
    with Client(access.find(served.server.kubeconfig(NOBODY))) as client:
        for _ in range(4):
            with open_drops(client, served.agent, ()) as stream:
                next(stream.lines())
        with open_drops(client, served.agent, ()) as stream:
            lines = stream.lines()  # held: the stream ends with them
            next(lines)
            with (
                pytest.raises(SourceError, match="1 watch already"),
                open_drops(client, served.agent, ()),
            ):
                pass
        until(lambda: "podpath_protect_drops_watchers 0" in served.metrics(), "it is free")


@pytest.mark.kernel("openssl", "iptables")
def test_who_may_do_nothing_gets_nothing(served: Served) -> None:
    """Without the roles of people, and by an account that may have snapshots alone."""
    with (
        Client(access.find(served.server.kubeconfig(NOBODY))) as client,
        pytest.raises(SourceError, match="saw 403 Forbidden"),
        open_drops(client, served.agent, ()),
    ):
        pass
    asker = AgentAccess(account=ServiceAccountName(SPACE, "podpath-agent"))
    with (
        Client(access.find(served.server.kubeconfig(ADMIN))) as client,
        pytest.raises(SourceError) as refused,
        open_drops(client, served.agent, (), asker),
    ):
        pass
    assert "may not get nodes/drops of podpath.dev" in str(refused.value)
    assert 'resources: ["nodes/drops"]' in str(refused.value)


@pytest.mark.kernel("openssl", "iptables")
def test_killed_it_leaves_no_process(served: Served) -> None:
    """The process that hears ends with the agent, however that ends: its input does."""
    until(lambda: bool(served.listeners()), "it listens")
    (heard,) = served.listeners()
    command = Path(f"/proc/{heard}/cmdline").read_text().split("\0")
    assert "--until-eof" in command
    held = [each for each in Path(f"/proc/{heard}/fd").iterdir() if each.name == "0"]
    assert "pipe:" in str(held[0].readlink())


def test_a_node_without_an_agent_says_how() -> None:
    """No stream is opened, and what would give one is said."""
    watched = WatchedNodes(nodes=("a",), agents={})
    news: queue.Queue[object] = queue.Queue()
    with DropStreams(None, watched, DropRequest()) as streams:  # type: ignore[arg-type]  # never asked
        for each in streams.read(10.0):
            news.put(each)
    found = news.get_nowait()

    assert isinstance(found, NodeEnd)
    assert found.failed
    assert "no agent serves" in found.why
    assert replace(watched, nodes=()).agents == {}
