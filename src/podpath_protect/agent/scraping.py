"""`GET /metrics` over TLS, for whoever may `get` `nodes/metrics` of `podpath.dev` on this node.

For clusters in which loopback does not do: the health endpoints ask nobody who he is, so what they
serve is for all who reach them. Where it cannot listen that is told and tried again; it makes no
node unready.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler

from podpath.kube.access import Access
from podpath.kube.client import Client
from podpath.kube.grants import ResourceRight
from podpath_protect.agent.config import MetricsOptions
from podpath_protect.agent.keeper import (
    REPORT_SECONDS,
    Body,
    KeeperContext,
    KeeperStatus,
    Sample,
    keep_serving,
)
from podpath_protect.agent.metrics import CONTENT_TYPE
from podpath_protect.reflect.options import resolve
from podpath_protect.serving import DAWDLE_SECONDS, Certificate, SecureServer, ServerGroup
from podpath_protect.snapshot.gate import ENTRIES, Gate
from podpath_protect.snapshot.server import REFUSALS
from podpath_protect.validate.sockets import SocketEnd

_log = logging.getLogger("podpath.protect.metrics")

PATH = "/metrics"
MOST_CONNECTIONS = 8
UNKNOWN = (
    "the address to listen at is not known: give POD_IPS or POD_IP (downward API), or `listen` in "
    "[metrics]"
)


def right_to_scrape(node: str) -> ResourceRight:
    """Return the right that a node's metrics need; the group is our own, as for snapshots."""
    return ResourceRight(
        verb="get", group="podpath.dev", resource="nodes", subresource="metrics", name=node
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrapeScope:
    """Which node, whom to ask about those who ask, and what they get."""

    node: str
    options: MetricsOptions
    access: Access
    environment: Mapping[str, str]
    render: Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrapeBackend:
    """What requests are served from."""

    gate: Gate
    render: Callable[[], str]
    counts: Counter[str] = field(default_factory=Counter)
    """Requests, by what became of them."""


class _ScrapeListener(SecureServer):
    """The server of one address."""

    def __init__(self, end: SocketEnd, backend: ScrapeBackend, certificate: Certificate) -> None:
        self.backend = backend
        super().__init__(end, _ScrapeRequest, certificate, most=MOST_CONNECTIONS)


class _ScrapeRequest(BaseHTTPRequestHandler):
    """Answers GET of one path."""

    server: _ScrapeListener
    timeout = DAWDLE_SECONDS
    protocol_version = "HTTP/1.0"
    server_version, sys_version = "podpath", ""

    def do_GET(self) -> None:
        """Answer."""
        backend = self.server.backend
        if self.path.partition("?")[0] != PATH:
            self._reply(HTTPStatus.NOT_FOUND, f"expected {PATH}\n", "text/plain")
            return
        scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
        admission = backend.gate.admit(token.strip() if scheme.lower() == "bearer" else "")
        backend.counts[admission.entry] += 1
        if admission.entry == "allowed":
            self._reply(HTTPStatus.OK, backend.render(), CONTENT_TYPE)
        else:
            self._reply(REFUSALS[admission.entry], f"{admission.why}\n", "text/plain")

    def _reply(self, status: HTTPStatus, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's signature
        """Log no request: counters tell, and what strangers write stands in no log."""


class ScrapeServer(ServerGroup):
    """The endpoint at every address that it has."""

    def __init__(
        self, ends: tuple[SocketEnd, ...], backend: ScrapeBackend, certificate: Certificate
    ) -> None:
        """Bind; `OSError` where an address is taken or not ours."""
        super().__init__(ends, lambda end: _ScrapeListener(end, backend, certificate), "metrics")


def make_body(scope: ScrapeScope) -> Body:
    """Make what the agent runs as its part `metrics`."""
    return lambda context: _keep(context, scope)


def _keep(context: KeeperContext, scope: ScrapeScope) -> None:
    options = scope.options
    ends = resolve(options.listen, scope.environment)
    with Client(scope.access) as client:
        gate = Gate(
            client, scope.node, right=right_to_scrape, audience=options.audience, part="metrics"
        )
        backend = ScrapeBackend(gate=gate, render=scope.render)
        keep_serving(
            context,
            partial(_serve, context, options, ends, backend),
            _complain,
            _samples(backend, 0),
        )


def _complain(why: str) -> None:
    _log.warning("metrics cannot be served", extra={"fields": {"why": why}})


def _serve(
    context: KeeperContext,
    options: MetricsOptions,
    ends: tuple[SocketEnd, ...],
    backend: ScrapeBackend,
) -> str:
    """Serve the metrics until the part shall stop, or say why that cannot begin."""
    if not ends:
        return UNKNOWN
    try:
        certificate = Certificate(options.certificate, options.key)
        server = ScrapeServer(ends, backend, certificate)
    except OSError as error:
        places = ", ".join(map(str, ends))
        return f"cannot serve at {places} with {options.certificate}: {error}"
    _log.info("metrics are served", extra={"fields": {"ports": list(server.ports)}})
    try:
        while not context.stopping:
            context.report(KeeperStatus(ready=True, samples=_samples(backend, 1)))
            context.wait(REPORT_SECONDS)
    finally:
        server.close()
    return ""


def _samples(backend: ScrapeBackend, listening: int) -> tuple[Sample, ...]:
    requests = (
        Sample(
            "metrics_requests",
            backend.counts[entry],
            (("outcome", entry),),
            "counter",
            "Requests for metrics over TLS, by what became of them.",
        )
        for entry in ENTRIES
    )
    asked = Sample("metrics_listening", listening, help="Whether metrics can be had over TLS.")
    return (*requests, asked)
