"""Tests of `kube.grants`: tokens for one audience, whose they are and what those may, as a real API
server decides it.
"""

from __future__ import annotations

from pathlib import Path

from podpath.kube import access
from podpath.kube.client import Client
from podpath.kube.grants import (
    Identity,
    ResourceRight,
    ServiceAccountName,
    is_allowed,
    request_token,
    review_token,
)
from tests.apiserver import ApiServer
from tests.kube.scripted import Answer, Scripted, write_kubeconfig

DEFAULT = ServiceAccountName("default", "grants")


def test_a_token_is_its_accounts_and_for_its_audience(api_server: ApiServer) -> None:
    """Another audience is told nothing of whose it is."""
    api_server.kubectl("create", "serviceaccount", DEFAULT.name)
    with Client(access.find(api_server.kubeconfig())) as client:
        token = request_token(client, DEFAULT, "one.test")
        identity = review_token(client, token, "one.test")
        assert review_token(client, token, "another.test") is None
        assert review_token(client, "not-a-token", "one.test") is None
    assert identity is not None
    assert identity.username == "system:serviceaccount:default:grants"
    assert "system:serviceaccounts:default" in identity.groups


def test_a_right_is_asked_for_as_rbac_grants_it(api_server: ApiServer) -> None:
    """By verb, group, resource, subresource and name, for a user or for its group."""
    right = ResourceRight(
        verb="get", group="grants.test", resource="nodes", subresource="x", name="a"
    )
    api_server.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "grants"},
            "rules": [
                {
                    "apiGroups": ["grants.test"],
                    "resources": ["nodes/x"],
                    "resourceNames": ["a"],
                    "verbs": ["get"],
                }
            ],
        }
    )
    api_server.kubectl(
        "create", "clusterrolebinding", "grants", "--clusterrole=grants", "--group=friends"
    )
    friend = Identity(username="f", groups=("friends",), extra={"scopes": ("s",)})
    with Client(access.find(api_server.kubeconfig())) as client:
        assert is_allowed(client, friend, right)
        assert not is_allowed(client, Identity(username="f"), right)
        another = ResourceRight(verb="get", group="grants.test", resource="nodes", name="a")
        assert not is_allowed(client, friend, another)


def test_an_explicit_denial_wins(tmp_path: Path) -> None:
    """An authorizer may allow and deny in one answer; and an account is spelled as it is asked
    for.
    """
    with Scripted(lambda _: Answer(201, [b'{"status":{"allowed":true,"denied":true}}'])) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as client:
            right = ResourceRight(verb="get", group="", resource="nodes")
            assert not is_allowed(client, Identity(username="u"), right)
    assert str(DEFAULT) == "default/grants"
