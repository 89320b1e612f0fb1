"""Tests of `protect.repair.actions`: every answer of the server becomes an outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.kube import access
from podpath.kube.client import Client, Unreachable
from podpath_protect.apply import Applier
from podpath_protect.cluster.events import Recorder
from podpath_protect.cluster.pods import Evictor
from podpath_protect.repair.actions import PodActions
from podpath_protect.repair.judgement import judge
from podpath_protect.repair.policy import Action, Policy
from tests import kube_objects as kube
from tests.kube.scripted import Answer, Scripted, refusal
from tests.protect.repair import pods
from tests.protect.repair.netns import NONE

POD = pods.pod(kube.CRASH_LOOP, kube.ended(95))


def actions(client: Client, *, dry_run: bool = False) -> PodActions:
    """Make actions against a server."""
    policy = Policy(dry_run=dry_run)
    recorder = Recorder(client, "i", clock=lambda: 0.0, wall=lambda: 1.0, draw=lambda: 0.5)
    return PodActions(
        policy=policy,
        client=client,
        recorder=recorder,
        evictor=Evictor(client),
        applier=Applier(dry_run=dry_run),
        namespaces=lambda: NONE,
    )


@pytest.mark.parametrize("action", ["label", "evict", "delete"])
@pytest.mark.parametrize(
    ("code", "reason", "result"),
    [
        (404, "NotFound", "skip"),
        (409, "Conflict", "skip"),
        (422, "Invalid", "skip"),
        (429, "TooManyRequests", "refused"),
        (403, "Forbidden", "fail"),
        (500, "InternalError", "fail"),
    ],
)
def test_refusals_are_told_apart(
    tmp_path: Path, action: Action, code: int, reason: str, result: str
) -> None:
    """Gone or changed: skipped. Not now: refused, with the server's wait. Anything else failed and
    was surely not done.
    """
    answer = refusal(code, reason, retryAfterSeconds=7)
    with (
        Scripted(lambda _: answer) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        outcome = actions(client).do(action, POD)

    assert (result, False) == (outcome.result, outcome.unsure)
    assert result != "refused" or outcome.retry_after == 7.0


def test_an_answer_that_was_lost_leaves_it_open(tmp_path: Path) -> None:
    """Where the connection breaks after the request was sent, the action may have been done."""
    answer = Answer(200, [], (("Content-Length", "99"),))
    with (
        Scripted(lambda _: answer) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        outcome = actions(client).do("delete", POD)

    assert ("fail", True) == (outcome.result, outcome.unsure)


def test_what_is_announced_names_why_and_what(tmp_path: Path) -> None:
    """The event's note has the reason in full; an event that cannot be written gives the reason
    why.
    """
    judgement = judge(POD, Policy())
    with (
        Scripted(lambda _: Answer(201, [b"{}"])) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        said = actions(client).announce(POD, "evict", judgement)
        silent = actions(client, dry_run=True).announce(POD, "evict", judgement)
        asked = server.asked
    with (
        Scripted(lambda _: refusal(403, "Forbidden")) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        refused = actions(client).announce(POD, "evict", judgement)

    assert (("", ""), 1) == ((said, silent), len(asked))
    assert b"started without its redirect rules (linkerd-network-validator waits" in asked[0].body
    assert "403" in refused


def test_a_pod_is_read_anew(tmp_path: Path) -> None:
    """A pod that is gone, and a name that another has now, are read as nothing; a server that is
    away raises.
    """
    other = b'{"metadata":{"name":"web-1","namespace":"shop","uid":"another"}}'
    answers = [Answer(200, [other]), refusal(404, "NotFound")]
    with (
        Scripted(lambda _: answers.pop()) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        assert [None, None] == [actions(client).read(POD) for _ in range(2)]
    with Client(access.find(server.kubeconfig(tmp_path))) as client, pytest.raises(Unreachable):
        actions(client).read(POD)


def test_taking_the_label_off_may_fail(tmp_path: Path) -> None:
    """A refusal is an outcome here too."""
    with (
        Scripted(lambda _: refusal(404, "NotFound")) as server,
        Client(access.find(server.kubeconfig(tmp_path))) as client,
    ):
        assert "skip" == actions(client).unlabel(POD).result
