"""Tests of `cluster.listwatch` against the real API server: whatever ends a watch, the store
comes back to what is true.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import kube_objects as kube
from tests.apiserver import NOBODY, ApiServer
from tests.kube.following import Following, Proxy, until
from tests.kube.scripted import Answer, Asked, Scripted, refusal


def of_node(name: str) -> dict[str, str]:
    """Select the pods of one node."""
    return {"fieldSelector": f"spec.nodeName={name}"}


@pytest.fixture
def server(api_server: ApiServer) -> ApiServer:
    """Provide the server with a namespace for these tests."""
    if "lw" not in api_server.kubectl("get", "namespaces", "-o", "name"):
        api_server.kubectl("create", "namespace", "lw")
    return api_server


def make(server: ApiServer, node: str, *names: str) -> None:
    """Create pods on a node."""
    server.apply(*(kube.pod(name, namespace="lw", node=node) for name in names))


def remove(server: ApiServer, *names: str) -> None:
    """Delete pods at once."""
    server.kubectl(
        "-n", "lw", "delete", "pod", *names, "--grace-period=0", "--force", "--wait=false"
    )


def test_follows_one_nodes_pods(server: ApiServer) -> None:
    """What is there is listed, what comes, changes and goes is heard, and pods of other nodes are
    not.
    """
    make(server, "lw-1", "a-old")
    with Following(server.kubeconfig(), of_node("lw-1")) as following:
        make(server, "lw-1", "a-new")
        make(server, "lw-other", "a-other")
        until(lambda: {"a-old", "a-new"} == following.names, "both pods")
        server.kubectl("-n", "lw", "label", "pod", "a-old", "seen=yes")
        until(lambda: len(following.heard) == 3, "the label")
        remove(server, "a-old")
        until(lambda: following.gone == ["a-old"], "the deletion")

        assert {"a-new"} == following.names
        assert following.watch.pod("lw/a-old") is None


def test_a_killed_server_is_found_again_and_a_deletion_in_the_meantime_is_not_missed(
    server: ApiServer,
) -> None:
    """After kill -9 and a restart the pods are right, although one went while nobody could look;
    and the wait costs no CPU.
    """
    make(server, "lw-2", "b-1", "b-2")
    with Following(server.kubeconfig(), of_node("lw-2")) as following:
        server.kill()
        until(lambda: following.watch.figures.failures >= 3, "failures")
        used = time.process_time()
        time.sleep(2)
        spent = time.process_time() - used
        tried = following.watch.figures.failures
        server.start()
        remove(server, "b-1")
        make(server, "lw-2", "b-3")
        until(lambda: {"b-2", "b-3"} == following.names, "the pods after the restart")

        assert ["b-1"] == following.gone
        assert spent < 0.2, f"{spent:.2f} s of CPU in 2 s of waiting"
        assert tried < 12, "it tries ever more slowly"


def test_a_cut_watch_goes_on_where_it_stood(server: ApiServer) -> None:
    """A connection that breaks is opened again without listing anew, and nothing is told twice."""
    make(server, "lw-3", "c-1")
    with Proxy(server.port) as proxy:
        kubeconfig = server.kubeconfig(server=f"https://127.0.0.1:{proxy.port}")
        with Following(kubeconfig, of_node("lw-3")) as following:
            for cut in range(3):
                proxy.cut()
                make(server, "lw-3", f"c-after-{cut}")

                def arrived(name: str = f"c-after-{cut}") -> bool:
                    return name in following.names

                until(arrived, "a pod after the cut")

            assert 1 == following.watch.figures.lists
            assert (
                len(following.heard)
                == len({after.metadata.name for _, after in following.heard if after is not None})
                == 4
            )


def test_an_expired_version_is_answered_by_a_list_that_finds_what_went(server: ApiServer) -> None:
    """410 Gone: pods that were deleted while the watch was away are told as gone, those that stayed
    are not told again.
    """
    make(server, "lw-4", "d-1", "d-2", "d-3")
    with Proxy(server.port) as proxy:
        kubeconfig = server.kubeconfig(server=f"https://127.0.0.1:{proxy.port}")
        with Following(kubeconfig, of_node("lw-4")) as following:
            proxy.refusing = True
            proxy.cut()
            remove(server, "d-1", "d-3")
            make(server, "lw-churn", *(f"churn-{number}" for number in range(3)))
            remove(server, *(f"churn-{number}" for number in range(3)))
            server.compact()
            server.kill()
            server.start()
            proxy.refusing = False
            until(lambda: {"d-2"} == following.names, "the pod that stayed")

            assert ["d-1", "d-3"] == sorted(following.gone)
            assert 1 == [
                after.metadata.name for _, after in following.heard if after is not None
            ].count("d-2")
            assert following.watch.figures.lists == 2


def test_a_server_that_says_nothing_is_left_and_found_again(server: ApiServer) -> None:
    """A frozen server keeps connections open and sends nothing: silence ends the watch, and it is
    resumed after the thaw.
    """
    make(server, "lw-5", "e-1")
    with Following(server.kubeconfig(), of_node("lw-5"), silence_seconds=1.5) as following:
        server.freeze()
        try:
            until(lambda: following.watch.figures.failures >= 1, "the silence is noticed")
        finally:
            server.thaw()
        server.wait_ready()
        make(server, "lw-5", "e-2")
        until(lambda: {"e-1", "e-2"} == following.names, "the pods after the thaw")


def test_a_refusal_is_told_and_ends_when_the_role_is_bound(server: ApiServer) -> None:
    """403: nothing is synced and the reason is kept; once a role is bound, it begins to follow by
    itself.
    """
    make(server, "lw-6", "f-1")
    with Following(server.kubeconfig(NOBODY), of_node("lw-6"), expects_sync=False) as following:
        until(lambda: following.watch.figures.failures >= 1, "the refusal")

        assert not following.watch.figures.synced
        assert "403 Forbidden" in following.watch.figures.trouble

        server.kubectl("create", "clusterrole", "lw-pods", "--verb=list,watch", "--resource=pods")
        server.kubectl(
            "create", "clusterrolebinding", "lw-nobody", "--clusterrole=lw-pods", "--user=nobody"
        )
        try:
            until(lambda: {"f-1"} == following.names, "the pod after the role")
        finally:
            server.kubectl("delete", "clusterrolebinding/lw-nobody", "clusterrole/lw-pods")


def test_a_watch_that_ends_in_peace_is_no_trouble(tmp_path: Path) -> None:
    """Servers end a watch after some minutes: it is opened again where it stood, and counts neither
    as a failure nor as away.
    """

    def answer(asked: Asked) -> Answer:
        if "watch=true" not in asked.path:
            return Answer(200, [b'{"metadata": {"resourceVersion": "5"}, "items": []}'])
        return Answer(200, peaceful())

    def peaceful() -> Iterator[bytes]:
        yield b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}}\n'
        time.sleep(0.2)

    with Scripted(answer) as scripted, Following(scripted.kubeconfig(tmp_path), {}) as following:
        states = set()

        def again() -> bool:
            states.add((following.watch.figures.watching, following.watch.figures.failures))
            return following.watch.figures.watches >= 3

        until(again, "it is opened again")

    assert {(True, 0)} == states
    assert "resourceVersion=9" in scripted.asked[-1].path


def test_a_watch_that_ends_at_once_is_not_a_busy_loop(tmp_path: Path) -> None:
    """A server that accepts each watch and ends it without a word is asked ever more slowly."""
    page = Answer(200, [b'{"metadata": {"resourceVersion": "5"}, "items": []}'])

    def answer(asked: Asked) -> Answer:
        return Answer(200) if "watch=true" in asked.path else page

    with (
        Scripted(answer) as scripted,
        Following(scripted.kubeconfig(tmp_path), {}, expects_sync=False) as following,
    ):
        time.sleep(2.0)
        asked = len(scripted.asked)
        until(lambda: "ended at once" in following.watch.figures.trouble, "it is told")

    assert asked < 8


def test_a_busy_server_is_given_the_time_that_it_asks_for(tmp_path: Path) -> None:
    """429 with a wait of two seconds on the list: not asked again before that."""
    asked_at: list[float] = []

    def answer(_: Asked) -> Answer:
        asked_at.append(time.monotonic())
        return refusal(429, "TooManyRequests", retryAfterSeconds=2)

    with (
        Scripted(answer) as scripted,
        Following(scripted.kubeconfig(tmp_path), {}, expects_sync=False),
    ):
        until(lambda: len(asked_at) >= 2, "the second try")

    assert asked_at[1] - asked_at[0] >= 2.0


def test_garbage_on_the_watch_is_a_break(tmp_path: Path) -> None:
    """A line that is no event ends the watch; it is opened again where it stood, after a pause."""

    def answer(asked: Asked) -> Answer:
        if "watch=true" not in asked.path:
            return Answer(200, [b'{"metadata": {"resourceVersion": "5"}, "items": []}'])
        return Answer(
            200,
            [b"<html>\n"]
            if len(scripted.asked) == 2
            else [b'{"type": "SURPRISE", "object": {}}\n'],
        )

    with (
        Scripted(answer) as scripted,
        Following(scripted.kubeconfig(tmp_path), {}, expects_sync=False) as following,
    ):
        until(lambda: following.watch.figures.failures >= 2, "two failures")
        trouble = following.watch.figures.trouble

    assert "SURPRISE" in trouble or "promises" in trouble
    assert all("resourceVersion=5" in asked.path for asked in scripted.asked[1:])


def test_stop_ends_a_watch_that_waits(server: ApiServer, tmp_path: Path) -> None:
    """`stop` from another thread ends the watch at once, though nothing is sent for minutes."""
    with Following(server.kubeconfig(path=tmp_path / "config"), of_node("lw-7")):
        began = time.monotonic()

    assert time.monotonic() - began < 30
