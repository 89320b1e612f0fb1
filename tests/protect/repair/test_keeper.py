"""Tests of `protect.repair.keeper`: the controller at work, followed and restarted, on the real API
server (rows R3, R6, R9).
"""

from __future__ import annotations

import json
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest

from podpath.kube import access
from podpath.kube.client import Client, Unreachable
from podpath_protect.agent.keeper import STARTING, KeeperContext, KeeperStatus
from podpath_protect.cluster.objects import KubePod
from podpath_protect.repair.judgement import name_owner
from podpath_protect.repair.keeper import BOOT, RepairScope, Work, make_body, query_of, take_turns
from podpath_protect.repair.policy import Policy
from tests import kube_objects as kube
from tests.apiserver import AGENT, AGENT_USER, NOBODY, ApiServer
from tests.kube.following import until
from tests.protect.repair import pods
from tests.protect.repair.netns import bare, fresh_addresses, inside, pod_namespace
from tests.protect.repair.ward import SPACE, WIDE, Ward


class Running:
    """A keeper's body in a thread, as the agent runs it."""

    def __init__(self, assignment: RepairScope) -> None:
        """Prepare the context."""
        self.heard: KeeperStatus = STARTING
        self.context = KeeperContext(self._hear)
        self._thread = threading.Thread(
            target=make_body(assignment), args=(self.context,), daemon=True
        )

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End, and see that it ends at once."""
        self.context.stop()
        self._thread.join(30)
        assert not self._thread.is_alive()
        self.context.close()

    def _hear(self, status: KeeperStatus) -> None:
        self.heard = status

    def sample(self, name: str, **labels: str) -> float:
        """Return the value of a sample, 0 where there is none."""
        wanted = tuple(labels.items())
        return next(
            (
                each.value
                for each in self.heard.samples
                if each.name == name and each.labels == wanted
            ),
            0.0,
        )


def assign(ward: Ward, policy: Policy = WIDE, **changes: object) -> RepairScope:
    """Make the assignment of a ward's node."""
    assignment = RepairScope(
        node=ward.node, policy=policy, access=access.find(ward.server.kubeconfig())
    )
    return replace(assignment, **changes)  # type: ignore[arg-type]  # each by its field's type


def gone(ward: Ward, name: str) -> Callable[[], bool]:
    """Tell whether a pod is gone."""
    return lambda: not ward.there(name)


@pytest.mark.parity("R3")
def test_r3_pods_that_were_broken_before_it_began_are_found(ward: Ward) -> None:
    """The first list counts: a pod that broke while no controller ran needs no further change to be
    seen.
    """
    ward.pod("before")

    with Running(assign(ward)) as running:
        until(gone(ward, "before"), "the pod from before is evicted")
        until(
            lambda: running.sample("repair_deeds", action="evict", result="success") == 1,
            "the action is counted",
        )

        assert running.heard.ready


@pytest.mark.parity("R1")
def test_r1_only_pods_of_its_node_and_selector_are_touched(ward: Ward) -> None:
    """Pods of other nodes, and pods without the label that the policy asks for, stay."""
    other = Ward(ward.server)
    other.pod("elsewhere", labels={"mesh": "on"})
    ward.pod("unlabelled")
    ward.pod("selected", labels={"mesh": "on"})

    with Running(assign(ward, replace(WIDE, label_selector="mesh=on"))):
        until(gone(ward, "selected"), "the selected pod is evicted")

    assert ward.there("unlabelled")
    assert ward.there("elsewhere")
    other.close()


@pytest.mark.parity("R1")
def test_r1_the_query_names_node_and_selectors() -> None:
    """The server selects: the node's name, more fields, labels as linkerd's controller has them."""
    policy = Policy(
        label_selector="linkerd.io/control-plane-ns", field_selector="status.phase!=Succeeded"
    )

    assert {
        "fieldSelector": "spec.nodeName=n1,status.phase!=Succeeded",
        "labelSelector": "linkerd.io/control-plane-ns",
    } == query_of("n1", policy)


@pytest.mark.parity("R6")
def test_r6_no_change_is_dropped_however_many_come(ward: Ward) -> None:
    """A hundred changes of one pod while nobody looks are one look at its newest state; pods beside
    it are not lost.
    """
    with Client(access.find(ward.server.kubeconfig())) as client:
        work = Work(assign(ward, replace(WIDE, actions=("label",))), client)
        pods = [ward.pod(f"busy-{number}") for number in range(3)]
        for version in range(100):
            for pod in pods:
                work._put(None, pod if version < 99 else ward.read(pod.metadata.name))
        taken = work._take()
        work.close()

    assert ["busy-0", "busy-1", "busy-2"] == [
        after.metadata.name for _, after in taken if after is not None
    ]


def test_a_pod_that_came_and_went_unseen_is_nothing(ward: Ward) -> None:
    """What was there and is gone before anybody looked is told as gone, once."""
    with Client(access.find(ward.server.kubeconfig())) as client:
        work = Work(assign(ward), client)
        pod = ward.pod("brief-life")
        work._put(None, pod)
        work._put(pod, None)
        taken = work._take()
        work.step(time.monotonic())
        work.close()

    assert [(None, None)] == taken
    assert 0 == work.controller.broken


def test_a_follower_that_died_is_noticed(ward: Ward) -> None:
    """Should the thread that follows the pods ever end, the part fails, so that the agent begins it
    anew.
    """
    with Client(access.find(ward.server.kubeconfig())) as client:
        work = Work(assign(ward), client)
        work.start()
        work.step(time.monotonic())
        work.watch.stop()
        work._thread.join(60)
        with pytest.raises(Unreachable, match="ended"):
            work.step(time.monotonic())
        work.close()


def test_it_outlives_its_server(ward: Ward) -> None:
    """Killed and started again in the middle: the part stays ready but degraded, and acts when the
    server is back.
    """
    with Running(assign(ward)) as running:
        until(lambda: running.heard.ready and not running.heard.degraded, "it follows")
        ward.server.kill()
        until(lambda: running.heard.degraded, "it says that it does not follow")
        ready = running.heard.ready
        why = running.heard.why
        ward.server.start()
        ward.create("after")
        until(gone(ward, "after"), "the pod after the restart is evicted")

    assert ready
    assert "the API server is not followed" in why


@pytest.mark.parity("G26")
def test_g26_a_new_token_is_not_noticed_by_readiness(ward: Ward, tmp_path: Path) -> None:
    """The kubelet writes a new token and the server forgets the old one: what was followed is
    followed on, never unready.
    """
    server = ward.server
    for name, content in (
        ("token", AGENT),
        ("ca.crt", server.authority.read_text(encoding="ascii")),
    ):
        (tmp_path / name).write_text(content, encoding="utf-8")
    server.kubectl(
        "create",
        "clusterrolebinding",
        "rotating",
        "--clusterrole=cluster-admin",
        f"--user={AGENT_USER}",
    )
    environment = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(server.port),
    }
    way = access.find(environment=environment, account=tmp_path)
    tokens = server.home / "tokens.csv"
    before = tokens.read_text(encoding="utf-8")
    readiness: set[bool] = set()
    try:
        with Running(assign(ward, access=way)) as running:
            until(lambda: running.sample("kube_watching") == 1.0, "it follows")
            (tmp_path / "token").write_text("rotated-token-0123456789", encoding="utf-8")
            tokens.write_text(before.replace(AGENT, "rotated-token-0123456789"), encoding="utf-8")
            server.kill()
            server.start()
            ward.create("after-rotation")

            def is_gone() -> bool:
                readiness.add(running.heard.ready)
                return not ward.there("after-rotation")

            until(is_gone, "the pod is evicted with the new token")
    finally:
        tokens.write_text(before, encoding="utf-8")
        server.kill()
        server.start()
        server.kubectl("delete", "clusterrolebinding", "rotating")

    assert {True} == readiness


def test_the_budget_outlives_a_controller_that_is_killed(ward: Ward, tmp_path: Path) -> None:
    """Three controllers one after the other, a burst of one: one pod goes. The state is nobody
    else's to read.
    """
    state = tmp_path / "repair.json"
    policy = replace(WIDE, node_burst=1, node_per_hour=1.0)
    for number in range(3):
        ward.pod(f"spent-{number}", owners=[kube.owner(f"spent-{number}")])
        with Client(access.find(ward.server.kubeconfig())) as client:
            work = Work(assign(ward, policy, state=state), client)
            work.once()
            work.close()

    assert [False, True, True] == [ward.there(f"spent-{number}") for number in range(3)]
    assert 0o600 == stat.S_IMODE(state.stat().st_mode)
    assert (
        BOOT.read_text(encoding="ascii").strip()
        == json.loads(state.read_text(encoding="utf-8"))["boot"]
    )


@pytest.mark.parametrize("content", ["", "{", "[]", '{"boot": "another", "budget": {}}'])
def test_a_state_that_is_not_ours_is_no_obstacle(ward: Ward, tmp_path: Path, content: str) -> None:
    """A state of another boot or a broken file is left unread, and written anew at the next
    action.
    """
    state = tmp_path / "repair.json"
    state.write_text(content, encoding="utf-8")
    with Client(access.find(ward.server.kubeconfig())) as client:
        work = Work(assign(ward, state=state), client)
        tokens = work.budget.tokens(time.monotonic())
        work.close()

    assert WIDE.node_burst == tokens


@pytest.mark.parity("G1")
@pytest.mark.kernel("iptables-nft-save", "ip6tables-nft-save", "nft", "nsenter")
def test_g1_a_running_pod_without_rules_is_found_and_mended_in_place(ward: Ward) -> None:
    """A scan finds the pod that has a proxy, no validator and no rules; it is mended where it is,
    and lives on.
    """
    policy = Policy(actions=("label", "mend"), scan=0.2, young=0.0)
    four, six = fresh_addresses()
    with pod_namespace(four, six) as name:
        ward.pod(
            "unmeshed",
            init=(),
            containers=("app", "linkerd-proxy"),
            status={
                "phase": "Running",
                "podIP": bare(four),
                "podIPs": [{"ip": bare(four)}, {"ip": bare(six)}],
            },
        )
        with Running(assign(ward, policy)) as running:
            until(
                lambda: "--to-ports 4140" in inside(name, "ip6tables-nft-save"),
                "the rules are there",
            )
            until(
                lambda: running.sample("repair_deeds", action="mend", result="success") == 1,
                "the action is counted",
            )
            until(lambda: running.sample("repair_pods_broken") == 0, "the pod is well")

        assert "--to-ports 4143" in inside(name, "iptables-nft-save")
    assert ward.there("unmeshed")
    assert ["LabelBrokenPod", "MendBrokenPod"] == [
        event["reason"] for event in ward.events("unmeshed")
    ]


LITTLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "mend-alone"},
    "rules": [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"]},
    ],
}


@pytest.mark.parity("R11")
@pytest.mark.kernel("iptables-nft-restore", "nsenter")
def test_mending_alone_needs_no_right_to_write(ward: Ward) -> None:
    """With a token that reads pods and creates events, and nothing else, a pod is mended in place:
    what a cluster grants whose server knows no policies.
    """
    four, six = fresh_addresses()
    ward.server.apply(LITTLE)
    little = ["create", "clusterrolebinding", "mend-alone"]
    ward.server.kubectl(*little, "--clusterrole=mend-alone", "--user=nobody")
    policy = replace(WIDE, actions=("mend",), scan=0.3, young=0.0)
    way = access.find(ward.server.kubeconfig(NOBODY))
    try:
        with pod_namespace(four, six) as name:
            ward.pod(
                "by-little",
                init=(),
                containers=("app", "linkerd-proxy"),
                status={"phase": "Running", "podIP": bare(four), "podIPs": [{"ip": bare(four)}]},
            )
            with Running(assign(ward, policy, access=way)) as running:
                until(
                    lambda: running.sample("repair_deeds", action="mend", result="success") == 1,
                    "the pod is mended",
                )

            assert "--to-ports 4140" in inside(name, "iptables-nft-save")
        assert ["MendBrokenPod"] == [event["reason"] for event in ward.events("by-little")]
    finally:
        ward.server.kubectl("delete", "clusterrolebinding/mend-alone", "clusterrole/mend-alone")


@pytest.mark.parity("R9", "I8")
def test_r9_i8_what_is_done_is_counted(ward: Ward) -> None:
    """Actions by action and result, events, the watch's own figures: each is a sample with its
    meaning.
    """
    with Running(assign(ward)) as running:
        until(lambda: running.sample("kube_watching") == 1.0, "it follows")
        names = {sample.name for sample in running.heard.samples}

        assert all(sample.help for sample in running.heard.samples)
    assert {
        "repair_pods_broken",
        "repair_budget_tokens",
        "repair_events_errors",
        "kube_lists",
        "kube_failures",
    } <= names


def test_an_idle_node_costs_nothing(ward: Ward) -> None:
    """With nothing to do it sleeps: under one per cent of a core."""
    server: ApiServer = ward.server
    server.apply(
        *(kube.pod(f"idle-{number}", namespace=SPACE, node=ward.node) for number in range(20))
    )
    with Running(assign(ward)) as running:
        until(lambda: running.sample("repair_pods") == 20, "all pods are known")

        def cost() -> float:
            before = time.process_time()
            time.sleep(1)
            return time.process_time() - before

        until(lambda: cost() < 0.01, "it sleeps")


def test_one_tenants_pods_wait_for_each_other() -> None:
    """Of a hundred pods of one namespace and two of another, a scan of four looks at both of the
    other's, and at different owners' of the first.
    """
    many = [
        kube_pod(f"many-{number}", "hostile", owners=[kube.owner(f"owner-{number % 2}")])
        for number in range(100)
    ]
    few = [kube_pod(f"few-{number}", "shop") for number in range(2)]

    taken = take_turns([*many, *few], 4)

    assert ["hostile", "hostile", "shop", "shop"] == sorted(pod.metadata.namespace for pod in taken)
    assert 2 == len({name_owner(pod) for pod in taken if pod.metadata.namespace == "hostile"})
    assert 102 == len(take_turns([*many, *few], 1000))


def kube_pod(name: str, space: str, **more: Any) -> KubePod:  # noqa: ANN401  # fields of the manifest
    """Make a pod of a namespace."""
    return pods.read(kube.pod(name, namespace=space, **more))
