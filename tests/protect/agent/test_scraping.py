"""Tests of `protect.agent.scraping`: metrics over TLS, for those whom a real API server lets in."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from podpath.kube import access
from podpath.kube.client import Client
from podpath.kube.grants import ServiceAccountName, request_token
from podpath.net.tables import TableError
from podpath_protect.agent.config import MetricsOptions, load_config
from podpath_protect.agent.health import Answer, Endpoints, answer
from podpath_protect.agent.keeper import KeeperContext, KeeperStatus, ThreadKeeper
from podpath_protect.agent.scraping import (
    UNKNOWN,
    ScrapeBackend,
    ScrapeScope,
    ScrapeServer,
    make_body,
    right_to_scrape,
)
from podpath_protect.serving import Certificate
from podpath_protect.snapshot.gate import Gate
from podpath_protect.validate.sockets import SocketEnd
from tests.apiserver import ApiServer, free_port
from tests.kube.following import until
from tests.kube.scripted import Scripted, write_kubeconfig
from tests.protect.snapshot.endpoints import make_certificate
from tests.protect.snapshot.test_gate import TOKEN, answer_all

SPACE, NODE = "scrape-space", "scrape-a"
ISSUER = "https://podpath.test"
"""The audience of the API server itself."""
TOLD = "podpath_protect_part_ready 1\n"


def scrape(
    port: int, authority: str, authorization: str = "", path: str = "/metrics"
) -> tuple[int, str]:
    """Ask for the metrics, and check the certificate."""
    context = ssl.create_default_context(cafile=authority)
    context.check_hostname = False
    headers = {"Authorization": authorization} if authorization else {}
    with closing(
        http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=20)
    ) as asked:
        asked.request("GET", path, headers=headers)
        with asked.getresponse() as told:
            return told.status, told.read().decode()


@pytest.fixture(scope="module")
def tokens(api_server: ApiServer) -> Iterator[tuple[Client, dict[str, str]]]:
    """Provide tokens of an account that may have one node's metrics, and of one that may not."""
    api_server.kubectl("create", "namespace", SPACE)
    for name in ("scraper", "stranger"):
        api_server.kubectl("-n", SPACE, "create", "serviceaccount", name)
    rule = {
        "apiGroups": ["podpath.dev"],
        "resources": ["nodes/metrics"],
        "resourceNames": [NODE],
        "verbs": ["get"],
    }
    about = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    api_server.apply({**about, "metadata": {"name": "scrape"}, "rules": [rule]})
    bound = f"--serviceaccount={SPACE}:scraper"
    api_server.kubectl("create", "clusterrolebinding", "scrape", "--clusterrole=scrape", bound)
    with Client(access.find(api_server.kubeconfig())) as client:
        yield (
            client,
            {
                name: request_token(client, ServiceAccountName(SPACE, name), ISSUER)
                for name in ("scraper", "stranger")
            },
        )


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """Provide a certificate and its key."""
    return make_certificate(tmp_path)


def test_metrics_are_for_those_whom_the_api_server_lets_have_them(
    tokens: tuple[Client, dict[str, str]], certificate: tuple[str, str]
) -> None:
    """Who has the right for this node gets them; a stranger, nobody and another path do not."""
    client, known = tokens
    gate = Gate(client, NODE, right=right_to_scrape, audience="", part="metrics")
    backend = ScrapeBackend(gate=gate, render=lambda: TOLD)
    server = ScrapeServer((SocketEnd("127.0.0.1", 0),), backend, Certificate(*certificate))
    try:
        (port,) = server.ports
        good = scrape(port, certificate[0], f"Bearer {known['scraper']}")
        stranger = scrape(port, certificate[0], f"Bearer {known['stranger']}")
        others = [
            scrape(port, certificate[0], each)[0]
            for each in ("", "Basic eDp5", f"Bearer {known['scraper'][:-3]}", "Bearer a.b.c")
        ]
        elsewhere = scrape(port, certificate[0], f"Bearer {known['scraper']}", "/snapshot")[0]
    finally:
        server.close()

    assert (200, TOLD) == good
    assert (403, True) == (stranger[0], "may not get nodes/metrics" in stranger[1])
    assert [401] * 4 == others
    assert 404 == elsewhere
    assert {"allowed": 1, "forbidden": 1, "unknown": 4} == dict(backend.counts)


def test_the_right_is_for_a_node(tokens: tuple[Client, dict[str, str]]) -> None:
    """The same token opens nothing of a node that its role does not name; and a token that is made
    for a narrower audience is asked for where the configuration says so.
    """
    client, known = tokens
    elsewhere = Gate(client, "scrape-b", right=right_to_scrape, audience="")
    narrow = Gate(client, NODE, right=right_to_scrape, audience="podpath.dev/metrics")
    made = request_token(client, ServiceAccountName(SPACE, "scraper"), "podpath.dev/metrics")

    assert "forbidden" == elsewhere.admit(known["scraper"]).entry
    assert ["unknown", "allowed"] == [narrow.admit(each).entry for each in (known["scraper"], made)]


@pytest.fixture
def scope(tmp_path: Path, certificate: tuple[str, str]) -> Iterator[ScrapeScope]:
    """Provide what the part is made from, with a server that lets everybody."""
    with Scripted(answer_all) as server:
        yield ScrapeScope(
            node=NODE,
            options=MetricsOptions(
                listen=(SocketEnd("127.0.0.1", free_port()),),
                certificate=certificate[0],
                key=certificate[1],
                audience="podpath.dev/metrics",
            ),
            access=access.find(write_kubeconfig(tmp_path, server.url, {"token": "t"})),
            environment={},
            render=lambda: TOLD,
        )


def test_the_part_serves_and_counts(scope: ScrapeScope) -> None:
    """As the agent runs it: ready, listening, and each request counted by what became of it."""
    keeper = ThreadKeeper("metrics", make_body(scope))
    keeper.start()
    try:
        until(lambda: keeper.status().ready, "it serves")
        port = scope.options.listen[0].port
        got = scrape(port, scope.options.certificate, f"Bearer {TOKEN}")
        names = {each.name for each in keeper.status().samples}
    finally:
        keeper.stop()

    assert (200, TOLD) == got
    assert {"metrics_requests", "metrics_listening"} == names


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"certificate": "/nowhere/tls.crt"}, "/nowhere/tls.crt"),
        ({"listen": (SocketEnd("192.0.2.77", 9),)}, "cannot serve at 192.0.2.77:9"),
        ({"listen": (SocketEnd("pod", 9),)}, UNKNOWN),
    ],
)
def test_what_cannot_be_served_makes_no_node_unready(
    scope: ScrapeScope, options: dict[str, object], why: str
) -> None:
    """No certificate, an address that is not ours, and one that nobody told: degraded, with why."""
    changed = replace(scope.options, **options)  # type: ignore[arg-type]  # fields by name
    reports: list[KeeperStatus] = []

    def hear(status: KeeperStatus) -> None:
        reports.append(status)
        context.stop()

    context = KeeperContext(hear)
    make_body(replace(scope, options=changed))(context)
    context.close()

    assert (True, True) == (reports[0].ready, reports[0].degraded)
    assert why in reports[0].why


def test_the_open_endpoint_leaves_metrics_out_where_it_is_told_to() -> None:
    """`[health] metrics = false`: probes are answered, and metrics are to be had over TLS alone."""
    good = Answer(good=True, body="")
    closed = Endpoints(live=lambda: good, ready=lambda: good, metrics=lambda: None)

    assert answer(b"GET /metrics HTTP/1.0\r\n\r\n", closed).startswith(b"HTTP/1.0 404")
    assert answer(b"GET /livez HTTP/1.0\r\n\r\n", closed).startswith(b"HTTP/1.0 200")


def test_metrics_alone_keep_nothing(tmp_path: Path) -> None:
    """The section needs an API server to ask, and something beside it that is kept."""
    path = tmp_path / "agent.toml"
    for text, word in (
        ("[metrics]\n[sysctl]\n", "beside \\[metrics\\]"),
        ("[kubernetes]\n[metrics]\n", "at least one"),
    ):
        path.write_text(text)
        with pytest.raises(TableError, match=word):
            load_config(path)
    path.write_text("[kubernetes]\n[metrics]\n[sysctl]\n")

    assert ("sysctl", "metrics") == load_config(path)[0].parts()
