"""Tests of `protect.repair.controller` on the real API server: what is done to whom and when, what
never is (R4-R8, I4-I10).
"""

from __future__ import annotations

import json
import logging

import pytest

from podpath.kube.client import KubeError, Unreachable
from podpath_protect.repair.judgement import NamespaceObservation
from podpath_protect.repair.namespaces import Namespaces
from tests import kube_objects as kube
from tests.apiserver import NOBODY
from tests.protect.repair.netns import NONE, namespaces_of
from tests.protect.repair.ward import SPACE, WIDE, Ward


@pytest.mark.parity("R8", "I4")
def test_r8_i4_a_broken_pod_is_evicted_after_an_event(ward: Ward) -> None:
    """R8, I4: the pod goes, and the event that says why was written before, as a warning with
    reason and action.
    """
    controller = ward.controller()
    pod = ward.pod("evicted")

    controller.consider(pod, 1.0)

    assert not ward.there("evicted")
    (event,) = ward.events("evicted")
    assert ("Warning", "EvictBrokenPod", "Evicting") == (
        event["type"],
        event["reason"],
        event["action"],
    )
    assert "started without its redirect rules" in event["note"]
    assert "ended with 95: no rules" in event["note"]
    assert "podpath-agent-x" == event["reportingInstance"]
    assert pod.metadata.uid == event["regarding"]["uid"]
    assert {("evict", "success"): 1} == dict(controller.counts)


@pytest.mark.parity("R8")
def test_r8_without_its_event_no_pod_is_sent_away(ward: Ward) -> None:
    """Where events may not be written, a pod is not evicted, unless the policy says that it does
    not matter.
    """
    role = [
        "create",
        "clusterrole",
        "ward-mute",
        "--verb=get,list,watch,delete,create",
        "--resource=pods,pods/eviction",
    ]
    ward.server.kubectl(*role)
    ward.server.kubectl(
        "create", "clusterrolebinding", "ward-mute", "--clusterrole=ward-mute", "--user=nobody"
    )
    mute = Ward(ward.server, NOBODY)
    try:
        controller = mute.controller()
        pod = ward.pod("unsung")
        controller.consider(pod, 1.0)
        kept = ward.there("unsung")
        mute.controller(require_event=False).consider(pod, 1.0)

        assert kept
        assert not ward.there("unsung")
        assert (1, {("evict", "fail"): 1}) == (controller.event_errors, dict(controller.counts))
        assert "its event cannot be written" in str(controller.findings()[0].evidence)
    finally:
        mute.close()
        ward.server.kubectl("delete", "clusterrolebinding/ward-mute", "clusterrole/ward-mute")


class Spent:
    """A cluster's budget as the test has it."""

    def __init__(self, *answers: float | KubeError) -> None:
        """Answer so, one after the other."""
        self.answers = list(answers)
        self.asked: list[str] = []

    def spend(self, action: str, space: str) -> float:
        """Give the next answer."""
        assert SPACE == space
        self.asked.append(action)
        answer = self.answers.pop(0)
        if isinstance(answer, KubeError):
            raise answer
        return answer

    def refund(self, action: str, space: str) -> None:
        """Note it."""
        assert SPACE == space
        self.asked.append(f"{action} back")


def test_what_the_cluster_does_not_allow_is_not_done(ward: Ward) -> None:
    """A budget that is spent, or that cannot be asked, leaves the pod; what the node's own budget
    gave for it is there again, and the next answer counts.
    """
    cluster = Spent(40.0, Unreachable("no answer"), 0.0)
    controller = ward.controller(cluster=cluster, node_burst=1, owner_burst=1)
    pod = ward.pod("rationed")

    controller.consider(pod, 1.0)
    first = controller.findings()[0].evidence
    controller.consider(pod, 2.0)
    controller.consider(pod, 41.0)
    second = controller.findings()[0].evidence
    there = ward.there("rationed")
    controller.consider(pod, 46.0)

    assert ("the cluster's budget allows the next action in 40 s",) == first
    assert ("the cluster's budget cannot be asked: no answer",) == second
    assert (True, False) == (there, ward.there("rationed"))
    assert ["evict", "evict", "evict"] == cluster.asked


def test_what_did_not_happen_is_given_back_to_the_cluster(ward: Ward) -> None:
    """A pod that became well in between costs the cluster nothing."""
    cluster = Spent(0.0)
    controller = ward.controller(cluster=cluster)
    stale = ward.pod("spared")
    well = kube.status("linkerd-network-validator", kube.ended(0), kube.ended(95))
    ward.server.set_status("pod", SPACE, "spared", well)

    controller.consider(stale, 1.0)

    assert ward.there("spared")
    assert ["evict", "evict back"] == cluster.asked


@pytest.mark.parity("I4")
def test_i4_a_pod_that_changed_since_is_judged_anew(ward: Ward) -> None:
    """A pod that became well between the watch's word and the action is let be: a fresh look comes
    first.
    """
    controller = ward.controller()
    stale = ward.pod("recovered")
    ward.server.set_status(
        "pod",
        SPACE,
        "recovered",
        kube.status("linkerd-network-validator", kube.ended(0), kube.ended(95)),
    )

    controller.consider(stale, 1.0)

    assert ward.there("recovered")
    assert ward.events("recovered") == []
    assert {("evict", "skip"): 1} == dict(controller.counts)


@pytest.mark.parity("I4")
def test_i4_a_successor_of_the_same_name_is_not_touched(ward: Ward) -> None:
    """A StatefulSet's next pod has the name of the last: by its UID it is known as another."""
    controller = ward.controller()
    stale = ward.pod("db-0", owners=[kube.owner("db", "StatefulSet")])
    ward.server.kubectl("-n", SPACE, "delete", "pod", "db-0", "--grace-period=0", "--force")
    ward.pod("db-0", owners=[kube.owner("db", "StatefulSet")])

    controller.consider(stale, 1.0)

    assert ward.there("db-0")


@pytest.mark.parity("R4")
def test_r4_a_healthy_pod_whose_first_run_failed_lives(ward: Ward) -> None:
    """The pod that linkerd's controller deletes by force is not touched, however often its status
    is updated.
    """
    controller = ward.controller(actions=("label", "evict", "delete"))
    pod = ward.pod("lives", kube.ended(0), kube.ended(95), phase="Running")

    for second in range(5):
        controller.consider(pod, float(second))

    assert ward.there("lives")
    assert dict(controller.counts) == {}


@pytest.mark.parity("R5")
def test_r5_deletion_has_preconditions_and_the_pods_own_grace(ward: Ward) -> None:
    """Where the policy says delete, the pod goes by a deletion that leaves its grace to it."""
    controller = ward.controller(actions=("delete",))
    pod = ward.pod("graceful", terminationGracePeriodSeconds=30)

    controller.consider(pod, 1.0)

    meta = ward.server.read("pod", "graceful", "-n", SPACE)["metadata"]
    assert 30 == meta["deletionGracePeriodSeconds"]
    assert {("delete", "success"): 1} == dict(controller.counts)


@pytest.mark.parity("R7")
def test_r7_a_pod_that_nobody_makes_again_is_spared(ward: Ward) -> None:
    """A bare pod would be gone for good: it is labeled and reported, and sent away only where the
    policy says so.
    """
    controller = ward.controller(actions=("label", "evict"))
    pod = ward.pod("bare", owners=[])

    controller.consider(pod, 1.0)
    spared = ward.there("bare")
    ward.controller(bare_pods=True).consider(ward.read("bare"), 1.0)

    assert spared
    assert "nobody would make it again" in str(controller.findings()[0].evidence)
    assert not ward.there("bare")


@pytest.mark.parity("R7")
def test_r7_no_more_pods_go_than_the_budget_allows(ward: Ward) -> None:
    """Five broken pods of five owners, a burst of two: two go, the others wait, and go when the
    bucket is filled again.
    """
    controller = ward.controller(node_burst=2, node_per_hour=60.0)
    broken = [
        ward.pod(f"many-{number}", owners=[kube.owner(f"many-{number}")]) for number in range(5)
    ]

    for pod in broken:
        controller.consider(pod, 1.0)
    gone = [pod.metadata.name for pod in broken if not ward.there(pod.metadata.name)]
    for pod in broken[2:]:
        controller.consider(pod, 30.0)
    still = [pod.metadata.name for pod in broken if not ward.there(pod.metadata.name)]
    assert ("many-2", "many-3", "many-4") == tuple(
        key.partition("/")[2] for key in controller.due(61.1)
    )
    for pod in broken[2:]:
        controller.consider(pod, 61.1)

    assert ["many-0", "many-1"] == gone == still
    assert [False, True, True] == [ward.there(f"many-{number}") for number in (2, 3, 4)]
    assert "allows the next action in 60 s" in controller.findings()[-1].evidence[0]


@pytest.mark.parity("G3")
def test_g3_an_owner_whose_pods_are_born_broken_is_not_chased(ward: Ward) -> None:
    """Ten broken successors of one owner within ten minutes cost four pods, not ten; it says that
    the fault is elsewhere.
    """
    controller = ward.controller(
        owner_burst=1, owner_per_hour=3600.0, owner_pause=60.0, longest_pause=3600.0
    )
    sent = 0
    for birth in range(10):
        pod = ward.pod(f"chased-{birth}")
        controller.consider(pod, birth * 60.0)
        sent += not ward.there(f"chased-{birth}")
        controller.forget(pod)

    assert 4 == sent
    last = ward.pod("chased-last")
    controller.consider(last, 600.0)
    assert (
        "4 of its kind were replaced in vain, so the fault is not in the pod"
        in controller.findings()[0].evidence[0]
    )


@pytest.mark.parity("G3")
def test_g3_nothing_is_done_while_the_nodes_chain_is_unhealthy(ward: Ward) -> None:
    """With a chain without the plugin every successor would be broken too: nothing at all is done,
    until it is well.
    """
    ward.chain = "10-calico.conflist has no linkerd-cni"
    controller = ward.controller(actions=("label", "mend", "evict", "delete"))
    pod = ward.pod("waits")

    controller.consider(pod, 1.0)
    untouched = ward.read("waits")
    evidence = controller.findings()[0].evidence
    ward.chain = ""
    assert ("ward/waits",) == controller.due(12.0)
    controller.consider(pod, 12.0)

    assert pod == untouched
    assert "10-calico.conflist has no linkerd-cni" in evidence[0]
    assert not ward.there("waits")


def test_a_disruption_budget_is_waited_out_and_never_forced(ward: Ward) -> None:
    """429: the pod stays, deletion is not tried in its place, and the eviction comes when the
    budget allows it.

    The server asks budgets for running pods only: one that is still at its init containers serves
    nobody.
    """
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}}
    meta = {"name": "ward-guard", "namespace": SPACE}
    ward.server.apply(
        {
            "apiVersion": "policy/v1beta1",
            "kind": "PodDisruptionBudget",
            "metadata": meta,
            "spec": spec,
        }
    )
    controller = ward.controller(actions=("evict", "delete"))
    pod = ward.pod("guarded", labels={"app": "guarded"}, phase="Running")

    for second in range(0, 2000, 100):
        controller.consider(pod, float(second))
    kept = ward.there("guarded")
    refused = controller.counts["evict", "refused"]
    ward.server.kubectl("-n", SPACE, "delete", "pdb", "ward-guard")
    controller.consider(pod, 2000.0)

    assert kept
    assert refused >= 10
    assert controller.counts["delete", "success"] == 0
    assert not ward.there("guarded")


@pytest.mark.parity("I5")
def test_i5_a_label_is_set_once_and_taken_off_when_well(ward: Ward) -> None:
    """The label says that the pod is broken, is set once, told by an event, and goes when the
    validator passes.
    """
    controller = ward.controller(actions=("label",))
    pod = ward.pod("labeled")
    for second in range(3):
        controller.consider(ward.read("labeled"), float(second))
    labels = ward.read("labeled").metadata.labels
    ward.server.set_status(
        "pod",
        SPACE,
        "labeled",
        kube.status("linkerd-network-validator", kube.ended(0), kube.ended(95)),
    )
    controller.consider(ward.read("labeled"), 4.0)

    assert {WIDE.label: "true"} == labels
    assert [event["reason"] for event in ward.events("labeled")] == ["LabelBrokenPod"]
    assert {} == ward.read("labeled").metadata.labels
    assert {("label", "success"): 1, ("unlabel", "success"): 1} == dict(controller.counts)
    assert pod.metadata.uid == ward.read("labeled").metadata.uid


@pytest.mark.parity("I5")
def test_i5_no_label_is_set_without_its_event(ward: Ward) -> None:
    """Where the event cannot be written the label waits for it, unless the policy says that it does
    not matter.
    """
    role = ["create", "clusterrole", "ward-labels", "--verb=get,list,patch"]
    ward.server.kubectl(*role, "--resource=pods,pods/status")
    binding = ["create", "clusterrolebinding", "ward-labels", "--clusterrole=ward-labels"]
    ward.server.kubectl(*binding, "--user=nobody")
    mute = Ward(ward.server, NOBODY)
    try:
        controller = mute.controller(actions=("label",))
        controller.consider(ward.pod("unlabeled"), 1.0)
        without = ward.read("unlabeled").metadata.labels
        mute.controller(actions=("label",), require_event=False).consider(
            ward.read("unlabeled"), 1.0
        )

        assert ({}, 1) == (without, controller.event_errors)
        assert {("label", "fail"): 1} == dict(controller.counts)
        assert {WIDE.label: "true"} == ward.read("unlabeled").metadata.labels
    finally:
        mute.close()
        ward.server.kubectl("delete", "clusterrolebinding/ward-labels", "clusterrole/ward-labels")


@pytest.mark.parity("I5")
def test_i5_a_label_that_could_not_be_written_is_tried_again(ward: Ward) -> None:
    """The server is away at the first try; the label is there after the next."""
    controller = ward.controller(actions=("label",), pause=1.0)
    pod = ward.pod("unlucky")
    ward.server.kill()
    try:
        controller.consider(pod, 1.0)
        evidence = controller.findings()[0].evidence
    finally:
        ward.server.start()
    controller.consider(pod, 10.0)

    assert ("its label could not be written",) == evidence
    assert {WIDE.label: "true"} == ward.read("unlucky").metadata.labels


@pytest.mark.parity("I7")
def test_i7_an_action_that_fails_is_tried_five_times_ever_more_slowly(ward: Ward) -> None:
    """Without the right to evict, five tries with doubled pauses, and then no more; deletion is
    next where it is allowed.
    """
    ward.server.kubectl("create", "clusterrole", "ward-look", "--verb=get,list", "--resource=pods")
    ward.server.kubectl(
        "create", "clusterrole", "ward-tell", "--verb=create", "--resource=events.events.k8s.io"
    )
    for name in ("look", "tell"):
        ward.server.kubectl(
            "create",
            "clusterrolebinding",
            f"ward-{name}",
            f"--clusterrole=ward-{name}",
            "--user=nobody",
        )
    weak = Ward(ward.server, NOBODY)
    try:
        controller = weak.controller(pause=5.0, attempts=5)
        pod = ward.pod("resists")
        tried: list[float] = []
        for second in range(400):
            before = controller.counts["evict", "fail"]
            controller.consider(pod, float(second))
            tried += [float(second)] * (controller.counts["evict", "fail"] - before)

        assert [0.0, 5.0, 15.0, 35.0, 75.0] == tried
        assert "everything that the policy allows was tried" in controller.findings()[0].evidence[0]
        assert controller.wait(500.0) is None
    finally:
        weak.close()
        for name in ("look", "tell"):
            ward.server.kubectl(
                "delete", f"clusterrolebinding/ward-{name}", f"clusterrole/ward-{name}"
            )


@pytest.mark.parity("G2")
def test_g2_mending_that_does_not_help_is_followed_by_eviction(ward: Ward) -> None:
    """A pod that cannot be mended in place (its namespace is not on this machine) is evicted by the
    same policy.
    """
    controller = ward.controller(actions=("mend", "evict"), namespaces=lambda: NONE)
    pod = ward.pod("beyond", containers=("app", "linkerd-proxy"), ips=("10.244.99.9",))

    for second in (1.0, 2.0, 7.0, 30.0):
        controller.consider(pod, second)

    assert {("mend", "fail"): 2, ("evict", "success"): 1} == dict(controller.counts)
    assert ["MendBrokenPod", "EvictBrokenPod"] == [
        event["reason"] for event in ward.events("beyond")
    ]


def test_a_dry_run_changes_nothing_and_says_what_it_would_do(ward: Ward) -> None:
    """The server is asked, so that rights and budgets show; no pod goes, no label, no event."""
    controller = ward.controller(actions=("label", "evict"), dry_run=True)
    pod = ward.pod("rehearsed")

    for second in range(3):
        controller.consider(pod, float(second))

    assert pod == ward.read("rehearsed")
    assert ward.events("rehearsed") == []
    assert {("label", "would"): 1, ("evict", "would"): 1} == dict(controller.counts)


@pytest.mark.parity("G11")
def test_g11_our_own_pod_is_never_touched(ward: Ward) -> None:
    """A controller that runs in a broken pod would otherwise end itself, and its successor the
    same.
    """
    controller = ward.controller()

    controller.consider(ward.pod("own"), 1.0)

    assert ward.there("own")
    assert "our own pod" in str(controller.findings()[0].evidence)


def test_a_server_that_is_away_costs_nothing_but_time(ward: Ward) -> None:
    """While the server is down actions fail and are tried again; nothing is spent that was not
    done.
    """
    controller = ward.controller(node_burst=1, node_per_hour=1.0, pause=1.0)
    pod = ward.pod("later")
    ward.server.kill()
    try:
        controller.consider(pod, 1.0)
    finally:
        ward.server.start()
    failed = dict(controller.counts)
    controller.consider(pod, 10.0)

    assert {("evict", "fail"): 1} == failed
    assert not ward.there("later")


@pytest.mark.parity("G1")
def test_g1_a_job_whose_only_run_failed_is_found(ward: Ward) -> None:
    """restartPolicy Never: the pod has failed for good, and is deleted or evicted so that the Job
    makes another.
    """
    controller = ward.controller()
    job = ward.pod(
        "job-1",
        kube.ended(95),
        restartPolicy="Never",
        owners=[kube.owner("job", "Job")],
        phase="Failed",
    )

    controller.consider(job, 1.0)

    assert not ward.there("job-1")


def test_g1_a_pod_without_a_validator_is_judged_by_its_namespace(ward: Ward) -> None:
    """What was seen in the namespace is enough; while the rules are there again, nothing is
    done.
    """
    controller = ward.controller(namespaces=lambda: NONE)
    pod = ward.pod(
        "unseen",
        init=(),
        containers=("app", "linkerd-proxy"),
        ips=("10.244.99.8",),
        phase="Running",
    )

    judgement = controller.consider(pod, 1.0, NamespaceObservation(redirected=True, why="there"))
    assert ("healthy", 0) == (judgement.state, controller.broken)
    judgement = controller.consider(pod, 2.0, NamespaceObservation(redirected=False, why="none"))

    assert "broken" == judgement.state
    assert {("evict", "skip"): 1} == dict(controller.counts), (
        "a last look finds no namespace, so nothing is known any more"
    )
    assert ward.there("unseen")


def test_a_tenant_who_changes_its_pod_all_the_time_costs_no_more_looks(ward: Ward) -> None:
    """Whoever owns a pod can change its annotations many times a second: the namespace of one whose
    rules are missing is looked into once in five seconds, and before an action.
    """
    looks: list[None] = []

    def look() -> Namespaces:
        looks.append(None)
        return namespaces_of({})

    ward.chain = "no chain today"  # nothing is done
    controller = ward.controller(namespaces=look)
    proxied = ("app", "linkerd-proxy")
    pod = ward.pod("restless", init=(), containers=proxied, ips=("10.244.99.7",), phase="Running")
    controller.consider(pod, 1.0, NamespaceObservation(redirected=False, why="none"))
    states = {controller.consider(pod, 1.0 + number / 100).state for number in range(400)}

    assert ({"broken"}, []) == (states, looks)
    assert ("unknown", [None]) == (controller.consider(pod, 6.5).state, looks)


@pytest.mark.parity("I10")
def test_i10_what_is_done_is_logged_with_the_pods_name(
    ward: Ward, caplog: pytest.LogCaptureFixture
) -> None:
    """The log names the pod, the action and the reason, as fields for machines too, and holds no
    token.
    """
    with caplog.at_level(logging.INFO, logger="podpath.protect.repair"):
        ward.controller().consider(ward.pod("told"), 1.0)

    messages = [record.getMessage() for record in caplog.records]
    assert "the pod is broken, evict is next: ward/told" in messages
    fields = [vars(record)["fields"] for record in caplog.records]
    assert "ward/told" == fields[0]["pod"]
    assert "admin-token" not in json.dumps(fields)


def test_a_pod_that_is_gone_is_forgotten(ward: Ward) -> None:
    """What was remembered of a pod goes with it."""
    controller = ward.controller(actions=("label",))
    pod = ward.pod("brief")
    controller.consider(pod, 1.0)
    known = controller.broken
    controller.forget(pod)

    assert (1, 0, ()) == (known, controller.broken, controller.findings())
