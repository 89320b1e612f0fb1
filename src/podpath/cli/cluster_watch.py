"""`podpath watch` of a cluster: drops of the pods that are named, from the agents of their nodes or
from pods that live for it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podpath.library.progress import Progress
from podpath.net.errors import MissingExtra, PodpathError, UsageError
from podpath.report.escape import escape
from podpath.report.style import Style

if TYPE_CHECKING:
    from podpath.kube.client import Client
    from podpath.sources.agents import AgentAccess
    from podpath.sources.collector import CollectorOptions
    from podpath.sources.drops import DropRequest, NodeEnd, NodeLine, WatchedNodes
    from podpath.sources.objects import ApiObjects

_EXTRA = "watching a cluster needs more packages: pip install 'podpath[k8s]'"
LOOK_SECONDS = 0.3
PATIENCE_SECONDS = 60.0
"""How long a node that says nothing may keep the time from beginning: agents from before they said
that they listen never do.
"""
COLLECT_SECONDS = 600
"""How long a pod watches that lives for it, where nobody says for how long."""
START_SECONDS = 60
"""How long such a pod may take to begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """What the options say of the cluster."""

    live: bool
    kubeconfig: str | None
    context: str | None
    account: str
    collect: bool
    image: str | None

    @property
    def asked_for(self) -> bool:
        """Tell whether anything was given that makes no sense without a cluster."""
        return self.live or self.collect or any((self.kubeconfig, self.context, self.image))


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPrinter:
    """How what comes is printed."""

    as_json: bool
    style: Style

    def line(self, news: NodeLine) -> None:
        """Print a line with its node."""
        if self.as_json:
            click.echo(json.dumps({"node": news.node, **news.document}, ensure_ascii=False))
            return
        from podpath.report.drop_document import render_document

        moment = news.document.get("time")
        now = float(moment) if isinstance(moment, int | float) else time.time()
        clock = f"{time.strftime('%H:%M:%S', time.localtime(now))}.{int(now % 1 * 1000):03}"
        text = render_document(news.document, news.node, self.style, clock)
        click.echo(text, nl=False)

    def end(self, news: NodeEnd) -> None:
        """Say why a node is watched no more."""
        click.echo(escape(f"{news.node}: {news.why}" if not news.failed else news.why), err=True)


def watch_cluster(
    ends: Sequence[str],
    options: ClusterOptions,
    seconds: float | None,
    printer: DropPrinter,
    until: Callable[[], bool],
    progress: Progress,
) -> None:
    """Watch until it is time to stop, or no node is watched any more; `PodpathError` where none
    ever was.
    """
    try:
        from podpath.kube import access  # needs an extra
        from podpath.kube.client import Client  # as above
        from podpath.sources.objects import read_objects  # as above
    except ImportError as error:
        raise MissingExtra(_EXTRA) from error
    if options.collect and not options.image:
        raise UsageError("--collect: expected --image IMAGE too, with podpath in it")
    kubeconfig = None if options.kubeconfig is None else Path(options.kubeconfig)
    found = access.find(kubeconfig, context=options.context)
    with Client(found) as client:
        objects = read_objects(client, told=progress)
        for sentence in objects.missing:
            click.echo(f"not read: {escape(sentence)}", err=True)
        watched, request = _plan(objects, (ends, found.namespace), options, seconds)
        click.echo(escape(f"watching {', '.join(watched.nodes)}"), err=True)
        timer = WatchTimer(watched.nodes, seconds, time.monotonic)
        _print_all(client, watched, request, printer, lambda: until() or timer.is_over(), timer)


class WatchTimer:
    """The time of a watch, which begins once every node is heard that did not fail."""

    def __init__(
        self, nodes: Sequence[str], seconds: float | None, clock: Callable[[], float]
    ) -> None:
        """Wait for nodes; without seconds there is no end."""
        self._silent = dict.fromkeys(nodes)
        self._seconds, self._clock = seconds, clock
        self._patient = clock() + PATIENCE_SECONDS
        self._end: float | None = None

    def note(self, node: str) -> None:
        """Note that a node is heard, or will not be."""
        if not self._silent:
            return
        self._silent.pop(node, None)
        if not self._silent:
            self._begin("every node is heard now")

    def _begin(self, why: str) -> None:
        if self._seconds is not None:
            self._end = self._clock() + self._seconds
            click.echo(escape(f"{why}: {self._seconds:g} s from here"), err=True)

    def is_over(self) -> bool:
        """Tell whether the time is over; it begins without those who keep it waiting for long."""
        if self._silent and self._clock() >= self._patient:
            names = ", ".join(self._silent)
            self._silent.clear()
            self._begin(f"not heard for {PATIENCE_SECONDS:.0f} s: {names}")
        return self._end is not None and self._clock() >= self._end


def _print_all(
    client: Client,
    watched: WatchedNodes,
    request: DropRequest,
    printer: DropPrinter,
    until: Callable[[], bool],
    timer: WatchTimer,
) -> None:
    from podpath.sources.drops import DropStreams, NodeLine  # needs an extra

    failed: list[str] = []
    running = len(watched.nodes)
    with DropStreams(client, watched, request) as streams:
        while running and not until():
            for news in streams.read(LOOK_SECONDS):
                if isinstance(news, NodeLine):
                    printer.line(news)
                    timer.note(news.node)
                    continue
                running -= 1
                if news.failed:
                    failed.append(news.why)
                else:
                    printer.end(news)
                timer.note(news.node)
    if len(failed) == len(watched.nodes):
        raise PodpathError("\n".join(failed))
    for why in failed:
        click.echo(escape(why), err=True)


class _Wanted:
    """What the ends stand for. Local to this module."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.pods: list[str] = []
        self.addresses: list[str] = []

    def add(self, objects: ApiObjects, end: str, namespace: str) -> None:
        """Add a node, or a pod with the node that it is on; `namespace` is where a name is looked
        for first that has none.
        """
        from podpath.sources.location import find_nodes, find_pod  # needs an extra

        if end.partition("/")[0] in {"node", "nodes", "no"}:
            self.nodes += find_nodes(objects, end)
            return
        pod = find_pod(objects, end, (namespace,))
        if pod is None:
            raise UsageError(
                f"expected pod/NAMESPACE/NAME or node/NAME of this cluster, saw {end!r}: `kubectl "
                "get pods -A -o wide` lists them"
            )
        if not pod.addresses:
            raise UsageError(
                f"{pod.name} has no address of its own (it is on its node's network, or has none "
                f"yet): watch node/{pod.node or 'NAME'}"
            )
        self.nodes.append(pod.node)
        self.pods.append(pod.name)
        self.addresses += pod.addresses


def _plan(
    objects: ApiObjects,
    asked: tuple[Sequence[str], str],
    options: ClusterOptions,
    seconds: float | None,
) -> tuple[WatchedNodes, DropRequest]:
    """Say which nodes are watched, and for which pods: those of ends, and of the namespace that
    bare names are looked for in first.
    """
    from podpath.sources.agents import find_agents  # needs an extra
    from podpath.sources.drops import (  # as above
        MOST_NODES,  # as above
        DropRequest,
        WatchedNodes,
    )
    from podpath.sources.location import list_nodes  # as above

    ends, namespace = asked
    agents, wanted = find_agents(objects), _Wanted()
    for end in ends:
        wanted.add(objects, end, namespace)
    if not ends:
        wanted.nodes += [name for name in list_nodes(objects) if options.collect or name in agents]
    nodes = tuple(dict.fromkeys(wanted.nodes))
    if not nodes:
        raise PodpathError("no agent serves drops in this cluster: deploy/drops has one that does")
    if len(nodes) > MOST_NODES:
        raise UsageError(f"{len(nodes)} nodes: name at most {MOST_NODES}, or a pod")
    watched = WatchedNodes(
        nodes=nodes,
        agents=agents,
        asker=_make_asker(options),
        collector=_make_collector(options, seconds),
    )
    request = DropRequest(pods=frozenset(wanted.pods), addresses=frozenset(wanted.addresses))
    return watched, request


def _make_asker(options: ClusterOptions) -> AgentAccess:
    from podpath.kube.grants import ServiceAccountName  # needs an extra
    from podpath.sources.agents import AgentAccess  # as above

    namespace, sign, name = options.account.partition("/")
    if not (namespace and sign and name):
        raise UsageError(f"--account: expected NAMESPACE/NAME, saw {options.account!r}")
    return AgentAccess(account=ServiceAccountName(namespace, name))


def _make_collector(options: ClusterOptions, seconds: float | None) -> CollectorOptions | None:
    from podpath.sources.collector import CollectorOptions  # needs an extra

    if not (options.collect and options.image):
        return None
    deadline = START_SECONDS + int(seconds or COLLECT_SECONDS)
    return CollectorOptions(image=options.image, deadline=deadline)
