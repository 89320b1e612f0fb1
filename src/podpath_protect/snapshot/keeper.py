"""The snapshot endpoint as a part of the agent: it serves, counts, and makes no node unready.

Where it cannot listen, or has no certificate, that is told and tried again; nothing else of the
agent waits for it.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from podpath.kube.access import Access
from podpath.kube.client import Client
from podpath.kube.snapshots import right_to_watch
from podpath_protect.agent.keeper import (
    REPORT_SECONDS,
    Body,
    KeeperContext,
    KeeperStatus,
    Sample,
    keep_serving,
)
from podpath_protect.drops.feed import DropBoard
from podpath_protect.reflect.options import resolve
from podpath_protect.serving import Certificate
from podpath_protect.snapshot.gate import ENTRIES, Gate
from podpath_protect.snapshot.options import SnapshotOptions
from podpath_protect.snapshot.server import DropBackend, SnapshotBackend, SnapshotServer
from podpath_protect.snapshot.taking import SnapshotStore, TakingLimits, command, take
from podpath_protect.validate.sockets import SocketEnd

_log = logging.getLogger("podpath.protect.snapshot")

OUTCOMES = (*ENTRIES, "failed")
WATCH_OUTCOMES = (*ENTRIES, "mistaken")
UNKNOWN = (
    "the address to listen at is not known: give POD_IPS or POD_IP (downward API), or `listen` in "
    "[snapshot]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotScope:
    """Which node, and whom to ask about those who ask."""

    node: str
    options: SnapshotOptions
    access: Access
    environment: Mapping[str, str]
    drops: DropBoard | None = None
    """Where the part that hears drops says which feed there is."""


def make_body(scope: SnapshotScope) -> Body:
    """Make what the agent runs as its part `snapshot`."""
    return lambda backend: _keep(backend, scope)


def _keep(context: KeeperContext, scope: SnapshotScope) -> None:
    options = scope.options
    ends = resolve(options.listen, scope.environment)
    limits = TakingLimits(
        seconds=options.limit, most_bytes=options.megabytes << 20, memory=options.memory << 20
    )
    store = SnapshotStore(partial(take, command(options.node_netns), limits), options.cache)
    with Client(scope.access) as client:
        backend = SnapshotBackend(
            node=scope.node,
            gate=Gate(client, scope.node),
            store=store,
            counts=Counter(),
            drops=_make_drop_backend(client, scope),
        )
        keep_serving(
            context,
            partial(_serve, context, options, ends, backend),
            _complain,
            _samples(backend, listening=False),
        )


def _complain(why: str) -> None:
    _log.warning("snapshots cannot be served", extra={"fields": {"why": why}})


def _make_drop_backend(client: Client, scope: SnapshotScope) -> DropBackend | None:
    if scope.drops is None:
        return None
    gate = Gate(client, scope.node, right=right_to_watch)
    return DropBackend(gate=gate, board=scope.drops, counts=Counter())


def _serve(
    context: KeeperContext,
    options: SnapshotOptions,
    ends: tuple[SocketEnd, ...],
    backend: SnapshotBackend,
) -> str:
    """Serve snapshots until the part shall stop, or say why that cannot begin."""
    if not ends:
        return UNKNOWN
    try:
        certificate = Certificate(options.certificate, options.key)
        server = SnapshotServer(ends, backend, certificate)
    except OSError as error:
        places = ", ".join(map(str, ends))
        return f"cannot serve at {places} with {options.certificate}: {error}"
    _log.info("snapshots are served", extra={"fields": {"ports": list(server.ports)}})
    try:
        while not context.stopping:
            backend.store.forget()
            context.report(KeeperStatus(ready=True, samples=_samples(backend, listening=True)))
            context.wait(REPORT_SECONDS)
    finally:
        server.close()
    return ""


def _samples(backend: SnapshotBackend, *, listening: bool) -> tuple[Sample, ...]:
    requests = (
        Sample(
            "snapshot_requests",
            backend.counts[outcome],
            (("outcome", outcome),),
            "counter",
            "Requests for a snapshot, by what became of them.",
        )
        for outcome in OUTCOMES
    )
    return (
        *requests,
        *_watch_samples(backend.drops),
        Sample(
            "snapshot_taken", backend.store.taken, kind="counter", help="Snapshots that were taken."
        ),
        Sample("snapshot_listening", int(listening), help="Whether snapshots can be asked for."),
    )


def _watch_samples(backend: DropBackend | None) -> Iterator[Sample]:
    for outcome in WATCH_OUTCOMES if backend is not None else ():
        yield Sample(
            "drops_requests",
            0 if backend is None else backend.counts[outcome],
            (("outcome", outcome),),
            "counter",
            "Requests to watch drops, by what became of them.",
        )
