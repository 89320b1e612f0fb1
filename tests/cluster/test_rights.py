"""Every verb of every rule that is shipped for those who ask a cluster, and for the agents that
answer, taken away on a real cluster: the command that needs it says which verb of what it lacks,
and the rule that grants it. So each is needed, and who has all of them needs no more.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
import yaml

from podpath.sources.collector import NAMESPACE
from scripts.kubernetes import cluster as clusters
from scripts.kubernetes import control
from scripts.kubernetes.cluster import Cluster
from scripts.kubernetes.control import USER
from scripts.kubernetes.image import PODPATH
from scripts.kubernetes.plan import Plan
from tests.cluster import deployed
from tests.cluster.conftest import need_programs
from tests.command import podpath

SPACE = "rights"
ENDS = (f"pod/{SPACE}/web-0", f"svc/{SPACE}/api:http")
WHY = ("why", *ENDS)
WATCH = ("watch", ENDS[0], "--for", "20")
COLLECT = (*WHY, "--collect", "--image", PODPATH, "--namespace", SPACE)
FILES = ("collect", "why", "snapshot", "drops")
"""Folders of `deploy` whose roles are for a cluster that is asked; those of the agent's repairs are
tried in tests/deploy.
"""
AGENT, READER = "podpath:podpath-agent", "podpath:podpath-reader"
PLACES = {"podpath-collect": NAMESPACE, "podpath-ask-agents": "podpath", "podpath-why": SPACE}
"""The namespaces of what is granted in one."""
HOLDERS = {
    "podpath-agent-snapshot": f"system:serviceaccount:{AGENT}",
    "podpath-snapshot": f"system:serviceaccount:{READER}",
    "podpath-drops": f"system:serviceaccount:{READER}",
}
"""Who has a role; all others are the user's."""
NAMES = {"serviceaccounts/token": "podpath-reader"}
"""What a right is narrowed to."""
NEWER = ("podpath-collect", "pods/exec", "create")
"""What API servers since 1.34 ask for instead of `get`, and this one does not."""


class Granted(NamedTuple):
    """One verb on one resource that a role grants."""

    folder: str
    role: str
    kind: str
    group: str
    resource: str
    verb: str

    def __str__(self) -> str:
        """Spell it as a test is called."""
        return f"{self.role}: {self.verb} {self.resource}"


def read_roles(folder: str) -> Iterator[Any]:
    """Yield the roles of a folder of `deploy`."""
    text = (deployed.DEPLOY / folder / "access.yaml").read_text(encoding="utf-8")
    yield from (each for each in yaml.safe_load_all(text) if "rules" in each)


def list_granted() -> Iterator[Granted]:
    """Yield every verb that is granted."""
    for folder in FILES:
        for role in read_roles(folder):
            for rule in role["rules"]:
                (group,) = rule["apiGroups"]
                for resource in rule["resources"]:
                    for verb in rule["verbs"]:
                        name = role["metadata"]["name"]
                        yield Granted(folder, name, role["kind"], group, resource, verb)


GRANTED = tuple(list_granted())


def take_away(role: Any, granted: Granted) -> Any:  # noqa: ANN401  # YAML
    """Return a role without one verb on one resource."""
    rules: list[dict[str, Any]] = []
    for rule in role["rules"]:
        for resource in rule["resources"]:
            taken = (granted.resource, granted.verb)
            verbs = [verb for verb in rule["verbs"] if (resource, verb) != taken]
            if verbs:
                rules.append(rule | {"resources": [resource], "verbs": verbs})
    return copy.deepcopy(role) | {"rules": rules}


@pytest.fixture(scope="module")
def bare() -> Iterator[Cluster]:
    """Provide a cluster without agents, on which a user has every role that is for people."""
    need_programs()
    name = f"r{os.getpid()}"
    try:
        made = clusters.up(Plan(name=name, overlay="vxlan"))
        deployed.supply(made, SPACE)
        bind(made, "podpath-collect", "Role", NAMESPACE)
        yield made
    finally:
        clusters.down(name)


@pytest.fixture(scope="module")
def agents(bare: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Provide the cluster with agents that serve snapshots and drops."""
    with deployed.agents(bare, tmp_path_factory.mktemp("deploy") / "deploy", drops=True):
        bind(bare, "podpath-why", "ClusterRole", "")
        bind(bare, "podpath-ask-agents", "Role", "podpath")
        yield bare


def bind(made: Cluster, role: str, kind: str, namespace: str) -> None:
    """Let the user have a role."""
    of = ("clusterrolebinding",) if kind == "ClusterRole" else ("rolebinding", "-n", namespace)
    made.kubectl("create", *of, f"{USER}-{role}", f"--{kind.lower()}={role}", f"--user={USER}")


def ask(made: Cluster, command: Sequence[str]) -> str:
    """Run a command as the user, and return all that it says, in one line."""
    done = podpath(*command, "--kubeconfig", made.plan.home / USER, timeout=150)
    return " ".join((done.stdout + done.stderr).split())


def may(made: Cluster, granted: Granted) -> bool:
    """Ask the API server whether who has a role may do what it grants."""
    resource, _, part = granted.resource.partition("/")
    asked = {
        "verb": granted.verb,
        "group": granted.group,
        "resource": resource,
        "subresource": part,
        "name": NAMES.get(granted.resource, ""),
        "namespace": PLACES.get(granted.role, ""),
    }
    spec = {"user": HOLDERS.get(granted.role, USER), "resourceAttributes": asked}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": spec,
    }
    said = made.kubectl("create", "-f", "-", "-o", "json", given=json.dumps(review))
    return bool(json.loads(said)["status"].get("allowed"))


@contextmanager
def lacking(made: Cluster, granted: Granted) -> Iterator[None]:
    """Take a verb of a role away for a block."""
    (role,) = (
        each for each in read_roles(granted.folder) if each["metadata"]["name"] == granted.role
    )
    made.kubectl("apply", "-f", "-", given=json.dumps(take_away(role, granted)))
    try:
        control.wait(lambda: not may(made, granted), f"{granted} to be gone")
        yield
    finally:
        made.kubectl("apply", "-f", "-", given=json.dumps(role))
        control.wait(lambda: may(made, granted), f"{granted} to be back")


def spell_rule(granted: Granted) -> str:
    """Return what stands in the rule that a message has."""
    names = NAMES.get(granted.resource)
    named = f', resourceNames: ["{names}"]' if names else ""
    return f'apiGroups: ["{granted.group}"], resources: ["{granted.resource}"]{named}, verbs: ['


def of_folder(folder: str) -> list[Granted]:
    """Return what the roles of a folder grant."""
    return [each for each in GRANTED if each.folder == folder]


def test_who_may_nothing_is_told_every_rule(bare: Cluster) -> None:
    """Before anything else is asked of the cluster."""
    for command in (WHY, WATCH, COLLECT):
        said = ask(bare, command)
        assert "403 Forbidden" in said
        assert [] == [each for each in of_folder("why") if spell_rule(each) not in said]


@pytest.fixture
def narrow(bare: Cluster) -> Iterator[Cluster]:
    """Provide the cluster, of which the user may read one namespace, and what is in none."""
    words = ("--verb=list", "--resource=nodes,namespaces")
    bare.kubectl("create", "clusterrole", "in-none", *words)
    bind(bare, "in-none", "ClusterRole", "")
    of_space = ("--clusterrole=podpath-why", f"--user={USER}")
    bare.kubectl("create", "rolebinding", "narrow", "-n", SPACE, *of_space)
    yield bare
    bare.kubectl("delete", "rolebinding", "narrow", "-n", SPACE)
    bare.kubectl("delete", "clusterrole/in-none", f"clusterrolebinding/{USER}-in-none")


@pytest.mark.parametrize("granted", of_folder("collect"), ids=str)
def test_a_pod_that_lives_for_a_snapshot_needs_each_verb(granted: Granted, narrow: Cluster) -> None:
    """`why --collect` without one says what it lacks."""
    with lacking(narrow, granted):
        said = ask(narrow, COLLECT)
    if (granted.role, granted.resource, granted.verb) == NEWER:
        assert "403" not in said
        return
    assert "403 Forbidden" in said
    exec_refused = "no command may be run in the pod (pods/exec)"
    refused = f'cannot {granted.verb} resource "{granted.resource}"'
    assert (exec_refused if granted.resource == "pods/exec" else refused) in said
    assert spell_rule(granted) in said


@pytest.mark.parametrize("granted", [*of_folder("why"), *of_folder("snapshot")], ids=str)
def test_a_question_of_agents_needs_each_verb(granted: Granted, agents: Cluster) -> None:
    """`why` without one says what it lacks, and with all of them nothing."""
    with lacking(agents, granted):
        said = ask(agents, WHY)
    assert "403 Forbidden" in said
    if granted.role == "podpath-agent-snapshot":  # it is the agent that lacks it
        assert f'cannot {granted.verb} resource "{granted.resource}"' in said
        assert f"ClusterRole {granted.role} grants it" in said
        return
    assert spell_rule(granted) in said
    assert f'"{granted.verb}"' in said.partition(spell_rule(granted))[2].partition("]")[0]


@pytest.mark.parametrize("granted", of_folder("drops"), ids=str)
def test_a_watch_of_agents_needs_each_verb(granted: Granted, agents: Cluster) -> None:
    """`watch` without one says what it lacks."""
    with lacking(agents, granted):
        said = ask(agents, WATCH)
    assert "403 Forbidden" in said
    assert spell_rule(granted) in said


def test_all_of_them_suffice(agents: Cluster) -> None:
    """Nothing is refused to who has them."""
    for command in (WHY, WATCH):
        assert "403" not in ask(agents, command)
