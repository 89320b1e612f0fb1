"""The project's own Kubernetes: it comes up, its pods reach each other, and nothing of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.kubernetes import cluster, control, member, network
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.plan import HOMES, Plan, PlanError
from tests.cluster import pods
from tests.cluster.conftest import need_programs


def list_leavings(name: str) -> list[str]:
    """List what is left of a cluster on this machine."""
    plan = Plan(name=name)
    devices = [entry.name for entry in Path("/sys/class/net").iterdir()]
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return [
        *(str(folder) for folder in (plan.home,) if folder.exists()),
        *(device for device in devices if device == plan.machine_link),
        *(mount for mount in mounts if f"{plan.home}/" in mount),
        *(str(found) for found in Path("/sys/fs/cgroup").glob(f"**/{plan.cgroup}")),
        *(marker for _, marker in member.list_running(name)),
    ]


def test_what_cannot_be_built_is_refused() -> None:
    """A plan says what it expected."""
    with pytest.raises(PlanError, match="expected a name"):
        Plan(name="../etc")
    with pytest.raises(PlanError, match="1 to 9 nodes, saw 12"):
        Plan(nodes=12)
    with pytest.raises(PlanError, match="host-gw, vxlan, saw 'ipsec'"):
        Plan(overlay="ipsec")


def test_a_cluster_of_that_name_is_told_from_none() -> None:
    """A name that nobody used has no plan, no processes, and `down` of it is no error."""
    assert Plan.load("nobody") is None
    assert cluster.find("nobody") is None
    cluster.down("nobody")


@pytest.mark.kernel("unshare", "nsenter", "sysctl")
def test_members_are_on_one_wire_and_go_with_their_first_process() -> None:
    """Two members reach each other and the machine; what they changed of the machine was theirs
    alone, and after `down` nothing of them is left.
    """
    plan = Plan(name=f"w{os.getpid()}", net=network.free_net())
    plan.home.mkdir(parents=True)
    plan.save()
    panic = Path("/proc/sys/kernel/panic").read_text(encoding="ascii")
    try:
        first, node = member.launch(plan, "control"), member.launch(plan, "node1")
        network.lay_wire(first)
        network.plug_in(first, node)
        for address in (plan.machine_address, plan.control_address):
            node.run("ping", "-c", "1", "-W", "5", address)
        node.run("sysctl", "-w", "kernel.panic=77")
        node.run("touch", "/etc/cni/net.d/written", "/var/lib/cni/written", "/run/written")
        node.start("sleeper", "sleep", "1000")
        assert node.run("hostname").strip() == "node1"
        assert member.find(plan, "node1") == node
    finally:
        cluster.down(plan.name)
    assert Path("/proc/sys/kernel/panic").read_text(encoding="ascii") == panic
    assert not Path("/etc/cni/net.d/written").exists()
    assert list_leavings(plan.name) == []


def test_nodes_are_ready_and_have_their_pods_addresses(kubernetes: Cluster) -> None:
    """Each node is an own machine to Kubernetes."""
    nodes = kubernetes.read("nodes")["items"]
    assert [each["metadata"]["name"] for each in nodes] == ["node1", "node2"]
    assert len({each["spec"]["podCIDR"] for each in nodes}) == 2
    assert {each["status"]["nodeInfo"]["kubeletVersion"] for each in nodes} == {"v1.20.2"}


@pytest.mark.parametrize(
    "shape", ["2 host-gw bridged iptables-nft", "3 vxlan routed iptables-legacy"]
)
def test_pods_reach_each_other_in_every_shape(shape: str, kubernetes: Cluster) -> None:
    """On a node, between nodes, and through a service, whose endpoints all answer; the server sees
    the pod's own address.
    """
    count, overlay, plugin, proxy = shape.split()
    plan = Plan(
        name=f"s{os.getpid()}", nodes=int(count), overlay=overlay, plugin=plugin, proxy=proxy
    )
    own = overlay == kubernetes.plan.overlay
    tried = kubernetes if own else cluster.up(plan)
    try:
        reach_each_other(tried)
    finally:
        if not own:
            cluster.down(plan.name)


def reach_each_other(tried: Cluster) -> None:
    """Connect from a pod to one on each node, and to their service."""
    made = [pods.make_pod("reach", f"api-{node}", node, "api") for node in tried.plan.node_names]
    pods.create(
        tried,
        pods.make_namespace("reach"),
        pods.make_pod("reach", "web", "node1", "web"),
        *made,
        pods.make_service("reach", "api"),
    )
    addresses = {
        each["metadata"]["name"]: each["status"]["podIP"]
        for each in tried.read("pods", "-n", "reach")["items"]
    }
    for pod in made:
        name = pod["metadata"]["name"]
        answer = pods.ask(tried, "reach", "web", addresses[name])
        assert answer == pods.Answer(name, addresses["web"])
    service = tried.read("service", "api", "-n", "reach")["spec"]["clusterIP"]
    heard: set[str] = set()

    def hear() -> bool:
        answer = pods.ask(tried, "reach", "web", service, 80)
        if answer is not None:
            heard.add(answer.server)
        return heard == {pod["metadata"]["name"] for pod in made}

    control.wait(hear, "an answer of each endpoint", tried.nodes["node1"], "kube-proxy")


def test_down_finds_what_a_killed_up_left() -> None:
    """`up` killed in the middle leaves processes, devices and folders, which their name finds."""
    need_programs()
    name = f"k{os.getpid()}"
    making = subprocess.Popen(
        [sys.executable, "-m", "scripts.kubernetes", "--name", name, "up"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert making.stderr is not None
    try:
        for line in making.stderr:
            if "control plane" in line:
                break
        making.send_signal(signal.SIGKILL)
        making.wait()
        making.stderr.close()
        assert len(list_leavings(name)) > 3
    finally:
        cluster.down(name)
    assert list_leavings(name) == []
    assert not (HOMES / name).exists()
