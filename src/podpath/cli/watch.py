"""`podpath watch`: the packets that this node's kernel drops, as it drops them."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import click
from click.core import ParameterSource

from podpath.cli.cluster_watch import ClusterOptions, DropPrinter, watch_cluster
from podpath.cli.progress_line import ProgressLine
from podpath.cli.terminal import choose_style
from podpath.collect.beside import BesideWorker
from podpath.collect.changes import ChangeListener
from podpath.collect.drop_program import DropLosses
from podpath.collect.drop_sources import open_source
from podpath.collect.namespaces import find_namespaces, find_own
from podpath.collect.netns import NetnsError
from podpath.collect.snapshot import collect_bundle
from podpath.diagnosis.freed import DropAgreement
from podpath.drops.choice import DropChoice
from podpath.drops.events import DropNames, DropNotes
from podpath.drops.tally import FlowCount
from podpath.library.progress import Progress
from podpath.library.watch import (
    DropExplainer,
    DropWatch,
    PartReaders,
    ToldDrop,
    ToldTurn,
    locate_namespaces,
)
from podpath.library.watched_node import WatchedNode, read_node, read_node_apart, reread_apart
from podpath.net.addresses import Prefix
from podpath.net.errors import UsageError
from podpath.report.drop_json import render_counts_line, render_drop_line, render_listening_line
from podpath.report.drop_text import (
    SUMMARY_ROWS,
    render_drop,
    render_losses,
    render_rates,
    spell_ends,
    spell_flow,
    spell_place,
)
from podpath.report.escape import escape
from podpath.report.style import Style

BUDGET = 100
"""Packets that are sent up in each second at most; beyond, drops are counted by flow alone."""
RATES_SHOWN = 5
TURN = 2.0


@click.command()
@click.argument("ends", nargs=-1, metavar="[POD|NODE]...")
@click.option(
    "--pod",
    "pods",
    multiple=True,
    metavar="NAME",
    help="Drops of this pod (NAME or NAMESPACE/NAME), or in the namespace host; may be repeated.",
)
@click.option(
    "--address",
    "addresses",
    multiple=True,
    metavar="PREFIX",
    help="From or to an address in this prefix; may be repeated.",
)
@click.option(
    "--port",
    "ports",
    multiple=True,
    type=click.IntRange(1, 65535),
    help="From or to this port; may be repeated.",
)
@click.option(
    "--reason",
    "reasons",
    multiple=True,
    metavar="NAME",
    help="With this drop reason of the kernel, e.g. NETFILTER_DROP; may be repeated.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help=(
        "Include a node's normal drops: closed connections, unwanted multicast, other namespaces."
    ),
)
@click.option(
    "--for",
    "seconds",
    type=click.FloatRange(min=0.0),
    metavar="SECONDS",
    help=(
        "Stop after this many seconds, counted from when drops are heard on every node that is "
        "watched; otherwise on Ctrl-C."
    ),
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.2),
    default=TURN,
    show_default=True,
    metavar="SECONDS",
    help="How often to print rates.",
)
@click.option(
    "--by",
    "way",
    type=click.Choice(("auto", "bpf", "tracefs")),
    default="auto",
    show_default=True,
    help="How to receive drops; tracefs does not show packets.",
)
@click.option(
    "--node-netns",
    metavar="NETNS",
    help=("The node's own namespace, if it is not that of process 1: a name, a process or a file."),
)
@click.option(
    "--save",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Keep what podpath and the kernel disagree about: a bundle and the packet.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Watch the nodes of the cluster that kubectl speaks to, through their agents.",
)
@click.option("--kubeconfig", metavar="FILE", help="The kubeconfig of the cluster. [$KUBECONFIG]")
@click.option("--context", metavar="NAME", help="The kubeconfig's context. [the current one]")
@click.option(
    "--account",
    default="podpath/podpath-reader",
    show_default=True,
    metavar="NS/NAME",
    help="The service account that identifies you to the agents.",
)
@click.option(
    "--collect",
    is_flag=True,
    help="If no agent serves a node, run a privileged pod on it while it is watched.",
)
@click.option("--image", metavar="IMAGE", help="The image of that pod; it must contain podpath.")
@click.option(
    "--until-eof",
    is_flag=True,
    help="Stop when standard input ends, for programs that start this and may be killed.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print a line of JSON for each drop and for the rates."
)
@click.option(
    "--color",
    type=click.Choice(("auto", "always", "never")),
    default="auto",
    show_default=True,
    help="Color the output.",
)
def watch(  # noqa: PLR0913 - click gives each option as one argument
    ends: tuple[str, ...],
    pods: tuple[str, ...],
    addresses: tuple[str, ...],
    ports: tuple[int, ...],
    reasons: tuple[str, ...],
    *,
    everything: bool,
    seconds: float | None,
    every: float,
    way: str,
    node_netns: str | None,
    save: Path | None,
    until_eof: bool,
    as_json: bool,
    color: str,
    **cluster: Any,  # noqa: ANN401  # the options of ClusterOptions
) -> None:
    """Watch kernels drop packets, and name the rule, route, sysctl or device that did it: this
    node's, or with POD (pod/shop/web-0) or NODE (node/node1) those of a cluster.

    Each flow is told of once, with the kernel's reason and function, and the line of the node's own
    state that decides it; then its rate. What is the daily life of a node (packets of closed
    connections, multicast that nobody wants) is counted and left out: --all shows it.

    On this node it needs root, attaches a BPF program to the kernel's tracepoint skb:kfree_skb
    until it ends, and changes nothing. In a cluster the nodes' agents do that ([drops] in their
    configuration), and stream what concerns the pod to whoever may have it; kubectl podpath watch
    without POD watches every node with an agent. Another thing is `podpath protect`, which keeps
    settings as they should be.

    \b
    Examples:
      sudo podpath watch
      sudo podpath watch --pod web-0 --for 30
      sudo podpath watch --address 10.244.0.0/16 --port 53 --json
      sudo podpath watch --reason NETFILTER_DROP --save disagreements/
      kubectl podpath watch pod/shop/web-0
      podpath watch shop/web-0 node/node2 --for 60

    \b
    Exit codes: 0 watched to the end, 2 usage error or not allowed.
    """  # noqa: D301  # click wants the backspace itself
    style = choose_style(color, verbose=False)
    options = ClusterOptions(**cluster)
    if ends or options.asked_for or is_plugin():
        _refuse_local(click.get_current_context())
        with stopping(None) as until:  # its time begins once every node is heard
            lines = DropPrinter(as_json=as_json, style=style)
            watch_cluster(ends, options, seconds, lines, until, ProgressLine())
        return
    choice = _choose_drops(addresses, ports, reasons, everything=everything)
    with ExitStack() as stack:
        source = stack.enter_context(closing(open_source(way, int(BUDGET * every))))
        if source.lacks:
            click.echo(f"watching without {source.lacks}", err=True)
        explainer = _explain_by(node_netns, stack)
        _say_lacking(explainer, pods)
        until = stack.enter_context(stopping(seconds, until_eof=until_eof))
        seen = DropWatch(source, explainer, choice, time.monotonic, frozenset(pods))
        printer = _Json(seen) if as_json else _Text(seen, style)
        printer.begin()
        began = time.monotonic()
        losses = DropLosses(0, 0, 0, 0)
        for told in seen.run(every, until):
            if isinstance(told, ToldTurn):
                losses = told.losses
                printer.turn(told)
                continue
            printer.drop(told)
            if save is not None and disagrees(told):
                kept = keep(save, told, seen.name_all(told.drop.key), node_netns)
                click.echo(f"kept in {kept}", err=True)
        printer.end(time.monotonic() - began, losses)


def _choose_drops(
    addresses: Sequence[str], ports: Sequence[int], reasons: Sequence[str], *, everything: bool
) -> DropChoice:
    """Return which drops are told of; a reason may stand with the kernel's prefix."""
    prefixes = tuple(_parse_prefix(text) for text in addresses)
    names = frozenset(name.upper().removeprefix("SKB_DROP_REASON_") for name in reasons)
    return DropChoice(prefixes, frozenset(ports), names, everything)


def _explain_by(node_netns: str | None, stack: ExitStack) -> DropExplainer:
    """Return what explains drops by this node's state, which it reads again as it changes."""
    first: list[Progress] = [ProgressLine()]
    changes: ChangeListener | None = None
    with suppress(NetnsError, OSError):  # where nothing is announced, drops that do not fit tell
        changes = stack.enter_context(closing(ChangeListener(find_own(node_netns))))

    def reread() -> WatchedNode:
        if first:
            return read_node(first.pop(), node=node_netns)
        return read_node_apart(node_netns)  # beside the telling, and without a line

    return DropExplainer(
        time.monotonic,
        BesideWorker(),
        reread,
        lambda: locate_namespaces(node_netns),
        parts=PartReaders(reread_apart, changes),
    )


def _say_lacking(explainer: DropExplainer, pods: Sequence[str]) -> None:
    """Say which of the pods that are asked for are not on this node."""
    lacking = sorted(set(pods) - {*explainer.list_names(), *explainer.list_pods().values()})
    if lacking:
        there = ", ".join(explainer.list_names())
        why = f"not on this node yet: {', '.join(lacking)}; there are {there}"
        click.echo(escape(why), err=True)


def is_plugin() -> bool:
    """Tell whether kubectl runs us: then a cluster is watched, not this machine."""
    return click.get_current_context().find_root().info_name == "kubectl podpath"


LOCAL = ("pods", "addresses", "ports", "reasons", "everything", "way", "node_netns", "save")
"""Options of a node's own watch: an agent has its own, and filters by pods alone."""


def _refuse_local(context: click.Context) -> None:
    """Refuse options that a cluster's watch does not have."""
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if parameter.name in LOCAL and given is ParameterSource.COMMANDLINE:
            raise UsageError(f"{parameter.opts[0]}: only for watching this node, not a cluster")


def _parse_prefix(text: str) -> Prefix:
    try:
        return Prefix.parse(text)
    except ValueError as error:
        raise UsageError(f"expected an address or a prefix, saw {text!r}: {error}") from error


@contextmanager
def stopping(seconds: float | None, *, until_eof: bool = False) -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether it is time to stop: after so many seconds, once SIGINT or
    SIGTERM came, or where that is asked for once standard input ended. A second signal ends at
    once.
    """
    stopped: list[int] = []
    end = None if seconds is None else time.monotonic() + seconds

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # signal's signature
        if stopped:
            raise KeyboardInterrupt
        stopped.append(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield (
            lambda: (
                bool(stopped)
                or (end is not None and time.monotonic() >= end)
                or (until_eof and has_ended(sys.stdin.fileno()))
            )
        )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def has_ended(descriptor: int) -> bool:
    """Tell whether nothing more can come from a descriptor; what comes meanwhile is for nobody."""
    while select.select([descriptor], [], [], 0)[0]:
        if not os.read(descriptor, 4096):
            return True
    return False


def _wall(told: ToldDrop) -> float:
    """Return the clock's time of a drop."""
    return time.time() - time.monotonic() + told.drop.time / 1e9


def _clock(moment: float) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(moment))}.{int(moment % 1 * 1000):03}"


def _json_line(told: ToldDrop, names: DropNames) -> str:
    return render_drop_line(told.drop, told.function, told.explanation, _note(told, names))


def _note(told: ToldDrop, names: DropNames) -> DropNotes:
    return DropNotes(names=names, time=_wall(told), seconds=told.seconds, age=told.age)


class _Text:
    """Drops as text for people."""

    def __init__(self, seen: DropWatch, style: Style) -> None:
        self._watch, self._style = seen, style

    def begin(self) -> None:
        """Print nothing: people see when the node was read."""

    def drop(self, told: ToldDrop) -> None:
        """Print a drop."""
        text = render_drop(
            told.drop.key, told.function, told.explanation, self._style,
            clock=_clock(_wall(told)), notes=_note(told, self._watch.name_all(told.drop.key)),
        )  # fmt: skip
        click.echo(text, nl=False)

    def turn(self, told: ToldTurn) -> None:
        """Print the rates of the flows that lost most."""
        flows = told.turn.flows
        names = [self._watch.name_all(one.key) for one in flows[:RATES_SHOWN]]
        clock = _clock(time.time())
        text = render_rates(flows, names, told.seconds, self._style, clock)
        click.echo(text, nl=False)

    def end(self, seconds: float, losses: DropLosses) -> None:
        """Print the summary."""
        tally = self._watch.tally
        flows = tally.list_flows()
        click.echo(f"\n{tally.total} packets dropped in {len(flows)} flows in {seconds:.0f} s")
        for one in flows[:SUMMARY_ROWS]:
            told = self._watch.recall(one.key)
            line = next(iter(told.explanation.spans), None) if told is not None else None
            where = f": {escape(str(line))}" if line is not None else ""
            names = self._watch.name_all(one.key)
            click.echo(
                f"{one.packets:8} {escape(one.key.reason)} "
                f"{escape(spell_flow(one.key))}{spell_ends(names)}{spell_place(names)}{where}"
            )
        if tally.daily:
            click.echo(f"{tally.daily} left out as normal or by filters (--all shows the former)")
        lost = render_losses(losses.missed, losses.uncounted, losses.unsent)
        if lost:
            click.echo(f"not told in full: {lost}")


class _Json:
    """Drops as lines of JSON."""

    def __init__(self, seen: DropWatch) -> None:
        self._watch = seen

    def begin(self) -> None:
        """Print that drops are heard now, which whoever started this may wait for."""
        click.echo(render_listening_line(time.time()), nl=False)

    def drop(self, told: ToldDrop) -> None:
        """Print a drop."""
        click.echo(_json_line(told, self._watch.name_all(told.drop.key)), nl=False)

    def turn(self, told: ToldTurn) -> None:
        """Print the rates of a turn; none where nothing was dropped."""
        if told.turn.flows:
            self._counts("flows", told.turn.flows, told.seconds, told.turn.daily, told.losses)

    def end(self, seconds: float, losses: DropLosses) -> None:
        """Print the summary."""
        tally = self._watch.tally
        self._counts("summary", tally.list_flows(), seconds, tally.daily, losses)

    def _counts(
        self,
        kind: str,
        flows: Sequence[FlowCount],
        seconds: float,
        left_out: int,
        losses: DropLosses,
    ) -> None:
        named = [self._watch.count(one) for one in flows]
        line = render_counts_line(
            kind, named, seconds=seconds, left_out=left_out, losses=losses._asdict()
        )
        click.echo(line, nl=False)


def disagrees(told: ToldDrop) -> bool:
    """Tell whether podpath and the kernel disagree for certain: the node was read after the
    drop.
    """
    return told.explanation.agreement is DropAgreement.DISAGREES and not told.age


def keep(folder: Path, told: ToldDrop, names: DropNames, node: str | None) -> Path:
    """Keep a drop that podpath and the kernel disagree about: the node as it is now, and the
    packet, as the agreement suite takes them.
    """
    kept = folder / f"{int(_wall(told) * 1000)}-{told.drop.key.reason}"
    kept.mkdir(parents=True)
    collect_bundle(kept / "bundle", find_namespaces(node=node), now=time.time())
    (kept / "drop.json").write_text(_json_line(told, names), encoding="utf-8")
    return kept
