"""A snapshot of a node without an agent: a pod that lives for it, on that node, with the host's
namespaces, and is gone again whatever becomes of us.

It is a Job, so that the cluster itself ends it: past its deadline the Job's controller deletes the
pod, also where we were killed; a second later, where the cluster has that (1.21 and newer), the Job
itself. The pod does nothing but sleep: the snapshot is a command that is run in it, whose output
comes back through the kubelet. It holds no credentials.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from podpath.kube.client import Client, KubeError, Refused
from podpath.kube.commands import ContainerName, follow_command, run_command
from podpath.kube.snapshots import MOST_BYTES
from podpath.sources.objects import SourceError

NAMESPACE: Final = "podpath-collect"
CONTAINER: Final = "collect"
LABELS: Final = {"app.kubernetes.io/name": "podpath-collect"}
_SELECTOR = ",".join(f"{key}={value}" for key, value in LABELS.items())
_STUCK = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "RunContainerError",
    }
)
"""Reasons for which a container waits in vain."""
_LOOK_SECONDS = 0.3
_FORBIDDEN, _NOT_FOUND = 403, 404

RULES: Final = (
    '{apiGroups: ["batch"], resources: ["jobs"], verbs: ["create", "list", "delete"]}',
    '{apiGroups: [""], resources: ["pods"], verbs: ["list"]}',
    '{apiGroups: [""], resources: ["pods/exec"], verbs: ["get", "create"]}',
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectorOptions:
    """What collecting pods are made of."""

    image: str
    """An image with podpath in it (`deploy/Containerfile`)."""
    namespace: str = NAMESPACE
    deadline: int = 120
    """Seconds after which the cluster ends the pod, whatever we do."""
    pull: str = "IfNotPresent"


def make_job(node: str, name: str, options: CollectorOptions) -> dict[str, Any]:
    """Return the Job that keeps a pod on a node for one snapshot."""
    container = {
        "name": CONTAINER,
        "image": options.image,
        "imagePullPolicy": options.pull,
        "command": ["sleep", str(options.deadline)],
        "securityContext": {"privileged": True, "runAsUser": 0, "runAsGroup": 0},
    }
    pod = {
        "nodeName": node,
        "hostNetwork": True,
        "hostPID": True,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": options.namespace, "labels": LABELS},
        "spec": {
            "activeDeadlineSeconds": options.deadline,
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": 1,
            "template": {"metadata": {"labels": LABELS}, "spec": pod},
        },
    }


def collect_node(
    client: Client,
    node: str,
    options: CollectorOptions,
    told: Callable[[str], None] = lambda doing: None,  # noqa: ARG005  # nobody listens
) -> bytes:
    """Return the bundle of a node, packed; `SourceError` says what is in the way."""
    until = time.monotonic() + options.deadline
    try:
        with _kept_job(client, node, options) as name:
            told(f"a pod on {node}")
            pod = _wait_for_pod(client, name, options, until)
            told(f"a snapshot of {node}")
            where = ContainerName(options.namespace, pod, CONTAINER)
            command = ("podpath", "snapshot", "--no-logs", "-o", "-")
            left = max(1.0, until - time.monotonic())
            done = run_command(client, where, command, most=MOST_BYTES, seconds=left)
    except Refused as refused:
        raise SourceError(f"{node}: {_say_refused(refused, options)}") from refused
    except KubeError as error:
        raise SourceError(f"{node}: {error}") from error
    if done.failure or not done.content:
        said = done.complaint.decode("utf-8", "replace").strip()
        raise SourceError(f"{node}: the snapshot failed: {done.failure}; {said}")
    return done.content


def follow_watch(
    client: Client,
    node: str,
    options: CollectorOptions,
    pods: Sequence[str],
    heard: Callable[[bytes], None],
    stopping: Callable[[], bool],
) -> None:
    """Watch the drops of a node by a pod that lives for it, until its deadline or until somebody
    wants to stop, and hand on each line; `SourceError` says what is in the way. The pod is deleted
    then, and with it whatever the watch attached.
    """
    until = time.monotonic() + options.deadline
    lines = LineCutter(heard)
    try:
        with _kept_job(client, node, options) as name:
            pod = _wait_for_pod(client, name, options, until)
            where = ContainerName(options.namespace, pod, CONTAINER)
            wanted = [word for each in pods for word in ("--pod", each)]
            left = max(1.0, until - time.monotonic())
            command = ("podpath", "watch", "--json", "--for", f"{left:.0f}", *wanted)
            failure = follow_command(
                client, where, command, lines.take, stopping=stopping, seconds=left
            )
    except Refused as refused:
        raise SourceError(f"{node}: {_say_refused(refused, options)}") from refused
    except KubeError as error:
        raise SourceError(f"{node}: {error}") from error
    if failure:
        raise SourceError(f"{node}: the watch failed: {failure}")


class LineCutter:
    """Cuts what comes in pieces into lines."""

    def __init__(self, heard: Callable[[bytes], None]) -> None:
        """Keep who hears each line."""
        self._heard, self._rest = heard, b""

    def take(self, piece: bytes) -> None:
        """Take a piece, and hand on the lines that are whole."""
        *whole, self._rest = (self._rest + piece).split(b"\n")
        for line in whole:
            self._heard(line)


@contextmanager
def _kept_job(client: Client, node: str, options: CollectorOptions) -> Iterator[str]:
    """Create a Job for a block, and delete it however the block ends; those that an earlier one
    left where nobody deletes them are deleted too. Who may not delete it is told, since it stays
    until its deadline.
    """
    jobs = f"/apis/batch/v1/namespaces/{options.namespace}/jobs"
    name = f"podpath-collect-{secrets.token_hex(5)}"
    _sweep(client, jobs)
    try:
        client.request("POST", jobs, body=make_job(node, name, options))
        yield name
    finally:
        try:
            _delete(client, f"{jobs}/{name}")
        except Refused as refused:  # else it is gone, or never was
            if refused.code == _FORBIDDEN:
                raise


def _sweep(client: Client, jobs: str) -> None:
    """Delete the Jobs of ours that have ended, whoever made them."""
    listed = json.loads(client.request("GET", jobs, query={"labelSelector": _SELECTOR}))
    for job in listed.get("items") or ():
        if any(each.get("status") == "True" for each in job["status"].get("conditions") or ()):
            with suppress(Refused):
                _delete(client, f"{jobs}/{job['metadata']['name']}")


def _delete(client: Client, path: str) -> None:
    options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    client.request("DELETE", path, body=options)


def _wait_for_pod(client: Client, job: str, options: CollectorOptions, until: float) -> str:
    """Return the Job's pod when it runs."""
    path = f"/api/v1/namespaces/{options.namespace}/pods"
    while time.monotonic() < until:
        listed = json.loads(client.request("GET", path, query={"labelSelector": f"job-name={job}"}))
        for pod in listed.get("items") or ():
            if _is_running(pod):
                return str(pod["metadata"]["name"])
        time.sleep(_LOOK_SECONDS)
    raise SourceError(f"the pod of {job} did not run within {options.deadline} s")


def _is_running(pod: dict[str, Any]) -> bool:
    """Tell whether a pod runs; `SourceError` where it never will."""
    status = pod.get("status", {})
    name = pod["metadata"]["name"]
    if status.get("phase") in {"Failed", "Succeeded"}:
        why = status.get("message") or status.get("reason") or status["phase"]
        raise SourceError(f"the pod {name} ended before the snapshot: {why}")
    for container in status.get("containerStatuses") or ():
        waiting = container.get("state", {}).get("waiting") or {}
        if waiting.get("reason") in _STUCK:
            why = waiting.get("message") or ""
            raise SourceError(f"the pod {name} cannot start: {waiting['reason']}: {why}")
    return bool(status.get("phase") == "Running")


def _say_refused(refused: Refused, options: CollectorOptions) -> str:
    if refused.code == _NOT_FOUND and "namespaces" in refused.message:
        return f"expected the namespace {options.namespace}, saw none: deploy/collect makes it"
    if refused.code != _FORBIDDEN:
        return str(refused)
    rules = "\n".join(f"  - {rule}" for rule in RULES)
    # the refusal of a WebSocket has no body
    said = refused.message or "no command may be run in the pod (pods/exec)"
    return (
        f"expected the right to run a pod for a snapshot, saw 403 Forbidden: {said}; "
        f"the rules that allow it, in a Role of {options.namespace} (deploy/collect has them):\n"
        f"{rules}"
    )
