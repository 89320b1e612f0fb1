"""Drops of forty-odd kinds on a node of a real cluster: watched as they happen, and named with the
line that did it.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import podpath
from scripts.kubernetes import cluster as clusters
from scripts.kubernetes import control, network
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.plan import Plan
from tests.cluster import deployed, dropping, pods
from tests.cluster.conftest import need_programs
from tests.cluster.dropping import APPS, KINDS, SPACE, Datagrams, DropKind, Scene, planted
from tests.cluster.shapes import SEED
from tests.command import COMMAND
from tests.command import podpath as podpath_command

SOURCE = Path(podpath.__file__).parents[1]
PATIENCE = 120.0
"""Seconds that a node may take to be read where its table of connections is full."""
HEARD = 30.0
"""Seconds that a drop may take to be told: a neighbor is asked for three of them."""
SOON = 100.0
"""Milliseconds within which a drop is to be named."""
ASKED = ("rule in nft", "MTU of the tunnel", "blackhole route", "forwarding off", "tc egress")
"""Kinds that agents are asked about: the packets are the pod's."""
SENT_TO = {dropping.PORT, dropping.SERVED, network.FLANNEL_PORT, 53, 80, 81}
"""Where what is sent goes to, unlike what else is on a node."""
DISCARD = 9
"""A port where nobody listens: what is sent there tells that the watch tells."""


@pytest.fixture(scope="module")
def scene(made: Cluster) -> Scene:
    """Provide two nodes with pods, one of which is drawn to drop."""
    first, second = random.Random(SEED).sample(made.plan.node_names, 2)
    return dropping.open_scene(made, first, second)


@pytest.fixture(scope="module")
def made() -> Iterator[Cluster]:
    """Provide a cluster with pods on both nodes."""
    need_programs()
    name = f"d{os.getpid()}"
    try:
        made = clusters.up(Plan(name=name, overlay="vxlan"))
        pods.create(
            made,
            pods.make_namespace(SPACE),
            *(pods.make_pod(SPACE, f"{app}-{on}", on, app) for on in made.nodes for app in APPS),
            pods.make_service(SPACE, "nobody"),
        )
        yield made
    finally:
        clusters.down(name)


def watch_here(scene: Scene, *words: str) -> list[str]:
    """Return the command that watches a node on it."""
    command = ("env", f"PYTHONPATH={SOURCE}", sys.executable, "-m", "podpath", "watch")
    return scene.node.enter(*command, "--json", *words)


class ToldDrops:
    """`podpath watch`, and what it has told so far."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it."""
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.drops: list[Any] = []
        self.said: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                if not line.startswith("{"):
                    self.said.append(line)
                elif (told := json.loads(line))["kind"] == "drop":
                    self.drops.append(told)
                self._news.notify_all()

    def find(self, wanted: Callable[[Any], bool], seconds: float = HEARD) -> Any:  # noqa: ANN401  # JSON
        """Return the first drop that is wanted, waiting for it; None where none comes."""

        def look() -> list[Any]:
            return [each for each in self.drops if wanted(each)]

        with self._news:
            self._news.wait_for(look, seconds)
            return next(iter(look()), None)

    def end(self, by: signal.Signals | None = None) -> int:
        """End it by its input, or a signal, and return what it ended with."""
        with self.process as process:  # whose pipes are closed at its end
            assert process.stdin is not None
            process.stdin.close()
            if by is not None:
                process.send_signal(by)
            self._reader.join()
        return process.returncode


@contextmanager
def watching(scene: Scene, *words: str) -> Iterator[ToldDrops]:
    """Watch a node for a block, which begins when the node was read and drops are told."""
    watch = ToldDrops(watch_here(scene, "--until-eof", *words))
    try:
        until = time.monotonic() + PATIENCE
        told = None
        while told is None and time.monotonic() < until:
            Datagrams("127.0.0.1", DISCARD, "node")(scene)
            told = watch.find(lambda each: each["dport"] == DISCARD, 0.2)
        assert told is not None, watch.said
        yield watch
    finally:
        code = watch.end()
    assert code == 0


def watch_one(scene: Scene, kind: DropKind) -> Any:  # noqa: ANN401  # JSON
    """Plant what drops, send something, and return what is told of it."""

    def is_of_kind(told: Any) -> bool:  # noqa: ANN401  # JSON
        return told["reason"] == kind.reason and told["netns"] and told["dport"] in SENT_TO

    with planted(scene, kind), watching(scene) as watch:
        kind.send(scene)
        told = watch.find(is_of_kind)
        assert told is not None, watch.drops
        return told


@pytest.fixture(scope="module")
def delays() -> dict[str, float]:
    """Provide a place for after how many milliseconds each kind was told."""
    return {}


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_a_drop_is_named_with_its_line(
    kind: DropKind, scene: Scene, delays: dict[str, float], say: Callable[[str], None]
) -> None:
    """The kernel's reason and function, the packet, and the step of the model with the line that
    did it.
    """
    told = watch_one(scene, kind)
    quoted = "\n".join(each["text"] for each in told["evidence"])
    assert (told["agreement"], told["stage"] or "") == (kind.agreement, kind.stage), told
    assert scene.spell(kind.line) in quoted
    assert told["function"]
    assert told["packet"]
    delays[kind.name] = told["told_after_ms"]
    say(f"seed {SEED}: {kind.name}, {told['told_after_ms']} ms, {told['function']}")


@pytest.mark.usefixtures("scene")
def test_they_are_named_soon(delays: dict[str, float], say: Callable[[str], None]) -> None:
    """Within 100 ms: half of them and more on a machine that others keep busy, too."""
    if not delays:
        pytest.fail("it is of the drops that were told before")
    ordered = sorted(delays.values())
    late = {name: delay for name, delay in delays.items() if delay > SOON}
    say(f"{len(ordered)} kinds: median {median(ordered)} ms, latest {ordered[-1]} ms; late: {late}")
    assert median(ordered) < SOON


def test_what_the_model_lets_pass_is_kept(scene: Scene, tmp_path: Path) -> None:
    """A program of BPF at the hook, which no listing of rules shows: the node is kept with the
    packet, and the model, asked again about what was kept, lets it pass still.
    """
    with watching(scene, "--save", str(tmp_path)) as watch, dropping.hooked(scene):
        Datagrams()(scene)
        told = watch.find(
            lambda each: each["agreement"] == "disagrees" and not each["model_age"], PATIENCE
        )
        assert told is not None, watch.drops
        control.wait(lambda: any("kept in" in each for each in watch.said), "what is kept")
    (folder,) = tmp_path.iterdir()
    kept = json.loads((folder / "drop.json").read_text(encoding="utf-8"))
    assert (kept["reason"], kept["dport"]) == ("NETFILTER_DROP", dropping.PORT)
    assert (folder / "bundle" / "bundle.json").is_file()
    replayed = podpath_command("lab", "replay", folder, "--model-only", timeout=120)
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr


def find_inner(process: subprocess.Popen[bytes]) -> int | None:
    """Return the process on the node that a command was entered for; None before there is one."""
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        found = path.read_text(encoding="ascii").split()
    except OSError:
        return None
    return int(found[0]) if found else None


def list_left(scene: Scene) -> list[str]:
    """List processes of podpath on a node, and those that hold a program of the tracepoint."""
    left = []
    for line in scene.node.run("ps", "-ww", "-e", "-o", "pid=,args=").splitlines():
        process, _, words = line.strip().partition(" ")
        told = scene.node.run("sh", "-c", f"cat /proc/{process}/fdinfo/* 2>/dev/null", check=False)
        if "-m podpath" in words or "prog_type:\t17" in told:
            left.append(words)
    return left


def read_rules(scene: Scene) -> str:
    """Return the rules of a node without what they counted."""
    tools = ("iptables-nft-save", "iptables-legacy-save")
    lines = [line for tool in tools for line in scene.node.run(tool).splitlines()]
    rules = (re.sub(r"\[\d+:\d+\]", "", line) for line in lines if not line.startswith("#"))
    return "\n".join(rules)


def test_killed_at_any_point_it_leaves_nothing(scene: Scene, say: Callable[[str], None]) -> None:
    """`kill -9` at moments that are drawn, from its start to its watching: no process, no program
    and no rule of it is left.
    """
    drawn = random.Random(SEED)
    moments = sorted(drawn.uniform(0.05, 4) for _ in range(6))
    say(f"seed {SEED}: killed after {', '.join(f'{each:.2f}' for each in moments)} s")
    before = read_rules(scene)
    for moment in moments:
        with subprocess.Popen(
            watch_here(scene), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as started:
            time.sleep(moment)
            control.wait(lambda: find_inner(started) is not None, "a process")
            inner = find_inner(started)
            assert inner is not None
            os.kill(inner, signal.SIGKILL)
        assert started.returncode != 0
    control.wait(lambda: list_left(scene) == [], "what was left")
    assert read_rules(scene) == before


@pytest.fixture(scope="module")
def agents(made: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Provide the cluster with agents that hear drops."""
    deployed.supply(made, "asked")
    with deployed.agents(made, tmp_path_factory.mktemp("deploy") / "deploy", drops=True):
        yield made


@pytest.mark.parametrize("name", ASKED)
def test_an_agent_names_it(name: str, scene: Scene, agents: Cluster) -> None:
    """`podpath watch pod/NAMESPACE/NAME` by a kubeconfig: the agent reads its node again, as it has
    another rule by now, and the line comes with the node, whoever asks.
    """
    (kind,) = (each for each in KINDS if each.name == name)
    line, until = scene.spell(kind.line), time.monotonic() + PATIENCE
    pod = f"pod/{SPACE}/web-{scene.node.name}"
    known = ("--kubeconfig", str(agents.plan.kubeconfig))
    watch = ToldDrops([str(COMMAND), "watch", pod, "--json", *known])

    def is_named(told: Any) -> bool:  # noqa: ANN401  # JSON
        quoted = "\n".join(each["text"] for each in told["evidence"])
        return told["agreement"] == kind.agreement and line in quoted

    told = None
    try:
        with planted(scene, kind):
            while told is None and time.monotonic() < until:
                kind.send(scene)
                told = watch.find(is_named, 0.5)
    finally:
        code = watch.end(signal.SIGINT)
    assert told is not None, watch.drops + watch.said
    assert (told["node"], told["reason"], code) == (scene.node.name, kind.reason, 0)
