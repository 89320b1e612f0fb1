"""Tests of `protect.snapshot.keeper`: what cannot be served is told, tried again, and makes no node
unready. That it serves is tested where it is asked (`tests/sources/test_agents.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from podpath.kube import access
from podpath_protect.agent.keeper import KeeperContext, KeeperStatus
from podpath_protect.snapshot.keeper import OUTCOMES, UNKNOWN, SnapshotScope, make_body
from podpath_protect.snapshot.options import SnapshotOptions
from podpath_protect.validate.sockets import SocketEnd
from tests.apiserver import free_port
from tests.kube.following import until
from tests.kube.scripted import write_kubeconfig
from tests.protect.snapshot.endpoints import make_certificate


class Kept:
    """A part that runs in a thread, and what it reported."""

    def __init__(self, scope: SnapshotScope) -> None:
        """Begin."""
        self.reports: list[KeeperStatus] = []
        self._context = KeeperContext(self.reports.append)
        body = make_body(scope)
        self._thread = threading.Thread(target=lambda: body(self._context))
        self._thread.start()

    def stop(self) -> None:
        """End it."""
        self._context.stop()
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._context.close()


@pytest.fixture
def scope(tmp_path: Path) -> SnapshotScope:
    """Provide what a part would be made from, with an API server that is away."""
    certificate, key = make_certificate(tmp_path)
    path = write_kubeconfig(tmp_path, f"https://127.0.0.1:{free_port()}", {"token": "t"})
    end = SocketEnd("127.0.0.1", free_port())
    options = SnapshotOptions(listen=(end,), certificate=certificate, key=key)
    return SnapshotScope(node="a", options=options, access=access.find(path), environment={})


def test_it_serves_and_stops(scope: SnapshotScope) -> None:
    """Ready, with every outcome's counter at nought."""
    kept = Kept(scope)
    try:
        until(lambda: bool(kept.reports), "a report")
        status = kept.reports[0]
        assert (status.ready, status.degraded) == (True, False)
        samples: Mapping[str, float] = {
            "/".join((each.name, *(value for _, value in each.labels))): each.value
            for each in status.samples
        }
        wanted = {f"snapshot_requests/{outcome}": 0 for outcome in OUTCOMES}
        assert samples == wanted | {"snapshot_taken": 0, "snapshot_listening": 1}
    finally:
        kept.stop()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"certificate": "/nowhere/tls.crt"}, "/nowhere/tls.crt"),
        ({"listen": (SocketEnd("192.0.2.77", 9),)}, "cannot serve at 192.0.2.77:9"),
        ({"listen": (SocketEnd("pod", 9),)}, UNKNOWN),
    ],
)
def test_what_cannot_be_served_is_degraded(
    options: dict[str, object], why: str, scope: SnapshotScope
) -> None:
    """No certificate, an address that is not ours, and one that nobody told: the node stays
    ready.
    """
    changed = replace(scope.options, **options)  # type: ignore[arg-type]  # fields by name
    kept = Kept(replace(scope, options=changed))
    try:
        until(lambda: bool(kept.reports), "a report")
    finally:
        kept.stop()
    status = kept.reports[0]
    assert (status.ready, status.degraded) == (True, True)
    assert why in status.why
