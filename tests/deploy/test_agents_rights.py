"""Every verb of the agent's role, taken away on a real API server: what it does without says which
one it lacks, so that each is needed and nothing else is.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from podpath.kube import access
from podpath.kube.client import Client, Refused
from podpath_protect.cluster import taints
from podpath_protect.repair.keeper import RepairScope, Work
from podpath_protect.repair.policy import Policy
from tests import kube_objects as kube
from tests.apiserver import AGENT, ApiServer

ACCESS = Path(__file__).resolve().parents[2] / "deploy" / "base" / "access.yaml"
SPACE = "rights"
PATIENCE = 60.0


class AgentVerb(NamedTuple):
    """One verb on one resource."""

    group: str
    resource: str
    verb: str

    def __str__(self) -> str:
        """Spell it as the API server does where it refuses it."""
        return f'cannot {self.verb} resource "{self.resource}" in API group "{self.group}"'


def read_role() -> Any:  # noqa: ANN401  # YAML
    """Return the agent's role."""
    documents = yaml.safe_load_all(ACCESS.read_text(encoding="utf-8"))
    return next(each for each in documents if each["kind"] == "ClusterRole")


def list_verbs() -> Iterator[AgentVerb]:
    """Yield every verb that the role grants."""
    for rule in read_role()["rules"]:
        (group,), (resource,) = rule["apiGroups"], rule["resources"]
        yield from (AgentVerb(group, resource, verb) for verb in rule["verbs"])


def without(taken: AgentVerb) -> Any:  # noqa: ANN401  # YAML
    """Return the role without one verb."""
    role = read_role()
    for rule in role["rules"]:
        if (taken.group, taken.resource) == (rule["apiGroups"][0], rule["resources"][0]):
            rule["verbs"].remove(taken.verb)
    role["rules"] = [rule for rule in role["rules"] if rule["verbs"]]
    return role


@pytest.fixture(scope="module")
def bound(api_server: ApiServer) -> Iterator[ApiServer]:
    """Provide a server on which the agent's role is bound, with a node."""
    if "namespace/podpath\n" not in api_server.kubectl("get", "namespaces", "-o", "name"):
        api_server.kubectl("create", "namespace", "podpath")
    api_server.kubectl("apply", "-f", ACCESS)
    api_server.apply(kube.namespace(SPACE), kube.node(SPACE))
    yield api_server
    api_server.kubectl("delete", "-f", ACCESS)


def break_pod(server: ApiServer) -> None:
    """Make a pod that is to be labeled, told of and evicted."""
    pod = kube.pod(
        "broken", namespace=SPACE, node=SPACE, init=("podpath-validate",), owners=[kube.owner()]
    )
    server.apply(pod)
    status = kube.status("podpath-validate", kube.CRASH_LOOP, kube.ended(60, "no-rules"))
    server.set_status("pod", SPACE, "broken", status)


def read_log(caught: pytest.LogCaptureFixture) -> str:
    """Return what was logged, with the fields that stand beside each message."""
    return " ".join(str(vars(record)) for record in caught.records)


def use_all(server: ApiServer, caught: pytest.LogCaptureFixture, wanted: str) -> str:
    """Do all that the agent does, until something says what is wanted; return all that was said."""
    way = access.find(server.kubeconfig(AGENT))
    refused: list[str] = []
    with Client(way) as client:
        for settle in (taints.add, taints.remove):
            try:
                settle(client, SPACE)
            except Refused as error:
                refused.append(str(error))
        policy = Policy(actions=("label", "evict"), require_event=True)
        work = Work(RepairScope(node=SPACE, policy=policy, access=way), client)
        with suppress(Refused):
            work.once()
        work.start()
        until, told = time.monotonic() + PATIENCE, ""
        while wanted not in told and time.monotonic() < until:
            work.step(time.monotonic())
            time.sleep(0.05)
            told = " ".join([*refused, read_log(caught), str(work.status())])
        work.stop()
    return told


@pytest.mark.parametrize("taken", list(list_verbs()), ids=str)
def test_each_verb_is_needed_and_said(
    taken: AgentVerb, bound: ApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The server's own words stand in the log: verb, resource, group, and who lacks it."""
    caplog.set_level(logging.INFO)
    break_pod(bound)
    bound.kubectl("apply", "-f", "-", given=json.dumps(without(taken)))
    try:
        said = use_all(bound, caplog, str(taken))
    finally:
        bound.kubectl("apply", "-f", "-", given=json.dumps(read_role()))
        bound.kubectl("delete", "pods", "--all", "-n", SPACE, "--force", "--grace-period=0")
    assert str(taken) in said
