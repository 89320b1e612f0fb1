"""Whether a pod started misconfigured, by what its kubelet says of its validator and by what was
seen in its namespace.

What comes in is a pod and, where somebody looked, which rules stand in its network namespace; what
goes out is a `Judgment` with the words that it rests on. The order matters, and each step is there
because a tool in the field lacks it:

A validator that passed now is healthy, whatever its last run said: a pod whose first try failed
keeps that in its status for good, and the linkerd controller deletes it at the next status update.
A validator that runs now is not judged: it says soon. One that ended badly counts by its current
state too, not only by the last: with `restartPolicy: Never`, as Jobs have it, there is no second
run and so no last state. A pod without a validator that asks for redirection is judged by the rules
themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from podpath_protect.cluster.objects import (
    ContainerState,
    ContainerStatus,
    KubePod,
    OwnerReference,
    Terminated,
)
from podpath_protect.repair.policy import Policy, Validator

MIRROR = "kubernetes.io/config.mirror"
State = Literal["healthy", "broken", "pending", "unknown", "excluded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodJudgement:
    """How a pod stands, and why."""

    state: State
    why: str
    """One sentence."""
    cause: str = ""
    """Of a broken pod: `validator-95`, `rules-absent`; a word that metrics may carry."""
    seen: str = ""
    """When the broken state came about, in the kubelet's own words: another time means that it
    failed again.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceObservation:
    """What was seen in a pod's network namespace."""

    redirected: bool | None
    """Whether the redirect rules that the pod asks for stand there; None where that could not be
    told.
    """
    why: str
    """What is there, what is missing, or why it could not be told."""


def judge(pod: KubePod, policy: Policy, sight: NamespaceObservation | None = None) -> PodJudgement:
    """Judge a pod."""
    outside = _exclude(pod, policy)
    if outside:
        return PodJudgement(state="excluded", why=outside)
    by_name = {validator.container: validator for validator in policy.validators}
    for status in pod.status.init_container_statuses:
        if status.name in by_name:
            return _by_validator(status, by_name[status.name])
    if any(container.name in by_name for container in pod.spec.init_containers):
        return PodJudgement(state="pending", why="its validator has not run yet")
    if sight is None:
        return PodJudgement(
            state="unknown", why="it has no validator, and nobody looked into its namespace"
        )
    if sight.redirected is None:
        return PodJudgement(state="unknown", why=sight.why)
    if sight.redirected:
        return PodJudgement(state="healthy", why=sight.why)
    return PodJudgement(state="broken", why=sight.why, cause="rules-absent")


def find_owner(pod: KubePod) -> OwnerReference | None:
    """Return who makes the pod again; None where nobody does."""
    return next((owner for owner in pod.metadata.owner_references if owner.controller), None)


def name_owner(pod: KubePod) -> str:
    """Name who makes a pod again, alike for all rollouts of a Deployment; the pod itself where
    nobody does.
    """
    owner = find_owner(pod)
    if owner is None:
        return f"{pod.metadata.namespace}/Pod/{pod.metadata.name}"
    suffix = pod.metadata.labels.get("pod-template-hash")
    if owner.kind == "ReplicaSet" and suffix and owner.name.endswith(f"-{suffix}"):
        return f"{pod.metadata.namespace}/Deployment/{owner.name.removesuffix(f'-{suffix}')}"
    return f"{pod.metadata.namespace}/{owner.kind}/{owner.name}"


def _exclude(pod: KubePod, policy: Policy) -> str:
    """Say why a pod is none of our business; empty where it is."""
    meta = pod.metadata
    if meta.deletion_timestamp is not None:
        return "it is going already"
    if pod.spec.host_network:
        return "it lives in the node's own network namespace, which nobody redirects"
    if meta.namespace in policy.exclude_namespaces:
        return f"the policy leaves the namespace {meta.namespace} alone"
    if policy.annotations and not any(name in meta.annotations for name in policy.annotations):
        return f"it has none of the annotations {', '.join(policy.annotations)}"
    if MIRROR in meta.annotations:
        return "it is a static pod: the API server only shows it"
    if pod.status.phase == "Succeeded":
        return "it has ended well"
    return ""


def _by_validator(status: ContainerStatus, validator: Validator) -> PodJudgement:
    now, last = status.state.terminated, status.last_state.terminated
    if now is not None and (now.exit_code == 0 or now.reason == "Completed"):
        return PodJudgement(state="healthy", why=f"{status.name} passed")
    if now is not None:
        return _by_end(status, validator, now, "ended")
    if status.state.running is not None:
        return PodJudgement(state="pending", why=f"{status.name} runs now")
    if last is None:
        return PodJudgement(state="pending", why=f"{status.name} waits: {_waits(status.state)}")
    if last.exit_code == 0:
        return PodJudgement(
            state="pending", why=f"{status.name} passed when it ran last, and is to run again"
        )
    return _by_end(status, validator, last, f"waits ({_waits(status.state)}) after it ended")


def _by_end(
    status: ContainerStatus, validator: Validator, end: Terminated, how: str
) -> PodJudgement:
    said = f": {end.message.strip()}" if end.message.strip() else ""
    what = f"{status.name} {how} with {end.exit_code}{said}"[:600]
    if validator.codes and end.exit_code not in validator.codes:
        return PodJudgement(
            state="unknown", why=f"{what}; that code does not say that traffic is not redirected"
        )
    if validator.message and end.message.strip() != validator.message:
        return PodJudgement(
            state="unknown", why=f"{what}; its message is not `{validator.message}`"
        )
    seen = f"{status.restart_count}:{end.finished_at or ''}"
    return PodJudgement(state="broken", why=what, cause=f"validator-{end.exit_code}", seen=seen)


def _waits(state: ContainerState) -> str:
    if state.waiting is not None and state.waiting.reason:
        return state.waiting.reason
    return "not started"
