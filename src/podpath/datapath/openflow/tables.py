"""The flow tables of one bridge: which flow takes a packet (lib/classifier.c, Open vSwitch 3.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podpath.datapath.openflow.actions import Action, parse_actions
from podpath.datapath.openflow.fields import State
from podpath.datapath.openflow.matches import FlowMatch, PortNumber, compile_match, reserved
from podpath.node.openflow import FlowEntry, FlowGroup, OpenFlow

_CLAUSE = re.compile(r"(?P<id>\w+),(?P<number>\d+)/(?P<count>\d+)")
SYNTHETIC = 0x10000
"""Numbers from here on stand for ports that are only known by name."""


class CompiledFlow(NamedTuple):
    """A flow that was met."""

    flow: FlowEntry
    match: FlowMatch
    actions: tuple[Action, ...]
    clauses: tuple[tuple[int, int, int], ...] = ()
    """Of what conjunctions it is a clause: id, number, and how many there are."""


class Found(NamedTuple):
    """What a lookup came to."""

    flow: CompiledFlow | None
    """None where no flow takes the packet."""
    conj_id: int = 0
    open: CompiledFlow | None = None
    """A flow before it that may take the packet, or one of the same priority that does, too."""


class FlowTables:
    """The compiled tables of a bridge; a table is compiled when a packet first comes to it."""

    __slots__ = ("_compiled", "_flows", "complete", "groups", "names", "numbers")

    def __init__(self, openflow: OpenFlow) -> None:
        """Sort flows by table."""
        self.numbers: dict[str, int] = dict(openflow.ports)
        self.names: dict[int, str] = {number: name for name, number in openflow.ports.items()}
        self.groups: Mapping[int, FlowGroup] = openflow.groups
        self.complete = openflow.complete
        self._flows: dict[int, list[FlowEntry]] = {}
        for flow in openflow.flows:
            self._flows.setdefault(flow.table, []).append(flow)
        self._compiled: dict[int, list[CompiledFlow]] = {}

    def port_number(self, text: str) -> int | None:
        """Return the number of a port; one that is only known by name gets a number of its own."""
        name = text.strip('"')
        if name in self.numbers:
            return self.numbers[name]
        number = None if text.startswith('"') else reserved(name)
        if number is None and name:
            number = SYNTHETIC + len(self.numbers)
            self.numbers[name], self.names[number] = number, name
        return number

    def table(self, number: int) -> Sequence[CompiledFlow]:
        """Return the flows of a table, the highest priority first."""
        found = self._compiled.get(number)
        if found is None:
            flows = sorted(self._flows.get(number, ()), key=lambda flow: -flow.priority)
            found = [_compile(flow, self.port_number) for flow in flows]
            self._compiled[number] = found
        return found

    def look_up(self, table: int, state: State, *, conjunctions: bool = True) -> Found:
        """Find the flow that takes a packet, the one with the highest priority; a conjunction whose
        clauses all take it makes its id a field, by which the packet is looked up again.
        """
        flows = self.table(table)
        index = 0
        while index < len(flows):
            priority = flows[index].flow.priority
            level = index
            while index < len(flows) and flows[index].flow.priority == priority:
                index += 1
            found = _look_in(flows[level:index], state)
            if found is not None:
                return found
            made = _conjunction(flows[level:index], state) if conjunctions else None
            if made is not None:
                again = self.look_up(table, {**state, "conj_id": made}, conjunctions=False)
                if again.flow is not None or again.open is not None:
                    return again._replace(conj_id=made)
        return Found(None)


def _compile(flow: FlowEntry, port_number: PortNumber) -> CompiledFlow:
    actions = parse_actions(flow.actions)
    clauses: list[tuple[int, int, int]] = []
    for action in actions:
        found = _CLAUSE.fullmatch(action.argument.replace(" ", ""))
        if action.name == "conjunction" and found is not None:
            clauses.append((int(found["id"], 0), int(found["number"]), int(found["count"])))
    return CompiledFlow(flow, compile_match(flow.match, port_number), actions, tuple(clauses))


def _look_in(flows: Sequence[CompiledFlow], state: State) -> Found | None:
    """Look among flows of one priority. Which of two that take a packet has it is not said."""
    taking, unsure = [], None
    for flow in flows:
        takes = flow.match.takes(state)
        if takes is None:
            unsure = unsure or flow
        elif takes and not flow.clauses:
            taking.append(flow)
    if unsure is not None:
        return Found(None, open=unsure)
    if not taking:
        return None
    rival = next((other for other in taking if other.flow.actions != taking[0].flow.actions), None)
    if rival is not None:
        return Found(None, open=rival)
    return Found(taking[0])


def _conjunction(flows: Sequence[CompiledFlow], state: State) -> int | None:
    """Return the id of a conjunction of which every clause takes the packet."""
    met: dict[tuple[int, int], set[int]] = {}
    for flow in flows:
        if flow.clauses and flow.match.takes(state):
            for name, number, count in flow.clauses:
                met.setdefault((name, count), set()).add(number)
    return next((name for (name, count), numbers in met.items() if len(numbers) == count), None)
