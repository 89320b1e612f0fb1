"""Tests of `cluster.events` against the real API server: events that kubectl shows, once, with
what they are about.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from podpath.kube import access
from podpath.kube.client import Client, KubeError
from podpath_protect.cluster.events import (
    CONTROLLER,
    NOTE,
    QUIET_SECONDS,
    KubeEvent,
    Recorder,
    Regarding,
)
from podpath_protect.cluster.objects import KubePod
from podpath_protect.cluster.pods import path
from tests import kube_objects as kube
from tests.apiserver import NOBODY, ApiServer

WALL = 1_795_312_800.25
DRAWS = random.Random(5)


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture(scope="module")
def server(api_server: ApiServer) -> ApiServer:
    """Provide the server with a pod to speak of."""
    api_server.apply(kube.namespace("events"), kube.pod("spoken-of", namespace="events"))
    return api_server


@pytest.fixture
def client(server: ApiServer) -> Iterator[Client]:
    """Provide the admin's client."""
    with Client(access.find(server.kubeconfig())) as client:
        yield client


def speaker(client: Client, clock: Clock | None = None) -> Recorder:
    """Make a recorder whose events all come at the same time."""
    return Recorder(client, "node-a", clock=clock or Clock(), wall=lambda: WALL, draw=DRAWS.random)


def about(
    server: ApiServer,
    client: Client,
    reason: str = "EvictBrokenPod",
    note: str = "the validator ended with 95",
) -> KubeEvent:
    """Make an event about the pod."""
    pod = client.read(KubePod, "/api/v1/namespaces/events/pods/spoken-of")
    assert path(pod) == "/api/v1/namespaces/events/pods/spoken-of"
    assert server.read("pod", "spoken-of", "-n", "events")["metadata"]["uid"] == pod.metadata.uid
    return KubeEvent(regarding=Regarding.of_pod(pod), reason=reason, action="Evicting", note=note)


def told(server: ApiServer, reason: str) -> list[dict[str, object]]:
    """Read the events of a reason."""
    events: list[dict[str, object]] = server.read("events.events.k8s.io", "-n", "events")["items"]
    return [event for event in events if event["reason"] == reason]


def test_an_event_about_a_pod_stands_beside_it(server: ApiServer, client: Client) -> None:
    """The event has reason, action, note, time and who says it, and names this very pod."""
    event = about(server, client)

    assert speaker(client).publish(event)

    (seen,) = told(server, "EvictBrokenPod")
    assert ("Warning", "Evicting", "the validator ended with 95") == (
        seen["type"],
        seen["action"],
        seen["note"],
    )
    assert (CONTROLLER, "node-a") == (seen["reportingController"], seen["reportingInstance"])
    assert isinstance(seen["regarding"], dict)
    assert ("spoken-of", event.regarding.uid) == (
        seen["regarding"]["name"],
        seen["regarding"]["uid"],
    )
    assert "2026-11-22T" in str(seen["eventTime"])


def test_the_same_is_not_said_again_for_a_while(server: ApiServer, client: Client) -> None:
    """A thousand tries to say the same are one event; after ten minutes it may be said again."""
    clock = Clock()
    recorder = Recorder(
        client, "node-a", clock=clock, wall=lambda: WALL + clock.now, draw=DRAWS.random
    )
    event = about(server, client, reason="SaidOnce")

    assert [True] + [False] * 999 == [recorder.publish(event) for _ in range(1000)]
    clock.now = QUIET_SECONDS
    assert recorder.publish(event)

    assert (2, 999) == (recorder.published, recorder.suppressed)
    assert 2 == len(told(server, "SaidOnce"))


def test_an_event_about_a_node_is_one_that_describe_finds(
    server: ApiServer, client: Client
) -> None:
    """Events about nodes stand where the server wants them, and `kubectl describe node` shows
    them.
    """
    server.apply(kube.node("node-told"))

    speaker(client).publish(
        KubeEvent(
            regarding=Regarding.of_node("node-told"),
            reason="ChainMended",
            action="Mending",
            note="put back",
            type="Normal",
        )
    )

    assert "ChainMended" in server.kubectl("describe", "node", "node-told")


def test_long_words_are_cut_to_what_the_api_takes(server: ApiServer, client: Client) -> None:
    """A note longer than the API's limit is cut, also between characters of several bytes."""
    assert speaker(client).publish(about(server, client, reason="TooLong", note="ü" * NOTE))

    assert str(told(server, "TooLong")[0]["note"]).endswith("ü…")


def test_what_cannot_be_said_is_told_to_the_caller(
    server: ApiServer, client: Client, tmp_path: Path
) -> None:
    """Where events are forbidden the caller learns it, and the event counts as not said."""
    event = about(server, client, reason="Forbidden")
    with Client(access.find(server.kubeconfig(NOBODY, path=tmp_path / "config"))) as weak:
        recorder = speaker(weak)
        for _ in range(2):
            with pytest.raises(KubeError, match="403"):
                recorder.publish(event)

        assert (0, 0) == (recorder.published, recorder.suppressed)
