"""A whole cluster asked live: flows that are checked, drops that are watched, and what stays of
those who are killed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from podpath.collect.netns import inside
from podpath.sources.collector import NAMESPACE
from scripts.kubernetes import cluster as clusters
from scripts.kubernetes import control
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.image import PODPATH
from scripts.kubernetes.plan import Plan
from tests.cluster import deployed, pods
from tests.cluster.conftest import need_programs
from tests.cluster.connecting import Target, connect, enter
from tests.cluster.shapes import SEED
from tests.command import COMMAND, podpath
from tests.mcp.served import serve

SPACE = "live"
WEB, API = f"pod/{SPACE}/web-0", f"pod/{SPACE}/api-0"
COLLECT = ("--collect", "--image", PODPATH)
DEADLINE = 150.0
"""Seconds after which the cluster has ended what a killed one left."""
RULE = ("FORWARD", "-p", "tcp", "-m", "tcp", "--dport", str(pods.PORT), "-j", "DROP")


@pytest.fixture(scope="module")
def live() -> Iterator[Cluster]:
    """Provide a cluster whose nodes have podpath's image and no agent."""
    need_programs()
    name = f"l{os.getpid()}"
    try:
        made = clusters.up(Plan(name=name, overlay="vxlan"))
        deployed.supply(made, SPACE)
        yield made
    finally:
        clusters.down(name)


@pytest.fixture(scope="module")
def agents(live: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Provide the cluster with agents that hear drops."""
    with deployed.agents(live, tmp_path_factory.mktemp("deploy") / "deploy", drops=True):
        yield live


@contextmanager
def dropped(live: Cluster) -> Iterator[None]:
    """Drop on node2 what goes to its pod, and go on connecting with it."""
    node, stop = live.nodes["node2"], threading.Event()
    address = live.read("pod", "api-0", "-n", SPACE)["status"]["podIP"]
    entering = enter(live, WEB)

    def keep_asking() -> None:
        while not stop.is_set():
            connect(entering, [Target(address, pods.PORT)])

    node.run("iptables", "-I", *RULE)
    asking = threading.Thread(target=keep_asking)
    asking.start()
    try:
        yield
    finally:
        stop.set()
        asking.join()
        node.run("iptables", "-D", *RULE)


def ask(live: Cluster, *words: str | Path) -> list[str]:
    """Return the command that asks a cluster."""
    return [str(COMMAND), *map(str, words), "--kubeconfig", str(live.plan.kubeconfig)]


def holders(live: Cluster) -> set[str]:
    """Return the command lines of processes in this cluster's pods that hold a BPF program."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if live.plan.cgroup not in (entry / "cgroup").read_text(encoding="ascii"):
                continue
            held = [each.read_text(encoding="ascii") for each in (entry / "fdinfo").iterdir()]
            if any("prog_type:" in each for each in held):
                found.add((entry / "cmdline").read_text(encoding="utf-8").replace("\0", " "))
        except OSError:
            continue
    return found


def list_leavings(live: Cluster) -> list[str]:
    """List pods that live for a snapshot or a watch, their Jobs that have not ended (the cluster
    says so a moment after it has taken the pod away), and processes that hold a program.
    """
    pods = live.read("pods", "-n", NAMESPACE)["items"]
    jobs = live.read("jobs", "-n", NAMESPACE)["items"]
    open_ended = (job for job in jobs if not job["status"].get("conditions"))
    return [*(each["metadata"]["name"] for each in (*pods, *open_ended)), *holders(live)]


def check_told(lines: Sequence[str]) -> None:
    """Hold what was told against the rule that drops."""
    told = [json.loads(line) for line in lines]
    named = [each for each in told if each.get("agreement") == "named"]
    assert named, told
    assert {each["node"] for each in named} == {"node2"}
    assert any("--dport 8080 -j DROP" in json.dumps(each) for each in named), named


def test_drops_are_watched_by_a_pod_that_lives_for_it(live: Cluster) -> None:
    """The rule of the other node is named, and nothing of the pod stays."""
    with dropped(live):
        done = subprocess.run(
            ask(live, "watch", API, *COLLECT, "--json", "--for", "40"),
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
    assert done.returncode == 0, done.stderr
    check_told(done.stdout.splitlines())
    control.wait(lambda: list_leavings(live) == [], "the pod to be gone")
    assert live.read("jobs", "-n", NAMESPACE)["items"] == []


@pytest.mark.parametrize("command", ["watch", "why"])
def test_killed_the_cluster_ends_what_is_left(
    command: str, live: Cluster, say: Callable[[str], None]
) -> None:
    """`kill -9` at moments that are drawn: past its deadline nothing of any pod is there, and the
    next run sweeps the Jobs.
    """
    drawn = random.Random(f"{SEED} {command}")
    moments = sorted(drawn.uniform(0.3, 8) for _ in range(3))
    say(f"seed {SEED}: killed after {', '.join(f'{each:.1f}' for each in moments)} s")
    ends = {"watch": (API, "--for", "3"), "why": (WEB, API)}[command]
    running = [
        subprocess.Popen(
            ask(live, command, *ends, *COLLECT),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for _ in moments
    ]
    began = time.monotonic()
    for process, moment in zip(running, moments, strict=True):
        time.sleep(max(0.0, began + moment - time.monotonic()))
        process.kill()
        process.wait()

    control.wait(lambda: list_leavings(live) == [], "what was left to end", seconds=DEADLINE)
    done = podpath("watch", API, *COLLECT, "--for", "1", "--kubeconfig", live.plan.kubeconfig)
    assert done.returncode == 0, done.stderr
    assert live.read("jobs", "-n", NAMESPACE)["items"] == []


def test_derived_flows_are_checked(agents: Cluster, tmp_path: Path) -> None:
    """What services and probes ask for connects; with a rule in the way it does not, nor where the
    endpoint's node would be drained.
    """
    flows = tmp_path / "flows.toml"
    derived = check(agents, flows, "--derive")
    assert derived.returncode == 0, derived.stderr
    assert f"svc/{SPACE}/api" in flows.read_text(encoding="utf-8")

    healthy = check(agents, flows, "--json")
    assert healthy.returncode == 0, healthy.stdout + healthy.stderr
    drained = check(agents, flows, "--with", "drain:node2", "--json")
    assert drained.returncode == 1, drained.stdout + drained.stderr
    node = agents.nodes["node2"]
    node.run("iptables", "-I", *RULE)
    try:
        time.sleep(2)  # agents keep a snapshot for a second
        broken = check(agents, flows)
    finally:
        node.run("iptables", "-D", *RULE)
    assert broken.returncode == 1, broken.stdout + broken.stderr
    assert "--dport 8080 -j DROP" in broken.stdout


def test_an_assistant_asks_the_agents(agents: Cluster) -> None:
    """`why` over the Model Context Protocol reads the API and what the agents serve: what works is
    cleared, a rule in the way is named with its node and line, and an end that is nowhere is said.
    """
    node = agents.nodes["node2"]
    with serve("--cluster", "--kubeconfig", str(agents.plan.kubeconfig)) as assistant:
        healthy = assistant.ask("why", source=WEB, destination=API)
        node.run("iptables", "-I", *RULE)
        try:
            time.sleep(2)  # agents keep a snapshot for a second
            broken = assistant.ask("why", source=WEB, destination=API)
        finally:
            node.run("iptables", "-D", *RULE)
        refused = assistant.refuse("why", source=WEB, destination=f"pod/{SPACE}/nobody")

    assert healthy["verdict"] == "none", healthy
    assert broken["verdict"] == "fault", broken
    assert "node2" in json.dumps(broken["findings"][0]), broken
    assert "--dport 8080 -j DROP" in json.dumps(broken), broken
    assert "nobody" in refused


def check(live: Cluster, flows: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Check a cluster's flows."""
    known = ("--cluster", "--kubeconfig", live.plan.kubeconfig)
    return podpath("check", flows, *known, *words, timeout=120)


def test_agents_tell_of_drops(agents: Cluster) -> None:
    """`watch` hears them from the agent of the node, and what it asked for ends with it."""
    with dropped(agents):
        done = subprocess.run(
            ask(agents, "watch", API, "--json", "--for", "30"),
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
    assert done.returncode == 0, done.stderr
    check_told(done.stdout.splitlines())


def read_counter(live: Cluster, name: str, *words: str) -> float:
    """Return the sum of an agent's counters on whose lines all words stand."""
    with (
        inside(live.nodes[name].netns),
        urllib.request.urlopen("http://127.0.0.1:9809/metrics", timeout=10) as answer,
    ):
        lines = answer.read().decode("utf-8").splitlines()
    return sum(
        float(line.rpartition(" ")[2])
        for line in lines
        if not line.startswith("#") and all(word in line for word in words)
    )


def test_agents_count_drops(agents: Cluster) -> None:
    """For Prometheus: by the kernel's reason, and by the kind of line that decided."""
    by_reason = ("podpath_protect_drops_total{", 'reason="NETFILTER_DROP"')
    by_line = ("podpath_protect_drops_decided_total{", 'line="iptables-save"')
    before = [read_counter(agents, "node2", *words) for words in (by_reason, by_line)]
    with dropped(agents):
        for words, count in zip((by_reason, by_line), before, strict=True):
            control.wait(
                lambda words=words, count=count: read_counter(agents, "node2", *words) > count,  # type: ignore[misc]
                f"{words[0]} to grow",
                seconds=DEADLINE,
            )
    assert read_counter(agents, "node2", "podpath_protect_drops_listening") == 1


def test_a_killed_agent_leaves_nothing(agents: Cluster, say: Callable[[str], None]) -> None:
    """`kill -9` at moments that are drawn: its processes and their programs go with it, and the
    next one hears drops again.
    """
    drawn = random.Random(SEED)
    name, ended = drawn.choice(sorted(agents.nodes)), set[str]()

    def is_back() -> bool:
        """Tell whether one runs that is not of those which were killed, and whose pod is ready: it
        is said to be so for a moment after a kill, too.
        """
        return bool(list_processes(agents, name) - ended) and deployed.are_ready(agents)

    def are_gone() -> bool:
        """Tell whether none of those is left that were killed."""
        return not ended & list_processes(agents, name)

    for _ in range(2):
        control.wait(is_back, "the agents", seconds=DEADLINE)
        moment = drawn.uniform(0, 5)
        say(f"seed {SEED}: {name}, killed {moment:.1f} s after it was ready")
        time.sleep(moment)
        ended.update(list_processes(agents, name))
        first = agents.nodes[name].run("pgrep", "-o", "-f", "m podpath.*agent").split()[0]
        agents.nodes[name].run("kill", "-9", first)
        control.wait(are_gone, "its processes")
    control.wait(is_back, "the agents", seconds=DEADLINE)


def list_processes(live: Cluster, name: str) -> set[str]:
    """Return podpath's processes on a node, each with when it began: no other pod there has any of
    Python.
    """
    listed = live.nodes[name].run("ps", "-ww", "-e", "-o", "pid=,lstart=,args=").splitlines()
    return {line for line in listed if "bin/python" in line.split(maxsplit=6)[6]}
