"""Where `why` gets its evidence from on a real cluster: agents as they are deployed, and pods that
live for one snapshot, which the cluster ends where we were killed.
"""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from podpath.kube import access
from podpath.kube.client import Client
from podpath.sources.agents import find_agents, read_snapshot
from podpath.sources.collector import NAMESPACE, CollectorOptions, collect_node
from podpath.sources.location import find_nodes
from podpath.sources.objects import SourceError, read_objects
from scripts.kubernetes import control
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.image import PODPATH
from tests.cluster import deployed, pods
from tests.command import slowness, spent_by_children
from tests.command import start as podpath_command

SPACE = "sources"
OPTIONS = CollectorOptions(image=PODPATH, pull="Never", deadline=90)
SECONDS = 10.0
"""What an answer may take of a processor; the clock's time is that of a machine that others use."""


@pytest.fixture(scope="module")
def cluster(kubernetes: Cluster) -> Cluster:
    """Provide a cluster whose nodes have podpath's image, with a pod on each and their service."""
    deployed.supply(kubernetes, SPACE)
    return kubernetes


@pytest.fixture(scope="module")
def agents(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Provide the cluster with the agents that serve snapshots."""
    with deployed.agents(cluster, tmp_path_factory.mktemp("deploy") / "deploy"):
        yield cluster


def open_client(cluster: Cluster) -> Client:
    """Return the admin's client."""
    return Client(access.find(cluster.plan.kubeconfig))


def read_manifest(bundle: bytes) -> Any:  # noqa: ANN401  # JSON
    """Return what a packed bundle says of itself."""
    with tarfile.open(fileobj=io.BytesIO(bundle)) as archive:
        file = archive.extractfile("bundle.json")
        assert file is not None
        return json.load(file)


def pods_of(bundle: bytes) -> set[str]:
    """Return the pods whose namespaces a bundle holds."""
    return {about["pod"] for about in read_manifest(bundle)["netns"].values() if "pod" in about}


def list_leavings(cluster: Cluster) -> list[str]:
    """List the pods that live for a snapshot."""
    listed = cluster.read("pods", "-n", NAMESPACE)["items"]
    return [each["metadata"]["name"] for each in listed]


def test_agents_serve_the_nodes_concerned_in_time(agents: Cluster) -> None:
    """API read, nodes found and snapshots of both taken at once, each of its own pods and without
    anything that a namespace could not give.
    """
    with open_client(agents) as client:
        objects = read_objects(client)
        ends = (f"pod/{SPACE}/web-0", f"svc/{SPACE}/api")
        nodes = [name for end in ends for name in find_nodes(objects, end)]
        found = find_agents(objects)
        with ThreadPoolExecutor(2) as pool:
            bundles = dict(
                zip(nodes, pool.map(lambda n: read_snapshot(client, found[n]), nodes), strict=True)
            )
    assert nodes == ["node1", "node2"]
    assert f"{SPACE}/web-0" in pods_of(bundles["node1"]) - pods_of(bundles["node2"])
    assert f"{SPACE}/api-0" in pods_of(bundles["node2"]) - pods_of(bundles["node1"])
    assert read_manifest(bundles["node1"])["missing"] == []


def test_one_command_answers_for_the_cluster(
    agents: Cluster, tmp_path: Path, say: Callable[[str], None]
) -> None:
    """`podpath why` by a kubeconfig alone: from a pod to a service whose endpoint is on the other
    node, which really answers; within seconds.
    """
    service = agents.read("service", "api", "-n", SPACE)["spec"]["clusterIP"]
    control.wait(
        lambda: pods.ask(agents, SPACE, "web-0", service, 80) is not None,
        "an answer",
        agents.nodes["node1"],
        "kube-proxy",
    )
    began, spent = time.monotonic(), spent_by_children()
    done = podpath_command(
        *("why", f"pod/{SPACE}/web-0", f"svc/{SPACE}/api:http", "--json"),
        *("--kubeconfig", agents.plan.kubeconfig, "--save", tmp_path / "kept"),
    )
    took, spent = time.monotonic() - began, spent_by_children() - spent
    say(f"why answered in {took:.1f} s, {spent:.1f} s of a processor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["verdict"] == "none"
    assert done.stderr == ""
    assert (tmp_path / "kept" / "node2.tar.gz").exists()
    assert spent < SECONDS * slowness(), f"{spent:.1f} s"


def test_a_pod_lives_for_a_snapshot(cluster: Cluster) -> None:
    """It gives the same as an agent, and nothing of it stays: no pod, no Job, no process."""
    with open_client(cluster) as client:
        bundle = collect_node(client, "node1", OPTIONS)
    assert f"{SPACE}/web-0" in pods_of(bundle)
    assert read_manifest(bundle)["node"] == "node1"
    control.wait(lambda: list_leavings(cluster) == [], "the pod to be gone")
    assert cluster.read("jobs", "-n", NAMESPACE)["items"] == []


def test_an_image_that_is_not_there_is_said(cluster: Cluster) -> None:
    """At once, not at the deadline; and it is cleaned up after."""
    began = time.monotonic()
    options = CollectorOptions(image="docker.io/local/nothing:1", pull="Never")
    with open_client(cluster) as client, pytest.raises(SourceError, match="ErrImageNeverPull"):
        collect_node(client, "node2", options)
    assert time.monotonic() - began < 60
    control.wait(lambda: list_leavings(cluster) == [], "the pod to be gone")


_KILLED = """\
import sys
from pathlib import Path
from podpath.kube import access
from podpath.kube.client import Client
from podpath.sources.collector import CollectorOptions, collect_node
options = CollectorOptions(image=sys.argv[2], pull="Never", deadline=12)
with Client(access.find(Path(sys.argv[1]))) as client:
    collect_node(client, "node1", options, told=lambda doing: print(doing, flush=True))
"""


def test_the_cluster_ends_what_a_killed_one_left(cluster: Cluster) -> None:
    """`kill -9` while the pod is there: past its deadline the cluster deletes it, and the next run
    sweeps what is left of its Job.
    """
    command = (sys.executable, "-c", _KILLED, str(cluster.plan.kubeconfig), PODPATH)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline().strip() == "a pod on node1"
        running.send_signal(signal.SIGKILL)
    assert len(cluster.read("jobs", "-n", NAMESPACE)["items"]) == 1
    control.wait(lambda: list_leavings(cluster) == [], "the pod to be gone")
    with open_client(cluster) as client:
        collect_node(client, "node2", OPTIONS)
    assert cluster.read("jobs", "-n", NAMESPACE)["items"] == []
