"""A whole cluster: brought up, looked at, taken down."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripts.kubernetes import cgroups, control, member, network, node
from scripts.kubernetes.image import write_images
from scripts.kubernetes.member import Member, MemberError
from scripts.kubernetes.plan import HOMES, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A cluster that runs."""

    plan: Plan
    control: Member
    nodes: Mapping[str, Member]

    def kubectl(self, *arguments: str, given: str | None = None) -> str:
        """Run kubectl as the admin."""
        return control.kubectl(self.plan, *arguments, given=given)

    def read(self, *arguments: str) -> Any:  # noqa: ANN401  # whatever kubectl reads
        """Read objects through kubectl, as JSON."""
        return control.read(self.plan, *arguments)


def up(plan: Plan, told: Callable[[str], None] = lambda _: None) -> Cluster:
    """Bring a cluster up, all of it or nothing; its network is chosen here."""
    if (plan.home / "plan.json").exists() or any(member.list_running(plan.name)):
        raise MemberError(f"cluster {plan.name} is there already: down {plan.name} removes it")
    plan = replace(plan, net=network.free_net())
    plan.home.mkdir(parents=True)
    plan.save()
    try:
        return _build(plan, told)
    except BaseException:
        down(plan.name)
        raise


def _build(plan: Plan, told: Callable[[str], None]) -> Cluster:
    told("namespaces")
    for name in plan.node_names:
        cgroups.make(f"{plan.cgroup}/{name}")
    images = write_images(plan.home)
    first = member.launch(plan, "control")
    nodes = {name: member.launch(plan, name) for name in plan.node_names}
    network.lay_wire(first)
    for each in nodes.values():
        network.plug_in(first, each)
        node.start_runtime(each)
    told("control plane")
    control.start_control(first)
    for each in nodes.values():
        node.import_images(each, images)
        node.start_node(each)
    told("nodes")
    cidrs: dict[str, str] = {}
    control.wait(lambda: _note_cidrs(plan, cidrs), "the nodes' pod CIDRs", first, "kubelet")
    for each in nodes.values():
        network.configure_pods(each, cidrs[each.name])
    network.join_nodes(nodes, cidrs)
    control.wait(lambda: _all_ready(plan), "the nodes to be ready", nodes["node1"], "kubelet")
    return Cluster(plan=plan, control=first, nodes=nodes)


def _note_cidrs(plan: Plan, cidrs: dict[str, str]) -> bool:
    for item in control.read(plan, "nodes")["items"]:
        if "podCIDR" in item["spec"]:
            cidrs[item["metadata"]["name"]] = item["spec"]["podCIDR"]
    return len(cidrs) == plan.nodes


def _all_ready(plan: Plan) -> bool:
    ready = [
        condition["status"]
        for item in control.read(plan, "nodes")["items"]
        for condition in item["status"]["conditions"]
        if condition["type"] == "Ready"
    ]
    return ready == ["True"] * plan.nodes


def find(name: str) -> Cluster | None:
    """Find a cluster that runs; None where there is none, or not all of it runs."""
    plan = Plan.load(name)
    if plan is None:
        return None
    found = {each: member.find(plan, each) for each in plan.members}
    running = {each: one for each, one in found.items() if one is not None}
    if len(running) < len(found):
        return None
    first = running.pop("control")
    return Cluster(plan=plan, control=first, nodes=running)


def down(name: str) -> None:
    """Take a cluster down, however much of it there is: what it was called is enough to find it."""
    named = Plan(name=name)
    member.kill(name)
    with suppress(OSError):
        subprocess.run(("ip", "link", "del", named.machine_link), capture_output=True, check=False)
    _remove_mounts(named.home)
    if named.home.exists():
        shutil.rmtree(named.home)
    with suppress(OSError):
        HOMES.rmdir()
    cgroups.remove(named.cgroup)


def _remove_mounts(home: Path) -> None:
    """Unmount what stands below a folder in this mount namespace, so that nothing outside of it is
    ever deleted with it.
    """
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    below = [line.split(" ")[1] for line in lines if f" {home}/" in line]
    for place in sorted(below, reverse=True):
        subprocess.run(("umount", "-l", place), check=True)
