"""The watch of this node's own drops: from the tracepoint to what is printed, as text or JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from pathlib import Path
from typing import NamedTuple

import click

from podpath.cli.progress_line import ProgressLine
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


class NodeWatch(NamedTuple):
    """What is asked of a watch of this node."""

    choice: DropChoice
    pods: frozenset[str]
    every: float
    """Seconds between two tables of rates."""
    way: str
    """How drops are received, as `--by` takes it."""
    node_netns: str | None
    """The node's own namespace, where that is not the one of process 1."""
    save: Path | None
    """The folder for what podpath and the kernel disagree about; None where nothing is kept."""


def watch_node(
    asked: NodeWatch, style: Style | None, stopping: AbstractContextManager[Callable[[], bool]]
) -> None:
    """Print this node's drops and their rates until it is time to stop, and a summary: as text of
    that style, as JSON where there is none. What disagrees is kept, where that is asked for.

    The time of `stopping` begins once drops are heard. `NetnsError`, `OSError` where they cannot
    be.
    """
    with ExitStack() as stack:
        source = stack.enter_context(closing(open_source(asked.way, int(BUDGET * asked.every))))
        if source.lacks:
            click.echo(f"watching without {source.lacks}", err=True)
        explainer = _explain_by(asked.node_netns, stack)
        _say_lacking(explainer, sorted(asked.pods))
        until = stack.enter_context(stopping)
        seen = DropWatch(source, explainer, asked.choice, time.monotonic, asked.pods)
        printer = _Json(seen) if style is None else _Text(seen, style)
        printer.begin()
        began = time.monotonic()
        losses = DropLosses(0, 0, 0, 0)
        for told in seen.run(asked.every, until):
            if isinstance(told, ToldTurn):
                losses = told.losses
                printer.turn(told)
                continue
            printer.drop(told)
            if asked.save is not None and disagrees(told):
                _keep_or_say(asked.save, told, seen.name_all(told.drop.key), asked.node_netns)
        printer.end(time.monotonic() - began, losses)


def choose_drops(
    addresses: Sequence[str], ports: Sequence[int], reasons: Sequence[str], *, everything: bool
) -> DropChoice:
    """Return which drops are told of; a reason may stand with the kernel's prefix. `UsageError`
    where an address is none.
    """
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


def _parse_prefix(text: str) -> Prefix:
    try:
        return Prefix.parse(text)
    except ValueError as error:
        raise UsageError(f"expected an address or a prefix, saw {text!r}: {error}") from error


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
            told.drop.key,
            told.function,
            told.explanation,
            self._style,
            clock=_clock(_wall(told)),
            notes=_note(told, self._watch.name_all(told.drop.key)),
        )
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


def _keep_or_say(folder: Path, told: ToldDrop, names: DropNames, node: str | None) -> None:
    """Keep a drop, and say where, or why not: the watch goes on."""
    try:
        said = f"kept in {keep(folder, told, names, node)}"
    except OSError as error:
        said = f"not kept: {error.filename or folder}: {str(error.strerror).lower()}"
    click.echo(escape(said), err=True)


def keep(folder: Path, told: ToldDrop, names: DropNames, node: str | None) -> Path:
    """Keep a drop that podpath and the kernel disagree about: the node as it is now, and the
    packet, as the agreement suite takes them.
    """
    kept = folder / f"{int(_wall(told) * 1000)}-{told.drop.key.reason}"
    kept.mkdir(parents=True)
    collect_bundle(kept / "bundle", find_namespaces(node=node), now=time.time())
    (kept / "drop.json").write_text(_json_line(told, names), encoding="utf-8")
    return kept
