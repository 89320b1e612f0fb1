"""Faults planted on a real cluster: `podpath why` names node, line and cure, the cure is applied,
and the connection comes back; on the healthy cluster nothing is claimed.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from podpath.library.case import Case
from podpath.library.reading import gather, read
from podpath.library.why import WhyResult, why
from scripts.kubernetes import cluster, control
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.plan import Plan
from tests.cluster import pods
from tests.cluster.conftest import need_programs
from tests.cluster.planted import CLIENT, FAULTS, PlantedFault
from tests.command import podpath

SPACE = "shop"
KINDS = "pods,services,endpoints,endpointslices,nodes,networkpolicies"
LIST_NEIGHBORS = "ip neigh show dev flannel.1 > /tmp/neigh; "
"""What a fault may need to undo itself."""


@pytest.fixture(scope="module")
def shop() -> Iterator[Cluster]:
    """Provide two nodes with VXLAN between them, pods on both, and services of all kinds."""
    need_programs()
    plan = Plan(name=f"y{os.getpid()}", overlay="vxlan")
    tried = cluster.up(plan)
    try:
        pods.create(
            tried,
            pods.make_namespace(SPACE),
            *(pods.make_pod(SPACE, f"web-{node}", node, "web") for node in plan.node_names),
            *(pods.make_pod(SPACE, f"api-{node}", node, "api") for node in plan.node_names),
            pods.make_pod(SPACE, "far", "node2", "far"),
            pods.make_pod(SPACE, "near", "node1", "near"),
            *(pods.make_service(SPACE, name) for name in ("api", "far", "near", "nobody")),
            make_front("front", 30180),
            make_front("local", 30181, externalTrafficPolicy="Local"),
        )
        yield tried
    finally:
        cluster.down(plan.name)


def make_front(name: str, port: int, **spec: object) -> dict[str, Any]:
    """Return a service of the pod `far` that every node has a port of."""
    ports = [{"name": "http", "port": 80, "targetPort": pods.PORT, "nodePort": port}]
    return pods.make_service(
        SPACE, name, type="NodePort", selector={"app": "far"}, ports=ports, **spec
    )


def take_evidence(tried: Cluster, folder: Path) -> tuple[dict[str, Path], Path]:
    """Take a snapshot of every node, and what the API says."""
    folder.mkdir(exist_ok=True)
    nodes = {name: folder / f"{name}.tar.gz" for name in tried.plan.node_names}
    for name, bundle in nodes.items():
        process = str(tried.nodes[name].process)
        done = podpath("snapshot", "--no-logs", "-o", bundle, "--node-netns", process)
        assert done.returncode == 0, done.stderr
    objects = folder / "objects.yaml"
    objects.write_text(tried.kubectl("get", "-A", "-o", "yaml", KINDS), encoding="utf-8")
    return nodes, objects


def ask_why(tried: Cluster, fault: PlantedFault, folder: Path) -> WhyResult:
    """Ask about the connection of a fault."""
    nodes, objects = take_evidence(tried, folder)
    source = tried.plan.machine_address if fault.source == CLIENT else fault.source
    given = {name: str(bundle) for name, bundle in nodes.items()}
    return why(source, fault.destination, nodes=given, objects=str(objects))


def resolve(tried: Cluster, destination: str) -> tuple[str, int]:
    """Return the address and port of a destination."""
    kind, _, rest = destination.partition("/")
    name, _, port = rest.rpartition("/")[2].partition(":")
    if kind == "pod":
        return tried.read("pod", name, "-n", SPACE)["status"]["podIP"], pods.PORT
    if kind == "svc":
        return tried.read("service", name, "-n", SPACE)["spec"]["clusterIP"], 80
    addresses = tried.read("node", name)["status"]["addresses"]
    own = next(each["address"] for each in addresses if each["type"] == "InternalIP")
    return own, int(port)


def list_addresses(tried: Cluster) -> dict[str, str]:
    """Return what the names in a fault's texts stand for: which node has which range is chance."""
    ranges = {
        f"@pods{number}": tried.read("node", f"node{number}")["spec"]["podCIDR"].rpartition(".")[0]
        for number in (1, 2)
    }
    ends = {"@web": "web-node1", "@far": "far"}
    return ranges | {sign: resolve(tried, f"pod/{SPACE}/{name}")[0] for sign, name in ends.items()}


def connects(tried: Cluster, fault: PlantedFault) -> bool:
    """Connect really, from where the fault's connection starts."""
    address, port = resolve(tried, fault.destination)
    kind, _, name = fault.source.rpartition("/")
    if fault.source == CLIENT:
        return asks(address, port)
    if kind == "node":
        request = (
            f"exec 3<>/dev/tcp/{address}/{port}; echo GET / HTTP/1.0 >&3; echo >&3; head -1 <&3"
        )
        return "HTTP" in tried.nodes[name].run("sh", "-c", f"timeout 3 bash -c '{request}' || true")
    return pods.ask(tried, SPACE, name, address, port) is not None


def asks(address: str, port: int) -> bool:
    """Ask a server from the machine itself."""
    try:
        with socket.create_connection((address, port), 3) as client:
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return bool(client.recv(1))
    except OSError:
        return False


@contextmanager
def planted(tried: Cluster, fault: PlantedFault) -> Iterator[None]:
    """Plant a fault, and take it away again."""
    tried.nodes[fault.node].run("sh", "-c", LIST_NEIGHBORS + fault.plant)
    if fault.also_on:
        tried.nodes[fault.also_on].run("sh", "-c", fault.also)
    try:
        yield
    finally:
        tried.nodes[fault.node].run("sh", "-c", f"{fault.undo} || true")
        if fault.also_on:
            tried.nodes[fault.also_on].run("sh", "-c", f"{fault.also_undo} || true")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_named_and_cured(
    fault: PlantedFault, shop: Cluster, tmp_path: Path
) -> None:
    """It really breaks the connection; the answer names node, fault and line; its cure mends it."""
    fault = fault.placed(list_addresses(shop))
    with planted(shop, fault):
        assert not connects(shop, fault)

        answer = ask_why(shop, fault, tmp_path)

        first = answer.findings[0]
        assert answer.verdict == "fault"
        assert (answer.diagnosis.node, first.check) == (fault.node, fault.check), str(answer)
        assert any(fault.line in span.text for span in first.evidence[:2])
        assert bool(first.repairs) is fault.cured
        undone = [
            cure(shop, fault, command)
            for repair in first.repairs[:1]
            for command in repair.commands
        ]
        if fault.cured:
            control.wait(
                lambda: connects(shop, fault), "the connection", shop.nodes[fault.node], "kubelet"
            )
    for command in filter(None, undone):
        shop.nodes[fault.node].run("sh", "-c", f"{command} || true")


def cure(tried: Cluster, fault: PlantedFault, command: str) -> str:
    """Run a command of the cure on the fault's node; return the one that undoes it, where a later
    test would meet its rule.
    """
    loads = command.startswith("modprobe")  # what is built into the kernel is no module
    tried.nodes[fault.node].run("sh", "-c", f"{command} || {'true' if loads else 'false'}")
    before, sign, after = command.partition(" -I ")
    chain, _, rest = after.partition(" ")
    return f"{before} -D {chain} {rest.partition(' ')[2]}" if sign and rest[:1].isdigit() else ""


def test_nothing_is_claimed_on_the_healthy_cluster(shop: Cluster, tmp_path: Path) -> None:
    """Of all pairs of pods, and of pods and services, each is said to work, and does."""
    nodes, objects = take_evidence(shop, tmp_path)
    shared = gather(str(objects))
    cases: dict[str, Case] = {
        name: read(str(bundle), shared=shared) for name, bundle in nodes.items()
    }
    names = [each["metadata"]["name"] for each in shop.read("pods", "-n", SPACE)["items"]]
    pairs = [(one, f"pod/{SPACE}/{other}") for one, other in permutations(names, 2)]
    pairs += [(one, f"svc/{SPACE}/{name}:http") for one in names for name in ("api", "far", "near")]

    for name, destination in pairs:
        answer = why(f"pod/{SPACE}/{name}", destination, nodes=cases)
        assert answer.verdict == "none", f"{name} > {destination}\n{answer}"
        address, port = resolve(shop, destination)
        assert pods.ask(shop, SPACE, name, address, port) is not None
