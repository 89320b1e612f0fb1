"""Walks for tests of the datapath: a branch of a walk on a small node, and what its steps say."""

from __future__ import annotations

from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons import Reason
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.tracing.trace import Branch, Conversation, Dropped, Outcome, Rejected, Trace
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.node.node import HOST, Node
from podpath.report.sentences import spell_reason
from podpath.testing.nodes import ip


def given_walk(node: Node, *answers: int, settled: dict[str, object] | None = None) -> Walk:
    """Start a branch; `answers` are the options to take at its forks, the likeliest after them."""
    return Walk(Engine(node), Choices(answers, settled))


def host(walk: Walk) -> Namespace:
    """Return the host's namespace."""
    return walk.engine.namespace(HOST)


def packet(sender: str, receiver: str, **fields: object) -> Packet:
    """Make a TCP packet."""
    made = Packet(ip(sender), ip(receiver), protocols.TCP, 40000, 80, protocols.SYN)
    return made._replace(**fields)  # type: ignore[arg-type]  # fields of Packet


def given_skb(walk: Walk, what: Packet, link: str | None = None, netns: str = HOST) -> Skb:
    """Make a packet under way in a namespace, that came in on a device or is sent by a process."""
    device = walk.engine.namespace(netns).link(link) if link is not None else None
    return Skb(what, walk.engine.node.namespaces[netns], link=device, iif=device)


def decisions(trace: Trace) -> list[str]:
    """Return a trace's steps as `netns stage: decision`."""
    return [f"{step.netns} {step.stage}: {step.decision}" for step in trace.steps]


def reasons(trace: Trace) -> list[str]:
    """Return a trace's steps as sentences."""
    return [spell_reason(step.reason) for step in trace.steps]


def reason_at_end(trace: Trace) -> Reason:
    """Return why the last step of a trace decided what it did."""
    return trace.steps[-1].reason


def reason_of(outcome: Outcome) -> str:
    """Return the reason of a packet that was dropped or rejected; empty for any other end."""
    return outcome.reason if isinstance(outcome, Dropped | Rejected) else ""


def last(conversation: Conversation) -> Trace:
    """Return the trace that ended the likeliest branch."""
    return conversation.branches[0].last


def branch_where(conversation: Conversation, **wanted: object) -> Branch:
    """Return the first branch with these fields."""
    return next(
        branch
        for branch in conversation.branches
        if all(getattr(branch, name) == value for name, value in wanted.items())
    )
