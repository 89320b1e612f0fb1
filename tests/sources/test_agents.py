"""Tests of `sources.agents`: a real agent serves its node through a real API server's pod proxy, by
the shipped roles and by each of them; what a forged or borrowed identity gets is a refusal.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from podpath.kube import access
from podpath.kube.client import Client, Refused
from podpath.kube.grants import ServiceAccountName, request_token
from podpath.kube.snapshots import TOKEN_HEADER, audience_of
from podpath.sources.agents import AgentAccess, ServingAgent, find_agents, read_snapshot
from podpath.sources.objects import ApiObjects, SourceError, read_objects
from tests import kube_objects as kube
from tests.apiserver import ADMIN, AGENT, NOBODY, PROGRAMS, ApiServer, free_port
from tests.kube.following import until
from tests.mcp.served import serve
from tests.protect.snapshot.endpoints import make_certificate, own_address

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
SPACE, NODE, POD = "podpath", "served-node", "podpath-agent-x7k2p"
NETNS = f"snap{os.getpid()}"
CONFIG = """\
[health]
listen = "off"
[kubernetes]
kubeconfig = "{kubeconfig}"
taint = false
events = false
[snapshot]
listen = "{address}:{port}"
certificate = "{certificate}"
key = "{key}"
node_netns = "{netns}"
"""
STATE = (
    ("address", "add", "192.0.2.9/24", "dev", "lo"),
    ("link", "set", "lo", "up"),
    ("route", "add", "unreachable", "198.51.100.0/24"),
)
"""What the node has: an address, and a route that a packet ends at."""
GRANTS = (
    ("clusterrolebinding", "podpath-why", ("--clusterrole=podpath-why",)),
    ("rolebinding", "ask", ("--role=podpath-ask-agents", "-n", SPACE)),
)


@pytest.fixture(scope="module")
def cluster(api_server: ApiServer) -> ApiServer:
    """Provide a server with the shipped namespace, accounts and roles."""
    if NODE not in api_server.kubectl("get", "nodes", "-o", "name"):
        api_server.apply(kube.node(NODE))
    for name in ("base/namespace", "base/access", "snapshot/access", "why/access"):
        api_server.kubectl("apply", "-f", DEPLOY / f"{name}.yaml")
    return api_server


@pytest.fixture(scope="module")
def agent(
    cluster: ApiServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ApiServer, ServingAgent]]:
    """Provide an agent of a node that is a network namespace, as its pod's status says."""
    folder, address, port = tmp_path_factory.mktemp("agent"), own_address(), free_port()
    certificate, key = make_certificate(folder)
    config = CONFIG.format(
        kubeconfig=cluster.kubeconfig(AGENT), address=address, port=port, certificate=certificate,
        key=key, netns=NETNS,
    )  # fmt: skip
    (folder / "agent.toml").write_text(config, encoding="utf-8")
    pod = kube.pod(POD, namespace=SPACE, node=NODE)
    pod["metadata"]["labels"] = {"app.kubernetes.io/name": "podpath-agent"}
    pod["spec"]["containers"][0]["ports"] = [{"name": "snapshot", "containerPort": port}]
    cluster.apply(pod)
    status = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}
    cluster.set_status("pod", SPACE, POD, status)
    subprocess.run(("ip", "netns", "add", NETNS), check=True)
    for words in STATE:
        subprocess.run(("ip", "-n", NETNS, *words), check=True)
    command = (str(PROGRAMS / "podpath"), "protect", "agent", "--config", folder / "agent.toml")
    environment = os.environ | {"NODE_NAME": NODE}
    try:
        with (folder / "log").open("wb") as log:
            running = subprocess.Popen(command, stderr=log, env=environment)
        log_of = folder / "log"
        until(
            lambda: running.poll() is not None or b"snapshots are served" in log_of.read_bytes(),
            "it serves",
        )
        assert running.poll() is None, log_of.read_text(encoding="utf-8")
        yield cluster, ServingAgent(NODE, SPACE, POD, port)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
        assert not any(
            word in log_of.read_text(encoding="utf-8") for word in (AGENT, ADMIN, "Bearer")
        )
    finally:
        running.kill()
        running.wait()
        subprocess.run(("ip", "netns", "del", NETNS), check=True)
        cluster.kubectl("-n", SPACE, "delete", "pod", POD, "--force", "--grace-period=0")


@pytest.fixture
def granted(cluster: ApiServer) -> Iterator[None]:
    """Let nobody have the shipped roles for a while."""
    for kind, name, words in GRANTS:
        cluster.kubectl("create", kind, name, "--user=nobody", *words)
    yield
    for kind, name, words in GRANTS:
        cluster.kubectl("delete", kind, name, *words[1:])


def as_user(server: ApiServer, token: str = NOBODY) -> Client:
    """Return a user's client."""
    return Client(access.find(server.kubeconfig(token)))


def names_in(bundle: bytes) -> set[str]:
    """Return the names of a packed bundle's files."""
    with tarfile.open(fileobj=io.BytesIO(bundle)) as archive:
        return set(archive.getnames())


@pytest.mark.kernel("openssl")
@pytest.mark.usefixtures("granted")
def test_the_shipped_roles_suffice(agent: tuple[ApiServer, ServingAgent]) -> None:
    """Who has them finds the agent by the API, and gets a bundle of its node without logs; four at
    once get one snapshot.
    """
    server, known = agent
    with as_user(server) as client:
        found = find_agents(read_objects(client))
        assert found == {NODE: known}
        bundle = read_snapshot(client, found[NODE])
        assert {"bundle.json", "netns/host/ip-link.json"} <= names_in(bundle)
        assert not any(name.startswith("logs/") for name in names_in(bundle))
        with ThreadPoolExecutor(4) as pool:
            others = list(pool.map(lambda _: read_snapshot(client, known), range(4)))
        assert set(others) == {bundle}


@pytest.mark.kernel("openssl")
@pytest.mark.usefixtures("granted")
def test_an_assistant_asks_it(agent: tuple[ApiServer, ServingAgent]) -> None:
    """`why` over the Model Context Protocol takes the node's snapshot from its agent, and names
    node and line.
    """
    server, _ = agent
    with serve("--cluster", "--kubeconfig", str(server.kubeconfig(NOBODY))) as assistant:
        answer = assistant.ask("why", source=f"node/{NODE}", destination="198.51.100.7:443")

    (finding,) = answer["findings"]
    assert (answer["verdict"], answer["node"], finding["check"]) == ("fault", NODE, "no-route")
    (line,) = finding["evidence"]
    assert line["source"].startswith(f"{NODE}.tar.gz/")
    assert '"dst":"198.51.100.0/24"' in line["text"]


@pytest.mark.kernel("openssl")
def test_an_assistant_is_told_what_its_user_may_not(agent: tuple[ApiServer, ServingAgent]) -> None:
    """Without any of the rights it is an error in the protocol's words, with the right that
    lacks, and no answer.
    """
    server, _ = agent
    with serve("--cluster", "--kubeconfig", str(server.kubeconfig(NOBODY))) as assistant:
        why = assistant.refuse("why", source=f"node/{NODE}", destination="198.51.100.7:443")

    assert "403 Forbidden" in why
    assert 'resources: ["nodes"], verbs: ["list"]' in why


@pytest.mark.kernel("openssl")
@pytest.mark.parametrize(
    ("resource", "told"),
    [
        (
            "serviceaccounts/token",
            'resources: ["serviceaccounts/token"], resourceNames: ["podpath-',
        ),
        ("pods/proxy", 'resources: ["pods/proxy"], verbs: ["get"]'),
    ],
)
def test_each_right_is_needed_and_said(
    resource: str, told: str, agent: tuple[ApiServer, ServingAgent]
) -> None:
    """Without one of the two the other opens nothing, and the message is the rule that is
    missing.
    """
    server, known = agent
    documents = yaml.safe_load_all((DEPLOY / "snapshot" / "access.yaml").read_text("utf-8"))
    role = next(each for each in documents if each["kind"] == "Role")
    role["metadata"]["name"] = "less"
    role["rules"] = [rule for rule in role["rules"] if resource not in rule["resources"]]
    assert len(role["rules"]) == 1
    server.apply(role)
    server.kubectl("-n", SPACE, "create", "rolebinding", "less", "--role=less", "--user=nobody")
    try:
        with as_user(server) as client, pytest.raises(SourceError) as refused:
            read_snapshot(client, known)
    finally:
        server.kubectl("-n", SPACE, "delete", "role/less", "rolebinding/less")
    assert told in str(refused.value)


@pytest.mark.kernel("openssl")
def test_who_may_do_nothing_gets_nothing(agent: tuple[ApiServer, ServingAgent]) -> None:
    """The first right that is missing is said."""
    server, known = agent
    with as_user(server) as client, pytest.raises(SourceError, match="saw 403 Forbidden"):
        read_snapshot(client, known)


@pytest.mark.kernel("openssl")
def test_an_account_without_the_right_is_refused_by_the_agent(
    agent: tuple[ApiServer, ServingAgent],
) -> None:
    """Even an admin's proxied request, with a token of an account that may not."""
    server, known = agent
    asker = AgentAccess(account=ServiceAccountName(SPACE, "podpath-agent"))
    with as_user(server, ADMIN) as client, pytest.raises(SourceError) as refused:
        read_snapshot(client, known, asker)
    assert "may not get nodes/snapshot of podpath.dev" in str(refused.value)
    assert 'apiGroups: ["podpath.dev"]' in str(refused.value)
    nobodys = AgentAccess(account=ServiceAccountName(SPACE, "nobody-there"))
    with as_user(server, ADMIN) as client, pytest.raises(SourceError, match="saw none"):
        read_snapshot(client, known, nobodys)


@pytest.mark.kernel("openssl")
def test_no_header_but_the_token_is_believed(agent: tuple[ApiServer, ServingAgent]) -> None:
    """The proxy passes on what the caller writes, a front proxy's headers too, and takes the
    caller's own credentials off: each of them alone is a 401 of the agent.
    """
    server, known = agent
    with as_user(server, ADMIN) as client:
        other = request_token(
            client, ServiceAccountName(SPACE, "podpath-reader"), audience_of("another-node")
        )
        for headers in (
            {},
            {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"},
            {TOKEN_HEADER: ADMIN},
            {TOKEN_HEADER: other},
        ):
            with pytest.raises(Refused, match="podpath's agent of served-node") as refused:
                client.download(known.path, headers=headers, most=1 << 20, seconds=20.0)
            assert refused.value.code == 401


@pytest.mark.kernel("openssl")
def test_nobody_listens_where_the_agent_should(agent: tuple[ApiServer, ServingAgent]) -> None:
    """The API server's own words about a port that it cannot reach."""
    server, known = agent
    wrong = known._replace(port=free_port())
    with as_user(server, ADMIN) as client, pytest.raises(SourceError, match="does not reach port"):
        read_snapshot(client, wrong)


def make_pod(**more: Any) -> dict[str, Any]:  # noqa: ANN401  # parts of a pod
    """Make an agent's pod as the API lists it."""
    about = {
        "name": "a-1",
        "namespace": SPACE,
        "labels": {"app.kubernetes.io/name": "podpath-agent"},
    }
    ports = [{"name": "snapshot", "containerPort": 9810}]
    spec = {"nodeName": "a", "containers": [{"name": "agent", "ports": more.pop("ports", ports)}]}
    about |= more.pop("about", {})
    return {"metadata": about, "spec": spec, "status": {"phase": more.pop("phase", "Running")}}


@pytest.mark.parametrize(
    "change",
    [
        {"ports": None},
        {"ports": [{"name": "metrics", "containerPort": 1}]},
        {"phase": "Pending"},
        {"about": {"labels": None}},
        {"about": {"namespace": "elsewhere"}},
        {"about": {"deletionTimestamp": "2026-11-23T00:00:00Z"}},
    ],
)
def test_a_pod_that_serves_no_snapshot_is_no_agent(change: dict[str, object]) -> None:
    """No such port, not running, another's pod, or on its way out."""
    assert find_agents(ApiObjects(items={"pods": [make_pod()]})) == {
        "a": ServingAgent("a", SPACE, "a-1", 9810)
    }
    assert find_agents(ApiObjects(items={"pods": [make_pod(**change)]})) == {}
    assert find_agents(ApiObjects(items={})) == {}
