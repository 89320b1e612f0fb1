"""Tests of `protect.snapshot.gate`: whom a real API server lets through, and what it is spared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from podpath.kube import access
from podpath.kube.client import Client, Refused
from podpath.kube.grants import ServiceAccountName, request_token
from podpath.kube.snapshots import audience_of
from podpath_protect.snapshot.gate import MOST_REVIEWS, REMEMBERED_SECONDS, Gate
from tests.apiserver import ADMIN, ApiServer, free_port
from tests.kube.scripted import Answer, Asked, Scripted, write_kubeconfig

SPACE, NODE = "gate-space", "gate-a"
READER = ServiceAccountName(SPACE, "reader")
STRANGER = ServiceAccountName(SPACE, "stranger")
TOKEN = "aaaa.bbbb.cccc"


@pytest.fixture(scope="module")
def client(api_server: ApiServer) -> Iterator[Client]:
    """Provide a client beside a service account that may have snapshots of one node, and one that
    may not.
    """
    api_server.kubectl("create", "namespace", SPACE)
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "gate"},
        "rules": [
            {
                "apiGroups": ["podpath.dev"],
                "resources": ["nodes/snapshot"],
                "resourceNames": [NODE],
                "verbs": ["get"],
            }
        ],
    }
    api_server.apply(role)
    for account in (READER, STRANGER):
        api_server.kubectl("-n", SPACE, "create", "serviceaccount", account.name)
    bound = f"--serviceaccount={SPACE}:{READER.name}"
    api_server.kubectl("create", "clusterrolebinding", "gate", "--clusterrole=gate", bound)
    with Client(access.find(api_server.kubeconfig())) as opened:
        yield opened


def test_who_has_the_right_is_let_through(client: Client) -> None:
    """A token for this node's agent, of an account with the right for this node."""
    token = request_token(client, READER, audience_of(NODE))
    admission = Gate(client, NODE).admit(token)
    assert (admission.entry, admission.user) == ("allowed", f"system:serviceaccount:{SPACE}:reader")


def test_the_right_is_for_a_node(client: Client) -> None:
    """For another node's agent the same account has none, and one without rights has none here."""
    elsewhere = Gate(client, "gate-b").admit(request_token(client, READER, audience_of("gate-b")))
    assert elsewhere.entry == "forbidden"
    assert "may not get nodes/snapshot of podpath.dev (gate-b)" in elsewhere.why
    stranger = Gate(client, NODE).admit(request_token(client, STRANGER, audience_of(NODE)))
    assert stranger.entry == "forbidden"


@pytest.mark.parametrize("audience", ["podpath.dev/snapshot/gate-b", "https://podpath.test"])
def test_a_token_for_another_is_nobodys(audience: str, client: Client) -> None:
    """One for another node's agent, which that node could send on, and one for the API server."""
    token = request_token(client, READER, audience)
    assert Gate(client, NODE).admit(token).entry == "unknown"


def test_a_token_for_an_agent_opens_nothing_else(client: Client, api_server: ApiServer) -> None:
    """The API server itself refuses it: a node that keeps it gains nothing by it."""
    token = request_token(client, READER, audience_of(NODE))
    config = api_server.kubeconfig(token, path=api_server.home / "borrowed")
    with Client(access.find(config)) as borrowed, pytest.raises(Refused, match="401"):
        borrowed.request("GET", "/api/v1/pods")


@pytest.mark.parametrize(
    "token", ["", "x", ADMIN, "a.b", "a.b.c d", "a.b.c\n", f"{'a' * 9999}.b.c"]
)
def test_what_cannot_be_such_a_token_is_not_asked_about(token: str, tmp_path: Path) -> None:
    """The API server is left alone; the cluster's own static tokens are none either."""
    with Scripted(lambda _: Answer(500)) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as silent:
            assert Gate(silent, NODE).admit(token).entry == "unknown"
        assert server.asked == []


def answer_all(asked: Asked) -> Answer:
    """Answer each review: the token is somebody's, who may."""
    status: dict[str, object] = {"allowed": True}
    if "tokenreviews" in asked.path:
        spec = json.loads(asked.body)["spec"]
        user = {"username": "somebody"}
        status = {"authenticated": True, "user": user, "audiences": spec["audiences"]}
    return Answer(201, [json.dumps({"status": status}).encode()])


def test_few_tokens_a_second_are_asked_about(tmp_path: Path) -> None:
    """Beyond them requests are held, and an answer serves for some seconds."""
    now = [50.0]
    with Scripted(answer_all) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as client:
            gate = Gate(client, NODE, lambda: now[0])
            entries = [gate.admit(f"{TOKEN}{number}").entry for number in range(MOST_REVIEWS + 2)]
            assert entries == ["allowed"] * MOST_REVIEWS + ["held"] * 2
            asked = len(server.asked)
            assert gate.admit(f"{TOKEN}0").entry == "allowed"
            assert len(server.asked) == asked
            now[0] += REMEMBERED_SECONDS
            assert gate.admit(f"{TOKEN}0").entry == "allowed"
            assert len(server.asked) == asked + 2


def test_strangers_keep_nobody_out_who_was_let_in(tmp_path: Path) -> None:
    """Whoever reaches the port can use the questions of a second up; a scraper that was let in
    before is asked about all the same, until it is refused once.
    """
    now, allowed = [50.0], [True]

    def answer_some(asked: Asked) -> Answer:
        spec = json.loads(asked.body)["spec"]
        status: dict[str, object] = {"allowed": allowed[0]}
        if "tokenreviews" in asked.path:
            good = spec["token"] == TOKEN
            user = {"username": "somebody"}
            status = {"authenticated": good, "user": user, "audiences": spec["audiences"]}
        return Answer(201, [json.dumps({"status": status}).encode()])

    def ask_with_strangers(gate: Gate) -> Sequence[str]:
        now[0] += 2 * REMEMBERED_SECONDS
        fakes = [f"{TOKEN}{now[0]:.0f}{number}" for number in range(MOST_REVIEWS)]
        return [gate.admit(token).entry for token in (*fakes, TOKEN)][-2:]

    with Scripted(answer_some) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as client:
            gate = Gate(client, NODE, lambda: now[0])
            before = ask_with_strangers(gate)
            now[0] += REMEMBERED_SECONDS
            first = gate.admit(TOKEN).entry
            again = ask_with_strangers(gate)
            allowed[0] = False
            refused = ask_with_strangers(gate)
            after = ask_with_strangers(gate)

    assert ["unknown", "held"] == before
    assert ("allowed", ["unknown", "allowed"]) == (first, again)
    assert (["unknown", "forbidden"], ["unknown", "held"]) == (refused, after)


def test_a_server_that_checks_no_audience_lets_nobody_through(tmp_path: Path) -> None:
    """An authenticator that leaves audiences out of its answer has not looked at them."""
    said = {"status": {"authenticated": True, "user": {"username": "somebody"}}}
    with Scripted(lambda _: Answer(201, [json.dumps(said).encode()])) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as client:
            assert Gate(client, NODE).admit(TOKEN).entry == "unknown"


def test_what_the_agent_lacks_is_said_with_what_grants_it(tmp_path: Path) -> None:
    """Whoever asks is told whose right is missing, which is not theirs."""
    with Scripted(lambda _: Answer(403, [b'{"message": "cannot create it"}'])) as server:
        path = write_kubeconfig(tmp_path, server.url, {"token": "t"})
        with Client(access.find(path)) as client:
            admission = Gate(client, NODE).admit(TOKEN)
    assert admission.entry == "unreachable"
    assert "ClusterRole podpath-agent-snapshot" in admission.why


def test_a_server_that_is_away_lets_nobody_through(tmp_path: Path) -> None:
    """And it is asked again the next time."""
    port = free_port()
    path = write_kubeconfig(tmp_path, f"https://127.0.0.1:{port}", {"token": "t"})
    with Client(access.find(path)) as client:
        gate = Gate(client, NODE)
        assert gate.admit(TOKEN).entry == "unreachable"
        assert gate.admit(TOKEN).entry == "unreachable"
