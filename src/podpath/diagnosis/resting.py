"""What a cause rests on that nothing states: such a cause is possible, and never certain.

A walk tells of each step how what decided it is known (`Step.rests_on`). Not every guess on the way
bears on the cause: that a packet of the pod in question reaches the host is what the question says,
and that a router out there answers decides nothing that happens before it. What bears is what
decided itself, what decided in a namespace of which nothing is shown, and the host's own way to the
place where it was decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from podpath.checks.cause import Cause
from podpath.datapath.tracing.trace import (
    Assumption,
    Branch,
    Conversation,
    Dropped,
    Rejected,
    Step,
    Trace,
    Transmitted,
)
from podpath.datapath.vocabulary import StageName
from podpath.diagnosis.connections import ConnectionFrame
from podpath.diagnosis.untranslated import list_translations_left_out
from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath.net.provenance import Basis, Inferred, Known
from podpath.node.links import Link
from podpath.node.netfilter import InterfaceMatch
from podpath.node.node import HOST, Netns, Node

ROUTING = frozenset({StageName.ROUTE_INPUT, StageName.ROUTE_OUTPUT, StageName.REROUTE})
"""Stages in which a route of the namespace decides where a packet goes."""


class PlacedGuess(NamedTuple):
    """A guess, and what a captured frame would have to show for it to be seen to hold."""

    origin: Inferred
    link: str | None = None
    """The host's device that packets of the connection would be seen on."""
    original: bool = True
    """The direction of those packets."""
    addresses: frozenset[Address] = frozenset()
    """One of these would be an end of them, wherever they were captured."""

    def is_seen(self, frames: Iterable[ConnectionFrame]) -> bool:
        """Tell whether some frame shows it."""
        return any(self._is_shown_by(frame) for frame in frames)

    def _is_shown_by(self, frame: ConnectionFrame) -> bool:
        if self.link is not None:
            at = frame.place.link == self.link and frame.place.netns in {None, HOST}
            return at and frame.original == self.original
        ends = {frame.packet.src, frame.packet.dst}
        return frame.place.link is not None and bool(ends & self.addresses)


def find_guesses(node: Node, probe: Probe, cause: Cause) -> tuple[Inferred, ...]:
    """Return the guesses that a cause rests on, in the order in which its packets met them; empty
    where all of it is stated.
    """
    placed = (guess.origin for guess in _list_placed(node, probe, cause))
    return tuple(dict.fromkeys((*_list_left_out(cause), *placed)))


def is_seen_throughout(
    node: Node, probe: Probe, cause: Cause, frames: Sequence[ConnectionFrame]
) -> bool:
    """Tell whether frames show all that a cause rests on and that was made up of the node: the way
    of its packets, and whose the addresses are.
    """
    return all(guess.is_seen(frames) for guess in _list_placed(node, probe, cause))


def _list_placed(node: Node, probe: Probe, cause: Cause) -> Iterator[PlacedGuess]:
    """Yield what was guessed of the node's devices, addresses and routes."""
    for trace, step in _steps_before(cause):
        guess = _routed_by_guess(step)
        if guess is not None:
            yield PlacedGuess(guess, step.link or "", trace.direction == "original")
    yield from _behind_decision(node, probe, cause)


def _list_left_out(cause: Cause) -> Iterator[Inferred]:
    """Yield the guesses that rules which the evidence leaves out do nothing."""
    made = (*cause.step.assumed, *list_translations_left_out(cause.branch))
    yield from map(_left_out, made)


def list_guesses(node: Node, conversation: Conversation) -> tuple[Inferred, ...]:
    """Return every guess that a connection was walked over."""
    origins: list[Inferred | None] = []
    places: set[str] = set()
    for branch in conversation.branches:
        for step in branch.steps:
            origins.append(step.rests_on)
            places.add(step.netns)
    origins += [node.namespaces[name].inferred for name in sorted(places & set(node.namespaces))]
    guesses = (_guess(origin) for origin in origins)
    return tuple(dict.fromkeys(guess for guess in guesses if guess is not None))


def list_far_ends(conversation: Conversation) -> Iterator[Inferred]:
    """Yield what is taken for granted of the nodes at the far ends of tunnels of which there is no
    evidence.
    """
    for branch in conversation.branches:
        for trace in branch.traces:
            outcome = trace.outcome
            if isinstance(outcome, Transmitted) and outcome.tunnel is not None:
                yield from filter(None, (trace.deciding.rests_on,))


def list_routes_taken_for_best(branch: Branch) -> Iterator[Inferred]:
    """Yield the guesses by which the host routed packets of a branch: the listing of its routes
    leaves others out.
    """
    yield from dict.fromkeys(filter(None, map(_routed_by_guess, branch.steps)))


def _steps_before(cause: Cause) -> Iterator[tuple[Trace, Step]]:
    """Yield the steps of the cause's connection up to the one that decided, each with its
    packet.
    """
    for trace in cause.branch.traces:
        if trace is cause.trace:
            yield from ((trace, step) for step in _until(trace, cause.step))
            return
        yield from ((trace, step) for step in trace.steps)


def _until(trace: Trace, last: Step) -> Iterator[Step]:
    for step in trace.steps:
        if step is last:
            return
        yield step


def _routed_by_guess(step: Step) -> Inferred | None:
    """Return the guess by which the host routed a packet; None where its route is stated."""
    if step.netns != HOST or step.stage not in ROUTING:
        return None
    return _guess(step.rests_on)


def _behind_decision(node: Node, probe: Probe, cause: Cause) -> Iterator[PlacedGuess]:
    """Yield the guesses that the deciding step itself stands on."""
    step = cause.step
    ended_there = isinstance(cause.trace.outcome, (Dropped, Rejected))
    namespace = node.namespaces.get(step.netns) if ended_there else None
    ends = (probe.src, probe.dst)
    stand_ins = _guessed_addresses(node)
    met = frozenset({step.before.src, step.before.dst})
    guesses = (
        (_guess(step.rests_on), met),
        (_guess(namespace.inferred) if namespace is not None else None, _owned(namespace)),
        *((stand_ins.get(end), frozenset({end})) for end in met.difference(ends)),
        (_named_by_rule(node, cause), frozenset[Address]()),
    )
    for guess, addresses in guesses:
        if guess is not None:
            yield PlacedGuess(guess, addresses=addresses)


def _owned(namespace: Netns | None) -> frozenset[Address]:
    items = namespace.addresses.items if namespace is not None else ()
    return frozenset(item.address for item in items)


def _left_out(made: Assumption) -> Inferred:
    """Return the guess that rules which the evidence leaves out do nothing."""
    return Inferred(Basis.GUESSED, f"{made.fact}: {made.meaning}")


def _named_by_rule(node: Node, cause: Cause) -> Inferred | None:
    """Return the guess of a device that the deciding rule goes by and whose name no output
    shows.
    """
    rule = cause.place.rule if cause.place is not None else None
    if rule is None or not (rule.in_link or rule.out_link):
        return None
    passed = {step.link for step in cause.trace.steps if step.netns == cause.step.netns}
    namespace = node.namespaces.get(cause.step.netns)
    if namespace is None:
        return None
    for link in namespace.links.items:
        for match in (rule.in_link, rule.out_link):
            if match is not None and link.name in passed:
                guess = _guess_of_name(match, link)
                if guess is not None:
                    return guess
    return None


def _guess_of_name(match: InterfaceMatch, link: Link) -> Inferred | None:
    """Return the guess by which a selector holds for a device: its name is made up, or it is named
    and but stands for a pod's.
    """
    same = link.name.startswith(match.name) if match.wildcard else link.name == match.name
    if same is match.negated:
        return None
    paired = (
        link.peer.inferred if isinstance(link.peer, Known) and not match.wildcard and same else None
    )
    return _guess(link.inferred) or _guess(paired)


def _guessed_addresses(node: Node) -> Mapping[Address, Inferred]:
    """Return the addresses that stand for ones which no output shows."""
    items = (item for namespace in node.namespaces.values() for item in namespace.addresses.items)
    return {
        item.address: item.inferred
        for item in items
        if item.inferred is not None and item.inferred.is_guess
    }


def is_made_up(node: Node, device: str) -> bool:
    """Tell whether no output shows what a device of the host is called: the assembly or the walk
    gave it a name.
    """
    link = next((link for link in node.host.links.items if link.name == device), None)
    return link is None or bool(link.stands_for)


def _guess(inferred: Inferred | None) -> Inferred | None:
    return inferred if inferred is not None and inferred.is_guess else None
