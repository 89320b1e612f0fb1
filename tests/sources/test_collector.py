"""Tests of `sources.collector`: the Job that keeps a pod, by the shipped role on a real API server,
and that it is deleted however the snapshot ends. What kubelets and controllers do with it is tested
on a real cluster (`tests/cluster/test_sources.py`).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from podpath.kube import access
from podpath.kube.client import Client
from podpath.sources.collector import (
    LABELS,
    NAMESPACE,
    RULES,
    CollectorOptions,
    LineCutter,
    collect_node,
    make_job,
)
from podpath.sources.objects import SourceError
from tests import kube_objects as kube
from tests.apiserver import NOBODY, ApiServer
from tests.kube.following import until

DEPLOY = Path(__file__).resolve().parents[2] / "deploy" / "collect"
OPTIONS = CollectorOptions(image="docker.io/local/podpath:1", deadline=15)


@pytest.fixture
def server(api_server: ApiServer) -> Iterator[ApiServer]:
    """Provide a server where nobody has the shipped role for a while."""
    for name in ("namespace", "access"):
        api_server.kubectl("apply", "-f", DEPLOY / f"{name}.yaml")
    words = ("--role=podpath-collect", "--user=nobody")
    api_server.kubectl("-n", NAMESPACE, "create", "rolebinding", "c", *words)
    yield api_server
    api_server.kubectl("-n", NAMESPACE, "delete", "rolebinding", "c", "--ignore-not-found")


def collect(server: ApiServer, options: CollectorOptions = OPTIONS) -> bytes:
    """Collect a node as nobody."""
    with Client(access.find(server.kubeconfig(NOBODY))) as client:
        return collect_node(client, "collected", options)


def list_jobs(server: ApiServer) -> list[dict[str, Any]]:
    """List the Jobs that there are."""
    return list(server.read("jobs", "-n", NAMESPACE)["items"])


def play_kubelet(server: ApiServer, status: dict[str, Any]) -> threading.Thread:
    """Make the Job's pod once the Job is there, as controllers and a kubelet would."""

    def play() -> None:
        until(lambda: bool(list_jobs(server)), "a Job")
        name = list_jobs(server)[0]["metadata"]["name"]
        pod = kube.pod(f"{name}-x", namespace=NAMESPACE, node="collected")
        pod["metadata"]["labels"] = {"job-name": name}
        server.apply(pod)
        server.set_status("pod", NAMESPACE, f"{name}-x", status)

    thread = threading.Thread(target=play)
    thread.start()
    return thread


def waiting(reason: str) -> dict[str, Any]:
    """Make the status of a pod whose container waits."""
    container = {"name": "collect", "state": {"waiting": {"reason": reason, "message": "why"}}}
    more = {"image": "i", "imageID": "", "ready": False, "restartCount": 0}
    return {"phase": "Pending", "containerStatuses": [container | more]}


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (waiting("ErrImageNeverPull"), "cannot start: ErrImageNeverPull: why"),
        ({"phase": "Failed", "reason": "Evicted"}, "ended before the snapshot: Evicted"),
        ({"phase": "Running"}, "collected"),
    ],
)
def test_the_job_is_deleted_whatever_happens(
    status: dict[str, Any], told: str, server: ApiServer
) -> None:
    """An image that is not there, a pod that is sent away, and a kubelet that is not reached."""
    player = play_kubelet(server, status)
    with pytest.raises(SourceError, match=told):
        collect(server)
    player.join()
    assert list_jobs(server) == []
    server.kubectl("-n", NAMESPACE, "delete", "pods", "--all", "--force", "--grace-period=0")


def test_a_pod_that_never_runs_is_given_up(server: ApiServer) -> None:
    """After the deadline, by which the cluster ends it too."""
    quick = CollectorOptions(image="i", deadline=1)
    with pytest.raises(SourceError, match="did not run within 1 s"):
        collect(server, quick)
    assert list_jobs(server) == []


def test_what_an_earlier_run_left_is_swept(server: ApiServer) -> None:
    """A Job of ours that has ended is taken away, another's is not."""
    old, others = make_job("collected", "old", OPTIONS), make_job("collected", "others", OPTIONS)
    others["metadata"]["labels"] = {"app": "another"}
    server.apply(old, others)
    ended = {"conditions": [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}]}
    for name in ("old", "others"):
        path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{name}/status"
        with Client(access.find(server.kubeconfig())) as client:
            client.request(
                "PATCH", path, body={"status": ended}, content_type="application/merge-patch+json"
            )
    with pytest.raises(SourceError):
        collect(server, CollectorOptions(image="i", deadline=1))
    assert [each["metadata"]["name"] for each in list_jobs(server)] == ["others"]
    server.kubectl("-n", NAMESPACE, "delete", "job", "others")


def test_who_may_not_is_told_the_rules(server: ApiServer) -> None:
    """They are the shipped role's; and nothing is left."""
    server.kubectl("-n", NAMESPACE, "delete", "rolebinding", "c")
    with pytest.raises(SourceError) as refused:
        collect(server)
    said = [line.removeprefix("  - ") for line in str(refused.value).splitlines()[1:]]
    assert said == list(RULES)
    role = yaml.safe_load((DEPLOY / "access.yaml").read_text(encoding="utf-8"))
    assert [yaml.safe_load(rule) for rule in said] == role["rules"]


@pytest.mark.parametrize(
    ("rule", "verb"),
    [(0, "create"), (0, "list"), (0, "delete"), (1, "list"), (2, "get")],
    ids=["create jobs", "list jobs", "delete jobs", "list pods", "get pods/exec"],
)
def test_every_verb_is_needed(rule: int, verb: str, server: ApiServer) -> None:
    """Without one of them there is no snapshot, and it is said; newer API servers ask for `create`
    of `pods/exec` instead of `get`.
    """
    server.kubectl("-n", NAMESPACE, "delete", "rolebinding", "c")
    role = yaml.safe_load((DEPLOY / "access.yaml").read_text(encoding="utf-8"))
    role["metadata"]["name"] = "less"
    role["rules"][rule]["verbs"].remove(verb)
    role["rules"] = [each for each in role["rules"] if each["verbs"]]
    server.apply(role)
    words = ("--role=less", "--user=nobody")
    server.kubectl("-n", NAMESPACE, "create", "rolebinding", "less", *words)
    runs = (rule, verb) in {(0, "delete"), (2, "get")}
    player = play_kubelet(server, {"phase": "Running"}) if runs else None
    try:
        with pytest.raises(SourceError, match="403 Forbidden") as refused:
            collect(server)
    finally:
        server.kubectl("-n", NAMESPACE, "delete", "role/less", "rolebinding/less")
    if player is not None:
        player.join()
    left = list_jobs(server)
    for kind in ("jobs", "pods"):
        server.kubectl("-n", NAMESPACE, "delete", kind, "--all", "--force", "--grace-period=0")
    assert bool(left) is (verb == "delete")
    said = "no command may be run in the pod" if rule == 2 else f"cannot {verb} resource"
    assert said in str(refused.value)


def test_the_job_ends_by_itself_and_holds_no_credentials() -> None:
    """A deadline, no retry, gone when it has ended; no token in the pod, and on the named node."""
    job = make_job("a", "n", OPTIONS)
    spec = job["spec"]
    assert (spec["activeDeadlineSeconds"], spec["backoffLimit"]) == (OPTIONS.deadline, 0)
    assert spec["ttlSecondsAfterFinished"] == 1
    pod = spec["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert (pod["nodeName"], pod["hostNetwork"], pod["hostPID"]) == ("a", True, True)
    assert pod["containers"][0]["command"] == ["sleep", str(OPTIONS.deadline)]
    assert job["metadata"]["labels"] == LABELS
    assert json.loads(json.dumps(job)) == job


def test_pieces_are_cut_into_lines() -> None:
    """A line that comes in two pieces is one."""
    heard: list[bytes] = []
    cutter = LineCutter(heard.append)
    for piece in (b"one\ntw", b"o\nthr"):
        cutter.take(piece)
    assert heard == [b"one", b"two"]
