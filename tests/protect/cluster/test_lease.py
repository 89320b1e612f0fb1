"""The shared budget on a real API server: agents at once, a Lease that is missing, answers that are
lost.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from podpath.kube import access
from podpath.kube.client import Client, Refused, Unreachable
from podpath_protect.cluster.lease import ANNOTATION, LeaseBudget
from podpath_protect.cluster.limits import ClusterLimits
from podpath_protect.cluster.shared import Contended
from tests import kube_objects as kube
from tests.apiserver import ApiServer
from tests.kube.scripted import Answer, Asked, Scripted

SPACE = "budget"
LIMITS = ClusterLimits(
    lease=f"{SPACE}/shared", evictions=7, evictions_per_hour=1.0, taints=2, mends=1
)


@pytest.fixture
def server(api_server: ApiServer) -> Iterator[ApiServer]:
    """Provide the server with an empty Lease."""
    if SPACE not in api_server.kubectl("get", "namespaces", "-o", "name"):
        api_server.apply(kube.namespace(SPACE))
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "shared", "namespace": SPACE},
    }
    api_server.apply(lease)
    yield api_server
    api_server.kubectl("-n", SPACE, "delete", "lease", "shared", "--ignore-not-found")


def decided(attempt: Callable[[], bool]) -> bool:
    """Repeat what others overtook, until it is decided."""
    while True:
        try:
            return attempt()
        except Contended:
            continue


def test_agents_at_once_never_spend_more(server: ApiServer) -> None:
    """Six agents want five evictions each, in three namespaces, of a cluster that has seven; and a
    place for their taint, where there are two.
    """
    granted: list[bool] = []
    held: list[bool] = []

    def want(node: str) -> None:
        with Client(access.find(server.kubeconfig())) as client:
            budget = LeaseBudget(client, LIMITS, node, time.time)
            space = f"space-{int(node[-1]) % 3}"
            granted.extend(decided(lambda: budget.spend("evict", space) == 0.0) for _ in range(5))
            held.append(decided(budget.hold))

    agents = [threading.Thread(target=want, args=(f"node-{number}",)) for number in range(6)]
    for agent in agents:
        agent.start()
    for agent in agents:
        agent.join()

    lease = server.read("lease", "shared", "-n", SPACE)
    stored = json.loads(lease["metadata"]["annotations"][ANNOTATION])
    assert (30, 7) == (len(granted), sum(granted))
    assert (6, 2) == (len(held), sum(held))
    assert 2 == len(stored["held"])
    assert lease["spec"]["holderIdentity"].startswith("node-")


def test_what_is_given_back_can_be_had_again(server: ApiServer) -> None:
    """A token and a place, by the next who asks."""
    with Client(access.find(server.kubeconfig())) as client:
        first, second = (LeaseBudget(client, LIMITS, node, time.time) for node in ("a", "b"))
        assert first.spend("mend", "shop") == 0.0
        waits = second.spend("mend", "shop")
        first.refund("mend", "shop")
        assert second.spend("mend", "shop") == 0.0
        assert waits > 0
        third = LeaseBudget(client, LIMITS, "c", time.time)
        assert [True, True, False] == [first.hold(), second.hold(), third.hold()]
        first.release()
        assert third.hold()


def test_without_its_lease_nothing_is_granted(server: ApiServer) -> None:
    """The Lease is not created by agents: where it is missing they are refused."""
    server.kubectl("-n", SPACE, "delete", "lease", "shared")
    with Client(access.find(server.kubeconfig())) as client:
        budget = LeaseBudget(client, LIMITS, "a", time.time)

        with pytest.raises(Refused, match="404"):
            budget.spend("evict", "shop")
        budget.refund("evict", "shop")


def test_an_answer_that_is_lost_grants_nothing(tmp_path: Path) -> None:
    """The server took the patch and its answer never came: the token is spent, and nobody acts."""

    def answer(asked: Asked) -> Answer:
        if asked.verb == "PATCH":
            return Answer(200, [b'{"metadata"'])
        return Answer(200, [b'{"metadata": {"name": "shared", "resourceVersion": "3"}}'])

    with Scripted(answer) as scripted, Client(access.find(scripted.kubeconfig(tmp_path))) as client:
        with pytest.raises(Unreachable):
            LeaseBudget(client, LIMITS, "a", time.time).spend("evict", "shop")

        assert b'"resourceVersion":"3"' in scripted.asked[-1].body
