"""Tests of `kube.access`: the way that is named, then the pod's own, then the user's; and
no secret in any word of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from podpath.kube import access
from podpath.kube.client import Client
from podpath.kube.objects import KubeStatus
from tests.apiserver import ADMIN, AGENT, ApiServer, home, missing
from tests.kube.scripted import Answer, Scripted, write_kubeconfig

SECRET = "very-secret-token"


@pytest.fixture
def account(tmp_path: Path) -> Path:
    """Provide a service account's folder as the kubelet mounts it."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text(SECRET, encoding="utf-8")
    return folder


def test_the_named_kubeconfig_wins(tmp_path: Path, account: Path) -> None:
    """A kubeconfig that is named is taken, whatever else is there."""
    named = write_kubeconfig(tmp_path, "https://named.test:6443", {"token": SECRET})
    environment = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBECONFIG": "/nowhere"}

    assert (
        "https://named.test:6443"
        == access.find(named, environment=environment, account=account).server
    )


def test_in_a_pod_the_service_account_is_taken(account: Path) -> None:
    """In a pod the API server's address comes from the environment, the token stays in its file."""
    environment = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "8443"}

    assert "https://10.96.0.1:8443" == access.find(environment=environment, account=account).server


@pytest.mark.parametrize(
    ("host", "server"),
    [("fd00::1", "https://[fd00::1]:443"), ("[fd00::1]", "https://[fd00::1]:443")],
)
def test_bare_ipv6_hosts_get_brackets(account: Path, host: str, server: str) -> None:
    """An IPv6 address without brackets makes a URL all the same, and one with brackets is left as
    it is.
    """
    assert (
        server == access.find(environment={"KUBERNETES_SERVICE_HOST": host}, account=account).server
    )


def test_a_users_kubeconfig_is_the_last_resort(tmp_path: Path) -> None:
    """Outside a pod `$KUBECONFIG` is taken, then the one in the home folder."""
    named = write_kubeconfig(tmp_path, "https://user.test", {})
    home = tmp_path / "home" / ".kube"
    home.mkdir(parents=True)
    write_kubeconfig(home, "https://home.test", {}).rename(home / "config")

    assert (
        "https://user.test"
        == access.find(environment={"KUBECONFIG": str(named)}, account=tmp_path).server
    )
    assert (
        "https://home.test"
        == access.find(environment={"HOME": str(tmp_path / "home")}, account=tmp_path).server
    )


def test_no_way_says_what_would_be_one(tmp_path: Path) -> None:
    """Where there is nothing, the error names what was looked for and the option that helps."""
    with pytest.raises(access.AccessError, match="--kubeconfig"):
        access.find(environment={"HOME": str(tmp_path)}, account=tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        "clusters: 7",
        "\x00",
        "clusters: []\ncontexts: []\ncurrent-context: gone",
        f"token: {SECRET}",
    ],
)
def test_what_is_no_kubeconfig_is_refused_by_name(tmp_path: Path, content: str) -> None:
    """Whatever stands in the file, the error names the file and nothing of what stands in it."""
    path = tmp_path / "config"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(access.AccessError) as refused:
        access.from_kubeconfig(path)

    assert str(path) in str(refused.value)
    assert SECRET not in str(refused.value)


def test_secrets_do_not_show(tmp_path: Path) -> None:
    """Printing a way names the server and the file, not the token."""
    way = access.find(write_kubeconfig(tmp_path, "https://named.test", {"token": SECRET}))

    assert SECRET not in f"{way} {way!r} {way.origin}"
    assert "https://named.test" in repr(way)


def test_names_without_a_namespace_are_of_the_contexts(tmp_path: Path, account: Path) -> None:
    """As with kubectl: the context's, the pod's own, else `default`."""
    named = write_kubeconfig(tmp_path, "https://named.test:6443", {})
    environment = {"KUBERNETES_SERVICE_HOST": "10.96.0.1"}
    assert access.find(named).namespace == "default"
    assert access.find(environment=environment, account=account).namespace == "default"

    text = named.read_text(encoding="utf-8")
    content = yaml.safe_load(text)
    content["contexts"][0]["context"]["namespace"] = "shop"
    named.write_text(yaml.safe_dump(content), encoding="utf-8")
    (account / "namespace").write_text("tools\n", encoding="utf-8")
    assert access.find(named).namespace == "shop"
    assert access.find(environment=environment, account=account).namespace == "tools"


def test_a_context_without_a_user_is_a_way(tmp_path: Path) -> None:
    """A kubeconfig that names no user (an API server behind `kubectl proxy`) works."""
    with Scripted(lambda _: Answer(200, [b"{}"])) as server:
        path = tmp_path / "config"
        path.write_text(
            f"clusters: [{{name: c, cluster: {{server: '{server.url}'}}}}]\n"
            "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n",
            encoding="utf-8",
        )
        with Client(access.find(path)) as client:
            assert KubeStatus() == client.read(KubeStatus, "/version")


def test_a_service_account_reaches_the_real_server(api_server: ApiServer, account: Path) -> None:
    """The folder that a kubelet mounts (token, ca.crt) is enough to be known to the real server."""
    (account / "token").write_text(f"{AGENT}\n", encoding="utf-8")
    (account / "ca.crt").write_bytes(api_server.authority.read_bytes())
    environment = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(api_server.port),
    }

    with Client(access.find(environment=environment, account=account)) as client:
        assert b"gitVersion" in client.request("GET", "/version")


def test_a_server_on_a_bare_ipv6_address_is_reached_and_followed(account: Path) -> None:
    """On a cluster of IPv6 the environment holds an address without brackets: a real server there
    is spoken to and watched.
    """
    lacking = missing()
    if lacking is not None:
        pytest.skip(f"needs {lacking}")
    with home() as folder, ApiServer(Path(folder), "::1") as server:
        (account / "token").write_text(ADMIN, encoding="utf-8")
        (account / "ca.crt").write_bytes(server.authority.read_bytes())
        environment = {
            "KUBERNETES_SERVICE_HOST": "::1",
            "KUBERNETES_SERVICE_PORT": str(server.port),
        }
        way = access.find(environment=environment, account=account)
        with Client(way) as client:
            version = client.request("GET", "/version")
            query = {"watch": "true", "timeoutSeconds": "1"}
            with client.stream("/api/v1/namespaces", query=query) as stream:
                lines = list(stream.lines())

    assert f"https://[::1]:{server.port}" == way.server
    assert b"gitVersion" in version
    assert b"kube-system" in b"".join(lines)
