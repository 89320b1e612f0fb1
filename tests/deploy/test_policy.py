"""What `deploy/policy` leaves a stolen token of the agent, verb by verb.

The expressions are checked and evaluated by CEL's own runtime (`tests.deploy.expressions`). That a
server of Kubernetes 1.30 enforces them is not shown here, since the tests' own server is of 1.20.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import kube_objects as kube
from tests.apiserver import AGENT_USER
from tests.deploy.expressions import ExpressionError, compile_expression, evaluate

POLICY = Path(__file__).resolve().parents[2] / "deploy" / "policy"
NODE_OF = "authentication.kubernetes.io/node-name"
LONGEST = 250
Object = dict[str, Any]


def load(name: str) -> tuple[Object, Object]:
    """Read a policy and its binding."""
    policy, binding = yaml.safe_load_all((POLICY / f"{name}.yaml").read_text(encoding="utf-8"))
    return policy, binding


def refusals(name: str, request: Object, new: Object, old: Object | None = None) -> list[str]:
    """Return why a policy refuses a request; an error refuses it too, as failurePolicy says."""
    spec = load(name)[0]["spec"]
    names: Object = {"request": request, "object": new, "oldObject": old}
    variables: Object = {}
    names["variables"] = variables
    try:
        if not all(evaluate(each["expression"], names) for each in spec["matchConditions"]):
            return []
        for each in spec.get("variables", ()):
            variables[each["name"]] = evaluate(each["expression"], names)
        return [
            str(each["message"])
            for each in spec["validations"]
            if evaluate(each["expression"], names) is not True
        ]
    except ExpressionError as error:
        assert spec["failurePolicy"] == "Fail"
        return [f"error: {error}"]


def by(node: str | None = "mine", user: str = AGENT_USER, **more: object) -> Object:
    """Return a request of the agent on a node; None is a token that names no node."""
    about: Object = {"username": user, "groups": ["system:authenticated"]}
    if node is not None:
        about["extra"] = {NODE_OF: [node]}
    return {"userInfo": about, **more}


def changed(before: Object, *path: str, to: object) -> Object:
    """Return an object with one field changed, or without it where `to` is None."""
    after = copy.deepcopy(before)
    holder = after
    for name in path[:-1]:
        holder = holder.setdefault(name, {})
    if to is None:
        holder.pop(path[-1], None)
    else:
        holder[path[-1]] = to
    return after


OURS = {"key": "podpath.dev/not-ready", "effect": "NoSchedule"}
THEIRS = {"key": "team", "value": "shop", "effect": "NoSchedule"}
READY = {"type": "Ready", "status": "True"}
NODE: Object = {
    "metadata": {"name": "mine", "labels": {"zone": "a"}, "annotations": {"cni": "x"}},
    "spec": {"taints": [THEIRS]},
    "status": {"conditions": [READY], "capacity": {"pods": "110"}, "addresses": []},
}


@pytest.mark.parametrize(
    "after",
    [
        changed(NODE, "spec", "taints", to=[THEIRS, OURS]),
        changed(NODE, "spec", "taints", to=[OURS, THEIRS]),
        changed(
            NODE, "status", "conditions", to=[READY, {"type": "PodpathReady", "status": "False"}]
        ),
    ],
)
def test_the_agent_marks_its_own_node(after: Object) -> None:
    """Its taint comes and goes among others', and so does its condition."""
    assert [] == refusals("nodes", by(), after, NODE)
    assert [] == refusals("nodes", by(), NODE, after)


def test_a_node_without_anything_takes_the_taint() -> None:
    """A node that has no label, no taint and no condition yet is no error."""
    bare: Object = {"metadata": {"name": "mine"}, "spec": {}, "status": {}}

    assert [] == refusals("nodes", by(), changed(bare, "spec", "taints", to=[OURS]), bare)


@pytest.mark.parametrize("node", ["another", None, "min", "mine2"])
def test_no_other_node_is_written(node: str | None) -> None:
    """With the token of another node's agent, or one that names no node, nothing goes."""
    after = changed(NODE, "spec", "taints", to=[THEIRS, OURS])

    assert ["an agent writes its own node alone"] == refusals("nodes", by(node), after, NODE)


@pytest.mark.parametrize(
    "after",
    [
        changed(NODE, "spec", "taints", to=[]),
        changed(NODE, "spec", "taints", to=None),
        changed(NODE, "spec", "taints", to=[{**THEIRS, "effect": "NoExecute"}]),
        changed(NODE, "spec", "taints", to=[THEIRS, {"key": "mine", "effect": "NoExecute"}]),
        changed(NODE, "spec", "unschedulable", to=True),
        changed(NODE, "metadata", "labels", to={"zone": "b"}),
        changed(NODE, "metadata", "labels", to=None),
        changed(NODE, "metadata", "annotations", to={}),
        changed(NODE, "status", "conditions", to=[{"type": "Ready", "status": "False"}]),
        changed(NODE, "status", "conditions", to=[]),
        changed(NODE, "status", "capacity", to={"pods": "0"}),
        changed(NODE, "status", "allocatable", to={"cpu": "0"}),
        changed(NODE, "status", "addresses", to=[{"type": "InternalIP", "address": "10.6.6.6"}]),
        changed(NODE, "metadata", "ownerReferences", to=[{"kind": "Pod", "uid": "gone"}]),
        changed(NODE, "metadata", "finalizers", to=["x/y"]),
        changed(NODE, "spec", "providerID", to="cloud://other"),
        changed(NODE, "spec", "podCIDR", to="10.6.0.0/24"),
        changed(NODE, "status", "daemonEndpoints", to={"kubeletEndpoint": {"Port": 6666}}),
        changed(NODE, "status", "nodeInfo", to={"machineID": "other"}),
        changed(NODE, "status", "volumesAttached", to=[{"name": "v", "devicePath": "/dev/x"}]),
        changed(NODE, "status", "volumesInUse", to=["v"]),
        changed(NODE, "status", "images", to=[{"names": ["registry.test/evil"]}]),
    ],
)
def test_nothing_else_of_the_own_node_is_written(after: Object) -> None:
    """Neither others' taints and conditions, nor labels that draw pods, nor what it can hold."""
    assert 1 == len(refusals("nodes", by(), after, NODE))


def pod() -> Object:
    """Return a pod of the node, as the server stores it."""
    made = kube.pod("web", namespace="shop", node="mine", labels={"app": "web"})
    made["status"] = {"phase": "Running", "podIP": "10.9.0.2"}
    return made


@pytest.mark.parametrize("labels", [{"podpath.dev/unredirected": "true"}, {}])
def test_the_agent_labels_pods_of_its_node(labels: dict[str, str]) -> None:
    """Its own label comes and goes, also where a pod has no other."""
    for rest in ({"app": "web"}, {}):
        before = changed(pod(), "metadata", "labels", to=rest or None)
        after = changed(before, "metadata", "labels", to={**rest, **labels} or None)
        assert [] == refusals("pods", by(), after, before)
        assert [] == refusals("pods", by(), before, after)


@pytest.mark.parametrize(
    ("after", "node"),
    [
        (changed(pod(), "metadata", "labels", to={"app": "web", "podpath.dev/x": "y"}), "another"),
        (changed(pod(), "metadata", "labels", to={"app": "web", "podpath.dev/x": "y"}), None),
        (changed(pod(), "metadata", "labels", to={"app": "other"}), "mine"),
        (changed(pod(), "metadata", "labels", to={}), "mine"),
        (changed(pod(), "metadata", "labels", to={"app": "web", "role": "db"}), "mine"),
        (changed(pod(), "metadata", "annotations", to={"a": "b"}), "mine"),
        (changed(pod(), "metadata", "finalizers", to=["x/y"]), "mine"),
        (changed(pod(), "status", "phase", to="Failed"), "mine"),
        (changed(pod(), "status", "podIP", to="10.6.6.6"), "mine"),
    ],
)
def test_nothing_else_of_pods_is_written(after: Object, node: str | None) -> None:
    """No pod of another node, no label by which services find it, not what the kubelet says."""
    assert 1 == len(refusals("pods", by(node), after, pod()))


def test_a_pod_without_a_node_is_nobodys() -> None:
    """A pod that waits for a node is refused, to a token of any node."""
    before = changed(pod(), "spec", "nodeName", to=None)

    assert 1 == len(refusals("pods", by(), before, before))


def test_evictions_name_the_pod_that_was_judged() -> None:
    """With the UID in a tenant's namespace; never blindly, and never where the cluster lives."""
    meant = {"deleteOptions": {"preconditions": {"uid": "u"}}}

    assert [] == refusals("evictions", by(namespace="shop"), meant)
    blindly: tuple[Object, ...] = (
        {},
        {"deleteOptions": {}},
        {"deleteOptions": {"preconditions": {}}},
    )
    for blind in blindly:
        assert 1 == len(refusals("evictions", by(namespace="shop"), blind))
    for space in ("kube-system", "podpath"):
        assert 1 == len(refusals("evictions", by(namespace=space), meant))


@pytest.mark.parametrize("name", ["nodes", "pods", "evictions"])
def test_nobody_else_is_held(name: str) -> None:
    """Kubelets, controllers and admins write as before, whatever it is."""
    for user in ("system:node:mine", "admin", "system:serviceaccount:other:podpath-agent"):
        assert [] == refusals(name, by(None, user, namespace="kube-system"), {}, {})


@pytest.mark.parametrize("name", ["nodes", "pods", "evictions"])
def test_policies_deny_and_are_small(name: str) -> None:
    """Each is bound and denies; an expression is short, and of the part of CEL that is known."""
    policy, binding = load(name)
    spec = policy["spec"]
    listed = [*spec["matchConditions"], *spec.get("variables", ()), *spec["validations"]]

    assert policy["metadata"]["name"] == binding["spec"]["policyName"]
    assert "Deny" in binding["spec"]["validationActions"]
    assert "matchResources" not in binding["spec"]
    for each in listed:
        compile_expression(each["expression"])
        assert len(each["expression"]) < LONGEST
