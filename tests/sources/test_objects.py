"""Tests of `sources.objects`: everything is listed from a real API server, by its role and no more,
and what is refused is said with the rule that allows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import podpath
from podpath.kube import access
from podpath.kube.client import Client, Unreachable
from podpath.sources.kinds import KINDS
from podpath.sources.objects import LackingRights, SourceError, read_objects
from tests import kube_objects as kube
from tests.apiserver import NOBODY, ApiServer, free_port
from tests.kube.scripted import Answer, Asked, Scripted, refusal, write_kubeconfig

ROLE = Path(__file__).resolve().parents[2] / "deploy" / "why" / "access.yaml"
SPACE = "sources-shop"
SECRET = "hunter2-in-an-environment"


def make_pod(name: str) -> kube.Object:
    """Make a pod whose container has a secret in its environment and its probe."""
    pod = kube.pod(name, namespace=SPACE, node="sources-a", labels={"app": "api"})
    (container,) = pod["spec"]["containers"]
    header = {"name": "Authorization", "value": SECRET}
    container |= {
        "env": [{"name": "PASSWORD", "value": SECRET}],
        "args": [f"--password={SECRET}"],
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080, "httpHeaders": [header]}},
    }
    pod["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": SECRET,
        "cni.projectcalico.org/podIP": "10.1.0.5/32",
    }
    return pod


@pytest.fixture(scope="module")
def shop(api_server: ApiServer) -> ApiServer:
    """Provide a server with a pod, a service, a node and a policy."""
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "deny", "namespace": SPACE},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "api", "namespace": SPACE},
        "spec": {"selector": {"app": "api"}, "ports": [{"name": "http", "port": 80}]},
    }
    api_server.apply(kube.namespace(SPACE), kube.node("sources-a"), make_pod("api-0"), service)
    api_server.apply(policy)
    return api_server


@pytest.fixture
def bound(shop: ApiServer) -> Iterator[ApiServer]:
    """Provide the server while nobody has the shipped role, which is taken off again."""
    shop.kubectl("apply", "-f", str(ROLE))
    shop.kubectl("create", "clusterrolebinding", "w", "--clusterrole=podpath-why", "--user=nobody")
    yield shop
    shop.kubectl("delete", "clusterrolebinding", "w")


def ask(server: ApiServer, token: str, **more: Any) -> Any:  # noqa: ANN401  # ApiObjects
    """Read the objects as somebody."""
    with Client(access.find(server.kubeconfig(token))) as client:
        return read_objects(client, **more)


def test_who_has_the_shipped_role_reads_everything(bound: ApiServer) -> None:
    """The role suffices; each kind is a document whose objects have their kind."""
    found = ask(bound, NOBODY)
    assert found.missing == ()
    assert list(found.items) == [kind.resource for kind in KINDS]
    documents = {each.name: json.loads(each.text) for each in found.documents()}
    pods = documents["api/pods.json"]["items"]
    assert "api-0" in {pod["metadata"]["name"] for pod in pods if pod["kind"] == "Pod"}
    policies = documents["api/networkpolicies.json"]["items"]
    assert "NetworkPolicy" in {each["kind"] for each in policies}


def test_no_secret_of_a_pod_is_taken(shop: ApiServer) -> None:
    """Environment, arguments, headers of probes and applied copies stay on the server; ports,
    probes and the addresses that a plugin noted are kept.
    """
    shop.set_status("pod", SPACE, "api-0", {"podIP": "10.1.0.5", "podIPs": [{"ip": "10.1.0.5"}]})
    found = ask(shop, "admin-token-0123456789", namespaces=(SPACE,))
    texts = [each.text for each in found.documents()]
    assert not any(SECRET in text for text in texts)
    (pod,) = found.items["pods"]
    assert pod["spec"]["containers"][0]["ports"][0]["containerPort"] == 8080
    assert pod["spec"]["containers"][0]["readinessProbe"]["httpGet"]["path"] == "/ready"
    assert pod["status"]["podIP"] == "10.1.0.5"
    assert pod["metadata"]["annotations"] == {"cni.projectcalico.org/podIP": "10.1.0.5/32"}
    assert len(found.items["services"]) == 1


def test_the_documents_are_evidence(shop: ApiServer) -> None:
    """podpath reads each document: the service and the policy stand in the case."""
    found = ask(shop, "admin-token-0123456789", namespaces=(SPACE,))
    pasted = [podpath.Pasted(each.text, each.name) for each in found.documents()]
    case = podpath.read(pasted)
    assert [str(gap) for gap in case.gaps] == []
    kinds = {each.kind for each in case.facts.objects}
    assert {"Pod", "Service", "Node", "NetworkPolicy", "Namespace"} <= kinds


def test_who_may_do_nothing_is_told_every_rule(shop: ApiServer) -> None:
    """All rights that are lacking are said at once, each as the rule that the role grants."""
    with pytest.raises(LackingRights) as refused:
        ask(shop, NOBODY)
    rules = [
        yaml.safe_load(line.removeprefix("  - "))
        for line in str(refused.value).splitlines()
        if line.startswith("  - ")
    ]
    granted = yaml.safe_load(ROLE.read_text(encoding="utf-8"))["rules"]
    allowed = {
        (group, resource, verb)
        for rule in granted
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    said = {(r["apiGroups"][0], r["resources"][0], r["verbs"][0]) for r in rules}
    assert said == allowed
    assert "nobody-token" not in str(refused.value)


def test_what_is_not_always_needed_is_missed_and_said(shop: ApiServer) -> None:
    """Who may list all but policies and namespaces gets the rest, and a sentence for each."""
    role = yaml.safe_load(ROLE.read_text(encoding="utf-8"))
    role["metadata"]["name"] = "less"
    role["rules"] = [
        rule
        for rule in role["rules"]
        if not {"networkpolicies", "namespaces"} & set(rule["resources"])
    ]
    shop.apply(role)
    shop.kubectl("create", "clusterrolebinding", "l", "--clusterrole=less", "--user=nobody")
    try:
        found = ask(shop, NOBODY)
    finally:
        shop.kubectl("delete", "clusterrolebinding", "l")
    assert "networkpolicies" not in found.items
    assert [each.partition(":")[0] for each in found.missing] == ["networkpolicies", "namespaces"]
    assert 'resources: ["networkpolicies"], verbs: ["list"]' in found.missing[0]


def test_every_rule_of_the_role_is_needed(shop: ApiServer) -> None:
    """Verb by verb: the role grants what is asked for, and nothing else."""
    granted = yaml.safe_load(ROLE.read_text(encoding="utf-8"))["rules"]
    pairs = {
        (group, resource)
        for rule in granted
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert {verb for rule in granted for verb in rule["verbs"]} == {"list"}
    assert pairs == {(kind.group, kind.resource) for kind in KINDS}
    shop.kubectl("apply", "-f", str(ROLE))


def test_wrong_credentials_are_said_without_them(shop: ApiServer) -> None:
    """A 401 names the kubeconfig, not the token."""
    with pytest.raises(SourceError, match="does not accept the credentials") as refused:
        ask(shop, "wrong-token-0123456789")
    assert "wrong-token" not in str(refused.value)


def test_a_server_that_is_away_is_named(tmp_path: Path) -> None:
    """A refused connection says where it was tried."""
    port = free_port()
    path = write_kubeconfig(tmp_path, f"https://127.0.0.1:{port}", {"token": "t"})
    with Client(access.find(path)) as client, pytest.raises(Unreachable, match=str(port)):
        read_objects(client)


def listing(*names: str, rest: str = "") -> Answer:
    """Make one page of a list."""
    page = {
        "metadata": {"continue": rest},
        "items": [{"metadata": {"name": name}} for name in names],
    }
    return Answer(200, [json.dumps(page).encode()])


def read_scripted(tmp_path: Path, answer: Any, **more: Any) -> Any:  # noqa: ANN401  # a function, ApiObjects
    """Read the objects of a server that answers by a script."""
    with Scripted(answer) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as client:
            return read_objects(client, **more)


def test_pages_are_followed_and_an_expired_one_begins_anew(tmp_path: Path) -> None:
    """The second page has expired once: the list is read again from its first page, no pod
    twice.
    """
    expired: list[str] = []

    def answer(asked: Asked) -> Answer:
        if not asked.path.startswith("/api/v1/pods"):
            return listing()
        if "continue=" not in asked.path:
            return listing("a", rest="more")
        if not expired:
            expired.append(asked.path)
            return refusal(410, "Expired")
        return listing("b")

    found = read_scripted(tmp_path, answer)
    assert [pod["metadata"]["name"] for pod in found.items["pods"]] == ["a", "b"]
    assert len(expired) == 1


def test_an_older_server_has_slices_in_its_own_version(tmp_path: Path) -> None:
    """`v1beta1` is asked where `v1` is not known, and a server without either is said so."""

    def older(asked: Asked) -> Answer:
        if asked.path.startswith("/apis/discovery.k8s.io/v1/"):
            return refusal(404, "NotFound")
        return listing("one") if "endpointslices" in asked.path else listing()

    def oldest(asked: Asked) -> Answer:
        return refusal(404, "NotFound") if "discovery" in asked.path else listing()

    assert len(read_scripted(tmp_path, older).items["endpointslices"]) == 1
    assert read_scripted(tmp_path, oldest).missing == ("endpointslices: this API server has none",)


def test_what_takes_too_long_is_no_answer(tmp_path: Path) -> None:
    """A server that pages forever is left when the time is over, with what to do."""
    with pytest.raises(SourceError, match=r"not read within 0 s; name the namespaces"):
        read_scripted(tmp_path, lambda asked: listing("a", rest="more"), seconds=0.3)  # noqa: ARG005  # the same for all


@pytest.mark.parametrize("content", [b"<html>", b"[]", b'{"items": [1]}'])
def test_an_answer_that_is_no_list_is_refused(content: bytes, tmp_path: Path) -> None:
    """Proxies answer in their own words."""
    with pytest.raises(Unreachable, match="not what the API promises"):
        read_scripted(tmp_path, lambda asked: Answer(200, [content]))  # noqa: ARG005  # as above


def test_progress_is_told(tmp_path: Path) -> None:
    """From nothing to all, with what is being done."""
    told: list[tuple[str, float]] = []
    read_scripted(
        tmp_path,
        lambda asked: listing(),  # noqa: ARG005  # as above
        told=lambda doing, share: told.append((doing, share)),
    )
    assert told[0] == ("reading the API", 0.0)
    assert told[-1] == ("reading the API", 1.0)
