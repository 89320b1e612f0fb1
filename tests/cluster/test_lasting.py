"""Faults of a node's state on a real cluster: what stays of an endpoint that is gone, and a range
of pods that Kubernetes knows nothing of.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.kubernetes import control
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.member import Member
from tests.cluster import datagrams, pods, shop
from tests.cluster.planted import PlantedFault
from tests.cluster.shapes import SEED, SHAPES
from tests.cluster.shop import SPACE

RULES = "iptables-save -t nat; nft list ruleset"


def draw(tried: Cluster) -> tuple[str, str]:
    """Return two nodes."""
    first, second = random.Random(SEED).sample(tried.plan.node_names, 2)
    return first, second


@contextmanager
def resolver(tried: Cluster, on: str) -> Iterator[str]:
    """Provide a service of UDP with a pod of its own on a node; its address."""
    ports = [{"name": "dns", "protocol": "UDP", "port": 53, "targetPort": pods.PORT}]
    pods.create(
        tried,
        pods.make_pod(SPACE, "moving", on, "moving"),
        pods.make_service(SPACE, "moving", ports=ports),
    )
    try:
        yield shop.resolve(tried, f"svc/{SPACE}/moving:dns")[0]
    finally:
        shop.move_out(tried, "moving")


def answers(tried: Cluster, pod: str, address: str) -> str:
    """Ask a service once, from a new socket, and return who answers."""
    talker = datagrams.Talker(datagrams.find_pod(tried, SPACE, pod), address, 53)
    try:
        return talker.ask()
    finally:
        talker.close()


def is_assured(node: Member, address: str) -> bool:
    """Tell whether a node takes the connection with a service for one that goes on, which for UDP
    takes two seconds.
    """
    return "ASSURED" in node.run("conntrack", "-L", "-p", "udp", "--orig-dst", address)


@pytest.mark.parametrize(
    "tried", [pytest.param(SHAPES[0], marks=[pytest.mark.sample]), *SHAPES[1:]], indirect=True
)
def test_an_entry_that_outlived_its_endpoint_is_named(
    tried: Cluster, tmp_path: Path, say: Callable[[str], None]
) -> None:
    """The endpoint moves, and kube-proxy has no conntrack(8) to delete the entry with; new sockets
    reach the new one, and a client that keeps its socket nobody, until the cure is applied.
    """
    first, second = draw(tried)
    say(f"seed {SEED}: {first}, {second}")
    web, far = f"web-{first}", f"far-{second}"
    here = tried.nodes[first]
    with (
        resolver(tried, second) as address,
        datagrams.serve(datagrams.find_pod(tried, SPACE, far), pods.PORT),
    ):
        old = shop.address_of(tried, "moving")
        with datagrams.serve(datagrams.find_pod(tried, SPACE, "moving"), pods.PORT):
            talker = datagrams.Talker(datagrams.find_pod(tried, SPACE, web), address, 53, 5353)
            control.wait(
                lambda: talker.ask() == "moving" and is_assured(here, address),
                "a connection that goes on with the first endpoint",
            )
        tool = here.folder / "bin" / "conntrack"
        tool.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
        tool.chmod(0o755)
        tried.kubectl("label", "pod", "-n", SPACE, far, "app=moving", "--overwrite")
        try:
            shop.leave(tried, "moving")
            control.wait(lambda: f"{old}:" not in here.run("sh", "-c", RULES), "new rules")
            control.wait(lambda: answers(tried, web, address) == far, "the new endpoint")
            assert talker.ask() == ""

            fault = PlantedFault(
                name="", check="", line="", source=f"pod/{SPACE}/{web}", protocol="udp",
                destination=f"svc/{SPACE}/moving:dns",
            )  # fmt: skip
            answer = shop.ask_why(tried, fault, tmp_path)

            assert answer.verdict == "fault", str(answer)
            named = answer.findings[0]
            assert (answer.diagnosis.node, named.check) == (first, "stale-conntrack"), str(answer)
            assert old in named.evidence[0].text
            tool.unlink()
            for command in named.repairs[0].commands:
                here.run("sh", "-c", command)
            assert talker.ask() == far
        finally:
            tool.unlink(missing_ok=True)
            tried.kubectl("label", "pod", "-n", SPACE, far, f"app={far}", "--overwrite")
            talker.close()


@pytest.mark.parametrize("tried", SHAPES, indirect=True)
def test_a_range_that_kubernetes_did_not_give_is_named(
    tried: Cluster, tmp_path: Path, say: Callable[[str], None]
) -> None:
    """A node's plugin was left with the configuration of another cluster: its new pods have
    addresses that no other node has a route to.
    """
    first, second = draw(tried)
    say(f"seed {SEED}: {first}, {second}")
    there = tried.nodes[second]
    file = "/etc/cni/net.d/10-pods.conflist"
    kept = there.run("cat", file)
    written = json.loads(kept)
    given = written["plugins"][0]["ipam"]["ranges"][0][0]["subnet"]
    written["name"] = "older"
    if tried.plan.plugin == "bridged":
        written["plugins"][0]["bridge"] = "cni1"
    written["plugins"][0]["ipam"]["ranges"] = [[{"subnet": "10.244.77.0/24"}]]
    there.run("tee", file, given=json.dumps(written))
    fault = PlantedFault(
        name="", check="", line="", source=f"pod/{SPACE}/web-{first}",
        destination=f"pod/{SPACE}/astray",
    )  # fmt: skip
    try:
        pods.create(tried, pods.make_pod(SPACE, "astray", second, "astray"))
        assert not shop.connects(tried, fault)

        answer = shop.ask_why(tried, fault, tmp_path)

        assert answer.verdict == "fault", str(answer)
        named = answer.findings[0]
        assert named.check == "pod-range", str(answer)
        assert f"node {second}" in " ".join(str(answer).split())
        assert any(given in span.text for span in named.evidence)
    finally:
        tried.kubectl("delete", "pod", "-n", SPACE, "astray", "--force", "--ignore-not-found")
        there.run("tee", file, given=kept)
    pods.create(tried, pods.make_pod(SPACE, "astray", second, "astray"))
    assert shop.connects(tried, fault)
    tried.kubectl("delete", "pod", "-n", SPACE, "astray", "--force")
