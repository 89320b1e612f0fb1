"""What becomes of a connection, as a row of plain values for a table: the same from the walk of the
connection itself and from that of another one of its class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from podpath.datapath.tracing.trace import (
    Conversation,
    Delivered,
    Dropped,
    Rejected,
    Trace,
    Transmitted,
    Undecided,
)
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.forbids import Forbids
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.report.clearance_words import name_forbids
from podpath.report.escape import escape
from podpath.report.walked_text import representative
from podpath_fleet.flow_classes import HOLES, FlowHeader

UNREADABLE = "UNREADABLE"
"""The verdict on a row that is no connection of this node."""


class FlowAnswer(NamedTuple):
    """What becomes of every flow of a class."""

    verdict: str
    """`ALWAYS`, `SOMETIMES`, `NEVER`, `UNDECIDED`, as `podpath trace` says it; or `UNREADABLE`."""
    failure: str = ""
    """How it fails: `dropped`, `untranslated`, ...; empty where it works."""
    packet: str = ""
    """The packet that decided: the one that failed, else the first."""
    outcome: str = ""
    """What became of that packet: `delivered`, `transmitted`, `dropped`, `rejected`,
    `undecided`.
    """
    netns: str = ""
    """Where that was."""
    reason: str = ""
    """The kernel's drop reason, or why a row cannot be read."""
    evidence: str = ""
    """The source that decided, with `line` and `text`; empty where no line did."""
    line: int | None = None
    text: str = ""
    ask: str = ""
    """What to run where it is undecided."""
    open: str = ""
    """What forbids to say more than `UNDECIDED`, by kinds."""
    branches: int = 0
    """How many ways it may go."""
    arrives_as: str = ""
    """The ends of the first packet where it arrived or left the node, empty where it did neither; a
    `str.format` template with the flow's own fields by the order of `HOLES`.
    """


COLUMNS = FlowAnswer._fields
"""The columns that an answer fills."""


def answer_flow(
    header: FlowHeader | None, conversation: Conversation, forbids: Sequence[Forbids]
) -> FlowAnswer:
    """Return the row of a conversation whose probe is a header's; without a header, how it arrives
    is left out.
    """
    branch = representative(conversation)
    verdict = Reachability.UNDECIDED if forbids else conversation.verdict
    if branch is None or not branch.traces:
        return FlowAnswer(verdict.value, open=_plain(name_forbids(forbids)))
    told = branch.traces[0] if branch.works else branch.last
    outcome = told.outcome
    span = told.deciding.spans[0] if told.steps and told.deciding.spans else None
    return FlowAnswer(
        verdict=verdict.value,
        failure="" if branch.works else _plain(branch.kind),
        packet=_plain(told.name),
        outcome=type(outcome).__name__.lower(),
        netns=_plain(outcome.netns),
        reason=_plain(outcome.reason) if isinstance(outcome, Dropped | Rejected) else "",
        evidence="" if span is None else _plain(span.source.name),
        line=None if span is None else span.line,
        text="" if span is None else _plain(span.text.replace("\n", " ")),
        ask=_ask(told, forbids),
        open=_plain(name_forbids(forbids)),
        branches=len(conversation.branches),
        arrives_as="" if header is None else _spell_arrival(header, branch.traces[0]),
    )


def refuse_flow(why: str) -> FlowAnswer:
    """Return the row of a flow that cannot be asked about."""
    return FlowAnswer(UNREADABLE, reason=_plain(why))


def _plain(text: str) -> str:
    return str(escape(text))


def _ask(told: Trace, forbids: Sequence[Forbids]) -> str:
    """Return the command that tells more, where one is known."""
    if isinstance(told.outcome, Undecided) and told.outcome.ask:
        return _plain(told.outcome.ask)
    asks = (getattr(one, "ask", "") for one in forbids)
    return _plain(next((ask for ask in asks if ask), ""))


def _spell_arrival(header: FlowHeader, trace: Trace) -> str:
    outcome = trace.outcome
    if not isinstance(outcome, Delivered | Transmitted):
        return ""
    return spell_ends(header, outcome.packet)


def spell_ends(header: FlowHeader, packet: Packet) -> str:
    """Spell the ends of a packet as `net.packet.spell_ends` does, with holes for what is the
    flow's own.
    """
    src, dst = _spell_address(header, packet.src), _spell_address(header, packet.dst)
    if not packet.has_ports:
        return f"{src} > {dst}"
    form = "[{}]:{}" if packet.src.family == 6 else "{}:{}"
    sport, dport = _spell_number(header, packet.sport), _spell_number(header, packet.dport)
    return f"{form.format(src, sport)} > {form.format(dst, dport)}"


def _spell_address(header: FlowHeader, address: Address) -> str:
    hole = header.hole(address.value)
    return str(address) if hole is None else _spell_hole(hole)


def _spell_number(header: FlowHeader, number: int) -> str:
    hole = header.hole(number)
    return str(number) if hole is None else _spell_hole(hole)


def _spell_hole(name: str) -> str:
    return f"{{{HOLES.index(name)}}}"
