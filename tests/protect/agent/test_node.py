"""The node's taint and events against a real API server: owned from the start, off when ready, back
on regression.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from podpath.kube import access
from podpath.kube.client import Client
from podpath_protect.agent.config import KubernetesOptions
from podpath_protect.agent.keeper import AgentFinding, KeeperStatus, ThreadKeeper
from podpath_protect.agent.node import NodeReporting, TaintPolicy, camel, speak_of_node
from podpath_protect.cluster.lease import LeaseBudget
from podpath_protect.cluster.limits import ClusterLimits
from tests import kube_objects as kube
from tests.apiserver import ApiServer

NODE = "spoken-of"
KEY = "podpath.dev/not-ready"
GOOD = KeeperStatus(ready=True)
BAD = KeeperStatus(
    ready=False, why="ip_forward is 0",
    findings=(AgentFinding(
        check="sysctl-drifted", subject="net.ipv4.ip_forward", severity="error",
        claim="it is 0, and shall be 1",
    ),),
)  # fmt: skip


class Parts:
    """How the parts stand, set by the test."""

    def __init__(self, status: KeeperStatus) -> None:
        """Begin with one part."""
        self.standing = {"sysctl": status}

    def __call__(self) -> dict[str, KeeperStatus]:
        """Say it."""
        return dict(self.standing)


@pytest.fixture
def server(api_server: ApiServer) -> ApiServer:
    """Provide the server with an untainted node."""
    api_server.kubectl("delete", "node", NODE, "--ignore-not-found")
    api_server.apply(kube.node(NODE))
    return api_server


@pytest.fixture
def speaking(server: ApiServer) -> Iterator[Callable[..., tuple[Parts, ThreadKeeper]]]:
    """Start speakers, and end them."""
    started: list[ThreadKeeper] = []

    def start(status: KeeperStatus, **options: Any) -> tuple[Parts, ThreadKeeper]:  # noqa: ANN401  # options of any kind
        parts = Parts(status)
        chosen = replace(
            KubernetesOptions(kubeconfig=str(server.kubeconfig()), grace=0.5), **options
        )
        reporting = NodeReporting(node=NODE, options=chosen, dry_run=False)
        keeper = ThreadKeeper(
            "node", lambda context: speak_of_node(context, reporting, parts), first_pause=0.2
        )
        keeper.start()
        started.append(keeper)
        return parts, keeper

    yield start
    for keeper in started:
        keeper.stop()


def tainted(server: ApiServer) -> bool:
    """Tell whether kubectl sees the taint."""
    return any(taint["key"] == KEY for taint in server.read("node", NODE)["spec"].get("taints", []))


def events(server: ApiServer) -> set[tuple[str, str]]:
    """Return reason and note of the node's events."""
    found = server.read("events", "-A")["items"]
    return {
        (event["reason"], event["message"])
        for event in found
        if event["involvedObject"]["name"] == NODE
    }


def wait_until(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.parity("G14")
def test_the_taint_is_there_from_the_start_until_ready_and_comes_back(
    server: ApiServer, speaking: Callable[..., tuple[Parts, ThreadKeeper]]
) -> None:
    """Before any part has looked it is put there; it goes when all are ready, and is put back on
    regression (G14).
    """
    parts, keeper = speaking(KeeperStatus(ready=False, why="it has not looked yet"))
    parts.standing = {}
    assert wait_until(lambda: tainted(server))
    parts.standing = {"sysctl": KeeperStatus(ready=False, why="it has not looked yet")}
    time.sleep(1.5)
    assert tainted(server)
    parts.standing = {"sysctl": GOOD}
    assert wait_until(lambda: not tainted(server))
    parts.standing = {"sysctl": BAD}
    assert wait_until(lambda: tainted(server))

    assert wait_until(
        lambda: (
            {reason for reason, _ in events(server)}
            >= {"PathReady", "PathNotReady", "SysctlDrifted"}
        )
    )
    assert ("SysctlDrifted", "it is 0, and shall be 1") in events(server)
    keeper.stop()
    assert tainted(server)


def test_a_taint_that_somebody_took_off_is_put_back(
    server: ApiServer, speaking: Callable[..., tuple[Parts, ThreadKeeper]]
) -> None:
    """At the next start at the latest, whatever happened meanwhile."""
    _, keeper = speaking(BAD)
    assert wait_until(lambda: tainted(server))
    keeper.stop()
    server.kubectl("patch", "node", NODE, "--type=merge", "-p", '{"spec": {"taints": null}}')
    speaking(BAD)

    assert wait_until(lambda: tainted(server))


def test_a_server_that_is_away_is_waited_for(
    server: ApiServer, speaking: Callable[..., tuple[Parts, ThreadKeeper]]
) -> None:
    """While it is dead the part is degraded and still ready; when it is back, what was to be said
    is said.
    """
    parts, keeper = speaking(BAD)
    assert wait_until(lambda: tainted(server))
    server.kill()
    try:
        parts.standing = {"sysctl": GOOD}
        assert wait_until(lambda: keeper.status().degraded)
        assert keeper.status().ready
    finally:
        server.start()

    assert wait_until(lambda: not tainted(server))


def test_who_may_not_write_says_so(
    server: ApiServer, speaking: Callable[..., tuple[Parts, ThreadKeeper]]
) -> None:
    """A refusal is told with the server's reason, and never with the token."""
    _, keeper = speaking(BAD, kubeconfig=str(server.kubeconfig("nobody-token-0123456789")))

    assert wait_until(lambda: "403" in keeper.status().why)
    assert "nobody-token" not in keeper.status().why
    assert not tainted(server)


def test_the_condition_says_what_the_taint_says(
    server: ApiServer, speaking: Callable[..., tuple[Parts, ThreadKeeper]]
) -> None:
    """Where it is asked for, the node's condition follows its parts, with the reason."""
    parts, _ = speaking(BAD, condition=True)

    def condition() -> tuple[str, str]:
        found = server.read("node", NODE)["status"].get("conditions", [])
        ours = [each for each in found if each["type"] == "PodpathReady"]
        return (ours[0]["status"], ours[0].get("message", "")) if ours else ("", "")

    assert wait_until(lambda: condition() == ("False", "sysctl: ip_forward is 0"))
    assert wait_until(lambda: tainted(server))
    parts.standing = {"sysctl": GOOD}
    assert wait_until(lambda: condition() == ("True", ""))


@pytest.mark.parity("G14")
def test_no_more_nodes_are_tainted_than_the_cluster_allows(
    server: ApiServer, speaking: Callable[..., tuple[Parts, ThreadKeeper]]
) -> None:
    """Where every place is taken the taint is held back and the part says so; a node that is ready
    gives its place back.
    """
    lease = {"name": "places", "namespace": "default"}
    server.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": lease})
    limits = ClusterLimits(lease="default/places", taints=1)
    try:
        with Client(access.find(server.kubeconfig())) as client:
            rival = LeaseBudget(client, limits, "another-node", time.time)
            assert rival.hold()
            parts, keeper = speaking(BAD, budget=limits)
            assert wait_until(lambda: "held back" in keeper.status().why)
            assert (True, True) == (keeper.status().ready, keeper.status().degraded)
            assert not tainted(server)
            keeper.stop()
            rival.release()
            parts, keeper = speaking(BAD, budget=limits)
            assert wait_until(lambda: tainted(server))
            assert not rival.hold()
            parts.standing = {"sysctl": GOOD}
            assert wait_until(lambda: not tainted(server))
            assert wait_until(rival.hold)
    finally:
        server.kubectl("delete", "lease", "places")


@pytest.mark.parity("G14")
def test_a_moment_of_drift_is_no_regression() -> None:
    """The taint comes back after the grace, and not before; ready again, the grace begins anew."""
    taint = TaintPolicy(10.0)

    heard = [(True, 0), (False, 5), (True, 14), (False, 20), (False, 29), (False, 30), (True, 31)]
    assert [taint.hear(ready, now) for ready, now in heard] == [
        False,
        False,
        False,
        False,
        False,
        True,
        False,
    ]
    assert TaintPolicy(10.0).hear(False, 0) is True


def test_reasons_are_spelled_as_kubernetes_does() -> None:
    """Kinds of findings become reasons of events."""
    assert camel("jump-order-fought") == "JumpOrderFought"
