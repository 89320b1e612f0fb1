"""Tests of `tests.apiserver`: the tests' Kubernetes is real, and comes back after it was killed."""

from __future__ import annotations

from tests.apiserver import AGENT, RELEASE, ApiServer


def test_the_server_is_kubernetes(api_server: ApiServer) -> None:
    """The server says its release, and knows the namespaces that every cluster has."""
    assert f"Server Version: v{RELEASE}" in api_server.kubectl("version")
    assert {"default", "kube-system"} <= {
        each["metadata"]["name"] for each in api_server.read("namespaces")["items"]
    }


def test_a_user_without_a_role_is_refused(api_server: ApiServer) -> None:
    """Roles are enforced: who has none may list nothing."""
    assert "Forbidden" in api_server.kubectl("get", "nodes", token=AGENT, check=False)


def test_what_was_written_outlives_a_kill(api_server: ApiServer) -> None:
    """A server that was killed and started again, on the same port, has what was written before."""
    api_server.kubectl("create", "namespace", "outlives")

    api_server.kill()
    api_server.start()

    assert "outlives" in api_server.kubectl("get", "namespace", "outlives")
